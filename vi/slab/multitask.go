package slab

import (
	"context"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// MultiTask is spike-and-slab multi-task and multiple kernel learning: Q tasks are
// sparse combinations of M latent functions that they share,
//
//	φ_m  ~ GP(μ_m, k_m)
//	w_qm = s_qm·w̃_qm,   s_qm ~ Bernoulli(π),   w̃_qm ~ N(0, σ_w²)
//	y_nq ~ N(Σ_m w_qm·φ_m(x_n), σ_q²)
//
// The posterior is approximated by Π q(w̃_qm, s_qm)·Π q(φ_m), equation (8). With
// zero covariances it is a generalised linear model of many tasks, with white ones
// sparse factor analysis, or probabilistic PCA if the noise is shared.
//
// The zero value is ready. There is no bias: targets are to be centred.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, whose
// supplement has the updates; docs/theory/spikeslab.md derives them anew. Their order is
// φ_1, …, φ_M, each after its length, (w̃, s), σ², σ_w², π.
type MultiTask struct {
	// Prior is the prior of the weights to start from. A Pi of 0 means ½, a
	// Variance of 0 the power of the targets.
	Prior Prior

	Noise       float64 // σ_q² to start from, as a share of the power of task q's targets; 0 means ¼
	SharedNoise bool    // one σ² for all tasks
	Held        Held    // what keeps its starting value instead of being learned

	// LengthsEvery is the number of sweeps from one marginalised step of the
	// covariances' lengths, and one of the scales (see Plain), to the next; 0 means 5.
	// The first is made in the sweep of that number.
	LengthsEvery int

	// Plain makes exactly the published updates. The default also moves the scale
	// of each latent function whose covariance is a matrix and whose mean is zero against the scale of
	// its weights, on a ridge that the updates climb slowly, and extrapolates the means of functions
	// and weights from sweep to sweep (docs/theory/acceleration.md, section 8).
	Plain bool

	// KeepAll keeps latent functions that no task uses. The default looks every 15
	// sweeps, and where the ascent has converged, and takes one out of the model if
	// the bound without it is higher.
	KeepAll bool

	// MeanOnly leaves out of the posterior what the variances of predictions need,
	// an N×N matrix for every latent function.
	MeanOnly bool

	// Restarts is the number of further random starts. The start with the highest bound is kept.
	// They have the seeds Seed+1, Seed+2, …
	Restarts int
	Seed     uint64

	// Start, if not nil, is the only start.
	Start *MultiTaskStart

	// From, if not nil, is an earlier fit, perhaps one that was stopped, of the same
	// latent functions to the same targets, to go on from; it takes the place of Start, Seed, Prior
	// and Noise. Unless Plain, its sweeps differ from the sweeps of a fit without the break: the
	// sweeps before the break are not known to the extrapolation.
	From *MultiTaskFit

	Ascent vi.Ascent

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// Latent is the prior of a latent function at the N samples.
type Latent struct {
	Covariance Covariance
	Mean       []float64 // N; nil means zero
}

// MultiTaskStart is an explicit initial state, with q(φ) = p(φ).
type MultiTaskStart struct {
	Weights []Pair    // Q×M, row after row
	Noise   []float64 // σ_q², Q values, equal if shared; nil means MultiTask.Noise
}

// MultiTaskFit is a fitted multi-task model.
type MultiTaskFit struct {
	Posterior *MultiTaskPosterior
	Record    vi.Record // of the start that was kept
	Start     int       // which start it was: 0 is the start from Seed
	Bounds    []float64 // of all starts, in nats

	// Collapsed lists the tasks, ascending, all of whose weights are off: the
	// fitted function is zero.
	Collapsed []int
}

// Fit approximates the posterior given the latent functions and the targets y,
// Q×N, in which NaN marks a missing value. The posterior of a task without any value is
// the prior. A sweep costs Q·N·M and, for each latent function whose covariance is a matrix,
// N² where all targets are observed and there is no length to learn, else about N³. In the first
// case the matrices are reduced before the first sweep, which takes 4/3·N³ operations and N²/2 numbers
// for each Covariance, however many latent functions, starts and fits share it; and the variances
// of each latent function take about N³ at the end.
//
// Errors are as package vi describes them. A start in which every weight and every
// mean function is zero is refused: it is a saddle point, from which no update
// moves.
func (t MultiTask) Fit(ctx context.Context, latents []Latent, y la.Matrix[float64]) (*MultiTaskFit, error) {
	n := 1 + max(0, t.Restarts)
	if t.Start != nil || t.From != nil {
		n = 1
	}
	var fit *MultiTaskFit
	var before vi.Record
	if t.From != nil {
		before = t.From.Record
	}
	rec, start, bounds, err := bestOf(ctx, t.Ascent, n, before, func(i int) (vi.Objective, error) {
		return t.model(latents, y, t.Seed+uint64(i))
	}, func(m vi.Objective) error {
		mt := m.(*multiTask)
		p, err := mt.posterior(!t.MeanOnly)
		if err != nil {
			return err
		}
		if p, err = check.Resumed(t.Ascent.Journal != nil, p, NewMultiTaskPosterior); err != nil {
			return err
		}
		fit = &MultiTaskFit{Posterior: p, Collapsed: mt.collapsed()}
		return nil
	})
	if fit != nil {
		fit.Record, fit.Start, fit.Bounds = rec, start, bounds
	}
	return fit, err
}
