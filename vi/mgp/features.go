package mgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Features are the data of a fit in the space of features: of every kernel a block Φ_p,
// D_p×N, with K_p = Φ_pᵀΦ_p. The columns are samples, or fewer pseudo-samples with the same
// sums.
type Features struct {
	Blocks  []la.Matrix[float64] // Φ_p
	Targets []float64            // N

	// Samples is the number of samples; 0 means the number of columns.
	Samples float64
}

// FitFeatures is Fit for kernels that are inner products of features: f_p = Φ_pᵀw_p with
// weights w_p ~ N(0, a_p·I), a_p = 1/γ_p. With D features in all a step costs D³ and does
// not depend on the number of samples but by way of the columns. As in Fit there is no bias:
// targets and features are to be centred, or a constant feature added. Family must be one
// whose parameters are not learned, or HeldPrior holds them all. Derived in docs/theory/mgp.md, section 18.
func (e Evidence) FitFeatures(ctx context.Context, f Features) (*FeatureFit, error) {
	m, x, err := e.featureObjective(ctx, f)
	if err != nil {
		return nil, err
	}
	rec := vi.Record{Reason: vi.MaxSweeps}
	settings := e.settings(m.samples, &rec)
	settings.Precondition, settings.NoMemory = m.info.precondition, true
	if e.Ascent.Tolerance == 0 {
		// What the scales of few features are worth does not grow with the samples.
		settings.Tolerance *= min(1, float64(len(m.y))/m.samples)
	}
	r, err := minimize(x, m.cost, settings, &rec, e.Ascent.Journal.Next(), m.snapshot)
	if len(rec.Trace) == 0 {
		return nil, cmp.Or(err, errUnknown)
	}
	logZ, ferr := m.functions(r.X)
	if ferr != nil {
		return nil, errors.Join(err, fmt.Errorf("vi: %w", ferr))
	}
	s := FeatureState{Noise: m.noise, Mean: m.mean, Factor: m.factor}
	for p, a := range m.weight {
		s.Gamma = append(s.Gamma, 1/a)
		s.Blocks = append(s.Blocks, m.first[p+1]-m.first[p])
	}
	post, perr := NewFeaturePosterior(s)
	return &FeatureFit{Posterior: post, Record: rec, LogEvidence: logZ}, errors.Join(err, perr)
}

// FeatureFit is a fitted sum of Gaussian processes of features.
type FeatureFit struct {
	Posterior   *FeaturePosterior
	Record      vi.Record
	LogEvidence float64 // nats
	Curvature   float64 // of labels: c of [Evidence.FitFeatureLabels]
}

// featureEvidence is the objective of FitFeatures. Its variables are log a_p and the
// logarithm of the noise variance above its least value.
type featureEvidence struct {
	ctx     context.Context
	ws      la.Workspace
	phi     la.Matrix[float64] // D×N, all features
	y       []float64
	samples float64
	power   float64 // mean square of the targets
	first   []int   // features; the last is D
	scalePrior

	gram     la.Matrix[float64] // D×D, the lower triangle of ΦΦᵀ
	factor   la.Matrix[float64] // D×D, the Cholesky factor of B = I + SΦΦᵀS, S² = diag(a)/σ²
	project  []float64          // D, Φy
	mean     []float64          // D, E[w]
	scale    []float64          // D, S
	diag     []float64          // D, of B⁻¹
	residual []float64          // N, y − Φᵀ·E[w]
	weight   []float64          // P, a_p
	noise    float64            // σ²
	square   float64            // |y − Φᵀ·E[w]|²
	info     *information       // of the variables; its vectors have D entries
}

// featureObjective checks the arguments and returns the objective and its start.
func (e Evidence) featureObjective(ctx context.Context, f Features) (*featureEvidence, []float64, error) {
	if err := e.checkFeatures(ctx, f); err != nil {
		return nil, nil, err
	}
	m := e.newFeatureEvidence(ctx, f)
	if !check.Positive(m.power) {
		return nil, nil, fmt.Errorf("vi: Targets: their mean square is %g", m.power)
	}
	P := len(f.Blocks)
	if err := m.choose(P, e.HeldPrior, m.power); err != nil {
		return nil, nil, err
	}
	if err := m.checkLearned(e); err != nil {
		return nil, nil, err
	}
	x := make([]float64, P+1)
	for p, b := range f.Blocks {
		trace, err := m.take(p, b)
		if err != nil {
			return nil, nil, err
		}
		x[p] = logShare(m.power/float64(P), trace/m.samples)
	}
	m.setUnits(x[:P])
	x[P] = special.Log(firstNoise * m.power)
	if e.Start != nil {
		if err := m.startAt(e.Start, x); err != nil {
			return nil, nil, err
		}
	}
	m.info = newInformation(P+1, m.phi.Rows)
	la.Syrk(&m.ws, la.NoTrans, 1, m.phi, 0, m.gram)
	la.Gemv(&m.ws, la.NoTrans, 1, m.phi, m.y, 0, m.project)
	return m, x, nil
}

// checkFeatures returns an error unless the blocks are features of the same samples, and the targets
// are finite.
func (e Evidence) checkFeatures(ctx context.Context, f Features) error {
	switch {
	case ctx == nil:
		return errors.New("vi: ctx is nil")
	case len(f.Blocks) == 0:
		return errors.New("vi: Blocks: none")
	case f.Samples != 0 && !(f.Samples >= 1) || math.IsInf(f.Samples, 1):
		return fmt.Errorf("vi: Samples is %g", f.Samples)
	case e.Weights != nil:
		return errors.New("vi: Weights: fits of features take targets of one weight")
	case e.Ascent.MaxSweeps < 0:
		return fmt.Errorf("vi: MaxSweeps is %d: it must not be negative", e.Ascent.MaxSweeps)
	}
	N := len(f.Targets)
	for p, b := range f.Blocks {
		if b.Cols != N || b.Rows == 0 || !b.Valid() {
			return fmt.Errorf("vi: Blocks[%d]: %d×%d where features of %d samples are needed", p, b.Rows, b.Cols, N)
		}
	}
	if i := check.NonFinite(f.Targets); i >= 0 {
		return fmt.Errorf("vi: Targets: value %d is %g", i, f.Targets[i])
	}
	return nil
}

// newFeatureEvidence returns an objective without prior and features.
func (e Evidence) newFeatureEvidence(ctx context.Context, f Features) *featureEvidence {
	P, N := len(f.Blocks), len(f.Targets)
	m := &featureEvidence{
		ctx: ctx, ws: la.Workspace{Workers: e.Workers}, samples: f.Samples, first: []int{0}, y: f.Targets,
		scalePrior: scalePrior{family: e.Family, prior: e.Prior},
	}
	if m.samples == 0 {
		m.samples = float64(N)
	}
	m.power = la.SumSq(f.Targets) / m.samples
	for p, b := range f.Blocks {
		m.first = append(m.first, m.first[p]+b.Rows)
	}
	D := m.first[P]
	m.phi = la.NewMatrix[float64](D, N)
	m.gram, m.factor = la.NewMatrix[float64](D, D), la.NewMatrix[float64](D, D)
	m.project, m.mean, m.scale, m.diag = make([]float64, D), make([]float64, D), make([]float64, D), make([]float64, D)
	m.residual, m.weight = make([]float64, N), make([]float64, P)
	return m
}

// checkLearned returns an error if something is given that FitFeatures cannot hold, or left to be
// learned that it cannot learn.
func (m *featureEvidence) checkLearned(e Evidence) error {
	switch {
	case !m.held.all():
		return fmt.Errorf("vi: FitFeatures does not learn the prior of family %v: set HeldPrior", m.family)
	case e.Known != nil:
		return errors.New("vi: Known: FitFeatures learns all weights")
	case e.KnownNoise != 0:
		return errors.New("vi: KnownNoise: FitFeatures learns the noise")
	}
	return nil
}

// take copies the features of kernel p, which must be finite, and returns the trace of the kernel.
func (m *featureEvidence) take(p int, b la.Matrix[float64]) (trace float64, err error) {
	for d := range b.Rows {
		if i := check.NonFinite(b.Row(d)); i >= 0 {
			return 0, fmt.Errorf("vi: Blocks[%d]: entry (%d, %d) is %g", p, d, i, b.At(d, i))
		}
		trace += la.SumSq(b.Row(d))
	}
	m.phi.Slice(m.first[p], m.first[p+1], 0, b.Cols).CopyFrom(b)
	return trace, nil
}

// startAt sets the variables x to the values of a start.
func (m *featureEvidence) startAt(s *EvidenceStart, x []float64) error {
	P := len(m.weight)
	if s.Gamma != nil && len(s.Gamma) != P {
		return fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(s.Gamma), P)
	}
	if err := takeGamma(s.Gamma, x); err != nil {
		return err
	}
	if noise := s.Noise - float64(leastShare*m.power); check.Positive(noise) {
		x[P] = special.Log(noise)
	}
	return nil
}

// snapshot names the preconditioner, and the numbers by which a journal recognises other data and
// settings. Evaluations depend on their points alone.
func (m *featureEvidence) snapshot(s *work.Snapshot) {
	for d := range m.gram.Rows {
		s.Same(la.SumSq(m.gram.Row(d)[:d+1]))
	}
	s.Same(m.project...)
	s.Same(m.samples, m.power, float64(m.family), m.prior.Omega, m.prior.Chi, m.prior.Phi)
	s.Floats(m.info.factor.Data)
}

// functions computes q(w) at x and returns the log evidence.
func (m *featureEvidence) functions(x []float64) (float64, error) {
	P := len(m.weight)
	m.noise = float64(leastShare*m.power) + special.Exp(x[P])
	for p := range m.weight {
		m.weight[p] = special.Exp(x[p])
		for d := m.first[p]; d < m.first[p+1]; d++ {
			m.scale[d] = math.Sqrt(m.weight[p] / m.noise)
		}
	}
	for d, s := range m.scale {
		row := m.factor.Row(d)[:d+1]
		for j, v := range m.gram.Row(d)[:d+1] {
			row[j] = float64(s*m.scale[j]) * v
		}
		row[d]++
		m.mean[d] = s * m.project[d]
	}
	if err := la.Cholesky(&m.ws, m.factor); err != nil {
		return 0, fmt.Errorf("I + SΦΦᵀS: %w", err)
	}
	la.CholeskySolveVec(m.factor, m.mean)
	var prior float64 // Σ E[w]²/a
	for d, s := range m.scale {
		prior += float64(m.mean[d]*m.mean[d]) / m.noise
		m.mean[d] *= s
	}
	copy(m.residual, m.y)
	la.Gemv(&m.ws, la.Transpose, -1, m.phi, m.mean, 1, m.residual)
	m.square = la.SumSq(m.residual)
	return -0.5 * (m.square/m.noise + prior + la.LogDet(m.factor) + float64(m.samples*special.Log(2*math.Pi*m.noise))), nil
}

// cost is minus the objective and its gradient, +Inf where B is singular in double
// precision.
func (m *featureEvidence) cost(x, g []float64) (float64, error) {
	if m.ctx.Err() != nil {
		return 0, fmt.Errorf("vi: stopped: %w", context.Cause(m.ctx))
	}
	value, err := m.functions(x)
	if err != nil {
		return math.Inf(1), nil
	}
	la.CholeskyInvDiag(&m.ws, m.factor, m.diag)
	free := m.samples // N − Σ_p a_p·tr RK_p
	for p, a := range m.weight {
		var trace float64 // a_p·tr RK_p
		for _, v := range m.diag[m.first[p]:m.first[p+1]] {
			trace += 1 - v
		}
		free -= trace
		density, slope := m.logPrior(-x[p] - special.Log(m.unit[p]))
		value += density
		g[p] = slope - float64(0.5*(la.SumSq(m.mean[m.first[p]:m.first[p+1]])/a-trace))
	}
	last := len(x) - 1
	density, slope := normalPrior(x[last], special.Log(firstNoise*m.power), noiseSpread)
	value += density
	g[last] = -slope - 0.5*special.Exp(x[last])*(m.square/m.noise-free)/m.noise
	m.measure(special.Exp(x[last]))
	m.info.curve(&m.ws, g, func(v int) float64 {
		if v < last {
			return m.curvature(v, x[v])
		}
		return 1.0 / (noiseSpread * noiseSpread)
	})
	return -value, nil
}

// measure computes the average information, see [information], with excess the part of the noise
// variance whose logarithm is a variable. With t = S⁻¹E[w], t_p its part of kernel p and the rest
// zeros,
//
//	C_pα = Φᵀ·S·t_p,   ΦRΦᵀ = S⁻¹(I − B⁻¹)S⁻¹/σ²,   ΦRα = S⁻¹B⁻¹t/σ⁴,
//
// so that with Q_pq = t_pᵀB⁻¹t_q no product with the samples is needed, and none cancels.
func (m *featureEvidence) measure(excess float64) {
	P := len(m.weight)
	v := m.info.vectors.Slice(0, P, 0, len(m.mean))
	squares := make([]float64, P)
	for p := range P {
		row := v.Row(p)
		clear(row)
		for d := m.first[p]; d < m.first[p+1]; d++ {
			row[d] = m.mean[d] / m.scale[d]
		}
		squares[p] = la.SumSq(row)
	}
	la.Trsm(&m.ws, la.Right, la.Transpose, m.factor, v)
	q := m.info.average.Slice(0, P, 0, P)
	la.Syrk(&m.ws, la.NoTrans, 1, v, 0, q)
	q.MirrorLower()
	last, share := m.info.average.Row(P), excess/m.noise
	var all float64
	for p := range P {
		sum := 0.0
		for _, c := range q.Row(p) {
			sum += c
		}
		all += sum
		last[p] = 0.5 * share * sum / m.noise
	}
	last[P] = 0.5 * share * share * (m.square - all) / m.noise
	for p := range P {
		row := q.Row(p)
		for j := range row {
			row[j] *= -0.5 / m.noise
		}
		row[p] += float64(0.5 * squares[p] / m.noise)
	}
}
