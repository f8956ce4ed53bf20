package work_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi/internal/work"
)

// slope is coordinate ascent of −½(x−1)ᵀH(x−1), by steps of H's largest eigenvalue, with a
// step that is wrong in sweeps that are a multiple of trip.
type slope struct {
	x, kept []float64
	h       []float64 // diagonal
	sweeps  int
	trip    int
}

func (s *slope) Bound() (sum float64) {
	for i, x := range s.x {
		sum -= 0.5 * s.h[i] * (x - 1) * (x - 1)
	}
	return sum
}
func (s *slope) Keep()    { s.kept = append(s.kept[:0], s.x...) }
func (s *slope) Restore() { copy(s.x, s.kept) }
func (s *slope) sweep(func(string)) error {
	for i := range s.x {
		s.x[i] += s.h[i] * (1 - s.x[i])
	}
	if s.sweeps++; s.trip > 0 && s.sweeps%s.trip == 0 {
		s.x[0] += 5
	}
	return nil
}

// A linear map of few directions is solved in few sweeps, whatever its rates.
func TestAndersonSolvesLinearMaps(t *testing.T) {
	s := &slope{x: []float64{5, -3, 2, 8}, h: []float64{1, 0.1, 0.01, 0.001}}
	var a work.Anderson
	a.Of(false, s.x[:2])
	a.Of(true, s.x[2:3]) // logarithms make it nearly linear only
	a.Of(false, s.x[3:])
	for range 30 {
		last := s.Bound()
		require.NoError(t, a.Sweep(s, s.sweep, nil))
		assert.GreaterOrEqual(t, s.Bound(), last)
	}
	assert.InDelta(t, 0, s.Bound(), 1e-9)
	assert.Less(t, math.Abs(s.x[3]-1), 1e-3, "30 plain sweeps leave 0.97 of it")
}

// A sweep from extrapolated coordinates that lowers the bound is made again without.
func TestAndersonTakesBack(t *testing.T) {
	s := &slope{x: []float64{5, -3, 2}, h: []float64{0.5, 0.1, 0.01}, trip: 7}
	var a work.Anderson
	a.Of(false, s.x)
	names, before := 0, s.Bound()
	for range 6 {
		last := s.Bound()
		require.NoError(t, a.Sweep(s, s.sweep, func(string) { names++ }))
		assert.GreaterOrEqual(t, s.Bound(), last)
	}
	assert.Positive(t, names)
	assert.Greater(t, s.Bound(), before)
}
