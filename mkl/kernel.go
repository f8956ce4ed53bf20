package mkl

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
)

// Kernel is a measure of how similar two samples are. The kinds of kernels are
// those of this package; [Func] makes one of any function.
//
// A width or scale of 0 stands for the mean distance between training samples;
// fitting replaces it by that figure, which the model keeps.
type Kernel interface {
	// String returns the kernel in the notation of the command line, such as
	// rbf(width=0.5).
	String() string

	// check reports settings that make no sense for samples of d features.
	check(d int) error

	// statistic says what the kernel is a function of.
	statistic() statistic

	// resolve returns the kernel with width or scale mean if it has none.
	resolve(mean float64) Kernel
	resolved() bool

	// apply turns statistics into kernel values, in place.
	apply(s []float64)

	// bounded reports whether the kernel's values lie in [0, 1] for any samples.
	bounded() bool
}

// statistic is the quantity of two samples that a kernel is a function of.
type statistic struct {
	kind   statisticKind
	widths []float64 // features are divided by these first; nil for none
	f      func(x, y []float64) float64
}

type statisticKind int

const (
	squaredDistance   statisticKind = iota // Σ (x_j − y_j)²
	manhattanDistance                      // Σ |x_j − y_j|
	innerProduct                           // Σ x_j·y_j
	given                                  // the input itself: a precomputed kernel or distance
	custom                                 // f(x, y)
)

// RBF is the Gaussian kernel
//
//	exp(−‖x−y‖² / (2·Width²)),
//
// as in most libraries; a width is a standard deviation. Many papers on multiple
// kernel learning, Gönen's among them, write exp(−‖x−y‖²/s²) instead: that is
// Scale. At most one of Width, Scale and Widths is set.
type RBF struct {
	Width float64 // exp(−d²/(2·Width²))
	Scale float64 // exp(−d²/Scale²)

	// Widths has one width for each feature (automatic relevance
	// determination): exp(−½·Σ_j (x_j−y_j)²/Widths_j²).
	Widths []float64
}

// Laplacian is the exponential kernel exp(−d/Width), where d is the Euclidean
// distance, or with Manhattan the sum of absolute differences.
type Laplacian struct {
	Width     float64
	Manhattan bool
}

// Linear is the inner product xᵀy.
type Linear struct{}

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

// String implements [Kernel].
func (k RBF) String() string {
	switch {
	case k.Widths != nil:
		parts := make([]string, len(k.Widths))
		for i, w := range k.Widths {
			parts[i] = number(w)
		}
		return "rbf(width=[" + strings.Join(parts, ",") + "])"
	case k.Scale != 0:
		return "rbf(" + setting("scale", k.Scale) + ")"
	}
	return "rbf(" + setting("width", k.Width) + ")"
}

// String implements [Kernel].
func (k Laplacian) String() string {
	s := "laplacian(" + setting("width", k.Width)
	if k.Manhattan {
		s += ",distance=manhattan"
	}
	return s + ")"
}

// String implements [Kernel].
func (Linear) String() string { return "linear" }

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

func (k RBF) check(d int) error {
	set := 0
	for _, on := range []bool{k.Width != 0, k.Scale != 0, k.Widths != nil} {
		if on {
			set++
		}
	}
	if set > 1 {
		return fmt.Errorf("more than one of Width, Scale and Widths is set")
	}
	if k.Widths != nil && len(k.Widths) != d {
		return fmt.Errorf("Widths: %d widths where the samples have %d features", len(k.Widths), d)
	}
	for j, w := range k.Widths {
		if w == 0 {
			return fmt.Errorf("Widths[%d] is 0", j)
		}
		if err := checkLength(fmt.Sprintf("Widths[%d]", j), w); err != nil {
			return err
		}
	}
	if err := checkLength("Scale", k.Scale); err != nil {
		return err
	}
	return checkLength("Width", k.Width)
}

func (k Laplacian) check(int) error { return checkLength("Width", k.Width) }

func (Linear) check(int) error { return nil }

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
	if k.Manhattan {
		return statistic{kind: manhattanDistance}
	}
	return statistic{kind: squaredDistance}
}

func (Linear) statistic() statistic       { return statistic{kind: innerProduct} }
func (Polynomial) statistic() statistic   { return statistic{kind: innerProduct} }
func (FromDistance) statistic() statistic { return statistic{kind: given} }
func (Precomputed) statistic() statistic  { return statistic{kind: given} }
func (k Func) statistic() statistic       { return statistic{kind: custom, f: k.F} }

func (k RBF) resolved() bool          { return k.Width != 0 || k.Scale != 0 || k.Widths != nil }
func (k Laplacian) resolved() bool    { return k.Width != 0 }
func (Linear) resolved() bool         { return true }
func (Polynomial) resolved() bool     { return true }
func (k FromDistance) resolved() bool { return k.Scale != 0 }
func (Precomputed) resolved() bool    { return true }
func (Func) resolved() bool           { return true }

func (k RBF) resolve(mean float64) Kernel {
	if !k.resolved() {
		k.Width = mean
	}
	return k
}

func (k Laplacian) resolve(mean float64) Kernel {
	if !k.resolved() {
		k.Width = mean
	}
	return k
}

func (k FromDistance) resolve(mean float64) Kernel {
	if !k.resolved() {
		k.Scale = mean
	}
	return k
}

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
	if !k.Manhattan {
		for i, v := range s {
			s[i] = math.Sqrt(v)
		}
	}
	la.Scal(-1/k.Width, s)
	la.Exp(s, s)
}

func (Linear) apply([]float64) {}

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

func (RBF) bounded() bool          { return true }
func (Laplacian) bounded() bool    { return true }
func (Linear) bounded() bool       { return false }
func (Polynomial) bounded() bool   { return false }
func (FromDistance) bounded() bool { return true }
func (Precomputed) bounded() bool  { return false }
func (Func) bounded() bool         { return false }
