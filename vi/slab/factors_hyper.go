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
			e, n = e+v, n+m.count[q]
		}
		v := max(e/n, m.floor)
		for q := range m.noise {
			m.noise[q] = v
		}
		return
	}
	for q, v := range m.error2 {
		if n := m.count[q] + m.noiseWeight; n > 0 {
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
	var precision float64
	for _, v := range m.noise {
		precision += 1 / v
	}
	m.noiseScale = (1 + 2/m.noiseWeight) * float64(m.Q) / precision
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

// updateOffsetPrior sets μ_c to the mean of E[c_q] and σ_c² to the mean of E[(c_q − μ_c)²].
func (m *factors) updateOffsetPrior() {
	n := float64(m.Q)
	var mean, variance float64
	for q := range m.Q {
		mean += m.task.mean.At(q, m.M) / n
	}
	for q := range m.Q {
		d := m.task.mean.At(q, m.M) - mean
		variance += (m.offsetVar[q] + float64(d*d)) / n
	}
	m.offsetPrior = OffsetPrior{mean, max(variance, m.floor)}
}
