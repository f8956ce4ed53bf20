package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// batch is a row of the time of a call that predicts means and variances, or probabilities, of
// many samples: user time of one thread.
type batch struct {
	name    string
	predict func()
}

// mostBatch is what a call may take, in seconds.
const mostBatch = 0.5

// batches are the models whose predictions of many samples are timed, by what each fits to ten
// features. A prediction costs what samples and kernels make it, not what the sweeps were.
var batches = []struct {
	name string
	fit  func(views []mkl.View, y []float64, labels []bool, f fitting) func(x mkl.Features)
}{
	{"regression, healed", func(views []mkl.View, y []float64, _ []bool, f fitting) func(mkl.Features) {
		return batchOf[mkl.Prediction](fitted(mkl.Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, y)).PredictTargets, mkl.PredictOptions{})
	}},
	{"regression", func(views []mkl.View, y []float64, _ []bool, f fitting) func(mkl.Features) {
		return batchOf[mkl.Prediction](fitted(mkl.Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, y)).PredictTargets, mkl.PredictOptions{Unhealed: true})
	}},
	{"classifier", func(views []mkl.View, _ []float64, labels []bool, f fitting) func(mkl.Features) {
		return batchOf[mkl.ClassPrediction[bool]](fitted(mkl.Classifier[bool]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, labels)).PredictClasses, mkl.PredictOptions{})
	}},
	{"Gaussian process", func(views []mkl.View, y []float64, _ []bool, f fitting) func(mkl.Features) {
		return batchOf[mkl.Prediction](fitted(mkl.MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(context.Background(), views, y)).PredictTargets, mkl.PredictOptions{})
	}},
	{"Gaussian process classifier", func(views []mkl.View, _ []float64, labels []bool, f fitting) func(mkl.Features) {
		return batchOf[mkl.ClassPrediction[bool]](fitted(mkl.MultiGPClassifier[bool]{Fitting: f.Fitting, Climb: f.climb()}.Fit(context.Background(), views, labels)).PredictClasses, mkl.PredictOptions{})
	}},
	{"probit classifier", func(views []mkl.View, _ []float64, labels []bool, f fitting) func(mkl.Features) {
		return batchOf[mkl.ClassPrediction[bool]](fitted(mkl.ProbitClassifier[bool]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, labels)).PredictClasses, mkl.PredictOptions{})
	}},
}

// batchOf makes a model's predictions of many samples a batch.
func batchOf[P any](predict func(context.Context, mkl.PredictOptions, ...mkl.Features) (*P, error), opt mkl.PredictOptions) func(mkl.Features) {
	opt.Workers = 1
	return func(x mkl.Features) {
		_, err := predict(context.Background(), opt, x)
		must(err)
	}
}

// batchRows returns the rows of predictions of many samples.
func batchRows() (rows list) {
	const n, kernels, many = 2000, 10, 1000
	for _, b := range batches {
		name := fmt.Sprintf("predictions of %d samples/%s, %d samples, %d kernels", many, b.name, n, kernels)
		rows.add(name, func() measurer {
			x := random(n, 10, 1)
			noise := random(1, n, 2).Data
			y, labels := make([]float64, n), make([]bool, n)
			for i := range y {
				y[i] = math.Sin(2*x.At(i, 0)) + 0.5*x.At(i, 1) + 0.1*noise[i]
				labels[i] = y[i] > 0
			}
			var views []mkl.View
			for w := range kernels {
				views = append(views, mkl.View{X: x, Kernel: kernel.RBF{Width: math.Ldexp(0.5, w)}})
			}
			predict := b.fit(views, y, labels, fitting{Ascent: mkl.Ascent{MaxSweeps: 2}})
			test := random(many, 10, 3)
			return batch{name, func() { predict(test) }}
		})
	}
	return rows
}

func (b batch) measure(rounds int, _ time.Duration) []result {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.predict() // which may factor what later calls take
	var times []float64
	for range rounds {
		start := seconds()
		b.predict()
		times = append(times, seconds()-start)
	}
	t := quartiles(times)
	return []result{{
		Name: b.name, Unit: "s", Value: t.median, Spread: (t.q3 - t.q1) / t.median,
		Peer: "at most", PeerValue: mostBatch, Ratio: mostBatch / t.median, Goal: 1,
	}}
}
