package mgp

import (
	"context"
	"errors"

	"github.com/bmkl/bmkl/vi"
)

// Influence returns how much each of N labels tells of the function, at the scales of Start and given
// the posterior of some of them, Start.Part: the share of the variance at its sample that a label takes
// away,
//
//	1 − v̂/v = λ·v/(1 + λ·v),
//
// where v is the variance without the label and λ the precision of the site that it then asks for; of the
// samples of Part λ·v, v being that with it. The sum is about the number of parameters that the labels
// determine. A sample without influence has α = 0 and a row of R that is 0, and no part in the evidence's
// slopes: those that have nearly all of it find the scales of all. Errors are those of FitLabels, and that
// Start.Part is nil.
func (e Evidence) Influence(ctx context.Context, k vi.Kernels, t []float64) ([]float64, error) {
	m, x, err := e.objective(ctx, k, t, true)
	if err != nil {
		return nil, err
	}
	if m.part == nil {
		return nil, errors.New("vi: Start.Part is nil: influence is that of labels on what some of them tell")
	}
	if err := m.ended(); err != nil {
		return nil, err
	}
	m.compose(x)
	influence := m.beginAtPart()
	known := make([]bool, m.N) // to part
	for _, r := range m.rows {
		known[r] = true
	}
	for n, v := range influence {
		influence[n] = float64(m.sites.prec[n] * v)
		if !known[n] {
			influence[n] /= 1 + influence[n]
		}
	}
	return influence, nil
}

// kept returns the fit to labels at x, where the scales stay. Its sites are as close as an ascent asks:
// each digit more takes several factorisations.
func (m *evidence) kept(x []float64) (*Fit, error) {
	if err := m.ended(); err != nil {
		return nil, err
	}
	m.final = m.tol
	fit, err := m.finish(x, vi.Record{Reason: vi.Converged})
	if err != nil {
		return nil, err
	}
	objective := fit.LogEvidence + m.scalePriors(x, nil) + m.parameterPriors(x, nil)
	fit.Record.Trace = []float64{objective}
	return fit, nil
}
