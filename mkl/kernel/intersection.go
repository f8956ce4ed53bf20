package kernel

import "math"

// Intersection is the histogram intersection kernel Σ_j min(x_j, y_j). For negative values, the positive and the negative
// part of a feature count as two features. The features must not be standardised. Source: Barla, Odone and Verri, 2003.
type Intersection struct{}

// String implements [Kernel].
func (Intersection) String() string { return "intersection" }

// Check implements [Kernel].
func (Intersection) Check(int) error { return nil }

// Statistic implements [Kernel]. It is the kernel itself.
func (Intersection) Statistic() Statistic {
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) (sum float64) {
		for j, v := range x {
			if !opposite(v, y[j]) {
				sum += min(math.Abs(v), math.Abs(y[j]))
			}
		}
		return sum
	}}
}

// Apply implements [Kernel].
func (Intersection) Apply([]float64) {}

// Properties implements [Kernel].
func (Intersection) Properties() Properties { return Properties{Definite: true} }

// Missing implements [Kernel].
func (Intersection) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Intersection) Resolve(float64) Kernel { return k }
