package model

import (
	"context"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// BMKLFlags are the flags of -model bmkl.
type BMKLFlags struct {
	Sparse  string  `enum:"none,kernels,samples,both" default:"none" help:"Which weights a Gamma(1e-10,1e+10) prior drives to zero: none, kernel weights, sample weights, or both (${default})."`
	Margin  float64 `default:"0" from:"0" help:"Half the width of the gap between classes, on the scale of the scores (${default}). The paper has 1, whose probabilities are too close to 0 and 1. Also for -task pairlabels."`
	SigmaG  float64 `default:"0.1" above:"0" name:"sigma-g" help:"Standard deviation of a classifier's intermediate outputs (${default}). Also for -task pairs and pairlabels."`
	Latents int     `help:"Latent functions of each kernel of -task multitask; 0 means as many as there are targets, at most 5."`
}

// SparsePrior is the prior of precisions that makes weights sparse.
var SparsePrior = mkl.Gamma{Shape: 1e-10, Scale: 1e+10}

// kindMultiTask is the kind of models that take functions that are known.
const kindMultiTask = "multi-task"

// Flags that rows of this model have in common.
const (
	bmklTakes = "kernels text sparse prior allow-duplicates restarts plain store resume"
	ofClasses = " margin sigma-g"
	ofNumbers = " raw-targets missing-targets"
	landmarks = " landmarks choose"
)

// The parameters whose priors -prior sets.
var (
	regressionPriors = []string{"lambda", "upsilon", "gamma", "omega", "epsilon"}
	classPriors      = []string{"lambda", "gamma", "omega"}
)

var bmklRows = []*Estimator{
	{
		Model: BMKL, Tasks: []string{Regression, Multioutput}, Kind: "regression", Form: dataset.Numbers, Part: partKernel, Gaps: true,
		takes: bmklTakes + ofNumbers + landmarks, priors: regressionPriors,
		settle: bmklOf(func(f *fitting, r *Request) Fitter {
			e := mkl.Regression{
				Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage,
				Plain: r.Settings.Plain, Landmarks: r.Settings.inPlace(), RawTargets: r.Settings.RawTargets, MissingTargets: r.Data.MissingTargets,
				Lambda: r.priors["lambda"], Upsilon: r.priors["upsilon"], Gamma: r.priors["gamma"], Omega: r.priors["omega"], Epsilon: r.priors["epsilon"],
			}
			return Fitter{e.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(e.Fit(ctx, d.Views, d.Numbers...))
			}}
		}),
	},
	{
		Model: BMKL, Tasks: []string{"shared"}, Kind: "shared-regression", Form: dataset.Numbers, Part: partKernel,
		takes: bmklTakes + ofNumbers + landmarks, priors: regressionPriors,
		settle: bmklOf(func(f *fitting, r *Request) Fitter {
			e := mkl.SharedRegression{
				Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, Storage: f.storage,
				Plain: r.Settings.Plain, Landmarks: r.Settings.inPlace(), RawTargets: r.Settings.RawTargets, MissingTargets: r.Data.MissingTargets,
				Lambda: r.priors["lambda"], Upsilon: r.priors["upsilon"], Gamma: r.priors["gamma"], Omega: r.priors["omega"], Epsilon: r.priors["epsilon"],
			}
			return Fitter{e.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(e.Fit(ctx, d.Views, d.Numbers...))
			}}
		}),
	},
	{
		Model: BMKL, Tasks: []string{"tasks"}, Kind: "task-regression", Form: dataset.Numbers, Part: partKernel,
		takes: bmklTakes + ofNumbers, priors: regressionPriors,
		settle: bmklOf(func(f *fitting, r *Request) Fitter {
			e := mkl.TaskRegression{
				Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, Storage: f.storage,
				Plain: r.Settings.Plain, RawTargets: r.Settings.RawTargets, MissingTargets: r.Data.MissingTargets,
				Lambda: r.priors["lambda"], Upsilon: r.priors["upsilon"], Gamma: r.priors["gamma"], Omega: r.priors["omega"], Epsilon: r.priors["epsilon"],
			}
			return Fitter{e.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(e.Fit(ctx, d.Views, d.Numbers...))
			}}
		}),
	},
	{
		Model: BMKL, Tasks: []string{"multitask"}, Kind: kindMultiTask, Form: dataset.Numbers, Part: partKernel,
		takes: "kernels text latents restarts plain resume" + ofNumbers,
		settle: bmklOf(func(f *fitting, r *Request) Fitter {
			e := mkl.MultiTask{
				Fitting: f.Fitting, Ascent: f.Ascent, Latents: r.Settings.Latents, Plain: r.Settings.Plain, RawTargets: r.Settings.RawTargets, MissingTargets: r.Data.MissingTargets,
			}
			return Fitter{e.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(e.Fit(ctx, d.Views, d.Numbers...))
			}}
		}),
	},
	{
		Model: BMKL, Tasks: []string{Binary, Multiclass}, Kind: "classifier", Form: dataset.Classes, Part: partKernel, Gaps: true,
		takes: bmklTakes + ofClasses + landmarks, priors: classPriors,
		complete: "labels must be complete",
		settle: bmklOf(func(f *fitting, r *Request) Fitter {
			e := mkl.Classifier[string]{
				Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage,
				Plain: r.Settings.Plain, Landmarks: r.Settings.inPlace(), Margin: r.Settings.Margin, SigmaG: r.Settings.SigmaG,
				Lambda: r.priors["lambda"], Gamma: r.priors["gamma"], Omega: r.priors["omega"],
			}
			return Fitter{e.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				e.Classes = d.Classes
				return AsModel(e.Fit(ctx, d.Views, d.Class))
			}}
		}),
	},
	{
		Model: BMKL, Tasks: []string{"multilabel"}, Kind: "multilabel", Form: dataset.Labels, Part: partKernel, Gaps: true,
		takes: bmklTakes + ofClasses + landmarks + " missing-targets", priors: classPriors,
		settle: bmklOf(func(f *fitting, r *Request) Fitter {
			e := mkl.MultiLabel{
				Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingViews: f.missingViews, Storage: f.storage,
				Plain: r.Settings.Plain, Landmarks: r.Settings.inPlace(), Margin: r.Settings.Margin, SigmaG: r.Settings.SigmaG,
				Lambda: r.priors["lambda"], Gamma: r.priors["gamma"], Omega: r.priors["omega"],
			}
			return Fitter{e.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(e.Fit(ctx, d.Views, d.Labels...))
			}}
		}),
	},
	{
		Model: BMKL, Tasks: []string{"tasklabels"}, Kind: "task-classifier", Form: dataset.Labels, Part: partKernel,
		takes: bmklTakes + ofClasses + " missing-targets", priors: classPriors,
		settle: bmklOf(func(f *fitting, r *Request) Fitter {
			e := mkl.TaskClassifier{
				Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, Storage: f.storage,
				Plain: r.Settings.Plain, Margin: r.Settings.Margin, SigmaG: r.Settings.SigmaG,
				Lambda: r.priors["lambda"], Gamma: r.priors["gamma"], Omega: r.priors["omega"],
			}
			return Fitter{e.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(e.Fit(ctx, d.Views, d.Labels...))
			}}
		}),
	},
}

// bmklOf checks the settings of -model bmkl.
func bmklOf(build func(f *fitting, r *Request) Fitter) func(r *Request) (*settled, error) {
	return func(r *Request) (*settled, error) {
		switch f := r.Settings; {
		case f.Landmarks == 0 && f.Choose != chooseRandom:
			return nil, console.Inputf("-choose needs -landmarks with -model %s", BMKL)
		case f.Landmarks > 0 && f.Store != storeFloat64:
			return nil, console.Inputf("-store is for kernels between all rows: it is not for -landmarks")
		}
		return &settled{fitter: func(f *fitting) Fitter { return build(f, r) }}, nil
	}
}
