package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// Run checks the flags, finds the columns in the files, reads them, fits, reports and
// writes the model. Without -task the cells of the target say what is to be learned,
// once they are read. A fit that needs too much memory is refused before the files are
// read, if the task and the rows are known, and again before the kernels are computed.
func (c *fitCmd) Run(e *console.Env) error {
	parts, err := openSums(append([]string{c.Data}, c.More...))
	switch {
	case err != nil:
		return err
	case parts != nil:
		return c.fitSums(e, parts)
	case c.More != nil:
		return console.Inputf("%s: a fit takes one table, or files that mkl sum wrote", c.More[0])
	case c.Task != nil && *c.Task == taskFactors:
		return c.fitFactors(e)
	case c.Task != nil && (*c.Task == taskPairs || *c.Task == taskPairLabels):
		return c.fitPairs(e)
	case c.Task == nil && (c.pairFlags.Rows != nil || c.pairFlags.Columns != nil):
		return console.Inputf("-rows and -columns are for -task %s, of values, and -task %s, of labels", taskPairs, taskPairLabels)
	case c.Target == "":
		return missingTarget(e, c.Data, c.Layout)
	}
	p, d, err := c.gather(e)
	if err != nil {
		return err
	}
	if !e.IsQuiet() {
		if text := p.forecast(e.Ctx, d); text != "" {
			fmt.Fprintln(e.Stderr, text)
		}
	}
	e, model, fell, err := p.kept(e, func() (mkl.Model, error) { return p.fitInTime(e.Ctx, d) })
	if err != nil {
		return err
	}
	rep := newReport(p.est, model, p.notes)
	rep.samples = p.Samples
	kernels := len(d.views)
	if p.est.open || !p.est.kernels() {
		kernels = len(rep.Kernels)
	}
	return c.tell(e, rep, model, fell, fmt.Sprintf("%s: %s, %s in %s, %s", p.main.Name(), console.Plural(p.main.Data.Rows, "sample"),
		console.Plural(kernels, p.est.partName()), console.Plural(len(p.views), "view"), rep.learned(p.notes.Targets)))
}

// kept fits a model, from where the journal stands if there is one, and writes it. The report on it goes
// to the environment that is returned; fell says how a fit ended that has a model all the same.
func (p *problem) kept(e *console.Env, fit func() (mkl.Model, error)) (to *console.Env, m mkl.Model, fell, err error) {
	key, err := p.fitKey()
	if err != nil {
		return nil, nil, nil, err
	}
	ended, err := p.resumed.begin(e, key)
	if err != nil {
		return nil, nil, nil, err
	}
	m, fell = p.bar.finish(fit())
	ended()
	if m == nil {
		return nil, nil, nil, fell
	}
	if err := p.resumed.end(fell == nil && p.Time == 0 && m.Trace().Converged); err != nil {
		return nil, nil, nil, err
	}
	to, err = p.keep(e, m)
	return to, m, fell, err
}

// keep writes the model, if that is wanted. Where standard output has it, the report
// goes to standard error: that of the environment that is returned.
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

// gather checks the flags, reads what is to be learned from and says what was done to it.
func (c *fitCmd) gather(e *console.Env) (*problem, *data, error) {
	if err := c.checkNumbers(); err != nil {
		return nil, nil, err
	}
	if err := c.checkSampling(); err != nil {
		return nil, nil, err
	}
	if err := e.CheckOutput(c.Output, false); err != nil {
		return nil, nil, err
	}
	opt, err := c.Options()
	if err != nil {
		return nil, nil, err
	}
	fs := &console.Files{Env: e, Opt: opt, Join: c.Join}
	defer fs.Close()
	p := &problem{fitCmd: c, bar: &sweepBar{env: e, quiet: c.JSON}, resumed: newResumption(c.Resume)}
	if p.main, err = fs.Open(c.Data); err != nil {
		return nil, nil, err
	}
	if err := p.findTargets(); err != nil {
		return nil, nil, err
	}
	guess := c.task == ""
	if guess {
		p.main.Need(p.targets[0], table.Undecided)
	} else {
		if err := p.choose(); err != nil {
			return nil, nil, err
		}
		for _, j := range p.targets {
			p.main.Need(j, p.targetKind())
		}
	}
	if p.views, err = c.views(fs, p.main, p.targets); err != nil {
		return nil, nil, err
	}
	if !guess {
		if err := p.prepare(); err != nil {
			return nil, nil, err
		}
		if n := p.main.Rows(); n >= 0 {
			if err := p.checkMemory(n, len(p.targets)); err != nil {
				return nil, nil, err
			}
		}
	}
	if _, err := fs.Read(); err != nil {
		return nil, nil, p.hint(err)
	}
	if c.made, err = provenanceOf(e, fs, c.Seed); err != nil {
		return nil, nil, err
	}
	if guess {
		if err := p.guess(p.choose); err != nil {
			return nil, nil, err
		}
		if err := p.checkViews(p.est, p.views); err != nil {
			return nil, nil, err
		}
	}
	d, notes, err := p.learn(fs)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range notes {
		fmt.Fprintln(e.Stderr, note)
	}
	return p, d, nil
}

// tell prints what was learned, below a headline, and what can be done next. A fit that an error ended needs
// no warning besides.
func (c *fitCmd) tell(e *console.Env, rep *report, m mkl.Model, ended error, headline string) error {
	rep.Model = c.Output
	if ended == nil {
		if rep.Reason == vi.Cancelled.String() { // by nothing else
			rep.Reason = errTimeUp.Error()
		}
		rep.warn(e.Stderr)
	}
	if c.JSON {
		rep.Trace = m.Trace().Bounds
		return errors.Join(console.PrintJSON(e.Stdout, rep), c.unfinished(ended))
	}
	fmt.Fprintln(e.Stdout, headline)
	if err := rep.print(e.Stdout); err != nil {
		return errors.Join(err, c.unfinished(ended))
	}
	if c.Output != "" && c.Output != console.Standard {
		fmt.Fprintf(e.Stdout, "\nmodel: %s\n", c.Output)
	}
	if text := c.next(rep); text != "" && ended == nil && e.IsTerminal() {
		fmt.Fprintln(e.Stderr, text)
	}
	return c.unfinished(ended)
}

// next says what can be done with the model; it is empty where another command reads it already.
func (c *fitCmd) next(rep *report) string {
	switch {
	case c.Output == console.Standard:
		return ""
	case c.Output == "":
		return "next: the same with -o FILE keeps the model, to predict with it"
	case rep.Factors != nil && c.Entries == "":
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
		return fmt.Errorf("%w; the model shown is that of the sweeps before", err)
	case c.Output == console.Standard:
		return fmt.Errorf("%w; the model written is that of the sweeps before", err)
	}
	return fmt.Errorf("%w; %s holds the model of the sweeps before", err, c.Output)
}

// problem is what a command line asks mkl fit to learn.
type problem struct {
	*fitCmd
	main    *console.File
	targets []int
	views   []view
	bar     *sweepBar
	resumed *resumption // the file of -resume; nil if there is none

	// These are known once the task is.
	est        *estimator
	prior      map[string]mkl.Gamma
	classPrior map[string]mkl.Gamma
	on         []float64 // of -prior sigma
	scaled     scales
	notes      *notes
	settings   *settings
	fitter

	guessed string // how the task was told, if it was not named
}

// findTargets finds the target columns, and the task if the flags tell it.
func (p *problem) findTargets() error {
	items, err := spec.ParseColumns(p.Target)
	if err != nil {
		return console.Inputf("-target %w", err)
	}
	if p.targets, err = spec.Select(items, p.main.Columns(), nil); err != nil {
		return console.Inputf("-target: %s: %w%s", p.main.Name(), err, spaced(p.main))
	}
	switch {
	case p.Task != nil:
		p.task = *p.Task
	case len(p.targets) > 1:
		p.task = taskRegression
	}
	return nil
}

// oneColumn finds the column that a flag names, which is none of except; -1 if the flag is empty.
func oneColumn(f *console.File, flag, name string, except []int) (int, error) {
	if name == "" {
		return -1, nil
	}
	items, err := spec.ParseColumns(name)
	if err != nil {
		return 0, console.Inputf("%s %w", flag, err)
	}
	found, err := spec.Select(items, f.Columns(), except)
	if err != nil {
		return 0, console.Inputf("%s: %s: %w", flag, f.Name(), err)
	}
	if len(found) != 1 {
		return 0, console.Inputf("%s %s: that is %d columns", flag, name, len(found))
	}
	return found[0], nil
}

// missingTarget asks for -target with the columns that there are.
func missingTarget(e *console.Env, path string, layout console.Layout) error {
	opt, err := layout.Options()
	if err != nil {
		return err
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	return console.Inputf("-target is missing, the column to learn: %s: %s%s", f.Name(), spec.List(f.Columns()), spaced(f))
}

// nameless reports whether the columns of a file are called by their positions.
func nameless(names []string) bool {
	for j, name := range names {
		if name != strconv.Itoa(j+1) {
			return false
		}
	}
	return true
}

// spaced is a hint where a table of one column may be one whose cells spaces separate, or where the columns
// have no names.
func spaced(f *console.File) string {
	if nameless(f.Columns()) {
		return "; the file has no line of names, and its columns are called by their positions (-header yes takes the first line for names)"
	}
	if names := f.Columns(); len(names) == 1 && len(strings.Fields(names[0])) > 1 {
		return "; the table has one column: if spaces separate its cells, -separator space"
	}
	return ""
}

// choose finds the estimator for the task and refuses flags and targets that are not
// for it.
func (p *problem) choose() (err error) {
	if p.est, err = p.estimator(len(p.targets)); err != nil {
		return err
	}
	if err := p.check(p.est); err != nil {
		return err
	}
	if p.prior, err = p.priors(p.est); err != nil {
		return err
	}
	if p.classPrior, err = p.classPriors(); err != nil {
		return err
	}
	if p.on, err = p.switches(); err != nil {
		return err
	}
	if p.scaled, err = p.scales(); err != nil {
		return err
	}
	switch {
	case p.est.form == numbers && p.task != taskRegression && len(p.targets) < 2:
		return console.Inputf("-task %s needs several targets", p.task)
	case p.est.one && len(p.targets) != 1:
		return console.Inputf("-model %s needs one target, not %d", p.model, len(p.targets))
	case p.est.form == classes && len(p.targets) != 1:
		return console.Inputf("-task %s needs one target, the column of labels, not %d", p.task, len(p.targets))
	}
	return nil
}

// prepare sets the estimator up for the views as far as they are known.
func (p *problem) prepare() error {
	if err := p.checkViews(p.est, p.views); err != nil {
		return err
	}
	if err := p.scaled.check(p.views); err != nil {
		return err
	}
	p.notes = p.describe(p.views, p.main, p.targets)
	encoded, err := p.notes.encode()
	if err != nil {
		return err
	}
	store, err := p.storage()
	if err != nil {
		return err
	}
	p.settings = &settings{
		fitCmd: p.fitCmd, prior: p.prior, classPrior: p.classPrior, on: p.on, scaled: p.scaled, features: p.views[0].features(),
		fitting: mkl.Fitting{
			Seed: p.Seed, Restarts: p.Restarts, Tolerance: p.Tolerance, MaxSweeps: p.Sweeps,
			AllowDuplicates: p.AllowDuplicates || open(p.views), // kernels that the data suggest are not the user's mistake
			MissingViews:    p.Missing == missingViews,
			Storage:         store, Journal: p.resumed.of(),
			Workers: p.Workers, Progress: p.bar.show, Notes: encoded,
		},
	}
	p.fitter = p.est.build(p.settings)
	return nil
}

// guess tells the task by the cells of the target, which were read as they are, lets settle find the
// estimator for it, and reads the cells anew as that takes them.
func (p *problem) guess(settle func() error) error {
	j := p.targets[0]
	cells := p.main.Data.Labels[j]
	p.task, p.guessed = guessTask(cells)
	if err := p.checkLabels(cells); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	if err := p.main.Data.Decide(j, p.targetKind()); err != nil {
		return p.hint(console.Input(err))
	}
	return nil
}

// doubtsAndTask says what is odd about the targets, and how the task was told if it was not named.
func (p *problem) doubtsAndTask(d *data) []string {
	lines := p.doubts(d)
	if p.guessed != "" {
		lines = append(lines, fmt.Sprintf("task: %s (column %s %s)", p.task, p.main.Columns()[p.targets[0]], p.guessed))
	}
	return lines
}

// learn makes features of the columns that were read and returns what the estimator is to
// learn from, and what is to be told of it.
func (p *problem) learn(fs *console.Files) (d *data, notes []string, err error) {
	planned, err := p.makePlan(fs)
	if err != nil {
		return nil, nil, err
	}
	notes = append(fs.Remarks(), planned...)
	if d, err = p.learnTargets(); err != nil {
		return nil, nil, err
	}
	if err := p.prepare(); err != nil { // where the task was named for the second time: now the features are known
		return nil, nil, err
	}
	if err := p.checkMemory(p.main.Data.Rows, p.outputs(d)); err != nil {
		return nil, nil, err
	}
	if err := p.compare(p.bar.env.Ctx); err != nil {
		return nil, nil, err
	}
	notes = append(notes, p.doubtsAndTask(d)...)
	if !p.est.kernels() {
		d.features = p.views[0].x
		return d, notes, nil
	}
	views, left, err := p.mklViews(p.est, p.views)
	d.views = views
	for _, note := range left {
		notes = append(notes, "kernels: "+p.notes.nameColumns(note))
	}
	return d, notes, err
}

// learnTargets returns the targets in the estimator's form.
func (p *problem) learnTargets() (*data, error) {
	d, main := &data{}, p.main
	switch p.est.form {
	case numbers:
		for _, j := range p.targets {
			d.numbers = append(d.numbers, main.Data.Numbers[j])
		}
	case classes:
		d.class = main.Data.Labels[p.targets[0]]
		d.classes = table.Classes(d.class)
		if p.task == taskBinary && len(d.classes) != 2 {
			return nil, console.Inputf("%s: column %q has %s where -task %s needs 2: %s", main.Name(), main.Columns()[p.targets[0]],
				console.Plural(len(d.classes), "class"), p.task, strings.Join(d.classes[:min(5, len(d.classes))], ", "))
		}
	case labels:
		for _, j := range p.targets {
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
			return nil, console.Input(f.Data.Cell(i, column, fmt.Sprintf("%q is neither 1, true or yes nor 0, -1, false or no", text)))
		}
	}
	return has, nil
}
