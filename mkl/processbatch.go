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

// sumBatch computes sums of kernels of many samples. Each kernel of a sample is computed once, for all sums, and only the sums
// are kept.
type sumBatch struct {
	bank    processBank
	sums    []*bankSum
	samples int // of the training
}

// add adds a sum of the kernels of a design; ok is as in [gram.Bank.Add].
func (b *sumBatch) add(ds *gram.Design, amplitude []float64) (ok bool) {
	sum, ok := b.bank.sum(ds, amplitude)
	b.sums, b.samples = append(b.sums, sum), ds.D
	return ok
}

// batchRows is the most samples of a block. Their kernels fill the second cache several times, and a product with a
// factor takes them through it together.
const batchRows = 512

// each calls do with the sums of the samples from first on, for block after block: of each sum a row for each sample, which
// do may overwrite, and the sums for the samples with themselves. It stops where a sum is not finite, and reports whether it
// did not.
func (b *sumBatch) each(ctx context.Context, workers int, x []Features, t int, do func(first int, k []la.Matrix[float64], self [][]float64) error) (whole bool, err error) {
	if ctx == nil {
		return false, gram.ErrNoContext
	}
	N := b.samples
	block := min(t, batchRows, max(1, gram.PredictWords/(len(b.sums)*N)))
	all, k, self := make([]la.Matrix[float64], len(b.sums)), make([]la.Matrix[float64], len(b.sums)), make([][]float64, len(b.sums))
	for i := range all {
		all[i] = la.NewMatrix[float64](block, N)
	}
	for first := 0; first < t; first += block {
		n := min(block, t-first)
		for i := range k {
			k[i], self[i] = all[i].Slice(0, n, 0, N), make([]float64, n)
		}
		err := b.bank.EachRow(ctx, workers, x, first, n, func(s *gram.BankScratch, r int, row [][]float64) {
			for i, sum := range b.sums {
				self[i][r] = b.bank.weigh(s, sum, row, k[i].Row(r))
			}
		})
		if err != nil {
			return false, err
		}
		for i := range k {
			if !finiteRows(k[i]) || vec.FirstNonFinite(self[i]) >= 0 {
				return false, nil
			}
		}
		if err := do(first, k, self); err != nil {
			return false, fmt.Errorf("mkl: %w", err)
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

// processBatch predicts many samples by all functions of a model.
type processBatch struct {
	*processes
	sumBatch      // of each function, and last of the logarithm of the noise
	widens   bool // there is that
}

// newBatch returns nil if a bank cannot compute the kernels, or would read the basis points from far for each sample.
func (m *processes) newBatch(opt PredictOptions) *processBatch {
	b := &processBatch{processes: m, widens: m.noise != nil && !opt.MeanOnly}
	for o, post := range m.posteriors {
		if !b.sumBatch.add(m.designs[o], amplitudes(post)) {
			return nil
		}
	}
	if b.widens && !b.sumBatch.add(m.designs[0], amplitudes(m.noise.About)) || !b.bank.InReach() {
		return nil
	}
	return b
}

// predict calls do as [processes.predict] does. It stops where a kernel is not finite, and reports whether it did not.
func (b *processBatch) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(o, first int, p *mgp.Prediction)) (whole bool, err error) {
	options := vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers}
	ws := &la.Workspace{Workers: opt.Workers} // kept from block to block
	return b.each(ctx, opt.Workers, x, t, func(first int, k []la.Matrix[float64], self [][]float64) error {
		for o, post := range b.posteriors {
			p, err := post.PredictComposite(ws, k[o], self[o], options)
			if err == nil && b.widens {
				last := len(k) - 1
				err = b.processes.noise.WidenComposite(ws, p, k[last], self[last], options)
			}
			if err != nil {
				return err
			}
			do(o, first, p)
		}
		return nil
	})
}
