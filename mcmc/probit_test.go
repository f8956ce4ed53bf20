package mcmc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// probitPoints are points in two views; the first keeps the classes
// apart, as distances for Gaussian kernels.
func probitPoints(seed uint64, C, N, T int) (train, test *ExponentialKernels, labels, truth []int) {
	r := rand.New(newStream(seed, -1))
	points := make([][2][2]float64, N+T)
	classes := make([]int, N+T)
	for i := range points {
		c := i % C
		classes[i] = c
		angle := 2 * math.Pi * float64(c) / float64(C)
		points[i][0] = [2]float64{1.5*math.Cos(angle) + r.NormFloat64(), 1.5*math.Sin(angle) + r.NormFloat64()}
		points[i][1] = [2]float64{r.NormFloat64(), r.NormFloat64()}
	}
	distances := func(first, n int) *ExponentialKernels {
		var d [][]la.Matrix[float64]
		for v := range 2 {
			m := la.NewMatrix[float64](N, n)
			for i := range N {
				for j := range n {
					a, b := points[i][v], points[first+j][v]
					m.Set(i, j, (a[0]-b[0])*(a[0]-b[0])+(a[1]-b[1])*(a[1]-b[1]))
				}
			}
			d = append(d, []la.Matrix[float64]{m})
		}
		k, err := NewExponentialKernels(d)
		if err != nil {
			panic(err)
		}
		return k
	}
	return distances(0, N), distances(N, T), classes[:N], classes[N:]
}

// at returns the kernels at one value of all parameters.
func (k *ExponentialKernels) at(theta float64) *vi.Dense {
	var m []la.Matrix[float64]
	for p := range k.d {
		out := la.NewMatrix[float64](k.rows, k.cols)
		t := make([]float64, len(k.d[p]))
		for i := range t {
			t[i] = theta
		}
		k.Kernel(nil, p, t, out)
		m = append(m, out)
	}
	d, err := vi.NewDense(m...)
	if err != nil {
		panic(err)
	}
	return d
}

var probitRules = []struct {
	name       string
	rule       probit.Rule
	parametric bool
	change     func(*Probit)
}{
	{"FixSum", probit.RuleFixSum, false, func(*Probit) {}},
	{"FixProd", probit.RuleFixProd, false, func(p *Probit) { p.Beta = []float64{0.5, 2} }},
	{"WSum", probit.RuleWSum, false, func(*Probit) {}},
	{"Bin", probit.RuleBin, false, func(*Probit) {}},
	{"Bin, not empty", probit.RuleBin, false, func(p *Probit) { p.NotEmpty = true; p.On = []float64{0.3, 0.6} }},
	{"WProd", probit.RuleWProd, false, func(*Probit) {}},
	{"WSum, ridge", probit.RuleWSum, false, func(p *Probit) { p.Ridge = 0.7 }},
	{"FixSum, parameters", probit.RuleFixSum, true, func(*Probit) {}},
	{"WSum, parameters, ridge", probit.RuleWSum, true, func(p *Probit) { p.Ridge = 0.7 }},
	{"Bin, parameters", probit.RuleBin, true, func(p *Probit) { p.NotEmpty = true }},
	{"WProd, parameters", probit.RuleWProd, true, func(*Probit) {}},
}

func TestProbitRuns(t *testing.T) {
	train, _, labels, _ := probitPoints(1, 3, 12, 1)
	for i, c := range probitRules {
		if testing.Short() && i%3 != 2 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			testRuns(t, func(ctx context.Context, s Sampling) (*Draws, error) {
				p := Probit{Rule: c.rule, Sampling: s}
				c.change(&p)
				var d *ProbitDraws
				var err error
				if c.parametric {
					d, err = p.SampleParametric(ctx, train, labels)
				} else {
					d, err = p.Sample(ctx, train.at(0.5), labels)
				}
				if d == nil {
					return nil, err
				}
				return d.Draws, err
			})
		})
	}
}

// jointProbit returns the two simulations of a kernel machine. After every sweep labels
// and Y are drawn anew given W and the kernel. The test functions are computed before
// that, so that Y belongs to the labels that the sweep saw.
func jointProbit(p, wrong Probit, k vi.ParametricKernels, sweep func(s *probitSampler, r random, burnIn bool) error, seed uint64) (independent, successive simulation) {
	labels := make([]int, 5)
	for n := range labels {
		labels[n] = n % 3
	}
	build := func(p Probit) *probitSampler {
		m, err := p.problem(k, append([]int(nil), labels...))
		if err != nil {
			panic(err)
		}
		return newProbitSampler(m, &la.Workspace{Workers: 1})
	}
	prior := func(s *probitSampler, r random) {
		s.drawWeights(r)
		if err := s.renew(); err != nil {
			panic(err)
		}
		for c, g := range s.probitProblem.alpha {
			for d := range s.D {
				a := g.Scale * math.Exp(logGamma(r, g.Shape))
				s.alpha.Set(c, d, a)
				s.w.Set(c, d, r.NormFloat64()/math.Sqrt(a))
			}
		}
		s.project()
	}
	observe := func(s *probitSampler, r random) {
		for n := range s.N {
			best := 0
			for c := range s.C {
				s.y.Set(c, n, s.f.At(c, n)+r.NormFloat64())
				if s.y.At(c, n) > s.y.At(best, n) {
					best = c
				}
			}
			s.labels[n] = best
		}
	}
	one, two := build(p), build(wrong)
	r1, r2 := rand.New(newStream(seed, 1)), rand.New(newStream(seed, 2))
	started := false
	return func() []float64 {
			prior(one, r1)
			observe(one, r1)
			return one.functions()
		}, func() []float64 {
			step := func(burnIn bool) {
				observe(two, r2)
				if err := sweep(two, r2, burnIn); err != nil {
					panic(err)
				}
			}
			if !started {
				started = true
				prior(two, r2)
				for range 500 {
					step(true)
				}
			}
			step(false)
			return two.functions()
		}
}

// functions returns test functions of the state: bounded ones, and some whose moments of
// low order are finite under the prior Gamma(3, 1) of α.
func (s *probitSampler) functions() []float64 {
	var f []float64
	bounded := func(x ...float64) {
		for _, v := range x {
			f = append(f, v/(1+v))
		}
	}
	counts := make([]float64, s.C)
	var own, all float64
	for n, t := range s.labels {
		counts[t]++
		own += s.y.At(t, n) - s.f.At(t, n)
	}
	for c := range s.C {
		y, w, a := s.y.Row(c), s.w.Row(c), s.alpha.Row(c)
		f = append(f, counts[c], math.Tanh(y[0]), math.Tanh(w[1]), math.Tanh(y[c]*w[c]))
		bounded(la.SumSq(y), la.SumSq(w), a[0], la.SumSq(s.f.Row(c)))
		all += la.Dot(y, s.f.Row(c)) / (1 + la.SumSq(y))
	}
	f = append(f, own, all, s.y.At(0, 2)-s.y.At(s.labels[2], 2))
	if s.rule.Learned() {
		bounded(s.beta...)
		f = append(f, s.beta[0]*s.beta[1]/(1+s.beta[0]*s.beta[1]))
	}
	switch s.rule {
	case probit.RuleWSum:
		bounded(s.rho...)
	case probit.RuleWProd:
		bounded(s.pi...)
		bounded(s.chi...)
	}
	bounded(s.theta...)
	return f
}

var jointPriors = Probit{Alpha: vi.Gamma{Shape: 3, Scale: 1}, Rho: vi.Gamma{Shape: 2, Scale: 1}, Theta: vi.Gamma{Shape: 2, Scale: 0.5}}

func jointKernels(parametric bool) vi.ParametricKernels {
	train, _, _, _ := probitPoints(2, 3, 5, 1)
	if parametric {
		return train
	}
	return fixedKernels{train.at(0.3)}
}

func TestProbitJoint(t *testing.T) {
	testkit.NotShort(t)
	for i, c := range probitRules {
		t.Run(c.name, func(t *testing.T) {
			p := jointPriors
			p.Rule = c.rule
			c.change(&p)
			independent, successive := jointProbit(p, p, jointKernels(c.parametric), (*probitSampler).sweep, uint64(i))
			assertJoint(t, 2000, independent, successive)
		})
	}
}

// faultySweep is a sweep of a sampler that does something wrong.
type faultySweep = func(s *probitSampler, r random, burnIn bool) error

// rightSweep is the sampler's own sweep, for faults in the priors.
var rightSweep faultySweep = (*probitSampler).sweep

// thenWrongly returns the sweep followed by a wrong step.
func thenWrongly(step func(s *probitSampler, r random)) faultySweep {
	return func(s *probitSampler, r random, burnIn bool) error {
		if err := s.sweep(r, burnIn); err != nil {
			return err
		}
		step(s, r)
		return nil
	}
}

// probitFaults are faults that have been made: in this package, in the paper as printed, or nearly.
var probitFaults = []struct {
	name  string
	rule  probit.Rule
	theta bool
	wrong func(*Probit) // changes the prior that the sweeps take
	sweep faultySweep
}{
	{"precisions without the half of their own weight", probit.RuleFixSum, false, nil, thenWrongly(func(s *probitSampler, r random) {
		for c, prior := range s.probitProblem.alpha {
			for d, w := range s.w.Row(c) {
				s.alpha.Set(c, d, math.Exp(logGamma(r, prior.Shape))/(1/prior.Scale+0.5*w*w))
			}
		}
	})},
	{"regressors at their means", probit.RuleFixSum, false, nil, func(s *probitSampler, r random, _ bool) error {
		if err := s.sweepY(r); err != nil {
			return err
		}
		if err := s.sweepW(&replay{normals: make([]float64, s.C*s.D)}); err != nil {
			return err
		}
		s.sweepAlpha(r)
		return nil
	}},
	{"Y without its labels", probit.RuleFixSum, false, nil, thenWrongly(func(s *probitSampler, r random) {
		for c := range s.C {
			for n := range s.N {
				s.y.Set(c, n, s.f.At(c, n)+r.NormFloat64())
			}
		}
	})},
	{"a sum's weights without the Jacobian", probit.RuleWSum, false, nil, func(s *probitSampler, r random, burnIn bool) error {
		if err := s.sweepY(r); err != nil {
			return err
		}
		if err := s.sweepW(r); err != nil {
			return err
		}
		s.sweepAlpha(r)
		for p := range s.rho {
			s.rho[p]--
		}
		s.sweepSimplex(r, burnIn)
		for p := range s.rho {
			s.rho[p]++
		}
		s.sweepConcentration(r, burnIn)
		s.recombine()
		s.project()
		return nil
	}},
	{"a trajectory by the prior of others", probit.RuleFixSum, false, nil, thenWrongly(func(s *probitSampler, r random) {
		prior := s.probitProblem.alpha
		s.probitProblem.alpha = nil
		for _, g := range prior {
			s.probitProblem.alpha = append(s.probitProblem.alpha, vi.Gamma{Shape: 3 * g.Shape, Scale: g.Scale})
		}
		s.sweepTrajectory(r, s.labelled(s.f), true)
		s.probitProblem.alpha = prior
	})},
	{"a trajectory of ρ by another prior", probit.RuleWSum, false, nil, thenWrongly(func(s *probitSampler, r random) {
		prior := s.probitProblem.rho
		s.probitProblem.rho = vi.Gamma{Shape: 6, Scale: 1}
		for range 3 {
			s.sweepTrajectory(r, s.labelled(s.f), true)
		}
		s.recombine()
		s.probitProblem.rho = prior
	})},
	{"sizes that cost no precision", probit.RuleFixSum, false, nil, thenWrongly(func(s *probitSampler, r random) {
		prior := s.probitProblem.alpha
		s.probitProblem.alpha = nil
		for _, g := range prior {
			s.probitProblem.alpha = append(s.probitProblem.alpha, vi.Gamma{Shape: 3 * g.Shape, Scale: g.Scale})
		}
		s.sweepSizes(r, s.labelled(s.f), true)
		s.probitProblem.alpha = prior
	})},
	{"switches by the prior of others", probit.RuleBin, false, func(p *Probit) { p.On = []float64{0.7, 0.7} }, rightSweep},
	{"switches that keep W", probit.RuleBin, false, nil, func(s *probitSampler, r random, _ bool) error {
		if err := s.sweepY(r); err != nil {
			return err
		}
		w := s.w.Clone()
		if err := s.sweepSwitches(r); err != nil {
			return err
		}
		s.w.CopyFrom(w)
		s.project()
		s.sweepAlpha(r)
		return nil
	}},
	{"rates of the products' shapes", probit.RuleWProd, false, func(p *Probit) { p.Kappa = 2 }, rightSweep},
	{"parameters against powers by another prior of these", probit.RuleWProd, true, nil, thenWrongly(func(s *probitSampler, r random) {
		kappa := s.kappa
		s.kappa *= 1e6
		for range 10 {
			if _, err := s.exchange(r, &s.exchanges[0], s.labelled(s.f), 0, 0, s.counts[0], true); err != nil {
				panic(err)
			}
		}
		s.kappa = kappa
		s.recombine()
		s.drawShapes(r)
		s.drawRates(r)
	})},
	{"parameters by another prior", probit.RuleFixSum, true, func(p *Probit) { p.Theta = vi.Gamma{Shape: 3, Scale: 0.5} }, rightSweep},
}

// TestProbitJointSeesFaults demands that the test of joint distributions finds every fault.
func TestProbitJointSeesFaults(t *testing.T) {
	testkit.NotShort(t)
	for _, c := range probitFaults {
		t.Run(c.name, func(t *testing.T) {
			p := jointPriors
			p.Rule = c.rule
			wrong := p
			if c.wrong != nil {
				c.wrong(&wrong)
			}
			independent, successive := jointProbit(p, wrong, jointKernels(c.theta), c.sweep, 1)
			assertNotJoint(t, 2000, independent, successive)
		})
	}
}

func TestProbitErrors(t *testing.T) {
	train, test, labels, _ := probitPoints(1, 3, 12, 2)
	k := train.at(0.5)
	for want, run := range map[string]func() error{
		"mcmc: labels: 11 values for 12 samples": func() error {
			_, err := Probit{}.Sample(t.Context(), k, labels[:11])
			return err
		},
		"mcmc: labels: all samples are of one class": func() error {
			_, err := Probit{}.Sample(t.Context(), k, make([]int, 12))
			return err
		},
		"mcmc: labels: no sample is of class 1": func() error {
			_, err := Probit{}.Sample(t.Context(), k, []int{0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2})
			return err
		},
		"mcmc: kernels: nil": func() error {
			_, err := Probit{}.Sample(t.Context(), nil, labels)
			return err
		},
		"mcmc: Beta is given but WSum samples it": func() error {
			_, err := Probit{Rule: probit.RuleWSum, Beta: []float64{0.5, 0.5}}.Sample(t.Context(), k, labels)
			return err
		},
		"mcmc: On[1] is 1": func() error {
			_, err := Probit{Rule: probit.RuleBin, On: []float64{0.5, 1}}.Sample(t.Context(), k, labels)
			return err
		},
		"mcmc: the prior of Alpha is Gamma(-1, 1): shape and scale must be positive and finite": func() error {
			_, err := Probit{Alpha: vi.Gamma{Shape: -1, Scale: 1}}.Sample(t.Context(), k, labels)
			return err
		},
		"mcmc: Ridge is given but the kernels are 12×2": func() error {
			_, err := Probit{Ridge: 1}.Sample(t.Context(), test.at(1), labels[:2])
			return err
		},
		"mcmc: distances of kernel 0, 0: entry (0, 0) is -1": func() error {
			_, err := NewExponentialKernels([][]la.Matrix[float64]{{la.MatrixOf(1, 1, []float64{-1})}})
			return err
		},
		"mcmc: kernels: 2 of 2 basis points where 2 of 12 are needed": func() error {
			d, err := Probit{Sampling: Sampling{Draws: 2}}.Sample(t.Context(), k, labels)
			require.NoError(t, err)
			other, _, _, _ := probitPoints(1, 2, 2, 1)
			_, err = d.Predict(t.Context(), other.at(1), vi.PredictOptions{})
			return err
		},
	} {
		assert.EqualError(t, run(), want)
	}
}

// Chains whose kernel parameters are sampled predict the held-out labels, the same for
// every number of workers.
func TestProbitPredict(t *testing.T) {
	train, test, labels, truth := probitPoints(3, 3, 60, 90)
	s := Sampling{Chains: 2, Draws: 40, BurnIn: 40, Thin: 1, Seed: 3}
	var first *probit.Prediction
	for _, rule := range []probit.Rule{probit.RuleFixSum, probit.RuleWSum, probit.RuleWProd} {
		if testing.Short() && rule != probit.RuleWSum {
			continue
		}
		t.Run(fmt.Sprint(rule), func(t *testing.T) {
			d, err := Probit{Rule: rule, Sampling: s}.SampleParametric(t.Context(), train, labels)
			require.NoError(t, err)
			for _, workers := range []int{1, 3} {
				p, err := d.Thin(5).PredictParametric(t.Context(), test, vi.PredictOptions{Workers: workers})
				require.NoError(t, err)
				right := 0
				for i, c := range truth {
					row := p.Probability.Row(i)
					assert.InDelta(t, 1, row[0]+row[1]+row[2], 1e-12)
					if row[c] == max(row[0], row[1], row[2]) {
						right++
					}
				}
				assert.Greater(t, right, 55, "of 90")
				if workers == 1 {
					first = p
				} else {
					assert.Equal(t, first, p)
				}
			}
		})
	}
}

// A state gives back the same draws, and says what does not fit.
func TestProbitState(t *testing.T) {
	train, test, labels, _ := probitPoints(3, 3, 12, 4)
	d, err := Probit{Rule: probit.RuleWSum, Sampling: Sampling{Chains: 2, Draws: 30}}.SampleParametric(t.Context(), train, labels)
	require.NoError(t, err)
	again, err := NewProbitDraws(d.State())
	require.NoError(t, err)
	assert.Equal(t, probit.RuleWSum, again.Rule())
	want, err := d.PredictParametric(t.Context(), test, vi.PredictOptions{})
	require.NoError(t, err)
	got, err := again.PredictParametric(t.Context(), test, vi.PredictOptions{})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	only, err := again.PredictParametric(t.Context(), test, vi.PredictOptions{MeanOnly: true})
	require.NoError(t, err)
	assert.Equal(t, want.Mean, only.Mean)
	assert.Zero(t, only.Probability.Rows)

	mean, sd := d.KernelWeights()
	assert.InDelta(t, 1, mean[0]+mean[1], 1e-12)
	assert.InDelta(t, sd[0], sd[1], 1e-12)
	cov, err := d.WeightCovariance(nil, 1, []int{0, 5})
	require.NoError(t, err)
	assert.InDelta(t, math.Pow(d.Summary("W")[12+5].SD, 2), cov.At(1, 1), 1e-12)
	assert.Equal(t, cov.At(0, 1), cov.At(1, 0))

	for want, change := range map[string]func(s *ProbitState){
		"is not a combination rule": func(s *ProbitState) { s.Rule = -1 },
		"1 weights for 2 kernels":   func(s *ProbitState) { s.Beta = s.Beta[:1] },
		"1 classes":                 func(s *ProbitState) { s.Classes = 1 },
		"no chains":                 func(s *ProbitState) { s.Chains = nil },
		"numbers in draws of":       func(s *ProbitState) { s.Chains = [][]float64{s.Chains[0], s.Chains[1][:7]} },
		"has -1 parameters":         func(s *ProbitState) { s.Parameters = []int{-1, 1} },
		"draw 0 has NaN":            func(s *ProbitState) { s.Chains = [][]float64{append([]float64{math.NaN()}, s.Chains[0][1:]...)} },
	} {
		s := d.State()
		change(&s)
		_, err := NewProbitDraws(s)
		assert.ErrorContains(t, err, want)
	}
}

// Trajectories follow the slope of the density that accepts them, to the accuracy of the
// quadrature that it is found with.
func TestTrajectorySlope(t *testing.T) {
	train, _, labels, _ := probitPoints(3, 3, 12, 4)
	for _, c := range []Probit{
		{Rule: probit.RuleFixSum, ClassAlpha: []vi.Gamma{{Shape: 2, Scale: 3}, {Shape: 1, Scale: 1}, {Shape: 3, Scale: 0.2}}},
		{Rule: probit.RuleWSum, Ridge: 0.7, Rho: vi.Gamma{Shape: 2, Scale: 3}},
		{Rule: probit.RuleBin},
		{Rule: probit.RuleWProd, Ridge: 0.7, Kappa: 2, Xi: 0.7},
	} {
		t.Run(c.Rule.String(), func(t *testing.T) {
			m, err := c.problem(fixedKernels{train.at(0.5)}, labels)
			require.NoError(t, err)
			s := newProbitSampler(m, &la.Workspace{Workers: 1})
			r := rand.New(newStream(1, 0))
			require.NoError(t, s.start(r))
			s.sweepTrajectory(r, s.labelled(s.f), true) // fills in x
			s.place()
			s.findSlope()
			at := func(i int, v float64) float64 {
				s.path.x[i] = v
				s.place()
				return s.labelled(s.trial.f) + s.logTrajectoryPrior()
			}
			slope := append([]float64(nil), s.path.slope...)
			for i, x := range s.path.x {
				const h = 1e-4
				want := (at(i, x+h) - at(i, x-h)) / (2 * h)
				at(i, x)
				assert.InDelta(t, want, slope[i], 2e-3*max(1, math.Abs(want)), "coordinate %d of %d", i, len(slope))
			}
		})
	}
}

// Where probabilities are no numbers a trajectory is not accepted and the state stays.
func TestTrajectoryEnds(t *testing.T) {
	train, _, labels, _ := probitPoints(3, 3, 12, 4)
	m, err := Probit{}.problem(fixedKernels{train.at(0.5)}, labels)
	require.NoError(t, err)
	s := newProbitSampler(m, &la.Workspace{Workers: 1})
	r := rand.New(newStream(1, 0))
	require.NoError(t, s.start(r))
	w, f := s.w.Clone(), s.f.Clone()
	for _, now := range []float64{math.Inf(1), math.NaN()} {
		s.sweepTrajectory(r, now, false)
		assert.Equal(t, w, s.w)
		assert.Equal(t, f, s.f)
	}
	s.leap.size = 1e200
	s.sweepTrajectory(r, s.labelled(s.f), false)
	assert.Equal(t, w, s.w)
}

// A walk can propose parameters and weights beyond the numbers. It refuses them, since their probability is 0.
func TestProbitThetaBeyondNumbers(t *testing.T) {
	train, _, labels, _ := probitPoints(3, 3, 12, 4)
	m, err := Probit{Rule: probit.RuleWProd}.problem(train, labels)
	require.NoError(t, err)
	s := newProbitSampler(m, &la.Workspace{Workers: 1})
	r := rand.New(newStream(1, 0))
	require.NoError(t, s.start(r))
	for i := range s.kernels {
		s.kernels[i].size, s.exchanges[i].size = 1e6, 1e6
	}
	theta, beta, kernel := slices.Clone(s.theta), slices.Clone(s.beta), s.kernel.Clone()
	require.NoError(t, s.sweepTheta(r, false))
	assert.Equal(t, theta, s.theta)
	assert.Equal(t, beta, s.beta)
	assert.Equal(t, kernel, s.kernel)
	for _, w := range append(s.kernels, s.exchanges...) {
		assert.Equal(t, float64(thetas), w.tried)
	}
}

func BenchmarkProbitSweep(b *testing.B) {
	for _, c := range []struct {
		name    string
		rule    probit.Rule
		N, C    int
		sources int
	}{{"FixSum", probit.RuleFixSum, 200, 10, 2}, {"WSum", probit.RuleWSum, 200, 10, 2}, {"Bin", probit.RuleBin, 200, 10, 2}, {"WProd", probit.RuleWProd, 200, 10, 2}} {
		b.Run(c.name, func(b *testing.B) {
			train, _, labels, _ := probitPoints(1, c.C, c.N, 1)
			m, err := Probit{Rule: c.rule}.problem(fixedKernels{train.at(0.5)}, labels)
			require.NoError(b, err)
			s := newProbitSampler(m, &la.Workspace{Workers: 1})
			r := rand.New(newStream(1, 0))
			require.NoError(b, s.start(r))
			for b.Loop() {
				if err := s.sweep(r, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDrawCone(b *testing.B) {
	for _, C := range []int{3, 10} {
		for _, violated := range []float64{0, 8} {
			b.Run(fmt.Sprintf("C=%d/violated=%g", C, violated), func(b *testing.B) {
				r := rand.New(newStream(1, 0))
				var cone special.Cone
				m, y := make([]float64, C), make([]float64, C)
				for c := range m {
					m[c] = r.NormFloat64()
				}
				m[1] += violated
				for b.Loop() {
					_ = drawCone(r, &cone, 0, m, y)
				}
			})
		}
	}
}

// Blocks of features that are stacked give the same draws as the blocks as dense matrices,
// padded with rows of zeros.
func TestProbitOfStackedFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var blocks, padded []la.Matrix[float64]
	const N = 20
	rows := []int{1, 3}
	for p, n := range rows {
		f, full := la.NewMatrix[float64](n, N), la.NewMatrix[float64](4, N)
		for d := range n {
			for i := range N {
				v := r.NormFloat64()
				f.Set(d, i, v)
				full.Set(p+d, i, v)
			}
		}
		blocks, padded = append(blocks, f), append(padded, full)
	}
	labels := make([]int, N)
	for i := range labels {
		if blocks[0].At(0, i) > 0 {
			labels[i] = 1
		}
	}
	stacked, err := vi.NewStacked(blocks...)
	require.NoError(t, err)
	dense, err := vi.NewDense(padded...)
	require.NoError(t, err)
	p := Probit{Rule: probit.RuleWSum, Sampling: Sampling{Chains: 2, Draws: 40, BurnIn: 40}}
	want, err := p.Sample(t.Context(), dense, labels)
	require.NoError(t, err)
	got, err := p.Sample(t.Context(), stacked, labels)
	require.NoError(t, err)
	assert.Equal(t, want.State(), got.State())
}

func TestProductsAreBounded(t *testing.T) {
	k, err := vi.NewDense(la.MatrixOf(2, 2, []float64{1, 0.5, 3, 1}))
	require.NoError(t, err)
	_, err = Probit{Rule: probit.RuleWProd}.Sample(t.Context(), k, []int{0, 1})
	assert.EqualError(t, err, "vi: kernel 0: entry (1, 0) is 3: WProd needs entries of at most 1, as of kernels with unit diagonals")
}
