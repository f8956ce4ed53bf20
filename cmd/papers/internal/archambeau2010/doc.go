// Package archambeau2010 repeats the experiments of C. Archambeau and F. Bach,
// "Multiple Gaussian process models", 2010.
//
//	toy.go         Table 1 and Figure 2: regression on ten Laplacian kernels
//	normmkl.go     what the toy is compared with: MKL with fixed norms
//	flowers102.go  Figure 1: each class of Flowers102 against the rest
package archambeau2010
