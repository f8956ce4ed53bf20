package mkl

import (
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/vecchia"
)

// localFunction predicts the targets of a local model at one sample. Its predictions are exact.
type localFunction struct {
	model    *localProcess
	head     *amplitude.Head // nil for numbers
	meanOnly bool
	single   *vecchia.Single
	pool     reuse.Pool[localScratch]
}

// localScratch is the memory of one prediction.
type localScratch struct {
	*vecchia.SingleScratch
	z    []float64 // the features
	head amplitude.HeadScratch

	_ [64]byte // scratch of different callers shares no cache line
}

// function prepares predictions of single samples. head is nil for numbers.
func (m *localProcess) function(head *amplitude.Head, meanOnly bool) *localFunction {
	f := &localFunction{model: m, head: head, meanOnly: meanOnly, single: m.posterior.Single()}
	f.pool = reuse.NewPool(func() *localScratch {
		s := &localScratch{SingleScratch: f.single.NewScratch(), z: make([]float64, len(m.features.columns))}
		if head != nil {
			s.head = head.NewScratch()
		}
		return s
	})
	return f
}

// predict predicts a number.
func (f *localFunction) predict(x [][]float64) (c vi.Certified) {
	s := f.pool.Take()
	f.model.features.at(x, s.z)
	v := f.single.Predict(s.SingleScratch, s.z, f.meanOnly)
	c.Mean, c.Variance = s.Mean[0], f.single.Factor(0)*v
	f.pool.Put(s)
	return c
}

// probabilities stores the probabilities of the classes.
func (f *localFunction) probabilities(x [][]float64, out []float64) {
	s := f.pool.Take()
	f.model.features.at(x, s.z)
	v := f.single.Predict(s.SingleScratch, s.z, false)
	var variance float64
	for c := range s.Mean {
		variance += float64(f.single.Factor(c)*v) / float64(len(s.Mean))
	}
	f.head.ProbabilitiesOfOne(s.head, s.Mean, variance, out)
	f.pool.Put(s)
}

func (f *localFunction) info() PredictorInfo { return f.model.info() }

// info describes the predictions, which are exact.
func (m *localProcess) info() PredictorInfo {
	return PredictorInfo{Kernels: vec.UpTo(len(m.posterior.State().Local.Parts)), Samples: vec.UpTo(m.Samples())}
}
