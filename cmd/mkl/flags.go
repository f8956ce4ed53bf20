package main

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/mkl"
)

// fitCmd is mkl fit.
type fitCmd struct {
	Model   *string `enum:"${models}" help:"What to learn it by: auto (the default for one target: a few multiple Gaussian processes with kernels that the data suggest, pooled; for regression of one target, binary and multiclass), bmkl (for every task, the default where auto is not for it), mgp (multiple Gaussian processes, for regression of one target, binary and multiclass), probit (a multinomial probit kernel machine, for binary and multiclass), landmarks (mgp for any number of samples, for the same tasks), spikeslab (sparse linear regression of one target, without kernels), factors (for that task), pairs (for pairs and pairlabels)."`
	Kernels string  `placeholder:"KERNELS" help:"Kernels of views that name none; without them the data suggest kernels."`
	Output  string  `short:"o" placeholder:"FILE" help:"Model file to write; - is standard output, and the report then goes to standard error."`

	MissingTargets bool `help:"Learn from samples some of whose targets are missing (empty cells, NA, NaN): for regression, multioutput, shared, tasks, multitask, multilabel and tasklabels."`

	Samples bool `help:"List the active samples with their weights."`

	Resume string `placeholder:"FILE" help:"File that keeps the state of the fit; the same command goes on from there."`

	learnFlags  `embed:""`
	factorFlags `embed:""`
	pairFlags   `embed:""`

	More []string `arg:"" optional:"" help:"Further files of mkl sum."`

	task, model string      // those of -task and -model, or what stands in for them
	made        *provenance // nil before the files are read
}

// learnFlags are the flags of every command that learns from a table.
type learnFlags struct {
	Data   string   `arg:"" help:"Table with a row for each sample (CSV, also compressed, NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MAT-file); - is standard input. For mkl fit also a file of mkl sum."`
	Task   *string  `enum:"${tasks}" help:"What to learn, by default what the cells of the target column say: text or 0 and 1 are classes, other numbers a regression, and so are several targets. It is regression (of one target or several), multioutput (several), shared (several that depend on different views), tasks (several that are known for samples of their own and depend on the same views), multitask (several that are sparse combinations of common functions, of kernels whose widths are learned), binary or multiclass (a column of labels), multilabel (several columns of 0 and 1), tasklabels (the same, that are known for samples of their own), factors (a table with gaps, which it completes: its columns are sparse combinations of a few factors), pairs (values of pairs of a row and a column, by -rows and -columns), or pairlabels (labels that pairs have or have not)."`
	Target string   `placeholder:"COLUMNS" help:"Columns to learn: a name, #position or pattern, or several with commas between. Needed, but for files of mkl sum and -task factors, pairs and pairlabels."`
	View   []string `sep:"none" placeholder:"NAME=COLUMNS:KERNELS" help:"A view of the samples; can be repeated. Without one, all columns that are not targets."`

	Sparse string   `enum:"none,kernels,samples,both" default:"none" help:"What to make sparse by Gamma(1e-10,1e+10) priors on weights: none, kernels, samples or both."`
	Prior  []string `sep:"none" placeholder:"NAME=SHAPE,SCALE" help:"Gamma prior of lambda, upsilon, gamma, omega or epsilon, of -model probit of alpha, rho or theta, or its kappa or xi as kappa=RATE, or with -rule bin the probability that kernels are on as sigma=0.2 or one for each, or alpha=learn, which learns shape and scale, of -model pairs of lambda, eta, gamma or epsilon; can be repeated (1,1)."`
	Margin float64  `default:"0" help:"Half the width of the gap between classes, on the scale of the scores (${default}); the paper has one, and probabilities too near 0 and 1."`
	SigmaG float64  `default:"${sigmaG}" name:"sigma-g" help:"Standard deviation of a classifier's intermediate outputs (${default})."`

	Latents       int           `help:"Latent functions of each kernel of -task multitask; 0 means as many as there are targets, at most 5."`
	Time          time.Duration `placeholder:"DURATION" help:"About how long the fit may take, such as 30s; then the best so far is the model. By default as long as it takes."`
	Method        string        `enum:"${methods}" default:"evidence" help:"How -model mgp is fitted: evidence, gaussian-bound (of labels a true lower bound), factorised or published (${default})."`
	Family        string        `enum:"${families}" default:"none" help:"Priors of the kernels' scales in -model mgp: none, student-t, laplace, gamma-variance, gig or ard (${default})."`
	Hold          []string      `sep:"none" placeholder:"NAME=NUMBER" help:"Parameter omega, chi or phi of the prior of -family that is held at a number instead of learned; can be repeated. With -family student-t omega=0.5 is the Cauchy process, with gig omega=-1 the hyperbolic one."`
	Weight        []string      `sep:"none" placeholder:"VIEW=NUMBER" help:"Known weight of a view's one kernel in -model mgp, for targets of variance 1; can be repeated. A view with a linear kernel and a known weight is a mean function."`
	Noise         string        `enum:"constant,varying,heavy" default:"constant" help:"Noise of -model mgp in a regression: constant, varying, with a variance that is a function of the views, or heavy, with tails that bear outliers (${default}); -model auto finds out whether it varies."`
	NoiseSD       float64       `name:"noise-sd" placeholder:"NUMBER" help:"Known standard deviation of the noise in -model mgp, in the target's units; by default it is learned."`
	Rule          string        `enum:"fixsum,wsum,bin,fixprod,wprod" default:"fixsum" help:"How -model probit makes one kernel of all: fixsum or fixprod, their sum or product; wsum, bin or wprod, with weights, switches or powers that are learned (${default})."`
	Search        string        `enum:"mode,sampling" default:"mode" help:"Where -model probit puts kernels' weights and features' relevances that are learned: at the mode of their density, or at the mean of importance samples (${default})."`
	Update        string        `enum:"${updates}" default:"plugin" help:"How -model probit learns weights: plugin, by the functions at their mean, as the paper does; meanfield, a step of coordinate ascent; or structured, for -rule bin, with functions for each state of the switches (${default})."`
	Ridge         float64       `help:"What -model probit adds to the kernels' diagonal, times the share of each row's class, which holds back large classes."`
	ClassPrior    []string      `sep:"none" placeholder:"CLASS=SHAPE,SCALE" help:"Prior alpha of -model probit for one class, where classes are of very different sizes; can be repeated."`
	landmarkFlags `embed:""`

	Relevance bool `help:"Keep by -model probit the few rows alone that matter most, its relevance vectors, for a small model and predictions that cost little; -rule is fixsum, fixprod or wsum."`

	Prune bool `help:"Keep by -model probit few rows too, those that a sparse prior leaves of all rows at the mode of the posterior, by the same rules; -relevance begins without any."`

	MAP bool `name:"map" help:"Take the mode of the posterior of -model probit alone, by the same rules: a small model whose probabilities are too sure."`

	Gibbs  bool `help:"Sample the posterior of -model probit instead of approximating it."`
	Chains int  `help:"Chains of -gibbs; 0 means 4."`
	Draws  int  `help:"Draws of -gibbs that are kept of each chain; 0 means 250."`
	Thin   int  `help:"Sweeps of -gibbs from one draw that is kept to the next; 0 means 4. As many as are drawn from go before the first."`

	Missing string   `enum:"refuse,drop,impute,views" default:"refuse" help:"What to do where a feature has no value (an empty cell, NA, NaN, NULL or ?): refuse the file, drop the row, impute the column's median and add a column of 0 and 1 that says where, or learn from rows that lack whole views by the views that they have. Drop and impute leave out rows without a target (${default})."`
	Text    string   `enum:"onehot,category" default:"onehot" help:"What becomes of columns of text: onehot, a column of 0 and 1 for each text, or category, seen by a kernel of categories of their own (${default})."`
	As      []string `sep:"none" placeholder:"COLUMN=TYPE" help:"What a column is: number, text, boolean, date, date(d.m.y), date(d/m/y), date(m/d/y), or none to leave it out; can be repeated. By default the cells tell."`

	RawColumns      bool   `help:"Leave columns as they are; by default each is given mean 0 and standard deviation 1."`
	RawTargets      bool   `help:"Leave targets as they are; by default each is given mean 0 and standard deviation 1 for the fit."`
	Store           string `default:"float64" placeholder:"STORE" help:"How kernels are held during the fit: float64, float32 (a quarter of the memory; predictions moved by less than 0.01 standard deviations where it was tried), or in a file of a folder that is named by a path with a slash, such as ./ (${default})."`
	AllowDuplicates bool   `help:"Accept kernels that are the same matrix."`

	Seed      uint64  `default:"1" help:"Seed of the random start (${default})."`
	Restarts  int     `help:"Further random starts; the one with the highest bound is kept."`
	Sweeps    int     `help:"Most sweeps of a start; 0 means 10000."`
	Tolerance float64 `help:"Relative rise of the bound that counts as none; 0 looks at the predictions as well."`
	Plain     bool    `help:"Do exactly the published updates, which need many more sweeps."`

	Workers int         `help:"Most goroutines at work; 0 means one for each processor."`
	Memory  memory.Size `placeholder:"SIZE" help:"Refuse a fit that needs more than this, such as 8GiB; by default what the machine has available."`
	JSON    bool        `name:"json" help:"Print JSON."`

	console.Layout `embed:""`
}

// The values of -store but for folders.
const (
	storeFloat64 = "float64"
	storeFloat32 = "float32"
)

// storage returns how kernels are held.
func (c *learnFlags) storage() (mkl.KernelStorage, error) {
	switch {
	case c.Store == storeFloat64:
		return mkl.KernelStorage{}, nil
	case c.Store == storeFloat32:
		return mkl.KernelStorage{Float32: true}, nil
	case !strings.ContainsAny(c.Store, `/\`):
		return mkl.KernelStorage{}, console.Inputf("-store %s is neither %s nor %s, nor a path with a slash", c.Store, storeFloat64, storeFloat32)
	}
	if info, err := os.Stat(c.Store); err != nil || !info.IsDir() {
		return mkl.KernelStorage{}, console.Inputf("-store %s: there is no such folder", c.Store)
	}
	return mkl.KernelStorage{Directory: c.Store}, nil
}

// landmarkFlags are the flags of landmarks.
type landmarkFlags struct {
	Landmarks int    `help:"Landmarks of -model landmarks; 0 means 500, or fewer for more than six kernels. With -model bmkl, for all tasks but those of samples of their own and multitask, it takes kernels with so many landmarks in place of those between all rows."`
	Choose    string `enum:"random,k-means,pivoted" default:"random" help:"How landmarks are chosen: random, k-means or pivoted (by the kernels that those before represent worst) (${default})."`
}

// chooseRandom is the default of -choose.
const chooseRandom = "random"

// choice returns the landmarks that the flags ask for; the parser of flags lets no other
// name pass.
func (c landmarkFlags) choice() mkl.Landmarks {
	l := mkl.Landmarks{Count: c.Landmarks}
	switch c.Choose {
	case "k-means":
		l.Choose = mkl.KMeansLandmarks
	case "pivoted":
		l.Choose = mkl.PivotedLandmarks
	}
	return l
}

// inPlace returns the landmarks that models of kernels between all samples are to take in place
// of these, nil if they are to take none.
func (c landmarkFlags) inPlace() *mkl.Landmarks {
	if c.Landmarks == 0 {
		return nil
	}
	l := c.choice()
	return &l
}

// flagVars are the defaults and the values of flags that the help refers to by name.
func flagVars() map[string]string {
	var familyNames, methodNames, updateNames []string
	for _, f := range families {
		familyNames = append(familyNames, f.name)
	}
	for _, m := range methods {
		methodNames = append(methodNames, m.name)
	}
	for _, u := range updates {
		updateNames = append(updateNames, u.name)
	}
	return map[string]string{
		"tasks": strings.Join(taskNames(), ","), "models": strings.Join(modelNames(), ","),
		"families": strings.Join(familyNames, ","), "methods": strings.Join(methodNames, ","), "updates": strings.Join(updateNames, ","),
		"sigmaG": strconv.FormatFloat(defaultSigmaG, 'g', -1, 64),
	}
}

// estimator returns the estimator that -model names for the task. Without -model it is
// the first in the table that is for the task and so many targets.
func (c *fitCmd) estimator(targets int) (*estimator, error) {
	for _, est := range estimators {
		if slices.Contains(est.tasks, c.task) && (c.Model == nil && (targets == 1 || !est.one) || c.Model != nil && est.model == *c.Model) {
			c.model = est.model
			return est, nil
		}
	}
	return nil, console.Inputf("-model %s is for -task %s, not %s", *c.Model, join(tasksOf(*c.Model)), c.task)
}

// join lists names in words.
func join(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// check refuses flags that mean nothing to the estimator.
func (c *fitCmd) check(est *estimator) error {
	for _, f := range c.optional() {
		switch {
		case !f.given || est.takes(f.name):
		case f.name == "missing-targets" && est.complete != "":
			return console.Inputf("-missing-targets is not for -task %s: %s", c.task, est.complete)
		default:
			return console.Inputf("-%s is not for -task %s with -model %s%s", f.name, c.task, c.model, c.takers(f.name))
		}
	}
	if c.Missing == missingViews && !est.gaps {
		var models []string
		for _, other := range estimators {
			if slices.Contains(other.tasks, c.task) && other.gaps {
				models = append(models, "-model "+other.model)
			}
		}
		hint := ""
		if models != nil {
			hint = " (it is for " + join(models) + ")"
		}
		return console.Inputf("-missing views is not for -task %s with -model %s%s", c.task, c.model, hint)
	}
	if est.model == modelBMKL && c.Landmarks == 0 && c.Choose != chooseRandom {
		return console.Inputf("-choose is for -landmarks, without which -model %s has none", modelBMKL)
	}
	if est.model == modelBMKL && c.Landmarks > 0 && c.Store != storeFloat64 {
		return console.Inputf("-store is for kernels between all rows: it is not for -landmarks")
	}
	if c.Plain && c.Method != methods[0].name {
		return console.Inputf("-plain is -method %s: it cannot be %s as well", mkl.Published, c.Method)
	}
	return nil
}

// takers says which models for the task take a flag.
func (c *fitCmd) takers(flag string) string {
	var models []string
	for _, est := range estimators {
		if slices.Contains(est.tasks, c.task) && est.takes(flag) {
			models = append(models, "-model "+est.model)
		}
	}
	if models == nil {
		return ""
	}
	return " (it is for " + join(models) + ")"
}

// optionalFlag is a flag that means nothing to some estimators.
type optionalFlag struct {
	name  string
	given bool
	reset func() // gives it its default
}

// optional lists these flags: the table of estimators says which of them each takes.
func (c *fitCmd) optional() []optionalFlag {
	return []optionalFlag{
		flagOf("kernels", &c.Kernels, ""),
		flagOf("text", &c.Text, textOneHot),
		flagOf("sparse", &c.Sparse, "none"),
		{"prior", len(c.Prior) > 0, func() { c.Prior = nil }},
		flagOf("margin", &c.Margin, 0),
		flagOf("sigma-g", &c.SigmaG, defaultSigmaG),
		flagOf("latents", &c.Latents, 0),
		flagOf("method", &c.Method, methods[0].name),
		flagOf("family", &c.Family, families[0].name),
		{"hold", len(c.Hold) > 0, func() { c.Hold = nil }},
		{"weight", len(c.Weight) > 0, func() { c.Weight = nil }},
		flagOf("noise", &c.Noise, mkl.ConstantNoise.String()),
		flagOf("noise-sd", &c.NoiseSD, 0),
		flagOf("rule", &c.Rule, strings.ToLower(mkl.FixSum.String())),
		flagOf("search", &c.Search, searchMode),
		flagOf("update", &c.Update, updates[0].name),
		flagOf("ridge", &c.Ridge, 0),
		{"class-prior", len(c.ClassPrior) > 0, func() { c.ClassPrior = nil }},
		flagOf("landmarks", &c.Landmarks, 0),
		flagOf("choose", &c.Choose, chooseRandom),
		flagOf("gibbs", &c.Gibbs, false),
		flagOf("relevance", &c.Relevance, false),
		flagOf("prune", &c.Prune, false),
		flagOf("map", &c.MAP, false),
		flagOf("raw-targets", &c.RawTargets, false),
		flagOf("store", &c.Store, storeFloat64),
		flagOf("allow-duplicates", &c.AllowDuplicates, false),
		flagOf("restarts", &c.Restarts, 0),
		flagOf("plain", &c.Plain, false),
		flagOf("missing-targets", &c.MissingTargets, false),
		flagOf("resume", &c.Resume, ""),
		flagOf("factors", &c.Factors, 0),
		flagOf("entries", &c.Entries, ""),
		flagOf("shared-noise", &c.SharedNoise, false),
		flagOf("no-offsets", &c.NoOffsets, false),
		{"rows", c.Rows != nil, func() { c.Rows = nil }},
		{"columns", c.Columns != nil, func() { c.Columns = nil }},
		flagOf("components", &c.Components, 0),
		flagOf("sigma-h", &c.SigmaH, 0),
		flagOf("no-bias", &c.NoBias, false),
	}
}

// searchMode is the default of -search.
const searchMode = "mode"

// flagOf is an optional flag with its default.
func flagOf[T comparable](name string, value *T, standard T) optionalFlag {
	return optionalFlag{name, *value != standard, func() { *value = standard }}
}

// checkNumbers refuses numbers that no estimator can take.
func (c *fitCmd) checkNumbers() error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"restarts", c.Restarts}, {"sweeps", c.Sweeps}, {"workers", c.Workers}, {"latents", c.Latents},
		{"chains", c.Chains}, {"draws", c.Draws}, {"thin", c.Thin},
		{"landmarks", c.Landmarks}, {"factors", c.Factors}, {"components", c.Components},
	} {
		if f.value < 0 {
			return console.Inputf("-%s %d is negative", f.name, f.value)
		}
	}
	if c.Time < 0 {
		return console.Inputf("-time %v is negative", c.Time)
	}
	if !(c.Tolerance >= 0 && c.Tolerance < 1) {
		return console.Inputf("-tolerance %g is not between 0 and 1", c.Tolerance)
	}
	if !(c.Margin >= 0) || math.IsInf(c.Margin, 0) {
		return console.Inputf("-margin %g is not a number from 0 up", c.Margin)
	}
	if !(c.SigmaG > 0) || math.IsInf(c.SigmaG, 0) {
		return console.Inputf("-sigma-g %g is not a positive number", c.SigmaG)
	}
	if !(c.Ridge >= 0) || math.IsInf(c.Ridge, 0) {
		return console.Inputf("-ridge %g is not a number from 0 up", c.Ridge)
	}
	return nil
}

// checkSampling refuses the flags of sampling without -gibbs, with it those of the
// variational fit, and what is not for -relevance, -prune and -map.
func (c *fitCmd) checkSampling() error {
	switch {
	case c.Relevance && c.Gibbs:
		return console.Inputf("-relevance excludes -gibbs")
	case c.MAP && (c.Relevance || c.Gibbs):
		return console.Inputf("-map excludes -relevance and -gibbs")
	case c.Prune && (c.Relevance || c.Gibbs || c.MAP):
		return console.Inputf("-prune excludes -relevance, -gibbs and -map")
	case c.Prune && (c.Search != searchMode || c.Update != updates[0].name):
		return console.Inputf("-prune takes the mode: -search and -update are not for it")
	case c.MAP && (c.Search != searchMode || c.Update != updates[0].name):
		return console.Inputf("-map takes the mode: -search and -update are not for it")
	case c.Relevance && c.Search != searchMode:
		return console.Inputf("-relevance puts the weights where the bound is highest: -search %s is not for it", c.Search)
	case c.Gibbs && c.Search != searchMode:
		return console.Inputf("-gibbs draws the weights: -search is not for it")
	case c.Relevance && (len(c.Prior) > 0 || len(c.ClassPrior) > 0):
		return console.Inputf("-relevance has no priors: -prior and -class-prior are not for it")
	case slices.ContainsFunc(c.Prior, learnsAlpha) && (c.Gibbs || c.Prune || c.MAP || len(c.ClassPrior) > 0):
		return console.Inputf("-prior alpha=learn is not for -gibbs, -prune, -map and -class-prior")
	case c.Relevance && c.Ridge > 0:
		return console.Inputf("-relevance takes kernels as they are: -ridge is not for it")
	case (c.Relevance || c.Gibbs) && c.Update != updates[0].name:
		return console.Inputf("-update says how a variational fit learns weights: it is not for -gibbs and -relevance")
	case c.update() == mkl.Structured && c.Rule != "bin":
		return console.Inputf("-update structured is for -rule bin, not %s", c.Rule)
	case c.Update != updates[0].name && !rule(c.Rule).Learned():
		return console.Inputf("-update is for rules that learn weights: -rule %s has none to learn", c.Rule)
	case c.Relevance && (c.Rule == "bin" || c.Rule == "wprod"):
		return console.Inputf("-relevance is for -rule fixsum, fixprod and wsum, not %s", c.Rule)
	case c.MAP && (c.Rule == "bin" || c.Rule == "wprod"):
		return console.Inputf("-map is for -rule fixsum, fixprod and wsum, not %s", c.Rule)
	case c.Prune && (c.Rule == "bin" || c.Rule == "wprod"):
		return console.Inputf("-prune is for -rule fixsum, fixprod and wsum, not %s", c.Rule)
	}
	for _, f := range []struct {
		name            string
		given, sampling bool
	}{
		{"chains", c.Chains != 0, true}, {"draws", c.Draws != 0, true}, {"thin", c.Thin != 0, true},
		{"sweeps", c.Sweeps != 0, false}, {"tolerance", c.Tolerance != 0, false}, {"restarts", c.Restarts != 0, false},
	} {
		switch {
		case f.given && f.sampling && !c.Gibbs:
			return console.Inputf("-%s is for -gibbs", f.name)
		case f.given && !f.sampling && c.Gibbs:
			return console.Inputf("-%s is not for -gibbs: -chains, -draws and -thin say how long it samples", f.name)
		}
	}
	return nil
}

// sparsePrior is the prior of precisions that makes weights sparse.
var sparsePrior = mkl.Gamma{Shape: 1e-10, Scale: 1e+10}

// priors reads -prior, and what -sparse says of priors.
func (c *fitCmd) priors(est *estimator) (map[string]mkl.Gamma, error) {
	priors := map[string]mkl.Gamma{}
	if c.Sparse == "kernels" || c.Sparse == "both" {
		priors["omega"] = sparsePrior
	}
	if c.Sparse == "samples" || c.Sparse == "both" {
		priors["lambda"] = sparsePrior
	}
	for _, s := range c.Prior {
		name, value, _ := strings.Cut(s, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(est.priors, name) {
			noun := "priors are"
			if len(est.priors) == 1 {
				noun = "prior is"
			}
			return nil, console.Inputf("-prior %s: the %s %s", s, noun, join(est.priors))
		}
		if learnsAlpha(s) || name == priorOfSwitches {
			continue
		}
		if name == "kappa" || name == "xi" { // rates of exponential distributions
			rate, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(rate > 0) || math.IsInf(rate, 0) {
				return nil, console.Inputf("-prior %s: a positive number is needed, as in %s=0.5", s, name)
			}
			priors[name] = mkl.Gamma{Shape: 1, Scale: 1 / rate}
			continue
		}
		g, ok := gammaOf(value)
		if !ok {
			return nil, console.Inputf("-prior %s: two positive numbers are needed, as in %s=1e-10,1e+10", s, name)
		}
		priors[name] = g
	}
	return priors, nil
}

// priorOfSwitches is the name of the -prior that says how probable it is that kernels are on.
const priorOfSwitches = "sigma"

// switches reads -prior sigma, a probability for all kernels or one for each; nil without it.
func (c *fitCmd) switches() (on []float64, err error) {
	for _, s := range c.Prior {
		name, value, _ := strings.Cut(s, "=")
		if !strings.EqualFold(strings.TrimSpace(name), priorOfSwitches) {
			continue
		}
		if c.Rule != "bin" {
			return nil, console.Inputf("-prior %s is for -rule bin, not %s", s, c.Rule)
		}
		on = nil
		for text := range strings.SplitSeq(value, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(v > 0 && v < 1) {
				return nil, console.Inputf("-prior %s: probabilities above 0 and below 1 are needed, as in %s=0.2 or %s=0.2,0.5", s, name, name)
			}
			on = append(on, v)
		}
	}
	return on, nil
}

// learnsAlpha reports whether the text of a -prior asks for a prior alpha that is learned.
func learnsAlpha(text string) bool {
	name, value, _ := strings.Cut(text, "=")
	return strings.EqualFold(strings.TrimSpace(name), "alpha") && strings.TrimSpace(value) == "learn"
}

// gammaOf reads SHAPE,SCALE.
func gammaOf(text string) (g mkl.Gamma, ok bool) {
	shape, scale, _ := strings.Cut(text, ",")
	var errs [2]error
	g.Shape, errs[0] = strconv.ParseFloat(strings.TrimSpace(shape), 64)
	g.Scale, errs[1] = strconv.ParseFloat(strings.TrimSpace(scale), 64)
	ok = errs[0] == nil && errs[1] == nil && g.Shape > 0 && g.Scale > 0 && !math.IsInf(g.Shape, 0) && !math.IsInf(g.Scale, 0)
	return g, ok
}

// classPriors reads -class-prior; nil without any.
func (c *fitCmd) classPriors() (map[string]mkl.Gamma, error) {
	var priors map[string]mkl.Gamma
	for _, s := range c.ClassPrior {
		at := strings.LastIndex(s, "=") // the name of a class may hold one
		g, ok := gammaOf(s[at+1:])
		if at < 1 || !ok {
			return nil, console.Inputf("-class-prior %s: a class and two positive numbers are needed, as in yes=2,0.5", s)
		}
		if priors == nil {
			priors = map[string]mkl.Gamma{}
		}
		priors[s[:at]] = g
	}
	return priors, nil
}
