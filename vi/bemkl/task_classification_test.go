package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// drawLabels returns the tasks of drawTasks with the signs of their targets.
func drawLabels(t testing.TB, seed uint64, P int, sizes ...int) ([]Task, [][]la.Matrix[float64]) {
	tasks, ks := drawTasks(t, seed, P, sizes...)
	for _, task := range tasks {
		for i, v := range task.Y {
			task.Y[i] = math.Copysign(1, v)
		}
	}
	return tasks, ks
}

// drawScoreStarts draws starts for tasks.
func drawScoreStarts(tasks []Task) (starts []ClassificationStart, plain []Start) {
	src := rand.New(rand.NewPCG(9, 9))
	for _, task := range tasks {
		P, D, N := task.Kernels.Dims()
		s := ClassificationStart{Start: Start{A: la.NewMatrix[float64](1, D), G: la.NewMatrix[float64](P, N)}, F: la.NewMatrix[float64](1, N)}
		for _, x := range [][]float64{s.A.Data, s.G.Data, s.F.Data} {
			for i := range x {
				x[i] = src.NormFloat64()
			}
		}
		starts, plain = append(starts, s), append(plain, s.Start)
	}
	return starts, plain
}

// newNaiveScores is naiveTasks for labels.
func newNaiveScores(k [][]la.Matrix[float64], tasks []Task, starts []ClassificationStart, plain []Start, prior [5][2]float64, sigma, margin float64) *naiveTasks {
	s := newNaiveTasks(k, tasks, plain, prior)
	s.margin = margin
	for t, task := range tasks {
		s.labels = append(s.labels, task.Y)
		s.y[t] = append([]float64(nil), starts[t].F.Row(0)...)
		s.upsilon[t], s.epsilon[t] = [2]float64{1, 1 / (sigma * sigma)}, [2]float64{1, 1}
		s.f2, s.fLogZ, s.fAway = append(s.f2, make([]float64, len(task.Y))), append(s.fLogZ, 0), append(s.fAway, 0)
	}
	return s
}

// truncate is q(f): the moments of N(m, 1) where f·label > margin, by their integrals over a
// fine grid.
func (s *naiveTasks) truncate() {
	for t, labels := range s.labels {
		s.fLogZ[t], s.fAway[t] = 0, 0
		for i, label := range labels {
			m := s.be[t]
			for j, g := range s.g[t][i] {
				m += s.be[len(s.y)+j] * g
			}
			// u = label·f − margin > 0, by Simpson's rule.
			const step = 1.0 / 256
			centre := label*m - s.margin
			var mass, first, second float64
			for n := 0; n <= 16384; n++ {
				u, w := float64(n)*step, 4.0
				switch {
				case n == 0 || n == 16384:
					w = 1
				case n%2 == 0:
					w = 2
				}
				w *= step / 3 * math.Exp(-(u-centre)*(u-centre)/2) / math.Sqrt(2*math.Pi)
				mass, first, second = mass+w, first+w*u, second+w*u*u
			}
			u1, u2 := first/mass, second/mass
			s.y[t][i] = label * (s.margin + u1)
			s.f2[t][i] = s.margin*s.margin + 2*s.margin*u1 + u2
			s.fLogZ[t] += math.Log(mass)
			s.fAway[t] += s.f2[t][i] - 2*s.y[t][i]*m + m*m
		}
	}
}

// TestTaskScoresFollowTheFormulas compares every update of the plain order, the bound after
// it and the moments at the end with an implementation of plain loops.
func TestTaskScoresFollowTheFormulas(t *testing.T) {
	plainPriors := [5][2]float64{{1, 1}, {}, {1, 1}, {1, 1}, {}}
	for name, c := range map[string]struct {
		P             int
		sizes         []int
		prior         [5][2]float64
		sigma, margin float64
	}{
		"one task":        {2, []int{6}, plainPriors, 0.5, 0},
		"unequal tasks":   {3, []int{5, 9, 3}, [5][2]float64{{0.7, 2}, {}, {1, 3}, {0.6, 1.1}, {}}, 0.3, 0},
		"a margin":        {2, []int{7, 4}, plainPriors, 1, 0.7},
		"fewer basis":     {2, []int{-8, 4, -7}, plainPriors, 0.1, 0},
		"a single sample": {2, []int{1, 7}, plainPriors, 0.4, 0.1},
		"sparse kernels":  {4, []int{6, 8}, [5][2]float64{{1, 1}, {}, {1, 1}, {1e-3, 1e3}, {}}, 0.5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tasks, ks := drawLabels(t, 5, c.P, c.sizes...)
			starts, plain := drawScoreStarts(tasks)
			g := func(i int) vi.Gamma { return vi.Gamma{Shape: c.prior[i][0], Scale: c.prior[i][1]} }
			m, err := TaskClassification{
				Lambda: g(0), Gamma: g(2), Omega: g(3), SigmaG: c.sigma, Margin: c.margin, Plain: true, Start: starts, Workers: 2,
			}.model(tasks)
			require.NoError(t, err)
			want := newNaiveScores(ks, tasks, starts, plain, c.prior, c.sigma, c.margin)
			last, scored := math.Inf(-1), false // before f is updated there is no q(f)
			for sweep := range 8 {
				require.NoError(t, m.Sweep(func(name string) {
					want.update(name)
					if scored = scored || name == "f"; !scored {
						return
					}
					b := m.Bound()
					require.InDelta(t, want.bound(), b, 1e-8*math.Max(1, math.Abs(b)), "after %s of sweep %d", name, sweep)
					require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g", sweep, name, last, b)
					last = b
				}))
			}
			p := m.Posterior()
			testkit.RequireClose(t, "(b,e)", want.be, p.s.BEMean, 1e-7)
			testkit.RequireClose(t, "Cov[b,e]", want.beCov, p.s.BECov, 1e-7)
			for o, f := range p.s.Tasks {
				testkit.RequireClose(t, "a", want.a[o], f.A, 1e-7)
				testkit.RequireClose(t, "E[f]", want.y[o], m.tasks[o].target.Row(0), 1e-7)
			}
		})
	}
}

// TestTasksOfTheSameSamplesAreClassification compares tasks of the same samples with the rows
// of one classification, in both orders.
func TestTasksOfTheSameSamplesAreClassification(t *testing.T) {
	for _, p := range problems {
		if p.lambda == broken || p.lambda == sparse {
			continue // rounding is amplified
		}
		p.missing = 0
		for _, plain := range []bool{true, false} {
			c, k, y := p.labels(t, 3)
			c.Plain = plain
			start := randomClassificationStart(special.NewRand(rand.NewPCG(1, 1)), y, p.P, p.D, c.Margin)
			c.Start = start
			two, err := c.model(k, y)
			require.NoError(t, err)
			var tasks []Task
			var starts []ClassificationStart
			for o := range p.L {
				tasks = append(tasks, Task{k, y.Row(o)})
				starts = append(starts, ClassificationStart{
					Start: Start{start.A.Slice(o, o+1, 0, p.D), start.G.Slice(o*p.P, (o+1)*p.P, 0, p.N)},
					F:     start.F.Slice(o, o+1, 0, p.N),
				})
			}
			one, err := TaskClassification{
				Lambda: c.Lambda, Gamma: c.Gamma, Omega: c.Omega, Margin: c.Margin, SigmaG: c.SigmaG, Plain: plain, Start: starts, Workers: 2,
			}.model(tasks)
			require.NoError(t, err)
			for range work.FirstSweeps + 6 {
				require.NoError(t, one.Sweep(nil))
				require.NoError(t, two.Sweep(nil))
				require.InEpsilon(t, two.Bound(), one.Bound(), 1e-8, "%s, plain %v", p.name, plain)
			}
			assert.Equal(t, two.collapsed(two.y), one.collapsed())
			want, err := two.Posterior().Predict(k, vi.PredictOptions{})
			require.NoError(t, err)
			for o := range p.L {
				got, err := one.Posterior().Task(o).Predict(k, vi.PredictOptions{})
				require.NoError(t, err)
				testkit.RequireClose(t, p.name+": probability", want.Probability.Row(o), got.Probability.Row(0), 1e-6)
			}
		}
	}
}

// TestTaskScoresNeverFall watches the bound through the accelerated order, sparse priors
// included.
func TestTaskScoresNeverFall(t *testing.T) {
	for name, c := range map[string]TaskClassification{
		"plain priors": {}, "sparse weights": {Lambda: sparse}, "sparse kernels": {Omega: sparse}, "a margin": {Margin: 1, SigmaG: 1},
	} {
		t.Run(name, func(t *testing.T) {
			tasks, _ := drawLabels(t, 2, 3, 12, 5, -9)
			c.Workers = 2
			m, err := c.model(tasks)
			require.NoError(t, err)
			checkNeverFalls(t, m)
		})
	}
}

func TestTaskClassificationFit(t *testing.T) {
	ctx := context.Background()
	tasks, _ := drawLabels(t, 4, 3, 25, 30, -20)
	fit, err := TaskClassification{Seed: 1, Workers: 1}.Fit(ctx, tasks)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	assert.Empty(t, fit.Collapsed)
	again, err := TaskClassification{Seed: 1, Workers: 5}.Fit(ctx, tasks)
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual(fit.Posterior.State(), again.Posterior.State()), "other bits with five workers")

	restored, err := NewTaskClassificationPosterior(fit.Posterior.State())
	require.NoError(t, err)
	for o, task := range tasks {
		want, err := fit.Posterior.Task(o).Predict(task.Kernels, vi.PredictOptions{})
		require.NoError(t, err)
		got, err := restored.Task(o).Predict(task.Kernels, vi.PredictOptions{Workers: 3})
		require.NoError(t, err)
		assert.Equal(t, want, got)
		right := 0
		for i, y := range task.Y {
			if y*want.Mean.At(0, i) > 0 {
				right++
			}
		}
		assert.Greater(t, float64(right), 0.8*float64(len(task.Y)))
	}
	T, P := restored.Dims()
	assert.Equal(t, []int{3, 3}, []int{T, P})
	mean, sd := restored.KernelWeights()
	assert.Equal(t, fit.Posterior.State().BEMean[3:], mean)
	assert.Len(t, sd, 3)

	bad := fit.Posterior.State()
	bad.BEMean = bad.BEMean[:4]
	_, err = NewTaskClassificationPosterior(bad)
	assert.EqualError(t, err, "vi: task classification state: BEMean has 4 entries and BECov is 6×6 for 3 tasks and 3 kernels")
	bad = fit.Posterior.State()
	bad.SigmaG = -1
	_, err = NewTaskClassificationPosterior(bad)
	assert.ErrorContains(t, err, "task 0: vi: classification state: Margin 0, SigmaG -1")
}

// TestTasksGoOnFromPosteriors resumes fits of tasks, of targets and of labels.
func TestTasksGoOnFromPosteriors(t *testing.T) {
	ctx := context.Background()
	check := func(name string, before, after vi.Record) {
		t.Helper()
		assert.Equal(t, vi.Converged, after.Reason, name)
		assert.Greater(t, after.Trace[0], before.Trace[0], name)
		assert.LessOrEqual(t, len(after.Trace), max(11, len(before.Trace)/2), name)
		assert.Greater(t, after.Bound(), before.Bound()-1e-5*math.Abs(before.Bound()), name)
	}
	ascent := vi.Ascent{Tolerance: 1e-5} // whose rule says how soon it stops
	tasks, _ := drawTasks(t, 4, 3, 25, 30, -20)
	r := TaskRegression{Ascent: ascent}
	first, err := r.Fit(ctx, tasks)
	require.NoError(t, err)
	r.From = first.Posterior
	second, err := r.Fit(ctx, tasks)
	require.NoError(t, err)
	check("targets", first.Record, second.Record)
	_, err = r.Fit(ctx, tasks[:2])
	assert.EqualError(t, err, "vi: From: 3 tasks where there are 2")
	others, _ := drawTasks(t, 4, 3, 25, 31, -20)
	_, err = r.Fit(ctx, others)
	assert.EqualError(t, err, "task 1: vi: From: 1 outputs, 3 kernels, 30 basis points where there are 1, 3 and 31")

	labelled, _ := drawLabels(t, 4, 3, 25, 30, -20)
	c := TaskClassification{Ascent: ascent}
	one, err := c.Fit(ctx, labelled)
	require.NoError(t, err)
	c.From = one.Posterior
	two, err := c.Fit(ctx, labelled)
	require.NoError(t, err)
	check("labels", one.Record, two.Record)
	_, err = c.Fit(ctx, labelled[:2])
	assert.EqualError(t, err, "vi: From: 3 tasks where there are 2")
}

func TestTaskClassificationRefusals(t *testing.T) {
	ctx := context.Background()
	good, _ := drawLabels(t, 4, 2, 5, 6)
	bad, _ := drawTasks(t, 4, 2, 5, 6)
	bad[0].Y = good[0].Y
	bad[1].Y = []float64{1, -1, 0, 1, 1, -1}
	_, err := TaskClassification{}.Fit(ctx, bad)
	assert.EqualError(t, err, "vi: tasks[1]: y[2] is 0: labels are −1 and +1")
	_, err = TaskClassification{}.Fit(ctx, nil)
	assert.EqualError(t, err, "vi: tasks: none given")
	_, err = TaskClassification{Margin: -1}.Fit(ctx, good)
	assert.EqualError(t, err, "vi: Margin is -1: it must be at least 0 and finite")
	_, err = TaskClassification{Start: make([]ClassificationStart, 1)}.Fit(ctx, good)
	assert.EqualError(t, err, "vi: Start: 1 entries for 2 tasks")
	_, err = TaskClassification{Start: make([]ClassificationStart, 2)}.Fit(ctx, good)
	assert.ErrorContains(t, err, "Start[0]: ")
	_, err = TaskClassification{Omega: vi.Gamma{Shape: -1, Scale: 1}}.Fit(ctx, good)
	assert.ErrorContains(t, err, "Omega")
}
