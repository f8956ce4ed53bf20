package bemkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// SharedRegression is multiple output regression whose outputs share the sample
// weights, and with them one set of intermediate outputs, and have kernel
// weights each: for outputs that depend on different kernels.
//
//	λ_d ~ Gamma(Lambda)         a_d | λ       ~ N(0, 1/λ_d)
//	υ   ~ Gamma(Upsilon)        g_{m,i} | a,υ ~ N(aᵀ·k_{m,i}, 1/υ)
//	γ_o ~ Gamma(Gamma)          b_o | γ       ~ N(0, 1/γ_o)
//	ω_{o,m} ~ Gamma(Omega)      e_{o,m} | ω   ~ N(0, 1/ω_{o,m})
//	ε_o ~ Gamma(Epsilon)        y_{o,i} | …   ~ N(e_oᵀ·g_i + b_o, 1/ε_o)
//
// The posterior is approximated by q(λ)q(υ)q(a)q(G)q(γ)q(ω)q(ε)·Π_o q(b_o,e_o).
// A sweep costs one factorisation of order D whatever the number of outputs. The
// zero value is ready: Gamma(1, 1) priors.
//
// The model is the extension that M. Gönen's ECAI 2012 paper leaves to future
// research (section 6); it is derived in docs/shared.md.
type SharedRegression struct {
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

	// Start, if not nil, is where the ascent starts from: A is 1×D and G is P×N.
	Start *Start

	// From, if not nil, is the posterior of an earlier fit to the same basis points
	// and kernels, perhaps with other targets, samples or priors, to continue from;
	// it takes the place of Start and Seed.
	From *SharedPosterior
}

// SharedFit is a fitted [SharedRegression].
type SharedFit struct {
	Posterior *SharedPosterior
	Record    vi.Record

	// Collapsed lists the outputs, ascending, whose function is constant on the
	// training samples, as in [RegressionFit].
	Collapsed []int

	state *shared // for BoundGradient
}

// Fit approximates the posterior given the kernels and the targets y, L×N,
// which must be complete. Errors are those of [Regression.Fit].
func (r SharedRegression) Fit(ctx context.Context, k vi.Kernels, y la.Matrix[float64]) (*SharedFit, error) {
	m, err := r.model(k, y)
	if err != nil {
		return nil, err
	}
	rec, err := r.Ascent.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return nil, err
	}
	m.retire()
	p := m.posterior()
	p, bad := check.Resumed(r.Ascent.Journal != nil, p, NewSharedPosterior, p.State().BECov...)
	if bad != nil {
		return nil, bad
	}
	return &SharedFit{Posterior: p, Record: rec, Collapsed: m.collapsed(), state: m}, err
}

// shared is the state of a fit. Its latent layer has one row.
type shared struct {
	*latent
	L      int
	y      la.Matrix[float64] // L×N
	priors RegressionPriors

	upsilonMean []float64            // 1
	upsilonQ    conjugate.Gammas     // 1
	gamma       conjugate.Gammas     // L
	omega       conjugate.Gammas     // L·P
	epsilon     conjugate.Gammas     // L
	epsilonMean []float64            // L
	be          []conjugate.Gaussian // L of (b_o, e_o), dimension 1+P
	ee          []la.Matrix[float64] // L of E[e_o·e_oᵀ], P×P
	targets     la.Matrix[float64]   // L×P, Σ_i y_{o,i}·E[g_i]
	gain        la.Matrix[float64]   // P×L, ε_o·Cov[g]·E[e_o]
	rhs         []float64            // 1+P
	mixing      *mixing              // scratch of the accelerated order
	updates     schedule
}

// Observations implements [vi.Objective]: outputs share a row of latent, which has N
// samples, but have targets each.
func (m *shared) Observations() float64 { return float64(m.L) * m.size }

// model checks the arguments and returns the initial state.
func (r SharedRegression) model(k vi.Kernels, y la.Matrix[float64]) (*shared, error) {
	pr := RegressionPriors{conjugate.Or1(r.Lambda), conjugate.Or1(r.Upsilon), conjugate.Or1(r.Gamma), conjugate.Or1(r.Omega), conjugate.Or1(r.Epsilon)}
	if err := pr.validate(); err != nil {
		return nil, err
	}
	for o := range y.Rows {
		for i, v := range y.Row(o) {
			if math.IsNaN(v) {
				return nil, fmt.Errorf("vi: y: entry (%d, %d) is missing: outputs that share their sample weights must be complete", o, i)
			}
		}
	}
	y, _, err := checkTargets(k, y)
	if err != nil {
		return nil, err
	}
	L := y.Rows
	P, D, N := k.Dims()
	latent := newLatent(k, 1, la.Matrix[float64]{}, pr.Lambda, r.Workers)
	m := &shared{
		latent: latent,
		L:      L, y: y, priors: pr,
		upsilonMean: make([]float64, 1),
		epsilonMean: make([]float64, L),
		upsilonQ:    conjugate.NewGammas(pr.Upsilon, pr.Upsilon.Shape+float64(0.5*latent.size*float64(P)), 1),
		gamma:       conjugate.NewGammas(pr.Gamma, pr.Gamma.Shape+0.5, L),
		omega:       conjugate.NewGammas(pr.Omega, pr.Omega.Shape+0.5, L*P),
		epsilon:     conjugate.NewGammas(pr.Epsilon, pr.Epsilon.Shape+float64(0.5*latent.size), L),
		targets:     la.NewMatrix[float64](L, P),
		gain:        la.NewMatrix[float64](P, L),
		rhs:         make([]float64, 1+P),
	}
	for o := range L {
		m.be = append(m.be, conjugate.NewGaussian(1+P))
		m.ee = append(m.ee, la.NewMatrix[float64](P, P))
		for j := range P {
			m.be[o].Mean[1+j] = 1
		}
		m.updateEE(o)
		m.epsilonMean[o] = m.epsilon.Mean(o)
	}
	m.memory.Of(m.upsilonQ.Scale, m.gamma.Scale, m.omega.Scale, m.epsilon.Scale)
	for o := range L {
		m.memory.Of(m.be[o].Mean, m.be[o].Cov.Data)
	}
	m.gTask = m.updateIntermediateOf
	u := m.order()
	m.updates.settled = u.plain()
	if !r.Plain {
		outputs := make([]readout, L)
		for o := range outputs {
			outputs[o] = readout{be: &m.be[o], bias: 0, weights: 1, ee: m.ee[o]}
		}
		m.mixing = newMixing(P)
		p := newPlane(m.latent, outputs, &m.gamma, m.epsilonMean, m.y, m.targets, severalRounds(L, D, P))
		m.updates = schedule{first: u.plain(), settled: p.order(u)}
	}
	if r.From != nil {
		return m, m.resume(r.From)
	}
	start := r.Start
	if start == nil && m.ones != nil {
		start = sharedCompressedStart(r.Seed, y, P, D)
	} else if start == nil {
		start = randomStart(r.Seed, 1, P, D, N)
	} else if err := start.validate(1, P, D, N); err != nil {
		return nil, err
	}
	return m, m.start(start.A, start.G)
}

// resume continues from p.
func (m *shared) resume(p *SharedPosterior) error {
	if err := m.checkResume(m.L, &p.scorer); err != nil {
		return err
	}
	s := p.s
	m.upsilonQ.Resume(0, s.Upsilon)
	m.upsilonMean[0] = m.upsilonQ.Mean(0)
	for o := range m.L {
		m.epsilon.Resume(o, s.Epsilon[o])
		m.epsilonMean[o] = m.epsilon.Mean(o)
		m.gamma.Resume(o, s.Gamma[o])
		if err := m.be[o].Resume(s.BEMean[o], s.BECov[o]); err != nil {
			return fmt.Errorf("vi: From: covariance of bias and kernel weights of output %d: %w", o, err)
		}
		m.updateEE(o)
	}
	for j := range s.Omega {
		m.omega.Resume(j, s.Omega[j])
	}
	if err := m.latent.resume(p.lambdaShape, s.Lambda, s.A, m.upsilonMean); err != nil {
		return err
	}
	return m.updateIntermediate()
}

// order returns the updates of a sweep.
func (m *shared) order() *updates {
	u := &updates{
		lambda:  m.updateLambda,
		upsilon: m.updateUpsilon,
		a:       work.Update{Name: "a", Step: func() error { return m.updateWeights(m.upsilonMean) }},
		g:       work.Update{Name: "G", Step: m.updateIntermediate},
		rest: []work.Update{
			step("γ", m.updateGamma), step("ω", m.updateOmega), step("ε", m.updateEpsilon),
			{Name: "(b,e)", Step: m.updateCombination},
		},
		scale: m.updateScale,
	}
	if m.L > 1 {
		u.mix = m.updateMixing
	}
	return u
}

// Sweep implements [vi.Objective].
func (m *shared) Sweep(done func(string)) error { return m.updates.sweep(&m.Stop, done) }

// updateUpsilon is q(υ) = Gamma(α_υ + NP/2, (1/β_υ + Σ E[(g − aᵀk)²]/2)^-1).
func (m *shared) updateUpsilon() {
	m.upsilonQ.Observe(0, float64(0.5*m.distance(0)))
	m.upsilonMean[0] = m.upsilonQ.Mean(0)
}

// updateIntermediate is q(g_i) = N(Σ(υ·h_i + Σ_o ε_o(y_{o,i}·E[e_o] − E[b_o·e_o])), Σ),
// Σ = (υ·I + Σ_o ε_o·E[e_o·e_oᵀ])^-1.
func (m *shared) updateIntermediate() error {
	m.upsilon = m.upsilonMean
	m.distanceStale = false
	return m.gTask(m.crew.Workers[0], 0)
}

// updateIntermediateOf is updateIntermediate as a task; there is one row of G.
func (m *shared) updateIntermediateOf(w *worker, _ int) error {
	P := m.P
	pull := m.pull[0]
	pull.Fill(0)
	clear(w.p1)
	for o := range m.L {
		eps, be := m.epsilon.Mean(o), &m.be[o]
		for j := range P {
			la.Axpy(eps, m.ee[o].Row(j), pull.Row(j))
			w.p1[j] += float64(eps * (float64(be.Mean[0]*be.Mean[1+j]) + be.Cov.At(0, 1+j)))
		}
	}
	if err := m.beginIntermediate(w, 0, w.p1); err != nil {
		return err
	}
	for o := range m.L {
		eps, e := m.epsilon.Mean(o), m.be[o].Mean[1:]
		for j := range P {
			m.gain.Set(j, o, eps*la.Dot(w.small.Cov.Row(j), e))
		}
	}
	la.Gemm(&w.ws, la.NoTrans, la.NoTrans, 1, m.gain, m.y, 1, m.gMean)
	for j := range P {
		row := m.gMean.Row(j)
		m.subtract(w.small.Mean[j], row)
	}
	if err := m.endIntermediate(w, 0); err != nil {
		return err
	}
	la.Gemm(&w.ws, la.NoTrans, la.Transpose, 1, m.y, m.gMean, 0, m.targets)
	return nil
}

// updateGamma is q(γ_o) = Gamma(α_γ + ½, (1/β_γ + E[b_o²]/2)^-1).
func (m *shared) updateGamma() {
	for o := range m.L {
		m.gamma.Observe(o, float64(0.5*m.be[o].Square(0)))
	}
}

// updateOmega is q(ω_{o,m}) = Gamma(α_ω + ½, (1/β_ω + E[e_{o,m}²]/2)^-1).
func (m *shared) updateOmega() {
	for o := range m.L {
		for j := range m.P {
			m.omega.Observe(o*m.P+j, float64(0.5*m.be[o].Square(1+j)))
		}
	}
}

// updateEpsilon is q(ε_o) = Gamma(α_ε + N/2, (1/β_ε + Σ E[(y − e_oᵀg − b_o)²]/2)^-1).
func (m *shared) updateEpsilon() {
	for o := range m.L {
		m.epsilon.Observe(o, float64(0.5*m.residual(o)))
		m.epsilonMean[o] = m.epsilon.Mean(o)
	}
}

// residual returns Σ_i E[(y_{o,i} − e_oᵀg_i − b_o)²], as layers.residual does.
func (m *shared) residual(o int) float64 {
	P, r, be := m.P, m.crew.Workers[0].n1, &m.be[o]
	copy(r, m.y.Row(o))
	m.addFit(0, o, be.Mean[1:], -1, r)
	m.subtract(be.Mean[0], r)
	spread := m.size * be.Cov.At(0, 0)
	var within float64
	for j := range P {
		cov := be.Cov.Row(1 + j)
		spread += 2 * float64(cov[0]*m.gSum.At(0, j))
		spread += la.Dot(cov[1:], m.gGram[0].Row(j))
		within += la.Dot(m.gCov[0].Row(j), m.ee[o].Row(j))
	}
	return la.SumSq(r) + spread + float64(m.size*within)
}

// updateCombination is q(b_o, e_o): precision
//
//	[ γ_o + N·ε_o   ε_o·ΣE[g]ᵀ                 ]
//	[ .             diag(ω_o) + ε_o·E[G·Gᵀ]    ]
//
// and right side ε_o·[Σy_o ; ΣE[g]·y_o], for each output.
func (m *shared) updateCombination() error {
	P, N := m.P, m.size
	for o := range m.L {
		eps, prec := m.epsilon.Mean(o), m.be[o].Cov
		prec.Fill(0)
		prec.Set(0, 0, m.gamma.Mean(o)+float64(N*eps))
		m.rhs[0] = eps * m.sumOver(m.y.Row(o))
		for j := range P {
			m.rhs[1+j] = eps * m.targets.At(o, j)
			row := prec.Row(1 + j)
			row[0] = eps * m.gSum.At(0, j)
			la.Axpy(eps, m.gGram[0].Row(j), row[1:])
			la.Axpy(float64(eps*N), m.gCov[0].Row(j), row[1:])
			row[1+j] += m.omega.Mean(o*P + j)
		}
		if err := m.be[o].SetPrecision(&m.crew.All, m.rhs); err != nil {
			return fmt.Errorf("bias and kernel weights of output %d: %w", o, err)
		}
		m.updateEE(o)
	}
	return nil
}

// updateEE forms E[e_o·e_oᵀ].
func (m *shared) updateEE(o int) {
	e := m.be[o].Mean[1:]
	for j := range m.P {
		row := m.ee[o].Row(j)
		copy(row, m.be[o].Cov.Row(1 + j)[1:])
		la.Axpy(e[j], e, row)
	}
}

// updateScale moves along the ridge (a, G) → c(a, G), e_o → e_o/c, (υ, λ) → /c²,
// ω → c²ω, as in regression; docs/acceleration.md.
func (m *shared) updateScale() {
	s, ok := roots.Ridge(m.ridge())
	if !ok {
		return
	}
	c := math.Sqrt(s)
	m.rescale(s)
	la.Scal(c, m.targets.Data)
	m.upsilonQ.Scale[0] /= s
	m.upsilonMean[0] = m.upsilonQ.Mean(0)
	la.Scal(s, m.omega.Scale)
	for o := range m.L {
		m.be[o].Rescale(1/c, 1)
		la.Scal(1/s, m.ee[o].Data)
	}
}

// ridge returns the coefficients of updateScale.
func (m *shared) ridge() (a, b, c float64) {
	a, b, c = m.latent.ridge(&m.omega)
	return a + m.priors.Upsilon.Shape, b + m.upsilonMean[0]/m.priors.Upsilon.Scale, c
}

// Roundoff implements [vi.Objective], as that of layers does.
func (m *shared) Roundoff() float64 {
	sum := m.latent.Roundoff()
	for o := range m.L {
		be, eps := &m.be[o], m.epsilon.Mean(o)
		size := float64(m.size * be.Mean[0] * be.Mean[0])
		for j := range m.P {
			e := be.Mean[1+j]
			size += float64(float64(e*e) * m.gGram[0].At(j, j))
		}
		sum += float64(work.Roundoff(1+m.P)*2*be.Spread) + work.Difference(m.P+1, eps, m.size/eps, size)
	}
	return sum
}

// Bound implements [vi.Objective].
func (m *shared) Bound() float64 {
	sum := m.latent.bound() + m.gBound(0, m.upsilonQ.Mean(0), m.upsilonQ.MeanLog(0))
	sum += m.upsilonQ.Bound() + m.gamma.Bound() + m.omega.Bound() + m.epsilon.Bound()
	for o := range m.L {
		be := &m.be[o]
		sum += be.Entropy()
		sum += float64(0.5 * (m.gamma.MeanLog(o) - conjugate.Log2Pi - float64(m.gamma.Mean(o)*be.Square(0))))
		for j := range m.P {
			w := o*m.P + j
			sum += float64(0.5 * (m.omega.MeanLog(w) - conjugate.Log2Pi - float64(m.omega.Mean(w)*be.Square(1+j))))
		}
		sum += float64(0.5 * (float64(m.size*(m.epsilon.MeanLog(o)-conjugate.Log2Pi)) - float64(m.epsilon.Mean(o)*m.residual(o))))
	}
	return sum
}

// collapsed returns the outputs whose fitted function is constant, as layers.collapsed does.
func (m *shared) collapsed() []int {
	var out []int
	f := make([]float64, m.N)
	for o := range m.L {
		clear(f)
		for j := range m.P {
			la.Axpy(m.be[o].Mean[1+j], m.h.Row(j), f)
		}
		if m.isCollapsed(f, m.y.Row(o), nil) {
			out = append(out, o)
		}
	}
	return out
}

// SharedState is everything a [SharedPosterior] is made of, like
// [RegressionState].
type SharedState struct {
	Priors  RegressionPriors
	Samples int // N, the training samples

	Lambda  la.Matrix[float64]   // 1×D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A       la.Matrix[float64]   // 1×D, means of the sample weights a
	Upsilon vi.Gamma             // q(υ)
	Epsilon []vi.Gamma           // L
	Gamma   []vi.Gamma           // L
	Omega   []vi.Gamma           // L·P, output by output
	BEMean  [][]float64          // L of the means of (b_o, e_{o,1} … e_{o,P})
	BECov   []la.Matrix[float64] // L of their covariances
	Gram    la.Matrix[float64]   // Σ_m K_m·K_mᵀ, D×D, of which the upper triangle counts

	Healing *SharedHealing // nil if predictions cannot be healed
}

// SharedPosterior is the approximate posterior of a [SharedRegression]. It is
// immutable and safe for concurrent use.
type SharedPosterior struct {
	scorer
	healers []*healer // one of all outputs; nil if predictions cannot be healed
	s       SharedState
}

// NewSharedPosterior returns the posterior of a state, which it keeps and which
// must not be changed afterwards. The error says what does not fit.
func NewSharedPosterior(s SharedState) (*SharedPosterior, error) {
	if err := s.Priors.validate(); err != nil {
		return nil, err
	}
	fail := func(err error) (*SharedPosterior, error) {
		return nil, fmt.Errorf("vi: shared regression state: %w", err)
	}
	L := len(s.BEMean)
	if L == 0 || len(s.BECov) != L || len(s.Epsilon) != L || len(s.Gamma) != L || len(s.Omega)%L != 0 {
		return fail(fmt.Errorf("BEMean, BECov, Epsilon, Gamma and Omega have %d, %d, %d, %d and %d entries",
			L, len(s.BECov), len(s.Epsilon), len(s.Gamma), len(s.Omega)))
	}
	P := len(s.Omega) / L
	for o := range L {
		err := layerState{
			samples: s.Samples, lambda: s.Lambda, a: s.A, beMean: s.BEMean[o], beCov: s.BECov[o], gram: s.Gram,
			omega:     s.Omega[o*P : (o+1)*P],
			perOutput: []namedGammas{{"Upsilon", []vi.Gamma{s.Upsilon}}, {"Epsilon", s.Epsilon[o : o+1]}, {"Gamma", s.Gamma[o : o+1]}},
		}.validate(1)
		if err != nil {
			return fail(fmt.Errorf("output %d: %w", o, err))
		}
	}
	if h := s.Healing; h != nil {
		if err := h.validate(L, P, s.A.Cols, s.Samples); err != nil {
			return fail(err)
		}
	}
	return wrapSharedState(s), nil
}

// wrapSharedState returns the posterior of a valid state.
func wrapSharedState(s SharedState) *SharedPosterior {
	L := len(s.BEMean)
	p := &SharedPosterior{
		scorer: scorer{
			L: L, P: len(s.Omega) / L, D: s.A.Cols, samples: s.Samples,
			lambdaShape: s.Priors.Lambda.Shape + 0.5, lambda: s.Lambda, a: s.A, gram: s.Gram,
			upsilon: []float64{s.Upsilon.Mean()},
		},
		s: s,
	}
	for o := range L {
		p.noise = append(p.noise, 1/s.Epsilon[o].Mean())
		p.combination = append(p.combination, newCombination(s.BEMean[o], s.BECov[o]))
	}
	p.healers = newSharedHealers(s.Healing, &p.scorer)
	return p
}

// posterior returns the present state, copied but for the Gram matrix, which never changes.
func (m *shared) posterior() *SharedPosterior {
	s := SharedState{
		Priors:  m.priors,
		Samples: int(m.size),
		Lambda:  la.MatrixOf(1, m.D, m.lambda.Scale).Clone(),
		A:       m.aMean.Clone(),
		Upsilon: m.upsilonQ.At(0),
		Gram:    m.gramUpper,
	}
	for o := range m.L {
		s.Epsilon = append(s.Epsilon, m.epsilon.At(o))
		s.Gamma = append(s.Gamma, m.gamma.At(o))
		s.BEMean = append(s.BEMean, append([]float64(nil), m.be[o].Mean...))
		s.BECov = append(s.BECov, m.be[o].Cov.Clone())
	}
	for j := range m.L * m.P {
		s.Omega = append(s.Omega, m.omega.At(j))
	}
	s.Healing = m.healing(wrapSharedState(s))
	p := wrapSharedState(s)
	p.room = m.room()
	return p
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *SharedPosterior) State() SharedState { return p.s }

// KernelWeights returns the mean and the standard deviation of each kernel
// weight e_{o,m} of output o.
func (p *SharedPosterior) KernelWeights(o int) (mean, sd []float64) {
	return p.combination[o].kernelWeights()
}
