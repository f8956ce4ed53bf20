package mkl

import (
	"context"
	"errors"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/kbmf"
)

// PairRegression is kernelised Bayesian matrix factorisation: it learns a value for each pair of
// a row and a column, such as what a user thinks of a film or how a drug binds to a protein, from
// the pairs whose value is known, the views of the rows and the views of the columns. Each row and
// each column has a few factors, which follow from its views as the targets of a [Regression] do,
// and the value of a pair is the product of its two sets of factors, and a bias. It fills in pairs
// of the table, and predicts pairs of new rows, new columns or both, whose views are known. The
// zero value is ready to fit.
//
// [FactorAnalysis] completes a table of which no views are known.
//
// Source: M. Gönen, S. A. Khan and S. Kaski, "Kernelized Bayesian matrix factorization", ICML
// 2013, with a bias and noise that is learned; derived in docs/theory/kbmf.md.
type PairRegression struct {
	Fitting
	Ascent

	// Components is the number R of factors of a row, or of a column; 0 means 5.
	Components int

	// Priors of the precisions of the sample weights, of the kernel weights, of the bias and of
	// the noise; zero values mean Gamma(1, 1).
	Lambda, Eta, Gamma, Epsilon Gamma

	// SigmaG is the standard deviation of a kernel's output around what the sample weights make
	// of it, and SigmaH that of a factor around what the kernels' outputs make of it, for values
	// of standard deviation 1; 0 means 0.1, the papers' choice. With a greater SigmaH rows and
	// columns may have factors that their views do not tell.
	SigmaG, SigmaH float64

	// SigmaY, if positive, holds the noise of the standardised values at this standard
	// deviation, as the papers do, which take 1.
	SigmaY float64

	NoBias bool // leaves the bias out, as in the papers
	Plain  bool // does the plain updates alone, which need more sweeps

	// RawTargets leaves the values as they are, instead of giving those observed mean 0 and
	// standard deviation 1 together before the fit.
	RawTargets bool

	// From, if not nil, is a model of an earlier fit of as many components to the same rows, columns
	// and kernels, perhaps with other values of the pairs or priors, to continue from; it takes the
	// place of Seed, and Restarts is an error.
	From *PairRegressionModel

	AllowDuplicates bool // as in [Regression], of the views of either side
}

// fitting returns the settings of a fit.
func (p PairRegression) fitting() *fitting {
	return &fitting{Fitting: p.Fitting, Ascent: p.Ascent, allowDuplicates: p.AllowDuplicates}
}

// Fit fits the model to the views of the rows, the views of the columns and a table of values, in
// which pairs may be missing, even all those of a row or a column. Errors are those of
// [Regression.Fit].
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

// EstimateMemory returns about how many bytes a fit takes of so many rows and columns, with the
// kernels of each; their Outputs do not count.
func (p PairRegression) EstimateMemory(rows, columns FitSize) int64 {
	R := p.Components
	if R <= 0 {
		R = defaultComponents
	}
	return p.fitting().pairMemory(rows, columns, R)
}
