// Package mkl learns from several views of the same samples at once: sensors,
// omics layers, image descriptors, or one table seen through several kernels.
// Each view has a kernel; the model finds out how much each of them matters and
// predicts with calibrated uncertainty.
//
//	views := []mkl.View{
//		{Name: "shape", X: shape, Kernel: mkl.RBF{Width: 1}},
//		{Name: "colour", X: colour, Kernel: mkl.Linear{}},
//	}
//	model, err := mkl.Regression{}.Fit(ctx, views, y)
//	mean, variance, err := model.Predict(newShape, newColour)
//
// # Samples are rows
//
// In every matrix of this package a row is a sample: feature matrices are
// samples × features, precomputed kernels and distances samples × basis points,
// where the basis points are the training samples unless a rectangular kernel
// says otherwise.
//
// # Inputs
//
// Views that share one X, that is the very same matrix and not a copy, share the
// work of computing distances. Prediction takes one matrix for each distinct X,
// in the order in which the views first name them: see [RegressionModel.Inputs].
//
// # Models
//
// Models and predictors are immutable and safe for concurrent use. Fits with the
// same data, settings and seed give the same bits for every number of workers,
// and on every machine up to the last digits of the bound and of what package
// [github.com/bmkl/bmkl/vi] names.
package mkl
