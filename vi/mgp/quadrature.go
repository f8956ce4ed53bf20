package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// logLikelihood is log p(y | f) of one sample with its derivatives.
type logLikelihood struct {
	log    float64
	first  float64 // by f
	second float64 // by f, not positive
	shape  float64 // by the parameter η
}

// quadratureDigit is −log of the error of the quadrature. mostNodes is the most steps between where nothing is left on
// either side: beyond them, where f has a standard deviation of some hundred units, the step is larger and the moments
// lose digits. mostDoublings ends the search for the two ends.
const (
	quadratureDigit = 36
	mostNodes       = 10000
	mostDoublings   = 200
)

// integrate returns the moments of a log-concave likelihood where f has the distribution N(mean, variance), and the
// derivative of logZ by η:
//
//	d log Z/dm = E[ℓ'],   −d² log Z/dm² = −E[ℓ''] − Var[ℓ'],   d log Z/dη = E[∂ℓ/∂η],
//
// all under the tilted distribution. It uses the trapezoidal rule about the mode. The error falls as exp(−2π·a/h) in
// the step h, where the integrand is analytic in |Im f| < a: here a is unit·π/2. The likelihoods grow within this
// strip, by no more than a Gaussian of the mode's curvature does. The step is less than either alone needs. Where the
// likelihood has taken most of the variance, −d² log Z/dm² is (1 − Var[f]/v)/v, which loses no digits there. Without variance they are
// ℓ and its derivatives.
func integrate(mean, variance, unit float64, at func(f float64) logLikelihood) (m moments, shape float64) {
	if narrowest(mean, variance, unit) { // such as where all kernels are 0
		l := at(mean)
		return moments{logZ: l.log, slope: l.first, bend: -l.second}, l.shape
	}
	mode, sd := tiltedMode(mean, variance, at)
	step := 1 / (quadratureDigit/(math.Pi*math.Pi*unit) + math.Sqrt(0.5*quadratureDigit)/(math.Pi*sd))
	top := 0.0
	var weight, first, square, second, slope, miss, missSquare float64
	add := func(f float64) bool {
		l := at(f)
		d := f - mean
		log := l.log - float64(0.5*d*d/variance)
		if f == mode {
			top = log
		}
		if !(log >= top-quadratureDigit) {
			return false
		}
		w := special.Exp(log - top)
		weight += w
		first += float64(w * l.first)
		square += float64(w * l.first * l.first)
		second += float64(w * l.second)
		slope += float64(w * l.shape)
		miss += float64(w * (f - mode))
		missSquare += float64(w * (f - mode) * (f - mode))
		return true
	}
	reach := func(step float64) float64 { // from the mode to where nothing is left, but for a factor of two
		for range mostDoublings {
			d := mode + step - mean
			if !(at(mode+step).log-float64(0.5*d*d/variance) >= top-quadratureDigit) {
				break
			}
			step *= 2
		}
		return math.Abs(step)
	}
	add(mode)
	if top < lostShape { // the integrand is 0 for all purposes, and its shape is lost in rounding
		l := at(mode)
		return moments{logZ: top, slope: l.first, bend: 1 / variance}, l.shape
	}
	step = max(step, (reach(step)+reach(-step))/mostNodes)
	for k := 1.0; k <= mostNodes && add(mode+float64(k*step)); k++ {
	}
	for k := 1.0; k <= mostNodes && add(mode-float64(k*step)); k++ {
	}
	m.logZ = top + special.Log(weight*step) - float64(0.5*special.Log(2*math.Pi*variance))
	m.slope = first / weight
	m.bend = float64(m.slope*m.slope) - (second+square)/weight
	miss /= weight
	if left := (missSquare/weight - float64(miss*miss)) / variance; left < 0.5 {
		m.bend = (1 - left) / variance
		m.slope = (mode - mean + miss) / variance
	}
	return m, slope / weight
}

// lostShape is a logarithm whose rounding is as large as what it varies by about a mode, nearly.
const lostShape = -1e14

// modeSteps is the most steps to a mode. After newtonSteps of them every second one halves the bracket, or doubles the way
// from the mean: where a likelihood is exponential in f, Newton's steps only take a unit each.
const (
	modeSteps   = 200
	newtonSteps = 30
)

// tiltedMode returns the mode of a log-concave likelihood times N(mean, variance), and the standard deviation that
// the curvature there has.
func tiltedMode(mean, variance float64, at func(f float64) logLikelihood) (mode, sd float64) {
	low, high := math.Inf(-1), math.Inf(1)
	f, width := mean, math.Sqrt(variance)
	for k := range modeSteps {
		l := at(f)
		slope := l.first - (f-mean)/variance
		curvature := 1/variance - l.second
		next := f + slope/curvature
		if slope > 0 {
			low = f
		} else {
			high = f
		}
		sd = 1 / math.Sqrt(curvature)
		// Where the likelihood overflows there is no step of Newton's.
		switch bounded := !math.IsInf(low, 0) && !math.IsInf(high, 0); {
		case math.Abs(next-f) <= 1e-6*sd:
			return f, sd
		case next > low && next < high && math.Abs(next-f) <= width && (k < newtonSteps || k%2 == 0):
		case bounded:
			next = low + float64(0.5*(high-low))
		case slope > 0:
			next = f + width
			width *= 2
		default:
			next = f - width
			width *= 2
		}
		if next == f {
			break
		}
		f = next
	}
	return f, sd
}
