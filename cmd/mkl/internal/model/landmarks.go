package model

import (
	"context"

	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// LandmarkFlags are the flags of landmarks.
type LandmarkFlags struct {
	Landmarks int    `help:"Number of landmarks, points that stand for all rows in the kernels. 0 means 500, or fewer for more than six kernels. With -model bmkl 0 means kernels between all rows; -task tasks, tasklabels and multitask take no landmarks."`
	Choose    string `enum:"random,k-means,pivoted" default:"random" help:"How landmarks are chosen: random; k-means; or pivoted, each where the kernels of the earlier landmarks fit worst (${default})."`
}

// chooseRandom is the default of -choose.
const chooseRandom = "random"

// Choice returns the landmarks that the flags ask for; the parser of flags lets no other name pass.
func (c LandmarkFlags) Choice() *mkl.Landmarks {
	l := &mkl.Landmarks{Count: c.Landmarks}
	switch c.Choose {
	case "k-means":
		l.Choose = mkl.KMeansLandmarks
	case "pivoted":
		l.Choose = mkl.PivotedLandmarks
	}
	return l
}

// inPlace returns the landmarks for a model that also has kernels between all rows; nil without landmarks.
func (c LandmarkFlags) inPlace() *mkl.Landmarks {
	if c.Landmarks == 0 {
		return nil
	}
	return c.Choice()
}

var landmarkRows = []*Estimator{
	{
		Model: LandmarksModel, Tasks: []string{Regression}, Kind: "landmarks", Form: dataset.Numbers, Part: partKernel, One: true, Open: true, Many: true,
		takes: "kernels text resume" + landmarks,
		settle: func(r *Request) (*settled, error) {
			return &settled{fitter: func(f *fitting) Fitter {
				g := mkl.LandmarkGP{Fitting: f.Fitting, Climb: f.climb(), Landmarks: r.Settings.Choice()}
				return Fitter{g.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
					return AsModel(g.Fit(ctx, d.Views, d.Numbers[0]))
				}}
			}}, nil
		},
	},
	{
		Model: LandmarksModel, Tasks: []string{Binary, Multiclass}, Kind: "landmark-classifier", Form: dataset.Classes, Part: partKernel, One: true, Open: true, Many: true,
		takes:    "kernels text resume" + landmarks,
		complete: "labels must be complete",
		settle: func(r *Request) (*settled, error) {
			return &settled{fitter: func(f *fitting) Fitter {
				c := mkl.LandmarkClassifier[string]{Fitting: f.Fitting, MinRise: f.Tolerance, MaxPasses: f.MaxSweeps, Landmarks: r.Settings.Choice()}
				return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
					c.Classes = d.Classes
					return AsModel(c.Fit(ctx, d.Views, d.Class))
				}}
			}}, nil
		},
	},
}
