// Package testkit is what the tests of several packages use.
package testkit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// Fewer is n, in short runs less: there arithmetic is emulated or slowed by the
// race detector, and what is wanted is that every path is taken.
func Fewer[T ~int | uint64](n, less T) T {
	if testing.Short() {
		return less
	}
	return n
}

// NotShort skips in short runs a test of what is the same on every machine: one
// machine is enough. Long tests are skipped with it, except in packages that
// testkit itself needs.
func NotShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long test")
	}
}

// Must returns x, and panics if there is an error.
func Must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// LeastAllocs returns the least number of allocations of several tries, which is what
// our own code allocates: on a busy machine two workers find no goroutine to use again
// if the goroutines of the sweep before have not quite ended. With one worker a try is five
// sweeps, as many as the steps that are not made in every sweep lie apart.
func LeastAllocs(workers int, sweep func()) float64 {
	sweeps := 5
	if workers > 1 {
		sweeps = 1
	}
	try := func() {
		for range sweeps {
			sweep()
		}
	}
	allocs := testing.AllocsPerRun(1, try)
	for i := 0; i < 50 && allocs > 0; i++ {
		allocs = testing.AllocsPerRun(1, try)
	}
	return allocs
}

// Fell reports whether a bound that went from a to b fell by more than the last
// digits of its value and the noise that its model expects.
func Fell(a, b, noise float64) bool {
	return math.IsNaN(b) || b < a-float64(1e-9*(1+math.Abs(a)))-noise
}

// Slope returns the derivative of f at 0 by central differences of the fourth order
// with steps of h.
func Slope(f func(x float64) float64, h float64) float64 {
	return (float64(8*(f(h)-f(-h))) - (f(2*h) - f(-2*h))) / (12 * h)
}

// Median returns the median of x, the higher of the two in the middle if x has an
// even number of values, NaN if it has none.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	if len(x) == 0 {
		return math.NaN()
	}
	return x[len(x)/2]
}

// Normal returns a rows×cols matrix of standard normal numbers inside a wider
// one whose other entries are NaN.
func Normal(src *rand.Rand, rows, cols int) la.Matrix[float64] {
	m := la.NewMatrix[float64](rows, cols+3)
	m.Fill(math.NaN())
	m = m.Slice(0, rows, 0, cols)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, src.NormFloat64())
		}
	}
	return m
}

// ArgMax returns the index of the largest value, the first of equal ones.
func ArgMax(x []float64) (best int) {
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// Flat returns the values of a number, or of any nesting of slices and matrices of
// them, in their order.
func Flat(x any) []float64 {
	switch x := x.(type) {
	case float64:
		return []float64{x}
	case []float64:
		return x
	case la.Matrix[float64]:
		return x.Clone().Data
	case []la.Matrix[float64]:
		return flatAll(x)
	case [][]float64:
		return flatAll(x)
	case [][][]float64:
		return flatAll(x)
	}
	panic(fmt.Sprintf("testkit: %T has no values", x))
}

func flatAll[T any](xs []T) (out []float64) {
	for _, x := range xs {
		out = append(out, Flat(x)...)
	}
	return out
}

// RequireClose requires that no value of got is further from want's than tol
// times the largest of want.
func RequireClose(t testing.TB, name string, want, got any, tol float64) {
	t.Helper()
	w, g := Flat(want), Flat(got)
	require.Len(t, g, len(w), name)
	var worst, scale float64
	for i := range w {
		scale = max(scale, math.Abs(w[i]))
		worst = max(worst, math.Abs(w[i]-g[i])) // NaN wins in max
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: off by %.3g of the largest entry %.6g", name, worst/scale, scale)
	}
}
