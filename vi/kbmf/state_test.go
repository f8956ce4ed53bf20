package kbmf

import (
	"context"
	"math"
	"testing"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/work"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenArrays is the tolerance of max|x − expected| / max|expected|.
const goldenArrays = 1e-8

func TestPairJournal(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	for _, kind := range []string{"missing", "complete"} {
		p := problems[kind]
		kx, kz, y := p.draw(t, 1)
		p.labels = true
		_, _, signs := p.draw(t, 1)
		x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
		fittest.RequireResumed(t, kind+" pairs", 40, []int{1, 9, 10, 11, 17}, func(a vi.Ascent) any {
			fit, err := Regression{Components: p.R, Ascent: a}.Fit(ctx, x, z, y)
			require.NoError(t, err)
			return []any{fit.Record, fit.Posterior.State()}
		})
		fittest.RequireResumed(t, kind+" pairs with labels", 40, []int{1, 9, 10, 11, 17}, func(a vi.Ascent) any {
			fit, err := Classification{Components: p.R, Ascent: a}.Fit(ctx, x, z, signs)
			require.NoError(t, err)
			return []any{fit.Record, fit.Posterior.State()}
		})
	}
}

// A journal of pairs distinguishes values of 0 from missing ones, and a model with a bias from one
// without.
func TestJournalOfOtherPairs(t *testing.T) {
	ctx := context.Background()
	kx, kz, y := problem{rows: 6, cols: 5, Px: 1, Pz: 1}.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	y.Data[3], y.Data[4] = 0, math.NaN()
	j := &vi.Journal{}
	p := Regression{Components: 2, SigmaY: 1, Ascent: vi.Ascent{MaxSweeps: 3, Journal: j}}
	_, err := p.Fit(ctx, x, z, y)
	require.NoError(t, err)
	kept, err := j.MarshalBinary()
	require.NoError(t, err)
	other := y.Clone()
	other.Data[3], other.Data[4] = math.NaN(), 0
	for _, c := range []struct {
		noBias bool
		y      la.Matrix[float64]
		want   string
	}{
		{false, y, ""}, {false, other, "vi: the state of ascent 1: it is of other data, other settings or another version"},
		{true, y, "vi: the state of ascent 1: it is of other data, other settings or another version"},
	} {
		require.NoError(t, j.UnmarshalBinary(kept))
		p.NoBias = c.noBias
		if _, err = p.Fit(ctx, x, z, c.y); c.want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, c.want)
		}
	}
}

func TestPairRestore(t *testing.T) {
	for _, labels := range []bool{false, true} {
		p := problems["missing"]
		p.labels = labels
		kx, kz, y := p.draw(t, 1)
		x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
		var m fitted
		var err error
		if labels {
			m, err = Classification{Components: p.R}.model(x, z, y)
		} else {
			m, err = Regression{Components: p.R}.model(x, z, y)
		}
		require.NoError(t, err)
		fittest.RequireRestored(t, m, 15, func() any {
			s := m.Posterior().State()
			own := [][]float64{s.X.Healing.Precision, s.Z.Healing.Precision}
			s.X.Healing, s.Z.Healing = nil, nil // as above
			return []any{s, own}
		})
	}
}

// TestPairSweepAllocatesNothing counts the allocations of plain sweeps and of sweeps from
// extrapolated starts.
func TestPairSweepAllocatesNothing(t *testing.T) {
	q := problem{rows: 20, cols: 40, Px: 3, Pz: 2, R: 2, missing: 0.2}
	kx, kz, y := q.draw(t, 1)
	for _, workers := range []int{1, 2} {
		m, err := Regression{Components: q.R, Workers: workers}.model(testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...)), y)
		require.NoError(t, err)
		for _, done := range []int{0, work.FirstSweeps} {
			allocs := testkit.LeastAllocs(workers, func() {
				m.updates.Done = done
				if err := m.Sweep(nil); err != nil {
					t.Error(err)
				}
				m.Bound()
			})
			assert.Zero(t, allocs, "%d workers, from sweep %d", workers, done)
		}
	}
}
