package main

import (
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// kernelSet is one of -kernels.
type kernelSet struct {
	name    string // empty: what the data suggest
	kernels []spec.ViewKernel
}

// kernelSets reads -kernels.
func (v *crossValidation) kernelSets() (all []kernelSet, err error) {
	if len(v.cvCmd.Kernels) == 0 {
		return []kernelSet{{}}, nil
	}
	if !open(v.p.views) {
		return nil, console.Inputf("-kernels is for views that name no kernels, of which there are none")
	}
	for _, text := range v.cvCmd.Kernels {
		if text == "auto" {
			all = append(all, kernelSet{})
			continue
		}
		parsed, err := spec.Parse(text)
		if err != nil {
			return nil, console.Inputf("-kernels %w", err)
		}
		set := kernelSet{name: text}
		for _, k := range parsed {
			vk, err := spec.Build(k)
			if err != nil {
				return nil, console.Inputf("-kernels %s: %w", text, err)
			}
			if vk.Given || vk.Strings != nil {
				return nil, console.Inputf("-kernels %s: kernels that are given and kernels of strings are named by -view", text)
			}
			set.kernels = append(set.kernels, vk)
		}
		all = append(all, set)
	}
	return all, nil
}

// candidates are the baselines, and each model with each set of kernels; and how many of their fits
// may be at work at a time.
func (v *crossValidation) candidates(folds int) (all []choose.Candidate, workers int, err error) {
	sets, err := v.kernelSets()
	if err != nil {
		return nil, 0, err
	}
	models := v.Models
	if models == nil {
		models = v.defaultModels()
	}
	var problems []*problem
	add := func(name string, baseline bool, make func(target int) (*problem, error)) (*problem, error) {
		one, own, err := v.candidate(name, make)
		if err != nil {
			return nil, err
		}
		one.Baseline = baseline
		problems, all = append(problems, own...), append(all, one)
		return own[0], nil
	}
	if v.Baselines {
		all = append(all, v.trivial())
	}
	if v.Baselines && slices.ContainsFunc(v.p.views, func(w view) bool { return !w.given() && !w.ofStrings() }) {
		name := "ridge"
		if v.form() != numbers {
			name = "linear"
		}
		if _, err := add(name, true, v.linear); err != nil {
			return nil, 0, err
		}
	}
	taken := map[string]bool{} // flags that mean something to a model
	for _, model := range models {
		var est *estimator
		for _, set := range sets {
			if est != nil && !est.kernels() {
				continue // it has no kernels to choose
			}
			of := func(target int) (*problem, error) { return v.problem(model, set, target) }
			name := model
			if q, err := of(0); err != nil {
				return nil, 0, err
			} else if q.est.kernels() && (set.name != "" || len(sets) > 1) {
				name += " " + orAuto(set.name)
			}
			q, err := add(name, false, of)
			if err != nil {
				return nil, 0, err
			}
			est = q.est
		}
		for _, f := range new(fitCmd).optional() {
			taken[f.name] = taken[f.name] || est != nil && est.takes(f.name)
		}
	}
	for _, f := range v.p.optional() {
		if f.given && !taken[f.name] {
			return nil, 0, console.Inputf("-%s is for none of the models: %s", f.name, strings.Join(models, ", "))
		}
	}
	workers, err = v.share(problems, len(all)*folds)
	return all, workers, err
}

func orAuto(name string) string {
	if name == "" {
		return "auto"
	}
	return name
}

// trivial is the baseline that does not look at the features.
func (v *crossValidation) trivial() choose.Candidate {
	one := func(t choose.Truth) choose.Candidate {
		if t.Classes != nil {
			return choose.Frequencies(t.Classes)
		}
		return choose.Mean(t.Numbers)
	}
	if !v.several() {
		return one(v.truth)
	}
	own := one(v.truth.Targets[0])
	all := choose.Each(own.Name, v.truth, func(o int) choose.Candidate { return one(v.truth.Targets[o]) })
	all.Baseline = own.Baseline
	return all
}

// candidate is the candidate that learns the problems that of makes: one of all targets, or one
// of each.
func (v *crossValidation) candidate(name string, of func(target int) (*problem, error)) (one choose.Candidate, problems []*problem, err error) {
	for o := range v.p.targets {
		q, err := of(o)
		if err != nil {
			return one, nil, err
		}
		problems = append(problems, q)
		if len(q.targets) == len(v.p.targets) { // it learns them all
			return choose.Candidate{Name: name, Learn: v.learner(q)}, problems, nil
		}
	}
	return choose.Each(name, v.truth, func(o int) choose.Candidate {
		return choose.Candidate{Name: name, Learn: v.learner(problems[o])}
	}), problems, nil
}

// defaultModels are the models for the task and the views, and of several targets the tasks that learn such
// targets together, and what learns each by itself.
func (v *crossValidation) defaultModels() (all []string) {
	if v.several() {
		if v.Task != nil && v.p.task != taskMultioutput {
			all = append(all, v.p.task)
		} else {
			all = slices.DeleteFunc(v.together(), func(task string) bool {
				// Where all targets are known these two learn what multioutput and multilabel do.
				return !v.p.MissingTargets && (task == "tasks" || task == "tasklabels")
			})
		}
		if v.form() == numbers {
			all = append(all, "auto")
		}
		return all
	}
	for _, est := range estimators {
		if slices.Contains(est.tasks, v.p.task) && (est.kernels() || len(v.p.views) == 1 && open(v.p.views)) {
			all = append(all, est.model)
		}
	}
	return all
}

// together are the tasks that learn several such targets.
func (v *crossValidation) together() (all []string) {
	for _, est := range estimators {
		if est.form != v.form() || est.one || v.p.MissingTargets && !est.takes("missing-targets") {
			continue
		}
		for _, task := range est.tasks {
			if task != taskRegression {
				all = append(all, task)
			}
		}
	}
	return all
}

// problem is the problem of a model and a set of kernels: of all targets, or of the given one if the model
// learns one. Flags that mean nothing to the model have their defaults.
func (v *crossValidation) problem(model string, set kernelSet, target int) (*problem, error) {
	q := *v.p
	c := *q.fitCmd
	q.fitCmd, c.Kernels = &c, set.name
	q.views = slices.Clone(q.views)
	switch {
	case v.several() && slices.Contains(v.together(), model):
		c.task, c.Model = model, nil
	case v.several() && (v.form() != numbers || !slices.Contains(targetModels(), model)):
		return nil, console.Inputf("-models: there is no model %q of several such targets: there are %s", model, v.severalNames())
	case slices.Contains(targetModels(), model):
		c.Model = &model
		if v.several() {
			q.targets, c.task, c.MissingTargets = []int{q.targets[target]}, taskRegression, false
		}
	default:
		return nil, console.Inputf("-models: there is no model %q: there are %s", model, join(targetModels()))
	}
	var err error
	if q.est, err = c.estimator(len(q.targets)); err != nil {
		return nil, err
	}
	for _, f := range c.optional() {
		if f.given && !q.est.takes(f.name) {
			f.reset()
		}
	}
	if q.est.kernels() {
		for i := range q.views {
			if q.views[i].kernels == nil && set.kernels != nil {
				q.views[i].kernels = set.kernels
			}
		}
	}
	if err := q.choose(); err != nil {
		return nil, err
	}
	return &q, q.checkViews(q.est, q.views)
}

// targetModels are the models that learn targets.
func targetModels() []string {
	return distinct(func(est *estimator) []string {
		if est.form == tableEntries || est.pairs {
			return nil
		}
		return []string{est.model}
	})
}

// severalNames are the values of -models for several targets, in words.
func (v *crossValidation) severalNames() string {
	if v.form() == numbers {
		var alone []string
		for _, est := range estimators {
			if slices.Contains(est.tasks, taskRegression) {
				alone = append(alone, est.model)
			}
		}
		return join(v.together()) + ", and of each target by itself " + join(alone)
	}
	return join(v.together())
}

// linear is the problem of the baseline that is a linear function of all features: of a target, or of
// several labels.
func (v *crossValidation) linear(target int) (*problem, error) {
	w := *v
	p := *v.p
	w.p, p.views = &p, slices.Clone(p.views)
	c := *p.fitCmd
	for _, f := range c.optional() {
		if f.name != "missing-targets" {
			f.reset()
		}
	}
	c.RawColumns = false
	p.fitCmd = &c
	kernels := []spec.ViewKernel{{Kernel: mkl.Linear{}}, {Kernel: mkl.Constant{}}}
	for i := range p.views {
		if !p.views[i].given() && !p.views[i].ofStrings() {
			p.views[i].kernels = kernels
		}
	}
	if v.form() == labels {
		return w.problem(v.together()[0], kernelSet{}, target)
	}
	return w.problem("mgp", kernelSet{}, target)
}

// share says how many fits may be at work at a time, as the memory allows, and gives each
// its workers.
func (v *crossValidation) share(problems []*problem, fits int) (int, error) {
	all := console.Processors(v.Workers)
	limit := float64(v.Memory)
	if limit == 0 {
		limit = float64(memory.Available())
	}
	workers := min(all, fits)
	for _, q := range problems {
		if err := q.prepare(); err != nil {
			return 0, err
		}
		outputs := max(1, len(v.classes), len(q.targets))
		if err := q.checkMemory(v.p.main.Data.Rows, outputs); err != nil {
			return 0, err
		}
		if limit > 0 {
			workers = max(1, min(workers, int(limit/q.need(v.p.main.Data.Rows, outputs))))
		}
	}
	for _, q := range problems {
		q.fitCmd.Workers = max(1, all/workers)
	}
	return workers, nil
}
