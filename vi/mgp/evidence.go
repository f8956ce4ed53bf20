package mgp

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
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
// small and the probabilities too near to ½; see docs/theory/mgp.md. The zero value is
// ready.
//
// Source of the model: C. Archambeau and F. Bach, "Multiple Gaussian process
// models", 2010. The gradients, in terms of α and R (see sites.go), are
//
//	∂/∂log a_p = ½·a_p·(αᵀK_pα − tr(R·K_p)),   a_p = 1/γ_p.
type Evidence struct {
	Sites Sites // for labels

	// Family and Prior describe the prior of γ. Default is a fixed, weak [FamilyHyperbola] prior on
	// each γ_p in units of tr K_p/Σ y_n² (tr K_p/N for labels), where kernel p alone makes
	// functions of the targets' variance: within a factor of about e⁵ of that unit it favours no
	// scale. The parameters of the other families are learned by type-II maximum likelihood unless
	// HeldPrior; Prior is as in [Model].
	Family    Family
	Prior     GIG
	HeldPrior HeldPrior

	// Known holds weights a_p = 1/γ_p that are known, for targets and labels with [Evidence.Fit] and
	// [Evidence.FitLabels]; 0 stands for one that is learned, nil for all. The kernel HHᵀ of features
	// h with the known weight v is a mean function hᵀβ with β ~ N(0, v·I).
	Known []float64

	// KnownNoise is the variance σ² of the noise if that is known, for targets with [Evidence.Fit] and
	// [Evidence.FitSpanned]; 0 means that it is learned.
	KnownNoise float64

	// Weights, if not nil, holds a weight w_n for each of the N targets: target n has noise of the variance σ²/w_n, like the mean of
	// w_n measurements. Predictions have the noise of the weight 1. Weights are for [Evidence.Fit], [Evidence.FitVarying], where the
	// variance is exp(h_n)/w_n, and [Evidence.FitHeavy], where σ²/w_n is the squared scale. nil: all weights are 1.
	Weights []float64

	// Start, if not nil, is where the ascent starts from.
	Start *EvidenceStart

	// Ascent.Tolerance is the rise of the objective in one step that counts as none,
	// where the next promises none either, relative to max(|objective|, N): 0 means 1e-5,
	// a hundredth of a nat for 1000 samples, and for labels, whose steps cost more, 5e-5.
	// MaxSweeps is the most steps: 0 means 100.
	Ascent vi.Ascent

	// Draws is how many draws of the scales, the noise and the kernels' parameters
	// [Evidence.Fit] makes from their posterior, where it ended, for the family Default; see
	// docs/theory/mgp.md, section 20. Seed seeds the draws.
	Draws int
	Seed  uint64

	// Order, if not nil, is the order in which the P scales and the parameters, which are counted after the scales, are drawn. An order
	// that depends on what the kernels hold gives the same draws whatever the order of the kernels.
	Order []int

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	span *spanned   // the basis that the targets are coordinates in, set by FitSpanned
	like Likelihood // set by FitLikelihood
}

// EvidenceStart is where the ascent of the evidence starts from. What is nil or
// zero is chosen from the kernels and targets.
type EvidenceStart struct {
	Gamma      []float64 // γ_p, P values
	Noise      float64   // noise variance σ², for targets only
	Freedom    float64   // degrees of freedom ν of noise with heavy tails, above 2
	Parameters []float64 // of [Adaptive] kernels

	// Shape holds the level and the parameters of a likelihood, as in [State], for [Evidence.FitLikelihood].
	Shape []float64

	// NoiseGamma holds the γ_p of the logarithm of noise that varies, P values.
	NoiseGamma []float64

	// Part is the posterior at the same scales of some of the samples, whose indices are Rows. The
	// sites of labels begin from its sites and from what it predicts of the other samples. It may
	// be nil.
	Part *Posterior
	Rows []int

	// Keep leaves Gamma and Parameters as they are: [Evidence.FitVarying] and [Evidence.FitHeavy]
	// then learn nothing but the noise, and [Evidence.FitLabels] only finds the sites, and computes
	// q(γ) by the formula that holds at scales of highest density. With a Part, where few samples
	// determine the function nearly, it finds the sites of these together and sets each of the
	// others once. Evidence and leave-one-out probabilities are then computed given the few
	// (docs/theory/mgp.md, section 15).
	Keep bool
}

// Sites says how the likelihood of the labels is approximated.
type Sites int

// Approximations of the labels' likelihood.
const (
	// ExpectationPropagation matches the moments of every sample's cavity
	// distribution. It gives an estimate of the evidence and leave-one-out
	// probabilities.
	SitesEP Sites = iota

	// VariationalBound maximises a lower bound on the evidence among all Gaussians
	// q(f).
	SitesBound
)

// Adaptive are kernels with parameters θ that a fit can learn, such as the
// logarithms of length scales. A fit calls SetParameters and then reads the
// kernels, so that a value belongs to one fit at a time.
type Adaptive interface {
	vi.Kernels

	// Parameters returns the priors of the parameters. The ascent starts from their modes.
	Parameters() []ParameterPrior

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
	// [SitesBound], whose cavities are no such predictions.
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
	kernels Adaptive  // k, if it is adaptive
	theta   []float64 // its parameters at the start
	passes  *passes
	ws      la.Workspace
	P, N    int      // kernels, and their order
	span    *spanned // the basis that y has N coordinates in; nil if these are the samples
	beyond  float64  // how many more samples than coordinates there are
	outside float64  // Σ y² outside the span of the basis
	priors  []ParameterPrior

	y      []float64
	labels bool
	how    Sites
	like   *likelihood // of labels too; nil for normal noise and for what follows it by a bound

	// Of the normal prior of the likelihood's level and parameters.
	likeMean, likeSD []float64

	power float64 // mean square of the targets, 1 for labels
	tol   float64 // of the sites, while the scales are climbed
	final float64 // of the sites, in the end
	info  *information
	scalePrior

	sum    la.Matrix[float64] // N×N, the lower triangle of K = Σ a_p·K_p
	factor la.Matrix[float64] // N×N, a Cholesky factor, then R
	sites  *sites             // of labels, and of noise with heavy tails
	alpha  []float64
	weight []float64 // a_p
	trace  []float64 // tr(R·K_p)
	quad   []float64 // αᵀK_pα
	left   float64   // tr(R·S⁻¹), S = I/σ² without sites
	noise  float64   // σ², with weights the noise variance of a target whose weight is their geometric mean
	given  float64   // σ² if it is known, else 0
	rowNoise

	// The sites of the highest objective so far, where the next begins; nil before the first, which
	// begins at the sites of part, if part is not nil.
	best     float64
	bestPrec []float64
	bestNu   []float64

	start []float64 // a number for each sample from its row of K at the start, by which a journal recognises other kernels; nil without a journal
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

// FitLabels fits to N labels, each −1 or +1, given square kernels. It returns the same errors as
// Fit.
func (e Evidence) FitLabels(ctx context.Context, k vi.Kernels, t []float64) (*Fit, error) {
	return e.fit(ctx, k, t, true)
}

// priorRounds is the most times that a learned prior and the scales take turns.
const priorRounds = 8

// fit is Fit, or FitLabels of labels.
func (e Evidence) fit(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*Fit, error) {
	m, x, err := e.outline(ctx, k, y, labels)
	if err != nil {
		return nil, err
	}
	rec := vi.Record{Reason: vi.MaxSweeps}
	if m.like != nil && e.Ascent.Tolerance == 0 {
		e.Ascent.Tolerance = labelTolerance
	}
	settings := e.settings(m.samples(), &rec)
	if tol := settings.Tolerance; tol > 0 {
		m.tol = min(m.tol, max(math.Sqrt(tol/2), finalTolerance))
		m.final = max(m.tol/100, finalTolerance)
	}
	// Where the kernels are held the average information is as good as the second
	// derivatives, and what was learned of others is no help.
	settings.Precondition, settings.NoMemory = m.info.precondition, m.kernels == nil && len(m.likeMean) == 0
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
	if err == nil && e.Draws > 0 && m.like == nil && e.Family == FamilyDefault {
		err = m.drawScales(fit, x, e.Draws, e.Seed, e.Order)
	}
	return fit, err
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
		m.kernels.SetParameters(&m.ws, x[m.P:m.P+len(m.priors)])
	}
	m.passes.sum(&m.ws, m.weight, m.sum)
}

// snapshot names what evaluations to come depend on, beside their points.
func (m *evidence) snapshot(s *work.Snapshot) {
	s.Same(m.y...)
	s.Same(m.start...)
	if m.like != nil && !m.labels {
		s.Same(m.like.identity()...)
	}
	if m.span != nil {
		s.Same(m.beyond, m.outside)
	}
	if m.given > 0 {
		s.Same(m.given)
	}
	s.Same(m.share...)
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
	if m.like != nil {
		m.like.at(x[m.P+len(m.priors):])
		return m.findSites(m.begin, m.approximate)
	}
	if m.noise = m.given; m.given == 0 {
		m.noise = float64(leastShare*m.power) + special.Exp(x[len(x)-1])
	}
	for i := range m.N {
		row := m.factor.Row(i)[:i+1]
		copy(row, m.sum.Row(i))
		row[i] += m.noiseOf(i)
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
	case m.like != nil:
		value += m.likelihoodSlopes(x, g)
	case m.given > 0:
		g[last] = 0 // it is no variable
	default:
		density, slope := normalPrior(x[last], special.Log(firstNoise*m.power), noiseSpread)
		value += density
		square := m.squareOf(m.alpha) + m.outside/m.noise/m.noise // αᵀα of all samples
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
		v := m.noiseOf(i)
		if m.sites != nil {
			v = 1 / m.sites.prec[i]
		}
		m.left += float64(v * m.factor.At(i, i))
	}
	m.passes.traces(&m.ws, m.factor, m.alpha, m.trace, quad)
	return m.factor
}

// normalPrior returns the logarithm of a normal prior at x but for a constant, and its
// slope in x. The compiler makes a product of a division by some constants: hence float64.
func normalPrior(x, mean, sd float64) (density, slope float64) {
	d := (x - mean) / sd
	return float64(-0.5 * d * d), float64(-d / sd)
}

// scalePriors returns the log prior of the γ_p that are learned, but for a constant. It adds what that
// changes in the slopes of the cost by log a_p to g, unless g is nil.
func (m *evidence) scalePriors(x, g []float64) (density float64) {
	for p := range m.P {
		if m.isKnown(p) {
			continue
		}
		d, slope := m.logPrior(m.logScale(p, x))
		density += d
		if g != nil {
			g[p] += slope
		}
	}
	return density
}

// parameterPriors returns the log prior of the kernels' parameters, but for a constant. It adds what that
// changes in the slopes of the cost by them to g, unless g is nil.
func (m *evidence) parameterPriors(x, g []float64) (density float64) {
	for j, prior := range m.priors {
		d, slope, _ := prior.at(x[m.P+j])
		density += d
		if g != nil {
			g[m.P+j] -= slope
		}
	}
	return density
}

// amplitudeSlopes stores the slopes of the cost by the P values log a_p in g, and returns
// the log prior of all γ_p but for a constant.
func (m *evidence) amplitudeSlopes(x, g []float64) (density float64) {
	for p, a := range m.weight {
		g[p] = 0
		if !m.isKnown(p) {
			g[p] = float64(-0.5 * a * (m.quad[p] - m.trace[p]))
		}
	}
	return m.scalePriors(x, g)
}

// parameterSlopes stores the slopes of the cost by the kernels' parameters in g, and
// returns their log prior but for a constant. It overwrites R.
func (m *evidence) parameterSlopes(x, g []float64) (density float64) {
	slopes := g[m.P : m.P+len(m.priors)]
	m.sumSlopes(m.kernels, slopes)
	la.Scal(-1, slopes)
	return m.parameterPriors(x, g)
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
