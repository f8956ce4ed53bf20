package model

import (
	"context"

	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

var spikeSlabRows = []*Estimator{{
	Model: "spikeslab", Tasks: []string{Regression}, Kind: "spike-slab", Form: dataset.Numbers, Part: "feature", One: true,
	takes: "raw-targets restarts resume",
	settle: func(r *Request) (*settled, error) {
		return &settled{fitter: func(f *fitting) Fitter {
			s := mkl.SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent, RawFeatures: r.Data.RawColumns, RawTargets: r.Settings.RawTargets}
			return Fitter{s.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				s.Names = d.Names
				return AsModel(s.Fit(ctx, d.Features, d.Numbers[0]))
			}}
		}}, nil
	},
}}
