// Package probit is the multinomial probit kernel machine: C classes told apart by
// linear functions of one composite kernel, which a [Rule] makes of P base kernels and
// their weights β. See [Model].
//
// # Priors
//
// A regressor w_{c,d} is normal with mean 0 and a precision α_{c,d} of its own, which has
// a gamma prior. The auxiliary variables y_{c,n} are normal around w_cᵀk_n with variance
// 1, and the label is the class whose y is the largest. The prior of β is a Dirichlet
// distribution for weighted sums, independent switches for Bin, and gamma distributions
// for exponents of products; parameters of the kernels themselves may have gamma priors
// too, see [vi.ParametricKernels].
//
// # Factorisation and order of the updates
//
// The posterior is approximated by q(W)q(Y)q(α)q(β), and factors of the hyperparameters
// of β; with [WeightUpdateStructured] by q(W | β)q(β) in place of two factors. q(w_c) is Gaussian,
// q(y_n) Gaussian on the cone of its label. The order is W, Y, α, β with its
// hyperparameters, parameters of the kernels. Only some of the ways to learn β are
// steps of coordinate ascent: see [WeightUpdate].
//
// # Source
//
// T. Damoulas and M. Girolami, "Combining information with a Bayesian multi-class multi-kernel
// pattern recognition machine". docs/theory/probit.md derives what the paper leaves to its
// references, and says where this package departs from the paper.
//
// # Files
//
//	model.go        Model: settings, Fit
//	fit.go          state of a fit, and how it is made of settings and data
//	start.go        where a fit starts
//	sweep.go        what the ascent asks of it: sweeps, keeping, restoring, roundoff
//	regressors.go   q(W); turns.go: sums over classes in their order
//	auxiliary.go    q(Y)
//	precisions.go   q(α) and its prior
//	bound.go        the bound, and the density whose mode MAP finds
//	pruning.go      regressors taken out
//	composite.go    Rule and Composite: one kernel of many
//	kernel.go       E[K] and what follows from it in a fit
//	weights.go      what q(β) is to a fit, and which one a fit has
//	quadratic.go    the likelihood of weights of sums
//	simplex.go      its mode on the simplex
//	switches.go     q(β) of switches
//	structured.go   switches with regressors for each state
//	product.go      β of products: exponents and their priors
//	importance.go   importance sampling, of β on the simplex too
//	theta.go        parameters of the kernels
//	posterior.go    Posterior, mixtures of them, predictions; point.go: of single samples
//	predictions.go  what a state of a fit predicts, for the record of its sweeps
//	projection.go   predictions from a few basis points, with a bound
//	snapshot.go     states of fits, for journals
//	gradient.go     derivatives of the bound by the base kernels
//
//	relevance.go             Relevance: few basis points, taken in one after another
//	relevance_regressors.go  its q(W) and q(Y)
//	relevance_points.go      which basis points, and their precisions
//	relevance_weights.go     its weights of the kernels
//	pruned.go                Pruned: few basis points, by taking out all others
package probit
