package choose

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Estimate is a score or a difference of two, with its uncertainty.
type Estimate struct {
	Value     float64 // the score, or the difference
	SE        float64 // standard error; NaN for a single fold or sample
	Low, High float64 // the 95 % interval
}

// Zero reports whether the interval holds 0, so that the difference is not significant. An interval that is not
// known holds 0, but the interval of an infinite difference does not.
func (e Estimate) Zero() bool { return !(e.Low > 0 || e.High < 0) && !math.IsInf(e.Value, 0) }

// estimate is a value with the uncertainty of a mean of contributions, one for each fold
// or sample. ratio is the ratio of test to training samples for folds, and 0 for samples.
func estimate(value float64, contributions []float64, ratio float64) Estimate {
	J := float64(len(contributions))
	if J < 2 {
		return Estimate{value, math.NaN(), math.NaN(), math.NaN()}
	}
	m := mean(contributions)
	var variance float64
	for _, v := range contributions {
		variance += float64((v-m)*(v-m)) / (J - 1)
	}
	se := math.Sqrt((1/J + ratio) * variance)
	half := float64(studentQuantile(0.5+interval/2, len(contributions)-1) * se)
	return Estimate{value, se, value - half, value + half}
}

// studentQuantile returns the t for which a Student variable with the given degrees of
// freedom is below t with the probability p > 1/2.
//
// It bisects the distribution function, which for whole degrees of freedom is a finite
// sum: M. Abramowitz and I. A. Stegun, "Handbook of mathematical functions", 1964, 26.7.3
// and 26.7.4. For very many degrees it takes the first terms of 26.7.5, whose error is below 1e-8.
func studentQuantile(p float64, degrees int) float64 {
	if degrees > 1000 {
		z, nu := special.NormalQuantile(p), float64(degrees)
		return z + z*(float64(z*z)+1)/(4*nu) + z*(float64(5*z*z*z*z)+float64(16*z*z)+3)/(96*nu*nu)
	}
	low, high := 0.0, 1.0
	for studentCDF(high, degrees) < p {
		high *= 2
	}
	for range 100 {
		if t := low + float64((high-low)/2); studentCDF(t, degrees) < p {
			low = t
		} else {
			high = t
		}
	}
	return high
}

// studentCDF is the distribution function for t ≥ 0.
func studentCDF(t float64, degrees int) float64 {
	nu := float64(degrees)
	theta := math.Atan(t / math.Sqrt(nu))
	cos2 := nu / (nu + float64(t*t))
	sin, cos := math.Sin(theta), math.Cos(theta)
	if degrees%2 == 0 {
		term, sum := 1.0, 1.0
		for k := 2; k < degrees; k += 2 {
			term = float64(term * cos2 * float64(k-1) / float64(k))
			sum += term
		}
		return 0.5 + float64(0.5*sin*sum)
	}
	term, sum := cos, 0.0
	for k := 1; k < degrees; k += 2 {
		sum += term
		term *= cos2 * float64(k+1) / float64(k+2)
	}
	return 0.5 + (theta+float64(sin*sum))/math.Pi
}
