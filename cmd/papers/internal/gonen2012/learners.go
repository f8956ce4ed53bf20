package gonen2012

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
	"github.com/bmkl/bmkl/vi/mgp"
	"github.com/bmkl/bmkl/vi/slab"
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
	"mgp": {
		"multiple Gaussian process, one class at a time",
		fitProcesses,
		func(x *multiclass.Problem) int { return x.Classes },
	},
	"multitask": {
		"spike and slab, all classes at once",
		fitTasks,
		func(*multiclass.Problem) int { return 1 },
	},
}

// eachClass fits one class after another, several at a time: fit returns the scores of the test samples
// given the row of labels of class o.
func eachClass(
	e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress,
	fit func(ctx context.Context, train, test *vi.Dense, labels la.Matrix[float64]) ([]float64, vi.Record, error),
) ([][]float64, int, bool, error) {
	train, test, err := x.Kernels()
	if err != nil {
		return nil, 0, false, err
	}
	y := x.Labels()
	scores := make([][]float64, x.Classes)
	var mu sync.Mutex
	most, converged := 0, true
	err = console.Each(e.Ctx, c.Workers, x.Classes, func(ctx context.Context, o int) error {
		score, record, err := fit(ctx, train, test, y.Slice(o, o+1, 0, y.Cols))
		if err != nil {
			return fmt.Errorf("class %d: %w", o+1, err)
		}
		mu.Lock()
		defer mu.Unlock()
		scores[o] = score
		most = max(most, len(record.Trace))
		converged = converged && record.Reason == vi.Converged
		p.Add(c.Sweeps - len(record.Trace))
		return nil
	})
	return scores, most, converged, err
}

func fitSingle(e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress) ([][]float64, int, bool, error) {
	r := bemkl.Regression{Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, Workers: 1}
	return eachClass(e, c, x, p, func(ctx context.Context, train, test *vi.Dense, y la.Matrix[float64]) ([]float64, vi.Record, error) {
		fit, err := r.Fit(ctx, train, y)
		if err != nil {
			return nil, vi.Record{}, err
		}
		mean, err := fit.Posterior.Predict(test, vi.PredictOptions{MeanOnly: true, Workers: 1})
		if err != nil {
			return nil, vi.Record{}, err
		}
		return mean.Mean.Row(0), fit.Record, nil
	})
}

// centred takes its mean off a row of labels, which it returns: the model has no bias.
func centred(row []float64) (mean float64) {
	for _, v := range row {
		mean += v / float64(len(row))
	}
	for i := range row {
		row[i] -= mean
	}
	return mean
}

// shifted adds the mean to the scores of a class.
func shifted(scores []float64, mean float64) []float64 {
	for i := range scores {
		scores[i] += mean
	}
	return scores
}

// fitProcesses has no start to draw, and so no seed.
func fitProcesses(e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress) ([][]float64, int, bool, error) {
	g := mgp.Evidence{Ascent: c.ascent(p), Workers: 1}
	return eachClass(e, c, x, p, func(ctx context.Context, train, test *vi.Dense, y la.Matrix[float64]) ([]float64, vi.Record, error) {
		target := slices.Clone(y.Row(0))
		mean := centred(target)
		fit, err := g.Fit(ctx, train, target)
		if err != nil {
			return nil, vi.Record{}, err
		}
		prediction, err := fit.Posterior.Predict(test, la.Matrix[float64]{}, vi.PredictOptions{MeanOnly: true, Workers: 1})
		if err != nil {
			return nil, vi.Record{}, err
		}
		return shifted(prediction.Mean, mean), fit.Record, nil
	})
}

// latentsOfKernel is the number of latent functions of each kernel, the default of [mkl.MultiTask].
const latentsOfKernel = 5

func fitTasks(e *console.Env, c *flags, x *multiclass.Problem, p *console.Progress) ([][]float64, int, bool, error) {
	var latents []slab.Latent
	var cross []la.Matrix[float64]
	for i, k := range x.Train {
		covariance := slab.FixedCovariance(k) // the five share what a fit makes of it
		for range latentsOfKernel {
			latents, cross = append(latents, slab.Latent{Covariance: covariance}), append(cross, x.Test[i])
		}
	}
	y := x.Labels()
	mean := make([]float64, x.Classes)
	for o := range mean {
		mean[o] = centred(y.Row(o))
	}
	t := slab.MultiTask{Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, MeanOnly: true, Workers: c.Workers}
	fit, err := t.Fit(e.Ctx, latents, y)
	if err != nil {
		return nil, 0, false, err
	}
	p.Add(c.Sweeps - len(fit.Record.Trace))
	test, err := vi.NewDense(cross...)
	if err != nil {
		return nil, 0, false, err
	}
	prediction, err := fit.Posterior.Predict(test, la.Matrix[float64]{}, la.Matrix[float64]{}, vi.PredictOptions{MeanOnly: true, Workers: c.Workers})
	if err != nil {
		return nil, 0, false, err
	}
	scores := multiclass.RowsOf(prediction.Mean)
	for o, row := range scores {
		shifted(row, mean[o])
	}
	return scores, len(fit.Record.Trace), fit.Record.Reason == vi.Converged, nil
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
