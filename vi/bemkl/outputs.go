package bemkl

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/target"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// outputs is the state of a fit of layers whose outputs have a likelihood each, of one kind, with
// precisions υ of the intermediate outputs that are learned or held. [Regression] and [Classification]
// are outputs with a likelihood.
type outputs struct {
	*layers
	y        la.Matrix[float64]  // L×N, the data, 0 where missing
	t        la.Matrix[float64]  // L×N, E[t], 0 where missing; y where the targets are the data
	location la.Matrix[float64]  // L×N, E[eᵀg + b] at the update of q(t); empty where the targets are the data
	like     []target.Likelihood // L

	upsilon                  conjugate.Gammas // L; none where υ is held
	upsilonMean, epsilonMean []float64        // L, E[υ] and E[ε]
	updates                  work.Schedule
}

// newOutputs returns a state without υ, which learnUpsilon or holdUpsilon sets.
func newOutputs(l *layers, y, t, location la.Matrix[float64], like []target.Likelihood) *outputs {
	m := &outputs{
		layers: l, y: y, t: t, location: location, like: like,
		upsilonMean: make([]float64, l.L), epsilonMean: make([]float64, l.L),
	}
	for o, own := range like {
		m.epsilonMean[o] = own.Precision()
		own.Memorise(&m.Memory)
	}
	return m
}

// learnUpsilon gives υ the prior.
func (m *outputs) learnUpsilon(prior vi.Gamma) {
	m.upsilon = conjugate.NewGammas(prior, prior.Shape+float64(0.5*m.Size*float64(m.P)), m.L)
	m.Memory.Of(m.upsilon.Scale)
}

// holdUpsilon holds υ.
func (m *outputs) holdUpsilon(precision float64) {
	for o := range m.upsilonMean {
		m.upsilonMean[o] = precision
	}
}

// learnsUpsilon reports whether υ has a distribution.
func (m *outputs) learnsUpsilon() bool { return m.upsilon.Scale != nil }

// schedule sets the updates of the sweeps. Unless plain, accelerated sweeps of so many rounds follow.
func (m *outputs) schedule(plain bool, rounds int) {
	u := m.order()
	m.updates.Settled = u.plain()
	if !plain {
		p := newPlane(m.latent, m.reads, &m.gamma, m.epsilonMean, m.t, m.gTarget, rounds)
		m.updates = work.Schedule{First: u.plain(), Settled: p.order(u)}
	}
}

// order returns the updates of a sweep.
func (m *outputs) order() *updates {
	u := &updates{
		lambda: m.UpdateLambda,
		a:      work.Update{Name: "a", Step: func() error { return m.UpdateWeights(m.upsilonMean) }},
		g:      work.Update{Name: "G", Step: func() error { return m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.t) }},
		scale:  m.updateScale,
	}
	if m.learnsUpsilon() {
		u.upsilon = m.updateUpsilon
	}
	combination := work.Update{Name: "(b,e)", Step: func() error { return m.updateCombination(m.epsilonMean, m.t) }}
	u.ofLikelihood(m.like[0], m.commonWeights, m.updateEpsilon, combination, m.updateTargets)
	return u
}

// Sweep implements [vi.Objective].
func (m *outputs) Sweep(done func(string)) error { return m.updates.Sweep(&m.Stop, done) }

// resume continues from an earlier posterior, given its scorer and factors; υ and ε are set before.
func (m *outputs) resume(from *predictive.Scorer, gamma, omega []vi.Gamma, beMean []float64, beCov la.Matrix[float64]) error {
	if err := m.layers.resume(from.LambdaShape, from.Lambda, from.A, m.upsilonMean, gamma, omega, beMean, beCov); err != nil {
		return err
	}
	m.updateTargets() // with G at its prior mean
	return m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.t)
}

// updateUpsilon is q(υ_o) = Gamma(α_υ + NP/2, (1/β_υ + Σ E[(g − aᵀk)²]/2)^-1).
func (m *outputs) updateUpsilon() {
	for o := range m.L {
		m.upsilon.Observe(o, float64(0.5*m.Distance(o)))
		m.upsilonMean[o] = m.upsilon.Mean(o)
	}
}

// updateEpsilon is q(ε), see [target.Likelihood].
func (m *outputs) updateEpsilon() {
	for o, like := range m.like {
		like.UpdateNoise(m.residual(o, m.t))
		m.epsilonMean[o] = like.Precision()
	}
}

// updateTargets is q(t), see [target.Likelihood].
func (m *outputs) updateTargets() {
	for o, like := range m.like {
		if !like.Latent() {
			continue
		}
		loc := m.location.Row(o)
		for i := range loc {
			loc[i] = m.be.Mean[o]
		}
		m.addFit(o, o, m.be.Mean[m.L:], 1, loc)
		like.UpdateTargets()
	}
}

// updateScale moves along the ridge (a, G) → c(a, G), e → e/c, (υ, λ) → /c²,
// ω → c²ω, which leaves the likelihood alone. With s = c² the bound changes by
// −A·ln s − B(1/s − 1) − C(s − 1), which is highest at the positive root of
// C·s² + A·s − B = 0. Where υ is held, the distance of G from its prior mean grows with s
// and the entropy of G rewards it: A is less by LNP/2 and C more by ½υ Σ E[(g − aᵀk)²].
// Derived in docs/theory/acceleration.md.
func (m *outputs) updateScale() {
	s, ok := roots.Ridge(m.ridge())
	if !ok {
		return
	}
	m.rescale(s)
	for o := range m.upsilon.Scale {
		m.upsilon.Scale[o] /= s
		m.upsilonMean[o] = m.upsilon.Mean(o)
	}
}

// ridge returns the coefficients of updateScale.
func (m *outputs) ridge() (a, b, c float64) {
	a, b, c = m.latent.ridge(&m.omega)
	if m.learnsUpsilon() {
		a += float64(float64(m.L) * m.upsilon.Prior.Shape)
		for _, v := range m.upsilonMean {
			b += v / m.upsilon.Prior.Scale
		}
		return a, b, c
	}
	a -= float64(0.5 * float64(m.L*m.N*m.P))
	for o := range m.L {
		c += float64(0.5 * m.upsilonMean[o] * m.Distance(o))
	}
	return a, b, c
}

// Bound implements [vi.Objective].
func (m *outputs) Bound() float64 {
	sum := m.layers.bound() + float64(0.5*m.shift()) + m.upsilon.Bound()
	for o, like := range m.like {
		noise, logZ, fit := like.Terms(m.residual(o, m.t))
		sum += noise
		if m.learnsUpsilon() {
			sum += m.GBound(o, m.upsilon.Mean(o), m.upsilon.MeanLog(o))
		} else {
			sum += m.GBound(o, m.upsilonMean[o], special.Log(m.upsilonMean[o]))
		}
		sum += logZ + fit
	}
	return sum
}

// shift returns Σ E[ε_o]·(E[t] − m)² over the latent targets.
func (m *outputs) shift() (sum float64) {
	for o, like := range m.like {
		sum += float64(m.epsilonMean[o] * like.Shift(0))
	}
	return sum
}

// Predictions implements [vi.Objective].
func (m *outputs) Predictions(p *vi.Predictions) {
	p.Resize(m.L * m.N)
	for o := range m.L {
		m.predict(p, o, o, &m.reads[o], 1/m.epsilonMean[o], m.upsilonMean[o])
	}
	m.like[0].Predictions(p)
}

// Snapshot names the state of a fit but for what a model adds.
func (m *outputs) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	for _, like := range m.like {
		like.Snapshot(s)
	}
	m.layers.Snapshot(s)
	if m.learnsUpsilon() {
		m.upsilon.Snapshot(s)
	} else {
		s.Same(m.upsilonMean...)
	}
	s.Floats(m.upsilonMean, m.epsilonMean)
	m.updates.Snapshot(s)
	m.take(m.upsilonMean, m.epsilonMean, m.t)
}
