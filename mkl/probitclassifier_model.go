package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// ProbitClassifierModel is a fitted [ProbitClassifier]. It is immutable and safe
// for concurrent use.
type ProbitClassifierModel[T comparable] struct {
	weighted
	classes   classSet[T]
	posterior *probit.Posterior // nil after Gibbs sampling
	draws     *mcmc.ProbitDraws // nil after variational inference
	vectors   []int             // the samples that are basis points; nil if all are
	ess       float64
}

// set sets the posterior of the model and the fields that follow from it.
func (m *ProbitClassifierModel[T]) set(p *probit.Posterior, ess float64) error {
	m.posterior, m.weights, m.ess = p, p, ess
	if err := m.prepare(p.State().W); err != nil || m.vectors == nil {
		return err
	}
	for _, active := range m.active {
		for i := range active {
			active[i].Sample = m.vectors[active[i].Sample]
		}
	}
	return nil
}

// Vectors returns the relevance vectors, ascending: the training samples that the model
// keeps. It is nil if the model keeps all of them: after other kinds of inference, with kernels
// that are given or centred, and with MissingViews.
func (m *ProbitClassifierModel[T]) Vectors() []int { return slices.Clone(m.vectors) }

// Kind returns "probit-classifier".
func (m *ProbitClassifierModel[T]) Kind() string { return "probit-classifier" }

// Rule returns the name of the rule that combines the kernels, as in the paper: FixSum, WSum, Bin, FixProd or WProd.
func (m *ProbitClassifierModel[T]) Rule() string { return m.rule().String() }

func (m *ProbitClassifierModel[T]) rule() probit.Rule {
	if m.draws != nil {
		return m.draws.Rule()
	}
	return m.posterior.State().Rule
}

// Posterior returns the approximate posterior, or nil after Gibbs sampling.
func (m *ProbitClassifierModel[T]) Posterior() *probit.Posterior { return m.posterior }

// Draws returns the draws of Gibbs sampling with their diagnostics, or nil after
// variational inference.
func (m *ProbitClassifierModel[T]) Draws() *mcmc.ProbitDraws { return m.draws }

// EffectiveSampleSize returns the effective sample size of the weights' importance samples, or 0 if they
// were not sampled. If it is near 1, a single random point determined the weights.
func (m *ProbitClassifierModel[T]) EffectiveSampleSize() float64 { return m.ess }

// Classes returns the classes in the order of probabilities and decisions.
func (m *ProbitClassifierModel[T]) Classes() []T { return slices.Clone(m.classes.names) }

// Predict returns the most probable class of each sample and the probabilities
// of all classes, [sample][class]. The arguments and errors are as in [ClassModel.PredictClasses].
func (m *ProbitClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	return mostProbable(m, x)
}

// PredictClasses is Predict with options, and with decision values: the means of
// the classes' auxiliary variables.
func (m *ProbitClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	out := newClassPrediction[T](t, len(m.classes.names), opt)
	if err := m.predictPresent(ctx, opt, out, t, x); err != nil {
		return nil, err
	}
	if err := m.predictAbsent(ctx, opt, out, t, x); err != nil {
		return nil, err
	}
	return out.labelled(m.classes.names)
}

// predict predicts the samples of x from first on, whose kernels are k, from the draws if there are any, else from
// the posterior.
func (m *ProbitClassifierModel[T]) predict(ctx context.Context, k vi.Kernels, first int, x []Features, opt vi.PredictOptions) (*probit.Prediction, error) {
	if m.draws == nil {
		return m.posterior.Predict(k, opt)
	}
	if m.draws.Parameters() == 0 {
		return m.draws.Predict(ctx, k, opt)
	}
	_, _, n := k.Dims()
	block := make([]Features, len(x))
	for j := range x {
		block[j] = x[j].Slice(first, first+n, 0, x[j].Cols)
	}
	return m.draws.PredictParametric(ctx, gram.NewRelevances(m.design, k.(*vi.Dense), block), opt)
}

// String describes the model in one line.
func (m *ProbitClassifierModel[T]) String() string {
	what := fmt.Sprintf("multinomial probit classifier of %d classes (%v)", len(m.classes.names), m.rule())
	if m.vectors != nil {
		what = fmt.Sprintf("%s by relevance vectors of %d samples", what, m.posterior.State().Samples)
	}
	if m.posterior != nil && m.posterior.State().Point {
		what += " at the mode of their posterior"
	}
	if m.draws != nil {
		return fmt.Sprintf("%s, %d draws", m.describeSize(what), m.draws.Chains()*m.draws.Len())
	}
	return m.describe(what)
}

// Summary describes the model in words, line by line.
func (m *ProbitClassifierModel[T]) Summary() string {
	headline := m.String()
	if m.draws != nil {
		headline += "\n" + m.trace.Mixing.String()
	}
	return m.summary(headline, func(c int) string { return fmt.Sprintf("class %v", m.classes.names[c]) })
}
