package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Linear is the inner product Scale·xᵀy. A Scale of 0 stands for 1.
type Linear struct {
	Scale float64
}

// String implements [Kernel].
func (k Linear) String() string {
	if k.Scale == 0 || k.Scale == 1 {
		return "linear"
	}
	return "linear(scale=" + number(k.Scale) + ")"
}

func (k Linear) check(int) error        { return checkLength("Scale", k.Scale) }
func (Linear) statistic() statistic     { return statistic{kind: innerProduct} }
func (Linear) lacks() figure            { return noFigure }
func (k Linear) resolve(float64) Kernel { return k }

func (k Linear) apply(s []float64) {
	if k.Scale != 0 {
		la.Scal(k.Scale, s)
	}
}

func (Linear) bounded() bool { return false }

// Polynomial is (Scale·xᵀy + Offset)^Degree. A Degree of 0 stands for 2, a Scale
// of 0 for 1.
type Polynomial struct {
	Degree int
	Offset float64
	Scale  float64
}

// String implements [Kernel].
func (k Polynomial) String() string {
	k = k.filled()
	return fmt.Sprintf("polynomial(degree=%d,offset=%s,scale=%s)", k.Degree, number(k.Offset), number(k.Scale))
}

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

func (Polynomial) statistic() statistic     { return statistic{kind: innerProduct} }
func (Polynomial) lacks() figure            { return noFigure }
func (k Polynomial) resolve(float64) Kernel { return k.filled() }

func (k Polynomial) filled() Polynomial {
	if k.Degree == 0 {
		k.Degree = 2
	}
	if k.Scale == 0 {
		k.Scale = 1
	}
	return k
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

func (Polynomial) bounded() bool { return false }
