package bemkl

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// distance returns Σ_{m,i} E[(g_{r,m,i} − a_rᵀk_{m,i})²].
func (l *latent) distance(r int) float64 {
	if l.distanceStale {
		for row := range l.R {
			l.updateDistance(l.crew.Workers[0], row)
		}
		l.distanceStale = false
	}
	return l.gDistance[r] + l.gTrace[r] + l.aTrace[r]
}

// updateDistance forms gDistance of row r.
func (l *latent) updateDistance(w *worker, r int) {
	l.gDistance[r] = 0
	for m := r * l.P; m < (r+1)*l.P; m++ {
		copy(w.n1, l.gMean.Row(m))
		la.Axpy(-1, l.h.Row(m), w.n1)
		l.gDistance[r] += la.SumSq(w.n1)
	}
}

// beginIntermediate begins an update of the factors q(g_{r,i}) of row r. The targets
// add pull_r to the precision of an observed sample's g, and a linear term t_i, so that
//
//	q(g_{r,i}) = N(Σ(υ_r·h_i + t_i), Σ),   Σ = (υ_r·I + pull_r)^-1,
//
// and N(h_i, I/υ_r) for the samples that are not observed. It stores Σ and the part
// υ_r·Σ·h_i of the means; the model adds Σ·t_i and calls endIntermediate. w.small then
// holds Σ and Σ·constant, for the part of t_i that all samples have in common.
func (l *latent) beginIntermediate(w *worker, r int, constant []float64) error {
	if err := l.intermediateCovariance(w, r, constant); err != nil {
		return err
	}
	la.Gemm(&w.ws, la.NoTrans, la.NoTrans, l.upsilon[r], w.small.Cov, l.rows(l.h, r), 0, l.rows(l.gMean, r))
	return nil
}

// intermediateCovariance is the part of beginIntermediate that stores Σ and, in w.small,
// Σ·constant.
func (l *latent) intermediateCovariance(w *worker, r int, constant []float64) error {
	P, upsilon := l.P, l.upsilon[r]
	q := &w.small
	for m := range P {
		copy(q.Cov.Row(m)[:m+1], l.pull[r].Row(m)[:m+1])
		q.Cov.Row(m)[m] += upsilon
	}
	if err := q.SetPrecision(&w.ws, constant); err != nil {
		return fmt.Errorf("intermediate outputs of output %d: %w", r, err)
	}
	l.gCov[r].CopyFrom(q.Cov)

	seen, missing := l.count[r], l.size-l.count[r]
	var trace float64
	for m := range P {
		trace += q.Cov.At(m, m)
	}
	l.gTrace[r] = float64(seen*trace) + missing*float64(P)/upsilon
	l.gLogDet[r] = float64(seen*q.LogDet) - float64(missing*float64(P)*special.Log(upsilon))
	return nil
}

// endIntermediate ends an update of row r of G after the model's part: it gives the
// samples that are not observed their prior means, and forms the sums over samples.
func (l *latent) endIntermediate(w *worker, r int) error {
	if l.count[r] < l.size {
		g, h := l.rows(l.gMean, r), l.rows(l.h, r)
		for m := range l.P {
			row, prior := g.Row(m), h.Row(m)
			for i, z := range l.observed.Row(r) {
				if z == 0 {
					row[i] = prior[i]
				}
			}
		}
	}
	return l.summariseIntermediate(w, r)
}

// rows returns the rows r·P … r·P+P−1 of x.
func (l *latent) rows(x la.Matrix[float64], r int) la.Matrix[float64] {
	return x.Slice(r*l.P, (r+1)*l.P, 0, l.N)
}

// summariseIntermediate forms the sums over samples that follow from the means
// of g_o and h_o.
func (l *latent) summariseIntermediate(w *worker, o int) error {
	P := l.P
	g := l.seen(o, l.gMean, w.masked[0])
	la.Syrk(&w.ws, la.NoTrans, 1, g, 0, l.gGram[o])
	l.gGram[o].MirrorLower()
	for m := range P {
		l.gSum.Set(o, m, l.sumOver(g.Row(m)))
	}
	l.updateDistance(w, o)
	return nil
}

// seen returns rows o·P … o·P+P−1 of x with zeros for the samples whose target
// is missing; it needs scratch only if there are such samples.
func (l *latent) seen(o int, x, scratch la.Matrix[float64]) la.Matrix[float64] {
	x = l.rows(x, o)
	if l.count[o] == l.size {
		return x
	}
	mask := l.observed.Row(o)
	for m := range l.P {
		kept := scratch.Row(m)
		for i, v := range x.Row(m) {
			kept[i] = mask[i] * v
		}
	}
	return scratch
}

// maskMissing clears the entries of x of samples whose target is missing in row r.
func (l *latent) maskMissing(r int, x []float64) {
	if l.count[r] == l.size {
		return
	}
	for i, z := range l.observed.Row(r) {
		x[i] *= z
	}
}

// addFit adds s·eᵀE[g_i] to every y_i, s = ±1, with g that of row r and e the mean of the
// kernel weights of output o.
func (l *latent) addFit(r, o int, e []float64, s float64, y []float64) {
	if l.plane != nil && l.plane.staged {
		l.plane.addFit(l.crew.Workers[0], o, s, y)
		return
	}
	for m, v := range e {
		la.Axpy(s*v, l.gMean.Row(r*l.P+m), y)
	}
}

// intermediateOf updates G where one output reads row r, as q says: eps is E[ε], t the
// target, 0 where it is missing. It stores Σ_i E[g_i]·t_i in gTarget.
func (l *latent) intermediateOf(w *worker, r int, q *readout, eps float64, t, gTarget []float64) error {
	P, be, e := l.P, q.be, q.e()
	b := be.Mean[q.bias]
	l.pull[r].CopyFrom(q.ee)
	for m := range P {
		la.Scal(eps, l.pull[r].Row(m))
		w.p1[m] = eps * (float64(b*e[m]) + be.Cov.At(q.bias, q.weights+m)) // ε·E[b·e]
	}
	if err := l.beginIntermediate(w, r, w.p1); err != nil {
		return err
	}
	g := l.rows(l.gMean, r)
	for m := range P {
		row := g.Row(m)
		la.Axpy(eps*la.Dot(w.small.Cov.Row(m), e), t, row)
		l.subtract(w.small.Mean[m], row)
	}
	if err := l.endIntermediate(w, r); err != nil {
		return err
	}
	la.Gemv(&w.ws, la.NoTrans, 1, g, t, 0, gTarget) // t is 0 where it is missing
	return nil
}

// residual returns Σ_i E[(t_i − eᵀg_i − b)²] over observed i, without the variance of t, for
// output o, which reads row r as q says. With x = (1, g) and w = (b, e) it is
// Σ (t − E[w]ᵀE[x])² + tr(Cov[w]·ΣE[x]E[x]ᵀ) + n·tr(Cov[g]·E[eeᵀ]),
// a sum of parts that are not negative.
func (l *latent) residual(r, o int, q *readout, t []float64) float64 {
	rest, be := l.crew.Workers[0].n1, q.be
	copy(rest, t)
	l.addFit(r, o, q.e(), -1, rest)
	l.subtract(be.Mean[q.bias], rest)
	l.maskMissing(r, rest)
	var spread, within float64
	for m := range l.P {
		cov := be.Cov.Row(q.weights + m)
		spread += 2 * float64(cov[q.bias]*l.gSum.At(r, m))
		spread += la.Dot(cov[q.weights:], l.gGram[r].Row(m))
		within += la.Dot(l.gCov[r].Row(m), q.ee.Row(m))
	}
	spread += float64(l.count[r] * be.Cov.At(q.bias, q.bias))
	return la.SumSq(rest) + spread + float64(l.count[r]*within)
}
