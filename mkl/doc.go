// Package mkl is Bayesian multiple kernel learning. It learns from several views of
// the same samples at once: sensors, omics layers, image descriptors, or one table
// seen through several kernels. Each view has a kernel, which measures how similar two
// samples are in the view. A model learns a weight for each kernel. It predicts numbers,
// classes, labels, counts or times, each with its uncertainty.
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
// model. All estimators embed [Fitting]: seed, workers, memory limit and other settings
// that every fit has.
//
//   - [Auto], [AutoTargets], [AutoClassifier]: one target, several targets, or classes, if you do not
//     know which kernels to use
//   - [Regression]: one target, or several that share kernel weights;
//     [SharedRegression]: several targets that share sample weights; [TaskRegression]: several
//     targets that share kernel weights, each known for samples of its own
//   - [Classifier], [MultiLabel], [TaskClassifier]: two or more classes, several labels, or several
//     labels each known for samples of its own, with shared kernel weights
//   - [MultiGP], [MultiGPClassifier]: a sum of one Gaussian process for each view,
//     whose scales, and widths if asked, maximise the evidence
//   - [LandmarkGP], [LandmarkClassifier]: the same models for any number
//     of samples, which may come in parts
//   - [ProbitClassifier], [ProbitSampler], [RelevanceClassifier], [PrunedClassifier], [ProbitMAP]: one
//     model of two or more classes, on a sum or product of the kernels
//   - [MultiTask]: targets that are sparse combinations of common functions
//   - [SpikeSlab]: sparse linear regression, without kernels
//   - [FactorAnalysis]: tables with gaps, such as ratings, and several views without a target
//   - [PairRegression], [PairClassifier]: tables of values or labels of pairs, from views of the
//     rows and of the columns; they also predict new rows and columns
//   - [Survival], [Counts], [Ordinal]: times until an event, some of them censored; counts; and grades
//
// The documentation of each estimator names its source.
//
// # Samples are rows
//
// In every matrix of this package a row is a sample. Feature matrices are
// samples × features. Precomputed kernels and distances are samples × basis points,
// where the basis points are the training samples unless a rectangular kernel
// says otherwise. Package [github.com/bmkl/bmkl/mkl/sequence] makes such matrices from
// strings.
//
// # Inputs
//
// Views that share one X share the work of computing distances. X must be the very same
// matrix, not a copy. Prediction takes one matrix for each distinct X,
// in the order in which the views first name them: see [RegressionModel.Inputs].
//
// # Models
//
// Every [Model] reports its kernel weights with their uncertainty, what it learned about
// each output, its bound and how the fit went. Models of numbers are a [TargetModel],
// models of classes a [ClassModel]. A model saves itself to a file that [Load] and
// [LoadAs] read. Most models have a Predictor, which predicts single samples within
// microseconds.
//
// Models and predictors are immutable and safe for concurrent use. Fits with the
// same data, settings and seed give the same bits for every number of workers and
// on every machine.
//
// # Files
//
// The files of an estimator X are X.go, the estimator; X_model.go, the model that it fits;
// X_predictor.go, predictions of single samples; and X_file.go, saving and loading. Auto and
// AutoClassifier are both in auto.go, their models in auto_model.go. Shared files:
//
//	fitting.go    settings of every fit, starts, memory
//	model.go      Model and what all models report; predict.go: predictions
//	view.go       views; kernels.go: their checks, and the kernels of a fit
//	targets.go    targets checked and standardised; labels.go: classes and labels
//	storage.go    where the matrices of a fit are held
//	defaults.go   default kernels; fill.go: views without a kernel
//	viewgaps.go   what missing views add to variances
//	beginning.go  fits to a part of the samples, from which fits to all start
//	weighted.go   models of weighted samples and kernels; scores.go, processes.go: two families
//	healing.go    larger variances far from the samples
//	tasks.go      what models of tasks share; pairs.go: what models of pairs share
//	spread.go     the factors that make weights of kernels of different scales comparable
//	predictor.go  predictions of a single sample; pruning.go: with fewer basis points;
//	              processbank.go: by Gaussian processes; scratch.go: memory of a prediction
//	leaveoneout.go leave-one-out predictions of training samples
//	landmarks.go  choice of landmarks; planning.go: makes plans; featureplan.go: what plans hold
//	plan.go       sums of any number of samples with targets; classplan.go: with classes, and passes
//	journal.go    states from which an interrupted fit continues
//	finite.go     checks of all results
//	file.go       kinds of files; design_file.go: views in files; safetensors.go: their layout
//
// Package internal/gram computes the kernel matrices.
package mkl
