package bemkl

import (
	"errors"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// Values of an archive are values that the same posterior prepared; see [archive.Value].

// ArchivedHealer is [RegressionPosterior.Healer] by way of an archive, which may be nil.
func (p *RegressionPosterior) ArchivedHealer(a *archive.Archive, ws *la.Workspace, o int) (*Healer, error) {
	return newHealer(a, ws, p.healers, o)
}

// ArchivedHealer is [SharedPosterior.Healer] by way of an archive, which may be nil.
func (p *SharedPosterior) ArchivedHealer(a *archive.Archive, ws *la.Workspace, o int) (*Healer, error) {
	return newHealer(a, ws, p.healers, o)
}

// Archive describes the fields of the triangles of the kernels with these E[e], and of n samples. Without variances they have no
// triangle of them. It is for [archive.Value].
func (t *Triangles) Archive(a *archive.Archive, e []float64, n int, variances, healed bool) {
	t.e = e
	part := func(of **triangle.Triangle) {
		if a.Reading() {
			*of = new(triangle.Triangle)
		}
		(*of).Archive(a, n)
	}
	if variances {
		part(&t.inside)
		a.Indices("sample", &t.order, n)
		if a.Err() == nil && len(t.order) != n {
			a.Fail(errors.New("a triangle has another order of samples"))
		}
		a.Vector(&t.loose, len(e))
		a.Float(&t.share)
	}
	if !healed || a.Err() != nil {
		return
	}
	part(&t.rest)
	if a.Reading() {
		t.apart = new(triangle.Form)
	}
	t.apart.Archive(a, n)
	a.Vector(&t.pull, n)
	a.Float(&t.precision)
}

// Archive describes the fields of a projection of P kernels with n training samples. It is for [archive.Value].
func (q *Projection) Archive(a *archive.Archive, P, n int, opt ProjectOptions) {
	q.meanOnly, q.healed, q.which = opt.MeanOnly, opt.Healed, formsOf(opt)
	if a.Reading() {
		q.Pivots, q.moves = make([][]int, P), make([]moves, P)
	}
	q.order = 0
	for m := range q.Pivots {
		a.Indices("pivot", &q.Pivots[m], n)
		q.order += len(q.Pivots[m])
	}
	if a.Err() != nil {
		return
	}
	q.inverse.Archive(a, q.order, q.order)
	for _, v := range []*[]float64{&q.e, &q.residual, &q.shift} {
		a.Vector(v, P)
	}
	a.Vector(&q.g, q.order)
	a.Matrix(&q.cov, 1+P, 1+P)
	q.forms.Archive(a, q.order, len(q.which))
	if q.healed {
		a.Vector(&q.pull, q.order)
	}
	for _, v := range []*float64{&q.bias, &q.constant, &q.meanSize, &q.pullSize, &q.precision, &q.root} {
		a.Float(v)
	}
	for m := range q.moves {
		v := &q.moves[m]
		for _, f := range []*float64{&v.mean, &v.spread, &v.pull, &v.rest, &v.self} {
			a.Float(f)
		}
	}
}
