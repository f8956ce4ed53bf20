package bemkl

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// covOf is Cov[g_i].
func (m *patterned) covOf(i int) la.Matrix[float64] {
	for c := range m.patterns {
		for _, j := range m.patterns[c].members {
			if i == j {
				return m.patterns[c].cov
			}
		}
	}
	panic("a sample without a pattern")
}

// naiveGaps is a fit with missing targets by plain loops over samples and outputs, and the formulas
// of docs/theory/shared.md: every sample has a covariance of its own. Moments that the outputs
// share come from naiveTasks.
type naiveGaps struct {
	*naiveTasks
	targets  la.Matrix[float64] // NaN where missing
	omegas   [][][2]float64     // of each output, of each kernel
	own      [][]float64        // of each output, b and e
	ownCov   []la.Matrix[float64]
	covs     []la.Matrix[float64] // of each sample's g
	epsilons [][2]float64
	gammas   [][2]float64
}

func newNaiveGaps(one *naiveTasks, y la.Matrix[float64], prior [5][2]float64) *naiveGaps {
	P := len(one.omega)
	s := &naiveGaps{naiveTasks: one, targets: y}
	for o := range y.Rows {
		own := make([]float64, 1+P)
		n := 0.0
		for m := range P {
			own[1+m] = 1
		}
		for i := range y.Cols {
			if s.seen(o, i) {
				n++
			}
		}
		var omega [][2]float64
		for range P {
			omega = append(omega, [2]float64{prior[3][0] + 0.5, prior[3][1]})
		}
		s.omegas, s.own, s.ownCov = append(s.omegas, omega), append(s.own, own), append(s.ownCov, fittest.Identity(1+P))
		s.epsilons = append(s.epsilons, [2]float64{prior[4][0] + n/2, prior[4][1]})
		s.gammas = append(s.gammas, [2]float64{prior[2][0] + 0.5, prior[2][1]})
	}
	for range y.Cols {
		s.covs = append(s.covs, fittest.Identity(P))
	}
	return s
}

func (s *naiveGaps) seen(o, i int) bool { return !math.IsNaN(s.targets.At(o, i)) }

// second is E[w_m·w_n] of w = (b, e) of output o.
func (s *naiveGaps) second(o, m, n int) float64 {
	return s.own[o][m]*s.own[o][n] + s.ownCov[o].At(m, n)
}

// input is E[x_m] and E[x_m·x_n] of x = (1, g) of sample i.
func (s *naiveGaps) input(i, m int) float64 {
	if m == 0 {
		return 1
	}
	return s.g[0][i][m-1]
}

func (s *naiveGaps) inputs(i, m, n int) float64 {
	v := s.input(i, m) * s.input(i, n)
	if m > 0 && n > 0 {
		v += s.covs[i].At(m-1, n-1)
	}
	return v
}

// square is E[(y − eᵀg − b)²].
func (s *naiveGaps) square(o, i int) float64 {
	y := s.targets.At(o, i)
	sum := y * y
	for m := range s.own[o] {
		sum -= 2 * y * s.own[o][m] * s.input(i, m)
		for n := range s.own[o] {
			sum += s.second(o, m, n) * s.inputs(i, m, n)
		}
	}
	return sum
}

func (s *naiveGaps) distance() (sum float64) {
	for i, g := range s.g[0] {
		for m := range g {
			h, v := s.prediction(0, m, i)
			sum += (g[m]-h)*(g[m]-h) + s.covs[i].At(m, m) + v
		}
	}
	return sum
}

func (s *naiveGaps) update(name string) {
	P, ups := len(s.omega), fittest.Mean(s.upsilon[0])
	observe := func(g *[2]float64, prior [2]float64, sum float64) { g[1] = 1 / (1/prior[1] + sum/2) }
	switch name {
	case "λ", "a":
		s.naiveTasks.update(name)
	case "υ":
		observe(&s.upsilon[0], s.prior[1], s.distance())
	case "G":
		for i := range s.g[0] {
			x, right := la.NewMatrix[float64](P, P), make([]float64, P)
			for m := range P {
				h, _ := s.prediction(0, m, i)
				right[m] = ups * h
				x.Set(m, m, ups)
			}
			for o := range s.own {
				for m := 0; m < P && s.seen(o, i); m++ {
					eps := fittest.Mean(s.epsilons[o])
					right[m] += eps * (s.targets.At(o, i)*s.own[o][1+m] - s.second(o, 0, 1+m))
					for n := range P {
						x.Set(m, n, x.At(m, n)+eps*s.second(o, 1+m, 1+n))
					}
				}
			}
			s.covs[i], _ = fittest.Inverse(x)
			s.g[0][i] = fittest.Times(s.covs[i], right)
		}
	case "γ":
		for o := range s.own {
			observe(&s.gammas[o], s.prior[2], s.second(o, 0, 0))
		}
	case "ω":
		for o := range s.own {
			for m := range P {
				observe(&s.omegas[o][m], s.prior[3], s.second(o, 1+m, 1+m))
			}
		}
	case "ε":
		for o := range s.own {
			var sum float64
			for i := range s.covs {
				if s.seen(o, i) {
					sum += s.square(o, i)
				}
			}
			observe(&s.epsilons[o], s.prior[4], sum)
		}
	case "(b,e)":
		for o := range s.own {
			x, right := la.NewMatrix[float64](1+P, 1+P), make([]float64, 1+P)
			x.Set(0, 0, fittest.Mean(s.gammas[o]))
			for m := range P {
				x.Set(1+m, 1+m, fittest.Mean(s.omegas[o][m]))
			}
			for i := range s.covs {
				for m := 0; m <= P && s.seen(o, i); m++ {
					right[m] += fittest.Mean(s.epsilons[o]) * s.targets.At(o, i) * s.input(i, m)
					for n := range right {
						x.Set(m, n, x.At(m, n)+fittest.Mean(s.epsilons[o])*s.inputs(i, m, n))
					}
				}
			}
			s.ownCov[o], _ = fittest.Inverse(x)
			s.own[o] = fittest.Times(s.ownCov[o], right)
		}
	}
}

// TestSharedGapsFollowTheFormulas compares every update with plain loops.
func TestSharedGapsFollowTheFormulas(t *testing.T) {
	prior := [5][2]float64{{0.7, 2}, {1.5, 0.4}, {1, 3}, {0.6, 1.1}, {2, 0.8}}
	for name, size := range map[string]int{"square": 8, "rectangular": -9} {
		for _, L := range []int{1, 2, 4} {
			tasks, ks := drawTasks(t, 5, 3, size)
			P, D, N := tasks[0].Kernels.Dims()
			start := randomStart(4, 1, P, D, N)
			_, _, y := problem{P: P, D: N, N: N, L: L, missing: 0.4}.draw(t, uint64(L))
			for o := range L {
				y.Set(o, 2, math.NaN())
			}
			want := newNaiveGaps(newNaiveTasks(ks, tasks, []Start{*start}, prior), y, prior)
			g := func(i int) vi.Gamma { return vi.Gamma{Shape: prior[i][0], Scale: prior[i][1]} }
			r := SharedRegression{Lambda: g(0), Upsilon: g(1), Gamma: g(2), Omega: g(3), Epsilon: g(4), Start: start, Plain: true}
			state, err := r.state(tasks[0].Kernels, y)
			require.NoError(t, err)
			m := state.(*patterned)
			for sweep := range 8 {
				require.NoError(t, m.Sweep(func(update string) {
					want.update(update)
					where := name + ": " + update
					testkit.RequireClose(t, where+": a", want.a[0], m.AMean.Row(0), 1e-8)
					assert.InEpsilon(t, fittest.Mean(want.upsilon[0]), m.upsilonQ.Mean(0), 1e-8, "%s of sweep %d", where, sweep)
					for i := range N {
						testkit.RequireClose(t, where+": g", want.g[0][i], meanOfG(m.latent, 0, i), 1e-8)
						testkit.RequireClose(t, where+": Cov[g]", want.covs[i], m.covOf(i), 1e-8)
					}
					for o := range L {
						testkit.RequireClose(t, where+": (b,e)", want.own[o], m.be[o].Mean, 1e-8)
						testkit.RequireClose(t, where+": Cov[b,e]", want.ownCov[o], m.be[o].Cov, 1e-8)
						assert.InEpsilon(t, fittest.Mean(want.epsilons[o]), m.epsilon[o].Mean(0), 1e-8, where)
						assert.InEpsilon(t, fittest.Mean(want.gammas[o]), m.gamma.Mean(o), 1e-8, where)
						for j := range P {
							assert.InEpsilon(t, fittest.Mean(want.omegas[o][j]), m.omega.Mean(o*P+j), 1e-8, where)
						}
					}
				}))
			}
		}
	}
}

// withoutGaps is the state of a fit to complete targets that takes them as one pattern.
func withoutGaps(t *testing.T, r SharedRegression, k vi.Kernels, y la.Matrix[float64]) *patterned {
	t.Helper()
	layers, err := r.layers(k, y)
	require.NoError(t, err)
	layers.observed = la.NewMatrix[float64](layers.L, layers.N)
	layers.observed.Fill(1)
	m, err := r.patterned(layers)
	require.NoError(t, err)
	require.Len(t, m.patterns, 1)
	return m
}

// TestOnePatternIsTheCompleteFit compares plain sweeps of both states of a fit to complete
// targets, and where their accelerated ones end.
func TestOnePatternIsTheCompleteFit(t *testing.T) {
	for _, p := range []problem{problems[0], problems[1], problems[3], problems[10]} {
		p.L++
		r, k, y := p.shared(t, 3)
		r.Plain = true
		want, err := r.model(k, y)
		require.NoError(t, err)
		got := withoutGaps(t, r, k, y)
		for range 20 {
			require.NoError(t, want.Sweep(nil))
			require.NoError(t, got.Sweep(nil))
			require.InEpsilon(t, want.Bound(), got.Bound(), 1e-9, p.name)
		}
		assert.Equal(t, want.Observations(), got.Observations())
		assert.InEpsilon(t, want.Roundoff(), got.Roundoff(), 1e-6)
		r.Plain = false
		want, err = r.model(k, y)
		require.NoError(t, err)
		got = withoutGaps(t, r, k, y)
		for range work.FirstSweeps + 150 {
			require.NoError(t, want.Sweep(nil))
			require.NoError(t, got.Sweep(nil))
		}
		require.InDelta(t, want.Bound(), got.Bound(), 1e-5*math.Abs(want.Bound()), p.name)
	}
}

// TestSharedGapsOfOneOutputAreRegression compares two implementations of one model.
func TestSharedGapsOfOneOutputAreRegression(t *testing.T) {
	for _, p := range []problem{problems[0], problems[3], problems[10]} {
		p.L = 1
		s, k, y := p.sharedGaps(t, 3)
		s.Plain = true
		one, err := s.state(k, y)
		require.NoError(t, err)
		two, err := Regression{Lambda: s.Lambda, Omega: s.Omega, Seed: 3, Plain: true}.model(k, y)
		require.NoError(t, err)
		for range 20 {
			require.NoError(t, one.Sweep(nil))
			require.NoError(t, two.Sweep(nil))
			require.InEpsilon(t, two.Bound(), one.Bound(), 1e-9, p.name)
		}
		assert.Equal(t, two.Observations(), one.Observations())
		a, err := one.Posterior().Predict(k, vi.PredictOptions{})
		require.NoError(t, err)
		b, err := two.Posterior().Predict(k, vi.PredictOptions{})
		require.NoError(t, err)
		testkit.RequireClose(t, p.name+": mean", b.Mean, a.Mean, 1e-7)
		testkit.RequireClose(t, p.name+": variance", b.Variance, a.Variance, 1e-7)
	}
}

// TestPatternPlaneBoundIsTheBound moves the sample weights along the plane, lets λ, Cov[a], G and
// b follow, and compares the change of the bound.
func TestPatternPlaneBoundIsTheBound(t *testing.T) {
	for _, p := range problems {
		if p.lambda == broken {
			continue // rounding is amplified
		}
		p.L++
		for _, move := range [][2]float64{{0.3, 0}, {1, -0.4}, {-0.2, 1.5}} {
			r, k, y := p.sharedGaps(t, 4)
			state, err := r.state(k, y)
			require.NoError(t, err)
			m, is := state.(*patterned)
			if !is {
				continue // a single sample has all its targets
			}
			for range work.FirstSweeps + 2 {
				require.NoError(t, m.Sweep(nil))
			}
			require.NoError(t, m.rounds.begin())
			follow := func() float64 {
				m.updateLambdaAndCovariance()
				require.NoError(t, m.updateIntermediateAndBiases())
				return m.Bound()
			}
			before := follow()
			f := m.rounds.bound(0)
			want := f.at(move[0], move[1]).value - f.at(0, 0).value
			m.rounds.moveBy(0, move[0], move[1])
			assert.InDelta(t, want, follow()-before, 1e-9*(1+math.Abs(before)+math.Abs(want)), p.name)
		}
	}
}

// TestSharedGapsFit demands that accelerated fits end where plain ones do, with the same bits for
// every number of workers, and that a fit with From goes on.
func TestSharedGapsFit(t *testing.T) {
	ctx := context.Background()
	p := problem{P: 3, D: 30, N: 30, L: 3}
	r, k, y := p.sharedGaps(t, 2)
	fit, err := r.Fit(ctx, k, y)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	assert.Empty(t, fit.Collapsed)
	r.Workers = 3
	again, err := r.Fit(ctx, k, y)
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual(fit.Posterior.State(), again.Posterior.State()), "other bits with three workers")

	plain := r
	plain.Plain, plain.Ascent = true, vi.Ascent{Tolerance: -1, MaxSweeps: testkit.Fewer(4000, 1500)}
	slow, err := plain.Fit(ctx, k, y)
	require.NoError(t, err)
	assert.InDelta(t, slow.Record.Bound(), fit.Record.Bound(), 0.1)
	assert.Less(t, len(fit.Record.Trace), 200)

	r.From = fit.Posterior
	warm, err := r.Fit(ctx, k, y)
	require.NoError(t, err)
	assert.Less(t, len(warm.Record.Trace), len(fit.Record.Trace))
	assert.Greater(t, warm.Record.Trace[0], fit.Record.Bound()-1e-3)

	bad := y.Clone()
	for i := range bad.Cols {
		bad.Set(1, i, math.NaN())
	}
	_, err = SharedRegression{}.Fit(ctx, k, bad)
	assert.EqualError(t, err, "vi: y: row 1: every value is missing")
	compressed, err := vi.NewCompressed(k, slices.Repeat([]float64{1}, 30))
	require.NoError(t, err)
	_, err = SharedRegression{}.Fit(ctx, compressed, y)
	assert.ErrorContains(t, err, "pseudo-samples")
}
