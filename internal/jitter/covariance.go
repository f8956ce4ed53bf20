package jitter

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Covariance reports a matrix that is not symmetric and, but for rounding, positive definite.
func Covariance(x la.Matrix[float64]) error {
	c := x.Clone()
	for i := range c.Rows {
		for k := range i {
			if c.At(i, k) != c.At(k, i) {
				return fmt.Errorf("elements (%d, %d) and (%d, %d) differ", i, k, k, i)
			}
		}
		if !(c.At(i, i) > 0) {
			return fmt.Errorf("element (%d, %d) is %g", i, i, c.At(i, i))
		}
	}
	// Scaled to unit diagonal, the test does not depend on the weights' units;
	// the jitter allows for round-off.
	scale := make([]float64, c.Rows)
	for i := range scale {
		scale[i] = 1 / math.Sqrt(c.At(i, i))
	}
	for i := range scale {
		for k := range i + 1 {
			c.Set(i, k, c.At(i, k)*scale[i]*scale[k])
		}
		c.Row(i)[i] = 1 + 1e-10
	}
	return la.Cholesky(nil, c)
}
