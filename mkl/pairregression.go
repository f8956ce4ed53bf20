package mkl

import (
	"context"
	"errors"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/kbmf"
)

// PairRegression is kernelised Bayesian matrix factorisation: it learns a value for each pair of
// a row and a column, such as a user's rating of a film or the binding of a drug to a protein. It learns from
// the pairs whose value is known, the views of the rows and the views of the columns. Each row and
// each column has a few factors, which depend on its views as the targets of a [Regression] do.
// The value of a pair is the inner product of the factors of row and column, plus a bias. The model fills in
// missing pairs, and predicts pairs of new rows, new columns or both from their views. The
// zero value is ready to fit.
//
// [FactorAnalysis] completes a table without views.
//
// Source: M. Gönen, S. A. Khan and S. Kaski, "Kernelized Bayesian matrix factorization", ICML
// 2013. We add a bias and learn the noise; docs/theory/kbmf.md has the derivation.
type PairRegression struct {
	Fitting
	Ascent

	// Components is the number R of factors of each row and of each column; 0 means 5.
	Components int

	// Priors of the precisions of the sample weights, of the kernel weights, of the bias and of
	// the noise; zero values mean Gamma(1, 1).
	Lambda, Eta, Gamma, Epsilon Gamma

	// SigmaG is the standard deviation of a kernel's output given the sample weights, and SigmaH
	// the standard deviation of a factor given the kernels' outputs, for values
	// of standard deviation 1; 0 means 0.1, the papers' choice. With a larger SigmaH, factors of rows and
	// columns can differ more from what their views predict.
	SigmaG, SigmaH float64

	// SigmaY, if positive, fixes the noise of the standardised values at this standard
	// deviation. The papers fix it at 1.
	SigmaY float64

	NoBias bool // do not fit a bias, as in the papers
	Plain  bool // make only the published updates, which need more sweeps

	// RawTargets leaves the values unchanged. By default the observed values are scaled together to mean 0 and
	// standard deviation 1 before the fit.
	RawTargets bool

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many components to the same rows,
	// columns and kernels, perhaps with other values of the pairs or other priors. It
	// replaces Seed, and Restarts must not be set.
	From *PairRegressionModel

	AllowDuplicates bool // as in [Regression], for the views of rows and of columns
}

// fitting returns the settings of a fit.
func (p PairRegression) fitting() *fitting {
	return &fitting{Fitting: p.Fitting, Ascent: p.Ascent, allowDuplicates: p.AllowDuplicates}
}

// Fit fits the model to the views of the rows, the views of the columns and a table of values.
// Pairs may be missing, even all pairs of a row or a column. It returns the errors that
// [Regression.Fit] returns.
func (p PairRegression) Fit(ctx context.Context, rows, columns []View, y Table) (*PairRegressionModel, error) {
	R, err := components(p.Components)
	if err != nil {
		return nil, err
	}
	f := p.fitting()
	d, err := f.gatherPairs(ctx, rows, columns, y, R)
	if err != nil {
		return nil, err
	}
	if _, err := checkTargets([][]float64{d.seen}, false); err != nil {
		return nil, err
	}
	scale := target{0, 1}
	if !p.RawTargets {
		scale.mean, scale.sd = vec.MeanSD(d.seen)
	}
	for i, v := range d.y.Data {
		d.y.Data[i] = (v - scale.mean) / scale.sd
	}
	var from *kbmf.Posterior
	if p.From != nil {
		from = p.From.posterior
		if err := p.From.checkFrom(f, d, R); err != nil {
			return nil, err
		}
	}
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*kbmf.RegressionFit, error) {
		return kbmf.Regression{
			Components: R, Lambda: p.Lambda, Eta: p.Eta, Gamma: p.Gamma, Epsilon: p.Epsilon,
			SigmaG: p.SigmaG, SigmaH: p.SigmaH, SigmaY: p.SigmaY, NoBias: p.NoBias,
			Ascent: a, Plain: p.Plain, Workers: p.Workers, Seed: seed, From: from,
		}.Fit(ctx, d.kx, d.kz, d.y)
	}, func(fit *kbmf.RegressionFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m := &PairRegressionModel{scale: scale}
	var serr error
	if m.pairModel, serr = f.pairModel(d, fit.Posterior, fit.Record, fit.Collapsed); serr != nil {
		return nil, errors.Join(err, serr)
	}
	if err == nil && fit.Collapsed {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit takes. rows and columns hold the numbers of samples and of
// kernels of each side; their Outputs are ignored.
func (p PairRegression) EstimateMemory(rows, columns FitSize) int64 {
	R := p.Components
	if R <= 0 {
		R = defaultComponents
	}
	return p.fitting().pairMemory(rows, columns, R)
}
