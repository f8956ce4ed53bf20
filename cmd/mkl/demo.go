//go:build !js

package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/motorcycle"
	"github.com/bmkl/bmkl/cmd/internal/picture"
	"github.com/bmkl/bmkl/cmd/mkl/internal/fitting"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// demoCmd is mkl demo.
type demoCmd struct {
	Output string `short:"o" default:"motorcycle.svg" placeholder:"FILE" help:"Picture to write, .svg or .png (${default})."`
	Seed   uint64 `default:"1" help:"Seed of the random start."`

	console.JSONFlag    `embed:""`
	console.WorkersFlag `embed:""`
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
		views = append(views, mkl.View{X: x, Kernel: kernel.RBF{Width: math.Ldexp(1, p)}, Standardize: true})
	}
	m, err := fitting.Run(e, c.JSON, 0, func(ctx context.Context, progress func(mkl.Progress)) (mkl.Model, error) {
		f := mkl.Fitting{Seed: c.Seed, Workers: c.Workers, Progress: progress}
		return model.AsModel(mkl.Regression{Fitting: f, Lambda: model.SparsePrior, Omega: model.SparsePrior}.Fit(ctx, views, accel))
	})
	if err != nil {
		return err
	}
	rep := report.New(model.Of(m.Kind()), m, &notes.Notes{Task: model.Regression, Targets: []string{"accel"}})
	rep.ListSamples = true // they are few, and the picture shows them
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
	if err := rep.Print(e.Stdout); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "\npicture: %s\n", c.Output)
	return nil
}

// drawMotorcycle draws the data, the samples in use filled, and the prediction with its
// central 95 % interval.
func drawMotorcycle(e *console.Env, path, format string, of *mkl.RegressionModel, times, accel []float64) error {
	const points = 400
	lo, hi := 0.0, 60.0
	c := picture.Curve{
		Title: "Motorcycle", XLabel: "time after impact (ms)", YLabel: "head acceleration (g)",
		X: times, Y: accel, Filled: make([]bool, len(times)),
	}
	for _, s := range of.ActiveSamples(0) {
		c.Filled[s.Sample] = true
	}
	for i := range points + 1 {
		c.At = append(c.At, lo+(hi-lo)*float64(i)/points)
	}
	mean, variance, err := of.Predict(mkl.Column(c.At))
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
