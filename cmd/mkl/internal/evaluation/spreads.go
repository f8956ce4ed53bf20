package evaluation

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// spreadRows are the most rows by which the spreads of kernels are measured.
const spreadRows = 300

// spreader is a model that knows the spreads of its kernels.
type spreader interface {
	KernelSpreads(ctx context.Context, opt mkl.PredictOptions, x ...mkl.Features) ([]float64, error)
}

// Spreads returns by what the weights of kernels are to be multiplied for shares: the spreads of the kernels over the
// rows; nil if they are not known.
func (m *Samples) Spreads(e *console.Env, rng *rand.Rand) ([]float64, error) {
	model, ok := m.model.(spreader)
	if !ok {
		return nil, nil
	}
	some := someRows(rng, len(m.Kept), spreadRows)
	s, err := model.KernelSpreads(e.Ctx, m.options.PredictOptions, m.take(some)...)
	if err != nil || slices.ContainsFunc(s, math.IsNaN) {
		return nil, err
	}
	return s, nil
}
