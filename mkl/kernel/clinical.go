package kernel

import (
	"fmt"
	"math"
	"slices"
)

// Clinical is the kernel of clinical variables of Daemen and De Moor (2009),
//
//	mean over j of 1 − |x_j−y_j|/(High_j−Low_j),
//
// so that age, grade and blood pressure count alike, whatever their units. A value outside of Low to High counts as the
// nearer end, which keeps the kernel positive semidefinite. A feature whose Low is its High counts 1. Variables without an
// order have the kernel [Categorical] with Overlap. The features must not be standardised.
type Clinical struct {
	// Low and High are the range of each feature. If they are nil the fit takes them from the training samples.
	Low  []float64 `json:"low,omitempty"`
	High []float64 `json:"high,omitempty"`
}

// Ranged is a kernel that needs the range of each feature of the training samples.
type Ranged interface {
	Kernel

	// LacksRange reports whether the ranges are not set.
	LacksRange() bool

	// WithRange returns the kernel with the range of each feature.
	WithRange(low, high []float64) Kernel
}

// LacksRange reports whether a kernel needs the range of each feature of the training samples.
func LacksRange(k Kernel) bool {
	r, ok := k.(Ranged)
	return ok && r.LacksRange()
}

// String implements [Kernel].
func (k Clinical) String() string { return "clinical" }

// Check implements [Kernel].
func (k Clinical) Check(d int) error {
	if k.Low == nil && k.High == nil {
		return nil
	}
	if len(k.Low) != d || len(k.High) != d {
		return fmt.Errorf("Low and High: %d and %d ends where the samples have %d features", len(k.Low), len(k.High), d)
	}
	for j, low := range k.Low {
		if !(low <= k.High[j]) || math.IsInf(k.High[j]-low, 0) {
			return fmt.Errorf("Low[%d] is %g and High[%d] is %g", j, low, j, k.High[j])
		}
	}
	return nil
}

// LacksRange implements [Ranged].
func (k Clinical) LacksRange() bool { return k.Low == nil }

// WithRange implements [Ranged].
func (k Clinical) WithRange(low, high []float64) Kernel {
	return Clinical{slices.Clone(low), slices.Clone(high)}
}

// Statistic implements [Kernel]. It is the kernel itself.
func (k Clinical) Statistic() Statistic {
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) float64 {
		apart := 0.0
		for j, v := range x {
			low, high := k.Low[j], k.High[j]
			if low < high {
				apart += math.Abs(min(max(v, low), high)-min(max(y[j], low), high)) / (high - low)
			}
		}
		return max(0, 1-apart/float64(len(x)))
	}}
}

// Apply implements [Kernel].
func (Clinical) Apply([]float64) {}

// Properties implements [Kernel].
func (Clinical) Properties() Properties { return Properties{Bounded: true, Definite: true} }

// Missing implements [Kernel].
func (Clinical) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Clinical) Resolve(float64) Kernel { return k }
