package mkl

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
)

// Kernel is a measure of how similar two samples are. The kinds of kernels are
// those of this package; [Func] makes one of any function.
//
// A width or scale of 0 stands for the mean distance between training samples, and
// a width in Medians for a multiple of their median distance; fitting replaces it
// by that figure, which the model keeps.
type Kernel interface {
	// String returns the kernel in the notation of the command line, such as
	// rbf(width=0.5).
	String() string

	// check reports settings that make no sense for samples of d features.
	check(d int) error

	// statistic says what the kernel is a function of.
	statistic() statistic

	// lacks says of what figure of the training samples the kernel's width or scale
	// is still to be made, and resolve makes it of that.
	lacks() figure
	resolve(distance float64) Kernel

	// apply turns statistics into kernel values, in place.
	apply(s []float64)

	// bounded reports whether the kernel's values lie in [0, 1] for any samples.
	bounded() bool
}

// figure is a figure of the distances between training samples.
type figure int

const (
	noFigure figure = iota
	meanDistance
	medianDistance
)

func (f figure) String() string { return [...]string{"", "mean", "median"}[f] }

// statistic is the quantity of two samples that a kernel is a function of.
type statistic struct {
	kind   statisticKind
	widths []float64 // features are divided by these first; nil for none
	f      func(x, y []float64) float64
}

// isDistance reports whether the statistic of every sample with itself is 0.
func (s statistic) isDistance() bool {
	return s.kind == squaredDistance || s.kind == manhattanDistance || s.kind == disagreement
}

type statisticKind int

const (
	squaredDistance   statisticKind = iota // Σ (x_j − y_j)²
	manhattanDistance                      // Σ |x_j − y_j|
	disagreement                           // the share of features with x_j ≠ y_j
	innerProduct                           // Σ x_j·y_j
	nothing                                // 0
	given                                  // the input itself: a precomputed kernel or distance
	custom                                 // f(x, y)
)

// Constant is the kernel that is 1 for any two samples. Its function is a
// constant: in a sum of Gaussian processes it takes the place of a bias.
type Constant struct{}

// Function is not a kernel but stands for none: each column that its view sees is a function that is known, of
// which targets of a [MultiTask] are sparse combinations beside the latent functions of the other views. Other
// models refuse it. With Standardize the functions have the same scale, as the prior of their weights has it,
// and no constant part.
type Function struct{}

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

// Laplacian is the exponential kernel exp(−d/Width), where d is the Euclidean
// distance, or with Manhattan the sum of absolute differences. At most one of
// Width, Widths and Medians is set.
type Laplacian struct {
	Width     float64
	Manhattan bool

	// Widths has one width for each feature: exp(−Σ_j |x_j−y_j|/Widths_j). The
	// distance is that of Manhattan, which need not be set.
	Widths []float64

	// Medians and ARD are those of [RBF], for the kernel's own distance; with ARD
	// that is Manhattan.
	Medians float64
	ARD     bool
}

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
	Width float64

	// Medians is that of [RBF], for the share h.
	Medians float64

	// Overlap makes the kernel 1−h, the share of features that agree.
	Overlap bool
}

// Linear is the inner product Scale·xᵀy. A Scale of 0 stands for 1.
type Linear struct {
	Scale float64
}

// Polynomial is (Scale·xᵀy + Offset)^Degree. A Degree of 0 stands for 2, a Scale
// of 0 for 1.
type Polynomial struct {
	Degree int
	Offset float64
	Scale  float64
}

// FromDistance is exp(−d/Scale) of distances that are given: the view's X holds
// the distance of each sample (row) to each basis point (column). A Scale of 0
// stands for the mean of all entries of the training distances.
//
// Not every distance makes a positive definite kernel. Gaussian processes
// ([MultiGP], [MultiGPClassifier], [MultiTask]) need one, other models do not.
type FromDistance struct {
	Scale float64
}

// Precomputed is a kernel that is given: the view's X holds the kernel between
// each sample (row) and each basis point (column). In a prediction the basis
// points are still those of the training.
//
// A square training matrix is taken as the kernel of the training samples with
// themselves, which has to be symmetric and positive semidefinite. Otherwise it
// is most likely a mistake, such as a matrix of distances, and an error.
// Rectangular matrices have other basis points than the training samples.
type Precomputed struct {
	// AllowIndefinite accepts a square matrix that is asymmetric or indefinite.
	// Most models use kernels only as features of a sample and stay valid; Gaussian
	// processes ([MultiGP], [MultiGPClassifier], [MultiTask]) refuse it all the same.
	AllowIndefinite bool
}

// Func is the kernel of a function, which must be safe for concurrent use and
// symmetric. Models with such a kernel cannot be saved.
type Func struct {
	Name string                       // its notation in results; empty stands for func
	F    func(x, y []float64) float64 // the kernel of two samples
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// setting formats a width or scale.
func setting(name string, v float64) string {
	if v == 0 {
		return name + "=mean"
	}
	return name + "=" + number(v)
}

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

// String implements [Kernel].
func (Constant) String() string { return "constant" }

// String implements [Kernel].
func (Function) String() string { return "function" }

// String implements [Kernel].
func (k RBF) String() string {
	if k.Scale != 0 {
		return "rbf(" + setting("scale", k.Scale) + ")"
	}
	return "rbf(" + widthSetting(k.Width, k.Medians, k.Widths, k.ARD) + ")"
}

// String implements [Kernel].
func (k Laplacian) String() string {
	s := "laplacian(" + widthSetting(k.Width, k.Medians, k.Widths, k.ARD)
	if k.manhattan() {
		s += ",distance=manhattan"
	}
	return s + ")"
}

// String implements [Kernel].
func (k Categorical) String() string {
	if k.Overlap {
		return "categorical(overlap)"
	}
	return "categorical(" + widthSetting(k.Width, k.Medians, nil, false) + ")"
}

// String implements [Kernel].
func (k Linear) String() string {
	if k.Scale == 0 || k.Scale == 1 {
		return "linear"
	}
	return "linear(scale=" + number(k.Scale) + ")"
}

// String implements [Kernel].
func (k Polynomial) String() string {
	k = k.filled()
	return fmt.Sprintf("polynomial(degree=%d,offset=%s,scale=%s)", k.Degree, number(k.Offset), number(k.Scale))
}

// String implements [Kernel].
func (k FromDistance) String() string { return "distance(" + setting("scale", k.Scale) + ")" }

// String implements [Kernel].
func (Precomputed) String() string { return "precomputed" }

// String implements [Kernel].
func (k Func) String() string {
	if k.Name == "" {
		return "func"
	}
	return k.Name
}

// checkLength reports a width or scale whose square or reciprocal is not an
// ordinary number; 0 is left to be resolved.
func checkLength(name string, v float64) error {
	if v == 0 || v >= 1e-150 && v <= 1e150 {
		return nil
	}
	return fmt.Errorf("%s is %g, not a positive number between 1e-150 and 1e150", name, v)
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

func (k Constant) check(int) error { return nil }

func (Function) check(int) error { return nil }

func (k RBF) check(d int) error {
	if err := checkWidths(d, k.Widths, k.ARD, []string{"Width", "Scale", "Widths", "Medians"}, k.Width, k.Scale, k.Medians); err != nil {
		return err
	}
	if k.ARD && k.Scale != 0 {
		return fmt.Errorf("ARD starts from Width or Medians, and Scale is set")
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Scale", k.Scale), checkLength("Medians", k.Medians))
}

func (k Laplacian) check(d int) error {
	if err := checkWidths(d, k.Widths, k.ARD, []string{"Width", "Widths", "Medians"}, k.Width, k.Medians); err != nil {
		return err
	}
	return cmp.Or(checkLength("Width", k.Width), checkLength("Medians", k.Medians))
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

func (k Linear) check(int) error { return checkLength("Scale", k.Scale) }

func (k Polynomial) check(int) error {
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

func (k FromDistance) check(int) error { return checkLength("Scale", k.Scale) }

func (Precomputed) check(int) error { return nil }

func (k Func) check(int) error {
	if k.F == nil {
		return fmt.Errorf("F is nil")
	}
	return nil
}

func (k RBF) statistic() statistic { return statistic{kind: squaredDistance, widths: k.Widths} }

func (k Laplacian) statistic() statistic {
	if k.manhattan() {
		return statistic{kind: manhattanDistance, widths: k.Widths}
	}
	return statistic{kind: squaredDistance}
}

func (k Laplacian) manhattan() bool { return k.Manhattan || k.ARD || k.Widths != nil }

func (Constant) statistic() statistic     { return statistic{kind: nothing} }
func (Function) statistic() statistic     { return statistic{kind: nothing} }
func (Categorical) statistic() statistic  { return statistic{kind: disagreement} }
func (Linear) statistic() statistic       { return statistic{kind: innerProduct} }
func (Polynomial) statistic() statistic   { return statistic{kind: innerProduct} }
func (FromDistance) statistic() statistic { return statistic{kind: given} }
func (Precomputed) statistic() statistic  { return statistic{kind: given} }
func (k Func) statistic() statistic       { return statistic{kind: custom, f: k.F} }

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

func (k RBF) lacks() figure {
	return lacksWidth(cmp.Or(k.Width, k.Scale), k.Medians, k.Widths, k.ARD)
}

func (k Laplacian) lacks() figure { return lacksWidth(k.Width, k.Medians, k.Widths, k.ARD) }

func (k Categorical) lacks() figure {
	if k.Overlap {
		return noFigure
	}
	return lacksWidth(k.Width, k.Medians, nil, false)
}

func (k FromDistance) lacks() figure {
	if k.Scale != 0 {
		return noFigure
	}
	return meanDistance
}

func (Constant) lacks() figure    { return noFigure }
func (Function) lacks() figure    { return noFigure }
func (Linear) lacks() figure      { return noFigure }
func (Polynomial) lacks() figure  { return noFigure }
func (Precomputed) lacks() figure { return noFigure }
func (Func) lacks() figure        { return noFigure }

func (k RBF) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Width, k.Medians = cmp.Or(k.Medians, 1)*distance, 0
	}
	return k
}

func (k Laplacian) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Width, k.Medians = cmp.Or(k.Medians, 1)*distance, 0
	}
	return k
}

func (k Categorical) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Width, k.Medians = cmp.Or(k.Medians, 1)*distance, 0
	}
	return k
}

func (k FromDistance) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Scale = distance
	}
	return k
}

func (k Constant) resolve(float64) Kernel    { return k }
func (k Function) resolve(float64) Kernel    { return k }
func (k Linear) resolve(float64) Kernel      { return k }
func (k Polynomial) resolve(float64) Kernel  { return k.filled() }
func (k Precomputed) resolve(float64) Kernel { return k }
func (k Func) resolve(float64) Kernel        { return k }

func (k Polynomial) filled() Polynomial {
	if k.Degree == 0 {
		k.Degree = 2
	}
	if k.Scale == 0 {
		k.Scale = 1
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

func (Function) apply(s []float64) { clear(s) }

func (Constant) apply(s []float64) {
	for i := range s {
		s[i] = 1
	}
}

func (k Linear) apply(s []float64) {
	if k.Scale != 0 {
		la.Scal(k.Scale, s)
	}
}

func (k Polynomial) apply(s []float64) {
	for i, v := range s {
		base := float64(k.Scale*v) + k.Offset
		p := base
		for range k.Degree - 1 {
			p *= base
		}
		s[i] = p
	}
}

func (k FromDistance) apply(s []float64) {
	la.Scal(-1/k.Scale, s)
	la.Exp(s, s)
}

func (Precomputed) apply([]float64) {}
func (Func) apply([]float64)        {}

func (Constant) bounded() bool     { return true }
func (Function) bounded() bool     { return true }
func (RBF) bounded() bool          { return true }
func (Laplacian) bounded() bool    { return true }
func (Categorical) bounded() bool  { return true }
func (Linear) bounded() bool       { return false }
func (Polynomial) bounded() bool   { return false }
func (FromDistance) bounded() bool { return true }
func (Precomputed) bounded() bool  { return false }
func (Func) bounded() bool         { return false }
