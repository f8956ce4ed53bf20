// Package vi is variational inference for Bayesian multiple kernel learning:
// conjugate factors, one ascent loop, one file a model.
//
// Models keep their papers' notation: N samples, D basis points (samples that
// carry weights, usually all N), P kernels, L outputs. Indices o, m, i and d
// run over outputs, kernels, samples and basis points. Gamma distributions are
// given by shape and scale. Bounds are in nats, with all constants.
//
// Fits are the same, bit for bit, on every machine and for every number of
// workers; only the values of the bound, which use the platform's logarithm,
// may differ in their last digits. Fits of [mgp.Model], [probit.Model], [slab.Regression],
// [slab.MultiTask] and [slab.Factors], whose updates use exponentials and logarithms, share
// their bits between any numbers of workers, and all but the last digits between
// machines.
package vi
