package sequence

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/mkl"
)

// task is a kernel matrix to be computed.
type task struct {
	alphabet Alphabet
	basis, x [][]uint16   // the strings of the columns and of the rows
	same     bool         // x is basis: the matrix is symmetric
	k        mkl.Features // between each x (row) and each basis string (column)
	workers  int
	progress func() // some kernels call it after each row; may be nil

	// The kernels of strings with themselves. xSelf is empty if same is true.
	basisSelf, xSelf []float64

	known   bool    // basisSelf is known
	indexes []index // indexes of basis, for the first calls of add
	keep    int     // how many more occurrences the kept indexes may have
	adds    int     // number of calls of add
}

// longest returns the length of the longest string.
func (t *task) longest() int {
	n := 0
	for _, all := range [][][]uint16{t.basis, t.x} {
		for _, s := range all {
			n = max(n, len(s))
		}
	}
	return n
}

// mirror copies the lower triangle to the upper one.
func (t *task) mirror() {
	for i := range t.k.Rows {
		for j := range i {
			t.k.Set(j, i, t.k.At(i, j))
		}
	}
}

// each calls the functions that worker returns for all numbers below n, in several goroutines with a
// worker each.
func each(ctx context.Context, workers, n int, worker func() func(i int)) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			do := worker()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
