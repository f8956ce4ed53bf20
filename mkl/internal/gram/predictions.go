package gram

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// PredictWords is the least number of kernel values that a block of predictions
// may hold, and mostPredictWords the largest.
const (
	PredictWords     = 1 << 21
	mostPredictWords = 1 << 26
)

// BlockWords returns how many kernel values a block of predictions may hold: as many as
// four D×D matrices, but at least 16 MiB and at most 512 MiB. The work on such
// a block outweighs the Cholesky factorisation of a D×D matrix or,
// if a model keeps its factors, the copy of a factor that a solve makes.
func (ds *Design) BlockWords() int { return max(PredictWords, min(4*ds.D*ds.D, mostPredictWords)) }

// PredictBlocks calls do for each block of samples of x, with the kernels of samples first …
// first+n−1.
func (ds *Design) PredictBlocks(ctx context.Context, workers int, x []la.Matrix[float64], t int, do func(k vi.Kernels, first, n int) error) error {
	return ds.EachBlock(ctx, workers, ds.BlockWords(), false, x, t, func(k *vi.Dense, _ la.Matrix[float64], first, n int) error {
		return do(k, first, n)
	})
}

// EachBlock calls do for each block of the t samples of x, with the kernels k, D×n, of samples first …
// first+n−1. A block has about words kernel values. With selves, do also gets the
// kernels of those samples with themselves, P×n.
func (ds *Design) EachBlock(ctx context.Context, workers, words int, selves bool, x []la.Matrix[float64], t int, do func(k *vi.Dense, self la.Matrix[float64], first, n int) error) error {
	if ctx == nil {
		return ErrNoContext
	}
	P, D := len(ds.Views), ds.D
	block := min(t, max(1, words/(P*D)))
	buffer := make([]float64, P*D*block)
	for first := 0; first < t; first += block {
		n := min(block, t-first)
		ks := make([]la.Matrix[float64], P)
		for i := range ks {
			ks[i] = la.MatrixOf(D, n, buffer[i*D*n:(i+1)*D*n])
		}
		var self la.Matrix[float64]
		if selves {
			self = la.NewMatrix[float64](P, n)
		}
		if err := ds.CrossSelf(ctx, workers, x, first, ks, self); err != nil {
			return err
		}
		k, err := vi.NewDense(ks...)
		if err != nil {
			return cmp.Or(ds.within(ks, first), err)
		}
		if err := do(k, self, first, n); err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
	}
	return nil
}

// within returns an error for the samples that have a kernel which is not a number. The columns of ks are the samples from first on.
func (ds *Design) within(ks []la.Matrix[float64], first int) error {
	var wild *SampleError
	seen := map[int]bool{}
	for i, k := range ks {
		for d := range k.Rows {
			row := k.Row(d)
			for j := vec.FirstNonFinite(row); j >= 0 && j < len(row); j++ {
				v := row[j]
				if v-v == 0 || seen[j] {
					continue
				}
				seen[j] = true
				if wild == nil || first+j < wild.Samples[0] {
					wild = &SampleError{
						Samples: []int{first + j}, Of: fmt.Sprintf("views[%d] (%s): ", i, ds.Views[i].Kernel),
						Err: fmt.Errorf("its kernel with training sample %d is %g: %w", d, v, ErrBeyond),
					}
				}
			}
		}
	}
	if wild == nil {
		return nil
	}
	wild.Samples = slices.Sorted(maps.Keys(seen))
	return wild
}
