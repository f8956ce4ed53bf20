package mkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Family is a family of priors on the scales of a multiple Gaussian process.
type Family = mgp.Family

// Families of priors of the precisions γ_p, by the process that each function then is.
const (
	StudentT      = mgp.StudentT      // γ has a gamma distribution
	Laplace       = mgp.Laplace       // 1/γ has an exponential distribution
	GammaVariance = mgp.GammaVariance // 1/γ has a gamma distribution
	DefaultFamily = mgp.Default       // Hyperbola by the evidence, StudentT with factorised posteriors
	GeneralGIG    = mgp.GeneralGIG    // γ has a generalised inverse Gaussian distribution
	Hyperbola     = mgp.Hyperbola     // a weak prior, symmetric in log γ, that is not learned
	ARD           = mgp.ARD           // no prior: γ is where the evidence, or its bound, is highest
)

// GIG is the generalised inverse Gaussian distribution, the prior of the scales.
type GIG = mgp.GIG

// HeldGIG says which parameters of a [GIG] keep the values that they start from: see [mgp.Held].
type HeldGIG = mgp.Held

// Method says how a multiple Gaussian process is fitted.
type Method int

// Methods of [MultiGP] and [MultiGPClassifier].
const (
	// Evidence climbs the evidence of the scales, the noise and the length scales of
	// ARD kernels by exact gradients. Given those the function of targets is exact, that
	// of labels the fixed point of expectation propagation.
	Evidence Method = iota

	// GaussianBound is Evidence for labels with a lower bound on the evidence in place of
	// an estimate: that of the best Gaussian posterior. For targets both are the same.
	GaussianBound

	// Factorised climbs the lower bound of a posterior in which function, scales and,
	// for labels, the latent targets are independent. Its probabilities of labels are
	// too near to ½.
	Factorised

	// Published is Factorised by exactly the published updates, which need many more
	// sweeps and often end in the plain Gaussian process.
	Published
)

// String returns the method's name.
func (m Method) String() string {
	switch m {
	case Evidence:
		return "evidence"
	case GaussianBound:
		return "Gaussian bound"
	case Factorised:
		return "factorised"
	case Published:
		return "published"
	}
	return fmt.Sprintf("Method(%d)", int(m))
}

// MultiGP is the multiple Gaussian process model for regression: the target is a
// sum of one Gaussian process for each view, with kernel K_p/γ_p, and noise. The
// data decide whether few kernels or all of them matter. It is the model to begin
// with; see docs/choosing.md. The zero value is ready to fit. The fit has no random
// start, and so no use for Restarts; Seed chooses the samples that it looks at first, if
// they are very many, and the draws, if they are few. Views with the same kernel are no
// error here: their scales add up. It takes N² numbers for each kernel and N³ operations
// for a step; above some thousands of samples [LandmarkGP] is the same model at a cost that
// does not grow so. Where all kernels are [Linear] or [Constant], none normalised, and see no more than N/4
// columns together, it takes as many numbers for each sample as there are columns, and as many operations
// for a step as if the samples were that few, with the same result.
//
// Source: C. Archambeau and F. Bach, "Multiple Gaussian process models", 2010; the
// fit by the evidence is derived in docs/mgp.md.
type MultiGP struct {
	Fitting

	Method Method

	// Family is that of the prior of γ. [DefaultFamily] is a weak prior that favours no
	// kernel, or with factorised posteriors [StudentT].
	Family Family

	// Prior is the prior of γ to start from, for targets of variance 1; the zero value is a weak
	// prior, and so are parameters of 0 that are not held, where else there were no prior. HeldPrior
	// says which of its parameters are kept instead of learned: a Cauchy process is a [StudentT] one
	// with Omega held at ½, a hyperbolic process one of [GeneralGIG] with Omega held at −1.
	Prior     GIG
	HeldPrior HeldGIG

	// KnownWeights, if not nil, holds for each view the weight 1/γ_p of its kernel, for targets of
	// variance 1, if that is known, or 0 where it is learned. A view of features h(x) with the kernel
	// [Linear] and a known weight v is a mean function h(x)ᵀβ with β ~ N(0, v·I); see
	// [MultiGPModel.Coefficients]. The methods [Evidence] and [GaussianBound] take known weights, with
	// [ConstantNoise].
	KnownWeights []float64

	// KnownNoise is the standard deviation of the noise in the target's units, if that is known, as that of
	// an instrument may be; 0 means that it is learned. It takes [ConstantNoise], and at least a
	// ten-thousandth of the target's standard deviation (of its root mean square with RawTargets).
	KnownNoise float64

	// RawTargets leaves the targets as they are. By default they are given mean 0
	// and standard deviation 1 before the fit; the model has no bias. Predictions
	// are in the targets' own units either way.
	RawTargets bool

	// Noise says whether the variance of the noise is one number or depends on the
	// sample, and whether the noise is normal or has heavy tails.
	Noise NoiseModel

	// PointScales takes the amplitudes, the noise and learned length scales as known, at
	// their most probable values. By default predictions from up to 64 samples are
	// averaged over draws from their posterior, under the method Evidence, DefaultFamily and
	// ConstantNoise; see docs/mgp.md, section 20.
	PointScales bool

	// From, if not nil, is a model of an earlier fit to the same samples and kernels, perhaps with
	// other targets or another prior, to continue from.
	From *MultiGPModel

	// What [Auto] sets: see processSettings.
	hurried bool
	start   *mgp.EvidenceStart
}

// Fit fits the model to the views of N samples and their targets. Given kernels
// ([Precomputed]) are N×N; the matrices of a prediction then carry one more
// column, the kernel of each sample with itself. Errors are those of
// [Regression.Fit], without a *[CollapsedError]: see [MultiGPModel.Collapsed].
func (g MultiGP) Fit(ctx context.Context, views []View, y []float64) (model *MultiGPModel, err error) {
	n, err := checkTargets([][]float64{y}, false)
	if err != nil {
		return nil, err
	}
	ds, err := newDesign(views, n, g.MissingViews)
	if err != nil {
		return nil, err
	}
	var k heldKernels
	var spanning *spanning
	if size := (Size{Samples: n, Kernels: len(views), Outputs: 1, Features: ds.linearFeatures()}); g.spanned(size) {
		if err := g.check(g.EstimateMemory(size)); err != nil {
			return nil, err
		}
		if spanning, err = ds.span(ctx, views, g.Workers); err != nil {
			return nil, err
		}
		k, err = ds.reduce(ctx, views, spanning, g.Workers)
	} else {
		ds, k, err = g.processKernelsOf(ctx, ds, views, n, 1, g.EstimateMemory)
	}
	if err != nil {
		return nil, suggestLandmarks(err, g.Fitting, views, n, 0)
	}
	defer release(k, &model, &err)
	targets, z := standardizeTargets([][]float64{y}, g.RawTargets)
	m := &MultiGPModel{target: targets[0]}
	m.onViews = onViews{g.record(Trace{}), ds}
	knownNoise, err := g.knownNoise(targets[0], y)
	if err != nil {
		return nil, err
	}
	settings := processSettings{
		knownNoise: knownNoise,
		method:     g.Method, family: g.Family, prior: g.Prior, held: g.HeldPrior, known: g.KnownWeights, hurried: g.hurried, seed: g.Seed,
		noise: g.Noise, start: g.start, pointScales: g.PointScales, spanning: spanning,
	}
	if g.From != nil {
		if err := checkShape(&g.Fitting, "%d targets, %d kernels and %d samples where there are %d, %d and %d",
			1, len(g.From.design.views), g.From.Samples(), 1, len(ds.views), n); err != nil {
			return nil, err
		}
		settings.from = &g.From.processes
	}
	if err := settings.checkNoise(); err != nil {
		return nil, err
	}
	whole, err := settings.fit(ctx, &g.Fitting, &m.processes, k, z, false)
	if !whole {
		return nil, err
	}
	if g.hurried && g.Noise == ConstantNoise && len(z.Row(0)) >= leastForNoise {
		m.unevenNoise = noiseVaries(k, m.leaveOneOut[0], z.Row(0), g.Seed)
		m.heavyNoise = hasHeavyTails(m.leaveOneOut[0], z.Row(0), g.Seed)
	}
	return m, err
}

// knownNoise returns the variance of the noise of the target t with the values y as it is fitted, 0 if that is
// learned.
func (g *MultiGP) knownNoise(t target, y []float64) (float64, error) {
	unit, name := t.sd, "standard deviation"
	if g.RawTargets {
		unit, name = math.Sqrt(la.SumSq(y)/float64(len(y))), "root mean square"
	}
	switch sd := g.KnownNoise; {
	case sd == 0:
		return 0, nil
	case !(sd > 0) || math.IsInf(sd, 1):
		return 0, fmt.Errorf("mkl: KnownNoise is %g: it must be positive and finite, or 0", sd)
	case g.Noise != ConstantNoise:
		return 0, fmt.Errorf("mkl: KnownNoise: %v noise is learned", g.Noise)
	case !(sd >= leastKnownNoise*unit):
		return 0, fmt.Errorf("mkl: KnownNoise is %g, less than %g of the target's %s %g", sd, leastKnownNoise, name, unit)
	default:
		return sd / t.sd * (sd / t.sd), nil
	}
}

// leastKnownNoise is the least noise that can be told from none, in units of the target's standard deviation, or of
// its root mean square with RawTargets.
const leastKnownNoise = 1e-4

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (g MultiGP) EstimateMemory(s Size) int64 {
	switch {
	case g.spanned(s):
		return g.spannedMemory(s)
	case g.Noise == VaryingNoise:
		return g.processMemory(s, varyingFactors, false)
	case g.PointScales:
		return g.processMemory(s, 1, false)
	}
	return g.processMemory(s, 1+drawsOf(s.Samples), false)
}

// processMemory estimates what a fit of l functions takes, each a sum of Gaussian
// processes whose factor of N×N the model keeps.
func (f *Fitting) processMemory(s Size, l int, labels bool) int64 {
	N, P, L := float64(s.Samples), float64(s.Kernels), float64(l)
	words := f.Storage.words(P, N, N)                                              // kernel matrices
	words += float64((2 + L) * N * N)                                              // K, B, and each function's factor
	words += float64(N * (float64(2*P/32) + float64(2*(P+2)) + float64(10*(L+1)))) // rows' parts of traces, vectors
	few := float64(mostAtFirst(s.Samples, labels))
	words += float64((P + 3) * few * few)              // the fit to some of the samples
	words += float64(float64(f.workers()) * (1 << 18)) // packed blocks of products
	return inBytes(words)
}
