package gram

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Tolerances for given kernel matrices, large enough for float32 round-off.
const (
	asymmetryTolerance = 1e-6 // of the largest entry
	definitenessJitter = 1e-7 // of the trace
)

// checkSemidefinite returns an error for a square matrix that is asymmetric or has an
// eigenvalue clearly below zero. It costs a copy and a Cholesky factorisation.
func checkSemidefinite(k la.Matrix[float64]) error {
	var largest, trace float64
	for i := range k.Rows {
		trace += k.At(i, i)
		for _, v := range k.Row(i) {
			largest = max(largest, math.Abs(v))
		}
	}
	for i := range k.Rows {
		for j := range i {
			if a, b := k.At(i, j), k.At(j, i); math.Abs(a-b) > asymmetryTolerance*largest {
				return fmt.Errorf("not symmetric: X[%d][%d] is %g and X[%d][%d] is %g (AllowIndefinite accepts it)", j, i, a, i, j, b)
			}
		}
	}
	if largest == 0 {
		return nil
	}
	a := k.Clone()
	jitter := float64(definitenessJitter * math.Abs(trace))
	for i := range a.Rows {
		a.Row(i)[i] += jitter
	}
	if err := la.Cholesky(nil, a); err != nil {
		return fmt.Errorf("not positive semidefinite (with %.3g added to its diagonal: %w; AllowIndefinite accepts it)", jitter, err)
	}
	return nil
}
