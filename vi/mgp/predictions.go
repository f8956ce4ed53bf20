package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
)

// Predictions implements [vi.Objective]. With the γ and τ of q(f) those at the training
// points follow from α and the diagonal of B⁻¹: E[f] = E[y] − α/τ and Var f = 1/τ −
// (B⁻¹)_nn/τ², where the noise is small a difference whose digits do not matter beside it.
func (m *model) Predictions(p *vi.Predictions) {
	p.Resize(m.N)
	p.Probabilities = m.labels
	for n, a := range m.alpha {
		function := max(0, 1-m.b.At(n, n)/m.tau0) / m.tau0
		mean := m.mean[n] - a/m.tau0
		p.SD[n] = math.Sqrt(function + 1/m.tau)
		if m.labels {
			mean = special.Exp(special.LogNormalCDF(mean / p.SD[n]))
		}
		p.Mean[n] = mean
	}
}
