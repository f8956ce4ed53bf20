// Package choose measures by held-out samples which of several ways to learn is best:
// estimators, kernels, settings.
//
//	folds, err := choose.Split(len(y), choose.Plan{Repeats: 3})
//	result, err := choose.Validation{
//		Truth: choose.Truth{Numbers: y},
//		Folds: folds,
//		Candidates: []choose.Candidate{
//			choose.Mean(y),
//			choose.Ridge(views, y),
//			choose.Targets("auto", views, y, mkl.Auto{}.Fit),
//		},
//	}.Run(ctx)
//
// A [Validation] fits every candidate to the training samples of every fold and scores its
// predictions of the others. Candidates see the same folds, so that their differences are
// paired: [Result] has the scores of each, its difference from the best, and how
// uncertain both are. [Compare] does the same for predictions of one test set.
//
// # Uncertainty
//
// The training samples of folds overlap, so that their scores are not independent and
// their variance s² over J folds says too little. The standard error of a mean over folds is
//
//	√((1/J + n_test/n_train)·s²)
//
// with J − 1 degrees of freedom: the corrected resampled t-test. Samples of one test set are
// independent and need no correction: s/√n. Intervals are of 95 %, each by itself:
// among many candidates some will seem better by chance.
//
// Source: C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
// Learning 52 (2003), 239–281, section 4; for repeated folds R. R. Bouckaert and E. Frank, "Evaluating the
// replicability of significance tests for comparing learning algorithms", PAKDD 2004.
package choose
