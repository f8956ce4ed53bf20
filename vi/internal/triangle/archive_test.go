package triangle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
)

// A triangle from an archive has the squares and bounds of the triangle that was written, in integers and in float32.
func TestArchive(t *testing.T) {
	src := rand.New(rand.NewPCG(87, 88))
	for i, n := range []int{1, 65, leastSteps + 1, leastSteps + 1} {
		bytes := 1 + i%2
		g, trials := la.NewMatrix[float64](n, n), la.NewMatrix[float64](20, n)
		for i := range n {
			for j := range i + 1 {
				g.Set(i, j, src.NormFloat64())
			}
		}
		selves := make([]float64, trials.Rows)
		for q := range trials.Rows {
			selves[q] = 1
			for j := range n {
				trials.Set(q, j, src.Float64())
			}
		}
		want := Of(g, trials, selves, func(_, _, _, _ float64) bool { return true }, bytes)
		require.NotNil(t, want)
		want.fine = 0.75
		require.Equal(t, n >= leastSteps, want.Coarse())
		fields := func(v *Triangle, a *archive.Archive) { v.Archive(a, n) }
		a := archive.New()
		archive.Value(a, func() *Triangle { return want }, fields)
		data := a.Bytes()
		r := archive.Open(data)
		got := archive.Value(r, nil, fields)
		require.NoError(t, r.Close())
		require.Equal(t, want.Coarse(), got.Coarse())
		require.Equal(t, 0.75, got.Fine())
		s, other := NewScratch(n), NewScratch(n)
		for q := range trials.Rows {
			for _, coarse := range []bool{false, want.Coarse()} {
				square, bound := want.Square(trials.Row(q), 1, coarse, s)
				again, within := got.Square(trials.Row(q), 1, coarse, other)
				assert.Equal(t, math.Float64bits(square), math.Float64bits(again))
				assert.Equal(t, math.Float64bits(bound), math.Float64bits(within))
			}
		}
		for range 100 {
			r := archive.Open(data[:src.IntN(len(data)-archive.Align)])
			assert.Nil(t, archive.Value(r, nil, fields))
			assert.Error(t, r.Close())
		}
		wrong := archive.Open(data)
		assert.Nil(t, archive.Value(wrong, nil, func(v *Triangle, a *archive.Archive) { v.Archive(a, n+1) }))
		assert.ErrorContains(t, wrong.Close(), "order of a triangle is")
	}
}
