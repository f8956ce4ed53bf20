package bemkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// TaskRegression is multiple kernel learning for T regressions, the tasks, each with
// samples of its own, that share the kernel weights:
//
//	λ_{t,d} ~ Gamma(Lambda)    a_{t,d} | λ     ~ N(0, 1/λ_{t,d})
//	υ_t     ~ Gamma(Upsilon)   g_{t,m,i} | a,υ ~ N(a_tᵀ·k_{t,m,i}, 1/υ_t)
//	γ_t     ~ Gamma(Gamma)     b_t | γ         ~ N(0, 1/γ_t)
//	ω_m     ~ Gamma(Omega)     e_m | ω         ~ N(0, 1/ω_m)
//	ε_t     ~ Gamma(Epsilon)   y_{t,i} | …     ~ N(eᵀ·g_{t,i} + b_t, 1/ε_t)
//
// Every task has the same P kernels, of its own samples. A sweep costs a factorisation of
// the order of each task's basis points. With the same samples in all tasks this is
// [Regression]. The posterior is approximated by q(λ)q(υ)q(a)q(G)q(γ)q(ω)q(ε)q(b,e). The
// zero value is ready: Gamma(1, 1) priors.
//
// Source: J. C. Costello et al., "A community effort to assess and improve drug sensitivity
// prediction algorithms", Nature Biotechnology 32 (2014), 1202–1212, whose best performing
// method it is; derived in docs/tasks.md.
type TaskRegression struct {
	Lambda, Upsilon, Gamma, Omega, Epsilon vi.Gamma // priors

	Ascent vi.Ascent

	// Plain leaves out the steps along the posterior's ridges; see
	// docs/acceleration.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Seed selects the random start; it is ignored if Start is given.
	Seed uint64

	// Start, if not nil, is where the ascent starts from: of each task A is 1×D and G is P×N.
	Start []Start
}

// Task is a regression of its own samples.
type Task struct {
	Kernels vi.Kernels // P of D×N
	Y       []float64  // N, none missing
}

// TaskFit is a fitted [TaskRegression].
type TaskFit struct {
	Posterior *TaskPosterior
	Record    vi.Record

	// Collapsed lists the tasks, ascending, whose function is constant on their training
	// samples, as in [RegressionFit].
	Collapsed []int
}

// Fit approximates the posterior given the tasks. Errors are those of [Regression.Fit].
func (r TaskRegression) Fit(ctx context.Context, tasks []Task) (*TaskFit, error) {
	m, err := r.model(tasks)
	if err != nil {
		return nil, err
	}
	rec, err := r.Ascent.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return nil, err
	}
	return &TaskFit{Posterior: m.posterior(), Record: rec, Collapsed: m.collapsed()}, err
}

// taskRegression is the state of a fit.
type taskRegression struct {
	work.Stop
	*commonWeights
	tasks   []*taskLayer
	priors  RegressionPriors
	updates schedule

	// The crew runs a task for each of the tasks: do, or on their planes doPlane. The
	// functions that it calls are made once, so that sweeps do not allocate.
	crew      *work.Crew[int]
	do        func(*taskLayer) error
	doPlane   func(*plane) error
	one       func(int, int) error
	onePlane  func(int, int) error
	ofWeights work.Memory
}

// taskLayer is what a task has of its own. Its latent layer has one row.
type taskLayer struct {
	*latent
	y        la.Matrix[float64] // 1×N
	read     *readout
	gamma    conjugate.Gammas   // the task's own of commonWeights
	upsilonQ conjugate.Gammas   // 1
	epsilon  conjugate.Gammas   // 1
	gTarget  la.Matrix[float64] // 1×P, Σ_i E[g]·y

	upsilonMean, epsilonMean []float64
}

// model checks the arguments and returns the initial state.
func (r TaskRegression) model(tasks []Task) (*taskRegression, error) {
	pr := RegressionPriors{conjugate.Or1(r.Lambda), conjugate.Or1(r.Upsilon), conjugate.Or1(r.Gamma), conjugate.Or1(r.Omega), conjugate.Or1(r.Epsilon)}
	if err := pr.validate(); err != nil {
		return nil, err
	}
	P, err := checkTasks(tasks)
	if err != nil {
		return nil, err
	}
	T := len(tasks)
	if r.Start != nil && len(r.Start) != T {
		return nil, fmt.Errorf("vi: Start: %d entries for %d tasks", len(r.Start), T)
	}
	m := &taskRegression{
		commonWeights: newCommonWeights(T, P, pr.Gamma, pr.Omega), priors: pr,
		crew: work.NewCrew(r.Workers, T, func(share int) int { return share }),
	}
	m.crew.Stop = &m.Stop
	m.memorise(&m.ofWeights)
	m.one = func(_, t int) error { return m.named(t, m.do(m.tasks[t])) }
	m.onePlane = func(_, t int) error { return m.named(t, m.doPlane(m.tasks[t].plane)) }
	largest := 0
	for t, task := range tasks {
		m.tasks = append(m.tasks, newTaskLayer(task, pr, m.commonWeights, t, m.crew.Workers[0]))
		largest = max(largest, m.tasks[t].D)
	}
	u := m.order()
	m.updates.settled = u.plain()
	if !r.Plain {
		rounds := severalRounds(T, largest, P)
		for _, l := range m.tasks {
			newPlane(l.latent, []readout{*l.read}, &l.gamma, l.epsilonMean, l.y, l.gTarget, rounds)
		}
		m.updates = schedule{first: u.plain(), settled: orderOfPlanes(u, rounds, m.eachPlane)}
	}
	return m, m.start(r.Start, r.Seed)
}

// checkTasks reports what is wrong with the tasks, and returns the number of their kernels.
func checkTasks(tasks []Task) (P int, err error) {
	if len(tasks) == 0 {
		return 0, fmt.Errorf("vi: tasks: none given")
	}
	for t, task := range tasks {
		if task.Kernels == nil {
			return 0, fmt.Errorf("vi: tasks[%d]: kernels: nil", t)
		}
		kernels, _, N := task.Kernels.Dims()
		if _, ok := task.Kernels.(vi.Compressed); ok {
			return 0, fmt.Errorf("vi: tasks[%d]: kernels of pseudo-samples are not for tasks", t)
		}
		if t == 0 {
			P = kernels
		}
		switch i := check.NonFinite(task.Y); {
		case kernels != P:
			return 0, fmt.Errorf("vi: tasks[%d]: %d kernels where tasks[0] has %d", t, kernels, P)
		case len(task.Y) != N || N == 0:
			return 0, fmt.Errorf("vi: tasks[%d]: %d targets for %d samples: at least one of each is needed", t, len(task.Y), N)
		case i >= 0:
			return 0, fmt.Errorf("vi: tasks[%d]: y[%d] is %g", t, i, task.Y[i])
		}
	}
	return P, nil
}

// newTaskLayer returns the factors of task t at their priors.
func newTaskLayer(task Task, pr RegressionPriors, common *commonWeights, t, workers int) *taskLayer {
	l := &taskLayer{
		latent: newLatent(task.Kernels, 1, la.Matrix[float64]{}, pr.Lambda, workers),
		y:      la.MatrixOf(1, len(task.Y), slices.Clone(task.Y)),
		read:   &common.reads[t], gamma: common.gamma,
		upsilonMean: make([]float64, 1), epsilonMean: make([]float64, 1),
	}
	l.gamma.Scale = common.gamma.Scale[t : t+1]
	l.upsilonQ = conjugate.NewGammas(pr.Upsilon, pr.Upsilon.Shape+float64(0.5*l.size*float64(l.P)), 1)
	l.epsilon = conjugate.NewGammas(pr.Epsilon, pr.Epsilon.Shape+float64(0.5*l.size), 1)
	l.epsilonMean[0] = l.epsilon.Mean(0)
	l.gTarget = la.NewMatrix[float64](1, l.P)
	l.gTask = l.updateIntermediateOf
	l.upsilon = l.upsilonMean
	l.memory.Of(l.upsilonQ.Scale, l.epsilon.Scale)
	return l
}

// start sets the means of a and G to those of the start, or to random ones if there is none.
func (m *taskRegression) start(starts []Start, seed uint64) error {
	src := random.Source(seed)
	for t, l := range m.tasks {
		s := Start{A: la.NewMatrix[float64](1, l.D), G: la.NewMatrix[float64](l.P, l.N)}
		if starts != nil {
			s = starts[t]
			if err := s.validate(1, l.P, l.D, l.N); err != nil {
				return fmt.Errorf("Start[%d]: %w", t, err)
			}
		} else {
			random.Normal(src, s.A.Data)
			random.Normal(src, s.G.Data)
		}
		if err := l.latent.start(s.A, s.G); err != nil {
			return err
		}
	}
	return nil
}

// named adds the task to an error.
func (m *taskRegression) named(t int, err error) error {
	if err != nil {
		return fmt.Errorf("task %d: %w", t, err)
	}
	return nil
}

// each calls f for every task.
func (m *taskRegression) each(f func(*taskLayer) error) error {
	m.do = f
	return m.crew.Each(m.one)
}

// eachPlane calls f for every task's plane.
func (m *taskRegression) eachPlane(f func(*plane) error) error {
	m.doPlane = f
	return m.crew.Each(m.onePlane)
}

// order returns the updates of a sweep.
func (m *taskRegression) order() *updates {
	return &updates{
		lambda:  m.updateLambda,
		upsilon: m.updateUpsilon,
		a:       work.Update{Name: "a", Step: func() error { return m.each((*taskLayer).updateOwnWeights) }},
		g:       work.Update{Name: "G", Step: func() error { return m.each((*taskLayer).updateIntermediate) }},
		rest: []work.Update{
			step("γ", m.updateGamma), step("ω", m.updateOmega), step("ε", m.updateEpsilon),
			{Name: "(b,e)", Step: m.updateCombination},
		},
		scale: m.updateScale,
	}
}

// Sweep implements [vi.Objective].
func (m *taskRegression) Sweep(done func(string)) error { return m.updates.sweep(&m.Stop, done) }

// updateLambda is q(λ_t), see [latent.updateLambda].
func (m *taskRegression) updateLambda() {
	for _, l := range m.tasks {
		l.latent.updateLambda()
	}
}

// updateUpsilon is q(υ_t) = Gamma(α_υ + N_tP/2, (1/β_υ + Σ E[(g − a_tᵀk)²]/2)^-1).
func (m *taskRegression) updateUpsilon() {
	for _, l := range m.tasks {
		l.upsilonQ.Observe(0, float64(0.5*l.distance(0)))
		l.upsilonMean[0] = l.upsilonQ.Mean(0)
	}
}

// updateEpsilon is q(ε_t) = Gamma(α_ε + N_t/2, (1/β_ε + Σ E[(y − eᵀg − b_t)²]/2)^-1).
func (m *taskRegression) updateEpsilon() {
	for _, l := range m.tasks {
		l.epsilon.Observe(0, float64(0.5*l.residual()))
		l.epsilonMean[0] = l.epsilon.Mean(0)
	}
}

// updateCombination is q(b, e), see [commonWeights].
func (m *taskRegression) updateCombination() error {
	m.beginCombination()
	for t, l := range m.tasks {
		m.combine(t, l.latent, 0, l.epsilonMean[0], l.y.Row(0), l.gTarget.Row(0))
	}
	return m.endCombination(&m.crew.All)
}

// updateScale moves along the ridge (a, G) → c(a, G), e → e/c, (υ, λ) → /c², ω → c²ω,
// which all tasks take together; docs/acceleration.md.
func (m *taskRegression) updateScale() {
	s, ok := roots.Ridge(m.ridge())
	if !ok {
		return
	}
	m.commonWeights.rescale(s)
	for _, l := range m.tasks {
		l.latent.rescale(s)
		la.Scal(math.Sqrt(s), l.gTarget.Data)
		l.upsilonQ.Scale[0] /= s
		l.upsilonMean[0] = l.upsilonQ.Mean(0)
	}
}

// ridge returns the coefficients of updateScale.
func (m *taskRegression) ridge() (a, b, c float64) {
	for _, l := range m.tasks {
		more, rest := l.ridgeOfWeights()
		a += float64(more) + m.priors.Upsilon.Shape
		b += float64(rest) + l.upsilonMean[0]/m.priors.Upsilon.Scale
	}
	less, c := ridgeOfKernels(&m.omega)
	return float64(a) - float64(less), b, c
}

// updateOwnWeights is q(a_t).
func (l *taskLayer) updateOwnWeights() error { return l.updateWeights(l.upsilonMean) }

// updateIntermediate is q(g_{t,i}) = N(Σ(υ_t·h_i + ε_t(y_i·E[e] − E[b_t·e])), Σ),
// Σ = (υ_t·I + ε_t·E[e·eᵀ])^-1.
func (l *taskLayer) updateIntermediate() error {
	l.distanceStale = false
	return l.gTask(l.latent.crew.Workers[0], 0)
}

// updateIntermediateOf is updateIntermediate as a task of the latent layer.
func (l *taskLayer) updateIntermediateOf(w *worker, _ int) error {
	return l.intermediateOf(w, 0, l.read, l.epsilonMean[0], l.y.Row(0), l.gTarget.Row(0))
}

// residual returns Σ_i E[(y_i − eᵀg_i − b_t)²].
func (l *taskLayer) residual() float64 { return l.latent.residual(0, 0, l.read, l.y.Row(0)) }

// Bound implements [vi.Objective].
func (m *taskRegression) Bound() float64 {
	sum := m.commonWeights.bound()
	for _, l := range m.tasks {
		sum += l.latent.bound() + l.upsilonQ.Bound() + l.epsilon.Bound()
		sum += l.gBound(0, l.upsilonQ.Mean(0), l.upsilonQ.MeanLog(0))
		sum += float64(0.5 * (float64(l.size*(l.epsilon.MeanLog(0)-conjugate.Log2Pi)) - float64(l.epsilon.Mean(0)*l.residual())))
	}
	return sum
}

// Roundoff implements [vi.Objective], as that of layers does.
func (m *taskRegression) Roundoff() float64 {
	sum := m.roundoff()
	for t, l := range m.tasks {
		sum += l.latent.Roundoff() + m.fitRoundoff(t, l.latent, 0, l.epsilonMean[0])
	}
	return sum
}

// Allowance implements [vi.Objective].
func (m *taskRegression) Allowance() float64 { return 0 }

// Keep implements [vi.Objective].
func (m *taskRegression) Keep() {
	m.ofWeights.Keep()
	for _, l := range m.tasks {
		l.Keep()
	}
}

// Restore implements [vi.Objective], as far as posteriors go.
func (m *taskRegression) Restore() {
	m.ofWeights.Restore()
	for _, l := range m.tasks {
		l.Restore()
	}
}

// Jittered implements [vi.Objective].
func (m *taskRegression) Jittered() (most float64) {
	for _, l := range m.tasks {
		most = max(most, l.Jittered())
	}
	return most
}

// Observations implements [vi.Objective].
func (m *taskRegression) Observations() (n float64) {
	for _, l := range m.tasks {
		n += l.size
	}
	return n
}

// Predictions implements [vi.Objective].
func (m *taskRegression) Predictions(p *vi.Predictions) {
	p.Resize(int(m.Observations()))
	at := 0
	for _, l := range m.tasks {
		own := vi.Predictions{Mean: p.Mean[at : at+l.N], SD: p.SD[at : at+l.N]}
		l.predict(&own, 0, 0, l.read, 1/l.epsilonMean[0], l.upsilonMean[0])
		at += l.N
	}
}

// collapsed returns the tasks whose function is constant, as that of layers does.
func (m *taskRegression) collapsed() (out []int) {
	for t, l := range m.tasks {
		f := make([]float64, l.N)
		for j, e := range l.read.e() {
			la.Axpy(e, l.h.Row(j), f)
		}
		if l.isCollapsed(f, l.y.Row(0), nil) {
			out = append(out, t)
		}
	}
	return out
}
