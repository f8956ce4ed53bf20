package mkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// FromDistance is exp(−d/Scale) of distances that are given: the view's X holds
// the distance of each sample (row) to each basis point (column). A Scale of 0
// stands for the mean of all entries of the training distances.
//
// Not every distance makes a positive definite kernel. Gaussian processes
// ([MultiGP], [MultiGPClassifier], [MultiTask]) need one, other models do not.
type FromDistance struct {
	Scale float64 // in the units of the distances
}

// String implements [Kernel].
func (k FromDistance) String() string { return "distance(" + setting("scale", k.Scale) + ")" }

func (k FromDistance) check(int) error    { return checkLength("Scale", k.Scale) }
func (FromDistance) statistic() statistic { return statistic{kind: given} }

func (k FromDistance) lacks() figure {
	if k.Scale != 0 {
		return noFigure
	}
	return meanDistance
}

func (k FromDistance) resolve(distance float64) Kernel {
	if k.lacks() != noFigure {
		k.Scale = distance
	}
	return k
}

func (k FromDistance) apply(s []float64) {
	la.Scal(-1/k.Scale, s)
	la.Exp(s, s)
}

func (FromDistance) bounded() bool { return true }

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

// String implements [Kernel].
func (Precomputed) String() string { return "precomputed" }

func (Precomputed) check(int) error          { return nil }
func (Precomputed) statistic() statistic     { return statistic{kind: given} }
func (Precomputed) lacks() figure            { return noFigure }
func (k Precomputed) resolve(float64) Kernel { return k }
func (Precomputed) apply([]float64)          {}
func (Precomputed) bounded() bool            { return false }

// Func is the kernel of a function, which must be safe for concurrent use and
// symmetric. Models with such a kernel cannot be saved.
type Func struct {
	Name string                       // its notation in results; empty stands for func
	F    func(x, y []float64) float64 // the kernel of two samples
}

// String implements [Kernel].
func (k Func) String() string {
	if k.Name == "" {
		return "func"
	}
	return k.Name
}

func (k Func) check(int) error {
	if k.F == nil {
		return fmt.Errorf("F is nil")
	}
	return nil
}

func (k Func) statistic() statistic   { return statistic{kind: custom, f: k.F} }
func (Func) lacks() figure            { return noFigure }
func (k Func) resolve(float64) Kernel { return k }
func (Func) apply([]float64)          {}
func (Func) bounded() bool            { return false }
