package probit

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// weigh computes S and Q.
func (m *relevance) weigh() {
	copy(m.s, m.norm)
	m.seen = resize(m.seen, m.D, len(m.active))
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.kernel, m.span, 0, m.seen)
	for d := range m.s {
		m.s[d] -= la.SumSq(m.seen.Row(d))
	}
	m.unexplained()
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.rest, m.kernel, 0, m.q)
}

// updateAlpha makes the changes of α that raise the bound most, one after another, until
// the next would raise it by less than a hundredth of what they did together.
func (m *relevance) updateAlpha() error {
	var total float64
	for range relevanceMoves {
		if err := m.Ended(); err != nil {
			return err
		}
		d, to, gain := m.best()
		if !(gain > 0.01*total) || gain <= leastGain*float64(m.N) {
			break
		}
		m.change(d, to)
		total += gain
	}
	if len(m.r) == 0 {
		return nil
	}
	return m.settle()
}

// best returns the change of one α_d that raises the bound most, and by how much.
//
// With s and q in place of S and Q where d is left out of H, what d adds to the bound is
//
//	ℓ(α) = ½·(C·log(α/(α + s)) + Σ_c q_c²/(α + s)),
//
// which is highest at α = C·s²/θ with θ = Σ_c q_c² − C·s, if that is positive, and
// otherwise at ∞, where it is 0.
func (m *relevance) best() (at int, to, gain float64) {
	C := float64(m.C)
	for d, a := range m.alpha {
		s, out := m.s[d], 1.0
		var now, square float64
		for c := range m.C {
			v := m.q.At(c, d)
			square += float64(v * v)
		}
		if !(s > 0x1p-40*m.norm[d]) {
			continue // what k_d explains is explained already, within rounding
		}
		if !math.IsInf(a, 1) {
			if out = (a - s) / a; !(out > 0x1p-40) {
				continue
			}
			s /= out
			square /= float64(out * out)
			now = 0.5 * (float64(C*special.Log(out)) + square/(a+s))
		}
		best, then := math.Inf(1), 0.0
		if theta := square - float64(C*s); theta > 0 {
			best = float64(C*s) * (s / theta)
			then = 0.5 * (float64(C*special.Log(float64(C*s)/square)) + theta/s)
		}
		if then-now > gain && !(math.IsInf(a, 1) && math.IsInf(best, 1)) {
			at, to, gain = d, best, then-now
		}
	}
	return at, to, gain
}

// change makes α_d = to, and S and Q what they then are: H changes by a multiple of
// k_d·k_dᵀ.
func (m *relevance) change(d int, to float64) {
	k, u := m.kernel.Row(d), m.u.Row(len(m.r))
	copy(u, k)
	la.Gemv(&m.ws, la.Transpose, -1, m.span, m.seen.Row(d), 1, u)
	for i, r := range m.r {
		before := m.u.Row(i)
		la.Axpy(-la.Dot(before, k)/r, before, u)
	}
	r := 1/(1/to-1/m.alpha[d]) + m.s[d]
	m.r = append(m.r, r)
	m.alpha[d] = to

	la.Gemv(&m.ws, la.NoTrans, 1, m.kernel, u, 0, m.along)
	for c := range m.C {
		q := m.q.Row(c)
		la.Axpy(-q[d]/r, m.along, q)
	}
	for i, v := range m.along {
		m.s[i] -= float64(v*v) / r
	}
}
