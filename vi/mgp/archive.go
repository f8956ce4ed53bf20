package mgp

import (
	"errors"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// Prepared values of an archive are values that the same posterior prepared; see [archive.Value]. The archive may be nil.

// ArchivedTriangle is [Posterior.Triangle] by way of an archive.
func (p *Posterior) ArchivedTriangle(a *archive.Archive, k Composite, tolerance float64) *Triangle {
	t := archive.Value(a, func() *triangle.Triangle {
		if t := p.Triangle(k, tolerance); t != nil {
			return t.Triangle
		}
		return nil
	}, func(t *triangle.Triangle, a *archive.Archive) { t.Archive(a, p.dim.N) })
	if t == nil {
		return nil
	}
	return &Triangle{p, t, tolerance}
}

// ArchivedProjection is [Posterior.Project] by way of an archive.
func (p *Posterior) ArchivedProjection(a *archive.Archive, k Composite, opt ProjectOptions) (*Projection, error) {
	var err error
	q := archive.Value(a, func() (q *Projection) {
		q, err = p.Project(k, opt)
		return q
	}, func(q *Projection, a *archive.Archive) {
		q.meanOnly, q.noise = opt.MeanOnly, 1/p.s.Tau
		q.archive(a, p.dim.N)
	})
	return q, err
}

// archive describes the fields of a projection of n training samples.
func (q *Projection) archive(a *archive.Archive, n int) {
	a.Ints(&q.Pivots)
	a.Int(&q.Order)
	if q.Order < 1 || q.Order > len(q.Pivots) {
		a.Fail(errors.New("a projection has more dimensions than pivots"))
	}
	for _, i := range q.Pivots {
		if i < 0 || i >= n {
			a.Fail(errors.New("a pivot is not a training sample"))
		}
	}
	a.Floats(&q.weights)
	if len(q.weights) != len(q.Pivots) {
		a.Fail(errors.New("a projection has other weights than pivots"))
	}
	if a.Err() != nil {
		return
	}
	q.inverse.Archive(a, q.Order, q.Order)
	if !q.meanOnly {
		q.inside.Archive(a, q.Order, q.Order)
	}
	for _, v := range []*float64{&q.energy, &q.lambda, &q.meanRounding, &q.residualRounding, &q.varianceRounding} {
		a.Float(v)
	}
}

// ArchiveTriangle describes the fields of a triangle of the posterior, without variances if meanOnly. It is for [archive.Value].
func (p *FeaturePosterior) ArchiveTriangle(t *FeatureTriangle, a *archive.Archive, meanOnly bool, tolerance float64) {
	features := len(p.s.Mean)
	t.noise, t.tolerance, t.blocks = p.s.Noise, tolerance, p.s.Blocks
	a.Floats(&t.weights)
	a.Floats(&t.offset)
	a.Floats(&t.inverse)
	a.Float(&t.size)
	if len(t.weights) != features || len(t.offset) != features || len(t.inverse) != features {
		a.Fail(errors.New("a triangle is of other features"))
	}
	if meanOnly || a.Err() != nil {
		return
	}
	have := t.tri
	t.tri = archive.Value(a, func() *triangle.Triangle { return have }, func(tri *triangle.Triangle, a *archive.Archive) {
		tri.Archive(a, features)
	})
	if t.tri == nil {
		a.Fail(errors.New("a triangle lacks its variances"))
	}
}
