package model

import (
	"context"

	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// laws are the distributions of times that -law names.
var laws = words[mkl.SurvivalLaw]{
	{mkl.LawByEvidence.String(), mkl.LawByEvidence}, {mkl.LogNormal.String(), mkl.LogNormal}, {mkl.Weibull.String(), mkl.Weibull},
}

// countRows are the estimators of counts.
var countRows = []*Estimator{{
	Model: "mgp", Tasks: []string{CountsTask}, Kind: "counts", Form: dataset.Numbers, Part: partKernel, One: true, Gaps: true,
	takes: "kernels text exposure poisson store resume",
	settle: func(r *Request) (*settled, error) {
		return &settled{fitter: func(f *fitting) Fitter {
			c := mkl.Counts{Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews, Storage: f.storage, Poisson: r.Settings.Poisson}
			return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				c.Exposure = d.Exposure
				return AsModel(c.Fit(ctx, d.Views, d.Numbers[0]))
			}}
		}}, nil
	},
}}

// survivalRows are the estimators of times.
var survivalRows = []*Estimator{{
	Model: "mgp", Tasks: []string{Survival}, Kind: "survival", Form: dataset.Times, Part: partKernel, One: true, Gaps: true,
	takes: "kernels text event upper law store resume",
	settle: func(r *Request) (*settled, error) {
		return &settled{fitter: func(f *fitting) Fitter {
			s := mkl.Survival{
				Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews, Storage: f.storage, Law: laws.value(r.Settings.Law),
			}
			return Fitter{s.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(s.Fit(ctx, d.Views, d.Times))
			}}
		}}, nil
	},
}}
