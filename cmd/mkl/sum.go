package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// planCmd is mkl plan.
type planCmd struct {
	Data    string   `arg:"" help:"Table with a row for each sample of some, drawn at random from all; - is standard input."`
	Target  string   `required:"" placeholder:"COLUMN" help:"Column to learn."`
	View    []string `sep:"none" placeholder:"NAME=COLUMNS:KERNELS" help:"A view of the samples; can be repeated. Without one, all columns but the target."`
	Kernels string   `placeholder:"KERNELS" help:"Kernels of views that name none; without them the data suggest kernels."`
	Output  string   `short:"o" required:"" placeholder:"FILE" help:"Plan file to write."`

	landmarkFlags `embed:""`

	Missing    string   `enum:"refuse,drop,impute" default:"refuse" help:"What to do where a feature has no value: refuse the file, drop the row, or impute the column's median (${default})."`
	As         []string `sep:"none" placeholder:"COLUMN=TYPE" help:"What a column is: number, text, boolean, date, date(d.m.y), date(d/m/y), date(m/d/y), or none to leave it out; can be repeated."`
	RawColumns bool     `help:"Leave columns as they are; by default each is given mean 0 and standard deviation 1."`

	Seed    uint64      `default:"1" help:"Seed of the choice of landmarks (${default})."`
	Workers int         `help:"Most goroutines at work; 0 means one for each processor."`
	Memory  memory.Size `placeholder:"SIZE" help:"Refuse a plan that needs more than this, such as 8GiB; by default what the machine has available."`

	console.Layout `embed:""`
}

// Run makes the plan as mkl fit -model landmarks would, and writes it.
func (c *planCmd) Run(e *console.Env) error {
	task, model := taskRegression, modelLandmarks
	f := &fitCmd{Model: &model, Kernels: c.Kernels, Output: c.Output}
	f.learnFlags = learnFlags{
		Data: c.Data, Task: &task, Target: c.Target, View: c.View,
		landmarkFlags: c.landmarkFlags, Missing: c.Missing, As: c.As, RawColumns: c.RawColumns,
		Seed: c.Seed, Workers: c.Workers, Memory: c.Memory, Layout: c.Layout,
		Sparse: "none", SigmaG: defaultSigmaG, Method: methods[0].name, Family: families[0].name,
		Noise: mkl.ConstantNoise.String(), Rule: strings.ToLower(mkl.FixSum.String()),
	}
	p, d, err := f.gather(e)
	if err != nil {
		return err
	}
	encoded, err := p.notes.encode()
	if err != nil {
		return err
	}
	g := mkl.LandmarkGP{Fitting: mkl.Fitting{Seed: c.Seed, Workers: c.Workers, Notes: encoded}, Landmarks: c.choice()}
	plan, err := g.Begin(e.Ctx, d.views, d.numbers[0])
	if err != nil {
		return console.Input(err)
	}
	if err := atomicfile.Write(e.Ctx, c.Output, plan.Save); err != nil {
		return err
	}
	hash := plan.Hash()
	fmt.Fprintf(e.Stdout, "%s: %v, of %s; hash %x\n", c.Output, plan, console.Plural(p.main.Data.Rows, "sample"), hash[:8])
	for i, k := range plan.Kernels() {
		fmt.Fprintf(e.Stdout, "  %s: %s\n", k, console.Plural(plan.Features()[i], "feature"))
	}
	return nil
}

// sumCmd is mkl sum.
type sumCmd struct {
	Data    []string `arg:"" help:"Tables with a row for each sample, columns called as in the plan."`
	Plan    string   `required:"" placeholder:"FILE" help:"Plan, as mkl plan made it."`
	Output  string   `short:"o" required:"" placeholder:"FILE" help:"File of the sums to write. If it is there, tables that are in it are passed over, and others added."`
	Workers int      `help:"Most goroutines at work; 0 means one for each processor."`

	console.Layout `embed:""`
}

// saveEvery is how often the sums so far are written.
const saveEvery = 10 * time.Second

// Run sums the tables one by one. What is done is kept in the file: the same command goes on
// from there.
func (c *sumCmd) Run(e *console.Env) error {
	if c.Workers < 0 {
		return console.Inputf("-workers %d is negative", c.Workers)
	}
	if err := atomicfile.Check(c.Output); err != nil {
		return console.Input(err)
	}
	plan, notes, err := readPlan(c.Plan)
	if err != nil {
		return err
	}
	s, err := c.begin(plan)
	if err != nil {
		return err
	}
	bar := console.NewProgress(e, false, len(c.Data), "tables")
	defer bar.Finish()
	begin, saved, added := time.Now(), time.Now(), 0
	save := func() error {
		saved = time.Now()
		if err := s.write(e.Ctx); err != nil {
			return err
		}
		e.Kept = c.Output
		return nil
	}
	for _, path := range c.Data {
		if err := c.add(e, s, notes, path, &added); err != nil {
			return errors.Join(err, unlessNone(added, save))
		}
		bar.Step()
		if added > 0 && time.Since(saved) > saveEvery {
			if err := save(); err != nil {
				return err
			}
		}
	}
	if err := save(); err != nil {
		return err
	}
	bar.Finish()
	hash := s.total.Hash()
	fmt.Fprintf(e.Stdout, "%s: %s of %s, %d of them added in %.1f s; hash %x\n", c.Output, console.Plural(int(s.total.Samples()), "sample"),
		console.Plural(len(s.parts), "table"), added, time.Since(begin).Seconds(), hash[:8])
	return nil
}

// unlessNone saves what was added, if anything was.
func unlessNone(added int, save func() error) error {
	if added == 0 {
		return nil
	}
	return save()
}

// begin returns the sums that the output holds, or none. It refuses those of another plan.
func (c *sumCmd) begin(plan *mkl.Plan) (*sums, error) {
	if _, err := os.Stat(c.Output); err != nil {
		return &sums{path: c.Output, plan: plan, total: &stat.Statistic{}}, nil
	}
	s, err := readSums(c.Output)
	if err != nil {
		return nil, err
	}
	if s.plan.Hash() != plan.Hash() {
		return nil, console.Inputf("%s holds sums of another plan: remove it, or name another file", c.Output)
	}
	return s, nil
}

// add adds the rows of a table, unless they are there.
func (c *sumCmd) add(e *console.Env, s *sums, n *notes, path string, added *int) error {
	if path == "-" {
		return console.Inputf("standard input cannot be summed: it could not be told whether it was before")
	}
	p, err := fingerprint(e, path)
	if err != nil {
		return err
	}
	for _, old := range s.parts {
		switch {
		case old.SHA256 == p.SHA256:
			return nil
		case old.Name == p.Name:
			return console.Inputf("%s has changed since %s was made: remove that to begin anew", path, c.Output)
		}
	}
	sum, err := c.sum(e, s.plan, n, path)
	if err != nil {
		return err
	}
	if err := s.total.Merge(sum); err != nil {
		return err
	}
	p.Samples = sum.Samples()
	s.parts = append(s.parts, p)
	slices.SortFunc(s.parts, func(a, b part) int { return cmp.Compare(a.Name, b.Name) })
	*added++
	return nil
}

// sum sums the rows of a table, in blocks of its own.
func (c *sumCmd) sum(e *console.Env, plan *mkl.Plan, n *notes, path string) (*stat.Statistic, error) {
	opt, err := c.Options()
	if err != nil {
		return nil, err
	}
	for _, v := range n.Views {
		opt.Sparse = append(opt.Sparse, v.Columns...)
	}
	o := &opened{files: &console.Files{Env: e, Opt: opt, Join: cmp.Or(c.Join, n.Join)}}
	defer o.files.Close()
	in := &modelInput{Data: path}
	if o.inputs, err = in.inputs(o.files, n, plan.Inputs()); err != nil {
		return nil, err
	}
	main := o.files.All[0]
	found, err := spec.Select(spec.Names(n.Targets), main.Columns(), nil)
	if err != nil {
		return nil, console.Inputf("target: %s: %w", main.Name(), err)
	}
	main.Need(found[0], table.Optional)
	rows, err := o.files.Read()
	if err != nil {
		return nil, err
	}
	x, kept, err := o.features(e, rows, c.Workers, "summed")
	if err != nil {
		return nil, err
	}
	var y []float64
	var known []int // of those kept, the ones with a target
	for k, i := range kept {
		if v := main.Data.Numbers[found[0]][i]; v == v {
			y, known = append(y, v), append(known, k)
		}
	}
	if left := len(kept) - len(known); left > 0 {
		fmt.Fprintf(e.Stderr, "mkl: warning: %s: %d of %s have no target\n", main.Name(), left, console.Plural(len(kept), "row"))
		for i := range x {
			x[i] = pickRows(x[i], known)
		}
	}
	s, err := plan.Sum(e.Ctx, c.Workers, func(yield func(mkl.Rows, error) bool) {
		for first := 0; first < len(y); first += stat.BlockSamples {
			last := min(len(y), first+stat.BlockSamples)
			r := mkl.Rows{Y: y[first:last]}
			for _, f := range x {
				r.X = append(r.X, f.Slice(first, last, 0, f.Cols))
			}
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, console.Inputf("%s: %w", main.Name(), err)
	}
	return s, nil
}

// fitSums fits the model of a plan to sums.
func (c *fitCmd) fitSums(e *console.Env, parts []*sums) error {
	if err := c.checkNumbers(); err != nil {
		return err
	}
	given := map[string]bool{
		"target": c.Target != "", "view": c.View != nil, "as": c.As != nil, "raw-columns": c.RawColumns,
		"task": c.Task != nil && *c.Task != taskRegression, "model": c.Model != nil && *c.Model != modelLandmarks,
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
	n, err := planNotes(plan)
	if err != nil {
		return console.Inputf("%s: %w", parts[0].path, err)
	}
	var all []*stat.Statistic
	tables := 0
	for _, s := range parts {
		all, tables = append(all, s.total), tables+len(s.parts)
	}
	bar := &sweepBar{env: e, quiet: c.JSON}
	m, fell := bar.finish(asModel(plan.Fit(e.Ctx, mkl.Fitting{
		Tolerance: c.Tolerance, MaxSweeps: c.Sweeps, Workers: c.Workers, Progress: bar.show, Notes: plan.Notes(),
	}, all...)))
	if m == nil {
		return fell
	}
	if e, err = c.keep(e, m); err != nil {
		return err
	}
	rep := newReport(estimatorOf(m.Kind()), m, n)
	rep.Model = c.Output
	if fell == nil {
		rep.warn(e.Stderr)
	}
	if c.JSON {
		rep.Trace = m.Trace().Bounds
		return errors.Join(console.PrintJSON(e.Stdout, rep), c.unfinished(fell))
	}
	fmt.Fprintf(e.Stdout, "%s in sums of %s, %s, %s\n", console.Plural(int(m.(*mkl.LandmarkModel).Observations()), "sample"),
		console.Plural(tables, "table"), console.Plural(len(rep.Kernels), "kernel"), rep.learned(n.Targets))
	if err := rep.print(e.Stdout); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(e.Stdout, "\nmodel: %s\n", c.Output)
	}
	return errors.Join(c.unfinished(fell))
}
