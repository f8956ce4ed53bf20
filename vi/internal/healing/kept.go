package healing

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Asymmetry is the share of its largest entry by which F may differ from Fᵀ. It is
// wide enough for kernels rounded to float32.
const Asymmetry = 1e-6

// NewWeightPrecision returns the prior precision of a new sample's weight, with which it
// is as large as the others are.
func NewWeightPrecision(mean, variance []float64) float64 {
	var squares float64
	for d, v := range mean {
		squares += float64(v*v) + max(0, variance[d])
	}
	return min(float64(len(mean))/squares, math.MaxFloat64) // finite where all weights vanish
}

// IsSymmetric reports whether x differs from its transpose by no more than a share
// of its largest entry.
func IsSymmetric(x la.Matrix[float64], share float64) bool {
	var largest, apart float64
	for i := range x.Rows {
		for j, v := range x.Row(i)[:i+1] {
			largest = max(largest, math.Abs(v))
			apart = max(apart, math.Abs(v-x.At(j, i)))
		}
	}
	return apart <= share*largest
}

// CheckNewWeights checks the prior precisions of a new sample's weights, which shall be n.
func CheckNewWeights(precision []float64, n int) error {
	if len(precision) != n {
		return fmt.Errorf("Healing.Precision: %d entries where %d are needed", len(precision), n)
	}
	for o, v := range precision {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("Healing.Precision[%d] is %g", o, v)
		}
	}
	return nil
}
