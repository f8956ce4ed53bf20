package kernel

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Polynomial is (Scale·xᵀy + Offset)^Degree. A Degree of 0 means 2, and a Scale of 0 means 1.
type Polynomial struct {
	Scale  float64 `json:"scale,omitempty"`
	Degree int     `json:"degree,omitempty"` // from 1 to 64
	Offset float64 `json:"offset,omitempty"` // from 0 up
}

// String implements [Kernel].
func (k Polynomial) String() string {
	k = k.filled()
	return fmt.Sprintf("polynomial(degree=%d,offset=%s,scale=%s)", k.Degree, number(k.Offset), number(k.Scale))
}

// Check implements [Kernel].
func (k Polynomial) Check(int) error {
	switch {
	case k.Degree < 0 || k.Degree > 64:
		return fmt.Errorf("Degree is %d, not between 1 and 64", k.Degree)
	case !(k.Offset >= 0) || math.IsInf(k.Offset, 0):
		return fmt.Errorf("Offset is %g, not a number from 0 up", k.Offset)
	case !(k.Scale >= 0) || math.IsInf(k.Scale, 0):
		return fmt.Errorf("Scale is %g, not a number from 0 up", k.Scale)
	}
	return nil
}

// Statistic implements [Kernel].
func (Polynomial) Statistic() Statistic { return Statistic{Kind: InnerProduct} }

// Apply implements [Kernel].
func (k Polynomial) Apply(s []float64) {
	for i, v := range s {
		base := float64(k.Scale*v) + k.Offset
		p := base
		for range k.Degree - 1 {
			p *= base
		}
		s[i] = p
	}
}

// Properties implements [Kernel].
func (Polynomial) Properties() Properties { return Properties{Definite: true} }

// Missing implements [Kernel].
func (Polynomial) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Polynomial) Resolve(float64) Kernel { return k.filled() }

// Lengths implements [Scaled]: Scale, and Offset if it is not 0.
func (k Polynomial) Lengths() (lengths []float64, each bool) {
	lengths = []float64{k.filled().Scale}
	if k.Offset > 0 {
		lengths = append(lengths, k.Offset)
	}
	return lengths, false
}

// WithLengths implements [Scaled].
func (k Polynomial) WithLengths(lengths []float64) Kernel {
	if lengths == nil {
		return k
	}
	if k.Scale = lengths[0]; k.Offset > 0 {
		k.Offset = lengths[1]
	}
	return k
}

// Slopes implements [Sloped].
func (k Polynomial) Slopes(x, y, dst []float64) {
	k = k.filled()
	scaled := float64(k.Scale * la.Dot(x, y))
	slope := float64(k.Degree)
	for range k.Degree - 1 {
		slope *= scaled + k.Offset
	}
	if dst[0] = slope * scaled; k.Offset > 0 {
		dst[1] = slope * k.Offset
	}
}

func (k Polynomial) filled() Polynomial {
	if k.Degree == 0 {
		k.Degree = 2
	}
	if k.Scale == 0 {
		k.Scale = 1
	}
	return k
}
