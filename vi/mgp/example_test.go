package mgp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
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

// The target is a slow wave with noise. Of a slow and a fast Gaussian process the fit gives nearly
// all the variance to the slow one, and it learns the noise. Far from the samples the standard
// deviation of the function grows.
func ExampleEvidence() {
	const N = 50
	source := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, N), make([]float64, N)
	for i := range N {
		x[i] = float64(i) / 10
		y[i] = math.Sin(x[i]) + 0.3*(source.Float64()-0.5) // of standard deviation 0.3/√12 = 0.087
	}
	train, err := vi.NewDense(gaussian(x, x, 1.5), gaussian(x, x, 0.1))
	if err != nil {
		panic(err)
	}
	fit, err := mgp.Evidence{}.Fit(context.Background(), train, y)
	if err != nil {
		panic(err)
	}
	a, _ := fit.Posterior.KernelWeights()
	fmt.Println("the slow process has most of the variance:", a[0] > 20*a[1])

	near, far := 2.05, 9.0
	at := []float64{near, far}
	fresh, err := vi.NewDense(gaussian(x, at, 1.5), gaussian(x, at, 0.1))
	if err != nil {
		panic(err)
	}
	self := la.MatrixOf(2, 2, []float64{1, 1, 1, 1}) // each kernel of each new sample with itself
	p, err := fit.Posterior.Predict(fresh, self, vi.PredictOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println("off by less than 0.1:", math.Abs(p.Mean[0]-math.Sin(near)) < 0.1)
	fmt.Println("noise between 0.06 and 0.12:", within(math.Sqrt(p.Variance[0]-p.Function[0]), 0.06, 0.12))
	fmt.Println("far away the function is uncertain:", p.Function[1] > 100*p.Function[0])
	// Output:
	// the slow process has most of the variance: true
	// off by less than 0.1: true
	// noise between 0.06 and 0.12: true
	// far away the function is uncertain: true
}

func within(v, low, high float64) bool { return low < v && v < high }
