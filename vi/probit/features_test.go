package probit

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
	"github.com/bmkl/bmkl/vi"
)

// featureProblem draws three blocks of 2, 4 and 3 features. The first block separates three
// classes. It returns them stacked, as kernels padded with zeros, and as plain blocks.
func featureProblem(src *rand.Rand, N int) (*vi.Stacked, *vi.Dense, []la.Matrix[float64], []int) {
	rows := []int{2, 4, 3}
	var blocks []la.Matrix[float64]
	for _, r := range rows {
		blocks = append(blocks, testkit.Normal(src, r, N))
	}
	labels := make([]int, N)
	for n := range N {
		labels[n] = n % 3
		a := 2 * math.Pi * float64(n%3) / 3
		for d, v := range []float64{2 * math.Cos(a), 2 * math.Sin(a)} {
			blocks[0].Set(d, n, v+0.5*blocks[0].At(d, n))
		}
	}
	var padded []la.Matrix[float64]
	first := 0
	for m, f := range blocks {
		p := la.NewMatrix[float64](9, N)
		for d := range rows[m] {
			copy(p.Row(first+d), f.Row(d))
		}
		padded = append(padded, p)
		first += rows[m]
	}
	return testkit.Must(vi.NewStacked(blocks...)), testkit.Must(vi.NewDense(padded...)), blocks, labels
}

// Blocks of different lengths are weighted as kernels are: with their zeros the rules for kernels
// must give the same. A is computed from the stacked expansions, Σ_n f_pᵀ(Σ_c W_pᵀW_q + V_pq)f_q.
func TestProbitWeighsBlocksOfFeatures(t *testing.T) {
	k, padded, blocks, labels := featureProblem(rand.New(rand.NewPCG(5, 5)), 45)
	later, _, _, truth := featureProblem(rand.New(rand.NewPCG(6, 6)), 45)
	for _, p := range []Model{
		{}, {Beta: []float64{1, 0.5, 2}}, {Rule: RuleWSum}, {Rule: RuleWSum, Update: WeightUpdateMeanField}, {Rule: RuleWSum, Search: WeightSearchSampling, Samples: 100},
		{Rule: RuleBin, NotEmpty: true}, {Rule: RuleBin, Update: WeightUpdateMeanField}, {Rule: RuleBin, Update: WeightUpdateStructured},
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
			q, err := posterior.Predict(later, vi.PredictOptions{})
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

	m, err := Model{Rule: RuleWSum, Update: WeightUpdateMeanField}.model(k, labels)
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
			for i := range blocks[p].Rows {
				for j := range blocks[r].Rows {
					v := m.sum.At(first+i, second+j)
					for c := range m.C {
						v += m.w.At(c, first+i) * m.w.At(c, second+j)
					}
					sum += v * la.Dot(blocks[p].Row(i), blocks[r].Row(j))
				}
			}
			assert.InDelta(t, sum, q.a.At(p, r), 1e-10*math.Abs(sum)+1e-10, "A_%d%d", p, r)
		}
	}
	_, err = NewComposite(RuleWProd, k)
	assert.EqualError(t, err, "vi: WProd of stacked features: products need base kernels of the same basis points")
	fit, err := Model{Rule: RuleWSum}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
}
