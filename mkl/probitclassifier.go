package mkl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Rule is the rule by which a [ProbitClassifier] makes one kernel of all.
type Rule = probit.Rule

// The rules, of P kernels K_p with the weights β_p.
const (
	FixSum  = probit.FixSum  // Σ β_p·K_p with weights that are given
	WSum    = probit.WSum    // Σ β_p·K_p with weights that are learned and add up to 1
	Bin     = probit.Bin     // Σ β_p·K_p with weights 0 or 1 that are learned
	FixProd = probit.FixProd // Π K_p^β_p, entry by entry, with powers that are given
	WProd   = probit.WProd   // Π K_p^β_p, entry by entry, with positive powers that are learned
)

// WeightUpdate says how a [ProbitClassifier] learns the kernels' weights.
type WeightUpdate = probit.WeightUpdate

// Ways to learn the kernels' weights; [probit.WeightUpdate] says what each does.
const (
	PlugIn     = probit.PlugIn
	MeanField  = probit.MeanField
	Structured = probit.Structured
)

// WeightSearch says by what means the posterior of the weights is found.
type WeightSearch = probit.WeightSearch

// Means to find the posterior of the weights; [probit.WeightSearch] says what each takes.
const (
	Mode     = probit.Mode
	Sampling = probit.Sampling
)

// Inference says how a posterior is found.
type Inference int

const (
	Variational Inference = iota // by an approximation, fast
	Gibbs                        // by sampling, exact in the limit of many draws

	// RelevanceVectors keeps a few samples alone, those that the model is highest with when
	// the regressors are integrated out: small models, and predictions that cost least. See
	// [probit.Relevance].
	RelevanceVectors

	// MAP takes the mode of the posterior, found by expectation and maximisation: one value of the
	// regressors and of WSum's weights, without their uncertainty. The model is small, predictions cost
	// least but for those of relevance vectors, and their probabilities are too sure.
	MAP

	// PrunedVectors keeps a few samples as well, by going down: of all of them, under a prior by which
	// most regressors end near 0, it takes out those whose regressors do, on the way to the mode of the
	// posterior. See [probit.Pruned], and docs/relevance.md on which of the two to take.
	PrunedVectors
)

// String returns variational, Gibbs, relevance vectors, MAP or pruned vectors.
func (i Inference) String() string {
	switch i {
	case Variational:
		return "variational"
	case Gibbs:
		return "Gibbs"
	case RelevanceVectors:
		return "relevance vectors"
	case MAP:
		return "MAP"
	case PrunedVectors:
		return "pruned vectors"
	}
	return fmt.Sprintf("Inference(%d)", int(i))
}

// vectors tells whether the inference leaves few of the samples.
func (i Inference) vectors() bool { return i == RelevanceVectors || i == PrunedVectors }

// ProbitClassifier is the multinomial probit kernel machine: it tells two or more
// classes apart, whose names are of any comparable type, by one function for each
// on a kernel that it makes of the views' kernels. Its probabilities are those of
// one model of all classes. The zero value is ready to fit: the sum of the kernels
// over the square root of their number.
//
// The scale of the kernels matters, since that of the prior is fixed: give them
// unit diagonals (RBF kernels have them, others by Normalize). The values of kernels
// that are multiplied must not be negative, and with [WProd] not above 1. A product of
// Gaussian kernels is one that is narrower than the narrowest of them: [FixProd] takes
// the geometric mean, and refuses a product under which most samples have nothing in
// common with any other.
//
// Source: T. Damoulas and M. Girolami, "Combining information with a Bayesian
// multi-class multi-kernel pattern recognition machine".
type ProbitClassifier[T comparable] struct {
	Fitting

	Rule Rule

	// Inference says how the posterior is found. RelevanceVectors takes the rules FixSum,
	// FixProd and WSum, and of the other settings Beta alone, since each sample then has one
	// precision for all classes, without a prior. MAP and PrunedVectors take the same rules, and neither
	// Update, Search nor ARD kernels, and MAP no Prune.
	Inference Inference

	// Draws says how long Gibbs sampling goes on; its zero value is ready. Gibbs
	// sampling does not use MaxSweeps, Tolerance, Restarts, Update, Search, Samples and
	// Prune, and uses Beta with the fixed rules only.
	Draws GibbsDraws

	// Alpha is the prior of the precisions of the regressors; the zero value means
	// Gamma{1, 1}, and with PrunedVectors Gamma{1e-5, 1e5}. With Gamma{1e-6, 1e6} the machine is
	// sparse. ClassAlpha holds the priors of classes that have one of their own, for imbalanced data.
	Alpha      Gamma
	ClassAlpha map[T]Gamma

	// LearnAlpha begins with Alpha and learns shape and scale of the prior from the samples, by type-II
	// maximum likelihood, one for all classes: the scale of the kernels then matters less. It is for
	// Variational inference, and not with ClassAlpha.
	LearnAlpha bool

	// The priors of what learned weights follow. Rho is the prior of each ρ_p of the
	// Dirichlet distribution of WSum's weights, which Gibbs sampling and Search Sampling
	// learn; the zero value means Gamma{1, 1}. On holds the probability that Bin has each of
	// the P kernels on; nil means ½. Kappa and Xi are the rates of the exponential priors of
	// shape and rate of the gamma distribution of each of WProd's weights; 0 means 1.
	Rho       Gamma
	On        []float64
	Kappa, Xi float64

	// Theta is the prior of the relevance θ_j of each feature of a view with an ARD kernel,
	// exp(−½·Σ θ_j·(x_j−y_j)²/w²) with the width w that it starts from, or exp(−Σ θ_j·|x_j−y_j|/w)
	// of a Laplacian; the zero value means Gamma{1, 1}. Variational fits take it at the mode of its
	// density, with Search Sampling at the mean of importance samples from its prior, which are too
	// few for more than a handful of features; Gibbs sampling samples it, and predicts by the kernels
	// of every draw. Update Structured excludes such views.
	Theta Gamma

	// Ridge adds to the kernels' diagonal Ridge times the share of each sample's
	// class, which holds back large classes.
	Ridge float64

	// Beta holds a weight for each of the P kernels: with the fixed rules the weights,
	// with the others where they start. nil means 1/√P for each with FixSum, so that the
	// functions of many kernels are no larger than those of one would be if they were
	// independent; 1/P with FixProd, the geometric mean; 1/P with WSum, ½ with Bin and 1
	// with WProd. The paper's FixSum and FixProd have a Beta of ones.
	Beta []float64

	Update   WeightUpdate // Structured is of Bin alone, with at most 8 views
	Search   WeightSearch
	Samples  int  // importance samples, for Sampling; 0 means 1000
	NotEmpty bool // with Bin at least one kernel is on

	// Prune takes regressors whose precision is above it out of the equations; 0
	// keeps all, but with PrunedVectors it means 1e4, and the precisions of a sample's regressors
	// of all classes are above it; there it must be below (Shape+½)·Scale of Alpha.
	Prune float64

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T

	// From, if not nil, is a model of an earlier fit by the same rule of as many classes to the same
	// samples and kernels, perhaps with other labels or priors, to continue from: one by
	// [Variational] inference but for [Structured], or by [MAP], and for a fit by either, without ARD
	// kernels. It takes the place of Seed and of a learned rule's Beta, and Restarts is an error.
	From *ProbitClassifierModel[T]
}

// Fit fits the model to the views of N samples and their labels. Errors are
// those of [Regression.Fit].
func (c ProbitClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (model *ProbitClassifierModel[T], err error) {
	if err := c.checkInference(); err != nil {
		return nil, err
	}
	classes, index, err := checkLabels(c.Classes, labels)
	if err != nil {
		return nil, err
	}
	ds, err := newDesign(views, len(labels), c.MissingViews)
	if err != nil {
		return nil, err
	}
	need := c.EstimateMemory
	if ds.learnsAny() {
		if err := c.checkLearnsWidths(); err != nil {
			return nil, err
		}
		need = c.estimateParametric
	}
	ds, k, err := c.kernelsOf(ctx, ds, views, len(labels), len(classes), need)
	if err != nil {
		return nil, err
	}
	defer release(k, &model, &err)
	p, err := c.machine(ds, k, classes)
	if err != nil {
		return nil, err
	}
	m := &ProbitClassifierModel[T]{classes: classSet[T]{names: classes}}
	m.onViews = onViews{c.record(Trace{}), ds}
	if c.Inference != Variational && c.Slopes != nil {
		return nil, fmt.Errorf("mkl: Slopes: they are of the lower bound of Variational and not of %v", c.Inference)
	}
	if c.Inference.vectors() {
		return c.fitRelevance(ctx, m, k, p, index)
	}
	var theta *relevances // nil if no widths are learned
	if ds.learnsAny() {
		theta = &relevances{ds, k.(*vi.Dense), ds.features()}
	}
	if c.Inference == Gibbs {
		draws, sweeps, err := c.sample(ctx, p, k, theta, index)
		if err != nil {
			return nil, err
		}
		if err := m.setDraws(draws, sweeps); err != nil {
			return nil, err
		}
		return m, nil
	}
	return c.fitVariational(ctx, m, k, p, theta, index)
}

// checkInference reports settings that Inference does not take.
func (c ProbitClassifier[T]) checkInference() error {
	switch {
	case c.Inference < Variational || c.Inference > PrunedVectors:
		return fmt.Errorf("mkl: Inference is %v", c.Inference)
	case c.LearnAlpha && c.Inference != Variational:
		return fmt.Errorf("mkl: LearnAlpha: not with Inference %v", c.Inference)
	case c.Inference == MAP && c.Prune != 0:
		return errors.New("mkl: Prune: not with Inference MAP: take PrunedVectors")
	}
	return nil
}

// checkLearnsWidths reports settings that do not go with widths that are learned.
func (c ProbitClassifier[T]) checkLearnsWidths() error {
	switch {
	case c.Slopes != nil:
		return fmt.Errorf("mkl: Slopes: ARD learns the widths in the fit")
	case c.Inference.vectors():
		return fmt.Errorf("mkl: ARD: %v take widths that are given", c.Inference)
	case c.Storage.rounds():
		return fmt.Errorf("mkl: ARD: kernels whose widths are learned are held as float64 in memory: leave out Storage")
	}
	return nil
}

// machine returns the settings of a fit to the kernels k.
func (c ProbitClassifier[T]) machine(ds *design, k vi.Kernels, classes []T) (probit.Model, error) {
	p := probit.Model{
		Rule: c.Rule, Alpha: c.Alpha, LearnAlpha: c.LearnAlpha, Ridge: c.Ridge, Update: c.Update, Search: c.Search,
		Samples: c.Samples, NotEmpty: c.NotEmpty, Prune: c.Prune, Workers: c.Workers,
		Rho: c.Rho, On: c.On, Kappa: c.Kappa, Xi: c.Xi, Theta: c.Theta, MAP: c.Inference == MAP,
	}
	var err error
	if p.Beta, err = c.fixedWeights(k); err != nil {
		return p, err
	}
	if p.From, err = c.from(classes, ds); err != nil {
		return p, err
	}
	p.ClassAlpha, err = c.classAlpha(classes)
	return p, err
}

// fitVariational makes m the best of the starts of the machine p, theta being nil if no widths
// are learned and index the class of each sample.
func (c ProbitClassifier[T]) fitVariational(
	ctx context.Context, m *ProbitClassifierModel[T], k heldKernels, p probit.Model, theta *relevances, index []int,
) (*ProbitClassifierModel[T], error) {
	fit, err := bestStart(ctx, &c.Fitting, func(seed uint64, a vi.Ascent) (*probit.Fit, error) {
		p.Seed, p.Ascent = seed, a
		if theta != nil {
			return p.FitParametric(ctx, theta, index)
		}
		return p.Fit(ctx, k, index)
	}, func(fit *probit.Fit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	if err := c.tell(m.design, k, fit.BoundGradient, nil); err != nil {
		return nil, err
	}
	if len(fit.Theta) > 0 {
		m.design = m.design.relevant(fit.Theta)
	}
	m.trace = newTrace(fit.Record, nil)
	if serr := m.set(fit.Posterior, fit.ESS); serr != nil {
		return nil, errors.Join(err, serr)
	}
	return m, err
}

// from returns the posterior of From, nil if there is none, or what keeps the fit from going on from it.
func (c ProbitClassifier[T]) from(classes []T, ds *design) (*probit.Posterior, error) {
	switch {
	case c.From == nil:
		return nil, nil
	case c.Inference != Variational && c.Inference != MAP:
		return nil, fmt.Errorf("mkl: From: not with Inference %v", c.Inference)
	case c.From.posterior == nil:
		return nil, errors.New("mkl: From: it was sampled")
	case !slices.Equal(c.From.classes.names, classes):
		return nil, fmt.Errorf("mkl: From: its classes are %v, not %v", c.From.classes.names, classes)
	}
	return c.From.posterior, checkFrom(&c.Fitting, c.From.design, "classes", len(classes), ds, len(classes))
}

// fixedWeights returns Beta, filled in for the fixed rules. It reports products of
// square kernels that are nearly the identity.
func (c ProbitClassifier[T]) fixedWeights(k vi.Kernels) ([]float64, error) {
	P, D, N := k.Dims()
	beta := c.Beta
	if beta == nil && c.Rule == FixSum {
		beta = slices.Repeat([]float64{1 / math.Sqrt(float64(P))}, P)
	}
	if c.Rule != FixProd {
		return beta, nil
	}
	if beta == nil {
		beta = slices.Repeat([]float64{1 / float64(P)}, P)
	}
	if D != N || len(beta) != P {
		return beta, nil // the fit checks their number
	}
	composite, err := probit.NewComposite(FixProd, k)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	product := la.NewMatrix[float64](N, N)
	composite.Combine(&la.Workspace{Workers: c.Workers}, beta, product)
	alone := 0
	for i := range N {
		row := product.Row(i)
		if largest := max(largestAbs(row[:i]), largestAbs(row[i+1:])); largest < identity*row[i] {
			alone++
		}
	}
	if 2*alone > N {
		return nil, fmt.Errorf("mkl: FixProd: the product of the %d kernels is nearly the identity: %d of %d samples have nothing in common with any other: take smaller exponents (Beta), fewer narrow kernels, or a sum", P, alone, N)
	}
	return beta, nil
}

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Outputs being classes. Variational updates of the kernels' weights need more:
// [MeanField] the kernels' products, [Structured] regressors for each state and, at
// worst, a Gram matrix for each in the posterior. Widths that are learned, which the size
// does not tell, need each kernel once more, and in Gibbs sampling for each chain.
func (c ProbitClassifier[T]) EstimateMemory(s Size) int64 {
	need := c.kernelMemory(s, s.Outputs)
	N, D, P, C := float64(s.Samples), float64(s.basis()), float64(s.Kernels), float64(s.Outputs)
	var words float64
	switch {
	case c.Inference == RelevanceVectors: // at worst all samples are vectors
		words = float64(4 * N * N)
	case c.Inference == Gibbs: // every draw, and of each chain the factors of the classes and four composites
		d := c.Draws.orDefault()
		factors := C
		if c.Rule == Bin { // and of a state that is proposed
			factors *= 2
		}
		chain := float64(factors*D*D) + float64(4*D*N) + float64(4*C*N)
		words = float64(float64(max(0, d.Chains)) * (float64(float64(max(0, d.Draws))*(float64(C*N)+P)) + chain))
	case c.Update == MeanField:
		words = float64(N * N * P * (P + 1) / 2)
	case c.Update == Structured:
		words = math.Ldexp(float64(3*C*N)+float64(N*N), s.Kernels)
	}
	if c.Inference == Variational { // the end: the posterior's Gram matrix, and the covariance of a class's weights
		words += float64(3 * D * D)
	}
	if c.Rule == FixProd || c.Rule == WProd { // the logarithms of the kernels
		words += float64(P * D * N)
	}
	return inBytes(float64(float64(need)/8) + words)
}

// estimateParametric is EstimateMemory of a fit that learns widths.
func (c ProbitClassifier[T]) estimateParametric(s Size) int64 {
	copies := 1
	if c.Inference == Gibbs {
		copies = max(1, c.Draws.orDefault().Chains)
	}
	more := float64(float64(copies) * float64(s.Kernels) * float64(s.basis()) * float64(s.Samples))
	return inBytes(float64(float64(c.EstimateMemory(s))/8) + more)
}

// classAlpha returns the prior of each class, nil if none has its own.
func (c ProbitClassifier[T]) classAlpha(classes []T) ([]Gamma, error) {
	if c.ClassAlpha == nil {
		return nil, nil
	}
	standard := Gamma{Shape: 1, Scale: 1}
	if c.Inference == PrunedVectors {
		standard = Gamma{Shape: 1e-5, Scale: 1e5}
	}
	priors := slices.Repeat([]Gamma{cmp.Or(c.Alpha, standard)}, len(classes))
	for class, g := range c.ClassAlpha {
		i := slices.Index(classes, class)
		if i < 0 {
			return nil, fmt.Errorf("mkl: ClassAlpha: %s is not one of the classes", brief(class))
		}
		priors[i] = g
	}
	return priors, nil
}
