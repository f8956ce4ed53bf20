package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/onnx"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
	"github.com/bmkl/bmkl/internal/encode"
)

// exportCmd is mkl export.
type exportCmd struct {
	Model  string `arg:"" help:"Model file; - is standard input."`
	Output string `short:"o" required:"" placeholder:"FILE" help:"ONNX file to write; - is standard output."`
	Single bool   `help:"Make all numbers float32, not float64: half as large, faster on many machines, and predictions to about five digits."`

	Interval float64   `default:"0.95" above:"0" below:"1" help:"Probability of the predictive interval of a time until an event (${default})."`
	Times    []float64 `placeholder:"TIMES" help:"Times for a model of times until an event, with commas between: the graph computes the probability that the event is later than each time."`
}

// usualInterval is the default of -interval.
const usualInterval = 0.95

// note is what a graph says of itself, under a name.
type note struct {
	key   string
	value any
}

// Run writes the graph, and says what its inputs and results are.
func (c *exportCmd) Run(e *console.Env) error {
	if err := e.CheckOutput(c.Output, false); err != nil {
		return err
	}
	var file bytes.Buffer
	m, err := saved.LoadTo(e, c.Model, &file)
	if err != nil {
		return err
	}
	if err := m.RefuseTables("mkl export"); err != nil {
		return err
	}
	if b := m.Notes.Beside; b != nil && b.Offset != "" {
		return console.Inputf("%s: the fit had offsets in the column %q, and a graph has no input for offsets: mkl predict adds them", c.Model, b.Offset)
	}
	if c.Interval != usualInterval && m.Estimator.Form != dataset.Times {
		return console.Inputf("-interval is for models of times until an event, and this is one of %s", m.Notes.Task)
	}
	if err := saved.CheckTimes(m, c.Times); err != nil {
		return err
	}
	var inputs []string
	var features [][]string
	for i, in := range m.Inputs() {
		v := m.Notes.Views[i]
		if v.Strings != nil {
			return console.Inputf("%s: view %s: kernels of strings cannot be exported: there are no operators that compare strings", c.Model, notes.Quoted(v.Name))
		}
		columns := encode.Features(v.Features())
		if v.Plan == nil && in.Cols != len(columns) {
			columns = encode.Features(v.Numbers(in.Cols))
		}
		features = append(features, columns)
		inputs = append(inputs, fmt.Sprintf("x%d (%s)", i+1, console.Plural(in.Cols, "column")))
	}
	keep := [][2]string{{"bmkl.kind", m.Kind()}}
	about := []note{{"bmkl.features", features}, {"bmkl.targets", m.Notes.Targets}}
	if c.Times != nil {
		about = append(about, note{"bmkl.times", c.Times})
	}
	for _, n := range about {
		text, err := json.Marshal(n.value)
		if err != nil {
			return err
		}
		keep = append(keep, [2]string{n.key, string(text)})
	}
	graph, err := onnx.Export(file.Bytes(), onnx.Options{Float32: c.Single, Notes: keep, Interval: c.Interval, Times: c.Times})
	if err != nil {
		return console.Inputf("%s: %s", c.Model, strings.TrimPrefix(err.Error(), "onnx: "))
	}
	if err := e.Create(c.Output, func(w io.Writer) error {
		_, err := w.Write(graph)
		return err
	}); err != nil {
		return err
	}
	for _, v := range m.Notes.Views {
		for _, line := range (plan.View{Columns: v.Features()}).Lines() {
			fmt.Fprintln(e.Stderr, "the graph takes features: "+line)
		}
	}
	if b := m.Notes.Beside; b != nil && b.Exposure != "" {
		fmt.Fprintf(e.Stderr, "mean and sd are of counts with the exposure 1: a graph has no input for the column %q\n", b.Exposure)
	}
	results := "mean, sd"
	switch m.Estimator.Form {
	case dataset.Classes:
		results = "probability, label"
	case dataset.Labels:
		results = "probability"
	case dataset.Times:
		if results = "median, lower, upper, risk"; c.Times != nil {
			results += ", p_after"
		}
	}
	if c.Output != console.Standard {
		fmt.Fprintf(e.Stdout, "%s: %s to %s, for the %s\n", c.Output, strings.Join(inputs, ", "), results, console.Plural(len(m.Notes.Targets), "target")+" "+strings.Join(m.Notes.Targets, ", "))
	}
	return nil
}
