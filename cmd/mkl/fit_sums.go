package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/fitting"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/cmd/mkl/internal/sums"
	"github.com/bmkl/bmkl/mkl"
)

// fitSums fits the model of a plan to sums.
func (c *fitCmd) fitSums(e *console.Env, parts []*sums.Sums) error {
	if err := c.checkSums(parts[0].Plan); err != nil {
		return err
	}
	tables := 0
	for _, s := range parts {
		tables += len(s.Parts)
		if s.Open != nil {
			fmt.Fprintf(e.Stderr, "mkl: warning: %s is without %s; mkl sum has done %s of it so far\n",
				s.Path, s.Open.Name, console.Plural(s.Open.Rows, "row"))
		}
	}
	m, fell := fitting.Run(e, c.JSON, c.Time, func(ctx context.Context, progress func(mkl.Progress)) (mkl.Model, error) {
		how := sums.Fitting{Fitting: mkl.Fitting{Seed: c.Seed, Workers: c.Workers, Progress: progress}, MinRise: c.Tolerance, MaxSteps: c.Sweeps}
		return sums.Fit(ctx, e, how, parts, c.Layout)
	})
	if m == nil {
		return fell
	}
	e, err := c.keep(e, m)
	if err != nil {
		return err
	}
	n := parts[0].Plan.Notes
	r := report.New(model.Of(m.Kind()), m, n)
	return c.tell(e, r, m, fell, fmt.Sprintf("%s in sums of %s, %s, %s",
		console.Plural(int(m.(interface{ Observations() int64 }).Observations()), "sample"),
		console.Plural(tables, "table"), console.Plural(len(r.Kernels), "kernel"), r.Learned(n.Targets)))
}

// checkSums refuses flags that the plan of sums has decided.
func (c *fitCmd) checkSums(plan *sums.Plan) error {
	all, err := console.Flags(c, model.Vars())
	if err != nil {
		return err
	}
	for _, f := range all {
		decided := slices.Contains([]string{"target", "view", "as", "raw-columns", "missing"}, f.Name) || model.Optional(f.Name) ||
			f.Name == "model" && c.Model != nil && *c.Model != model.LandmarksModel
		if f.Given() && decided {
			return console.Inputf("-%s is not for files of sums: their plan fixes it", f.Name)
		}
	}
	if _, classes := plan.OfClasses(); c.Task != nil && classes != slices.Contains([]string{model.Binary, model.Multiclass}, *c.Task) {
		return console.Inputf("-task %s: the plan has another task", *c.Task)
	}
	return nil
}
