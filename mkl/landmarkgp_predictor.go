package mkl

import (
	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// landmarkFunction predicts a function on landmarks at one sample. It prunes nothing. The variance is in float32 where its
// bound is within the tolerance, else all is in float64, by way of the features.
type landmarkFunction struct {
	gram.Points
	plan      *featurePlan
	shift     [][]float64
	posterior *mgp.FeaturePosterior // of the features, and perhaps of a feature that is 1
	meanOnly  bool
	tolerance float64
	triangle  *mgp.FeatureTriangle // nil if all is in float64
	pivots    [][]int              // of each kernel, the landmarks whose kernels make its features
	pool      reuse.Pool[landmarkScratch]
}

// landmarkScratch is the memory of one prediction.
type landmarkScratch struct {
	*gram.PointScratch
	phi      []float64 // the features, or the kernels with the pivots
	triangle *mgp.TriangleScratch
}

// newLandmarkFunction prepares a function for predictions of single samples.
func newLandmarkFunction(p *featurePlan, shift [][]float64, posterior *mgp.FeaturePosterior, opt PredictorOptions, share float64) *landmarkFunction {
	f := &landmarkFunction{plan: p, shift: shift, posterior: posterior, meanOnly: opt.MeanOnly, tolerance: opt.process(share)}
	f.Points = gram.NewPoints(p.design, vec.UpTo(len(p.design.Views)), vec.UpTo(p.design.D), false)
	features := len(posterior.State().Mean)
	f.pool = reuse.NewPool(func() *landmarkScratch {
		return &landmarkScratch{f.NewScratch(), make([]float64, features), mgp.NewTriangleScratch(features)}
	})
	if len(p.maps) > 0 && !opt.Exact {
		var by []la.Matrix[float64]
		for _, m := range p.maps {
			by, f.pivots = append(by, m.by), append(f.pivots, m.pivots)
		}
		f.triangle = archive.Value(opt.archive, func() *mgp.FeatureTriangle {
			return posterior.Triangle(by, shift, f.trials(features), opt.MeanOnly, f.tolerance)
		}, func(t *mgp.FeatureTriangle, a *archive.Archive) {
			posterior.ArchiveTriangle(t, a, opt.MeanOnly, f.tolerance)
		})
	}
	return f
}

// trials returns the values from which features are made at some landmarks, between them, and of their differences.
func (f *landmarkFunction) trials(features int) la.Matrix[float64] {
	const most = 64
	D := f.plan.design.D
	n := min(D, most)
	s := f.pool.Create()
	all := la.NewMatrix[float64](3*n, features)
	x := make([][]float64, len(f.plan.design.Inputs))
	for q := range n {
		for j := range x {
			x[j] = f.plan.design.Inputs[j].Basis.Row(q * D / n)
		}
		at := all.Row(3 * q)
		f.Kernels(s.PointScratch, x)
		f.gather(s, at)
		copy(all.Row(3*q+1), at)
		copy(all.Row(3*q+2), at)
		if q > 0 {
			before := all.Row(3*q - 3)
			la.Scal(0.5, all.Row(3*q+1))
			la.Axpy(0.5, before, all.Row(3*q+1))
			la.Axpy(-1, before, all.Row(3*q+2))
		}
	}
	return all
}

// gather stores the kernels with the pivots in k, and a 1 if there is a feature more.
func (f *landmarkFunction) gather(s *landmarkScratch, k []float64) {
	first := 0
	for i, p := range f.pivots {
		vec.Pick(k[first:first+len(p)], s.K.Row(i), p)
		first += len(p)
	}
	if first < len(k) {
		k[first] = 1
	}
}

// Predictor prepares the model for predictions of single samples. It takes all landmarks; the variance is in float32 if its
// bound is within opt.Tolerance.
func (m *LandmarkGPModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(1); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	f := newLandmarkFunction(&m.plan.featurePlan, m.shift, m.posterior, opt, 1)
	p := &mixturePredictor{inputs: m.design.Inputs, meanOnly: opt.MeanOnly, members: []processMember{{
		pointFunction: pointFunction{landmarks: f}, weight: 1, target: m.target,
	}}}
	out, err := p.ready(opt)
	if err == nil && !opt.MeanOnly {
		out.list = newListModel(m, opt)
	}
	return out, err
}

func (f *landmarkFunction) predict(x [][]float64, stage stage) (c vi.Certified) {
	s := f.pool.Take()
	f.Kernels(s.PointScratch, x)
	if f.triangle != nil && stage != exactly {
		f.gather(s, s.phi)
		if c = f.triangle.Predict(s.phi, s.triangle); c.Within(f.tolerance) {
			f.pool.Put(s)
			return c
		}
	}
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
	c = vi.Certified{}
	c.Mean, c.Variance = f.posterior.PredictOne(s.phi, f.meanOnly)
	f.pool.Put(s)
	return c
}

// landmarkBlock predicts a function on landmarks at the samples of a block. Products with the triangle are for all of them at once.
type landmarkBlock struct {
	*landmarkFunction
	member int // in the predictor
	s      *landmarkScratch
	values la.Matrix[float64] // by sample, from which features are made
	rows   *mgp.FeatureRows
	out    []vi.Certified
}

// newLandmarkBlock returns memory for blocks, or nil if the function gains nothing from them.
func newLandmarkBlock(f *landmarkFunction, member int) *landmarkBlock {
	if f == nil || f.triangle == nil || !f.triangle.Varies() {
		return nil
	}
	features := len(f.posterior.State().Mean)
	return &landmarkBlock{f, member, f.pool.Create(), la.NewMatrix[float64](blockSamples, features), f.triangle.NewRows(blockSamples), make([]vi.Certified, blockSamples)}
}

// begin computes the kernels of sample r of the block.
func (b *landmarkBlock) begin(r int, x [][]float64) {
	b.Kernels(b.s.PointScratch, x)
	b.gather(b.s, b.values.Row(r))
}

// finish returns the predictions of the first n samples by the triangle.
func (b *landmarkBlock) finish(n int) []vi.Certified {
	b.triangle.PredictRows(b.values.Slice(0, n, 0, b.values.Cols), b.rows, b.out[:n])
	return b.out[:n]
}

func (f *landmarkFunction) info() PredictorInfo {
	i := PredictorInfo{Kernels: vec.UpTo(len(f.plan.design.Views)), Samples: vec.UpTo(f.plan.design.D)}
	if f.triangle != nil {
		i.Bytes = f.triangle.Bytes()
	}
	if f.triangle != nil && !f.meanOnly {
		i.Kind, i.Float32 = BoundCalibrated, true
	}
	return i
}
