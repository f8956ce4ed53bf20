// Package bemkl is Bayesian efficient multiple kernel learning: models in which sample
// weights a turn every kernel K_m into an intermediate output g_m for each sample, and
// kernel weights e and a bias b combine these into a score,
//
//	g_m = K_mᵀ·a + noise of precision υ,   f = Σ_m e_m·g_m + b.
//
// [Regression] observes the scores of L outputs with noise; the outputs have sample
// weights each and share the kernel weights. [SharedRegression] shares the sample
// weights instead, and each output has kernel weights. [TaskRegression] shares the kernel
// weights between tasks that have samples of their own. [Classification] observes the signs of the
// scores. The models of pairs of rows and columns are in package vi/kbmf.
//
// # Priors
//
// Every sample weight a_d, kernel weight e_m and bias b is normal with mean 0 and a
// precision of its own, λ_d, ω_m and γ, which has a gamma prior. So have the precisions
// υ of the intermediate outputs and ε of the targets, in regression; classification
// holds both fixed. Small shapes and large scales make the weights sparse.
//
// # Factorisation and order of the updates
//
// The posterior is approximated by q(λ)q(υ)q(a)q(G)q(γ)q(ω)q(ε)q(b,e), each factor
// gamma or Gaussian, and updated in this order; in classification q(f), normal beyond
// the margin, follows and υ and ε are fixed. q(ε) and q(f) belong to the likelihood, which has a
// file in vi/internal/target.
//
// Unless a model's Plain is set, ten such sweeps are followed by accelerated ones. Each
// factorises once, which gives a direction, and then goes through rounds, 20 or more: a moves to
// the best point of the plane of this direction and the last sweep's step while G and b follow,
// the cheap factors are updated, and a step goes along the ridge on which a grows as e shrinks.
// docs/theory/acceleration.md derives these steps.
//
// # Sources
//
// M. Gönen, "A Bayesian multiple kernel learning framework for single and multiple
// output regression", ECAI 2012; M. Gönen, "Bayesian efficient multiple kernel
// learning", ICML 2012, with its supplement. docs/theory/shared.md derives SharedRegression,
// docs/theory/tasks.md TaskRegression and TaskClassification, docs/theory/missing-views.md Regression
// with groups of samples.
//
// # Files
//
//	outputs.go                   state of a fit of outputs with a likelihood: updates, bound
//	regression.go                Regression: model, its likelihood and start
//	regression_posterior.go      its posterior; collapsed fits
//	noise_groups.go              Regression with noise for each group of samples
//	shared_regression.go         SharedRegression: model, state of a fit to complete targets
//	shared_patterns.go           state of its fit to targets with missing values
//	shared_layers.go             what both have: updates given sums of G, bound
//	shared_posterior.go          its posterior
//	task_regression.go           TaskRegression: model, its likelihood and start
//	task_posterior.go            its posterior
//	task_classification.go       TaskClassification: model, its likelihood and start
//	task_classification_posterior.go  its posterior
//	classification.go            Classification: model, its likelihood and start
//	classification_posterior.go  its posterior and predictions of labels
//	latent.go    λ, a and G, which all have: state, starts, bound
//	common_weights.go  γ, ω, b and e of the models whose outputs share the kernel weights
//	layers.go    these with λ, a and G of outputs of the same samples
//	task_layers.go  these with λ, a and G of tasks with samples of their own: state of a fit, updates, bound
//	start.go     random starts; checks of starts and targets
//	schedule.go  the plain and the accelerated order of the updates
//	parts.go     samples of a row that have a Cov[g] in common, where not all have
//	plane.go     the accelerated order: a sweep's rounds on the plane of its two directions
//	parts_plane.go       the same of fits with such parts
//	plane_sums.go        what the rounds know of G: its sums over samples
//	plane_maximum.go     the bound on the plane and its maximum
//	newton_step.go       the direction of a sweep, nearly the direction of Newton's method
//	covariance_tangent.go  Cov[a] between factorisations, as a function of λ and υ
//	kernel_mixing.go     the joint step of G and the kernel weights of several outputs
//	gradient.go  derivatives of the bound by the kernels and by σ_g and the margin
//	predictions.go  what a state of a fit predicts, for the record of its sweeps
//	healing.go   predictions of a regression with variances as they should be far from the samples
//	shared_healing.go    the same of outputs that share sample weights, which it whitens
//	healer.go    what heals both, of many samples and of one
//	projection.go  predictions from a few of the samples, with bounds
//	snapshot.go  the states of fits, for journals
package bemkl
