package main

import (
	"fmt"
	"io"
	"math"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/motorcycle"
	"github.com/bmkl/bmkl/cmd/mkl/internal/picture"
	"github.com/bmkl/bmkl/mkl"
)

// demoCmd is mkl demo.
type demoCmd struct {
	Output  string `short:"o" default:"motorcycle.svg" placeholder:"FILE" help:"Picture to write, .svg or .png (${default})."`
	Seed    uint64 `default:"1" help:"Seed of the random start."`
	JSON    bool   `name:"json" help:"Print JSON."`
	Workers int    `help:"Most goroutines at work; 0 means one for each processor."`
}

// Run fits the Motorcycle data, draws the fit and reports.
func (c *demoCmd) Run(e *console.Env) error {
	format, err := picture.Format(c.Output)
	if err != nil {
		return console.Input(err)
	}
	if err := atomicfile.Check(c.Output); err != nil {
		return console.Input(err)
	}
	times, accel, err := motorcycle.Data()
	if err != nil {
		return err
	}
	x := mkl.Column(times)
	var views []mkl.View
	for p := motorcycle.MinExponent; p <= motorcycle.MaxExponent; p++ {
		views = append(views, mkl.View{X: x, Kernel: mkl.RBF{Width: math.Ldexp(1, p)}, Standardize: true})
	}
	bar := &sweepBar{env: e, quiet: c.JSON}
	r := mkl.Regression{
		Fitting: mkl.Fitting{Seed: c.Seed, Workers: c.Workers, Progress: bar.show}, Lambda: sparsePrior, Omega: sparsePrior,
	}
	m, err := bar.finish(asModel(r.Fit(e.Ctx, views, accel)))
	if err != nil {
		return err
	}
	rep := newReport(estimatorOf(m.Kind()), m, &notes{Task: taskRegression, Targets: []string{"accel"}})
	rep.samples = true // they are few, and the picture shows them
	for i, s := range rep.Targets[0].Active {
		rep.Targets[0].Active[i].At = []string{fmt.Sprintf("%.1f ms", times[s.Sample]), fmt.Sprintf("%.1f g", accel[s.Sample])}
	}
	if err := drawMotorcycle(e, c.Output, format, m.(*mkl.RegressionModel), times, accel); err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, rep)
	}
	fmt.Fprintf(e.Stdout, "Motorcycle: head acceleration (g) at %d times (ms) after impact; 21 Gaussian kernels\n", len(times))
	fmt.Fprintf(e.Stdout, "on the standardised time, sparse priors on kernels and samples\n\n")
	if err := rep.print(e.Stdout); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "\npicture: %s\n", c.Output)
	return nil
}

// drawMotorcycle draws the data, the samples in use filled, and the prediction with its
// central 95 % interval.
func drawMotorcycle(e *console.Env, path, format string, model *mkl.RegressionModel, times, accel []float64) error {
	const points = 400
	lo, hi := 0.0, 60.0
	c := picture.Curve{
		Title: "Motorcycle", XLabel: "time after impact (ms)", YLabel: "head acceleration (g)",
		X: times, Y: accel, Filled: make([]bool, len(times)),
	}
	for _, s := range model.ActiveSamples(0) {
		c.Filled[s.Sample] = true
	}
	for i := range points + 1 {
		c.At = append(c.At, lo+(hi-lo)*float64(i)/points)
	}
	mean, variance, err := model.Predict(mkl.Column(c.At))
	if err != nil {
		return err
	}
	c.Mean = mean
	z := measure.Quantile(0.95)
	for i, v := range variance {
		half := float64(z * math.Sqrt(v))
		c.Lower, c.Upper = append(c.Lower, mean[i]-half), append(c.Upper, mean[i]+half)
	}
	return atomicfile.Write(e.Ctx, path, func(w io.Writer) error { return c.Write(w, format) })
}
