package onnx

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
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
	inputs []value
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

// featureKernel is a kernel of features, before it is centred and normalised.
func (e *exporter) featureKernel(prefix string, v viewJSON, d designJSON) (k kernelValues, err error) {
	z, basis := e.seen(prefix, v, d)
	s := v.Kernel
	k.self = e.number(1) // of the functions of a distance
	switch {
	case s.Kind == "rbf":
		c := -0.5
		switch {
		case s.Scale != 0:
			c = -1 / (s.Scale * s.Scale)
		case s.Widths == nil:
			c = -1 / (2 * s.Width * s.Width)
		}
		k.cross = e.exp(e.scale(e.squaredDistance(z, basis, -c), c))
	case s.Kind == "laplacian" && (s.Manhattan || s.Widths != nil):
		c := -1.0
		if s.Widths == nil {
			c = -1 / s.Width
		}
		k.cross = e.exp(e.scale(e.sumOver(e.op("Abs", []value{e.differences(z, basis)}), 2, 0), c))
	case s.Kind == "laplacian":
		k.cross = e.exp(e.scale(e.sqrt(e.squaredDifferences(z, basis)), -1/s.Width))
	case s.Kind == "matern":
		c := math.Sqrt(2 * s.Smoothness)
		if s.Widths == nil {
			c /= s.Width
		}
		u := e.scale(e.sqrt(e.squaredDifferences(z, basis)), c)
		factor := e.shift(u, 1)
		if s.Smoothness == 2.5 {
			factor = e.add(factor, e.scale(e.square(u), 1.0/3))
		}
		k.cross = e.mul(factor, e.exp(e.scale(u, -1)))
	case s.Kind == "rational-quadratic":
		c := 1 / (2 * s.Alpha)
		if s.Widths == nil {
			c /= s.Width * s.Width
		}
		k.cross = e.exp(e.scale(e.log(e.shift(e.scale(e.squaredDifferences(z, basis), c), 1)), -s.Alpha))
	case s.Kind == "power-exponential":
		// Log of 0 is −∞ and its exponential 0 again.
		norm := cmp.Or(s.Norm, 2)
		var sum value // of powers of the differences
		if norm == 2 {
			sum = e.scale(e.squaredDifferences(z, basis), 1/(s.Width*s.Width))
		} else {
			apart := e.op("Abs", []value{e.mul(e.differences(z, basis), e.number(1/s.Width))})
			sum = e.sumOver(e.exp(e.mul(e.log(apart), e.number(norm))), 2, 0)
		}
		k.cross = e.exp(e.scale(e.exp(e.scale(e.log(sum), s.Power/norm)), -1))
	case s.Kind == "periodic":
		sin := e.op("Sin", []value{e.angles(e.differences(z, basis), s.Period, math.Pi)})
		exponent := e.scale(e.sumOver(e.square(sin), 2, 0), -2/(s.Width*s.Width))
		if s.Decay != 0 {
			exponent = e.add(exponent, e.scale(e.squaredDifferences(z, basis), -1/(2*s.Decay*s.Decay)))
		}
		k.cross = e.exp(exponent)
	case s.Kind == "spectral":
		k.cross = e.exp(e.scale(e.squaredDifferences(z, basis), -1/(2*s.Width*s.Width)))
		for j := range basis.Cols {
			apart := e.sub(e.columns(z, j), e.row(columnOf(basis, j)))
			k.cross = e.mul(k.cross, e.op("Cos", []value{e.angles(apart, s.Period, 2*math.Pi)}))
		}
	case s.Kind == "tanimoto" || s.Kind == "chi2" || s.Kind == "intersection":
		k = e.histogramKernel(s, z, basis)
	case s.Kind == "clinical":
		k.cross = e.rangeKernel(z, basis, s.Low, s.High)
	case s.Kind == "ibs":
		k.cross = e.rangeKernel(z, basis, make([]float64, basis.Cols), slices.Repeat([]float64{2}, basis.Cols))
	case s.Kind == "categorical":
		agree := e.op("Equal", []value{e.layers(z), e.stacked(basis)})
		apart := e.cast(e.op("Not", []value{agree}), e.real)
		h := e.scale(e.sumOver(apart, 2, 0), 1/float64(basis.Cols))
		if s.Overlap {
			k.cross = e.sub(e.number(1), h)
		} else {
			k.cross = e.exp(e.scale(h, -1/s.Width))
		}
	case s.Kind == "constant":
		k.cross = e.product(e.ones, e.row(slices.Repeat([]float64{1}, basis.Rows)))
	case s.Kind == "linear" || s.Kind == "polynomial":
		k.cross = e.product(z, e.matrixOf(transposed(basis)))
		k.self = e.sumOver(e.square(z), 1, 1)
		for _, x := range []*value{&k.cross, &k.self} {
			if s.Scale != 0 {
				*x = e.scale(*x, s.Scale)
			}
			if s.Kind == "polynomial" {
				base := e.shift(*x, s.Offset)
				*x = base
				for range s.Degree - 1 {
					*x = e.mul(*x, base)
				}
			}
		}
	case s.Kind == "interaction":
		k = e.interactionKernel(s, z, basis)
	default:
		return k, fmt.Errorf("kernel %q is not one that can be exported", s.Kind)
	}
	return k, nil
}

// interactionKernel is the mean of the products of kernels of single features, one feature after the other.
func (e *exporter) interactionKernel(s kernelJSON, z value, basis la.Matrix[float64]) (k kernelValues) {
	near, far, share := kernel.Interaction{Order: s.Order, Width: s.Width}.Rates()
	sets := 1.0
	for o := range s.Order {
		sets *= float64(basis.Cols-o) / float64(o+1)
	}
	cross, self := make([]value, s.Order+1), make([]value, s.Order+1) // [o]: sums of products of o features; 1 for o = 0
	for j := range basis.Cols {
		of, b := e.columns(z, j), columnOf(basis, j)
		fade := make([]float64, len(b))
		for i, v := range b {
			fade[i] = share * special.Exp(-far*v*v)
		}
		faded := e.exp(e.scale(e.square(of), -far))
		pair := e.sub(e.exp(e.scale(e.square(e.sub(of, e.row(b))), -near)), e.mul(faded, e.row(fade)))
		own := e.sub(e.number(1), e.scale(e.square(faded), share))
		for o := min(s.Order, j+1); o > 0; o-- {
			cross[o] = e.withProduct(cross[o], pair, cross[o-1], o, j)
			self[o] = e.withProduct(self[o], own, self[o-1], o, j)
		}
	}
	return kernelValues{e.scale(cross[s.Order], 1/sets), e.scale(self[s.Order], 1/sets)}
}

// withProduct is the sum of products of o features among the features 0 to j, sum + one·fewer: sum leaves feature j out, and fewer is the sum of
// products of o − 1 features before j. There is no sum without j if j + 1 = o, and fewer is 1 if o = 1.
func (e *exporter) withProduct(sum, one, fewer value, o, j int) value {
	if o > 1 {
		one = e.mul(one, fewer)
	}
	if j+1 == o {
		return one
	}
	return e.add(sum, one)
}

// stacked is the basis points as one layer, to be compared with each of many samples.
func (e *exporter) stacked(basis la.Matrix[float64]) value {
	return e.numbers(basis.Data, 1, basis.Rows, basis.Cols)
}

// squaredDistance is |z − b|² for each sample and basis point; share is its factor in the kernel's
// exponent. It is a matrix product where rounding lets it: |z|² − 2zᵀb + |b|² loses what |z|²
// has of digits beyond |z − b|².
func (e *exporter) squaredDistance(z value, basis la.Matrix[float64], share float64) value {
	mean, norm := make([]float64, basis.Cols), make([]float64, basis.Rows)
	for i := range basis.Rows {
		la.Axpy(1/float64(basis.Rows), basis.Row(i), mean)
	}
	b := la.NewMatrix[float64](basis.Cols, basis.Rows) // transposed, about the mean
	for i := range basis.Rows {
		for j, x := range basis.Row(i) {
			x -= mean[j]
			b.Set(j, i, -2*x)
			norm[i] += float64(x * x)
		}
	}
	lost := 0x1p-43
	if e.real == float32s {
		lost = 0x1p-16
	}
	if slices.Max(norm)*share*e.eps() > lost {
		return e.squaredDifferences(z, basis)
	}
	z = e.sub(z, e.row(mean))
	d := e.add(e.add(e.product(z, e.matrixOf(b)), e.sumOver(e.square(z), 1, 1)), e.row(norm))
	return e.op("Max", []value{d, e.number(0)})
}

// squaredDifferences is |z − b|² by the differences, which takes memory for each feature.
func (e *exporter) squaredDifferences(z value, basis la.Matrix[float64]) value {
	return e.sumOver(e.square(e.differences(z, basis)), 2, 0)
}

// differences is z − b of each sample, basis point and feature.
func (e *exporter) differences(z value, basis la.Matrix[float64]) value {
	return e.sub(e.layers(z), e.stacked(basis))
}

// layers is a layer of one row for each sample, to be compared with the basis points.
func (e *exporter) layers(z value) value { return e.op("Unsqueeze", []value{z, e.integers(1)}) }

// angles is turn·d/period of differences d, after whole periods are taken off.
func (e *exporter) angles(d value, period, turn float64) value {
	return e.mul(e.op("Mod", []value{d, e.number(period)}, attribute{"fmod", 1}), e.number(turn/period))
}

// columnOf is column j of a matrix.
func columnOf(x la.Matrix[float64], j int) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		out[i] = x.At(i, j)
	}
	return out
}

// histogramKernel is a kernel of histograms. The positive and the negative part of a feature are two features.
func (e *exporter) histogramKernel(s kernelJSON, z value, basis la.Matrix[float64]) (k kernelValues) {
	zero := e.number(0)
	parts := e.sideBySide([]value{e.op("Max", []value{z, zero}), e.op("Max", []value{e.scale(z, -1), zero})})
	own := la.NewMatrix[float64](basis.Rows, 2*basis.Cols)
	for i := range basis.Rows {
		for j, v := range basis.Row(i) {
			own.Row(i)[j], own.Row(i)[basis.Cols+j] = max(v, 0), max(-v, 0)
		}
	}
	a, b := e.layers(parts), e.stacked(own)
	over := func(x, y value) value { // 0/0 is 0
		has := e.op("Greater", []value{y, zero})
		return e.choose(has, e.div(x, e.choose(has, y, e.number(1))), zero)
	}
	k.self = e.number(1)
	switch {
	case s.Kind == "tanimoto":
		least, most := e.sumOver(e.op("Min", []value{a, b}), 2, 0), e.sumOver(e.op("Max", []value{a, b}), 2, 0)
		k.cross = e.choose(e.op("Greater", []value{most, zero}), over(least, most), e.number(1))
	case s.Kind == "intersection":
		k.cross = e.sumOver(e.op("Min", []value{a, b}), 2, 0)
		k.self = e.sumOver(parts, 1, 1)
	case s.Additive:
		k.cross = e.scale(e.sumOver(over(e.mul(a, b), e.add(a, b)), 2, 0), 2)
		k.self = e.sumOver(parts, 1, 1)
	default:
		chi := e.sumOver(over(e.square(e.sub(a, b)), e.add(a, b)), 2, 0)
		k.cross = e.exp(e.scale(chi, -1/s.Width))
	}
	return k
}

// rangeKernel is the mean over the features of 1 − |z − b|/(high − low), where values outside of low to high count as the nearer end.
func (e *exporter) rangeKernel(z value, basis la.Matrix[float64], low, high []float64) value {
	own, share := la.NewMatrix[float64](basis.Rows, basis.Cols), make([]float64, basis.Cols)
	for j := range share {
		if low[j] < high[j] {
			share[j] = 1 / (high[j] - low[j]) / float64(basis.Cols)
		}
		for i := range own.Rows {
			own.Set(i, j, min(max(basis.At(i, j), low[j]), high[j]))
		}
	}
	z = e.op("Min", []value{e.op("Max", []value{z, e.row(low)}), e.row(high)})
	apart := e.mul(e.op("Abs", []value{e.differences(z, own)}), e.numbers(share, 1, 1, basis.Cols))
	return e.op("Max", []value{e.sub(e.number(1), e.sumOver(apart, 2, 0)), e.number(0)})
}

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
