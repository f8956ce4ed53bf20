package model

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// ProbitFlags are the flags of -model probit.
type ProbitFlags struct {
	Rule       string   `enum:"fixsum,wsum,bin,fixprod,wprod" default:"fixsum" help:"How the kernels are combined into one: fixsum or fixprod, their sum or product; wsum, bin or wprod, with weights, switches or powers that are learned (${default})."`
	Inference  string   `enum:"${inferences}" default:"variational" help:"How the model is fitted: variational; gibbs samples the posterior; relevance keeps the few rows that matter most, added one by one; prune keeps the rows that a sparse prior leaves; map takes the mode of the posterior (${default}). The last three give small models; the probabilities of map are too close to 0 and 1."`
	Chains     int      `help:"Chains of -inference gibbs; 0 means 4."`
	Draws      int      `help:"Draws that -inference gibbs keeps of each chain; 0 means 250."`
	Thin       int      `help:"Sweeps of -inference gibbs between two kept draws; 0 means 4. Draws times thin sweeps go before the first kept draw."`
	Update     string   `enum:"${updates}" default:"plugin" help:"How -inference variational learns weights: plugin, by the functions at their mean, as in the paper; meanfield, a step of coordinate ascent; or structured, for -rule bin, with functions for each state of the switches (${default})."`
	Search     string   `enum:"mode,sampling" default:"mode" help:"Where -inference variational puts learned weights and relevances of features: at the mode of their density, or at the mean of importance samples (${default})."`
	Ridge      float64  `from:"0" help:"Number that is added to the kernels' diagonal, times the share of the row's class; it reduces the influence of large classes."`
	ClassPrior []string `sep:"none" placeholder:"CLASS=SHAPE,SCALE" help:"Prior alpha for one class, if classes have very different sizes; can be repeated."`
}

// updates are the ways to learn weights that -update names.
var updates = words[mkl.WeightUpdate]{{"plugin", mkl.WeightUpdatePlugIn}, {"meanfield", mkl.WeightUpdateMeanField}, {"structured", mkl.WeightUpdateStructured}}

// searchMode is the default of -search.
const searchMode = "mode"

// The rules that -rule names.
const (
	fixSum  = "fixsum"
	wSum    = "wsum"
	bin     = "bin"
	fixProd = "fixprod"
	wProd   = "wprod"
)

// inference is a way to fit the probit machine, with the settings that it takes.
type inference struct {
	name   string
	takes  string // flags that mean something to it and nothing to some others
	learns bool   // it learns the prior alpha
	point  bool   // it takes a point of the posterior: its rules are a pointRule, and it has no prior theta

	// make makes the estimator, given the probabilities of switches.
	make func(p *probit, f *fitting, on []float64) Fitter
}

// pointRules are the rules of inferences that take a point of the posterior.
var pointRules = []string{fixSum, fixProd, wSum}

// inferences are the values of -inference, the default first.
var inferences = []inference{
	{"variational", "restarts sweeps tolerance update search ridge prior class-prior", true, false, (*probit).variational},
	{"gibbs", "chains draws thin ridge prior class-prior", false, false, (*probit).sampler},
	{"relevance", "restarts sweeps tolerance", false, true, (*probit).relevance},
	{"prune", "restarts sweeps tolerance ridge prior class-prior", false, true, (*probit).pruned},
	{"map", "restarts sweeps tolerance ridge prior class-prior", false, true, (*probit).mode},
}

func inferenceNames() string {
	var all []string
	for _, i := range inferences {
		all = append(all, i.name)
	}
	return strings.Join(all, ",")
}

// inferencesThat lists in words the inferences for which is holds.
func inferencesThat(is func(inference) bool) string {
	var all []string
	for _, i := range inferences {
		if is(i) {
			all = append(all, i.name)
		}
	}
	return console.List(all)
}

var probitRows = []*Estimator{{
	Model: "probit", Tasks: []string{Binary, Multiclass}, Kind: "probit-classifier", Form: dataset.Classes, Part: partKernel, Gaps: true,
	takes:  "kernels text prior rule inference chains draws thin update search ridge class-prior allow-duplicates restarts store resume",
	priors: []string{"alpha", "rho", "sigma", "kappa", "xi", "theta"},
	settle: func(r *Request) (*settled, error) {
		p, err := newProbit(r)
		if err != nil {
			return nil, err
		}
		return &settled{fitter: p.fitter, views: p.checkViews}, nil
	},
}}

// probit is the settings of -model probit.
type probit struct {
	*Request
	inference
	learnAlpha bool
	classAlpha map[string]mkl.Gamma
	on         []float64          // of -prior sigma: one probability for each kernel, or for all; nil is the default
	rates      map[string]float64 // of -prior kappa and xi
}

// newProbit checks the settings of -model probit: first what each inference takes, then what each rule takes.
func newProbit(r *Request) (*probit, error) {
	p := &probit{Request: r, rates: map[string]float64{}}
	for _, i := range inferences {
		if i.name == r.Settings.Inference {
			p.inference = i
		}
	}
	for _, check := range []func() error{p.checkInference, p.checkRule, p.readPriors, p.readClassPriors} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// checkInference refuses settings that are not for -inference.
func (p *probit) checkInference() error {
	for _, f := range p.given {
		takes := func(i inference) bool { return slices.Contains(strings.Fields(i.takes), f) }
		if takers := inferencesThat(takes); takers != "" && !takes(p.inference) {
			return console.Inputf("-%s is not for -inference %s: it is for %s", f, p.name, takers)
		}
	}
	if p.point && !slices.Contains(pointRules, p.Settings.Rule) {
		return console.Inputf("-inference %s is for -rule %s, not %s", p.name, console.List(pointRules), p.Settings.Rule)
	}
	return nil
}

// checkRule refuses updates that are not for -rule.
func (p *probit) checkRule() error {
	switch update := updates.value(p.Settings.Update); {
	case update == mkl.WeightUpdateStructured && p.Settings.Rule != bin:
		return console.Inputf("-update structured is for -rule bin, not %s", p.Settings.Rule)
	case update != mkl.WeightUpdatePlugIn && (p.Settings.Rule == fixSum || p.Settings.Rule == fixProd):
		return console.Inputf("-update is for rules that learn weights: -rule %s learns none", p.Settings.Rule)
	}
	return nil
}

// Values of -prior that are no gamma distributions.
func (p parameter) isLearned() bool     { return p.name == "alpha" && p.value == "learn" }
func (p parameter) isProbability() bool { return p.name == "sigma" }
func (p parameter) isRate() bool        { return p.name == "kappa" || p.name == "xi" } // of exponential distributions

// readPriors reads the values of -prior that are no gamma distributions.
func (p *probit) readPriors() error {
	for _, v := range p.parameters() {
		switch {
		case v.isLearned():
			if !p.learns || len(p.Settings.ClassPrior) > 0 {
				return console.Inputf("-prior alpha=learn is for -inference %s without -class-prior", inferencesThat(func(i inference) bool { return i.learns }))
			}
			p.learnAlpha = true
		case v.isRate():
			rate, ok := positive(v.value)
			if !ok {
				return console.Inputf("-prior %s: a positive number is needed, as in %s=0.5", v.text, v.name)
			}
			p.rates[v.name] = rate
		case v.name == "theta" && p.point:
			return console.Inputf("-prior %s is not for -inference %s: it is for %s", v.text, p.name, inferencesThat(func(i inference) bool { return !i.point }))
		case v.isProbability():
			if p.Settings.Rule != bin {
				return console.Inputf("-prior %s is for -rule bin, not %s", v.text, p.Settings.Rule)
			}
			p.on = nil
			for text := range strings.SplitSeq(v.value, ",") {
				on, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				if err != nil || !(on > 0 && on < 1) {
					return console.Inputf("-prior %s: probabilities above 0 and below 1 are needed, as in %[2]s=0.2 or %[2]s=0.2,0.5", v.text, v.name)
				}
				p.on = append(p.on, on)
			}
		}
	}
	return nil
}

// readClassPriors reads -class-prior.
func (p *probit) readClassPriors() error {
	for _, s := range p.Settings.ClassPrior {
		at := strings.LastIndex(s, "=") // the name of a class may hold one
		g, ok := gammaOf(s[at+1:])
		if at < 1 || !ok {
			return console.Inputf("-class-prior %s: a class and two positive numbers are needed, as in yes=2,0.5", s)
		}
		if p.classAlpha == nil {
			p.classAlpha = map[string]mkl.Gamma{}
		}
		p.classAlpha[s[:at]] = g
	}
	return nil
}

// checkViews refuses products of kernels that the data suggest.
func (p *probit) checkViews(views []dataset.View) error {
	if dataset.Open(views) && (p.Settings.Rule == fixProd || p.Settings.Rule == wProd) {
		return console.Inputf("-rule %s needs -kernels or views with kernels: products need kernels without negative values, and the command would also choose kernels with such values", p.Settings.Rule)
	}
	return nil
}

// switches are the probabilities that so many kernels are on.
func (p *probit) switches(kernels int) ([]float64, error) {
	switch len(p.on) {
	case 0, kernels:
		return p.on, nil
	case 1:
		return slices.Repeat(p.on, kernels), nil
	}
	return nil, console.Inputf("-prior sigma has %d probabilities for %s: one is needed, or one for each kernel", len(p.on), console.Plural(kernels, "kernel"))
}

// fitter makes the estimator. The number of kernels, and with it the switches, is known with the data.
func (p *probit) fitter(f *fitting) Fitter {
	return Fitter{p.make(p, f, nil).Memory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		on, err := p.switches(len(d.Views))
		if err != nil {
			return nil, err
		}
		return p.make(p, f, on).Fit(ctx, d)
	}}
}

// rule is the rule that -rule names with its priors; the parser of flags lets no other name pass.
func (p *probit) rule(on []float64) mkl.Rule {
	switch p.Settings.Rule {
	case bin:
		return mkl.SwitchedSum{On: on, NotEmpty: true}
	case wProd:
		return mkl.WeightedProduct{Kappa: p.rates["kappa"], Xi: p.rates["xi"]}
	}
	return p.pointRule()
}

// pointRule is the rule for estimators of points.
func (p *probit) pointRule() mkl.PointRule {
	switch p.Settings.Rule {
	case wSum:
		return mkl.WeightedSum{Rho: p.priors["rho"]}
	case fixProd:
		return mkl.FixedProduct{}
	}
	return mkl.FixedSum{}
}

func (p *probit) variational(f *fitting, on []float64) Fitter {
	c := mkl.ProbitClassifier[string]{
		Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage, Rule: p.rule(on),
		Alpha: p.priors["alpha"], LearnAlpha: p.learnAlpha, ClassAlpha: p.classAlpha, Theta: p.priors["theta"],
		Ridge: p.Settings.Ridge, Update: updates.value(p.Settings.Update),
	}
	if p.Settings.Search != searchMode {
		c.Search = mkl.WeightSearchSampling
	}
	return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		c.Classes = d.Classes
		return AsModel(c.Fit(ctx, d.Views, d.Class))
	}}
}

func (p *probit) sampler(f *fitting, on []float64) Fitter {
	c := mkl.ProbitSampler[string]{
		Fitting: f.Fitting, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage, Rule: p.rule(on),
		GibbsDraws: mkl.GibbsDraws{Chains: p.Settings.Chains, Draws: p.Settings.Draws, Thin: p.Settings.Thin},
		Alpha:      p.priors["alpha"], ClassAlpha: p.classAlpha, Theta: p.priors["theta"], Ridge: p.Settings.Ridge,
	}
	return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		c.Classes = d.Classes
		return AsModel(c.Fit(ctx, d.Views, d.Class))
	}}
}

func (p *probit) relevance(f *fitting, _ []float64) Fitter {
	c := mkl.RelevanceClassifier[string]{
		Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage, Rule: p.pointRule(),
	}
	return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		c.Classes = d.Classes
		return AsModel(c.Fit(ctx, d.Views, d.Class))
	}}
}

func (p *probit) pruned(f *fitting, _ []float64) Fitter {
	c := mkl.PrunedClassifier[string]{
		Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage, Rule: p.pointRule(),
		Alpha: p.priors["alpha"], ClassAlpha: p.classAlpha, Ridge: p.Settings.Ridge,
	}
	return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		c.Classes = d.Classes
		return AsModel(c.Fit(ctx, d.Views, d.Class))
	}}
}

func (p *probit) mode(f *fitting, _ []float64) Fitter {
	c := mkl.ProbitMAP[string]{
		Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage, Rule: p.pointRule(),
		Alpha: p.priors["alpha"], ClassAlpha: p.classAlpha, Ridge: p.Settings.Ridge,
	}
	return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		c.Classes = d.Classes
		return AsModel(c.Fit(ctx, d.Views, d.Class))
	}}
}
