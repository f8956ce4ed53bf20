package probit

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// FitParametric is Fit for kernels whose parameters θ ~ Gamma(Theta) are inferred as
// well: by Mode at the mode of the density of log θ given the other factors, found by
// steps of one parameter after another that each raise it; by Sampling at the mean of
// importance samples from their prior. [WeightUpdateMeanField] then needs a rule whose weights are
// fixed or at their mode.
func (p Model) FitParametric(ctx context.Context, k vi.ParametricKernels, labels []int) (*Fit, error) {
	m, err := p.parametricModel(k, labels)
	if err != nil {
		return nil, err
	}
	return p.climb(ctx, m)
}

// parametricModel checks the arguments and returns the initial state.
func (p Model) parametricModel(k vi.ParametricKernels, labels []int) (*model, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	if p.Update == WeightUpdateStructured {
		return nil, fmt.Errorf("vi: Update is Structured: with kernel parameters it is not possible")
	}
	if p.Update == WeightUpdateMeanField && (p.Rule == RuleBin || p.Rule.Learned() && p.Search == WeightSearchSampling) {
		return nil, fmt.Errorf("vi: Update is MeanField: with kernel parameters the weights must be fixed or at their mode")
	}
	q, err := p.parameters(k)
	if err != nil {
		return nil, err
	}
	m, err := p.build(q.dense, labels, q)
	if err != nil {
		return nil, err
	}
	m.monotone = m.monotone && p.Update == WeightUpdateMeanField && p.Search == WeightSearchMode
	q.f, q.t = la.NewMatrix[float64](m.C, m.N), la.NewMatrix[float64](m.D, m.N)
	m.updates = append(m.updates, work.Update{Name: "Θ", Step: func() error { return q.update(m) }})
	return m, nil
}

// parameters is q(Θ).
type parameters struct {
	k     vi.ParametricKernels
	prior vi.Gamma
	theta []float64 // Q
	of    []int     // Q, the kernel that a parameter belongs to
	base  []la.Matrix[float64]
	dense *vi.Dense

	step   []float64   // Q, the next to try, of log θ
	sample *importance // nil for Mode

	f la.Matrix[float64] // C×N
	t la.Matrix[float64] // D×N
}

// parameters returns q(Θ) at its prior's mean, with the kernels of it.
func (p Model) parameters(k vi.ParametricKernels) (*parameters, error) {
	P, D, N := k.Dims()
	q := &parameters{k: k, prior: conjugate.Or1(p.Theta)}
	if err := conjugate.CheckPrior("Theta", q.prior); err != nil {
		return nil, err
	}
	for i := range P {
		q.base = append(q.base, la.NewMatrix[float64](D, N))
		for range k.Parameters(i) {
			q.of = append(q.of, i)
			q.theta = append(q.theta, q.prior.Mean())
			q.step = append(q.step, 0.5)
		}
	}
	if len(q.theta) == 0 {
		return nil, fmt.Errorf("vi: kernels: they have no parameters: use Fit")
	}
	for i := range P {
		q.set(nil, i)
	}
	var err error
	if q.dense, err = vi.NewDense(q.base...); err != nil {
		return nil, err
	}
	if p.Search == WeightSearchSampling {
		q.sample = newImportance(p.samples(), len(q.theta))
		random, logs := random.Source(p.Seed+2), make([]float64, len(q.theta))
		for i := range q.sample.proposal {
			for j := range logs {
				logs[j] = max(logGammaDraw(random, q.prior.Shape)+special.Log(q.prior.Scale), -700)
				q.sample.proposal[i] += logGammaDensity(logs[j], q.prior.Shape, 1/q.prior.Scale)
			}
			q.sample.set(i, logs)
		}
	}
	return q, nil
}

// set computes base kernel p at the present parameters.
func (q *parameters) set(m *model, p int) {
	first := 0
	for j := range q.of {
		if q.of[j] < p {
			first = j + 1
		}
	}
	var ws *la.Workspace
	if m != nil {
		ws = &m.ws
	}
	q.k.Kernel(ws, p, q.theta[first:first+q.k.Parameters(p)], q.base[p])
	if m != nil {
		m.composite.renew(p, q.base[p])
	}
}

// logPrior returns the log density of log θ_j, or of θ_j.
func (q *parameters) logPrior(j int, ofLog bool) float64 {
	l := special.Log(q.theta[j])
	v := logGammaDensity(l, q.prior.Shape, 1/q.prior.Scale)
	if ofLog {
		v += l
	}
	return v
}

// logLikelihood returns E log p(Y | W, β) at the present kernels, but for constants.
func (q *parameters) logLikelihood(m *model) float64 {
	m.composite.Combine(&m.ws, m.mean, m.scratch)
	m.addRidge(m.scratch)
	return m.likelihoodOf(m.scratch, q.f, q.t)
}

// update finds q(Θ) anew and leaves what depends on it in m.
func (q *parameters) update(m *model) error {
	if m.update == WeightUpdateMeanField {
		m.sum.MirrorLower()
	}
	if q.sample != nil {
		if err := q.weigh(m); err != nil {
			return err
		}
		copy(q.theta, q.sample.mean)
		for p := range q.base {
			q.set(m, p)
		}
	} else {
		q.climb(m)
	}
	m.settle()
	return nil
}

// weigh weighs the sample of Θ.
func (q *parameters) weigh(m *model) error {
	for i := range q.sample.target {
		if err := m.Ended(); err != nil {
			return err
		}
		copy(q.theta, q.sample.points.Row(i))
		q.sample.target[i] = 0
		for p := range q.base {
			q.set(m, p)
		}
		for j := range q.theta {
			q.sample.target[i] += q.logPrior(j, false)
		}
		q.sample.target[i] += q.logLikelihood(m)
	}
	q.sample.weigh()
	return nil
}

// climb tries a step of each parameter in both directions and keeps what is better.
// Steps that succeed grow, others shrink.
func (q *parameters) climb(m *model) {
	value := q.logLikelihood(m)
	for j := range q.theta {
		from, prior := q.theta[j], q.logPrior(j, true)
		for _, side := range [...]float64{1, -1} {
			q.theta[j] = from * special.Exp(side*q.step[j])
			q.set(m, q.of[j])
			v := q.logLikelihood(m)
			if v+q.logPrior(j, true) > value+prior {
				value = v
				q.step[j] = side * min(1.5*math.Abs(q.step[j]), 1) // that way first again
				from = q.theta[j]
				break
			}
		}
		if q.theta[j] != from {
			q.theta[j] = from
			q.set(m, q.of[j])
			q.step[j] = math.Copysign(max(0.5*math.Abs(q.step[j]), 1e-6), -q.step[j])
		}
	}
}

// bound returns the terms of Θ.
func (q *parameters) bound() float64 {
	if q.sample != nil {
		v := -q.sample.meanLogQ
		g := special.LogGamma(q.prior.Shape)
		for j, t := range q.sample.mean {
			v += float64((q.prior.Shape-1)*q.sample.meanLog[j]) - t/q.prior.Scale - float64(q.prior.Shape*special.Log(q.prior.Scale)) - g
		}
		return v
	}
	var v float64
	for j := range q.theta {
		v += q.logPrior(j, true)
	}
	return v
}
