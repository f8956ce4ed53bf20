package main

import (
	"context"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// estimator is an estimator of package mkl as the command knows it. Whatever the
// commands and their help need to know of one is a field of it.
type estimator struct {
	model string   // its name for -model
	tasks []string // its names for -task; a second one is for several targets, or more than two classes
	kind  string   // the name of its models, as [mkl.Model.Kind] has it
	form  form     // what its targets are
	one   bool     // it has one target, whatever the task
	open  bool     // it chooses the kernels of views that have none
	timed bool     // it minds the time that it may take
	gaps  bool     // its samples may lack views
	pairs bool     // it learns pairs of rows and columns, each with views of their own; it is fitted by fitPairs
	part  string   // what its weights are of, if they are not of kernels

	flags    []string // those of [fitCmd.optional] that mean something to it
	priors   []string // those that -prior can set
	complete string   // why -missing-targets is refused, where that is not plain from the model

	// build returns the estimator with its settings.
	build func(s *settings) fitter
}

// Tasks that more than a row of the table must know.
const (
	taskRegression  = "regression"  // of one target or several
	taskMultioutput = "multioutput" // what regression of several is called afterwards
	taskBinary      = "binary"      // needs two classes
	taskMulticlass  = "multiclass"
)

// modelBMKL is the only model that is for every task.
const modelBMKL = "bmkl"

// kindMultiTask is the kind of models that take functions that are known.
const kindMultiTask = "multi-task"

// modelLandmarks is the model of plans and sums.
const modelLandmarks = "landmarks"

// defaultSigmaG is the default of -sigma-g.
const defaultSigmaG = 0.1

// estimators is the table. The help has models and tasks in its order, and the first
// that is for a task is the default.
var estimators = []*estimator{
	{
		model: "auto", tasks: []string{taskRegression}, kind: "pool", form: numbers, one: true, open: true,
		flags: []string{"kernels", "text", "resume"}, timed: true,
		build: func(s *settings) fitter {
			a := mkl.Auto{Fitting: s.fitting, Time: s.Time}
			return fitter{a.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(a.Fit(ctx, d.views, d.numbers[0]))
			}}
		},
	},
	{
		model: "auto", tasks: []string{taskBinary, taskMulticlass}, kind: "pool-classifier", form: classes, one: true, open: true,
		flags:    []string{"kernels", "text", "resume"},
		timed:    true,
		complete: "labels must be complete",
		build: func(s *settings) fitter {
			a := mkl.AutoClassifier[string]{Fitting: s.fitting, Time: s.Time}
			return fitter{a.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				a.Classes = d.classes
				return asModel(a.Fit(ctx, d.views, d.class))
			}}
		},
	},
	{
		model: modelBMKL, tasks: []string{taskRegression, taskMultioutput}, kind: "regression", form: numbers, gaps: true,
		flags:  []string{"kernels", "text", "sparse", "prior", "raw-targets", "missing-targets", "allow-duplicates", "restarts", "plain", "store", "landmarks", "choose", "resume"},
		priors: []string{"lambda", "upsilon", "gamma", "omega", "epsilon"},
		build: func(s *settings) fitter {
			r := mkl.Regression{
				Fitting: s.fitting, Plain: s.Plain, Landmarks: s.inPlace(), RawTargets: s.RawTargets, MissingTargets: s.MissingTargets,
				Lambda: s.prior["lambda"], Upsilon: s.prior["upsilon"], Gamma: s.prior["gamma"], Omega: s.prior["omega"], Epsilon: s.prior["epsilon"],
			}
			return fitter{r.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(r.Fit(ctx, d.views, d.numbers...))
			}}
		},
	},
	{
		model: modelBMKL, tasks: []string{"shared"}, kind: "shared-regression", form: numbers,
		flags:  []string{"kernels", "text", "sparse", "prior", "raw-targets", "missing-targets", "allow-duplicates", "restarts", "plain", "store", "landmarks", "choose", "resume"},
		priors: []string{"lambda", "upsilon", "gamma", "omega", "epsilon"},
		build: func(s *settings) fitter {
			r := mkl.SharedRegression{
				Fitting: s.fitting, Plain: s.Plain, Landmarks: s.inPlace(), RawTargets: s.RawTargets, MissingTargets: s.MissingTargets,
				Lambda: s.prior["lambda"], Upsilon: s.prior["upsilon"], Gamma: s.prior["gamma"], Omega: s.prior["omega"], Epsilon: s.prior["epsilon"],
			}
			return fitter{r.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(r.Fit(ctx, d.views, d.numbers...))
			}}
		},
	},
	{
		model: modelBMKL, tasks: []string{"tasks"}, kind: "task-regression", form: numbers,
		flags:  []string{"kernels", "text", "sparse", "prior", "raw-targets", "missing-targets", "allow-duplicates", "restarts", "plain", "store", "resume"},
		priors: []string{"lambda", "upsilon", "gamma", "omega", "epsilon"},
		build: func(s *settings) fitter {
			r := mkl.TaskRegression{
				Fitting: s.fitting, Plain: s.Plain, RawTargets: s.RawTargets, MissingTargets: s.MissingTargets,
				Lambda: s.prior["lambda"], Upsilon: s.prior["upsilon"], Gamma: s.prior["gamma"], Omega: s.prior["omega"], Epsilon: s.prior["epsilon"],
			}
			return fitter{r.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(r.Fit(ctx, d.views, d.numbers...))
			}}
		},
	},
	{
		model: modelBMKL, tasks: []string{"multitask"}, kind: kindMultiTask, form: numbers,
		flags: []string{"kernels", "text", "latents", "raw-targets", "missing-targets", "restarts", "plain", "resume"},
		build: func(s *settings) fitter {
			t := mkl.MultiTask{Fitting: s.fitting, Latents: s.Latents, Plain: s.Plain, RawTargets: s.RawTargets, MissingTargets: s.MissingTargets}
			return fitter{t.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(t.Fit(ctx, d.views, d.numbers...))
			}}
		},
	},
	{
		model: modelBMKL, tasks: []string{taskBinary, taskMulticlass}, kind: "classifier", form: classes, gaps: true,
		flags:    []string{"kernels", "text", "sparse", "prior", "margin", "sigma-g", "allow-duplicates", "restarts", "plain", "store", "landmarks", "choose", "resume"},
		priors:   []string{"lambda", "gamma", "omega"},
		complete: "labels must be complete",
		build: func(s *settings) fitter {
			c := mkl.Classifier[string]{
				Fitting: s.fitting, Plain: s.Plain, Landmarks: s.inPlace(), Margin: s.Margin, SigmaG: s.SigmaG,
				Lambda: s.prior["lambda"], Gamma: s.prior["gamma"], Omega: s.prior["omega"],
			}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				c.Classes = d.classes
				return asModel(c.Fit(ctx, d.views, d.class))
			}}
		},
	},
	{
		model: modelBMKL, tasks: []string{"multilabel"}, kind: "multilabel", form: labels, gaps: true,
		flags:  []string{"kernels", "text", "sparse", "prior", "margin", "sigma-g", "missing-targets", "allow-duplicates", "restarts", "plain", "store", "landmarks", "choose", "resume"},
		priors: []string{"lambda", "gamma", "omega"},
		build: func(s *settings) fitter {
			m := mkl.MultiLabel{
				Fitting: s.fitting, Plain: s.Plain, Landmarks: s.inPlace(), Margin: s.Margin, SigmaG: s.SigmaG,
				Lambda: s.prior["lambda"], Gamma: s.prior["gamma"], Omega: s.prior["omega"],
			}
			return fitter{m.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(m.FitKnown(ctx, d.views, d.labels...))
			}}
		},
	},
	{
		model: modelBMKL, tasks: []string{"tasklabels"}, kind: "task-classifier", form: labels,
		flags:  []string{"kernels", "text", "sparse", "prior", "margin", "sigma-g", "missing-targets", "allow-duplicates", "restarts", "plain", "store", "resume"},
		priors: []string{"lambda", "gamma", "omega"},
		build: func(s *settings) fitter {
			c := mkl.TaskClassifier{
				Fitting: s.fitting, Plain: s.Plain, Margin: s.Margin, SigmaG: s.SigmaG,
				Lambda: s.prior["lambda"], Gamma: s.prior["gamma"], Omega: s.prior["omega"],
			}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(c.Fit(ctx, d.views, d.labels...))
			}}
		},
	},
	{
		model: "mgp", tasks: []string{taskRegression}, kind: "multigp", form: numbers, one: true, gaps: true,
		flags: []string{"kernels", "text", "method", "family", "hold", "weight", "noise", "noise-sd", "raw-targets", "plain", "store", "resume"},
		build: func(s *settings) fitter {
			g := mkl.MultiGP{
				Fitting: s.fitting, Family: family(s.Family), Method: s.method(), Noise: s.noise(), KnownNoise: s.NoiseSD, RawTargets: s.RawTargets,
				Prior: s.scaled.prior, HeldPrior: s.scaled.held,
			}
			return fitter{g.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				g.KnownWeights = s.scaled.known(d.views)
				return asModel(g.Fit(ctx, d.views, d.numbers[0]))
			}}
		},
	},
	{
		model: "mgp", tasks: []string{taskBinary, taskMulticlass}, kind: "multigp-classifier", form: classes, one: true, gaps: true,
		flags: []string{"kernels", "text", "method", "family", "hold", "weight", "plain", "store", "resume"},
		build: func(s *settings) fitter {
			c := mkl.MultiGPClassifier[string]{
				Fitting: s.fitting, Family: family(s.Family), Method: s.method(), Prior: s.scaled.prior, HeldPrior: s.scaled.held,
			}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				c.KnownWeights = s.scaled.known(d.views)
				c.Classes = d.classes
				return asModel(c.Fit(ctx, d.views, d.class))
			}}
		},
	},
	{
		model: "probit", tasks: []string{taskBinary, taskMulticlass}, kind: "probit-classifier", form: classes, gaps: true,
		flags:  []string{"kernels", "text", "prior", "rule", "search", "update", "ridge", "class-prior", "gibbs", "relevance", "prune", "map", "allow-duplicates", "restarts", "store", "resume"},
		priors: []string{"alpha", "rho", priorOfSwitches, "kappa", "xi", "theta"},
		build: func(s *settings) fitter {
			c := mkl.ProbitClassifier[string]{
				Fitting: s.fitting, Alpha: s.prior["alpha"], LearnAlpha: slices.ContainsFunc(s.Prior, learnsAlpha), ClassAlpha: s.classPrior, Rule: rule(s.Rule), NotEmpty: true,
				Update: s.update(), Ridge: s.Ridge,
				Rho: s.prior["rho"], Theta: s.prior["theta"], Kappa: rateOf(s.prior["kappa"]), Xi: rateOf(s.prior["xi"]),
				Draws: mkl.GibbsDraws{Chains: s.Chains, Draws: s.Draws, Thin: s.Thin},
			}
			switch {
			case s.Gibbs:
				c.Inference = mkl.Gibbs
			case s.Relevance:
				c.Inference = mkl.RelevanceVectors
			case s.Prune:
				c.Inference = mkl.PrunedVectors
			case s.MAP:
				c.Inference = mkl.MAP
			}
			if s.Search != searchMode {
				c.Search = mkl.Sampling
			}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				c.Classes = d.classes
				switch len(s.on) {
				case 0, len(d.views):
					c.On = s.on
				case 1:
					c.On = slices.Repeat(s.on, len(d.views))
				default:
					return nil, console.Inputf("-prior sigma has %d probabilities for %s: one is needed, or one for each kernel", len(s.on), console.Plural(len(d.views), "kernel"))
				}
				return asModel(c.Fit(ctx, d.views, d.class))
			}}
		},
	},
	{
		model: modelLandmarks, tasks: []string{taskRegression}, kind: "landmarks", form: numbers, one: true, open: true,
		flags: []string{"kernels", "text", "landmarks", "choose", "resume"},
		build: func(s *settings) fitter {
			g := mkl.LandmarkGP{Fitting: s.fitting, Landmarks: s.choice()}
			return fitter{g.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(g.Fit(ctx, d.views, d.numbers[0]))
			}}
		},
	},
	{
		model: modelLandmarks, tasks: []string{taskBinary, taskMulticlass}, kind: "landmark-classifier", form: classes, one: true, open: true,
		flags:    []string{"kernels", "text", "landmarks", "choose", "resume"},
		complete: "labels must be complete",
		build: func(s *settings) fitter {
			c := mkl.LandmarkClassifier[string]{Fitting: s.fitting, Landmarks: s.choice()}
			return fitter{c.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				c.Classes = d.classes
				return asModel(c.Fit(ctx, d.views, d.class))
			}}
		},
	},
	{
		model: "spikeslab", tasks: []string{taskRegression}, kind: "spike-slab", form: numbers, part: "feature", one: true,
		flags: []string{"raw-targets", "restarts", "resume"},
		build: func(s *settings) fitter {
			r := mkl.SpikeSlab{Fitting: s.fitting, Names: s.features, RawFeatures: s.RawColumns, RawTargets: s.RawTargets}
			return fitter{r.EstimateMemory, func(ctx context.Context, d *data) (mkl.Model, error) {
				return asModel(r.Fit(ctx, d.features, d.numbers[0]))
			}}
		},
	},
	{
		model: "factors", tasks: []string{taskFactors}, kind: "factors", form: tableEntries, part: "factor", // fitted by fitFactors
		flags: []string{"factors", "entries", "shared-noise", "no-offsets", "restarts", "resume"},
	},
	{
		model: "pairs", tasks: []string{taskPairs}, kind: "pair-regression", form: numbers, one: true, pairs: true,
		flags: []string{"entries", "rows", "columns", "components", "sigma-g", "sigma-h", "no-bias",
			"kernels", "text", "prior", "raw-targets", "allow-duplicates", "restarts", "plain", "resume"},
		priors: []string{"lambda", "eta", "gamma", "epsilon"},
	},
	{
		model: "pairs", tasks: []string{taskPairLabels}, kind: "pair-classifier", form: labels, one: true, pairs: true,
		flags: []string{"entries", "rows", "columns", "components", "sigma-g", "sigma-h", "no-bias",
			"kernels", "text", "prior", "margin", "allow-duplicates", "restarts", "plain", "resume"},
		priors: []string{"lambda", "eta", "gamma"},
	},
}

// settings are what the flags of mkl fit ask for.
type settings struct {
	*fitCmd
	fitting mkl.Fitting
	prior   map[string]mkl.Gamma // by name, those that differ from the default

	classPrior map[string]mkl.Gamma // of -class-prior
	on         []float64            // of -prior sigma
	scaled     scales               // of -hold and -weight
	features   []string             // names of the columns of the first view
}

// rateOf is the rate of an exponential distribution; 0 stands for the default.
func rateOf(g mkl.Gamma) float64 {
	if g.Scale == 0 {
		return 0
	}
	return 1 / g.Scale
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
	numbers      form = iota // columns of numbers
	classes                  // a column of labels, of which each sample has one
	labels                   // columns that say whether a sample has a label
	tableEntries             // those of a table, which has no other columns
)

// kind is how a column of targets is read. If missing, cells can be empty.
func (f form) kind(missing bool) table.Kind {
	switch {
	case f == numbers && missing, f == tableEntries:
		return table.Optional
	case f == numbers:
		return table.Number
	case missing:
		return table.OptionalLabel
	}
	return table.Label
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

// distinct lists the names that each estimator has, each of them once.
func distinct(names func(*estimator) []string) (all []string) {
	for _, est := range estimators {
		for _, n := range names(est) {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// modelNames are the values of -model.
func modelNames() []string {
	return distinct(func(est *estimator) []string { return []string{est.model} })
}

// taskNames are the values of -task.
func taskNames() []string { return distinct(func(est *estimator) []string { return est.tasks }) }

// tasksOf are the tasks of a model.
func tasksOf(model string) []string {
	return distinct(func(est *estimator) []string {
		if est.model != model {
			return nil
		}
		return est.tasks
	})
}

// kernels reports whether the estimator learns by kernels.
func (est *estimator) kernels() bool { return est.part == "" }

// takes reports whether a flag means something to the estimator.
func (est *estimator) takes(flag string) bool { return slices.Contains(est.flags, flag) }

// task returns the task that a model of the estimator's was fitted for, by the number of
// its targets or classes.
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

// partName is the noun for what a weight is of.
func (est *estimator) partName() string {
	if est.kernels() {
		return "kernel"
	}
	return est.part
}

// families are the priors that -family names.
var families = []struct {
	name   string
	family mkl.Family
}{
	{"none", mkl.DefaultFamily}, {"student-t", mkl.StudentT}, {"laplace", mkl.Laplace}, {"gamma-variance", mkl.GammaVariance}, {"gig", mkl.GeneralGIG}, {"ard", mkl.ARD},
}

// family returns the family of a name; the parser of flags lets no other pass.
func family(name string) mkl.Family {
	for _, f := range families {
		if f.name == name {
			return f.family
		}
	}
	return mkl.DefaultFamily
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

// methods are the ways to fit a multiple Gaussian process that -method names.
var methods = []struct {
	name   string
	method mkl.Method
}{
	{"evidence", mkl.Evidence}, {"gaussian-bound", mkl.GaussianBound}, {"factorised", mkl.Factorised}, {"published", mkl.Published},
}

// method returns the method that -method or -plain names; the parser of flags lets no
// other name pass.
func (c *fitCmd) method() mkl.Method {
	for _, m := range methods {
		if m.name == c.Method && !c.Plain {
			return m.method
		}
	}
	return mkl.Published
}

// updates are the ways to learn weights that -update names.
var updates = []struct {
	name   string
	update mkl.WeightUpdate
}{
	{"plugin", mkl.PlugIn}, {"meanfield", mkl.MeanField}, {"structured", mkl.Structured},
}

// update returns the update that -update names; the parser of flags lets no other pass.
func (c *fitCmd) update() mkl.WeightUpdate {
	for _, u := range updates {
		if u.name == c.Update {
			return u.update
		}
	}
	return mkl.PlugIn
}

// noise returns the noise that -noise names; the parser of flags lets no other pass.
func (c *fitCmd) noise() mkl.NoiseModel {
	for _, n := range []mkl.NoiseModel{mkl.VaryingNoise, mkl.HeavyNoise} {
		if c.Noise == n.String() {
			return n
		}
	}
	return mkl.ConstantNoise
}

// asModel is a fit as one of any model, nil if there is none.
func asModel[M interface {
	comparable
	mkl.Model
}](m M, err error) (mkl.Model, error) {
	var none M
	if m == none {
		return nil, err
	}
	return m, err
}
