package probit

import "github.com/bmkl/bmkl/la"

// setKernel makes E[K] the composite kernel at E[β] and E[KKᵀ] its square.
func (m *model) setKernel() {
	m.composite.Combine(&m.ws, m.mean, m.kernel)
	m.addRidge(m.kernel)
	la.Syrk(&m.ws, la.NoTrans, 1, m.kernel, 0, m.gram)
}

// settle makes E[K] the kernel at E[β] and renews what depends on it.
func (m *model) settle() {
	m.setKernel()
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	for c := range m.C {
		m.spread[c] = la.SumSq(m.f.Row(c))
	}
	m.spread[0] += lowerInner(m.gram, m.sum)
}

// likelihoodOf returns Σ E[y]∘f − ½ Σ f∘f − ½ tr(kᵀ(Σ_c V_c)k) with f = E[W]·k.
// [WeightUpdatePlugIn] leaves the trace out. f and t take intermediate results.
func (m *model) likelihoodOf(k, f, t la.Matrix[float64]) float64 {
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, k, 0, f)
	var v float64
	for c := range m.C {
		row := f.Row(c)
		v += la.Dot(m.y.Row(c), row) - float64(0.5*la.SumSq(row))
	}
	if m.update == WeightUpdateMeanField {
		la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.sum, k, 0, t)
		for d := range m.D {
			v -= float64(0.5 * la.Dot(k.Row(d), t.Row(d)))
		}
	}
	return v
}

// addRidge adds the ridge to the diagonal of a kernel.
func (m *model) addRidge(k la.Matrix[float64]) {
	for n, r := range m.ridge {
		k.Row(n)[n] += r
	}
}

// lowerInner returns the Frobenius product of two symmetric matrices given by their lower
// triangles.
func lowerInner(a, b la.Matrix[float64]) float64 {
	var s float64
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		s += 2*la.Dot(x[:i], y[:i]) + float64(x[i]*y[i])
	}
	return s
}
