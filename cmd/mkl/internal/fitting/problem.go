// Package fitting runs fits: it brings together a data set that was read and a model that was asked for, checks that
// memory suffices, and fits under a progress bar, with a limit of time and a file that keeps the state.
//
//	Problem  a table with the model that is to learn it
//	Job      features, targets and kernels are made: nothing is missing but the time   Problem.Prepare
//	         the model                                                                 Job.Run
package fitting

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/mkl"
)

// Limits are the flags that say what a computation may take of the machine.
type Limits struct {
	console.WorkersFlag `embed:"" group:"run"`

	Memory memory.Size `group:"run" placeholder:"SIZE" help:"Refuse a computation that needs more memory than this, such as 8GiB; by default what the machine has available."`
}

// Options are the flags, and whether to show no progress.
type Options struct {
	Limits
	Quiet bool
}

// Problem is a table that was read, with the model that is to learn it.
type Problem struct {
	Table   *dataset.Table
	Model   *model.Request
	Guessed string // what about the target column decided the task; empty if the task was named
}

// Read reads the cells of a data set and finds the task: the given one or, if that is empty, the task that the cells
// of the only target suggest, for the reason in guessed. form finds the form of a task's targets. The columns in more
// are read as well.
func Read(o *dataset.Opened, named string, form func(task string) (dataset.Form, error), more ...table.Want) (t *dataset.Table, task, guessed string, err error) {
	kind := func(task string) (table.Kind, error) {
		f, err := form(task)
		return o.TargetKind(f), err
	}
	if named != "" {
		k, err := kind(named)
		if err != nil {
			return nil, "", "", err
		}
		t, err = o.Read(k, more...)
		return t, named, "", err
	}
	if t, err = o.Read(table.Undecided, more...); err != nil {
		return nil, "", "", err
	}
	task, guessed = model.Guess(t.Undecided())
	if err := model.CheckGuess(task, t); err != nil {
		return nil, "", "", err
	}
	k, err := kind(task)
	if err != nil {
		return nil, "", "", err
	}
	return t, task, guessed, t.Decide(k)
}

// Named is the task that the flags name: -task, or what the columns beside the target or several targets are for. It is empty if the
// cells of the target are to say.
func Named(task *string, o *dataset.Opened, grades []string) string {
	switch {
	case task != nil:
		return *task
	case len(o.Targets) > 1:
		return model.Regression
	case o.Flags.Event != "", o.Flags.Upper != "":
		return model.Survival
	case len(grades) > 0:
		return model.OrdinalTask
	case o.Flags.Exposure != "":
		return model.CountsTask
	}
	return ""
}

// Remarks say what is odd about the targets, and how the task was inferred if it was not named.
func Remarks(t *dataset.Table, form dataset.Form, y dataset.Targets, task, guessed string) []string {
	lines := model.Doubts(form, t.TargetName(), y, guessed != "")
	if form == dataset.Times {
		lines = append(lines, timesKnown(t.TargetName(), y.Times))
		lines = append(lines, zeroTimes(t, y.Times)...)
	}
	lines = append(lines, rowsDiffer(t, y)...)
	if guessed != "" {
		lines = append(lines, fmt.Sprintf("task: %s (column %s %s)", task, t.TargetName(), guessed))
	}
	return lines
}

// rowsDiffer says that the rows of a regression have offsets, weights or known noise, and what predictions then mean.
func rowsDiffer(t *dataset.Table, y dataset.Targets) (lines []string) {
	names, b := t.Main.Columns(), t.Beside
	if b.Offset >= 0 {
		lines = append(lines, fmt.Sprintf("column %s: an offset, subtracted from %s for the fit; predictions add the offsets of their rows", names[b.Offset], t.TargetName()))
	}
	switch {
	case y.Weights == nil:
	case b.Noise >= 0:
		lines = append(lines, fmt.Sprintf("column %s: standard deviations of the noise; intervals are of targets with noise of %s, their root mean square",
			names[b.Noise], console.Figure(y.NoiseSD)))
	default:
		lines = append(lines, fmt.Sprintf("column %s: weights from %s to %s; intervals are of targets of weight 1", names[b.Weights],
			console.Figure(slices.Min(y.Weights)), console.Figure(slices.Max(y.Weights))))
	}
	return lines
}

// zeroTimes says what times of 0 count as, if there are any. No other time is half of the least.
func zeroTimes(t *dataset.Table, times []mkl.Lifetime) []string {
	half, zeros := t.Beside.ZeroTime(t.Main, t.Targets[0]), 0
	for _, at := range times {
		if at.From == half {
			zeros++
		}
	}
	if zeros == 0 {
		return nil
	}
	return []string{fmt.Sprintf("column %s: %s of 0 counted as %s, half of the least positive time", t.TargetName(),
		console.Plural(zeros, "time"), console.Figure(half))}
}

// timesKnown says how many times are known, and what is known of the others.
func timesKnown(name string, times []mkl.Lifetime) string {
	var known, later, earlier, between int
	for _, t := range times {
		switch {
		case t.From == t.To:
			known++
		case math.IsInf(t.To, 1):
			later++
		case t.From == 0:
			earlier++
		default:
			between++
		}
	}
	text := fmt.Sprintf("column %s: %s known", name, console.Plural(known, "time"))
	for _, one := range []struct {
		n    int
		what string
	}{{later, "later than the last observation"}, {earlier, "earlier than the first"}, {between, "between two"}} {
		if one.n > 0 {
			text += fmt.Sprintf(", %d %s", one.n, one.what)
		}
	}
	return text
}

// Gather reads the cells of a data set for the model that the command line asks for: for the named task, or for the
// task that the cells suggest. A fit that needs too much memory is refused before the files are read, if the task and
// the number of rows are known.
func Gather(o *dataset.Opened, w model.Wanted, named string, limit memory.Size) (*Problem, error) {
	choose := func(task string) (*model.Request, error) {
		r, err := model.Choose(w, task, len(o.Targets))
		if err != nil {
			return nil, err
		}
		return r, r.CheckViews(o.Views)
	}
	t, task, guessed, err := Read(o, named, func(task string) (dataset.Form, error) {
		r, err := choose(task)
		if err != nil {
			return 0, err
		}
		if n := o.Main.Rows(); named != "" && n >= 0 {
			err = r.CheckMemory(limit, o.Shapes(), n, len(o.Targets))
		}
		return r.Form, err
	})
	if err != nil {
		return nil, err
	}
	r, err := choose(task)
	if err != nil {
		return nil, err
	}
	return &Problem{t, r, guessed}, nil
}

// Job is a fit that is ready to run.
type Job struct {
	Model   *model.Request
	Samples *dataset.Samples
	Data    *model.Data
	Notes   *notes.Notes
	Lines   []string // what is to be said of the data
}

// Prepare makes features of the cells that were read, checks that memory suffices, and makes the views and targets of
// the estimator. made says how the command makes the model; nil if the model is not kept.
func (p Problem) Prepare(e *console.Env, opt Options, made *provenance.Made) (*Job, error) {
	r := p.Model
	if !r.Takes("text") {
		p.Table.Text = string(plan.OneHot)
	}
	s, lines, err := p.Table.Samples()
	if err != nil {
		return nil, err
	}
	lines = append(p.Table.Files.Remarks(), lines...)
	y, err := Targets(s, r.Form, r.Task)
	if err != nil {
		return nil, err
	}
	if err := r.CheckMemory(opt.Memory, s.Shapes(), s.Rows(), y.Outputs()); err != nil {
		return nil, err
	}
	if s, err = s.Compare(e, opt.Quiet, opt.Workers); err != nil {
		return nil, err
	}
	j := &Job{Model: r, Samples: s, Data: &model.Data{Targets: y}, Notes: s.Notes(r.LearnedTask(len(s.Targets)), made)}
	j.Lines = slices.Concat(lines, Remarks(p.Table, r.Form, y, r.Task, p.Guessed), Copies(s.Features, s.Rows(), y))
	if !r.Kernels() {
		j.Data.Features, j.Data.Names = s.Features[0].X, s.Features[0].Names()
		return j, nil
	}
	views, left, err := dataset.KernelViews(s.Features, r.Learner())
	for _, note := range left {
		j.Lines = append(j.Lines, "kernels: "+j.Notes.NameColumns(note))
	}
	j.Data.Views = views
	return j, err
}

// Targets returns the targets of a task in its form.
func Targets(s *dataset.Samples, form dataset.Form, task string) (dataset.Targets, error) {
	y, err := s.TargetsAs(form)
	if err == nil && form == dataset.Times {
		err = s.Beside.SomeEvent(s.Main, y.Times)
	}
	if err == nil && task == model.CountsTask {
		err = s.AllCounts()
	}
	if err == nil && task == model.Binary && len(y.Classes) != 2 {
		return y, console.Inputf("%s: column %q has %s where -task %s needs 2: %s", s.Main.Name(), s.TargetName(),
			console.Plural(len(y.Classes), "class"), task, strings.Join(y.Classes[:min(5, len(y.Classes))], ", "))
	}
	return y, err
}

// Run fits. The journal, if there is one, keeps the state. If the fit ended with an error and has a model all the
// same, Run returns both.
func (j *Job) Run(e *console.Env, opt Options, journal *mkl.Journal) (mkl.Model, error) {
	encoded, err := j.Notes.Encode()
	if err != nil {
		return nil, err
	}
	defer memory.Keep(opt.Memory)()
	limit := j.Model.Settings.Time
	if j.Model.Timed {
		limit = 0
	}
	return Run(e, opt.Quiet, limit, func(ctx context.Context, progress func(mkl.Progress)) (mkl.Model, error) {
		run := model.Run{Workers: opt.Workers, Progress: progress, Journal: journal, Notes: encoded}
		return j.Model.Fitter(run, j.Samples.Views).Fit(ctx, j.Data)
	})
}
