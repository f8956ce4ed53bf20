package vi

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// course is a model whose bound and single prediction after sweep k are given.
type course struct {
	script
	prediction func(k int) float64
}

func (c *course) Predictions(p *Predictions) {
	p.Resize(1)
	p.Mean[0], p.SD[0] = c.prediction(c.k), 1
}

func TestDistance(t *testing.T) {
	p := &Predictions{Mean: []float64{1, 2}, SD: []float64{0.5, 2}}
	q := &Predictions{Mean: []float64{1.1, 2}, SD: []float64{0.5, 2 * math.E}}
	assert.InDelta(t, math.Sqrt((0.04+1)/2), p.Distance(q), 1e-12)
	p.Probabilities, q.SD[1] = true, 2
	assert.InDelta(t, math.Sqrt(0.01/2), p.Distance(q), 1e-12)
	assert.True(t, math.IsInf(p.Distance(&Predictions{Mean: []float64{1}, SD: []float64{1}}), 1))
	q.Mean[0] = math.NaN()
	assert.True(t, math.IsInf(p.Distance(q), 1))
}

// What is to come after the stop is no more than was promised, for moves that decay
// geometrically and for sums of a fast and a slow mode, and no more than twice that, and a
// little for the sweeps between, for those that decay like 1/k.
func TestStopPromise(t *testing.T) {
	ctx := context.Background()
	for name, rest := range map[string]func(k float64) float64{
		"geometric":      func(k float64) float64 { return 3 * math.Pow(0.9, k) },
		"slow":           func(k float64) float64 { return 3 * math.Pow(0.99, k) },
		"fast and slow":  func(k float64) float64 { return 3*math.Pow(0.6, k) + 0.3*math.Pow(0.98, k) },
		"1/k":            func(k float64) float64 { return 3 / k },
		"from each side": func(k float64) float64 { return 3 * math.Pow(-0.9, k) },
	} {
		m := &course{script{n: 1e6, bounds: func(k int) float64 { return -100 }}, func(k int) float64 { return rest(float64(k)) }}
		rec, err := Ascent{}.Run(ctx, m)
		require.NoError(t, err)
		assert.Equal(t, Converged, rec.Reason, name)
		assert.Zero(t, rec.Left, name)
		assert.Less(t, math.Abs(rest(float64(len(rec.Trace)))), 2.1*leastMove, name)

		// The same for a bound whose predictions stand still.
		m = &course{script{n: 5, bounds: func(k int) float64 { return -100 - math.Abs(rest(float64(k))) }}, func(int) float64 { return 1 }}
		rec, err = Ascent{}.Run(ctx, m)
		require.NoError(t, err)
		assert.Equal(t, Converged, rec.Reason, name)
		assert.Less(t, -100-rec.Bound(), 2.1*5*leastRise, name)
	}
}

// A short plateau is no convergence: moves that grow again are those away from a saddle.
func TestStopNotAtSaddle(t *testing.T) {
	away := func(k int) float64 { return 1 / (1 + math.Exp(0.3*float64(40-k))) }
	rec, err := Ascent{}.Run(context.Background(), &course{script{n: 1, bounds: away}, away})
	require.NoError(t, err)
	assert.Equal(t, Converged, rec.Reason)
	assert.InDelta(t, 1, rec.Bound(), leastMove)
}

// The first sweeps, in which fast modes decay, do not make a saddle behind them look like an end:
// here the ascent leaves it by a factor of 1.06 a sweep, from a distance of 0.005.
func TestStopNotBehindTheStart(t *testing.T) {
	away := func(k int) float64 { return 1/(1+math.Exp(0.06*float64(90-k))) - 3*math.Pow(0.3, float64(k)) }
	rec, err := Ascent{}.Run(context.Background(), &course{script{n: 1e3, bounds: away}, away})
	require.NoError(t, err)
	assert.Equal(t, Converged, rec.Reason)
	assert.InDelta(t, 1, rec.Bound(), leastMove)
}

// The sweeps that are said to be left are left.
func TestSweepsLeft(t *testing.T) {
	for _, tol := range []float64{0, 1e-6} {
		for _, rate := range []float64{0.8, 0.95, 0.99} {
			t.Run(fmt.Sprint(tol, rate), func(t *testing.T) {
				rest := func(k int) float64 { return -100 - 10*math.Pow(rate, float64(k)) }
				var left []int
				a := Ascent{Tolerance: tol, Progress: func(p Progress) { left = append(left, p.Left) }}
				rec, err := a.Run(context.Background(), &course{script{n: 100, bounds: rest}, rest})
				require.NoError(t, err)
				assert.Negative(t, left[0])
				half := len(left) / 2
				assert.InEpsilon(t, len(rec.Trace)-half-1, left[half], 0.25)
				assert.Zero(t, left[len(left)-1])

				// A limit ends it, and the record says how far that was from the end.
				a = Ascent{Tolerance: tol, MaxSweeps: half + 1}
				short, err := a.Run(context.Background(), &course{script{n: 100, bounds: rest}, rest})
				require.NoError(t, err)
				assert.Equal(t, MaxSweeps, short.Reason)
				assert.Equal(t, left[half], short.Left)
			})
		}
	}
}

// An ascent that goes on after a break stops where it would have stopped without.
func TestStopAfterBreak(t *testing.T) {
	rest := func(k int) float64 { return -100 - 10*math.Pow(0.9, float64(k)) }
	ctx := context.Background()
	m := &course{script{n: 100, bounds: rest}, rest}
	whole, err := Ascent{}.Run(ctx, m)
	require.NoError(t, err)
	for _, at := range []int{1, 7, 20, len(whole.Trace) - 3, len(whole.Trace) - 1} {
		m := &course{script{n: 100, bounds: rest}, rest}
		rec, err := Ascent{MaxSweeps: at}.Run(ctx, m)
		require.NoError(t, err)
		rec, err = Ascent{}.Continue(ctx, m, rec, 0)
		require.NoError(t, err)
		assert.Equal(t, whole, rec)
	}
}
