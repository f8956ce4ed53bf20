package amplitude

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// TestDrawnFunctionsHaveTheirMoments holds the mean share of many draws at the same amplitudes to the ratio that the exact posterior
// moments of the functions' squares have, where one view dwarfs the others and the ratio is nearly linear.
func TestDrawnFunctionsHaveTheirMoments(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 2))
	const n, V = 25, 3
	k, l := simulated(t, src, V, n, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 2, n), Workers: 1}
	amplitude := []float64{0.01, 0.02, 5, 3, 0.02, 0.03}
	const noise = 0.3
	var draws []Draw
	for range 3000 {
		draws = append(draws, Draw{Amplitudes: amplitude, Noise: noise})
	}
	s, err := p.Shares(context.Background(), draws, 7)
	require.NoError(t, err)

	// E Σ f_v² = Σ_c ‖K_vα_c‖² + C·tr(K_v − K_vK⁻¹K_v).
	part := make([]la.Matrix[float64], V)
	sum := la.NewMatrix[float64](n, n)
	sum.Fill(1)
	for v := range V {
		part[v] = la.NewMatrix[float64](n, n)
	}
	m := la.NewMatrix[float64](n, n)
	for j, a := range amplitude {
		unpack(k.whole.Row(j), 0, 0, m)
		m.MirrorLower()
		la.Axpy(a, m.Data, part[l.View[j]].Data)
		la.Axpy(a, m.Data, sum.Data)
	}
	for i := range n {
		sum.Row(i)[i] += noise
	}
	require.NoError(t, la.Cholesky(nil, sum))
	want, means := make([]float64, V), make([]float64, V)
	alpha := p.Y.Clone()
	la.Trsm(nil, la.Right, la.Transpose, sum, alpha)
	la.Trsm(nil, la.Right, la.NoTrans, sum, alpha)
	f := la.NewMatrix[float64](2, n)
	for v := range V {
		la.Gemm(nil, la.NoTrans, la.NoTrans, 1, alpha, part[v], 0, f)
		means[v] = la.SumSq(f.Data)
		want[v] = means[v]
		half := part[v].Clone()
		la.Trsm(nil, la.Right, la.Transpose, sum, half)
		for i := range n {
			want[v] += 2 * (part[v].At(i, i) - la.SumSq(half.Row(i)))
		}
	}
	share(want)
	share(means)
	for v := range V {
		var x []float64
		for d := range draws {
			x = append(x, s.Function.At(d, v))
		}
		mean, se := batchMean(x)
		assert.InDelta(t, want[v], mean, 5*se+0.03*want[v]*(1-want[v]), "view %d", v)
		assert.Less(t, se, 0.01)
		assert.InDelta(t, means[v], s.Mean.At(0, v), 1e-10)
	}
}

func TestViewsThatAreOffHaveNoShare(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 2))
	k, l := simulated(t, src, 2, 12, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 12)}
	s, err := p.Shares(context.Background(), []Draw{
		{Amplitudes: []float64{1, 1, 0, 0}, Noise: 0.5}, {Amplitudes: make([]float64, 4), Noise: 0.5},
	}, 1)
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 0}, s.Function.Row(0))
	assert.Equal(t, []float64{1, 0}, s.Mean.Row(0))
	assert.Equal(t, []float64{0, 0}, s.Function.Row(1))
	_, err = p.Shares(context.Background(), []Draw{{Amplitudes: []float64{1}}}, 1)
	assert.ErrorContains(t, err, "draw 0: 1 amplitudes of 4 kernels")
}

// TestRoundedCovarianceHasAFactor takes covariances of rank one whose rounding made them indefinite.
func TestRoundedCovarianceHasAFactor(t *testing.T) {
	const n, a = 3, 2.0
	for _, c := range []struct {
		rounding, jitter float64
	}{{0, 1e-6}, {4e-6, 1e-5}, {4e-4, 1e-3}, {0.5, 0}} {
		packed := []float64{a, a * (1 + c.rounding), a, a, a, a}
		square := la.NewMatrix[float64](n, n)
		err := factorOf(&la.Workspace{}, packed, a, square)
		if c.jitter == 0 {
			require.Error(t, err, "an indefinite matrix")
			continue
		}
		require.NoError(t, err)
		for i := range n {
			for j := range i + 1 {
				want := packed[size(i)+j]
				if i == j {
					want += c.jitter * a
				}
				assert.InDelta(t, want, la.Dot(square.Row(i)[:j+1], square.Row(j)[:j+1]), 1e-14)
			}
		}
	}
}
