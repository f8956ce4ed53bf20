package mkl

import (
	"cmp"
	"context"

	"github.com/bmkl/bmkl/mcmc"
)

// ProbitSampler is the machine of [ProbitClassifier], whose posterior it samples by Gibbs sampling: exact in the limit of
// many draws. The zero value is ready to fit. Predictions average over the draws.
type ProbitSampler[T comparable] struct {
	Fitting
	GibbsDraws

	Rule       Rule        // as in [ProbitClassifier]; the start of a learned rule plays no role
	Alpha      Gamma       // as in [ProbitClassifier]
	ClassAlpha map[T]Gamma // as in [ProbitClassifier]
	Theta      Gamma       // as in [ProbitClassifier], but sampled: predictions take the kernels of every draw
	Ridge      float64     // as in [ProbitClassifier]
	Classes    []T         // as in [Classifier]

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]; not with ARD kernels
}

// GibbsDraws says how long Gibbs sampling goes on.
type GibbsDraws struct {
	Chains int // chains side by side; 0 means 4
	Draws  int // draws kept of each; 0 means 250
	Thin   int // sweeps from one kept draw to the next; 0 means 4
	BurnIn int // sweeps before the first; 0 means Draws·Thin, negative none

	// Checkpoint, if not nil, is called each time all chains have made Every further
	// sweeps (0 means 1000), and at the end; Resume continues from there.
	Checkpoint func(*mcmc.Checkpoint) error
	Every      int
	Resume     *mcmc.Checkpoint
}

// orDefault returns d with the defaults that its fields name.
func (d GibbsDraws) orDefault() GibbsDraws {
	d.Chains, d.Draws, d.Thin = cmp.Or(d.Chains, mcmc.DefaultChains), cmp.Or(d.Draws, 250), cmp.Or(d.Thin, 4)
	return d
}

// Fit fits the model to the views of N samples and their labels. Errors are those of [Regression.Fit].
func (c ProbitSampler[T]) Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes, its Outputs being classes. Learned widths,
// which the size does not say, need each kernel once more for each chain.
func (c ProbitSampler[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *ProbitSampler[T]) problem() *probitFit[T] {
	return &probitFit[T]{
		fitting:   &fitting{Fitting: c.Fitting, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage},
		inference: sampled, draws: c.GibbsDraws, rule: ruleOrDefault(c.Rule), alpha: c.Alpha, classAlpha: c.ClassAlpha, theta: c.Theta, ridge: c.Ridge,
		classes: c.Classes,
	}
}
