package slab

import (
	"context"
	"errors"

	"github.com/bmkl/bmkl/vi"
)

// bestOf climbs from n starts, after the sweeps that before records, and calls keep
// with every state that is better than those before it: one whose ascent ended without
// an error than one with, and else the one with the higher bound. It returns the best
// one's record and index and all bounds, NaN for starts without a good sweep. The end of the
// context ends it. bestOf returns the error of the start that was kept, or of the first if none
// was.
func bestOf(ctx context.Context, a vi.Ascent, n int, before vi.Record, start func(i int) (vi.Objective, error), keep func(vi.Objective) error) (best vi.Record, index int, bounds []float64, err error) {
	index = -1
	for i := range n {
		m, serr := start(i)
		if serr != nil { // an argument, which is wrong for every start
			return best, index, bounds, serr
		}
		rec, serr := climb(ctx, a, m, before)
		bounds = append(bounds, rec.Bound())
		if len(rec.Trace) > 0 && (index < 0 || err != nil && serr == nil || (err == nil) == (serr == nil) && rec.Bound() > best.Bound()) {
			if kerr := keep(m); kerr != nil {
				serr = errors.Join(serr, kerr)
			} else {
				best, index, err = rec, i, serr
			}
		}
		if serr != nil && index < 0 && err == nil {
			err = serr
		}
		if rec.Reason == vi.Cancelled {
			return best, index, bounds, serr
		}
	}
	return best, index, bounds, err
}

// climb climbs m's bound, and again for as long as there is something to prune where
// it converged.
func climb(ctx context.Context, a vi.Ascent, m vi.Objective, before vi.Record) (vi.Record, error) {
	rec, err := a.Continue(ctx, m, before, len(before.Trace))
	p, ok := m.(interface{ prune() bool })
	for ok && err == nil && rec.Reason.Done() && p.prune() {
		rec, err = a.Continue(ctx, m, rec, len(rec.Trace))
	}
	return rec, err
}
