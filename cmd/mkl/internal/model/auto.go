package model

import (
	"context"

	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

var autoRows = []*Estimator{
	{
		Model: Auto, Tasks: []string{Regression}, Kind: "pool", Form: dataset.Numbers, Part: partKernel, One: true, Open: true, Timed: true, Many: true, Gaps: true,
		takes: "kernels text noise-sd weights offset own-scale resume view-group",
		settle: func(r *Request) (*settled, error) {
			groups, views, err := r.Settings.viewGroups()
			if err != nil {
				return nil, err
			}
			return &settled{views: views, fitter: func(f *fitting) Fitter {
				a := mkl.Auto{Fitting: f.Fitting, Climb: f.climb(), Time: r.Settings.Time, Groups: groups, OwnScale: r.Settings.OwnScale, MissingViews: f.missingViews}
				return Fitter{a.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
					a.Weights, a.KnownNoise = d.Weights, d.NoiseSD
					return AsModel(a.Fit(ctx, d.Views, d.Numbers[0]))
				}}
			}}, nil
		},
	},
	{
		Model: Auto, Tasks: []string{Regression}, Kind: "pools", Form: dataset.Numbers, Part: partKernel, Some: true, Open: true, Timed: true, Many: true, Gaps: true,
		takes: "kernels text resume missing-targets own-scale view-group",
		settle: func(r *Request) (*settled, error) {
			groups, views, err := r.Settings.viewGroups()
			if err != nil {
				return nil, err
			}
			return &settled{views: views, fitter: func(f *fitting) Fitter {
				a := mkl.AutoTargets{Fitting: f.Fitting, Climb: f.climb(), Time: r.Settings.Time, Groups: groups, OwnScale: r.Settings.OwnScale, MissingTargets: r.Data.MissingTargets, MissingViews: f.missingViews}
				return Fitter{a.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
					return AsModel(a.Fit(ctx, d.Views, d.Numbers...))
				}}
			}}, nil
		},
	},
	{
		Model: Auto, Tasks: []string{Binary, Multiclass}, Kind: "pool-classifier", Form: dataset.Classes, Part: partKernel, One: true, Open: true, Timed: true, Many: true, Gaps: true,
		takes:    "kernels text resume view-group",
		complete: "labels must be complete",
		settle: func(r *Request) (*settled, error) {
			groups, views, err := r.Settings.viewGroups()
			if err != nil {
				return nil, err
			}
			return &settled{views: views, fitter: func(f *fitting) Fitter {
				a := mkl.AutoClassifier[string]{Fitting: f.Fitting, Climb: f.climb(), Time: r.Settings.Time, Groups: groups, MissingViews: f.missingViews}
				return Fitter{a.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
					a.Classes = d.Classes
					return AsModel(a.Fit(ctx, d.Views, d.Class))
				}}
			}}, nil
		},
	},
}
