package gonum

import gonumblas "gonum.org/v1/gonum/blas/gonum"

// BLAS is gonum's BLAS in double and single precision, with la's routines where they are faster. The
// import of this package makes it the BLAS of gonum. The zero value is ready.
type BLAS struct {
	gonumblas.Implementation

	eager bool // use la for small matrices too, in tests
}

//go:generate go run ./internal/single -o blas_single.go blas_double.go
