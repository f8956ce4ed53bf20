// Package amplitude is Gaussian process regression with a sum of many kernels, whose
// amplitudes borrow strength from each other. It is for kernels of several views, each with
// kernels of several widths, and for classes, which share the amplitudes.
//
// # Model
//
// A sample n has C targets, columns of mean 0 and variance 1, which share one covariance:
//
//	y_c = b_c + Σ_j f_jc + ε_c,   b_c ~ N(0, 1),   f_jc ~ N(0, a_j·K_j),   ε_c ~ N(0, σ²·I),
//	K = 11ᵀ + Σ_j a_j·K_j + σ²·I.
//
// The kernels K_j have a mean diagonal of 1. They should be centred: then a_j is the
// variance that function j has over the samples.
//
// Numbers have one column for each target. K classes have a column for each indicator. K
// indicators add up to 1, so that they count for K − 1 columns: their log likelihood has the
// weight w = (K − 1)/K.
//
// # Prior
//
// A [Structure] says how the amplitudes depend on each other: free, tied over the views, or
// flexible with a half-Cauchy factor for each view, which can switch the view off. All are
// functions of standard normal variables z. A [Fit] has the z of highest posterior density.
//
// # Source
//
// The half-Cauchy factor: C. M. Carvalho, N. G. Polson and J. G. Scott, "The horseshoe
// estimator for sparse signals", Biometrika 97 (2010). Leave-one-out predictions are equations
// 5.10 to 5.12 of C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine
// learning", 2006. docs/theory/views.md derives everything.
//
// # Files
//
//	kernels.go       Kernels: packed triangles, in float64 or float32, and the two passes over them
//	prior.go         Layout, Structure and Prior: from z to amplitudes
//	factor.go        the half-Cauchy factor of a view
//	evidence.go      the log evidence and its gradient
//	fit.go           Problem and Fit: the z of highest posterior density, leave-one-out
//	head.go          Head: probabilities of classes from leave-one-out means
//	weights.go       weights of members from leave-one-out predictions
//	predict.go       Prediction, and the contribution of each view to it
//	screen.go        whether a view has information by itself
//	slice.go         draws of z by elliptical slices
//	selection.go     draws of the included views
//	chain.go         what each sweep of these draws leaves
//	redraw.go        z given the amplitudes
//	near.go          normal densities near the posterior of each set of views
//	carry.go         switches that carry the other amplitudes and the noise along
//	simulate.go      problems drawn from the prior of the selection
//	shares.go        what views contribute to the predicted function
//	settle.go        draws until the shares no longer move
//	halves.go        how shares vary from one set of samples to another
package amplitude
