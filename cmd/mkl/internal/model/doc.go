// Package model is the model that a command line asks for. [Choose] finds the estimator for -task and -model,
// refuses flags that mean nothing to it, checks the others, and returns a [Request]: an estimator with its settings.
// [Request.Fitter] makes the estimator of package mkl.
//
// Each -model has a file: the struct of the flags that it has alone, a function that checks its settings and
// returns its estimators, and its rows in the table of estimators. A flag is declared once, in a struct, with its
// help, its values, its default and its limits. The rows name the flags that several models take.
package model
