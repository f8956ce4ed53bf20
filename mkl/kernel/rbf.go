package kernel

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// RBF is the Gaussian kernel
//
//	exp(−‖x−y‖² / (2·Width²)).
//
// Most libraries define the width in this way: it is a standard deviation. Many papers on multiple kernel
// learning, such as Gönen's, write exp(−‖x−y‖²/s²) instead: their s is Scale. At most one of Width, Scale,
// Widths and Medians is set. If none is, Width is the mean distance between training samples.
type RBF struct {
	Width float64 `json:"width,omitempty"` // exp(−d²/(2·Width²))
	Scale float64 `json:"scale,omitempty"` // exp(−d²/Scale²)

	// Widths has one width for each feature (automatic relevance determination):
	// exp(−½·Σ_j (x_j−y_j)²/Widths_j²).
	Widths []float64 `json:"widths,omitempty"`

	// Medians is the width in units of the median distance between two training samples, measured on the
	// features that the kernel sees.
	Medians float64 `json:"-"`

	// ARD makes the fit learn Widths. All of them start at Width or Medians; if neither is set, at the median
	// distance. How they are learned depends on the estimator: by the evidence in MultiGP and
	// MultiGPClassifier, by the evidence of a part of the samples in LandmarkGP and LandmarkClassifier, and
	// with the prior Theta in the probit classifiers. Other estimators reject it.
	ARD bool `json:"-"`
}

func (k RBF) width() width { return width{cmp.Or(k.Width, k.Scale), k.Medians, k.Widths, k.ARD} }

// String implements [Kernel].
func (k RBF) String() string {
	if k.Scale != 0 {
		return "rbf(" + setting("scale", k.Scale) + ")"
	}
	return "rbf(" + k.width().String() + ")"
}

// Check implements [Kernel].
func (k RBF) Check(d int) error {
	if err := k.width().check(d, []string{"Width", "Scale", "Widths", "Medians"}, k.Width, k.Scale, k.Medians); err != nil {
		return err
	}
	if k.ARD && k.Scale != 0 {
		return fmt.Errorf("ARD starts from Width or Medians, and Scale is set")
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Scale", k.Scale), checkLength("Medians", k.Medians))
}

// Statistic implements [Kernel].
func (k RBF) Statistic() Statistic { return Statistic{Kind: SquaredDistance, Widths: k.Widths} }

// Apply implements [Kernel].
func (k RBF) Apply(s []float64) {
	c := -0.5
	switch {
	case k.Scale != 0:
		c = -1 / (k.Scale * k.Scale)
	case k.Widths == nil:
		c = -1 / (2 * k.Width * k.Width)
	}
	la.Scal(c, s)
	la.Exp(s, s)
}

// Properties implements [Kernel].
func (RBF) Properties() Properties { return Properties{Bounded: true, Definite: true, Divisible: true} }

// Missing implements [Kernel].
func (k RBF) Missing() Distance { return k.width().missing() }

// Resolve implements [Kernel].
func (k RBF) Resolve(distance float64) Kernel {
	if w := k.width(); w.missing() != NoDistance {
		k.Width, k.Medians = w.resolved(distance), 0
	}
	return k
}

// Lengths implements [Scaled].
func (k RBF) Lengths() (lengths []float64, each bool) {
	if k.Widths != nil {
		return k.Widths, true
	}
	return []float64{cmp.Or(k.Scale, k.Width)}, false
}

// WithLengths implements [Scaled].
func (k RBF) WithLengths(lengths []float64) Kernel {
	switch {
	case lengths == nil:
		return RBF{ARD: k.ARD}
	case k.ARD || k.Widths != nil:
		return RBF{Widths: lengths}
	case k.Scale != 0:
		return RBF{Scale: lengths[0]}
	}
	return RBF{Width: lengths[0]}
}

// Decay implements [Decaying]: ℓ is Width² or ½·Scale², and d is ½·‖x−y‖².
func (k RBF) Decay() (l, power float64) {
	switch {
	case k.Widths != nil:
		return 0, 2
	case k.Scale != 0:
		return k.Scale * k.Scale / 2, 2
	}
	return k.Width * k.Width, 2
}

// WithDecay implements [Decaying].
func (k RBF) WithDecay(l float64) Kernel {
	if k.Scale != 0 {
		k.Scale = math.Sqrt(2 * l)
	} else {
		k.Width = math.Sqrt(l)
	}
	return k
}

// Distances implements [Decaying].
func (RBF) Distances(s []float64) { la.Scal(0.5, s) }

// Learns implements [Learning].
func (k RBF) Learns() bool { return k.ARD }

// WithLearning implements [Learning].
func (k RBF) WithLearning(learn bool) Kernel {
	if !learn && k.Width == 0 && k.Medians == 0 {
		k.Medians = 1
	}
	k.ARD = learn
	return k
}
