// Package fittest checks what every fit must keep to: a state that is taken back, and a journal
// that a fit is continued from. It also has the dense algebra of the naive implementations that
// fits are compared with. It is for tests only.
package fittest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// RequireRestored makes so many sweeps and demands that Restore brings back the state at Keep. The
// function state returns a copy of it.
func RequireRestored(t *testing.T, m vi.Objective, sweeps int, state func() any) {
	t.Helper()
	for range sweeps {
		require.NoError(t, m.Sweep(nil))
	}
	m.Keep()
	want := state()
	for range 2 {
		require.NoError(t, m.Sweep(nil))
		assert.NotEqual(t, want, state())
		m.Restore()
		assert.Equal(t, want, state())
	}
}

// RequireResumed demands that a fit of so many sweeps that continues from a journal has the bits of
// a fit without interruption. The journals are those after the given sweeps and after the last one.
// The function fit returns what is compared.
func RequireResumed(t *testing.T, name string, sweeps int, from []int, fit func(vi.Ascent) any) {
	t.Helper()
	var kept [][]byte
	j := &vi.Journal{}
	j.Save = func() error {
		b, err := j.MarshalBinary()
		kept = append(kept, b)
		return err
	}
	whole := fit(vi.Ascent{MaxSweeps: sweeps})
	require.Equal(t, whole, fit(vi.Ascent{MaxSweeps: sweeps, Journal: j}), "%s: a journal changes nothing", name)
	for _, k := range append(from, len(kept)) {
		if k > len(kept) {
			continue
		}
		again := &vi.Journal{}
		require.NoError(t, again.UnmarshalBinary(kept[k-1]))
		assert.Equal(t, whole, fit(vi.Ascent{MaxSweeps: sweeps, Journal: again}), "%s: from sweep %d of %d", name, k, len(kept))
	}
}

// Identity returns the identity of order n.
func Identity(n int) la.Matrix[float64] {
	x := la.NewMatrix[float64](n, n)
	for i := range n {
		x.Set(i, i, 1)
	}
	return x
}

// Inverse returns the inverse of x, by Gauss and Jordan with pivots, and the log of its determinant.
func Inverse(x la.Matrix[float64]) (la.Matrix[float64], float64) {
	n := x.Rows
	x, y, logDet := x.Clone(), Identity(n), 0.0
	for c := range n {
		p := c
		for i := c; i < n; i++ {
			if math.Abs(x.At(i, c)) > math.Abs(x.At(p, c)) {
				p = i
			}
		}
		for j := range n {
			u, v := x.At(c, j), x.At(p, j)
			x.Set(c, j, v)
			x.Set(p, j, u)
			u, v = y.At(c, j), y.At(p, j)
			y.Set(c, j, v)
			y.Set(p, j, u)
		}
		d := x.At(c, c)
		logDet += special.Log(math.Abs(d))
		for j := range n {
			x.Set(c, j, x.At(c, j)/d)
			y.Set(c, j, y.At(c, j)/d)
		}
		for i := range n {
			f := x.At(i, c)
			for j := 0; i != c && j < n; j++ {
				x.Set(i, j, x.At(i, j)-float64(f*x.At(c, j)))
				y.Set(i, j, y.At(i, j)-float64(f*y.At(c, j)))
			}
		}
	}
	return y, logDet
}

// Times returns the product of x and v.
func Times(x la.Matrix[float64], v []float64) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		for j, w := range v {
			out[i] += float64(x.At(i, j) * w)
		}
	}
	return out
}

// Mean returns E[x] of a gamma factor of this shape and scale.
func Mean(g [2]float64) float64 { return g[0] * g[1] }

// MeanLog returns E[log x] of a gamma factor of this shape and scale.
func MeanLog(g [2]float64) float64 { return special.Digamma(g[0]) + special.Log(g[1]) }
