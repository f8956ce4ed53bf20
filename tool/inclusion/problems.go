package main

import (
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// kinds are the problems that rules are compared on. Each has realViews views that share factors and noiseViews views of noise.
//
//	additive     smooth functions of the three real views
//	wave         the first view is one column, and the target has a sine of it with several periods; smooth functions of the two others
//	interaction  the product of a direction of the first view and one of the second; a smooth function of the third
//	masked       the first view is a signal and a disturbance, the second view is the disturbance, and the target is the signal
//	weak         smooth functions whose variances are 1, 1/10 and 1/10
//	redundant    a smooth function of the factors, which each real view shows with little noise
//	noise        the target depends on no view
var kinds = []string{"additive", "wave", "interaction", "masked", "weak", "redundant", "noise"}

const (
	realViews, noiseViews = 3, 5
	noiseColumns          = 20
	testSamples           = 300
	targetNoise           = 0.4 // SD of the target's noise over the SD of its function
)

// drawn is a problem with test samples.
type drawn struct {
	whole []la.Matrix[float64] // kernels of the training samples
	p     amplitude.Problem
	class []int // of the training samples; nil of numbers
	cross []la.Matrix[float64]
	self  [][]float64
	test  []float64 // standardised targets, or classes
	real  []bool
}

// fresh draws a problem of n training samples and so many test samples; classes below 2 means numbers.
func fresh(src *rand.Rand, kind string, n, test, classes int) (*drawn, error) {
	N := n + test
	x, f := features(src, kind, N, max(classes, 1))
	d := &drawn{}
	for c := range f.Rows {
		row := f.Row(c)
		standardise(la.MatrixOf(N, 1, row))
		for i := range row {
			row[i] += targetNoise * src.NormFloat64()
			if kind == "noise" {
				row[i] = src.NormFloat64()
			}
		}
	}
	if err := d.setKernels(x, n); err != nil {
		return nil, err
	}
	d.setTargets(f, n, classes)
	for v := range realViews + noiseViews {
		d.real = append(d.real, v < realViews && kind != "noise")
	}
	return d, nil
}

func normal(src *rand.Rand, rows, cols int) la.Matrix[float64] {
	m := la.NewMatrix[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = src.NormFloat64()
	}
	return m
}

// features draws the views of N samples and so many columns of noiseless targets.
func features(src *rand.Rand, kind string, N, columns int) (x []la.Matrix[float64], f la.Matrix[float64]) {
	const factors = 4
	shared := normal(src, N, factors)
	for v := range realViews + noiseViews {
		width := 2 + src.IntN(6)
		switch {
		case v >= realViews:
			width = noiseColumns
		case kind == "wave" && v == 0:
			width = 1
		}
		m := normal(src, N, width)
		if v < realViews {
			strength := 0.4
			if kind == "redundant" {
				strength = 2
			}
			la.Gemm(nil, la.NoTrans, la.NoTrans, strength, shared, normal(src, factors, width), 1, m)
		}
		x = append(x, m)
	}
	f = la.NewMatrix[float64](columns, N)
	if kind == "redundant" {
		for _, m := range x {
			standardise(m)
		}
		for c := range columns {
			copy(f.Row(c), smooth(src, shared))
		}
		return x, f
	}
	if kind == "masked" {
		mask(src, x, f)
	}
	for _, m := range x {
		standardise(m)
	}
	for c := range columns {
		var part [realViews][]float64
		for v := range part {
			part[v] = smooth(src, x[v])
		}
		size := [realViews]float64{1, 1, 1}
		switch kind {
		case "wave":
			phase := 6 * src.Float64()
			for i := range N {
				part[0][i] = math.Sqrt2 * math.Sin(4*x[0].At(i, 0)+phase)
			}
		case "interaction":
			other := part[1]
			for i := range N {
				part[0][i] *= other[i]
			}
			size[1] = 0
		case "masked":
			size = [realViews]float64{0, 0, 0.5}
		case "weak":
			size[1], size[2] = math.Sqrt(0.1), math.Sqrt(0.1)
		}
		for v, of := range part {
			la.Axpy(size[v], of, f.Row(c))
		}
	}
	return x, f
}

// mask makes the first two views a signal with a disturbance and the disturbance, and adds the signal to f.
func mask(src *rand.Rand, x []la.Matrix[float64], f la.Matrix[float64]) {
	N := f.Cols
	for c := range f.Rows {
		for i := range N {
			signal, disturbance := src.NormFloat64(), 2*src.NormFloat64()
			x[0].Row(i)[c%x[0].Cols] = signal + disturbance
			x[1].Row(i)[c%x[1].Cols] = disturbance
			f.Row(c)[i] += signal
		}
	}
}

// smooth returns a smooth function of the rows of x with the variance 1.
func smooth(src *rand.Rand, x la.Matrix[float64]) []float64 {
	direction, phase := normal(src, x.Cols, 1).Data, 6*src.Float64()
	f := make([]float64, x.Rows)
	for i := range f {
		u := la.Dot(x.Row(i), direction) / math.Sqrt(float64(x.Cols))
		f[i] = u + math.Sin(u+phase)
	}
	standardise(la.MatrixOf(len(f), 1, f))
	return f
}

// setKernels computes five kernels for each view, as a fit with several views does, of the first n samples and of the others with them.
func (d *drawn) setKernels(x []la.Matrix[float64], n int) error {
	var kernels []la.Matrix[float64]
	for v, m := range x {
		N := m.Rows
		median := float64(2 * m.Cols)
		for kind, gamma := range []float64{0, 1, 0.5, 0.25, 0.125} {
			k := la.NewMatrix[float64](N, N)
			if gamma == 0 {
				la.Gemm(nil, la.NoTrans, la.Transpose, 1, m, m, 0, k)
			} else {
				la.RBF(nil, gamma/median, m, m, k)
			}
			centreOn(k, n)
			kernels = append(kernels, k.Slice(0, n, 0, n))
			d.whole = append(d.whole, kernels[len(kernels)-1])
			d.cross = append(d.cross, k.Slice(n, N, 0, n))
			self := make([]float64, N-n)
			for i := range self {
				self[i] = k.At(n+i, n+i)
			}
			d.self = append(d.self, self)
			d.p.Layout.View, d.p.Layout.Kind = append(d.p.Layout.View, v), append(d.p.Layout.Kind, kind)
		}
	}
	dense, err := vi.NewDense(kernels...)
	if err != nil {
		return err
	}
	d.p.Kernels, err = amplitude.Pack(dense, false)
	d.p.Workers = 1
	return err
}

// centreOn centres a kernel on the mean of the features of the first n samples.
func centreOn(k la.Matrix[float64], n int) {
	mean := make([]float64, k.Rows)
	var all float64
	for i := range mean {
		for _, v := range k.Row(i)[:n] {
			mean[i] += v / float64(n)
		}
		if i < n {
			all += mean[i] / float64(n)
		}
	}
	for i := range mean {
		for j := range mean {
			k.Set(i, j, k.At(i, j)-mean[i]-mean[j]+all)
		}
	}
}

// setTargets standardises the targets, or the indicators of the largest column, by the first n samples.
func (d *drawn) setTargets(f la.Matrix[float64], n, classes int) {
	N := f.Cols
	if classes > 1 {
		label := la.NewMatrix[float64](classes, N)
		for i := range N {
			best := i % classes // the first samples are of each class
			if i >= classes {
				for c := range classes {
					if f.At(c, i) > f.At(best, i) {
						best = c
					}
				}
			}
			label.Set(best, i, 1)
			if i < n {
				d.class = append(d.class, best)
			} else {
				d.test = append(d.test, float64(best))
			}
		}
		f, d.p.Indicators = label, true
	}
	d.p.Y = la.NewMatrix[float64](f.Rows, n)
	for c := range f.Rows {
		row := d.p.Y.Row(c)
		copy(row, f.Row(c))
		var mean, square float64
		for _, v := range row {
			mean += v / float64(n)
		}
		for i, v := range row {
			row[i] = v - mean
			square += row[i] * row[i] / float64(n)
		}
		la.Scal(1/math.Sqrt(square), row)
		if classes < 2 {
			for _, v := range f.Row(c)[n:] {
				d.test = append(d.test, (v-mean)/math.Sqrt(square))
			}
		}
	}
}
