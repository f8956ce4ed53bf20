package probit

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// settle factors B for the present α and kernel, and puts q(W) where the bound is highest.
func (m *relevance) settle() error {
	m.active, m.root, m.r = m.active[:0], m.root[:0], m.r[:0]
	for d, a := range m.alpha {
		if !math.IsInf(a, 1) {
			m.active, m.root = append(m.active, d), append(m.root, 1/math.Sqrt(a))
		}
	}
	M := len(m.active)
	m.factor, m.gram = resize(m.factor, M, M), resize(m.gram, M, M)
	m.span, m.ty = resize(m.span, M, m.N), resize(m.ty, m.C, M)
	for i, d := range m.active {
		copy(m.span.Row(i), m.kernel.Row(d))
	}
	la.Syrk(&m.ws, la.NoTrans, 1, m.span, 0, m.gram)
	var err error
	if m.jitter, err = factorB(&m.ws, m.factor, m.gram, m.all[:M], m.root); err != nil {
		return fmt.Errorf("relevance vectors: %w", err)
	}
	for i, r := range m.root {
		la.Scal(r, m.span.Row(i))
	}
	la.Trsm(&m.ws, la.Left, la.NoTrans, m.factor, m.span)
	m.explain()
	return nil
}

// resize returns a matrix of the given shape, in the memory of m if that is enough.
func resize(m la.Matrix[float64], rows, cols int) la.Matrix[float64] {
	if n := rows * cols; n <= cap(m.Data) {
		return la.MatrixOf(rows, cols, m.Data[:n])
	}
	return la.NewMatrix[float64](rows, cols)
}

// explain puts q(W) where the bound is highest for the present E[Y].
func (m *relevance) explain() {
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.y, m.span, 0, m.ty)
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.ty, m.span, 0, m.f)
}

// solve returns L⁻ᵀ·T·y_c for each class, C×M: the solutions x of Bx = A^-½·K_a·y_c. The means of
// the regressors are A^-½·x. It is valid until the next call.
func (m *relevance) solve() la.Matrix[float64] {
	m.means = resize(m.means, m.C, len(m.active))
	m.means.CopyFrom(m.ty)
	for c := range m.C {
		la.Trsv(la.Transpose, m.factor, m.means.Row(c))
	}
	return m.means
}

// unexplained computes y_c − f_c.
func (m *relevance) unexplained() {
	m.rest.CopyFrom(m.y)
	la.Axpy(-1, m.f.Data, m.rest.Data)
}

// truncate is q(y_n) = N(f_n, I) on the cone of its label.
func (m *relevance) truncate() error {
	m.location.CopyFrom(m.f)
	return m.chunks.Each(func(w *coneWorker, chunk int) error {
		w.truncate(chunk, m.labels, m.location, m.y, m.logZ)
		return nil
	})
}

// updateWY updates q(W) and q(Y) by turns, and then S and Q.
func (m *relevance) updateWY() error {
	last := math.Inf(-1)
	for range relevanceRounds {
		if err := m.truncate(); err != nil {
			return err
		}
		m.explain()
		bound := m.Bound()
		if bound-last < leastGain*float64(m.N) {
			break
		}
		last = bound
	}
	m.weigh()
	return nil
}
