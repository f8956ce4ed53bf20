package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// processBank computes the kernels of a sample once for all functions of a predictor, and keeps the memory of
// predictions.
type processBank struct {
	gram.Bank
	most    int // largest number of training samples of a function
	classes int // 0 for numbers
	members int // 0 for classes
	refines int // largest number of functions of a member of classes that refines; see [processFunction.refines]
	pool    reuse.Pool[bankScratch]
}

// bankScratch is the memory of one prediction.
type bankScratch struct {
	*gram.BankScratch
	phi, noisePhi []float64 // composite kernels of a function, and of the logarithm of its noise
	triangle      *mgp.TriangleScratch

	// By class: scores and log probabilities of a member, bounds on the log odds, and probabilities.
	score, log, low, high, sum []float64

	refined   refinedClasses // of a member
	certified []vi.Certified // by member of a mixture
	next      []way          // by member, which is closer; noOther of members whose variances are computed together

	_ [64]byte // scratch of different callers shares no cache line
}

// bankSum is a weighted sum of kernels of a bank.
type bankSum struct {
	views           []gram.BankView // of the kernels that count
	centred, others []bankTerm
	centering       *gram.Centering // of the sum of the centred ones
}

// bankTerm is a kernel of a bank times its amplitude.
type bankTerm struct {
	view      gram.BankView
	amplitude float64
}

// sum adds the kernels of a design that have an amplitude other than 0, and returns their sum; ok is as in [gram.Bank.Add].
func (b *processBank) sum(ds *gram.Design, amplitude []float64) (sum *bankSum, ok bool) {
	b.most = max(b.most, ds.D)
	var which []int
	for i, a := range amplitude {
		if a != 0 {
			which = append(which, i)
		}
	}
	sum = &bankSum{}
	if sum.views, ok = b.Add(ds, which); !ok {
		return nil, false
	}
	var centred []int
	var amplitudes []float64
	for n, i := range which {
		term := bankTerm{sum.views[n], amplitude[i]}
		if ds.Views[i].Center {
			sum.centred, centred, amplitudes = append(sum.centred, term), append(centred, i), append(amplitudes, amplitude[i])
		} else {
			sum.others = append(sum.others, term)
		}
	}
	if len(centred) > 0 {
		sum.centering = ds.Centering(centred, amplitudes)
	}
	return sum, true
}

// ready prepares the memory of predictions, after all functions have been added.
func (b *processBank) ready() {
	b.Join()
	b.pool = reuse.NewPool(func() *bankScratch {
		return &bankScratch{
			BankScratch: b.NewScratch(), triangle: mgp.NewTriangleScratch(b.most),
			phi: make([]float64, b.most), noisePhi: make([]float64, b.most),
			score: make([]float64, b.classes), log: make([]float64, b.classes), low: make([]float64, b.classes),
			high: make([]float64, b.classes), sum: make([]float64, b.classes), certified: make([]vi.Certified, b.members), next: slices.Repeat([]way{noOther}, b.members),
			refined: newRefinedClasses(b.classes, b.refines, b.most),
		}
	})
}

// take returns memory for the prediction of another sample.
func (b *processBank) take() *bankScratch {
	s := b.pool.Take()
	s.Begin()
	return s
}

// weigh stores the sum of the kernels of the sample x with the training samples in dst, and returns the sum for the sample
// with itself.
func (b *processBank) weigh(s *gram.BankScratch, sum *bankSum, x [][]float64, dst []float64) (self float64) {
	b.Kernels(s, sum.views, x)
	clear(dst)
	self = b.addTerms(s, sum.centred, dst, 0)
	if sum.centering != nil {
		self = sum.centering.Apply(dst, self)
	}
	return b.addTerms(s, sum.others, dst, self)
}

// addTerms adds terms to dst, and to the sum for the sample with itself.
func (b *processBank) addTerms(s *gram.BankScratch, terms []bankTerm, dst []float64, self float64) float64 {
	for _, t := range terms {
		la.Axpy(t.amplitude, b.Row(s, t.view), dst)
		self += float64(t.amplitude * s.Self[t.view.Row])
	}
	return self
}
