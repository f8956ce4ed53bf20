package onnx

import (
	"fmt"
	"slices"
	"sort"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// seen is what a view's kernel sees of the samples and of the basis points.
func (e *exporter) seen(prefix string, v viewJSON, d designJSON) (z value, basis la.Matrix[float64]) {
	in := fmt.Sprintf("%sinput.%d.", prefix, v.Input)
	all := e.matrix(in+"basis", d.Inputs[v.Input].Cols)
	pick := func(row []float64) []float64 {
		if v.Columns == nil {
			return row
		}
		some := make([]float64, len(v.Columns))
		for j, c := range v.Columns {
			some[j] = row[c]
		}
		return some
	}
	z = e.inputs[v.Input]
	if v.Columns != nil {
		z = e.columns(z, v.Columns...)
	}
	basis = la.NewMatrix[float64](d.Basis, len(pick(all.Row(0))))
	for i := range d.Basis {
		copy(basis.Row(i), pick(all.Row(i)))
	}
	switch {
	case v.Standardize:
		mean, sd := pick(e.take(in+"mean")), pick(e.take(in+"sd"))
		z = e.over(e.sub(z, e.row(mean)), sd)
		for i := range d.Basis {
			for j, x := range basis.Row(i) {
				basis.Set(i, j, (x-mean[j])/sd[j])
			}
		}
	case v.Ranks:
		among := basis.Clone()
		if values := e.take(in + "ranks"); values != nil { // of a plan: feature by feature, of more samples than the landmarks
			of := e.matrix(in+"ranks", len(values)/all.Cols)
			among = la.NewMatrix[float64](of.Cols, basis.Cols)
			for i := range among.Rows {
				column := make([]float64, of.Rows)
				for j := range column {
					column[j] = of.At(j, i)
				}
				copy(among.Row(i), pick(column))
			}
		}
		z = e.ranks(z, among)
		rank(basis, among)
	}
	if w := v.Kernel.Widths; w != nil {
		z = e.over(z, w)
		for i := range d.Basis {
			for j := range w {
				basis.Row(i)[j] /= w[j]
			}
		}
	}
	return z, basis
}

// over divides the columns by numbers.
func (e *exporter) over(z value, by []float64) value {
	if len(by) == 1 {
		return e.div(z, e.factor(by[0]))
	}
	return e.div(z, e.row(by))
}

// normalScore is the normal score of a value by #{b < v} + #{b ≤ v} among n values b.
func normalScore(count, n int) float64 {
	const least = 0.01
	return special.NormalQuantile(min(max(float64(count)/float64(2*n), least), 1-least))
}

// ranks puts the normal scores of their ranks among samples in the place of features.
func (e *exporter) ranks(z value, among la.Matrix[float64]) value {
	table := make([]float64, 2*among.Rows+1)
	for k := range table {
		table[k] = normalScore(k, among.Rows)
	}
	layers, stacked := e.layers(z), e.stacked(among)
	var count []value
	for _, op := range []string{"Less", "LessOrEqual"} {
		below := e.cast(e.op(op, []value{stacked, layers}), int64s)
		count = append(count, e.sumOver(below, 1, 0))
	}
	return e.op("Gather", []value{e.numbers(table, len(table)), e.sum(count)}, attribute{"axis", 0})
}

// rank is exporter.ranks of the basis points, in place.
func rank(basis, among la.Matrix[float64]) {
	for j := range basis.Cols {
		sorted := make([]float64, among.Rows)
		for i := range sorted {
			sorted[i] = among.At(i, j)
		}
		slices.Sort(sorted)
		for i := range basis.Rows {
			v := basis.At(i, j)
			below := sort.SearchFloat64s(sorted, v)
			upTo := sort.Search(len(sorted), func(k int) bool { return sorted[k] > v })
			basis.Set(i, j, normalScore(below+upTo, among.Rows))
		}
	}
}
