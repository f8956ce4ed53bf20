package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/mgp"
)

// observedViews is a fit of a function of several views, whose amplitudes borrow strength, to times, counts or grades. Expectation propagation
// finds Gaussian sites that stand for the observations, the level and the parameters of the likelihood, given the amplitudes. Given the
// sites, the amplitudes are found as for targets with known noise. Section 11 of docs/theory/likelihoods.md derives it.
type observedViews struct {
	*processObservations
	kernels *amplitudeKernels
	like    mgp.Likelihood
	ones    la.Matrix[float64] // the constant kernel

	amplitudes []float64          // a_j, in units of the function; nil for no function
	sum        la.Matrix[float64] // Σ_j a_j·K_j
	fit        *mgp.Fit           // whose kernels are sum, unless there is no function, and ones
}

// fitViews fits a function of several views under each of the likelihoods, or those that the rival says, and returns the fit with the highest
// evidence. It returns nil without an error if the amplitudes cannot borrow strength: of one view, of learned widths, and of given kernels alone. remark then says why, if that does not go
// without saying. So many parts of the fit come after it.
func (p *processObservations) fitViews(ctx context.Context, views []View, targets [][]float64, after int, all ...mgp.Likelihood) (out *functionOfViews, remark string, err error) {
	open := func(v View) bool { return v.Kernel == nil } // an error of the fit that follows
	if countViews(views) < 2 || !hasAmplitudes(views) || slices.ContainsFunc(views, open) {
		return nil, "", nil
	}
	n := all[0].Samples()
	if err := p.check(p.exactMemory(FitSize{Samples: n, Kernels: len(views), Views: 2})); err != nil {
		return nil, "", err
	}
	k, err := newAmplitudeKernels(ctx, p.fitting, KernelsOfView, views, targets, false)
	if err != nil || k == nil || !k.hasConstant() {
		return nil, "", err
	}
	ones := onesOf(n)
	laws, margin, part := len(p.certain(all)), 0.0, 0
	next := func() *fitting {
		part++
		return p.part(part, partsOfViews(laws)+after)
	}
	var best *observedViews
	for i, l := range all {
		if i == laws {
			if !p.rival.worth(best.fit.Posterior.State().Shape, n) {
				break
			}
			laws, margin = i+1, p.rival.margin
		}
		o := &observedViews{processObservations: p, kernels: k, like: l, ones: ones}
		err := o.begin(ctx, next)
		switch {
		case err != nil && margin > 0 && ctx.Err() == nil: // the fit in hand stands if a rival has none
			continue
		case isLeftOut(err):
			return nil, noTableRemark(err), nil
		case err != nil:
			return o.stopped(best), "", err
		}
		if best == nil || o.fit.LogEvidence > best.fit.LogEvidence+margin {
			best = o
		}
	}
	p.fitted = partsOfViews(laws)
	table, err := best.settle(ctx, next)
	switch {
	case isLeftOut(err):
		return nil, noTableRemark(err), nil
	case err != nil:
		return best.stopped(nil), "", err
	}
	if out, err = best.model(); err != nil {
		return nil, "", err
	}
	out.viewTable, out.remarks = table, table.remark(n)
	return out, "", nil
}

// onesOf returns the constant kernel of n samples.
func onesOf(n int) la.Matrix[float64] {
	m := la.NewMatrix[float64](n, n)
	m.Fill(1)
	return m
}

// partsOfViews is how many parts fitViews has under so many likelihoods.
func partsOfViews(likelihoods int) int { return 2*likelihoods + 2 }

// isLeftOut reports whether an error says that amplitudes cannot borrow strength.
func isLeftOut(err error) bool {
	return errors.Is(err, amplitude.ErrIndefinite) || errors.Is(err, errSites) || errors.Is(err, errCorrection)
}

// noTableRemark says why a model of several views has no table of them.
func noTableRemark(err error) string {
	return fmt.Sprintf("there is no table of the views, and each kernel has an amplitude of its own (%v)", err)
}

// begin fits the process with equal amplitudes to the observations, and then the process with tied ones.
func (o *observedViews) begin(ctx context.Context, next func() *fitting) error {
	J, _ := o.kernels.packed.Dims()
	if err := o.climb(ctx, next(), slices.Repeat([]float64{1 / float64(J)}, J)); err != nil {
		return err
	}
	t, unit, err := o.targets()
	if err != nil {
		return err
	}
	tied, err := o.kernels.problem(o.fitting, t).Fit(ctx, amplitude.Tied, amplitude.Search{Steps: mostAmplitudeSteps})
	if err != nil {
		return stopped(ctx, err)
	}
	return o.climb(ctx, next(), inUnits(unit, tied.Amplitudes))
}

// settle fits the members whose amplitudes borrow strength to the sites, and the process with the mean of their amplitudes to the observations.
func (o *observedViews) settle(ctx context.Context, next func() *fitting) (table viewTable, err error) {
	t, unit, err := o.targets()
	if err != nil {
		return table, err
	}
	none := &observedViews{processObservations: o.processObservations, kernels: o.kernels, like: o.like, ones: o.ones}
	if err := none.climb(ctx, next(), nil); err != nil {
		return table, err
	}
	if t.alone, _, err = none.targets(); err != nil {
		return table, err
	}
	t.correction = o.correction
	fits, table, err := o.kernels.fitAmplitudes(ctx, o.fitting, *t)
	if err != nil {
		return table, err
	}
	mean := make([]float64, len(o.amplitudes))
	for _, f := range fits {
		la.Axpy(1/float64(len(fits)), f.Amplitudes, mean)
	}
	return table, o.climb(ctx, next(), inUnits(unit, mean))
}

// inUnits converts amplitudes of standardised targets to the units of the function.
func inUnits(t target, amplitudes []float64) []float64 {
	out := make([]float64, len(amplitudes))
	for j, a := range amplitudes {
		out[j] = a * t.sd * t.sd
	}
	return out
}

// climb fits the process with these amplitudes, a factor of all of them, the variance of the constant, the level and the parameters of
// the likelihood to the observations. nil stands for no function. With the error of a context that ended there may be a fit.
func (o *observedViews) climb(ctx context.Context, f *fitting, amplitudes []float64) error {
	s := o.processSettings
	s.likelihood, s.start = o.like, o.nextStart(amplitudes)
	sum, fit, err := s.fitSum(ctx, o.kernels.packed, o.ones, amplitudes, f.Workers, f.ascent(1, 1))
	if fit != nil {
		o.amplitudes, o.sum, o.fit = amplitudes, sum, fit
	}
	if err != nil {
		return f.named(err)
	}
	return nil
}

// nextStart returns where the ascent of the process with these amplitudes starts: at the constant, the level and the parameters of the fit before; nil for the first fit.
func (o *observedViews) nextStart(amplitudes []float64) *mgp.EvidenceStart {
	if o.fit == nil {
		return nil
	}
	s := o.fit.Posterior.State()
	constant := s.Gamma[len(s.Gamma)-1]
	if amplitudes == nil {
		return &mgp.EvidenceStart{Gamma: []float64{constant}, Shape: s.Shape}
	}
	return &mgp.EvidenceStart{Gamma: []float64{1, constant}, Shape: s.Shape}
}

// fitSum fits the process of the sum of kernels with these amplitudes, which is returned, and of the constant. nil stands for no function.
func (s processSettings) fitSum(ctx context.Context, of *amplitude.Kernels, ones la.Matrix[float64], amplitudes []float64, workers int, a vi.Ascent) (sum la.Matrix[float64], fit *mgp.Fit, err error) {
	kernels := []la.Matrix[float64]{ones}
	if amplitudes != nil {
		sum = of.Sum(amplitudes, workers)
		kernels = []la.Matrix[float64]{sum, ones}
	}
	k, err := vi.NewDense(kernels...)
	if err != nil {
		return sum, nil, err
	}
	fit, err = s.fitOne(ctx, k, make([]float64, ones.Rows), false, workers, a)
	return sum, fit, err
}

// leastDifference is by how much the means of sites differ more than by rounding. The unit of the function is of the order of the deviations of
// logarithms of times, of the logarithm of a count, or of the noise of grades.
const leastDifference = 1e-6

// errSites says that the sites are no targets for amplitudes.
var errSites = errors.New("the observations do not differ")

// targets returns the means of the sites as targets, standardised, and their unit. Site n has the noise variance 1/λ_n, which is known, but for two cases.
// Sites of known times have the noise σ², a parameter that is learned with the amplitudes. Sites of counts and grades without a function have the
// noise v·s_n with a learned v: their noise has the variance that a function would have. If the sites do not differ it returns errSites.
func (o *observedViews) targets() (*amplitudeTargets, target, error) {
	s := o.fit.Posterior.State()
	mean := make([]float64, len(s.Alpha))
	if o.amplitudes != nil {
		la.Gemv(nil, la.NoTrans, 1/s.Gamma[0], o.sum, s.Alpha, 0, mean)
	}
	constant := vec.Total(s.Alpha) / s.Gamma[len(s.Gamma)-1]
	precision, known := slices.Clone(s.Sites), knownTimes(o.like, s.Shape)
	for n, ok := range known {
		if ok {
			// A known time with errors of Weibull has a site of the precision E/σ², E being its cumulative hazard. This is nearly 0 for an early event,
			// and the mean of such a site is far out. The expected value is 1/σ².
			precision[n] = special.Exp(-s.Shape[1])
		}
	}
	for n, a := range s.Alpha {
		mean[n] += constant + a/precision[n]
	}
	if differ := slices.Max(mean) - slices.Min(mean); !(differ > leastDifference) || math.IsInf(differ, 0) {
		return nil, target{}, errSites
	}
	units, z := standardizeWeighted(mean, precision, false)
	unit := units[0]
	square := unit.sd * unit.sd
	observed, err := mgp.Observe(o.like)
	if err != nil {
		return nil, target{}, err
	}
	t := &amplitudeTargets{y: z, observed: &observedTargets{of: observed, unit: unit, shape: s.Shape, scaled: known != nil}}
	if known != nil {
		t.noiseShare, t.ownNoise = make([]float64, len(known)), make([]float64, len(known))
		for n, ok := range known {
			if ok {
				t.noiseShare[n] = 1
			} else {
				t.ownNoise[n] = 1 / (precision[n] * square)
			}
		}
		return t, unit, nil
	}
	var typical float64
	if t.noiseShare, typical, err = mgp.NoiseShares(precision); err != nil {
		return nil, target{}, fmt.Errorf("mkl: %w", err)
	}
	if isTimes(o.like) || o.amplitudes != nil {
		t.knownNoise = 1 / (typical * square)
	}
	return t, unit, nil
}

// leastKnown is the least number of known times whose noise is learned with the amplitudes.
const leastKnown = 10

// knownTimes reports which times are known, or known better than to their noise σ; nil if they are few, and of counts and grades.
func knownTimes(l mgp.Likelihood, shape []float64) []bool {
	if !isTimes(l) {
		return nil
	}
	for of, ok := l.(mgp.Offset); ok; of, ok = l.(mgp.Offset) {
		l = of.Likelihood
	}
	times, scale := l.(mgp.Censored), special.Exp(0.5*shape[1])
	known, count := make([]bool, len(times.Lower)), 0
	for n, from := range times.Lower {
		if known[n] = times.Upper[n]-from < scale; known[n] {
			count++
		}
	}
	if count < leastKnown {
		return nil
	}
	return known
}

// isTimes reports whether a likelihood is of the logarithms of times, whose second parameter is the logarithm of a noise variance.
func isTimes(l mgp.Likelihood) bool {
	return l.Name() == LogNormal.String() || l.Name() == Weibull.String()
}

// stopped returns the best fit before an error: of the other likelihoods, or of this one so far; nil without one.
func (o *observedViews) stopped(best *observedViews) *functionOfViews {
	if best == nil {
		best = o
	}
	if best.fit == nil {
		return nil
	}
	m, err := best.model()
	if err != nil {
		return nil
	}
	return m
}

// model returns the fit as a process of all kernels.
func (o *observedViews) model() (*functionOfViews, error) {
	s := o.fit.Posterior.State()
	scale, constant := 1/s.Gamma[0], 1/s.Gamma[1]
	s.Gamma, s.Scales, s.Family, s.Prior = nil, nil, FamilyFlat, GIG{}
	for _, w := range o.kernels.weights(o.amplitudes, constant/scale) {
		s.Gamma = append(s.Gamma, 1/max(scale*w, leastWeight))
	}
	posterior, err := mgp.NewPosterior(s)
	if err != nil {
		return nil, err
	}
	fit := *o.fit
	fit.Posterior = posterior
	m := &functionOfViews{processes: processes{onViews: onViews{o.record(Trace{}), o.kernels.design}}}
	m.add(&fit, o.kernels.design)
	return m, checkWeights(m.weights(0))
}

// observedTargets are the observations whose sites are targets of amplitudes.
type observedTargets struct {
	of     *mgp.Observed
	rows   []int     // of the samples; nil for all
	unit   target    // of the targets
	shape  []float64 // the level and the parameters of the likelihood
	scaled bool      // the second parameter is the logarithm of the variance of noise of the share 1
}

// part returns the observations of some samples, whose targets are standardised anew.
func (o *observedTargets) part(y []float64, rows []int) *observedTargets {
	var mean, square float64
	for _, r := range rows {
		mean += y[r] / float64(len(rows))
	}
	for _, r := range rows {
		d := y[r] - mean
		square += float64(d * d / float64(len(rows)))
	}
	p := *o
	p.rows = rows
	p.unit = target{mean: o.unit.mean + float64(o.unit.sd*mean), sd: o.unit.sd * math.Sqrt(square)}
	return &p
}

// leftOut returns the probability of each observation given all others, or its density. The function has the moments that the sites of the
// others leave it. Site n has the noise σ² times its share, and its own.
func (o *observedTargets) leftOut(p *amplitude.Process, shares, own []float64) []float64 {
	eta := slices.Clone(o.shape[1:])
	square := o.unit.sd * o.unit.sd
	if o.scaled {
		eta[0] = special.Log(p.Noise * square)
	}
	out := make([]float64, len(shares))
	for i, v := range p.LeftOutVariance {
		n := i
		if o.rows != nil {
			n = o.rows[i]
		}
		mean := o.unit.mean + float64(o.unit.sd*p.LeftOutMean.At(0, i)) + o.shape[0]
		noise := float64(p.Noise * shares[i])
		if own != nil {
			noise += own[i]
		}
		variance := square * max(v-noise, leastLeftOut*v)
		log, _, _ := o.of.Moments(n, mean, variance, eta, nil)
		out[i] = special.Exp(log)
	}
	return out
}

// leastLeftOut bounds the part of the function in a variance that rounding has moved.
const leastLeftOut = 1e-12
