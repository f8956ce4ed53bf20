// Package gonen2012 repeats the experiments of M. Gönen, "A Bayesian multiple kernel
// learning framework for single and multiple output regression", ECAI 2012, and runs
// its models, and the classifier of M. Gönen, "Bayesian efficient multiple kernel
// learning", ICML 2012, on other data of many classes. Beside these it runs the pairs of
// M. Gönen, "Predicting drug–target interactions from chemical and genomic kernels using
// Bayesian matrix factorization", Bioinformatics 28 (2012), on the data of that paper.
//
//	motorcycle.go   section 5.1: the kernels and samples that sparse priors keep
//	flowers.go      section 5.2: Flowers17 and Flowers102 from the authors' distances
//	derived.go      Flowers17 from word counts of our own
//	proteinfold.go  protein folds
//	drugtargets.go  interactions of drugs and targets, held out by cross-validation
//	classes.go      what the experiments with classes share: flags, outcomes, the table
//	learners.go     the models that they fit
package gonen2012
