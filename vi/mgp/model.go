package mgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Model is the multiple Gaussian process model for regression and binary
// classification: a sum of P functions, one for each kernel, whose precisions
// γ_p have a generalised inverse Gaussian prior that decides how sparse the sum
// is.
//
//	γ_p     ~ GIG(ω, χ, φ)               scales
//	f_p | γ ~ N(0, K_p/γ_p)              functions on the N samples
//	y | f   ~ N(Σ_p f_p, I/τ)            targets, or
//	t_n     = sign y_n                   labels ±1
//
// The posterior is approximated by q(f)q(γ), for labels q(f)q(y)q(γ). The zero
// value is ready: a Student-t process whose prior, and in regression τ, are
// learned by type-II maximum likelihood.
//
// The model has no bias: targets are to be centred, or a constant kernel added.
//
// Source: C. Archambeau and F. Bach, "Multiple Gaussian process models", 2010;
// the updates in terms of N×N matrices and the lower bound, which the paper does
// not state, are derived in docs/mgp.md, which numbers them (D1), (D2), …. The
// order of the updates is f, y, γ, τ, (ω, χ, φ).
type Model struct {
	Family Family // of the prior of γ

	// Prior is the prior of γ to start from. The zero value is a weak prior of the family at the
	// scale of the targets, and so are parameters of 0 that are not held, where there is no such
	// prior of the family. Held says which parameters are not learned.
	Prior GIG
	Held  Held

	// Tau is the noise precision τ to start from; 0 means twice the precision of
	// the targets, or 1 for labels.
	Tau   float64
	Noise Noise

	// Ranks holds r_p, the degrees of freedom that carry γ_p: N, as in the paper,
	// if Ranks is nil, or the rank of K_p, which makes the model the same as one
	// in the space of features.
	Ranks []int

	Ascent vi.Ascent

	// Plain makes exactly the published updates, and learns the prior from the
	// first sweep on, one of ω, χ, φ after another. The default keeps the prior as
	// it starts until the bound has settled, since from equal scales learning at
	// once runs into the plain Gaussian process; it then learns ω jointly with χ
	// or φ where it can, and the common scale of all γ; and it moves the γ further
	// than the updates do while that raises the bound, which saves most of the
	// sweeps. See docs/mgp.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Start, if not nil, is where the ascent starts from.
	Start *Start
}

// Noise says what becomes of the noise precision τ.
type Noise int

// Treatments of the noise.
const (
	// NoiseDefault learns τ from targets and keeps it for labels, where it cannot
	// be told from the scale of the functions.
	NoiseDefault Noise = iota
	NoiseLearned
	NoiseFixed
)

// Start is an explicit initial state.
type Start struct {
	Gamma []float64 // E[γ_p], P values

	// Y is E[y_n], for labels only; nil means that of y ~ N(0, 1/τ) given its sign.
	Y []float64
}

// Fit is a fitted multiple Gaussian process.
type Fit struct {
	Posterior *Posterior
	Record    vi.Record

	// GPLimit tells that the learned prior is nearly a point, the standard
	// deviation of log γ being less than a tenth: the kernels' scales are so alike
	// that the model is a plain Gaussian process with the kernel Σ K_p/γ. ω then
	// grows for as long as the ascent goes on.
	GPLimit bool

	// Collapsed tells that the fitted function vanishes: on few or noisy samples
	// the bound of the empty model may be the highest.
	Collapsed bool

	// What only fits by the [Evidence] have: the log evidence in nats (of labels an
	// estimate, or a bound), the parameters of [Adaptive] kernels, and the prediction of
	// every sample from all others.
	LogEvidence float64
	Parameters  []float64
	LeaveOneOut *LeaveOneOut

	// Noise is the noise of [Evidence.FitVarying], nil where it is constant. The
	// posterior's τ is then one over the mean noise variance of the samples.
	Noise *NoiseProcess

	// Draws are those of [Evidence.Draws], over which predictions are to be averaged.
	// LeaveOneOut is then that of their mixture; all else is at the values of highest
	// posterior density.
	Draws []Draw
}

// Fit approximates the posterior given square kernels and N targets. Errors are
// as package vi describes them; kernels that are not positive semidefinite end in
// one.
func (g Model) Fit(ctx context.Context, k vi.Kernels, y []float64) (*Fit, error) {
	return g.fit(ctx, k, y, false)
}

// FitLabels approximates the posterior given square kernels and N labels, each
// −1 or +1.
func (g Model) FitLabels(ctx context.Context, k vi.Kernels, t []float64) (*Fit, error) {
	return g.fit(ctx, k, t, true)
}

// pointVariance is the variance of log γ below which a prior counts as a point.
const pointVariance = 0.01

// priorPasses is how often a sweep updates γ and its prior again.
const priorPasses = 3

// settled is the Ascent.Tolerance at which the prior begins to be learned: by then the
// scales of kernels that are needed stand out, which is all that this is for.
const settled = 1e-3

// fit is Fit and FitLabels.
func (g Model) fit(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*Fit, error) {
	m, err := g.model(k, y, labels)
	if err != nil {
		return nil, err
	}
	var rec vi.Record
	if m.learnPrior && !g.Plain {
		m.learnPrior = false
		first := g.Ascent
		first.Tolerance = max(settled, first.Tolerance)
		rec, err = first.Run(ctx, m)
		m.learnPrior = true
	}
	if err == nil && (len(rec.Trace) == 0 || rec.Reason.Done()) {
		rec, err = g.Ascent.Continue(ctx, m, rec, len(rec.Trace))
	}
	if len(rec.Trace) == 0 {
		return nil, err
	}
	p, perr := m.posterior()
	if perr != nil {
		return nil, perr
	}
	return &Fit{
		Posterior: p, Record: rec,
		GPLimit:   m.learnPrior && m.prior.VarLog() < pointVariance,
		Collapsed: m.collapsed(),
	}, err
}

// collapsed reports whether the fitted function's mean square is below a
// thousandth of the noise variance.
func (m *model) collapsed() bool {
	var square float64
	for i, v := range m.mean {
		f := v - m.alpha[i]/m.tau0
		square += float64(f * f)
	}
	return square < 1e-3*float64(m.N)/m.tau0
}

// model is the state of a fit.
type model struct {
	work.Stop
	k      vi.Kernels
	passes *passes
	P, N   int
	ws     la.Workspace
	y      []float64 // targets or labels
	labels bool
	rank   []float64 // r_p

	family     Family
	held       Held // by the family too
	plain      bool
	joint      bool // learn ω jointly with χ or φ
	learnPrior bool
	learnTau   bool

	state
	kept    state // see Keep
	goAhead bool  // compute the next q(f) ahead of the present scales
	ahead   *ahead

	// Scratch of the update of q(f).
	b      la.Matrix[float64] // N×N
	diag   []float64          // N, of B
	before []float64          // N, E[y] before a round
	weight []float64          // P, 1/γ°
	trace  []float64          // P, tr(B⁻¹K_p)
	quad   []float64          // P, αᵀK_pα
	left   float64            // tr(B⁻¹)

	updates  []work.Update
	identity []float64 // N, of the kernels, for a journal
}

// state is what the bound depends on.
type state struct {
	// q(γ_p), its moments E[γ], E[1/γ], E[log γ], their prior, and τ.
	q       []GIG
	moments []gigMoments
	prior   GIG
	tau     float64

	// q(f): the E[γ] and τ it was computed from (marked ° in the derivation), and
	// what follows from it.
	gamma0 []float64
	tau0   float64
	logDet float64   // log|B|, B = Σ K_p/γ°_p + I/τ°
	alpha  []float64 // N, B⁻¹·E[y]
	shake  shake
	s      []float64 // P, E[f_pᵀ·K_p⁻¹·f_p]
	spread float64   // tr Cov[Σ f_p]
	nu     []float64 // N, E[Σ f_p]; labels only
	error2 float64   // E|y − Σ f_p|²

	// q(y), labels only.
	mean     []float64 // E[y]; the targets themselves in regression
	variance float64   // Σ Var[y_n]
	entropy  float64
}

// copyFrom overwrites s with a copy of t.
func (s *state) copyFrom(t *state) {
	old := *s
	*s = *t
	s.q = append(old.q[:0], t.q...)
	s.moments = append(old.moments[:0], t.moments...)
	s.gamma0 = append(old.gamma0[:0], t.gamma0...)
	s.s = append(old.s[:0], t.s...)
	s.nu = append(old.nu[:0], t.nu...)
	s.alpha = append(old.alpha[:0], t.alpha...)
	s.mean = append(old.mean[:0], t.mean...)
}

// model checks the arguments and returns the initial state.
func (g Model) model(k vi.Kernels, y []float64, labels bool) (*model, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	if err := vi.RefuseCompressed(k); err != nil {
		return nil, err
	}
	P, D, N := k.Dims()
	switch {
	case D != N:
		return nil, fmt.Errorf("vi: kernels: %d×%d where square ones are needed", D, N)
	case len(y) != N:
		return nil, fmt.Errorf("vi: y: %d values for %d samples", len(y), N)
	case g.Ranks != nil && len(g.Ranks) != P:
		return nil, fmt.Errorf("vi: Ranks: %d values for %d kernels", len(g.Ranks), P)
	case !(g.Tau >= 0) || math.IsInf(g.Tau, 1):
		return nil, fmt.Errorf("vi: Tau is %g: it must be positive and finite", g.Tau)
	}
	if i := check.NonFinite(y); i >= 0 {
		return nil, fmt.Errorf("vi: y: value %d is %g", i, y[i])
	}
	m := &model{
		k: k, passes: newPasses(k, g.Workers), P: P, N: N, ws: la.Workspace{Workers: g.Workers},
		y: y, labels: labels, rank: make([]float64, P),
		family: g.Family, plain: g.Plain, joint: !g.Plain,
		learnTau: g.Noise == NoiseLearned || g.Noise == NoiseDefault && !labels,
		state: state{
			q: make([]GIG, P), moments: make([]gigMoments, P), prior: g.Prior,
			gamma0: make([]float64, P), s: make([]float64, P), mean: slices.Clone(y), alpha: make([]float64, N),
		},
		b: la.NewMatrix[float64](N, N), diag: make([]float64, N), before: make([]float64, N),
		weight: make([]float64, P), trace: make([]float64, P), quad: make([]float64, P),
	}
	if m.family == Default {
		m.family = StudentT
	}
	m.held = m.family.held().with(g.Held)
	m.learnPrior = !m.held.all()
	for p := range m.rank {
		m.rank[p] = float64(N)
		if g.Ranks != nil {
			if r := g.Ranks[p]; r < 1 || r > N {
				return nil, fmt.Errorf("vi: Ranks[%d] is %d: it must be between 1 and %d", p, r, N)
			}
			m.rank[p] = float64(g.Ranks[p])
		}
	}
	if !m.plain {
		m.ahead = newAhead(m)
	}
	if err := m.start(g); err != nil {
		return nil, err
	}
	var scale float64
	for _, v := range m.moments {
		scale += v.mean / float64(P)
	}
	m.prior = m.family.begin(m.prior, m.held, scale)
	if err := m.family.validate(m.prior); err != nil {
		return nil, err
	}
	m.updates = []work.Update{{Name: "f", Step: m.updateFunctions}}
	if labels {
		m.updates = append(m.updates, work.Update{Name: "y", Step: func() error { m.updateTargets(); return nil }})
	}
	m.updates = append(m.updates,
		work.Update{Name: "γ", Step: m.updateScales})
	if !m.plain {
		m.updates = append(m.updates, work.Update{Name: "common scale", Step: func() error { m.updateCommonScale(); return nil }})
	}
	m.updates = append(m.updates,
		work.Update{Name: "τ", Step: func() error { m.updateTau(); return nil }},
		work.Update{Name: "(ω,χ,φ)", Step: func() error { m.updatePrior(); return nil }})
	if !m.plain {
		// Scales and prior tie each other down; to update them again costs no pass over
		// the kernels.
		for range priorPasses {
			m.updates = append(m.updates,
				work.Update{Name: "γ again", Step: func() error {
					if !m.learnPrior {
						return nil
					}
					return m.updateScales()
				}},
				work.Update{Name: "common scale again", Step: func() error { m.updateCommonScale(); return nil }},
				work.Update{Name: "(ω,χ,φ) again", Step: func() error { m.updatePrior(); return nil }})
		}
	}
	if g.Ascent.Journal != nil {
		for p := range m.weight {
			m.weight[p] = float64(1 + p)
		}
		m.passes.sum(&m.ws, m.weight, m.b)
		for i := range N {
			m.identity = append(m.identity, conjugate.Sum(m.b.Row(i)[:i+1]))
		}
	}
	return m, nil
}

// start sets τ, E[γ] and E[y]. Unless told otherwise half of the targets'
// variance is noise and every kernel has an equal share of the other half; for
// labels both variances are 1.
func (m *model) start(g Model) error {
	var power float64
	if m.labels {
		power = 1
		var positive int
		for i, t := range m.y {
			switch t {
			case 1:
				positive++
			case -1:
			default:
				return fmt.Errorf("vi: t: label %d is %g: labels are −1 and +1", i, t)
			}
		}
		if positive == 0 || positive == m.N {
			return fmt.Errorf("vi: t: all %d labels are alike", m.N)
		}
	} else {
		power = 0.5 * la.SumSq(m.y) / float64(m.N)
		if power == 0 {
			return fmt.Errorf("vi: y: every value is zero")
		}
	}
	m.tau = g.Tau
	if m.tau == 0 {
		m.tau = 1 / power
	}

	if g.Start != nil && g.Start.Gamma != nil {
		if len(g.Start.Gamma) != m.P {
			return fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(g.Start.Gamma), m.P)
		}
		for p, v := range g.Start.Gamma {
			if !(v > 0) || math.IsInf(v, 1) {
				return fmt.Errorf("vi: Start.Gamma[%d] is %g", p, v)
			}
			m.moments[p].mean = v
		}
	} else {
		for i := range m.N {
			m.b.Set(i, i, 1)
		}
		m.k.Inner(&m.ws, m.b, m.trace)
		for p, t := range m.trace {
			if t < 0 {
				return fmt.Errorf("vi: kernel %d: its trace is %g: it is not positive semidefinite", p, t)
			}
			m.moments[p].mean = float64(m.P) / power
			if t > 0 {
				m.moments[p].mean *= t / float64(m.N)
			}
		}
	}

	if !m.labels {
		return nil
	}
	m.nu = make([]float64, m.N)
	if g.Start != nil && g.Start.Y != nil {
		if len(g.Start.Y) != m.N {
			return fmt.Errorf("vi: Start.Y: %d values for %d samples", len(g.Start.Y), m.N)
		}
		if i := check.NonFinite(g.Start.Y); i >= 0 {
			return fmt.Errorf("vi: Start.Y[%d] is %g", i, g.Start.Y[i])
		}
		copy(m.mean, g.Start.Y)
		return nil
	}
	m.updateTargets()
	return nil
}

// Sweep implements [vi.Objective]. Unless plain, q(f) is computed at scales and noise
// ahead of the present ones. Any q(f) gives a lower bound; if that one is below
// the last, the step is taken back.
func (m *model) Sweep(done func(string)) error {
	if m.goAhead {
		last := m.Bound()
		m.Keep()
		if err := work.Sweep(&m.Stop, m.updates, nil); err == nil && m.Bound() >= last {
			m.ahead.taken()
			if done != nil {
				done("ahead")
			}
			return nil
		}
		m.ahead.failed()
		m.Restore()
	}
	if err := work.Sweep(&m.Stop, m.updates, done); err != nil {
		return err
	}
	m.goAhead = !m.plain
	return nil
}

// Keep implements [vi.Objective]. It copies O(P + N) numbers.
func (m *model) Keep() { m.kept.copyFrom(&m.state) }

// Restore implements [vi.Objective]. The next sweep is one of plain updates: what a
// step ahead would start from is not kept.
func (m *model) Restore() {
	m.state.copyFrom(&m.kept)
	m.goAhead = false
}

// Allowance implements [vi.Objective].
func (m *model) Allowance() float64 { return 0 }

// Jittered implements [vi.Objective].
func (m *model) Jittered() float64 { return m.shake.jitter }

// Observations implements [vi.Objective].
func (m *model) Observations() float64 { return float64(m.N) }

// updateFunctions is q(f): B, α = B⁻¹E[y] and from them what the other factors
// need (D3)–(D10):
//
//	E[f_pᵀK_p⁻¹f_p] = αᵀK_pα/γ_p² + (r_p − T_p/γ_p)/γ_p,   T_p = tr(B⁻¹K_p),
//	tr Cov[Σ f_p] = Σ_p T_p/(γ_p·τ).
func (m *model) updateFunctions() error {
	if m.goAhead {
		m.ahead.step(m)
	} else {
		m.tau0 = m.tau
		for p, v := range m.moments {
			m.gamma0[p] = v.mean
		}
	}
	for p, g := range m.gamma0 {
		m.weight[p] = 1 / g
	}
	var err error
	m.shake = shake{}
	if m.logDet, m.shake.jitter, err = m.factorise(m.weight, m.tau0, m.b); err != nil {
		return err
	}
	m.solve()
	m.measure()
	var all float64
	for p, w := range m.weight {
		t := float64(m.trace[p] * w)
		all += t
		m.s[p] = w * (float64(m.quad[p]*w) + (m.rank[p] - t))
		if !(m.s[p] > 0) {
			return fmt.Errorf("functions: E[f'K⁻¹f] of kernel %d is %g: it is not positive semidefinite or its rank exceeds %g", p, m.s[p], m.rank[p])
		}
	}
	m.spread = all / m.tau0
	for i := range m.nu {
		m.nu[i] = m.mean[i] - m.alpha[i]/m.tau0
	}
	m.error2 = m.variance + la.SumSq(m.alpha)/(m.tau0*m.tau0) + m.spread
	return nil
}

// measure makes the inverse of B of its factor, and computes what needs it.
func (m *model) measure() {
	la.CholeskyInv(&m.ws, m.b)
	m.left = 0
	for i, d := range m.diag {
		v := m.b.At(i, i)
		m.left += v
		m.shake.trace += float64(d * v)
		m.shake.quad += float64(d * float64(m.alpha[i]*m.alpha[i]))
	}
	m.passes.traces(&m.ws, m.b, m.alpha, m.trace, m.quad)
}

// Snapshot names the state of a fit for a [vi.Journal]: everything that an update reads before
// another one of the same sweep has written it, and what tells other data and settings.
func (m *model) Snapshot(s *work.Snapshot) {
	s.Same(m.y...)
	s.Same(m.identity...)
	s.Same(m.rank...)
	s.Same(float64(m.family))
	gig := func(g *GIG) {
		s.Float(&g.Omega)
		s.Float(&g.Chi)
		s.Float(&g.Phi)
	}
	gig(&m.prior)
	for p := range m.q {
		gig(&m.q[p])
		v := &m.moments[p]
		for _, x := range [...]*float64{&v.logZ, &v.mean, &v.inv, &v.log} {
			s.Float(x)
		}
	}
	s.Floats(m.gamma0, m.alpha, m.s, m.nu, m.mean)
	for _, x := range [...]*float64{&m.tau, &m.tau0, &m.logDet, &m.spread, &m.error2, &m.variance, &m.entropy} {
		s.Float(x)
	}
	s.Bool(&m.goAhead)
	if m.ahead != nil {
		s.Float(&m.ahead.damping)
		s.Float(&m.ahead.reach)
	}
	if !s.Back() {
		return
	}
	for p, g := range m.gamma0 {
		m.weight[p] = 1 / g
	}
	m.shake = shake{}
	var err error
	if _, m.shake.jitter, err = m.factorise(m.weight, m.tau0, m.b); err != nil {
		m.goAhead = false // the next sweep says what is wrong
		return
	}
	m.measure()
}

// labelRounds is the most times that the means of q(f) and q(y) take turns in a sweep.
const labelRounds = 20

// solve stores B⁻¹E[y] in alpha, given the Cholesky factor of B. Of labels, unless plain,
// the means of q(f) and q(y) then take turns, each of which costs N², until they move
// little.
func (m *model) solve() {
	copy(m.alpha, m.mean)
	la.CholeskySolveVec(m.b, m.alpha)
	if !m.labels || m.plain {
		return
	}
	for range labelRounds {
		copy(m.before, m.mean)
		for n, a := range m.alpha {
			m.nu[n] = m.mean[n] - a/m.tau0
		}
		m.updateTargets()
		copy(m.alpha, m.mean)
		la.CholeskySolveVec(m.b, m.alpha)
		la.Axpy(-1, m.mean, m.before)
		if la.SumSq(m.before)*m.tau0 < 1e-6*float64(m.N) {
			return
		}
	}
}

// factorise stores the Cholesky factor of B = Σ weights_p·K_p + I/tau in the lower
// triangle of b and returns log|B|. Where rounding has made B indefinite its diagonal
// is enlarged by the relative amount that is added, see [jitter.More].
func (m *model) factorise(weights []float64, tau float64, b la.Matrix[float64]) (logDet, added float64, err error) {
	for {
		m.passes.sum(&m.ws, weights, b)
		for i := range b.Rows {
			row := b.Row(i)
			row[i] = float64((row[i] + 1/tau) * (1 + added))
			m.diag[i] = row[i]
		}
		if err = la.Cholesky(&m.ws, b); err == nil {
			return la.LogDet(b), added, nil
		}
		more, ok := jitter.More(b.Rows, added, err)
		if !ok {
			return 0, added, fmt.Errorf("functions: Σ K_p/γ_p + I/τ: %w", err)
		}
		added = more
	}
}

// updateTargets is q(y_n), N(ν_n, 1/τ) restricted to the side of the label,
// equations (20), (21), (D15) and (D16). Its place in the order ensures that τ is
// still the τ° of q(f).
func (m *model) updateTargets() {
	root := math.Sqrt(m.tau)
	m.variance, m.entropy = 0, 0
	var square float64
	for n, t := range m.y {
		x := -t * m.nu[n] * root
		h, v, logZ := special.NormalAbove(x)
		m.mean[n] = m.nu[n] + t*h/root
		m.variance += v
		q := 1 + float64(x*h) // E[(y − ν)²]·τ
		square += q
		m.entropy += logZ + float64(0.5*q)
	}
	m.variance /= m.tau
	m.entropy += float64(0.5 * float64(m.N) * (conjugate.Log2Pi - special.Log(m.tau)))
	m.error2 = square/m.tau + m.spread
}

// updateScales is q(γ_p) = GIG(ω + r_p/2, χ, φ + E[f_pᵀK_p⁻¹f_p]) (D11), or
// γ_p = r_p/E[f_pᵀK_p⁻¹f_p] if there is no prior.
func (m *model) updateScales() error {
	for p, s := range m.s {
		if m.family == ARD {
			g := m.rank[p] / s
			m.moments[p] = gigMoments{mean: g, inv: 1 / g, log: special.Log(g)}
			continue
		}
		m.q[p] = GIG{m.prior.Omega + float64(m.rank[p]/2), m.prior.Chi, m.prior.Phi + s}
		m.moments[p] = m.q[p].moments()
		if v := m.moments[p].mean; !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("scales: E[γ] of kernel %d is %g", p, v)
		}
	}
	return nil
}

// updateCommonScale moves all γ and their prior along (γ, χ, φ) → (cγ, cχ, φ/c),
// which leaves their divergence alone. The bound changes by ½ Σ r_p·log c −
// ½(c−1)·Σ E[γ_p]·s_p, which is highest at c = Σ r_p/Σ E[γ_p]·s_p. Without it a
// narrow prior and the posteriors that it ties down hold each other in place.
func (m *model) updateCommonScale() {
	if !m.learnPrior || !m.held.scales(m.prior) {
		return
	}
	var rank, square float64
	for p, v := range m.moments {
		rank += m.rank[p]
		square += float64(v.mean * m.s[p])
	}
	c := rank / square
	scaled := func(g GIG) GIG { return GIG{g.Omega, c * g.Chi, g.Phi / c} }
	m.prior = scaled(m.prior)
	for p, v := range m.moments {
		m.q[p] = scaled(m.q[p])
		m.moments[p] = gigMoments{v.logZ + float64(m.q[p].Omega*special.Log(c)), v.mean * c, v.inv / c, v.log + special.Log(c)}
	}
}

// leastNoise is the smallest noise variance that is learned, as a share of the
// targets' mean square: far below it B is singular in double precision.
const leastNoise = 1e-12

// updateTau is the maximum likelihood τ = N/E|y − Σ f_p|² (D14), kept away from
// infinity on data without noise.
func (m *model) updateTau() {
	if !m.learnTau {
		return
	}
	m.tau = min(float64(m.N)/m.error2, max(m.mostTau(), m.tau))
}

// mostTau is the largest τ that is learned.
func (m *model) mostTau() float64 { return float64(m.N) / (leastNoise * la.SumSq(m.mean)) }

// updatePrior learns ω, χ and φ.
func (m *model) updatePrior() {
	if !m.learnPrior {
		return
	}
	if m.held == m.family.held() && m.family == StudentT && !m.plain {
		m.updateGammaPrior()
		return
	}
	m.prior = m.family.learn(m.prior, m.family.meanMoments(m.q, m.moments), m.held, m.joint)
}

// updateGammaPrior maximises the bound over a gamma prior and the shapes of q(γ), the
// means g_p of q(γ) as they are (D53). With q(γ_p) of the shape n_p = ω + r_p/2 the best φ is
// 2ω/mean g, and the slope in ω is zero where
//
//	log ω − ψ(ω) − mean[log n_p − ψ(n_p)] = log mean g − mean log g.
//
// The left side falls with ω, to zero. With q(γ) held, as the update of the prior alone
// has it, ω grows by r/2 at most, and where the scales are alike goes up for ever.
func (m *model) updateGammaPrior() {
	var mean, gap float64
	for _, v := range m.moments {
		mean += v.mean / float64(m.P)
	}
	for _, v := range m.moments {
		gap += logGap(v.mean, mean) / float64(m.P)
	}
	slope := func(t float64) float64 {
		omega := special.Exp(t)
		left := special.LogMinusDigamma(omega)
		for _, r := range m.rank {
			left -= special.LogMinusDigamma(omega+float64(r/2)) / float64(m.P)
		}
		return gap - left
	}
	most := max(maxOmega, m.prior.Omega)
	lo, hi := bracket(slope, special.Log(m.prior.Omega), special.Log(1e-300), special.Log(most))
	m.prior.Omega = min(special.Exp(roots.Find(slope, lo, hi)), most)
	m.prior.Phi = 2 * m.prior.Omega / mean
	for p, v := range m.moments {
		n := m.prior.Omega + float64(m.rank[p]/2)
		m.q[p] = GIG{n, 0, 2 * n / v.mean}
		m.moments[p] = m.q[p].moments()
	}
}

// Bound implements [vi.Objective]. It is (D18), valid at every state: q(f) need not be
// optimal for the present γ and τ.
func (m *model) Bound() float64 {
	N := float64(m.N)
	sum := float64(0.5*N*(special.Log(m.tau)-conjugate.Log2Pi)) - float64(0.5*m.tau*m.error2) // E[log p(y|f)]
	sum += m.entropy                                                                          // of q(y)
	sum -= float64(0.5 * (float64(N*special.Log(m.tau0)) + m.logDet))                         // f | γ and the entropy of q(f)
	for p, v := range m.moments {
		sum += float64(0.5 * (float64(m.rank[p]*(1+v.log-special.Log(m.gamma0[p]))) - float64(v.mean*m.s[p])))
		if m.family != ARD {
			sum += m.q[p].bound(v, m.prior)
		}
	}
	return sum
}
