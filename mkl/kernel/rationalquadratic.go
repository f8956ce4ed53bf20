package kernel

import (
	"cmp"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
)

// RationalQuadratic is the kernel
//
//	(1 + ‖x−y‖²/(2·Alpha·Width²))^−Alpha,
//
// a mixture of [RBF] kernels of many widths. The smaller Alpha is, the more the widths differ; 0 means 1. At most one of
// Width, Widths and Medians is set. If none is, Width is the mean distance between training samples.
type RationalQuadratic struct {
	Width float64 `json:"width,omitempty"`

	// Widths has one width for each feature: Σ_j (x_j−y_j)²/Widths_j² replaces ‖x−y‖²/Width².
	Widths []float64 `json:"widths,omitempty"`

	Alpha float64 `json:"alpha,omitempty"`

	// Medians is the width in units of the median distance between two training samples.
	Medians float64 `json:"-"`
}

func (k RationalQuadratic) width() width { return width{k.Width, k.Medians, k.Widths, false} }

// String implements [Kernel].
func (k RationalQuadratic) String() string {
	return "rational-quadratic(" + k.width().String() + ",alpha=" + number(cmp.Or(k.Alpha, 1)) + ")"
}

// Check implements [Kernel].
func (k RationalQuadratic) Check(d int) error {
	if k.Alpha != 0 && !(k.Alpha >= 1e-6 && k.Alpha <= 1e6) {
		return fmt.Errorf("Alpha is %g, not a number between 1e-6 and 1e6", k.Alpha)
	}
	if err := k.width().check(d, []string{"Width", "Widths", "Medians"}, k.Width, k.Medians); err != nil {
		return err
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel].
func (k RationalQuadratic) Statistic() Statistic {
	return Statistic{Kind: SquaredDistance, Widths: k.Widths}
}

// Apply implements [Kernel].
func (k RationalQuadratic) Apply(s []float64) {
	alpha, c := cmp.Or(k.Alpha, 1), k.rate()
	for i, v := range s {
		s[i] = special.Exp(-float64(alpha * special.Log1p(max(0, c*v))))
	}
}

// Fall implements [Radial].
func (k RationalQuadratic) Fall(s []float64) {
	alpha, c := cmp.Or(k.Alpha, 1), k.rate()
	for i, v := range s {
		s[i] = 2 * alpha * c * special.Exp(-float64((alpha+1)*special.Log1p(max(0, c*v))))
	}
}

// rate returns the factor of the squared distance, 1/(2·Alpha·Width²), or 1/(2·Alpha) with Widths.
func (k RationalQuadratic) rate() float64 {
	c := 1 / (2 * cmp.Or(k.Alpha, 1))
	if k.Widths == nil {
		c /= k.Width * k.Width
	}
	return c
}

// Properties implements [Kernel].
func (RationalQuadratic) Properties() Properties {
	return Properties{Bounded: true, Definite: true, Divisible: true}
}

// Missing implements [Kernel].
func (k RationalQuadratic) Missing() Distance { return k.width().missing() }

// Resolve implements [Kernel].
func (k RationalQuadratic) Resolve(distance float64) Kernel {
	if w := k.width(); w.missing() != NoDistance {
		k.Width, k.Medians = w.resolved(distance), 0
	}
	k.Alpha = cmp.Or(k.Alpha, 1)
	return k
}

// Lengths implements [Scaled].
func (k RationalQuadratic) Lengths() (lengths []float64, each bool) { return k.width().lengths() }

// WithLengths implements [Scaled].
func (k RationalQuadratic) WithLengths(lengths []float64) Kernel {
	k.Width, k.Widths, k.Medians = k.width().withLengths(lengths)
	return k
}
