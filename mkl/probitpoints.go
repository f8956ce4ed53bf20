package mkl

import "context"

// ProbitMAP is the machine of [ProbitClassifier] at the mode of its posterior, found by expectation maximisation: point
// estimates of the regressors and of learned weights, without their uncertainty. The model is small; only predictions with
// relevance vectors cost less. Its probabilities are too extreme. It learns no widths. The zero value is ready
// to fit.
type ProbitMAP[T comparable] struct {
	Fitting
	Ascent

	Rule       PointRule                 // nil means [FixedSum]
	Alpha      Gamma                     // as in [ProbitClassifier]
	ClassAlpha map[T]Gamma               // as in [ProbitClassifier]
	Ridge      float64                   // as in [ProbitClassifier]
	Classes    []T                       // as in [Classifier]
	From       *ProbitClassifierModel[T] // as in [ProbitClassifier]

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
}

// RelevanceClassifier is the machine of [ProbitClassifier] with a few of the training samples, the relevance vectors. It adds
// and removes samples one at a time, to maximise the marginal likelihood, in which the regressors are integrated out. The model
// is small, and its predictions cost least. Each sample has one precision for all classes, without a prior. The fit
// learns no widths. The zero value is ready to fit. See [probit.Relevance] of package vi/probit.
type RelevanceClassifier[T comparable] struct {
	Fitting
	Ascent

	Rule    PointRule // nil means [FixedSum]
	Classes []T       // as in [Classifier]

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
}

// PrunedClassifier keeps a few samples of the machine of [ProbitClassifier], like [RelevanceClassifier], but starts
// with all samples. Under its prior most regressors end near 0. On the way to the mode of the posterior, it removes samples
// whose regressors do. It learns no widths. The zero value is ready to fit. docs/theory/relevance.md says which
// of the two to use.
type PrunedClassifier[T comparable] struct {
	Fitting
	Ascent

	Rule PointRule // nil means [FixedSum]

	Alpha      Gamma       // the prior of the precisions of the regressors; the zero value means Gamma{1e-5, 1e5}
	ClassAlpha map[T]Gamma // as in [ProbitClassifier]
	Ridge      float64     // as in [ProbitClassifier]

	// Prune removes a sample when the precisions of its regressors of all classes are above it. 0 means 1e4. It must be
	// below (Shape+½)·Scale of Alpha.
	Prune float64

	Classes []T // as in [Classifier]

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
}

// Fit fits the model to the views of N samples and their labels. It returns the errors that [Regression.Fit] returns.
func (c ProbitMAP[T]) Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes. s.Outputs counts the classes.
func (c ProbitMAP[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *ProbitMAP[T]) problem() *probitFit[T] {
	return &probitFit[T]{
		fitting:   &fitting{Fitting: c.Fitting, Ascent: c.Ascent, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage},
		inference: atMode, rule: ruleOrDefault(c.Rule), alpha: c.Alpha, classAlpha: c.ClassAlpha, ridge: c.Ridge, classes: c.Classes, model: c.From,
	}
}

// Fit fits the model to the views of N samples and their labels. It returns the errors that [Regression.Fit] returns.
func (c RelevanceClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes. s.Outputs counts the classes.
func (c RelevanceClassifier[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *RelevanceClassifier[T]) problem() *probitFit[T] {
	return &probitFit[T]{
		fitting:   &fitting{Fitting: c.Fitting, Ascent: c.Ascent, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage},
		inference: relevanceVectors, rule: ruleOrDefault(c.Rule), classes: c.Classes,
	}
}

// Fit fits the model to the views of N samples and their labels. It returns the errors that [Regression.Fit] returns.
func (c PrunedClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes. s.Outputs counts the classes.
func (c PrunedClassifier[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *PrunedClassifier[T]) problem() *probitFit[T] {
	return &probitFit[T]{
		fitting:   &fitting{Fitting: c.Fitting, Ascent: c.Ascent, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage},
		inference: prunedVectors, rule: ruleOrDefault(c.Rule), alpha: c.Alpha, classAlpha: c.ClassAlpha, ridge: c.Ridge, prune: c.Prune, classes: c.Classes,
	}
}
