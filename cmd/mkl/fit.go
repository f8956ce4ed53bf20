package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/factors"
	"github.com/bmkl/bmkl/cmd/mkl/internal/fitting"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/pairs"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/cmd/mkl/internal/sums"
	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// fitCmd is mkl fit. A table passes through these steps, each a value that is complete:
//
//	fitCmd            the flags
//	model.Wanted      what the flags say of the model                        wanted
//	dataset.Opened    the files are open, targets and views found            dataset.OpenFiles
//	fitting.Problem   the cells are read, the estimator is chosen            fitting.Gather
//	fitting.Job       features, targets and kernels are made, memory checked Problem.Prepare
//	job               the fit of samples, of a table or of pairs             samples, factors, pairs
//	mkl.Model         fitted, and written                                    run
//	report.Report     printed                                                tell
type fitCmd struct {
	dataset.Flags       `embed:""`
	dataset.KernelsFlag `embed:""`
	model.TaskFlag      `embed:""`

	Model   *string `enum:"${models}" help:"Which model learns the task: see above. By default auto if it is for the task, otherwise the first model that is."`
	Output  string  `short:"o" placeholder:"FILE" help:"Model file to write; - is standard output, and the report then goes to standard error."`
	Samples bool    `help:"List the active samples with their weights."`

	ListKernels bool   `help:"List the active kernels of a pool with their weights."`
	Resume      string `group:"run" placeholder:"FILE" help:"File that keeps the state of the fit; the same command continues from it."`

	console.JSONFlag `embed:""`
	model.Settings   `embed:""`
	model.TableFlags `embed:""`
	fitting.Limits   `embed:""`

	More []string `arg:"" optional:"" help:"Further files of mkl sum, if the table is such a file."`
}

// Help describes tasks and models.
func (c *fitCmd) Help() string { return model.Help() }

// Run checks the flags, reads the data, fits, writes the model and reports.
func (c *fitCmd) Run(e *console.Env) error {
	parts, err := sums.OpenAll(append([]string{c.Data}, c.More...))
	switch {
	case err != nil:
		return err
	case c.More != nil && parts == nil:
		return console.Inputf("%s: a fit takes one table, or files that mkl sum wrote", c.More[0])
	}
	if err := e.CheckOutput(c.Output, false); err != nil {
		return err
	}
	if parts != nil {
		return c.fitSums(e, parts)
	}
	w, err := c.wanted()
	if err != nil {
		return err
	}
	j, err := c.job(e, w)
	if err != nil {
		return err
	}
	return c.run(e, j)
}

// wanted is what the flags say of the model.
func (c *fitCmd) wanted() (w model.Wanted, err error) {
	w = model.Wanted{Model: c.Model, Data: c.Flags, Settings: c.Settings, Tables: c.TableFlags}
	w.All, err = console.Flags(c, model.Vars())
	return w, err
}

// options say how the fit runs.
func (c *fitCmd) options() fitting.Options { return fitting.Options{Limits: c.Limits, Quiet: c.JSON} }

// job is a fit that is ready to run.
type job struct {
	est      *model.Estimator
	notes    *notes.Notes
	files    []*console.File // whose cells were read
	fit      func(journal *mkl.Journal) (mkl.Model, error)
	headline func(r *report.Report) string
	leftOut  func(r *report.Report, m mkl.Model) error // adds what is known of rows left out; nil of a table
}

// job reads what the task learns from.
func (c *fitCmd) job(e *console.Env, w model.Wanted) (*job, error) {
	switch {
	case c.Task == nil && (c.Rows != nil || c.Columns != nil):
		return nil, console.Inputf("-rows and -columns are for -task %s, of values, and -task %s, of labels", model.PairsTask, model.PairLabels)
	case c.Task == nil:
		return c.samples(e, w)
	case *c.Task == model.FactorsTask:
		return c.factors(e, w)
	case *c.Task == model.PairsTask, *c.Task == model.PairLabels:
		return c.pairs(e, w)
	}
	return c.samples(e, w)
}

// samples is a fit to samples. Without -task the cells of the target decide what is learned, once they are read.
func (c *fitCmd) samples(e *console.Env, w model.Wanted) (*job, error) {
	o, err := dataset.OpenFiles(e, c.Flags, c.Kernels, "")
	if err != nil {
		return nil, err
	}
	defer o.Close()
	p, err := fitting.Gather(o, w, fitting.Named(c.Task, o, c.Settings.Grades), c.Memory)
	if err != nil {
		return nil, err
	}
	made, err := provenance.Of(e, o.Files.All, c.Seed)
	if err != nil {
		return nil, err
	}
	opt := c.options()
	ready, err := p.Prepare(e, opt, made)
	if err != nil {
		return nil, err
	}
	say(e, ready.Lines)
	forecast := ""
	if !e.IsQuiet() {
		if forecast = ready.Forecast(e, opt); forecast != "" {
			fmt.Fprintln(e.Stderr, forecast)
		}
	}
	return &job{
		est: ready.Model.Estimator, notes: ready.Notes, files: o.Files.All,
		fit: func(journal *mkl.Journal) (mkl.Model, error) {
			if forecast != "" {
				before := cputime.Total()
				defer func() {
					fmt.Fprintf(e.Stderr, "the fit took %v of processor time\n", (cputime.Total() - before).Round(time.Second/10))
				}()
			}
			return ready.Run(e, opt, journal)
		},
		leftOut: func(r *report.Report, m mkl.Model) error {
			y := ready.Data.Targets
			return r.TellLeftOut(m, y.Numbers, y.Class, y.Classes)
		},
		headline: func(r *report.Report) string {
			kernels := len(ready.Data.Views)
			if est := ready.Model; est.Open || !est.Kernels() {
				kernels = len(r.Kernels)
			}
			return fmt.Sprintf("%s: %s, %s in %s, %s", o.Main.Name(), console.Plural(ready.Samples.Rows(), "sample"),
				console.Plural(kernels, ready.Model.Part), console.Plural(len(ready.Samples.Views), "view"), r.Learned(ready.Notes.Targets))
		},
	}, nil
}

// say prints notes on standard error.
func say(e *console.Env, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(e.Stderr, line)
	}
}

// factors is a fit to a table with gaps.
func (c *fitCmd) factors(e *console.Env, w model.Wanted) (*job, error) {
	r, err := model.Choose(w, *c.Task, 1)
	if err != nil {
		return nil, err
	}
	t, err := factors.Read(e, c.Flags, factors.Request{Task: r.Task, Entries: c.Entries, Groups: r.Tables.Groups, Kinds: r.Tables.ViewKind})
	if err != nil {
		return nil, err
	}
	say(e, t.Lines)
	made, err := provenance.Of(e, t.Files, c.Seed)
	if err != nil {
		return nil, err
	}
	rows, cols := t.Table.Dims()
	what := fmt.Sprintf("a fit of %s and %s", console.Plural(rows, "row"), console.Plural(cols, "column"))
	need := r.FactorAnalysis(model.Run{}, t.Views, t.Groups).EstimateMemory(rows, cols, t.Entries)
	if err := memory.Refuse(c.Memory, what, float64(need), nil); err != nil {
		return nil, console.Input(err)
	}
	n := &notes.Notes{Task: r.Task, Targets: t.Columns, Table: &t.Note, NA: c.NA, Made: made}
	return &job{
		est: r.Estimator, notes: n, files: t.Files,
		fit: c.table(e, n, func(ctx context.Context, run model.Run) (mkl.Model, error) {
			return r.FitFactors(ctx, run, t.Table, t.Views, t.Groups)
		}),
		headline: func(*report.Report) string {
			return fmt.Sprintf("%s: %s, %s, %s (%s %% of the table), factors", t.Name(), console.Plural(rows, "row"),
				console.Plural(cols, "column"), console.Plural(t.Entries, "entry"), console.Figure(100*float64(t.Entries)/float64(rows)/float64(cols)))
		},
	}, nil
}

// pairs is a fit to pairs of rows and columns.
func (c *fitCmd) pairs(e *console.Env, w model.Wanted) (*job, error) {
	r, err := model.Choose(w, *c.Task, 1)
	if err != nil {
		return nil, err
	}
	t, err := pairs.Read(e, pairs.Request{
		Flags: c.Flags, Task: r.Task, Form: r.Form, Entries: c.Entries, Rows: c.Rows, Columns: c.Columns, Kernels: c.Kernels,
	})
	if err != nil {
		return nil, err
	}
	open := dataset.Open(t.Views())
	d, left, err := r.PairData(t)
	if err != nil {
		return nil, err
	}
	say(e, append(t.Lines, left...))
	made, err := provenance.Of(e, t.Files, c.Seed)
	if err != nil {
		return nil, err
	}
	rows := mkl.FitSize{Samples: len(t.Rows.IDs), Kernels: len(d.Rows)}
	columns := mkl.FitSize{Samples: len(t.Cols.IDs), Kernels: len(d.Columns)}
	what := fmt.Sprintf("a fit of %s with %s and %s with %s", console.Plural(rows.Samples, "row"), console.Plural(rows.Kernels, "kernel"),
		console.Plural(columns.Samples, "column"), console.Plural(columns.Kernels, "kernel"))
	if err := memory.Refuse(c.Memory, what, float64(r.PairFitter(model.Run{}, open).Memory(rows, columns)), nil); err != nil {
		return nil, console.Input(err)
	}
	n := &notes.Notes{Task: r.Task, Targets: t.Note.Entries[2:], Pairs: &t.Note, NA: c.NA, Made: made}
	for _, f := range t.Features() {
		n.Views = append(n.Views, f.Note())
	}
	return &job{
		est: r.Estimator, notes: n, files: t.Files,
		fit: c.table(e, n, func(ctx context.Context, run model.Run) (mkl.Model, error) {
			return r.PairFitter(run, open).Fit(ctx, d)
		}),
		headline: func(*report.Report) string {
			n, all := len(t.Pairs.Entries), rows.Samples*columns.Samples
			return fmt.Sprintf("%s: %s, %s (%s %% of the table)", t.List.Name(), report.OfPairs(&t.Note, r.Task), console.Plural(n, "pair"),
				console.Figure(100*float64(n)/float64(all)))
		},
	}, nil
}

// table is the fit of a job that learns from a table.
func (c *fitCmd) table(e *console.Env, n *notes.Notes, fit func(context.Context, model.Run) (mkl.Model, error)) func(*mkl.Journal) (mkl.Model, error) {
	return func(journal *mkl.Journal) (mkl.Model, error) {
		encoded, err := n.Encode()
		if err != nil {
			return nil, err
		}
		return fitting.Run(e, c.JSON, c.Time, func(ctx context.Context, progress func(mkl.Progress)) (mkl.Model, error) {
			return fit(ctx, model.Run{Workers: c.Workers, Progress: progress, Journal: journal, Notes: encoded})
		})
	}
}

// run fits, from where the file of -resume stands if there is one, writes the model and reports.
func (c *fitCmd) run(e *console.Env, j *job) error {
	key, err := c.key(j)
	if err != nil {
		return err
	}
	state := fitting.NewState(c.Resume, key)
	ended, err := state.Begin(e)
	if err != nil {
		return err
	}
	m, fell := j.fit(state.Journal())
	ended()
	if m == nil {
		return fell
	}
	if err := state.End(fell == nil && c.Time == 0 && m.Trace().Converged); err != nil {
		return err
	}
	if e, err = c.keep(e, m); err != nil {
		return err
	}
	r := report.New(j.est, m, j.notes)
	r.ListSamples, r.ListKernels = c.Samples, c.ListKernels
	if j.leftOut != nil {
		if err := j.leftOut(r, m); err != nil {
			return err
		}
	}
	return c.tell(e, r, m, fell, j.headline(r))
}

// key stands for a fit: for the data, and for all flags except the flags that limit how far and how long it runs.
func (c *fitCmd) key(j *job) (string, error) {
	settings := c.Settings
	settings.Time = 0
	if j.est.Model != model.LandmarksModel { // where they bound what learns widths before
		settings.Sweeps = 0
	}
	return fitting.Key([]any{c.Flags, c.Kernels, c.Task, c.Model, settings, c.TableFlags}, j.files)
}

// keep writes the model, if that is wanted. If the model goes to standard output, the report goes to standard error:
// the standard output of the environment that is returned.
func (c *fitCmd) keep(e *console.Env, m mkl.Model) (*console.Env, error) {
	if c.Output == "" {
		return e, nil
	}
	if err := e.Create(c.Output, m.Save); err != nil || c.Output != console.Standard {
		return e, err
	}
	beside := *e
	beside.Stdout = e.Stderr
	return &beside, nil
}

// tell prints what was learned, below a headline, and what can be done next. A fit that an error ended needs no
// warning besides.
func (c *fitCmd) tell(e *console.Env, r *report.Report, m mkl.Model, ended error, headline string) error {
	r.Model = c.Output
	if ended == nil {
		if r.Reason == vi.Cancelled.String() { // by nothing else
			r.Reason = fitting.ErrTimeUp.Error()
		}
		r.Warn(e.Stderr)
	}
	if c.JSON {
		r.Trace = m.Trace().Bounds
		return errors.Join(console.PrintJSON(e.Stdout, r), c.unfinished(ended))
	}
	fmt.Fprintln(e.Stdout, headline)
	if r.LeftOut != nil {
		fmt.Fprintln(e.Stdout, r.LeftOut)
	}
	if err := r.Print(e.Stdout); err != nil {
		return errors.Join(err, c.unfinished(ended))
	}
	if c.Output != "" && c.Output != console.Standard {
		fmt.Fprintf(e.Stdout, "\nmodel: %s\n", c.Output)
	}
	if text := c.next(r); text != "" && ended == nil && e.IsTerminal() {
		fmt.Fprintln(e.Stderr, text)
	}
	return c.unfinished(ended)
}

// next says what can be done with the model; it is empty where another command reads the model already.
func (c *fitCmd) next(r *report.Report) string {
	switch {
	case c.Output == console.Standard:
		return ""
	case c.Output == "":
		return "next: the same with -o FILE keeps the model, to predict with it"
	case r.Factors != nil && c.Entries == "":
		return fmt.Sprintf("next: mkl complete %s FILE fills the gaps of a table", c.Output)
	}
	return fmt.Sprintf("next: mkl predict %[1]s FILE predicts new rows; mkl evaluate %[1]s FILE says how well, where the truth is known", c.Output)
}

// unfinished says what the model is worth where the ascent ended with an error.
func (c *fitCmd) unfinished(err error) error {
	switch {
	case err == nil:
		return nil
	case c.Output == "":
		return fmt.Errorf("%w; the model shown is from the sweeps before", err)
	case c.Output == console.Standard:
		return fmt.Errorf("%w; the model written is from the sweeps before", err)
	}
	return fmt.Errorf("%w; %s holds the model of the sweeps before", err, c.Output)
}
