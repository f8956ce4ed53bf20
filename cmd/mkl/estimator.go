package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/mkl"
)

// Tasks.
const (
	taskRegression  = "regression"
	taskMultioutput = "multioutput"
	taskShared      = "shared"
	taskMultitask   = "multitask"
	taskBinary      = "binary"
	taskMulticlass  = "multiclass"
	taskMultilabel  = "multilabel"
)

// isRegression reports whether the task's targets are numbers.
func isRegression(task string) bool {
	return task == taskRegression || task == taskMultioutput || task == taskShared || task == taskMultitask
}

// Models.
const (
	modelBMKL      = "bmkl"
	modelMGP       = "mgp"
	modelProbit    = "probit"
	modelSpikeSlab = "spikeslab"
)

// estimators is a set of the package's estimators; -task and -model ask for one.
type estimators uint

const (
	ofRegression estimators = 1 << iota
	ofShared
	ofMultitask
	ofClassification
	ofMultiGP
	ofProbit
	ofSpikeSlab
)

// asked is what the flags ask for.
type asked struct {
	*fitCmd
	of     estimators
	priors map[string]mkl.Gamma
	notes  map[string]string
}

// ask checks the flags.
func (c *fitCmd) ask() (*asked, error) {
	a := &asked{fitCmd: c}
	var err error
	if a.of, err = c.estimator(); err != nil {
		return nil, err
	}
	if err := c.checkNumbers(); err != nil {
		return nil, err
	}
	if err := a.checkMeaning(); err != nil {
		return nil, err
	}
	a.priors, err = a.parsePriors()
	return a, err
}

// estimator returns the estimator of the task and the model.
func (c *fitCmd) estimator() (estimators, error) {
	for _, m := range []struct {
		name  string
		tasks []string
		of    estimators
	}{
		{modelMGP, []string{taskRegression, taskBinary, taskMulticlass}, ofMultiGP},
		{modelProbit, []string{taskBinary, taskMulticlass}, ofProbit},
		{modelSpikeSlab, []string{taskRegression}, ofSpikeSlab},
	} {
		switch {
		case c.Model != m.name:
		case slices.Contains(m.tasks, c.Task):
			return m.of, nil
		default:
			return 0, inputf("-model %s is for -task %s, not %s", m.name, join(m.tasks), c.Task)
		}
	}
	switch c.Task {
	case taskShared:
		return ofShared, nil
	case taskMultitask:
		return ofMultitask, nil
	case taskBinary, taskMulticlass, taskMultilabel:
		return ofClassification, nil
	}
	return ofRegression, nil
}

// join lists names in words.
func join(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func (c *fitCmd) checkNumbers() error {
	for _, f := range []struct {
		flag  string
		value int
	}{
		{"restarts", c.Restarts}, {"sweeps", c.Sweeps}, {"workers", c.Workers}, {"latents", c.Latents},
		{"chains", c.Chains}, {"draws", c.Draws}, {"thin", c.Thin},
	} {
		if f.value < 0 {
			return inputf("-%s %d is negative", f.flag, f.value)
		}
	}
	if !(c.Tolerance >= 0 && c.Tolerance < 1) {
		return inputf("-tolerance %g is not between 0 and 1", c.Tolerance)
	}
	if !(c.Margin >= 0) || math.IsInf(c.Margin, 0) {
		return inputf("-margin %g is not a number from 0 up", c.Margin)
	}
	if !(c.SigmaG > 0) || math.IsInf(c.SigmaG, 0) {
		return inputf("-sigma-g %g is not a positive number", c.SigmaG)
	}
	return nil
}

// checkMeaning refuses flags that mean nothing to the estimator.
func (a *asked) checkMeaning() error {
	for _, f := range []struct {
		flag  string
		given bool
		of    estimators // that it means something to
	}{
		{"kernels", a.Kernels != defaultKernels, ^ofSpikeSlab},
		{"sparse", a.Sparse != "none", ofRegression | ofShared | ofClassification},
		{"prior", len(a.Prior) > 0, ofRegression | ofShared | ofClassification | ofProbit},
		{"margin", a.Margin != 0, ofClassification},
		{"sigma-g", a.SigmaG != defaultSigmaG, ofClassification},
		{"latents", a.Latents != 0, ofMultitask},
		{"family", a.Family != "student-t", ofMultiGP},
		{"rule", a.Rule != "fixsum", ofProbit},
		{"gibbs", a.Gibbs, ofProbit},
		{"raw-targets", a.RawTargets && !isRegression(a.Task), 0},
		{"allow-duplicates", a.AllowDuplicates, ^(ofMultitask | ofSpikeSlab)},
		{"restarts", a.Restarts != 0, ^ofMultiGP},
		{"plain", a.Plain, ^(ofProbit | ofSpikeSlab)},
		{"missing", a.Missing, ^(ofMultiGP | ofProbit | ofSpikeSlab)},
	} {
		if f.given && f.of&a.of == 0 {
			return inputf("-%s is not for -task %s with -model %s", f.flag, a.Task, a.Model)
		}
	}
	for _, f := range []struct {
		flag         string
		given, gibbs bool // whether it is for sampling
	}{
		{"chains", a.Chains != 0, true}, {"draws", a.Draws != 0, true}, {"thin", a.Thin != 0, true},
		{"sweeps", a.Sweeps != 0, false}, {"tolerance", a.Tolerance != 0, false}, {"restarts", a.Restarts != 0, false},
	} {
		switch {
		case f.given && f.gibbs && !a.Gibbs:
			return inputf("-%s is for -gibbs", f.flag)
		case f.given && !f.gibbs && a.Gibbs:
			return inputf("-%s is not for -gibbs: -chains, -draws and -thin say how long it samples", f.flag)
		}
	}
	return nil
}

// parsePriors reads -prior, and what -sparse says of priors.
func (a *asked) parsePriors() (map[string]mkl.Gamma, error) {
	names := []string{"lambda", "upsilon", "gamma", "omega", "epsilon"}
	switch a.of {
	case ofClassification:
		names = []string{"lambda", "gamma", "omega"}
	case ofProbit:
		names = []string{"alpha"}
	}
	priors := map[string]mkl.Gamma{}
	sparse := mkl.Gamma{Shape: 1e-10, Scale: 1e+10}
	if a.Sparse == "kernels" || a.Sparse == "both" {
		priors["omega"] = sparse
	}
	if a.Sparse == "samples" || a.Sparse == "both" {
		priors["lambda"] = sparse
	}
	for _, s := range a.Prior {
		name, value, _ := strings.Cut(s, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(names, name) {
			noun := "priors are"
			if len(names) == 1 {
				noun = "prior is"
			}
			return nil, inputf("-prior %s: the %s %s", s, noun, join(names))
		}
		shape, scale, _ := strings.Cut(value, ",")
		var g mkl.Gamma
		var errs [2]error
		g.Shape, errs[0] = strconv.ParseFloat(strings.TrimSpace(shape), 64)
		g.Scale, errs[1] = strconv.ParseFloat(strings.TrimSpace(scale), 64)
		if errs[0] != nil || errs[1] != nil || !(g.Shape > 0 && g.Scale > 0) || math.IsInf(g.Shape, 0) || math.IsInf(g.Scale, 0) {
			return nil, inputf("-prior %s: two positive numbers are needed, as in %s=1e-10,1e+10", s, name)
		}
		priors[name] = g
	}
	return priors, nil
}

// fitting holds what every estimator has.
func (a *asked) fitting() mkl.Fitting {
	return mkl.Fitting{
		Seed: a.Seed, Restarts: a.Restarts, Tolerance: a.Tolerance, MaxSweeps: a.Sweeps,
		AllowDuplicates: a.AllowDuplicates, Workers: a.Workers, Notes: a.notes,
	}
}

func (a *asked) regression() mkl.Regression {
	return mkl.Regression{
		Fitting: a.fitting(),
		Lambda:  a.priors["lambda"], Upsilon: a.priors["upsilon"], Gamma: a.priors["gamma"], Omega: a.priors["omega"], Epsilon: a.priors["epsilon"],
		Plain: a.Plain, RawTargets: a.RawTargets, MissingTargets: a.Missing,
	}
}

func (a *asked) sharedRegression() mkl.SharedRegression {
	return mkl.SharedRegression{
		Fitting: a.fitting(),
		Lambda:  a.priors["lambda"], Upsilon: a.priors["upsilon"], Gamma: a.priors["gamma"], Omega: a.priors["omega"], Epsilon: a.priors["epsilon"],
		Plain: a.Plain, RawTargets: a.RawTargets,
	}
}

func (a *asked) classifier() mkl.Classifier[string] {
	return mkl.Classifier[string]{
		Fitting: a.fitting(),
		Lambda:  a.priors["lambda"], Gamma: a.priors["gamma"], Omega: a.priors["omega"], Margin: a.Margin, SigmaG: a.SigmaG, Plain: a.Plain,
	}
}

func (a *asked) multiLabel() mkl.MultiLabel {
	return mkl.MultiLabel{
		Fitting: a.fitting(),
		Lambda:  a.priors["lambda"], Gamma: a.priors["gamma"], Omega: a.priors["omega"], Margin: a.Margin, SigmaG: a.SigmaG, Plain: a.Plain,
	}
}

func (a *asked) multiTask() mkl.MultiTask {
	return mkl.MultiTask{
		Fitting: a.fitting(), Latents: a.Latents, Plain: a.Plain, MissingTargets: a.Missing, RawTargets: a.RawTargets,
	}
}

func (a *asked) multiGP() mkl.MultiGP {
	g := mkl.MultiGP{Fitting: a.fitting(), Plain: a.Plain, RawTargets: a.RawTargets}
	for _, p := range mgpPriors {
		if p.name == a.Family {
			g.Family = p.family
		}
	}
	return g
}

func (a *asked) multiGPClassifier() mkl.MultiGPClassifier[string] {
	g := a.multiGP()
	return mkl.MultiGPClassifier[string]{Fitting: g.Fitting, Family: g.Family, Plain: g.Plain}
}

func (a *asked) probit() mkl.ProbitClassifier[string] {
	c := mkl.ProbitClassifier[string]{
		Fitting: a.fitting(), Alpha: a.priors["alpha"], NotEmpty: true,
		Draws: mkl.GibbsDraws{Chains: a.Chains, Draws: a.Draws, Thin: a.Thin},
	}
	for rule := mkl.FixSum; rule <= mkl.WProd; rule++ {
		if strings.EqualFold(rule.String(), a.Rule) {
			c.Rule = rule
		}
	}
	if a.Gibbs {
		c.Inference = mkl.Gibbs
	}
	return c
}

func (a *asked) spikeSlab(names []string) mkl.SpikeSlab {
	return mkl.SpikeSlab{
		Fitting: a.fitting(), Names: names, RawFeatures: a.RawColumns, RawTargets: a.RawTargets,
	}
}

// latents is the number of latent functions of each kernel.
func (c *fitCmd) latents(targets int) int {
	if c.Latents > 0 {
		return c.Latents
	}
	return min(targets, 5)
}

// memory estimates what a fit takes of n samples with so many kernels of so many
// basis points, and functions to learn of so many columns.
func (a *asked) memory(n, basis, kernels, functions, columns int) int64 {
	size := mkl.Size{Samples: n, Basis: basis, Kernels: kernels, Outputs: functions}
	switch a.of {
	case ofShared:
		return a.sharedRegression().EstimateMemory(size)
	case ofMultitask:
		return a.multiTask().EstimateMemory(size)
	case ofMultiGP:
		return a.multiGPClassifier().EstimateMemory(size)
	case ofSpikeSlab:
		size.Kernels = columns
		return mkl.SpikeSlab{}.EstimateMemory(size)
	}
	return a.regression().EstimateMemory(size)
}

// fit returns the fit that is asked for, of the data that were read.
func (a *asked) fit(e *env, views []view, main *file, targets []int) (func(func(mkl.Progress)) (model, error), error) {
	ctx, inputs := e.ctx, a.build(views)
	switch a.Task {
	case taskBinary, taskMulticlass:
		labels := main.data.Labels[targets[0]]
		classes := classesOf(labels)
		if a.Task == taskBinary && len(classes) != 2 {
			return nil, inputf("%s: column %q has %s where -task binary needs 2: %s", main.Name(), main.Columns()[targets[0]],
				plural(len(classes), "class"), strings.Join(classes[:min(5, len(classes))], ", "))
		}
		return func(p func(mkl.Progress)) (model, error) {
			switch a.of {
			case ofMultiGP:
				c := a.multiGPClassifier()
				c.Classes, c.Progress = classes, p
				return asModel(c.Fit(ctx, inputs, labels))
			case ofProbit:
				c := a.probit()
				c.Classes, c.Progress = classes, p
				return asModel(c.Fit(ctx, inputs, labels))
			}
			c := a.classifier()
			c.Classes, c.Progress = classes, p
			return asModel(c.Fit(ctx, inputs, labels))
		}, nil
	case taskMultilabel:
		var labels [][]mkl.Label
		for _, j := range targets {
			has, err := flags(main, j)
			if err != nil {
				return nil, err
			}
			labels = append(labels, has)
		}
		return func(p func(mkl.Progress)) (model, error) {
			c := a.multiLabel()
			c.Progress = p
			return asModel(c.FitKnown(ctx, inputs, labels...))
		}, nil
	}
	var y [][]float64
	for _, j := range targets {
		y = append(y, main.data.Numbers[j])
	}
	return func(p func(mkl.Progress)) (model, error) {
		switch a.of {
		case ofShared:
			s := a.sharedRegression()
			s.Progress = p
			return asModel(s.Fit(ctx, inputs, y...))
		case ofMultitask:
			t := a.multiTask()
			t.Progress = p
			return asModel(t.Fit(ctx, inputs, y...))
		case ofMultiGP:
			g := a.multiGP()
			g.Progress = p
			return asModel(g.Fit(ctx, inputs, y[0]))
		case ofSpikeSlab:
			s := a.spikeSlab(views[0].source.names())
			s.Progress = p
			return asModel(s.Fit(ctx, views[0].source.matrix(), y[0]))
		}
		r := a.regression()
		r.Progress = p
		return asModel(r.Fit(ctx, inputs, y...))
	}, nil
}

// asModel is a fit as one of any model, nil if there is none.
func asModel[M interface {
	comparable
	model
}](m M, err error) (model, error) {
	var none M
	if m == none {
		return nil, err
	}
	return m, err
}
