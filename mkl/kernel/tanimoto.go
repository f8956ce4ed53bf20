package kernel

import "math"

// Tanimoto is the kernel of fingerprints and counts, also called MinMax, Ruzicka or Jaccard,
//
//	Σ_j min(x_j, y_j) / Σ_j max(x_j, y_j).
//
// For features that are 0 or 1 it is the number of features that both samples have, divided by the number that at least one
// has: xᵀy/(xᵀx + yᵀy − xᵀy). For negative values, the positive and the negative part of a feature count as two features.
// Two samples whose features are all 0 have the kernel 1. The features must not be standardised.
type Tanimoto struct{}

// String implements [Kernel].
func (Tanimoto) String() string { return "tanimoto" }

// Check implements [Kernel].
func (Tanimoto) Check(int) error { return nil }

// Statistic implements [Kernel].
func (Tanimoto) Statistic() Statistic { return Statistic{Kind: CustomStatistic, Func: overlap} }

// overlap returns the Tanimoto kernel of two samples.
func overlap(x, y []float64) float64 {
	var both, one float64
	for j, v := range x {
		w := y[j]
		if opposite(v, w) {
			one += math.Abs(v) + math.Abs(w)
			continue
		}
		v, w = math.Abs(v), math.Abs(w)
		both += min(v, w)
		one += max(v, w)
	}
	if one == 0 {
		return 1
	}
	return both / one
}

// Apply implements [Kernel].
func (Tanimoto) Apply([]float64) {}

// Properties implements [Kernel].
func (Tanimoto) Properties() Properties { return Properties{Bounded: true, Definite: true} }

// Missing implements [Kernel].
func (Tanimoto) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Tanimoto) Resolve(float64) Kernel { return k }
