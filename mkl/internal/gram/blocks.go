package gram

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// blockRows is the number of rows of a kernel matrix that one task computes.
const blockRows = 64

// inBlocks runs a task on each of the row blocks of 0 … n−1. It begins with the last block:
// in a triangle its rows are the longest. Each of the
// workers (0: all processors) gets a task function of its own from newTask.
func inBlocks(ctx context.Context, workers, n int, newTask func() func(first, last int)) error {
	if err := InBlocks(ctx, workers, n, blockRows, newTask); err != nil {
		return fmt.Errorf("mkl: kernel matrices: %w", err)
	}
	return nil
}

// InBlocks runs a task on each block of so many of the numbers 0 … n−1, the last block first. Each of the workers (0: all processors) gets a
// task function of its own from newTask. The error is the context's cause, or [ErrNoContext].
func InBlocks(ctx context.Context, workers, n, rows int, newTask func() func(first, last int)) error {
	if ctx == nil {
		return ErrNoContext
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	count := (n + rows - 1) / rows
	var next atomic.Int64
	work := func() {
		task := newTask()
		for ctx.Err() == nil {
			b := count - int(next.Add(1))
			if b < 0 {
				return
			}
			task(b*rows, min(n, (b+1)*rows))
		}
	}
	var wg sync.WaitGroup
	for range min(workers, count) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return context.Cause(ctx)
}
