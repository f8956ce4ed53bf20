package mkl

import (
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// indicatorFunction predicts the classes of single samples by a least-squares process. All classes share one variance, which
// comes from float32 where the bounds of the probabilities are within the tolerance.
type indicatorFunction struct {
	shared    *bankSum       // the composite kernel from the bank; nil if it does not compute it
	all       processKernels // the kernels in the other case
	amplitude []float64      // by kernel
	samples   int

	point  *amplitude.Point
	memory reuse.Pool[amplitude.PointScratch]
}

// function prepares the model for single samples, whose kernels b computes if it can.
func (m *indicatorModel[T]) function(b *processBank, opt PredictorOptions) *indicatorFunction {
	point := amplitude.NewPoint(opt.archive, m.process, m.head, opt.Exact, opt.process(1))
	f := &indicatorFunction{amplitude: m.weight, samples: m.design.D, point: point}
	f.memory = reuse.NewPool(f.point.NewScratch)
	var ok bool
	if f.shared, ok = b.sum(m.design, m.weight); !ok {
		f.all.set(m.design, m.weight, vec.UpTo(m.design.D), 0)
	}
	return f
}

// predict stores the probabilities of x in out and returns a bound on their errors; s is the memory of b for x. A hasty stage
// stops where the bound is no more than enough.
func (f *indicatorFunction) predict(b *processBank, s *bankScratch, x [][]float64, stage stage, enough float64, out []float64) (bound float64) {
	k := s.phi[:f.samples]
	var self float64
	if f.shared != nil {
		self = b.weigh(s.BankScratch, f.shared, x, k)
	} else {
		own := f.all.pool.Take()
		self = f.all.composite(own, x, k)
		f.all.pool.Put(own)
	}
	own := f.memory.Take()
	switch stage {
	case hasty:
		bound = f.point.Probabilities(k, self, enough, out, own, s.triangle)
	case closely:
		bound = f.point.Probabilities(k, self, 0, out, own, s.triangle)
	case exactly:
		f.point.Exact(k, self, out, own)
	}
	f.memory.Put(own)
	return bound
}

func (f *indicatorFunction) info() PredictorInfo {
	i := PredictorInfo{Kernels: vec.UpTo(len(f.amplitude)), Samples: vec.UpTo(f.samples), Float32: f.point.Float32(), Bytes: f.point.Bytes()}
	if i.Float32 {
		i.Kind = BoundCalibrated
	}
	return i
}
