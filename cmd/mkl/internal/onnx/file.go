package onnx

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// modelFile is a model file as docs/theory/model-file.md describes it. The caller has had it
// read and checked by package mkl. The reader reports a deviation that it meets, and does not look for others.
type modelFile struct {
	kind    string
	model   []byte // the settings, as JSON
	tensors map[string]tensor
}

type tensor struct {
	shape []int
	data  []float64
}

func readFile(file []byte) (*modelFile, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("%d bytes are no model file", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, fmt.Errorf("the header has %d bytes of %d", n, len(file))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &header); err != nil {
		return nil, err
	}
	var metadata struct{ Kind, Model string }
	if err := json.Unmarshal(header["__metadata__"], &metadata); err != nil {
		return nil, err
	}
	delete(header, "__metadata__")
	f := &modelFile{kind: metadata.Kind, model: []byte(metadata.Model), tensors: map[string]tensor{}}
	elements := file[8+n:]
	for name, text := range header {
		var entry struct {
			DType   string
			Shape   []int
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(text, &entry); err != nil {
			return nil, err
		}
		if entry.DType != "F64" {
			continue // the prepared values of a compiled file
		}
		begin, end := entry.Offsets[0], entry.Offsets[1]
		if begin < 0 || end < begin || end > len(elements) {
			return nil, fmt.Errorf("tensor %q: its elements are not in the file", name)
		}
		t := tensor{shape: entry.Shape, data: make([]float64, (end-begin)/8)}
		for i := range t.data {
			t.data[i] = math.Float64frombits(binary.LittleEndian.Uint64(elements[begin+8*i:]))
		}
		f.tensors[name] = t
	}
	return f, nil
}

// has reports whether there is a tensor.
func (f *modelFile) has(name string) bool {
	_, ok := f.tensors[name]
	return ok
}

// take returns the elements of a tensor.
func (f *modelFile) take(name string) []float64 { return f.tensors[name].data }

// matrix returns a tensor of so many columns as a matrix.
func (f *modelFile) matrix(name string, cols int) la.Matrix[float64] {
	x := f.take(name)
	return la.MatrixOf(len(x)/cols, cols, x)
}

// lower returns the matrix of order n whose lower triangle a tensor holds row by row.
func (f *modelFile) lower(name string, n int) la.Matrix[float64] {
	x, m := f.take(name), la.NewMatrix[float64](n, n)
	for i := range n {
		copy(m.Row(i)[:i+1], x[i*(i+1)/2:])
	}
	return m
}

// The settings that a prediction needs.
type (
	designJSON struct {
		Basis  int
		Inputs []struct {
			Cols        int
			Given, Gaps bool
		}
		Views []viewJSON
	}
	viewJSON struct {
		Kernel                                kernelJSON
		Input                                 int
		Columns                               []int
		Standardize, Ranks, Center, Normalize bool
		TotalMean                             float64 `json:"total_mean"`
	}
	kernelJSON struct {
		Kind                 string
		Width, Scale, Offset float64
		Widths               []float64
		Manhattan, Overlap   bool
		Degree, Order        int

		Smoothness, Alpha, Power, Norm float64
		Period, Decay                  float64
		Additive                       bool
		Low, High                      []float64
	}
	gammaJSON   struct{ Shape, Scale float64 }
	weightsJSON struct {
		designJSON
		Priors  struct{ Lambda gammaJSON }
		Margin  float64
		SigmaG  float64 `json:"sigma_g"`
		Classes []json.RawMessage
	}
	processesJSON struct {
		designJSON
		Processes []struct {
			Tau    float64
			Sites  bool
			Labels bool
			Noise  *struct{ Level float64 }
			Shape  []float64 // the level and the parameters of the likelihood of counts and grades

			Likelihood string // of counts and grades
			Widths     [][]float64
		}
		Draws []struct {
			Tau    float64
			Widths [][]float64
		}
		Classes   []json.RawMessage
		Sharpness float64
		Levels    *levelsJSON // of a model of counts or grades
	}
	levelsJSON struct {
		Usual   float64
		Columns []struct {
			Input, Column int
			Prior         float64
		}
	}
	poolJSON struct {
		Members []struct {
			Weight float64
			Model  processesJSON
		}
		Indicators []struct {
			Weight float64
			Model  indicatorsJSON
		}
		Landmarks *struct {
			Weight float64
			Model  landmarksJSON
		}
		Trees *memberJSON
		Local *memberJSON
		Table *tableJSON
		Scale *scaleJSON
		Edges [][][2]float64

		Levels json.RawMessage
	}
	tableJSON struct { // the pool of all columns as one table
		Weight float64
		Model  poolJSON
	}
	memberJSON struct { // a member that cannot be exported
		Name   string
		Weight float64
	}
	scaleJSON struct {
		Learned    string
		Largest    float64
		Step       float64
		Knots, Log []float64
	}
	indicatorsJSON struct {
		designJSON
		Classes                         []json.RawMessage
		Noise                           float64
		Slope, Prior, Damping, Variance float64
	}
	landmarksJSON struct {
		Plan  designJSON
		Noise float64
	}
)
