package model

import (
	"context"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// Estimator is an estimator of package mkl as the command knows it. Whatever the commands and their help need to
// know of an estimator is a field of it.
type Estimator struct {
	Model string       // its name for -model
	Tasks []string     // its names for -task; a second one is for several targets, or more than two classes
	Kind  string       // the name of its models, as [mkl.Model.Kind] has it
	Form  dataset.Form // what its targets are
	One   bool         // it has one target, whatever the task
	Some  bool         // it has two targets or more
	Open  bool         // it chooses the kernels of views that have none
	Timed bool         // it stops by itself when the time is up
	Many  bool         // its time grows with the rows, not with their square
	Gaps  bool         // its samples may lack views
	Pairs bool         // it learns pairs of rows and columns, each with views of their own
	Part  string       // what its weights belong to: kernels, or else features or factors

	takes    string   // flags that mean something to it and nothing to some other estimators
	priors   []string // what -prior can set
	complete string   // why -missing-targets is refused, where that is not plain from the model

	settle func(r *Request) (*settled, error) // checks the settings; nil for tables, which [Request] has methods for
}

// Tasks that more than a row of the table must know.
const (
	Regression  = "regression"  // of one target or several
	Multioutput = "multioutput" // what regression of several is called afterwards
	Binary      = "binary"      // needs two classes
	Multiclass  = "multiclass"
	FactorsTask = "factors" // a table with gaps
	PairsTask   = "pairs"   // values of pairs
	PairLabels  = "pairlabels"
	CountsTask  = "counts"   // 0, 1, 2, …
	Survival    = "survival" // times until an event
	OrdinalTask = "ordinal"  // grades, which are in order
)

// Names of models that more than a row of the table must know.
const (
	Auto = "auto"
	BMKL = "bmkl" // the only model for every task of samples

	LandmarksModel = "landmarks" // the model of plans and sums
)

// partKernel is what most weights belong to.
const partKernel = "kernel"

// estimators is the table. The first that is for a task is the task's default.
var estimators = slices.Concat(autoRows, bmklRows, mgpRows, countRows, survivalRows, ordinalRows, probitRows, landmarkRows, spikeSlabRows, factorRows, pairRows)

// Of returns the estimator whose models have the kind, nil if no estimator has.
func Of(kind string) *Estimator {
	for _, est := range estimators {
		if est.Kind == kind {
			return est
		}
	}
	return nil
}

// Find returns the estimator for a task and so many targets: the one that the model names or, if that is nil, the
// default.
func Find(task string, model *string, targets int) (*Estimator, error) {
	var named *Estimator // which is for another number of targets
	for _, est := range estimators {
		switch {
		case !slices.Contains(est.Tasks, task) || model != nil && est.Model != *model:
		case est.suits(targets):
			return est, nil
		case named == nil:
			named = est
		}
	}
	if model != nil && named == nil {
		return nil, console.Inputf("-model %s is for -task %s, not %s", *model, console.List(tasksOf(*model)), task)
	}
	return named, nil
}

// suits reports whether the estimator is for so many targets.
func (est *Estimator) suits(targets int) bool {
	return !(est.One && targets > 1 || est.Some && targets == 1)
}

// ForTask lists the estimators for a task of one target.
func ForTask(task string) (all []*Estimator) {
	for _, est := range estimators {
		if slices.Contains(est.Tasks, task) && !est.Some {
			all = append(all, est)
		}
	}
	return all
}

// distinct lists the names that each estimator has, each of them once.
func distinct(names func(*Estimator) []string) (all []string) {
	for _, est := range estimators {
		for _, n := range names(est) {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// Models are the values of -model.
func Models() []string { return distinct(func(est *Estimator) []string { return []string{est.Model} }) }

// TargetModels are the models that learn targets of samples.
func TargetModels() []string {
	return distinct(func(est *Estimator) []string {
		if est.OfTable() || est.Pairs {
			return nil
		}
		return []string{est.Model}
	})
}

// Tasks are the values of -task.
func Tasks() []string { return distinct(func(est *Estimator) []string { return est.Tasks }) }

// Together are the tasks that learn several targets of a form. If gaps, some targets of a sample may be missing.
func Together(form dataset.Form, gaps bool) (all []string) {
	for _, est := range estimators {
		if est.Form != form || est.One || gaps && !est.Takes("missing-targets") {
			continue
		}
		for _, task := range est.Tasks {
			if task != Regression {
				all = append(all, task)
			}
		}
	}
	return all
}

func tasksOf(model string) []string {
	return distinct(func(est *Estimator) []string {
		if est.Model != model {
			return nil
		}
		return est.Tasks
	})
}

// OfTable reports whether the estimator learns from the entries of a table.
func (est *Estimator) OfTable() bool { return est.Form == dataset.Entries }

// Kernels reports whether the estimator learns by kernels.
func (est *Estimator) Kernels() bool { return est.Part == partKernel }

// Takes reports whether a flag means something to the estimator.
func (est *Estimator) Takes(flag string) bool {
	return slices.Contains(strings.Fields(est.takes), flag)
}

// Optional reports whether a flag means something to some estimators only.
func Optional(flag string) bool {
	return slices.ContainsFunc(estimators, func(est *Estimator) bool { return est.Takes(flag) })
}

// TaskOf returns the task that a model of the estimator's was fitted for, by the number of its targets or classes.
func (est *Estimator) TaskOf(m mkl.Model) string {
	several := len(m.Outputs()) > 1
	if c, ok := m.(mkl.ClassModel[string]); ok {
		several = len(c.Classes()) > 2
	}
	if several {
		return est.Tasks[len(est.Tasks)-1]
	}
	return est.Tasks[0]
}

// Learner says which views the estimator takes.
func (est *Estimator) learner(rawColumns bool) dataset.Learner {
	return dataset.Learner{Chooses: est.Open, Functions: est.Kind == kindMultiTask, RawColumns: rawColumns}
}

// Fitter is an estimator of package mkl with its settings.
type Fitter struct {
	Memory func(mkl.FitSize) int64
	Fit    func(ctx context.Context, d *Data) (mkl.Model, error)
}

// Data is what an estimator learns from: views, or the columns of the only view for an estimator without kernels,
// and targets in its form.
type Data struct {
	dataset.Targets
	Views []mkl.View

	Features mkl.Features
	Names    []string // of the features
}

// AsModel returns a fit as a model of any kind, nil if the fit failed.
func AsModel[M interface {
	comparable
	mkl.Model
}](m M, err error) (mkl.Model, error) {
	var none M
	if m == none {
		return nil, err
	}
	return m, err
}
