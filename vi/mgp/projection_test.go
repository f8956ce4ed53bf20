package mgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// fewWidths is a Gaussian process on random points, whose kernel is a sum of RBF kernels.
type fewWidths struct {
	x             la.Matrix[float64]
	width, weight []float64
}

func newFewWidths(rng *rand.Rand, n, d int, width, weight []float64) fewWidths {
	t := fewWidths{la.NewMatrix[float64](n, d), width, weight}
	for i := range t.x.Data {
		t.x.Data[i] = rng.NormFloat64()
	}
	return t
}

func (t fewWidths) kernel(x, y []float64) (k float64) {
	var d float64
	for j, v := range x {
		d += (v - y[j]) * (v - y[j])
	}
	for i, w := range t.width {
		k += t.weight[i] * math.Exp(-0.5*d/(w*w))
	}
	return k
}

func (t fewWidths) Diagonal(dst []float64) {
	for i := range dst {
		dst[i] = t.kernel(t.x.Row(i), t.x.Row(i))
	}
}

func (t fewWidths) Column(i int, dst []float64) {
	for n := range dst {
		dst[n] = t.kernel(t.x.Row(i), t.x.Row(n))
	}
}

func (t fewWidths) with(x []float64, samples []int) []float64 {
	k := make([]float64, len(samples))
	for i, n := range samples {
		k[i] = t.kernel(x, t.x.Row(n))
	}
	return k
}

// posterior returns the posterior of noisy targets, or the posterior with these sites if sites is
// not nil.
func (t fewWidths) posterior(tb testing.TB, rng *rand.Rand, tau float64, sites []float64) *Posterior {
	n := t.x.Rows
	s := State{Family: FamilyFlat, Tau: tau, Gamma: []float64{1}, Labels: sites != nil, Sites: sites,
		Factor: la.NewMatrix[float64](n, n), Alpha: make([]float64, n)}
	for i := range n {
		for j := range i + 1 {
			v := t.kernel(t.x.Row(i), t.x.Row(j))
			if sites != nil {
				v *= math.Sqrt(sites[i] * sites[j])
			}
			s.Factor.Set(i, j, v)
		}
		s.Factor.Row(i)[i] += 1 / tau
		s.Alpha[i] = math.Sin(3*t.x.At(i, 0)) + rng.NormFloat64()/math.Sqrt(tau)
	}
	require.NoError(tb, la.Cholesky(nil, s.Factor))
	la.CholeskySolveVec(s.Factor, s.Alpha)
	for i, v := range sites {
		s.Alpha[i] *= math.Sqrt(v)
	}
	p, err := NewPosterior(s)
	require.NoError(tb, err)
	return p
}

// queries are at training samples, among them, around them and far away.
func (t fewWidths) queries(rng *rand.Rand, n int) [][]float64 {
	var qs [][]float64
	for i := range n {
		q := make([]float64, t.x.Cols)
		for j := range q {
			switch i % 5 {
			case 0:
				q[j] = t.x.At(i%t.x.Rows, j)
			case 1, 2:
				q[j] = rng.NormFloat64()
			case 3:
				q[j] = 3 * rng.NormFloat64()
			default:
				q[j] = 30 * rng.NormFloat64()
			}
		}
		qs = append(qs, q)
	}
	return qs
}

// No query's error exceeds its bound, wherever it lies and however coarse the
// projection is.
func TestProjectionWithinItsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 3))
	var ws la.Workspace
	made, tightMean, tightSD := 0, 0.0, 0.0
	trials := testkit.Fewer(120, 30)
	for trial := range trials {
		d := 1 + rng.IntN(2)
		width := []float64{0.5 + 2*rng.Float64(), 5 * rng.ExpFloat64(), 0.02 + 0.3*rng.Float64()}[:1+rng.IntN(3)]
		weight := []float64{rng.ExpFloat64(), 10 * rng.Float64(), math.Pow(10, -4*rng.Float64())}[:len(width)]
		k := newFewWidths(rng, 40+rng.IntN(80), d, width, weight)
		tau, sites := math.Pow(10, 7*rng.Float64()-1), []float64(nil)
		if trial%3 == 0 {
			tau = 1
			for range k.x.Rows {
				sites = append(sites, math.Pow(10, -5*rng.Float64()))
			}
		}
		p := k.posterior(t, rng, tau, sites)
		all := make([]int, k.x.Rows)
		for i := range all {
			all[i] = i
		}
		for _, tolerance := range []float64{1e-3, 0.1, 10, 1e3} {
			meanOnly := trial%7 == 0
			var source Composite = k
			if trial%2 == 0 {
				source = nil
			}
			q, err := p.Project(source, ProjectOptions{Tolerance: tolerance, MeanOnly: meanOnly})
			require.NoError(t, err)
			if q == nil {
				continue
			}
			made++
			require.LessOrEqual(t, q.Order, len(q.Pivots))
			scratch := make([]float64, q.ScratchSize())
			for i, x := range k.queries(rng, 60) {
				self := k.kernel(x, x)
				want := p.PredictOne(k.with(x, all), self, meanOnly)
				got := q.Predict(&ws, k.with(x, q.Pivots), self, scratch)
				where := fmt.Sprintf("trial %d, tolerance %g, query %d: τ = %g, %d pivots, %+v, exact %+v", trial, tolerance, i, tau, len(q.Pivots), got, want)
				e := math.Abs(got.Mean - want.Mean)
				require.LessOrEqual(t, e, got.MeanError, where)
				tightMean = max(tightMean, e/got.MeanError)
				if meanOnly {
					assert.True(t, math.IsNaN(got.Variance))
					continue
				}
				e = math.Abs(math.Sqrt(got.Variance) - math.Sqrt(want.Variance))
				require.LessOrEqual(t, e, got.SDError, where)
				require.LessOrEqual(t, got.LeastSD, math.Sqrt(want.Variance)*(1+1e-9), where)
				tightSD = max(tightSD, e/got.SDError)
			}
		}
	}
	t.Logf("%d projections; the largest shares of the bounds are %.2f of the mean's and %.2f of the standard deviation's", made, tightMean, tightSD)
	assert.Greater(t, made, trials)
	assert.Greater(t, tightMean, 0.02)
	assert.Greater(t, tightSD, 0.02)
}

func TestProjectRefusesAndDeclines(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	narrow := newFewWidths(rng, 60, 3, []float64{0.01}, []float64{1})
	p := narrow.posterior(t, rng, 10, nil)
	for _, tolerance := range []float64{0, -1, math.NaN()} {
		_, err := p.Project(narrow, ProjectOptions{Tolerance: tolerance})
		assert.ErrorContains(t, err, "Tolerance")
	}
	q, err := p.Project(narrow, ProjectOptions{Tolerance: 1e-3})
	require.NoError(t, err)
	assert.Nil(t, q, "every sample is a pivot")

	weak := make([]float64, 60)
	for i := range weak {
		weak[i] = 1e-9
	}
	wide := newFewWidths(rng, 60, 1, []float64{3}, []float64{1})
	q, err = wide.posterior(t, rng, 1, weak).Project(nil, ProjectOptions{Tolerance: 1e-3})
	require.NoError(t, err)
	assert.Nil(t, q, "weak sites hide the kernel in the factor")
}
