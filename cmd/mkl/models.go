package main

import (
	"context"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// estimator is an estimator of package mkl as the command knows it. All that differs
// between estimators is said here; the commands and their help ask.
type estimator struct {
	model string   // what -model calls it
	tasks []string // what -task calls what it learns; the second is of several targets, or of more than two classes
	kind  string   // what [mkl.Model.Kind] calls its models
	form  form     // what its targets are
	part  string   // what its weights are of; empty means kernels
	one   bool     // it has one target

	flags    []string // flags of mkl fit that mean something to it, of those in optional
	priors   []string // what -prior can set
	complete string   // why its targets must be complete, where -missing calls for a reason

	// weights is the number of weights of a view; nil means one for each kernel.
	weights func(c *fitCmd, v view, targets int) int

	// build returns the estimator with its settings.
	build func(s *settings) fitter
}

// settings are what the flags of mkl fit ask for.
type settings struct {
	*fitCmd
	fitting  mkl.Fitting
	prior    map[string]mkl.Gamma // by name, those that differ from the default
	features []string             // names of the columns of the first view
}

// fitter is an estimator with its settings.
type fitter struct {
	memory func(mkl.Size) int64
	fit    func(ctx context.Context, d *data) (mkl.Model, error)
}

// data is what an estimator learns from: views, or the columns of the only view for an
// estimator without kernels, and targets of its form.
type data struct {
	views    []mkl.View
	features mkl.Features

	numbers [][]float64   // the targets
	class   []string      // of each sample
	classes []string      // the distinct labels, in order
	labels  [][]mkl.Label // of each target and sample
}

// form is what targets are.
type form int

const (
	numbers form = iota // columns of numbers
	classes             // a column of labels, of which each sample has one
	labels              // columns that say whether a sample has a label
)

// kind is how a column of targets is read. If missing, cells can be empty.
func (f form) kind(missing bool) table.Kind {
	switch {
	case f == numbers && missing:
		return table.Optional
	case f == numbers:
		return table.Number
	case f == labels && missing:
		return table.OptionalLabel
	}
	return table.Label
}

// Tasks that the command does something special for.
const (
	taskRegression  = "regression"  // of several targets it is called multioutput
	taskMultioutput = "multioutput" // needs several
	taskBinary      = "binary"      // needs two classes
)

// defaultModel is the default of -model, defaultSigmaG that of -sigma-g.
const (
	defaultModel  = "bmkl"
	defaultSigmaG = 0.1
)

// estimators is the table. Models and tasks are in the order of the help.
var estimators = []*estimator{
	{
		model: defaultModel, tasks: []string{taskRegression, taskMultioutput}, kind: "regression", form: numbers,
		flags:  []string{"kernels", "sparse", "prior", "raw-targets", "missing", "allow-duplicates", "restarts", "plain"},
		priors: []string{"lambda", "upsilon", "gamma", "omega", "epsilon"},
		build: func(s *settings) fitter {
			r := mkl.Regression{
				Fitting: s.fitting, Plain: s.Plain, RawTargets: s.RawTargets, MissingTargets: s.Missing,
				Lambda: s.prior["lambda"], Upsilon: s.prior["upsilon"], Gamma: s.prior["gamma"], Omega: s.prior["omega"], Epsilon: s.prior["epsilon"],
			}
			return fitter{r.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) { return r.Fit(ctx, d.views, d.numbers...) }}
		},
	},
	{
		model: defaultModel, tasks: []string{"shared"}, kind: "shared-regression", form: numbers,
		flags:    []string{"kernels", "sparse", "prior", "raw-targets", "allow-duplicates", "restarts", "plain"},
		priors:   []string{"lambda", "upsilon", "gamma", "omega", "epsilon"},
		complete: "targets that share their sample weights must be complete",
		build: func(s *settings) fitter {
			r := mkl.SharedRegression{
				Fitting: s.fitting, Plain: s.Plain, RawTargets: s.RawTargets,
				Lambda: s.prior["lambda"], Upsilon: s.prior["upsilon"], Gamma: s.prior["gamma"], Omega: s.prior["omega"], Epsilon: s.prior["epsilon"],
			}
			return fitter{r.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) { return r.Fit(ctx, d.views, d.numbers...) }}
		},
	},
	{
		model: defaultModel, tasks: []string{"multitask"}, kind: "multi-task", form: numbers,
		flags:   []string{"kernels", "latents", "raw-targets", "missing", "restarts", "plain"},
		weights: func(c *fitCmd, v view, targets int) int { return len(v.kernels) * c.latents(targets) },
		build: func(s *settings) fitter {
			t := mkl.MultiTask{Fitting: s.fitting, Latents: s.Latents, Plain: s.Plain, RawTargets: s.RawTargets, MissingTargets: s.Missing}
			return fitter{t.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) { return t.Fit(ctx, d.views, d.numbers...) }}
		},
	},
	{
		model: defaultModel, tasks: []string{taskBinary, "multiclass"}, kind: "classifier", form: classes,
		flags:    []string{"kernels", "sparse", "prior", "margin", "sigma-g", "allow-duplicates", "restarts", "plain"},
		priors:   []string{"lambda", "gamma", "omega"},
		complete: "labels must be complete",
		build: func(s *settings) fitter {
			c := mkl.Classifier[string]{
				Fitting: s.fitting, Plain: s.Plain, Margin: s.Margin, SigmaG: s.SigmaG,
				Lambda: s.prior["lambda"], Gamma: s.prior["gamma"], Omega: s.prior["omega"],
			}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				c.Classes = d.classes
				return c.Fit(ctx, d.views, d.class)
			}}
		},
	},
	{
		model: defaultModel, tasks: []string{"multilabel"}, kind: "multilabel", form: labels,
		flags:  []string{"kernels", "sparse", "prior", "margin", "sigma-g", "missing", "allow-duplicates", "restarts", "plain"},
		priors: []string{"lambda", "gamma", "omega"},
		build: func(s *settings) fitter {
			m := mkl.MultiLabel{
				Fitting: s.fitting, Plain: s.Plain, Margin: s.Margin, SigmaG: s.SigmaG,
				Lambda: s.prior["lambda"], Gamma: s.prior["gamma"], Omega: s.prior["omega"],
			}
			return fitter{m.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) { return m.FitKnown(ctx, d.views, d.labels...) }}
		},
	},
	{
		model: "mgp", tasks: []string{taskRegression}, kind: "multigp", form: numbers, one: true,
		flags: []string{"kernels", "family", "raw-targets", "allow-duplicates", "plain"},
		build: func(s *settings) fitter {
			g := mkl.MultiGP{Fitting: s.fitting, Family: family(s.Family), Plain: s.Plain, RawTargets: s.RawTargets}
			return fitter{g.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) { return g.Fit(ctx, d.views, d.numbers[0]) }}
		},
	},
	{
		model: "mgp", tasks: []string{taskBinary, "multiclass"}, kind: "multigp-classifier", form: classes, one: true,
		flags: []string{"kernels", "family", "allow-duplicates", "plain"},
		build: func(s *settings) fitter {
			c := mkl.MultiGPClassifier[string]{Fitting: s.fitting, Family: family(s.Family), Plain: s.Plain}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				c.Classes = d.classes
				return c.Fit(ctx, d.views, d.class)
			}}
		},
	},
	{
		model: "probit", tasks: []string{taskBinary, "multiclass"}, kind: "probit-classifier", form: classes,
		flags:  []string{"kernels", "prior", "rule", "gibbs", "allow-duplicates", "restarts"},
		priors: []string{"alpha"},
		build: func(s *settings) fitter {
			c := mkl.ProbitClassifier[string]{
				Fitting: s.fitting, Alpha: s.prior["alpha"], Rule: rule(s.Rule), NotEmpty: true,
				Draws: mkl.GibbsDraws{Chains: s.Chains, Draws: s.Draws, Thin: s.Thin},
			}
			if s.Gibbs {
				c.Inference = mkl.Gibbs
			}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				c.Classes = d.classes
				return c.Fit(ctx, d.views, d.class)
			}}
		},
	},
	{
		model: "spikeslab", tasks: []string{taskRegression}, kind: "spike-slab", form: numbers, part: "feature", one: true,
		flags:   []string{"raw-targets", "restarts"},
		weights: func(_ *fitCmd, v view, _ int) int { return len(v.source.Columns) },
		build: func(s *settings) fitter {
			r := mkl.SpikeSlab{Fitting: s.fitting, Names: s.features, RawFeatures: s.RawColumns, RawTargets: s.RawTargets}
			return fitter{r.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) { return r.Fit(ctx, d.features, d.numbers[0]) }}
		},
	},
}

// estimatorOf returns the estimator whose models are of a kind, nil if there is none.
func estimatorOf(kind string) *estimator {
	for _, est := range estimators {
		if est.kind == kind {
			return est
		}
	}
	return nil
}

// names lists what name says of each estimator, each once.
func names(name func(*estimator) []string) (all []string) {
	for _, est := range estimators {
		for _, n := range name(est) {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// modelNames are the values of -model, taskNames those of -task.
func modelNames() []string {
	return names(func(est *estimator) []string { return []string{est.model} })
}
func taskNames() []string { return names(func(est *estimator) []string { return est.tasks }) }

// tasksOf are the tasks of a model.
func tasksOf(model string) []string {
	return names(func(est *estimator) []string {
		if est.model != model {
			return nil
		}
		return est.tasks
	})
}

// takes reports whether a flag means something to the estimator.
func (est *estimator) takes(flag string) bool { return slices.Contains(est.flags, flag) }

// task says what a model of the estimator's learned, which its outputs or classes tell.
func (est *estimator) task(m mkl.Model) string {
	several := len(m.Outputs()) > 1
	if c, ok := m.(mkl.ClassModel[string]); ok {
		several = len(c.Classes()) > 2
	}
	if several {
		return est.tasks[len(est.tasks)-1]
	}
	return est.tasks[0]
}

// partName is what one of the weights is of.
func (est *estimator) partName() string {
	if est.part == "" {
		return "kernel"
	}
	return est.part
}

// families are the priors that -family names.
var families = []struct {
	name   string
	family mkl.Family
}{
	{"student-t", mkl.StudentT}, {"laplace", mkl.Laplace}, {"gamma-variance", mkl.GammaVariance}, {"gig", mkl.GeneralGIG}, {"ard", mkl.ARD},
}

// family returns the family of a name; the parser of flags lets no other pass.
func family(name string) mkl.Family {
	for _, f := range families {
		if f.name == name {
			return f.family
		}
	}
	return mkl.StudentT
}

// rule returns the rule that -rule names; the parser of flags lets no other pass.
func rule(name string) mkl.Rule {
	for r := mkl.FixSum; r <= mkl.WProd; r++ {
		if strings.EqualFold(r.String(), name) {
			return r
		}
	}
	return mkl.FixSum
}
