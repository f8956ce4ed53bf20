// Package conjugate is what conjugate models are made of: the factors of a mean-field
// posterior that have closed forms, each with its update and its own terms of the
// lower bound. They are shared by the families of models and not meant for users.
//
//	gammas.go    Gammas: independent gamma factors with a common prior
//	gaussian.go  Gaussian: a Gaussian factor of small dimension
//	priors.go    default and check of gamma priors
//	sums.go      sums of numbers
package conjugate
