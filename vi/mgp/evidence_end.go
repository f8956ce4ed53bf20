package mgp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// stopped returns the fit at x, which an error has ended, and that error. The fit is nil if the
// objective was not known anywhere.
func (m *evidence) stopped(x []float64, rec vi.Record, err error) (*Fit, error) {
	if len(rec.Trace) == 0 {
		return nil, err
	}
	rec.Reason = vi.Cancelled
	fit, ferr := m.finish(x, rec)
	return fit, errors.Join(err, ferr)
}

// last computes q(f) at x by functions, with sites of the final tolerance if they are found.
// If not, what was good enough to get here is good enough to be a model, and in the end what is
// good enough for any search.
func (m *evidence) last(x []float64, functions func([]float64) (float64, error)) (value float64, err error) {
	search := m.tol
	for _, tol := range []float64{min(search, m.final), search, max(search, searchTolerance)} {
		m.tol = tol
		if value, err = functions(x); err == nil {
			return value, nil
		}
	}
	return 0, fmt.Errorf("vi: %w", err)
}

// lowerOf returns a copy of the lower triangle of m, with zeros above it. Fresh zeros take no physical memory until something is written to
// their page, so that a copy of all of m would take about twice as much.
func lowerOf(m la.Matrix[float64]) la.Matrix[float64] {
	lower := la.NewMatrix[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		copy(lower.Row(i)[:i+1], m.Row(i))
	}
	return lower
}

// collapsedShare is the mean square of a function, in units of the noise, below which it vanishes.
const collapsedShare = 1e-3

// finish computes q(f) at x and returns the fit.
func (m *evidence) finish(x []float64, rec vi.Record) (*Fit, error) {
	logZ, err := m.last(x, m.functions)
	if err != nil {
		return nil, err
	}
	s := State{
		Family: m.family, Labels: m.labels, Prior: m.prior, Tau: 1,
		Alpha: slices.Clone(m.alpha), Factor: lowerOf(m.factor), Known: m.knownKernels(),
	}
	loo := &LeaveOneOut{}
	fit := &Fit{
		Record: rec, LogEvidence: logZ, LeaveOneOut: loo,
		Parameters: slices.Clone(x[m.P : m.P+len(m.priors)]),
	}
	limit := float64(collapsedShare)
	if m.like != nil {
		s.Sites = slices.Clone(m.sites.prec)
		if m.how == SitesEP {
			loo.LogProbability = m.like.leaveOneOut(m.sites)
		}
		if !m.labels {
			s.Likelihood, s.Shape = m.like.Name(), slices.Clone(x[m.P+len(m.priors):])
		}
	} else {
		s.Tau = 1 / m.ofOne(m.noise)
		m.setNoise(&s)
		limit *= m.noise
	}
	r := m.precision(m.quad)
	switch {
	case m.span != nil:
		*loo = m.span.leaveOneOut(m.alpha, r, m.noise)
	case m.like == nil:
		*loo = m.leaveOneOut(r)
	}
	var square float64
	for i := range m.N {
		f := m.y[i] - float64(m.noiseOf(i)*m.alpha[i])
		if m.like != nil {
			f = m.sites.mean[i]
		}
		square += float64(f * f)
	}
	fit.Collapsed = square < limit*m.samples()
	if m.family != FamilyFlat {
		s.Scales, _ = m.scales()
	}
	return m.complete(fit, s)
}

// complete adds the posterior of a state, without its γ, to the fit.
func (m *evidence) complete(fit *Fit, s State) (*Fit, error) {
	for _, a := range m.weight {
		s.Gamma = append(s.Gamma, 1/a)
	}
	fit.GPLimit = m.family != FamilyFlat && !m.held.all() && m.prior.VarLog() < pointVariance
	var err error
	if fit.Posterior, err = NewPosterior(s); err != nil {
		return nil, err
	}
	return fit, nil
}
