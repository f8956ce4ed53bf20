package main

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/bmkl/bmkl/la"
)

// A peer is another library that does what la does, on row-major matrices and the lower
// triangles of symmetric ones.
type peer interface {
	name() string
	gemm(a, b, c la.Matrix[float64])           // C = A·B
	gemm32(a, b, c la.Matrix[float32])         // C = A·B
	syrk(a, c la.Matrix[float64])              // lower triangle of A·Aᵀ
	cholesky(a la.Matrix[float64])             // in place
	inverse(l la.Matrix[float64])              // of A from its Cholesky factor, in place
	gemv(a la.Matrix[float64], x, y []float64) // y = A·x
	symv(a la.Matrix[float64], x, y []float64) // y = A·x, reading one triangle of A
}

type gonumPeer struct{}

var gonum = gonumPeer{}

func general(m la.Matrix[float64]) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

func symmetric(m la.Matrix[float64]) blas64.Symmetric {
	return blas64.Symmetric{N: m.Rows, Stride: m.Stride, Data: m.Data, Uplo: blas.Lower}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func (gonumPeer) name() string { return "gonum" }

func (gonumPeer) gemm(a, b, c la.Matrix[float64]) {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(a), general(b), 0, general(c))
}

func (gonumPeer) gemm32(a, b, c la.Matrix[float32]) {
	g := func(m la.Matrix[float32]) blas32.General {
		return blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, g(a), g(b), 0, g(c))
}

func (gonumPeer) syrk(a, c la.Matrix[float64]) {
	blas64.Syrk(blas.NoTrans, 1, general(a), 0, symmetric(c))
}

func (gonumPeer) cholesky(a la.Matrix[float64]) {
	if _, ok := lapack64.Potrf(symmetric(a)); !ok {
		panic("gonum: Potrf: not positive definite")
	}
}

func (gonumPeer) inverse(l la.Matrix[float64]) {
	t := blas64.Triangular{N: l.Rows, Stride: l.Stride, Data: l.Data, Uplo: blas.Lower, Diag: blas.NonUnit}
	if _, ok := lapack64.Potri(t); !ok {
		panic("gonum: Potri: singular")
	}
}

func (gonumPeer) gemv(a la.Matrix[float64], x, y []float64) {
	blas64.Gemv(blas.NoTrans, 1, general(a), vector(x), 0, vector(y))
}

func (gonumPeer) symv(a la.Matrix[float64], x, y []float64) {
	blas64.Symv(1, symmetric(a), vector(x), 0, vector(y))
}
