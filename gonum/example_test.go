package gonum_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/bmkl/bmkl/gonum"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// A program that uses gonum imports this package once, as
//
//	import _ "github.com/bmkl/bmkl/gonum"
//
// and its code stays the same. This one solves a symmetric positive definite system.
func Example() {
	a := mat.NewSymDense(2, []float64{4, 2, 2, 3})
	b := mat.NewVecDense(2, []float64{2, 5})

	var factor mat.Cholesky
	if !factor.Factorize(a) {
		fmt.Println("A is not positive definite")
		return
	}
	var x mat.VecDense
	if err := factor.SolveVecTo(&x, b); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", x.RawVector().Data)
	// Output: [-0.50 2.00]
}

// BLAS can also be used directly, without the import's effect on the whole program.
func ExampleBLAS() {
	a := []float64{1, 2, 3, 4} // 2×2, row by row
	x := []float64{1, -1}
	y := make([]float64, 2)
	gonum.BLAS{}.Dgemv(blas.NoTrans, 2, 2, 1, a, 2, x, 1, 0, y, 1)
	fmt.Println(y)
	// Output: [-1 -1]
}

// After the import, blas64 and everything that is built on it use la.
func ExampleBLAS_blas64() {
	a := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 3, 4}}
	c := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 4)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, a, a, 0, c)
	fmt.Println(c.Data)
	// Output: [5 11 11 25]
}

// Targets returns a target for each column of a matrix.
func ExampleTargets() {
	y := mat.NewDense(3, 2, []float64{
		1, 10,
		2, 20,
		3, 30,
	})
	fmt.Println(gonum.Targets(y))
	// Output: [[1 2 3] [10 20 30]]
}

// A regression on matrices of gonum: two kernels of the same features.
func ExampleViews() {
	x := mat.NewDense(30, 1, nil)
	y := mat.NewVecDense(30, nil)
	for i := range 30 {
		x.Set(i, 0, float64(i)/5)
		y.SetVec(i, math.Sin(float64(i)/5))
	}
	views := gonum.Views(x, kernel.RBF{Width: 1}, kernel.Linear{})
	model, err := mkl.Regression{}.Fit(context.Background(), views, gonum.Target(y))
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, _, err := model.Predict(gonum.Features(mat.NewDense(1, 1, []float64{math.Pi / 2})))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("sin(π/2) ≈ %.1f\n", mean[0])
	// Output: sin(π/2) ≈ 1.0
}
