package kbmf_test

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/kbmf"
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

// Twelve drugs and ten targets are known by one number each, and a third of the table of their
// affinities is missing. The fit fills in a missing value, and predicts a drug that is not in the
// table from its kernel with the drugs that are.
func ExampleRegression() {
	drugs, targets := make([]float64, 12), make([]float64, 10)
	for i := range drugs {
		drugs[i] = float64(i) / 3
	}
	for j := range targets {
		targets[j] = float64(j) / 3
	}
	affinity := func(u, v float64) float64 { return math.Sin(u) * math.Cos(v) }
	y := la.NewMatrix[float64](len(drugs), len(targets))
	for i, u := range drugs {
		for j, v := range targets {
			y.Set(i, j, affinity(u, v))
			if (i+j)%3 == 0 {
				y.Set(i, j, math.NaN())
			}
		}
	}
	rows, err := vi.NewDense(gaussian(drugs, drugs))
	if err != nil {
		panic(err)
	}
	columns, err := vi.NewDense(gaussian(targets, targets))
	if err != nil {
		panic(err)
	}
	fit, err := kbmf.Regression{Components: 2}.Fit(context.Background(), rows, columns, y)
	if err != nil {
		panic(err)
	}

	known := fit.Posterior.Predict(fit.Posterior.Known(false, nil), fit.Posterior.Known(true, nil))
	fmt.Println("missing value off by less than 0.15:", math.Abs(known.Mean.At(3, 3)-affinity(drugs[3], targets[3])) < 0.15)

	fresh, err := vi.NewDense(gaussian(drugs, []float64{1.5}))
	if err != nil {
		panic(err)
	}
	drug, err := fit.Posterior.New(false, fresh, vi.PredictOptions{})
	if err != nil {
		panic(err)
	}
	p := fit.Posterior.Predict(drug, fit.Posterior.Known(true, []int{0}))
	off := math.Abs(p.Mean.At(0, 0) - affinity(1.5, targets[0]))
	fmt.Println("new drug within 3 standard deviations:", off < 3*math.Sqrt(p.Variance.At(0, 0)))
	// Output:
	// missing value off by less than 0.15: true
	// new drug within 3 standard deviations: true
}
