package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// landmarkFunction predicts a function on landmarks at one sample. It is exact: the landmarks
// are all that there is.
type landmarkFunction struct {
	pointKernels
	plan      *featurePlan
	shift     [][]float64
	posterior *mgp.FeaturePosterior // of the features, and perhaps of one that is 1
	meanOnly  bool
	pool      scratchPool
}

// newLandmarkFunction prepares a function for predictions of single samples.
func newLandmarkFunction(p *featurePlan, shift [][]float64, posterior *mgp.FeaturePosterior, meanOnly bool) *landmarkFunction {
	f := &landmarkFunction{plan: p, shift: shift, posterior: posterior, meanOnly: meanOnly}
	f.pointKernels = newPointKernels(p.design, upTo(len(p.design.views)), upTo(p.design.d), false)
	f.pool = newScratchPool(func() *scratch {
		s := f.newScratch()
		s.phi = make([]float64, len(posterior.State().Mean))
		return s
	})
	return f
}

// Predictor prepares the model for predictions of single samples, which are exact; of the
// options MeanOnly counts.
func (m *LandmarkGPModel) Predictor(opt ProcessPredictorOptions) (*ProcessPredictor, error) {
	if _, err := opt.tolerance(1); err != nil {
		return nil, err
	}
	f := newLandmarkFunction(&m.plan.featurePlan, m.shift, m.posterior, opt.MeanOnly)
	return &ProcessPredictor{inputs: m.design.inputs, members: []processMember{{
		pointFunction: pointFunction{landmarks: f}, weight: 1, target: m.target, meanOnly: opt.MeanOnly,
	}}}, nil
}

func (f *landmarkFunction) predict(x [][]float64) (c vi.Certified) {
	s := f.pool.take()
	f.kernels(s, x)
	first := 0
	for i, by := range f.plan.by {
		phi := s.phi[first : first+by.Rows]
		copy(phi, f.shift[i])
		la.Gemv(&s.ws, la.NoTrans, 1, by, s.k.Row(i), 1, phi)
		first += by.Rows
	}
	if first < len(s.phi) {
		s.phi[first] = 1
	}
	c.Mean, c.Variance = f.posterior.PredictOne(s.phi, f.meanOnly)
	f.pool.put(s)
	return c
}

func (f *landmarkFunction) info() ProcessPredictorInfo {
	return ProcessPredictorInfo{Samples: f.plan.design.d}
}
