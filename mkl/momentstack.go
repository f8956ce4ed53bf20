package mkl

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Step sizes of the weights in the ascent.
const (
	momentSteps    = 400
	firstMomentEta = 0.5
)

// stackMoments returns the weights of M predictions. Their mixture is described by its mean and variance alone,
//
//	μ = Σ_m w_m·μ_m,   V = Σ_m w_m·(v_m + (μ_m − μ)²):
//
// The weights maximise, over samples to which the predictions were not fitted and under the prior of [stack],
//
//	mean log N(y_n; μ_n, V_n) − ½·log mean (y_n − μ_n)².
//
// The second term is the log density of the means alone, with the best constant variance. Without it a member that
// fails on few samples keeps its weight, because V covers its failures, and the means suffer. d holds μ_m − y in row m and v
// the variances v_m, in units of the target's standard deviation and variance.
//
// The ascent multiplies weights by exponentials of the gradient (J. Kivinen and M. K. Warmuth, "Exponentiated gradient
// versus gradient descent for linear predictors", Information and Computation 132, 1997). A step that lowers the
// density is taken back and halved.
func stackMoments(d, v [][]float64) []float64 {
	M := len(d)
	w, next, gradient := make([]float64, M), make([]float64, M), make([]float64, M)
	for m := range w {
		w[m] = 1 / float64(M)
	}
	prior := pseudoShare / float64(M)
	value := momentDensity(d, v, w, prior, gradient)
	eta := firstMomentEta
	for range momentSteps {
		top := math.Inf(-1)
		for m, g := range gradient {
			next[m] = float64(eta * g)
			top = max(top, next[m])
		}
		sum := 0.0
		for m, u := range next {
			next[m] = float64(w[m] * special.Exp(u-top))
			sum += next[m]
		}
		for m := range next {
			next[m] = max(next[m]/sum, leastStackWeight)
		}
		trial := make([]float64, M)
		if to := momentDensity(d, v, next, prior, trial); to >= value {
			value, w, next, gradient = to, next, w, trial
			eta *= 1.2
			continue
		}
		if eta *= 0.5; eta < 1e-9*firstMomentEta {
			break
		}
	}
	total := 0.0
	for _, u := range w {
		total += u
	}
	for m := range w {
		w[m] /= total
	}
	return w
}

// leastStackWeight keeps the logarithms of weights finite.
const leastStackWeight = 1e-12

// momentDensity returns the function that the weights maximise, and stores its gradient with respect to them.
func momentDensity(d, v [][]float64, w []float64, prior float64, gradient []float64) (value float64) {
	clear(gradient)
	N := len(d[0])
	byError, squares := make([]float64, len(w)), 0.0
	for n := range N {
		var mean, square float64
		for m, u := range w {
			mean += float64(u * d[m][n])
			square += float64(u * (v[m][n] + float64(d[m][n]*d[m][n])))
		}
		squares += float64(mean * mean)
		for m := range w {
			byError[m] += float64(mean * d[m][n])
		}
		V := square - float64(mean*mean)
		if !(V > 0) || math.IsInf(V, 1) {
			continue // rounding, or predictions that are not finite
		}
		ratio := float64(mean*mean) / V
		value -= float64(0.5 * (special.Log(V) + ratio) / float64(N))
		byV, byMean := float64(-0.5*(1-ratio))/V/float64(N), -mean/V/float64(N)
		for m := range w {
			x := d[m][n]
			gradient[m] += float64(byV*(v[m][n]+float64(x*x)-float64(2*mean*x))) + float64(byMean*x)
		}
	}
	squares = max(squares, leastStackWeight)
	value -= float64(0.5 * special.Log(squares/float64(N)))
	for m, u := range w {
		gradient[m] -= byError[m] / squares
		value += float64(prior * special.Log(u))
		gradient[m] += prior / u
	}
	return value
}
