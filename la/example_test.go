package la_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// A product of two matrices, C = A·B.
func ExampleGemm() {
	a := la.MatrixOf(2, 3, []float64{
		1, 2, 3,
		4, 5, 6,
	})
	b := la.MatrixOf(3, 2, []float64{
		1, 0,
		0, 1,
		1, 1,
	})
	c := la.NewMatrix[float64](2, 2)
	la.Gemm(nil, la.NoTrans, la.NoTrans, 1, a, b, 0, c)
	fmt.Println(c.Row(0), c.Row(1))

	// C = 2·Aᵀ·A. Syrk computes the lower triangle.
	g := la.NewMatrix[float64](3, 3)
	la.Syrk(nil, la.Transpose, 2, a, 0, g)
	g.MirrorLower()
	fmt.Println(g.Row(0), g.Row(1), g.Row(2))
	// Output:
	// [4 5] [10 11]
	// [34 44 54] [44 58 72] [54 72 90]
}

// The solution of A·x = b for a symmetric positive definite A, its log determinant and its inverse.
// Only the lower triangle of A is read.
func ExampleCholesky() {
	a := la.MatrixOf(2, 2, []float64{
		4, 0,
		2, 3,
	})
	l := a.Clone()
	if err := la.Cholesky(nil, l); err != nil {
		fmt.Println(err)
		return
	}
	x := []float64{2, 5} // b
	la.CholeskySolveVec(l, x)
	fmt.Printf("x = %.2f, log|A| = %.4f\n", x, la.LogDet(l))

	la.CholeskyInv(nil, l) // overwrites L
	l.MirrorLower()
	fmt.Printf("A⁻¹ = %.3f %.3f\n", l.Row(0), l.Row(1))
	// Output:
	// x = [-0.50 2.00], log|A| = 2.0794
	// A⁻¹ = [0.375 -0.250] [-0.250 0.500]
}

// The error of a factorisation names the pivot.
func ExamplePivotError() {
	a := la.MatrixOf(2, 2, []float64{
		1, 2,
		2, 1,
	})
	err := la.Cholesky(nil, a)
	fmt.Println(err)
	var pivot *la.PivotError
	if errors.As(err, &pivot) && pivot.Indefinite() {
		fmt.Println("row", pivot.Index)
	}
	// Output:
	// la: matrix is not positive definite: pivot 1 is -3
	// row 1
}

// The rank of a positive semidefinite matrix, and the rows that span it.
func ExampleCholeskyPivoted() {
	a := la.MatrixOf(3, 3, []float64{
		1, 0, 0,
		2, 4, 0, // twice row 0
		0, 0, 9,
	})
	perm := make([]int, 3)
	rank, err := la.CholeskyPivoted(nil, a, 1e-12, perm)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("rank", rank, "pivots", perm[:rank])
	// Output: rank 2 pivots [2 1]
}

// A workspace keeps scratch memory from call to call: the loop allocates nothing after its first turn.
// It also limits the number of goroutines.
func ExampleWorkspace() {
	w := &la.Workspace{Workers: 2}
	a, c := la.NewMatrix[float64](100, 100), la.NewMatrix[float64](100, 100)
	for step := range 3 {
		a.Fill(float64(step))
		la.Gemm(w, la.NoTrans, la.Transpose, 1, a, a, 0, c)
		fmt.Println(c.At(0, 0))
	}
	// Output:
	// 0
	// 100
	// 400
}

// Squared distances between the rows of two matrices.
func ExampleSqDist() {
	x := la.MatrixOf(2, 2, []float64{
		0, 0,
		3, 4,
	})
	y := la.MatrixOf(1, 2, []float64{0, 4})
	d := la.NewMatrix[float64](2, 1)
	la.SqDist(nil, x, y, d)
	fmt.Println(d.Data)
	// Output: [16 9]
}

// The kernel matrix of three points with width 2: exp(−‖x − y‖²/(2·2²)).
func ExampleRBF() {
	x := la.MatrixOf(3, 1, []float64{0, 2, 4})
	k := la.NewMatrix[float64](3, 3)
	const width = 2.0
	la.RBF(nil, 1/(2*width*width), x, x, k)
	for i := range k.Rows {
		fmt.Printf("%.3f\n", k.Row(i))
	}
	// Output:
	// [1.000 0.607 0.135]
	// [0.607 1.000 0.607]
	// [0.135 0.607 1.000]
}

// A part of a matrix shares its elements.
func ExampleMatrix_Slice() {
	m := la.NewMatrix[float64](3, 4)
	m.Slice(1, 3, 1, 3).Fill(7)
	for i := range m.Rows {
		fmt.Println(m.Row(i))
	}
	// Output:
	// [0 0 0 0]
	// [0 7 7 0]
	// [0 7 7 0]
}

// A matrix in float32 with vectors in float64 takes half the memory. The arithmetic is in float64.
func ExampleGemvMixed() {
	a := la.MatrixOf(2, 2, []float32{
		1, 2,
		3, 4,
	})
	y := make([]float64, 2)
	la.GemvMixed(nil, la.NoTrans, 1, a, []float64{1, 0.1}, 0, y)
	fmt.Println(y)
	// Output: [1.2 3.4]
}

// The instruction set is chosen when the program starts. The environment variable BMKL_KERNEL names
// another one, for example BMKL_KERNEL=generic. Results have the same bits with all of them.
func ExampleInstructionSet() {
	name, err := la.InstructionSet()
	if err != nil {
		fmt.Println(err) // BMKL_KERNEL names a set that this machine lacks
		return
	}
	fmt.Println(slices.Contains([]string{"avx512", "avx2", "neon", "generic"}, name))
	// Output: true
}
