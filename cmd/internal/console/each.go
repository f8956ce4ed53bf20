package console

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Each runs job for all numbers below n, at most so many at a time as a flag asks for, see
// [Processors]. It returns the first error; the context of the other jobs then ends, and
// jobs that have not begun are left out.
func Each(ctx context.Context, workers, n int, job func(ctx context.Context, i int) error) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(Processors(workers))
	for i := range n {
		group.Go(func() error {
			if within.Err() != nil {
				return context.Cause(within)
			}
			return job(within, i)
		})
	}
	return group.Wait()
}
