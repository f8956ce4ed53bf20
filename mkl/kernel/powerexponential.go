package kernel

import (
	"cmp"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// PowerExponential is the kernel exp(−(‖x−y‖/Width)^Power), with 0 < Power ≤ 2; a Power of 0 means 1.5.
// With Power 1 it is [Laplacian]; with Power 2 it is [RBF], whose Width is this Width divided by √2. At most one of Width
// and Medians is set. If neither is, Width is the mean distance between training samples.
type PowerExponential struct {
	Width float64 `json:"width,omitempty"`
	Power float64 `json:"power,omitempty"`

	// Medians is the width in units of the median distance between two training samples.
	Medians float64 `json:"-"`
}

func (k PowerExponential) width() width { return width{width: k.Width, medians: k.Medians} }

func (k PowerExponential) power() float64 { return cmp.Or(k.Power, 1.5) }

// String implements [Kernel].
func (k PowerExponential) String() string {
	return "power-exponential(" + k.width().String() + ",power=" + number(k.power()) + ")"
}

// Check implements [Kernel].
func (k PowerExponential) Check(d int) error {
	if k.Power != 0 && !(k.Power >= 0.01 && k.Power <= 2) {
		return fmt.Errorf("Power is %g, not a number between 0.01 and 2", k.Power)
	}
	if err := k.width().check(d, []string{"Width", "Medians"}, k.Width, k.Medians); err != nil {
		return err
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel].
func (PowerExponential) Statistic() Statistic { return Statistic{Kind: SquaredDistance} }

// Apply implements [Kernel].
func (k PowerExponential) Apply(s []float64) {
	c := 1 / (k.Width * k.Width)
	la.Scal(c, s)
	k.Distances(s)
	la.Scal(-1, s)
	la.Exp(s, s)
}

// Properties implements [Kernel].
func (PowerExponential) Properties() Properties {
	return Properties{Bounded: true, Definite: true, Divisible: true}
}

// Missing implements [Kernel].
func (k PowerExponential) Missing() Distance { return k.width().missing() }

// Resolve implements [Kernel].
func (k PowerExponential) Resolve(distance float64) Kernel {
	if w := k.width(); w.missing() != NoDistance {
		k.Width, k.Medians = w.resolved(distance), 0
	}
	k.Power = k.power()
	return k
}

// Lengths implements [Scaled].
func (k PowerExponential) Lengths() (lengths []float64, each bool) { return k.width().lengths() }

// WithLengths implements [Scaled].
func (k PowerExponential) WithLengths(lengths []float64) Kernel {
	k.Width, _, k.Medians = k.width().withLengths(lengths)
	return k
}

// Decay implements [Decaying]: ℓ is Width^Power.
func (k PowerExponential) Decay() (l, power float64) {
	if k.Width == 0 {
		return 0, k.power()
	}
	return special.Exp(k.power() * special.Log(k.Width)), k.power()
}

// WithDecay implements [Decaying].
func (k PowerExponential) WithDecay(l float64) Kernel {
	k.Width = special.Exp(special.Log(l) / k.power())
	return k
}

// Distances implements [Decaying]: d is ‖x−y‖^Power.
func (k PowerExponential) Distances(s []float64) {
	half := 0.5 * k.power()
	for i, v := range s {
		s[i] = 0
		if v > 0 {
			s[i] = special.Exp(half * special.Log(v))
		}
	}
}
