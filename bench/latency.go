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
	name     string
	features int
	predict  func(point []float64) error
}

// curve is a problem of n samples of one feature, uniform in [−2, 2), with a smooth target and
// two classes.
type curve struct {
	x, y   []float64
	labels []bool
}

func newCurve(n int) (c curve) {
	noise := random(1, n, 1).Data
	for i := range n {
		x := 4*float64(i)/float64(n) - 2
		y := math.Sin(3*x) + 0.3*noise[i]
		c.x, c.y, c.labels = append(c.x, x), append(c.y, y), append(c.labels, y > 0)
	}
	return c
}

// views returns RBF kernels of widths 2^first, …, 2^last.
func (c curve) views(first, last int) (views []mkl.View) {
	x := mkl.Column(c.x)
	for w := first; w <= last; w++ {
		views = append(views, mkl.View{X: x, Kernel: mkl.RBF{Width: math.Ldexp(1, w)}})
	}
	return views
}

// fitted returns a model whose fit may have ended before it was finished.
func fitted[M any](m *M, err error) *M {
	if m == nil {
		must(err)
	}
	return m
}

// single makes the predictor of means and variances a latency.
func single[P interface {
	Predict(x ...[]float64) (mean, variance float64, err error)
}](p P, err error) func([]float64) error {
	must(err)
	x := make([][]float64, 1) // a call by P would allocate the slice of its arguments
	return func(point []float64) error {
		x[0] = point
		_, _, err := p.Predict(x...)
		return err
	}
}

// class is single for a predictor of two classes.
func class[P interface {
	Predict(probability []float64, x ...[]float64) (bool, error)
}](p P, err error) func([]float64) error {
	must(err)
	probability, x := make([]float64, 2), make([][]float64, 1)
	return func(point []float64) error {
		x[0] = point
		_, err := p.Predict(probability, x...)
		return err
	}
}

// newLatency fits 133 samples of one feature with 21 RBF kernels, the size of the
// Motorcycle problem, with prior on the precisions of sample and kernel weights.
func newLatency(name string, prior mkl.Gamma) latency {
	c := newCurve(133)
	m := fitted(mkl.Regression{Lambda: prior, Omega: prior}.Fit(context.Background(), c.views(-10, 10), c.y))
	// Healing keeps every sample: this is the pruned form.
	return latency{name, 1, single(m.Predictor(mkl.PredictorOptions{Unhealed: true}))}
}

// predictors are the models whose single predictions are timed. Each fits a curve of n samples
// with seven RBF kernels, and n is at most as large as most says.
var predictors = []struct {
	name string
	most int
	fit  func(c curve, views []mkl.View) func(point []float64) error
}{
	{"regression, healed", 1000, func(c curve, views []mkl.View) func([]float64) error {
		return single(fitRegression(c, views).Predictor(mkl.PredictorOptions{}))
	}},
	{"regression, healed, mean only", 1000, func(c curve, views []mkl.View) func([]float64) error {
		return single(fitRegression(c, views).Predictor(mkl.PredictorOptions{MeanOnly: true}))
	}},
	{"Gaussian process", 1000, func(c curve, views []mkl.View) func([]float64) error {
		return single(fitProcess(c, views).Predictor(mkl.ProcessPredictorOptions{}))
	}},
	{"Gaussian process, mean only", 1000, func(c curve, views []mkl.View) func([]float64) error {
		return single(fitProcess(c, views).Predictor(mkl.ProcessPredictorOptions{MeanOnly: true}))
	}},
	{"Gaussian process, exact", 1000, func(c curve, views []mkl.View) func([]float64) error {
		return single(fitProcess(c, views).Predictor(mkl.ProcessPredictorOptions{Exact: true}))
	}},
	{"Gaussian process by landmarks", 10000, func(c curve, views []mkl.View) func([]float64) error {
		m := fitted(mkl.LandmarkGP{}.Fit(context.Background(), views, c.y))
		return single(m.Predictor(mkl.ProcessPredictorOptions{}))
	}},
	{"Gaussian process classifier", 1000, func(c curve, views []mkl.View) func([]float64) error {
		m := fitted(mkl.MultiGPClassifier[bool]{Fitting: tenSweeps}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.ProcessPredictorOptions{}))
	}},
	{"probit classifier", 1000, func(c curve, views []mkl.View) func([]float64) error {
		m := fitted(mkl.ProbitClassifier[bool]{Fitting: tenSweeps}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.ProbitPredictorOptions{}))
	}},
	{"probit classifier, 100 draws", 1000, func(c curve, views []mkl.View) func([]float64) error {
		m := fitted(mkl.ProbitClassifier[bool]{
			Inference: mkl.Gibbs, Draws: mkl.GibbsDraws{Chains: 1, Draws: 100, Thin: 1, BurnIn: 20},
		}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.ProbitPredictorOptions{}))
	}},
}

var tenSweeps = mkl.Fitting{MaxSweeps: 10}

func fitRegression(c curve, views []mkl.View) *mkl.RegressionModel {
	return fitted(mkl.Regression{Fitting: mkl.Fitting{MaxSweeps: 20}}.Fit(context.Background(), views, c.y))
}

func fitProcess(c curve, views []mkl.View) *mkl.MultiGPModel {
	return fitted(mkl.MultiGP{Fitting: tenSweeps}.Fit(context.Background(), views, c.y))
}

// newSlabLatency fits the spike-and-slab model to n samples of fifty features, of which two
// matter.
func newSlabLatency(name string, n int) latency {
	const features = 50
	x := random(n, features, 1)
	y := random(1, n, 2).Data
	for i := range y {
		y[i] = 0.3*y[i] + x.At(i, 0) - x.At(i, 1)
	}
	p, err := fitted(mkl.SpikeSlab{}.Fit(context.Background(), x, y)).Predictor(0)
	must(err)
	return latency{name, features, func(point []float64) error {
		_, _, err := p.Predict(point)
		return err
	}}
}

func (l latency) measure(rounds int, budget time.Duration) []result {
	point := make([]float64, l.features)
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
