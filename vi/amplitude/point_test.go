package amplitude

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// pointCase is a process of n samples on a line, C classes, and the kernels of new samples with them.
func pointCase(t *testing.T, src *rand.Rand, n, classes int, noise float64) (p *Process, h *Head, cross la.Matrix[float64], self []float64) {
	at := make([]float64, n)
	for i := range at {
		at[i] = 6 * src.Float64()
		if i%7 == 6 {
			at[i] = at[i-1] // samples that lie twice
		}
	}
	of := func(a, b float64) float64 { return 3 * math.Exp(-(a-b)*(a-b)) }
	k := la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range n {
			k.Set(i, j, 1+of(at[i], at[j]))
		}
		k.Set(i, i, k.At(i, i)+noise)
	}
	outputs := classes
	if classes == 2 {
		outputs = 1
	}
	p = &Process{Noise: noise, Factor: k, Alpha: la.NewMatrix[float64](outputs, n)}
	require.NoError(t, la.Cholesky(nil, p.Factor))
	for c := range outputs {
		row := p.Alpha.Row(c)
		for i := range row {
			row[i] = math.Sin(at[i]+float64(c)) + 0.3*src.NormFloat64()
		}
		la.Trsv(la.NoTrans, p.Factor, row)
		la.Trsv(la.Transpose, p.Factor, row)
	}
	h = &Head{Slope: 1, Prior: 0.5, Damping: 1, Variance: 0.2}
	for range classes {
		h.Shares = append(h.Shares, 1/float64(classes))
	}
	const queries = 60
	cross, self = la.NewMatrix[float64](queries, n), make([]float64, queries)
	for q := range queries {
		x := []float64{at[q%n], 6 * src.Float64(), at[q%n] + 1e-7, 100 * src.NormFloat64()}[q%4]
		for i := range n {
			cross.Set(q, i, of(x, at[i]))
		}
		self[q] = of(x, x)
	}
	return p, h, cross, self
}

// The factor of K + σ²I knows K, its columns and its diagonal.
func TestKernelOfAFactor(t *testing.T) {
	src := rand.New(rand.NewPCG(63, 64))
	k := la.NewMatrix[float64](5, 5)
	x := targets(src, 5, 7)
	la.Syrk(nil, la.NoTrans, 1, x, 0, k)
	k.MirrorLower()
	f := factored{&Process{Noise: 0.3, Factor: k.Clone()}}
	for i := range 5 {
		f.Factor.Row(i)[i] += 0.3
	}
	require.NoError(t, la.Cholesky(nil, f.Factor))
	diagonal, column := make([]float64, 5), make([]float64, 5)
	f.Diagonal(diagonal)
	for i := range 5 {
		assert.InDelta(t, k.At(i, i), diagonal[i], 1e-12)
		f.Column(i, column)
		assert.InDeltaSlice(t, k.Row(i), column, 1e-12)
	}
}

// Probabilities of single samples are the probabilities of many, within their bounds.
func TestPointWithinItsBounds(t *testing.T) {
	src := rand.New(rand.NewPCG(61, 62))
	for _, n := range []int{1, 40, 400} {
		for _, classes := range []int{2, 5} {
			for _, noise := range []float64{1, 1e-3} {
				p, h, cross, self := pointCase(t, src, n, classes, noise)
				mean, variance, err := p.Predict(&la.Workspace{}, cross.Clone(), self)
				require.NoError(t, err)
				want := make([][]float64, cross.Rows)
				for i := range want {
					want[i] = make([]float64, classes)
				}
				h.Probabilities(mean, variance, want)
				point, exact := NewPoint(nil, p, h, false, 1e-2), NewPoint(nil, p, h, true, 0)
				require.True(t, point.Float32())
				require.False(t, exact.Float32())
				s, memory, got := point.NewScratch(), triangle.NewScratch(n), make([]float64, classes)
				early, worst := 0, 0.0
				for q, w := range want {
					k := func() []float64 { return append([]float64(nil), cross.Row(q)...) }
					point.Exact(k(), self[q], got, s)
					assert.InDeltaSlice(t, w, got, 1e-10)
					assert.Zero(t, exact.Probabilities(k(), self[q], 1, got, s, memory))
					assert.InDeltaSlice(t, w, got, 1e-10)
					least := math.Inf(1)
					for _, enough := range []float64{0.1, 1e-2, 0} {
						bound := point.Probabilities(k(), self[q], enough, got, s, memory)
						for c := range w {
							assert.InDelta(t, w[c], got[c], bound+1e-10, "%d samples, %d classes, noise %g, query %d", n, classes, noise, q)
							worst = max(worst, math.Abs(w[c]-got[c])/(bound+1e-10))
						}
						if bound > 1e-4 {
							early++
						}
						assert.LessOrEqual(t, bound, least)
						least = bound
					}
				}
				if n == 400 && noise == 1 {
					assert.Positive(t, early)
				}
				t.Logf("%d samples, %d classes, noise %g: %d stop early, largest error %.2g of its bound", n, classes, noise, early, worst)
			}
		}
	}
}

// The bound of an interval of variances holds at a grid of them.
func TestProbabilitiesBetweenVariances(t *testing.T) {
	src := rand.New(rand.NewPCG(63, 64))
	most := 0.0
	for range 2000 {
		point := &Point{share: math.Exp(src.NormFloat64())}
		logit := make([]float64, 2+src.IntN(5))
		for c := range logit {
			logit[c] = 4 * src.NormFloat64()
		}
		low := math.Exp(3 * src.NormFloat64())
		high := low * (1 + math.Exp(3*src.NormFloat64()))
		p, at := make([]float64, len(logit)), make([]float64, len(logit))
		bound := point.between(low, high, logit, p)
		for i := range 21 {
			v := low + (high-low)*float64(i)/20
			assert.Zero(t, point.between(v, v, logit, at))
			for c := range p {
				assert.LessOrEqual(t, math.Abs(p[c]-at[c]), bound+1e-12)
				most = max(most, math.Abs(p[c]-at[c])/bound)
			}
		}
	}
	assert.Greater(t, most, 0.5, "the bound is far from tight")
	nan := []float64{0, 0}
	assert.True(t, math.IsNaN((&Point{share: 1}).between(math.NaN(), math.NaN(), []float64{1, 2}, nan)))
}
