package vi

import (
	"context"
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

// featureProblem draws three blocks of 2, 4 and 3 features, the first of which tells
// three classes apart.
func featureProblem(src *rand.Rand, N int) (*Stacked, *Dense, []int) {
	k, padded := stackedAndPadded(src, N, 2, 4, 3)
	labels := make([]int, N)
	for n := range N {
		labels[n] = n % 3
		a := 2 * math.Pi * float64(n%3) / 3
		for d, v := range []float64{2 * math.Cos(a), 2 * math.Sin(a)} {
			v += 0.5 * k.f[0].At(d, n)
			k.f[0].Set(d, n, v)
			padded.k[0].Set(d, n, v)
		}
	}
	return k, padded, labels
}

// Blocks of different lengths are weighted as kernels are: with their zeros the
// rules for kernels must give the same. A is that of the stacked expansions,
// Σ_n f_pᵀ(Σ_c W_pᵀW_q + V_pq)f_q.
func TestProbitWeighsBlocksOfFeatures(t *testing.T) {
	k, padded, labels := featureProblem(rand.New(rand.NewPCG(5, 5)), 45)
	later, _, truth := featureProblem(rand.New(rand.NewPCG(6, 6)), 45)
	for _, p := range []Probit{
		{}, {Beta: []float64{1, 0.5, 2}}, {Rule: WSum}, {Rule: WSum, Update: MeanField}, {Rule: WSum, Search: Sampling, Samples: 100},
		{Rule: Bin, NotEmpty: true}, {Rule: Bin, Update: MeanField}, {Rule: Bin, Update: Structured},
	} {
		t.Run(fmt.Sprint(p.Rule, p.Update, p.Search, p.Beta), func(t *testing.T) {
			p.Workers = 2
			m, err := p.model(k, labels)
			require.NoError(t, err)
			want, err := p.model(padded, labels)
			require.NoError(t, err)
			for i := range 12 {
				require.NoError(t, m.Sweep(nil))
				require.NoError(t, want.Sweep(nil))
				require.InDelta(t, want.Bound(), m.Bound(), 1e-10*math.Abs(want.Bound()), "sweep %d", i)
			}
			testkit.RequireClose(t, "E[β]", want.mean, m.mean, 1e-9)
			if p.Rule.Learned() {
				assert.Equal(t, 0, testkit.ArgMax(m.mean), "%v", m.mean)
			}
			posterior, err := m.posterior()
			require.NoError(t, err)
			q, err := posterior.Predict(later, PredictOptions{})
			require.NoError(t, err)
			right := 0
			for n, c := range truth {
				if testkit.ArgMax(q.Probability.Row(n)) == c {
					right++
				}
			}
			assert.Greater(t, right, 38)
		})
	}

	m, err := Probit{Rule: WSum, Update: MeanField}.model(k, labels)
	require.NoError(t, err)
	require.NoError(t, m.Sweep(nil))
	require.NoError(t, m.updateW())
	q := newQuadratic(m)
	q.measure(m)
	m.sum.MirrorLower()
	for p := range 3 {
		first, _ := k.Block(p)
		for r := range 3 {
			second, _ := k.Block(r)
			var sum float64
			for i := range k.f[p].Rows {
				for j := range k.f[r].Rows {
					v := m.sum.At(first+i, second+j)
					for c := range m.C {
						v += m.w.At(c, first+i) * m.w.At(c, second+j)
					}
					sum += v * la.Dot(k.f[p].Row(i), k.f[r].Row(j))
				}
			}
			assert.InDelta(t, sum, q.a.At(p, r), 1e-10*math.Abs(sum)+1e-10, "A_%d%d", p, r)
		}
	}
	_, err = NewComposite(WProd, k)
	assert.EqualError(t, err, "vi: WProd of stacked features: products need base kernels of the same basis points")
	fit, err := Probit{Rule: WSum}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	assert.Equal(t, Converged, fit.Record.Reason)
}
