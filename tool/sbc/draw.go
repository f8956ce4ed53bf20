package main

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// gamma draws from a gamma distribution; the zero value is Gamma(1, 1), as in the settings of models.
//
// Source: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on
// Mathematical Software 26 (2000).
func gamma(src special.Rand, g vi.Gamma) float64 {
	if g == (vi.Gamma{}) {
		g = vi.Gamma{Shape: 1, Scale: 1}
	}
	boost := 1.0
	if g.Shape < 1 {
		boost = math.Pow(1-src.Float64(), 1/g.Shape)
		g.Shape++
	}
	d := g.Shape - 1.0/3
	for {
		x := src.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		v = v * v * v
		if v > 0 && math.Log(1-src.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v * g.Scale * boost
		}
	}
}

// gaussian draws N(0, 1/precision).
func gaussian(src special.Rand, precision float64) float64 {
	return src.NormFloat64() / math.Sqrt(precision)
}

// normals returns a matrix of standard normal numbers.
func normals(src special.Rand, rows, cols int) la.Matrix[float64] {
	m := la.NewMatrix[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = src.NormFloat64()
	}
	return m
}

// points are n samples of a few features and one more, at which posteriors are compared with the truth.
type points struct {
	x     la.Matrix[float64] // (n+1) rows
	n     int
	width []float64 // of each kernel; infinite for a linear kernel
}

// newPoints returns n samples with kernels of the given widths.
func newPoints(src special.Rand, n, features int, width ...float64) points {
	return points{normals(src, n+1, features), n, width}
}

// value returns kernel p of samples i and j.
func (s points) value(p, i, j int) float64 {
	if math.IsInf(s.width[p], 1) {
		return la.Dot(s.x.Row(i), s.x.Row(j))
	}
	var d float64
	for f := range s.x.Cols {
		e := (s.x.At(i, f) - s.x.At(j, f)) / s.width[p]
		d += e * e
	}
	return math.Exp(-d / 2)
}

// square returns the kernels of the first n samples with each other.
func (s points) square() []la.Matrix[float64] { return s.block(0, s.n) }

// block returns the kernels of the first n samples, as rows, with samples from to to.
func (s points) block(from, to int) []la.Matrix[float64] {
	var k []la.Matrix[float64]
	for p := range s.width {
		m := la.NewMatrix[float64](s.n, to-from)
		for i := range m.Rows {
			for j := range m.Cols {
				m.Set(i, j, s.value(p, i, from+j))
			}
		}
		k = append(k, m)
	}
	return k
}

// training returns the kernels of the training samples.
func (s points) training() *vi.Dense { return dense(s.square()...) }

// fresh returns the kernels of the training samples with the further sample.
func (s points) fresh() *vi.Dense { return dense(s.block(s.n, s.n+1)...) }

// self returns the kernels of the further sample with itself.
func (s points) self() la.Matrix[float64] {
	m := la.NewMatrix[float64](len(s.width), 1)
	for p := range s.width {
		m.Set(p, 0, s.value(p, s.n, s.n))
	}
	return m
}

// function draws a Gaussian process at all samples and the further one, with the kernels multiplied by weight.
func (s points) function(src special.Rand, weight []float64) []float64 {
	return correlated(src, s.root(weight))
}

// root returns the Cholesky factor of the kernels' weighted sum at all samples and the further one.
func (s points) root(weight []float64) la.Matrix[float64] {
	k := la.NewMatrix[float64](s.n+1, s.n+1)
	for i := range k.Rows {
		for j := range i + 1 {
			for p, w := range weight {
				k.Row(i)[j] += w * s.value(p, i, j)
			}
		}
		k.Row(i)[i] *= 1 + 1e-10
	}
	if err := la.Cholesky(nil, k); err != nil {
		panic(err) // the kernels are positive definite
	}
	return k
}

// correlated draws a normal vector whose covariance has the Cholesky factor root.
func correlated(src special.Rand, root la.Matrix[float64]) []float64 {
	z, f := make([]float64, root.Rows), make([]float64, root.Rows)
	for i := range z {
		z[i] = src.NormFloat64()
		f[i] = la.Dot(root.Row(i)[:i+1], z[:i+1])
	}
	return f
}

func dense(k ...la.Matrix[float64]) *vi.Dense {
	d, err := vi.NewDense(k...)
	if err != nil {
		panic(err) // matrices of one shape
	}
	return d
}
