// Package roots finds zeros of functions of one variable.
package roots

import "math"

// Find returns the zero in [a, b] of the increasing function f to the last few
// digits, by inverse quadratic interpolation safeguarded with bisection.
//
// Source: T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for
// finding the zero of a nonlinear function without using derivatives", Adv. Eng.
// Software 28 (1997).
func Find(f func(float64) float64, a, b float64) float64 { return FindWithin(f, a, b, 0) }

// FindWithin is Find to the given absolute tolerance.
func FindWithin(f func(float64) float64, a, b, within float64) float64 {
	if a == b {
		return a
	}
	fa, fb := f(a), f(b)
	c, fc := a, fa
	t := 0.5
	for range 200 {
		x := a + float64(t*(b-a))
		fx := f(x)
		if (fx > 0) == (fa > 0) {
			c, fc = a, fa
		} else {
			c, b, fc, fb = b, a, fb, fa
		}
		a, fa = x, fx
		best, width := a, math.Abs(b-a)
		if math.Abs(fb) < math.Abs(fa) {
			best = b
		}
		tol := max(0.5*within, float64(2e-16*math.Abs(best))+1e-300)
		if fa == 0 || width <= 2*tol {
			return best
		}
		xi, phi := (a-b)/(c-b), (fa-fb)/(fc-fb)
		t = 0.5
		if phi*phi < xi && (1-phi)*(1-phi) < 1-xi {
			t = fa/(fb-fa)*fc/(fb-fc) + (c-a)/(b-a)*fa/(fc-fa)*fb/(fc-fb)
		}
		if least := tol / width; t < least {
			t = least
		} else if t > 1-least {
			t = 1 - least
		}
	}
	return a
}

// Ridge returns where −A·ln s − B/s − C·s is highest over s > 0: the positive root of
// C·s² + A·s − B = 0, in the form in which nothing cancels. It is the length of a step along a
// ridge of the bound, see docs/theory/acceleration.md. ok reports whether s is positive and finite.
func Ridge(a, b, c float64) (s float64, ok bool) {
	root := math.Sqrt(float64(a*a) + float64(4*float64(b*c)))
	if a >= 0 {
		s = 2 * b / (a + root)
	} else {
		s = (root - a) / (2 * c)
	}
	return s, s > 0 && !math.IsInf(s, 0)
}
