// Package vi holds what all families of models share: the interface of the kernels that a model is
// given, the ascent of its lower bound, and the record of the ascent. Each family of models is a package
// of its own:
//
//	bemkl   sample weights and kernel weights: regression, regression with shared
//	        sample weights, classification (BMKLR and BEMKL)
//	mgp     multiple Gaussian processes with generalised inverse Gaussian priors
//	slab    spike-and-slab weights: sparse linear regression, multi-task and multiple
//	        kernel learning, factor models of incomplete matrices
//	probit  multinomial probit kernel machines on one composite kernel
//	kbmf    kernelised matrix factorisation: values or labels of pairs
//	amplitude  Gaussian processes whose kernels' amplitudes borrow strength from each other
//	trees   curves of features and boosted trees
//	vecchia Gaussian processes of many rows, by nearest rows and conjugate gradients
//	effects random intercepts of columns with many levels
//
// # Models, posteriors, states
//
// A model is a struct of priors and settings whose zero value is ready. Its method
// Fit approximates the posterior and returns it with the [Record] of the [Ascent]. A posterior is
// immutable and safe for concurrent use; its State is plain data, to be saved. The family's
// function New…Posterior makes the posterior from it again.
//
// # Errors of Fit
//
// Errors name the argument and the place of the fault. If the context ends, the bound
// falls by more than round-off (a [*BoundError]) or an update fails, the error says so. Fit then
// undoes the failed sweep and returns the fit after the last good sweep. The fit is nil only if
// an argument is wrong or there was no good sweep.
//
// If the bound falls by no more than the rounding errors of its value, the ascent
// has reached the limit of double precision: it ends without an error and with the
// reason [RoundOff]. Every family computes the size of these errors from the matrices that its
// last sweep has factorised and summed.
//
// # Notation
//
// Models keep their papers' notation: N samples, D basis points (samples that
// carry weights, usually all N), P kernels, L outputs. Indices o, m, i and d
// run over outputs, kernels, samples and basis points. Gamma distributions are
// given by shape and scale. Bounds are in nats, with all constants.
//
// # The same bits
//
// Fits are the same, bit for bit, for every number of workers and on every machine: sums have one
// order, no compiler may fuse a product with a sum, and exponentials, logarithms and other special
// functions are the module's own. docs/guide/trust.md says how that is tested.
//
// # Files
//
//	ascent.go   Ascent, Progress, Record: climbing a bound
//	stopping.go when to stop, and in how many sweeps that will be
//	predictions.go  what a state predicts at training points
//	journal.go  Journal: the states of ascents, for fits that are cut off
//	kernels.go  Kernels, and Dense: matrices in memory
//	rounded.go  Rounded: matrices of float32, in memory or in a file; rounded_builder.go makes them
//	stacked.go  Stacked: blocks of features in place of kernels
//	compressed.go   Compressed: kernels of pseudo-samples
//	certified.go    Certified: a prediction with bounds on its error
//	gamma.go    Gamma distributions
//	options.go  PredictOptions
//	internal/conjugate  gamma and Gaussian factors with their terms of the bound
//	internal/pivot      subspaces of kernels that a few samples span
//	internal/work       the updates of a sweep; tasks shared by goroutines
//	internal/check      checks of arguments
//	internal/random     the random numbers of starts
//	internal/roots      zeros of functions of one variable
//	internal/lbfgs      an optimiser
package vi
