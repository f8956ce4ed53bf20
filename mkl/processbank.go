package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/vi/mgp"
)

// processBank computes the kernels of a sample once for all functions of a predictor, and keeps the memory of
// predictions.
type processBank struct {
	gram.Bank
	most    int // largest number of training samples of a function
	classes int // 0 for numbers
	pool    reuse.Pool[bankScratch]
}

// bankScratch is the memory of one prediction.
type bankScratch struct {
	*gram.BankScratch
	phi, noisePhi []float64 // composite kernels of a function, and of the logarithm of its noise
	triangle      *mgp.TriangleScratch

	// By class: scores and log probabilities of a member, bounds on the log odds, and probabilities.
	score, log, low, high, sum []float64

	judge probabilityJudge // of the current function

	_ [64]byte // scratch of different callers shares no cache line
}

// Add adds the kernels of a design, as [gram.Bank.Add].
func (b *processBank) Add(ds *gram.Design) (views []gram.BankView, ok bool) {
	b.most = max(b.most, ds.D)
	return b.Bank.Add(ds)
}

// ready prepares the memory of predictions, after all functions have been added.
func (b *processBank) ready() {
	b.pool = reuse.NewPool(func() *bankScratch {
		return &bankScratch{
			BankScratch: b.NewScratch(), triangle: mgp.NewTriangleScratch(b.most),
			phi: make([]float64, b.most), noisePhi: make([]float64, b.most),
			score: make([]float64, b.classes), log: make([]float64, b.classes), low: make([]float64, b.classes),
			high: make([]float64, b.classes), sum: make([]float64, b.classes),
		}
	})
}

// take returns memory for the prediction of another sample.
func (b *processBank) take() *bankScratch {
	s := b.pool.Take()
	s.Begin()
	return s
}

// weigh stores the sum of the kernels of the views, weighted by the amplitudes, and returns the same sum for the sample with itself.
func (b *processBank) weigh(s *bankScratch, views []gram.BankView, amplitude, sum []float64) (self float64) {
	clear(sum)
	for n, a := range amplitude {
		la.Axpy(a, b.Row(s.BankScratch, views[n]), sum)
		self += float64(a * s.Self[views[n].Row])
	}
	return self
}
