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
	if m.labels {
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
	if ctx == nil {
		return nil, nil, fmt.Errorf("vi: ctx is nil")
	}
	if k == nil {
		return nil, nil, fmt.Errorf("vi: kernels: nil")
	}
	if n := e.Ascent.MaxSweeps; n < 0 {
		return nil, nil, fmt.Errorf("vi: MaxSweeps is %d: it must not be negative", n)
	}
	if err := vi.RefuseCompressed(k); err != nil {
		return nil, nil, err
	}
	P, D, N := k.Dims()
	switch {
	case D != N:
		return nil, nil, fmt.Errorf("vi: kernels: %d×%d where square ones are needed", D, N)
	case len(y) != N:
		return nil, nil, fmt.Errorf("vi: y: %d values for %d samples", len(y), N)
	}
	if i := check.NonFinite(y); i >= 0 {
		return nil, nil, fmt.Errorf("vi: y: value %d is %g", i, y[i])
	}
	m := &evidence{
		ctx: ctx, k: k, passes: newPasses(k, e.Workers), ws: la.Workspace{Workers: e.Workers}, P: P, N: N,
		y: y, labels: labels, how: e.Sites, scalePrior: scalePrior{family: e.Family, prior: e.Prior, known: e.Known},
		power: 1, tol: searchTolerance, final: finalTolerance,
		alpha: make([]float64, N), weight: make([]float64, P), trace: make([]float64, P), quad: make([]float64, P),
		best: math.Inf(1), span: e.span, given: e.KnownNoise,
	}
	if s := e.span; s != nil {
		m.beyond, m.outside = float64(len(s.y)-N), la.SumSq(s.outside)
	}
	if labels {
		if err := checkLabels(y); err != nil {
			return nil, nil, err
		}
		m.sites = newSites(&m.ws, N)
	} else if m.power = (la.SumSq(y) + m.outside) / m.samples(); !(m.power > 0) || math.IsInf(m.power, 1) {
		return nil, nil, fmt.Errorf("vi: y: its mean square is %g", m.power)
	}
	if err := m.checkNoise(); err != nil {
		return nil, nil, err
	}
	relative := m.family == Default
	if relative {
		m.family, m.prior = Hyperbola, Hyperbola.vague(1)
	}
	for range P {
		m.unit = append(m.unit, 1)
	}
	m.held = m.family.held().with(e.Held)
	m.prior = m.family.begin(m.prior, m.held, 1/m.power)
	if err := m.family.validate(m.prior); err != nil {
		return nil, nil, err
	}
	if err := m.checkKnown(P); err != nil {
		return nil, nil, err
	}
	var start EvidenceStart
	if e.Start != nil {
		start = *e.Start
	}
	x := make([]float64, P)
	theta := start.Parameters
	if a, ok := k.(Adaptive); ok {
		m.kernels = a
		m.mean, m.sd = a.Parameters()
		if theta == nil {
			theta = m.mean
		}
	}
	switch {
	case len(theta) != len(m.mean):
		return nil, nil, fmt.Errorf("vi: Start.Parameters: %d values where the kernels have %d", len(theta), len(m.mean))
	case start.Gamma != nil && len(start.Gamma) != P:
		return nil, nil, fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(start.Gamma), P)
	}
	if labels && start.Part != nil {
		if _, n := start.Part.Dims(); n != len(start.Rows) || start.Part.s.Sites == nil {
			return nil, nil, fmt.Errorf("vi: Start.Part: of %d samples where Rows has %d, or without sites", n, len(start.Rows))
		}
		for i, r := range start.Rows {
			if r < 0 || r >= N {
				return nil, nil, fmt.Errorf("vi: Start.Rows[%d] is %d of %d samples", i, r, N)
			}
		}
		m.part, m.rows = start.Part, start.Rows
	}
	if m.kernels != nil {
		m.kernels.SetParameters(&m.ws, theta)
	}
	if err := m.shares(x); err != nil {
		return nil, nil, err
	}
	if relative {
		for p, v := range x {
			m.unit[p] = special.Exp(-v) / float64(P)
		}
	}
	for p, g := range start.Gamma {
		if !(g > 0) || math.IsInf(g, 1) {
			return nil, nil, fmt.Errorf("vi: Start.Gamma[%d] is %g", p, g)
		}
		x[p] = -special.Log(g)
	}
	for p, v := range e.Known {
		if v > 0 {
			x[p] = special.Log(v)
		}
	}
	x = append(x, theta...)
	if !labels {
		noise := start.Noise - float64(leastShare*m.power)
		if !(noise > 0) || math.IsInf(noise, 1) || m.given > 0 {
			noise = firstNoise * m.power
		}
		x = append(x, special.Log(noise))
	}
	m.info = newInformation(len(x), N)
	return m, x, nil
}

// checkNoise reports a known variance of the noise that is none, or with which B is too near to being
// singular in double precision.
func (m *evidence) checkNoise() error {
	switch {
	case m.given == 0:
		return nil
	case !(m.given > 0) || math.IsInf(m.given, 1):
		return fmt.Errorf("vi: KnownNoise is %g: it must be positive and finite, or 0", m.given)
	case m.labels:
		return errors.New("vi: KnownNoise: labels have no noise of their own")
	case m.given < leastShare*m.power:
		return fmt.Errorf("vi: KnownNoise is %g, less than %g times the targets' mean square %g", m.given, leastShare, m.power)
	}
	return nil
}

// checkLabels reports labels that are not −1 or +1, or all alike.
func checkLabels(t []float64) error {
	var positive int
	for i, v := range t {
		switch v {
		case 1:
			positive++
		case -1:
		default:
			return fmt.Errorf("vi: t: label %d is %g: labels are −1 and +1", i, v)
		}
	}
	if positive == 0 || positive == len(t) {
		return fmt.Errorf("vi: t: all %d labels are alike", len(t))
	}
	return nil
}

// shares stores the log amplitudes at which every kernel has an equal share of a
// function whose variance is that of the targets, 1 for labels.
func (m *evidence) shares(x []float64) error {
	m.passes.diagonalSums(&m.ws, m.N, m.trace)
	for p, t := range m.trace {
		if t < 0 || t-t != 0 {
			return fmt.Errorf("vi: kernel %d: its trace is %g: it is not positive semidefinite", p, t)
		}
		x[p] = special.Log(m.power / float64(m.P))
		if t > 0 {
			x[p] -= special.Log(t / m.samples())
		}
	}
	return nil
}

// firstNoise is the noise variance to start from, and noiseSpread the standard
// deviation of its logarithm in its normal prior about there.
const (
	firstNoise  = 0.1
	noiseSpread = 2
)
