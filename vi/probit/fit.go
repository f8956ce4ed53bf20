package probit

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// model is the state of a fit.
type model struct {
	work.Stop
	composite  *Composite
	k          vi.Kernels
	C, P, D, N int
	labels     []int
	ridge      []float64 // N, nil without a ridge
	update     WeightUpdate
	published  bool
	point      bool // the mode is sought
	prune      float64

	ws      la.Workspace
	classes *work.Crew[*classWorker] // a task for each class
	chunks  *work.Crew[*coneWorker]  // a task for chunkSize samples

	beta    weights            // nil if they are fixed
	theta   *parameters        // nil if the kernels have no parameters
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

// model checks the arguments and returns the initial state.
func (p Model) model(k vi.Kernels, labels []int) (*model, error) { return p.build(k, labels, nil) }

// build is model for kernels that depend on the parameters theta, nil if they have no parameters.
func (p Model) build(k vi.Kernels, labels []int, theta *parameters) (*model, error) {
	composite, err := NewComposite(p.Rule, k)
	if err == nil && theta == nil {
		err = composite.Bounded()
	}
	if err != nil {
		return nil, err
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
	if err == nil {
		err = p.check(D, N, theta != nil)
	}
	if err != nil {
		return nil, err
	}
	m := p.room(composite, labels, C)
	m.theta = theta
	m.ridge = p.ridges(labels, count)
	m.setPriors(priors, p.LearnAlpha)
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
	m.remember()
	if p.accelerates(m) {
		m.accelerate()
	}
	if p.Ascent.Journal != nil {
		m.identity = identityOf(&m.ws, k)
	}
	m.setUpdates(p)
	return m, nil
}

// setPriors puts q(α) of every class at its prior, with all regressors in the model.
func (m *model) setPriors(priors []vi.Gamma, learn bool) {
	for c, prior := range priors {
		m.alpha[c] = conjugate.NewGammas(prior, prior.Shape+0.5, m.D)
		m.active[c] = sequence(m.D)
	}
	if learn {
		m.prior = []float64{priors[0].Shape, priors[0].Scale}
	}
}

// accelerates reports whether sweeps begin from extrapolated means.
func (p Model) accelerates(m *model) bool {
	return m.monotone && !p.Plain && (p.MAP || p.Prune == 0) &&
		p.Search != WeightSearchSampling && p.Update != WeightUpdateStructured && m.theta == nil
}

// check reports settings that are out of range or do not go together, for D×N kernels.
func (p Model) check(D, N int, parametric bool) error {
	switch {
	case !(p.Ridge >= 0) || math.IsInf(p.Ridge, 0):
		return fmt.Errorf("vi: Ridge is %g", p.Ridge)
	case p.Ridge > 0 && D != N:
		return fmt.Errorf("vi: Ridge needs square kernels, not %d×%d", D, N)
	case !(p.Prune >= 0):
		return fmt.Errorf("vi: Prune is %g", p.Prune)
	case p.LearnAlpha && (p.ClassAlpha != nil || p.MAP || p.Published):
		return errors.New("vi: LearnAlpha: not with ClassAlpha, MAP or Published")
	case p.MAP && (p.Rule == RuleBin || p.Rule == RuleWProd):
		return fmt.Errorf("vi: MAP: %v: FixSum, FixProd or WSum is needed", p.Rule)
	case p.MAP && (p.Update != WeightUpdatePlugIn || p.Search != WeightSearchMode || parametric):
		return errors.New("vi: MAP: not with Update, Search or parameters of kernels")
	}
	return nil
}

// room returns a state without values, of C classes.
func (p Model) room(composite *Composite, labels []int, C int) *model {
	P, D, N := composite.Dims()
	m := &model{
		composite: composite, k: composite.Base(), C: C, P: P, D: D, N: N, labels: labels,
		update: p.Update, published: p.Published || p.MAP, point: p.MAP, prune: p.Prune,
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
		f: la.NewMatrix[float64](C, N), response: la.NewMatrix[float64](C, D),
		spread: make([]float64, C), shake: make([]float64, C), jitter: make([]float64, C),
		alpha: make([]conjugate.Gammas, C), active: make([][]int, C), keptActive: make([][]int, C),
		monotone: p.MAP || !p.Published && (!p.Rule.Learned() || p.Update != WeightUpdatePlugIn),
	}
	m.chunks.Stop = &m.Stop
	m.weightTask, m.coneOf = m.updateClass, m.updateChunk
	return m
}

// ridges returns what Ridge adds to the diagonal of the kernel for each sample, nil without it.
func (p Model) ridges(labels, count []int) []float64 {
	if p.Ridge == 0 {
		return nil
	}
	ridge := make([]float64, len(labels))
	for n, c := range labels {
		ridge[n] = p.Ridge * float64(count[c]) / float64(len(labels))
	}
	return ridge
}

// remember names what Keep notes.
func (m *model) remember() {
	m.memory.Of(m.prior, m.y.Data, m.mean, m.logZ, m.location.Data)
	for c := range m.alpha {
		m.memory.Of(m.alpha[c].Scale)
	}
	if m.beta != nil {
		m.beta.remember(&m.memory)
	}
	if m.theta != nil {
		m.memory.Of(m.theta.theta)
	}
}

// accelerate lets sweeps extrapolate E[Y], E[α] and the prior of α, if that is learned.
func (m *model) accelerate() {
	m.ahead = &work.Anderson{}
	m.ahead.Of(false, m.y.Data)
	for c := range m.alpha {
		m.ahead.Of(true, m.alpha[c].Scale)
	}
	m.ahead.Of(true, m.prior)
}

// setUpdates puts the updates of a sweep in their order.
func (m *model) setUpdates(p Model) {
	m.updates = []work.Update{
		{Name: "W", Step: m.updateW},
		{Name: "Y", Step: m.updateY},
		{Name: "α", Step: func() error { m.updateAlpha(); return nil }},
	}
	if p.LearnAlpha {
		m.updates = append(m.updates, work.Update{Name: "τ, ν", Step: func() error { m.updatePrior(); return nil }})
	}
	if m.beta == nil {
		return
	}
	beta := func() error { return m.beta.update(m) }
	if p.Update == WeightUpdateStructured {
		m.updates[0] = work.Update{Name: "W, β", Step: beta}
	} else {
		m.updates = append(m.updates, work.Update{Name: "β", Step: beta})
	}
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
