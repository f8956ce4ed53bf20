package mgp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// The average information is ½·(C_iα)ᵀR(C_jα), where C_i is a difference of sums of
// kernels.
func TestAverageInformation(t *testing.T) {
	x, y, labels := toy(3)
	for _, classes := range []bool{false, true} {
		target := y
		if classes {
			target = labels
		}
		m, at, err := Evidence{Workers: 1}.objective(context.Background(), newScaled(t, x), target, classes)
		require.NoError(t, err)
		n := len(at)
		g := make([]float64, n)
		_, err = m.cost(at, g)
		require.NoError(t, err)

		// R is what cost has turned to ½(ααᵀ − R).
		N := m.N
		r := la.NewMatrix[float64](N, N)
		for i := range N {
			for j := range i + 1 {
				v := m.alpha[i]*m.alpha[j] - 2*m.factor.At(i, j)
				r.Set(i, j, v)
				r.Set(j, i, v)
			}
		}
		alpha := append([]float64(nil), m.alpha...)
		average := m.info.average.Clone()

		const h = 1e-4
		sums := func(v int, h float64) la.Matrix[float64] {
			moved := append([]float64(nil), at...)
			moved[v] += h
			_, err := m.functions(moved)
			require.NoError(t, err)
			c := m.sum.Clone()
			c.MirrorLower()
			for i := range N {
				c.Row(i)[i] += m.noise
			}
			return c
		}
		products := la.NewMatrix[float64](n, N)
		for v := range n {
			up, down := sums(v, h), sums(v, -h)
			for i := range N {
				for j, a := range alpha {
					products.Row(v)[i] += (up.At(i, j) - down.At(i, j)) / (2 * h) * a
				}
			}
		}
		for i := range n {
			for j := range i + 1 {
				var want float64
				for k := range N {
					want += 0.5 * products.At(i, k) * la.Dot(r.Row(k), products.Row(j))
				}
				assert.InDelta(t, want, average.At(i, j), 1e-6*(1+average.At(i, i)), "labels %v, %d, %d", classes, i, j)
			}
		}
	}
}
