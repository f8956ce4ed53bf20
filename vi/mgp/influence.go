package mgp

import (
	"context"
	"errors"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Influence returns how much each of N labels determines the function, at the scales of Start and given
// the posterior of some of the samples, Start.Part: the share of the variance at its sample that a
// label takes away,
//
//	1 − v̂/v = λ·v/(1 + λ·v),
//
// where v is the variance without the label and λ the precision of the site that it then asks for. For the
// samples of Part it returns λ·v, where v is the variance with the label. The sum is about the number of
// parameters that the labels determine. A sample without influence has α = 0 and a row of R that is 0, and
// no part in the evidence's slopes: the samples with nearly all of the influence find the scales of all
// samples. It returns the same errors as FitLabels, and an error if Start.Part is nil.
func (e Evidence) Influence(ctx context.Context, k vi.Kernels, t []float64) ([]float64, error) {
	m, x, err := e.outline(ctx, k, t, true)
	if err != nil {
		return nil, err
	}
	if m.part == nil {
		return nil, errors.New("vi: Start.Part is nil: influence is that of labels on what some of them tell")
	}
	if err := m.ended(); err != nil {
		return nil, err
	}
	if m.passes.dense == nil {
		m.makeRoom(x, false)
		m.compose(x)
		m.begin()
		return m.influence(), nil
	}
	cross := la.NewMatrix[float64](m.N, len(m.rows))
	m.weigh(x)
	m.passes.columns(m.weight, m.rows, cross)
	m.passes.diagonal(m.weight, m.sites.variance)
	m.beginAtPart(cross)
	return m.influence(), nil
}

// influence returns the influence of all samples, given the sites and variances that beginAtPart
// has set.
func (m *evidence) influence() []float64 {
	share, known := make([]float64, m.N), make([]bool, m.N) // to part
	for _, r := range m.rows {
		known[r] = true
	}
	for n, v := range m.sites.variance {
		share[n] = float64(m.sites.prec[n] * v)
		if !known[n] {
			share[n] /= 1 + share[n]
		}
	}
	return share
}
