// Package damoulas2010 repeats the experiments of T. Damoulas and M. Girolami,
// "Combining information with a Bayesian multi-class multi-kernel pattern recognition
// machine", 2010, by the multinomial probit machine.
//
//	toy.go          section 1.4.1: two artificial sets, sampled and approximated
//	uci.go          UCI data sets
//	mfeat.go        Tables 1.4 to 1.6: handwritten numerals
//	proteinfold.go  Tables 1.7 to 1.9: protein folds
//	homology.go     Table 1.10: remote homologues of protein families
//	probit.go       what they share: flags, the paper's rule to stop, kernels, figures
package damoulas2010
