package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
	"github.com/bmkl/bmkl/mkl"
)

// compileCmd is mkl compile.
type compileCmd struct {
	Model  string `arg:"" help:"Model file; - is standard input."`
	Output string `short:"o" required:"" placeholder:"FILE" help:"Model file to write; - is standard output."`

	Tolerance float64 `placeholder:"SHARE" help:"Largest error of a prediction: of a mean or a standard deviation in units of the predictive standard deviation, or of a probability (0.01)."`
	Mean      bool    `help:"Also prepare predictors of the mean alone, for models of numbers."`
}

// Run prepares the predictors and writes them with the model.
func (c *compileCmd) Run(e *console.Env) error {
	if !(c.Tolerance >= 0) {
		return console.Inputf("-tolerance is %v: it is at least 0", c.Tolerance)
	}
	if err := e.CheckOutput(c.Output, false); err != nil {
		return err
	}
	m, err := saved.Load(e, c.Model)
	if err != nil {
		return err
	}
	targets := 1
	t, numbers := m.Model.(mkl.TargetModel)
	switch {
	case numbers:
		targets = t.Targets()
	case c.Mean:
		return console.Inputf("%s: -mean is for models of numbers", c.Model)
	}
	var options []mkl.PredictorOptions
	for o := range targets {
		opt := mkl.PredictorOptions{Target: o, Tolerance: c.Tolerance}
		options = append(options, opt)
		if opt.MeanOnly = true; c.Mean {
			options = append(options, opt)
		}
	}
	start := time.Now()
	size := &counter{}
	if err := e.Create(c.Output, func(w io.Writer) error {
		size.Writer = w
		return mkl.Compile(size, m.Model, options...)
	}); err != nil {
		if text, ok := strings.CutPrefix(err.Error(), "mkl: Compile: "); ok {
			return console.Inputf("%s: %s: its file needs no preparation", c.Model, text)
		}
		return err
	}
	if c.Output != console.Standard {
		fmt.Fprintf(e.Stdout, "%s: %s, prepared in %.1f s, %.1f MB\n", c.Output, console.Plural(len(options), "predictor"), time.Since(start).Seconds(), float64(size.n)/1e6)
	}
	return nil
}

// counter counts what is written.
type counter struct {
	io.Writer
	n int64
}

// Write writes p.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}
