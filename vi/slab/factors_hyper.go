package slab

// updateNoise is σ_q² = E_q/N_q, or ΣE_q/ΣN_q, or with the noise's prior
// (E_q + ν·s)/(N_q + ν), where s is then set to its own maximum.
func (m *factors) updateNoise() {
	if m.held.Noise {
		return
	}
	if !m.perTask {
		var e, n float64
		for q, v := range m.error2 {
			if !m.hasSites(q) {
				e, n = e+v, n+m.count[q]
			}
		}
		v := max(e/n, m.floor)
		for q := range m.noise {
			if !m.hasSites(q) {
				m.noise[q] = v
			}
		}
		return
	}
	for q, v := range m.error2 {
		if n := m.count[q] + m.noiseWeight; n > 0 && !m.hasSites(q) {
			m.noise[q] = max((v+float64(m.noiseWeight*m.noiseScale))/n, m.floor)
		}
	}
	m.updateNoiseScale()
}

// updateNoiseScale sets the scale of the noise's prior, if it has one, to its maximum.
func (m *factors) updateNoiseScale() {
	if m.noiseWeight == 0 {
		return
	}
	var precision, tasks float64
	m.eachNoise(func(v float64) { precision, tasks = precision+1/v, tasks+1 })
	if tasks > 0 {
		m.noiseScale = (1 + 2/m.noiseWeight) * tasks / precision
	}
}

// updateSlab sets σ_w² or π, or σ_vm² or π_vm of all views and factors, to the maximum of the bound.
func (m *factors) updateSlab(variance, pi bool) {
	for i, s := range m.sums() {
		if variance && !m.held.Variance {
			m.priors[i].learnVariance(m.withSlabWeights(s.pairSums))
		}
		if pi && !m.held.Pi {
			m.priors[i].learnPi(m.withSpikeWeights(s.pairSums))
		}
	}
}

// updateOffsetPrior sets μ_c to the mean of E[c_q] and σ_c² to the mean of E[(c_q − μ_c)²], of all tasks or of each view.
func (m *factors) updateOffsetPrior() {
	from := 0
	for i := range m.offsetPriors {
		tasks := m.Q
		if len(m.offsetPriors) > 1 {
			tasks = m.views[i]
		}
		n := float64(tasks)
		if m.groups != nil {
			n *= float64(m.groups.groups())
		}
		var mean, variance float64
		for q := from; q < from+tasks; q++ {
			m.eachOffset(q, func(c, _ float64) { mean += c / n })
		}
		for q := from; q < from+tasks; q++ {
			m.eachOffset(q, func(c, v float64) {
				d := c - mean
				variance += (v + float64(d*d)) / n
			})
		}
		m.offsetPriors[i] = OffsetPrior{mean, max(variance, m.floor)}
		from += tasks
	}
}

// eachOffset calls do with the mean and the variance of the offset of task q, or of its offset in every group.
func (m *factors) eachOffset(q int, do func(mean, variance float64)) {
	if m.groups == nil {
		do(m.task.mean.At(q, m.M), m.offsetVar[q])
		return
	}
	for g := range m.groups.groups() {
		do(m.groups.offset(g, q))
	}
}

// offsetPriorOf returns the prior of the offset of task q.
func (m *factors) offsetPriorOf(q int) OffsetPrior {
	if len(m.offsetPriors) == 1 {
		return m.offsetPriors[0]
	}
	return m.offsetPriors[m.viewOf[q]]
}
