package gonum

import (
	"testing"

	"gonum.org/v1/gonum/blas/testblas"
)

// TestBLAS runs gonum's own suite for the BLAS routines that la replaces. The matrices of the suite are
// small, so la is used for all sizes.
func TestBLAS(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, b BLAS)
	}{
		{"Daxpy", func(t *testing.T, b BLAS) { testblas.DaxpyTest(t, b) }},
		{"Ddot", func(t *testing.T, b BLAS) { testblas.DdotTest(t, b) }},
		{"Dgemv", func(t *testing.T, b BLAS) { testblas.DgemvTest(t, b) }},
		{"Dsymv", func(t *testing.T, b BLAS) { testblas.DsymvTest(t, b) }},
		{"Dtrsv", func(t *testing.T, b BLAS) { testblas.DtrsvTest(t, b) }},
		{"Dtxmv", func(t *testing.T, b BLAS) { testblas.DtxmvTest(t, b) }},
		{"Dgemm", func(t *testing.T, b BLAS) { testblas.TestDgemm(t, b) }},
		{"Dsymm", func(t *testing.T, b BLAS) { testblas.DsymmTest(t, b) }},
		{"Dsyrk", func(t *testing.T, b BLAS) { testblas.DsyrkTest(t, b) }},
		{"Dsyr2k", func(t *testing.T, b BLAS) { testblas.Dsyr2kTest(t, b) }},
		{"Dtrmm", func(t *testing.T, b BLAS) { testblas.DtrmmTest(t, b) }},
		{"Dtrsm", func(t *testing.T, b BLAS) { testblas.DtrsmTest(t, b) }},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, BLAS{eager: true}) })
	}
}
