// Package vecchia infers a Gaussian process of very many rows without landmarks. Widths, amplitudes
// and noise come from the likelihood of each row given its nearest earlier rows. Predictions come from
// the nearest rows, from all rows by conjugate gradients, or from a weighted mean of both; rows that
// are held out decide.
//
// Covariances are sums of one or two parts with a width for each feature, a linear part and noise.
// Several families are learned and compared. docs/theory/vecchia.md derives the equations.
//
// # Files
//
//	fit.go          Process: settings, the order of a fit
//	candidate.go    one covariance: what it predicts for the rows held out
//	mix.go          the weighted mean of the candidates' predictions
//	stack.go        weights of least mean square error
//	forecast.go     how long the parts of a fit take, by counts of operations
//	posterior.go    Posterior: predictions, state
//
//	covariance.go   Covariance and its parts
//	parameters.go   logarithms of parameters, their bounds and starts
//	samples.go      rows with targets
//
//	likelihood.go   sums of log densities given neighbours
//	conditional.go  one such density and its gradient
//	learn.go        stochastic gradient ascent
//	local.go        predictions from neighbours
//
//	solve.go        conjugate gradients on all rows
//	tiles.go        products with a covariance that is never stored
//	vif.go          the preconditioner: landmarks and neighbours
//	pivots.go       the choice of its landmarks
package vecchia
