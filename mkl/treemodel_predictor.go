package mkl

import (
	"math"

	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/trees"
)

// treeFunction predicts the target of a member with trees at one sample.
type treeFunction struct {
	model    *treeModel
	meanOnly bool
	pool     reuse.Pool[treeScratch]
}

// treeScratch is memory of one prediction.
type treeScratch struct {
	features []float64
	cells    *trees.Cells

	_ [64]byte // scratch of different callers shares no cache line
}

func newTreeFunction(m *treeModel, meanOnly bool) *treeFunction {
	f := &treeFunction{model: m, meanOnly: meanOnly}
	f.pool = reuse.NewPool(func() *treeScratch {
		return &treeScratch{features: make([]float64, len(m.features.columns)), cells: m.posterior.Cells()}
	})
	return f
}

func (f *treeFunction) predict(x [][]float64) (c vi.Certified) {
	s := f.pool.Take()
	f.model.features.at(x, s.features)
	mean, variance := f.model.posterior.One(s.features, s.cells, f.meanOnly)
	f.pool.Put(s)
	c.Mean = mean
	if !math.IsNaN(variance) {
		c.Variance = variance
	}
	return c
}
