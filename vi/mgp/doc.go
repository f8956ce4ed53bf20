// Package mgp is the multiple Gaussian process model: a target is a sum of P functions,
// one for each kernel, and noise. The functions' precisions have a generalised inverse
// Gaussian prior, which decides how sparse the sum is. See [Model].
//
// # Priors
//
// A function f_p ~ N(0, K_p/γ_p) has the precision γ_p ~ [GIG](ω, χ, φ). Its [Family]
// says which of the three parameters are free, and what process f_p then is: Student-t,
// Laplace, gamma-variance, or, without a prior, a Gaussian process with a kernel weight
// set by maximum likelihood (ARD). The noise has the precision τ. The prior's parameters
// and τ are points, set by type-II maximum likelihood unless told otherwise.
//
// # Factorisation and order of the updates of Model
//
// The posterior is approximated by q(f)·Π_p q(γ_p), all functions together in one
// Gaussian factor; for labels also by Π_n q(y_n), normal on the side of the label. A
// sweep updates q(f), q(y), q(γ), τ and the prior, in this order, and costs one
// factorisation and one inverse of order N and two passes over the kernels. Unless Plain
// is set, the prior is learned only after the bound has settled, the last three
// updates are made more than once, and q(f) is computed at scales ahead of the present
// ones as long as that raises the bound.
//
// # Source
//
// C. Archambeau and F. Bach, "Multiple Gaussian process models", 2010. The updates in
// terms of N×N matrices and the lower bound are derived in docs/theory/mgp.md, whose equations
// are numbered (D1), (D2), …; other numbers are the paper's.
//
// # Files
//
//	model.go        Model: settings, Fit
//	fit.go          state of a fit, and where it starts
//	sweep.go        what the ascent asks of it: sweeps, keeping, restoring, the bound
//	functions.go    q(f) and q(y)
//	scales.go       q(γ), its prior, τ
//	ahead.go        q(f) at scales ahead of the present ones
//	family.go       Family: the priors of γ, and how their parameters are learned
//	gig.go          GIG: moments and divergence
//	passes.go       the passes of a fit over the kernels
//	roundoff.go     what rounding can move the bound by
//	posterior.go    Posterior, its predictions; rounding.go: what rounding can move them by
//	predictions.go  what a state of a fit predicts, for the record of its sweeps
//	gradient.go     derivatives of the bound by the kernels
//	projection.go   Projection: single predictions from a few samples, with a bound
//
//	evidence.go        Evidence: settings, state of a fit, the objective and its gradient
//	evidence_start.go  checks of its arguments, and where it starts
//	evidence_sites.go  sites of labels along the way
//	evidence_end.go    from where it ended to a fit
//	scale_prior.go     the prior of γ in it, and q(γ)
//	ascent.go          ascents along a gradient: settings, record, journal
//	information.go     second derivatives for their steps
//	influence.go       how much each label determines the function
//	draws.go           draws of scales, noise and parameters
//	spanned.go         Evidence of samples that a few of them span
//	row_noise.go       noise of targets with weights
//	varying.go         noise that varies, by a bound on the evidence
//	heavy.go           noise with heavy tails, by a bound on the evidence
//
//	sites.go        Gaussian factors, called sites, in place of a likelihood that is not Gaussian
//	likelihood.go   Likelihood: what a likelihood is, for expectation propagation and for the bound; FitLikelihood
//	probit.go       labels
//	censored.go     censored targets, as times of events
//	counts.go       counts
//	quadrature.go   moments of log-concave likelihoods
//	ep.go           sites by expectation propagation
//	kept.go         sites of labels at scales that are kept
//	variational.go  sites by the Gaussian variational bound
//
//	features.go           Evidence in the space of features, for any number of samples
//	feature_posterior.go  its posterior and predictions
//	feature_labels.go     two classes in the space of features, by passes over the samples
//	label_pass.go         what a pass finds
//	label_parabola.go     where the next pass looks
package mgp
