// Package sequence has kernels on strings: proteins, nucleic acids, any text. A [Set]
// holds the training strings. It computes the views to which the estimators of package
// mkl are fitted, and later the inputs of a prediction for other strings:
//
//	set := &sequence.Set{Alphabet: sequence.Protein, Kernels: kernels, Strings: strings}
//	views, err := set.Views(ctx)
//	model, err := estimator.Fit(ctx, views, y)
//	inputs, err := set.Inputs(ctx, others)
//	mean, variance, err := model.Predict(inputs...)
//
// Every kernel is scaled to k(x,y)/√(k(x,x)·k(y,y)), so that a string's kernel with
// itself is 1. If a string contains nothing that a kernel could compare, for instance because it is
// shorter than K, its kernel is 0 with all strings, itself included; it cannot be a training string.
//
// Kernels that count what strings have in common ([Spectrum], [Mismatch], [Oligomer])
// are sums of whole numbers and exact. Their cost grows with the number of common features. The cost of
// the other kernels ([Subsequence], [Alignment], [LocalAlignment], [Pairwise]) grows with
// the square of the strings' lengths. Results do not depend on the number of
// workers.
package sequence
