package mkl

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/bmkl/bmkl/la"
)

// RBF is the Gaussian kernel
//
//	exp(−‖x−y‖² / (2·Width²)),
//
// as in most libraries; a width is a standard deviation. Many papers on multiple
// kernel learning, Gönen's among them, write exp(−‖x−y‖²/s²) instead: that is
// Scale. At most one of Width, Scale, Widths and Medians is set.
type RBF struct {
	Width float64 // exp(−d²/(2·Width²))
	Scale float64 // exp(−d²/Scale²)

	// Widths has one width for each feature (automatic relevance
	// determination): exp(−½·Σ_j (x_j−y_j)²/Widths_j²).
	Widths []float64

	// Medians is the width in units of the median distance between two training
	// samples, as the kernel sees them.
	Medians float64

	// ARD lets the fit learn Widths. All start at Width or Medians, or if neither is
	// set at the median distance, about which they have a log-normal prior in
	// [MultiGP] and [MultiGPClassifier], by which [LandmarkGP] and [LandmarkClassifier]
	// learn them from some of the samples, and that of Theta in [ProbitClassifier].
	// Others refuse.
	ARD bool
}

// String implements [Kernel].
func (k RBF) String() string {
	if k.Scale != 0 {
		return "rbf(" + setting("scale", k.Scale) + ")"
	}
	return "rbf(" + widthSetting(k.Width, k.Medians, k.Widths, k.ARD) + ")"
}

func (k RBF) check(d int) error {
	if err := checkWidths(d, k.Widths, k.ARD, []string{"Width", "Scale", "Widths", "Medians"}, k.Width, k.Scale, k.Medians); err != nil {
		return err
	}
	if k.ARD && k.Scale != 0 {
		return fmt.Errorf("ARD starts from Width or Medians, and Scale is set")
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Scale", k.Scale), checkLength("Medians", k.Medians))
}

func (k RBF) statistic() statistic { return statistic{kind: squaredDistance, widths: k.Widths} }

func (k RBF) lacks() figure {
	return lacksWidth(cmp.Or(k.Width, k.Scale), k.Medians, k.Widths, k.ARD)
}

func (k RBF) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Width, k.Medians = cmp.Or(k.Medians, 1)*distance, 0
	}
	return k
}

func (k RBF) apply(s []float64) {
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

func (RBF) bounded() bool { return true }

// Laplacian is the exponential kernel exp(−d/Width), where d is the Euclidean
// distance, or with Manhattan the sum of absolute differences. At most one of
// Width, Widths and Medians is set.
type Laplacian struct {
	Width     float64 // in the units of the distance
	Manhattan bool    // d is Σ_j |x_j−y_j|

	// Widths has one width for each feature: exp(−Σ_j |x_j−y_j|/Widths_j). The
	// distance is that of Manhattan, which need not be set.
	Widths []float64

	// Medians and ARD are those of [RBF], for the kernel's own distance; with ARD
	// that is Manhattan.
	Medians float64
	ARD     bool
}

// String implements [Kernel].
func (k Laplacian) String() string {
	s := "laplacian(" + widthSetting(k.Width, k.Medians, k.Widths, k.ARD)
	if k.manhattan() {
		s += ",distance=manhattan"
	}
	return s + ")"
}

func (k Laplacian) check(d int) error {
	if err := checkWidths(d, k.Widths, k.ARD, []string{"Width", "Widths", "Medians"}, k.Width, k.Medians); err != nil {
		return err
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
}

func (k Laplacian) statistic() statistic {
	if k.manhattan() {
		return statistic{kind: manhattanDistance, widths: k.Widths}
	}
	return statistic{kind: squaredDistance}
}

func (k Laplacian) manhattan() bool { return k.Manhattan || k.ARD || k.Widths != nil }
func (k Laplacian) lacks() figure   { return lacksWidth(k.Width, k.Medians, k.Widths, k.ARD) }

func (k Laplacian) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Width, k.Medians = cmp.Or(k.Medians, 1)*distance, 0
	}
	return k
}

func (k Laplacian) apply(s []float64) {
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

func (Laplacian) bounded() bool { return true }

// Categorical is a kernel of categories: a feature's values are codes, which are
// equal or not, and whose order and size mean nothing. With h the share of features in which
// two samples differ (the Hamming distance, over the number of features) it is
//
//	exp(−h/Width),
//
// a product over the d features of 1 where they agree and exp(−1/(d·Width)) where they do
// not. At most one of Width, Medians and Overlap is set. A value that the training
// samples do not have agrees with none of theirs. Views with this kernel are
// neither standardised nor turned into ranks.
type Categorical struct {
	Width float64 // of the share h

	// Medians is that of [RBF], for the share h.
	Medians float64

	// Overlap makes the kernel 1−h, the share of features that agree.
	Overlap bool
}

// String implements [Kernel].
func (k Categorical) String() string {
	if k.Overlap {
		return "categorical(overlap)"
	}
	return "categorical(" + widthSetting(k.Width, k.Medians, nil, false) + ")"
}

func (k Categorical) check(int) error {
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

func (Categorical) statistic() statistic { return statistic{kind: disagreement} }

func (k Categorical) lacks() figure {
	if k.Overlap {
		return noFigure
	}
	return lacksWidth(k.Width, k.Medians, nil, false)
}

func (k Categorical) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Width, k.Medians = cmp.Or(k.Medians, 1)*distance, 0
	}
	return k
}

func (k Categorical) apply(s []float64) {
	if k.Overlap {
		for i, h := range s {
			s[i] = 1 - h
		}
		return
	}
	la.Scal(-1/k.Width, s)
	la.Exp(s, s)
}

func (Categorical) bounded() bool { return true }

// widthSetting formats the width of an RBF or a Laplacian.
func widthSetting(width, medians float64, widths []float64, ard bool) string {
	var s string
	switch {
	case widths != nil:
		parts := make([]string, len(widths))
		for i, w := range widths {
			parts[i] = number(w)
		}
		s = "width=[" + strings.Join(parts, ",") + "]"
	case medians != 0:
		s = "medians=" + number(medians)
	case width != 0 || !ard:
		s = setting("width", width)
	}
	switch {
	case ard && s == "":
		s = "ard"
	case ard:
		s += ",ard"
	}
	return s
}

// checkWidths reports widths of samples of d features that are no widths. Of the
// named settings at most one may be set.
func checkWidths(d int, widths []float64, ard bool, names []string, settings ...float64) error {
	set := 0
	if widths != nil {
		set++
	}
	for _, v := range settings {
		if v != 0 {
			set++
		}
	}
	last := len(names) - 1
	switch {
	case set > 1:
		return fmt.Errorf("more than one of %s and %s is set", strings.Join(names[:last], ", "), names[last])
	case ard && widths != nil:
		return fmt.Errorf("ARD learns Widths, which are set")
	case widths != nil && len(widths) != d:
		return fmt.Errorf("Widths: %d widths where the samples have %d features", len(widths), d)
	}
	for j, w := range widths {
		if w == 0 {
			return fmt.Errorf("Widths[%d] is 0", j)
		}
		if err := checkLength(fmt.Sprintf("Widths[%d]", j), w); err != nil {
			return err
		}
	}
	return nil
}

// lacksWidth says what a kernel's width is still to be made of.
func lacksWidth(width, medians float64, widths []float64, ard bool) figure {
	switch {
	case width != 0 || widths != nil:
		return noFigure
	case medians != 0 || ard:
		return medianDistance
	}
	return meanDistance
}
