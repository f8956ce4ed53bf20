package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// model checks the arguments and returns the initial state.
func (t MultiTask) model(latents []Latent, y la.Matrix[float64], seed uint64) (*multiTask, error) {
	switch {
	case y.Rows == 0 || y.Cols == 0:
		return nil, fmt.Errorf("vi: y: %d×%d where at least one task of one sample is needed", y.Rows, y.Cols)
	case len(latents) == 0:
		return nil, fmt.Errorf("vi: latents: none given")
	case !check.NotNegative(t.Noise):
		return nil, fmt.Errorf("vi: Noise is %g: it must be positive and finite", t.Noise)
	}
	y, observed, err := check.SplitMissing(y)
	if err != nil {
		return nil, err
	}
	m := t.newState(len(latents), y, observed)
	for i, l := range latents {
		if err := m.takeLatent(i, l); err != nil {
			return nil, err
		}
	}
	m.keepNumbers()
	if err := m.start(t, seed, latents); err != nil {
		return nil, err
	}
	if !t.Plain {
		m.accelerate()
	}
	if t.From != nil {
		return m, m.resume(t.From)
	}
	return m, nil
}

// newState returns a state with room for M latent functions, none set yet, and targets y with 0
// where they are missing.
func (t MultiTask) newState(M int, y, observed la.Matrix[float64]) *multiTask {
	Q, N := y.Rows, y.Cols
	m := &multiTask{
		Q: Q, M: M, N: N, y: y, observed: observed, count: make([]float64, Q),
		latents: make([]latentGP, M), prior: t.Prior, noise: make([]float64, Q), floor: make([]float64, Q),
		shared: t.SharedNoise, held: t.Held, keepAll: t.KeepAll, plain: t.Plain,
		lengthsEvery: t.LengthsEvery, lengthTolerance: 1e-3,
		q: make([]Pair, Q*M), e: la.NewMatrix[float64](Q, M), d: la.NewMatrix[float64](Q, M),
		within: la.NewMatrix[float64](Q, M), a: la.NewMatrix[float64](M, N),
		residual: y.Clone(), spread: la.NewMatrix[float64](Q, M), power: la.NewMatrix[float64](Q, M),
		crew:    work.NewCrew(t.Workers, Q, func(share int) *la.Workspace { return &la.Workspace{Workers: share} }),
		scratch: newLatentScratch(N, false),
		h:       make([]float64, N), step: make([]float64, N), square: make([]float64, N),
	}
	if m.lengthsEvery <= 0 {
		m.lengthsEvery = 5
	}
	for i := range m.coef {
		m.coef[i] = make([]float64, Q)
	}
	m.scratch.stop, m.crew.Stop = &m.Stop, &m.Stop
	m.moveTask, m.weightTask = m.moveLatent, m.updateWeightsOf
	return m
}

// takeLatent checks latent function i and puts it into the model.
func (m *multiTask) takeLatent(i int, l Latent) error {
	if err := l.Covariance.validate(m.N); err != nil {
		return fmt.Errorf("vi: latents[%d].Covariance: %w", i, err)
	}
	if l.Mean != nil {
		if len(l.Mean) != m.N {
			return fmt.Errorf("vi: latents[%d].Mean: %d values for %d samples", i, len(l.Mean), m.N)
		}
		if n := check.NonFinite(l.Mean); n >= 0 {
			return fmt.Errorf("vi: latents[%d].Mean: value %d is %g", i, n, l.Mean[n])
		}
	}
	f := &m.latents[i]
	f.cov, f.prior = l.Covariance, l.Mean
	f.start(m.N, m.a.Row(i))
	f.uniform = f.cov.shared != nil && m.observed.Rows == 0
	m.active = append(m.active, i)
	return nil
}

// keepNumbers names the numbers that Keep copies.
func (m *multiTask) keepNumbers() {
	m.memory.Of(m.noise)
	for i := range m.latents {
		f := &m.latents[i]
		m.memory.Of(f.alpha, f.mean, f.variance, f.lambda)
	}
}

// accelerate makes later sweeps start from extrapolated means of the weights and latent functions.
func (m *multiTask) accelerate() {
	m.means = make([]float64, m.Q*m.M)
	m.ahead = &work.Anderson{}
	m.ahead.Of(false, m.means)
	m.ahead.Of(false, m.a.Data)
	m.next = func(done func(string)) error {
		m.setMeans()
		return m.sweep(done)
	}
}

// start sets σ_q², the prior of the weights and the weights.
func (m *multiTask) start(t MultiTask, seed uint64, latents []Latent) error {
	if err := m.startNoise(t.Noise); err != nil {
		return err
	}
	if t.Start == nil {
		m.drawWeights(seed)
	} else if err := m.takeStart(t.Start); err != nil {
		return err
	}
	m.renew()
	if !m.moves(latents) {
		return fmt.Errorf("vi: Start.Weights: every weight is zero, and so is every mean function: no update would ever move from there")
	}
	return nil
}

// startNoise sets the noise variances to a share of the tasks' mean squares, and the prior of the
// weights, where it is not given, to the mean square of all tasks.
func (m *multiTask) startNoise(share float64) error {
	var total, values float64
	for q := range m.Q {
		m.count[q] = float64(m.N)
		if m.observed.Rows > 0 {
			m.count[q] = 0
			for _, z := range m.observed.Row(q) {
				m.count[q] += z
			}
		}
		total += la.SumSq(m.y.Row(q))
		values += m.count[q]
	}
	if total == 0 {
		return fmt.Errorf("vi: y: every value is zero")
	}
	if share == 0 {
		share = 0.25
	}
	for q := range m.Q {
		power := total / values
		if own := la.SumSq(m.y.Row(q)); !m.shared && own > 0 {
			power = own / m.count[q]
		}
		m.noise[q], m.floor[q] = share*power, noiseFloor*power
	}
	if m.prior.Pi == 0 {
		m.prior.Pi = 0.5
	}
	if m.prior.Variance == 0 {
		m.prior.Variance = total / values
	}
	return m.prior.validate()
}

// takeStart sets the weights, and the noise variances if there are any, to given ones.
func (m *multiTask) takeStart(s *MultiTaskStart) error {
	if len(s.Weights) != m.Q*m.M {
		return fmt.Errorf("vi: Start.Weights: %d where %d tasks of %d are needed", len(s.Weights), m.Q, m.M)
	}
	if i := firstBadPair(s.Weights); i >= 0 {
		return fmt.Errorf("vi: Start.Weights[%d] is %+v", i, s.Weights[i])
	}
	copy(m.q, s.Weights)
	if s.Noise == nil {
		return nil
	}
	if len(s.Noise) != m.Q {
		return fmt.Errorf("vi: Start.Noise: %d values for %d tasks", len(s.Noise), m.Q)
	}
	for q, v := range s.Noise {
		if !check.Positive(v) {
			return fmt.Errorf("vi: Start.Noise[%d] is %g", q, v)
		}
	}
	copy(m.noise, s.Noise)
	return nil
}

// drawWeights draws the means of the slabs from their prior; every weight is in with probability ½.
func (m *multiTask) drawWeights(seed uint64) {
	means := make([]float64, m.Q*m.M)
	random.Normal(random.Source(seed), means)
	for i := range m.q {
		m.q[i] = Pair{0, math.Sqrt(m.prior.Variance) * means[i], m.prior.Variance}
	}
}

// moves reports whether a weight or a mean function is not zero: from zeros no update moves.
func (m *multiTask) moves(latents []Latent) bool {
	for _, e := range m.e.Data {
		if e != 0 {
			return true
		}
	}
	for _, l := range latents {
		if la.SumSq(l.Mean) > 0 {
			return true
		}
	}
	return false
}
