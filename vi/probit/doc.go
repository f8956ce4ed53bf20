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
// too, see [ParametricKernels].
//
// # Factorisation and order of the updates
//
// The posterior is approximated by q(W)q(Y)q(α)q(β), and factors of the hyperparameters
// of β; with [Structured] by q(W | β)q(β) in place of two factors. q(w_c) is Gaussian,
// q(y_n) Gaussian on the cone of its label. The order is W, Y, α, β with its
// hyperparameters, parameters of the kernels. Only some of the ways to learn β are
// steps of coordinate ascent: see [WeightUpdate].
//
// # Source
//
// T. Damoulas and M. Girolami, "Combining information with a Bayesian multi-class
// multi-kernel pattern recognition machine". docs/probit.md has what the paper leaves to
// its references and where this follows it corrected.
//
// # Files
//
//	model.go       Model: settings, state of a fit, updates of W, Y and α, bound, pruning
//	composite.go   Rule and Composite: one kernel of many
//	weights.go     β of sums: its likelihood, the mode on the simplex, switches
//	structured.go  switches with regressors for each state
//	product.go     β of products: exponents and their priors
//	importance.go  importance sampling, of β on the simplex too
//	theta.go       parameters of the kernels
//	relevance.go   Relevance: few basis points, taken in one after another
//	gradient.go    derivatives of the bound by the base kernels
//	posterior.go   Posterior, mixtures of them, predictions
package probit
