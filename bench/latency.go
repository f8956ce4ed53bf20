package main

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/bmkl/bmkl/mkl"
)

// latency is a row of the times of single predictions by a predictor.
type latency struct {
	name    string
	predict func(point []float64) error
}

// newLatency fits 133 samples of one feature with 21 RBF kernels, the size of the
// Motorcycle problem, with prior on the precisions of sample and kernel weights.
func newLatency(name string, prior mkl.Gamma) latency {
	const n = 133
	noise := random(1, n, 1).Data
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = 4*float64(i)/n - 2
		y[i] = math.Sin(3*x[i]) + 0.3*noise[i]
	}
	var views []mkl.View
	col := mkl.Column(x)
	for w := -10; w <= 10; w++ {
		views = append(views, mkl.View{X: col, Kernel: mkl.RBF{Width: math.Ldexp(1, w)}})
	}
	m, err := mkl.Regression{Lambda: prior, Omega: prior}.Fit(context.Background(), views, y)
	must(err)
	p, err := m.Predictor(mkl.PredictorOptions{Unhealed: true}) // healing keeps every sample: this is the pruned form
	must(err)
	return latency{name, func(point []float64) error {
		_, _, err := p.Predict(point)
		return err
	}}
}

// newProcessLatency fits a Gaussian process to n samples of one feature with seven RBF
// kernels.
func newProcessLatency(name string, n int, opt mkl.ProcessPredictorOptions) latency {
	noise := random(1, n, 1).Data
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = 4*float64(i)/float64(n) - 2
		y[i] = math.Sin(3*x[i]) + 0.3*noise[i]
	}
	var views []mkl.View
	col := mkl.Column(x)
	for w := -3; w <= 3; w++ {
		views = append(views, mkl.View{X: col, Kernel: mkl.RBF{Width: math.Ldexp(1, w)}})
	}
	m, err := mkl.MultiGP{Fitting: mkl.Fitting{MaxSweeps: 10}}.Fit(context.Background(), views, y)
	must(err)
	p, err := m.Predictor(opt)
	must(err)
	return latency{name, func(point []float64) error {
		_, _, err := p.Predict(point)
		return err
	}}
}

func (l latency) measure(rounds int, budget time.Duration) []result {
	point := []float64{0}
	predict := func() {
		must(l.predict(point))
	}
	allocs := testing.AllocsPerRun(1000, predict)
	var times []float64
	for end := time.Now().Add(time.Duration(rounds) * budget); time.Now().Before(end); {
		point[0] = math.Mod(point[0]+0.37, 2)
		t := time.Now()
		predict()
		times = append(times, time.Since(t).Seconds()*1e6)
	}
	slices.Sort(times)
	at := func(p float64) float64 { return times[int(p*float64(len(times)-1))] }
	return []result{
		{Name: l.name + ", p50", Unit: "µs", Value: at(.5)},
		{Name: l.name + ", p99", Unit: "µs", Value: at(.99)},
		{Name: l.name + ", p99.9", Unit: "µs", Value: at(.999)},
		{Name: l.name + ", allocations", Unit: "a call", Value: allocs},
	}
}
