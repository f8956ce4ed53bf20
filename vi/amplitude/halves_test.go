package amplitude

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// The problem of some samples is the problem of the blocks of the kernels.
func TestPartOfAProblem(t *testing.T) {
	src := rand.New(rand.NewPCG(4, 4))
	for _, rounded := range []bool{false, true} {
		k, l := simulated(t, src, 2, 12, rounded)
		p := Problem{Kernels: k, Layout: l, Y: targets(src, 2, 12), KnownNoise: 0.2, Workers: 1}
		rows := []int{0, 3, 4, 7, 8, 11}
		var blocks []la.Matrix[float64]
		one := make([]float64, 4)
		for j := range one {
			whole, block, packed := la.NewMatrix[float64](12, 12), la.NewMatrix[float64](6, 6), make([]float64, size(12))
			one[j] = 1
			k.sum(&la.Workspace{}, one, packed)
			one[j] = 0
			unpack(packed, 0, 0, whole)
			whole.MirrorLower()
			for i, r := range rows {
				for c, s := range rows {
					block.Set(i, c, whole.At(r, s))
				}
			}
			centre(block)
			blocks = append(blocks, block)
		}
		d, err := vi.NewDense(blocks...)
		require.NoError(t, err)
		want := Problem{Layout: l, KnownNoise: 0.2, Workers: 1}
		want.Kernels, err = Pack(d, rounded)
		require.NoError(t, err)
		want.Y = la.NewMatrix[float64](2, 6)
		var variance float64
		for c := range 2 {
			var mean, square float64
			for i, r := range rows {
				want.Y.Set(c, i, p.Y.At(c, r))
				mean += p.Y.At(c, r) / 6
				square += p.Y.At(c, r) * p.Y.At(c, r) / 6
			}
			variance += (square - mean*mean) / 2
			standardise(want.Y.Row(c))
		}
		want.KnownNoise /= variance
		got, err := p.Part(rows)
		require.NoError(t, err)
		amplitudes := []float64{0.3, 0.5, 0.1, 0.2}
		a, err := got.At(amplitudes, 0.4)
		require.NoError(t, err)
		b, err := want.At(amplitudes, 0.4)
		require.NoError(t, err)
		assert.InEpsilon(t, b.Noise, a.Noise, 1e-12)
		tolerance := 1e-12
		if rounded {
			tolerance = 1e-5
		}
		assert.InEpsilon(t, b.LogEvidence, a.LogEvidence, tolerance)
	}
}

// A class of one sample is missing in one half, and a kernel may vanish there.
func TestPartOfConstantsIsWithoutThem(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 4))
	k, l := simulated(t, src, 1, 6, false)
	for i := range k.n {
		for c := range i + 1 {
			k.whole.Row(1)[size(i)+c] = 0
		}
	}
	k.whole.Row(1)[size(6)-1] = 6 // the only sample in which the second kernel is not 0
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 2, 6), Workers: 1}
	copy(p.Y.Row(0), []float64{1, 1, 1, 1, 1, -5})
	q, err := p.Part([]int{0, 1, 2, 3})
	require.NoError(t, err)
	assert.Equal(t, 1, q.Y.Rows)
	f, err := q.At([]float64{1, 1}, 0.5)
	require.NoError(t, err)
	g, err := q.At([]float64{1, 0}, 0.5)
	require.NoError(t, err)
	assert.Equal(t, g.LogEvidence, f.LogEvidence)
	p.Y = p.Y.Slice(0, 1, 0, 6)
	_, err = p.Part([]int{0, 1, 2, 3})
	assert.ErrorContains(t, err, "constant")
}

// The shares of halves repeat for the same seed. Divisions whose halves cannot be fitted are left out.
func TestHalves(t *testing.T) {
	src := rand.New(rand.NewPCG(6, 4))
	k, l := simulated(t, src, 3, 24, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 24), Workers: 1}
	class := make([]int, 24)
	for i := range class {
		class[i] = i % 5
	}
	how := Sampling{Sweeps: 10, Draws: 5, Seed: 3}
	a, err := p.Halves(context.Background(), 2, class, how)
	require.NoError(t, err)
	b, err := p.Halves(context.Background(), 2, class, how)
	require.NoError(t, err)
	assert.Equal(t, a, b)
	for s := range 2 {
		assert.NotEqual(t, a.First.Row(s), a.Second.Row(s))
		for _, v := range append(a.First.Row(s), a.Second.Row(s)...) {
			assert.True(t, v >= 0 && v <= 1)
		}
	}
	rare := p
	rare.Y = la.NewMatrix[float64](1, 24)
	rare.Y.Set(0, 5, 1)
	standardise(rare.Y.Row(0))
	none, err := rare.Halves(context.Background(), 3, nil, how)
	require.NoError(t, err)
	assert.Zero(t, none.First.Rows, "one half always has equal targets")
	ended, stop := context.WithCancel(context.Background())
	stop()
	_, err = p.Halves(ended, 1, nil, how)
	require.ErrorIs(t, err, context.Canceled)
	_, err = p.Halves(context.Background(), 1, class[:3], how)
	assert.ErrorContains(t, err, "classes of 3 samples")
}

// The variance of shares whose halves are independent draws with the variance 2s² is s².
func TestVarianceOfHalves(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 4))
	const s, splits = 0.05, 4000
	h := Halves{la.NewMatrix[float64](splits, 2), la.NewMatrix[float64](splits, 2)}
	for i := range splits {
		for _, m := range []la.Matrix[float64]{h.First, h.Second} {
			v := 0.7 + math.Sqrt2*s*src.NormFloat64()
			m.Set(i, 0, v)
			m.Set(i, 1, 1-v)
		}
	}
	mean := []float64{0.7, 0.3}
	for _, views := range [][]int{{0}, {1}} {
		assert.InEpsilon(t, s*s, h.Variance(mean, views), 0.1)
	}
	assert.InDelta(t, 0, h.Variance(mean, []int{0, 1}), 1e-9, "all views together have the share 1")
	assert.Zero(t, (&Halves{}).Variance(mean, []int{0}))
}
