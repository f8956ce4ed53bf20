package model

import (
	"context"

	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// FactorFlags are the flags of -task factors.
type FactorFlags struct {
	Factors     int  `help:"Largest number of factors of -task factors; 0 means 10."`
	SharedNoise bool `help:"Give all columns of -task factors the same noise."`
	NoOffsets   bool `help:"Leave out the columns' own levels in -task factors."`

	Groups string `placeholder:"COLUMN" help:"Column with the group of each row of -task factors, such as a condition, a batch or a study. Columns are centred in each group, each group has noise of its own, and a factor may be silent in a group."`

	ViewKind []string `name:"view-kind" sep:"none" placeholder:"VIEW=KIND" help:"Kind of a view of -task factors: gaussian, numbers with noise; bernoulli, 0 and 1; or poisson, counts. By default the entries decide, and the command says so. Repeat it for each view."`
}

var factorRows = []*Estimator{{
	Model: "factors", Tasks: []string{FactorsTask}, Kind: "factors", Form: dataset.Entries, Part: "factor",
	takes: "factors entries groups view-kind shared-noise no-offsets restarts resume",
}}

// FactorAnalysis makes the estimator of a table with gaps, which has the given views or none, and the given groups of rows or none.
func (r *Request) FactorAnalysis(run Run, views []mkl.FactorView, groups []string) mkl.FactorAnalysis {
	f := r.Tables.FactorFlags
	how := r.fitting(run, false)
	return mkl.FactorAnalysis{
		Fitting: how.Fitting, Ascent: how.Ascent, Factors: f.Factors, Views: views, Groups: groups, SharedNoise: f.SharedNoise, NoOffsets: f.NoOffsets,
	}
}

// FitFactors fits the estimator to a table.
func (r *Request) FitFactors(ctx context.Context, run Run, t mkl.Table, views []mkl.FactorView, groups []string) (mkl.Model, error) {
	return AsModel(r.FactorAnalysis(run, views, groups).Fit(ctx, t))
}
