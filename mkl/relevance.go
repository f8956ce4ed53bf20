package mkl

import (
	"context"
	"errors"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// fitRelevance fits relevance vectors for the classes index of the samples and stores them in m. p holds the
// settings.
func (c *probitFit[T]) fitRelevance(ctx context.Context, m *ProbitClassifierModel[T], k vi.Kernels, p probit.Model, index []int) (*ProbitClassifierModel[T], error) {
	fit, err := bestStart(ctx, c.fitting, func(seed uint64, a vi.Ascent) (*probit.RelevanceFit, error) {
		if c.inference == prunedVectors {
			return probit.Pruned{
				Rule: p.Rule, Beta: p.Beta, Alpha: p.Alpha, ClassAlpha: p.ClassAlpha, Ridge: p.Ridge, Prune: p.Prune,
				Ascent: a, Workers: p.Workers, Seed: seed,
			}.Fit(ctx, k, index)
		}
		return probit.Relevance{Rule: p.Rule, Beta: p.Beta, Ascent: a, Workers: p.Workers, Seed: seed}.Fit(ctx, k, index)
	}, func(fit *probit.RelevanceFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m.trace = newTrace(fit.Record, nil)
	if serr := m.setRelevance(fit); serr != nil {
		return nil, errors.Join(err, serr)
	}
	return m, err
}

// setRelevance stores relevance vectors in the model. They become its basis points. All other samples
// are left out, unless predictions need them too, see [gram.Design.Keep].
func (m *ProbitClassifierModel[T]) setRelevance(fit *probit.RelevanceFit) error {
	if small, ok := m.design.Keep(fit.Vectors); ok {
		m.design, m.vectors = small, fit.Vectors
		return m.set(fit.Posterior, 0)
	}
	s, D := fit.Posterior.State(), m.design.D
	w := la.NewMatrix[float64](s.W.Rows, D)
	alpha := w.Clone()
	alpha.Fill(math.Inf(1))
	for i, d := range fit.Vectors {
		for c := range w.Rows {
			w.Set(c, d, s.W.At(c, i))
			alpha.Set(c, d, s.Alpha.At(c, i))
		}
	}
	s.W, s.Alpha = w, alpha
	if !s.Point {
		gram := la.NewMatrix[float64](D, D)
		for i, d := range fit.Vectors {
			for j, e := range fit.Vectors[:i+1] {
				gram.Set(d, e, s.Gram.At(i, j))
			}
		}
		s.Gram = gram
	}
	p, err := probit.NewPosterior(s)
	if err != nil {
		return err
	}
	return m.set(p, 0)
}
