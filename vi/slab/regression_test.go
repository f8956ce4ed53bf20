package slab

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
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// sparseProblem returns N samples of M correlated inputs. Every third input carries a weight.
func sparseProblem(N, M int, noise float64, seed uint64) (x la.Matrix[float64], y, w []float64) {
	src := rand.New(rand.NewPCG(seed, 2))
	x, y, w = la.NewMatrix[float64](N, M), make([]float64, N), make([]float64, M)
	for m := 0; m < M; m += 3 {
		w[m] = 1 + src.Float64()
	}
	for n := range N {
		row, common := x.Row(n), src.NormFloat64()
		for m := range row {
			row[m] = src.NormFloat64() + 0.5*common
		}
		y[n] = la.Dot(row, w) + noise*src.NormFloat64()
	}
	return x, y, w
}

func TestSpikeSlabBoundRises(t *testing.T) {
	for _, size := range [][2]int{{30, 8}, {12, 20}} {
		for _, standard := range []bool{false, true} {
			for _, held := range []Held{{}, {Pi: true}, {Variance: true, Noise: true}, {true, true, true}} {
				t.Run(fmt.Sprintf("%v/standard=%t/%+v", size, standard, held), func(t *testing.T) {
					x, y, _ := sparseProblem(size[0], size[1], 0.3, 4)
					s := Regression{Standard: standard, Held: held, Workers: 1}
					d, err := s.design(x, y)
					require.NoError(t, err)
					m, err := s.model(d, 7)
					require.NoError(t, err)
					last := m.Bound()
					for sweep := range 60 {
						require.NoError(t, m.Sweep(func(factor string) {
							b := m.Bound()
							require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d, %s: %.15g after %.15g", sweep, factor, b, last)
							last = b
						}))
					}
				})
			}
		}
	}
}

// The bound is below the evidence, which a sum over all 2^M models gives, and the
// two ways to hold the inputs agree.
func TestSpikeSlabBoundsTheEvidence(t *testing.T) {
	x, y, _ := sparseProblem(20, 5, 0.5, 1)
	prior, noise := Prior{0.3, 1.5}, 0.25
	evidence := math.Inf(-1)
	for set := range 1 << 5 {
		c := la.NewMatrix[float64](20, 20)
		logPrior := 0.0
		for n := range 20 {
			c.Set(n, n, noise)
		}
		for m := range 5 {
			if set>>m&1 == 0 {
				logPrior += math.Log1p(-prior.Pi)
				continue
			}
			logPrior += math.Log(prior.Pi)
			for n := range 20 {
				for k := range 20 {
					c.Data[n*20+k] += prior.Variance * x.At(n, m) * x.At(k, m)
				}
			}
		}
		require.NoError(t, la.Cholesky(nil, c))
		v := append([]float64(nil), y...)
		la.CholeskySolveVec(c, v)
		term := logPrior - 0.5*(20*conjugate.Log2Pi+la.LogDet(c)+la.Dot(v, y))
		hi := max(evidence, term)
		evidence = hi + math.Log(math.Exp(evidence-hi)+math.Exp(term-hi))
	}
	for _, standard := range []bool{false, true} {
		fit, err := Regression{Prior: prior, Noise: noise, Held: Held{true, true, true}, Standard: standard, Restarts: 4}.Fit(context.Background(), x, y)
		require.NoError(t, err)
		assert.Less(t, fit.Record.Bound(), evidence)
		assert.Greater(t, fit.Record.Bound(), evidence-3)
	}
}

func TestSpikeSlabFindsTheWeights(t *testing.T) {
	for _, size := range [][2]int{{200, 12}, {60, 90}} {
		x, y, w := sparseProblem(size[0], size[1], 0.2, 9)
		fit, err := Regression{Restarts: 3}.Fit(context.Background(), x, y)
		require.NoError(t, err)
		assert.Equal(t, vi.Converged, fit.Record.Reason)
		assert.Len(t, fit.Bounds, 4)
		for _, b := range fit.Bounds {
			assert.LessOrEqual(t, b, fit.Record.Bound())
		}
		if size[1] > size[0] {
			continue // more weights than samples: nothing certain is known of them
		}
		mean, sd, inclusion := fit.Posterior.Weights()
		for m := range w {
			if w[m] == 0 {
				assert.Less(t, inclusion[m], 0.6, "weight %d", m)
			} else {
				assert.Greater(t, inclusion[m], 0.99, "weight %d", m)
			}
			assert.InDelta(t, w[m], mean[m], 5*sd[m]+0.02, "weight %d", m)
		}
		assert.InDelta(t, 0.04, fit.Posterior.State().Noise, 0.02)
	}
}

func TestSpikeSlabIsTheSameForAllWorkers(t *testing.T) {
	x, y, _ := sparseProblem(70, 20, 0.3, 3)
	var want []Pair
	for _, workers := range []int{1, 3} {
		fit, err := Regression{Workers: workers}.Fit(context.Background(), x, y)
		require.NoError(t, err)
		if want == nil {
			want = fit.Posterior.s.Weights
		}
		assert.Equal(t, want, fit.Posterior.s.Weights)
	}
}

func TestSpikeSlabSweepAllocatesNothing(t *testing.T) {
	for _, standard := range []bool{false, true} {
		for _, size := range [][2]int{{30, 8}, {12, 20}} {
			x, y, _ := sparseProblem(size[0], size[1], 0.3, 4)
			s := Regression{Standard: standard, Workers: 1}
			d, err := s.design(x, y)
			require.NoError(t, err)
			m, err := s.model(d, 7)
			require.NoError(t, err)
			require.NoError(t, m.Sweep(nil))
			assert.Zero(t, testing.AllocsPerRun(20, func() {
				if err := m.Sweep(nil); err != nil {
					t.Error(err)
				}
				m.Bound()
			}), "standard %t, %v", standard, size)
		}
	}
}

func TestSpikeSlabRefusals(t *testing.T) {
	x, y, _ := sparseProblem(6, 3, 0.1, 1)
	bad := x.Clone()
	bad.Set(2, 1, math.NaN())
	for _, c := range []struct {
		s    Regression
		x    la.Matrix[float64]
		y    []float64
		want string
	}{
		{Regression{}, la.Matrix[float64]{}, nil, "vi: x: 0×0: it is empty"},
		{Regression{}, x, y[:4], "vi: y: 4 values for 6 samples"},
		{Regression{}, bad, y, "vi: x: entry (2, 1) is NaN"},
		{Regression{}, x, []float64{1, 2, math.Inf(1), 0, 0, 0}, "vi: y: value 2 is +Inf"},
		{Regression{}, x, make([]float64, 6), "vi: y: every value is zero"},
		{Regression{}, la.NewMatrix[float64](6, 3), y, "vi: x: every value is zero"},
		{Regression{Prior: Prior{Pi: 1.5}}, x, y, "vi: Prior.Pi is 1.5: it must be positive and at most 1"},
		{Regression{Prior: Prior{Variance: -1}}, x, y, "vi: Prior.Variance is -1: it must be positive and finite"},
		{Regression{Noise: -1}, x, y, "vi: Noise is -1: it must be positive and finite"},
		{Regression{Start: &RegressionStart{Inclusion: []float64{0.5}}}, x, y, "vi: Start: 1 inclusions and 0 means for 3 weights"},
		{Regression{Start: &RegressionStart{[]float64{0, 2, 0}, []float64{0, 0, 0}}}, x, y, "vi: Start.Inclusion[1] is 2: it is a probability"},
	} {
		fit, err := c.s.Fit(context.Background(), c.x, c.y)
		assert.Nil(t, fit)
		assert.EqualError(t, err, c.want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Regression{}.Fit(ctx, x, y)
	assert.ErrorIs(t, err, context.Canceled)
}

// The odds that extrapolation asks for may be any positive number. The share of inclusion stays a probability.
func TestExtrapolatedShareOfInclusion(t *testing.T) {
	x, y, _ := sparseProblem(30, 8, 0.3, 4)
	s := Regression{Workers: 1, Held: Held{Noise: true, Variance: true}}
	d, err := s.design(x, y)
	require.NoError(t, err)
	m, err := s.model(d, 7)
	require.NoError(t, err)
	f := m.(*pairedField)
	for _, odds := range []float64{0, 1e-300, 0.25, 3, 1e10, 1e30, math.MaxFloat64, math.Inf(1)} {
		before := f.prior.Pi
		f.learn([]float64{odds})
		if math.IsInf(odds, 1) {
			assert.Equal(t, before, f.prior.Pi)
			continue
		}
		assert.Greater(t, f.prior.Pi, 0.0, "%g", odds)
		assert.Less(t, f.prior.Pi, 1.0, "%g", odds)
		assert.InDelta(t, 1/(1+1/odds), f.prior.Pi, 1e-9, "%g", odds)
	}
}
