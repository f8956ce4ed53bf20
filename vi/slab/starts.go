package slab

import (
	"context"

	"github.com/bmkl/bmkl/vi"
)

// bestOf climbs from n starts, after the sweeps that before records, and calls keep
// with every state whose bound is higher than those before it. It returns the best
// one's record and index and all bounds. An error ends it; what had been reached is
// then kept if nothing else was.
func bestOf(ctx context.Context, a vi.Ascent, n int, before vi.Record, start func(i int) (vi.Objective, error), keep func(vi.Objective) error) (best vi.Record, index int, bounds []float64, err error) {
	index = -1
	for i := range n {
		m, err := start(i)
		if err != nil {
			return best, index, bounds, err
		}
		rec, err := climb(ctx, a, m, before)
		if len(rec.Trace) == 0 || rec.Reason == vi.Failed {
			return best, index, bounds, err
		}
		bounds = append(bounds, rec.Bound())
		if index < 0 || err == nil && rec.Bound() > best.Bound() {
			if kerr := keep(m); kerr != nil {
				return best, index, bounds, kerr
			}
			best, index = rec, i
		}
		if err != nil {
			return best, index, bounds, err
		}
	}
	return best, index, bounds, nil
}

// climb climbs m's bound, and again for as long as there is something to prune where
// it converged.
func climb(ctx context.Context, a vi.Ascent, m vi.Objective, before vi.Record) (vi.Record, error) {
	rec, err := a.Continue(ctx, m, before, len(before.Trace))
	p, ok := m.(interface{ prune() bool })
	for ok && err == nil && rec.Reason == vi.Converged && p.prune() {
		rec, err = a.Continue(ctx, m, rec, len(rec.Trace))
	}
	return rec, err
}
