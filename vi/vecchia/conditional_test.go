package vecchia

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

func drawSamples(n, d int, seed uint64) *samples {
	src := rand.New(rand.NewPCG(seed, 7))
	s := &samples{x: la.NewMatrix[float64](n, d), y: la.NewMatrix[float64](n, 2), noise: make([]float64, n)}
	for i := range s.x.Data {
		s.x.Data[i] = src.NormFloat64()
	}
	for i := range n {
		s.y.Set(i, 0, math.Sin(s.x.At(i, 0))+0.3*src.NormFloat64())
		s.y.Set(i, 1, math.Cos(s.x.At(i, 1))+0.3*src.NormFloat64())
		s.noise[i] = 0.5 + src.Float64()
	}
	return s
}

func TestGradientIsThatOfDifferences(t *testing.T) {
	s := drawSamples(40, 3, 1)
	cov := &Covariance{Parts: []Part{
		{RBF, 0.8, []float64{0.9, 0.4, 1.3}},
		{Matern, 0.5, []float64{0.3, 0.7, 0.2}},
	}, Linear: 0.2, Noise: 0.1}
	near := []int32{3, 5, 7, 11, 13, 17, 19, 23, -1, -1}
	c := newConditional(s, 2, len(near))
	c.cov = cov
	theta := cov.parameters()
	g := make([]float64, len(theta))
	c.density(near, 30, g)
	for j := range theta {
		const h = 1e-5
		at := func(x float64) float64 {
			th := append([]float64(nil), theta...)
			th[j] += x
			c.cov = cov.clone()
			c.cov.set(th)
			return c.density(near, 30, nil)
		}
		require.InDelta(t, (at(h)-at(-h))/(2*h), g[j], 1e-8, "parameter %d", j)
	}
}

func BenchmarkTerm(b *testing.B) {
	for _, d := range []int{8, 20, 32} {
		for _, m := range []int{32, 64, 128, 256} {
			s := drawSamples(1000, d, 1)
			p := Part{RBF, 0.8, make([]float64, d)}
			for i := range p.Scale {
				p.Scale[i] = 0.3
			}
			c := newConditional(s, 1, m)
			c.cov = &Covariance{Parts: []Part{p}, Linear: 0.1, Noise: 0.1}
			near := make([]int32, m)
			for i := range near {
				near[i] = int32(3 * i)
			}
			g := make([]float64, d+3)
			b.Run("gradient", func(b *testing.B) {
				for range b.N {
					c.density(near, 900, g)
				}
				b.ReportMetric(float64(d), "d")
				b.ReportMetric(float64(m), "m")
			})
			b.Run("value", func(b *testing.B) {
				for range b.N {
					c.at(near, s.x.Row(900), 1, false)
				}
				b.ReportMetric(float64(d), "d")
				b.ReportMetric(float64(m), "m")
			})
		}
	}
}
