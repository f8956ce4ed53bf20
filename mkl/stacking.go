package mkl

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// pseudoShare is the weight of the uniform mixture in a stack, as a share of the
// samples: small enough that data decide, large enough that no model is dropped
// for a few lucky samples.
const pseudoShare = 0.05

// stack returns the weights of a mixture of M predictive distributions that has the
// highest score
//
//	Σ_n log Σ_m w_m·p_m(y_n) + c·Σ_m log w_m,   c = pseudoShare·N/M,
//
// given log p_m(y_n) in row m, of predictions that have not seen sample n. The
// second term is a Dirichlet prior with c pseudo-counts for each model.
//
// Source: Y. Yao, A. Vehtari, D. Simpson and A. Gelman, "Using stacking to average
// Bayesian predictive distributions", Bayesian Analysis 13 (2018). The maximum is
// found by expectation maximisation, which never lowers the score.
func stack(logDensity [][]float64) []float64 {
	M := len(logDensity)
	N := len(logDensity[0])
	weights, next := make([]float64, M), make([]float64, M)
	for m := range weights {
		weights[m] = 1 / float64(M)
	}
	c := pseudoShare * float64(N) / float64(M)
	share := make([]float64, M)
	for range 1000 {
		for m := range next {
			next[m] = c
		}
		for n := range N {
			top := math.Inf(-1)
			for m := range M {
				top = max(top, logDensity[m][n])
			}
			var sum float64
			for m, w := range weights {
				share[m] = float64(w * special.Exp(logDensity[m][n]-top))
				sum += share[m]
			}
			if !(sum > 0) { // no model gives the sample a density
				continue
			}
			for m, s := range share {
				next[m] += s / sum
			}
		}
		var total, change float64
		for _, v := range next {
			total += v
		}
		for m := range next {
			next[m] /= total
			change = max(change, math.Abs(next[m]-weights[m]))
		}
		weights, next = next, weights
		if change < 1e-9 {
			break
		}
	}
	return weights
}
