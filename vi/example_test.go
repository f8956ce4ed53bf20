package vi_test

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Two kernel matrices between three basis points and two samples. Models of the families take them
// as one value and read them through its methods, here as a weighted sum.
func ExampleNewDense() {
	linear := la.MatrixOf(3, 2, []float64{1, 2, 2, 4, 3, 6})
	constant := la.MatrixOf(3, 2, []float64{1, 1, 1, 1, 1, 1})
	kernels, err := vi.NewDense(linear, constant)
	if err != nil {
		panic(err)
	}
	P, D, N := kernels.Dims()
	fmt.Println(P, "kernels,", D, "basis points,", N, "samples")

	sum := la.NewMatrix[float64](D, N)
	kernels.Sum(&la.Workspace{}, []float64{0.5, 10}, sum)
	fmt.Println(sum.Row(0), sum.Row(1), sum.Row(2))

	_, err = vi.NewDense(linear, la.NewMatrix[float64](2, 2))
	fmt.Println(err)
	// Output:
	// 2 kernels, 3 basis points, 2 samples
	// [10.5 11] [11 12] [11.5 13]
	// vi: kernel 1: 2×2 where kernel 0 is 3×2
}
