package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// processBatch predicts many samples by all functions of a model. Each kernel of a sample is computed once, for all
// functions, and only sums of kernels are kept.
type processBatch struct {
	*processes
	bank  processBank
	sums  []*bankSum // of each function
	noise *bankSum   // of the logarithm of the noise; nil if it is constant, or not wanted
}

// newBatch returns nil if a bank cannot compute the kernels, or would read the basis points from far for each sample.
func (m *processes) newBatch(opt PredictOptions) *processBatch {
	b := &processBatch{processes: m}
	for o, post := range m.posteriors {
		sum, ok := b.bank.sum(m.designs[o], amplitudes(post))
		if !ok {
			return nil
		}
		b.sums = append(b.sums, sum)
	}
	if m.noise != nil && !opt.MeanOnly {
		b.noise, _ = b.bank.sum(m.designs[0], amplitudes(m.noise.About))
	}
	if !b.bank.InReach() {
		return nil
	}
	return b
}

// batchRows is the most samples of a block. Their kernels fill the second cache several times, and a product with the
// factor takes them through it together.
const batchRows = 512

// predict calls do as [processes.predict] does. It stops where a kernel is not finite, and reports whether it did not.
func (b *processBatch) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(o, first int, p *mgp.Prediction)) (whole bool, err error) {
	if ctx == nil {
		return false, gram.ErrNoContext
	}
	sums := b.sums
	if b.noise != nil {
		sums = append(sums[:len(sums):len(sums)], b.noise)
	}
	N := b.designs[0].D
	block := min(t, batchRows, max(1, gram.PredictWords/(len(sums)*N)))
	kbar, self := make([]la.Matrix[float64], len(sums)), la.NewMatrix[float64](len(sums), block)
	for o := range kbar {
		kbar[o] = la.NewMatrix[float64](block, N)
	}
	options := vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers}
	for first := 0; first < t; first += block {
		n := min(block, t-first)
		err := b.bank.EachRow(ctx, opt.Workers, x, first, n, func(s *gram.BankScratch, i int, row [][]float64) {
			for o, sum := range sums {
				self.Set(o, i, b.bank.weigh(s, sum, row, kbar[o].Row(i)))
			}
		})
		if err != nil {
			return false, err
		}
		for o := range sums {
			if !finiteRows(kbar[o].Slice(0, n, 0, N)) || vec.FirstNonFinite(self.Row(o)[:n]) >= 0 {
				return false, nil
			}
		}
		for o, post := range b.posteriors {
			p, err := post.PredictComposite(kbar[o].Slice(0, n, 0, N), self.Row(o)[:n], options)
			if err == nil && b.noise != nil {
				last := len(sums) - 1
				err = b.processes.noise.WidenComposite(p, kbar[last].Slice(0, n, 0, N), self.Row(last)[:n], options)
			}
			if err != nil {
				return false, fmt.Errorf("mkl: %w", err)
			}
			do(o, first, p)
		}
	}
	return true, nil
}

// finiteRows reports whether all entries are finite.
func finiteRows(a la.Matrix[float64]) bool {
	for i := range a.Rows {
		if vec.FirstNonFinite(a.Row(i)) >= 0 {
			return false
		}
	}
	return true
}
