package slab_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// Of twelve columns two make the target. The fit says for each column how probable it is that the
// column is in the model.
func ExampleRegression() {
	const N, M = 40, 12
	source := rand.New(rand.NewPCG(1, 2))
	x, y := la.NewMatrix[float64](N, M), make([]float64, N)
	for n := range N {
		for m := range M {
			x.Set(n, m, 2*source.Float64()-1)
		}
		y[n] = 2*x.At(n, 1) - x.At(n, 8) + 0.4*(source.Float64()-0.5)
	}
	fit, err := slab.Regression{Seed: 1}.Fit(context.Background(), x, y)
	if err != nil {
		panic(err)
	}
	mean, _, inclusion := fit.Posterior.Weights()
	for m, p := range inclusion {
		if p > 0.5 {
			fmt.Printf("column %d: weight %.1f\n", m, mean[m])
		}
	}
	p, err := fit.Posterior.Predict(x.Slice(0, 1, 0, M))
	if err != nil {
		panic(err)
	}
	fmt.Println("off by less than 3 standard deviations:", math.Abs(p.Mean[0]-y[0]) < 3*math.Sqrt(p.Variance[0]))
	// Output:
	// column 1: weight 1.9
	// column 8: weight -1.0
	// off by less than 3 standard deviations: true
}

// A table of rank one with missing entries: the fit fills them in, each with a variance.
func ExampleFactors() {
	const N, Q = 20, 6
	entry := func(n, q int) float64 { return math.Sin(float64(n)) * math.Cos(float64(2*q)) }
	y := la.NewMatrix[float64](N, Q)
	for n := range N {
		for q := range Q {
			y.Set(n, q, entry(n, q)+0.01*math.Sin(float64(13*n+7*q)))
			if (n+2*q)%5 == 0 {
				y.Set(n, q, math.NaN())
			}
		}
	}
	observed, err := slab.ObserveMatrix(y)
	if err != nil {
		panic(err)
	}
	fit, err := slab.Factors{Count: 2, Seed: 1}.Fit(context.Background(), observed)
	if err != nil {
		panic(err)
	}
	mean, _ := fit.Posterior.Entry(5, 0)
	fmt.Println("missing entry off by less than 0.1:", math.Abs(mean-entry(5, 0)) < 0.1)
	// Output:
	// missing entry off by less than 0.1: true
}
