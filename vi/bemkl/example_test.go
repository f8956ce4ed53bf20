package bemkl_test

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// gaussian returns the kernel exp(−(a_i − b_j)²/(2·width²)) between two lists of numbers.
func gaussian(a, b []float64, width float64) la.Matrix[float64] {
	k := la.NewMatrix[float64](len(a), len(b))
	for i, u := range a {
		for j, v := range b {
			d := (u - v) / width
			k.Set(i, j, math.Exp(-0.5*d*d))
		}
	}
	return k
}

// The target depends on the first feature alone. The fit learns which of two kernels, one for each
// feature, it follows from, and predicts a new sample with a standard deviation.
func ExampleRegression() {
	const N = 40
	first, second, y := make([]float64, N), make([]float64, N), la.NewMatrix[float64](1, N)
	for i := range N {
		first[i], second[i] = float64(i)/10, math.Cos(float64(7*i))
		y.Set(0, i, math.Sin(2*first[i])+0.05*math.Sin(float64(31*i)))
	}
	train, err := vi.NewDense(gaussian(first, first, 0.5), gaussian(second, second, 0.5))
	if err != nil {
		panic(err)
	}
	fit, err := bemkl.Regression{Seed: 1}.Fit(context.Background(), train, y)
	if err != nil {
		panic(err)
	}
	fmt.Println("ended because:", fit.Record.Reason)
	e, _ := fit.Posterior.KernelWeights()
	fmt.Println("first kernel outweighs the second:", math.Abs(e[0]) > 20*math.Abs(e[1]))

	// Kernels of new samples: basis points (the training samples) by new samples.
	fresh, err := vi.NewDense(gaussian(first, []float64{1.23}, 0.5), gaussian(second, []float64{0}, 0.5))
	if err != nil {
		panic(err)
	}
	p, err := fit.Posterior.Predict(fresh, vi.PredictOptions{})
	if err != nil {
		panic(err)
	}
	off := math.Abs(p.Mean.At(0, 0) - math.Sin(2*1.23))
	fmt.Printf("off by less than 0.1: %v, within 3 standard deviations: %v\n", off < 0.1, off < 3*math.Sqrt(p.Variance.At(0, 0)))
	// Output:
	// ended because: converged
	// first kernel outweighs the second: true
	// off by less than 0.1: true, within 3 standard deviations: true
}

// Labels are −1 and +1, a row for each output. The prediction is the probability of +1.
func ExampleClassification() {
	const N = 30
	x, labels := make([]float64, N), la.NewMatrix[float64](1, N)
	for i := range N {
		x[i] = float64(i) / 5
		labels.Set(0, i, math.Copysign(1, math.Sin(x[i])))
	}
	train, err := vi.NewDense(gaussian(x, x, 1))
	if err != nil {
		panic(err)
	}
	fit, err := bemkl.Classification{Seed: 1}.Fit(context.Background(), train, labels)
	if err != nil {
		panic(err)
	}
	fresh, err := vi.NewDense(gaussian(x, []float64{1.5, 4.5}, 1))
	if err != nil {
		panic(err)
	}
	p, err := fit.Posterior.Predict(fresh, vi.PredictOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println("at 1.5 likely +1:", p.Probability.At(0, 0) > 0.9)
	fmt.Println("at 4.5 likely −1:", p.Probability.At(0, 1) < 0.1)
	// Output:
	// at 1.5 likely +1: true
	// at 4.5 likely −1: true
}
