package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
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
		views = append(views, mkl.View{X: x, Kernel: kernel.RBF{Width: math.Ldexp(1, w)}})
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

// labels makes the predictor of the probabilities of labels a latency.
func labels[P interface {
	Predict(probability []float64, x ...[]float64) error
}](p P, err error) func([]float64) error {
	must(err)
	probability, x := make([]float64, 2), make([][]float64, 1)
	return func(point []float64) error {
		x[0] = point
		return p.Predict(probability, x...)
	}
}

// tasks makes the predictor of the means and variances of two targets a latency.
func tasks[P interface {
	Predict(mean, variance []float64, x ...[]float64) error
}](p P, err error) func([]float64) error {
	must(err)
	mean, variance, x := make([]float64, 2), make([]float64, 2), make([][]float64, 1)
	return func(point []float64) error {
		x[0] = point
		return p.Predict(mean, variance, x...)
	}
}

// predictors are the models whose single predictions are timed. Each fits a curve, or two that
// are alike.
var predictors = []struct {
	name  string
	large bool // also of 10 000 samples
	fit   func(c curve, views []mkl.View, f fitting) func(point []float64) error
}{
	{"regression, healed", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		return single(fitRegression(c, views, f).Predictor(mkl.PredictorOptions{}))
	}},
	{"regression, healed, mean only", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		return single(fitRegression(c, views, f).Predictor(mkl.PredictorOptions{MeanOnly: true}))
	}},
	{"regression by landmarks", true, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.Regression{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: &mkl.Landmarks{Count: 200}}.Fit(context.Background(), views, c.y))
		return single(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"shared regression", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.SharedRegression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, c.y, c.y))
		return single(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"task regression", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.TaskRegression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, c.y, c.y))
		return single(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"classifier", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.Classifier[bool]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"two labels", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.MultiLabel{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, mkl.LabelsOf(c.labels), mkl.LabelsOf(c.labels)))
		return labels(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"Gaussian process", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		return single(fitProcess(c, views, f).Predictor(mkl.PredictorOptions{}))
	}},
	{"Gaussian process, mean only", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		return single(fitProcess(c, views, f).Predictor(mkl.PredictorOptions{MeanOnly: true}))
	}},
	{"Gaussian process, exact", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		return single(fitProcess(c, views, f).Predictor(mkl.PredictorOptions{Exact: true}))
	}},
	{"Gaussian process by landmarks", true, func(c curve, views []mkl.View, _ fitting) func([]float64) error {
		m := fitted(mkl.LandmarkGP{}.Fit(context.Background(), views, c.y))
		return single(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"Gaussian process classifier", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.MultiGPClassifier[bool]{Fitting: f.Fitting, Climb: f.climb()}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"Gaussian process classifier by landmarks", true, func(c curve, views []mkl.View, _ fitting) func([]float64) error {
		m := fitted(mkl.LandmarkClassifier[bool]{}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"multi-task", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.MultiTask{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, c.y, c.y))
		return tasks(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"probit classifier", false, func(c curve, views []mkl.View, f fitting) func([]float64) error {
		m := fitted(mkl.ProbitClassifier[bool]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.PredictorOptions{}))
	}},
	{"probit classifier, 100 draws", false, func(c curve, views []mkl.View, _ fitting) func([]float64) error {
		m := fitted(mkl.ProbitSampler[bool]{GibbsDraws: mkl.GibbsDraws{Chains: 1, Draws: 100, Thin: 1, BurnIn: 20}}.Fit(context.Background(), views, c.labels))
		return class(m.Predictor(mkl.PredictorOptions{}))
	}},
}

func fitRegression(c curve, views []mkl.View, f fitting) *mkl.RegressionModel {
	return fitted(mkl.Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), views, c.y))
}

func fitProcess(c curve, views []mkl.View, f fitting) *mkl.MultiGPModel {
	return fitted(mkl.MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(context.Background(), views, c.y))
}

// predictorRows returns the rows of single predictions by models of 133 to 10 000 samples. For dense
// models of 10 000, whose fits take hours, projectionRows has rows.
func predictorRows() (rows list) {
	for _, n := range []int{133, 1000, 10000} {
		for _, p := range predictors {
			if n > 1000 && !p.large {
				continue
			}
			name := fmt.Sprintf("prediction/%s, %d samples, 7 kernels", p.name, n)
			rows.add(name, func() measurer {
				c := newCurve(n)
				return latency{name, 1, p.fit(c, c.views(-3, 3), fitting{Ascent: mkl.Ascent{MaxSweeps: 20}})}
			})
		}
		name := fmt.Sprintf("prediction/spike and slab, %d samples, 50 features", n)
		rows.add(name, func() measurer { return newSlabLatency(name, n) })
	}
	return rows
}

// newSlabLatency fits the spike-and-slab model to n samples of fifty features; two of them
// matter.
func newSlabLatency(name string, n int) latency {
	const features = 50
	x := random(n, features, 1)
	y := random(1, n, 2).Data
	for i := range y {
		y[i] = 0.3*y[i] + x.At(i, 0) - x.At(i, 1)
	}
	p, err := fitted(mkl.SpikeSlab{}.Fit(context.Background(), x, y)).Predictor(mkl.PredictorOptions{})
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
	return percentiles(l.name, timed(rounds, budget, func() {
		point[0] = math.Mod(point[0]+0.37, 2)
		predict()
	}), allocs)
}

// timed returns the sorted times of calls, in µs, for so many rounds of so long.
func timed(rounds int, budget time.Duration, call func()) (times []float64) {
	for end := time.Now().Add(time.Duration(rounds) * budget); time.Now().Before(end); {
		t := time.Now()
		call()
		times = append(times, time.Since(t).Seconds()*1e6)
	}
	slices.Sort(times)
	return times
}

// percentiles returns the results of sorted times.
func percentiles(name string, times []float64, allocs float64) []result {
	at := func(p float64) float64 { return times[int(p*float64(len(times)-1))] }
	return []result{
		{Name: name + ", p50", Unit: "µs", Value: at(.5)},
		{Name: name + ", p99", Unit: "µs", Value: at(.99)},
		{Name: name + ", p99.9", Unit: "µs", Value: at(.999)},
		{Name: name + ", allocations", Unit: "a call", Value: allocs},
	}
}

// fitting are the settings of the fits that are timed.
type fitting struct {
	mkl.Fitting
	mkl.Ascent
}

// climb returns the settings of sweeps as a fit by the evidence has them.
func (f fitting) climb() mkl.Climb { return mkl.Climb{MinRise: f.Tolerance, MaxSteps: f.MaxSweeps} }
