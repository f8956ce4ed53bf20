package mkl

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// The number of sweeps over the samples that compute the weights of a stack, and the number of sweeps before the
// first that counts.
const (
	stackSweeps = 1000
	stackBurnIn = 100
)

// pseudoShare is the weight of the uniform mixture in the prior of a stack, as a share of the
// samples. It is small enough for the data to decide. It is large enough for predictions whose length
// scales, though not the predictions themselves, were fitted to the sample.
const pseudoShare = 0.05

// stack returns the weights of a mixture of M predictive distributions: their posterior
// mean,
//
//	w ~ Dirichlet(1 + c, …, 1 + c),   p(y | w) = Π_n Σ_m w_m·p_m(y_n),
//
// Row m of logDensity holds log p_m(y_n), the leave-one-out densities of the samples n, and
// c = pseudoShare·N/M, rounded, is the number of pseudo-counts for each model. A mixture is
// linear in its weights, so that its average over their posterior is the mixture with
// their mean. The posterior mode would drop a model because of chance in a few samples.
//
// Source: Y. Yao, A. Vehtari, D. Simpson and A. Gelman, "Using stacking to average
// Bayesian predictive distributions", Bayesian Analysis 13 (2018). The mean is computed by Gibbs
// sampling, which draws the model of each sample given the weights, and the weights given
// the number of samples of each model (J. Diebolt and C. P. Robert, "Estimation of finite mixture
// distributions through Bayesian sampling", Journal of the Royal Statistical Society B 56, 1994).
func stack(logDensity [][]float64, seed uint64) []float64 {
	M := len(logDensity)
	var density [][]float64 // of each sample with a finite one, relative to the largest
	for n := range logDensity[0] {
		top := math.Inf(-1)
		for _, l := range logDensity {
			top = max(top, l[n])
		}
		if math.IsInf(top, 0) || math.IsNaN(top) {
			continue
		}
		row := make([]float64, M)
		for m, l := range logDensity {
			row[m] = special.Exp(l[n] - top)
		}
		density = append(density, row)
	}
	slices.SortFunc(density, slices.Compare) // draws do not see the order of samples
	src := special.NewRand(rand.NewPCG(seed, 0x737461636b))
	weights, mean, count := make([]float64, M), make([]float64, M), make([]int, M)
	for m := range weights {
		weights[m] = 1
	}
	prior := 1 + int(math.Round(float64(pseudoShare*float64(len(density)))/float64(M)))
	for sweep := range stackBurnIn + stackSweeps {
		for m := range count {
			count[m] = prior
		}
		for _, row := range density {
			count[drawModel(src, weights, row)]++
		}
		for m, c := range count {
			weights[m] = drawGamma(src, c)
			if sweep >= stackBurnIn { // the mean given the counts
				mean[m] += float64(c) / float64(stackSweeps*(prior*M+len(density)))
			}
		}
	}
	return mean
}

// weightBeside returns the weight that [stack] gives a model beside a pool of others, from the logarithms of their densities.
func weightBeside(pool, model []float64, seed uint64) float64 {
	return stack([][]float64{pool, model}, seed)[1]
}

// mixedDensity returns the logarithms of the densities of a mixture of models, from the logarithms of the models' densities and their
// weights.
func mixedDensity(logDensity [][]float64, weights []float64) []float64 {
	out := make([]float64, len(logDensity[0]))
	for n := range out {
		top := math.Inf(-1)
		for _, l := range logDensity {
			top = max(top, l[n])
		}
		if math.IsInf(top, 0) || math.IsNaN(top) {
			out[n] = top
			continue
		}
		var sum float64
		for m, l := range logDensity {
			sum += float64(weights[m] * special.Exp(l[n]-top))
		}
		out[n] = top + special.Log(sum)
	}
	return out
}

// drawModel returns m with a probability proportional to weights[m]·density[m].
func drawModel(src special.Rand, weights, density []float64) int {
	var sum float64
	for m, w := range weights {
		sum += float64(w * density[m])
	}
	u := sum * src.Float64()
	for m, w := range weights {
		if u -= float64(w * density[m]); u < 0 {
			return m
		}
	}
	return len(weights) - 1 // rounding
}

// drawGamma returns a gamma variate of integer shape: the sum of shape exponential variates,
// which is minus the logarithm of a product of uniform variates.
func drawGamma(src special.Rand, shape int) (sum float64) {
	product := 1.0
	for range shape {
		if product *= 1 - float64(src.Float64()); product < 1e-200 {
			sum -= special.Log(product)
			product = 1
		}
	}
	return sum - special.Log(product)
}
