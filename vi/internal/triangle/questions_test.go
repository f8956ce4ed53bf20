package triangle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// wave returns n samples of two features, their kernels and two parts, one with sites.
func wave(src *rand.Rand, n int, noise float64) (k la.Matrix[float64], parts []Part) {
	at := la.NewMatrix[float64](n, 2)
	for i := range at.Data {
		at.Data[i] = src.NormFloat64()
	}
	k = la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range n {
			d := at.At(i, 0) - at.At(j, 0)
			e := at.At(i, 1) - at.At(j, 1)
			k.Set(i, j, math.Exp(-(d*d+e*e)/2))
		}
	}
	for _, share := range []float64{0.3, 0.7} {
		p := Part{Factor: k.Clone(), Share: share}
		if share == 0.7 {
			p.Root = make([]float64, n)
			for i := range n {
				p.Root[i] = math.Exp(src.NormFloat64()) / math.Sqrt(noise)
			}
		}
		for i := range n {
			if p.Root == nil {
				p.Factor.Set(i, i, p.Factor.At(i, i)+noise*math.Exp(src.NormFloat64()))
				continue
			}
			for j := range n {
				p.Factor.Set(i, j, p.Factor.At(i, j)*p.Root[i]*p.Root[j])
			}
			p.Factor.Set(i, i, p.Factor.At(i, i)+1)
		}
		parts = append(parts, p)
	}
	return k, parts
}

// without returns the variance of the function at sample i, from the factorised matrix c of the others.
func without(t *testing.T, p Part, c, k la.Matrix[float64], i int) float64 {
	n := k.Rows
	rest, column := la.NewMatrix[float64](n-1, n-1), make([]float64, 0, n-1)
	at := func(j int) int {
		if j >= i {
			return j + 1
		}
		return j
	}
	for a := range n - 1 {
		for b := range n - 1 {
			rest.Set(a, b, c.At(at(a), at(b)))
		}
		v := k.At(i, at(a))
		if p.Root != nil {
			v *= p.Root[at(a)]
		}
		column = append(column, v)
	}
	require.NoError(t, la.Cholesky(nil, rest))
	la.Trsv(la.NoTrans, rest, column)
	return k.At(i, i) - la.SumSq(column)
}

// TestLeftOut compares the variances of left-out samples with variances from a factor of the other samples, for parts with and without sites.
func TestLeftOut(t *testing.T) {
	src := rand.New(rand.NewPCG(61, 62))
	const n = 60
	for _, noise := range []float64{1, 1e-2, 1e-4} {
		k, parts := wave(src, n, noise)
		want := make([]float64, n)
		for j := range parts {
			c := parts[j].Factor.Clone()
			for i := range n {
				want[i] += parts[j].Share * without(t, parts[j], c, k, i)
			}
			require.NoError(t, la.Cholesky(nil, parts[j].Factor))
		}
		left := newLeftOut(matrix{k}, n)
		for j := range parts {
			g, ok := parts[j].inverse()
			require.True(t, ok)
			left.add(&parts[j], g)
		}
		assert.InDeltaSlice(t, want, left.variance, 1e-9, "noise %g", noise)
		assert.True(t, math.IsNaN(left.noise[0]), "sites are no noise")
		left = newLeftOut(matrix{k}, n)
		g, ok := parts[0].inverse()
		require.True(t, ok)
		left.add(&Part{parts[0].Factor, nil, 1}, g)
		for i, v := range left.noise {
			assert.InDelta(t, la.SumSq(parts[0].Factor.Row(i)[:i+1])-k.At(i, i), v, 1e-12)
		}
	}
	none := &leftOut{make([]float64, 1), make([]float64, 1), make([]float64, 1)}
	none.add(&Part{Factor: la.NewMatrix[float64](1, 1), Root: []float64{0}, Share: 1}, la.NewMatrix[float64](1, 1))
	assert.True(t, math.IsNaN(none.variance[0]), "a sample without weight")
}

// Enough is asked about samples that the calibration does not have, with their variances when they are left out, and integers stay if
// nine tenths of the answers are yes.
func TestEnoughIsAskedAboutLeftOutSamples(t *testing.T) {
	src := rand.New(rand.NewPCG(63, 64))
	const n = leastSteps + 44
	k, parts := wave(src, n, 1e-2)
	matrices := []la.Matrix[float64]{parts[0].Factor.Clone(), parts[1].Factor.Clone()}
	for j := range parts {
		require.NoError(t, la.Cholesky(nil, parts[j].Factor))
	}
	var want []float64
	for q := range calibrations {
		i := (2*q + 1) * n / (2 * calibrations)
		require.NotEqual(t, q*n/calibrations, i, "a sample of the calibration")
		v := 0.0
		if q%16 == 0 { // a factorisation each
			for j, p := range parts {
				v += p.Share * without(t, p, matrices[j], k, i)
			}
		}
		want = append(want, v)
	}
	for _, c := range []struct {
		content int
		coarse  bool
	}{{calibrations, true}, {58, true}, {57, false}, {0, false}} {
		asked := 0
		enough := func(self, square, bound, _ float64) bool {
			if asked%16 == 0 {
				assert.InDelta(t, want[asked%calibrations], self-square, 1e-9)
			}
			assert.Greater(t, bound, 0.0)
			asked++
			return (asked-1)%calibrations < c.content
		}
		g := Joint(parts, matrix{k}, enough, true)
		require.NotNil(t, g)
		each := 3 // integers of one byte, of two bytes, and float32
		if c.coarse {
			each = 2 // one byte is enough
		}
		assert.Equal(t, each*calibrations, asked)
		assert.Equal(t, c.coarse, g.Coarse(), "%d of %d", c.content, calibrations)
		assert.Equal(t, float64(c.content)/calibrations, g.Fine())
		asked = 0
		g = Joint(parts, matrix{k}, enough, false)
		assert.Equal(t, calibrations, asked, "float32 alone")
		assert.False(t, g.Coarse())
		assert.Equal(t, float64(c.content)/calibrations, g.Fine())
	}
	g := Joint(parts, matrix{k}, nil, false)
	assert.Equal(t, 1.0, g.Fine())
	q := &questions{vectors: k, selves: make([]float64, n), share: mostly}
	assert.True(t, math.IsNaN(q.content(g, nil, true, nil)), "nothing is asked")
}
