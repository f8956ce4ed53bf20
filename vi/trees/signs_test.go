package trees

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// mirrored returns samples whose features have the other sign.
func mirrored(x la.Matrix[float64]) la.Matrix[float64] {
	x = x.Clone()
	la.Scal(-1, x.Data)
	return x
}

// The ends of intervals and the knots of curves do not see the sign of a feature, with many copies of few values too.
func TestCutsAndKnotsMirror(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, n := range []int{2, 3, 40, 255, 256, 257, 1000, 1001} {
		for _, values := range []int{2, 3, 7, 300, 1 << 20} {
			var x, other []float64
			for range n {
				v := float64(rng.IntN(values)) - float64(values/3)
				x, other = append(x, v*v*v), append(other, -v*v*v)
			}
			x[0], other[0] = 1e6, -1e6
			slices.Sort(x)
			slices.Sort(other)
			back := func(all []float64) (out []float64) {
				for _, v := range slices.Backward(all) {
					out = append(out, -v)
				}
				return out
			}
			for _, most := range []int{2, 3, 24, mostBins} {
				if most%2 == 1 || n%most == 0 {
					assert.Equal(t, cuts(x, most), back(cuts(other, most)), "%d of %d values, %d intervals", n, values, most)
				}
				assert.Equal(t, newCurve(0, x, most).Knots, back(newCurve(0, other, most).Knots), "%d of %d values, %d knots", n, values, most)
			}
		}
	}
}

// Trees and curves predict the same of features with other signs, but for rounding. Some features have few values.
func TestFitDoesNotSeeSigns(t *testing.T) {
	x, y, _ := edges(1, 3000)
	for i := range x.Rows {
		x.Set(i, 2, float64(int(5*x.At(i, 2))))
	}
	at, _, _ := edges(2, 500)
	p, err := Process{}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	want, variance, err := p.Predict(context.Background(), at, false, 0)
	require.NoError(t, err)
	q, err := Process{}.Fit(context.Background(), mirrored(x), y)
	require.NoError(t, err)
	got, v, err := q.Predict(context.Background(), mirrored(at), false, 0)
	require.NoError(t, err)
	assert.InDeltaSlice(t, want, got, 1e-7) // the fixed point of the evidence enlarges rounding
	assert.InDeltaSlice(t, variance, v, 1e-7)
}

func TestFitClassesDoesNotSeeSigns(t *testing.T) {
	for _, K := range []int{2, 3} {
		x, class, _ := cells(1, 3000, K)
		for i := range x.Rows {
			x.Set(i, 1, float64(int(5*x.At(i, 1))))
		}
		at, _, _ := cells(2, 500, K)
		p, err := Process{Seconds: 1}.FitClasses(context.Background(), x, class, K)
		require.NoError(t, err)
		want, err := p.Predict(context.Background(), at, 0)
		require.NoError(t, err)
		q, err := Process{Seconds: 1}.FitClasses(context.Background(), mirrored(x), class, K)
		require.NoError(t, err)
		got, err := q.Predict(context.Background(), mirrored(at), 0)
		require.NoError(t, err)
		assert.InDeltaSlice(t, want.Data, got.Data, 1e-9, "%d classes", K)
	}
}
