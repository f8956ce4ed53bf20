package onnx

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// featureKernel is a kernel of features, before it is centred and normalised. Where each feature has a width of
// its own, seen has divided the features by the widths, and w is 1 in the formulas below.
func (e *exporter) featureKernel(prefix string, v viewJSON, d designJSON) (k kernelValues, err error) {
	z, basis := e.seen(prefix, v, d)
	s := v.Kernel
	k.self = e.number(1) // of the functions of a distance
	switch s.Kind {
	case "rbf":
		k.cross = e.rbfKernel(s, z, basis)
	case "laplacian":
		k.cross = e.laplacianKernel(s, z, basis)
	case "matern":
		k.cross = e.maternKernel(s, z, basis)
	case "rational-quadratic":
		k.cross = e.rationalQuadraticKernel(s, z, basis)
	case "power-exponential":
		k.cross = e.powerExponentialKernel(s, z, basis)
	case "periodic":
		k.cross = e.periodicKernel(s, z, basis)
	case "spectral":
		k.cross = e.spectralKernel(s, z, basis)
	case "tanimoto", "chi2", "intersection":
		k = e.histogramKernel(s, z, basis)
	case "clinical":
		k.cross = e.rangeKernel(z, basis, s.Low, s.High)
	case "ibs":
		k.cross = e.rangeKernel(z, basis, make([]float64, basis.Cols), slices.Repeat([]float64{2}, basis.Cols))
	case "categorical":
		k.cross = e.categoricalKernel(s, z, basis)
	case "constant":
		k.cross = e.product(e.ones, e.row(slices.Repeat([]float64{1}, basis.Rows)))
	case "linear", "polynomial":
		k.cross = e.polynomial(s, e.product(z, e.matrixOf(transposed(basis))))
		k.self = e.polynomial(s, e.sumOver(e.square(z), 1, 1))
	case "interaction":
		k = e.interactionKernel(s, z, basis)
	default:
		return k, fmt.Errorf("kernel %q is not one that can be exported", s.Kind)
	}
	return k, nil
}

// rbfKernel is exp(−‖x − z‖²/(2w²)), or with another scale s exp(−‖x − z‖²/s²).
func (e *exporter) rbfKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	c := -0.5
	switch {
	case s.Scale != 0:
		c = -1 / (s.Scale * s.Scale)
	case s.Widths == nil:
		c = -1 / (2 * s.Width * s.Width)
	}
	return e.exp(e.scale(e.squaredDistance(z, basis, -c), c))
}

// laplacianKernel is exp(−‖x − z‖/w), with the sum of the absolute differences as the distance where s says so.
func (e *exporter) laplacianKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	c := -1.0
	if s.Widths == nil {
		c = -1 / s.Width
	}
	if s.Manhattan || s.Widths != nil {
		return e.exp(e.scale(e.sumOver(e.op("Abs", []value{e.differences(z, basis)}), 2, 0), c))
	}
	return e.exp(e.scale(e.sqrt(e.squaredDifferences(z, basis)), c))
}

// maternKernel is (1 + u)·exp(−u) of smoothness 3/2, or (1 + u + u²/3)·exp(−u) of 5/2, with u = √(2ν)·‖x − z‖/w.
func (e *exporter) maternKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	c := math.Sqrt(2 * s.Smoothness)
	if s.Widths == nil {
		c /= s.Width
	}
	u := e.scale(e.sqrt(e.squaredDifferences(z, basis)), c)
	factor := e.shift(u, 1)
	if s.Smoothness == 2.5 {
		factor = e.add(factor, e.scale(e.square(u), 1.0/3))
	}
	return e.mul(factor, e.exp(e.scale(u, -1)))
}

// rationalQuadraticKernel is (1 + ‖x − z‖²/(2αw²))^−α.
func (e *exporter) rationalQuadraticKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	c := 1 / (2 * s.Alpha)
	if s.Widths == nil {
		c /= s.Width * s.Width
	}
	return e.exp(e.scale(e.log(e.shift(e.scale(e.squaredDifferences(z, basis), c), 1)), -s.Alpha))
}

// powerExponentialKernel is exp(−(‖x − z‖_q/w)^p). Powers are exponentials of logarithms: the logarithm of 0 is
// −∞, and its exponential 0 again.
func (e *exporter) powerExponentialKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	norm := cmp.Or(s.Norm, 2)
	var sum value // of powers of the differences
	if norm == 2 {
		sum = e.scale(e.squaredDifferences(z, basis), 1/(s.Width*s.Width))
	} else {
		apart := e.op("Abs", []value{e.mul(e.differences(z, basis), e.number(1/s.Width))})
		sum = e.sumOver(e.exp(e.mul(e.log(apart), e.number(norm))), 2, 0)
	}
	return e.exp(e.scale(e.exp(e.scale(e.log(sum), s.Power/norm)), -1))
}

// periodicKernel is exp(−2·Σ sin²(π(x − z)/p)/w²), times an RBF kernel where the period decays.
func (e *exporter) periodicKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	sin := e.op("Sin", []value{e.angles(e.differences(z, basis), s.Period, math.Pi)})
	exponent := e.scale(e.sumOver(e.square(sin), 2, 0), -2/(s.Width*s.Width))
	if s.Decay != 0 {
		exponent = e.add(exponent, e.scale(e.squaredDifferences(z, basis), -1/(2*s.Decay*s.Decay)))
	}
	return e.exp(exponent)
}

// spectralKernel is an RBF kernel times the product of cos(2π(x_j − z_j)/p) over the features.
func (e *exporter) spectralKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	k := e.exp(e.scale(e.squaredDifferences(z, basis), -1/(2*s.Width*s.Width)))
	for j := range basis.Cols {
		apart := e.sub(e.columns(z, j), e.row(columnOf(basis, j)))
		k = e.mul(k, e.op("Cos", []value{e.angles(apart, s.Period, 2*math.Pi)}))
	}
	return k
}

// categoricalKernel is a function of the share of features that differ, h: 1 − h for the overlap, or exp(−h/w).
func (e *exporter) categoricalKernel(s kernelJSON, z value, basis la.Matrix[float64]) value {
	agree := e.op("Equal", []value{e.layers(z), e.stacked(basis)})
	apart := e.cast(e.op("Not", []value{agree}), e.real)
	h := e.scale(e.sumOver(apart, 2, 0), 1/float64(basis.Cols))
	if s.Overlap {
		return e.sub(e.number(1), h)
	}
	return e.exp(e.scale(h, -1/s.Width))
}

// polynomial is (s·x + c)^d of the inner products x, or s·x for the linear kernel.
func (e *exporter) polynomial(s kernelJSON, x value) value {
	if s.Scale != 0 {
		x = e.scale(x, s.Scale)
	}
	if s.Kind == "linear" {
		return x
	}
	base := e.shift(x, s.Offset)
	x = base
	for range s.Degree - 1 {
		x = e.mul(x, base)
	}
	return x
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
