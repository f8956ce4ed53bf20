package mgp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// objective checks the arguments and returns the objective and its start.
func (e Evidence) objective(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*evidence, []float64, error) {
	m, x, err := e.outline(ctx, k, y, labels)
	if err != nil {
		return nil, nil, err
	}
	m.makeRoom(x, e.Ascent.Journal != nil)
	return m, x, nil
}

// makeRoom allocates the N×N matrices of an ascent from x, which has a journal or none.
func (m *evidence) makeRoom(x []float64, journal bool) {
	m.sum, m.factor = la.NewMatrix[float64](m.N, m.N), la.NewMatrix[float64](m.N, m.N)
	if m.like != nil {
		m.sites.k, m.sites.l = m.sum, m.factor
	}
	if journal {
		m.compose(x)
		for i := range m.N {
			m.start = append(m.start, conjugate.Sum(m.sum.Row(i)[:i+1]))
		}
	}
}

// outline is objective without N×N matrices.
func (e Evidence) outline(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*evidence, []float64, error) {
	if err := e.checkArguments(ctx, k, y); err != nil {
		return nil, nil, err
	}
	m := e.newEvidence(ctx, k, y, labels)
	var start EvidenceStart
	if e.Start != nil {
		start = *e.Start
	}
	for _, prepare := range []func() error{
		m.measureTargets,
		func() error { return m.takeWeights(e.Weights) },
		func() error { return m.takeNoise(e.KnownNoise) },
		func() error { return m.choose(m.P, e.HeldPrior, m.power) },
		func() error { return m.checkKnown(m.P) },
		func() error { return m.takeParameters(start) },
		func() error { return m.takePart(start) },
	} {
		if err := prepare(); err != nil {
			return nil, nil, err
		}
	}
	x, err := m.startAt(start)
	if err != nil {
		return nil, nil, err
	}
	m.info = newInformation(len(x), m.N)
	return m, x, nil
}

// checkArguments returns an error unless the targets y are of the samples of square kernels k.
func (e Evidence) checkArguments(ctx context.Context, k vi.Kernels, y []float64) error {
	if ctx == nil {
		return errors.New("vi: ctx is nil")
	}
	if k != nil && e.Ascent.MaxSweeps < 0 {
		return fmt.Errorf("vi: MaxSweeps is %d: it must not be negative", e.Ascent.MaxSweeps)
	}
	if err := checkKernels(k, len(y)); err != nil {
		return err
	}
	return checkTargets(y)
}

// newEvidence returns an objective without prior, parameters and N×N matrices.
func (e Evidence) newEvidence(ctx context.Context, k vi.Kernels, y []float64, labels bool) *evidence {
	P, _, N := k.Dims()
	m := &evidence{
		ctx: ctx, k: k, passes: newPasses(k, e.Workers), ws: la.Workspace{Workers: e.Workers}, P: P, N: N,
		y: y, labels: labels, how: e.Sites, scalePrior: scalePrior{family: e.Family, prior: e.Prior, known: e.Known},
		power: 1, tol: searchTolerance, final: finalTolerance,
		alpha: make([]float64, N), weight: make([]float64, P), trace: make([]float64, P), quad: make([]float64, P),
		best: math.Inf(1), span: e.span,
	}
	if m.like = e.likelihood(y, labels); m.like != nil {
		m.likeMean, m.likeSD = m.like.prior()
		m.like.at(m.likeMean)
	}
	if s := e.span; s != nil {
		m.beyond, m.outside = float64(len(s.y)-N), la.SumSq(s.outside)
	}
	return m
}

// likelihood returns the likelihood of a fit, nil if it is normal with one variance.
func (e Evidence) likelihood(y []float64, labels bool) *likelihood {
	switch {
	case labels:
		return &likelihood{Likelihood: probit(y)}
	case e.like != nil:
		return &likelihood{Likelihood: e.like}
	}
	return nil
}

// measureTargets sets the power of the targets, or makes sites for a likelihood.
func (m *evidence) measureTargets() error {
	if m.like != nil {
		if err := m.like.check(); err != nil {
			return err
		}
		m.sites = newSites(&m.ws, m.N)
		return nil
	}
	m.power = (la.SumSq(m.y) + m.outside) / m.samples()
	if !check.Positive(m.power) {
		return fmt.Errorf("vi: y: its mean square is %g", m.power)
	}
	return nil
}

// takeParameters sets the kernels' parameters θ, if they have any, to the start's.
func (m *evidence) takeParameters(start EvidenceStart) error {
	m.theta = start.Parameters
	if a, ok := m.k.(Adaptive); ok {
		m.kernels = a
		m.priors = a.Parameters()
		if m.theta == nil {
			for _, p := range m.priors {
				m.theta = append(m.theta, p.Mode)
			}
		}
	}
	if len(m.theta) != len(m.priors) {
		return fmt.Errorf("vi: Start.Parameters: %d values where the kernels have %d", len(m.theta), len(m.priors))
	}
	return nil
}

// takePart takes the sites of labels from a fit to some of the samples.
func (m *evidence) takePart(start EvidenceStart) error {
	if start.Gamma != nil && len(start.Gamma) != m.P {
		return fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(start.Gamma), m.P)
	}
	if !m.labels || start.Part == nil {
		return nil
	}
	if _, n := start.Part.Dims(); n != len(start.Rows) || start.Part.s.Sites == nil {
		return fmt.Errorf("vi: Start.Part: of %d samples where Rows has %d, or without sites", n, len(start.Rows))
	}
	for i, r := range start.Rows {
		if r < 0 || r >= m.N {
			return fmt.Errorf("vi: Start.Rows[%d] is %d of %d samples", i, r, m.N)
		}
	}
	m.part, m.rows = start.Part, start.Rows
	return nil
}

// startAt returns the variables at the start: the logarithms of the amplitudes a_p, the kernels'
// parameters and the likelihood's or, without one, the logarithm of the noise variance above its least value.
func (m *evidence) startAt(start EvidenceStart) ([]float64, error) {
	if m.kernels != nil {
		m.kernels.SetParameters(&m.ws, m.theta)
	}
	x := make([]float64, m.P)
	if err := m.shares(x); err != nil {
		return nil, err
	}
	m.setUnits(x)
	if err := takeGamma(start.Gamma, x); err != nil {
		return nil, err
	}
	for p, v := range m.known {
		if v > 0 {
			x[p] = special.Log(v)
		}
	}
	x = append(x, m.theta...)
	switch n := len(start.Shape); {
	case n == 0:
		x = append(x, m.likeMean...)
	case n != len(m.likeMean) || check.NonFinite(start.Shape) >= 0:
		return nil, fmt.Errorf("vi: Start.Shape: %d numbers where %d finite ones are needed", n, len(m.likeMean))
	default:
		x = append(x, start.Shape...)
	}
	if m.like == nil {
		noise := m.ofTypical(start.Noise) - float64(leastShare*m.power)
		if !check.Positive(noise) || m.given > 0 {
			noise = firstNoise * m.power
		}
		x = append(x, special.Log(noise))
	}
	return x, nil
}

// takeNoise sets the known variance of the noise, 0 if it is learned. It returns an error unless the variance is a positive number
// with which B is far enough from being singular in double precision.
func (m *evidence) takeNoise(known float64) error {
	m.given = m.ofTypical(known)
	switch {
	case known == 0:
		return nil
	case !check.Positive(known):
		return fmt.Errorf("vi: KnownNoise is %g: it must be positive and finite, or 0", known)
	case m.like != nil:
		return errors.New("vi: KnownNoise: labels have no noise of their own")
	case m.given < leastShare*m.power:
		return fmt.Errorf("vi: KnownNoise is %g, less than %g times the targets' mean square %g", known, leastShare*m.typical, m.power)
	}
	return nil
}

// shares stores the log amplitudes at which every kernel has an equal share of a function with the
// variance of the targets, or 1 for labels.
func (m *evidence) shares(x []float64) error {
	m.passes.diagonalSums(&m.ws, m.N, m.trace)
	for p, t := range m.trace {
		if t < 0 || t-t != 0 {
			return vi.NewKernelError(p, "its trace is %g: it is not positive semidefinite", t)
		}
		x[p] = logShare(m.power/float64(m.P), t/m.samples())
	}
	return nil
}

// firstNoise is the noise variance to start from, and noiseSpread the standard
// deviation of its logarithm in its normal prior about there.
const (
	firstNoise  = 0.1
	noiseSpread = 2
)
