package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// processSettings holds the settings of a fit of multiple Gaussian processes.
type processSettings struct {
	factorised bool // fit a factorised posterior instead of climbing the evidence
	plain      bool // with the published updates of the factorised posterior
	bound      bool // fit labels by a lower bound on the evidence

	family Family
	prior  GIG
	held   HeldPrior
	known  []float64

	knownNoise float64            // variance; 0 if it is learned
	weights    []float64          // of the samples, see [MultiGP].Weights; nil if they have the same
	name       func(o int) string // names a function in errors; nil if there is only one

	// hurried limits the steps on all samples, if there are many, to few or none, after a fit to a
	// part of them has found the scales; see beginning.go.
	hurried bool
	resting bool   // let the posterior of each function rest once it is found; see rest.go
	seed    uint64 // for the choice of that part, and for draws

	contents *contents // by whose order the part is chosen; nil for the order of the samples
	order    []int     // in which variables are drawn; nil for the order of the kernels

	pointScales bool // make no draws

	noise NoiseModel

	likelihood mgp.Likelihood // of observations that are neither targets nor labels; nil for targets and labels

	start *mgp.EvidenceStart // of the ascent; nil without one

	spanning *gram.Spanning // the samples with which kernels are computed; nil if they are all

	from *processes     // the earlier model From; nil without one
	last *mgp.Posterior // posterior of the function in from
}

// orderByContent lets random choices follow the order of what the samples and views hold, if the fit makes such choices.
func (s *processSettings) orderByContent(views []View, target []float64, names bool) {
	if n := len(target); !s.factorised && (drawsOf(n) > 0 || n >= manySamples) {
		s.contents = newContents(views, [][]float64{target}, names, s.seed)
		s.order = s.contents.variables(views)
	}
}

// fit adds a function to m for each row of y: targets, or labels ±1. It returns
// whether m has all functions. A function whose ascent ended with an error has the state of the
// sweeps before.
func (s processSettings) fit(ctx context.Context, f *fitting, m *processes, k gram.Held, y la.Matrix[float64], labels bool) (whole bool, err error) {
	_, m.adapted = k.(mgp.Adaptive)
	var errs []error
	for o := range y.Rows {
		one := s
		if err := one.resume(o, m.design); err != nil {
			return false, err
		}
		fit, err := one.fitOne(ctx, k, y.Row(o), labels, f.Workers, f.ascent(o+1, y.Rows))
		if err != nil {
			var kernel *vi.KernelError
			if s.name != nil && !errors.As(err, &kernel) {
				err = fmt.Errorf("%s: %w", s.name(o), err)
			}
			errs = append(errs, f.named(err))
		}
		ended := ctx.Err() != nil && o+1 < y.Rows // asked once, because the context may end between two questions
		if err == nil && ended {
			errs = append(errs, fmt.Errorf("mkl: stopped after %d of %d functions: %w", o+1, y.Rows, context.Cause(ctx)))
		}
		if fit == nil || ended {
			return false, errors.Join(errs...)
		}
		m.add(fit, m.design.Learned(fit.Parameters))
		if s.resting {
			m.posteriors[o] = m.posteriors[o].Rest()
		}
		m.addDraws(fit.Draws)
		if err := checkWeights(m.weights(o)); err != nil {
			return false, errors.Join(append(errs, err)...)
		}
	}
	m.design = m.designs[0]
	return true, errors.Join(errs...)
}

// resume starts function o, with kernels of the design ds, from the earlier model, if there is one.
func (s *processSettings) resume(o int, ds *gram.Design) error {
	if s.from == nil {
		return nil
	}
	var widths []float64
	old := s.from.designs[o]
	for i, v := range ds.Views {
		if !kernel.Learns(v.Kernel) {
			continue
		}
		w := kernel.Widths(old.Views[i].Kernel)
		if n := v.Sight.Cols(ds.Inputs[v.Input].Cols); len(w) != n {
			return fmt.Errorf("mkl: From: view %d has %d widths where %d are learned", i, len(w), n)
		}
		for _, v := range w {
			widths = append(widths, special.Log(v))
		}
	}
	s.last = s.from.posteriors[o]
	s.start = processStart(s.last, s.from.noise, widths)
	state := s.last.State()
	if state.Labels && state.Sites != nil {
		s.start.Part, s.start.Rows = s.last, vec.UpTo(ds.D)
	}
	family := s.family
	if family == FamilyDefault && s.factorised {
		family = FamilyStudentT
	}
	if s.prior == (GIG{}) && family == state.Family {
		s.prior = state.Prior
	}
	return nil
}

// fitOne fits one function.
func (s processSettings) fitOne(ctx context.Context, k gram.Held, y []float64, labels bool, workers int, a vi.Ascent) (*mgp.Fit, error) {
	if s.factorised {
		g := mgp.Model{Family: s.family, Prior: s.prior, HeldPrior: s.held, Plain: s.plain, Workers: workers, Ascent: a}
		if s.last != nil {
			g.Start, g.Tau = s.last.Start()
		}
		if s.knownNoise > 0 {
			g.Noise, g.Tau = mgp.NoiseFixed, 1/s.knownNoise
		}
		if labels {
			return g.FitLabels(ctx, k, y)
		}
		return g.Fit(ctx, k, y)
	}
	e := mgp.Evidence{
		Family: s.family, Prior: s.prior, HeldPrior: s.held, Known: s.known, KnownNoise: s.knownNoise, Weights: s.weights, Start: s.start, Seed: s.seed, Workers: workers, Ascent: a,
	}
	if !s.pointScales {
		e.Draws, e.Order = drawsOf(len(y)), s.order
	}
	if s.bound {
		e.Sites = mgp.SitesBound
	}
	if s.spanning != nil {
		return e.FitSpanned(ctx, k, s.spanning.Weights, y)
	}
	if s.likelihood != nil {
		return e.FitLikelihood(ctx, k, s.likelihood)
	}
	fit := func(k vi.Kernels, y []float64) (*mgp.Fit, error) {
		if labels {
			return e.FitLabels(ctx, k, y)
		}
		switch s.noise {
		case VaryingNoise:
			return e.FitVarying(ctx, k, y)
		case HeavyNoise:
			return e.FitHeavy(ctx, k, y)
		}
		return e.Fit(ctx, k, y)
	}
	settled := vi.MaxSweeps
	if len(y) >= manySamples && s.from == nil {
		var err error
		if settled, err = s.beginAtSome(ctx, &e, k, y, labels, fit); err != nil {
			return nil, err
		}
	}
	all, err := fit(k, y)
	if err == nil && e.Start != nil && s.hurried && (all.Record.Reason == vi.MaxSweeps || labels && e.Start.Keep) {
		all.Record.Reason = settled // no more steps, or only a few, were made on purpose
	}
	return all, err
}

// processStart returns the start of a fit that continues from the posterior of another fit, with the varying noise of
// its target, if any, and the kernels' parameters.
func processStart(posterior *mgp.Posterior, noise *mgp.NoiseProcess, parameters []float64) *mgp.EvidenceStart {
	p := posterior.State()
	start := &mgp.EvidenceStart{Gamma: p.Gamma, Parameters: parameters}
	if !p.Labels {
		start.Noise, start.Freedom = 1/p.Tau, p.Freedom
	}
	if noise != nil {
		start.Noise, start.NoiseGamma = special.Exp(noise.Level), noise.About.State().Gamma
	}
	return start
}

// processes is what fitted multiple Gaussian processes have in common: a sum of
// processes for the target, or for each class. Its design belongs to the first
// function; the designs of the others differ only in learned length scales.
type processes struct {
	onViews                    // its trace joins the traces of the functions
	designs     []*gram.Design // of each function
	posteriors  []*mgp.Posterior
	limits      []bool             // the prior became a point
	bounds      []float64          // of each function
	evidence    bool               // the bounds are log evidences, or for labels estimates of them
	leaveOneOut []*mgp.LeaveOneOut // of each function; nil if loaded, or factorised
	adapted     bool               // widths were learned; set by fits only
	noise       *mgp.NoiseProcess  // of the target; nil if it is constant
	draws       *processes         // designs and posteriors over which predictions are averaged; nil without draws
	last        *mgp.EvidenceStart // the last function's scales; set by fits only
	levels      *levels            // of very many observations, nil if no column has effects
	about       levelRemarks       // of columns of many levels without effects
}

// add appends a fit. The traces of several fits are joined.
func (m *processes) add(f *mgp.Fit, ds *gram.Design) {
	t := newTrace(f.Record, m.trace.collapsed)
	if f.Collapsed {
		t.collapsed = append(t.collapsed, len(m.posteriors))
	}
	if len(m.posteriors) > 0 {
		t.Sweeps += m.trace.Sweeps
		t.Bounds = append(m.trace.Bounds, t.Bounds...)
		switch {
		case !m.trace.Converged:
			t.Converged, t.Reason = false, m.trace.Reason
		case t.Converged && m.trace.Reason == vi.RoundOff.String():
			t.Reason = m.trace.Reason
		}
	}
	m.trace = t
	m.designs = append(m.designs, ds)
	m.posteriors = append(m.posteriors, f.Posterior)
	m.limits = append(m.limits, f.GPLimit)
	m.noise, m.last = f.Noise, processStart(f.Posterior, f.Noise, f.Parameters)
	bound := f.Record.Bound()
	if l := f.LeaveOneOut; l != nil {
		bound = f.LogEvidence
		m.leaveOneOut = append(m.leaveOneOut, l)
		// A Gaussian bound has neither. Noise that varies or is not normal has a lower bound only.
		m.evidence = (l.Mean != nil || l.LogProbability != nil) && f.Noise == nil && f.Posterior.State().Freedom == 0
	}
	m.bounds = append(m.bounds, bound)
}

// Samples returns the number of training samples.
func (m *processes) Samples() int { return m.posteriors[0].Samples() }

// Bound returns the log evidence in nats, for labels an estimate, or a lower bound
// on it if the fit maximised a bound. For regression it is about the target as the fit saw it,
// standardised unless RawTargets. For several classes it is the sum over them.
func (m *processes) Bound() float64 { return vec.Total(m.bounds) }

// IsEvidence reports whether Bound is the log evidence, for labels an estimate, and not
// a lower bound on it. It returns false for models from files that are too old to say.
func (m *processes) IsEvidence() bool { return m.evidence }

// KernelWeights returns E[1/γ_p] of the views and its standard deviation, in the
// order of the views: the variance that a view adds to the function for each unit
// of its kernel. For regression it is relative to the variance of the standardised
// target, for labels to the variance of the noise. With several classes it is the mean
// over them. With [FamilyFlat] there is no standard deviation. Compare weights only between
// kernels of the same scale.
func (m *processes) KernelWeights() []KernelWeight {
	if len(m.posteriors) == 1 {
		return m.weights(0)
	}
	P, L := len(m.design.Views), float64(len(m.posteriors))
	mean, sd := make([]float64, P), make([]float64, P)
	for o := range m.posteriors {
		for i, w := range m.weights(o) {
			mean[i] += w.Mean
			sd[i] += float64(w.SD * w.SD)
		}
	}
	for i := range mean {
		mean[i] /= L
		sd[i] = math.Sqrt(sd[i]) / L
	}
	return m.kernelWeights(mean, sd)
}

// Outputs reports what the fit learned for each function.
func (m *processes) Outputs() []ModelOutput {
	out := make([]ModelOutput, len(m.posteriors))
	for o := range out {
		out[o].Prior = m.prior(o)
		if len(out) > 1 {
			out[o].Weights = m.weights(o)
		}
	}
	return out
}

// weights returns the posterior of 1/γ_p of one function.
func (m *processes) weights(o int) []KernelWeight {
	if m.draws != nil {
		return m.kernelWeights(m.draws.drawnWeights())
	}
	return m.kernelWeights(m.posteriors[o].KernelWeights())
}

// prior says in words what was learned about the scales of one function.
func (m *processes) prior(o int) string {
	s := m.posteriors[o].State()
	switch {
	case s.Family == FamilyFlat:
		return "no prior: each kernel's weight is set by maximum likelihood, and those not needed go to zero"
	case s.Family == FamilyHyperbola:
		return "the scale of every kernel is that of the highest evidence, under a weak prior that favours none"
	case m.limits[o]:
		return fmt.Sprintf("%v: learned to the limit of a plain Gaussian process: the kernels matter alike", s.Family)
	}
	p := s.Prior
	// A function is Gaussian with variance 1/γ if γ is given.
	var tails string
	switch excess := 3 * p.VarInv() / (p.MeanInv() * p.MeanInv()); {
	case p.Chi == 0:
		tails = fmt.Sprintf("%.3g degrees of freedom, ", 2*p.Omega)
		switch {
		case p.Omega <= 1:
			tails += "tails so heavy that the variance is infinite"
		case p.Omega <= 2:
			tails += "very heavy tails"
		case p.Omega <= 15:
			tails += "heavy tails"
		default:
			tails += "nearly Gaussian"
		}
	case excess > 10:
		tails = fmt.Sprintf("very heavy tails (excess kurtosis %.3g)", excess)
	case excess > 1:
		tails = fmt.Sprintf("heavy tails (excess kurtosis %.3g)", excess)
	case excess > 0.1:
		tails = fmt.Sprintf("light tails (excess kurtosis %.3g)", excess)
	default:
		tails = "nearly Gaussian"
	}
	spread := "few kernels carry the weight"
	factor := special.Exp(math.Sqrt(p.VarLog()))
	switch {
	case factor < 1.5:
		spread = "the kernels matter alike"
	case factor < 5:
		spread = "some kernels matter more than others"
	}
	return fmt.Sprintf("%v: %s; weights vary by a factor of about %.2g: %s", s.Family, tails, factor, spread)
}

// predict calls do for each block of the t samples of x, with the predictions of function o for the samples
// from first on.
func (m *processes) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(o, first int, p *mgp.Prediction)) error {
	if m.levels != nil {
		seen, shift := m.levels.matrices(x)
		of := do
		x, do = seen, func(o, first int, p *mgp.Prediction) {
			shift.addToFunction(first, p)
			of(o, first, p)
		}
	}
	if b := m.newBatch(opt); b != nil {
		if whole, err := b.predict(ctx, opt, x, t, do); whole || err != nil {
			return err
		}
	}
	return m.eachFunction(ctx, opt.Workers, x, t, func(o int, k *vi.Dense, self la.Matrix[float64], first int) error {
		options := vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers}
		p, err := m.posteriors[o].Predict(k, self, options)
		if err == nil && m.noise != nil && !opt.MeanOnly {
			err = m.noise.Widen(p, k, self, options)
		}
		if err == nil {
			do(o, first, p)
		}
		return err
	})
}

// eachFunction calls do for each block of the t samples of x and each function o, with the kernels of the samples from first on, and with
// the kernels of these samples with themselves. The kernels of consecutive functions with the same design are computed once.
func (m *processes) eachFunction(ctx context.Context, workers int, x []Features, t int, do func(o int, k *vi.Dense, self la.Matrix[float64], first int) error) error {
	for from := 0; from < len(m.posteriors); {
		to := from + 1
		for to < len(m.posteriors) && m.designs[to] == m.designs[from] {
			to++
		}
		err := m.designs[from].EachBlock(ctx, workers, gram.PredictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, _ int) error {
			for o := from; o < to; o++ {
				if err := do(o, k, self, first); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// describe returns what String of a model returns.
func (m *processes) describe(what string) string {
	return fmt.Sprintf("%s on %d kernels (%d active) and %d samples, bound %.6g",
		what, len(m.design.Views), countActive(m.KernelWeights()), m.Samples(), m.Bound())
}

// KernelSpreads is as for every model with kernels, of samples with the effects of levels in the places of codes.
func (m *processes) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	if m.levels != nil {
		x, _ = m.levels.matrices(x)
	}
	return m.onViews.KernelSpreads(ctx, opt, x...)
}

// summary describes the model line by line; name(o) begins the line on function o.
func (m *processes) summary(headline string, name func(o int) string) string {
	var b strings.Builder
	fmt.Fprintln(&b, headline)
	b.WriteString(m.trace.outcome())
	for o := range m.posteriors {
		fmt.Fprintf(&b, "%s, %s", name(o), m.prior(o))
		if slices.Contains(m.trace.collapsed, o) {
			fmt.Fprint(&b, "; COLLAPSED: the function vanishes")
		}
		fmt.Fprintln(&b)
		b.WriteString(summarizeActive(m.weights(o)))
	}
	for _, r := range m.LevelEffects() {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}
