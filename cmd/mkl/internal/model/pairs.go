package model

import (
	"context"

	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/pairs"
	"github.com/bmkl/bmkl/mkl"
)

// PairFlags are the flags of -task pairs and pairlabels.
type PairFlags struct {
	Rows       []string `sep:"none" placeholder:"NAME=FILE:KERNELS" help:"View of the rows of -task pairs and pairlabels: a file with their ids and features; can be repeated. The ids are in the column that -entries names, or else in the first column. For the kernel precomputed the file has a column for each id."`
	Columns    []string `sep:"none" placeholder:"NAME=FILE:KERNELS" help:"View of the columns of -task pairs and pairlabels, as -rows for the rows."`
	Components int      `help:"Factors of each row and column of -task pairs and pairlabels; 0 means 5."`
	SigmaH     float64  `from:"0" name:"sigma-h" help:"Standard deviation of the factors of -task pairs and pairlabels around the values that the views predict; 0 means 0.1."`
	NoBias     bool     `help:"Leave out the level that all pairs of -task pairs and pairlabels have in common."`
}

// pairTakes are the flags of both tasks.
const pairTakes = "entries rows columns components sigma-g sigma-h no-bias kernels text prior allow-duplicates restarts plain resume"

var pairRows = []*Estimator{
	{
		Model: "pairs", Tasks: []string{PairsTask}, Kind: "pair-regression", Form: dataset.Numbers, Part: partKernel, One: true, Pairs: true,
		takes: pairTakes + " raw-targets", priors: []string{"lambda", "eta", "gamma", "epsilon"},
	},
	{
		Model: "pairs", Tasks: []string{PairLabels}, Kind: "pair-classifier", Form: dataset.Labels, Part: partKernel, One: true, Pairs: true,
		takes: pairTakes + " margin", priors: []string{"lambda", "eta", "gamma"},
	},
}

// PairData is the pairs that a model learns, with the views of their rows and columns.
type PairData struct {
	Rows, Columns []mkl.View
	Pairs         mkl.SparseTable
}

// PairData makes the views of the rows and of the columns. The lines say what was left out.
func (r *Request) PairData(t *pairs.Table) (d *PairData, lines []string, err error) {
	if err := r.CheckViews(t.Views()); err != nil {
		return nil, nil, err
	}
	d = &PairData{Pairs: t.Pairs}
	for _, side := range []struct {
		from []dataset.Features
		to   *[]mkl.View
	}{{t.Rows.Views, &d.Rows}, {t.Cols.Views, &d.Columns}} {
		views, left, err := dataset.KernelViews(side.from, r.Learner())
		if err != nil {
			return nil, nil, err
		}
		*side.to = views
		for _, note := range left {
			lines = append(lines, "kernels: "+note)
		}
	}
	return d, lines, nil
}

// PairFitter is an estimator of pairs with its settings.
type PairFitter struct {
	Memory func(rows, columns mkl.FitSize) int64
	Fit    func(ctx context.Context, d *PairData) (mkl.Model, error)
}

// PairFitter makes the estimator. suggested reports whether the data suggest kernels.
func (r *Request) PairFitter(run Run, suggested bool) PairFitter {
	f, s, how := r.Tables.PairFlags, r.Settings, r.fitting(run, suggested)
	if r.Form == dataset.Labels {
		c := mkl.PairClassifier{
			Fitting: how.Fitting, Ascent: how.Ascent, AllowDuplicates: how.allowDuplicates,
			Components: f.Components, SigmaG: s.SigmaG, SigmaH: f.SigmaH, Margin: s.Margin, NoBias: f.NoBias, Plain: s.Plain,
			Lambda: r.priors["lambda"], Eta: r.priors["eta"], Gamma: r.priors["gamma"],
		}
		return PairFitter{c.EstimateMemory, func(ctx context.Context, d *PairData) (mkl.Model, error) {
			return AsModel(c.Fit(ctx, d.Rows, d.Columns, d.Pairs))
		}}
	}
	p := mkl.PairRegression{
		Fitting: how.Fitting, Ascent: how.Ascent, AllowDuplicates: how.allowDuplicates,
		Components: f.Components, SigmaG: s.SigmaG, SigmaH: f.SigmaH, NoBias: f.NoBias, Plain: s.Plain, RawTargets: s.RawTargets,
		Lambda: r.priors["lambda"], Eta: r.priors["eta"], Gamma: r.priors["gamma"], Epsilon: r.priors["epsilon"],
	}
	return PairFitter{p.EstimateMemory, func(ctx context.Context, d *PairData) (mkl.Model, error) {
		return AsModel(p.Fit(ctx, d.Rows, d.Columns, d.Pairs))
	}}
}
