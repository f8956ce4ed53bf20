// Package slab is variational inference with spike-and-slab weights: a weight is zero
// with a probability of its own, and otherwise normal,
//
//	w = s·w̃,   s ~ Bernoulli(π),   w̃ ~ N(0, σ_w²).
//
// [Regression] is sparse linear regression with such weights. [MultiTask] is multi-task
// and multiple kernel learning: every task is a sparse combination of latent Gaussian
// processes. [Factors] is sparse factor analysis and matrix completion: the latent
// functions are factors of the objects, a value each, and any entries may be missing.
//
// # Priors
//
// The weights have one common [Prior], π and σ_w²; latent functions have Gaussian
// process priors, factors standard normal ones or Gaussian processes over the objects.
// Noise is normal with variance σ² or, of task q, σ_q². The hyperparameters, lengths of
// covariances among them, are points, set by type-II maximum likelihood unless held.
//
// # Factorisation and order of the updates
//
// The posterior is approximated by paired mean field: q(w̃, s) of a weight is one factor
// and not the product of two, see [Pair], and is independent of the other weights and
// of the latent functions. A sweep updates the latent functions, each after its length
// where it has one; the weights; σ²; σ_w² and π. Further steps move the scale of a latent function
// against the scale of its weights, and take out latent functions that no task uses.
//
// # Sources
//
// M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational inference for
// multi-task and multiple kernel learning", NIPS 2011, and its supplement. The updates
// are derived in docs/theory/spikeslab.md and docs/theory/factors.md.
//
// # Files
//
//	pair.go              Prior and Pair: a weight, its update and its terms of the bound
//	covariance.go        Covariance of latent functions
//	latentgp.go          the factor of a latent function
//	latentgp_steps.go    steps of its length and scale
//	latentgp_uniform.go  its updates and scale steps where all targets are observed and the matrix stays
//	starts.go            the best of several starts; pruning where an ascent has converged
//	predictions.go       what a state of a fit predicts, for the record of its sweeps
//	snapshot.go          states of fits, for journals
//
//	regression.go            Regression, its paired mean field
//	standard.go              its standard mean field, to compare with
//	regression_posterior.go  its posterior and predictions
//
//	multitask.go            MultiTask
//	multitask_state.go      state of a fit
//	multitask_sweep.go      its updates
//	multitask_bound.go      its bound
//	multitask_pruning.go    latent functions that no task uses
//	multitask_posterior.go  its posterior and predictions
//	gradient.go             derivatives of its bound by the covariances
//
//	observed.go           Observed: the entries of a matrix by rows and by columns
//	factors.go            Factors: settings, Fit
//	factors_fit.go        state of a fit; factors_start.go: where it starts
//	factors_sweep.go      what the ascent asks of it: sweeps, keeping, restoring, the bound
//	factors_objects.go    updates of the factors
//	factors_tasks.go      updates of the weights and the offsets
//	factors_sums.go       what the bound and the hyperparameters need of the weights
//	factors_hyper.go      updates of the noise, the weights' prior and the offsets' prior
//	factors_lines.go      what an update needs of the entries of a row or column
//	factors_scale.go      steps of the factors' scales
//	factors_shear.go      steps that mix factors with each other
//	factors_noise.go      steps of the noise together with the factors' variances
//	factors_posterior.go  the posterior, predictions of entries, new objects
package slab
