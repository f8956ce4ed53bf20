package mkl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/kbmf"
)

// PairClassifier is [PairRegression] for a label that a pair of a row and a column has or has
// not, such as whether a drug acts on a protein. The zero value is ready to fit.
//
// Source: M. Gönen, "Predicting drug–target interactions from chemical and genomic kernels using
// Bayesian matrix factorization", Bioinformatics 28 (2012), and the source of [PairRegression]. We add a
// bias: without it a pair about which nothing is known has the probability ½. docs/theory/kbmf.md
// has the derivation.
type PairClassifier struct {
	Fitting
	Ascent

	Components         int     // as in [PairRegression]
	Lambda, Eta, Gamma Gamma   // as in [PairRegression]
	SigmaG, SigmaH     float64 // as in [PairRegression], of scores with noise 1
	Margin             float64 // as in [Classifier]

	NoBias bool // do not fit a bias, as in the papers
	Plain  bool // make only the published updates, which need more sweeps

	From *PairClassifierModel // as in [PairRegression]

	AllowDuplicates bool // as in [Regression], for the views of rows and of columns
}

// fitting returns the settings of a fit.
func (p PairClassifier) fitting() *fitting {
	return &fitting{Fitting: p.Fitting, Ascent: p.Ascent, allowDuplicates: p.AllowDuplicates}
}

// Fit fits the model to the views of the rows, the views of the columns and a table of labels: 1
// for a pair that has the label, 0 for a pair that does not. Pairs may be missing. It returns the errors that
// [Regression.Fit] returns.
func (p PairClassifier) Fit(ctx context.Context, rows, columns []View, y Table) (*PairClassifierModel, error) {
	R, err := components(p.Components)
	if err != nil {
		return nil, err
	}
	f := p.fitting()
	d, err := f.gatherPairs(ctx, rows, columns, y, R)
	if err != nil {
		return nil, err
	}
	var have [2]bool
	for i := range d.y.Rows {
		for j, v := range d.y.Row(i) {
			switch v {
			case 0:
				d.y.Set(i, j, -1)
				have[0] = true
			case 1:
				have[1] = true
			default:
				if v == v {
					return nil, fmt.Errorf("mkl: y: row %d, column %d: %g is no label: a pair has 1 or 0", i, j, v)
				}
			}
		}
	}
	if !have[0] || !have[1] {
		return nil, errors.New("mkl: y: all observed pairs have the same label, or no pair is observed: there is nothing to learn")
	}
	var from *kbmf.Posterior
	if p.From != nil {
		from = p.From.posterior
		if err := p.From.checkFrom(f, d, R); err != nil {
			return nil, err
		}
	}
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*kbmf.ClassificationFit, error) {
		return kbmf.Classification{
			Components: R, Lambda: p.Lambda, Eta: p.Eta, Gamma: p.Gamma,
			SigmaG: p.SigmaG, SigmaH: p.SigmaH, Margin: p.Margin, NoBias: p.NoBias,
			Ascent: a, Plain: p.Plain, Workers: p.Workers, Seed: seed, From: from,
		}.Fit(ctx, d.kx, d.kz, d.y)
	}, func(fit *kbmf.ClassificationFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m := &PairClassifierModel{}
	var serr error
	if m.pairModel, serr = f.pairModel(d, fit.Posterior, fit.Record, fit.Collapsed); serr != nil {
		return nil, errors.Join(err, serr)
	}
	if err == nil && fit.Collapsed {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit takes, as [PairRegression.EstimateMemory].
func (p PairClassifier) EstimateMemory(rows, columns FitSize) int64 {
	return PairRegression{Fitting: p.Fitting, Components: p.Components}.EstimateMemory(rows, columns)
}
