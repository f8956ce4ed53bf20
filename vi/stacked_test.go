package vi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// stackedAndPadded returns blocks of features of rows[m] rows, and the same with
// their zeros.
func stackedAndPadded(src *rand.Rand, N int, rows ...int) (*Stacked, *Dense) {
	D := 0
	for _, r := range rows {
		D += r
	}
	var blocks, padded []la.Matrix[float64]
	first := 0
	for _, r := range rows {
		f, p := testkit.Normal(src, r, N), la.NewMatrix[float64](D, N)
		for d := range r {
			copy(p.Row(first+d), f.Row(d))
		}
		blocks, padded = append(blocks, f), append(padded, p)
		first += r
	}
	return testkit.Must(NewStacked(blocks...)), testkit.Must(NewDense(padded...))
}

func TestStackedAgreesWithItsZeros(t *testing.T) {
	for _, L := range []int{1, 3} {
		src := rand.New(rand.NewPCG(7, uint64(L)))
		k, want := stackedAndPadded(src, 10, 3, 1, 6)
		P, D, N := k.Dims()
		require.Equal(t, [3]int{3, 10, 10}, [3]int{P, D, N})
		ws := &la.Workspace{Workers: 2}
		a, g, b := testkit.Normal(src, L, D), testkit.Normal(src, L*P, N), testkit.Normal(src, D, N)
		weights, alpha := []float64{0.3, 2, -1}, testkit.Normal(src, 1, D).Row(0)
		type passes struct{ h, r, gram, sum, columns la.Matrix[float64] }
		type inner struct{ inner, quad []float64 }
		run := func(k Kernels) (passes, inner) {
			p := passes{testkit.Normal(src, L*P, N), testkit.Normal(src, L, D), la.NewMatrix[float64](D, D), testkit.Normal(src, D, N), testkit.Normal(src, 4, D)}
			for d := range D {
				for i := range d + 1 {
					p.gram.Set(d, i, math.NaN())
				}
			}
			i := inner{make([]float64, P), make([]float64, P)}
			k.Project(ws, a, p.h)
			k.Combine(ws, g, p.r)
			k.GramSum(ws, p.gram)
			k.Sum(ws, weights, p.sum)
			k.Columns(1, 5, p.columns)
			k.Inner(ws, b, i.inner)
			k.Quad(ws, alpha, i.quad)
			return p, i
		}
		got, gotInner := run(k)
		expect, expectInner := run(want)
		for name, pair := range map[string][2]la.Matrix[float64]{
			"Project": {expect.h, got.h}, "Combine": {expect.r, got.r}, "GramSum": {expect.gram, got.gram},
			"Sum": {expect.sum, got.sum}, "Columns": {expect.columns, got.columns},
		} {
			testkit.RequireClose(t, fmt.Sprint(name, L), testkit.Flat(pair[0]), testkit.Flat(pair[1]), 1e-13)
		}
		testkit.RequireClose(t, "Inner", expectInner.inner, gotInner.inner, 1e-13)
		testkit.RequireClose(t, "Quad", expectInner.quad, gotInner.quad, 1e-13)
	}
	for want, blocks := range map[string][]la.Matrix[float64]{
		"vi: features: no block given":                                nil,
		"vi: features: block 1 is of 2 samples where block 0 is of 3": {la.NewMatrix[float64](2, 3), la.NewMatrix[float64](1, 2)},
		"vi: features: block 1 is empty (0×3)":                        {la.NewMatrix[float64](2, 3), la.NewMatrix[float64](0, 3)},
		"vi: features: block 0: entry (0, 1) is NaN":                  {la.MatrixOf(1, 2, []float64{1, math.NaN()})},
	} {
		_, err := NewStacked(blocks...)
		assert.EqualError(t, err, want)
	}
}
