package slab

import "github.com/bmkl/bmkl/la"

// shearStep mixes factors with each other and with the offsets. With a_k and e_k the means of
// factor k at the objects and of its weights, a_M = 1 and e_M = E[c],
//
//	a_k → a_k + Σ_{m≠k} τ_m·a_m,   e_m → e_m − τ_m·e_k   (m ≠ k)
//
// leaves all fitted means Σ_m e_m·a_m as they were. Coordinate ascent, which moves either
// side with the other one held, creeps in these directions. With the variances and the γ held
// the bound is, up to a constant,
//
//	−½·u_k·|a_k + Σ τ_m·a_m|² − ½·Σ_{m≠k} Σ_q c_qm·(e_qm − τ_m·e_qk)²,
//	u_k = 1 + Σ_q Var[w_qk]/σ_q²,   c_qm = ((V_m+S_m)/σ_q² + 1/σ_w²)/γ_qm − S_m/σ_q²,
//	S_m = Σ_n a_nm²,   V_m = Σ_n A_nm,   c_qM = 1/σ_c²   (and e_qM − μ_c for e_qM),
//
// as Var[w] = γv + (1−γ)e²/γ: a concave quadratic. A step goes to its maximum, for one k after the
// other. It is for complete data, where S and V are the same for all tasks. Derived in
// docs/theory/acceleration.md.
type shearStep struct {
	gram   la.Matrix[float64] // K×K, Σ_n a_n·a_nᵀ
	spread []float64          // M, V
	stiff  la.Matrix[float64] // Q×K, c
	e      la.Matrix[float64] // Q×K, e, the offsets' from their prior's mean
	normal la.Matrix[float64] // K×K
	tau    []float64          // K
}

// newShearStep returns room for a step.
func (m *factors) newShearStep() *shearStep {
	return &shearStep{
		gram: la.NewMatrix[float64](m.K, m.K), spread: make([]float64, m.M), stiff: la.NewMatrix[float64](m.Q, m.K),
		e: la.NewMatrix[float64](m.Q, m.K), normal: la.NewMatrix[float64](m.K, m.K), tau: make([]float64, m.K),
	}
}

// shear makes the step of every factor.
func (m *factors) shear() {
	s := m.shears
	la.Syrk(&m.crew.All, la.Transpose, 1, m.object.mean, 0, s.gram)
	s.gram.MirrorLower()
	clear(s.spread)
	for n := range m.N {
		la.Axpy(1, m.object.variance.Row(n), s.spread)
	}
	s.e.CopyFrom(m.task.mean)
	if m.K > m.M {
		for q := range m.Q {
			s.e.Row(q)[m.M] -= m.offsetPriors[0].Mean
			s.stiff.Row(q)[m.M] = 1 / m.offsetPriors[0].Variance
		}
	}
	for k := range m.M {
		m.stiffen(k)
		m.objectSums[0] += float64(0.5 * s.gram.At(k, k)) // of all blocks
	}
	m.countSpread(-1)
	for k := range m.M {
		m.shearFactor(k)
	}
	for k := range m.M {
		m.objectSums[0] -= float64(0.5 * s.gram.At(k, k))
	}
	m.setShearedWeights()
	m.countSpread(1)
}

// countSpread adds to E_q, sign times, what the variances of weights and factors make of it.
func (m *factors) countSpread(sign float64) {
	s := m.shears
	for q := range m.Q {
		for k, v := range s.spread {
			m.error2[q] += float64(sign * (float64(m.task.square(q, k)*v) + float64(m.task.variance.At(q, k)*s.gram.At(k, k))))
		}
		m.error2[q] = max(0, m.error2[q])
	}
}

// setShearedWeights gives the weights and offsets the means e.
func (m *factors) setShearedWeights() {
	s := m.shears
	before := m.weights
	m.turnWeights()
	copy(m.weights, before)
	for q := range m.Q {
		e, variance := m.task.mean.Row(q), m.task.variance.Row(q)
		first, step := m.priorsOf(q)
		for k := range m.M {
			w := &m.weights[q*m.M+k]
			g, h, _ := w.gate()
			if g > 0 {
				square := float64(w.Mean * w.Mean)
				w.Mean = s.e.At(q, k) / g
				m.taskSums[first+k*step].slabPower += float64(g * (float64(w.Mean*w.Mean) - square)) // of all blocks
			}
			e[k], variance[k] = w.gated(g, h)
		}
		if m.K > m.M {
			e[m.M] = s.e.At(q, m.M) + m.offsetPriors[0].Mean
		}
	}
}

// stiffen computes c of factor k.
func (m *factors) stiffen(k int) {
	s := m.shears
	square := s.gram.At(k, k)
	for q, noise := range m.noise {
		g, _, _ := m.weights[q*m.M+k].gate()
		first, step := m.priorsOf(q)
		s.stiff.Row(q)[k] = ((s.spread[k]+square)/noise+1/m.priors[first+k*step].Variance)/g - square/noise
	}
}

// shearFactor makes the step of factor k.
func (m *factors) shearFactor(k int) {
	s := m.shears
	if !m.bestShear(k) {
		return
	}
	a := m.object.mean
	for n := range m.N {
		a.Row(n)[k] += la.Dot(s.tau, a.Row(n))
	}
	for q := range m.Q {
		e := s.e.Row(q)
		la.Axpy(-e[k], s.tau, e) // τ_k = 0
	}
	row := s.gram.Row(k)
	for j, t := range s.tau {
		la.Axpy(t, s.gram.Row(j), row)
	}
	for j := range m.K {
		if j != k {
			s.gram.Row(j)[k] = row[j]
		}
	}
	row[k] += la.Dot(s.tau, row) // from a_k·a_k' to a_k'·a_k'
	m.stiffen(k)
}

// bestShear finds τ for factor k, with τ_k = 0, and reports whether there is one.
func (m *factors) bestShear(k int) bool {
	s := m.shears
	u := 1.0
	for q, noise := range m.noise {
		w, e := &m.weights[q*m.M+k], s.e.At(q, k) // which the steps of others have moved
		if g, h, _ := w.gate(); g > 0 {
			u += (float64(g*w.Variance) + float64(h*float64(e*e))/g) / noise
		}
	}
	for i := range m.K {
		row := s.normal.Row(i)
		copy(row, s.gram.Row(i))
		la.Scal(u, row)
		s.tau[i] = -row[k]
	}
	for q := range m.Q {
		e, c := s.e.Row(q), s.stiff.Row(q)
		if e[k] == 0 {
			continue
		}
		for i, v := range c {
			s.normal.Row(i)[i] += float64(float64(v*e[k]) * e[k])
			s.tau[i] += float64(float64(v*e[i]) * e[k])
		}
	}
	row := s.normal.Row(k)
	clear(row)
	for i := range m.K {
		s.normal.Row(i)[k] = 0
	}
	row[k], s.tau[k] = 1, 0
	if la.Cholesky(&m.crew.All, s.normal) != nil {
		return false
	}
	la.CholeskySolveVec(s.normal, s.tau)
	for _, t := range s.tau {
		if t-t != 0 {
			return false
		}
	}
	return true
}
