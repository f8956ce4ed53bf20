package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// patterned is the state of a fit of [SharedRegression] to targets with missing values. Each of the
// outputs that a sample has a target of pulls on its g_i, so that samples with the same outputs, a
// pattern, have a Cov[g_i] in common. Derived in docs/theory/shared.md.
type patterned struct {
	*sharedLayers
	patterns []pattern
	joint    bool // the biases are updated with G
	bias     biasesOfG
	rounds   *partPlane // of the accelerated order; nil in the plain one
}

// pattern is the samples that have targets of the same outputs.
type pattern struct {
	part
	outputs []int              // ascending; none for samples without any target
	y       la.Matrix[float64] // outputs×members, their targets
	gain    la.Matrix[float64] // outputs×P, ε_o·Cov[g]·E[e_o]
	target  la.Matrix[float64] // outputs×P, Σ_i y_{o,i}·E[g_i]
}

// biasesOfG holds the quadratic form of a joint update of the biases and G: with the best G for
// every b the bound is a quadratic in E[b].
type biasesOfG struct {
	factor  la.Matrix[float64] // L×L, of minus its second derivative
	follows bool               // factor is one: rounding has not made the matrix indefinite
	slope   []float64          // L, its derivative at b = 0
	follow  [2][]float64       // L, scratch
}

// patternsOf groups the samples by the outputs that they have targets of, in the order in which
// they come.
func patternsOf(y, observed la.Matrix[float64], P int) []pattern {
	key := make([]byte, y.Rows)
	index := map[string]int{}
	var members, outputs [][]int
	for i := range y.Cols {
		var own []int
		for o := range key {
			key[o] = byte(observed.At(o, i))
			if key[o] != 0 {
				own = append(own, o)
			}
		}
		at, there := index[string(key)]
		if !there {
			at = len(members)
			index[string(key)] = at
			members, outputs = append(members, nil), append(outputs, own)
		}
		members[at] = append(members[at], i)
	}
	all := make([]pattern, len(members))
	for c := range all {
		n := len(outputs[c])
		p := pattern{
			part: newPart(P, members[c]), outputs: outputs[c],
			y:    la.NewMatrix[float64](n, len(members[c])),
			gain: la.NewMatrix[float64](n, P), target: la.NewMatrix[float64](n, P),
		}
		for j, o := range p.outputs {
			for t, i := range p.members {
				p.y.Set(j, t, y.At(o, i))
			}
		}
		all[c] = p
	}
	return all
}

// patterned returns the initial state of a fit with missing targets.
func (r SharedRegression) patterned(layers *sharedLayers) (*patterned, error) {
	L, P := layers.L, layers.P
	m := &patterned{
		sharedLayers: layers, patterns: patternsOf(layers.y, layers.observed, P),
		bias: biasesOfG{factor: la.NewMatrix[float64](L, L), slope: make([]float64, L)},
	}
	for k := range m.bias.follow {
		m.bias.follow[k] = make([]float64, L)
	}
	for o := range L {
		m.sums = append(m.sums, outputSums{
			count: m.countOf(o), g: make([]float64, P), target: make([]float64, P),
			gram: la.NewMatrix[float64](P, P), cov: la.NewMatrix[float64](P, P),
		})
	}
	m.GTask = m.updateIntermediateOf
	u := m.order(work.Update{Name: "G", Step: m.updateIntermediate}, m.updateScale, m.updateMixing)
	m.updates.Settled = u.plain()
	if !r.Plain {
		parts := make([]*part, len(m.patterns))
		for c := range parts {
			parts[c] = &m.patterns[c].part
		}
		m.rounds = newPartPlane(m.latent, m, parts, m.roundsOfPatterns())
		m.updates = work.Schedule{First: u.plain(), Settled: m.rounds.order(u)}
	}
	if err := m.begin(r, m.updateIntermediate); err != nil {
		return nil, err
	}
	for c := range m.patterns {
		m.patterns[c].gather(m.GMean, m.patterns[c].g)
	}
	m.summarise(&m.Crew.All)
	return m, nil
}

// roundsOfPatterns is how many rounds a sweep has: severalRounds, or as many fewer as their G
// would cost more than a factorisation.
func (m *patterned) roundsOfPatterns() int {
	D, P, L, N := float64(m.D), float64(m.P), float64(m.L), float64(m.N)
	round := float64(P * (P + L) * (N + float64(float64(len(m.patterns))*P)))
	return min(severalRounds(m.L, m.D, m.P), max(5, int(D*D*D/round)))
}

// updateIntermediate is q(g_i) = N(Σ_c(υ·h_i + Σ_o ε_o(y_{o,i}·E[e_o] − E[b_o·e_o])), Σ_c),
// Σ_c = (υ·I + Σ_o ε_o·E[e_o·e_oᵀ])^-1, with c the pattern of i and o its outputs.
func (m *patterned) updateIntermediate() error {
	m.Upsilon, m.DistanceStale, m.joint = m.upsilonMean, false, false
	return m.GTask(m.Crew.Workers[0], 0)
}

// updateIntermediateAndBiases updates the means of G and of the biases jointly.
func (m *patterned) updateIntermediateAndBiases() error {
	m.Upsilon, m.DistanceStale, m.joint = m.upsilonMean, false, true
	return m.GTask(m.Crew.Workers[0], 0)
}

// updateIntermediateOf is either as a task; there is one row of G. It first finds G with b = 0,
// and then takes away what b makes of it. Minus the second derivative of the bound in b with G
// following is
//
//	B_oq = (γ_o + n_o·ε_o)·1[o=q] − Σ_c n_c·ε_o·ε_q·E[e_o]ᵀ·Σ_c·E[e_q]
//
// over the patterns c that have both outputs.
func (m *patterned) updateIntermediateOf(w *intermediate.Worker, _ int) error {
	bias := &m.bias
	bias.factor.Fill(0)
	for o := range m.L {
		bias.factor.Set(o, o, m.gamma.Mean(o)+float64(m.sums[o].count*m.epsilonMean[o]))
		bias.slope[o] = 0
	}
	m.GTrace[0], m.GLogDet[0] = 0, 0
	for c := range m.patterns {
		p := &m.patterns[c]
		if err := m.withoutBiases(w, p); err != nil {
			return fmt.Errorf("intermediate outputs of sample %d: %w", p.members[0], err)
		}
		n := float64(len(p.members))
		m.GLogDet[0] += float64(n * w.Small.LogDet)
		for j := range m.P {
			m.GTrace[0] += float64(n * p.cov.At(j, j))
			p.sum[j] = conjugate.Sum(p.g.Row(j))
		}
		for j, o := range p.outputs {
			eps, e := m.epsilonMean[o], m.reads[o].e()
			bias.slope[o] += float64(eps * (conjugate.Sum(p.y.Row(j)) - la.Dot(e, p.sum)))
			for i, q := range p.outputs[:j+1] {
				bias.factor.Row(o)[q] -= float64(float64(n*eps) * la.Dot(e, p.gain.Row(i)))
			}
		}
	}
	if m.joint {
		// Rounding can leave B indefinite where sparse priors make it next to singular.
		// The biases then stay where they are.
		if bias.follows = la.Cholesky(&w.WS, bias.factor) == nil; bias.follows {
			la.CholeskySolveVec(bias.factor, bias.slope)
			for o, b := range bias.slope {
				m.be[o].Mean[0] = b
			}
		}
	}
	for c := range m.patterns {
		p := &m.patterns[c]
		for j, o := range p.outputs {
			for i, gain := range p.gain.Row(j) {
				m.Subtract(float64(m.be[o].Mean[0]*gain), p.g.Row(i))
			}
		}
		p.scatter(m.GMean)
	}
	m.summarise(&w.WS)
	m.UpdateDistance(w, 0)
	return nil
}

// withoutBiases updates Cov[g] and the gains of a pattern, and stores in its g the means with
// all b_o at 0.
func (m *patterned) withoutBiases(w *intermediate.Worker, p *pattern) error {
	upsilon, precision := m.Upsilon[0], w.Small.Cov
	precision.Fill(0)
	clear(w.P1)
	for _, o := range p.outputs {
		eps, be := m.epsilonMean[o], &m.be[o]
		for j := range m.P {
			la.Axpy(eps, m.ee[o].Row(j), precision.Row(j))
			w.P1[j] += float64(eps * be.Cov.At(0, 1+j))
		}
	}
	for j := range m.P {
		precision.Row(j)[j] += upsilon
	}
	if err := w.Small.SetPrecision(&w.WS, w.P1); err != nil {
		return err
	}
	p.cov.CopyFrom(w.Small.Cov)
	for j, o := range p.outputs {
		la.Gemv(&w.WS, la.NoTrans, m.epsilonMean[o], p.cov, m.reads[o].e(), 0, p.gain.Row(j))
	}
	p.gather(m.H, p.h)
	la.Gemm(&w.WS, la.NoTrans, la.NoTrans, upsilon, p.cov, p.h, 0, p.g)
	la.Gemm(&w.WS, la.Transpose, la.NoTrans, 1, p.gain, p.y, 1, p.g)
	for j, v := range w.Small.Mean {
		m.Subtract(v, p.g.Row(j))
	}
	return nil
}

// summarise forms the sums over the samples of every pattern and output.
func (m *patterned) summarise(ws *la.Workspace) {
	for o := range m.sums {
		s := &m.sums[o]
		clear(s.g)
		clear(s.target)
		s.gram.Fill(0)
		s.cov.Fill(0)
	}
	for c := range m.patterns {
		p := &m.patterns[c]
		p.summarise(ws)
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, p.y, p.g, 0, p.target)
		for j, o := range p.outputs {
			s := &m.sums[o]
			la.Axpy(1, p.sum, s.g)
			la.Axpy(1, p.target.Row(j), s.target)
			la.Axpy(1, p.gram.Data, s.gram.Data)
			la.Axpy(float64(len(p.members))/s.count, p.cov.Data, s.cov.Data)
		}
	}
}

// yield implements [parted].
func (m *patterned) yield(_ int, sums []planePart) [3]float64 {
	bias := &m.bias
	if !bias.follows {
		return [3]float64{}
	}
	for k, follow := range bias.follow {
		clear(follow)
		for c := range sums {
			p := &m.patterns[c]
			for j, o := range p.outputs {
				follow[o] += float64(m.upsilonMean[0] * la.Dot(p.gain.Row(j), sums[c].ones[k]))
			}
		}
		la.Trsv(la.NoTrans, bias.factor, follow)
	}
	z, d := bias.follow[0], bias.follow[1]
	return [3]float64{la.SumSq(z), la.Dot(z, d), la.SumSq(d)}
}

// updateMixing takes the step of every kernel once, see mixing: of the samples that have a
// target. The others, whose g_i the likelihood does not hold, stay as they are.
func (m *patterned) updateMixing() error {
	x, ws, P := m.mixing, &m.Crew.All, m.P
	x.gram.Fill(0)
	x.cov.Fill(0)
	x.away.Fill(0)
	x.count = 0
	for c := range m.patterns {
		p := &m.patterns[c]
		if len(p.outputs) == 0 {
			continue
		}
		n := float64(len(p.members))
		x.count += n
		la.Axpy(1, p.gram.Data, x.gram.Data)
		la.Axpy(n, p.cov.Data, x.cov.Data)
		p.gather(m.H, p.h)
		la.Scal(-1, p.h.Data)
		la.Axpy(1, p.g.Data, p.h.Data) // E[g] − h
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, p.h, p.g, 1, x.away)
	}
	la.Scal(1/x.count, x.cov.Data)
	if err := m.mixKernels(); err != nil {
		return err
	}
	m.GTrace[0] = 0
	for c := range m.patterns {
		p := &m.patterns[c]
		if len(p.outputs) > 0 {
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1, x.total, p.cov, 0, x.product)
			la.Gemm(ws, la.NoTrans, la.Transpose, 1, x.product, x.total, 0, p.cov)
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1, x.total, p.g, 0, p.h)
			p.g.CopyFrom(p.h)
			p.scatter(m.GMean)
		}
		for j := range P {
			m.GTrace[0] += float64(float64(len(p.members)) * p.cov.At(j, j))
		}
	}
	m.summarise(ws)
	m.UpdateDistance(m.Crew.Workers[0], 0)
	return nil
}

// updateScale takes the step of sharedLayers.scaleStep, and scales the covariances of the patterns
// to match.
func (m *patterned) updateScale() {
	s, ok := m.scaleStep()
	if !ok {
		return
	}
	for c := range m.patterns {
		m.patterns[c].rescale(math.Sqrt(s), s)
	}
	m.summarise(&m.Crew.All)
}

// Posterior returns the present state.
func (m *patterned) Posterior() *SharedPosterior { return m.wrap(m.healing) }

// Snapshot names the state of a fit.
func (m *patterned) Snapshot(s *work.Snapshot) {
	s.Same(m.observed.Data...)
	m.sharedLayers.Snapshot(s)
	for c := range m.patterns {
		p := &m.patterns[c]
		s.Matrices(p.cov)
		p.gather(m.GMean, p.g)
	}
	if s.Back() {
		m.summarise(&m.Crew.All)
	}
	if m.rounds != nil {
		s.Matrices(m.rounds.last, m.rounds.hLast)
	}
}
