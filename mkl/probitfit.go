package mkl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// inference is the way in which the posterior of a probit machine is computed.
type inference int

const (
	variational inference = iota
	sampled
	relevanceVectors
	atMode
	prunedVectors
)

// learnsWidths reports whether the fit can learn the widths of ARD kernels.
func (i inference) learnsWidths() bool { return i == variational || i == sampled }

// probitFit is a fit of the probit kernel machine, with the settings that its estimator has: [ProbitClassifier],
// [ProbitSampler], [ProbitMAP], [RelevanceClassifier] or [PrunedClassifier].
type probitFit[T comparable] struct {
	*fitting
	inference  inference
	rule       probitRule
	alpha      Gamma
	classAlpha map[T]Gamma
	learnAlpha bool
	theta      Gamma
	ridge      float64
	update     WeightUpdate
	search     WeightSearch
	samples    int
	prune      float64
	draws      GibbsDraws
	classes    []T
	model      *ProbitClassifierModel[T] // From
}

// fit fits the model to the views of N samples and their labels.
func (c *probitFit[T]) fit(ctx context.Context, views []View, labels []T) (model *ProbitClassifierModel[T], err error) {
	classes, index, err := checkLabels(c.classes, labels)
	if err != nil {
		return nil, err
	}
	t, err := bindViews(views, len(labels), c.missingViews)
	if err != nil {
		return nil, err
	}
	need, learns := c.memory, t.LearnsAny()
	if learns {
		if err := c.checkLearnsWidths(t); err != nil {
			return nil, err
		}
		need = c.parametricMemory
	}
	k, err := c.weightedKernels(ctx, t, len(classes), need)
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &model, &err)
	p, err := c.machine(t.Design, k, classes)
	if err != nil {
		return nil, err
	}
	m := &ProbitClassifierModel[T]{classes: classSet[T]{names: classes}}
	m.onViews = onViews{c.record(Trace{}), t.Design}
	var theta *gram.Relevances // nil if no widths are learned
	if learns {
		theta = gram.NewRelevances(t.Design, k.(*vi.Dense), t.Features())
	}
	switch c.inference {
	case relevanceVectors, prunedVectors:
		return c.fitRelevance(ctx, m, k, p, index)
	case sampled:
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

// checkLearnsWidths returns an error for settings that exclude learned widths.
func (c *probitFit[T]) checkLearnsWidths(t *gram.Training) error {
	switch {
	case !c.inference.learnsWidths():
		return t.CheckFixed()
	case c.slopes != nil:
		return fmt.Errorf("mkl: Slopes: ARD learns the widths in the fit")
	case c.storage.held().Rounds():
		return fmt.Errorf("mkl: ARD: kernels whose widths are learned are held as float64 in memory: leave out Storage")
	}
	return nil
}

// machine returns the settings of package probit for a fit to the kernels k.
func (c *probitFit[T]) machine(ds *gram.Design, k vi.Kernels, classes []T) (probit.Model, error) {
	p := probit.Model{
		Rule: c.rule.kind, Alpha: c.alpha, LearnAlpha: c.learnAlpha, Ridge: c.ridge, Update: c.update, Search: c.search,
		Samples: c.samples, NotEmpty: c.rule.notEmpty, Prune: c.prune, Workers: c.Workers,
		Rho: c.rule.rho, On: c.rule.on, Kappa: c.rule.kappa, Xi: c.rule.xi, Theta: c.theta, MAP: c.inference == atMode,
	}
	var err error
	if p.Beta, err = c.fixedWeights(k); err != nil {
		return p, err
	}
	if p.From, err = c.from(classes, ds); err != nil {
		return p, err
	}
	p.ClassAlpha, err = c.classPriors(classes)
	return p, err
}

// fitVariational sets m to the best of the starts of the machine p. theta is nil if no widths
// are learned; index is the class of each sample.
func (c *probitFit[T]) fitVariational(
	ctx context.Context, m *ProbitClassifierModel[T], k gram.Held, p probit.Model, theta *gram.Relevances, index []int,
) (*ProbitClassifierModel[T], error) {
	fit, err := bestStart(ctx, c.fitting, func(seed uint64, a vi.Ascent) (*probit.Fit, error) {
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
		m.design = m.design.Relevant(fit.Theta)
	}
	m.trace = newTrace(fit.Record, nil)
	if serr := m.set(fit.Posterior, fit.ESS); serr != nil {
		return nil, errors.Join(err, serr)
	}
	return m, err
}

// from returns the posterior of From, nil without From, or an error if the fit cannot continue from it.
func (c *probitFit[T]) from(classes []T, ds *gram.Design) (*probit.Posterior, error) {
	switch {
	case c.model == nil:
		return nil, nil
	case c.model.posterior == nil:
		return nil, errors.New("mkl: From: it was sampled")
	case !slices.Equal(c.model.classes.names, classes):
		return nil, fmt.Errorf("mkl: From: its classes are %v, not %v", c.model.classes.names, classes)
	}
	return c.model.posterior, checkFrom(c.fitting, c.model.design, "classes", len(classes), ds, len(classes))
}

// fixedWeights returns the given weights or powers, filled in for the fixed rules. It returns an error for a product of
// square kernels that is nearly the identity.
func (c *probitFit[T]) fixedWeights(k vi.Kernels) ([]float64, error) {
	P, D, N := k.Dims()
	beta := c.rule.beta
	if beta == nil && c.rule.kind == probit.RuleFixSum {
		beta = slices.Repeat([]float64{1 / math.Sqrt(float64(P))}, P)
	}
	if c.rule.kind != probit.RuleFixProd {
		return beta, nil
	}
	if beta == nil {
		beta = slices.Repeat([]float64{1 / float64(P)}, P)
	}
	if D != N || len(beta) != P {
		return beta, nil // the fit checks the number of weights
	}
	composite, err := probit.NewComposite(probit.RuleFixProd, k)
	if err != nil {
		return nil, c.fitting.named(err)
	}
	product := la.NewMatrix[float64](N, N)
	composite.Combine(&la.Workspace{Workers: c.Workers}, beta, product)
	alone := 0
	for i := range N {
		row := product.Row(i)
		if largest := max(vec.LargestAbs(row[:i]), vec.LargestAbs(row[i+1:])); largest < gram.NearIdentity*row[i] {
			alone++
		}
	}
	if 2*alone > N {
		return nil, fmt.Errorf("mkl: FixedProduct: the product of the %d kernels is nearly the identity: %d of %d samples have nothing in common with any other: take smaller Powers, fewer narrow kernels, or a sum", P, alone, N)
	}
	return beta, nil
}

// memory returns about how many bytes a fit of the given size takes.
func (c *probitFit[T]) memory(s FitSize) int64 {
	need := c.kernelMemory(s, s.Outputs)
	N, D, P, C := float64(s.Samples), float64(s.basis()), float64(s.Kernels), float64(s.Outputs)
	var words float64
	switch {
	case c.inference == relevanceVectors: // at worst all samples are relevance vectors
		words = float64(4 * N * N)
	case c.inference == sampled: // every draw, and for each chain the factors of the classes and four composites
		d := c.draws.orDefault()
		factors := C
		if c.rule.kind == probit.RuleBin { // and of a proposed state
			factors *= 2
		}
		chain := float64(factors*D*D) + float64(4*D*N) + float64(4*C*N)
		words = float64(float64(max(0, d.Chains)) * (float64(float64(max(0, d.Draws))*(float64(C*N)+P)) + chain))
	case c.update == probit.WeightUpdateMeanField:
		words = float64(N * N * P * (P + 1) / 2)
	case c.update == probit.WeightUpdateStructured:
		words = math.Ldexp(float64(3*C*N)+float64(N*N), s.Kernels)
	}
	if c.inference == variational { // at the end: the posterior's Gram matrix, and the covariance of a class's weights
		words += float64(3 * D * D)
	}
	if c.rule.kind == probit.RuleFixProd || c.rule.kind == probit.RuleWProd { // the logarithms of the kernels
		words += float64(P * D * N)
	}
	return inBytes(float64(float64(need)/8) + words)
}

// parametricMemory is memory for a fit that learns widths.
func (c *probitFit[T]) parametricMemory(s FitSize) int64 {
	copies := 1
	if c.inference == sampled {
		copies = max(1, c.draws.orDefault().Chains)
	}
	more := float64(float64(copies) * float64(s.Kernels) * float64(s.basis()) * float64(s.Samples))
	return inBytes(float64(float64(c.memory(s))/8) + more)
}

// classPriors returns the prior of each class, or nil if no class has its own.
func (c *probitFit[T]) classPriors(classes []T) ([]Gamma, error) {
	if c.classAlpha == nil {
		return nil, nil
	}
	standard := Gamma{Shape: 1, Scale: 1}
	if c.inference == prunedVectors {
		standard = Gamma{Shape: 1e-5, Scale: 1e5}
	}
	priors := slices.Repeat([]Gamma{cmp.Or(c.alpha, standard)}, len(classes))
	for class, g := range c.classAlpha {
		i := slices.Index(classes, class)
		if i < 0 {
			return nil, fmt.Errorf("mkl: ClassAlpha: %s is not one of the classes", brief(class))
		}
		priors[i] = g
	}
	return priors, nil
}
