package probit

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// quadratic is the expected log likelihood as a function of the weights β of a sum,
//
//	E log p(Y | W, β) = const + bᵀβ − ½ βᵀAβ,
//	b_p = Σ_{c,n} E[y]·g_p,   A_pq = Σ_{c,n} g_p·g_q + tr(K_pᵀ(Σ_c V_c)K_q),
//
// g_p = E[W]·K_p. [WeightUpdatePlugIn] leaves the trace out.
type quadratic struct {
	b       []float64          // P
	a       la.Matrix[float64] // P×P
	squares la.Matrix[float64] // P×P, A without the trace
	cov     la.Matrix[float64] // P×P, Cov(β)

	products []la.Matrix[float64] // of [WeightUpdateMeanField]: lower triangle of ½(K_pK_qᵀ + K_qK_pᵀ) for q ≤ p, nil if not kept

	g    la.Matrix[float64] // (C·P)×N, row c·P+p is g_p of class c
	rest []float64          // N
	one  []float64          // P
	t    la.Matrix[float64] // D×N
	root la.Matrix[float64] // P×P
}

// newQuadratic returns room for the likelihood of m, with the products of its kernels
// where they are kept.
func newQuadratic(m *model) *quadratic {
	q := &quadratic{
		b: make([]float64, m.P), a: la.NewMatrix[float64](m.P, m.P), squares: la.NewMatrix[float64](m.P, m.P),
		cov: la.NewMatrix[float64](m.P, m.P), root: la.NewMatrix[float64](m.P, m.P),
		g: la.NewMatrix[float64](m.C*m.P, m.N), rest: make([]float64, m.N), one: make([]float64, m.P),
	}
	if m.update == WeightUpdateMeanField {
		q.t = la.NewMatrix[float64](m.D, m.N)
		if m.P <= mostProducts && m.ridge == nil && m.theta == nil {
			q.multiply(m)
		}
	}
	return q
}

// mostProducts is the most kernels whose products with each other are kept: they
// take (P+1)/2 times the memory of square kernels.
const mostProducts = 8

// multiply computes the products of the kernels.
func (q *quadratic) multiply(m *model) {
	only := func(p int, k la.Matrix[float64]) {
		clear(q.one)
		q.one[p] = 1
		m.k.Sum(&m.ws, q.one, k)
	}
	for p := range m.P {
		only(p, m.scratch)
		for r := range p {
			only(r, q.t)
			k := la.NewMatrix[float64](m.D, m.D)
			la.Gemm(&m.ws, la.NoTrans, la.Transpose, 0.5, m.scratch, q.t, 0, k)
			la.Gemm(&m.ws, la.NoTrans, la.Transpose, 0.5, q.t, m.scratch, 1, k)
			q.products = append(q.products, k)
		}
		k := la.NewMatrix[float64](m.D, m.D)
		la.Syrk(&m.ws, la.NoTrans, 1, m.scratch, 0, k)
		q.products = append(q.products, k)
	}
}

// measure computes b and A.
func (q *quadratic) measure(m *model) {
	m.k.Project(&m.ws, m.w, q.g)
	clear(q.b)
	for c := range m.C {
		g := q.g.Slice(c*m.P, (c+1)*m.P, 0, m.N)
		la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, g, g, min(1, float64(c)), q.squares)
		copy(q.rest, m.y.Row(c))
		for n, r := range m.ridge {
			q.rest[n] -= float64(m.w.At(c, n) * r)
		}
		for p := range m.P {
			q.b[p] += la.Dot(g.Row(p), q.rest)
		}
	}
	q.a.CopyFrom(q.squares)
	if m.update != WeightUpdateMeanField {
		return
	}
	if q.products != nil {
		i := 0
		for p := range m.P {
			for r := range p + 1 {
				v := lowerInner(q.products[i], m.sum)
				q.a.Row(p)[r] += v
				if r < p {
					q.a.Row(r)[p] += v
				}
				i++
			}
		}
		return
	}
	m.sum.MirrorLower()
	for p := range m.P {
		clear(q.one)
		q.one[p] = 1
		m.k.Sum(&m.ws, q.one, m.scratch)
		la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.sum, m.scratch, 0, q.t)
		m.k.Inner(&m.ws, q.t, q.one)
		la.Axpy(1, q.one, q.a.Row(p))
		for n, r := range m.ridge {
			q.b[p] -= float64(r * q.t.At(n, n))
		}
	}
}

// at returns bᵀβ − ½βᵀAβ.
func (q *quadratic) at(beta []float64) float64 {
	var v float64
	for p, b := range beta {
		v += float64(b * (q.b[p] - float64(0.5*la.Dot(q.a.Row(p), beta))))
	}
	return v
}

// settle renews what depends on q(β), whose mean is in m.mean and whose covariance
// is in q.cov.
func (q *quadratic) settle(m *model) {
	q.restored(m)
	for c := range m.C {
		f := m.f.Row(c)
		clear(f)
		for p, b := range m.mean {
			la.Axpy(b, q.g.Row(c*m.P+p), f)
		}
		for n, r := range m.ridge {
			f[n] += float64(m.w.At(c, n) * r)
		}
		m.spread[c] = la.SumSq(f)
	}
	m.spread[0] += lowerInner(m.gram, m.sum)
	if m.update == WeightUpdateMeanField {
		for p := range m.P {
			m.spread[0] += la.Dot(q.cov.Row(p), q.squares.Row(p))
		}
	}
}

// remember implements weights.
func (q *quadratic) remember(memory *work.Memory) { memory.Of(q.b, q.a.Data, q.cov.Data) }

// restored implements weights.
func (q *quadratic) restored(m *model) {
	if q.products != nil {
		q.setKernel(m)
		return
	}
	m.setKernel()
	if m.update == WeightUpdateMeanField {
		q.addSpread(m)
	}
}

// setKernel makes E[K] and E[KKᵀ] of the kernels and their products.
func (q *quadratic) setKernel(m *model) {
	m.composite.Combine(&m.ws, m.mean, m.kernel)
	for d := range m.D {
		row, i := m.gram.Row(d)[:d+1], 0
		clear(row)
		for p := range m.P {
			for r := range p + 1 {
				v := q.cov.At(p, r) + float64(m.mean[p]*m.mean[r])
				if r < p {
					v *= 2
				}
				if v != 0 {
					la.Axpy(v, q.products[i].Row(d)[:d+1], row)
				}
				i++
			}
		}
	}
}

// addSpread adds Σ_pq Cov(β_p, β_q)·K_p·K_qᵀ to E[KKᵀ], as a sum of squares: one
// for each dimension in which β varies.
func (q *quadratic) addSpread(m *model) {
	q.root.CopyFrom(q.cov)
	r := q.root
	for range m.P {
		pivot, most := -1, 0.0
		for p := range m.P {
			if v := r.At(p, p); v > most {
				pivot, most = p, v
			}
		}
		if most < 1e-18 {
			return
		}
		s := 1 / math.Sqrt(most)
		for p := range m.P {
			q.one[p] = r.At(p, pivot) * s
		}
		for p := range m.P {
			la.Axpy(-q.one[p], q.one, r.Row(p))
		}
		r.Set(pivot, pivot, 0)
		m.k.Sum(&m.ws, q.one, m.scratch)
		la.Syrk(&m.ws, la.NoTrans, 1, m.scratch, 1, m.gram)
	}
}

// covariance implements weights.
func (q *quadratic) covariance(*model) la.Matrix[float64] { return q.cov }
