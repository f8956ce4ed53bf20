package probit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Model is the multinomial probit kernel machine: C classes told apart by
// functions on one composite kernel K of P base kernels.
//
//	α_{c,d} ~ Gamma(Alpha)         precisions, α = 1/ζ
//	w_{c,d} | α ~ N(0, 1/α_{c,d})  regressors
//	y_{c,n} | w ~ N(w_cᵀ·k_n, 1)   auxiliary variables
//	t_n = argmax_c y_{c,n}         labels
//
// k_n is column n of K, which [Rule] Rule makes of the base kernels and
// their weights β. Their priors: Dirichlet(ρ) with ρ_p ~ Gamma(Rho) for WSum;
// P(β_p = 1) = On[p] for Bin; β_p ~ Gamma(π_p, 1/χ_p) with exponential priors of
// rates Kappa and Xi on π and χ for WProd. The posterior is approximated by
// q(Y)q(W)q(α)q(β)…; q(Y) is a product of Gaussians truncated to cones, whose
// means are computed to the last digits by quadrature. The zero value is ready:
// FixSum, Gamma(1, 1).
//
// Base kernels may be any D×N matrices: with D < N columns of features in place
// of kernels, the model is one in the space of features, and [vi.Stacked] weighs blocks
// of features of different lengths. Nothing needs them to be symmetric or positive
// semidefinite. As the prior's scale is fixed, the scale of the kernels matters: give
// them unit diagonals. WProd takes entries from 0 to 1.
//
// Source: T. Damoulas and M. Girolami, "Combining information with a Bayesian
// multi-class multi-kernel pattern recognition machine"; what the paper leaves to
// its references, and where this follows it corrected, is in docs/probit.md. The
// order of the updates is W, Y, α, β and its hyperparameters.
type Model struct {
	Rule Rule

	// Alpha is the prior of the precisions α, Gamma(τ, 1/ν) in the paper's letters.
	// Small shapes and large scales, such as Gamma{1e-6, 1e6}, make the machine
	// sparse: a relevance vector machine of C classes.
	Alpha vi.Gamma

	// LearnAlpha starts from Alpha and puts the prior where the bound is highest, by type-II
	// maximum likelihood, one for all classes: the scale of the kernels then matters less. Not
	// with ClassAlpha, MAP and Published.
	LearnAlpha bool

	// ClassAlpha, if not nil, is the prior for each class, for imbalanced data:
	// the smaller 1/(Shape·Scale), the more a class is shrunk.
	ClassAlpha []vi.Gamma

	// Ridge adds Ridge·N_c/N to the diagonal of a square training kernel, N_c the
	// number of samples of the sample's class, which holds back large classes.
	Ridge float64

	// Beta holds the weights of the fixed rules, and where those of the others
	// start: nil means 1, for WSum 1/P, for Bin ½.
	Beta []float64

	// Update says how the weights are learned, Search by what means.
	Update WeightUpdate
	Search WeightSearch

	// Samples is the number of importance samples; 0 means 1000.
	Samples int

	Rho       vi.Gamma  // prior of ρ, for Search Sampling
	On        []float64 // P(β_p = 1); nil means ½
	NotEmpty  bool      // Bin: leave out the state without kernels
	Kappa, Xi float64   // rates of the priors of π and χ; 0 means 1
	Theta     vi.Gamma  // prior of the kernels' parameters, for FitParametric

	// Prune takes regressors with E[α] above it out of the equations, which saves
	// most of the work of sparse machines; 0 keeps all. With MAP it takes basis points
	// out, of which that holds in all classes: their regressors are then 0.
	Prune float64

	// Published updates α with E[w]² in place of E[w²], as the paper's algorithm 1.2
	// has it. The bound may then fall, and under vague priors nearly all regressors
	// vanish. It is for comparison only.
	Published bool

	// MAP finds the mode of the posterior of W, and with WSum of W and β, with Y and α integrated
	// out, instead of an approximate posterior: W and β are then points. It is found by expectation
	// and maximisation, whose sweeps are those of Published. It takes the rules FixSum, FixProd and
	// WSum with its other settings of the weights at their defaults. The record
	// has the logarithm of the joint density of labels, W and β; see docs/probit.md. With priors of a
	// small shape that is highest where most regressors are nearly 0: with Prune this is mRVM2 of
	// I. Psorakis, T. Damoulas and M. A. Girolami, "Multiclass relevance vector machines: sparsity and
	// accuracy", IEEE Transactions on Neural Networks 21 (2010); see docs/relevance.md.
	MAP bool

	Ascent vi.Ascent

	// Plain makes exactly the updates of the paper. The default extrapolates E[Y] and E[α]
	// from the last sweeps, where sweeps are coordinate ascent and as far as that raises the
	// bound; see docs/probit.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Seed selects the random start, unless Start is given, and the importance
	// samples.
	Seed  uint64
	Start *Start

	// From, if not nil, is the posterior of an earlier fit by the same rule, of as many classes,
	// kernels and basis points, to go on from. It takes the place of Seed, Start and, where weights are
	// learned, of Beta; one of [Structured] has no state that another fit could begin with.
	From *Posterior
}

// WeightUpdate says how the weights of kernels are learned.
type WeightUpdate int

const (
	// PlugIn weights the kernels by how well they explain E[Y] at the means of W,
	// and takes K at the mean of β everywhere else. It is not a step of coordinate
	// ascent, the bound may fall, and where it settles is no maximum of the bound.
	// Of the two it gives the figures of the paper and is the closer to sampling.
	PlugIn WeightUpdate = iota

	// MeanField is the step of coordinate ascent, with the covariances of W and β.
	// It charges every kernel for the uncertainty of weights that were fitted to
	// another, so that it tends to end with one kernel alone.
	MeanField

	// Structured, for Bin alone, has regressors for each state of the switches,
	// q(W | β)q(β): coordinate ascent in a larger family, whose predictions are
	// mixtures over the states. A sweep solves for all of them, 2^P times the work
	// of fixed weights, and P is at most 8. It starts from ten sweeps of the plain sum,
	// whatever Beta. Like MeanField and like sampling one switch after another it tends
	// to stay in the state that it is in first.
	Structured
)

// WeightSearch says by what means q(β) is found.
type WeightSearch int

const (
	// Mode puts β at the mode of q(β): for WSum the solution of a quadratic
	// programme on the simplex with ρ = 1; for WProd the mode of the density of
	// log β. Bin enumerates all states instead.
	Mode WeightSearch = iota

	// Sampling takes the moments of q(β) and q(ρ) by importance sampling, as the
	// paper does. See [Fit.ESS] for what the sample is worth.
	Sampling
)

// Start is an explicit initial state.
type Start struct {
	Y     la.Matrix[float64] // C×N, E[y]
	Alpha la.Matrix[float64] // C×D, E[α]; empty means the prior's mean
}

// Fit is a fitted kernel machine.
type Fit struct {
	Posterior *Posterior
	Record    vi.Record

	// ESS is the effective sample size of the importance samples of β in the last
	// sweep, out of Samples; 0 without sampling. Near 1 the weights are those of
	// one random point.
	ESS float64

	// Theta holds the kernels' parameters, one kernel's after another's, after
	// FitParametric, and ThetaESS the effective size of their sample, if there is one.
	Theta    []float64
	ThetaESS float64

	// Kept is the number of regressors that were not pruned, of C·D.
	Kept int

	state *model // for BoundGradient
}

// Fit approximates the posterior given the base kernels and the class of each
// sample, from 0 to C−1, each of which must occur. Errors are as package vi
// describes them.
func (p Model) Fit(ctx context.Context, k vi.Kernels, labels []int) (*Fit, error) {
	m, err := p.model(k, labels)
	if err != nil {
		return nil, err
	}
	return p.climb(ctx, m)
}

// climb climbs the bound of m and returns the fit.
func (p Model) climb(ctx context.Context, m *model) (*Fit, error) {
	rec, err := p.Ascent.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return nil, err
	}
	posterior, perr := m.posterior()
	if perr != nil {
		return nil, perr
	}
	fit := &Fit{Posterior: posterior, Record: rec, Kept: m.kept(), state: m}
	if s, ok := m.beta.(interface{ effective() float64 }); ok {
		fit.ESS = s.effective()
	}
	if q := m.theta; q != nil {
		fit.Theta = slices.Clone(q.theta)
		if q.sample != nil {
			fit.ThetaESS = q.sample.effective
		}
	}
	return fit, err
}

// model is the state of a fit.
type model struct {
	work.Stop
	composite  *Composite
	k          vi.Kernels
	C, P, D, N int
	labels     []int
	ridge      []float64 // N, nil if there is none
	update     WeightUpdate
	published  bool
	point      bool // the mode is sought
	prune      float64

	ws      la.Workspace
	classes *work.Crew[*classWorker] // a task for each class
	chunks  *work.Crew[*coneWorker]  // a task for chunkSize samples

	beta    weights            // nil if they are fixed
	theta   *parameters        // nil if there are none
	mean    []float64          // P, E[β]
	kernel  la.Matrix[float64] // D×N, E[K]
	gram    la.Matrix[float64] // D×D, lower triangle of E[K·Kᵀ]
	scratch la.Matrix[float64] // D×N, for what the weights' updates need

	// q(y_n): N(location, I) on its cone.
	y        la.Matrix[float64] // C×N, E[y]
	location la.Matrix[float64] // C×N
	logZ     []float64          // N

	// q(w_c).
	w        la.Matrix[float64] // C×D, means
	variance la.Matrix[float64] // C×D
	logDet   []float64          // C
	sum      la.Matrix[float64] // D×D, Σ_c Cov(w_c); unless the composite kernel is fixed
	f        la.Matrix[float64] // C×N, E[W]·E[K]
	response la.Matrix[float64] // C×D, E[Y]·E[K]ᵀ
	spread   []float64          // C, tr(E[KKᵀ]·Cov(w_c)) + wᵀE[KKᵀ]w
	shake    []float64          // C, Σ B_dd·((B⁻¹)_dd + x_d²) of the systems Bx = … of w_c
	jitter   []float64          // C, of B

	alpha []conjugate.Gammas // C of D
	prior []float64          // shape and scale of the prior of α, where it is learned; else nil

	active  [][]int // regressors that are not pruned
	pruning float64 // by how much the last pruning lowered the bound

	turn                turns
	weightTask          func(*classWorker, int) error
	coneOf              func(*coneWorker, int) error
	updates             []work.Update
	monotone, refreshed bool

	ahead *work.Anderson // of Y and α; nil where sweeps are no ascent, and in the plain order

	memory     work.Memory
	keptActive [][]int
	identity   []float64 // of the kernels, for a journal
}

// weights is q(β) and what depends on it.
type weights interface {
	// update finds q(β) anew and leaves E[β], E[K], E[KKᵀ], f and spread in m.
	update(m *model) error
	// bound returns the terms of β and its hyperparameters.
	bound() float64
	// covariance returns that of β.
	covariance(m *model) la.Matrix[float64]
	// remember names what of q(β) is noted by model.Keep, and restored makes E[K] and
	// E[KKᵀ] in m those of it.
	remember(memory *work.Memory)
	restored(m *model)
	// snapshot names the state of q(β) for a journal.
	snapshot(s *work.Snapshot)
}

// classWorker is the scratch of an update of one class's regressors.
type classWorker struct {
	ws     la.Workspace
	factor la.Matrix[float64] // D×D, lower triangle
	d1, d2 []float64          // D
}

// coneWorker is the scratch of integrals over the cones on which auxiliary
// variables live.
type coneWorker struct {
	cone    special.Cone
	in, out []float64 // C
}

// chunkSize is the number of samples of a task of coneWorkers.
const chunkSize = 16

// newChunks returns a crew whose tasks are chunkSize samples each.
func newChunks(workers, samples, C int) *work.Crew[*coneWorker] {
	return work.NewCrew(workers, (samples+chunkSize-1)/chunkSize, func(int) *coneWorker {
		return &coneWorker{in: make([]float64, C), out: make([]float64, C)}
	})
}

// turns lets tasks add to a common sum in their order.
type turns struct {
	mu   sync.Mutex
	cond sync.Cond
	next int
}

// reset lets task 0 have its turn.
func (t *turns) reset() {
	t.next = 0
	t.cond.L = &t.mu
}

// wait returns when all tasks before i have called done.
func (t *turns) wait(i int) {
	t.mu.Lock()
	for t.next != i {
		t.cond.Wait()
	}
	t.mu.Unlock()
}

// done gives the turn to the next task.
func (t *turns) done() {
	t.mu.Lock()
	t.next++
	t.mu.Unlock()
	t.cond.Broadcast()
}

// model checks the arguments and returns the initial state.
func (p Model) model(k vi.Kernels, labels []int) (*model, error) { return p.build(k, labels, nil) }

// build is model for kernels that depend on the parameters theta, nil if there are none.
func (p Model) build(k vi.Kernels, labels []int, theta *parameters) (*model, error) {
	composite, err := NewComposite(p.Rule, k)
	if err != nil {
		return nil, err
	}
	if theta == nil {
		if err := composite.Bounded(); err != nil {
			return nil, err
		}
	}
	P, D, N := k.Dims()
	if len(labels) != N {
		return nil, fmt.Errorf("vi: labels: %d values for %d samples", len(labels), N)
	}
	count, err := countLabels(labels)
	if err != nil {
		return nil, err
	}
	C := len(count)
	priors, err := p.priors(C)
	if err != nil {
		return nil, err
	}
	m := &model{
		composite: composite, k: k, C: C, P: P, D: D, N: N, labels: labels,
		update: p.Update, theta: theta, published: p.Published || p.MAP, point: p.MAP, prune: p.Prune,
		ws: la.Workspace{Workers: p.Workers},
		classes: work.NewCrew(p.Workers, C, func(share int) *classWorker {
			return &classWorker{
				ws: la.Workspace{Workers: share}, factor: la.NewMatrix[float64](D, D),
				d1: make([]float64, D), d2: make([]float64, D),
			}
		}),
		chunks: newChunks(p.Workers, N, C),
		mean:   make([]float64, P), kernel: la.NewMatrix[float64](D, N), gram: la.NewMatrix[float64](D, D),
		y: la.NewMatrix[float64](C, N), location: la.NewMatrix[float64](C, N), logZ: make([]float64, N),
		w: la.NewMatrix[float64](C, D), variance: la.NewMatrix[float64](C, D), logDet: make([]float64, C),
		f: la.NewMatrix[float64](C, N), response: la.NewMatrix[float64](C, D), spread: make([]float64, C), shake: make([]float64, C), jitter: make([]float64, C),
		monotone: p.MAP || !p.Published && (!p.Rule.Learned() || p.Update != PlugIn),
	}
	m.chunks.Stop = &m.Stop
	switch {
	case !(p.Ridge >= 0) || math.IsInf(p.Ridge, 0):
		return nil, fmt.Errorf("vi: Ridge is %g", p.Ridge)
	case p.Ridge > 0 && D != N:
		return nil, fmt.Errorf("vi: Ridge needs square kernels, not %d×%d", D, N)
	case !(p.Prune >= 0):
		return nil, fmt.Errorf("vi: Prune is %g", p.Prune)
	case p.LearnAlpha && (p.ClassAlpha != nil || p.MAP || p.Published):
		return nil, errors.New("vi: LearnAlpha: not with ClassAlpha, MAP or Published")
	case p.MAP && (p.Rule == Bin || p.Rule == WProd):
		return nil, fmt.Errorf("vi: MAP: %v: FixSum, FixProd or WSum is needed", p.Rule)
	case p.MAP && (p.Update != PlugIn || p.Search != Mode || theta != nil):
		return nil, errors.New("vi: MAP: not with Update, Search or parameters of kernels")
	}
	if p.Ridge > 0 {
		m.ridge = make([]float64, N)
		for n, c := range labels {
			m.ridge[n] = p.Ridge * float64(count[c]) / float64(N)
		}
	}
	for c := range C {
		m.alpha = append(m.alpha, conjugate.NewGammas(priors[c], priors[c].Shape+0.5, D))
		m.active = append(m.active, sequence(D))
	}
	if p.LearnAlpha {
		m.prior = []float64{priors[0].Shape, priors[0].Scale}
		m.memory.Of(m.prior)
	}
	m.weightTask, m.coneOf = m.updateClass, m.updateChunk
	if p.From != nil {
		if err := p.From.fits(p.Rule, C, P, D, theta != nil); err != nil {
			return nil, err
		}
		if p.Rule.Learned() {
			p.Beta = p.From.s.Beta
		}
	}
	if err := m.start(p); err != nil {
		return nil, err
	}
	if m.beta, err = p.weights(m); err != nil {
		return nil, err
	}
	m.memory.Of(m.y.Data, m.mean, m.logZ, m.location.Data)
	for c := range C {
		m.memory.Of(m.alpha[c].Scale)
	}
	if m.beta != nil {
		m.beta.remember(&m.memory)
	}
	if theta != nil {
		m.memory.Of(theta.theta)
	}
	m.keptActive = make([][]int, C)
	if m.monotone && !p.Plain && (p.MAP || p.Prune == 0) && p.Search != Sampling && p.Update != Structured && theta == nil {
		m.ahead = &work.Anderson{}
		m.ahead.Of(false, m.y.Data)
		for c := range C {
			m.ahead.Of(true, m.alpha[c].Scale)
		}
		m.ahead.Of(true, m.prior)
	}
	if p.Ascent.Journal != nil {
		m.identity = identityOf(&m.ws, k)
	}
	m.updates = []work.Update{
		{Name: "W", Step: m.updateW},
		{Name: "Y", Step: m.updateY},
		{Name: "α", Step: func() error { m.updateAlpha(); return nil }},
	}
	if p.LearnAlpha {
		m.updates = append(m.updates, work.Update{Name: "τ, ν", Step: func() error { m.updatePrior(); return nil }})
	}
	if m.beta != nil {
		beta := func() error { return m.beta.update(m) }
		if p.Update == Structured {
			m.updates[0] = work.Update{Name: "W, β", Step: beta}
		} else {
			m.updates = append(m.updates, work.Update{Name: "β", Step: beta})
		}
	}
	return m, nil
}

// sequence returns 0 … n−1.
func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// countLabels returns the number of samples of each class.
func countLabels(labels []int) (count []int, err error) {
	for n, c := range labels {
		if c < 0 || c >= len(labels) {
			return nil, fmt.Errorf("vi: labels[%d] is %d: classes are numbered from 0 on and each occurs", n, c)
		}
		for len(count) <= c {
			count = append(count, 0)
		}
		count[c]++
	}
	for c, n := range count {
		if n == 0 {
			return nil, fmt.Errorf("vi: labels: class %d has no sample", c)
		}
	}
	if len(count) < 2 {
		return nil, fmt.Errorf("vi: labels: there is only one class")
	}
	return count, nil
}

// priors returns the prior of α for each class.
func (p Model) priors(C int) ([]vi.Gamma, error) {
	if p.ClassAlpha != nil && len(p.ClassAlpha) != C {
		return nil, fmt.Errorf("vi: ClassAlpha: %d priors for %d classes", len(p.ClassAlpha), C)
	}
	priors := p.ClassAlpha
	if priors == nil {
		for range C {
			priors = append(priors, conjugate.Or1(p.Alpha))
		}
	}
	for c, g := range priors {
		if err := conjugate.CheckPrior("Alpha", g); err != nil {
			return nil, fmt.Errorf("%w (class %d)", err, c)
		}
	}
	return priors, nil
}

// fits reports what keeps a fit of C classes, P kernels and D basis points from going on from p.
func (p *Posterior) fits(rule Rule, C, P, D int, parametric bool) error {
	c, k, d := p.Dims()
	switch {
	case c != C || k != P || d != D:
		return fmt.Errorf("vi: From: %d classes, %d kernels and %d basis points where there are %d, %d and %d", c, k, d, C, P, D)
	case p.s.Rule != rule:
		return fmt.Errorf("vi: From: its rule is %v, not %v", p.s.Rule, rule)
	case p.parts != nil:
		return errors.New("vi: From: a mixture of the states of switches is nothing to go on from")
	case parametric:
		return errors.New("vi: From: not where parameters of kernels are learned")
	}
	return nil
}

// resume sets E[Y] and E[α] to those of the posterior p, with the weights beta.
func (m *model) resume(p *Posterior, rule Rule, beta []float64) error {
	beta, err := rule.start(beta, m.P)
	if err != nil {
		return err
	}
	copy(m.mean, beta)
	m.setKernel()
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, p.s.W, m.kernel, 0, m.f)
	if err := m.updateY(); err != nil {
		return err
	}
	for c := range m.C {
		g, active := &m.alpha[c], m.active[c][:0]
		for d, a := range p.s.Alpha.Row(c) {
			if math.IsInf(a, 1) { // it stays out
				if m.point { // its regressor is 0
					g.Scale[d] = g.Prior.Scale
				} else {
					g.Scale[d] = prunedPrecision(g.Prior, m.gram.At(d, d)) / g.Shape
				}
				continue
			}
			g.Scale[d] = a / g.Shape
			active = append(active, d)
		}
		m.active[c] = active
	}
	return nil
}

// prunedPrecision returns the E[α] at which a regressor that is out of the equations, of the
// variance 1/(α + gram), rests: the solution of α·(ν + ½/(α + gram)) = τ + ½.
func prunedPrecision(prior vi.Gamma, gram float64) float64 {
	tau, nu := prior.Shape, 1/prior.Scale
	b := tau - float64(nu*gram)
	root := math.Sqrt(float64(b*b) + float64(4*nu*(tau+0.5)*gram))
	if b < 0 { // without their difference
		return 2 * (tau + 0.5) * gram / (root - b)
	}
	return (b + root) / (2 * nu)
}

// start sets E[Y] and E[α]. The random start is that of auxiliary variables around
// standard normal functions.
func (m *model) start(p Model) error {
	if p.From != nil {
		return m.resume(p.From, p.Rule, p.Beta)
	}
	s := p.Start
	if s == nil {
		var cone special.Cone
		functions := la.NewMatrix[float64](m.N, m.C)
		random.Normal(random.Source(p.Seed), functions.Data)
		for n := range m.N {
			cone.Mean(m.labels[n], functions.Row(n), functions.Row(n))
			for c, v := range functions.Row(n) {
				m.y.Set(c, n, v)
			}
		}
	} else {
		if err := check.Start("Y", s.Y, m.C, m.N); err != nil {
			return err
		}
		m.y.CopyFrom(s.Y)
	}
	for c := range m.C {
		g := &m.alpha[c]
		for d := range m.D {
			g.Scale[d] = g.Prior.Mean() / g.Shape
		}
	}
	if s == nil || s.Alpha.Rows == 0 {
		return nil
	}
	if err := check.Start("Alpha", s.Alpha, m.C, m.D); err != nil {
		return err
	}
	for c := range m.C {
		for d, v := range s.Alpha.Row(c) {
			if !(v > 0) {
				return fmt.Errorf("vi: Start.Alpha: entry (%d, %d) is %g", c, d, v)
			}
			m.alpha[c].Scale[d] = v / m.alpha[c].Shape
		}
	}
	return nil
}

// setKernel makes E[K] the composite kernel at E[β] and E[KKᵀ] its square.
func (m *model) setKernel() {
	m.composite.Combine(&m.ws, m.mean, m.kernel)
	m.addRidge(m.kernel)
	la.Syrk(&m.ws, la.NoTrans, 1, m.kernel, 0, m.gram)
}

// settle makes E[K] the kernel at E[β] and renews what depends on it.
func (m *model) settle() {
	m.setKernel()
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	for c := range m.C {
		m.spread[c] = la.SumSq(m.f.Row(c))
	}
	m.spread[0] += lowerInner(m.gram, m.sum)
}

// likelihoodOf returns Σ E[y]∘f − ½ Σ f∘f − ½ tr(kᵀ(Σ_c V_c)k) with f = E[W]·k, of
// which [PlugIn] leaves the trace out; f and t take intermediate results.
func (m *model) likelihoodOf(k, f, t la.Matrix[float64]) float64 {
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, k, 0, f)
	var v float64
	for c := range m.C {
		row := f.Row(c)
		v += la.Dot(m.y.Row(c), row) - float64(0.5*la.SumSq(row))
	}
	if m.update == MeanField {
		la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.sum, k, 0, t)
		for d := range m.D {
			v -= float64(0.5 * la.Dot(k.Row(d), t.Row(d)))
		}
	}
	return v
}

// addRidge adds the ridge to the diagonal of a kernel.
func (m *model) addRidge(k la.Matrix[float64]) {
	for n, r := range m.ridge {
		k.Row(n)[n] += r
	}
}

// Sweep implements [vi.Objective].
func (m *model) Sweep(done func(string)) error {
	m.pruning = 0
	if m.prune > 0 {
		if err := m.pruneRegressors(); err != nil {
			return err
		}
		if done != nil && m.pruning > 0 {
			done("pruning")
		}
	}
	sweep := func(done func(string)) error {
		m.setPrior()
		return work.Sweep(&m.Stop, m.updates, done)
	}
	if m.ahead == nil {
		return sweep(done)
	}
	return m.ahead.Sweep(m, sweep, done)
}

// Keep implements [vi.Objective]. It copies O(C·(N + D)) numbers and those of q(β): the
// posterior solves for the regressors again.
func (m *model) Keep() {
	m.memory.Keep()
	for c, active := range m.active {
		m.keptActive[c] = append(m.keptActive[c][:0], active...)
	}
}

// Restore implements [vi.Objective], as far as posteriors go.
func (m *model) Restore() {
	m.memory.Restore()
	for c, active := range m.keptActive {
		m.active[c] = append(m.active[c][:0], active...)
	}
	m.setPrior()
	m.restoreKernel()
}

// restoreKernel makes E[K] and E[KKᵀ] those of q(β) and q(Θ).
func (m *model) restoreKernel() {
	if m.theta != nil {
		for p := range m.theta.base {
			m.theta.set(m, p)
		}
	}
	switch {
	case m.beta != nil:
		m.beta.restored(m)
	case m.theta != nil:
		m.setKernel()
	}
}

// Roundoff implements [vi.Objective], see [work.Roundoff]: of the log determinants and
// of the quadratic forms that follow from the systems that were solved.
func (m *model) Roundoff() float64 {
	var sum float64
	for c, v := range m.shake {
		sum += float64((work.Roundoff(m.D) + m.jitter[c]) * v)
	}
	return sum
}

// Allowance implements [vi.Objective]: steps that are not ascent may take the bound
// anywhere, new importance samples among them.
func (m *model) Allowance() float64 {
	if s, ok := m.beta.(interface{ drew() bool }); !m.monotone || ok && s.drew() {
		return math.Inf(1)
	}
	return max(0, m.pruning)
}

// Jittered implements [vi.Objective].
func (m *model) Jittered() float64 { return slices.Max(m.jitter) }

// Observations implements [vi.Objective].
func (m *model) Observations() float64 { return float64(m.N) }

// updateW is q(w_c) = N(V_c·E[K]·E[y_c], V_c), V_c = (E[KKᵀ] + diag E[α_c])⁻¹
// (equations 1.8 and 1.9).
func (m *model) updateW() error {
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.y, m.kernel, 0, m.response)
	m.turn.reset()
	if err := m.classes.Each(m.weightTask); err != nil {
		return fmt.Errorf("W: %w", err)
	}
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	return nil
}

// updateClass solves for class c with B = I + A^-½·E[KKᵀ]·A^-½, all of whose
// eigenvalues are at least 1: V = A^-½·B⁻¹·A^-½. tr(E[KKᵀ]V) and wᵀE[KKᵀ]w then
// follow from the system that was solved.
func (m *model) updateClass(w *classWorker, c int) error {
	active := m.active[c]
	n := len(active)
	root, b := w.d1[:n], w.factor.Slice(0, n, 0, n)
	mean, variance := m.w.Row(c), m.variance.Row(c)
	x := w.d2[:n]
	response := m.response.Row(c)
	var logAlpha float64
	for i, d := range active {
		a := m.alpha[c].Mean(d)
		logAlpha += special.Log(a)
		root[i] = 1 / math.Sqrt(a)
		x[i] = root[i] * response[d]
	}
	added, err := factorB(&w.ws, b, m.gram, active, root)
	var spread, shake float64
	if err == nil {
		m.logDet[c] = -logAlpha - la.LogDet(b)
		la.CholeskySolveVec(b, x)
		for i, d := range active {
			mean[d] = root[i] * x[i]
			spread += float64(mean[d]*response[d]) - float64(x[i]*x[i])
			shake += float64(m.scaled(d, root[i]) * float64(x[i]*x[i]))
		}
	}
	if m.sum.Rows == 0 {
		if err != nil {
			return fmt.Errorf("class %d: %w", c, err)
		}
		la.CholeskyInvDiag(&w.ws, b, x)
		for i, d := range active {
			spread += 1 - x[i]
			shake += float64(m.scaled(d, root[i]) * x[i])
			variance[d] = root[i] * root[i] * x[i]
		}
		m.spread[c], m.shake[c], m.jitter[c] = spread+m.settlePruned(c), shake, added
		return nil
	}
	if err == nil {
		la.CholeskyInv(&w.ws, b)
		for i, d := range active {
			row := b.Row(i)
			spread += 1 - row[i]
			shake += float64(m.scaled(d, root[i]) * row[i])
			for j, r := range root[:i+1] {
				row[j] *= root[i] * r
			}
			variance[d] = row[i]
		}
		m.spread[c], m.shake[c], m.jitter[c] = spread+m.settlePruned(c), shake, added
	}
	m.turn.wait(c)
	defer m.turn.done()
	if err != nil {
		return fmt.Errorf("class %d: %w", c, err)
	}
	m.addCovariance(c, b)
	return nil
}

// factorB stores the Cholesky factor of B = I + A^-½·E[KKᵀ]·A^-½ of the active
// regressors in b, from the lower triangle of E[KKᵀ] and the A^-½ of each. Where
// rounding has made B indefinite, A^-½·E[KKᵀ]·A^-½ gets a relative jitter, which is
// returned.
func factorB(ws *la.Workspace, b, gram la.Matrix[float64], active []int, root []float64) (added float64, err error) {
	for {
		for i, d := range active {
			row, g := b.Row(i), gram.Row(d)
			if len(active) == gram.Rows {
				for j, r := range root[:i+1] {
					row[j] = float64(root[i]*r) * g[j]
				}
			} else {
				for j, e := range active[:i+1] {
					row[j] = float64(root[i]*root[j]) * g[e]
				}
			}
			row[i] = 1 + float64(row[i]*(1+added))
		}
		if err = la.Cholesky(ws, b); err == nil {
			return added, nil
		}
		more, ok := jitter.More(len(active), added, err)
		if !ok {
			return added, err
		}
		added = more
	}
}

// scaled returns the diagonal entry of B of regressor d, root = E[α_d]^-½.
func (m *model) scaled(d int, root float64) float64 {
	return 1 + float64(float64(root*root)*m.gram.At(d, d))
}

// addCovariance adds the covariance of w_c, whose active part's lower triangle is
// v, to the sum over the classes.
func (m *model) addCovariance(c int, v la.Matrix[float64]) {
	active := m.active[c]
	if c == 0 {
		m.sum.Fill(0)
	}
	if len(active) == m.D {
		for d := range m.D {
			la.Axpy(1, v.Row(d)[:d+1], m.sum.Row(d)[:d+1])
		}
		return
	}
	i := 0
	for d := range m.D {
		if i == len(active) || active[i] != d {
			m.sum.Row(d)[d] += m.variance.At(c, d)
			continue
		}
		row := m.sum.Row(d)
		for j, e := range active[:i+1] {
			row[e] += v.At(i, j)
		}
		i++
	}
}

// updateY is q(y_n) = N(E[W]·E[k_n], I) on the cone of its label (equations 1.5 to
// 1.7).
func (m *model) updateY() error {
	m.location.CopyFrom(m.f)
	return m.chunks.Each(m.coneOf)
}

// updateChunk is updateY for a chunk of samples.
func (m *model) updateChunk(w *coneWorker, chunk int) error {
	w.truncate(chunk, m.labels, m.location, m.y, m.logZ)
	return nil
}

// truncate makes y the means of auxiliary variables around the locations on the cones of
// their labels, and logZ the logarithms of the cones' probabilities, for a chunk of samples.
func (w *coneWorker) truncate(chunk int, labels []int, location, y la.Matrix[float64], logZ []float64) {
	in, out := w.in, w.out
	for n := chunk * chunkSize; n < min(len(labels), (chunk+1)*chunkSize); n++ {
		for c := range in {
			in[c] = location.At(c, n)
		}
		logZ[n] = w.cone.Mean(labels[n], in, out)
		for c, v := range out {
			y.Set(c, n, v)
		}
	}
}

// updateAlpha is q(α_{c,d}), to whose rate E[w²]/2 is added.
func (m *model) updateAlpha() {
	for c := range m.C {
		mean, variance := m.w.Row(c), m.variance.Row(c)
		for d, w := range mean {
			square := float64(w * w)
			if !m.published {
				square += variance[d]
			}
			m.alpha[c].Observe(d, float64(0.5*square))
		}
	}
}

// setPrior makes the prior of α the one that is learned, and the factors' shape that which it asks for.
func (m *model) setPrior() {
	if m.prior == nil {
		return
	}
	prior := vi.Gamma{Shape: m.prior[0], Scale: m.prior[1]}
	for c := range m.alpha {
		m.alpha[c].SetPrior(prior, prior.Shape+0.5)
	}
}

// updatePrior puts the prior of α where the bound is highest, and then q(α). What depends on
// the prior is Σ E[log Gamma(α | τ, ν)] over the CD precisions, highest at
//
//	ν = τ/mean E[α],   log τ − ψ(τ) = log mean E[α] − mean E[log α].
func (m *model) updatePrior() {
	var mean, logs float64
	for c := range m.alpha {
		g := &m.alpha[c]
		for d := range g.Scale {
			mean += g.Mean(d)
			logs += g.MeanLog(d)
		}
	}
	n := float64(m.C * m.D)
	mean /= n
	shape := gammaShape(special.Log(mean) - logs/n)
	m.prior[0], m.prior[1] = shape, mean/shape
	m.setPrior()
	m.updateAlpha()
}

// gammaShape solves log τ − ψ(τ) = s for τ, by Newton's iteration in log τ, within 1e-6 and 1e4.
func gammaShape(s float64) float64 {
	const least, most = 1e-6, 1e4
	switch {
	case !(s > special.LogMinusDigamma(most)):
		return most
	case s >= special.LogMinusDigamma(least):
		return least
	}
	t := (3 - s + math.Sqrt(float64((s-3)*(s-3))+float64(24*s))) / (12 * s) // T. P. Minka's start
	for range 20 {
		t = min(max(t, least), most)
		step := (special.LogMinusDigamma(t) - s) / (float64(t*special.Trigamma(t)) - 1)
		t *= special.Exp(min(max(step, -1), 1))
		if math.Abs(step) < 1e-12 {
			break
		}
	}
	return min(max(t, least), most)
}

// Bound implements [vi.Objective]. With Z the normalisers of q(Y) and m its location,
//
//	Σ_n log Z_n + Σ_{c,n} (E[y](f − m) + ½m²) − ½ Σ_c (tr(E[KKᵀ]V_c) + w_cᵀE[KKᵀ]w_c)
//
// and the terms of W, α and β. The second moments of Y cancel.
func (m *model) Bound() float64 {
	if m.point {
		return m.logJoint()
	}
	var sum float64
	for _, z := range m.logZ {
		sum += z
	}
	for i, y := range m.y.Data {
		l := m.location.Data[i]
		sum += float64(y*(m.f.Data[i]-l)) + float64(0.5*l*l)
	}
	for c := range m.C {
		sum += float64(0.5*(m.logDet[c]-m.spread[c])) + m.alphaBound(c)
	}
	if m.beta != nil {
		sum += m.beta.bound()
	}
	if m.theta != nil {
		sum += m.theta.bound()
	}
	return sum
}

// logJoint returns the logarithm of the density of labels, W and β where Y and α were found last,
//
//	Σ_n log P(t_n | W, β) + Σ_{c,d} log p(w_{c,d}) + log p(β),
//
// p(w) being the Student-t density that Gamma(τ, rate ν) leaves of N(0, 1/α),
//
//	Γ(τ+½)/(Γ(τ)·√(2πν))·(1 + w²/2ν)^−(τ+½),
//
// whose power is that of the rate of q(α), ν + ½w², over ν. The first sweep comes before it.
func (m *model) logJoint() float64 {
	var sum float64
	for _, z := range m.logZ {
		sum += z
	}
	for c := range m.C {
		g := &m.alpha[c]
		logs := 0.0
		for _, s := range g.Scale {
			logs += special.Log(s / g.Prior.Scale)
		}
		constant := special.LogGamma(g.Shape) - special.LogGamma(g.Prior.Shape) + float64(0.5*(special.Log(g.Prior.Scale)-conjugate.Log2Pi))
		sum += float64(g.Shape*logs) + float64(float64(m.D)*constant)
	}
	if m.beta != nil {
		sum += m.beta.bound()
	}
	return sum
}

// alphaBound returns what w_c | α and α add for class c, and the constants of the
// entropy of q(w_c).
func (m *model) alphaBound(c int) float64 {
	g := &m.alpha[c]
	sum := g.Bound()
	mean, variance := m.w.Row(c), m.variance.Row(c)
	for d, w := range mean {
		sum += float64(0.5 * (1 + g.MeanLog(d) - float64(g.Mean(d)*(float64(w*w)+variance[d]))))
	}
	return sum
}

// kept counts the regressors that are not pruned.
func (m *model) kept() (n int) {
	for _, a := range m.active {
		n += len(a)
	}
	return n
}

// pruneRegressors takes the regressors with E[α] above the threshold out of the
// systems of equations. They keep a variance of their own: the posterior is one
// of a smaller family, whose bound may be lower. A mode is one of fewer variables,
// and where the density is lower without them it falls.
func (m *model) pruneRegressors() error {
	first := !m.refreshed
	m.refreshed = true
	before, last := m.kept(), 0.0
	if !first {
		last = m.Bound()
	}
	for c, active := range m.active {
		kept := active[:0]
		for _, d := range active {
			if m.superfluous(c, d) {
				m.w.Set(c, d, 0)
			} else {
				kept = append(kept, d)
			}
		}
		m.active[c] = kept
	}
	if first || m.kept() == before {
		return nil
	}
	if m.ahead != nil {
		m.ahead.Forget()
	}
	// The smaller family's best W, or the density without them, and what it costs.
	settle := m.updates[0].Step
	if m.point {
		settle = m.settleMode
	}
	if err := settle(); err != nil {
		return err
	}
	m.pruning = max(0, last-m.Bound())
	return nil
}

// superfluous tells whether E[α] of regressor d of class c, at a mode of all classes, is above
// the threshold.
func (m *model) superfluous(c, d int) bool {
	if !m.point {
		return m.alpha[c].Mean(d) > m.prune
	}
	for c := range m.alpha {
		if !(m.alpha[c].Mean(d) > m.prune) {
			return false
		}
	}
	return true
}

// settleMode makes Y and α those of the present W.
func (m *model) settleMode() error {
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	m.updateAlpha()
	return m.updateY()
}

// settlePruned gives the pruned regressors of class c mean 0 and the variance
// that is best for them alone, and returns their part of the spread. Their
// entropies are added to those of q(w_c).
func (m *model) settlePruned(c int) (spread float64) {
	active := m.active[c]
	if len(active) == m.D {
		return 0
	}
	mean, variance := m.w.Row(c), m.variance.Row(c)
	i := 0
	for d := range m.D {
		if i < len(active) && active[i] == d {
			i++
			continue
		}
		g := m.gram.At(d, d)
		mean[d] = 0
		variance[d] = 1 / (m.alpha[c].Mean(d) + g)
		m.logDet[c] += special.Log(variance[d])
		spread += float64(g * variance[d])
	}
	return spread
}
