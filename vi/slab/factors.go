package slab

import (
	"context"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// Factors is sparse factor analysis, sparse probabilistic PCA and matrix
// completion: N objects with M factors each, Q tasks with sparse weights on them.
//
//	φ_nm ~ N(0, 1)                                factors
//	w_qm ~ π·N(0, σ_w²) + (1−π)·δ_0               weights (loadings)
//	c_q  ~ N(μ_c, σ_c²)                           offsets, if there are any
//	y_nq ~ N(c_q + Σ_m w_qm·φ_nm, σ_q²)           observed entries
//
// The posterior is approximated by Π q(φ_nm)·Π q(w̃_qm, s_qm)·Π q(c_q), paired
// mean field; the hyperparameters are points. The zero value is ready, for as
// many factors as Count says.
//
// A sweep costs (observed entries)·M² products, computed as matrix products, and
// (N+Q)·M² more. With complete data the first product is computed only once for all objects and once for
// all tasks. An entry takes no memory beyond the data, see [Observed]; a weight
// takes 40 bytes (56 if the noise is by task), a factor of an object 16.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, sections
// 2.2 and 2.3; docs/theory/factors.md has the updates. Their order is φ_1, …, φ_M,
// (w̃_1, s_1), …, (w̃_M, s_M), c, σ², σ_w², π, (μ_c, σ_c²), to which scaleStep adds one.
type Factors struct {
	Count int // M

	// Views, if not nil, says that the tasks are of several views: the first Views[0] tasks are of the first view, and so
	// on. Each factor then has a prior of its own for the weights of each view, w_qm ~ π_vm·N(0, σ_vm²) + (1−π_vm)·δ_0, where
	// σ_vm² and π_vm have weak priors. Views of different units should be scaled before. Without views all weights have
	// one prior.
	Views []int

	// Kinds, if not nil, says of what kind the entries of each view are. Views that are not Gaussian have no noise, and the offsets of
	// each view have a prior of their own. docs/theory/factors.md, section 6, has the bound.
	Kinds []FactorKind

	// Groups, if not nil, holds the group of each object: 0, 1, …. Objects of different groups share the weights. Each group has a variance
	// of each factor, and offsets and noise of its own. Groups need Views, and each of them two objects. A Covariance excludes them.
	Groups []int

	// Prior is the prior of the weights to start from. A Pi of 0 means ½, a
	// Variance of 0 the one under which half the variance of the data is expected
	// of the factors.
	Prior Prior

	Noise FactorNoise // per task or shared
	Held  Held        // what keeps its starting value instead of being learned

	// Covariance, if not the zero value, is the covariance of each factor over the objects, N×N:
	// objects that lie near one another, such as the pixels of a patch, then have similar factors.
	// Each factor learns a length of its own. It makes a sweep dearer by about N³·M, and takes N·M²
	// of memory unless the data are complete.
	Covariance Covariance

	// LengthsEvery is the number of sweeps from one marginalised step of the lengths
	// to the next; 0 means 5.
	LengthsEvery int

	// NoiseWeight is the weight of a prior under which the noise of the tasks is
	// alike, as a number of entries: 1/σ_q² ~ Gamma with shape 1 + NoiseWeight/2,
	// whose scale is learned. 0 is maximum likelihood, under which a task of few
	// entries is fitted without error. It has no meaning for shared noise.
	NoiseWeight float64

	// Offsets gives each task an offset.
	Offsets bool

	// Plain makes exactly the published updates. The default also moves the scale of factors
	// without a covariance against the scale of their weights, on a ridge that the updates climb
	// slowly. If the data are complete it also mixes such factors with each other, and updates the
	// noise together with their variances (docs/theory/acceleration.md, section 8).
	Plain bool

	// Seed selects the random start, which draws the factors, or the weights if there
	// are fewer tasks than objects; it is ignored if Start or Like is given.
	Seed  uint64
	Start *FactorStart

	// Principal starts at rotated principal components in place of a random start; docs/theory/factors.md, section 7, has the rotation. It
	// needs Groups, and is ignored if Start or Like is given.
	Principal bool

	// Like, if not nil, is the posterior of other tasks of the same objects, some of
	// many perhaps, whose factors and hyperparameters are the start.
	Like *FactorPosterior

	Ascent vi.Ascent

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// FactorNoise says whose the noise variances σ_q² are.
type FactorNoise int

// Noise of a factor model.
const (
	NoisePerTask FactorNoise = iota // factor analysis
	NoiseShared                     // probabilistic PCA
)

// FactorStart is an explicit initial state; q(φ) is the prior.
type FactorStart struct {
	Weights []Pair    // Q×M, task by task
	Noise   []float64 // σ_q², Q values; nil means half the variance of the data
}

// FactorFit is a fitted factor model.
type FactorFit struct {
	Posterior *FactorPosterior
	Record    vi.Record
}

// OffsetPrior is the prior N(Mean, Variance) of the tasks' offsets.
type OffsetPrior struct{ Mean, Variance float64 }

// Fit approximates the posterior given the observed entries. Errors are as
// package vi describes them.
func (f Factors) Fit(ctx context.Context, y *Observed) (*FactorFit, error) {
	m, err := f.model(y)
	if err != nil {
		return nil, err
	}
	rec, err := f.Ascent.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return nil, err
	}
	p, bad := check.Resumed(f.Ascent.Journal != nil, m.posterior(), NewFactorPosterior)
	if bad != nil {
		return nil, bad
	}
	return &FactorFit{Posterior: p, Record: rec}, err
}
