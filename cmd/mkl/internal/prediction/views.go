package prediction

import (
	"context"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/record"
)

// AddViews adds columns of what each view adds to the predictions, on the scale of [record.Views], with its standard deviation, and of the
// constant. The constant contains the offsets of the rows.
func (t *Columns) AddViews(ctx context.Context, m mkl.Model, opt Options, x []mkl.Features, targets []string) error {
	all, err := record.ViewsOf(ctx, m, targets, opt.PredictOptions, x)
	if err != nil {
		return console.Input(err)
	}
	for _, of := range all {
		for i, known := range opt.Offset {
			of.Constant[i] += known
		}
		before, after := "", ""
		switch {
		case of.Scale == record.OfLogOdds:
			after = "_" + of.Of
		case len(all) > 1:
			before = of.Of + "_"
		}
		t.AddNumber(before+"constant"+after, func(i int) float64 { return of.Constant[i] })
		for v, name := range of.Names {
			column := before + "view_" + name + after
			t.AddNumber(column, func(i int) float64 { return of.Mean[v][i] })
			t.AddNumber(column+"_sd", func(i int) float64 { return of.SD[v][i] })
		}
	}
	return nil
}
