package bemkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// plane is the accelerated order of a sweep. The one factorisation of a sweep gives a
// tangent of the bound with Cov[a] at its best for every λ and υ, and a step z of E[a]. All
// that follows keeps E[a] on the plane through its present place that z and the previous
// sweep's step d span. On it everything is solved for by rounds of exact steps: a with G, b,
// λ and Cov[a] at their best for every a; the kernel weights and the noise; where outputs
// share G, it with their kernel weights; υ; λ; the scale of the ridge. No round touches the kernels or anything of
// order D²: with the inner products of the projections of a, z and d, G is known by its
// sums over samples. Derived in docs/theory/acceleration.md.
type plane struct {
	*latent
	outputs []readout          // row r of the sample weights has the outputs r·M … r·M+M−1
	M       int                // outputs a row
	gamma   *conjugate.Gammas  // L, precisions of the biases
	epsilon []float64          // L, E[ε]
	target  la.Matrix[float64] // L×N, 0 where missing
	gTarget la.Matrix[float64] // L×P, Σ_i E[g]·t over observed i
	rounds  int                // a sweep

	// Tasks for a row each, made once so that sweeps do not allocate: factorise, form
	// the sums, update (a, b, G) or (b, G), and the latter after new targets.
	factorTask, openTask, moveTask, followTask, targetTask func(*intermediate.Worker, int) error

	away []la.Matrix[float64] // R of P×P, Σ_i (E[g_i] − h_i)·E[g_i]ᵀ over observed i

	composite la.Matrix[float64] // D×N, the kernels weighted by E[e]; only with M = 1

	step  la.Matrix[float64] // R×D, z
	last  la.Matrix[float64] // R×D, d
	hLast la.Matrix[float64] // (R·P)×N, the projections of d
	moved la.Matrix[float64] // R×2, how far a has gone along z and d in this sweep

	// While staged, G is E[g_i] = through·h_i + Σ_o gain_o·t_{o,i} − offset for observed
	// samples, and h_i for the others; gMean holds the projections of z.
	staged  bool
	through []la.Matrix[float64] // R of P×P
	gain    la.Matrix[float64]   // L×P
	offset  la.Matrix[float64]   // R×P

	// Sums over the observed samples of a row. The 3P projections are the P projections of a, of z
	// and of d.
	gram    []la.Matrix[float64] // R of 3P×3P, their inner products
	ones    la.Matrix[float64]   // R×3P, their sums
	targets la.Matrix[float64]   // L×3P, their inner products with the targets
	tt      []la.Matrix[float64] // R of M×M, Σ t·tᵀ
	t1      []float64            // L, Σ t

	scratch []planeScratch // one per worker
}

// planeScratch is the scratch of one worker beyond what every model needs.
type planeScratch struct {
	shift, cross la.Matrix[float64] // P×P
	third        la.Matrix[float64] // P×N, only when targets are missing
	bias         la.Matrix[float64] // M×M
	m1, m2       []float64          // M
	p2           []float64          // P
	cg           [4][]float64       // D
	biasFollows  bool               // bias holds a factor, see plane.follow
}

// readout is how an output reads the intermediate outputs of its row: as eᵀ·g + b.
type readout struct {
	be            *conjugate.Gaussian
	bias, weights int                // the place of b in be, and of the first entry of e
	ee            la.Matrix[float64] // P×P, E[e·eᵀ]
}

// e returns E[e].
func (q *readout) e() []float64 { return q.be.Mean[q.weights : q.weights+q.ee.Rows] }

// leastRounds is how many rounds a sweep has, unless severalRounds says more. With more a
// single output saves a sweep in ten, which is less than they cost.
const leastRounds = 20

// severalRounds is how many it has for a regression of L outputs, D basis points and P
// kernels. The G and kernel weights of several outputs follow each other through the rounds: a
// hundred, or fewer where P×P matrices are not small beside D×D matrices.
func severalRounds(L, D, P int) int {
	if L == 1 {
		return leastRounds
	}
	ratio := float64(D) / float64(P)
	return int(min(100, max(leastRounds, ratio*ratio*ratio/100)))
}

// newPlane returns a plane whose d is zero.
func newPlane(l *latent, outputs []readout, gamma *conjugate.Gammas, epsilon []float64, target, gTarget la.Matrix[float64], rounds int) *plane {
	R, P, L := l.R, l.P, len(outputs)
	M := L / R
	p := &plane{
		latent: l, outputs: outputs, M: M, gamma: gamma, epsilon: epsilon, target: target, gTarget: gTarget, rounds: rounds,
		step:    la.NewMatrix[float64](R, l.D),
		last:    la.NewMatrix[float64](R, l.D),
		hLast:   la.NewMatrix[float64](R*P, l.N),
		moved:   la.NewMatrix[float64](R, 2),
		gain:    la.NewMatrix[float64](L, P),
		offset:  la.NewMatrix[float64](R, P),
		ones:    la.NewMatrix[float64](R, 3*P),
		targets: la.NewMatrix[float64](L, 3*P),
		t1:      make([]float64, L),
	}
	for range R {
		p.through = append(p.through, la.NewMatrix[float64](P, P))
		p.away = append(p.away, la.NewMatrix[float64](P, P))
		p.gram = append(p.gram, la.NewMatrix[float64](3*P, 3*P))
		p.tt = append(p.tt, la.NewMatrix[float64](M, M))
	}
	for range l.Crew.Workers {
		own := planeScratch{
			shift: la.NewMatrix[float64](P, P), cross: la.NewMatrix[float64](P, P), bias: la.NewMatrix[float64](M, M),
			m1: make([]float64, M), m2: make([]float64, M), p2: make([]float64, P),
		}
		for i := range own.cg {
			own.cg[i] = make([]float64, l.D)
		}
		if l.Observed.Rows > 0 {
			own.third = la.NewMatrix[float64](P, l.N)
		}
		p.scratch = append(p.scratch, own)
	}
	if M == 1 {
		p.composite = la.NewMatrix[float64](l.D, l.N)
	}
	p.factorTask = func(w *intermediate.Worker, r int) error {
		if err := l.WeightTask(w, r); err != nil {
			return err
		}
		p.newtonStep(w, r)
		return nil
	}
	p.openTask = func(w *intermediate.Worker, r int) error { p.open(w, r); return p.followTask(w, r) }
	p.followTask = func(w *intermediate.Worker, r int) error {
		if err := p.follow(w, r); err != nil {
			return err
		}
		p.sum(w, r)
		return nil
	}
	p.moveTask = func(w *intermediate.Worker, r int) error {
		if err := p.follow(w, r); err != nil {
			return err
		}
		p.move(w, r)
		p.sum(w, r)
		return nil
	}
	p.targetTask = func(w *intermediate.Worker, r int) error { p.retarget(r); return p.followTask(w, r) }
	l.plane = p
	return p
}

// order returns the updates of an accelerated sweep.
func (p *plane) order(u *updates) []work.Update {
	return orderOfPlanes(u, p.rounds, func(f func(*plane) error) error { return f(p) })
}

// orderOfPlanes returns the updates of an accelerated sweep of so many rounds, of models that
// may have several planes: each calls its argument for every one.
func orderOfPlanes(u *updates, rounds int, each func(func(*plane) error) error) []work.Update {
	on := func(name string, f func(*plane) error) work.Update {
		return work.Update{Name: name, Step: func() error { return each(f) }}
	}
	follow := on("(b,G)", (*plane).followRows)
	round := append([]work.Update{on("(a,b,G,λ)", (*plane).moveRows)}, u.rest...)
	if u.mix != nil {
		round = append(round, work.Update{Name: "(e,G)", Step: u.mix})
	}
	if u.upsilon != nil {
		round = append(round, work.Update{Name: "υ", Step: func() error {
			u.upsilon()
			return each((*plane).followCovariances)
		}}, on("(λ,Cov[a])", (*plane).updateLambda))
	}
	round = append(round, work.Step("scale", u.scale))
	if u.score != nil {
		round = append(round, follow, work.Update{Name: "f", Step: func() error {
			u.score()
			return each((*plane).retargetRows)
		}})
	}
	order := []work.Update{u.g, on("Cov[a]", (*plane).begin)}
	for range rounds {
		order = append(order, round...)
	}
	return append(order, follow, work.Update{Name: "G", Step: func() error {
		if err := each((*plane).end); err != nil {
			return err
		}
		return u.g.Step()
	}})
}

// moveRows updates a with b, G, λ and Cov[a] of every row.
func (p *plane) moveRows() error {
	if err := p.Crew.Each(p.moveTask); err != nil {
		return err
	}
	return p.updateLambda()
}

// followRows updates b with G of every row, and retargetRows after a change of the targets.
func (p *plane) followRows() error   { return p.Crew.Each(p.followTask) }
func (p *plane) retargetRows() error { return p.Crew.Each(p.targetTask) }

// updateLambda updates λ and Cov[a].
func (p *plane) updateLambda() error {
	p.updateLambdaAndCovariance()
	return nil
}

// followCovariances lets Cov[a] follow υ.
func (p *plane) followCovariances() error {
	for r := range p.R {
		p.followCovariance(r)
	}
	return nil
}

// end ends the rounds; G is left to be written out.
func (p *plane) end() error {
	p.keepStep()
	p.staged = false
	return nil
}

// begin factorises, which gives Cov[a], and begins the rounds on the plane.
func (p *plane) begin() error {
	if err := p.directions(); err != nil {
		return err
	}
	p.staged, p.DistanceStale = true, false
	return p.Crew.Each(p.openTask)
}

// directions updates Cov[a] and stores the step z (see newtonStep), given a
// G that is at its best for E[a], and the projections of z in the place of G. Like the
// plain updates of a and G it passes over the kernels twice, and once more for K_e.
func (p *plane) directions() error {
	l := p.latent
	la.Axpy(-1, l.H.Data, l.GMean.Data)
	l.Gradient(l.GMean)
	l.Solution = p.step
	if p.M == 1 {
		p.formComposite()
	}
	if err := l.Crew.Each(p.factorTask); err != nil {
		return err
	}
	l.K.Project(&l.Crew.All, p.step, l.GMean)
	return nil
}

// move takes a to the best point a + αz + βd, with G, b, λ and Cov[a] following; λ and
// Cov[a] are left to the caller. It comes after follow and uses what that has left with the worker.
func (p *plane) move(w *intermediate.Worker, r int) {
	f := p.bound(w, r)
	alpha, beta := f.maximum()
	p.moveBy(w, r, alpha, beta)
}

// bound returns the bound on the plane. It comes after follow.
func (p *plane) bound(w *intermediate.Worker, r int) planeBound {
	own := &p.scratch[w.Index]
	P, D, upsilon := p.P, p.D, p.Upsilon[r]
	gram, ones, offset := p.gram[r], p.ones.Row(r), p.offset.Row(r)

	// With H_z and H_d the projections of z and d, k and j one of them: slopes
	// υ⟨H_k, E[g]−h⟩, curvatures υ·ΣH_kᵀ(I − υ·Cov[g])H_j less what b takes away, with
	// (I − υ·Cov[g]) = −shift, and the couplings υ·gain_oᵀ·ΣH_k of k with b_o.
	f := planeBound{
		a: p.AMean.Row(r), z: p.step.Row(r), d: p.last.Row(r), v: p.Slope.Row(r), upsilon: upsilon,
		scale: p.Lambda.Scale[r*D : (r+1)*D],
		shape: p.Lambda.Shape, prior: p.Lambda.Prior,
	}
	follow := [2][]float64{own.m1, own.m2}
	for k := range 2 {
		at := (k + 1) * P
		sum := -la.Dot(offset, ones[at:at+P])
		for m := range P {
			sum += la.Dot(own.shift.Row(m), gram.Row(at + m)[:P])
		}
		for j := range p.M {
			o := r*p.M + j
			gain := p.gain.Row(o)
			sum += la.Dot(gain, p.targets.Row(o)[at:at+P])
			follow[k][j] = upsilon * la.Dot(gain, ones[at:at+P])
		}
		f.slope[k] = upsilon * sum
	}
	for k := range 2 {
		for j := range k + 1 {
			var sum float64
			for m := range P {
				sum -= la.Dot(own.shift.Row(m), gram.Row((k+1)*P + m)[(j+1)*P:(j+2)*P])
			}
			f.curve[k+j] = upsilon * sum
		}
	}
	// b_o moves by −B⁻¹·follow; with B = CCᵀ the curvatures lose (C⁻¹·follow)ᵀ(C⁻¹·follow).
	if own.biasFollows {
		for k := range 2 {
			la.Trsv(la.NoTrans, own.bias, follow[k])
		}
		f.curve[0] -= la.SumSq(follow[0])
		f.curve[1] -= la.Dot(follow[0], follow[1])
		f.curve[2] -= la.SumSq(follow[1])
	}
	return f
}

// moveBy takes a to a + αz + βd, and the biases with it. It comes after bound.
func (p *plane) moveBy(w *intermediate.Worker, r int, alpha, beta float64) {
	own := &p.scratch[w.Index]
	la.Axpy(alpha, p.step.Row(r), p.AMean.Row(r))
	la.Axpy(beta, p.last.Row(r), p.AMean.Row(r))
	for m := r * p.P; m < (r+1)*p.P; m++ {
		la.Axpy(alpha, p.GMean.Row(m), p.H.Row(m))
		la.Axpy(beta, p.hLast.Row(m), p.H.Row(m))
	}
	if own.biasFollows {
		la.Scal(-alpha, own.m1)
		la.Axpy(-beta, own.m2, own.m1)
		la.Trsv(la.Transpose, own.bias, own.m1)
		for j, b := range own.m1 {
			o := r*p.M + j
			p.outputs[o].be.Mean[p.outputs[o].bias] += b
			la.Axpy(b, p.gain.Row(o), p.offset.Row(r))
		}
	}
	p.shiftSums(r, alpha, beta)
	p.moved.Row(r)[0] += alpha
	p.moved.Row(r)[1] += beta
}

// keepStep makes this sweep's step the next one's d.
func (p *plane) keepStep() {
	for r := range p.R {
		alpha, beta := p.moved.At(r, 0), p.moved.At(r, 1)
		d := p.last.Row(r)
		la.Scal(beta, d)
		la.Axpy(alpha, p.step.Row(r), d)
		for m := r * p.P; m < (r+1)*p.P; m++ {
			la.Scal(beta, p.hLast.Row(m))
			la.Axpy(alpha, p.GMean.Row(m), p.hLast.Row(m))
		}
	}
}
