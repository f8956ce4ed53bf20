package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// indicatorFunction predicts the classes of single samples by a least-squares process. It uses all samples, in float64.
type indicatorFunction struct {
	views     []gram.BankView // in the bank; nil if it does not compute them
	all       processKernels  // the kernels in the other case
	amplitude []float64       // by kernel
	samples   int

	point  *amplitude.Point
	memory reuse.Pool[amplitude.PointScratch]
}

// function prepares the model for single samples. The bank b computes their kernels if it can.
func (m *indicatorModel[T]) function(b *processBank) *indicatorFunction {
	f := &indicatorFunction{amplitude: m.weight, samples: m.design.D, point: amplitude.NewPoint(m.process, m.head)}
	f.memory = reuse.NewPool(f.point.NewScratch)
	var ok bool
	if f.views, ok = b.Add(m.design); !ok {
		f.all.set(m.design, m.weight, vec.UpTo(m.design.D), 0)
	}
	return f
}

// add adds weight times the class probabilities of x to s.sum; s is the memory of b for x.
func (f *indicatorFunction) add(b *processBank, s *bankScratch, x [][]float64, weight float64) {
	k := s.phi[:f.samples]
	var self float64
	if f.views != nil {
		b.Kernels(s.BankScratch, f.views, x)
		self = b.weigh(s, f.views, f.amplitude, k)
	} else {
		own := f.all.pool.Take()
		self = f.all.composite(own, x, k)
		f.all.pool.Put(own)
	}
	own := f.memory.Take()
	la.Axpy(weight, f.point.Probabilities(k, self, own), s.sum)
	f.memory.Put(own)
}

func (f *indicatorFunction) info() PredictorInfo {
	return PredictorInfo{Kernels: vec.UpTo(len(f.amplitude)), Samples: vec.UpTo(f.samples)}
}
