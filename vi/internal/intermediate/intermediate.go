package intermediate

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Distance returns Σ_{m,i} E[(g_{r,m,i} − a_rᵀk_{m,i})²].
func (l *Outputs) Distance(r int) float64 {
	if l.DistanceStale {
		for row := range l.R {
			l.UpdateDistance(l.Crew.Workers[0], row)
		}
		l.DistanceStale = false
	}
	return l.GDistance[r] + l.GTrace[r] + l.ATrace[r]
}

// UpdateDistance forms gDistance of row r.
func (l *Outputs) UpdateDistance(w *Worker, r int) {
	l.GDistance[r] = 0
	for m := r * l.P; m < (r+1)*l.P; m++ {
		copy(w.N1, l.GMean.Row(m))
		la.Axpy(-1, l.H.Row(m), w.N1)
		l.GDistance[r] += la.SumSq(w.N1)
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
func (l *Outputs) BeginUpdate(w *Worker, r int, constant []float64) error {
	if err := l.UpdateCovariance(w, r, constant); err != nil {
		return err
	}
	la.Gemm(&w.WS, la.NoTrans, la.NoTrans, l.Upsilon[r], w.Small.Cov, l.Rows(l.H, r), 0, l.Rows(l.GMean, r))
	return nil
}

// intermediateCovariance is the part of beginIntermediate that stores Σ and, in w.small,
// Σ·constant.
func (l *Outputs) UpdateCovariance(w *Worker, r int, constant []float64) error {
	P, upsilon := l.P, l.Upsilon[r]
	q := &w.Small
	for m := range P {
		copy(q.Cov.Row(m)[:m+1], l.Pull[r].Row(m)[:m+1])
		q.Cov.Row(m)[m] += upsilon
	}
	if err := q.SetPrecision(&w.WS, constant); err != nil {
		return fmt.Errorf("intermediate outputs of output %d: %w", r, err)
	}
	l.GCov[r].CopyFrom(q.Cov)

	seen, missing := l.Count[r], l.Size-l.Count[r]
	var trace float64
	for m := range P {
		trace += q.Cov.At(m, m)
	}
	l.GTrace[r] = float64(seen*trace) + missing*float64(P)/upsilon
	l.GLogDet[r] = float64(seen*q.LogDet) - float64(missing*float64(P)*special.Log(upsilon))
	return nil
}

// endIntermediate ends an update of row r of G after the model's part: it gives the
// samples that are not observed their prior means, and forms the sums over samples.
func (l *Outputs) EndUpdate(w *Worker, r int) error {
	if l.Count[r] < l.Size {
		g, h := l.Rows(l.GMean, r), l.Rows(l.H, r)
		for m := range l.P {
			row, prior := g.Row(m), h.Row(m)
			for i, z := range l.Observed.Row(r) {
				if z == 0 {
					row[i] = prior[i]
				}
			}
		}
	}
	return l.summariseIntermediate(w, r)
}

// Rows returns the rows r·P … r·P+P−1 of x.
func (l *Outputs) Rows(x la.Matrix[float64], r int) la.Matrix[float64] {
	return x.Slice(r*l.P, (r+1)*l.P, 0, l.N)
}

// summariseIntermediate forms the sums over samples that follow from the means
// of g_o and h_o.
func (l *Outputs) summariseIntermediate(w *Worker, o int) error {
	P := l.P
	g := l.Seen(o, l.GMean, w.Masked[0])
	la.Syrk(&w.WS, la.NoTrans, 1, g, 0, l.GGram[o])
	l.GGram[o].MirrorLower()
	for m := range P {
		l.GSum.Set(o, m, l.SumOver(g.Row(m)))
	}
	l.UpdateDistance(w, o)
	return nil
}

// Seen returns rows o·P … o·P+P−1 of x with zeros for the samples whose target
// is missing; it needs scratch only if there are such samples.
func (l *Outputs) Seen(o int, x, scratch la.Matrix[float64]) la.Matrix[float64] {
	x = l.Rows(x, o)
	if l.Count[o] == l.Size {
		return x
	}
	mask := l.Observed.Row(o)
	for m := range l.P {
		kept := scratch.Row(m)
		for i, v := range x.Row(m) {
			kept[i] = mask[i] * v
		}
	}
	return scratch
}

// MaskMissing clears the entries of x of samples whose target is missing in row r.
func (l *Outputs) MaskMissing(r int, x []float64) {
	if l.Count[r] == l.Size {
		return
	}
	for i, z := range l.Observed.Row(r) {
		x[i] *= z
	}
}

// AddFit adds s·eᵀE[g_i] to every y_i, s = ±1, with g of row r and e the mean of the kernel
// weights.
func (l *Outputs) AddFit(r int, e []float64, s float64, y []float64) {
	for m, v := range e {
		la.Axpy(s*v, l.GMean.Row(r*l.P+m), y)
	}
}
