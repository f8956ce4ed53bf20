package trees

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// The bytes of a further sample are the ones that parts of a fit hold for it, and room for vectors of the samples.
func TestMemoryIsWhatFitsHold(t *testing.T) {
	const n, d, room = 400, 30, 100
	bytesOf := func(memory func(n int) int64) float64 { return float64(memory(2_000_000)-memory(1_000_000)) / 1e6 }
	x, y, _ := edges(6, n)
	wide := la.NewMatrix[float64](n, d)
	for i := range n {
		for j := range d {
			wide.Set(i, j, x.At(i, j%4)*float64(1+j))
		}
	}
	binned := func(b *binned) (bytes int) {
		for _, of := range b.of {
			bytes += len(of)
		}
		return bytes + 8*len(wide.Data)
	}
	f := &fitting{Process: Process{Workers: 1}, x: wide, y: y, train: n, stop: new(work.Stop)}
	r, err := f.curves()
	require.NoError(t, err)
	require.NoError(t, f.grow(2, r))
	held := binned(bin(wide, n))
	for _, b := range f.blocks {
		held += len(b.place) + 4*len(b.share)
	}
	held += (mostTrees - 2) * n // the trees that did not grow
	got := bytesOf(func(n int) int64 { return Memory(n, d) })
	assert.GreaterOrEqual(t, got, float64(held)/n)
	assert.LessOrEqual(t, got, float64(held)/n+room)

	for _, functions := range []int{3, 20} {
		b := &boosting{Process: Process{Workers: 1}, x: wide, class: make([]int, n), functions: functions, rate: 0.1, stop: new(work.Stop)}
		for i := range b.class {
			b.class[i] = i % functions
		}
		_, err := b.run(n, 1, nil)
		require.NoError(t, err)
		held := binned(bin(wide, n))
		for f := range functions {
			held += 8 * (len(b.score[f]) + len(b.residual[f]) + len(b.curvature[f]))
		}
		got := bytesOf(func(n int) int64 { return MemoryClasses(n, d, functions) })
		assert.GreaterOrEqual(t, got, float64(held)/n)
		assert.LessOrEqual(t, got, float64(held)/n+room)
	}
}

// A tree looks at the intervals of each feature of all its leaves and all its splits. A tree of classes costs as much as a tree of targets that sees
// as many samples. The rounds are as many as there is time for.
func TestForecastsCountWork(t *testing.T) {
	for _, d := range []int{1, 7, 100} {
		nodes := 2*leavesOfTree - 1
		assert.InEpsilon(t, secondsCell*float64(nodes*mostBins*d), cellSeconds(d), 0.05)
		for _, n := range []int{1000, 50_000} {
			seen := seenShare * float64(n) // the samples of three classes are unsure, and a tree of targets sees a half
			assert.InEpsilon(t, 3*(growSeconds(int(2*seen), d)+placeSeconds(n)), classSeconds(n, d, 3), 1e-12)
			assert.InEpsilon(t, 3*(placeSeconds(1e6)-placeSeconds(5e5)), classSeconds(1e6, d, 3)-classSeconds(5e5, d, 3), 1e-9, "trees grow on no more samples")
		}
	}
	for _, c := range []struct{ n, d, functions int }{{5000, 10, 26}, {20_000, 200, 1}, {3000, 40, 3}} {
		for _, seconds := range []float64{1, 3, 10, 30} {
			r := Process{Seconds: seconds}.rounds(c.n, c.d, c.functions)
			if r > leastRounds {
				assert.LessOrEqual(t, ForecastClasses(c.n, c.d, c.functions, r), seconds*(1+1e-12), "%+v %g", c, seconds)
			}
			if r < mostRounds {
				assert.Greater(t, ForecastClasses(c.n, c.d, c.functions, r+1), seconds, "%+v %g", c, seconds)
			}
		}
	}
}

// A feature of two values has a curve: one knot for each.
func TestFeatureOfTwoValuesHasACurve(t *testing.T) {
	x, y, _ := edges(7, 300)
	for i := range x.Rows {
		x.Set(i, 1, float64(i%2))
	}
	f := &fitting{Process: Process{Workers: 1}, x: x, y: y, train: 300, stop: new(work.Stop)}
	r, err := f.curves()
	require.NoError(t, err)
	require.Len(t, f.state.Curves, 4) // the last feature is constant
	assert.Equal(t, []float64{0, 1}, f.state.Curves[1].Knots)
	assert.Len(t, r, 300)
}
