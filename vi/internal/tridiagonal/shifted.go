package tridiagonal

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Shifted is I + λT = LDLᵀ of a form of order N. Each of its methods costs N.
type Shifted struct {
	LogDet float64 // log |I + λK|

	form   *Form
	lambda float64
	d, l   []float64 // D; L below its diagonal, from 1
}

// NewShifted returns room for forms of order N.
func NewShifted(N int) Shifted { return Shifted{d: make([]float64, N), l: make([]float64, N)} }

// leastPivot is the least pivot that is accepted. The pivots of a positive semidefinite K are at least 1
// in exact arithmetic. Where rounding makes one smaller than leastPivot, few digits of the results are
// right.
const leastPivot = 0.5

// Set makes s the factors of I + λT of f. It reports false, and s is of no use, if a pivot is below
// [leastPivot] or not finite: K is then not positive semidefinite, at least not as it was rounded.
func (s *Shifted) Set(f *Form, lambda float64) bool {
	s.form, s.lambda, s.LogDet = f, lambda, 0
	for n, e := range f.Diagonal { // D = 1 + λe
		if n > 0 {
			b := f.Below[n]
			s.l[n] = float64(lambda*b) / s.d[n-1]
			e -= float64(b * s.l[n])
		}
		d := 1 + float64(lambda*e)
		if !(d >= leastPivot && d <= math.MaxFloat64) {
			return false
		}
		s.d[n] = d
		s.LogDet += special.Log1p(float64(lambda * e))
	}
	return true
}

// Solve replaces x by (I + λT)⁻¹x.
func (s *Shifted) Solve(x []float64) {
	for n := 1; n < len(x); n++ {
		x[n] -= float64(s.l[n] * x[n-1])
	}
	for n, d := range s.d {
		x[n] /= d
	}
	for n := len(x) - 1; n > 0; n-- {
		x[n-1] -= float64(s.l[n] * x[n])
	}
}

// Inverse stores the diagonal of (I + λT)⁻¹, a sum of terms that are not negative, and returns tr
// K(I + λK)⁻¹, which is (N − tr (I + λK)⁻¹)/λ.
func (s *Shifted) Inverse(diagonal []float64) (trace float64) {
	N := len(s.d)
	var sum, own, after float64
	for n := N - 1; n >= 0; n-- {
		x := 1 / s.d[n]
		if n < N-1 {
			x += float64(float64(s.l[n+1]*s.l[n+1]) * after)
		}
		diagonal[n], after = x, x
		t := s.form.Diagonal[n]
		own += t
		sum += x
		// Element (n, n−1) of the inverse is −l·x.
		trace += float64((t - float64(2*float64(s.form.Below[n]*s.l[n]))) * x)
	}
	// (N − tr (I + λK)⁻¹)/λ is the same. The round-off of the quotient is that in N/λ, the round-off of the
	// sum that in tr K.
	if N := float64(N); float64(s.lambda*own) >= N {
		return (N - sum) / s.lambda
	}
	return trace
}
