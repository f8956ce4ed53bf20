package gonum

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bmkl/bmkl/mkl"
)

// Features returns a matrix with a row for each sample as package mkl takes it. A
// [mat.Dense], or whatever else tells its rows by RawMatrix, is not copied: the result shares
// its elements, which must not change while a fit or a prediction uses them. Others are copied;
// a transposed matrix is one of them.
//
// Views that share one matrix should share one call: mkl computes their distances together
// if their elements are the same memory.
func Features(m mat.Matrix) mkl.Features {
	if r, ok := m.(mat.RawMatrixer); ok {
		raw := r.RawMatrix()
		return mkl.Features{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data}
	}
	dense := mat.DenseCopyOf(m).RawMatrix()
	return mkl.Features{Rows: dense.Rows, Cols: dense.Cols, Stride: dense.Stride, Data: dense.Data}
}

// Views returns a view of m for each kernel, all of them of one matrix; see [Features].
// Kernel matrices and distances that are given are features of [mkl.Precomputed] and
// [mkl.FromDistance]: a [mat.SymDense] is one such.
func Views(m mat.Matrix, kernels ...mkl.Kernel) []mkl.View {
	x := Features(m)
	views := make([]mkl.View, len(kernels))
	for i, k := range kernels {
		views[i] = mkl.View{X: x, Kernel: k}
	}
	return views
}

// Target returns a target with a value for each sample as package mkl takes it. A
// [mat.VecDense] with its elements one behind the other is not copied; see [Features].
func Target(v mat.Vector) []float64 {
	if r, ok := v.(mat.RawVectorer); ok {
		if raw := r.RawVector(); raw.Inc == 1 {
			return raw.Data[:raw.N:raw.N]
		}
	}
	values := make([]float64, v.Len())
	for i := range values {
		values[i] = v.AtVec(i)
	}
	return values
}

// Targets returns the columns of y, each a target with a value for each sample. They are
// copies.
func Targets(y mat.Matrix) [][]float64 {
	_, n := y.Dims()
	targets := make([][]float64, n)
	for j := range targets {
		targets[j] = mat.Col(nil, j, y)
	}
	return targets
}
