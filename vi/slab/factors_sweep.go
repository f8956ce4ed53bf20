package slab

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// factorsKept is what of a state is not in slices of numbers.
type factorsKept struct {
	weights      []Pair // those before turnWeights, if that was called since
	turned       bool
	offset       []float64
	priors       []Prior
	offsetPriors []OffsetPrior
	noiseScale   float64
	length       []float64
}

// Keep implements [vi.Objective]. It copies what a posterior holds but for the weights, which are
// many. They have two places, which take turns.
func (m *factors) Keep() {
	m.memory.Keep()
	k := &m.kept
	k.turned = false
	k.noiseScale = m.noiseScale
	k.offsetPriors = append(k.offsetPriors[:0], m.offsetPriors...)
	k.priors = append(k.priors[:0], m.priors...)
	k.offset, k.length = k.offset[:0], k.length[:0]
	for q := range m.offsetVar {
		k.offset = append(k.offset, m.task.mean.At(q, m.M))
	}
	for i := range m.functions {
		k.length = append(k.length, m.functions[i].length)
	}
}

// Restore implements [vi.Objective], as far as posteriors go.
func (m *factors) Restore() {
	m.memory.Restore()
	k := &m.kept
	if k.turned {
		m.weights, k.weights, k.turned = k.weights, m.weights, false
	}
	m.noiseScale = k.noiseScale
	copy(m.offsetPriors, k.offsetPriors)
	copy(m.priors, k.priors)
	for i, l := range k.length {
		m.functions[i].length = l
	}
	m.setTasks(k.offset)
}

// turnWeights lets all weights be written to their other place, where they are not: those
// that Keep noted stay. It does so once after Keep.
func (m *factors) turnWeights() {
	if m.kept.turned {
		return
	}
	if m.kept.weights == nil {
		m.kept.weights = make([]Pair, len(m.weights))
	}
	m.weights, m.kept.weights, m.kept.turned = m.kept.weights, m.weights, true
}

// setTasks computes the moments of the tasks' weights, and sets their offsets if there
// are any.
func (m *factors) setTasks(offset []float64) {
	for q := range m.Q {
		e, v := m.task.mean.Row(q), m.task.variance.Row(q)
		for k, w := range m.weights[q*m.M:][:m.M] {
			g, h, _ := w.gate() // the same operations as in a sweep
			e[k], v[k] = w.gated(g, h)
		}
		if len(offset) > 0 {
			e[m.M] = offset[q]
		}
	}
}

// Allowance implements [vi.Objective].
func (m *factors) Allowance() float64 { return 0 }

// Sweep implements [vi.Objective].
func (m *factors) Sweep(done func(string)) error {
	if m.sweeps == 0 && m.drawn {
		if err := m.sharpen(); err != nil {
			return err
		}
	}
	m.sweeps++
	return work.Sweep(&m.Stop, m.updates, done)
}

// Roundoff implements [vi.Objective], see [work.Roundoff]: the errors E_q are found as
// differences.
func (m *factors) Roundoff() float64 {
	var sum float64
	for q, v := range m.shake {
		sum += work.Roundoff(m.N) * v / m.noise[q]
	}
	for k := range m.functions {
		sum += m.functions[k].roundoff(m.N)
	}
	return sum
}

// Jittered implements [vi.Objective].
func (m *factors) Jittered() float64 { return jitterOf(m.functions) }

// Observations implements [vi.Objective].
func (m *factors) Observations() float64 { return conjugate.Sum(m.count) }

// Bound implements [vi.Objective]. It is the bound of the present state after updateTasks.
func (m *factors) Bound() float64 {
	var sum float64
	for i, s := range m.sums() {
		sum += s.bound(m.priors[i])
	}
	sum += m.viewPriorsBound()
	for _, v := range m.objectSums {
		sum += v
	}
	for k := range m.functions {
		sum -= m.functions[k].kl
	}
	errors := m.error2
	if m.groups != nil { // each group has its own
		sum += m.groupsBound()
		errors = nil
	}
	for q, e := range errors {
		if m.hasSites(q) {
			sum += m.level[q] - float64(0.5*e)
			continue
		}
		sum -= float64(0.5 * (float64(m.count[q]*special.Log(2*math.Pi*m.noise[q])) + e/m.noise[q]))
	}
	if m.K > m.M {
		for q, v := range m.offsetVar {
			sum += m.offsetPriorOf(q).bound(m.task.mean.At(q, m.M), v)
		}
	}
	if m.perTask && m.noiseWeight > 0 {
		shape, rate := 1+float64(m.noiseWeight/2), m.noiseWeight*m.noiseScale/2
		gamma := special.LogGamma(shape)
		tasks := 0
		m.eachNoise(func(float64) { tasks++ })
		sum += float64(float64(tasks) * (float64(shape*special.Log(rate)) - gamma))
		m.eachNoise(func(v float64) { sum -= float64((shape-1)*special.Log(v)) + rate/v })
	}
	return sum
}
