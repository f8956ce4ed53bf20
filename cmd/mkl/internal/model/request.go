package model

import (
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// Wanted is what a command line says of a model.
type Wanted struct {
	Model    *string // of -model; nil is the default of the task
	Data     dataset.Flags
	Settings Settings
	Tables   TableFlags

	All []console.Flag // all flags of the command: flags that mean nothing to the estimator are refused
}

// Request is a model as the command line asks for it: an estimator whose settings were checked.
type Request struct {
	*Estimator
	Task     string
	Data     dataset.Flags
	Settings Settings
	Tables   TableFlags

	given   []string             // flags that have another value than their default
	priors  map[string]mkl.Gamma // of -prior and -sparse, by name, where they differ from the default
	storage mkl.KernelStorage
	*settled
}

// settled is the settings of a model, which were checked.
type settled struct {
	fitter func(*fitting) Fitter
	views  func([]dataset.View) error // refuses views that the settings do not suit; nil if every view suits
}

// Choose finds the estimator for a task with so many targets and checks the flags that it takes.
func Choose(w Wanted, task string, targets int) (*Request, error) {
	est, err := Find(task, w.Model, targets)
	if err != nil {
		return nil, err
	}
	r := &Request{Estimator: est, Task: task, Data: w.Data, Settings: w.Settings, Tables: w.Tables}
	if err := r.refuse(w.All); err != nil {
		return nil, err
	}
	if err := r.checkTargets(targets); err != nil {
		return nil, err
	}
	return r, r.prepare()
}

// As is the request for another model of the same task, with the same settings.
func (r *Request) As(model string) (*Request, error) {
	return Choose(Wanted{Model: &model, Data: r.Data, Settings: r.Settings, Tables: r.Tables}, r.Task, 1)
}

// LearnedTask is what the task is called afterwards.
func (r *Request) LearnedTask(targets int) string {
	if r.Task == Regression && targets > 1 && slices.Contains(r.Tasks, Multioutput) {
		return Multioutput
	}
	return r.Task
}

// prepare reads the settings and checks them.
func (r *Request) prepare() (err error) {
	if r.storage, err = r.Settings.storage(); err != nil {
		return err
	}
	if r.priors, err = r.parsePriors(); err != nil {
		return err
	}
	if r.settle != nil {
		r.settled, err = r.settle(r)
	}
	return err
}

// refuse refuses flags that mean nothing to the estimator.
func (r *Request) refuse(all []console.Flag) error {
	for _, f := range all {
		if !f.Given() {
			continue
		}
		r.given = append(r.given, f.Name)
		switch {
		case !Optional(f.Name) || r.Takes(f.Name):
		case f.Name == "missing-targets" && r.complete != "":
			return console.Inputf("-missing-targets is not for -task %s: %s", r.Task, r.complete)
		default:
			takes := func(est *Estimator) bool { return est.Takes(f.Name) }
			return console.Inputf("-%s is not for -task %s with -model %s%s", f.Name, r.Task, r.Model, r.others(takes))
		}
	}
	if r.Data.Missing == dataset.MissingViews && !r.Gaps {
		return console.Inputf("-missing views is not for -task %s with -model %s%s", r.Task, r.Model, r.others(func(est *Estimator) bool { return est.Gaps }))
	}
	return nil
}

// others says which models for the task would do.
func (r *Request) others(do func(*Estimator) bool) string {
	var models []string
	for _, est := range ForTask(r.Task) {
		if do(est) {
			models = append(models, "-model "+est.Model)
		}
	}
	if models == nil {
		return ""
	}
	return " (it is for " + console.List(models) + ")"
}

// checkTargets refuses a number of targets that the task or the model is not for.
func (r *Request) checkTargets(n int) error {
	switch {
	case r.OfTable() || r.Pairs:
		return nil
	case r.Form == dataset.Numbers && r.Task != Regression && !r.One && r.Kind != kindMultiTask && n < 2:
		return console.Inputf("-task %s needs several targets", r.Task)
	case r.One && n != 1:
		return console.Inputf("-model %s needs one target, not %d", r.Model, n)
	case r.Form == dataset.Classes && n != 1:
		return console.Inputf("-task %s needs one target, the column of labels, not %d", r.Task, n)
	}
	return nil
}

// CheckViews refuses views that the model is not for.
func (r *Request) CheckViews(views []dataset.View) error {
	open := dataset.Open(views)
	switch {
	case r.Kernels() && r.Data.RawColumns && open:
		return console.Inputf("-raw-columns needs -kernels or views with kernels: the kernels that the command chooses are for standardised columns")
	case r.Kernels():
	case len(views) > 1:
		return console.Inputf("-model %s has one view, not %d", r.Model, len(views))
	case !open:
		return console.Inputf("-view %s: -model %s has no kernels", r.Data.View[0], r.Model)
	}
	if r.settled == nil || r.settled.views == nil {
		return nil
	}
	return r.settled.views(views)
}

// Learner says which views the model takes.
func (r *Request) Learner() dataset.Learner { return r.learner(r.Data.RawColumns) }

// Run is how a fit runs, which does not change the model.
type Run struct {
	Workers  int
	Progress func(mkl.Progress)
	Journal  *mkl.Journal      // nil if the state is not kept
	Notes    map[string]string // for the model
}

// fitting is the settings that flags give to a fit. Estimators take the settings that they have.
type fitting struct {
	mkl.Fitting
	mkl.Ascent
	allowDuplicates, missingViews bool
	storage                       mkl.KernelStorage
}

// climb is the settings of sweeps as a fit by the evidence has them.
func (f *fitting) climb() mkl.Climb { return mkl.Climb{MinRise: f.Tolerance, MaxSteps: f.MaxSweeps} }

// fitting collects the settings of a fit. suggested reports whether the data suggest kernels: if two
// of these are the same matrix it is not the user's mistake.
func (r *Request) fitting(run Run, suggested bool) *fitting {
	s := &r.Settings
	return &fitting{
		Fitting:         mkl.Fitting{Seed: s.Seed, Workers: run.Workers, Progress: run.Progress, Journal: run.Journal, Notes: run.Notes},
		Ascent:          mkl.Ascent{Restarts: s.Restarts, Tolerance: s.Tolerance, MaxSweeps: s.Sweeps},
		allowDuplicates: s.AllowDuplicates || suggested, missingViews: r.Data.Missing == dataset.MissingViews, storage: r.storage,
	}
}

// Fitter makes the estimator. Some of its views may be open.
func (r *Request) Fitter(run Run, views []dataset.View) Fitter {
	return r.fitter(r.fitting(run, dataset.Open(views)))
}
