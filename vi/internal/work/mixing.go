package work

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// Mixing extrapolates a fixed-point iteration x → g(x) by its last values. Near the fixed
// point the map is nearly linear, and of all combinations of the last values
//
//	g(x_k) − Σ_j c_j·(g(x_{j+1}) − g(x_j))
//
// Extrapolate chooses that whose residual, the same combination of g(x) − x, is the
// shortest: the fixed point, if as few directions move as are remembered.
//
// Source: D. G. Anderson, "Iterative procedures for nonlinear integral equations", Journal
// of the ACM 12 (1965); H. F. Walker and P. Ni, "Anderson acceleration for fixed-point
// iterations", SIAM Journal on Numerical Analysis 49 (2011).
type Mixing struct {
	oldG, oldR  []float64   // of the last call
	dg, dr      [][]float64 // differences of the last calls
	known, next int         // differences that are remembered, and where the next goes
	again       bool        // there was a call

	normal la.Matrix[float64] // depth×depth
	rhs    []float64          // depth
	ws     la.Workspace       // of the factorisation
}

// depth is the number of differences that are remembered.
const depth = 6

// Forget forgets all calls so far.
func (m *Mixing) Forget() { m.known, m.next, m.again = 0, 0, false }

// Extrapolate replaces g, the value of the map, by the combination, and reports whether it has; it
// leaves g alone where no combination is finite. r is the residual g − x, whose entries may have
// units of their own. g and r have the same lengths in every call.
func (m *Mixing) Extrapolate(g, r []float64) bool {
	m.room(len(g))
	if m.again {
		dg, dr := m.dg[m.next], m.dr[m.next]
		for i := range dg {
			dg[i], dr[i] = g[i]-m.oldG[i], r[i]-m.oldR[i]
		}
		m.next = (m.next + 1) % depth
		m.known = min(m.known+1, depth)
	}
	m.again = true
	copy(m.oldG, g)
	copy(m.oldR, r)
	if m.known == 0 || !m.solve(r) {
		return false
	}
	for j, c := range m.rhs[:m.known] {
		la.Axpy(-c, m.dg[j], g)
	}
	for _, v := range g {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			copy(g, m.oldG)
			return false
		}
	}
	return true
}

// room makes room for values of length n, unless there is.
func (m *Mixing) room(n int) {
	if m.dg != nil {
		return
	}
	for range depth {
		m.dg, m.dr = append(m.dg, make([]float64, n)), append(m.dr, make([]float64, n))
	}
	m.oldG, m.oldR = make([]float64, n), make([]float64, n)
	m.normal, m.rhs = la.NewMatrix[float64](depth, depth), make([]float64, depth)
	m.ws.Workers = 1
}

// snapshot names the calls that are remembered, of values of length n.
func (m *Mixing) snapshot(s *Snapshot, n int) {
	s.Bool(&m.again)
	s.Int(&m.known, depth)
	s.Int(&m.next, depth-1)
	if !m.again {
		return
	}
	m.room(n)
	s.Floats(m.oldG, m.oldR)
	for j := range m.known { // they are the first until they are all
		s.Floats(m.dg[j], m.dr[j])
	}
}

// solve finds the coefficients of the shortest residual.
func (m *Mixing) solve(r []float64) bool {
	n := m.known
	normal := m.normal.Slice(0, n, 0, n)
	for i := range n {
		for j := range i + 1 {
			normal.Row(i)[j] = la.Dot(m.dr[i], m.dr[j])
		}
		m.rhs[i] = la.Dot(m.dr[i], r)
	}
	for i := range n {
		normal.Row(i)[i] *= 1 + 1e-8
	}
	if la.Cholesky(&m.ws, normal) != nil {
		return false
	}
	la.CholeskySolveVec(normal, m.rhs[:n])
	return true
}
