package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/target"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// taskLayers holds what the models of tasks have in common: outputs that have samples, sample
// weights and intermediate outputs of their own and share the kernel weights,
//
//	t_{t,i} | b, e, g ~ N(eᵀ·g_{t,i} + b_t, 1/ε_t)
//
// Every task has a likelihood, of one kind, which supplies ε and t. The precisions υ are learned or held.
type taskLayers struct {
	work.Stop
	*commonWeights
	tasks   []*taskLayer
	upsilon []conjugate.Gammas // T rows of one, as shapes differ; nil where υ is held
	updates work.Schedule

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
	read     *readout
	gamma    conjugate.Gammas   // the task's own of commonWeights
	y        la.Matrix[float64] // 1×N, the data
	target   la.Matrix[float64] // 1×N, E[t]; y where the targets are the data
	location la.Matrix[float64] // 1×N, E[eᵀg + b] at the update of q(t); empty where the targets are the data
	like     target.Likelihood
	gTarget  la.Matrix[float64] // 1×P, Σ_i E[g]·t

	upsilonMean, epsilonMean []float64 // 1, E[υ] and E[ε]
}

// newTaskLayers returns the factors of the tasks at their priors, b at 0 and e at 1, but for υ and
// the likelihoods, which the model sets. The data are copies of the tasks' Y, and so are the targets.
func newTaskLayers(tasks []Task, pr layerPriors, workers int) (*taskLayers, error) {
	P, err := checkTasks(tasks)
	if err != nil {
		return nil, err
	}
	T := len(tasks)
	m := &taskLayers{
		commonWeights: newCommonWeights(T, P, pr.gamma, pr.omega),
		crew:          work.NewCrew(workers, T, func(share int) int { return share }),
	}
	m.crew.Stop = &m.Stop
	m.memorise(&m.ofWeights)
	m.one = func(_, t int) error { return named(t, m.do(m.tasks[t])) }
	m.onePlane = func(_, t int) error { return named(t, m.doPlane(m.tasks[t].plane)) }
	for t, task := range tasks {
		l := &taskLayer{
			latent: newLatent(task.Kernels, 1, la.Matrix[float64]{}, pr.lambda, m.crew.Workers[0]),
			read:   &m.reads[t], gamma: m.gamma,
			y:       la.MatrixOf(1, len(task.Y), append([]float64(nil), task.Y...)),
			gTarget: la.NewMatrix[float64](1, P), upsilonMean: make([]float64, 1), epsilonMean: make([]float64, 1),
		}
		l.target = l.y
		l.gamma.Scale = m.gamma.Scale[t : t+1]
		l.GTask = l.updateIntermediateOf
		l.Upsilon = l.upsilonMean
		m.tasks = append(m.tasks, l)
	}
	return m, nil
}

// Retire ends the sweeps of every task.
func (m *taskLayers) Retire() {
	for _, l := range m.tasks {
		l.Retire()
	}
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

// checkStarts reports an error if starts were given and are not as many as the tasks.
func (m *taskLayers) checkStarts(starts int, given bool) error {
	if given && starts != len(m.tasks) {
		return fmt.Errorf("vi: Start: %d entries for %d tasks", starts, len(m.tasks))
	}
	return nil
}

// named adds the task to an error.
func named(t int, err error) error {
	if err != nil {
		return fmt.Errorf("task %d: %w", t, err)
	}
	return nil
}

// each calls f for every task.
func (m *taskLayers) each(f func(*taskLayer) error) error {
	m.do = f
	return m.crew.Each(m.one)
}

// eachPlane calls f for every task's plane.
func (m *taskLayers) eachPlane(f func(*plane) error) error {
	m.doPlane = f
	return m.crew.Each(m.onePlane)
}

// take sets the likelihood of a task.
func (l *taskLayer) take(like target.Likelihood) {
	l.like = like
	l.epsilonMean[0] = like.Precision()
	like.Memorise(&l.Memory)
}

// learnUpsilon gives υ the prior.
func (m *taskLayers) learnUpsilon(prior vi.Gamma) {
	for t, l := range m.tasks {
		m.upsilon = append(m.upsilon, conjugate.NewGammas(prior, prior.Shape+float64(0.5*l.Size*float64(l.P)), 1))
		l.Memory.Of(m.upsilon[t].Scale)
	}
}

// holdUpsilon holds υ.
func (m *taskLayers) holdUpsilon(precision float64) {
	for _, l := range m.tasks {
		l.upsilonMean[0] = precision
	}
}

// setOrder sets the updates of a sweep. Unless plain, accelerated sweeps of so many rounds
// follow after ten sweeps.
func (m *taskLayers) setOrder(plain bool, rounds int) {
	u := m.order()
	m.updates.Settled = u.plain()
	if plain {
		return
	}
	for _, l := range m.tasks {
		newPlane(l.latent, []readout{*l.read}, &l.gamma, l.epsilonMean, l.target, l.gTarget, rounds)
	}
	m.updates = work.Schedule{First: u.plain(), Settled: orderOfPlanes(u, rounds, m.eachPlane)}
}

// order returns the updates of a sweep.
func (m *taskLayers) order() *updates {
	u := &updates{
		lambda: m.updateLambda,
		a:      work.Update{Name: "a", Step: func() error { return m.each((*taskLayer).updateOwnWeights) }},
		g:      work.Update{Name: "G", Step: func() error { return m.each((*taskLayer).updateIntermediate) }},
		scale:  m.updateScale,
	}
	if m.upsilon != nil {
		u.upsilon = m.updateUpsilon
	}
	u.ofLikelihood(m.tasks[0].like, m.commonWeights, m.updateEpsilon, work.Update{Name: "(b,e)", Step: m.updateCombination}, m.updateTargets)
	return u
}

// updateUpsilon is q(υ_t) = Gamma(α_υ + N_tP/2, (1/β_υ + Σ E[(g − a_tᵀk)²]/2)^-1).
func (m *taskLayers) updateUpsilon() {
	for t, l := range m.tasks {
		m.upsilon[t].Observe(0, float64(0.5*l.Distance(0)))
		l.upsilonMean[0] = m.upsilon[t].Mean(0)
	}
}

// updateEpsilon is q(ε), see [target.Likelihood].
func (m *taskLayers) updateEpsilon() {
	for _, l := range m.tasks {
		l.like.UpdateNoise(l.residual())
		l.epsilonMean[0] = l.like.Precision()
	}
}

// updateTargets is q(t), see [target.Likelihood].
func (m *taskLayers) updateTargets() {
	for t, l := range m.tasks {
		if !l.like.Latent() {
			continue
		}
		loc := l.location.Row(0)
		for i := range loc {
			loc[i] = m.be.Mean[t]
		}
		l.addFit(0, 0, l.read.e(), 1, loc)
		l.like.UpdateTargets()
	}
}

// Sweep implements [vi.Objective].
func (m *taskLayers) Sweep(done func(string)) error { return m.updates.Sweep(&m.Stop, done) }

// updateLambda is q(λ_t), see [latent.updateLambda].
func (m *taskLayers) updateLambda() {
	for _, l := range m.tasks {
		l.latent.UpdateLambda()
	}
}

// updateCombination is q(b, e), see [commonWeights].
func (m *taskLayers) updateCombination() error {
	m.beginCombination()
	for t, l := range m.tasks {
		m.combine(t, l.latent, 0, l.epsilonMean[0], l.target.Row(0), l.gTarget.Row(0))
	}
	return m.endCombination(&m.crew.All)
}

// updateScale moves along the ridge (a, G) → c(a, G), e → e/c, (υ, λ) → /c², ω → c²ω,
// which all tasks take together; docs/theory/acceleration.md.
func (m *taskLayers) updateScale() {
	s, ok := roots.Ridge(m.ridge())
	if !ok {
		return
	}
	m.rescale(s)
	for t := range m.upsilon {
		m.upsilon[t].Scale[0] /= s
		m.tasks[t].upsilonMean[0] = m.upsilon[t].Mean(0)
	}
}

// rescale moves along the ridge but for υ: (a, G) → c(a, G), e → e/c, λ → λ/c², ω → c²ω with s = c².
func (m *taskLayers) rescale(s float64) {
	m.commonWeights.rescale(s)
	for _, l := range m.tasks {
		l.latent.rescale(s)
		la.Scal(math.Sqrt(s), l.gTarget.Data)
	}
}

// ridge returns the coefficients of updateScale.
func (m *taskLayers) ridge() (a, b, c float64) {
	for _, l := range m.tasks {
		more, rest := l.Ridge()
		a += float64(more)
		b += float64(rest)
	}
	less, c := intermediate.RidgeOfKernels(&m.omega)
	a -= float64(less)
	for t, l := range m.tasks {
		if m.upsilon != nil {
			a += m.upsilon[t].Prior.Shape
			b += l.upsilonMean[0] / m.upsilon[t].Prior.Scale
			continue
		}
		a -= float64(0.5 * float64(l.N*l.P))
		c += float64(0.5 * l.upsilonMean[0] * l.Distance(0))
	}
	return a, b, c
}

// resume continues from an earlier posterior. That posterior has T tasks,
// of(t) returns the scorer of task t, and the other arguments are its factors of the common
// weights. υ and ε are set before.
func (m *taskLayers) resume(T int, of func(t int) *predictive.Scorer, lambdaShape float64, gamma, omega []vi.Gamma, beMean []float64, beCov la.Matrix[float64]) error {
	if T != len(m.tasks) {
		return fmt.Errorf("vi: From: %d tasks where there are %d", T, len(m.tasks))
	}
	for t, l := range m.tasks {
		if err := l.checkResume(1, of(t)); err != nil {
			return named(t, err)
		}
	}
	if err := m.commonWeights.resume(gamma, omega, beMean, beCov); err != nil {
		return err
	}
	for t, l := range m.tasks {
		if err := l.latent.Resume(lambdaShape, of(t).Lambda, of(t).A, l.upsilonMean); err != nil {
			return named(t, err)
		}
	}
	m.updateTargets() // with G at its prior mean
	return m.each((*taskLayer).updateIntermediate)
}

// updateOwnWeights is q(a_t).
func (l *taskLayer) updateOwnWeights() error { return l.UpdateWeights(l.upsilonMean) }

// updateIntermediate is q(g_{t,i}) = N(Σ(υ_t·h_i + ε_t(t_i·E[e] − E[b_t·e])), Σ),
// Σ = (υ_t·I + ε_t·E[e·eᵀ])^-1.
func (l *taskLayer) updateIntermediate() error {
	l.DistanceStale = false
	return l.GTask(l.latent.Crew.Workers[0], 0)
}

// updateIntermediateOf is updateIntermediate as a task of the latent layer.
func (l *taskLayer) updateIntermediateOf(w *intermediate.Worker, _ int) error {
	return l.intermediateOf(w, 0, l.read, l.epsilonMean[0], l.target.Row(0), l.gTarget.Row(0))
}

// residual returns Σ_i E[(t_i − eᵀg_i − b_t)²], without the variance of t.
func (l *taskLayer) residual() float64 { return l.latent.residual(0, 0, l.read, l.target.Row(0)) }

// Bound implements [vi.Objective].
func (m *taskLayers) Bound() float64 {
	sum := m.commonWeights.bound()
	for _, l := range m.tasks {
		sum += l.latent.Bound()
	}
	for t, l := range m.tasks {
		noise, logZ, fit := l.like.Terms(l.residual())
		if m.upsilon != nil {
			upsilon := &m.upsilon[t]
			sum += upsilon.Bound() + noise
			sum += l.GBound(0, upsilon.Mean(0), upsilon.MeanLog(0))
		} else {
			sum += noise
			sum += l.GBound(0, l.upsilonMean[0], special.Log(l.upsilonMean[0]))
		}
		sum += logZ + (float64(0.5*l.epsilonMean[0]*l.like.Shift(0)) + fit)
	}
	return sum
}

// Roundoff implements [vi.Objective]. It sums the same parts as layers.Roundoff does.
func (m *taskLayers) Roundoff() float64 {
	sum := m.roundoff()
	for t, l := range m.tasks {
		sum += l.latent.Roundoff() + m.fitRoundoff(t, l.latent, 0, l.epsilonMean[0])
	}
	return sum
}

// Allowance implements [vi.Objective].
func (m *taskLayers) Allowance() float64 { return 0 }

// Keep implements [vi.Objective].
func (m *taskLayers) Keep() {
	m.ofWeights.Keep()
	for _, l := range m.tasks {
		l.Keep()
	}
}

// Restore implements [vi.Objective], as far as posteriors go.
func (m *taskLayers) Restore() {
	m.ofWeights.Restore()
	for _, l := range m.tasks {
		l.Restore()
	}
}

// Jittered implements [vi.Objective].
func (m *taskLayers) Jittered() (most float64) {
	for _, l := range m.tasks {
		most = max(most, l.Jittered())
	}
	return most
}

// Observations implements [vi.Objective].
func (m *taskLayers) Observations() (n float64) {
	for _, l := range m.tasks {
		n += l.Size
	}
	return n
}

// Predictions implements [vi.Objective].
func (m *taskLayers) Predictions(p *vi.Predictions) {
	p.Resize(int(m.Observations()))
	at := 0
	for _, l := range m.tasks {
		own := vi.Predictions{Mean: p.Mean[at : at+l.N], SD: p.SD[at : at+l.N]}
		l.predict(&own, 0, 0, l.read, 1/l.epsilonMean[0], l.upsilonMean[0])
		at += l.N
	}
	m.tasks[0].like.Predictions(p)
}

// collapsed returns the tasks whose function is constant, by the rule of layers.collapsed.
func (m *taskLayers) collapsed() (out []int) {
	for t, l := range m.tasks {
		if len(l.latent.collapsed(l.read.e(), l.y)) > 0 {
			out = append(out, t)
		}
	}
	return out
}
