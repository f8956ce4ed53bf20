// Package effects infers a linear mixed model with random intercepts: each of several columns divides the samples into levels, and each
// level has an effect of its own,
//
//	y_n = φ_nᵀβ + Σ_c u_{c,l_c(n)} + e_n,   u_{c,l} ~ N(0, τ_c²),   e_n ~ N(0, σ²).
//
// The features φ stand for the other inputs, so that the effects of the levels are not what these inputs explain. The variances maximise
// the evidence. [Process.FitOdds] is the same for log odds of targets that are 0 and 1. The work grows with samples times columns, for any number
// of levels. docs/theory/levels.md derives the equations.
//
// # Files
//
//	fit.go    Process: sums over samples, the variances
//	solve.go  conjugate gradients on the normal equations
//	folds.go  effects without the samples of a fold
//	odds.go   log odds, by Newton's method
//	likelihood.go  observations with a likelihood, by expectation propagation
package effects
