package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// MultiTask is spike-and-slab multi-task and multiple kernel learning: the views
// give latent functions, Gaussian processes with the views' kernels, and every
// target is a sparse combination of them with weights of its own. Related
// targets learn from one another. Functions that no target needs are removed from
// the model. The zero value is ready to fit.
//
// The width of an RBF, Laplacian, Categorical or FromDistance kernel with a single width is learned for each latent
// function, unless the kernel is centred or normalised. Views with [kernel.KnownFunction] instead of a kernel hold
// known functions. With such views alone the model is a sparse linear model of several targets.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011.
type MultiTask struct {
	Fitting
	Ascent

	// Latents is the number of latent functions of each view with a kernel; 0 means the number
	// of targets, but at most 5.
	Latents int

	FixedKernels bool // keep the widths of the kernels
	SharedNoise  bool // one noise variance for all targets, on the scale of the fit

	// Prior is the prior of the weights from which the fit starts, for targets of variance 1.
	// Held says which parameters of it, and of the noise, are held instead of learned. A Pi of 0
	// means ½, a Variance of 0 means 1.
	Prior SlabPrior
	Held  HeldSlab

	KeepAll bool // keep latent functions that no target needs
	Plain   bool // do exactly the published updates, which need many more sweeps

	// MeanOnly leaves out the part of the model that the variances of predictions need: an N×N
	// matrix for each latent function.
	MeanOnly bool

	// MissingTargets accepts NaN in targets: missing values.
	MissingTargets bool

	// RawTargets leaves the targets unchanged. By default each target is scaled to mean 0
	// and standard deviation 1 before the fit, because the model has no bias. Predictions are in
	// the targets' own units either way.
	RawTargets bool

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many targets to the same samples and
	// views, with as many latent functions, perhaps with other values of the targets. It
	// replaces Seed, Prior and the start of the noise, and Restarts must not be set. Functions that it
	// has removed stay removed.
	From *MultiTaskModel

	Slopes func(Slopes) // as in [Regression]
}

// fitting returns the settings of a fit.
func (t MultiTask) fitting() *fitting {
	return &fitting{Fitting: t.Fitting, Ascent: t.Ascent, slopes: t.Slopes}
}

// Fit fits the model to the views of N samples and their targets. Given kernels
// ([kernel.Precomputed]) and distances are N×N; the kernels of a prediction then have one
// more column, the kernel of each sample with itself. It returns the errors that
// [Regression.Fit] returns.
func (t MultiTask) Fit(ctx context.Context, views []View, y ...[]float64) (*MultiTaskModel, error) {
	f := t.fitting()
	n, err := checkTargets(y, t.MissingTargets)
	if err != nil {
		return nil, err
	}
	if err := t.checkLatents(n, len(y)); err != nil {
		return nil, err
	}
	train, err := bindFunctions(views, n)
	if err != nil {
		return nil, err
	}
	if err := train.CheckSquare(); err != nil {
		return nil, err
	}
	ds := train.Design
	if err := f.check(t.memory(FitSize{Samples: n, Kernels: ds.KernelViews(), Outputs: len(y)}, t.forms(ds, y))); err != nil {
		return nil, err
	}
	covariances, err := train.Covariances(ctx, t.Workers, !t.FixedKernels)
	if err != nil {
		return nil, err
	}
	each := t.latents(len(y))
	latents, of := latentsOf(ds, covariances, each, n)
	from, err := t.from(len(y), len(latents), n)
	if err != nil {
		return nil, err
	}
	targets, z := standardizeTargets(y, t.RawTargets)
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*slab.MultiTaskFit, error) {
		return slab.MultiTask{
			Prior: t.Prior, SharedNoise: t.SharedNoise, Held: t.Held, Plain: t.Plain, KeepAll: t.KeepAll,
			MeanOnly: t.MeanOnly, Seed: seed, Ascent: a, Workers: t.Workers, From: from,
		}.Fit(ctx, latents, z)
	}, func(fit *slab.MultiTaskFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	if t.Slopes != nil {
		s, err := widthSlopes(ds, heldMatrices(covariances), of, fit.BoundGradient)
		if err != nil {
			return nil, err
		}
		t.Slopes(Slopes{Views: s})
	}
	m := &MultiTaskModel{posterior: fit.Posterior, targets: targets}
	m.onViews = onViews{
		f.record(newTrace(fit.Record, fit.Collapsed)),
		ds.LatentFunctions(of, each, fit.Posterior.State().Lengths),
	}
	if werr := checkWeights(m.KernelWeights()); werr != nil {
		return nil, errors.Join(err, werr)
	}
	if err == nil && m.collapsed(len(y)) {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// checkLatents returns an error if n samples cannot have this number of latent functions.
func (t MultiTask) checkLatents(n, targets int) error {
	if t.Latents < 0 {
		return fmt.Errorf("mkl: Latents is %d: it must not be negative", t.Latents)
	}
	if most := n * targets; t.Latents > most {
		return fmt.Errorf("mkl: Latents is %d: %d samples of %d targets determine at most %d", t.Latents, n, targets, most)
	}
	return nil
}

// latentsOf returns the latent functions on the n training samples, and the view of each. A view with a kernel has each
// functions with the given covariance; a view without one has its known function.
func latentsOf(ds *gram.Design, covariances []gram.Covariance, each, n int) (latents []slab.Latent, of []int) {
	known := ds.Functions(ds.Features(), 0, n)
	for i, c := range covariances {
		if ds.Views[i].IsFunction() {
			latents, of = append(latents, slab.Latent{Mean: known.Row(i)}), append(of, i)
			continue
		}
		own := slab.FixedCovariance(c.K)
		if c.Length > 0 {
			own = slab.DecayCovariance(c.K, c.Length, c.Least, c.Most)
		}
		for range each {
			latents, of = append(latents, slab.Latent{Covariance: own}), append(of, i)
		}
	}
	return latents, of
}

// heldMatrices returns the matrices of the kernels whose lengths are held, and empty matrices for the others.
func heldMatrices(covariances []gram.Covariance) []la.Matrix[float64] {
	held := make([]la.Matrix[float64], len(covariances))
	for i, c := range covariances {
		if c.Length == 0 {
			held[i] = c.K
		}
	}
	return held
}

// from returns the fit that From continues, nil without From. It returns an error unless the numbers of targets,
// latent functions and samples are the given ones.
func (t MultiTask) from(targets, latents, n int) (*slab.MultiTaskFit, error) {
	if t.From == nil {
		return nil, nil
	}
	return &slab.MultiTaskFit{Posterior: t.From.posterior},
		checkShape(t.fitting(), "%d targets, %d latent functions and %d samples where there are %d, %d and %d",
			len(t.From.targets), len(t.From.design.Views), t.From.design.D, targets, latents, n)
}

// EstimateMemory returns about how many bytes a fit of the given size takes. s.Kernels does not count views with
// [kernel.KnownFunction]. It includes a tridiagonal form of every kernel, half as large as its matrix. Fit makes none for a
// kernel whose width it learns, and none if targets have missing values, and then needs that much less.
func (t MultiTask) EstimateMemory(s FitSize) int64 { return t.memory(s, s.Kernels) }

// forms returns the number of kernels for which a fit makes tridiagonal forms.
func (t MultiTask) forms(ds *gram.Design, y [][]float64) (n int) {
	for _, target := range y {
		if slices.ContainsFunc(target, math.IsNaN) {
			return 0
		}
	}
	for i := range ds.Views {
		if v := &ds.Views[i]; !v.IsFunction() && (t.FixedKernels || v.Decay() == 0) {
			n++
		}
	}
	return n
}

// memory is EstimateMemory with the given number of tridiagonal forms.
func (t MultiTask) memory(s FitSize, forms int) int64 {
	N, P, L := float64(s.Samples), float64(s.Kernels), float64(s.Outputs)
	M := P * float64(t.latents(s.Outputs))
	words := float64(6*M*N) + float64(3*L*N) + float64(8*L*M)
	if P > 0 { // otherwise all functions are known
		words += float64(N * N * (P + float64(0.5*float64(forms)) + 3))
	}
	if !t.MeanOnly {
		words += float64(M * N * N)
	}
	return inBytes(words)
}

// latents returns the number of latent functions of each view.
func (t MultiTask) latents(targets int) int {
	if t.Latents == 0 {
		return min(targets, 5)
	}
	return t.Latents
}
