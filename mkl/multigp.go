package mkl

import (
	"context"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Family is a family of priors on the scales of a multiple Gaussian process.
type Family = mgp.Family

// Families of priors, by the process that each function then is.
const (
	StudentT      = mgp.StudentT
	Laplace       = mgp.Laplace
	GammaVariance = mgp.GammaVariance
	GeneralGIG    = mgp.GeneralGIG
	ARD           = mgp.ARD
)

// GIG is the generalised inverse Gaussian distribution, the prior of the scales.
type GIG = mgp.GIG

// MultiGP is the multiple Gaussian process model for regression: the target is a
// sum of one Gaussian process for each view, with kernel K_p/γ_p, and noise. The
// prior of the γ_p is learned, so that the data decide whether few kernels or
// all of them matter. The zero value is ready to fit: a Student-t process. The fit
// has no random start, and so no use for Seed and Restarts.
//
// Source: C. Archambeau and F. Bach, "Multiple Gaussian process models", 2010.
type MultiGP struct {
	Fitting

	Family Family

	// Prior is the prior of γ to start from, for targets of variance 1, and with
	// FixedPrior to keep. The zero value is a weak prior.
	Prior      GIG
	FixedPrior bool

	// Plain does exactly the published updates, which need many more sweeps and
	// often end in the plain Gaussian process.
	Plain bool

	// RawTargets leaves the targets as they are. By default they are given mean 0
	// and standard deviation 1 before the fit; the model has no bias. Predictions
	// are in the targets' own units either way.
	RawTargets bool
}

// Fit fits the model to the views of N samples and their targets. Given kernels
// ([Precomputed]) are N×N; the matrices of a prediction then carry one more
// column, the kernel of each sample with itself. Errors are those of
// [Regression.Fit], without a *[CollapsedError]: see [MultiGPModel.Collapsed].
func (g MultiGP) Fit(ctx context.Context, views []View, y []float64) (*MultiGPModel, error) {
	n, err := checkTargets([][]float64{y}, false)
	if err != nil {
		return nil, err
	}
	ds, k, err := g.squareKernels(ctx, views, n, 1, g.EstimateMemory)
	if err != nil {
		return nil, err
	}
	targets, z := standardizeTargets([][]float64{y}, g.RawTargets)
	m := &MultiGPModel{target: targets[0]}
	m.onViews = onViews{g.record(Trace{}), ds}
	settings := mgp.Model{Family: g.Family, Prior: g.Prior, Fixed: g.FixedPrior, Plain: g.Plain, Workers: g.Workers, Ascent: g.ascent(1, 1)}
	fit, err := prefixed(settings.Fit(ctx, k, z.Row(0)))
	if fit == nil {
		return nil, err
	}
	m.add(fit)
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (g MultiGP) EstimateMemory(s Size) int64 { return g.processMemory(s, 1) }

// processMemory estimates what a fit of l functions takes, each a sum of Gaussian
// processes whose factor of N×N the model keeps.
func (f *Fitting) processMemory(s Size, l int) int64 {
	N, P, L := float64(s.Samples), float64(s.Kernels), float64(l)
	words := P * N * N                        // kernel matrices
	words += (1 + L) * N * N                  // B, and each function's factor
	words += N * (2*P/32 + 10*(L+1))          // rows' parts of traces, vectors
	words += float64(f.workers()) * (1 << 18) // packed blocks of products
	return inBytes(words)
}

// squareKernels is kernels for Gaussian processes, whose basis points are the
// training samples.
func (f *Fitting) squareKernels(ctx context.Context, views []View, n, outputs int, need func(Size) int64) (*design, *vi.Dense, error) {
	ds, k, err := f.kernels(ctx, views, n, outputs, need)
	if err != nil {
		return nil, nil, err
	}
	if err := ds.checkSquare(views, n); err != nil {
		return nil, nil, err
	}
	for i := range ds.views {
		if err := ds.useInProcess(i, views[i].label(i), k.At(i)); err != nil {
			return nil, nil, err
		}
	}
	return ds, k, nil
}
