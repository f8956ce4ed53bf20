package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// recorded says how the values that the members of a pool learn were recorded: as values, on a scale, of a target that is a number of steps. The
// variance of the target is at least step²/12, the variance of rounding. A pool has a smaller step than its targets: see [leastStep].
// docs/theory/rounding.md has the derivation.
type recorded struct {
	scale targetScale
	step  float64 // of the target, in its units; 0 if it has none
}

// leastStep returns the step for the least variance that a pool of n targets with the given step δ promises: δ²/(n + 1), the mean square error of
// n targets without errors and one that is a step off; at most δ²/12.
func leastStep(step float64, n int) float64 {
	return float64(step * math.Sqrt(min(1, 12/float64(n+1))))
}

// recordedDensity returns the leave-one-out log densities of [MultiGPModel.leftOutDensity] of learned targets z, for noise of at least the variance of
// rounding.
func (m *MultiGPModel) recordedDensity(z []float64, r recorded) []float64 {
	out := m.leftOutDensity(z)
	if r.step == 0 {
		return out
	}
	l, sd := m.leaveOneOut[0], m.target.sd
	unit := special.Log(sd)
	for i, v := range z {
		mean := m.target.mean + float64(sd*l.Mean[i])
		out[i] = r.logDensity(out[i]-unit, v-mean, mean, float64(sd*sd*l.Variance[i])) + unit
	}
	return out
}

// leastVariance returns the least variance of a learned value with the given mean: that with which the target has the variance step²/12.
func (r recorded) leastVariance(mean float64) float64 {
	least := float64(r.step * r.step / 12)
	if least == 0 {
		return 0
	}
	switch r.scale {
	case rootScale: // 2v² + 4μ²v = least
		square := float64(mean * mean)
		return 0.5 * least / (square + math.Sqrt(float64(square*square)+float64(0.5*least)))
	case logScale: // (eᵛ − 1)·eᵛ·e^2μ = least
		e := special.Exp(min(special.Log(least)-float64(2*mean), mostLogSteps))
		return special.Log1p(2 * e / (1 + math.Sqrt(1+float64(4*e))))
	}
	return least
}

// moments returns the mean and the variance of a target whose learned value is normal with the moments given.
func (r recorded) moments(mean, variance float64) (m, v float64) {
	return r.scale.moments(mean, max(variance, r.leastVariance(mean)))
}

// logDensity returns the logarithm of the density of a learned value at a distance from its mean. By a model it has the given variance and the
// logarithm of the density log, of a mixture of normal densities.
func (r recorded) logDensity(log, distance, mean, variance float64) float64 {
	least := r.leastVariance(mean)
	switch {
	case least == 0:
		return log
	case variance <= least:
		return normalLogDensity(distance, least)
	}
	return min(log, normalLogDensity(0, least)) // a part of the mixture may be narrower
}

// mostLogSteps limits the logarithm of (step/μ)²/12, so that graphs of float32 have it too. A target so far below its step is no recorded target.
const mostLogSteps = 80

// Limits of [commonStep].
const (
	mostSteps     = 1 << 20         // from the least target to the largest
	roundedTarget = 1.0 / (1 << 48) // error of a target as a share of the largest: of its digits and of a change of units
	clearStep     = 1.0 / (1 << 10) // largest error of a number of steps
)

// commonStep returns the largest step that divides all differences of targets, up to rounding. It returns 0 if the targets are equal, and if
// there are more than mostSteps between them or so many that rounding hides them: then the step is negligible. With n steps between the
// least and the largest target, n is the least common denominator of all (y − least)/(largest − least).
func commonStep(y []float64) float64 {
	v := slices.Compact(slices.Sorted(slices.Values(y)))
	last := len(v) - 1
	span := v[last] - v[0]
	if !(span > 0) || math.IsInf(span, 1) {
		return 0
	}
	noise := roundedTarget * max(math.Abs(v[0]), math.Abs(v[last])) / span
	most := min(mostSteps, clearStep/noise)
	n := 1.0
	for _, value := range v {
		if n *= denominator(float64(n*(value-v[0]))/span, float64(n*noise), most/n); n > most {
			return 0
		}
	}
	return span / n
}

// denominator returns the least q, a denominator of a convergent of the continued fraction of x ≥ 0, with which q·x is an integer up to q·noise.
// If no such q is up to most it returns a larger number.
func denominator(x, noise, most float64) float64 {
	q, before := 1.0, 0.0
	for rest := x - math.Floor(x); ; {
		at := float64(q * x)
		if math.Abs(at-math.Round(at)) <= float64(q*noise) || q > most {
			return q
		}
		rest = 1 / rest
		whole := math.Floor(rest)
		rest -= whole
		q, before = float64(whole*q)+before, q
	}
}
