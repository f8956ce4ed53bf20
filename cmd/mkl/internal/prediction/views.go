package prediction

import (
	"context"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// viewer is a model of one target whose predictions are sums over views.
type viewer interface {
	PredictViews(ctx context.Context, opt mkl.PredictOptions, x ...mkl.Features) (*mkl.ViewParts, error)
}

// AddViews adds what each view adds to the predictions of numeric targets, with its standard deviation, and the constant.
func (t *Columns) AddViews(ctx context.Context, m mkl.Model, opt mkl.PredictOptions, x []mkl.Features, targets []string) error {
	for o, target := range targets {
		one, ok := m.(viewer)
		prefix := ""
		if pools, several := m.(*mkl.AutoTargetsModel); several {
			one, ok, prefix = pools.Target(o), true, target+"_"
		}
		if !ok {
			return console.Inputf("-views is for numbers and the models auto and mgp, whose predictions are sums over the views; this is a %v", m)
		}
		parts, err := one.PredictViews(ctx, opt, x...)
		if err != nil {
			return console.Input(err)
		}
		t.AddNumber(prefix+"constant", func(int) float64 { return parts.Constant })
		for v, name := range parts.Views {
			t.AddNumber(prefix+"view_"+name, func(i int) float64 { return parts.Mean[v][i] })
			t.AddNumber(prefix+"view_"+name+"_sd", func(i int) float64 { return parts.SD[v][i] })
		}
	}
	return nil
}
