package slab

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// MultiTask is spike-and-slab multi-task and multiple kernel learning: Q tasks are
// sparse combinations of M latent functions that they share,
//
//	φ_m  ~ GP(μ_m, k_m)
//	w_qm = s_qm·w̃_qm,   s_qm ~ Bernoulli(π),   w̃_qm ~ N(0, σ_w²)
//	y_nq ~ N(Σ_m w_qm·φ_m(x_n), σ_q²)
//
// The posterior is approximated by Π q(w̃_qm, s_qm)·Π q(φ_m), equation (8). With
// zero covariances it is a generalised linear model of many tasks, with white ones
// sparse factor analysis, or probabilistic PCA if the noise is shared.
//
// The zero value is ready. There is no bias: targets are to be centred.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, whose
// supplement has the updates; docs/spikeslab.md derives them anew. Their order is
// φ_1, …, φ_M, each after its length, (w̃, s), σ², σ_w², π.
type MultiTask struct {
	// Prior is the prior of the weights to start from. A Pi of 0 means ½, a
	// Variance of 0 the power of the targets.
	Prior Prior

	Noise       float64 // σ_q² to start from, as a share of the power of task q's targets; 0 means ¼
	SharedNoise bool    // one σ² for all tasks
	Held        Held    // what keeps its starting value instead of being learned

	// LengthsEvery is the number of sweeps from one marginalised step of the
	// covariances' lengths, and one of the scales (see Plain), to the next; 0 means 5.
	// The first is made in the sweep of that number.
	LengthsEvery int

	// Plain makes exactly the published updates. The default also moves the scale
	// of each latent function whose covariance is a matrix and whose mean is zero
	// against that of its weights, on a ridge that the updates climb slowly, and extrapolates
	// the means of functions and weights from sweep to sweep (docs/acceleration.md, section 8).
	Plain bool

	// KeepAll keeps latent functions that no task uses. The default looks every 15
	// sweeps, and where the ascent has converged, and takes one out of the model if
	// the bound without it is higher.
	KeepAll bool

	// MeanOnly leaves out of the posterior what the variances of predictions need,
	// an N×N matrix for every latent function.
	MeanOnly bool

	// Restarts is the number of further random starts, of which the one with the
	// highest bound is kept. They have the seeds Seed+1, Seed+2, …
	Restarts int
	Seed     uint64

	// Start, if not nil, is the only start.
	Start *MultiTaskStart

	// From, if not nil, is an earlier fit, perhaps one that was stopped, of the same
	// latent functions to the same targets, to go on from; it takes the place of
	// Start, Seed, Prior and Noise. Unless Plain, its sweeps differ from those of a fit without
	// the break: the sweeps before the break are not known to the extrapolation.
	From *MultiTaskFit

	Ascent vi.Ascent

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// Latent is the prior of a latent function at the N samples.
type Latent struct {
	Covariance Covariance
	Mean       []float64 // N; nil means zero
}

// MultiTaskStart is an explicit initial state, with q(φ) = p(φ).
type MultiTaskStart struct {
	Weights []Pair    // Q×M, row after row
	Noise   []float64 // σ_q², Q values, equal if shared; nil means that of MultiTask.Noise
}

// MultiTaskFit is a fitted multi-task model.
type MultiTaskFit struct {
	Posterior *MultiTaskPosterior
	Record    vi.Record // of the start that was kept
	Start     int       // which one it was: 0 is that of Seed
	Bounds    []float64 // of all starts, in nats

	// Collapsed lists the tasks, ascending, all of whose weights are off: the
	// fitted function is zero.
	Collapsed []int
}

// offProbability is the inclusion probability up to which a weight counts as off.
const offProbability = 1e-3

// Fit approximates the posterior given the latent functions and the targets y,
// Q×N, in which NaN marks a missing value. The posterior of a task without any value is
// the prior. A sweep costs about N³ for each latent function whose covariance is a
// matrix, and Q·N·M.
//
// Errors are as package vi describes them. A start in which every weight and every
// mean function is zero is refused: it is a saddle point, from which no update
// moves.
func (t MultiTask) Fit(ctx context.Context, latents []Latent, y la.Matrix[float64]) (*MultiTaskFit, error) {
	n := 1 + max(0, t.Restarts)
	if t.Start != nil || t.From != nil {
		n = 1
	}
	var fit *MultiTaskFit
	var before vi.Record
	if t.From != nil {
		before = t.From.Record
	}
	rec, start, bounds, err := bestOf(ctx, t.Ascent, n, before, func(i int) (vi.Objective, error) {
		return t.model(latents, y, t.Seed+uint64(i))
	}, func(m vi.Objective) error {
		mt := m.(*multiTask)
		p, err := mt.posterior(!t.MeanOnly)
		if err != nil {
			return err
		}
		if p, err = check.Resumed(t.Ascent.Journal != nil, p, NewMultiTaskPosterior); err != nil {
			return err
		}
		fit = &MultiTaskFit{Posterior: p, Collapsed: mt.collapsed()}
		return nil
	})
	if fit != nil {
		fit.Record, fit.Start, fit.Bounds = rec, start, bounds
	}
	return fit, err
}

// multiTask is the state of a fit.
type multiTask struct {
	work.Stop
	Q, M, N  int
	y        la.Matrix[float64] // Q×N, 0 where missing
	observed la.Matrix[float64] // Q×N, 1 or 0; empty if nothing is missing
	count    []float64          // Q, observed values

	latents []latentGP
	active  []int // latent functions that are in the model, ascending
	prior   Prior
	noise   []float64 // Q, σ_q²
	floor   []float64 // Q, least σ_q²
	shared  bool
	held    Held
	keepAll bool
	plain   bool

	lengthsEvery, sweeps int
	lengthTolerance      float64 // of log ℓ

	q      []Pair             // Q×M
	e      la.Matrix[float64] // Q×M, E[w]
	d      la.Matrix[float64] // Q×M, E[w²]
	within la.Matrix[float64] // Q×M, Var[w]
	a      la.Matrix[float64] // M×N, E[φ]

	residual la.Matrix[float64] // Q×N, y − Σ e·a, 0 where missing
	spread   la.Matrix[float64] // Q×M, Σ Var[φ_nm] over the observed
	power    la.Matrix[float64] // Q×M, Σ a_nm² over the observed

	crew    *work.Crew[*la.Workspace]
	scratch *latentScratch
	h, step []float64 // N: of the likelihood's term; by how much a moved
	square  []float64 // N, a²
	coef    [3][]float64
	now     int // the latent function of moveTask

	ahead *work.Anderson // of means and a; nil in the plain order
	means []float64      // Q×M, of the slabs
	next  func(done func(string)) error

	memory work.Memory
	kept   multiTaskKept

	moveTask, weightTask func(*la.Workspace, int) error
}

// model checks the arguments and returns the initial state.
func (t MultiTask) model(latents []Latent, y la.Matrix[float64], seed uint64) (*multiTask, error) {
	Q, M, N := y.Rows, len(latents), y.Cols
	switch {
	case Q == 0 || N == 0:
		return nil, fmt.Errorf("vi: y: %d×%d where at least one task of one sample is needed", Q, N)
	case M == 0:
		return nil, fmt.Errorf("vi: latents: none given")
	case !(t.Noise >= 0) || math.IsInf(t.Noise, 1):
		return nil, fmt.Errorf("vi: Noise is %g: it must be positive and finite", t.Noise)
	}
	y, observed, err := check.SplitMissing(y)
	if err != nil {
		return nil, err
	}
	m := &multiTask{
		Q: Q, M: M, N: N, y: y, observed: observed, count: make([]float64, Q),
		latents: make([]latentGP, M), prior: t.Prior, noise: make([]float64, Q), floor: make([]float64, Q),
		shared: t.SharedNoise, held: t.Held, keepAll: t.KeepAll, plain: t.Plain,
		lengthsEvery: t.LengthsEvery, lengthTolerance: 1e-3,
		q: make([]Pair, Q*M), e: la.NewMatrix[float64](Q, M), d: la.NewMatrix[float64](Q, M),
		within: la.NewMatrix[float64](Q, M), a: la.NewMatrix[float64](M, N),
		residual: y.Clone(), spread: la.NewMatrix[float64](Q, M), power: la.NewMatrix[float64](Q, M),
		crew: work.NewCrew(t.Workers, Q, func(share int) *la.Workspace { return &la.Workspace{Workers: share} }),
		h:    make([]float64, N), step: make([]float64, N), square: make([]float64, N),
	}
	if m.lengthsEvery <= 0 {
		m.lengthsEvery = 5
	}
	for i := range m.coef {
		m.coef[i] = make([]float64, Q)
	}
	dense, moves := false, false
	for i, l := range latents {
		if err := l.Covariance.validate(N); err != nil {
			return nil, fmt.Errorf("vi: latents[%d].Covariance: %w", i, err)
		}
		if l.Mean != nil {
			if len(l.Mean) != N {
				return nil, fmt.Errorf("vi: latents[%d].Mean: %d values for %d samples", i, len(l.Mean), N)
			}
			if n := check.NonFinite(l.Mean); n >= 0 {
				return nil, fmt.Errorf("vi: latents[%d].Mean: value %d is %g", i, n, l.Mean[n])
			}
			moves = moves || la.SumSq(l.Mean) > 0
		}
		f := &m.latents[i]
		f.cov, f.prior = l.Covariance, l.Mean
		f.start(N, m.a.Row(i))
		m.active = append(m.active, i)
		dense = dense || f.dense()
	}
	m.scratch = newLatentScratch(N, dense)
	m.scratch.stop, m.crew.Stop = &m.Stop, &m.Stop
	m.moveTask = m.moveLatent
	m.memory.Of(m.noise)
	for i := range m.latents {
		f := &m.latents[i]
		m.memory.Of(f.alpha, f.mean, f.variance, f.lambda)
	}
	m.weightTask = m.updateWeightsOf
	if err := m.start(t, seed, moves); err != nil {
		return nil, err
	}
	if !t.Plain {
		m.means = make([]float64, Q*M)
		m.ahead = &work.Anderson{}
		m.ahead.Of(false, m.means)
		m.ahead.Of(false, m.a.Data)
		m.next = func(done func(string)) error {
			m.setMeans()
			return m.sweep(done)
		}
	}
	if t.From != nil {
		return m, m.resume(t.From)
	}
	return m, nil
}

// multiTaskKept is what of a state is not in slices of numbers.
type multiTaskKept struct {
	prior      Prior
	q          []Pair
	active     []int
	length, kl []float64
	sweeps     int
}

// Keep implements [vi.Objective]. It copies O(M·(N + Q)) numbers.
func (m *multiTask) Keep() {
	m.memory.Keep()
	k := &m.kept
	k.prior, k.sweeps = m.prior, m.sweeps
	k.q, k.active = append(k.q[:0], m.q...), append(k.active[:0], m.active...)
	k.length, k.kl = k.length[:0], k.kl[:0]
	for i := range m.latents {
		k.length, k.kl = append(k.length, m.latents[i].length), append(k.kl, m.latents[i].kl)
	}
}

// Restore implements [vi.Objective].
func (m *multiTask) Restore() {
	m.memory.Restore()
	k := &m.kept
	m.prior, m.sweeps = k.prior, k.sweeps
	copy(m.q, k.q)
	m.active = append(m.active[:0], k.active...)
	for i := range m.latents {
		m.latents[i].length, m.latents[i].kl = k.length[i], k.kl[i]
	}
	if m.ahead != nil {
		m.takeMeans()
	}
	m.renew()
}

// Allowance implements [vi.Objective].
func (m *multiTask) Allowance() float64 { return 0 }

// renew computes what follows from the weights and the latent functions.
func (m *multiTask) renew() {
	for q := range m.Q {
		for i := range m.M {
			m.setMoments(q, i)
		}
	}
	for i := range m.latents {
		m.tally(i)
	}
	for q := range m.Q {
		m.renewResidual(&m.crew.All, q)
	}
}

// resume continues from f.
func (m *multiTask) resume(f *MultiTaskFit) error {
	p := f.Posterior
	if p.Q != m.Q || p.M != m.M || p.N != m.N {
		return fmt.Errorf("vi: From: %d tasks, %d latent functions and %d samples where there are %d, %d and %d", p.Q, p.M, p.N, m.Q, m.M, m.N)
	}
	s := p.s
	m.prior, m.sweeps = s.Prior, len(f.Record.Trace)
	copy(m.noise, s.Noise)
	copy(m.q, s.Weights)
	m.active = append(m.active[:0], s.Active...)
	for i := range m.latents {
		l := &m.latents[i]
		if s.Dense[i] != l.dense() {
			return fmt.Errorf("vi: From: latent function %d has another covariance", i)
		}
		if l.cov.kind == decayCovariance {
			l.length = min(max(s.Lengths[i], l.cov.least), l.cov.most)
		}
	}
	for _, i := range m.active {
		l := &m.latents[i]
		copy(l.alpha, s.Alpha.Row(i))
		copy(l.mean, s.Phi.Row(i))
		copy(l.variance, s.PhiVariance.Row(i))
		for n, r := range s.Root.Row(i) {
			l.lambda[n] = r * r
		}
		if err := l.restore(&m.crew.All, m.scratch); err != nil {
			return fmt.Errorf("vi: From: latent function %d: %w", i, err)
		}
	}
	m.renew()
	return nil
}

// start sets σ_q², the prior of the weights and the weights.
func (m *multiTask) start(t MultiTask, seed uint64, moves bool) error {
	var total, values float64
	for q := range m.Q {
		m.count[q] = float64(m.N)
		if m.observed.Rows > 0 {
			m.count[q] = 0
			for _, z := range m.observed.Row(q) {
				m.count[q] += z
			}
		}
		total += la.SumSq(m.y.Row(q))
		values += m.count[q]
	}
	if total == 0 {
		return fmt.Errorf("vi: y: every value is zero")
	}
	share := t.Noise
	if share == 0 {
		share = 0.25
	}
	for q := range m.Q {
		power := total / values
		if own := la.SumSq(m.y.Row(q)); !m.shared && own > 0 {
			power = own / m.count[q]
		}
		m.noise[q], m.floor[q] = share*power, noiseFloor*power
	}
	if m.prior.Pi == 0 {
		m.prior.Pi = 0.5
	}
	if m.prior.Variance == 0 {
		m.prior.Variance = total / values
	}
	if err := m.prior.validate(); err != nil {
		return err
	}
	if s := t.Start; s != nil {
		if len(s.Weights) != m.Q*m.M {
			return fmt.Errorf("vi: Start.Weights: %d where %d tasks of %d are needed", len(s.Weights), m.Q, m.M)
		}
		if i := firstBadPair(s.Weights); i >= 0 {
			return fmt.Errorf("vi: Start.Weights[%d] is %+v", i, s.Weights[i])
		}
		copy(m.q, s.Weights)
		if s.Noise != nil {
			if len(s.Noise) != m.Q {
				return fmt.Errorf("vi: Start.Noise: %d values for %d tasks", len(s.Noise), m.Q)
			}
			for q, v := range s.Noise {
				if !(v > 0) || math.IsInf(v, 1) {
					return fmt.Errorf("vi: Start.Noise[%d] is %g", q, v)
				}
			}
			copy(m.noise, s.Noise)
		}
	} else {
		src := random.Source(seed)
		means := make([]float64, m.Q*m.M)
		random.Normal(src, means)
		for i := range m.q {
			m.q[i] = Pair{0, math.Sqrt(m.prior.Variance) * means[i], m.prior.Variance}
		}
	}
	for q := range m.Q {
		for i := range m.M {
			m.setMoments(q, i)
			moves = moves || m.e.At(q, i) != 0
		}
	}
	if !moves {
		return fmt.Errorf("vi: Start.Weights: every weight is zero, and so is every mean function: no update would ever move from there")
	}
	for i := range m.latents {
		m.tally(i)
	}
	for q := range m.Q {
		m.renewResidual(&m.crew.All, q)
	}
	return nil
}

// at returns weight m of task q.
func (m *multiTask) at(q, i int) *Pair { return &m.q[q*m.M+i] }

// setMoments renews the moments of weight i of task q.
func (m *multiTask) setMoments(q, i int) {
	p := *m.at(q, i)
	e, d := p.Moments()
	m.e.Row(q)[i], m.d.Row(q)[i], m.within.Row(q)[i] = e, d, p.VarW()
}

// renewResidual computes the residual of task q afresh.
func (m *multiTask) renewResidual(ws *la.Workspace, q int) {
	r := m.residual.Row(q)
	copy(r, m.y.Row(q))
	la.Gemv(ws, la.Transpose, -1, m.a, m.e.Row(q), 1, r)
	if m.observed.Rows > 0 {
		for n, z := range m.observed.Row(q) {
			r[n] *= z
		}
	}
}

// pruneEvery is the number of sweeps after which latent functions are looked
// through: enough for those that start badly to find something to do.
const pruneEvery = 15

// Sweep implements [vi.Objective]. In the order that is not plain it begins at extrapolated means: where
// tasks and functions are many, both turn slowly together.
func (m *multiTask) Sweep(done func(string)) error {
	if m.ahead == nil || m.sweeps < firstTaskSweeps {
		return m.sweep(done)
	}
	m.takeMeans()
	return m.ahead.Sweep(m, m.next, done)
}

// firstTaskSweeps is how many sweeps there are before means are extrapolated.
const firstTaskSweeps = 10

// takeMeans notes the means of the slabs where they are extrapolated.
func (m *multiTask) takeMeans() {
	for i, q := range m.q {
		m.means[i] = q.Mean
	}
}

// setMeans takes them back, and computes what follows from them and from the functions.
func (m *multiTask) setMeans() {
	for i, v := range m.means {
		m.q[i].Mean = v
	}
	m.renew()
}

// sweep makes the published updates, and the steps of lengths and scales where they are due.
func (m *multiTask) sweep(done func(string)) error {
	m.sweeps++
	report := func(name string) {
		if done != nil {
			done(name)
		}
	}
	for _, i := range m.active {
		if err := m.Ended(); err != nil {
			return err
		}
		f := &m.latents[i]
		if f.cov.kind == zeroCovariance {
			continue
		}
		if err := m.updateLatent(i); err != nil {
			return fmt.Errorf("latent function %d: %w", i, err)
		}
		report("φ")
	}
	if err := m.crew.Each(m.weightTask); err != nil {
		return err
	}
	report("(w̃,s)")
	m.updateNoise()
	report("σ²")
	var sums pairSums
	for q := range m.Q {
		for _, i := range m.active {
			sums.add(*m.at(q, i))
		}
	}
	if !m.held.Variance {
		m.prior.learnVariance(sums)
	}
	report("σ_w²")
	if !m.held.Pi {
		m.prior.learnPi(sums)
	}
	report("π")
	if m.sweeps%pruneEvery == 0 && m.prune() {
		report("pruning")
	}
	return nil
}

// updateLatent is q(φ_m), with
//
//	λ_n = Σ_q z_nq·E[w_qm²]/σ_q²,   h_n = Σ_q z_nq·E[w_qm]·(y_nq − Σ_{k≠m} E[w_qk]·a_nk)/σ_q²,
//
// after its length where that is due.
func (m *multiTask) updateLatent(i int) error {
	f, ws := &m.latents[i], &m.crew.All
	pull, own, precision := m.coef[0], m.coef[1], m.coef[2]
	var all float64
	var allOwn float64
	for q, s := range m.noise {
		e := m.e.At(q, i)
		pull[q] = e / s
		own[q] = e * pull[q]
		precision[q] = m.d.At(q, i) / s
		all += precision[q]
		allOwn += own[q]
	}
	if m.observed.Rows > 0 {
		la.Gemv(ws, la.Transpose, 1, m.observed, precision, 0, f.lambda)
		la.Gemv(ws, la.Transpose, 1, m.observed, own, 0, m.h)
	} else {
		for n := range f.lambda {
			f.lambda[n], m.h[n] = all, allOwn
		}
	}
	for n, a := range f.mean {
		m.h[n] *= a
		m.step[n] = a
	}
	la.Gemv(ws, la.Transpose, 1, m.residual, pull, 1, m.h)
	if m.sweeps%m.lengthsEvery == 0 {
		if f.cov.learned() {
			if err := f.climb(ws, m.scratch, m.h, m.lengthTolerance); err != nil {
				return err
			}
		}
		if !m.plain && f.dense() && f.prior == nil {
			if err := m.rescale(i); err != nil {
				return err
			}
		}
	}
	if err := f.update(ws, m.scratch, m.h); err != nil {
		return err
	}
	for n, a := range f.mean {
		m.step[n] = a - m.step[n]
	}
	m.tally(i)
	m.now = i
	return m.crew.Each(m.moveTask)
}

// rescale moves the scale of latent function i's weights, and with it σ_w², f.lambda
// and h. q(φ) is divided by it, which leaves the likelihood as it was, and must be
// updated afterwards.
func (m *multiTask) rescale(i int) error {
	f := &m.latents[i]
	w := slabWeights{variance: m.prior.Variance, held: m.held.Variance}
	for q := range m.Q {
		for _, j := range m.active {
			if j == i {
				w.own.add(*m.at(q, j))
			} else {
				w.rest.add(*m.at(q, j))
			}
		}
	}
	if !(w.own.slabPower > 0) {
		return nil
	}
	x, err := f.scale(&m.crew.All, m.scratch, m.h, w, m.lengthTolerance)
	if err != nil || x == 0 {
		return err
	}
	c, s := special.Exp(0.5*x), special.Exp(x)
	for q := range m.Q {
		p := m.at(q, i)
		p.Mean, p.Variance = c*p.Mean, s*p.Variance
		m.setMoments(q, i)
	}
	for n := range m.h {
		m.h[n] *= c
		f.lambda[n] *= s
		f.mean[n] /= c
		m.step[n] = f.mean[n]
	}
	if !m.held.Variance {
		w.own.slabPower = float64(w.own.slabPower * s)
		w.own.merge(w.rest)
		m.prior.learnVariance(w.own)
	}
	return nil
}

// moveLatent takes latent function now's step into account in task q's residual.
func (m *multiTask) moveLatent(_ *la.Workspace, q int) error {
	m.shift(q, -m.e.At(q, m.now), m.step)
	return nil
}

// shift adds c·x to task q's residual.
func (m *multiTask) shift(q int, c float64, x []float64) {
	r := m.residual.Row(q)
	if m.observed.Rows == 0 {
		la.Axpy(c, x, r)
		return
	}
	for n, z := range m.observed.Row(q) {
		r[n] += float64(float64(c*z) * x[n])
	}
}

// tally renews the sums of latent function i's variances and squares.
func (m *multiTask) tally(i int) {
	f := &m.latents[i]
	for n, a := range f.mean {
		m.square[n] = a * a
	}
	if m.observed.Rows == 0 {
		var v, s float64
		for n, x := range f.variance {
			v += x
			s += m.square[n]
		}
		for q := range m.Q {
			m.spread.Row(q)[i], m.power.Row(q)[i] = v, s
		}
		return
	}
	for q := range m.Q {
		z := m.observed.Row(q)
		m.spread.Row(q)[i], m.power.Row(q)[i] = la.Dot(z, f.variance), la.Dot(z, m.square)
	}
}

// updateWeightsOf is q(w̃_qm, s_qm) for all m of task q, equation (7).
func (m *multiTask) updateWeightsOf(ws *la.Workspace, q int) error {
	m.renewResidual(ws, q)
	r, e, power := m.residual.Row(q), m.e.Row(q), m.power.Row(q)
	for _, i := range m.active {
		a := m.a.Row(i)
		old := e[i]
		cross := la.Dot(a, r) + float64(old*power[i])
		*m.at(q, i) = m.prior.Posterior(cross, power[i]+m.spread.At(q, i), m.noise[q])
		m.setMoments(q, i)
		m.shift(q, old-e[i], a)
	}
	return nil
}

// squared returns E Σ_n z_nq·(y_nq − f_nq)², a sum of parts that are not negative.
func (m *multiTask) squared(q int) float64 {
	sum := la.SumSq(m.residual.Row(q))
	d, within, spread, power := m.d.Row(q), m.within.Row(q), m.spread.Row(q), m.power.Row(q)
	for _, i := range m.active {
		sum += float64(d[i]*spread[i]) + float64(within[i]*power[i])
	}
	return sum
}

// updateNoise is σ_q² = E Σ_n z_nq(y_nq − f_nq)²/N_q.
func (m *multiTask) updateNoise() {
	if m.held.Noise {
		return
	}
	var sum, count float64
	for q := range m.Q {
		s := m.squared(q)
		if m.count[q] > 0 {
			m.noise[q] = max(s/m.count[q], m.floor[q])
		}
		sum += s
		count += m.count[q]
	}
	if m.shared {
		for q := range m.noise {
			m.noise[q] = max(sum/count, m.floor[q])
		}
	}
}

// boundTerms returns the parts of the bound: the expected log likelihood and minus
// the divergences of the slabs, the indicators and the latent functions.
func (m *multiTask) boundTerms() (likelihood, slabs, spikes, functions float64) {
	for q, s := range m.noise {
		likelihood -= float64(0.5 * (float64(m.count[q]*(conjugate.Log2Pi+special.Log(s))) + m.squared(q)/s))
		for _, i := range m.active {
			slab, spike := m.at(q, i).bound(m.prior)
			slabs += slab
			spikes += spike
		}
	}
	for _, i := range m.active {
		functions -= m.latents[i].kl
	}
	return likelihood, slabs, spikes, functions
}

// Bound implements [vi.Objective].
func (m *multiTask) Bound() float64 {
	likelihood, slabs, spikes, functions := m.boundTerms()
	return likelihood + slabs + spikes + functions
}

// Roundoff implements [vi.Objective], see [work.Roundoff]: that of the residuals, which
// are kept up to date by differences, and of the latent functions' divergences.
func (m *multiTask) Roundoff() float64 {
	var sum float64
	for q, s := range m.noise {
		size := la.SumSq(m.y.Row(q))
		for _, i := range m.active {
			e := m.e.At(q, i)
			size += float64(float64(e*e) * m.power.At(q, i))
		}
		sum += work.Difference(len(m.active)+1, 1/s, la.SumSq(m.residual.Row(q)), size)
	}
	for _, i := range m.active {
		sum += m.latents[i].roundoff(m.N)
	}
	return sum
}

// Jittered implements [vi.Objective].
func (m *multiTask) Jittered() float64 { return jitterOf(m.latents) }

// Observations implements [vi.Objective].
func (m *multiTask) Observations() float64 { return conjugate.Sum(m.count) }

// prune takes latent functions without which the bound is higher out of the
// model, the one that gains most first, and reports whether there were any. The
// bound of a model of fewer functions, the other factors being what they are,
// lacks the divergences and the variance of the one taken out.
func (m *multiTask) prune() bool {
	if m.keepAll {
		return false
	}
	pruned := false
	for {
		best, at := 0.0, -1
		for j, i := range m.active {
			if m.latents[i].cov.kind == zeroCovariance {
				continue
			}
			if gain := m.gainWithout(i); gain > best {
				best, at = gain, j
			}
		}
		if at < 0 {
			return pruned
		}
		m.remove(at)
		pruned = true
	}
}

// gainWithout returns by how much the bound rises when latent function i is taken
// out.
func (m *multiTask) gainWithout(i int) float64 {
	gain := m.latents[i].kl
	for q, s := range m.noise {
		slab, spike := m.at(q, i).bound(m.prior)
		gain -= slab + spike
		e := m.e.At(q, i)
		fit := float64(e * (2*la.Dot(m.residual.Row(q), m.a.Row(i)) + float64(e*m.power.At(q, i))))
		variance := float64(m.d.At(q, i)*m.spread.At(q, i)) + float64(m.within.At(q, i)*m.power.At(q, i))
		gain += 0.5 * (variance - fit) / s
	}
	return gain
}

// remove takes active[at] out of the model: its weights are off for certain.
func (m *multiTask) remove(at int) {
	i := m.active[at]
	m.active = append(m.active[:at], m.active[at+1:]...)
	for q := range m.Q {
		m.shift(q, m.e.At(q, i), m.a.Row(i))
		*m.at(q, i) = Pair{Logit: math.Inf(-1), Variance: m.prior.Variance}
		m.setMoments(q, i)
	}
}

// collapsed lists the tasks whose weights are all off.
func (m *multiTask) collapsed() (tasks []int) {
	for q := range m.Q {
		off := true
		for _, i := range m.active {
			off = off && m.at(q, i).Inclusion() <= offProbability
		}
		if off {
			tasks = append(tasks, q)
		}
	}
	return tasks
}
