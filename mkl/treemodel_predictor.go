package mkl

import (
	"math"
	"sync"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/trees"
)

// treeFunction predicts the target of a member with trees at one sample.
type treeFunction struct {
	model    *treeModel
	meanOnly bool
	pool     sync.Pool // of *treeScratch
}

// treeScratch is memory of one prediction.
type treeScratch struct {
	features []float64
	cells    *trees.Cells
}

func newTreeFunction(m *treeModel, meanOnly bool) *treeFunction {
	f := &treeFunction{model: m, meanOnly: meanOnly}
	f.pool.New = func() any { return &treeScratch{make([]float64, len(m.features.columns)), m.posterior.Cells()} }
	return f
}

func (f *treeFunction) predict(x [][]float64) (c vi.Certified) {
	s := f.pool.Get().(*treeScratch)
	for j := range f.model.features.columns {
		v := &f.model.features.columns[j]
		s.features[j] = v.value(x[v.input][v.column])
	}
	mean, variance := f.model.posterior.One(s.features, s.cells, f.meanOnly)
	f.pool.Put(s)
	c.Mean = mean
	if !math.IsNaN(variance) {
		c.Variance = variance
	}
	return c
}
