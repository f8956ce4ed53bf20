package vi

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script is a model whose bound after sweep k is bounds(k).
type script struct {
	k      int
	n      float64
	bounds func(k int) float64
	err    error

	roundoff, allowance float64
	kept                int
}

func (s *script) Sweep(func(string)) error { s.k++; return s.err }
func (s *script) Heed(context.Context)     {}
func (s *script) Bound() float64           { return s.bounds(s.k) }
func (s *script) Roundoff() float64        { return s.roundoff }
func (s *script) Allowance() float64       { return s.allowance }
func (s *script) Keep()                    { s.kept = s.k }
func (s *script) Restore()                 { s.k = s.kept }
func (s *script) Jittered() float64        { return 0 }
func (s *script) Observations() float64    { return s.n }

// Predictions follow the bound.
func (s *script) Predictions(p *Predictions) {
	p.Resize(1)
	p.Mean[0], p.SD[0] = s.bounds(s.k), 1
}

func TestAscentStops(t *testing.T) {
	ctx := context.Background()
	t.Run("converged", func(t *testing.T) {
		rec, err := Ascent{Tolerance: 1e-4}.Run(ctx, &script{bounds: func(k int) float64 { return -100 - math.Exp(-float64(k)) }})
		require.NoError(t, err)
		assert.Equal(t, Converged, rec.Reason)
		assert.InDelta(t, -100, rec.Bound(), 1e-6)
	})
	t.Run("a slow ridge is no plateau", func(t *testing.T) {
		// c/k below the limit: one sweep's rise is below the tolerance at k = 100.
		rec, err := Ascent{Tolerance: 1e-4}.Run(ctx, &script{bounds: func(k int) float64 { return -100 - 100/float64(k) }})
		require.NoError(t, err)
		assert.Equal(t, Converged, rec.Reason)
		assert.InDelta(t, -100, rec.Bound(), 0.1)
	})
	t.Run("a bound that ends at zero", func(t *testing.T) {
		// In other units of the targets the same ascent has another constant. Where the
		// bound is smaller than the number of targets that must make no difference.
		for _, limit := range []float64{-90, -1e-3, 0, 1e-3, 90} {
			rec, err := Ascent{Tolerance: 1e-4}.Run(ctx, &script{n: 100, bounds: func(k int) float64 { return limit - 10/float64(k) }})
			require.NoError(t, err)
			assert.Equal(t, Converged, rec.Reason, limit)
			assert.Equal(t, 106, len(rec.Trace), limit) // 10/96 − 10/106 is the first below 0.01
		}
	})
	t.Run("max sweeps", func(t *testing.T) {
		var seen []Progress
		rec, err := Ascent{Tolerance: -1, MaxSweeps: 30, Progress: func(p Progress) { seen = append(seen, p) }}.
			Run(ctx, &script{bounds: func(int) float64 { return -1 }})
		require.NoError(t, err)
		assert.Equal(t, MaxSweeps, rec.Reason)
		assert.Len(t, rec.Trace, 30)
		require.Len(t, seen, 30)
		assert.True(t, math.IsNaN(seen[0].Rise))
		assert.Equal(t, Progress{Sweep: 30, MaxSweeps: 30, Bound: -1, Left: -1, Change: -1}, seen[29])
	})
	t.Run("cancelled", func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(ctx)
		a := Ascent{Progress: func(p Progress) {
			if p.Sweep == 3 {
				cancel(cause)
			}
		}}
		rec, err := a.Run(ctx, &script{bounds: func(k int) float64 { return float64(k) }})
		assert.ErrorIs(t, err, cause)
		assert.Equal(t, Cancelled, rec.Reason)
		assert.Equal(t, []float64{1, 2, 3}, rec.Trace)
	})
	for name, to := range map[string]float64{"bound fell": -7, "bound is NaN": math.NaN()} {
		t.Run(name, func(t *testing.T) {
			rec, err := Ascent{}.Run(ctx, &script{bounds: func(k int) float64 {
				if k == 5 {
					return to
				}
				return -6 + float64(k)/10
			}})
			var fall *BoundError
			require.ErrorAs(t, err, &fall)
			assert.Equal(t, 5, fall.Sweep)
			assert.Equal(t, BoundFell, rec.Reason)
			assert.Len(t, rec.Trace, 4)
			assert.InDelta(t, -5.6, rec.Bound(), 1e-15)
		})
	}
	t.Run("NaN at once", func(t *testing.T) {
		_, err := Ascent{}.Run(ctx, &script{bounds: func(int) float64 { return math.NaN() }})
		var fall *BoundError
		assert.ErrorAs(t, err, &fall)
	})
	t.Run("round-off is no fall", func(t *testing.T) {
		rec, err := Ascent{MaxSweeps: 40}.Run(ctx, &script{bounds: func(k int) float64 { return -1e6 + 1e-6*float64(k%2) }})
		require.NoError(t, err)
		assert.Equal(t, Converged, rec.Reason)
	})
	t.Run("a fall within round-off ends it", func(t *testing.T) {
		falls := func(k int) float64 { return -100 - 1e-3*float64(k/7) + 1e-5*float64(k%7) }
		m := &script{roundoff: 6e-4, bounds: falls}
		rec, err := Ascent{}.Run(ctx, m)
		require.NoError(t, err)
		assert.Equal(t, RoundOff, rec.Reason)
		assert.True(t, rec.Reason.Done())
		assert.Len(t, rec.Trace, 6)
		assert.Equal(t, 6, m.k, "the state before the fall")

		// The round-off of both bounds counts, and no more.
		_, err = Ascent{}.Run(ctx, &script{roundoff: 4e-4, bounds: falls})
		var fall *BoundError
		require.ErrorAs(t, err, &fall)
		assert.Equal(t, 8e-4, fall.RoundOff)

		// Who asks for all sweeps gets them.
		rec, err = Ascent{Tolerance: -1, MaxSweeps: 30}.Run(ctx, &script{roundoff: 6e-4, bounds: falls})
		require.NoError(t, err)
		assert.Len(t, rec.Trace, 30)
	})
	t.Run("a fall on purpose is none", func(t *testing.T) {
		rec, err := Ascent{Tolerance: 1e-4}.Run(ctx, &script{allowance: 1e-2, bounds: func(k int) float64 { return -100 - 1e-3*float64(k/7) }})
		require.NoError(t, err)
		assert.Equal(t, Converged, rec.Reason)
	})
	t.Run("failed", func(t *testing.T) {
		bad := errors.New("pivot")
		rec, err := Ascent{}.Run(ctx, &script{err: bad})
		assert.ErrorIs(t, err, bad)
		assert.Equal(t, Failed, rec.Reason)
		assert.True(t, math.IsNaN(rec.Bound()))
	})
}

// A bound that is no number is said to be none, without a share that rounding explains.
func TestBoundErrorOfNoNumber(t *testing.T) {
	err := &BoundError{Sweep: 3, Update: "q(a)", From: -2, To: math.NaN(), RoundOff: math.NaN()}
	assert.EqualError(t, err, "vi: sweep 3, update of q(a): the lower bound went from -2 to NaN: the kernels or priors are too ill-conditioned")
	err.To, err.RoundOff = -5, 0.5
	assert.EqualError(t, err, "vi: sweep 3, update of q(a): the lower bound fell from -2 to -5, and round-off explains 0.5 of this: the kernels or priors are too ill-conditioned")
}
