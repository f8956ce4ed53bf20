package probit

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
)

// Predictions implements [vi.Objective]. The normaliser of q(y_n) is the probability of
// the sample's own label under the means of the functions. The variances of the functions
// are given by their mean over samples and classes, which a sweep has at hand.
func (m *model) Predictions(p *vi.Predictions) {
	p.Resize(m.N)
	p.Probabilities = true
	var square float64 // Σ E[f²] over samples and classes
	for _, v := range m.spread {
		square += v
	}
	for _, f := range m.f.Data {
		square -= float64(f * f)
	}
	sd := math.Sqrt(1 + max(0, square)/float64(m.C*m.N))
	for n, z := range m.logZ {
		p.Mean[n], p.SD[n] = special.Exp(z), sd
	}
}
