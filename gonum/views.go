package gonum

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Features returns the N×D matrix m, a row for each sample, in the form that package mkl accepts.
//
// If m has a method RawMatrix, as [mat.Dense] does, the result shares the elements of m. They must not
// change while a fit or a prediction uses them. Other matrices, such as transposed ones, are copied.
//
// Views of different matrices need different names: see Input of [mkl.View].
func Features(m mat.Matrix) mkl.Features {
	if r, ok := m.(mat.RawMatrixer); ok {
		raw := r.RawMatrix()
		return mkl.Features{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data}
	}
	dense := mat.DenseCopyOf(m).RawMatrix()
	return mkl.Features{Rows: dense.Rows, Cols: dense.Cols, Stride: dense.Stride, Data: dense.Data}
}

// Views returns one view of the N×D matrix m for each kernel. All views share one matrix; see
// [Features].
//
// To use a kernel matrix or a matrix of distances, for example a [mat.SymDense], pass it as m with the
// kernel [kernel.Precomputed] or [kernel.FromDistance].
func Views(m mat.Matrix, kernels ...kernel.Kernel) []mkl.View {
	x := Features(m)
	views := make([]mkl.View, len(kernels))
	for i, k := range kernels {
		views[i] = mkl.View{X: x, Kernel: k}
	}
	return views
}

// Target returns the N elements of v, a value for each sample, in the form that package mkl accepts. If
// v is a [mat.VecDense] with increment 1, the result shares its elements; see [Features]. Other vectors
// are copied.
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

// Targets returns copies of the L columns of the N×L matrix y, each a target with a value for each
// sample.
func Targets(y mat.Matrix) [][]float64 {
	_, n := y.Dims()
	targets := make([][]float64, n)
	for j := range targets {
		targets[j] = mat.Col(nil, j, y)
	}
	return targets
}
