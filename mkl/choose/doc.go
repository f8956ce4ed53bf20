// Package choose compares ways to learn (estimators, kernels, settings) on held-out
// samples and says which is best.
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
// predictions of the test samples. Candidates see the same folds, so that their differences are
// paired: [Result] has the scores of each candidate, its difference from the best, and the
// uncertainty of both. [Compare] does the same for predictions of one test set.
//
// # Uncertainty
//
// The training samples of folds overlap. Their scores are therefore not independent, and the
// variance s² of J folds is too small. The standard error of a mean over folds is
//
//	√((1/J + n_test/n_train)·s²)
//
// with J − 1 degrees of freedom: the corrected resampled t-test. Samples of one test set are
// independent and need no correction: s/√n. Each interval by itself covers 95 %:
// among many candidates some will seem better by chance.
//
// Source: C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
// Learning 52 (2003), 239–281, section 4; for repeated folds R. R. Bouckaert and E. Frank, "Evaluating the
// replicability of significance tests for comparing learning algorithms", PAKDD 2004.
package choose
