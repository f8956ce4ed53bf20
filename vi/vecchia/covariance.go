package vecchia

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Shape is how the correlation of two values falls with the distance r of their rows.
type Shape int

// The shapes.
const (
	RBF    Shape = iota // exp(−r²/2): smooth functions
	Matern              // (1 + √3·r)·exp(−√3·r): functions that can be differentiated once
)

// String returns the name of the shape.
func (s Shape) String() string {
	switch s {
	case RBF:
		return "RBF"
	case Matern:
		return "Matérn 3/2"
	}
	return "unknown shape"
}

// values replaces squared distances r² by correlations.
func (s Shape) values(k []float64) {
	if s == RBF {
		la.Scal(-0.5, k)
		la.Exp(k, k)
		return
	}
	la.Scal(3, k)
	var e [256]float64
	for len(k) > 0 {
		n := min(len(k), len(e))
		la.Matern(k[:n], e[:n])
		k = k[n:]
	}
}

// slopes replaces squared distances in k by correlations, and stores their derivatives by r² in dk.
func (s Shape) slopes(k, dk []float64) {
	if s == RBF {
		la.Scal(-0.5, k)
		la.Exp(k, k)
		for i, v := range k {
			dk[i] = -0.5 * v
		}
		return
	}
	la.Scal(3, k)
	la.Matern(k, dk)
	la.Scal(-1.5, dk)
}

// Part is a term of a covariance: Amplitude times the correlation of a shape at the distance
//
//	r² = Σ_f (Scale_f·(x_f − x'_f))².
type Part struct {
	Shape     Shape
	Amplitude float64   // a variance
	Scale     []float64 // the inverse width of each feature
}

// Covariance is the covariance of the targets of two rows,
//
//	Σ_p part_p(x, x') + Linear·(1 + x·x') + Noise,
//
// the last term for a row with itself, times the relative variance of the row's noise.
type Covariance struct {
	Parts  []Part  // at least one
	Linear float64 // the prior variance of the constant and of each slope
	Noise  float64 // a variance
}

// clone returns a copy of c.
func (c *Covariance) clone() *Covariance {
	n := *c
	n.Parts = append([]Part(nil), c.Parts...)
	for i := range n.Parts {
		n.Parts[i].Scale = append([]float64(nil), c.Parts[i].Scale...)
	}
	return &n
}

// check reports what is no covariance of so many features.
func (c *Covariance) check(features int) error {
	if len(c.Parts) == 0 || !positive(c.Linear, c.Noise) {
		return fmt.Errorf("a covariance of %d parts with the linear part %g and noise %g", len(c.Parts), c.Linear, c.Noise)
	}
	for i, p := range c.Parts {
		if p.Shape != RBF && p.Shape != Matern || len(p.Scale) != features || !positive(p.Amplitude) || !positive(p.Scale...) {
			return fmt.Errorf("part %d of a covariance: amplitude %g, %d scales of %d features", i, p.Amplitude, len(p.Scale), features)
		}
	}
	return nil
}

// positive reports whether all x are positive and finite.
func positive(x ...float64) bool {
	for _, v := range x {
		if !(v > 0) || math.IsInf(v, 1) {
			return false
		}
	}
	return true
}

// amplitude returns the prior variance of the parts together.
func (c *Covariance) amplitude() (s float64) {
	for _, p := range c.Parts {
		s += p.Amplitude
	}
	return s
}

// metric returns the scales of the features by which rows are near to each other: for small
// distances 1 − r²/2 is the correlation of all parts together, with RBF for the shape of each.
func (c *Covariance) metric() []float64 {
	m := make([]float64, len(c.Parts[0].Scale))
	for _, p := range c.Parts {
		for f, w := range p.Scale {
			m[f] += float64(p.Amplitude * w * w)
		}
	}
	a := c.amplitude()
	for f := range m {
		m[f] = math.Sqrt(m[f] / a)
	}
	return m
}

// scaled returns the rows of x with feature f times by[f], in float32.
func scaled(x la.Matrix[float64], by []float64) la.Matrix[float32] {
	s := la.NewMatrix[float32](x.Rows, x.Cols)
	for i := range x.Rows {
		row := s.Row(i)
		for f, v := range x.Row(i) {
			row[f] = float32(v * by[f])
		}
	}
	return s
}
