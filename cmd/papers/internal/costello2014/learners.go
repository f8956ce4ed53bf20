package costello2014

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// learner is a model of a screen.
type learner struct {
	name  string
	learn func(ctx context.Context, c *Drugs, s screen) (told, error)
}

// told is what a model says of the lines of a screen, the lines of its training first.
type told struct {
	mean, variance [][]float64 // drug, line; variance is empty if a learner has none
	weights        []float64   // of the views, absolute; nil without weights
	unconverged    int         // fits
	collapsed      int         // drugs whose predictions are their mean
}

// learners are the models, in the order of the table. The models of mkl have the zero value's
// priors unless the name says otherwise.
var learners = []learner{
	{"tasks with kernel weights in common", func(ctx context.Context, c *Drugs, s screen) (told, error) {
		m, err := mkl.TaskRegression{Fitting: c.fitting(), Ascent: c.ascent(), MissingTargets: true}.Fit(ctx, c.training(s), c.responses(s)...)
		return tell(ctx, m, err, s)
	}},
	{"the same as the paper ran it", func(ctx context.Context, c *Drugs, s screen) (told, error) {
		// The authors' code has 200 sweeps, and says of these priors that the paper used them.
		all, broad := mkl.Ascent{MaxSweeps: min(200, c.Sweeps), Tolerance: -1}, mkl.Gamma{Shape: 1e-10, Scale: 1e-10}
		m, err := mkl.TaskRegression{
			Fitting: c.fitting(), Ascent: all, Plain: true, MissingTargets: true,
			Lambda: broad, Upsilon: broad, Gamma: broad, Omega: broad, Epsilon: broad,
		}.Fit(ctx, c.training(s), c.responses(s)...)
		return tell(ctx, m, err, s)
	}},
	{"outputs of all lines (BMKLR)", func(ctx context.Context, c *Drugs, s screen) (told, error) {
		m, err := mkl.Regression{Fitting: c.fitting(), Ascent: c.ascent(), MissingTargets: true}.Fit(ctx, c.training(s), c.responses(s)...)
		return tell(ctx, m, err, s)
	}},
	{"sample weights in common, gaps filled", func(ctx context.Context, c *Drugs, s screen) (told, error) {
		filled := c.responses(s)
		for t, y := range filled {
			seen := slices.DeleteFunc(slices.Clone(y), math.IsNaN)
			mean, _ := measure.MeanSD(seen)
			filled[t] = slices.Clone(y)
			for i, v := range y {
				if math.IsNaN(v) {
					filled[t][i] = mean
				}
			}
		}
		m, err := mkl.SharedRegression{Fitting: c.fitting(), Ascent: c.ascent()}.Fit(ctx, c.training(s), filled...)
		return tell(ctx, m, err, s)
	}},
	{"a regression for each drug", func(ctx context.Context, c *Drugs, s screen) (told, error) {
		all := told{weights: make([]float64, len(profiles))}
		for _, y := range c.responses(s) {
			m, err := mkl.TaskRegression{Fitting: c.fitting(), Ascent: c.ascent(), MissingTargets: true}.Fit(ctx, c.training(s), y)
			one, err := tell(ctx, m, err, s)
			if err != nil {
				return told{}, err
			}
			all.mean, all.variance = append(all.mean, one.mean...), append(all.variance, one.variance...)
			all.unconverged += one.unconverged
			all.collapsed += one.collapsed
			var sum float64
			for _, w := range one.weights {
				sum += w
			}
			for i, w := range one.weights {
				all.weights[i] += w / sum
			}
		}
		return all, nil
	}},
	{"the true responses", func(_ context.Context, _ *Drugs, s screen) (told, error) {
		return told{mean: s.truth}, nil
	}},
}

// fitting returns the settings of every fit.
func (c *Drugs) fitting() mkl.Fitting { return mkl.Fitting{Seed: c.Seed, Workers: 1} }

// ascent returns the length of every variational fit.
func (c *Drugs) ascent() mkl.Ascent { return mkl.Ascent{MaxSweeps: c.Sweeps} }

// training returns the views of the lines to learn from: a Gaussian kernel for each profile,
// of the mean distance as its width.
func (c *Drugs) training(s screen) []mkl.View {
	views := make([]mkl.View, len(profiles))
	for i, p := range profiles {
		views[i] = mkl.View{Name: p.name, Input: p.name, X: s.views[i].Slice(0, c.Train, 0, p.features), Kernel: kernel.RBF{}, Standardize: true}
	}
	return views
}

// responses returns what was measured of the lines to learn from.
func (c *Drugs) responses(s screen) [][]float64 {
	out := make([][]float64, c.Drugs)
	for t, y := range s.given {
		out[t] = y[:c.Train]
	}
	return out
}

// tell asks a model of all drugs of the screen, which comes with the error of its fit. A fit
// that collapsed is a model all the same.
func tell(ctx context.Context, m mkl.TargetModel, err error, s screen) (told, error) {
	if _, ok := errors.AsType[*mkl.CollapsedError](err); err != nil && !ok {
		return told{}, err
	}
	p, err := m.PredictTargets(ctx, mkl.PredictOptions{Workers: 1}, s.views...)
	if err != nil {
		return told{}, err
	}
	out := told{mean: p.Mean, variance: p.Variance, collapsed: len(m.Collapsed())}
	for _, w := range m.KernelWeights() {
		out.weights = append(out.weights, math.Abs(w.Mean))
	}
	if own := m.Outputs()[0].Weights; own != nil { // each drug has weights: their mean size
		clear(out.weights)
		for _, o := range m.Outputs() {
			for i, w := range o.Weights {
				out.weights[i] += math.Abs(w.Mean)
			}
		}
	}
	if !m.Trace().Converged {
		out.unconverged = 1
	}
	return out, nil
}
