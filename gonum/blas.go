package gonum

import gonumblas "gonum.org/v1/gonum/blas/gonum"

// BLAS is gonum's BLAS with la's routines for what they are faster at, in double and single
// precision. The zero value is ready.
type BLAS struct {
	gonumblas.Implementation

	eager bool // la has small matrices too: for tests
}

//go:generate go run ./internal/single -o blas_single.go blas_double.go
