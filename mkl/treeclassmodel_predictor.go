package mkl

import (
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/vi/trees"
)

// treeClassFunction predicts the classes of a member with trees at one sample. Its predictions are exact.
type treeClassFunction struct {
	features  *localFeatures
	posterior *trees.ClassPosterior
	about     PredictorInfo
	pool      reuse.Pool[treeClassScratch]
}

// treeClassScratch is memory of one prediction.
type treeClassScratch struct {
	features, score []float64

	_ [64]byte // scratch of different callers shares no cache line
}

func (m *treeClassModel[T]) function() *treeClassFunction {
	f := &treeClassFunction{features: m.features, posterior: m.posterior, about: m.info()}
	f.pool = reuse.NewPool(func() *treeClassScratch {
		return &treeClassScratch{features: make([]float64, len(m.features.columns)), score: make([]float64, len(m.Outputs()))}
	})
	return f
}

// probabilities stores the probabilities of the classes.
func (f *treeClassFunction) probabilities(x [][]float64, out []float64) {
	s := f.pool.Take()
	f.features.at(x, s.features)
	f.posterior.Scores(s.features, s.score)
	trees.Probabilities(s.score, out)
	f.pool.Put(s)
}
