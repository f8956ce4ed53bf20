package onnx

import (
	"fmt"
	"slices"
)

// kernel is a view's kernels of the samples of a prediction.
type kernelValues struct {
	cross value // T×D, with the basis points
	self  value // T×1 or 1, of each sample with itself
}

// exporter makes the graph of a model file.
type exporter struct {
	*graph
	*modelFile
	options Options
	inputs  []value
}

// given are the kernels whose inputs are not features.
var given = []string{"distance", "precomputed"}

// open adds the inputs of a design.
func (e *exporter) open(d designJSON) error {
	for i, in := range d.Inputs {
		if in.Gaps {
			return fmt.Errorf("samples may lack views (-missing views), which a graph cannot express")
		}
		e.inputs = append(e.inputs, e.input(fmt.Sprintf("x%d", i+1), in.Cols))
	}
	first := e.columns(e.inputs[0], 0)
	e.ones = e.cast(e.op("Equal", []value{first, first}), e.real)
	return nil
}

// kernels computes the kernels of the views. Their tensors have names that begin with
// the prefix; widths, unless nil, holds the widths of each view that has one width for each feature.
func (e *exporter) kernels(prefix string, d designJSON, widths [][]float64) (all []kernelValues, err error) {
	for i, v := range d.Views {
		if widths != nil && widths[i] != nil {
			v.Kernel.Widths = widths[i]
		}
		var k kernelValues
		if slices.Contains(given, v.Kernel.Kind) {
			k = e.givenKernel(v, d)
		} else if k, err = e.featureKernel(prefix, v, d); err != nil {
			return nil, err
		}
		all = append(all, e.adjust(k, prefix, i, v))
	}
	return all, nil
}

// givenKernel is a kernel of what a prediction is given.
func (e *exporter) givenKernel(v viewJSON, d designJSON) kernelValues {
	x := e.inputs[v.Input]
	k := kernelValues{cross: x, self: e.number(1)}
	if d.Inputs[v.Input].Cols > d.Basis {
		own := make([]int, d.Basis)
		for i := range own {
			own[i] = i
		}
		k = kernelValues{e.columns(x, own...), e.columns(x, d.Basis)}
	}
	if v.Kernel.Kind == "distance" {
		k.cross = e.exp(e.scale(k.cross, -1/v.Kernel.Scale))
	}
	return k
}

// adjust centres and normalises the kernel of view i as the training did. The tensors of
// the model have names that begin with the prefix.
func (e *exporter) adjust(k kernelValues, prefix string, i int, v viewJSON) kernelValues {
	view := fmt.Sprintf("%sview.%d.", prefix, i)
	if v.Center {
		rowMean := e.take(view + "row_mean")
		mean := e.scale(e.sumOver(k.cross, 1, 1), 1/float64(len(rowMean)))
		if e.has(prefix + "share") {
			mean = e.product(k.cross, e.column(e.take(prefix+"share")))
		}
		k.self = e.shift(e.sub(k.self, e.scale(mean, 2)), v.TotalMean)
		k.cross = e.shift(e.sub(k.cross, e.add(e.row(rowMean), mean)), v.TotalMean)
	}
	if v.Normalize {
		const atMean = 1e-12 // share of a sample's own kernel; below it, the centred kernel is rounding
		unit, floor := e.take(view+"unit"), 0.0
		if v.Center {
			for _, u := range unit {
				floor = max(floor, atMean/(u*u))
			}
		}
		has := e.op("Greater", []value{k.self, e.number(floor)})
		length := e.sqrt(e.choose(has, k.self, e.number(1)))
		inverse := e.choose(has, e.div(e.number(1), length), e.number(0))
		k.cross = e.mul(k.cross, e.mul(e.row(unit), inverse))
		k.self = e.mul(k.self, e.square(inverse))
	}
	return k
}
