package bemkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// latent holds the sample weights and the intermediate outputs of the Bayesian
// efficient multiple kernel learning family:
//
//	λ_{r,d} ~ Gamma,  a_{r,d} | λ ~ N(0, 1/λ_{r,d})
//	g_{r,m,i} | a     ~ N(a_rᵀ·k_{m,i}, 1/υ_r)
//
// for R rows r: a row for each output, or a single one that the outputs share. A model
// supplies υ and what its targets make of G.
type latent struct {
	work.Stop
	k vi.Kernels
	samples
	P, D, N int
	R       int
	crew    *work.Crew[*worker]

	// S = Σ K_m K_mᵀ, D×D. It never changes, and posteriors share it: its upper triangle is
	// theirs, and gram, its lower one, the memory of their factor once the sweeps are over.
	gram, gramUpper la.Matrix[float64]
	over            bool               // the sweeps are over, see retire
	spare           la.Matrix[float64] // D×D for a posterior, once they are

	// Samples whose target is missing keep their g, which follows its prior.
	observed la.Matrix[float64] // R×N of 0 and 1; empty if nothing is missing
	count    []float64          // observed samples of each row

	lambda   conjugate.Gammas   // R·D
	aMean    la.Matrix[float64] // R×D
	aVar     la.Matrix[float64] // R×D, the diagonal of Cov[a_r]
	aLogDet  []float64          // log|Cov[a_r]|
	aTrace   []float64          // tr(S·Cov[a_r])
	slope    la.Matrix[float64] // R×D, v of the tangent that followCovariance takes for Cov[a_r]
	level    []float64          // log|I + PS| − Σ_d p_d·v_d of that tangent
	jitter   []float64          // relative jitter of the last factorisation, see factorB
	noise    []float64          // round-off of the bound that comes from factorising, in nats
	response la.Matrix[float64] // R×D, Σ_m K_m g_{r,m}
	solution la.Matrix[float64] // R×D, where Cov[a_r]·υ_r·response_r goes

	h         la.Matrix[float64]   // (R·P)×N, E[a_r]ᵀ k_{m,i}: the prior mean of g
	gMean     la.Matrix[float64]   // (R·P)×N
	gCov      []la.Matrix[float64] // P×P, of an observed sample's g_{r,i}
	gTrace    []float64            // Σ_i tr Cov[g_{r,i}]
	gLogDet   []float64            // Σ_i log|Cov[g_{r,i}]|
	gDistance []float64            // Σ_{m,i} (E[g] − h)²
	gSum      la.Matrix[float64]   // R×P, Σ_i E[g_{r,i}] over observed i
	gGram     []la.Matrix[float64] // P×P, Σ_i E[g]E[g]ᵀ over observed i
	pull      []la.Matrix[float64] // P×P, the precision that the targets give g_{r,i}

	// Tasks for a row each, made once so that sweeps do not allocate, and their argument.
	weightTask, gTask func(*worker, int) error
	upsilon           []float64 // R, E[υ] in the present update

	distanceStale bool // a has changed since gDistance was formed

	plane *plane // of the accelerated order; nil in the plain one

	memory work.Memory // of what posteriors are made of
}

// worker is the scratch of one goroutine.
type worker struct {
	ws     la.Workspace
	factor la.Matrix[float64]    // D×D, lower triangle
	d1, d2 []float64             // D
	n1     []float64             // N
	p1     []float64             // P
	masked [2]la.Matrix[float64] // P×N, only when targets are missing
	small  conjugate.Gaussian    // P

	// Only in the accelerated order, M the outputs of a row.
	shift, cross la.Matrix[float64] // P×P
	third        la.Matrix[float64] // P×N, only when targets are missing
	bias         la.Matrix[float64] // M×M
	m1, m2       []float64          // M
	p2           []float64          // P
	cg           [4][]float64       // D
	biasFollows  bool               // bias holds a factor, see plane.follow
}

// newLatent leaves gTask, which updates G for one row, to the model.
func newLatent(k vi.Kernels, R int, observed la.Matrix[float64], lambda vi.Gamma, workers int) *latent {
	P, D, N := k.Dims()
	l := &latent{
		k: k, samples: samplesOf(k), P: P, D: D, N: N, R: R, observed: observed,
		count:     make([]float64, R),
		lambda:    conjugate.NewGammas(lambda, lambda.Shape+0.5, R*D),
		aMean:     la.NewMatrix[float64](R, D),
		aVar:      la.NewMatrix[float64](R, D),
		aLogDet:   make([]float64, R),
		aTrace:    make([]float64, R),
		slope:     la.NewMatrix[float64](R, D),
		level:     make([]float64, R),
		jitter:    make([]float64, R),
		noise:     make([]float64, R),
		response:  la.NewMatrix[float64](R, D),
		h:         la.NewMatrix[float64](R*P, N),
		gMean:     la.NewMatrix[float64](R*P, N),
		gTrace:    make([]float64, R),
		gLogDet:   make([]float64, R),
		gDistance: make([]float64, R),
		gSum:      la.NewMatrix[float64](R, P),
	}
	both := newTriangles(D)
	l.gram, l.gramUpper = both.lower, both.upper
	for r := range R {
		l.count[r] = l.size
		if observed.Rows > 0 {
			l.count[r] = l.countOf(observed.Row(r))
		}
		l.gCov = append(l.gCov, la.NewMatrix[float64](P, P))
		l.gGram = append(l.gGram, la.NewMatrix[float64](P, P))
		l.pull = append(l.pull, la.NewMatrix[float64](P, P))
	}
	l.crew = work.NewCrew(workers, R, func(share int) *worker {
		w := &worker{
			ws:     la.Workspace{Workers: share},
			factor: la.NewMatrix[float64](D, D),
			d1:     make([]float64, D), d2: make([]float64, D),
			n1:    make([]float64, N),
			p1:    make([]float64, P),
			small: conjugate.NewGaussian(P),
		}
		if observed.Rows > 0 {
			w.masked = [2]la.Matrix[float64]{la.NewMatrix[float64](P, N), la.NewMatrix[float64](P, N)}
		}
		return w
	})
	l.crew.Stop = &l.Stop
	l.weightTask = l.updateWeightsOf
	l.memory.Of(l.lambda.Scale, l.aMean.Data, l.aVar.Data)
	return l
}

// sumGram forms the Gram matrix S.
func (l *latent) sumGram() {
	l.k.GramSum(&l.crew.All, l.gram)
	toUpper(l.gram, l.gramUpper)
}

// retire ends the sweeps: their scratch is given up, and what is as large as S is kept for the
// posterior.
func (l *latent) retire() {
	l.over = true
	for _, w := range l.crew.Workers {
		l.spare = w.factor
		w.factor, w.ws = la.Matrix[float64]{}, la.Workspace{Workers: w.ws.Workers}
	}
}

// room returns memory for the factor of the posterior's only row of sample weights; it is empty
// while the sweeps need it.
func (l *latent) room() la.Matrix[float64] {
	if !l.over {
		return la.Matrix[float64]{}
	}
	return l.gram
}

// Keep implements [vi.Objective]. It copies what a posterior holds but for the Gram
// matrix: O(R·D) numbers and those of the small factors.
func (l *latent) Keep() { l.memory.Keep() }

// Restore implements [vi.Objective], as far as posteriors go.
func (l *latent) Restore() {
	l.memory.Restore()
	l.k.Project(&l.crew.All, l.aMean, l.h)
}

// Allowance implements [vi.Objective].
func (l *latent) Allowance() float64 { return 0 }

// start sets the means of a and g to those given and every covariance to the
// identity.
func (l *latent) start(a, g la.Matrix[float64]) error {
	l.sumGram()
	var trace float64
	for d := range l.D {
		trace += l.gram.At(d, d)
	}
	l.aMean.CopyFrom(a)
	l.aVar.Fill(1)
	l.gMean.CopyFrom(g)
	for r := range l.R {
		l.aLogDet[r], l.aTrace[r] = 0, trace
		l.gLogDet[r], l.gTrace[r] = 0, l.size*float64(l.P)
		for m := range l.P {
			l.gCov[r].Set(m, m, 1)
		}
	}
	l.k.Project(&l.crew.All, l.aMean, l.h)
	return l.crew.Each(l.summariseIntermediate)
}

// resume sets the means of a, λ and υ to those of an earlier posterior, and the
// covariance of a to its optimum given λ and υ. G is left to the model.
func (l *latent) resume(lambdaShape float64, lambdaScale, a la.Matrix[float64], upsilon []float64) error {
	l.sumGram()
	for r := range l.R {
		for d, v := range lambdaScale.Row(r) {
			l.lambda.Scale[r*l.D+d] = v * lambdaShape / l.lambda.Shape
		}
	}
	l.upsilon, l.solution = upsilon, la.NewMatrix[float64](l.R, l.D)
	if err := l.crew.Each(l.weightTask); err != nil {
		return err
	}
	l.aMean.CopyFrom(a)
	l.k.Project(&l.crew.All, l.aMean, l.h)
	l.gMean.CopyFrom(l.h)
	return nil
}

// checkResume checks that a posterior has the sizes of the present problem.
func (l *latent) checkResume(L int, from *scorer) error {
	if from.L != L || from.P != l.P || from.D != l.D {
		return fmt.Errorf("vi: From: %d outputs, %d kernels, %d basis points where there are %d, %d and %d",
			from.L, from.P, from.D, L, l.P, l.D)
	}
	return nil
}

// updateLambda is q(λ) ∝ Gamma(α_λ + ½, (1/β_λ + E[a²]/2)^-1).
func (l *latent) updateLambda() {
	for o := range l.R {
		mean, variance := l.aMean.Row(o), l.aVar.Row(o)
		for d := range mean {
			l.lambda.Observe(o*l.D+d, float64(0.5*(float64(mean[d]*mean[d])+variance[d])))
		}
	}
}

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

// updateWeights is q(a_o) = N(Σ·υ_o·Σ_m K_m E[g_{o,m}], Σ),
// Σ = (diag(λ_o) + υ_o·S)^-1, and the projections h that follow from its mean.
func (l *latent) updateWeights(upsilon []float64) error {
	l.k.Combine(&l.crew.All, l.gMean, l.response)
	l.upsilon, l.solution = upsilon, l.aMean
	if err := l.crew.Each(l.weightTask); err != nil {
		return err
	}
	l.k.Project(&l.crew.All, l.aMean, l.h)
	l.distanceStale = true
	return nil
}

// gradient stores in response, for every row, the gradient of the bound in E[a] over υ,
// Σ_m K_m(g_m − h_m) − Λa/υ, given g − h. It is formed from what is left over: where sparse
// priors let a grow, the difference of two solutions would cancel.
func (l *latent) gradient(away la.Matrix[float64]) {
	l.k.Combine(&l.crew.All, away, l.response)
	for r := range l.R {
		rest, a := l.response.Row(r), l.aMean.Row(r)
		for d := range rest {
			rest[d] -= float64(l.lambda.Mean(r*l.D+d)*a[d]) / l.upsilon[r]
		}
	}
}

// updateWeightsOf factorises B = I + υ·Λ^-½·S·Λ^-½, whose eigenvalues are at
// least 1 however far the λ are apart; Σ = Λ^-½·B⁻¹·Λ^-½ is never formed. As
// υ·tr(SΣ) = tr(B⁻¹(B−I)), the trace costs no more than the variances. Its
// rounding error is D ulp of 1/υ, and next to it in every use stands
// N·tr Cov[g], which is of the order of N·P/υ.
func (l *latent) updateWeightsOf(w *worker, o int) error {
	b, s, x := w.factor, w.d1, w.d2
	lambda := l.lambda.Scale[o*l.D : (o+1)*l.D]
	var logLambda float64
	for d, scale := range lambda {
		mean := l.lambda.Shape * scale
		s[d] = 1 / math.Sqrt(mean)
		logLambda += special.Log(mean)
	}
	upsilon := l.upsilon[o]
	var err error
	if l.jitter[o], err = factorB(&w.ws, b, l.gram, upsilon, s); err != nil {
		return fmt.Errorf("sample weights of output %d: %w", o, err)
	}
	l.aLogDet[o] = -logLambda - la.LogDet(b)

	for d, r := range l.response.Row(o) {
		x[d] = upsilon * s[d] * r
	}
	la.CholeskySolveVec(b, x)
	for d, v := range x {
		l.solution.Row(o)[d] = s[d] * v
	}

	la.CholeskyInvDiag(&w.ws, b, x)
	var trace, shake float64
	l.level[o] = la.LogDet(b)
	for d, v := range x {
		determined := max(leastDetermined, 1-v)
		l.slope.Row(o)[d] = determined / float64(float64(upsilon*s[d])*s[d])
		l.level[o] -= determined
		trace += 1 - v
		l.aVar.Row(o)[d] = s[d] * s[d] * v
		shake += float64((1 + float64(float64(upsilon*s[d]*s[d])*l.gram.At(d, d))) * v)
	}
	l.aTrace[o] = max(0, trace) / upsilon
	l.noise[o] = (work.Roundoff(l.D) + l.jitter[o]) * shake
	return nil
}

// factorB stores the Cholesky factor of B = I + υ·s·S·s. Where sparse priors make
// υ·s·S·s larger than the inverse of the machine's precision and rounding has
// made B indefinite, S gets a relative jitter on its diagonal, see [jitter.More],
// which is returned.
func factorB(ws *la.Workspace, b, gram la.Matrix[float64], upsilon float64, s []float64) (added float64, err error) {
	return factorJittered(ws, b, func(jitter float64) { formB(b, gram, upsilon, s, jitter) })
}

// factorBInPlace is factorB where load stores the lower triangle of S in b.
func factorBInPlace(ws *la.Workspace, b la.Matrix[float64], load func(), upsilon float64, s []float64) (added float64, err error) {
	return factorJittered(ws, b, func(jitter float64) {
		load()
		formB(b, b, upsilon, s, jitter)
	})
}

// factorJittered is factorB where form stores B with that jitter in b.
func factorJittered(ws *la.Workspace, b la.Matrix[float64], form func(jitter float64)) (added float64, err error) {
	for {
		form(added)
		if err = la.Cholesky(ws, b); err == nil {
			return added, nil
		}
		more, ok := jitter.More(b.Rows, added, err)
		if !ok {
			return added, fmt.Errorf("factor of I + υΛ^-½SΛ^-½ with relative jitter %.2g: %w", added, err)
		}
		added = more
	}
}

// formB stores the lower triangle of I + υ·s·(S + jitter·diag(S))·s; b may be S's own memory.
func formB(b, gram la.Matrix[float64], upsilon float64, s []float64, jitter float64) {
	for d := range b.Rows {
		row, us := b.Row(d)[:d+1], upsilon*s[d]
		for j, v := range gram.Row(d)[:d+1] {
			row[j] = float64(us*s[j]) * v
		}
		row[d] = 1 + float64(row[d]*(1+jitter))
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

// rescale moves (a, g) ← c·(a, g) and λ ← λ/c², with s = c².
func (l *latent) rescale(s float64) {
	c, logS := math.Sqrt(s), special.Log(s)
	la.Scal(1/s, l.lambda.Scale)
	la.Scal(c, l.aMean.Data)
	la.Scal(s, l.aVar.Data)
	la.Scal(c, l.h.Data)
	if l.plane != nil && l.plane.staged {
		l.plane.rescale(c)
	} else {
		la.Scal(c, l.gMean.Data)
	}
	la.Scal(c, l.gSum.Data)
	for r := range l.R {
		l.aLogDet[r] += float64(float64(l.D) * logS)
		l.aTrace[r] *= s
		l.gLogDet[r] += float64(l.size * float64(l.P) * logS)
		l.gTrace[r] *= s
		l.gDistance[r] *= s
		la.Scal(s, l.gCov[r].Data)
		la.Scal(s, l.gGram[r].Data)
	}
}

// bound returns the terms of λ and a and the entropy of g.
func (l *latent) bound() float64 {
	R, P, D, N := float64(l.R), float64(l.P), float64(l.D), l.size
	sum := l.lambda.Bound()
	// E[log p(a|λ)] and the entropy of a: the terms in log 2π cancel.
	var logs, squares float64
	for r := range l.R {
		mean, variance := l.aMean.Row(r), l.aVar.Row(r)
		for d := range mean {
			j := r*l.D + d
			logs += special.Log(l.lambda.Scale[j])
			squares += float64(l.lambda.Scale[j] * (float64(mean[d]*mean[d]) + variance[d]))
		}
		sum += float64(0.5 * l.aLogDet[r])
		sum += float64(0.5 * (l.gLogDet[r] + float64(N*P*(1+conjugate.Log2Pi))))
	}
	return sum + float64(0.5*(float64(R*D*(1+l.lambda.Psi))+logs-float64(l.lambda.Shape*squares)))
}

// gBound returns E[log p(g_r | a_r, υ_r)] given E[υ_r] and E[log υ_r].
func (l *latent) gBound(r int, mean, meanLog float64) float64 {
	return float64(0.5 * (float64(l.size*float64(l.P)*(meanLog-conjugate.Log2Pi)) - float64(mean*l.distance(r))))
}

// Roundoff returns the round-off of the terms of a and G, see [work.Roundoff]: of the
// log determinants, which a jitter shifts by at most jitter·tr(B⁻¹·diag B), and of the
// projections aᵀk_{m,i} in the distances (g − aᵀk)², where a large part of the kernels
// may cancel.
func (l *latent) Roundoff() float64 {
	var sum float64
	for r, v := range l.noise {
		var size float64
		for d, a := range l.aMean.Row(r) {
			size += float64(float64(a*a) * l.gram.At(d, d))
		}
		sum += v + work.Difference(l.D, l.upsilon[r], l.gDistance[r], size)
	}
	return sum
}

// Jittered implements [vi.Objective].
func (l *latent) Jittered() float64 { return slices.Max(l.jitter) }

// Observations implements [vi.Objective]: of the rows, one a target or class.
func (l *latent) Observations() float64 { return conjugate.Sum(l.count) }
