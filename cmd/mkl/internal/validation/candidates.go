package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// kernelSet is one of -kernels.
type kernelSet struct {
	name    string // auto: what the data suggest
	kernels dataset.Kernels
}

// autoSet is the set of kernels that the data suggest.
const autoSet = "auto"

// kernelSets reads -kernels.
func (c *comparison) kernelSets() (all []kernelSet, err error) {
	if len(c.Kernels) == 0 {
		return []kernelSet{{name: autoSet}}, nil
	}
	if !dataset.Open(c.samples.Views) {
		return nil, console.Inputf("-kernels is for views that name no kernels, and every view names kernels")
	}
	for _, text := range c.Kernels {
		if text == autoSet {
			all = append(all, kernelSet{name: autoSet})
			continue
		}
		kernels, err := dataset.ParseKernels(text)
		switch {
		case err != nil:
			return nil, console.Inputf("-kernels %s: %w", text, err)
		case kernels.Given() || kernels.OfStrings():
			return nil, console.Inputf("-kernels %s: kernels that are given and kernels of strings are named by -view", text)
		}
		all = append(all, kernelSet{text, kernels})
	}
	return all, nil
}

// list is the candidates so far, with the problems that they learn.
type list struct {
	*comparison
	candidates []choose.Candidate
	problems   []*problem
	share      int // workers of a fit
}

// candidates are the baselines, and each model with each set of kernels; and how many of their fits may be at work at
// a time.
func (c *comparison) candidates(folds int) (all []choose.Candidate, atWork int, err error) {
	sets, err := c.kernelSets()
	if err != nil {
		return nil, 0, err
	}
	l := &list{comparison: c}
	models, estimators := c.Models, []*model.Estimator{}
	if c.Views {
		models = []string{c.viewModel()}
		est, err := l.addEachView(models[0], sets)
		if err != nil {
			return nil, 0, err
		}
		estimators = append(estimators, est)
	} else {
		if c.Baselines {
			if err := l.addBaselines(); err != nil {
				return nil, 0, err
			}
		}
		if models == nil {
			models = c.defaultModels()
		}
		for _, name := range models {
			est, err := l.addModel(name, sets)
			if err != nil {
				return nil, 0, err
			}
			estimators = append(estimators, est)
		}
	}
	if err := c.checkTaken(estimators, models); err != nil {
		return nil, 0, err
	}
	atWork, err = l.divide(len(l.candidates) * folds)
	return l.candidates, atWork, err
}

// checkTaken refuses flags that mean nothing to any of the models.
func (c *comparison) checkTaken(estimators []*model.Estimator, names []string) error {
	all, err := console.Flags(&c.Learn, model.Vars())
	if err != nil {
		return err
	}
	for _, f := range all {
		taken := slices.ContainsFunc(estimators, func(est *model.Estimator) bool { return est.Takes(f.Name) })
		if f.Given() && model.Optional(f.Name) && !taken {
			return console.Inputf("-%s is for none of the models: %s", f.Name, strings.Join(names, ", "))
		}
	}
	return nil
}

// addBaselines adds the baselines: one that does not look at the features, and a linear function.
func (l *list) addBaselines() error {
	l.candidates = append(l.candidates, l.trivial())
	if !slices.ContainsFunc(l.samples.Views, hasFeatures) {
		return nil
	}
	name := "ridge"
	if l.truth.Kind() != choose.NumberTruth {
		name = "linear"
	}
	_, err := l.add(name, true, l.linear)
	return err
}

// hasFeatures reports whether a view is made of features, not of given kernels or of strings.
func hasFeatures(v dataset.View) bool { return !v.Kernels.Given() && !v.Kernels.OfStrings() }

// addModel adds a model with each set of kernels, and returns its estimator.
func (l *list) addModel(name string, sets []kernelSet) (est *model.Estimator, err error) {
	for _, set := range sets {
		if est != nil && !est.Kernels() {
			break // it has no kernels to choose
		}
		of := func(target int) (*problem, error) { return l.problem(l.Learn, name, set.kernels, isOpen, target) }
		first, err := of(0)
		if err != nil {
			return nil, err
		}
		title := name
		if est = first.model.Estimator; est.Kernels() && (set.name != autoSet || len(sets) > 1) {
			title += " " + set.name
		}
		if _, err := l.add(title, false, of); err != nil {
			return nil, err
		}
	}
	return est, nil
}

// isOpen reports whether a view names no kernels.
func isOpen(v dataset.View) bool { return v.Kernels == nil }

// add adds the candidate that learns the problems which of makes: one of all targets, or one of each.
func (l *list) add(name string, baseline bool, of func(target int) (*problem, error)) (first *problem, err error) {
	var problems []*problem
	for o := range l.samples.Targets {
		p, err := of(o)
		if err != nil {
			return nil, err
		}
		problems = append(problems, p)
		if len(p.samples.Targets) == len(l.samples.Targets) { // it learns them all
			break
		}
	}
	l.problems = append(l.problems, problems...)
	one := choose.Candidate{Name: name, Learn: l.learner(problems[0])}
	if len(problems[0].samples.Targets) < len(l.samples.Targets) {
		one = choose.Each(name, l.truth, func(o int) choose.Candidate {
			return choose.Candidate{Name: name, Learn: l.learner(problems[o])}
		})
	}
	one.Baseline = baseline
	l.candidates = append(l.candidates, one)
	return problems[0], nil
}

// trivial is the baseline that does not look at the features.
func (c *comparison) trivial() choose.Candidate {
	one := func(t choose.Truth) choose.Candidate {
		switch t.Kind() {
		case choose.ClassTruth:
			return choose.Frequencies(t.Classes)
		case choose.CountTruth:
			return choose.MeanRate(t.Counts, c.exposure)
		case choose.TimeTruth:
			return choose.AllAlike(t.Times)
		}
		return choose.Mean(t.Numbers)
	}
	if !c.several() {
		return one(c.truth)
	}
	own := one(c.truth.Targets[0])
	all := choose.Each(own.Name, c.truth, func(o int) choose.Candidate { return one(c.truth.Targets[o]) })
	all.Baseline = own.Baseline
	return all
}

// defaultModels are the models for the task and the views, and of several targets the tasks that learn such targets
// together, and what learns each by itself.
func (c *comparison) defaultModels() (all []string) {
	if c.several() {
		if c.Task != nil && c.task != model.Multioutput {
			all = append(all, c.task)
		} else {
			all = slices.DeleteFunc(c.together(), func(task string) bool {
				// Where all targets are known these two learn what multioutput and multilabel do.
				return !c.MissingTargets && (task == "tasks" || task == "tasklabels")
			})
		}
		if c.form == dataset.Numbers {
			if c.many() {
				all = nil
			}
			all = append(all, model.Auto)
		}
		return all
	}
	for _, est := range model.ForTask(c.task) {
		if c.many() && !est.Many || c.Missing == dataset.MissingViews && !est.Gaps {
			continue
		}
		if est.Kernels() || len(c.samples.Views) == 1 && dataset.Open(c.samples.Views) {
			all = append(all, est.Model)
		}
	}
	return all
}

// many reports whether a fold learns from so many samples of features that kernels between all of them take too long. Grades,
// counts and times have no other model.
func (c *comparison) many() bool {
	if slices.Contains([]string{model.OrdinalTask, model.CountsTask, model.Survival}, c.task) {
		return false
	}
	rows := c.samples.Rows()
	return rows-rows/c.Folds > mkl.DefaultExactSamples && !slices.ContainsFunc(c.samples.Views, func(v dataset.View) bool { return !hasFeatures(v) })
}

// remarks say which models there are no candidates of because of the number of samples, and how long the fits of many
// samples take.
func (c *comparison) remarks(folds int) (lines []string) {
	if !c.many() {
		return nil
	}
	models, fits := c.Models, folds
	switch {
	case c.Views:
		models, fits = []string{c.viewModel()}, folds*c.viewFits()
	case models == nil:
		models = c.defaultModels()
		lines = append(lines, fmt.Sprintf("models: %s; the others compare every sample with every other, which takes long above %d samples (-models names them)",
			console.List(models), mkl.DefaultExactSamples))
	}
	if slices.Contains(models, model.Auto) {
		each := cmp.Or(c.Time, mkl.DefaultTime(c.samples.Rows()))
		lines = append(lines, fmt.Sprintf("forecast: each of the %d fits of %s takes at most about %v of processor time (-time bounds it)", fits, model.Auto, each.Round(time.Second)))
	}
	return lines
}

// together are the tasks that learn several such targets.
func (c *comparison) together() []string { return model.Together(c.form, c.MissingTargets) }

// problem is the problem of a model with kernels for the views that the function chooses: of all targets, or of the
// given one if the model learns one. Flags that mean nothing to the model have their defaults.
func (c *comparison) problem(flags Learn, name string, kernels dataset.Kernels, views func(dataset.View) bool, target int) (*problem, error) {
	w, task, targets := model.Wanted{}, c.task, c.samples.Targets
	switch {
	case c.several() && slices.Contains(c.together(), name):
		task = name
	case c.several() && (c.form != dataset.Numbers || !slices.Contains(model.TargetModels(), name)):
		return nil, console.Inputf("-models: there is no model %q of several such targets: there are %s", name, c.severalNames())
	case !slices.Contains(model.TargetModels(), name):
		return nil, console.Inputf("-models: there is no model %q: there are %s", name, console.List(model.TargetModels()))
	default:
		w.Model = &name
		if c.several() {
			targets, task = targets[target:target+1], model.Regression
		}
	}
	est, err := model.Find(task, w.Model, len(targets))
	if err != nil {
		return nil, err
	}
	if err := flags.reset(func(flag string) bool { return !est.Takes(flag) }); err != nil {
		return nil, err
	}
	w.Data, w.Settings = flags.Flags, flags.Settings
	r, err := model.Choose(w, task, len(targets))
	if err != nil {
		return nil, err
	}
	s := c.samples.With(flags.Flags, targets, kernels, func(v dataset.View) bool { return est.Kernels() && kernels != nil && views(v) })
	return &problem{s, r}, r.CheckViews(s.Views)
}

// reset gives the flags that mean nothing to some models their defaults, where a function says so.
func (l *Learn) reset(is func(flag string) bool) error {
	all, err := console.Flags(l, model.Vars())
	if err != nil {
		return err
	}
	for _, f := range all {
		if model.Optional(f.Name) && is(f.Name) {
			f.Reset()
		}
	}
	return nil
}

// severalNames are the values of -models for several targets, in words.
func (c *comparison) severalNames() string {
	text := console.List(c.together())
	if c.form != dataset.Numbers {
		return text
	}
	var alone []string
	for _, est := range model.ForTask(model.Regression) {
		alone = append(alone, est.Model)
	}
	return text + ", and of each target by itself " + console.List(alone)
}

// linear is the problem of the baseline that is a linear function of all features: of a target, or of several labels.
func (c *comparison) linear(target int) (*problem, error) {
	flags := c.Learn
	name := "mgp"
	if err := flags.reset(func(flag string) bool {
		if flag == "missing-targets" {
			return false
		}
		// What says how a target is to be read and distributed is not a matter of the kernels.
		ofTarget := slices.Contains([]string{"grades", "event", "upper", "exposure", "law"}, flag)
		return !ofTarget || !model.ForTask(c.task)[0].Takes(flag)
	}); err != nil {
		return nil, err
	}
	flags.RawColumns = false
	switch {
	case c.form == dataset.Labels:
		name = c.together()[0]
	case c.form == dataset.Classes && c.many() && c.Missing != dataset.MissingViews:
		name = model.LandmarksModel
	}
	kernels := dataset.Kernels{spec.ViewKernel{Kernel: kernel.Linear{}}, spec.ViewKernel{Kernel: kernel.Constant{}}}
	return c.problem(flags, name, kernels, hasFeatures, target)
}

// divide says how many of the fits may be at work at a time, as the memory allows, and gives each its workers.
func (l *list) divide(fits int) (atWork int, err error) {
	all := console.Processors(l.Workers)
	limit, _ := memory.Limit(l.Memory)
	atWork = min(all, fits)
	rows := l.samples.Rows()
	for _, p := range l.problems {
		shapes, outputs := p.samples.Shapes(), p.outputs(l.classes)
		if err := p.model.CheckMemory(l.Memory, shapes, rows, outputs); err != nil {
			return 0, err
		}
		if limit > 0 {
			atWork = max(1, min(atWork, int(float64(limit)/p.model.Need(shapes, rows, outputs))))
		}
	}
	l.share = max(1, all/atWork)
	return atWork, nil
}
