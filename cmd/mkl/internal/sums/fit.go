package sums

import (
	"context"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// Fitting says how a fit to sums runs, and when it ends. A fit of classes makes passes where a fit of numbers makes steps.
type Fitting struct {
	mkl.Fitting
	MinRise  float64
	MaxSteps int
}

// Fit fits the model of the plan to all the sums, which are of one plan. A fit of classes reads the tables again.
func Fit(ctx context.Context, e *console.Env, f Fitting, all []*Sums, layout console.Layout) (mkl.Model, error) {
	plan := all[0].Plan
	var parts []*stat.Statistic
	for _, s := range all {
		parts = append(parts, s.Total)
	}
	f.Notes = plan.SamplePlan.Notes()
	switch p := plan.SamplePlan.(type) {
	case *mkl.ClassPlan[string]:
		if !plan.Placed {
			return nil, console.Inputf("%s: a fit of classes reads the tables again, and the plan, which mkl plan did not make, does not name their columns: ClassPlan.Fit fits in a program", all[0].Path)
		}
		t := &rereading{env: e, layout: layout, plan: plan, workers: f.Workers}
		if err := t.gather(all); err != nil {
			return nil, err
		}
		return model.AsModel(p.Fit(ctx, mkl.ClassPlanFitting{Fitting: f.Fitting, MinRise: f.MinRise, MaxPasses: f.MaxSteps}, t.rows, parts...))
	case *mkl.Plan:
		return model.AsModel(p.Fit(ctx, mkl.PlanFitting{Fitting: f.Fitting, Climb: mkl.Climb{MinRise: f.MinRise, MaxSteps: f.MaxSteps}}, parts...))
	}
	return nil, console.Inputf("%s: sums of an unknown plan", all[0].Path) // not reached: load returns these two
}

// rereading is the tables of sums, read again in each pass of a fit of classes.
type rereading struct {
	env     *console.Env
	layout  console.Layout
	plan    *Plan
	workers int
	paths   []string
}

// gather checks that the tables have not changed since they were summed. They are read in the order of their names,
// however the sums were divided.
func (t *rereading) gather(all []*Sums) error {
	for _, s := range all {
		for _, p := range s.Parts {
			now, err := fingerprint(t.env, p.Name)
			if err != nil {
				return console.Inputf("a fit of classes reads the tables again: %w", err)
			}
			if now.SHA256 != p.SHA256 {
				return console.Inputf("%s has changed since %s was made, and a fit of classes reads it again", p.Name, s.Path)
			}
			t.paths = append(t.paths, p.Name)
		}
	}
	slices.Sort(t.paths)
	return nil
}

// rows goes over the samples of all tables.
func (t *rereading) rows(yield func(mkl.ClassRows[string], error) bool) {
	for _, path := range t.paths {
		if !t.table(path, yield) {
			return
		}
	}
}

// table goes over the samples of one table, and reports whether to go on.
func (t *rereading) table(path string, yield func(mkl.ClassRows[string], error) bool) bool {
	fail := func(err error) bool { return yield(mkl.ClassRows[string]{}, err) }
	o, err := openTable(t.env, Columns{Layout: t.layout}, t.plan, path)
	if err != nil {
		return fail(err)
	}
	defer o.Files.Close()
	for rows, err := range o.Files.Blocks(stat.BlockSamples) {
		if err != nil {
			return fail(err)
		}
		b, err := o.samples(t.env.Ctx, rows, 0, t.workers, &dataset.Shortfall{})
		if err != nil {
			return fail(err)
		}
		if !yield(mkl.ClassRows[string]{Labels: b.y.labels, X: b.x}, nil) {
			return false
		}
	}
	return true
}
