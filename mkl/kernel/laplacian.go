package kernel

import (
	"cmp"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Laplacian is the exponential kernel exp(−d/Width). The distance d is Euclidean, or with Manhattan the sum of
// absolute differences. At most one of Width, Widths and Medians is set. If none is, Width is the mean distance
// between training samples.
type Laplacian struct {
	Width float64 `json:"width,omitempty"` // in the units of the distance

	// Widths has one width for each feature: exp(−Σ_j |x_j−y_j|/Widths_j). The distance is then the Manhattan distance,
	// whether or not Manhattan is set.
	Widths []float64 `json:"widths,omitempty"`

	Manhattan bool `json:"manhattan,omitempty"` // d is Σ_j |x_j−y_j|

	// Medians is the width in units of the median distance between two training samples.
	Medians float64 `json:"-"`

	// ARD makes the fit learn Widths, as for [RBF]. The distance is then the Manhattan distance.
	ARD bool `json:"-"`
}

func (k Laplacian) width() width    { return width{k.Width, k.Medians, k.Widths, k.ARD} }
func (k Laplacian) manhattan() bool { return k.Manhattan || k.ARD || k.Widths != nil }

// String implements [Kernel].
func (k Laplacian) String() string {
	s := "laplacian(" + k.width().String()
	if k.manhattan() {
		s += ",distance=manhattan"
	}
	return s + ")"
}

// Check implements [Kernel].
func (k Laplacian) Check(d int) error {
	if err := k.width().check(d, []string{"Width", "Widths", "Medians"}, k.Width, k.Medians); err != nil {
		return err
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel].
func (k Laplacian) Statistic() Statistic {
	if k.manhattan() {
		return Statistic{Kind: ManhattanDistance, Widths: k.Widths}
	}
	return Statistic{Kind: SquaredDistance}
}

// Apply implements [Kernel].
func (k Laplacian) Apply(s []float64) {
	if !k.manhattan() {
		for i, v := range s {
			s[i] = math.Sqrt(v)
		}
	}
	c := -1.0
	if k.Widths == nil {
		c = -1 / k.Width
	}
	la.Scal(c, s)
	la.Exp(s, s)
}

// Properties implements [Kernel].
func (Laplacian) Properties() Properties {
	return Properties{Bounded: true, Definite: true, Divisible: true}
}

// Missing implements [Kernel].
func (k Laplacian) Missing() Distance { return k.width().missing() }

// Resolve implements [Kernel].
func (k Laplacian) Resolve(distance float64) Kernel {
	if w := k.width(); w.missing() != NoDistance {
		k.Width, k.Medians = w.resolved(distance), 0
	}
	return k
}

// Lengths implements [Scaled].
func (k Laplacian) Lengths() (lengths []float64, each bool) {
	if k.Widths != nil {
		return k.Widths, true
	}
	return []float64{k.Width}, false
}

// WithLengths implements [Scaled].
func (k Laplacian) WithLengths(lengths []float64) Kernel {
	switch {
	case lengths == nil:
		return Laplacian{Manhattan: k.Manhattan, ARD: k.ARD}
	case k.ARD || k.Widths != nil:
		return Laplacian{Widths: lengths, Manhattan: true}
	}
	return Laplacian{Width: lengths[0], Manhattan: k.Manhattan}
}

// Decay implements [Decaying]: ℓ is Width.
func (k Laplacian) Decay() (l, power float64) {
	if k.Widths != nil {
		return 0, 1
	}
	return k.Width, 1
}

// WithDecay implements [Decaying].
func (k Laplacian) WithDecay(l float64) Kernel {
	k.Width = l
	return k
}

// Distances implements [Decaying].
func (k Laplacian) Distances(s []float64) {
	if !k.manhattan() {
		for i, v := range s {
			s[i] = math.Sqrt(max(0, v))
		}
	}
}

// Learns implements [Learning].
func (k Laplacian) Learns() bool { return k.ARD }

// WithLearning implements [Learning].
func (k Laplacian) WithLearning(learn bool) Kernel {
	if !learn && k.Width == 0 && k.Medians == 0 {
		k.Medians = 1
	}
	k.ARD, k.Manhattan = learn, k.Manhattan || !learn
	return k
}
