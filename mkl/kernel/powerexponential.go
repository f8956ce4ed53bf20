package kernel

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// PowerExponential is the kernel exp(−(‖x−y‖/Width)^Power) of the distance ‖d‖ = (Σ_j |d_j|^Norm)^(1/Norm). It is positive
// definite for any number of features where 0 < Power ≤ Norm ≤ 2 (Schoenberg, 1938), and Check refuses others. A Norm of 0
// means 2, the Euclidean distance; 1 is the Manhattan distance. A Power of 0 means 1.5, or Norm if that is smaller.
//
// With Power 1 it is [Laplacian]; with Power 2 it is [RBF], whose Width is this Width divided by √2. At most one of Width
// and Medians is set. If neither is, Width is the mean distance between training samples.
type PowerExponential struct {
	Width float64 `json:"width,omitempty"`
	Power float64 `json:"power,omitempty"`
	Norm  float64 `json:"norm,omitempty"`

	// Medians is the width in units of the median distance between two training samples.
	Medians float64 `json:"-"`
}

func (k PowerExponential) width() width { return width{width: k.Width, medians: k.Medians} }

func (k PowerExponential) norm() float64  { return cmp.Or(k.Norm, 2) }
func (k PowerExponential) power() float64 { return cmp.Or(k.Power, min(1.5, k.norm())) }

// String implements [Kernel].
func (k PowerExponential) String() string {
	s := "power-exponential(" + k.width().String() + ",power=" + number(k.power())
	if k.norm() != 2 {
		s += ",norm=" + number(k.Norm)
	}
	return s + ")"
}

// Check implements [Kernel].
func (k PowerExponential) Check(d int) error {
	if k.Norm != 0 && !(k.Norm >= 0.01 && k.Norm <= 2) {
		return fmt.Errorf("Norm is %g, not a number between 0.01 and 2", k.Norm)
	}
	if k.Power != 0 && !(k.Power >= 0.01 && k.Power <= k.norm()) {
		return fmt.Errorf("Power is %g, not a number between 0.01 and Norm, which is %g", k.Power, k.norm())
	}
	if err := k.width().check(d, []string{"Width", "Medians"}, k.Width, k.Medians); err != nil {
		return err
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel].
func (k PowerExponential) Statistic() Statistic {
	switch p := k.norm(); p {
	case 2:
		return Statistic{Kind: SquaredDistance}
	case 1:
		return Statistic{Kind: ManhattanDistance}
	default:
		return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) (sum float64) {
			for j, v := range x {
				sum += power(math.Abs(v-y[j]), p)
			}
			return power(sum, 1/p)
		}}
	}
}

// power returns v^p of a number v from 0 up.
func power(v, p float64) float64 {
	if v <= 0 {
		return 0
	}
	return special.Exp(p * special.Log(v))
}

// Apply implements [Kernel].
func (k PowerExponential) Apply(s []float64) {
	c := 1 / k.Width
	if k.norm() == 2 { // the statistic is a square
		c = 1 / (k.Width * k.Width)
	}
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
	p := k.power()
	if k.norm() == 2 {
		p *= 0.5
	}
	for i, v := range s {
		s[i] = power(v, p)
	}
}
