package kernel

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// ChiSquare is the kernel of histograms and counts
//
//	exp(−χ²/Width),  χ² = Σ_j (x_j−y_j)²/(x_j+y_j),
//
// or with Additive Σ_j 2·x_j·y_j/(x_j+y_j). Terms 0/0 count 0. For negative values, the positive and the negative part of
// a feature count as two features. At most one of Width, Medians and Additive is set. If none is, Width is the mean of χ²
// over the training samples. The features must not be standardised. Sources: Zhang, Marszałek, Lazebnik and Schmid, 2007;
// Vedaldi and Zisserman, 2012.
type ChiSquare struct {
	Width float64 `json:"width,omitempty"` // in units of χ²

	// Additive makes the kernel a sum over the features, which is linear in the size of the histograms.
	Additive bool `json:"additive,omitempty"`

	// Medians is the width in units of the median of χ² over pairs of training samples.
	Medians float64 `json:"-"`
}

func (k ChiSquare) width() width { return width{width: k.Width, medians: k.Medians} }

// String implements [Kernel].
func (k ChiSquare) String() string {
	if k.Additive {
		return "chi2(additive)"
	}
	return "chi2(" + k.width().String() + ")"
}

// Check implements [Kernel].
func (k ChiSquare) Check(int) error {
	set := 0
	for _, is := range []bool{k.Width != 0, k.Medians != 0, k.Additive} {
		if is {
			set++
		}
	}
	if set > 1 {
		return fmt.Errorf("more than one of Width, Medians and Additive is set")
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel]. It is χ², or with Additive the kernel itself.
func (k ChiSquare) Statistic() Statistic {
	if k.Additive {
		return Statistic{Kind: CustomStatistic, Func: harmonic}
	}
	return Statistic{Kind: CustomStatistic, Func: chiSquare}
}

// opposite reports whether two values have different signs: they share nothing.
func opposite(v, w float64) bool { return v > 0 && w < 0 || v < 0 && w > 0 }

// chiSquare returns Σ_j (x_j−y_j)²/(x_j+y_j), where parts of opposite signs are features of their own.
func chiSquare(x, y []float64) (sum float64) {
	for j, v := range x {
		w := y[j]
		both := math.Abs(v) + math.Abs(w)
		switch {
		case both == 0:
		case opposite(v, w):
			sum += both
		default:
			d := v - w
			sum += float64(d / both * d)
		}
	}
	return sum
}

// harmonic returns Σ_j 2·x_j·y_j/(x_j+y_j), where parts of opposite signs are features of their own.
func harmonic(x, y []float64) (sum float64) {
	for j, v := range x {
		w := y[j]
		if both := math.Abs(v) + math.Abs(w); both != 0 && !opposite(v, w) {
			sum += float64(2 * math.Abs(v) * (math.Abs(w) / both))
		}
	}
	return sum
}

// Apply implements [Kernel].
func (k ChiSquare) Apply(s []float64) {
	if !k.Additive {
		la.Scal(-1/k.Width, s)
		la.Exp(s, s)
	}
}

// Properties implements [Kernel].
func (k ChiSquare) Properties() Properties {
	return Properties{Bounded: !k.Additive, Definite: true, Divisible: !k.Additive}
}

// Missing implements [Kernel].
func (k ChiSquare) Missing() Distance {
	if k.Additive {
		return NoDistance
	}
	return k.width().missing()
}

// Resolve implements [Kernel].
func (k ChiSquare) Resolve(distance float64) Kernel {
	if k.Missing() != NoDistance {
		k.Width, k.Medians = k.width().resolved(distance), 0
	}
	return k
}

// Lengths implements [Scaled]; Additive has no length.
func (k ChiSquare) Lengths() (lengths []float64, each bool) {
	if k.Additive {
		return nil, false
	}
	return []float64{k.Width}, false
}

// WithLengths implements [Scaled].
func (k ChiSquare) WithLengths(lengths []float64) Kernel {
	switch {
	case k.Additive:
		return k
	case lengths == nil:
		return ChiSquare{}
	}
	return ChiSquare{Width: lengths[0]}
}

// Decay implements [Decaying]: ℓ is Width.
func (k ChiSquare) Decay() (l, power float64) {
	if k.Additive {
		return 0, 1
	}
	return k.Width, 1
}

// WithDecay implements [Decaying].
func (k ChiSquare) WithDecay(l float64) Kernel {
	k.Width = l
	return k
}

// Distances implements [Decaying].
func (ChiSquare) Distances([]float64) {}
