package mkl

import "context"

// ProbitClassifier is the multinomial probit kernel machine, fitted by variational inference. It distinguishes two or more
// classes, whose names are of any comparable type, by one function for each class on one kernel, which a [Rule] makes
// from the views' kernels. Its probabilities come from one model of all classes. The zero value is ready to fit: its kernel
// is the sum of the kernels divided by the square root of their number.
//
// [ProbitSampler] samples the same posterior. [RelevanceClassifier], [PrunedClassifier] and [ProbitMAP] use point estimates
// and make small models. All five fit a [ProbitClassifierModel].
//
// The scale of the kernels matters, because the scale of the prior is fixed: give them unit diagonals. RBF kernels have
// unit diagonals; Normalize gives them to others. The values of kernels that are multiplied must not be negative.
//
// Source: T. Damoulas and M. Girolami, "Combining information with a Bayesian multi-class multi-kernel pattern
// recognition machine".
type ProbitClassifier[T comparable] struct {
	Fitting
	Ascent

	Rule Rule // nil means [FixedSum]

	// Alpha is the prior of the precisions of the regressors; the zero value means Gamma{1, 1}. With Gamma{1e-6, 1e6}
	// the machine is sparse. ClassAlpha holds the priors of classes that have their own, for imbalanced data.
	Alpha      Gamma
	ClassAlpha map[T]Gamma

	// LearnAlpha starts from Alpha and learns shape and scale of the prior by type-II maximum likelihood, one prior for
	// all classes: the scale of the kernels then matters less. It excludes ClassAlpha.
	LearnAlpha bool

	// Theta is the prior of the relevance θ_j of each feature of a view whose kernel has ARD. If the kernel's starting width
	// is w, the kernel is exp(−½·Σ θ_j·(x_j−y_j)²/w²), or exp(−Σ θ_j·|x_j−y_j|/w) for a Laplacian. The zero value
	// means Gamma{1, 1}. The fit uses the mode of the density of θ. With [WeightSearchSampling] it uses the mean of importance
	// samples from the prior, which are too few for more than a handful of features. [WeightUpdateStructured] excludes such
	// views.
	Theta Gamma

	// Ridge adds Ridge times the share of each sample's class to the diagonal of the kernel, which reduces the influence of
	// large classes.
	Ridge float64

	Update  WeightUpdate
	Search  WeightSearch
	Samples int // importance samples, for WeightSearchSampling; 0 means 1000

	// Prune removes regressors whose precision is above Prune from the equations; 0 keeps all.
	Prune float64

	// Classes, if not nil, are the classes in the order that models keep, as in [Classifier].
	Classes []T

	// From, if not nil, is a model from which the fit continues: an earlier fit by ProbitClassifier or [ProbitMAP] by the
	// same rule, of the same classes, samples and kernels, perhaps with other labels or priors. It excludes ARD kernels and
	// WeightUpdateStructured. It replaces Seed and the start of a learned rule, and Restarts must not be set.
	From *ProbitClassifierModel[T]

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]; not with ARD kernels
	Slopes          func(Slopes)  // as in [Regression]; not with ARD kernels
}

// Fit fits the model to the views of N samples and their labels. It returns the errors that [Regression.Fit] returns.
func (c ProbitClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes. s.Outputs counts the classes. Updates of learned
// weights need more: [WeightUpdateMeanField] the kernels' products, [WeightUpdateStructured] regressors for each state of
// the switches and, at worst, a Gram matrix for each state in the posterior. Learned widths need each kernel once more, which
// the estimate does not include, because the size does not say it.
func (c ProbitClassifier[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *ProbitClassifier[T]) problem() *probitFit[T] {
	return &probitFit[T]{
		fitting: &fitting{
			Fitting: c.Fitting, Ascent: c.Ascent, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage, slopes: c.Slopes,
		},
		inference: variational, rule: ruleOrDefault(c.Rule), alpha: c.Alpha, classAlpha: c.ClassAlpha, learnAlpha: c.LearnAlpha, theta: c.Theta,
		ridge: c.Ridge, update: c.Update, search: c.Search, samples: c.Samples, prune: c.Prune, classes: c.Classes, model: c.From,
	}
}
