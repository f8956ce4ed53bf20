package gonen2012

import (
	"context"
	"fmt"
	"sync"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/reproduce/multiclass"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// learner is one way to learn classes.
type learner struct {
	name string
	// fit returns the scores of the test samples, classes × samples, the sweeps of its
	// longest fit, and whether all its fits converged. It adds c.Sweeps to p for each fit.
	fit func(e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress) (scores [][]float64, sweeps int, converged bool, err error)
	// fits is the number of fits that fit makes.
	fits func(x *multiclass.Problem) int
}

// learners are the models that -models names.
var learners = map[string]learner{
	"single": {
		"regression, one output at a time",
		fitSingle,
		func(x *multiclass.Problem) int { return x.Classes },
	},
	"multiple": {
		"regression, all outputs at once",
		fitMultiple,
		func(*multiclass.Problem) int { return 1 },
	},
	"multiclass": {
		"multiclass classification",
		fitMulticlass,
		func(*multiclass.Problem) int { return 1 },
	},
}

func fitSingle(e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress) ([][]float64, int, bool, error) {
	train, test, err := x.Kernels()
	if err != nil {
		return nil, 0, false, err
	}
	y := x.Labels()
	scores := make([][]float64, x.Classes)
	var mu sync.Mutex
	most, converged := 0, true
	err = console.Each(e.Ctx, c.Workers, x.Classes, func(ctx context.Context, o int) error {
		r := bemkl.Regression{Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, Workers: 1}
		fit, err := r.Fit(ctx, train, y.Slice(o, o+1, 0, y.Cols))
		if err != nil {
			return fmt.Errorf("class %d: %w", o+1, err)
		}
		mean, err := fit.Posterior.Predict(test, vi.PredictOptions{MeanOnly: true, Workers: 1})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		scores[o] = mean.Mean.Row(0)
		most = max(most, len(fit.Record.Trace))
		converged = converged && fit.Record.Reason == vi.Converged
		p.Add(c.Sweeps - len(fit.Record.Trace))
		return nil
	})
	return scores, most, converged, err
}

func fitMultiple(e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress) ([][]float64, int, bool, error) {
	train, test, err := x.Kernels()
	if err != nil {
		return nil, 0, false, err
	}
	r := bemkl.Regression{Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, Workers: c.Workers}
	fit, err := r.Fit(e.Ctx, train, x.Labels())
	if err != nil {
		return nil, 0, false, err
	}
	p.Add(c.Sweeps - len(fit.Record.Trace))
	mean, err := fit.Posterior.Predict(test, vi.PredictOptions{MeanOnly: true, Workers: c.Workers})
	if err != nil {
		return nil, 0, false, err
	}
	return multiclass.RowsOf(mean.Mean), len(fit.Record.Trace), fit.Record.Reason == vi.Converged, nil
}

func fitMulticlass(e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress) ([][]float64, int, bool, error) {
	train, test, err := x.Kernels()
	if err != nil {
		return nil, 0, false, err
	}
	r := bemkl.Classification{Margin: c.Margin, Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, Workers: c.Workers}
	fit, err := r.Fit(e.Ctx, train, x.Labels())
	if err != nil {
		return nil, 0, false, err
	}
	p.Add(c.Sweeps - len(fit.Record.Trace))
	prediction, err := fit.Posterior.Predict(test, vi.PredictOptions{Workers: c.Workers})
	if err != nil {
		return nil, 0, false, err
	}
	return multiclass.RowsOf(prediction.Normalise()), len(fit.Record.Trace), fit.Record.Reason == vi.Converged, nil
}
