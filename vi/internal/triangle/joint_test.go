package triangle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// hardJoint returns a joint triangle, its parts and the training samples: samples lie twice, the third feature is constant, and the noise of
// the parts is from noise to 1. The second part has sites whose noise spreads over four decades. The first part has the share.
func hardJoint(t *testing.T, src *rand.Rand, n int, noise, width, share float64, enough Enough) (*Triangle, []Part, func(x, dst []float64)) {
	at := la.NewMatrix[float64](n, 3)
	for i := range n {
		row := at.Row(i)
		row[0], row[1], row[2] = src.NormFloat64(), src.NormFloat64(), 7
		if i%10 == 9 {
			copy(row, at.Row(i-1))
		}
	}
	kernel := func(x, dst []float64) {
		for i := range dst {
			var d float64
			for j, v := range at.Row(i) {
				d += (v - x[j]) * (v - x[j])
			}
			dst[i] = math.Exp(-d / (2 * width * width))
		}
	}
	k := la.NewMatrix[float64](n, n)
	for i := range n {
		kernel(at.Row(i), k.Row(i))
	}
	var parts []Part
	for j, share := range []float64{share, 0.75 * (1 - share), 0.25 * (1 - share)} {
		p := Part{Factor: k.Clone(), Share: share}
		if j == 1 {
			p.Root = make([]float64, n)
			for i := range n {
				p.Root[i] = 1 / math.Sqrt(noise*math.Pow(10, 4*src.Float64()))
			}
			for i := range n {
				for l := range n {
					p.Factor.Set(i, l, p.Factor.At(i, l)*p.Root[i]*p.Root[l])
				}
				p.Factor.Set(i, i, p.Factor.At(i, i)+1)
			}
		} else {
			for i := range n {
				p.Factor.Set(i, i, p.Factor.At(i, i)+[]float64{noise, 0, 1}[j])
			}
		}
		require.NoError(t, la.Cholesky(nil, p.Factor))
		parts = append(parts, p)
	}
	return Joint(parts, matrix{k}, enough, true), parts, kernel
}

// Joint triangles are within their bounds, in float32 and in integers, at samples among, beside, at the rim and far outside of the training
// samples, and at vectors that no kernel has. The noise of the parts differs by up to six decades, and one part may have all of the weight
// or none.
func TestJointWithinItsBounds(t *testing.T) {
	src := rand.New(rand.NewPCG(65, 66))
	const n = leastSteps + 14
	checked := 0
	for _, c := range []struct{ noise, width, share float64 }{
		{1e-1, 1, 0.3}, {1e-3, 1, 0.3}, {1e-6, 1, 0.3}, {1e-3, 0.2, 0.3}, {1e-3, 30, 0.3}, {1e-2, 1, 0}, {1e-2, 1, 1}, {1e-2, 1, 1e-12}, {1e-6, 0.2, 1e-9},
	} {
		g, parts, kernel := hardJoint(t, src, n, c.noise, c.width, c.share, func(_, _, _, _ float64) bool { return true })
		if g == nil {
			t.Logf("%v: rounding is not small", c)
			continue
		}
		require.True(t, g.Coarse(), "%v", c)
		s, k, x := NewScratch(n), make([]float64, n), make([]float64, 3)
		worst := [2]float64{}
		for q := range 160 {
			for j := range x {
				x[j] = src.NormFloat64() * []float64{1, 3, 1e3, 1e-3}[q/4%4]
			}
			if q%4 != 0 {
				x[2] = 7
			}
			kernel(x, k)
			self := 1.0
			if q%5 == 0 {
				for i := range k {
					k[i], self = src.NormFloat64(), 10*float64(n)
				}
			}
			var want float64
			for _, p := range parts {
				z := append([]float64(nil), k...)
				for i, r := range p.Root {
					z[i] *= r
				}
				for i := range z { // L⁻¹z
					z[i] = (z[i] - la.Dot(p.Factor.Row(i)[:i], z[:i])) / p.Factor.At(i, i)
				}
				want += p.Share * la.SumSq(z)
			}
			if want < 1e-200 {
				continue
			}
			for kind, integers := range []bool{false, true} {
				got, bound := g.Square(k, self, integers, s)
				assert.InDelta(t, want, got, bound+1e-13*want, "%v, query %d, integers %v", c, q, integers)
				worst[kind] = max(worst[kind], math.Abs(got-want)/bound)
			}
		}
		checked++
		t.Logf("%v: errors up to %.2f of the bound in float32, %.2f in integers", c, worst[0], worst[1])
	}
	assert.GreaterOrEqual(t, checked, 6)
}
