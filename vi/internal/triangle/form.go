package triangle

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// Form computes the quadratic form xᵀLx of a lower triangle L in float32, as Σ x_i·y_i with y = Lx. The bound on its error is
//
//	c·√(Σ x_i²·v_i),
//
// with c and v_i as for a [Triangle]. It is immutable and safe for concurrent use.
type Form struct{ t *Triangle }

// NewForm returns the form of the lower triangle l. The rows of trials are the vectors of the calibration, and want their
// forms. The result is nil where rounding is not small. If coarse, the form is made in integers too, unless they are no gain.
func NewForm(l, trials la.Matrix[float64], want []float64, coarse bool) *Form {
	f := &Form{pack(l)}
	t, s := f.t, NewScratch(l.Rows)
	for q := range trials.Rows {
		got, unit := f.sum(trials.Row(q), s)
		t.factor = max(t.factor, excess(got, want[q], unit))
	}
	if !(t.factor <= math.MaxFloat64) {
		return nil
	}
	if !coarse || l.Rows < leastSteps {
		return f
	}
	d := newSteps(l, trials, twoBytes)
	t.steps = d
	for q := range trials.Rows {
		got, unit := f.sumSteps(trials.Row(q), s)
		d.factor = max(d.factor, excess(got, want[q], unit))
	}
	if !(d.factor <= math.MaxFloat64) {
		t.steps = nil
	}
	return f
}

// Coarse reports whether the form can be asked for in integers.
func (f *Form) Coarse() bool { return f.t.Coarse() }

// Bytes returns the number of bytes that At reads; see [Triangle.Bytes].
func (f *Form) Bytes() int { return f.t.Bytes() }

// At returns xᵀLx and the bound on its error. It does not allocate. If coarse, it is computed in integers, for a form that is Coarse.
func (f *Form) At(x []float64, coarse bool, s *Scratch) (value, bound float64) {
	if coarse {
		value, unit := f.sumSteps(x, s)
		return value, f.t.steps.factor * unit
	}
	value, unit := f.sum(x, s)
	return value, float64(f.t.factor*unit) + float64(f.t.spill*s.self*math.Sqrt(la.SumSq(x)))
}

// sum returns xᵀLx and the error that c = 1 stands for, without what spills.
func (f *Form) sum(x []float64, s *Scratch) (value, unit float64) {
	t := f.t
	n := t.panels.Order
	s.largest = round(s.k[:n], x, 0)
	s.self = s.largest
	for i, v := range x {
		if math.Abs(v) <= negligible*s.largest {
			s.k[i] = 0
		}
	}
	y := s.z[:t.panels.Padded()]
	t.panels.MultiplyPanels(t.begin, t.panels.Padded()/la.PanelRows, s.k[:n], y)
	var squares float64
	for i, v := range y[t.panels.Before():] {
		value += float64(x[i] * float64(v))
		squares += float64(float64(x[i]*x[i]) * t.rows[i])
	}
	return value, s.largest * math.Sqrt(squares)
}

// sumSteps is sum in integers. The unit has all errors.
func (f *Form) sumSteps(x []float64, s *Scratch) (value, unit float64) {
	d := f.t.steps
	d.start(x, &s.steps)
	z := s.wide[:len(x)]
	clear(z)
	d.multiply(f.t.begin, f.t.panels.Padded()/la.PanelRows, x, &s.steps, z)
	return f.ofValues(x, z, s)
}

// ofValues returns what sumSteps does from y.
func (f *Form) ofValues(x, y []float64, s *Scratch) (value, unit float64) {
	d := f.t.steps
	return la.Dot(x, y), d.unitError(d.add(sums{}, 0, x, s.steps.square), false, &s.steps)
}
