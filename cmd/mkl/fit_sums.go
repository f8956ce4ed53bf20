package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// fitSums fits the model of a plan to sums.
func (c *fitCmd) fitSums(e *console.Env, parts []*sums) error {
	if err := errors.Join(c.checkNumbers(), c.checkSampling()); err != nil {
		return err
	}
	given := map[string]bool{
		"target": c.Target != "", "view": c.View != nil, "as": c.As != nil, "raw-columns": c.RawColumns, "missing": c.Missing != missingRefuse,
		"model": c.Model != nil && *c.Model != modelLandmarks,
	}
	for _, f := range c.optional() {
		given[f.name] = f.given
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if given[name] {
			return console.Inputf("-%s is not for sums, whose plan is made", name)
		}
	}
	if err := e.CheckOutput(c.Output, false); err != nil {
		return err
	}
	plan := parts[0].plan
	_, labels := plan.(*mkl.ClassPlan[string])
	if c.Task != nil && labels != slices.Contains([]string{taskBinary, taskMulticlass}, *c.Task) {
		return console.Inputf("-task %s is not that of the plan", *c.Task)
	}
	n, err := planNotes(plan)
	if err != nil {
		return console.Inputf("%s: %w", parts[0].path, err)
	}
	var all []*stat.Statistic
	tables := 0
	for _, s := range parts {
		all, tables = append(all, s.total), tables+len(s.parts)
	}
	for _, s := range parts {
		if s.open != nil {
			fmt.Fprintf(e.Stderr, "mkl: warning: %s is without %s, of which mkl sum has done %s so far\n",
				s.path, s.open.Name, console.Plural(s.open.Rows, "row"))
		}
	}
	bar := &sweepBar{env: e, quiet: c.JSON}
	f := mkl.Fitting{
		Seed: c.Seed, Tolerance: c.Tolerance, MaxSweeps: c.Sweeps, Workers: c.Workers, Progress: bar.show, Notes: plan.Notes(),
	}
	var fit func(context.Context) (mkl.Model, error)
	switch plan := plan.(type) {
	case *mkl.ClassPlan[string]:
		t := &rereading{env: e, layout: &c.Layout, notes: n, plan: plan, workers: c.Workers}
		if err := t.gather(parts); err != nil {
			return err
		}
		fit = func(ctx context.Context) (mkl.Model, error) { return asModel(plan.Fit(ctx, f, t.rows, all...)) }
	case *mkl.Plan:
		fit = func(ctx context.Context) (mkl.Model, error) { return asModel(plan.Fit(ctx, f, all...)) }
	}
	m, fell := bar.finish(inTime(e.Ctx, c.Time, fit))
	if m == nil {
		return fell
	}
	if e, err = c.keep(e, m); err != nil {
		return err
	}
	rep := newReport(estimatorOf(m.Kind()), m, n)
	return c.tell(e, rep, m, fell, fmt.Sprintf("%s in sums of %s, %s, %s",
		console.Plural(int(m.(interface{ Observations() int64 }).Observations()), "sample"),
		console.Plural(tables, "table"), console.Plural(len(rep.Kernels), "kernel"), rep.learned(n.Targets)))
}

// rereading is the tables of sums, read again in each pass of a fit of classes.
type rereading struct {
	env     *console.Env
	layout  *console.Layout
	notes   *notes
	plan    *mkl.ClassPlan[string]
	workers int
	paths   []string
}

// gather checks that the tables are as they were summed. They are read in the order of their names,
// however the sums were divided.
func (t *rereading) gather(parts []*sums) error {
	for _, s := range parts {
		for _, p := range s.parts {
			now, err := fingerprint(t.env, p.Name)
			if err != nil {
				return console.Inputf("a fit of classes reads the tables again: %w", err)
			}
			if now.SHA256 != p.SHA256 {
				return console.Inputf("%s has changed since %s was made, and a fit of classes reads it again", p.Name, s.path)
			}
			t.paths = append(t.paths, p.Name)
		}
	}
	slices.Sort(t.paths)
	return nil
}

// rows goes over the samples of all tables.
func (t *rereading) rows(yield func(mkl.LabelledRows[string], error) bool) {
	for _, path := range t.paths {
		if !t.table(path, yield) {
			return
		}
	}
}

// table goes over the samples of one table, and reports whether to go on.
func (t *rereading) table(path string, yield func(mkl.LabelledRows[string], error) bool) bool {
	fail := func(err error) bool { return yield(mkl.LabelledRows[string]{}, err) }
	o, err := openTable(t.env, t.layout, t.notes, t.plan, path)
	if o != nil {
		defer o.files.Close()
	}
	if err != nil {
		return fail(err)
	}
	for rows, err := range o.files.Blocks(stat.BlockSamples) {
		if err != nil {
			return fail(err)
		}
		x, y, _, _, err := o.samples(t.env.Ctx, rows, 0, t.workers, &shortfall{})
		if err != nil {
			return fail(err)
		}
		if !yield(mkl.LabelledRows[string]{Labels: y.labels, X: x}, nil) {
			return false
		}
	}
	return true
}
