package bemkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// groupPlane is the accelerated order of a fit with groups: plane for several Cov[g] of an
// output. A sweep factorises once, which gives the tangent that stands for Cov[a] and a step
// z of E[a], and then goes through rounds of exact steps with E[a] on the plane of z and the
// previous sweep's step d. G is written out in every round, O(N·P²). Derived in
// docs/acceleration.md, section 7.
type groupPlane struct {
	*groupedRegression
	step, last la.Matrix[float64] // L×D, z and d
	hStep      la.Matrix[float64] // (L·P)×N, the projections of z
	hLast      la.Matrix[float64] // (L·P)×N, those of d
	moved      la.Matrix[float64] // L×2, how far a has gone along z and d in this sweep
	sums       []planeGroup       // L·C
	beginTask  func(*worker, int) error
	moveTask   func(*worker, int) error
}

// planeGroup holds the sums of the projections of z and d over a group of samples.
type planeGroup struct {
	gram [3]la.Matrix[float64] // P×P, Σ_i of z·zᵀ, z·dᵀ and d·dᵀ
	ones [2][]float64          // P, Σ_i of z and of d
	h    [2]la.Matrix[float64] // P×seen, room for the group's columns of z and d
}

// newGroupPlane returns a plane whose d is zero.
func newGroupPlane(m *groupedRegression) *groupPlane {
	P := m.P
	p := &groupPlane{
		groupedRegression: m,
		step:              la.NewMatrix[float64](m.L, m.D), last: la.NewMatrix[float64](m.L, m.D),
		hStep: la.NewMatrix[float64](m.L*P, m.N), hLast: la.NewMatrix[float64](m.L*P, m.N),
		moved: la.NewMatrix[float64](m.L, 2),
	}
	for i := range m.parts {
		var s planeGroup
		for k := range s.gram {
			s.gram[k] = la.NewMatrix[float64](P, P)
		}
		for k := range s.ones {
			s.ones[k], s.h[k] = make([]float64, P), la.NewMatrix[float64](P, len(m.parts[i].seen))
		}
		p.sums = append(p.sums, s)
	}
	p.beginTask = p.beginOf
	p.moveTask = func(_ *worker, o int) error { p.move(o); return nil }
	return p
}

// order returns the updates of an accelerated sweep.
func (p *groupPlane) order(u *updates) []work.Update {
	order := []work.Update{{Name: "Cov(a)", Step: p.begin}}
	for range leastRounds {
		order = append(order,
			work.Update{Name: "G, b", Step: p.updateIntermediateAndBiases},
			work.Update{Name: "a, λ, G, b", Step: p.moveRows},
		)
		order = append(order, u.rest...)
		order = append(order,
			work.Update{Name: "υ", Step: p.updateUpsilonAndCovariances},
			step("λ", p.updateLambdaAndCovariance),
			step("scale", u.scale),
		)
	}
	return append(order, work.Update{Name: "G, b", Step: func() error { p.keepStep(); return p.updateIntermediateAndBiases() }})
}

// begin factorises, which gives Cov[a], and stores the step z = (Λ + υS)⁻¹·r, where
// r = υ·Σ_m K_m(g_m − h_m) − Λa is the gradient.
func (p *groupPlane) begin() error {
	l := p.latent
	p.hStep.CopyFrom(l.gMean)
	la.Axpy(-1, l.h.Data, p.hStep.Data)
	l.gradient(p.hStep)
	l.solution = p.step
	if err := l.crew.Each(l.weightTask); err != nil {
		return err
	}
	l.k.Project(&l.crew.All, p.step, p.hStep)
	clear(p.moved.Data)
	return l.crew.Each(p.beginTask)
}

// beginOf forms the sums of output o.
func (p *groupPlane) beginOf(w *worker, o int) error {
	for c := range p.of(o) {
		part, s := &p.of(o)[c], &p.sums[o*p.C+c]
		for k, x := range [2]la.Matrix[float64]{p.hStep, p.hLast} {
			part.gather(p.rows(x, o), s.h[k])
			for j := range p.P {
				s.ones[k][j] = conjugate.Sum(s.h[k].Row(j))
			}
		}
		for k, pair := range [3][2]int{{0, 0}, {0, 1}, {1, 1}} {
			la.Gemm(&w.ws, la.NoTrans, la.Transpose, 1, s.h[pair[0]], s.h[pair[1]], 0, s.gram[k])
		}
	}
	return nil
}

// moveRows updates a with λ, Cov[a], G and b of every output.
func (p *groupPlane) moveRows() error {
	if err := p.crew.Each(p.moveTask); err != nil {
		return err
	}
	p.updateLambdaAndCovariance()
	return p.updateIntermediateAndBiases()
}

// move takes a of output o to the best point of the plane, with G, b, λ and Cov[a] following.
// It comes after G and b have been updated.
func (p *groupPlane) move(o int) {
	f := p.bound(o)
	alpha, beta := f.maximum()
	p.moveBy(o, alpha, beta)
}

// moveBy takes a of output o to a + αz + βd.
func (p *groupPlane) moveBy(o int, alpha, beta float64) {
	la.Axpy(alpha, p.step.Row(o), p.aMean.Row(o))
	la.Axpy(beta, p.last.Row(o), p.aMean.Row(o))
	for j := o * p.P; j < (o+1)*p.P; j++ {
		la.Axpy(alpha, p.hStep.Row(j), p.h.Row(j))
		la.Axpy(beta, p.hLast.Row(j), p.h.Row(j))
	}
	p.moved.Row(o)[0] += alpha
	p.moved.Row(o)[1] += beta
}

// bound returns the bound on the plane of output o, with G and b at their best: plane.bound
// with sums over the groups.
func (p *groupPlane) bound(o int) planeBound {
	D, upsilon := p.D, p.upsilonMean[o]
	f := planeBound{
		a: p.aMean.Row(o), z: p.step.Row(o), d: p.last.Row(o), v: p.slope.Row(o), upsilon: upsilon,
		scale: p.lambda.Scale[o*D : (o+1)*D],
		shape: p.lambda.Shape, prior: p.lambda.Prior,
	}
	for j := o * p.P; j < (o+1)*p.P; j++ {
		for k, x := range [2]la.Matrix[float64]{p.hStep, p.hLast} {
			f.slope[k] += float64(upsilon * (la.Dot(x.Row(j), p.gMean.Row(j)) - la.Dot(x.Row(j), p.h.Row(j))))
		}
	}
	var follow [2]float64 // of the bias
	e := p.reads[o].e()
	for c := range p.of(o) {
		part, s := &p.of(o)[c], &p.sums[o*p.C+c]
		eps := part.epsilon.Mean(0)
		for j := range p.P {
			cov := part.cov.Row(j)
			gain := float64(eps * la.Dot(cov, e))
			for k := range follow {
				follow[k] += float64(float64(upsilon*gain) * s.ones[k][j])
			}
			for k, gram := range s.gram {
				f.curve[k] += float64(upsilon * (gram.At(j, j) - float64(upsilon*la.Dot(cov, gram.Row(j)))))
			}
		}
	}
	bend := p.biasCurvature(o)
	f.curve[0] -= follow[0] * follow[0] / bend
	f.curve[1] -= follow[0] * follow[1] / bend
	f.curve[2] -= follow[1] * follow[1] / bend
	return f
}

// keepStep makes this sweep's step the next one's d.
func (p *groupPlane) keepStep() {
	for o := range p.L {
		alpha, beta := p.moved.At(o, 0), p.moved.At(o, 1)
		la.Scal(beta, p.last.Row(o))
		la.Axpy(alpha, p.step.Row(o), p.last.Row(o))
		for j := o * p.P; j < (o+1)*p.P; j++ {
			la.Scal(beta, p.hLast.Row(j))
			la.Axpy(alpha, p.hStep.Row(j), p.hLast.Row(j))
		}
	}
}

// updateUpsilonAndCovariances updates υ, and lets Cov[a] follow.
func (p *groupPlane) updateUpsilonAndCovariances() error {
	p.updateUpsilon()
	for o := range p.L {
		p.followCovariance(o)
	}
	return nil
}
