package bemkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/target"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// groupedRegression is the state of a fit of [Regression] with Groups: the noise has a
// precision ε_{o,c} for each output o and group of samples c, and so Cov[g] is one for each of
// them. All else is as in regression.
// Derived in docs/theory/missing-views.md.
type groupedRegression struct {
	*latent
	*commonWeights
	y           la.Matrix[float64] // L×N, 0 where missing
	priors      RegressionPriors
	C           int
	upsilon     conjugate.Gammas // L
	parts       []groupPart      // L·C, the parts of output o from o·C on
	upsilonMean []float64        // L
	updates     work.Schedule
	joint       bool       // b is updated with G
	rounds      *partPlane // of the accelerated order; nil in the plain one
}

// groupPart holds the samples of a group whose target of one output is known.
type groupPart struct {
	part
	y       []float64 // their targets
	epsilon *target.Normal
	target  []float64 // P, Σ_i E[g_i]·y_i
}

// checkGroups returns the number of groups of n samples, which are numbered from 0.
func checkGroups(groups []int, n int) (C int, err error) {
	if len(groups) != n {
		return 0, fmt.Errorf("vi: Groups: %d entries for %d samples", len(groups), n)
	}
	for i, c := range groups {
		if c < 0 || c >= n {
			return 0, fmt.Errorf("vi: Groups[%d] is %d: groups are numbered from 0", i, c)
		}
		C = max(C, c+1)
	}
	return C, nil
}

// fitGroups is Fit with groups.
func (r Regression) fitGroups(ctx context.Context, k vi.Kernels, y la.Matrix[float64]) (*RegressionFit, error) {
	m, err := r.grouped(k, y)
	if err != nil {
		return nil, err
	}
	p, rec, err := climb.Run(ctx, r.Ascent, m, NewRegressionPosterior, RegressionState.covariances)
	if p == nil {
		return nil, err
	}
	return &RegressionFit{Posterior: p, Record: rec, Collapsed: m.latent.collapsed(m.be.Mean[m.L:], m.y), state: m.latent, upsilon: m.upsilonMean}, err
}

// grouped checks the arguments and returns the initial state of a fit with groups.
func (r Regression) grouped(k vi.Kernels, y la.Matrix[float64]) (*groupedRegression, error) {
	pr := priorsOr1(r.Lambda, r.Upsilon, r.Gamma, r.Omega, r.Epsilon)
	if err := pr.validate(); err != nil {
		return nil, err
	}
	y, observed, err := checkTargets(k, y)
	if err == nil {
		err = vi.RefuseCompressed(k)
	}
	if err != nil {
		return nil, err
	}
	if r.From != nil {
		return nil, fmt.Errorf("vi: From: not with Groups")
	}
	_, _, N := k.Dims()
	C, err := checkGroups(r.Groups, N)
	if err != nil {
		return nil, err
	}
	m := r.newGrouped(k, y, observed, pr, C)
	m.divide(r.Groups, observed)
	m.schedule(r.Plain)
	return m, m.startAt(r.Start, r.Seed)
}

// newGrouped returns a state of C groups without their samples.
func (r Regression) newGrouped(k vi.Kernels, y, observed la.Matrix[float64], pr RegressionPriors, C int) *groupedRegression {
	L := y.Rows
	P, _, N := k.Dims()
	m := &groupedRegression{
		latent:        newLatent(k, L, observed, pr.Lambda, r.Workers),
		commonWeights: newCommonWeights(L, P, pr.Gamma, pr.Omega),
		y:             y, priors: pr, C: C,
		upsilon:     conjugate.NewGammas(pr.Upsilon, pr.Upsilon.Shape+float64(0.5*float64(N*P)), L),
		upsilonMean: make([]float64, L),
	}
	m.memorise(&m.Memory)
	m.Memory.Of(m.upsilon.Scale)
	m.GTask, m.latent.Upsilon = m.updateIntermediateOf, m.upsilonMean
	return m
}

// divide makes the parts of every output, of the samples of each group whose target is observed.
func (m *groupedRegression) divide(groups []int, observed la.Matrix[float64]) {
	for o := range m.L {
		for c := range m.C {
			var members []int
			var values []float64
			for i, group := range groups {
				if group == c && (observed.Rows == 0 || observed.At(o, i) != 0) {
					members, values = append(members, i), append(values, m.y.At(o, i))
				}
			}
			p := groupPart{
				part: newPart(m.P, members), y: values, target: make([]float64, m.P),
				epsilon: target.NewNormal(m.priors.Epsilon, float64(len(members))),
			}
			m.parts = append(m.parts, p)
			p.epsilon.Memorise(&m.Memory)
		}
	}
}

// schedule sets the updates of the sweeps: the plain ones and, unless plain, the accelerated ones
// that follow.
func (m *groupedRegression) schedule(plain bool) {
	u := m.order()
	m.updates.Settled = u.plain()
	if plain {
		return
	}
	parts := make([]*part, len(m.parts))
	for i := range parts {
		parts[i] = &m.parts[i].part
	}
	m.rounds = newPartPlane(m.latent, m, parts, leastRounds)
	m.updates = work.Schedule{First: u.plain(), Settled: m.rounds.order(u)}
}

// startAt sets a and G to a start, drawn with the seed if it is nil.
func (m *groupedRegression) startAt(start *Start, seed uint64) error {
	if start == nil {
		start = randomStart(seed, m.L, m.P, m.D, m.N)
	} else if err := start.validate(m.L, m.P, m.D, m.N); err != nil {
		return err
	}
	if err := m.Start(start.A, start.G); err != nil {
		return err
	}
	for o := range m.L {
		for c := range m.of(o) {
			p := &m.of(o)[c]
			p.gather(m.Rows(m.GMean, o), p.g)
		}
		m.summarise(&m.Crew.All, o)
	}
	return nil
}

// order returns the updates of a sweep.
func (m *groupedRegression) order() *updates {
	return &updates{
		lambda: m.UpdateLambda, upsilon: m.updateUpsilon,
		a: work.Update{Name: "a", Step: func() error { return m.UpdateWeights(m.upsilonMean) }},
		g: work.Update{Name: "G", Step: m.updateIntermediate},
		rest: []work.Update{
			work.Step("γ", m.updateGamma), work.Step("ω", m.updateOmega), work.Step("ε", m.updateEpsilon),
			{Name: "(b,e)", Step: m.updateCombination},
		},
		scale: m.updateScale,
	}
}

// of returns the parts of output o.
func (m *groupedRegression) of(o int) []groupPart { return m.parts[o*m.C : (o+1)*m.C] }

// summarise forms the sums over the samples of output o's groups.
func (m *groupedRegression) summarise(ws *la.Workspace, o int) {
	for c := range m.of(o) {
		p := &m.of(o)[c]
		p.summarise(ws)
		for j := range m.P {
			p.target[j] = la.Dot(p.g.Row(j), p.y)
		}
	}
}

// Sweep implements [vi.Objective].
func (m *groupedRegression) Sweep(done func(string)) error {
	return m.updates.Sweep(&m.Stop, done)
}

// updateUpsilon updates υ, as regression does.
func (m *groupedRegression) updateUpsilon() {
	for o := range m.L {
		m.upsilon.Observe(o, float64(0.5*m.Distance(o)))
		m.upsilonMean[o] = m.upsilon.Mean(o)
	}
}

// updateIntermediate is q(g_{o,i}) = N(Σ_c(υ_o·h_i + ε_{o,c}(y_i·E[e] − E[b_o·e])), Σ_c),
// Σ_c = (υ_o·I + ε_{o,c}·E[e·eᵀ])^-1 with c the group of i; N(h_i, I/υ_o) for missing targets.
func (m *groupedRegression) updateIntermediate() error {
	m.DistanceStale, m.joint = false, false
	return m.Crew.Each(m.GTask)
}

// updateIntermediateAndBiases updates the means of G and of the biases jointly. With G at its
// best for every b_o the bound is a quadratic in E[b_o], with biasCurvature for minus its
// second derivative.
func (m *groupedRegression) updateIntermediateAndBiases() error {
	m.DistanceStale, m.joint = false, true
	return m.Crew.Each(m.GTask)
}

func (m *groupedRegression) updateIntermediateOf(w *intermediate.Worker, o int) error {
	P, upsilon, q := m.P, m.upsilonMean[o], &m.reads[o]
	e := q.e()
	missing := m.Size - m.Count[o]
	m.GTrace[o] = missing * float64(P) / upsilon
	m.GLogDet[o] = -float64(missing * float64(P) * special.Log(upsilon))
	for j := range P {
		copy(m.GMean.Row(o*P+j), m.H.Row(o*P+j))
	}
	var slope float64 // of the bound in b at b = 0
	for c := range m.of(o) {
		p := &m.of(o)[c]
		eps, n := p.epsilon.Mean(0), float64(len(p.members))
		for j := range P {
			row := w.Small.Cov.Row(j)
			copy(row, q.ee.Row(j))
			la.Scal(eps, row)
			row[j] += upsilon
			w.P1[j] = eps * m.be.Cov.At(o, m.L+j)
		}
		if err := w.Small.SetPrecision(&w.WS, w.P1); err != nil {
			return fmt.Errorf("intermediate outputs of output %d, group %d: %w", o, c, err)
		}
		p.cov.CopyFrom(w.Small.Cov)
		p.gather(m.Rows(m.H, o), p.h)
		la.Gemm(&w.WS, la.NoTrans, la.NoTrans, upsilon, p.cov, p.h, 0, p.g)
		for j := range P {
			own := p.g.Row(j)
			la.Axpy(eps*la.Dot(p.cov.Row(j), e), p.y, own)
			for t := range own {
				own[t] -= w.Small.Mean[j]
			}
			slope -= float64(float64(eps*e[j]) * conjugate.Sum(own))
			m.GTrace[o] += float64(n * p.cov.At(j, j))
		}
		slope += float64(eps * conjugate.Sum(p.y))
		m.GLogDet[o] += float64(n * w.Small.LogDet)
	}
	if m.joint {
		m.be.Mean[o] = slope / m.biasCurvature(o)
	}
	b := m.be.Mean[o]
	for c := range m.of(o) {
		p := &m.of(o)[c]
		eps := p.epsilon.Mean(0)
		for j := range P {
			shift := float64(float64(eps*b) * la.Dot(p.cov.Row(j), e))
			own := p.g.Row(j)
			for t := range own {
				own[t] -= shift
			}
		}
		p.scatter(m.Rows(m.GMean, o))
	}
	m.summarise(&w.WS, o)
	m.UpdateDistance(w, o)
	return nil
}

// biasCurvature returns γ_o + Σ_c n_c·ε_c(1 − ε_c·E[e]ᵀ·Cov[g_c]·E[e]).
func (m *groupedRegression) biasCurvature(o int) float64 {
	sum, e := m.gamma.Mean(o), m.reads[o].e()
	for c := range m.of(o) {
		p := &m.of(o)[c]
		eps, share := p.epsilon.Mean(0), 1.0
		for j, v := range e {
			share -= float64(float64(eps*v) * la.Dot(p.cov.Row(j), e))
		}
		sum += float64(float64(float64(len(p.members))*eps) * max(0, share))
	}
	return sum
}

// yield implements [parted].
func (m *groupedRegression) yield(o int, sums []planePart) [3]float64 {
	var follow [2]float64
	e, upsilon := m.reads[o].e(), m.upsilonMean[o]
	for c := range m.of(o) {
		p, s := &m.of(o)[c], &sums[c]
		eps := p.epsilon.Mean(0)
		for j := range m.P {
			gain := float64(eps * la.Dot(p.cov.Row(j), e))
			for k := range follow {
				follow[k] += float64(float64(upsilon*gain) * s.ones[k][j])
			}
		}
	}
	bend := m.biasCurvature(o)
	return [3]float64{follow[0] * follow[0] / bend, follow[0] * follow[1] / bend, follow[1] * follow[1] / bend}
}

// residual returns Σ_i E[(y_i − eᵀg_i − b_o)²] over what output o has of a group.
func (m *groupedRegression) residual(o int, p *groupPart) float64 {
	rest, cov, q := append(m.Crew.Workers[0].N1[:0], p.y...), m.be.Cov, &m.reads[o]
	for j, e := range q.e() {
		la.Axpy(-e, p.g.Row(j), rest)
	}
	for i := range rest {
		rest[i] -= m.be.Mean[o]
	}
	n := float64(len(p.members))
	sum := la.SumSq(rest) + float64(n*cov.At(o, o))
	for j := range m.P {
		row := cov.Row(m.L + j)
		sum += 2 * float64(row[o]*p.sum[j])
		sum += la.Dot(row[m.L:], p.gram.Row(j))
		sum += float64(n * la.Dot(p.cov.Row(j), q.ee.Row(j)))
	}
	return sum
}

// updateEpsilon is q(ε_{o,c}) = Gamma(α_ε + n_{o,c}/2, (1/β_ε + Σ_{i∈c} E[(y − eᵀg − b)²]/2)^-1).
func (m *groupedRegression) updateEpsilon() {
	for o := range m.L {
		for c := range m.of(o) {
			p := &m.of(o)[c]
			p.epsilon.UpdateNoise(m.residual(o, p))
		}
	}
}

// updateCombination is q(b, e), see [commonWeights], with a part for each group.
func (m *groupedRegression) updateCombination() error {
	m.beginCombination()
	L, prec := m.L, m.be.Cov
	for o := range L {
		prec.Set(o, o, m.gamma.Mean(o))
		m.rhs[o] = 0
		for c := range m.of(o) {
			p := &m.of(o)[c]
			eps, n := p.epsilon.Mean(0), float64(len(p.members))
			prec.Row(o)[o] += float64(n * eps)
			m.rhs[o] += float64(eps * conjugate.Sum(p.y))
			la.Axpy(eps, p.target, m.rhs[L:])
			for j := range m.P {
				row := prec.Row(L + j)
				row[o] += float64(eps * p.sum[j])
				la.Axpy(eps, p.gram.Row(j), row[L:])
				la.Axpy(float64(eps*n), p.cov.Row(j), row[L:])
			}
		}
	}
	return m.endCombination(&m.Crew.All)
}

// updateScale moves along the ridge, as regression does.
func (m *groupedRegression) updateScale() {
	s, ok := roots.Ridge(m.ridge())
	if !ok {
		return
	}
	c := math.Sqrt(s)
	m.latent.rescale(s)
	m.commonWeights.rescale(s)
	for o := range m.L {
		m.upsilon.Scale[o] /= s
		m.upsilonMean[o] = m.upsilon.Mean(o)
		for i := range m.of(o) {
			p := &m.of(o)[i]
			p.rescale(c, s)
			la.Scal(c, p.target)
		}
	}
}

// ridge returns the coefficients of updateScale.
func (m *groupedRegression) ridge() (a, b, c float64) {
	a, b, c = m.latent.ridge(&m.omega)
	a += float64(float64(m.L) * m.priors.Upsilon.Shape)
	for _, v := range m.upsilonMean {
		b += v / m.priors.Upsilon.Scale
	}
	return a, b, c
}

// Bound implements [vi.Objective].
func (m *groupedRegression) Bound() float64 {
	sum := m.latent.Bound() + m.commonWeights.bound() + m.upsilon.Bound()
	for o := range m.L {
		sum += m.GBound(o, m.upsilon.Mean(o), m.upsilon.MeanLog(o))
		for c := range m.of(o) {
			p := &m.of(o)[c]
			noise, _, fit := p.epsilon.Terms(m.residual(o, p))
			sum += noise
			sum += fit
		}
	}
	return sum
}

// Roundoff implements [vi.Objective]. It sums the same parts as layers.Roundoff does.
func (m *groupedRegression) Roundoff() float64 {
	sum := m.latent.Roundoff() + m.roundoff()
	for o := range m.L {
		for c := range m.of(o) {
			p := &m.of(o)[c]
			n, eps := float64(len(p.members)), p.epsilon.Mean(0)
			size := float64(n * m.be.Mean[o] * m.be.Mean[o])
			for j, e := range m.reads[o].e() {
				size += float64(float64(e*e) * p.gram.At(j, j))
			}
			sum += work.Difference(m.P+1, eps, n/eps, size)
		}
	}
	return sum
}

// Predictions implements [vi.Objective].
func (m *groupedRegression) Predictions(p *vi.Predictions) {
	p.Resize(m.L * m.N)
	for o := range m.L {
		m.predict(p, o, o, &m.reads[o], 0, m.upsilonMean[o])
		sd := p.SD[o*m.N : (o+1)*m.N]
		for c := range m.of(o) {
			part := &m.of(o)[c]
			for _, i := range part.members {
				sd[i] = math.Sqrt(float64(sd[i]*sd[i]) + 1/part.epsilon.Mean(0))
			}
		}
	}
}

// Posterior returns the present state, copied but for the Gram matrix, which never changes.
func (m *groupedRegression) Posterior() *RegressionPosterior {
	s := RegressionState{
		Priors: m.priors, Samples: m.N,
		Lambda: la.MatrixOf(m.L, m.D, m.Lambda.Scale).Clone(), A: m.AMean.Clone(),
		BEMean: append([]float64(nil), m.be.Mean...), BECov: m.be.Cov.Clone(), Gram: m.GramUpper,
	}
	for o := range m.L {
		s.Upsilon = append(s.Upsilon, m.upsilon.At(o))
		s.Gamma = append(s.Gamma, m.gamma.At(o))
		s.Epsilon = append(s.Epsilon, m.of(o)[0].epsilon.At(0))
		groups := make([]vi.Gamma, m.C)
		for c := range groups {
			groups[c] = m.of(o)[c].epsilon.At(0)
		}
		s.GroupNoise = append(s.GroupNoise, groups)
	}
	for j := range m.P {
		s.Omega = append(s.Omega, m.omega.At(j))
	}
	p := wrapRegressionState(s)
	p.core.Room = m.Room()
	return p
}
