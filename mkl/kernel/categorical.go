package kernel

import (
	"cmp"
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Categorical is a kernel of categories. The values of a feature are codes: two codes are equal or not, and their
// order and size have no meaning. With h the share of features in which two samples differ (the Hamming distance
// divided by the number d of features) the kernel is
//
//	exp(−h/Width).
//
// It is a product over the features of 1 where they agree and exp(−1/(d·Width)) where they do not. At most one of
// Width, Medians and Overlap is set. If none is, Width is the mean of h over the training samples. A code that no
// training sample has agrees with none of them. Views with this kernel exclude Standardize and Ranks.
type Categorical struct {
	Width float64 `json:"width,omitempty"` // in units of the share h

	// Medians is the width in units of the median of h over pairs of training samples.
	Medians float64 `json:"-"`

	// Overlap makes the kernel 1−h, the share of features in which two samples agree.
	Overlap bool `json:"overlap,omitempty"`
}

func (k Categorical) width() width { return width{width: k.Width, medians: k.Medians} }

// String implements [Kernel].
func (k Categorical) String() string {
	if k.Overlap {
		return "categorical(overlap)"
	}
	return "categorical(" + k.width().String() + ")"
}

// Check implements [Kernel].
func (k Categorical) Check(int) error {
	set := 0
	for _, is := range []bool{k.Width != 0, k.Medians != 0, k.Overlap} {
		if is {
			set++
		}
	}
	if set > 1 {
		return fmt.Errorf("more than one of Width, Medians and Overlap is set")
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel].
func (Categorical) Statistic() Statistic { return Statistic{Kind: Disagreement} }

// Apply implements [Kernel].
func (k Categorical) Apply(s []float64) {
	if k.Overlap {
		for i, h := range s {
			s[i] = 1 - h
		}
		return
	}
	la.Scal(-1/k.Width, s)
	la.Exp(s, s)
}

// Properties implements [Kernel].
func (k Categorical) Properties() Properties {
	return Properties{Bounded: true, Definite: true, Divisible: !k.Overlap}
}

// Missing implements [Kernel].
func (k Categorical) Missing() Distance {
	if k.Overlap {
		return NoDistance
	}
	return k.width().missing()
}

// Resolve implements [Kernel].
func (k Categorical) Resolve(distance float64) Kernel {
	if k.Missing() != NoDistance {
		k.Width, k.Medians = k.width().resolved(distance), 0
	}
	return k
}

// Lengths implements [Scaled]; Overlap has no length.
func (k Categorical) Lengths() (lengths []float64, each bool) {
	if k.Overlap {
		return nil, false
	}
	return []float64{k.Width}, false
}

// WithLengths implements [Scaled].
func (k Categorical) WithLengths(lengths []float64) Kernel {
	switch {
	case k.Overlap:
		return k
	case lengths == nil:
		return Categorical{}
	}
	return Categorical{Width: lengths[0]}
}

// Decay implements [Decaying]: ℓ is Width.
func (k Categorical) Decay() (l, power float64) {
	if k.Overlap {
		return 0, 1
	}
	return k.Width, 1
}

// WithDecay implements [Decaying].
func (k Categorical) WithDecay(l float64) Kernel {
	k.Width = l
	return k
}

// Distances implements [Decaying].
func (Categorical) Distances([]float64) {}
