package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// naiveGroups is a regression of one output with groups, by plain loops and the formulas of
// docs/theory/missing-views.md: naiveTasks of one task but for G, ε and (b, e), in which every sample
// has the noise of its group.
type naiveGroups struct {
	*naiveTasks
	groups []int
	eps    [][2]float64             // of each group
	cov    []la.Matrix[float64]     // of g, of each group
	free   la.Matrix[float64]       // of g without a target
	seen   func(i int) (there bool) // whether the target of sample i is there
}

func (s *naiveGroups) precision(i int) float64 {
	if !s.seen(i) {
		return 0
	}
	return fittest.Mean(s.eps[s.groups[i]])
}

// covOf is Cov[g_i].
func (s *naiveGroups) covOf(i int) la.Matrix[float64] {
	if s.seen(i) {
		return s.cov[s.groups[i]]
	}
	return s.free
}

func (s *naiveGroups) distance() (sum float64) {
	for i, g := range s.g[0] {
		for m := range g {
			h, v := s.prediction(0, m, i)
			sum += (g[m]-h)*(g[m]-h) + s.covOf(i).At(m, m) + v
		}
	}
	return sum
}

func (s *naiveGroups) residualOf(i int) float64 {
	g, y := s.g[0][i], s.y[0][i]
	sum := y*y - 2*y*s.be[0] + s.bb(0)
	for m := range g {
		sum += 2*g[m]*s.eb(m, 0) - 2*y*s.be[1+m]*g[m]
		for n := range g {
			sum += s.ee(m, n) * (g[m]*g[n] + s.covOf(i).At(m, n))
		}
	}
	return sum
}

func (s *naiveGroups) update(name string) {
	P, ups := len(s.omega), fittest.Mean(s.upsilon[0])
	switch name {
	case "υ":
		s.upsilon[0][1] = 1 / (1/s.prior[1][1] + s.distance()/2)
	case "G":
		for c := range s.eps {
			x := la.NewMatrix[float64](P, P)
			for m := range P {
				for n := range P {
					x.Set(m, n, fittest.Mean(s.eps[c])*s.ee(m, n))
				}
				x.Set(m, m, x.At(m, m)+ups)
			}
			s.cov[c], _ = fittest.Inverse(x)
		}
		for m := range P {
			s.free.Set(m, m, 1/ups)
		}
		for i := range s.g[0] {
			right := make([]float64, P)
			for m := range P {
				h, _ := s.prediction(0, m, i)
				right[m] = ups * h
				if s.seen(i) {
					right[m] += s.precision(i) * (s.y[0][i]*s.be[1+m] - s.eb(m, 0))
				}
			}
			s.g[0][i] = fittest.Times(s.covOf(i), right)
		}
	case "ε":
		for c := range s.eps {
			var sum float64
			for i, group := range s.groups {
				if group == c && s.seen(i) {
					sum += s.residualOf(i)
				}
			}
			s.eps[c][1] = 1 / (1/s.prior[4][1] + sum/2)
		}
	case "(b,e)":
		x, right := la.NewMatrix[float64](1+P, 1+P), make([]float64, 1+P)
		add := func(i, j int, v float64) { x.Set(i, j, x.At(i, j)+v) }
		add(0, 0, fittest.Mean(s.gamma[0]))
		for m := range P {
			add(1+m, 1+m, fittest.Mean(s.omega[m]))
		}
		for i, g := range s.g[0] {
			eps := s.precision(i)
			add(0, 0, eps)
			if eps == 0 {
				continue
			}
			right[0] += eps * s.y[0][i]
			for m := range P {
				add(0, 1+m, eps*g[m])
				add(1+m, 0, eps*g[m])
				right[1+m] += eps * s.y[0][i] * g[m]
				for n := range P {
					add(1+m, 1+n, eps*(g[m]*g[n]+s.covOf(i).At(m, n)))
				}
			}
		}
		s.beCov, _ = fittest.Inverse(x)
		s.be = fittest.Times(s.beCov, right)
	default:
		s.naiveTasks.update(name)
	}
}

// bound is the bound of naiveTasks, with the groups' terms of G, υ, ε and y in place of its own.
func (s *naiveGroups) bound() float64 {
	P, N := len(s.omega), float64(len(s.y[0]))
	gammas := func(q, p [2]float64) float64 {
		lp, _ := math.Lgamma(p[0])
		lq, _ := math.Lgamma(q[0])
		return (p[0]-1)*fittest.MeanLog(q) - fittest.Mean(q)/p[1] - lp - p[0]*math.Log(p[1]) + q[0] + math.Log(q[1]) + lq + (1-q[0])*(fittest.MeanLog(q)-math.Log(q[1]))
	}
	sum := gammas(s.upsilon[0], s.prior[1]) + gammas(s.gamma[0], s.prior[2])
	sum += 0.5*N*float64(P)*(fittest.MeanLog(s.upsilon[0])-math.Log(2*math.Pi)) - 0.5*fittest.Mean(s.upsilon[0])*s.distance()
	sum += 0.5*(fittest.MeanLog(s.gamma[0])-math.Log(2*math.Pi)) - 0.5*fittest.Mean(s.gamma[0])*s.bb(0)
	for d, a := range s.a[0] {
		sum += gammas(s.lambda[0][d], s.prior[0])
		sum += 0.5*(fittest.MeanLog(s.lambda[0][d])-math.Log(2*math.Pi)) - 0.5*fittest.Mean(s.lambda[0][d])*(a*a+s.aCov[0].At(d, d))
	}
	entropy := func(cov la.Matrix[float64]) float64 {
		_, logDet := fittest.Inverse(cov)
		return 0.5 * (float64(cov.Rows)*(1+math.Log(2*math.Pi)) + logDet)
	}
	sum += entropy(s.aCov[0]) + entropy(s.beCov)
	for i := range s.y[0] {
		sum += entropy(s.covOf(i))
		if s.seen(i) {
			eps := s.eps[s.groups[i]]
			sum += 0.5*(fittest.MeanLog(eps)-math.Log(2*math.Pi)) - 0.5*fittest.Mean(eps)*s.residualOf(i)
		}
	}
	for c := range s.eps {
		sum += gammas(s.eps[c], s.prior[4])
	}
	for m := range P {
		sum += gammas(s.omega[m], s.prior[3])
		sum += 0.5*(fittest.MeanLog(s.omega[m])-math.Log(2*math.Pi)) - 0.5*fittest.Mean(s.omega[m])*s.ee(m, m)
	}
	return sum
}

// TestNoiseGroupsFollowTheFormulas compares every update, the bound after it and the moments
// at the end with an implementation of plain loops, with and without missing targets.
func TestNoiseGroupsFollowTheFormulas(t *testing.T) {
	prior := [5][2]float64{{0.7, 2}, {1.5, 0.4}, {1, 3}, {0.6, 1.1}, {2, 0.8}}
	for name, c := range map[string]struct {
		size    int
		groups  []int
		missing []int
	}{
		"two groups":      {8, []int{0, 1, 0, 0, 1, 0, 1, 1}, nil},
		"three groups":    {-9, []int{2, 1, 0, 0, 1, 0, 1, 1, 2}, nil},
		"missing targets": {7, []int{0, 1, 1, 0, 1, 0, 2}, []int{1, 3}},
		"an empty group":  {6, []int{0, 2, 0, 2, 2, 0}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			tasks, ks := drawTasks(t, 5, 3, c.size)
			P, D, N := tasks[0].Kernels.Dims()
			start := randomStart(4, 1, P, D, N)
			want := &naiveGroups{
				naiveTasks: newNaiveTasks(ks, tasks, []Start{*start}, prior), groups: c.groups, free: fittest.Identity(P),
				seen: func(i int) bool {
					for _, j := range c.missing {
						if i == j {
							return false
						}
					}
					return true
				},
			}
			y := la.MatrixOf(1, N, append([]float64(nil), tasks[0].Y...))
			for _, i := range c.missing {
				y.Set(0, i, math.NaN())
			}
			for group := range 3 {
				n := 0
				for i, other := range c.groups {
					if other == group && want.seen(i) {
						n++
					}
				}
				want.eps = append(want.eps, [2]float64{prior[4][0] + 0.5*float64(n), prior[4][1]})
				want.cov = append(want.cov, fittest.Identity(P))
			}
			if name == "two groups" {
				want.eps, want.cov = want.eps[:2], want.cov[:2]
			}
			g := func(i int) vi.Gamma { return vi.Gamma{Shape: prior[i][0], Scale: prior[i][1]} }
			r := Regression{Lambda: g(0), Upsilon: g(1), Gamma: g(2), Omega: g(3), Epsilon: g(4), Start: start, Groups: c.groups, Plain: true}
			m, err := r.grouped(tasks[0].Kernels, y)
			require.NoError(t, err)
			last := math.Inf(-1)
			for sweep := range 12 {
				require.NoError(t, m.Sweep(func(name string) {
					want.update(name)
					b := m.Bound()
					require.InDelta(t, want.bound(), b, 1e-9*math.Max(1, math.Abs(b)), "after %s of sweep %d", name, sweep)
					require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g", sweep, name, last, b)
					last = b
				}))
			}
			s := m.Posterior().State()
			testkit.RequireClose(t, "(b,e)", want.be, s.BEMean, 1e-7)
			testkit.RequireClose(t, "a", want.a[0], s.A.Row(0), 1e-7)
			for group, eps := range want.eps {
				assert.InEpsilon(t, fittest.Mean(eps), s.GroupNoise[0][group].Mean(), 1e-8)
			}
		})
	}
}

// TestOneNoiseGroupIsRegression compares several outputs of one group with a regression: their
// plain sweeps, and where their accelerated ones end.
func TestOneNoiseGroupIsRegression(t *testing.T) {
	for _, p := range []problem{problems[0], problems[3]} {
		r, k, y := p.draw(t, 3)
		r.Ascent = vi.Ascent{Tolerance: -1, MaxSweeps: 60}
		regression, err := r.Fit(context.Background(), k, y)
		require.NoError(t, err)
		r.Groups = make([]int, p.N)
		groups, err := r.Fit(context.Background(), k, y)
		require.NoError(t, err)
		require.InEpsilon(t, regression.Record.Bound(), groups.Record.Bound(), 1e-6, p.name)
		r.Groups = nil
		r.Plain = true
		two, err := r.model(k, y)
		require.NoError(t, err)
		r.Groups = make([]int, p.N)
		one, err := r.grouped(k, y)
		require.NoError(t, err)
		for range 12 {
			require.NoError(t, one.Sweep(nil))
			require.NoError(t, two.Sweep(nil))
			require.InEpsilon(t, two.Bound(), one.Bound(), 1e-9, p.name)
		}
		want, err := two.Posterior().Predict(k, vi.PredictOptions{})
		require.NoError(t, err)
		got, err := one.Posterior().Predict(k, vi.PredictOptions{})
		require.NoError(t, err)
		testkit.RequireClose(t, p.name+": mean", want.Mean, got.Mean, 1e-6)
		testkit.RequireClose(t, p.name+": variance", want.Variance, got.Variance, 1e-6)
	}
}

// TestGroupPlaneBoundIsTheBound moves the sample weights of an output along the plane, lets
// λ, Cov[a], G and b follow, and compares the change of the bound.
func TestGroupPlaneBoundIsTheBound(t *testing.T) {
	for _, p := range problems {
		if p.lambda == broken {
			continue // rounding is amplified
		}
		for _, move := range [][2]float64{{0.3, 0}, {1, -0.4}, {-0.2, 1.5}} {
			r, k, y := p.draw(t, 4)
			r.Groups = make([]int, p.N)
			for i := range r.Groups {
				r.Groups[i] = i % 3 % p.N
			}
			m, err := r.grouped(k, y)
			require.NoError(t, err)
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
			h := la.NewMatrix[float64](p.L*p.P, p.N)
			k.Project(nil, m.AMean, h)
			testkit.RequireClose(t, "projections", h, m.H, 1e-10)
		}
	}
}

func TestNoiseGroupsFit(t *testing.T) {
	ctx := context.Background()
	tasks, _ := drawTasks(t, 4, 3, 80)
	rng := rand.New(rand.NewPCG(3, 4))
	y, groups := la.MatrixOf(1, 80, append([]float64(nil), tasks[0].Y...)), make([]int, 80)
	for i := range groups {
		if groups[i] = i % 2; groups[i] == 1 {
			y.Row(0)[i] += 2 * rng.NormFloat64()
		}
	}
	r := Regression{Groups: groups, Seed: 1, Workers: 1}
	fit, err := r.Fit(ctx, tasks[0].Kernels, y)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	s := fit.Posterior.State()
	assert.Greater(t, s.GroupNoise[0][0].Mean(), 10*s.GroupNoise[0][1].Mean(), "the second group is noisier")
	r.Workers = 4
	again, err := r.Fit(ctx, tasks[0].Kernels, y)
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual(s, again.Posterior.State()))
	_, err = NewRegressionPosterior(s)
	require.NoError(t, err)

	m, err := r.grouped(tasks[0].Kernels, y)
	require.NoError(t, err)
	require.NoError(t, m.Sweep(nil))
	last := m.Bound()
	for range 20 {
		require.NoError(t, m.Sweep(func(name string) {
			b := m.Bound()
			require.False(t, testkit.Fell(last, b, m.Roundoff()), "%s: from %.17g to %.17g", name, last, b)
			last = b
		}))
	}

	for want, bad := range map[string]Regression{
		"vi: Groups: 3 entries for 80 samples":            {Groups: make([]int, 3)},
		"vi: Groups[0] is -1: groups are numbered from 0": {Groups: append([]int{-1}, make([]int, 79)...)},
		"vi: From: not with Groups":                       {Groups: groups, From: fit.Posterior},
	} {
		_, err := bad.Fit(ctx, tasks[0].Kernels, y)
		assert.EqualError(t, err, want)
	}
	broken := s
	broken.GroupNoise = [][]vi.Gamma{{s.GroupNoise[0][1], s.GroupNoise[0][0]}}
	_, err = NewRegressionPosterior(broken)
	assert.EqualError(t, err, "vi: regression state: GroupNoise[0]: 2 groups, of which the first has Epsilon[0], are needed for every output")
}
