// Package gram holds what is made of the Gram matrix S = Σ_m K_m·K_mᵀ of the kernels: its memory,
// and the Cholesky factor of I + υ·Λ^-½·S·Λ^-½, which gives the covariance of sample weights.
//
//	triangles.go  Triangles: S and a factor in the memory of one matrix
//	factor.go     Factor: the Cholesky factor
package gram
