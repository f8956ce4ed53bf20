package onnx

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// landmarksOnly exports a model with landmarks.
func (e *exporter) landmarksOnly() error {
	var m landmarksJSON
	if err := json.Unmarshal(e.model, &m); err != nil {
		return err
	}
	if err := e.open(m.Plan); err != nil {
		return err
	}
	p, err := e.landmarks("", m)
	if err != nil {
		return err
	}
	e.targets([]moments{p})
	return nil
}

// landmarks exports a model with landmarks whose tensors have names that begin with the prefix: a linear
// function of features that are made of each view's kernels with the landmarks.
func (e *exporter) landmarks(prefix string, m landmarksJSON) (p moments, err error) {
	all, err := e.kernels(prefix+"plan.", m.Plan, nil)
	if err != nil {
		return p, err
	}
	var parts []value
	var root []float64 // γ^-½ of each feature
	gamma := e.take(prefix + "gamma")
	for i, k := range all {
		by := e.matrix(fmt.Sprintf("%splan.view.%d.features", prefix, i), m.Plan.Basis)
		parts = append(parts, e.product(k.cross, e.matrixOf(transposed(by))))
		for range by.Rows {
			root = append(root, 1/math.Sqrt(gamma[i]))
		}
	}
	features := e.add(e.sideBySide(parts), e.row(e.take(prefix+"shift")))
	within := inverseOf(e.lower(prefix+"factor", len(root)))
	for i, r := range root {
		la.Scal(r, within.Row(i))
	}
	p = moments{
		e.product(features, e.column(e.take(prefix+"weights"))),
		e.shift(e.sumOver(e.square(e.product(features, e.matrixOf(within))), 1, 1), m.Noise),
	}
	return e.restore(prefix, 0, p), nil
}
