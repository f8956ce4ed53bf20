package kbmf

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/target"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// model holds what the models of pairs have in common: the rows x, the columns z, and a
// bias,
//
//	γ ~ Gamma, b | γ ~ N(0, 1/γ), t_ij | b, h ~ N(h_{x,i}ᵀ·h_{z,j} + b, 1/ε)
//
// for the observed pairs. The likelihood supplies ε and the target t: the observed value, or the
// latent score of a classifier.
type model struct {
	work.Stop
	x, z     *side
	observed float64 // pairs
	like     target.Likelihood

	// Of latent targets: the data, 0 where missing, E[t], and the location at the update of q(t).
	y, t, at la.Matrix[float64]

	noBias bool
	gamma  conjugate.Gammas // 1
	b      []float64        // mean and variance

	location la.Matrix[float64] // N_x×N_z, E[h_x]ᵀE[h_z] + E[b], as of the last call of locate
	updates  work.Schedule
	memory   work.Memory

	ahead *work.Anderson // of E[G], E[H] and E[e] of both sides; nil in the plain order
	self  work.State     // the model
	next  func(done func(string)) error

	sample          []pair // the pairs whose predictions tell how far a sweep moved
	fromX, fromZ    la.Matrix[float64]
	spreadX, spread []float64 // R
}

// pair is the place of an observed value.
type pair struct{ row, col int }

// mostSampled is how many pairs are looked at to tell how far a sweep moved.
const mostSampled = 4096

// newModel returns the factors at their priors; the targets are y, 0 where missing.
func newModel(x, z vi.Kernels, y la.Matrix[float64], set settings, gamma vi.Gamma, noBias bool) (*model, error) {
	for _, side := range []struct {
		name string
		k    vi.Kernels
		n    int
	}{{"rows", x, y.Rows}, {"columns", z, y.Cols}} {
		if side.k == nil {
			return nil, fmt.Errorf("vi: kernels of the %s: nil", side.name)
		}
		if _, _, n := side.k.Dims(); n != side.n {
			return nil, fmt.Errorf("vi: y: %d×%d where the kernels are of %d %s", y.Rows, y.Cols, n, side.name)
		}
		if err := vi.RefuseCompressed(side.k); err != nil {
			return nil, err
		}
	}
	if set.components < 1 {
		return nil, fmt.Errorf("vi: Components is %d: there must be at least 1", set.components)
	}
	y, seen, err := check.SplitMissing(y)
	if err != nil {
		return nil, err
	}
	rows, cols := make([][]int, y.Rows), make([][]int, y.Cols)
	var all []pair
	for i := range y.Rows {
		for j := range y.Cols {
			if seen.Rows == 0 || seen.At(i, j) != 0 {
				rows[i], cols[j] = append(rows[i], j), append(cols[j], i)
				all = append(all, pair{i, j})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("vi: y: every value is missing")
	}
	m := &model{
		x:        newSide("rows", x, rows, y.Cols, set),
		z:        newSide("columns", z, cols, y.Rows, set),
		observed: float64(len(all)), noBias: noBias,
		gamma:    conjugate.NewGammas(gamma, gamma.Shape+0.5, 1),
		b:        []float64{0, 1},
		location: la.NewMatrix[float64](y.Rows, y.Cols),
		fromX:    la.NewMatrix[float64](set.components, y.Rows),
		fromZ:    la.NewMatrix[float64](set.components, y.Cols),
		spreadX:  make([]float64, set.components),
		spread:   make([]float64, set.components),
	}
	if noBias {
		m.b[1] = 0
	}
	sampled := min(len(all), mostSampled)
	for i := range int64(sampled) {
		m.sample = append(m.sample, all[i*int64(len(all))/int64(sampled)])
	}
	m.setTarget(y)
	m.memory.Of(m.gamma.Scale, m.b)
	return m, nil
}

// setTarget makes y the targets of both sides.
func (m *model) setTarget(y la.Matrix[float64]) {
	for i, partners := range m.x.partners {
		for _, j := range partners {
			m.x.target.Set(i, j, y.At(i, j))
			m.z.target.Set(j, i, y.At(i, j))
		}
	}
}

// start sets the state of both sides to those given.
func (m *model) start(p *Start) error {
	if err := p.X.validate(m.x); err != nil {
		return fmt.Errorf("Start.X: %w", err)
	}
	if err := p.Z.validate(m.z); err != nil {
		return fmt.Errorf("Start.Z: %w", err)
	}
	if err := m.x.start(&p.X); err != nil {
		return err
	}
	return m.z.start(&p.Z)
}

// checkResume checks that a posterior has the sizes of the present problem.
func (m *model) checkResume(p *Posterior, labels bool) error {
	if p.s.Labels != labels {
		return fmt.Errorf("vi: From: of labels: %v, where the fit's are: %v", p.s.Labels, labels)
	}
	for _, side := range []struct {
		s    *side
		from *SideState
	}{{m.x, &p.s.X}, {m.z, &p.s.Z}} {
		s, R, P, D, N := side.s, side.from.A.Rows, len(side.from.E), side.from.A.Cols, side.from.H.Cols
		if R != s.R || P != s.P || D != s.D || N != s.N {
			return fmt.Errorf("vi: From: %s: %d components, %d kernels, %d basis points, %d samples where there are %d, %d, %d and %d",
				s.name, R, P, D, N, s.R, s.P, s.D, s.N)
		}
	}
	return nil
}

// resume sets what both models have to an earlier posterior.
func (m *model) resume(p *Posterior) error {
	m.gamma.Resume(0, p.s.Gamma)
	if !m.noBias && p.s.BiasVariance > 0 {
		m.b[0], m.b[1] = p.s.Bias, p.s.BiasVariance
	}
	if err := m.x.resume(&p.s.X, p.x.LambdaShape); err != nil {
		return err
	}
	return m.z.resume(&p.s.Z, p.z.LambdaShape)
}

// startRandom draws a start near the leading directions of the targets y, whose rows' factors are
// random combinations of the columns of y less level, which is where the bias starts. From
// factors that have nothing to do with the targets many fits of small tables collapse.
func (m *model) startRandom(seed uint64, level float64) error {
	src := random.Source(seed)
	R := m.x.R
	rest := m.x.target.Clone()
	m.b[0] = level
	for i, partners := range m.x.partners {
		for _, j := range partners {
			rest.Row(i)[j] -= level
		}
	}
	draw, hx, hz := la.NewMatrix[float64](R, rest.Cols), la.NewMatrix[float64](R, rest.Rows), la.NewMatrix[float64](R, rest.Cols)
	random.Normal(src, draw.Data)
	la.Gemm(&m.x.Outputs.Crew.All, la.NoTrans, la.Transpose, 1, draw, rest, 0, hx)
	for r := range R { // directions at right angles, where there are as many
		row := hx.Row(r)
		before := la.SumSq(row)
		for c := range r {
			la.Axpy(-la.Dot(hx.Row(c), row), hx.Row(c), row)
		}
		if left := la.SumSq(row); left > 1e-12*before {
			la.Scal(1/math.Sqrt(left), row)
		} else {
			clear(row)
		}
	}
	la.Gemm(&m.x.Outputs.Crew.All, la.NoTrans, la.NoTrans, 1, hx, rest, 0, hz)
	for r := range R { // both sides alike
		size := la.SumSq(hz.Row(r))
		if size == 0 {
			random.Normal(src, hx.Row(r))
			random.Normal(src, hz.Row(r))
			la.Scal(0.1, hx.Row(r))
			la.Scal(0.1, hz.Row(r))
			continue
		}
		c := math.Sqrt(math.Sqrt(size * float64(rest.Rows) / float64(rest.Cols)))
		la.Scal(c, hx.Row(r))
		la.Scal(1/c, hz.Row(r))
	}
	if err := m.x.startAt(hx, src); err != nil {
		return err
	}
	return m.z.startAt(hz, src)
}

// order makes a sweep of the updates of both sides followed by the likelihood's. Unless plain, after
// the first few sweeps they end with steps along the ridges, and begin from means that are extrapolated.
func (m *model) order(plain bool) {
	b := func() float64 { return m.b[0] }
	all := append(m.x.updates("x", m.z, m.precision, b), m.z.updates("z", m.x, m.precision, b)...)
	if !m.noBias {
		all = append(all, work.Step("γ", m.updateGamma), work.Step("b", func() { m.updateBias(m.precision()) }))
	}
	if m.like.Learns() {
		all = append(all, work.Step("ε", func() { m.like.UpdateNoise(m.residual()) }))
	}
	if m.like.Latent() {
		all = append(all, work.Step("f", m.updateTargets))
	}
	m.updates.Settled = all
	if !plain {
		m.updates.First = all
		m.updates.Settled = append(all[:len(all):len(all)],
			work.Step("scale of x", func() { m.x.updateScale() }), work.Step("scale of z", func() { m.z.updateScale() }),
			work.Step("scales", m.updateScales))
		m.ahead, m.self = &work.Anderson{}, m
		for _, s := range []*side{m.x, m.z} {
			m.ahead.Of(false, s.GMean.Data)
			m.ahead.Of(false, s.factors.Data)
			m.ahead.Of(false, s.e.Mean)
			s.Memory.Of(s.GMean.Data)
		}
		m.next = func(done func(string)) error {
			m.x.refresh()
			m.z.refresh()
			return m.updates.Sweep(&m.Stop, done)
		}
	}
}

// precision returns E[ε].
func (m *model) precision() float64 { return m.like.Precision() }

// updateTargets is q(t), see [target.Likelihood].
func (m *model) updateTargets() {
	m.locate()
	m.at.CopyFrom(m.location)
	m.like.UpdateTargets()
	m.setTarget(m.t)
}

// updateGamma is q(γ) = Gamma(α_γ + ½, (1/β_γ + E[b²]/2)^-1).
func (m *model) updateGamma() {
	m.gamma.Observe(0, float64(0.5*(float64(m.b[0]*m.b[0])+m.b[1])))
}

// updateBias is q(b) = N(Σ·ε·Σ_ij (t_ij − E[h_x,i]ᵀE[h_z,j]), Σ), Σ = 1/(E[γ] + n·ε).
func (m *model) updateBias(epsilon float64) {
	m.b[0] = 0
	m.locate()
	var sum float64
	for i, partners := range m.x.partners {
		at, y := m.location.Row(i), m.x.target.Row(i)
		for _, j := range partners {
			sum += y[j] - at[j]
		}
	}
	m.b[1] = 1 / (m.gamma.Mean(0) + float64(m.observed*epsilon))
	m.b[0] = m.b[1] * epsilon * sum
}

// locate forms location.
func (m *model) locate() {
	m.location.Fill(m.b[0])
	la.Gemm(&m.x.Outputs.Crew.All, la.Transpose, la.NoTrans, 1, m.x.factors, m.z.factors, 1, m.location)
}

// residual returns Σ_ij E[(t_ij − h_x,iᵀh_z,j − b)²] over the observed pairs, without the
// variance of t.
func (m *model) residual() float64 {
	m.locate()
	sum := m.observed * m.b[1]
	for i, partners := range m.x.partners {
		at, y := m.location.Row(i), m.x.target.Row(i)
		for _, j := range partners {
			d := y[j] - at[j]
			sum += float64(d*d) + m.spreadOf(i, j)
		}
	}
	return sum
}

// spreadOf returns the variance of h_x,iᵀh_z,j,
//
//	tr(Cov[h_x]·E[h_zh_zᵀ]) + E[h_x]ᵀ·Cov[h_z]·E[h_x],
//
// a sum of parts that are not negative: the second is tr(Cov[h_z]·(E[h_xh_xᵀ] − Cov[h_x])).
func (m *model) spreadOf(i, j int) float64 {
	x, z := m.x, m.z
	cov := z.cov.Row(j)
	return la.Dot(x.cov.Row(i), z.second.Row(j)) + max(0, la.Dot(cov, x.second.Row(i))-la.Dot(cov, x.cov.Row(i)))
}

// updateScale moves along the ridge (a, G) → c(a, G), e → e/c, λ → λ/c², η → c²η of this side,
// which leaves eᵀg alone; docs/theory/kbmf.md.
func (s *side) updateScale() {
	a, b, c := s.ridge()
	less, more := intermediate.RidgeOfKernels(&s.eta)
	sq, ok := roots.Ridge(float64(a)-float64(less), b, float64(c)+float64(more))
	if !ok {
		return
	}
	s.Outputs.Rescale(sq)
	s.rescaleKernelWeights(sq)
}

// updateScales moves along the ridge (a, G, H)_x → c(a, G, H)_x, (a, G, H)_z → (a, G, H)_z/c,
// λ_x → λ_x/c², λ_z → c²λ_z, which leaves h_xᵀh_z alone; docs/theory/kbmf.md.
func (m *model) updateScales() {
	ax, bx, cx := m.x.wholeRidge()
	az, bz, cz := m.z.wholeRidge()
	s, ok := roots.Ridge(ax-az, bx+cz, cx+bz)
	if !ok {
		return
	}
	m.x.Outputs.Rescale(s)
	m.x.rescaleFactors(s)
	m.z.Outputs.Rescale(1 / s)
	m.z.rescaleFactors(1 / s)
}

// wholeRidge is ridge with the factors, which move too.
func (s *side) wholeRidge() (a, b, c float64) {
	a, b, c = s.ridge()
	return a - float64(0.5*float64(s.R*s.N)), b, c + float64(0.5*float64(s.tau*s.away()))
}

// Sweep implements [vi.Objective].
func (m *model) Sweep(done func(string)) error {
	if m.ahead == nil || m.updates.Starting() {
		return m.updates.Sweep(&m.Stop, done)
	}
	return m.ahead.Sweep(m.self, m.next, done)
}

// Heed implements [vi.Objective].
func (m *model) Heed(ctx context.Context) {
	m.Stop.Heed(ctx)
	m.x.Outputs.Heed(ctx)
	m.z.Outputs.Heed(ctx)
}

// Bound implements [vi.Objective].
func (m *model) Bound() float64 {
	noise, logZ, fit := m.like.Terms(m.residual())
	sum := m.bound() + noise + logZ + fit
	if m.like.Latent() {
		for i := range m.y.Rows {
			sum += float64(0.5 * m.precision() * m.like.Shift(i))
		}
	}
	return sum
}

// bound returns the terms of both sides and of the bias.
func (m *model) bound() float64 {
	sum := m.x.bound() + m.z.bound()
	if m.noBias {
		return sum
	}
	square := float64(m.b[0]*m.b[0]) + m.b[1]
	return sum + m.gamma.Bound() + float64(0.5*(m.gamma.MeanLog(0)-float64(m.gamma.Mean(0)*square)+1+special.Log(m.b[1])))
}

// Roundoff implements [vi.Objective]: of both sides and of the fitted values.
func (m *model) Roundoff() float64 {
	epsilon := m.precision()
	size := m.observed * m.b[0] * m.b[0]
	for i, partners := range m.x.partners {
		for _, j := range partners {
			v := m.location.At(i, j)
			size += float64(v * v)
		}
	}
	return m.x.roundoff() + m.z.roundoff() + work.Difference(m.x.R+1, epsilon, m.observed/epsilon, size)
}

// Allowance implements [vi.Objective].
func (m *model) Allowance() float64 { return 0 }

// Keep implements [vi.Objective].
func (m *model) Keep() {
	m.memory.Keep()
	m.x.Keep()
	m.z.Keep()
}

// Restore implements [vi.Objective], as far as posteriors go.
func (m *model) Restore() {
	m.memory.Restore()
	m.x.Restore()
	m.z.Restore()
	m.x.refresh()
	m.z.refresh()
}

// Jittered implements [vi.Objective].
func (m *model) Jittered() float64 { return max(m.x.Jittered(), m.z.Jittered()) }

// Observations implements [vi.Objective].
func (m *model) Observations() float64 { return m.observed }

// Predictions implements [vi.Objective].
func (m *model) Predictions(p *vi.Predictions) {
	m.predictions(p, 1/m.precision())
	m.like.Predictions(p)
}

// predictions stores what the kernels alone say of observed pairs, or of 4096 of them: the
// factors follow the kernels' weights slowly, and predictions of new rows and columns have
// nothing but these.
func (m *model) predictions(p *vi.Predictions, noise float64) {
	p.Resize(len(m.sample))
	m.x.fromKernels(m.fromX, m.spreadX)
	m.z.fromKernels(m.fromZ, m.spread)
	for n, at := range m.sample {
		mean, variance := m.b[0], noise+m.b[1]
		for r, v := range m.spread {
			hx, hz, vx := m.fromX.At(r, at.row), m.fromZ.At(r, at.col), m.spreadX[r]
			mean += float64(hx * hz)
			variance += float64(hx*hx*v) + float64((float64(hz*hz)+v)*vx)
		}
		p.Mean[n], p.SD[n] = mean, math.Sqrt(variance)
	}
}

// Snapshot names the state of a fit.
func (m *model) Snapshot(s *work.Snapshot) {
	m.like.Snapshot(s)
	if m.like.Latent() {
		s.Matrices(m.x.target, m.z.target)
	} else {
		s.Same(m.x.target.Data...)
	}
	bias := 1.0
	if m.noBias {
		bias = 0
	}
	s.Same(bias)
	for _, partners := range m.x.partners { // a value of 0 and a missing one are the same in target
		s.Same(float64(len(partners)))
		for _, j := range partners {
			s.Same(float64(j))
		}
	}
	m.x.Snapshot(s)
	m.z.Snapshot(s)
	m.gamma.Snapshot(s)
	s.Floats(m.b)
	m.updates.Snapshot(s)
	if m.ahead != nil {
		m.ahead.Snapshot(s)
	}
}
