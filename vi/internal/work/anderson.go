package work

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Anderson extrapolates a fixed-point iteration. A sweep maps the coordinates x that it
// starts from to g(x). Where the coordinates come near their fixed point the map is nearly
// linear, and of all combinations of the last ones
//
//	g(x_k) − Σ_j c_j·(g(x_{j+1}) − g(x_j))
//
// extrapolate chooses that whose residual, the same combination of g(x) − x, is the
// shortest: the fixed point, if as few directions move as are remembered. It promises
// nothing of a bound: Sweep takes back what lowers it.
//
// Source: D. G. Anderson, "Iterative procedures for nonlinear integral equations", Journal
// of the ACM 12 (1965); H. F. Walker and P. Ni, "Anderson acceleration for fixed-point
// iterations", SIAM Journal on Numerical Analysis 49 (2011).
type Anderson struct {
	coordinates []coordinates

	x, g, r        []float64   // of the last sweep: start, end, and the way between
	oldG, oldR     []float64   // of the sweep before it
	dg, dr         [][]float64 // differences of the last sweeps
	known, next    int         // differences that are remembered, and where the next goes
	started, again bool        // there was a sweep; there were two

	normal la.Matrix[float64] // depth×depth
	rhs    []float64          // depth
}

// coordinates are a part of the state, taken by their logarithms if they are positive.
type coordinates struct {
	values []float64
	logs   bool
}

// depth is the number of directions that are remembered.
const depth = 6

// Of adds a part of the state, which must stay where it is; logs says that it is positive
// and taken by its logarithms.
func (a *Anderson) Of(logs bool, x []float64) {
	a.coordinates = append(a.coordinates, coordinates{x, logs})
	n := len(a.g) + len(x)
	a.x, a.g, a.r = make([]float64, n), make([]float64, n), make([]float64, n)
}

// read stores the coordinates of the present state in dst.
func (a *Anderson) read(dst []float64) {
	for _, c := range a.coordinates {
		copy(dst, c.values)
		if c.logs {
			for i, v := range c.values {
				dst[i] = special.Log(v)
			}
		}
		dst = dst[len(c.values):]
	}
}

// write makes x the coordinates of the present state.
func (a *Anderson) write(x []float64) {
	for _, c := range a.coordinates {
		copy(c.values, x)
		if c.logs {
			for i, v := range x[:len(c.values)] {
				c.values[i] = special.Exp(v)
			}
		}
		x = x[len(c.values):]
	}
}

// forget forgets all sweeps so far.
func (a *Anderson) forget() { a.known, a.next, a.started, a.again = 0, 0, false, false }

// State is the state of an ascent of a bound.
type State interface {
	Bound() float64
	Keep()
	Restore()
}

// Sweep makes a sweep of s from coordinates that are extrapolated. One that lowers the
// bound, or fails, is taken back, and made again from where the last one ended.
func (a *Anderson) Sweep(s State, sweep func(done func(string)) error, done func(string)) error {
	last := math.Inf(-1)
	if a.started {
		last = s.Bound()
	}
	s.Keep()
	if !a.extrapolate() {
		return sweep(done)
	}
	if err := sweep(nil); err == nil && s.Bound() >= last {
		if done != nil {
			done("ahead")
		}
		return nil
	}
	s.Restore()
	a.forget()
	a.extrapolate() // notes where it starts
	return sweep(done)
}

// extrapolate is called at the start of a sweep. It moves the present state, where the
// last sweep has ended, and reports whether it has.
func (a *Anderson) extrapolate() bool {
	a.read(a.g)
	if !a.started {
		a.started = true
		copy(a.x, a.g)
		return false
	}
	if a.dg == nil {
		for range depth {
			a.dg, a.dr = append(a.dg, make([]float64, len(a.g))), append(a.dr, make([]float64, len(a.g)))
		}
		a.oldG, a.oldR = make([]float64, len(a.g)), make([]float64, len(a.g))
		a.normal, a.rhs = la.NewMatrix[float64](depth, depth), make([]float64, depth)
	}
	for i, v := range a.g {
		a.r[i] = v - a.x[i]
	}
	if a.again {
		dg, dr := a.dg[a.next], a.dr[a.next]
		for i := range dg {
			dg[i], dr[i] = a.g[i]-a.oldG[i], a.r[i]-a.oldR[i]
		}
		a.next = (a.next + 1) % depth
		a.known = min(a.known+1, depth)
	}
	a.again = true
	copy(a.oldG, a.g)
	copy(a.oldR, a.r)
	copy(a.x, a.g)
	if a.known == 0 || !a.solve() {
		return false
	}
	for j, c := range a.rhs[:a.known] {
		la.Axpy(-c, a.dg[j], a.x)
	}
	for _, v := range a.x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			copy(a.x, a.g)
			return false
		}
	}
	a.write(a.x)
	return true
}

// solve finds the coefficients of the shortest residual.
func (a *Anderson) solve() bool {
	n := a.known
	m := a.normal.Slice(0, n, 0, n)
	for i := range n {
		for j := range i + 1 {
			m.Row(i)[j] = la.Dot(a.dr[i], a.dr[j])
		}
		a.rhs[i] = la.Dot(a.dr[i], a.r)
	}
	for i := range n {
		m.Row(i)[i] *= 1 + 1e-8
	}
	if la.Cholesky(nil, m) != nil {
		return false
	}
	la.CholeskySolveVec(m, a.rhs[:n])
	return true
}
