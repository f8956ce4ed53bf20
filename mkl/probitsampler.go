package mkl

import (
	"cmp"
	"context"

	"github.com/bmkl/bmkl/mcmc"
)

// ProbitSampler is the machine of [ProbitClassifier]. It samples the posterior by Gibbs sampling, which is exact in the
// limit of many draws. The zero value is ready to fit. Predictions average over the draws.
type ProbitSampler[T comparable] struct {
	Fitting
	GibbsDraws

	Rule       Rule        // as in [ProbitClassifier]; the start of a learned rule has no effect
	Alpha      Gamma       // as in [ProbitClassifier]
	ClassAlpha map[T]Gamma // as in [ProbitClassifier]
	Theta      Gamma       // as in [ProbitClassifier], but sampled: predictions use the kernels of every draw
	Ridge      float64     // as in [ProbitClassifier]
	Classes    []T         // as in [Classifier]

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]; not with ARD kernels
}

// GibbsDraws says how many chains and draws Gibbs sampling makes.
type GibbsDraws struct {
	Chains int // number of chains; 0 means 4
	Draws  int // draws kept of each chain; 0 means 250
	Thin   int // sweeps from one kept draw to the next; 0 means 4
	BurnIn int // sweeps before the first kept draw; 0 means Draws·Thin, negative means none

	// Checkpoint, if not nil, is called each time all chains have made Every more
	// sweeps (0 means 1000), and at the end; Resume continues from there.
	Checkpoint func(*mcmc.Checkpoint) error
	Every      int
	Resume     *mcmc.Checkpoint
}

// orDefault returns d with default values for Chains, Draws and Thin of 0.
func (d GibbsDraws) orDefault() GibbsDraws {
	d.Chains, d.Draws, d.Thin = cmp.Or(d.Chains, mcmc.DefaultChains), cmp.Or(d.Draws, 250), cmp.Or(d.Thin, 4)
	return d
}

// Fit fits the model to the views of N samples and their labels. It returns the errors that [Regression.Fit] returns.
func (c ProbitSampler[T]) Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes. s.Outputs counts the classes. Learned widths
// need each kernel once more for each chain, which the estimate does not include, because the size does not say it.
func (c ProbitSampler[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *ProbitSampler[T]) problem() *probitFit[T] {
	return &probitFit[T]{
		fitting:   &fitting{Fitting: c.Fitting, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage},
		inference: sampled, draws: c.GibbsDraws, rule: ruleOrDefault(c.Rule), alpha: c.Alpha, classAlpha: c.ClassAlpha, theta: c.Theta, ridge: c.Ridge,
		classes: c.Classes,
	}
}
