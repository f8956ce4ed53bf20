package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// conditional computes the distribution of the targets of a row given its neighbours' targets, and
// the gradient of their log density. It is the scratch of one goroutine.
//
// With the covariance K of n neighbours, noise included, their covariances k with the row, their
// targets Y (n×t) and the row's variance κ,
//
//	⎡ K  k  Y ⎤       ⎡ L            ⎤ ⎡ L            ⎤ᵀ
//	⎢ kᵀ κ  0 ⎥   =   ⎢ γᵀ  √v       ⎥ ⎢ γᵀ  √v       ⎥
//	⎣ Yᵀ 0  ∞ ⎦       ⎣ βᵀ −μ/√v   ∞ ⎦ ⎣ βᵀ −μ/√v   ∞ ⎦
//
// so that one factorisation gives the means μ = YᵀK⁻¹k and the variance v = κ − kᵀK⁻¹k.
type conditional struct {
	w   la.Workspace
	s   *samples
	cov *Covariance

	// features, if it has columns, are features of all rows, whose inner products are subtracted
	// from the covariances.
	features la.Matrix[float32]
	f        la.Matrix[float64]

	n    int // neighbours
	u    la.Matrix[float64]
	sc   []la.Matrix[float64] // of each part, scaled coordinates relative to the target's row
	k0   []la.Matrix[float64] // of each part, correlations
	dk   []la.Matrix[float64] // their derivatives by the squared distance
	k    la.Matrix[float64]   // the covariance with its borders, then its factor
	h, t la.Matrix[float64]
	c, b []float64
	l    la.Matrix[float64] // sums of slopes
	mean []float64
	mem  []float64
}

// newConditional returns scratch for up to m neighbours.
func newConditional(s *samples, parts, m int) *conditional {
	p, d, t := m+1, s.x.Cols, s.y.Cols
	c := &conditional{s: s, w: la.Workspace{Workers: 1}, mean: make([]float64, t)}
	c.mem = make([]float64, (p+t)*(p+t)+p*p+2*p*d+2*p+2*d+parts*(p*d+2*p*p))
	c.sc, c.k0, c.dk = make([]la.Matrix[float64], parts), make([]la.Matrix[float64], parts), make([]la.Matrix[float64], parts)
	return c
}

// shape cuts the scratch for n neighbours.
func (c *conditional) shape(n int) {
	p, d := n+1, c.s.x.Cols
	mem := c.mem
	take := func(rows, cols int) la.Matrix[float64] {
		m := la.MatrixOf(rows, cols, mem[:rows*cols])
		mem = mem[rows*cols:]
		return m
	}
	c.n = n
	c.k = take(p+c.s.y.Cols, p+c.s.y.Cols)
	c.u = take(p, d)
	for i := range c.sc {
		c.sc[i], c.k0[i], c.dk[i] = take(p, d), take(p, p), take(p, p)
	}
	c.h, c.t = take(p, p), take(p, d)
	c.c, c.b = take(1, p).Data, take(1, p).Data
	c.l = take(2, d)
}

// fill computes the covariance of the targets of rows near and of a target at x with the relative
// noise variance noise. slopes asks for derivatives too.
func (c *conditional) fill(near []int32, x []float64, noise float64, slopes bool) {
	n := 0
	for n < len(near) && near[n] >= 0 {
		n++
	}
	c.shape(n)
	p := n + 1
	for i := range p {
		row := x
		if i < n {
			row = c.s.x.Row(int(near[i]))
		}
		copy(c.u.Row(i), row)
		for q := range c.sc {
			to, w := c.sc[q].Row(i), c.cov.Parts[q].Scale
			for f, v := range row {
				to[f] = (v - x[f]) * w[f]
			}
		}
	}
	k := c.k.Slice(0, p, 0, p)
	for q := range c.sc {
		part := &c.cov.Parts[q]
		k0 := c.k0[q]
		if slopes {
			la.SqDist(&c.w, c.sc[q], c.sc[q], k0)
			part.Shape.slopes(k0.Data, c.dk[q].Data)
		} else {
			c.lowerValues(part.Shape, c.sc[q], k0)
		}
		for i := range p {
			to := k.Row(i)
			for j, v := range k0.Row(i)[:i+1] {
				if q == 0 {
					to[j] = part.Amplitude * v
				} else {
					to[j] += float64(part.Amplitude * v)
				}
			}
		}
	}
	la.Syrk(&c.w, la.NoTrans, c.cov.Linear, c.u, 1, k)
	if c.features.Cols > 0 {
		la.Syrk(&c.w, la.NoTrans, -1, c.f.Slice(0, p, 0, c.f.Cols), 1, k)
	}
	for i := range p {
		to := k.Row(i)
		for j := range i + 1 {
			to[j] += c.cov.Linear
		}
		if i < n {
			to[i] += float64(c.cov.Noise * c.s.relative(int(near[i])))
		} else {
			to[i] += float64(c.cov.Noise * noise)
		}
	}
	for t := range c.s.y.Cols {
		to := c.k.Row(p + t)
		for i := range n {
			to[i] = c.s.y.At(int(near[i]), t)
		}
		clear(to[n : p+t])
		to[p+t] = infinite
	}
}

// lowerRows is the number of rows whose correlations are computed together.
const lowerRows = 32

// lowerValues stores the correlations of the rows of s in the lower triangle of k.
func (c *conditional) lowerValues(shape Shape, s, k la.Matrix[float64]) {
	for lo := 0; lo < s.Rows; lo += lowerRows {
		hi := min(s.Rows, lo+lowerRows)
		la.SqDist(&c.w, s.Slice(lo, hi, 0, s.Cols), s.Slice(0, hi, 0, s.Cols), k.Slice(lo, hi, 0, hi))
		for i := lo; i < hi; i++ {
			shape.values(k.Row(i)[:i+1])
		}
	}
}

// infinite stands for infinity in the corner of the bordered covariance. Any number works that is
// larger than the sum of squares that is subtracted.
const infinite = 1e280

// at computes the means of the targets of a row at x with the relative noise variance noise, and
// returns their variance, noise included, given the targets of rows near, which end at the first −1.
// If rounding makes the covariance indefinite, the noise grows until it is not.
func (c *conditional) at(near []int32, x []float64, noise float64, slopes bool) (variance float64) {
	var more float64
	for {
		c.fill(near, x, noise, slopes)
		for i := range c.n + 1 {
			c.k.Row(i)[i] += more
		}
		if err := la.Cholesky(&c.w, c.k); err == nil {
			break
		}
		if more = max(1e-10*c.cov.amplitude(), 10*more); !(more < infinite) {
			clear(c.mean)
			return c.cov.amplitude()
		}
	}
	r := c.k.At(c.n, c.n)
	for t := range c.mean {
		c.mean[t] = -c.k.At(c.n+1+t, c.n) * r
	}
	return r * r
}

// density returns the sum of the log densities of the targets of row i given the targets of rows near. Its
// gradient by the logarithms of the parameters is added to gradient, unless that is nil.
func (c *conditional) density(near []int32, i int, gradient []float64) (sum float64) {
	v := c.at(near, c.s.x.Row(i), c.s.relative(i), gradient != nil)
	n := c.n
	y := c.s.y.Row(i)
	byVariance := 0.0 // derivative of the density by v
	clear(c.b)
	for t, mean := range c.mean {
		e := y[t] - mean
		ratio := float64(e*e) / v
		sum -= float64(0.5 * (special.Log(2*math.Pi*v) + ratio))
		byVariance += float64(0.5 * (ratio - 1) / v)
		if gradient != nil {
			la.Axpy(e/v, c.k.Row(n + 1 + t)[:n], c.b[:n])
		}
	}
	if gradient == nil {
		return sum
	}
	// dv = ĉᵀ·dK·ĉ and dμ = ĉᵀ·dK·â with ĉ = (−K⁻¹k, 1) and â = (K⁻¹y, 0), where K is of the
	// neighbours and the row. So the density changes by ĉᵀ·dK·b with b = ∂v·ĉ + Σ ∂μ·â.
	l := c.k.Slice(0, n, 0, n)
	copy(c.c, c.k.Row(n)[:n])
	la.Trsv(la.Transpose, l, c.c[:n])
	la.Trsv(la.Transpose, l, c.b[:n])
	la.Scal(-1, c.c[:n])
	c.c[n] = 1
	la.Axpy(byVariance, c.c, c.b)
	for q := range c.sc {
		d := len(c.cov.Parts[q].Scale)
		c.partGradient(q, gradient[:d+1])
		gradient = gradient[d+1:]
	}
	c.restGradient(near, i, gradient)
	return sum
}

// restGradient adds the derivatives by the linear part and the noise.
func (c *conditional) restGradient(near []int32, i int, g []float64) {
	sumC, sumB, own := 0.0, 0.0, 0.0
	for j, v := range c.c {
		r := c.s.relative(i)
		if j < c.n {
			r = c.s.relative(int(near[j]))
		}
		sumC += v
		sumB += c.b[j]
		own += float64(v * c.b[j] * r)
	}
	slopeC, slopeB := c.l.Row(0), c.l.Row(1)
	la.Gemv(&c.w, la.Transpose, 1, c.u, c.c, 0, slopeC)
	la.Gemv(&c.w, la.Transpose, 1, c.u, c.b, 0, slopeB)
	g[0] += float64(c.cov.Linear * (float64(sumC*sumB) + la.Dot(slopeC, slopeB)))
	g[1] += float64(c.cov.Noise * own)
}

// partGradient adds the derivatives by the scales and the amplitude of a part.
func (c *conditional) partGradient(q int, g []float64) {
	part := &c.cov.Parts[q]
	s, p := c.sc[q], c.n+1
	rows, sum := c.c, 0.0
	both := c.k.Data[:p] // sums of rows and columns of H
	clear(both)
	for i, ci := range rows {
		h, k0, dk := c.h.Row(i), c.k0[q].Row(i), c.dk[q].Row(i)
		own, value := 0.0, 0.0
		for j, bj := range c.b {
			v := float64(bj * dk[j])
			value += float64(bj * k0[j])
			own += v
			v = float64(v * ci)
			h[j] = v
			both[j] += v
		}
		both[i] += float64(ci * own)
		sum += float64(ci * value)
	}
	la.Gemm(&c.w, la.NoTrans, la.NoTrans, 1, c.h, s, 0, c.t)
	d := len(part.Scale)
	for i, w := range both {
		t := c.t.Row(i)
		for f, v := range s.Row(i) {
			g[f] += float64(2 * part.Amplitude * v * (float64(w*v) - float64(2*t[f])))
		}
	}
	g[d] += float64(part.Amplitude * sum)
}
