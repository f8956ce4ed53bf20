package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/target"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// sharedLayers holds what fits of [SharedRegression] with and without missing targets have in
// common: the latent layer, of one row, and of every output its noise, bias and kernel weights.
// They use G through sums over the samples whose target is known.
type sharedLayers struct {
	*latent
	L        int
	y        la.Matrix[float64] // L×N, 0 where missing
	observed la.Matrix[float64] // L×N of 0 and 1; empty if nothing is missing
	priors   RegressionPriors

	upsilonMean []float64            // 1
	upsilonQ    conjugate.Gammas     // 1
	gamma       conjugate.Gammas     // L
	omega       conjugate.Gammas     // L·P
	epsilon     []*target.Normal     // L: shapes differ when values are missing
	epsilonMean []float64            // L
	be          []conjugate.Gaussian // L of (b_o, e_o), dimension 1+P
	ee          []la.Matrix[float64] // L of E[e_o·e_oᵀ], P×P
	reads       []readout            // L
	sums        []outputSums         // L, of the model
	rhs         []float64            // 1+P
	mixing      *mixing              // scratch of the accelerated order
	updates     work.Schedule
}

// outputSums holds sums of G over the samples whose target of one output is known.
type outputSums struct {
	count  float64            // of these samples
	g      []float64          // P, Σ_i E[g_i]
	gram   la.Matrix[float64] // P×P, Σ_i E[g_i]E[g_i]ᵀ
	cov    la.Matrix[float64] // P×P, the mean of Cov[g_i]
	target []float64          // P, Σ_i y_{o,i}·E[g_i]
}

// layers checks the arguments and returns the factors at their priors, b at 0 and e at 1. The
// sums are left to the model.
func (r SharedRegression) layers(k vi.Kernels, y la.Matrix[float64]) (*sharedLayers, error) {
	pr := priorsOr1(r.Lambda, r.Upsilon, r.Gamma, r.Omega, r.Epsilon)
	if err := pr.validate(); err != nil {
		return nil, err
	}
	y, observed, err := checkTargets(k, y)
	if err != nil {
		return nil, err
	}
	L := y.Rows
	P, _, _ := k.Dims()
	latent := newLatent(k, 1, la.Matrix[float64]{}, pr.Lambda, r.Workers)
	m := &sharedLayers{
		latent: latent,
		L:      L, y: y, observed: observed, priors: pr,
		upsilonMean: make([]float64, 1),
		epsilonMean: make([]float64, L),
		upsilonQ:    conjugate.NewGammas(pr.Upsilon, pr.Upsilon.Shape+float64(0.5*latent.Size*float64(P)), 1),
		gamma:       conjugate.NewGammas(pr.Gamma, pr.Gamma.Shape+0.5, L),
		omega:       conjugate.NewGammas(pr.Omega, pr.Omega.Shape+0.5, L*P),
		be:          make([]conjugate.Gaussian, L),
		rhs:         make([]float64, 1+P),
		mixing:      newMixing(P),
	}
	m.Memory.Of(m.upsilonQ.Scale, m.gamma.Scale, m.omega.Scale)
	for o := range L {
		m.epsilon = append(m.epsilon, target.NewNormal(pr.Epsilon, m.countOf(o)))
		m.epsilonMean[o] = m.epsilon[o].Mean(0)
		m.be[o] = conjugate.NewGaussian(1 + P)
		m.ee = append(m.ee, la.NewMatrix[float64](P, P))
		for j := range P {
			m.be[o].Mean[1+j] = 1
		}
		m.updateEE(o)
		m.reads = append(m.reads, readout{be: &m.be[o], bias: 0, weights: 1, ee: m.ee[o]})
		m.epsilon[o].Memorise(&m.Memory)
		m.Memory.Of(m.be[o].Mean, m.be[o].Cov.Data)
	}
	return m, nil
}

// common returns what all models have.
func (m *sharedLayers) common() *sharedLayers { return m }

// observedOf returns where the targets of output o are, nil if everywhere.
func (m *sharedLayers) observedOf(o int) []float64 {
	if m.observed.Rows == 0 {
		return nil
	}
	return m.observed.Row(o)
}

// countOf returns how many targets output o has.
func (m *sharedLayers) countOf(o int) float64 {
	if m.observed.Rows == 0 {
		return m.Size
	}
	return m.Samples.CountOf(m.observed.Row(o))
}

// begin sets the state to where r says that the ascent begins; intermediate updates G.
func (m *sharedLayers) begin(r SharedRegression, intermediate func() error) error {
	if r.From != nil {
		if err := m.resume(r.From); err != nil {
			return err
		}
		return intermediate()
	}
	start := r.Start
	if start == nil && m.Ones != nil {
		start = sharedCompressedStart(r.Seed, m.y, m.P, m.D)
	} else if start == nil {
		start = randomStart(r.Seed, 1, m.P, m.D, m.N)
	} else if err := start.validate(1, m.P, m.D, m.N); err != nil {
		return err
	}
	return m.Start(start.A, start.G)
}

// resume continues from p, but for G.
func (m *sharedLayers) resume(p *SharedPosterior) error {
	if err := m.checkResume(m.L, &p.scorer.core); err != nil {
		return err
	}
	s := p.s
	m.upsilonQ.Resume(0, s.Upsilon)
	m.upsilonMean[0] = m.upsilonQ.Mean(0)
	for o := range m.L {
		m.epsilon[o].Resume(0, s.Epsilon[o])
		m.epsilonMean[o] = m.epsilon[o].Mean(0)
		m.gamma.Resume(o, s.Gamma[o])
		if err := m.be[o].Resume(s.BEMean[o], s.BECov[o]); err != nil {
			return fmt.Errorf("vi: From: covariance of bias and kernel weights of output %d: %w", o, err)
		}
		m.updateEE(o)
	}
	for j := range s.Omega {
		m.omega.Resume(j, s.Omega[j])
	}
	return m.latent.Resume(p.core.LambdaShape, s.Lambda, s.A, m.upsilonMean)
}

// order returns the updates of a sweep, with those that the model has of its own.
func (m *sharedLayers) order(g work.Update, scale func(), mix func() error) *updates {
	u := &updates{
		lambda:  m.UpdateLambda,
		upsilon: m.updateUpsilon,
		a:       work.Update{Name: "a", Step: func() error { return m.UpdateWeights(m.upsilonMean) }},
		g:       g,
		rest: []work.Update{
			work.Step("γ", m.updateGamma), work.Step("ω", m.updateOmega), work.Step("ε", m.updateEpsilon),
			{Name: "(b,e)", Step: m.updateCombination},
		},
		scale: scale,
	}
	if m.L > 1 {
		u.mix = mix
	}
	return u
}

// Observations implements [vi.Objective]: outputs share a row of latent, which has N
// samples, but have targets each.
func (m *sharedLayers) Observations() (n float64) {
	for o := range m.L {
		n += m.countOf(o)
	}
	return n
}

// Sweep implements [vi.Objective].
func (m *sharedLayers) Sweep(done func(string)) error { return m.updates.Sweep(&m.Stop, done) }

// updateUpsilon is q(υ) = Gamma(α_υ + NP/2, (1/β_υ + Σ E[(g − aᵀk)²]/2)^-1).
func (m *sharedLayers) updateUpsilon() {
	m.upsilonQ.Observe(0, float64(0.5*m.Distance(0)))
	m.upsilonMean[0] = m.upsilonQ.Mean(0)
}

// updateGamma is q(γ_o) = Gamma(α_γ + ½, (1/β_γ + E[b_o²]/2)^-1).
func (m *sharedLayers) updateGamma() {
	for o := range m.L {
		m.gamma.Observe(o, float64(0.5*m.be[o].Square(0)))
	}
}

// updateOmega is q(ω_{o,m}) = Gamma(α_ω + ½, (1/β_ω + E[e_{o,m}²]/2)^-1).
func (m *sharedLayers) updateOmega() {
	for o := range m.L {
		for j := range m.P {
			m.omega.Observe(o*m.P+j, float64(0.5*m.be[o].Square(1+j)))
		}
	}
}

// updateEpsilon is q(ε_o) = Gamma(α_ε + n_o/2, (1/β_ε + Σ E[(y − e_oᵀg − b_o)²]/2)^-1).
func (m *sharedLayers) updateEpsilon() {
	for o := range m.L {
		m.epsilon[o].UpdateNoise(m.residual(o))
		m.epsilonMean[o] = m.epsilon[o].Mean(0)
	}
}

// residual returns Σ_i E[(y_{o,i} − e_oᵀg_i − b_o)²] over observed i, as layers.residual does.
func (m *sharedLayers) residual(o int) float64 {
	P, r, be, sums := m.P, m.Crew.Workers[0].N1, &m.be[o], &m.sums[o]
	copy(r, m.y.Row(o))
	m.addFit(0, o, be.Mean[1:], -1, r)
	m.Subtract(be.Mean[0], r)
	for i, z := range m.observedOf(o) {
		r[i] *= z
	}
	spread := sums.count * be.Cov.At(0, 0)
	var within float64
	for j := range P {
		cov := be.Cov.Row(1 + j)
		spread += 2 * float64(cov[0]*sums.g[j])
		spread += la.Dot(cov[1:], sums.gram.Row(j))
		within += la.Dot(sums.cov.Row(j), m.ee[o].Row(j))
	}
	return la.SumSq(r) + spread + float64(sums.count*within)
}

// updateCombination is q(b_o, e_o): precision
//
//	[ γ_o + n_o·ε_o   ε_o·ΣE[g]ᵀ                 ]
//	[ .               diag(ω_o) + ε_o·E[G·Gᵀ]    ]
//
// and right side ε_o·[Σy_o ; ΣE[g]·y_o], for each output, sums over observed samples.
func (m *sharedLayers) updateCombination() error {
	P := m.P
	for o := range m.L {
		eps, prec, sums := m.epsilon[o].Mean(0), m.be[o].Cov, &m.sums[o]
		prec.Fill(0)
		prec.Set(0, 0, m.gamma.Mean(o)+float64(sums.count*eps))
		m.rhs[0] = eps * m.SumOver(m.y.Row(o))
		for j := range P {
			m.rhs[1+j] = eps * sums.target[j]
			row := prec.Row(1 + j)
			row[0] = eps * sums.g[j]
			la.Axpy(eps, sums.gram.Row(j), row[1:])
			la.Axpy(float64(eps*sums.count), sums.cov.Row(j), row[1:])
			row[1+j] += m.omega.Mean(o*P + j)
		}
		if err := m.be[o].SetPrecision(&m.Crew.All, m.rhs); err != nil {
			return fmt.Errorf("bias and kernel weights of output %d: %w", o, err)
		}
		m.updateEE(o)
	}
	return nil
}

// updateEE forms E[e_o·e_oᵀ].
func (m *sharedLayers) updateEE(o int) {
	e := m.be[o].Mean[1:]
	for j := range m.P {
		row := m.ee[o].Row(j)
		copy(row, m.be[o].Cov.Row(1 + j)[1:])
		la.Axpy(e[j], e, row)
	}
}

// scaleStep moves along the ridge (a, G) → c(a, G), e_o → e_o/c, (υ, λ) → /c²,
// ω → c²ω, as in regression; docs/theory/acceleration.md. It returns s = c²; what the model keeps
// of G is left to it.
func (m *sharedLayers) scaleStep() (s float64, ok bool) {
	if s, ok = roots.Ridge(m.ridge()); !ok {
		return s, false
	}
	m.rescale(s)
	m.upsilonQ.Scale[0] /= s
	m.upsilonMean[0] = m.upsilonQ.Mean(0)
	la.Scal(s, m.omega.Scale)
	for o := range m.L {
		m.be[o].Rescale(1/math.Sqrt(s), 1)
		la.Scal(1/s, m.ee[o].Data)
	}
	return s, true
}

// ridge returns the coefficients of scaleStep.
func (m *sharedLayers) ridge() (a, b, c float64) {
	a, b, c = m.latent.ridge(&m.omega)
	return a + m.priors.Upsilon.Shape, b + m.upsilonMean[0]/m.priors.Upsilon.Scale, c
}

// Roundoff implements [vi.Objective]. It sums the same parts as layers.Roundoff does.
func (m *sharedLayers) Roundoff() float64 {
	sum := m.latent.Roundoff()
	for o := range m.L {
		be, eps, sums := &m.be[o], m.epsilon[o].Mean(0), &m.sums[o]
		size := float64(sums.count * be.Mean[0] * be.Mean[0])
		for j := range m.P {
			e := be.Mean[1+j]
			size += float64(float64(e*e) * sums.gram.At(j, j))
		}
		sum += float64(work.Roundoff(1+m.P)*2*be.Spread) + work.Difference(m.P+1, eps, sums.count/eps, size)
	}
	return sum
}

// Bound implements [vi.Objective].
func (m *sharedLayers) Bound() float64 {
	sum := m.latent.Bound() + m.GBound(0, m.upsilonQ.Mean(0), m.upsilonQ.MeanLog(0))
	sum += m.upsilonQ.Bound() + m.gamma.Bound() + m.omega.Bound()
	for o := range m.L {
		be := &m.be[o]
		noise, _, fit := m.epsilon[o].Terms(m.residual(o))
		sum += be.Entropy() + noise
		sum += float64(0.5 * (m.gamma.MeanLog(o) - conjugate.Log2Pi - float64(m.gamma.Mean(o)*be.Square(0))))
		for j := range m.P {
			w := o*m.P + j
			sum += float64(0.5 * (m.omega.MeanLog(w) - conjugate.Log2Pi - float64(m.omega.Mean(w)*be.Square(1+j))))
		}
		sum += fit
	}
	return sum
}

// collapsed returns the outputs whose fitted function is constant, as layers.collapsed does.
func (m *sharedLayers) collapsed() []int {
	var out []int
	f := make([]float64, m.N)
	for o := range m.L {
		clear(f)
		for j := range m.P {
			la.Axpy(m.be[o].Mean[1+j], m.H.Row(j), f)
		}
		if m.IsCollapsed(f, m.y.Row(o), m.observedOf(o)) {
			out = append(out, o)
		}
	}
	return out
}
