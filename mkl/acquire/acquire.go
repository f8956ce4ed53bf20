// Package acquire chooses which samples to measure next.
//
// A model predicts a number, such as the activity of a drug, for samples that nobody has measured. Measuring is
// expensive. [ExpectedImprovement] scores each sample by how much it is expected to exceed the best value so far;
// [Thompson] chooses several samples at once, which differ because their predictions are drawn together. Both look for
// large values: negate the targets to look for small ones. [Information] and [ClassInformation] score samples by how much their class, once
// it is known, would teach a classifier of two classes or of more.
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

// Information returns for each sample of a joint posterior of a classifier of two classes the mutual information, in nats, of its class and
// the function. With the probability Φ(f) of the second class, and H(p) = −p·log p − (1−p)·log(1−p),
//
//	I = H(E[Φ(f)]) − E[H(Φ(f))].
//
// It is large where the classifier does not know the class and measurements can teach it, and small where the class is a matter of
// chance, however well the function is known. The mean of Φ is in closed form for each part of the mixture, the mean of H
// by the trapezoidal rule, to ten digits.
//
// Source: N. Houlsby, F. Huszár, Z. Ghahramani and M. Lengyel, Bayesian active learning for classification and preference learning,
// arXiv:1112.5745 (2011), equation 2.
func Information(p *mkl.JointPrediction) []float64 {
	out := make([]float64, p.Samples())
	for i := range out {
		var first, second, entropy float64 // of the two classes
		for _, part := range p.Parts {
			m, v := part.Mean[i], part.Covariance.At(i, i)
			z := m / math.Sqrt(1+v)
			first += float64(part.Weight * special.NormalCDF(-z))
			second += float64(part.Weight * special.NormalCDF(z))
			entropy += float64(part.Weight * meanEntropy(m, math.Sqrt(max(v, 0))))
		}
		out[i] = max(0, surprise(first)+surprise(second)-entropy)
	}
	return out
}

// surprise returns −p·log p.
func surprise(p float64) float64 {
	if p == 0 {
		return 0
	}
	return -p * special.Log(p)
}

// classEntropy returns H(Φ(f)).
func classEntropy(f float64) float64 {
	a, b := special.LogNormalCDF(f), special.LogNormalCDF(-f)
	return -float64(special.Exp(a)*a) - float64(special.Exp(b)*b)
}

// entropyReach is where H(Φ(f)) has fallen below 10⁻¹³.
const entropyReach = 8

// meanEntropy returns E[H(Φ(f))] of f with a normal distribution. The integrand is the product of the density and of H(Φ), which is
// close to a normal density of the standard deviation 1.1. The step resolves the narrower of both.
func meanEntropy(mean, sd float64) float64 {
	if sd < 1e-8 {
		return classEntropy(mean)
	}
	from, to := max(mean-float64(8*sd), -entropyReach), min(mean+float64(8*sd), entropyReach)
	if from >= to {
		return 0
	}
	n := math.Ceil((to - from) / min(0.2, 0.4*sd))
	h := (to - from) / n
	var sum float64
	for k := range int(n) + 1 {
		f := from + float64(h*float64(k))
		z := (f - mean) / sd
		sum += float64(special.Exp(-0.5*float64(z*z)) * classEntropy(f))
	}
	return sum * h / (sd * math.Sqrt(2*math.Pi))
}
