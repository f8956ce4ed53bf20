package kernel

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Matern is the Matérn kernel of functions that are differentiable once or twice, with r = ‖x−y‖/Width:
//
//	(1 + √3·r)·exp(−√3·r)             Smoothness 1.5, the default
//	(1 + √5·r + 5r²/3)·exp(−√5·r)     Smoothness 2.5
//
// [Laplacian] is the kernel of Smoothness ½, and [RBF] the limit for large Smoothness. At most one of Width, Widths and
// Medians is set. If none is, Width is the mean distance between training samples.
type Matern struct {
	Width float64 `json:"width,omitempty"`

	// Widths has one width for each feature: r² is Σ_j (x_j−y_j)²/Widths_j².
	Widths []float64 `json:"widths,omitempty"`

	Smoothness float64 `json:"smoothness,omitempty"` // 1.5 or 2.5

	// Medians is the width in units of the median distance between two training samples.
	Medians float64 `json:"-"`
}

func (k Matern) width() width { return width{k.Width, k.Medians, k.Widths, false} }

// String implements [Kernel].
func (k Matern) String() string {
	return "matern(" + k.width().String() + ",smoothness=" + number(cmp.Or(k.Smoothness, 1.5)) + ")"
}

// Check implements [Kernel].
func (k Matern) Check(d int) error {
	if k.Smoothness != 0 && k.Smoothness != 1.5 && k.Smoothness != 2.5 {
		return fmt.Errorf("Smoothness is %g, not 1.5 or 2.5", k.Smoothness)
	}
	if err := k.width().check(d, []string{"Width", "Widths", "Medians"}, k.Width, k.Medians); err != nil {
		return err
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel].
func (k Matern) Statistic() Statistic { return Statistic{Kind: SquaredDistance, Widths: k.Widths} }

// Apply implements [Kernel].
func (k Matern) Apply(s []float64) {
	c := k.decay()
	for i, v := range s {
		u := float64(c * math.Sqrt(max(0, v)))
		decay := special.Exp(-u)
		factor := 1 + u
		if k.Smoothness == 2.5 {
			factor += float64(u*u) / 3
		}
		s[i] = 0
		if decay > 0 { // u may be infinite
			s[i] = min(1, factor*decay)
		}
	}
}

// Fall implements [Radial]. With c = √3/Width or √5/Width it is c²·exp(−u), or c²·(1 + u)/3·exp(−u).
func (k Matern) Fall(s []float64) {
	c := k.decay()
	for i, v := range s {
		u := float64(c * math.Sqrt(max(0, v)))
		fall := c * c * special.Exp(-u)
		if k.Smoothness == 2.5 && fall > 0 {
			fall *= (1 + u) / 3
		}
		s[i] = fall
	}
}

// decay returns c = √3/Width or √5/Width: u = c·‖x−y‖.
func (k Matern) decay() float64 {
	c := math.Sqrt(3)
	if k.Smoothness == 2.5 {
		c = math.Sqrt(5)
	}
	if k.Widths == nil {
		c /= k.Width
	}
	return c
}

// Properties implements [Kernel].
func (Matern) Properties() Properties { return Properties{Bounded: true, Definite: true} }

// Missing implements [Kernel].
func (k Matern) Missing() Distance { return k.width().missing() }

// Resolve implements [Kernel].
func (k Matern) Resolve(distance float64) Kernel {
	if w := k.width(); w.missing() != NoDistance {
		k.Width, k.Medians = w.resolved(distance), 0
	}
	k.Smoothness = cmp.Or(k.Smoothness, 1.5)
	return k
}

// Lengths implements [Scaled].
func (k Matern) Lengths() (lengths []float64, each bool) { return k.width().lengths() }

// WithLengths implements [Scaled].
func (k Matern) WithLengths(lengths []float64) Kernel {
	k.Width, k.Widths, k.Medians = k.width().withLengths(lengths)
	return k
}
