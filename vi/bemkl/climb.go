package bemkl

import (
	"context"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// fitted is the state of a fit whose posterior is a Q.
type fitted[Q any] interface {
	vi.Objective
	retire() // ends the sweeps
	posterior() Q
}

// restorable is what a posterior is made of.
type restorable interface {
	// covariances returns those that it holds.
	covariances() []la.Matrix[float64]
}

// climb makes the sweeps of a fit and returns the posterior that they end in, or nil if there was
// none. Where there is a journal, restore makes it of its state, and refuses a state that none has.
func climb[S restorable, Q interface{ State() S }](
	ctx context.Context, a vi.Ascent, m fitted[Q], restore func(S) (Q, error),
) (p Q, rec vi.Record, err error) {
	rec, err = a.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return p, rec, err
	}
	m.retire()
	last := m.posterior()
	p, bad := check.Resumed(a.Journal != nil, last, restore, last.State().covariances()...)
	if bad != nil {
		return p, rec, bad
	}
	return p, rec, err
}

func (s RegressionState) covariances() []la.Matrix[float64] { return []la.Matrix[float64]{s.BECov} }

func (s ClassificationState) covariances() []la.Matrix[float64] { return []la.Matrix[float64]{s.BECov} }

func (s TaskState) covariances() []la.Matrix[float64] { return []la.Matrix[float64]{s.BECov} }

func (s TaskClassificationState) covariances() []la.Matrix[float64] {
	return []la.Matrix[float64]{s.BECov}
}

func (s SharedState) covariances() []la.Matrix[float64] { return s.BECov }
