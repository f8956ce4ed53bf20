package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// fitRelevance completes the model m by relevance vectors for the classes index of the samples, with
// what p has of the settings.
func (c ProbitClassifier[T]) fitRelevance(ctx context.Context, m *ProbitClassifierModel[T], k vi.Kernels, p probit.Model, index []int) (*ProbitClassifierModel[T], error) {
	if c.Inference == PrunedVectors && (c.Update != PlugIn || c.Search != Mode) {
		return nil, fmt.Errorf("mkl: %v: Update and Search are not for it", c.Inference)
	}
	fit, err := bestStart(ctx, &c.Fitting, func(seed uint64, a vi.Ascent) (*probit.RelevanceFit, error) {
		if c.Inference == PrunedVectors {
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

// setRelevance completes the model by relevance vectors. They become its basis points, and
// all others are left out, unless predictions need these too, see [design.keep].
func (m *ProbitClassifierModel[T]) setRelevance(fit *probit.RelevanceFit) error {
	if small, ok := m.design.keep(fit.Vectors); ok {
		m.design, m.vectors = small, fit.Vectors
		return m.set(fit.Posterior, 0)
	}
	s, D := fit.Posterior.State(), m.design.d
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

// keep returns the design with some of its basis points alone. It does not if kernels are
// given, or centred, which takes the kernels of a sample with all basis points, or if samples
// may lack views, for which others stand in.
func (ds *design) keep(rows []int) (*design, bool) {
	if slices.ContainsFunc(ds.inputs, func(in input) bool { return in.given || in.gaps }) ||
		slices.ContainsFunc(ds.views, func(v boundView) bool { return v.center }) {
		return nil, false
	}
	small := &design{inputs: slices.Clone(ds.inputs), views: slices.Clone(ds.views), d: len(rows)}
	for i, x := range ds.rowsOf(rows) {
		in := &small.inputs[i]
		in.basis, in.apart = x, in.ranks != nil
	}
	for i := range small.views {
		if v := &small.views[i]; v.normalize {
			v.unit = picked(v.unit, rows)
		}
	}
	small.group()
	return small, true
}
