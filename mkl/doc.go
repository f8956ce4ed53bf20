// Package mkl learns from several views of the same samples at once: sensors,
// omics layers, image descriptors, or one table seen through several kernels.
// Each view has a kernel; the model finds out how much each of them matters and
// predicts with calibrated uncertainty.
//
//	views := []mkl.View{
//		{Name: "shape", X: shape, Kernel: kernel.RBF{Width: 1}},
//		{Name: "colour", X: colour, Kernel: kernel.Linear{}},
//	}
//	model, err := mkl.Regression{}.Fit(ctx, views, y)
//	mean, variance, err := model.Predict(newShape, newColour)
//
// # Estimators
//
// An estimator is a struct whose zero value is ready to fit. Its Fit returns a
// model. All estimators embed [Fitting]: the seed, how long to go on, the workers
// and what else every fit has.
//
//   - [Auto], [AutoTargets], [AutoClassifier]: one target, several, or classes, where nothing
//     is known of the kernels
//   - [Regression]: one target or several that share kernel weights;
//     [SharedRegression]: several that share sample weights; [TaskRegression]: several
//     that share kernel weights, each known for samples of its own
//   - [Classifier], [MultiLabel], [TaskClassifier]: two or more classes, labels, or labels
//     known for samples of their own, with shared kernel weights
//   - [MultiGP], [MultiGPClassifier]: a sum of one Gaussian process for each view,
//     whose scales, and widths if asked, are those of the highest evidence
//   - [LandmarkGP], [LandmarkClassifier]: the same for one target or classes of any number
//     of samples, also in parts
//   - [ProbitClassifier]: two or more classes by one model of all of them, on a sum
//     or product of the kernels, approximated or sampled
//   - [MultiTask]: targets that are sparse combinations of common functions
//   - [SpikeSlab]: sparse linear regression, without kernels
//   - [FactorAnalysis]: tables with gaps, such as ratings
//   - [PairRegression], [PairClassifier]: tables of values or labels of pairs, by views of the
//     rows and of the columns; also of new rows and columns
//
// Each has its source in its documentation.
//
// # Samples are rows
//
// In every matrix of this package a row is a sample: feature matrices are
// samples × features, precomputed kernels and distances samples × basis points,
// where the basis points are the training samples unless a rectangular kernel
// says otherwise. Package [github.com/bmkl/bmkl/mkl/sequence] makes such matrices of
// strings.
//
// # Inputs
//
// Views that share one X, that is the very same matrix and not a copy, share the
// work of computing distances. Prediction takes one matrix for each distinct X,
// in the order in which the views first name them: see [RegressionModel.Inputs].
//
// # Models
//
// Every [Model] tells its kernel weights with their uncertainty, what it learned of
// each output, its bound and how the fit went. Models of numbers are [TargetModel],
// models of classes [ClassModel]. A model saves itself to a file that [Load] and
// [LoadAs] read. For predictions of single samples within microseconds most models
// have a Predictor.
//
// Models and predictors are immutable and safe for concurrent use. Fits with the
// same data, settings and seed give the same bits for every number of workers and
// on every machine, unless [Auto] is given a Time.
//
// # Files
//
// The files of an estimator X are X.go, the estimator; X_model.go, what it fits;
// X_predictor.go, single predictions; and X_file.go, saving and loading. auto.go has both
// Auto and AutoClassifier, whose models are those of auto_model.go. What they share:
//
//	fitting.go    settings of every fit, starts, memory
//	model.go      Model and what all models tell; predict.go: what they predict
//	view.go       views; design.go: views checked, and what predictions need of them
//	targets.go    targets checked and standardised; labels.go: classes and labels
//	kernel.go     what a kernel is; kernel_….go: the kernels; statistic.go: what they are functions of
//	gram.go       their matrices in training; cross.go: in prediction; blocks.go: cut among workers
//	sight.go      what a kernel sees of a sample; distances.go: widths made of the data
//	centering.go  kernels centred and normalised; semidefinite.go: given ones checked
//	storage.go    where the matrices of a fit are held
//	defaults.go   kernels where nothing is known; adaptive.go: widths that a fit learns
//	absence.go    samples that lack views; viewgaps.go: what that adds to variances
//	beginning.go  fits to some of many samples, where those to all begin
//	weighted.go   models of weighted samples and kernels; scores.go, processes.go: two families
//	healing.go    variances as they should be far from the samples
//	tasks.go      what models of tasks share; pairs.go: what models of pairs share
//	spread.go     by what weights of kernels of different scales compare
//	predictor.go  predictions of a single sample, pruned as pruning.go decides, or with few samples,
//	              those of pivots.go; process_predictor.go: predictors of Gaussian processes;
//	              pointkernels.go: kernels of a single sample; scratch.go: its memory
//	leaveoneout.go predictions of training samples from all others
//	landmarks.go  landmarks chosen; planning.go: plans made; featureplan.go: what plans are
//	plan.go       sums of any number of samples with targets; classplan.go: with classes, and passes
//	journal.go    states of fits that are cut off
//	finite.go     checks of all that comes out
//	file.go       kinds of files; design_file.go: views in them; safetensors.go: their layout
package mkl
