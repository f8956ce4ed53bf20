package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/la"
)

// Posteriors that are made without a fit are of the kernels that they say: factors of a kernel
// and of its square, and the weights of least error.
func TestMadePosteriors(t *testing.T) {
	const n, penalty = 60, 0.1
	s := newSamples(n)
	for m := range s.gamma {
		k, square := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
		s.kernel(m, k)
		la.Gemm(nil, la.NoTrans, la.NoTrans, 1, k, k, 0, square)
		v := s.factor(m, la.NewMatrix[float64](n, n))
		gotK, gotSquare := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
		la.Gemm(nil, la.Transpose, la.NoTrans, 1, v, v, 0, gotK)
		half := squared(&la.Workspace{}, v)
		la.Gemm(nil, la.Transpose, la.NoTrans, 1, half, half, 0, gotSquare)
		assert.InDeltaSlice(t, k.Data, gotK.Data, 1e-12, "kernel %d", m)
		assert.InDeltaSlice(t, square.Data, gotSquare.Data, 1e-9, "kernel %d", m)

		a := ridge(k, s.y, penalty)
		rest := append([]float64(nil), s.y...)
		la.Gemv(nil, la.NoTrans, -1, k, a.Data, 1, rest)
		slope := append([]float64(nil), a.Data...)
		la.Gemv(nil, la.Transpose, -1, k, rest, penalty, slope)
		assert.InDeltaSlice(t, make([]float64, n), slope, 1e-5, "kernel %d", m)
	}
}
