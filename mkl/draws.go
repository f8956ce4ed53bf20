package mkl

import (
	"math"

	"github.com/bmkl/bmkl/vi/mgp"
)

// Predictions of [MultiGP] from few samples are averaged over draws of scales, noise and length
// scales from their posterior. The posterior of few samples is wide, so that predictions at its mode are too
// certain. With fewer samples it is wider and a draw costs less. Above mostDrawn samples
// draws gain little and would cost more than the rest of the fit; see docs/lab/choosing.md.
const (
	mostDrawn = 64 // samples
	mostDraws = 32
	allDrawn  = 1024 // samples times draws
)

// drawsOf returns how many draws are made from a posterior of the given number of samples.
func drawsOf(samples int) int {
	if samples > mostDrawn {
		return 0
	}
	return min(mostDraws, allDrawn/max(samples, 1))
}

// addDraws adds the functions with the drawn scales.
func (m *processes) addDraws(all []mgp.Draw) {
	if len(all) == 0 {
		return
	}
	m.draws = &processes{}
	for _, d := range all {
		m.draws.designs = append(m.draws.designs, m.design.Learned(d.Parameters))
		m.draws.posteriors = append(m.draws.posteriors, d.Posterior)
	}
}

// averaged returns the functions over which predictions are averaged: the drawn ones or,
// without draws, the only one.
func (m *MultiGPModel) averaged() *processes {
	if m.draws != nil {
		return m.draws
	}
	return &m.processes
}

// drawnWeights returns the mean and the standard deviation of 1/γ_p over the draws.
func (m *processes) drawnWeights() (mean, sd []float64) {
	P, n := len(m.posteriors[0].State().Gamma), float64(len(m.posteriors))
	mean, sd = make([]float64, P), make([]float64, P)
	for i := range mean {
		for _, p := range m.posteriors {
			mean[i] += 1 / p.State().Gamma[i] / n
		}
		for _, p := range m.posteriors {
			d := 1/p.State().Gamma[i] - mean[i]
			sd[i] += d * d / n
		}
		sd[i] = math.Sqrt(sd[i])
	}
	return mean, sd
}

// mix adds a member to a mixture: its means m to mean and its variances v to variance. share is the weight of
// the member divided by the weight of all members so far, itself included. variance and v are nil if unknown.
func mix(mean, variance []float64, share float64, m, v []float64) {
	for t, to := range m {
		// This formula avoids a difference of squares.
		d := to - mean[t]
		mean[t] += float64(share * d)
		if v != nil {
			variance[t] = upToLargest(variance[t] + float64(share*(v[t]-variance[t]+float64((1-share)*d*d))))
		}
	}
}
