package mgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/lbfgs"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Evidence fits the sum of Gaussian processes by its evidence: q(f) given the
// scales γ, exact for targets and with one precision a sample for labels, and γ,
// the noise and the parameters of the kernels at the values of highest posterior
// density,
//
//	max  log p(y | γ, σ², θ) + Σ_p log p(log γ_p) + log p(θ) + log p(σ²),
//
// climbed with exact gradients and the average information; see information.go. The factorised posterior of [Model] has
// the same fixed points for γ up to O(1/N), but for labels it gives every sample
// the site precision 1, however sure its class is, which keeps the amplitudes too
// small and the probabilities too near to ½; see docs/mgp.md. The zero value is
// ready.
//
// Source of the model: C. Archambeau and F. Bach, "Multiple Gaussian process
// models", 2010. The gradients, in terms of α and R (see sites.go), are
//
//	∂/∂log a_p = ½·a_p·(αᵀK_pα − tr(R·K_p)),   a_p = 1/γ_p.
type Evidence struct {
	Sites Sites // for labels

	// Family and Prior are those of γ. Default is a fixed, weak [Hyperbola] prior on
	// each γ_p in units of tr K_p/Σ y_n² (tr K_p/N for labels), where kernel p alone
	// makes functions of the targets' variance: it favours no scale within a factor of
	// about e⁵ of that. The parameters of the other families are learned by type-II
	// maximum likelihood unless Held; Prior is as in [Model].
	Family Family
	Prior  GIG
	Held   Held

	// Known holds weights a_p = 1/γ_p that are known, for targets and labels with [Evidence.Fit] and
	// [Evidence.FitLabels]; 0 stands for one that is learned, nil for all. The kernel HHᵀ of features
	// h with the known weight v is a mean function hᵀβ with β ~ N(0, v·I).
	Known []float64

	// KnownNoise is the variance σ² of the noise if that is known, for targets with [Evidence.Fit] and
	// [Evidence.FitSpanned]; 0 means that it is learned.
	KnownNoise float64

	// Start, if not nil, is where the ascent starts from.
	Start *EvidenceStart

	// Ascent.Tolerance is the rise of the objective in one step that counts as none,
	// where the next promises none either, relative to max(|objective|, N): 0 means 1e-5,
	// a hundredth of a nat for 1000 samples, and for labels, whose steps cost more, 5e-5.
	// MaxSweeps is the most steps: 0 means 100.
	Ascent vi.Ascent

	// Draws is how many draws of the scales, the noise and the kernels' parameters
	// [Evidence.Fit] makes from their posterior, where it ended, for the family Default;
	// see docs/mgp.md, section 20. Seed is that of the draws.
	Draws int
	Seed  uint64

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	span *spanned // the basis that the targets are coordinates in, set by FitSpanned
}

// EvidenceStart is where the ascent of the evidence starts from. What is nil or
// zero is chosen from the kernels and targets.
type EvidenceStart struct {
	Gamma      []float64 // γ_p, P values
	Noise      float64   // noise variance σ², for targets only
	Freedom    float64   // degrees of freedom ν of noise with heavy tails, above 2
	Parameters []float64 // of [Adaptive] kernels

	// NoiseGamma holds the γ_p of the logarithm of noise that varies, P values.
	NoiseGamma []float64

	// Part is the posterior of the same scales for some of the samples, those of the
	// indices Rows: its sites, and what it predicts of the others, are where the sites of
	// labels begin. It may be nil.
	Part *Posterior
	Rows []int

	// Keep leaves Gamma and Parameters as they are: [Evidence.FitVarying] and
	// [Evidence.FitHeavy] then learn nothing but the noise, and [Evidence.FitLabels]
	// finds the sites alone, with a Part those of the samples that tell little once and not
	// together (see docs/mgp.md, section 15), and takes q(γ) as it is at scales of highest density.
	Keep bool
}

// Sites says how the likelihood of the labels is approximated.
type Sites int

// Approximations of the labels' likelihood.
const (
	// ExpectationPropagation matches the moments of every sample's cavity
	// distribution. It gives an estimate of the evidence and leave-one-out
	// probabilities.
	ExpectationPropagation Sites = iota

	// VariationalBound maximises a lower bound on the evidence among all Gaussians
	// q(f).
	VariationalBound
)

// Adaptive are kernels with parameters θ that a fit can learn, such as the
// logarithms of length scales. A fit calls SetParameters and then reads the
// kernels, so that a value belongs to one fit at a time.
type Adaptive interface {
	vi.Kernels

	// Parameters returns the means and the standard deviations of the parameters'
	// normal prior. The ascent starts from the means.
	Parameters() (mean, sd []float64)

	// SetParameters computes the kernels at theta.
	SetParameters(w *la.Workspace, theta []float64)

	// Slope stores Σ_p weights[p]·<G, ∂K_p/∂θ_j> in dst[j], at the parameters that
	// were set last, for the symmetric N×N matrix G, given by its lower triangle.
	// It may overwrite G.
	Slope(w *la.Workspace, weights []float64, g la.Matrix[float64], dst []float64)

	// SlopeProducts stores Σ_p weights[p]·∂K_p/∂θ_j·v in row j of dst, at the
	// parameters that were set last.
	SlopeProducts(w *la.Workspace, weights, v []float64, dst la.Matrix[float64])
}

// LeaveOneOut is the prediction of every training sample from all others, at the
// parameters that the fit with it has found.
type LeaveOneOut struct {
	Mean, Variance []float64 // of the target, with its noise; nil for labels

	// LogProbability is log P(t_n | the other labels) of each sample's own label, or with
	// noise that varies or has heavy tails, and over [Evidence.Draws], the log density of its
	// target; nil for other targets, which have the normal one, and for labels under
	// [VariationalBound], whose cavities are no such predictions.
	LogProbability []float64
}

// leastShare is the smallest noise variance as a share of the targets' mean
// square: B stays far from singular in double precision.
const leastShare = 1e-8

// evidence is the objective of a fit. Its variables are log a_p, the kernels'
// parameters, and for targets the logarithm of the noise variance above its least
// value.
type evidence struct {
	ctx     context.Context
	k       vi.Kernels
	kernels Adaptive // k, if it is adaptive
	passes  *passes
	ws      la.Workspace
	P, N    int       // kernels, and their order
	span    *spanned  // the basis that y has N coordinates in; nil if these are the samples
	beyond  float64   // how many more samples than coordinates there are
	outside float64   // Σ y² outside the span of the basis
	mean    []float64 // of the parameters' prior
	sd      []float64

	y      []float64
	labels bool
	how    Sites
	power  float64 // mean square of the targets, 1 for labels
	tol    float64 // of the sites, while the scales are climbed
	final  float64 // of the sites, in the end
	info   *information
	scalePrior

	sum    la.Matrix[float64] // N×N, the lower triangle of K = Σ a_p·K_p
	factor la.Matrix[float64] // N×N, a Cholesky factor, then R
	sites  *sites             // of labels, and of noise with heavy tails
	alpha  []float64
	weight []float64 // a_p
	trace  []float64 // tr(R·K_p)
	quad   []float64 // αᵀK_pα
	left   float64   // tr(R·S⁻¹), S = I/σ² without sites
	noise  float64   // σ²
	given  float64   // σ² if it is known, else 0

	// The sites of the highest objective so far, where the next begins; nil before the
	// first, which begins at those of part, if there is one.
	best     float64
	bestPrec []float64
	bestNu   []float64

	start []float64 // of each sample, its row of K at the start: tells kernels apart; nil without a journal
	part  *Posterior
	rows  []int // of part's samples
}

// Fit fits to N targets given square kernels. The model has no bias: targets are
// to be centred, or a constant kernel added. Errors say what is wrong with the
// arguments. If the context ends, the error wraps its cause, and the fit is what had
// been reached, nil if that is nothing.
func (e Evidence) Fit(ctx context.Context, k vi.Kernels, y []float64) (*Fit, error) {
	return e.fit(ctx, k, y, false)
}

// FitLabels fits to N labels, each −1 or +1, given square kernels. Errors are
// those of Fit.
func (e Evidence) FitLabels(ctx context.Context, k vi.Kernels, t []float64) (*Fit, error) {
	return e.fit(ctx, k, t, true)
}

// Defaults of Ascent.Tolerance.
const (
	evidenceTolerance = 1e-5
	labelTolerance    = 5e-5
)

// priorRounds is the most times that a learned prior and the scales take turns.
const priorRounds = 8

// settings returns those of an ascent for so many samples, which rec is to record.
func (e Evidence) settings(samples float64, rec *vi.Record) lbfgs.Settings {
	s := lbfgs.Settings{
		Iterations: e.Ascent.MaxSweeps, Tolerance: e.Ascent.Tolerance, Scale: samples, LongestStep: maxStep,
	}
	if s.Iterations == 0 {
		s.Iterations = 100
	}
	switch {
	case s.Tolerance == 0:
		s.Tolerance = evidenceTolerance
	case s.Tolerance < 0:
		s.Tolerance = -1
	}
	last, most := math.NaN(), s.Iterations
	s.Step = func(cost float64) {
		rec.Trace = append(rec.Trace, -cost)
		if e.Ascent.Progress != nil {
			e.Ascent.Progress(vi.Progress{Sweep: len(rec.Trace), MaxSweeps: most, Bound: -cost, Rise: -cost - last, Left: -1, Change: -1})
		}
		last = -cost
	}
	return s
}

// minimize lowers the cost of an ascent from x on, notes in rec how it ended, and returns
// where. rec has no trace if the cost was not known anywhere. The stage of a
// journal, nil if there is none, keeps the minimisation and the state of the objective.
func minimize(
	x []float64, cost func(x, g []float64) (float64, error), s lbfgs.Settings, rec *vi.Record,
	stage *vi.Stage, state func(*work.Snapshot),
) (lbfgs.Result, error) {
	if stage != nil {
		both := func(own func(lbfgs.State)) func(*work.Snapshot) {
			return func(s *work.Snapshot) { state(s); own(s) }
		}
		s.Resume = func(own func(lbfgs.State)) (bool, error) {
			known, _, err := stage.Resume(both(own), rec)
			return known, err
		}
		s.Note = func(own func(lbfgs.State)) error { return stage.Note(both(own), rec, false) }
	}
	r, err := lbfgs.Minimize(x, cost, s)
	known := !math.IsInf(r.F, 1)
	switch {
	case err != nil:
		rec.Reason = vi.Cancelled
	case r.Converged && known:
		rec.Reason = vi.Converged
	}
	if len(rec.Trace) == 0 && known {
		rec.Trace = append(rec.Trace, -r.F)
	}
	return r, err
}

// errUnknown is of a fit whose evidence was not known anywhere that it looked.
var errUnknown = errors.New("vi: the evidence is not known where the fit starts")

func (e Evidence) fit(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*Fit, error) {
	m, x, err := e.outline(ctx, k, y, labels)
	if err != nil {
		return nil, err
	}
	rec := vi.Record{Reason: vi.MaxSweeps}
	if labels && e.Ascent.Tolerance == 0 {
		e.Ascent.Tolerance = labelTolerance
	}
	settings := e.settings(m.samples(), &rec)
	if tol := settings.Tolerance; tol > 0 {
		m.tol = min(m.tol, max(math.Sqrt(tol/2), finalTolerance))
		m.final = max(m.tol/100, finalTolerance)
	}
	// Where the kernels are held the average information is as good as the second
	// derivatives, and what was learned of others is no help.
	settings.Precondition, settings.NoMemory = m.info.precondition, m.kernels == nil
	if labels && e.Start != nil && e.Start.Keep {
		return m.kept(x)
	}
	m.makeRoom(x, e.Ascent.Journal != nil)
	learns := !m.held.all()
	for round := 0; ; round++ {
		r, err := minimize(x, m.cost, settings, &rec, e.Ascent.Journal.Next(), m.snapshot)
		if err != nil {
			return m.stopped(r.X, rec, err)
		}
		x = r.X
		settings.Iterations -= r.Iterations
		if !learns || settings.Iterations <= 0 || round == priorRounds {
			break
		}
		// The last point that was looked at need not be the highest.
		if _, err := m.cost(x, r.Gradient); err != nil {
			return m.stopped(x, rec, err)
		}
		if !m.learnPrior() {
			break
		}
		rec.Reason = vi.MaxSweeps
	}
	fit, err := m.finish(x, rec)
	if err == nil && e.Draws > 0 && !labels && e.Family == Default {
		err = m.drawScales(fit, x, e.Draws, e.Seed)
	}
	return fit, err
}

// stopped returns the fit at x, which an error has ended, beside that error; there
// is none before the objective was known anywhere.
func (m *evidence) stopped(x []float64, rec vi.Record, err error) (*Fit, error) {
	if len(rec.Trace) == 0 {
		return nil, err
	}
	rec.Reason = vi.Cancelled
	fit, ferr := m.finish(x, rec)
	return fit, errors.Join(err, ferr)
}

// objective checks the arguments and returns the objective and its start.
func (e Evidence) objective(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*evidence, []float64, error) {
	m, x, err := e.outline(ctx, k, y, labels)
	if err != nil {
		return nil, nil, err
	}
	m.makeRoom(x, e.Ascent.Journal != nil)
	return m, x, nil
}

// makeRoom allocates the N×N matrices of an ascent from x, which has a journal or none.
func (m *evidence) makeRoom(x []float64, journal bool) {
	m.sum, m.factor = la.NewMatrix[float64](m.N, m.N), la.NewMatrix[float64](m.N, m.N)
	if m.labels {
		m.sites.k, m.sites.l = m.sum, m.factor
	}
	if journal {
		m.compose(x)
		for i := range m.N {
			m.start = append(m.start, conjugate.Sum(m.sum.Row(i)[:i+1]))
		}
	}
}

// outline is objective without N×N matrices.
func (e Evidence) outline(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*evidence, []float64, error) {
	if ctx == nil {
		return nil, nil, fmt.Errorf("vi: ctx is nil")
	}
	if k == nil {
		return nil, nil, fmt.Errorf("vi: kernels: nil")
	}
	if n := e.Ascent.MaxSweeps; n < 0 {
		return nil, nil, fmt.Errorf("vi: MaxSweeps is %d: it must not be negative", n)
	}
	if err := vi.RefuseCompressed(k); err != nil {
		return nil, nil, err
	}
	P, D, N := k.Dims()
	switch {
	case D != N:
		return nil, nil, fmt.Errorf("vi: kernels: %d×%d where square ones are needed", D, N)
	case len(y) != N:
		return nil, nil, fmt.Errorf("vi: y: %d values for %d samples", len(y), N)
	}
	if i := check.NonFinite(y); i >= 0 {
		return nil, nil, fmt.Errorf("vi: y: value %d is %g", i, y[i])
	}
	m := &evidence{
		ctx: ctx, k: k, passes: newPasses(k, e.Workers), ws: la.Workspace{Workers: e.Workers}, P: P, N: N,
		y: y, labels: labels, how: e.Sites, scalePrior: scalePrior{family: e.Family, prior: e.Prior, known: e.Known},
		power: 1, tol: searchTolerance, final: finalTolerance,
		alpha: make([]float64, N), weight: make([]float64, P), trace: make([]float64, P), quad: make([]float64, P),
		best: math.Inf(1), span: e.span, given: e.KnownNoise,
	}
	if s := e.span; s != nil {
		m.beyond, m.outside = float64(len(s.y)-N), la.SumSq(s.outside)
	}
	if labels {
		if err := checkLabels(y); err != nil {
			return nil, nil, err
		}
		m.sites = newSites(&m.ws, N)
	} else if m.power = (la.SumSq(y) + m.outside) / m.samples(); !(m.power > 0) || math.IsInf(m.power, 1) {
		return nil, nil, fmt.Errorf("vi: y: its mean square is %g", m.power)
	}
	if err := m.checkNoise(); err != nil {
		return nil, nil, err
	}
	relative := m.family == Default
	if relative {
		m.family, m.prior = Hyperbola, Hyperbola.vague(1)
	}
	for range P {
		m.unit = append(m.unit, 1)
	}
	m.held = m.family.held().with(e.Held)
	m.prior = m.family.begin(m.prior, m.held, 1/m.power)
	if err := m.family.validate(m.prior); err != nil {
		return nil, nil, err
	}
	if err := m.checkKnown(P); err != nil {
		return nil, nil, err
	}
	var start EvidenceStart
	if e.Start != nil {
		start = *e.Start
	}
	x := make([]float64, P)
	theta := start.Parameters
	if a, ok := k.(Adaptive); ok {
		m.kernels = a
		m.mean, m.sd = a.Parameters()
		if theta == nil {
			theta = m.mean
		}
	}
	switch {
	case len(theta) != len(m.mean):
		return nil, nil, fmt.Errorf("vi: Start.Parameters: %d values where the kernels have %d", len(theta), len(m.mean))
	case start.Gamma != nil && len(start.Gamma) != P:
		return nil, nil, fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(start.Gamma), P)
	}
	if labels && start.Part != nil {
		if _, n := start.Part.Dims(); n != len(start.Rows) || start.Part.s.Sites == nil {
			return nil, nil, fmt.Errorf("vi: Start.Part: of %d samples where Rows has %d, or without sites", n, len(start.Rows))
		}
		for i, r := range start.Rows {
			if r < 0 || r >= N {
				return nil, nil, fmt.Errorf("vi: Start.Rows[%d] is %d of %d samples", i, r, N)
			}
		}
		m.part, m.rows = start.Part, start.Rows
	}
	if m.kernels != nil {
		m.kernels.SetParameters(&m.ws, theta)
	}
	if err := m.shares(x); err != nil {
		return nil, nil, err
	}
	if relative {
		for p, v := range x {
			m.unit[p] = special.Exp(-v) / float64(P)
		}
	}
	for p, g := range start.Gamma {
		if !(g > 0) || math.IsInf(g, 1) {
			return nil, nil, fmt.Errorf("vi: Start.Gamma[%d] is %g", p, g)
		}
		x[p] = -special.Log(g)
	}
	for p, v := range e.Known {
		if v > 0 {
			x[p] = special.Log(v)
		}
	}
	x = append(x, theta...)
	if !labels {
		noise := start.Noise - float64(leastShare*m.power)
		if !(noise > 0) || math.IsInf(noise, 1) || m.given > 0 {
			noise = firstNoise * m.power
		}
		x = append(x, special.Log(noise))
	}
	m.info = newInformation(len(x), N)
	return m, x, nil
}

// checkNoise reports a known variance of the noise that is none, or with which B is too near to being
// singular in double precision.
func (m *evidence) checkNoise() error {
	switch {
	case m.given == 0:
		return nil
	case !(m.given > 0) || math.IsInf(m.given, 1):
		return fmt.Errorf("vi: KnownNoise is %g: it must be positive and finite, or 0", m.given)
	case m.labels:
		return errors.New("vi: KnownNoise: labels have no noise of their own")
	case m.given < leastShare*m.power:
		return fmt.Errorf("vi: KnownNoise is %g, less than %g times the targets' mean square %g", m.given, leastShare, m.power)
	}
	return nil
}

// checkLabels reports labels that are not −1 or +1, or all alike.
func checkLabels(t []float64) error {
	var positive int
	for i, v := range t {
		switch v {
		case 1:
			positive++
		case -1:
		default:
			return fmt.Errorf("vi: t: label %d is %g: labels are −1 and +1", i, v)
		}
	}
	if positive == 0 || positive == len(t) {
		return fmt.Errorf("vi: t: all %d labels are alike", len(t))
	}
	return nil
}

// shares stores the log amplitudes at which every kernel has an equal share of a
// function whose variance is that of the targets, 1 for labels.
func (m *evidence) shares(x []float64) error {
	m.passes.diagonalSums(&m.ws, m.N, m.trace)
	for p, t := range m.trace {
		if t < 0 || t-t != 0 {
			return fmt.Errorf("vi: kernel %d: its trace is %g: it is not positive semidefinite", p, t)
		}
		x[p] = special.Log(m.power / float64(m.P))
		if t > 0 {
			x[p] -= special.Log(t / m.samples())
		}
	}
	return nil
}

// firstNoise is the noise variance to start from, and noiseSpread the standard
// deviation of its logarithm in its normal prior about there.
const (
	firstNoise  = 0.1
	noiseSpread = 2
)

// Tolerances of expectation propagation and of the variational bound, in posterior
// deviations of a sample: the largest while the scales are climbed, and the smallest.
// The evidence is stationary in the sites, so that a residual r makes it wrong by about
// ½N·r²: r = √(½·Ascent.Tolerance) is precise enough for the ascent.
const (
	searchTolerance = 5e-3
	finalTolerance  = 1e-9
)

func (m *evidence) keep() {
	m.bestPrec = append(m.bestPrec[:0], m.sites.prec...)
	m.bestNu = append(m.bestNu[:0], m.sites.nu...)
}

// samples returns the number of all samples.
func (m *evidence) samples() float64 { return float64(m.N) + m.beyond }

// weigh computes the weights a_p at x.
func (m *evidence) weigh(x []float64) {
	for p := range m.weight {
		if m.weight[p] = special.Exp(x[p]); m.isKnown(p) {
			m.weight[p] = m.known[p]
		}
	}
}

// compose computes the lower triangle of K = Σ a_p·K_p at x.
func (m *evidence) compose(x []float64) {
	m.weigh(x)
	if m.kernels != nil {
		m.kernels.SetParameters(&m.ws, x[m.P:m.P+len(m.mean)])
	}
	m.passes.sum(&m.ws, m.weight, m.sum)
}

// snapshot names what evaluations to come depend on, beside their points.
func (m *evidence) snapshot(s *work.Snapshot) {
	s.Same(m.y...)
	s.Same(m.start...)
	if m.span != nil {
		s.Same(m.beyond, m.outside)
	}
	if m.given > 0 {
		s.Same(m.given)
	}
	s.Same(float64(m.family), float64(m.how), m.tol, m.final)
	s.Float(&m.prior.Omega)
	s.Float(&m.prior.Chi)
	s.Float(&m.prior.Phi)
	s.Float(&m.best)
	s.List(&m.bestPrec, m.N)
	s.List(&m.bestNu, m.N)
	known := m.part != nil
	if s.Bool(&known); !known {
		m.part = nil
	}
	if m.info != nil {
		s.Floats(m.info.factor.Data)
	}
}

// functions computes q(f) at x and returns the log evidence. The lower triangle of
// factor is then the Cholesky factor of B.
func (m *evidence) functions(x []float64) (float64, error) {
	m.compose(x)
	if m.labels {
		return m.findSites(m.begin, m.approximate)
	}
	if m.noise = m.given; m.given == 0 {
		m.noise = float64(leastShare*m.power) + special.Exp(x[len(x)-1])
	}
	for i := range m.N {
		row := m.factor.Row(i)[:i+1]
		copy(row, m.sum.Row(i))
		row[i] += m.noise
	}
	if err := la.Cholesky(&m.ws, m.factor); err != nil {
		return 0, fmt.Errorf("Σ a_p·K_p + σ²I: %w", err)
	}
	copy(m.alpha, m.y)
	la.CholeskySolveVec(m.factor, m.alpha)
	value := float64(-0.5 * (la.Dot(m.y, m.alpha) + la.LogDet(m.factor) + float64(float64(m.N)*special.Log(2*math.Pi))))
	if m.beyond > 0 {
		value -= float64(0.5 * (m.outside/m.noise + float64(m.beyond*special.Log(2*math.Pi*m.noise))))
	}
	return value, nil
}

// findSites finds the sites by search, from those that are kept or, where there are none or
// they lie too far away, from those that begin sets. It returns what search does.
func (m *evidence) findSites(begin func(), search func() (float64, error)) (float64, error) {
	if m.bestPrec == nil {
		begin()
	}
	copy(m.sites.prec, m.bestPrec)
	copy(m.sites.nu, m.bestNu)
	value, err := search()
	if err != nil {
		m.part = nil
		begin()
		value, err = search()
	}
	copy(m.alpha, m.sites.alpha)
	return value, err
}

// begin sets the sites of labels to those of part, and to those that its predictions ask
// for, or to a weak push towards the labels. It needs K.
func (m *evidence) begin() {
	if m.part == nil {
		m.sites.start(m.y)
		return
	}
	cross := la.NewMatrix[float64](m.N, len(m.rows))
	for n := range m.N {
		m.gather(n, m.rows, cross.Row(n))
		m.sites.variance[n] = m.sum.At(n, n)
	}
	m.beginAtPart(cross)
}

// gather stores the elements of row n of K in the given columns.
func (m *evidence) gather(n int, columns []int, dst []float64) {
	for i, c := range columns {
		dst[i] = m.sum.At(max(n, c), min(n, c))
	}
}

// beginAtPart sets the sites to those of part, and to those that its predictions ask for, and the moments to
// what it predicts. It is given K in the columns of part's samples, which it overwrites, and its diagonal in the
// place of the variances.
func (m *evidence) beginAtPart(cross la.Matrix[float64]) {
	s, variance := &m.part.s, m.sites.variance
	la.Gemv(&m.ws, la.NoTrans, 1, cross, s.Alpha, 0, m.sites.mean)
	m.part.takeKnown(&m.ws, cross, variance)
	for n, label := range m.y {
		u := tilt(label, m.sites.mean[n], variance[n])
		m.sites.prec[n], m.sites.nu[n] = max(u.precision, leastPrecision), u.shift
	}
	for i, r := range m.rows {
		m.sites.prec[r] = s.Sites[i]
		m.sites.nu[r] = s.Alpha[i] + float64(s.Sites[i]*m.sites.mean[r])
	}
}

// approximate finds the sites of labels.
func (m *evidence) approximate() (float64, error) {
	if m.how == VariationalBound {
		return m.sites.ascend(m.y, m.tol)
	}
	return m.sites.propagate(m.y, m.tol)
}

// ended reports the end of the context.
func (m *evidence) ended() error {
	if m.ctx.Err() != nil {
		return fmt.Errorf("vi: stopped: %w", context.Cause(m.ctx))
	}
	return nil
}

// cost is minus the objective and its gradient, +Inf where B is singular in
// double precision or the sites are not found.
func (m *evidence) cost(x, g []float64) (float64, error) {
	if err := m.ended(); err != nil {
		return 0, err
	}
	value, err := m.functions(x)
	if err != nil {
		return math.Inf(1), nil
	}
	m.measure(x)
	m.precision(nil)
	value += m.amplitudeSlopes(x, g)
	switch last := len(x) - 1; {
	case m.given > 0:
		g[last] = 0 // it is no variable
	case !m.labels:
		density, slope := normalPrior(x[last], special.Log(firstNoise*m.power), noiseSpread)
		value += density
		square := la.SumSq(m.alpha) + m.outside/m.noise/m.noise // αᵀα of all samples
		g[last] = -slope - float64(0.5*special.Exp(x[last])*(square-m.left/m.noise))
	}
	if m.kernels != nil {
		value += m.parameterSlopes(x, g)
	}
	m.curve(x, g)
	return m.noted(-value), nil
}

// noted keeps the sites where the cost is lower than ever, and returns it.
func (m *evidence) noted(cost float64) float64 {
	if cost < m.best {
		m.best = cost
		if m.sites != nil {
			m.keep()
		}
	}
	return cost
}

// precision overwrites the factor with the lower triangle of R and computes what
// the gradient needs of it; αᵀK_pα too unless quad is nil.
func (m *evidence) precision(quad []float64) la.Matrix[float64] {
	if m.sites != nil {
		m.sites.precision()
	} else {
		la.CholeskyInv(&m.ws, m.factor)
	}
	m.left = m.beyond
	for i := range m.N {
		v := m.noise
		if m.sites != nil {
			v = 1 / m.sites.prec[i]
		}
		m.left += float64(v * m.factor.At(i, i))
	}
	m.passes.traces(&m.ws, m.factor, m.alpha, m.trace, quad)
	return m.factor
}

// scalePrior is the prior of γ.
type scalePrior struct {
	family Family
	prior  GIG
	held   Held      // by the family too
	unit   []float64 // of γ_p
	known  []float64 // weights 1/γ_p, 0 where they are learned; nil if all are
}

// isKnown reports whether γ_p is known.
func (m *scalePrior) isKnown(p int) bool { return m.known != nil && m.known[p] > 0 }

// checkKnown reports known weights that are none, and fits that would learn no weight.
func (m *scalePrior) checkKnown(P int) error {
	if m.known == nil {
		return nil
	}
	if len(m.known) != P {
		return fmt.Errorf("vi: Known: %d weights for %d kernels", len(m.known), P)
	}
	for p, v := range m.known {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("vi: Known[%d] is %g: it must be positive and finite, or 0", p, v)
		}
	}
	return nil
}

// logPrior returns log p(log γ) but for a constant, at u = log γ in its unit, and
// its slope in u: ω·u − ½(χ·e⁻ᵘ + φ·eᵘ), or zero where there is no prior.
func (m *scalePrior) logPrior(u float64) (density, slope float64) {
	if m.family == ARD {
		return 0, 0
	}
	down, up := float64(m.prior.Chi*special.Exp(-u)), float64(m.prior.Phi*special.Exp(u))
	return float64(m.prior.Omega*u) - float64(0.5*(down+up)), m.prior.Omega + float64(0.5*(down-up))
}

// normalPrior returns the logarithm of a normal prior at x but for a constant, and its
// slope in x. The compiler makes a product of a division by some constants: hence float64.
func normalPrior(x, mean, sd float64) (density, slope float64) {
	d := (x - mean) / sd
	return float64(-0.5 * d * d), float64(-d / sd)
}

// amplitudeSlopes stores the slopes of the cost by the P values log a_p in g, and returns
// the log prior of all γ_p but for a constant.
func (m *evidence) amplitudeSlopes(x, g []float64) (density float64) {
	for p, a := range m.weight {
		if m.isKnown(p) {
			g[p] = 0
			continue
		}
		d, slope := m.logPrior(-x[p] - special.Log(m.unit[p]))
		density += d
		g[p] = slope - float64(0.5*a*(m.quad[p]-m.trace[p]))
	}
	return density
}

// parameterSlopes stores the slopes of the cost by the kernels' parameters in g, and
// returns their log prior but for a constant. It overwrites R.
func (m *evidence) parameterSlopes(x, g []float64) (density float64) {
	slopes := g[m.P : m.P+len(m.mean)]
	m.sumSlopes(m.kernels, slopes)
	for j, s := range slopes {
		d, slope := normalPrior(x[m.P+j], m.mean[j], m.sd[j])
		density += d
		slopes[j] = -slope - s
	}
	return density
}

// sumSlopes stores what the parameters of k change in the evidence by way of the sum K,
// ½ Σ_p a_p·<ααᵀ − R, ∂K_p/∂θ_j>, in dst. It overwrites R.
func (m *evidence) sumSlopes(k Adaptive, dst []float64) {
	for i := range m.N {
		row, a := m.factor.Row(i)[:i+1], m.alpha[i]
		for j, v := range row {
			row[j] = 0.5 * (float64(a*m.alpha[j]) - v)
		}
	}
	k.Slope(&m.ws, m.weight, m.factor, dst)
}

// learnPrior sets the prior of γ to that of maximum likelihood under the present
// q(γ), and reports whether it has moved.
func (m *evidence) learnPrior() bool {
	q, moments := m.scales()
	old := m.prior
	q, moments = learned(&m.scalePrior, q), learned(&m.scalePrior, moments)
	if len(q) == 0 {
		return false
	}
	m.prior = m.family.learn(m.prior, m.family.meanMoments(q, moments), m.held, true)
	m.best = math.Inf(1)
	moved := func(a, b float64) bool { return math.Abs(a-b) > 1e-3*(math.Abs(a)+math.Abs(b)) }
	return moved(old.Omega, m.prior.Omega) || moved(old.Chi, m.prior.Chi) || moved(old.Phi, m.prior.Phi)
}

// knownKernels says of each kernel whether its weight is known, nil if none is.
func (m *scalePrior) knownKernels() (known []bool) {
	for p := range m.known {
		known = append(known, m.isKnown(p))
	}
	return known
}

// learned returns what is of kernels whose weights are not known.
func learned[T any](m *scalePrior, all []T) (some []T) {
	if m.known == nil {
		return all
	}
	for p, v := range all {
		if !m.isKnown(p) {
			some = append(some, v)
		}
	}
	return some
}

// scales returns q(γ_p) = GIG(ω + N/2, χ, φ + s_p) and its moments, where with
// a_p = 1/γ_p (D3–D11, the sites' precisions in place of τ)
//
//	s_p = E[f_pᵀK_p⁻¹f_p] = a_p²·αᵀK_pα + a_p·(N − a_p·tr RK_p),
//	N − a_p·tr RK_p = Σ_{q≠p} a_q·tr RK_q + tr(R·S⁻¹),
//
// a sum of what is not negative but for rounding, which tells no less than 2⁻⁵²·N from 0. Its
// mean is the present γ_p up to O(1/N).
func (m *evidence) scales() (q []GIG, moments []gigMoments) {
	for p, a := range m.weight {
		rest := m.left
		for q, t := range m.trace {
			if q != p {
				rest += float64(m.weight[q] * max(0, t))
			}
		}
		s := float64(a * (float64(a*max(0, m.quad[p])) + max(rest, float64(0x1p-52*m.samples()))))
		g := m.scale(p, s)
		q = append(q, g)
		moments = append(moments, g.moments())
	}
	return q, moments
}

// scale returns q(γ_p) for s_p = E[f_pᵀK_p⁻¹f_p].
func (m *evidence) scale(p int, s float64) GIG {
	return GIG{m.prior.Omega + float64(m.samples()/2), m.prior.Chi * m.unit[p], m.prior.Phi/m.unit[p] + s}
}

// last computes q(f) at x by functions, with sites of the final tolerance if they are found.
// If not, what was good enough to get here is good enough to be a model, and in the end what is
// good enough for any search.
func (m *evidence) last(x []float64, functions func([]float64) (float64, error)) (value float64, err error) {
	search := m.tol
	for _, tol := range []float64{min(search, m.final), search, max(search, searchTolerance)} {
		m.tol = tol
		if value, err = functions(x); err == nil {
			return value, nil
		}
	}
	return 0, fmt.Errorf("vi: %w", err)
}

// collapsedShare is the mean square of a function, in units of the noise, below which it vanishes.
const collapsedShare = 1e-3

// finish computes q(f) at x and returns the fit.
func (m *evidence) finish(x []float64, rec vi.Record) (*Fit, error) {
	logZ, err := m.last(x, m.functions)
	if err != nil {
		return nil, err
	}
	s := State{
		Family: m.family, Labels: m.labels, Prior: m.prior, Tau: 1,
		Alpha: slices.Clone(m.alpha), Factor: m.factor.Clone(), Known: m.knownKernels(),
	}
	loo := &LeaveOneOut{}
	fit := &Fit{
		Record: rec, LogEvidence: logZ, LeaveOneOut: loo,
		Parameters: slices.Clone(x[m.P : m.P+len(m.mean)]),
	}
	limit := float64(collapsedShare)
	if m.labels {
		s.Sites = slices.Clone(m.sites.prec)
		if m.how == ExpectationPropagation {
			loo.LogProbability = m.sites.leaveOneOut(m.y)
		}
	} else {
		s.Tau = 1 / m.noise
		limit *= m.noise
	}
	r := m.precision(m.quad)
	switch {
	case m.span != nil:
		*loo = m.span.leaveOneOut(m.alpha, r, m.noise)
	case !m.labels:
		*loo = m.leaveOneOut(r)
	}
	var square float64
	for i := range m.N {
		f := m.y[i] - float64(m.noise*m.alpha[i])
		if m.labels {
			f = m.sites.mean[i]
		}
		square += float64(f * f)
	}
	fit.Collapsed = square < limit*m.samples()
	if m.family != ARD {
		s.Scales, _ = m.scales()
	}
	return m.complete(fit, s)
}

// complete adds the posterior of a state, without its γ, to the fit.
func (m *evidence) complete(fit *Fit, s State) (*Fit, error) {
	for _, a := range m.weight {
		s.Gamma = append(s.Gamma, 1/a)
	}
	fit.GPLimit = m.family != ARD && !m.held.all() && m.prior.VarLog() < pointVariance
	var err error
	if fit.Posterior, err = NewPosterior(s); err != nil {
		return nil, err
	}
	return fit, nil
}
