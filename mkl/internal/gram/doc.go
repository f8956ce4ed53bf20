// Package gram turns the views of samples into kernel matrices. Estimators of package mkl ask it for all kernels they
// need, and no model family knows how a kernel is computed.
//
// A [View] is a view as the estimator got it. [Bind] checks the views of the training samples and returns a [Training]: the
// [Design], which a model keeps, and the views. Training.Hold, or Train, computes the matrices: views that are functions
// of the same [kernel.Statistic] form a [Group], whose statistic is computed once, in blocks of rows that workers share.
// Then kernels are centred and normalised.
//
// A Design computes the kernels between its basis points and new samples, block after block: EachBlock. [Points] computes
// the kernels of one sample without allocating memory, and [Pivots] the kernels with a few basis points.
package gram
