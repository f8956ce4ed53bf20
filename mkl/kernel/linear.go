package kernel

import "github.com/bmkl/bmkl/la"

// Linear is the inner product Scale·xᵀy. A Scale of 0 means 1.
type Linear struct {
	Scale float64 `json:"scale,omitempty"`
}

// String implements [Kernel].
func (k Linear) String() string {
	if k.Scale == 0 || k.Scale == 1 {
		return "linear"
	}
	return "linear(scale=" + number(k.Scale) + ")"
}

// Check implements [Kernel].
func (k Linear) Check(int) error { return checkLength("Scale", k.Scale) }

// Statistic implements [Kernel].
func (Linear) Statistic() Statistic { return Statistic{Kind: InnerProduct} }

// Apply implements [Kernel].
func (k Linear) Apply(s []float64) {
	if k.Scale != 0 {
		la.Scal(k.Scale, s)
	}
}

// Properties implements [Kernel].
func (Linear) Properties() Properties { return Properties{Definite: true} }

// Missing implements [Kernel].
func (Linear) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Linear) Resolve(float64) Kernel { return k }
