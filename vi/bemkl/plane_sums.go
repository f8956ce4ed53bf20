package bemkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
)

// open forms the sums over samples of the projections of a, z and d.
func (p *plane) open(w *intermediate.Worker, r int) {
	own := &p.scratch[w.Index]
	P, gram := p.P, p.gram[r]
	rows := [3]la.Matrix[float64]{
		p.Seen(r, p.H, w.Masked[0]), p.Seen(r, p.GMean, w.Masked[1]), p.Seen(r, p.hLast, own.third),
	}
	for k, x := range rows {
		for j, y := range rows[:k+1] {
			la.Gemm(&w.WS, la.NoTrans, la.Transpose, 1, x, y, 0, gram.Slice(k*P, (k+1)*P, j*P, (j+1)*P))
		}
		for m := range P {
			p.ones.Set(r, k*P+m, p.SumOver(x.Row(m)))
		}
	}
	gram.MirrorLower()
	clear(p.moved.Row(r))
	p.retarget(r)
}

// retarget forms the sums with the targets.
func (p *plane) retarget(r int) {
	for j := range p.M {
		o := r*p.M + j
		t := p.target.Row(o)
		for k, x := range [3]la.Matrix[float64]{p.H, p.GMean, p.hLast} {
			for m := range p.P {
				p.targets.Set(o, k*p.P+m, la.Dot(x.Row(r*p.P+m), t))
			}
		}
		for q := range p.M {
			p.tt[r].Set(j, q, la.Dot(t, p.target.Row(r*p.M+q)))
		}
		p.t1[o] = p.SumOver(t)
	}
}

// shiftSums replaces the sums with the projections of a by the sums with the projections of a + αz
// + βd.
func (p *plane) shiftSums(r int, alpha, beta float64) {
	P, gram := p.P, p.gram[r]
	add := func(x []float64) {
		la.Axpy(alpha, x[P:2*P], x[:P])
		la.Axpy(beta, x[2*P:], x[:P])
	}
	for m := range P {
		la.Axpy(alpha, gram.Row(P+m), gram.Row(m))
		la.Axpy(beta, gram.Row(2*P+m), gram.Row(m))
	}
	for m := range 3 * P {
		add(gram.Row(m))
	}
	add(p.ones.Row(r))
	for j := range p.M {
		add(p.targets.Row(r*p.M + j))
	}
}

// follow updates G and the means of the biases jointly, as functions of a. It leaves
// shift = through − I = −Cov[g]·Σ_o ε_o·E[e_o·e_oᵀ] with the worker, and the factor of B,
// which is minus the second derivative of the bound with respect to the biases with G
// following: B_oq = (γ_o + n·ε_o)·1[o=q] − n·ε_o·ε_q·E[e_o]ᵀ·Cov[g]·E[e_q].
func (p *plane) follow(w *intermediate.Worker, r int) error {
	own := &p.scratch[w.Index]
	P, n := p.P, p.Count[r]
	outputs := p.outputs[r*p.M : (r+1)*p.M]
	pull, offset, epsilon := p.Pull[r], p.offset.Row(r), p.epsilon[r*p.M:]
	pull.Fill(0)
	clear(w.P1)
	for j := range outputs {
		q, eps := &outputs[j], epsilon[j]
		for m := range P {
			la.Axpy(eps, q.ee.Row(m), pull.Row(m))
			w.P1[m] += float64(eps * q.be.Cov.At(q.bias, q.weights+m))
		}
	}
	if err := p.UpdateCovariance(w, r, w.P1); err != nil {
		return err
	}
	cov := p.GCov[r]
	p.through[r].CopyFrom(cov)
	for m := range P {
		la.Scal(p.Upsilon[r], p.through[r].Row(m))
	}
	copy(offset, w.Small.Mean) // with the biases at 0
	la.Gemm(&w.WS, la.NoTrans, la.NoTrans, -1, cov, pull, 0, own.shift)
	for j := range outputs {
		la.Gemv(&w.WS, la.NoTrans, epsilon[j], cov, outputs[j].e(), 0, p.gain.Row(r*p.M+j))
	}

	p.sumOfG(w, r, w.P1)
	for j := range outputs {
		o, q := r*p.M+j, &outputs[j]
		own.m1[j] = epsilon[j] * (p.t1[o] - la.Dot(q.e(), w.P1))
		for i := range j + 1 {
			own.bias.Set(j, i, -n*epsilon[j]*la.Dot(q.e(), p.gain.Row(r*p.M+i)))
		}
		own.bias.Row(j)[j] += p.gamma.Mean(o) + float64(n*epsilon[j])
	}
	// Rounding can leave B indefinite where sparse priors make it next to singular.
	// The biases then stay where they are.
	if own.biasFollows = la.Cholesky(&w.WS, own.bias) == nil; own.biasFollows {
		la.CholeskySolveVec(own.bias, own.m1)
	}
	for j := range outputs {
		q := &outputs[j]
		if own.biasFollows {
			q.be.Mean[q.bias] = own.m1[j]
		}
		la.Axpy(q.be.Mean[q.bias], p.gain.Row(r*p.M+j), offset)
	}
	return nil
}

// sumOfG stores Σ E[g_i] over the observed samples: with the sums h1 of h that is
// h1 + shift·h1 + Σ_o gain_o·Σt_o − n·offset.
func (p *plane) sumOfG(w *intermediate.Worker, r int, sum []float64) {
	own := &p.scratch[w.Index]
	h1 := p.ones.Row(r)[:p.P]
	copy(sum, h1)
	la.Gemv(&w.WS, la.NoTrans, 1, own.shift, h1, 1, sum)
	for j := range p.M {
		la.Axpy(p.t1[r*p.M+j], p.gain.Row(r*p.M+j), sum)
	}
	la.Axpy(-p.Count[r], p.offset.Row(r), sum)
}

// sum forms the sums over samples of G that the other updates need.
func (p *plane) sum(w *intermediate.Worker, r int) {
	own := &p.scratch[w.Index]
	P, M := p.P, p.M
	shift, cross, offset := own.shift, own.cross, p.offset.Row(r)
	h1 := p.ones.Row(r)[:P]
	gg, hh := p.GGram[r], p.gram[r].Slice(0, P, 0, P)

	p.sumOfG(w, r, p.GSum.Row(r))
	// cross = Σ(E[g]−h)hᵀ
	la.Gemm(&w.WS, la.NoTrans, la.NoTrans, 1, shift, hh, 0, cross)
	for m := range P {
		la.Axpy(-offset[m], h1, cross.Row(m))
		for j := range M {
			o := r*M + j
			la.Axpy(p.gain.At(o, m), p.targets.Row(o)[:P], cross.Row(m))
		}
	}
	// Σ(E[g]−h)(E[g]−h)ᵀ = cross·shiftᵀ + Σ_o Σ(E[g]−h)t_o·gain_oᵀ − Σ(E[g]−h)·offsetᵀ
	la.Gemm(&w.WS, la.NoTrans, la.Transpose, 1, cross, shift, 0, gg)
	for j := range M {
		o := r*M + j
		ht, target := p.targets.Row(o)[:P], p.gTarget.Row(o)
		la.Gemv(&w.WS, la.NoTrans, 1, shift, ht, 0, target)
		la.Axpy(-p.t1[o], offset, target)
		for i := range M {
			la.Axpy(p.tt[r].At(j, i), p.gain.Row(r*M+i), target)
		}
		for m := range P {
			la.Axpy(target[m], p.gain.Row(o), gg.Row(m))
		}
		la.Axpy(1, ht, target)
	}
	var distance float64
	for m := range P {
		row := gg.Row(m)
		la.Axpy(h1[m]-p.GSum.At(r, m), offset, row)
		distance += row[m]
	}
	p.GDistance[r] = max(0, distance)
	away := p.away[r] // (E[g]−h)E[g]ᵀ = (E[g]−h)(E[g]−h)ᵀ + (E[g]−h)hᵀ
	away.CopyFrom(gg)
	for m := range P {
		la.Axpy(1, cross.Row(m), away.Row(m))
	}
	for m := range P {
		row := gg.Row(m)
		for j := range m + 1 {
			row[j] += hh.At(m, j) + cross.At(m, j) + cross.At(j, m)
		}
	}
	gg.MirrorLower()
}

// addFit adds s·E[e_o]ᵀ·E[g_i] to every observed y_i. The y_i of missing samples have no meaning
// afterwards.
func (p *plane) addFit(w *intermediate.Worker, o int, s float64, y []float64) {
	r, e := o/p.M, p.outputs[o].e()
	la.Gemv(&w.WS, la.Transpose, s, p.through[r], e, 0, w.P1)
	for m, c := range w.P1 {
		la.Axpy(c, p.H.Row(r*p.P+m), y)
	}
	for j := range p.M {
		la.Axpy(s*la.Dot(e, p.gain.Row(r*p.M+j)), p.target.Row(r*p.M+j), y)
	}
	c := s * la.Dot(e, p.offset.Row(r))
	p.Subtract(c, y)
}

// rescale follows latent.rescale: a has been multiplied by c.
func (p *plane) rescale(c float64) {
	for r, gram := range p.gram {
		la.Scal(c, p.ones.Row(r)[:p.P])
		for m := range p.P {
			la.Scal(c, gram.Row(m))
		}
		for m := range 3 * p.P {
			la.Scal(c, gram.Row(m)[:p.P])
		}
	}
	for o := range p.outputs {
		la.Scal(c, p.targets.Row(o)[:p.P])
	}
	la.Scal(c, p.gain.Data)
	la.Scal(c, p.offset.Data)
}
