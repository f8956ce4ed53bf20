// Package onnx makes an ONNX graph of a model file: standard operators that compute from
// features what the model predicts, for programs that are not written in Go.
package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Options say what the graph is like.
type Options struct {
	// Float32 makes all numbers float32, which more programs and machines take. The graph is half
	// as large and predicts with five digits or so; variances far smaller than the signal's lose more.
	Float32 bool

	// Notes are metadata of the file: what a program should know of inputs and outputs.
	Notes [][2]string

	// Interval is the probability of the interval of a time. 0 means 0.95.
	Interval float64

	// Times are times that the probability of a later event is computed for, if the model is one of times.
	Times []float64
}

// kinds are the models that can be exported, by the kind that their files name.
var kinds = map[string]func(*exporter) error{
	"regression":         (*exporter).regression,
	"classifier":         (*exporter).scores,
	"multilabel":         (*exporter).scores,
	"multigp":            (*exporter).processes,
	"multigp-classifier": (*exporter).processes,
	"counts":             (*exporter).counts,
	"ordinal":            (*exporter).grades,
	"survival":           (*exporter).times,
	"landmarks":          (*exporter).landmarksOnly,
	"pool":               (*exporter).pool,
	"pool-classifier":    (*exporter).pool,
}

// Export returns the ONNX file of a model file that package mkl has read without an error. Its inputs
// x1, x2, … are the model's inputs, matrices with a row for each sample. Its results are mean and sd, noise included, with a column
// for each target, of counts with the exposure 1; or probability, with a column for each class or label, and the most probable label of
// classes; or, of a time until an event, the median, the ends lower and upper of the interval, the risk, and p_after with a column for each of
// the times. An error names what cannot be exported.
func Export(file []byte, opt Options) ([]byte, error) {
	f, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	export, ok := kinds[f.kind]
	if !ok {
		return nil, fmt.Errorf("onnx: a model of the kind %s cannot be exported: one of the kinds %s can", f.kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	real := float64s
	if opt.Float32 {
		real = float32s
	}
	if opt.Interval == 0 {
		opt.Interval = 0.95
	}
	e := &exporter{graph: newGraph(real), modelFile: f, options: opt}
	if err := export(e); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	return e.encode(opt.Notes)
}
