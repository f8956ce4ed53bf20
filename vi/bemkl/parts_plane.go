package bemkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// partPlane is the accelerated order of a fit whose rows have several parts: plane for several
// Cov[g] of a row. A sweep factorises once, which gives the tangent that stands for Cov[a] and a
// step z of E[a], and then goes through rounds of exact steps with E[a] on the plane of z and the
// previous sweep's step d. G is written out in every round, O(N·P²). Derived in
// docs/theory/acceleration.md, section 7.
type partPlane struct {
	*latent
	model      parted
	rounds     int                // a sweep
	C          int                // parts of a row
	parts      []*part            // R·C, the parts of row r from r·C on
	step, last la.Matrix[float64] // R×D, z and d
	hStep      la.Matrix[float64] // (R·P)×N, the projections of z
	hLast      la.Matrix[float64] // (R·P)×N, the projections of d
	moved      la.Matrix[float64] // R×2, how far a has gone along z and d in this sweep
	sums       []planePart        // R·C
	beginTask  func(*intermediate.Worker, int) error
	moveTask   func(*intermediate.Worker, int) error
}

// parted is the state of a fit with parts.
type parted interface {
	// updateIntermediateAndBiases updates the means of G and of the biases jointly, and Cov[g].
	updateIntermediateAndBiases() error
	// yield returns what the curvatures of row r with its biases held, entries zz, zd and dd, lose
	// because the biases give way when E[a] moves. The sums run over the samples of each of the
	// row's parts.
	yield(r int, sums []planePart) [3]float64
}

// planePart holds the sums of the projections of z and d over the samples of a part.
type planePart struct {
	gram [3]la.Matrix[float64] // P×P, Σ_i of z·zᵀ, z·dᵀ and d·dᵀ
	ones [2][]float64          // P, Σ_i of z and of d
	h    [2]la.Matrix[float64] // P×members, room for the part's columns of z and d
}

// newPartPlane returns a plane whose d is zero.
func newPartPlane(l *latent, model parted, parts []*part, rounds int) *partPlane {
	P := l.P
	p := &partPlane{
		latent: l, model: model, rounds: rounds, C: len(parts) / l.R, parts: parts,
		step: la.NewMatrix[float64](l.R, l.D), last: la.NewMatrix[float64](l.R, l.D),
		hStep: la.NewMatrix[float64](l.R*P, l.N), hLast: la.NewMatrix[float64](l.R*P, l.N),
		moved: la.NewMatrix[float64](l.R, 2),
	}
	for _, part := range parts {
		var s planePart
		for k := range s.gram {
			s.gram[k] = la.NewMatrix[float64](P, P)
		}
		for k := range s.ones {
			s.ones[k], s.h[k] = make([]float64, P), la.NewMatrix[float64](P, len(part.members))
		}
		p.sums = append(p.sums, s)
	}
	p.beginTask = p.beginOf
	p.moveTask = func(_ *intermediate.Worker, r int) error { p.move(r); return nil }
	return p
}

// order returns the updates of an accelerated sweep.
func (p *partPlane) order(u *updates) []work.Update {
	joint := work.Update{Name: "G, b", Step: p.model.updateIntermediateAndBiases}
	round := append([]work.Update{joint, {Name: "a, λ, G, b", Step: p.moveRows}}, u.rest...)
	if u.mix != nil {
		round = append(round, work.Update{Name: "(e,G)", Step: u.mix})
	}
	round = append(round, work.Step("υ", func() {
		u.upsilon()
		for r := range p.R {
			p.followCovariance(r)
		}
	}), work.Step("λ", p.updateLambdaAndCovariance), work.Step("scale", u.scale))
	order := []work.Update{{Name: "Cov[a]", Step: p.begin}}
	for range p.rounds {
		order = append(order, round...)
	}
	return append(order, work.Update{Name: "G, b", Step: func() error {
		p.keepStep()
		return p.model.updateIntermediateAndBiases()
	}})
}

// begin factorises, which gives Cov[a], and stores the step z = (Λ + υS)⁻¹·r, where
// r = υ·Σ_m K_m(g_m − h_m) − Λa is the gradient.
func (p *partPlane) begin() error {
	l := p.latent
	p.hStep.CopyFrom(l.GMean)
	la.Axpy(-1, l.H.Data, p.hStep.Data)
	l.Gradient(p.hStep)
	l.Solution = p.step
	if err := l.Crew.Each(l.WeightTask); err != nil {
		return err
	}
	l.K.Project(&l.Crew.All, p.step, p.hStep)
	clear(p.moved.Data)
	return l.Crew.Each(p.beginTask)
}

// beginOf forms the sums of row r.
func (p *partPlane) beginOf(w *intermediate.Worker, r int) error {
	for c := r * p.C; c < (r+1)*p.C; c++ {
		part, s := p.parts[c], &p.sums[c]
		for k, x := range [2]la.Matrix[float64]{p.hStep, p.hLast} {
			part.gather(p.Rows(x, r), s.h[k])
			for j := range p.P {
				s.ones[k][j] = conjugate.Sum(s.h[k].Row(j))
			}
		}
		for k, pair := range [3][2]int{{0, 0}, {0, 1}, {1, 1}} {
			la.Gemm(&w.WS, la.NoTrans, la.Transpose, 1, s.h[pair[0]], s.h[pair[1]], 0, s.gram[k])
		}
	}
	return nil
}

// moveRows updates a with λ, Cov[a], G and b of every row.
func (p *partPlane) moveRows() error {
	if err := p.Crew.Each(p.moveTask); err != nil {
		return err
	}
	p.updateLambdaAndCovariance()
	return p.model.updateIntermediateAndBiases()
}

// move takes a of row r to the best point of the plane, with G, b, λ and Cov[a] following.
// It comes after G and b have been updated.
func (p *partPlane) move(r int) {
	f := p.bound(r)
	alpha, beta := f.maximum()
	p.moveBy(r, alpha, beta)
}

// moveBy takes a of row r to a + αz + βd.
func (p *partPlane) moveBy(r int, alpha, beta float64) {
	la.Axpy(alpha, p.step.Row(r), p.AMean.Row(r))
	la.Axpy(beta, p.last.Row(r), p.AMean.Row(r))
	for j := r * p.P; j < (r+1)*p.P; j++ {
		la.Axpy(alpha, p.hStep.Row(j), p.H.Row(j))
		la.Axpy(beta, p.hLast.Row(j), p.H.Row(j))
	}
	p.moved.Row(r)[0] += alpha
	p.moved.Row(r)[1] += beta
}

// bound returns the bound on the plane of row r, with G and b at their best: plane.bound
// with sums over the parts.
func (p *partPlane) bound(r int) planeBound {
	D, upsilon := p.D, p.Upsilon[r]
	f := planeBound{
		a: p.AMean.Row(r), z: p.step.Row(r), d: p.last.Row(r), v: p.Slope.Row(r), upsilon: upsilon,
		scale: p.Lambda.Scale[r*D : (r+1)*D],
		shape: p.Lambda.Shape, prior: p.Lambda.Prior,
	}
	for j := r * p.P; j < (r+1)*p.P; j++ {
		for k, x := range [2]la.Matrix[float64]{p.hStep, p.hLast} {
			f.slope[k] += float64(upsilon * (la.Dot(x.Row(j), p.GMean.Row(j)) - la.Dot(x.Row(j), p.H.Row(j))))
		}
	}
	sums := p.sums[r*p.C : (r+1)*p.C]
	for c := range sums {
		cov := p.parts[r*p.C+c].cov
		for j := range p.P {
			for k, gram := range sums[c].gram {
				f.curve[k] += float64(upsilon * (gram.At(j, j) - float64(upsilon*la.Dot(cov.Row(j), gram.Row(j)))))
			}
		}
	}
	for k, v := range p.model.yield(r, sums) {
		f.curve[k] -= v
	}
	return f
}

// keepStep makes this sweep's step the next one's d.
func (p *partPlane) keepStep() {
	for r := range p.R {
		alpha, beta := p.moved.At(r, 0), p.moved.At(r, 1)
		la.Scal(beta, p.last.Row(r))
		la.Axpy(alpha, p.step.Row(r), p.last.Row(r))
		for j := r * p.P; j < (r+1)*p.P; j++ {
			la.Scal(beta, p.hLast.Row(j))
			la.Axpy(alpha, p.hStep.Row(j), p.hLast.Row(j))
		}
	}
}
