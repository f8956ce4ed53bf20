package pivot

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// tried is a projection: the number of its coordinates, and the rank of its forms.
type tried struct{ order, rank int }

// searching is a problem in which residuals move the worst bound in proportion, as far as the floor.
type searching struct {
	slope, floor float64
	dearFrom     int
	limits       []float64
	coarse       func(rank int) float64 // what the forms add to the bound
}

func (s *searching) run(t *testing.T, tolerance float64) (tried, bool) {
	t.Helper()
	x := testkit.Normal(rand.New(rand.NewPCG(1, 1)), 6, 9)
	order := 0
	q, ok, err := Search(&la.Workspace{}, tolerance,
		func(limit float64) (int, error) {
			s.limits = append(s.limits, limit)
			order = int(math.Ceil(-math.Log(limit)))
			return order, nil
		},
		func(order int) bool { return s.dearFrom > 0 && order >= s.dearFrom },
		func() (Candidate[tried], error) {
			forms := NewQuadratics(x)
			a := la.NewMatrix[float64](6, 6)
			for i := range 6 {
				a.Set(i, i, math.Pow(10, -float64(i)))
			}
			forms.Add(a, 1)
			return Candidate[tried]{
				Forms: forms,
				With:  func(f Forms) tried { return tried{order, f.inner.Rows} },
				Worst: func(q tried) float64 {
					worst := s.slope*s.limits[len(s.limits)-1] + s.floor
					if s.coarse != nil {
						worst += s.coarse(q.rank)
					}
					return worst
				},
			}, nil
		})
	require.NoError(t, err)
	return q, ok
}

// The search ends at the first limit whose bound is .3 of half the tolerance at most. The next limit is .6 of what a bound in proportion to
// the residuals calls for, a tenth at least and a half at most.
func TestSearchOfLimits(t *testing.T) {
	for _, c := range []struct {
		slope  float64
		limits []float64
	}{
		{10, []float64{0.01}},                          // .1 where .15 is allowed
		{15, []float64{0.01}},                          // at the limit
		{16, []float64{0.01, 0.005}},                   // .6·15/16 is above a half
		{50, []float64{0.01, 0.01 * 0.6 * 15 / 50}},    // in proportion
		{1e4, []float64{0.01, 0.001, 1e-4, 1e-5}},      // .1 at least: 1e4·1e-5 is .1
		{200, []float64{0.01, 0.001, 0.001 * 0.45}},    // 200·.001 = .2: .6·.15/.2
		{130, []float64{0.01, 0.001}},                  // 1.3 and .13
		{3e4, []float64{0.01, 1e-3, 1e-4, 1e-5, 3e-6}}, // .3 at 1e-5: .6·.15/.3
	} {
		for _, tolerance := range []float64{1, 1e-3, 20} { // bounds are in units of the tolerance
			s := searching{slope: c.slope * tolerance * (1 - 1e-12)}
			q, ok := s.run(t, tolerance)
			require.True(t, ok)
			require.Len(t, s.limits, len(c.limits), "%g", c.slope)
			assert.InEpsilonSlice(t, c.limits, s.limits, 1e-9)
			assert.Equal(t, int(math.Ceil(-math.Log(s.limits[len(s.limits)-1]))), q.order)
		}
	}
}

func TestSearchGivesUp(t *testing.T) {
	s := searching{slope: 1, floor: 1}
	_, ok := s.run(t, 1)
	assert.False(t, ok, "the bound never falls below the floor")
	assert.Less(t, len(s.limits), 40)
	s = searching{floor: 1}
	_, ok = s.run(t, 1)
	assert.False(t, ok)
	assert.Len(t, s.limits, 2, "the second try is not better than the first")
	s = searching{slope: 1e4, dearFrom: 8}
	_, ok = s.run(t, 1)
	assert.False(t, ok)
	assert.Len(t, s.limits, 3, "⌈ln 10⁴⌉ = 10 coordinates are dear")
	s = searching{slope: math.NaN()}
	_, ok = s.run(t, 1)
	assert.False(t, ok)
	cause := errors.New("cause")
	_, _, err := Search[tried](nil, 1, func(float64) (int, error) { return 0, cause }, nil, func() (Candidate[tried], error) { return Candidate[tried]{}, nil })
	assert.ErrorIs(t, err, cause)
	_, _, err = Search[tried](nil, 1, func(float64) (int, error) { return 1, nil }, func(int) bool { return false }, func() (Candidate[tried], error) { return Candidate[tried]{}, cause })
	assert.ErrorIs(t, err, cause)
	tries := 0
	_, ok, err = Search[tried](nil, 1, func(float64) (int, error) { tries++; return -1, nil }, nil, nil)
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Equal(t, 40, tries, "⌈log₂(10⁻²/10⁻¹⁴)⌉ halvings where no pivot is added")
}

// The forms are the coarsest of the shares 1, 1/3, 1/9, … whose bound is within half the tolerance.
func TestSearchOfForms(t *testing.T) {
	x := testkit.Normal(rand.New(rand.NewPCG(1, 1)), 6, 9)
	a := la.NewMatrix[float64](6, 6)
	for i := range 6 {
		a.Set(i, i, math.Pow(10, -float64(i)))
	}
	bound := func(rank int) float64 { return math.Pow(0.1, float64(rank)) }
	seen := map[int]bool{}
	for _, tolerance := range []float64{4, 2, 1, 0.1, 0.03, 0.008} {
		want := -1
		for share := 1.0; share > 1e-3 && want < 0; share /= 3 {
			f := NewForms(&la.Workspace{}, []la.Matrix[float64]{a}, []float64{1}, Largest(x), share)
			if bound(f.inner.Rows) <= tolerance/2 {
				want = f.inner.Rows
			}
		}
		s := searching{coarse: bound}
		q, ok := s.run(t, tolerance)
		require.True(t, ok, "%g", tolerance)
		assert.Equal(t, want, q.rank, "%g", tolerance)
		seen[want] = true
	}
	assert.Greater(t, len(seen), 2)
}

func TestThinned(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 2))
	for n := range 14 {
		w, v := testkit.Normal(src, 1, n+1).Row(0)[:n], testkit.Normal(src, 1, n+1).Row(0)[:n]
		want := 0.0
		for i := range w {
			want += w[i] * v[i] * v[i]
		}
		assert.InDelta(t, want, thinned(w, v), 1e-12)
	}
	assert.Equal(t, []float64{3, 5, 2}, Largest(la.MatrixOf(3, 2, []float64{3, -1, -5, 4, 2, 2})))
}
