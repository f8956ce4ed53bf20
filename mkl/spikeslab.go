package mkl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// HeldSlab says which hyperparameters keep their starting values.
type HeldSlab = slab.Held

// SpikeSlab is sparse linear regression: each feature has a weight that is zero
// with probability 1−π and otherwise Gaussian, and the fit estimates the
// probability that it is not zero. The zero value is ready to fit.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011.
type SpikeSlab struct {
	Fitting
	Ascent

	// Prior is the prior of the weights from which the fit starts, on the scale of features and
	// targets of variance 1, and Noise the variance of the noise. Zeros are replaced by values from
	// the data. Held says which parameters are held instead of learned.
	Prior SlabPrior
	Noise float64
	Held  HeldSlab

	// StandardField uses the standard mean field approximation, for comparison:
	// it depends more on the start, and its bound is lower on average.
	StandardField bool

	// RawFeatures and RawTargets leave features and targets unchanged. By default
	// they are scaled to mean 0 and standard deviation 1; the model has no other bias.
	// Weights and predictions are in the data's own units either way.
	RawFeatures, RawTargets bool

	Names []string // of the features, for results; nil means x1, x2, …

	// From, if not nil, is a model from which the fit continues: an earlier fit with as many features, perhaps of other
	// samples. It replaces Seed, Prior and Noise, and Restarts must not be set.
	From *SpikeSlabModel
}

// Fit fits the model to the features of N samples and their targets. It returns the
// errors that [Regression.Fit] returns.
func (s SpikeSlab) Fit(ctx context.Context, x Features, y []float64) (*SpikeSlabModel, error) {
	f := &fitting{Fitting: s.Fitting, Ascent: s.Ascent}
	n, err := checkTargets([][]float64{y}, false)
	if err != nil {
		return nil, err
	}
	if err := s.check(x, n); err != nil {
		return nil, err
	}
	if err := f.check(s.EstimateMemory(FitSize{Samples: n, Kernels: x.Cols, Outputs: 1})); err != nil {
		return nil, err
	}
	targets, z := standardizeTargets([][]float64{y}, s.RawTargets)
	m := &SpikeSlabModel{target: targets[0], names: s.featureNames(x.Cols)}
	if m.center, m.scale, err = s.units(x); err != nil {
		return nil, err
	}
	var from *slab.RegressionPosterior
	if s.From != nil {
		from = s.From.posterior
		if err := checkShape(f, "%d features where there are %d", len(s.From.names), x.Cols); err != nil {
			return nil, err
		}
	}
	seen := m.see(x)
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*slab.RegressionFit, error) {
		return slab.Regression{
			Prior: s.Prior, Noise: s.Noise, Held: s.Held, Standard: s.StandardField,
			Seed: seed, Ascent: a, Workers: s.Workers, From: from,
		}.Fit(ctx, seen, z.Row(0))
	}, func(fit *slab.RegressionFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m.record, m.posterior = f.record(newTrace(fit.Record, nil)), fit.Posterior
	if werr := checkWeights(m.KernelWeights()); werr != nil {
		return nil, errors.Join(err, werr)
	}
	return m, err
}

// check returns an error for features that do not belong to n samples, and for names that do not fit them.
func (s SpikeSlab) check(x Features, n int) error {
	if err := gram.CheckLayout("x", x); err != nil {
		return err
	}
	switch {
	case x.Rows != n:
		return fmt.Errorf("mkl: x: %d×%d where y has %d samples (samples are rows)", x.Rows, x.Cols, n)
	case x.Cols == 0:
		return errors.New("mkl: x: no columns")
	case s.Names != nil && len(s.Names) != x.Cols:
		return fmt.Errorf("mkl: Names: %d names for %d features", len(s.Names), x.Cols)
	}
	for j, name := range s.Names {
		if err := checkText(name); err != nil {
			return fmt.Errorf("mkl: Names[%d]: %w", j, err)
		}
	}
	return checkFinite("x", x)
}

// featureNames returns Names, or x1, x2, … without Names.
func (s SpikeSlab) featureNames(n int) []string {
	if s.Names != nil {
		return slices.Clone(s.Names)
	}
	names := make([]string, n)
	for j := range names {
		names[j] = "x" + strconv.Itoa(j+1)
	}
	return names
}

// units returns, for each feature, the number that the model subtracts from it and the divisor of the rest.
func (s SpikeSlab) units(x Features) (center, scale []float64, err error) {
	if s.RawFeatures {
		return make([]float64, x.Cols), slices.Repeat([]float64{1}, x.Cols), nil
	}
	center, scale = gram.ColumnStats(x)
	for j, v := range scale {
		if v-v != 0 || center[j]-center[j] != 0 {
			return nil, nil, fmt.Errorf("mkl: x: column %d has mean %g and standard deviation %g: %w", j, center[j], v, gram.ErrBeyond)
		}
	}
	return center, scale, nil
}

// EstimateMemory returns about how many bytes a fit to Samples with Kernels features
// takes.
func (s SpikeSlab) EstimateMemory(size FitSize) int64 {
	n, p := float64(size.Samples), float64(size.Kernels)
	return inBytes(p * (2*n + min(n, p))) // the matrix on the model's scale, its transpose, and products of columns
}
