package model

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// MGPFlags are the flags of -model mgp.
type MGPFlags struct {
	Method string   `enum:"${methods}" default:"evidence" help:"How the scales of the kernels are learned: by the evidence; by gaussian-bound, a lower bound for labels; or as in the paper, factorised or published (${default})."`
	Noise  string   `enum:"constant,varying,heavy" default:"constant" help:"Noise of a regression: constant; varying, with a variance that is a function of the views; or heavy, with heavy tails, so that outliers hardly move the function (${default}). -model auto tests for both."`
	Weight []string `sep:"none" placeholder:"VIEW=NUMBER" help:"Known weight of a view with one kernel, for targets of variance 1; can be repeated. A view with a linear kernel and a known weight is a mean function."`
	Family string   `enum:"${families}" default:"none" help:"Prior of the kernels' scales: none, student-t, laplace, gamma-variance, gig or ard (${default})."`
	Law    string   `enum:"${laws}" default:"by-evidence" help:"Distribution of times, for -task survival, or of counts, for -task counts. Times have log-normal or weibull; by-evidence takes the one with the higher evidence (${default}). Counts have poisson, whose variance is the mean, negative-binomial, with a variance above the mean, or double-poisson, with a variance below; by-evidence takes negative-binomial unless the evidence is strong for double-poisson."`
	Grades []string `placeholder:"LOW,…,HIGH" help:"Grades from the lowest to the highest, for -task ordinal. By default they are numbers in ascending order."`
	Hold   []string `sep:"none" placeholder:"NAME=NUMBER" help:"Parameter omega, chi or phi of the prior of -family, fixed at a number instead of learned; can be repeated. With -family student-t, omega=0.5 is the Cauchy process; with gig, omega=-1 is the hyperbolic process."`
}

// families are the priors that -family names.
var families = words[mkl.Family]{
	{"none", mkl.FamilyDefault}, {"student-t", mkl.FamilyStudentT}, {"laplace", mkl.FamilyLaplace}, {"gamma-variance", mkl.FamilyGammaVariance}, {"gig", mkl.FamilyGIG}, {"ard", mkl.FamilyFlat},
}

// The ways to fit a multiple Gaussian process that -method names, the default first.
const (
	evidence   = "evidence"
	lowerBound = "gaussian-bound"
	factorised = "factorised"
	published  = "published"
)

var methods = []string{evidence, lowerBound, factorised, published}

var mgpRows = []*Estimator{
	{
		Model: "mgp", Tasks: []string{Regression}, Kind: "multigp", Form: dataset.Numbers, Part: partKernel, One: true, Gaps: true,
		takes: "kernels text method family hold weight noise noise-sd weights offset raw-targets plain store resume",
		settle: mgpOf(func(f *fitting, r *Request, s *scales) Fitter {
			if s.factorises() {
				return factorisedGP(f, r, s)
			}
			g := mkl.MultiGP{
				Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews, Storage: f.storage,
				Family: s.family, Noise: r.Settings.noise(), RawTargets: r.Settings.RawTargets,
				Prior: s.prior, HeldPrior: s.held,
			}
			return Fitter{g.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				g.KnownWeights = s.known(d.Views)
				g.Weights, g.KnownNoise = d.Weights, d.NoiseSD
				return AsModel(g.Fit(ctx, d.Views, d.Numbers[0]))
			}}
		}),
	},
	{
		Model: "mgp", Tasks: []string{Binary, Multiclass}, Kind: "multigp-classifier", Form: dataset.Classes, Part: partKernel, One: true, Gaps: true,
		takes: "kernels text method family hold weight plain store resume",
		settle: mgpOf(func(f *fitting, _ *Request, s *scales) Fitter {
			if s.factorises() {
				return factorisedClassifier(f, s)
			}
			c := mkl.MultiGPClassifier[string]{
				Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews, Storage: f.storage,
				LowerBound: s.method == lowerBound, Family: s.family, Prior: s.prior, HeldPrior: s.held,
			}
			return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				c.KnownWeights = s.known(d.Views)
				c.Classes = d.Classes
				return AsModel(c.Fit(ctx, d.Views, d.Class))
			}}
		}),
	},
}

// factorisedGP makes the estimator of -method factorised and published for numbers.
func factorisedGP(f *fitting, r *Request, s *scales) Fitter {
	g := mkl.FactorisedGP{
		Fitting: f.Fitting, Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps, MissingViews: f.missingViews, Storage: f.storage,
		Plain: s.method == published, Family: s.family, RawTargets: r.Settings.RawTargets,
		Prior: s.prior, HeldPrior: s.held,
	}
	return Fitter{g.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		g.KnownNoise = d.NoiseSD
		return AsModel(g.Fit(ctx, d.Views, d.Numbers[0]))
	}}
}

// factorisedClassifier makes the estimator of -method factorised and published for classes.
func factorisedClassifier(f *fitting, s *scales) Fitter {
	c := mkl.FactorisedGPClassifier[string]{
		Fitting: f.Fitting, Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps, MissingViews: f.missingViews, Storage: f.storage,
		Plain: s.method == published, Family: s.family, Prior: s.prior, HeldPrior: s.held,
	}
	return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
		c.Classes = d.Classes
		return AsModel(c.Fit(ctx, d.Views, d.Class))
	}}
}

// mgpOf checks the settings of -model mgp.
func mgpOf(build func(f *fitting, r *Request, s *scales) Fitter) func(r *Request) (*settled, error) {
	return func(r *Request) (*settled, error) {
		if f := r.Settings; f.Plain && f.Method != evidence {
			return nil, console.Inputf("-plain is -method %s: it cannot be %s as well", published, f.Method)
		}
		if r.Form == dataset.Numbers && r.Settings.Method == lowerBound {
			return nil, console.Inputf("-method %s is for -task %s and %s, not %s", lowerBound, Binary, Multiclass, r.Task)
		}
		s, err := newScales(&r.Settings, r.Data.BesideFlags)
		if err != nil {
			return nil, err
		}
		return &settled{fitter: func(f *fitting) Fitter { return build(f, r, s) }, views: s.check}, nil
	}
}

// noise returns the noise that -noise names; the parser of flags lets no other name pass.
func (f *MGPFlags) noise() mkl.NoiseModel {
	for _, n := range []mkl.NoiseModel{mkl.VaryingNoise, mkl.HeavyNoise} {
		if f.Noise == n.String() {
			return n
		}
	}
	return mkl.ConstantNoise
}

// scales is what flags say of the scales of multiple Gaussian processes.
type scales struct {
	family  mkl.Family
	method  string // of methods
	prior   mkl.GIG
	held    mkl.HeldPrior
	weights map[string]float64 // of views, by their names
}

// factorises reports whether the posterior is factorised.
func (s *scales) factorises() bool { return s.method == factorised || s.method == published }

// newScales reads -hold and -weight, and checks them and -noise-sd.
func newScales(f *Settings, beside dataset.BesideFlags) (*scales, error) {
	s := &scales{family: families.value(f.Family), method: f.Method, weights: map[string]float64{}}
	if f.Plain {
		s.method = published
	}
	if len(f.Hold) > 0 && (s.family == mkl.FamilyDefault || s.family == mkl.FamilyFlat) {
		return nil, console.Inputf("-hold is for -family student-t, laplace, gamma-variance and gig: %s has no prior that is learned", f.Family)
	}
	for _, text := range f.Hold {
		name, value, ok := numberOf(text)
		switch {
		case ok && name == "omega":
			s.prior.Omega, s.held.Omega = value, true
		case ok && name == "chi":
			s.prior.Chi, s.held.Chi = value, true
		case ok && name == "phi":
			s.prior.Phi, s.held.Phi = value, true
		default:
			return nil, console.Inputf("-hold %s: omega, chi or phi and a number are needed, as in omega=0.5", text)
		}
	}
	for _, text := range f.Weight {
		name, value, ok := numberOf(text)
		if !ok || !(value > 0) {
			return nil, console.Inputf("-weight %s: a view and a positive number are needed, as in trend=10 (-weights COLUMN is for weights of rows)", text)
		}
		s.weights[name] = value
	}
	switch {
	case beside.NoiseSD != "" && f.noise() != mkl.ConstantNoise:
		return nil, console.Inputf("-noise-sd is for constant noise, not for -noise %s", f.Noise)
	case s.factorises() && (beside.Weights != "" || beside.NoiseSD != "" && beside.KnownNoise() == 0):
		return nil, console.Inputf("-weights and -noise-sd COLUMN are not for -method %s, whose noise is the same in all rows", s.method)
	case f.noise() != mkl.ConstantNoise && s.factorises():
		return nil, console.Inputf("-noise %s is not for -method %s, whose noise is constant", f.Noise, s.method)
	case len(s.weights) > 0 && s.factorises():
		return nil, console.Inputf("-weight is not for -method %s, which learns all weights", s.method)
	}
	return s, nil
}

// numberOf reads NAME=NUMBER, a finite number.
func numberOf(text string) (name string, value float64, ok bool) {
	at := strings.LastIndex(text, "=") // the name of a view may hold one
	if at < 1 {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(text[at+1:]), 64)
	return strings.TrimSpace(text[:at]), value, err == nil && !math.IsInf(value, 0) && !math.IsNaN(value)
}

// check refuses weights of views that are not there, or that have not one kernel.
func (s *scales) check(views []dataset.View) error {
	for _, name := range slices.Sorted(maps.Keys(s.weights)) {
		i := slices.IndexFunc(views, func(v dataset.View) bool { return v.Name == name })
		if i < 0 {
			return console.Inputf("-weight %s=%g: there is no view of that name", name, s.weights[name])
		}
		if len(views[i].Kernels) != 1 {
			return console.Inputf("-weight %s=%g: a view with one kernel is needed, as in -view '%s=COLUMNS:linear'", name, s.weights[name], name)
		}
	}
	return nil
}

// known returns the known weight of each view, 0 where it is learned; nil if no weight is known.
func (s *scales) known(views []mkl.View) []float64 {
	if len(s.weights) == 0 {
		return nil
	}
	all := make([]float64, len(views))
	for i, v := range views {
		if i == 0 || views[i-1].Name != v.Name { // and not the kernel of its categories
			all[i] = s.weights[v.Name]
		}
	}
	return all
}
