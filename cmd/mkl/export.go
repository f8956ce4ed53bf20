package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/onnx"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// exportCmd is mkl export.
type exportCmd struct {
	Model  string `arg:"" help:"Model file; - is standard input."`
	Output string `short:"o" required:"" placeholder:"FILE" help:"ONNX file to write; - is standard output."`
	Single bool   `help:"Make all numbers float32, not float64: half as large, faster on many machines, and predictions to about five digits."`
}

// Run writes the graph, and says what its inputs and results are.
func (c *exportCmd) Run(e *console.Env) error {
	if err := e.CheckOutput(c.Output, false); err != nil {
		return err
	}
	var file bytes.Buffer
	m, err := loadTo(e, c.Model, &file)
	if err != nil {
		return err
	}
	if err := m.refuseTables("mkl export"); err != nil {
		return err
	}
	var inputs []string
	var features [][]string
	for i, in := range m.Inputs() {
		v := m.notes.Views[i]
		if v.Strings != nil {
			return console.Inputf("%s: view %s: kernels of strings cannot be exported: there are no operators that compare strings", c.Model, quoted(v.Name))
		}
		columns := plan.Features(v.plan())
		if v.Plan == nil && in.Cols != len(columns) {
			columns = plan.Features(v.numbers(in.Cols))
		}
		features = append(features, columns)
		inputs = append(inputs, fmt.Sprintf("x%d (%s)", i+1, console.Plural(in.Cols, "column")))
	}
	notes := [][2]string{{"bmkl.kind", m.Kind()}}
	for _, n := range []struct {
		key   string
		value any
	}{{"bmkl.features", features}, {"bmkl.targets", m.notes.Targets}} {
		text, err := json.Marshal(n.value)
		if err != nil {
			return err
		}
		notes = append(notes, [2]string{n.key, string(text)})
	}
	graph, err := onnx.Export(file.Bytes(), onnx.Options{Float32: c.Single, Notes: notes})
	if err != nil {
		return console.Inputf("%s: %s", c.Model, strings.TrimPrefix(err.Error(), "onnx: "))
	}
	if err := e.Create(c.Output, func(w io.Writer) error {
		_, err := w.Write(graph)
		return err
	}); err != nil {
		return err
	}
	for _, v := range m.notes.Views {
		for _, line := range (plan.View{Columns: v.plan()}).Lines() {
			fmt.Fprintln(e.Stderr, "the graph takes features: "+line)
		}
	}
	results := "mean, sd"
	switch m.est.form {
	case classes:
		results = "probability, label"
	case labels:
		results = "probability"
	}
	if c.Output != console.Standard {
		fmt.Fprintf(e.Stdout, "%s: %s to %s, for the %s\n", c.Output, strings.Join(inputs, ", "), results, console.Plural(len(m.notes.Targets), "target")+" "+strings.Join(m.notes.Targets, ", "))
	}
	return nil
}
