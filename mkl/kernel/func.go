package kernel

import "fmt"

// Func is a kernel given by a Go function, which must be symmetric and safe for concurrent use. Models with such a kernel
// cannot be saved.
type Func struct {
	Name string                       // its notation in results; empty means func
	F    func(x, y []float64) float64 // the kernel of two samples
}

// String implements [Kernel].
func (k Func) String() string {
	if k.Name == "" {
		return "func"
	}
	return k.Name
}

// Check implements [Kernel].
func (k Func) Check(int) error {
	if k.F == nil {
		return fmt.Errorf("F is nil")
	}
	return nil
}

// Statistic implements [Kernel].
func (k Func) Statistic() Statistic { return Statistic{Kind: CustomStatistic, Func: k.F} }

// Apply implements [Kernel].
func (Func) Apply([]float64) {}

// Properties implements [Kernel].
func (Func) Properties() Properties { return Properties{} }

// Missing implements [Kernel].
func (Func) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Func) Resolve(float64) Kernel { return k }
