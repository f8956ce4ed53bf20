package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// learnDefaults fits an estimator of default settings, no kernel named, to n samples, and prints what it
// took and what it is worth.
func learnDefaults(ctx context.Context, estimator string, seed uint64, n, landmarks, workers int, noise float64) error {
	x := la.NewMatrix[float64](n, inputs)
	y, _ := generator{src: rand.New(rand.NewPCG(seed, 2)), noise: noise}.draw(x)
	var m interface {
		Predict(x ...mkl.Features) (mean, variance []float64, err error)
	}
	var err error
	t, f, views := start(), mkl.Fitting{Workers: workers}, []mkl.View{{X: x}}
	switch estimator {
	case "landmarks":
		m, err = mkl.LandmarkGP{Fitting: f, Landmarks: &mkl.Landmarks{Count: landmarks}}.Fit(ctx, views, y)
	case "auto":
		m, err = mkl.Auto{Fitting: f}.Fit(ctx, views, y)
	default:
		return fmt.Errorf("-default %s is neither landmarks nor auto", estimator)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%v: %v; peak memory %.0f MB\n", m, t, cputime.PeakMegabytes())
	test := la.NewMatrix[float64](testSamples, inputs)
	target, truth := generator{src: rand.New(rand.NewPCG(seed, 3)), noise: noise}.draw(test)
	mean, variance, err := m.Predict(test)
	if err != nil {
		return err
	}
	fmt.Println(errorsOf(mean, variance, truth, target))
	return nil
}

// errorsOf says how far predictions are from the function and from the targets, and how many of the
// targets are inside their 95 % intervals.
func errorsOf(mean, variance, f, target []float64) string {
	var ofF, ofTarget, held float64
	for i, v := range mean {
		ofF += (v - f[i]) * (v - f[i])
		ofTarget += (v - target[i]) * (v - target[i])
		if math.Abs(target[i]-v) < 1.959964*math.Sqrt(variance[i]) {
			held++
		}
	}
	n := float64(len(mean))
	return fmt.Sprintf("RMSE of f %.4f, of y %.4f, 95%% intervals hold %.3f", math.Sqrt(ofF/n), math.Sqrt(ofTarget/n), held/n)
}
