package probit_test

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// gaussian returns the kernel exp(−(a_i − b_j)²/2) between two lists of numbers.
func gaussian(a, b []float64) la.Matrix[float64] {
	k := la.NewMatrix[float64](len(a), len(b))
	for i, u := range a {
		for j, v := range b {
			k.Set(i, j, math.Exp(-0.5*(u-v)*(u-v)))
		}
	}
	return k
}

// Three classes follow from the first of two features. The weights of the kernels are on the
// simplex, and the fit puts nearly all weight on the first kernel.
func ExampleModel() {
	const N = 45
	first, second, class := make([]float64, N), make([]float64, N), make([]int, N)
	for i := range N {
		class[i] = i / 15
		first[i], second[i] = float64(i)/5, math.Sin(float64(11*i))
	}
	train, err := vi.NewDense(gaussian(first, first), gaussian(second, second))
	if err != nil {
		panic(err)
	}
	fit, err := probit.Model{Rule: probit.RuleWSum}.Fit(context.Background(), train, class)
	if err != nil {
		panic(err)
	}
	beta, _ := fit.Posterior.KernelWeights()
	fmt.Println("the first kernel has most of the weight:", beta[0] > 0.8)

	at := []float64{1, 4.5, 8}
	fresh, err := vi.NewDense(gaussian(first, at), gaussian(second, []float64{0, 0, 0}))
	if err != nil {
		panic(err)
	}
	p, err := fit.Posterior.Predict(fresh, vi.PredictOptions{})
	if err != nil {
		panic(err)
	}
	for t, x := range at {
		row := p.Probability.Row(t)
		best := 0
		for c, v := range row {
			if v > row[best] {
				best = c
			}
		}
		fmt.Printf("at %.1f class %d is most probable\n", x, best)
	}
	// Output:
	// the first kernel has most of the weight: true
	// at 1.0 class 0 is most probable
	// at 4.5 class 1 is most probable
	// at 8.0 class 2 is most probable
}
