// Package acquire chooses which samples to measure next.
//
// A model predicts a number, such as the activity of a drug, for samples that nobody has measured. Measuring is
// expensive. [ExpectedImprovement] scores each sample by how much it is expected to exceed the best value so far;
// [Thompson] chooses several samples at once, which differ because their predictions are drawn together. Both look for
// large values: negate the targets to look for small ones.
package acquire

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl"
)

// ExpectedImprovement returns E[max(f − best, 0)] for each sample of a joint posterior, in the target's units: with
// the posterior mean m and standard deviation s of the function of a member of the mixture, and z = (m − best)/s,
//
//	EI = (m − best)·Φ(z) + s·φ(z),
//
// averaged over the members. best is the largest value so far; noise is not part of f. It is an error if best is not
// finite.
//
// Source: D. R. Jones, M. Schonlau and W. J. Welch, Efficient global optimization of expensive black-box functions,
// Journal of Global Optimization 13 (1998), equation 15.
func ExpectedImprovement(p *mkl.JointPrediction, best float64) ([]float64, error) {
	if math.IsNaN(best) || math.IsInf(best, 0) {
		return nil, fmt.Errorf("acquire: best is %g: it must be finite", best)
	}
	out := make([]float64, p.Samples())
	for _, part := range p.Parts {
		for i, m := range part.Mean {
			out[i] += float64(part.Weight * improvement(m-best, math.Sqrt(part.Covariance.At(i, i))))
		}
	}
	return out, nil
}

// improvement returns E[max(g, 0)] for g with a normal distribution.
func improvement(mean, sd float64) float64 {
	if sd == 0 {
		return max(mean, 0)
	}
	z := mean / sd
	hazard, logCDF := special.Mills(z) // φ(z)/Φ(z) and log Φ(z)
	return sd * special.Exp(logCDF) * max(0, z+hazard)
}

// Thompson returns the indices of count different samples. Each is where a draw of the function from the joint
// posterior is largest among the samples that are not chosen yet. The seed decides the draws. It is an error if count
// is negative or larger than the number of samples.
//
// Source: W. R. Thompson, On the likelihood that one unknown probability exceeds another, Biometrika 25 (1933).
func Thompson(p *mkl.JointPrediction, count int, seed uint64) ([]int, error) {
	if count < 0 || count > p.Samples() {
		return nil, fmt.Errorf("acquire: count is %d where there are %d samples", count, p.Samples())
	}
	draws, err := p.Draws(count, seed)
	if err != nil {
		return nil, err
	}
	taken := make([]bool, p.Samples())
	var chosen []int
	for _, f := range draws {
		best := -1
		for i, v := range f {
			if !taken[i] && (best < 0 || v > f[best]) {
				best = i
			}
		}
		taken[best] = true
		chosen = append(chosen, best)
	}
	return chosen, nil
}
