package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// Run checks the flags, finds the columns in the files, reads them, fits, reports and
// writes the model. A fit that needs too much memory is refused before the files are
// read, if their rows are known, and again before the kernels are computed.
func (c *fitCmd) Run(e *console.Env) error {
	est, err := c.estimator()
	if err != nil {
		return err
	}
	if err := c.check(est); err != nil {
		return err
	}
	priors, err := c.priors(est)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := atomicfile.Check(c.Output); err != nil {
			return console.Input(err)
		}
	}
	opt, err := c.Options()
	if err != nil {
		return err
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	main, err := fs.Open(c.Data)
	if err != nil {
		return err
	}
	targets, err := c.targets(est, main)
	if err != nil {
		return err
	}
	views, err := c.views(est, fs, main, targets)
	if err != nil {
		return err
	}
	notes := c.notes(est, views, main, targets)
	encoded, err := notes.encode()
	if err != nil {
		return err
	}
	bar := &sweepBar{env: e, quiet: c.JSON}
	f := est.build(&settings{
		fitCmd: c, prior: priors, features: views[0].source.Names(),
		fitting: mkl.Fitting{
			Seed: c.Seed, Restarts: c.Restarts, Tolerance: c.Tolerance, MaxSweeps: c.Sweeps, AllowDuplicates: c.AllowDuplicates,
			Workers: c.Workers, Progress: bar.show, Notes: encoded,
		},
	})
	if n := main.Rows(); n >= 0 {
		if err := c.checkMemory(est, f.memory, views, n, len(targets)); err != nil {
			return err
		}
	}
	n, err := fs.Read()
	if err != nil {
		return err
	}
	d, err := c.learn(est, main, targets)
	if err != nil {
		return err
	}
	if err := c.checkMemory(est, f.memory, views, n, max(len(targets), len(d.classes))); err != nil {
		return err
	}
	if est.kernels() {
		d.views = c.mklViews(views)
	} else {
		d.features = views[0].source.Matrix()
	}
	model, fell := bar.finish(f.fit(e.Ctx, d))
	if model == nil {
		return fell
	}
	if c.Output != "" {
		if err := atomicfile.Write(e.Ctx, c.Output, model.Save); err != nil {
			return err
		}
	}
	rep := newReport(est, model, notes)
	rep.Model = c.Output
	if c.JSON {
		rep.Trace = model.Trace().Bounds
		return errors.Join(console.PrintJSON(e.Stdout, rep), c.unfinished(fell))
	}
	fmt.Fprintf(e.Stdout, "%s: %s, %s in %s, %s\n", main.Name(), console.Plural(n, "sample"),
		console.Plural(est.count(views), est.partName()), console.Plural(len(views), "view"), rep.learned(notes.Targets))
	if err := rep.print(e.Stdout); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(e.Stdout, "\nmodel: %s\n", c.Output)
	}
	return c.unfinished(fell)
}

// unfinished says what the model is worth where the ascent ended with an error.
func (c *fitCmd) unfinished(err error) error {
	switch {
	case err == nil:
		return nil
	case c.Output == "":
		return fmt.Errorf("%w; the model shown is that of the sweeps before", err)
	}
	return fmt.Errorf("%w; %s holds the model of the sweeps before", err, c.Output)
}

// targets finds the target columns and asks for them.
func (c *fitCmd) targets(est *estimator, main *console.File) ([]int, error) {
	items, err := spec.ParseColumns(c.Target)
	if err != nil {
		return nil, console.Inputf("-target %w", err)
	}
	targets, err := spec.Select(items, main.Columns(), nil)
	if err != nil {
		return nil, console.Inputf("-target: %s: %w", main.Name(), err)
	}
	switch {
	case est.form == numbers && c.Task != taskRegression && len(targets) < 2:
		return nil, console.Inputf("-task %s needs several targets", c.Task)
	case est.one && len(targets) != 1:
		return nil, console.Inputf("-model %s needs one target, not %d", c.Model, len(targets))
	case est.form == classes && len(targets) != 1:
		return nil, console.Inputf("-task %s needs one target, the column of labels, not %d", c.Task, len(targets))
	}
	for _, j := range targets {
		main.Need(j, est.form.kind(c.Missing))
	}
	return targets, nil
}

// learn returns the targets, which were read, in the estimator's form.
func (c *fitCmd) learn(est *estimator, main *console.File, targets []int) (*data, error) {
	d := &data{}
	switch est.form {
	case numbers:
		for _, j := range targets {
			d.numbers = append(d.numbers, main.Data.Numbers[j])
		}
	case classes:
		d.class = main.Data.Labels[targets[0]]
		d.classes = table.Classes(d.class)
		if c.Task == taskBinary && len(d.classes) != 2 {
			return nil, console.Inputf("%s: column %q has %s where -task %s needs 2: %s", main.Name(), main.Columns()[targets[0]],
				console.Plural(len(d.classes), "class"), c.Task, strings.Join(d.classes[:min(5, len(d.classes))], ", "))
		}
	case labels:
		for _, j := range targets {
			has, err := hasLabel(main, j)
			if err != nil {
				return nil, err
			}
			d.labels = append(d.labels, has)
		}
	}
	return d, nil
}

// hasLabel reads a column that says whether samples have a label.
func hasLabel(f *console.File, column int) ([]mkl.Label, error) {
	has := make([]mkl.Label, f.Data.Rows)
	for i, text := range f.Data.Labels[column] {
		switch strings.ToLower(text) {
		case "1", "+1", "true", "yes":
			has[i] = mkl.Present
		case "0", "-1", "false", "no":
			has[i] = mkl.Absent
		case "":
			has[i] = mkl.Unknown
		default:
			return nil, console.Input(&table.CellError{File: f.Name(), Row: i + 1, Column: column, Name: f.Columns()[column],
				Msg: fmt.Sprintf("%q is neither 1, true or yes nor 0, -1, false or no", text)})
		}
	}
	return has, nil
}

// sweepBar shows the sweeps of a fit.
type sweepBar struct {
	env   *console.Env
	quiet bool
	bar   *console.Progress // nil before the first sweep
}

// show is what the fit calls after every sweep.
func (s *sweepBar) show(p mkl.Progress) {
	if s.bar == nil {
		s.bar = console.NewProgress(s.env, s.quiet, p.MaxSweeps*p.Starts, "sweeps at most")
	}
	if math.IsNaN(p.Bound) { // chains side by side
		s.bar.Step()
		return
	}
	s.bar.Set((p.Start-1)*p.MaxSweeps+p.Sweep, fmt.Sprintf("bound %.4f (%+.1e)", p.Bound, p.Rise))
}

// finish ends the bar and passes on what the fit returned, but for two things: a
// collapsed fit is a result, which the report tells; and an error is a mistake in what
// the fit was given, unless the bound fell or an update failed: the model of the sweeps
// before then comes with the error.
func (s *sweepBar) finish(m mkl.Model, err error) (mkl.Model, error) {
	if s.bar != nil {
		s.bar.Finish()
	}
	var collapsed *mkl.CollapsedError
	var fell *vi.BoundError
	switch {
	case err == nil:
		return m, nil
	case errors.As(err, &collapsed):
		return collapsed.Model, nil
	case m != nil && s.env.Ctx.Err() == nil:
		return m, err
	case errors.As(err, &fell):
		return nil, err
	}
	return nil, console.Input(err)
}
