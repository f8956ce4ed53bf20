package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// landmarkFunction predicts a function on landmarks at one sample. It prunes nothing, and is exact, because it uses all
// landmarks.
type landmarkFunction struct {
	gram.Points
	plan      *featurePlan
	shift     [][]float64
	posterior *mgp.FeaturePosterior // of the features, and perhaps of a feature that is 1
	meanOnly  bool
	pool      reuse.Pool[scratch]
}

// newLandmarkFunction prepares a function for predictions of single samples.
func newLandmarkFunction(p *featurePlan, shift [][]float64, posterior *mgp.FeaturePosterior, meanOnly bool) *landmarkFunction {
	f := &landmarkFunction{plan: p, shift: shift, posterior: posterior, meanOnly: meanOnly}
	f.Points = gram.NewPoints(p.design, vec.UpTo(len(p.design.Views)), vec.UpTo(p.design.D), false)
	f.pool = reuse.NewPool(func() *scratch {
		s := &scratch{PointScratch: f.NewScratch()}
		s.phi = make([]float64, len(posterior.State().Mean))
		return s
	})
	return f
}

// Predictor prepares the model for predictions of single samples, which are exact. MeanOnly is the only
// option that has an effect.
func (m *LandmarkGPModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(1); err != nil {
		return nil, err
	}
	f := newLandmarkFunction(&m.plan.featurePlan, m.shift, m.posterior, opt.MeanOnly)
	p := &mixturePredictor{inputs: m.design.Inputs, meanOnly: opt.MeanOnly, members: []processMember{{
		pointFunction: pointFunction{landmarks: f}, weight: 1, target: m.target,
	}}}
	p.bank.ready()
	return &Predictor{mixture: p}, nil
}

func (f *landmarkFunction) predict(x [][]float64) (c vi.Certified) {
	s := f.pool.Take()
	f.Kernels(s.PointScratch, x)
	first := 0
	for i, by := range f.plan.by {
		phi := s.phi[first : first+by.Rows]
		copy(phi, f.shift[i])
		la.Gemv(&s.WS, la.NoTrans, 1, by, s.K.Row(i), 1, phi)
		first += by.Rows
	}
	if first < len(s.phi) {
		s.phi[first] = 1
	}
	c.Mean, c.Variance = f.posterior.PredictOne(s.phi, f.meanOnly)
	f.pool.Put(s)
	return c
}

func (f *landmarkFunction) info() PredictorInfo {
	return PredictorInfo{Kernels: vec.UpTo(len(f.plan.design.Views)), Samples: vec.UpTo(f.plan.design.D)}
}
