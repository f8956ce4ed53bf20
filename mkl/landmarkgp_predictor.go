package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// landmarkFunction predicts by a [LandmarkModel] at one sample. It is exact: the landmarks
// are all that there is.
type landmarkFunction struct {
	pointKernels
	model    *LandmarkModel
	meanOnly bool
	pool     scratchPool
}

// Predictor prepares the model for predictions of single samples, which are exact; of the
// options MeanOnly counts.
func (m *LandmarkModel) Predictor(opt ProcessPredictorOptions) (*ProcessPredictor, error) {
	if _, err := opt.tolerance(1); err != nil {
		return nil, err
	}
	f := &landmarkFunction{model: m, meanOnly: opt.MeanOnly}
	f.pointKernels = newPointKernels(m.design, upTo(len(m.design.views)), upTo(m.design.d), false)
	f.pool = newScratchPool(func() *scratch {
		s := f.newScratch()
		s.phi = make([]float64, m.plan.width())
		return s
	})
	return &ProcessPredictor{inputs: m.design.inputs, members: []processMember{{landmarks: f, weight: 1, target: m.target, meanOnly: opt.MeanOnly}}}, nil
}

func (f *landmarkFunction) predict(x [][]float64) (c vi.Certified) {
	s := f.pool.take()
	f.kernels(s, x)
	first := 0
	for i, by := range f.model.plan.by {
		phi := s.phi[first : first+by.Rows]
		copy(phi, f.model.shift[i])
		la.Gemv(&s.ws, la.NoTrans, 1, by, s.k.Row(i), 1, phi)
		first += by.Rows
	}
	c.Mean, c.Variance = f.model.posterior.PredictOne(s.phi, f.meanOnly)
	f.pool.put(s)
	return c
}

func (f *landmarkFunction) info() ProcessPredictorInfo {
	return ProcessPredictorInfo{Samples: f.model.design.d}
}
