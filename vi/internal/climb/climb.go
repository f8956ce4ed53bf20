// Package climb runs a fit from its first sweep to the posterior.
package climb

import (
	"context"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// Fit is the state of a fit whose posterior is a Q.
type Fit[Q any] interface {
	vi.Objective
	Retire()      // ends the sweeps
	Posterior() Q // of the present state
}

// Run makes the sweeps of a fit and returns the posterior that they end in; the posterior is nil if
// no sweep was made. A fit with a journal may have started from numbers that no fit wrote: restore
// then makes the posterior anew from its state and rejects a state that is not valid, and the
// covariances that the state holds are checked.
func Run[S any, Q interface{ State() S }](
	ctx context.Context, a vi.Ascent, m Fit[Q], restore func(S) (Q, error), covariances func(S) []la.Matrix[float64],
) (p Q, rec vi.Record, err error) {
	rec, err = a.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return p, rec, err
	}
	m.Retire()
	last := m.Posterior()
	p, bad := check.Resumed(a.Journal != nil, last, restore, covariances(last.State())...)
	if bad != nil {
		return p, rec, bad
	}
	return p, rec, err
}
