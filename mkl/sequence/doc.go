// Package sequence has kernels on strings: proteins, nucleic acids, any text. A [Set]
// holds the strings to learn from and computes the views that the estimators of package
// mkl are fitted to, and later the inputs of a prediction for other strings:
//
//	set := &sequence.Set{Alphabet: sequence.Protein, Kernels: kernels, Strings: strings}
//	views, err := set.Views(ctx)
//	model, err := estimator.Fit(ctx, views, y)
//	inputs, err := set.Inputs(ctx, others)
//	mean, variance, err := model.Predict(inputs...)
//
// Every kernel is scaled to k(x,y)/√(k(x,x)·k(y,y)), so that a string's kernel with
// itself is 1. A string that has nothing a kernel could compare, such as one that is
// shorter than K, has kernel 0 with all, itself included; it cannot be learned from.
//
// Kernels that count what strings have in common ([Spectrum], [Mismatch], [Oligomer])
// are sums of whole numbers and exact. Their cost grows with what is in common, not with
// the square of the strings' lengths, as that of the others does ([Subsequence],
// [Alignment], [LocalAlignment], [Pairwise]). Results do not depend on the number of
// workers.
package sequence
