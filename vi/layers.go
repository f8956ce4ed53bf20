package vi

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// layers holds what the models of the Bayesian efficient multiple kernel
// learning family share, for L outputs:
//
//	λ_{o,d} ~ Gamma,  a_{o,d} | λ ~ N(0, 1/λ_{o,d})        sample weights
//	g_{o,m,i} | a     ~ N(a_oᵀ·k_{m,i}, 1/υ_o)             intermediate outputs
//	γ_o, ω_m ~ Gamma, b_o | γ ~ N(0, 1/γ_o), e_m | ω ~ N(0, 1/ω_m)
//	t_{o,i} | b, e, g ~ N(eᵀ·g_{o,i} + b_o, 1/ε_o)         target
//
// A model supplies υ, ε and the target t (the observed output, or the latent
// score of a classifier) and decides on the order of the updates.
type layers struct {
	k       Kernels
	P, D, N int
	L       int
	crew    *crew
	gram    la.Matrix[float64] // S = Σ K_m K_mᵀ, D×D, lower triangle

	// Samples whose target is missing keep their g, which follows its prior.
	observed la.Matrix[float64] // L×N of 0 and 1; empty if nothing is missing
	count    []float64          // observed samples of each output

	lambda   gammas             // L·D
	aMean    la.Matrix[float64] // L×D
	aVar     la.Matrix[float64] // L×D, the diagonal of Cov[a_o]
	aLogDet  []float64          // log|Cov[a_o]|
	aTrace   []float64          // tr(S·Cov[a_o])
	jitter   []float64          // of the last factorisation, see factorB
	noise    []float64          // error to expect in aLogDet
	response la.Matrix[float64] // L×D, Σ_m K_m g_{o,m}
	solution la.Matrix[float64] // L×D, where Cov[a_o]·υ_o·response_o goes

	h         la.Matrix[float64]   // (L·P)×N, E[a_o]ᵀ k_{m,i}: the prior mean of g
	gMean     la.Matrix[float64]   // (L·P)×N
	gCov      []la.Matrix[float64] // P×P, of an observed sample's g_{o,i}
	gTrace    []float64            // Σ_i tr Cov[g_{o,i}]
	gLogDet   []float64            // Σ_i log|Cov[g_{o,i}]|
	gDistance []float64            // Σ_{m,i} (E[g] − h)²
	gSum      la.Matrix[float64]   // L×P, Σ_i E[g_{o,i}] over observed i
	gGram     []la.Matrix[float64] // P×P, Σ_i E[g]E[g]ᵀ over observed i
	gTarget   la.Matrix[float64]   // L×P, Σ_i E[g]·t over observed i

	gamma gammas // L
	omega gammas // P
	be    gaussian
	ee    la.Matrix[float64] // P×P, E[e·eᵀ]
	rhs   []float64          // L+P, scratch

	// The present update's inputs; tasks are built once so that a sweep does
	// not allocate.
	upsilon, epsilon  []float64
	target            la.Matrix[float64]
	weightTask, gTask func(*worker, int) error
	distanceStale     bool // a has changed since gDistance was formed
}

type layerPriors struct{ lambda, gamma, omega Gamma }

func newLayers(k Kernels, L int, observed la.Matrix[float64], pr layerPriors, workers int) *layers {
	P, D, N := k.Dims()
	l := &layers{
		k: k, P: P, D: D, N: N, L: L, observed: observed,
		crew:      newCrew(workers, L),
		gram:      la.NewMatrix[float64](D, D),
		count:     make([]float64, L),
		lambda:    newGammas(pr.lambda, pr.lambda.Shape+0.5, L*D),
		aMean:     la.NewMatrix[float64](L, D),
		aVar:      la.NewMatrix[float64](L, D),
		aLogDet:   make([]float64, L),
		aTrace:    make([]float64, L),
		jitter:    make([]float64, L),
		noise:     make([]float64, L),
		response:  la.NewMatrix[float64](L, D),
		h:         la.NewMatrix[float64](L*P, N),
		gMean:     la.NewMatrix[float64](L*P, N),
		gCov:      make([]la.Matrix[float64], L),
		gTrace:    make([]float64, L),
		gLogDet:   make([]float64, L),
		gDistance: make([]float64, L),
		gSum:      la.NewMatrix[float64](L, P),
		gGram:     make([]la.Matrix[float64], L),
		gTarget:   la.NewMatrix[float64](L, P),
		gamma:     newGammas(pr.gamma, pr.gamma.Shape+0.5, L),
		omega:     newGammas(pr.omega, pr.omega.Shape+0.5, P),
		be:        newGaussian(L + P),
		ee:        la.NewMatrix[float64](P, P),
		rhs:       make([]float64, L+P),
	}
	for o := range L {
		l.count[o] = float64(N)
		if observed.Rows > 0 {
			l.count[o] = la.SumSq(observed.Row(o))
		}
		l.gCov[o] = la.NewMatrix[float64](P, P)
		l.gGram[o] = la.NewMatrix[float64](P, P)
	}
	for _, w := range l.crew.workers {
		w.factor = la.NewMatrix[float64](D, D)
		w.d1, w.d2 = make([]float64, D), make([]float64, D)
		w.n1 = make([]float64, N)
		w.p1, w.p2 = make([]float64, P), make([]float64, P)
		w.small = newGaussian(P)
		w.pp = la.NewMatrix[float64](P, P)
		if observed.Rows > 0 {
			w.masked = [2]la.Matrix[float64]{la.NewMatrix[float64](P, N), la.NewMatrix[float64](P, N)}
		}
	}
	l.weightTask, l.gTask = l.updateWeightsOf, l.updateIntermediateOf
	return l
}

// start sets the means of a and g to those given, every covariance to the
// identity, b to 0 and e to 1.
func (l *layers) start(a, g, target la.Matrix[float64]) error {
	l.k.GramSum(&l.crew.all, l.gram)
	var trace float64
	for d := range l.D {
		trace += l.gram.At(d, d)
	}
	l.aMean.CopyFrom(a)
	l.aVar.Fill(1)
	l.gMean.CopyFrom(g)
	for o := range l.L {
		l.aLogDet[o], l.aTrace[o] = 0, trace
		l.gLogDet[o], l.gTrace[o] = 0, float64(l.N*l.P)
		for m := range l.P {
			l.gCov[o].Set(m, m, 1)
		}
	}
	for m := range l.P {
		l.be.mean[l.L+m] = 1
	}
	l.updateEE()
	l.k.Project(&l.crew.all, l.aMean, l.h)
	l.target = target
	return l.crew.each(l.summariseIntermediate)
}

// updateLambda is q(λ) ∝ Gamma(α_λ + ½, (1/β_λ + E[a²]/2)^-1).
func (l *layers) updateLambda() {
	for o := range l.L {
		mean, variance := l.aMean.Row(o), l.aVar.Row(o)
		for d := range mean {
			l.lambda.observe(o*l.D+d, 0.5*(float64(mean[d]*mean[d])+variance[d]))
		}
	}
}

// distance returns Σ_{m,i} E[(g_{o,m,i} − a_oᵀk_{m,i})²].
func (l *layers) distance(o int) float64 {
	if l.distanceStale {
		w := l.crew.workers[0]
		for o := range l.L {
			l.updateDistance(w, o)
		}
		l.distanceStale = false
	}
	return l.gDistance[o] + l.gTrace[o] + l.aTrace[o]
}

func (l *layers) updateDistance(w *worker, o int) {
	l.gDistance[o] = 0
	for m := o * l.P; m < (o+1)*l.P; m++ {
		copy(w.n1, l.gMean.Row(m))
		la.Axpy(-1, l.h.Row(m), w.n1)
		l.gDistance[o] += la.SumSq(w.n1)
	}
}

// updateWeights is q(a_o) = N(Σ·υ_o·Σ_m K_m E[g_{o,m}], Σ),
// Σ = (diag(λ_o) + υ_o·S)^-1, and the projections h that follow from its mean.
func (l *layers) updateWeights(upsilon []float64) error {
	l.k.Combine(&l.crew.all, l.gMean, l.response)
	l.upsilon, l.solution = upsilon, l.aMean
	if err := l.crew.each(l.weightTask); err != nil {
		return err
	}
	l.k.Project(&l.crew.all, l.aMean, l.h)
	l.distanceStale = true
	return nil
}

// updateWeightsOf factorises B = I + υ·Λ^-½·S·Λ^-½, whose eigenvalues are at
// least 1 however far the λ are apart; Σ = Λ^-½·B⁻¹·Λ^-½ is never formed. As
// υ·tr(SΣ) = tr(B⁻¹(B−I)), the trace costs no more than the variances. Its
// rounding error is D ulp of 1/υ, and next to it in every use stands
// N·tr Cov[g], which is of the order of N·P/υ.
func (l *layers) updateWeightsOf(w *worker, o int) error {
	b, s, x := w.factor, w.d1, w.d2
	lambda := l.lambda.scale[o*l.D : (o+1)*l.D]
	var logLambda float64
	for d, scale := range lambda {
		mean := l.lambda.shape * scale
		s[d] = 1 / math.Sqrt(mean)
		logLambda += math.Log(mean)
	}
	upsilon := l.upsilon[o]
	var err error
	if l.jitter[o], l.noise[o], err = factorB(&w.ws, b, l.gram, upsilon, s); err != nil {
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
	var trace float64
	for d, v := range x {
		trace += 1 - v
		l.aVar.Row(o)[d] = s[d] * s[d] * v
	}
	l.aTrace[o] = max(0, trace) / upsilon
	return nil
}

// maxJitter bounds the jitter of factorB.
const maxJitter = 1e-8

// factorB stores the Cholesky factor of B = I + υ·s·S·s. Where sparse priors make
// υ·s·S·s larger than the inverse of the machine's precision and rounding has
// made B indefinite, S gets a relative jitter on its diagonal, the least of
// D·2^-52, ten times that, and so on that does. It returns the jitter and the
// error to expect in log|B|: its eigenvalues near 1 are known to that much of B's trace.
func factorB(ws *la.Workspace, b, gram la.Matrix[float64], upsilon float64, s []float64) (jitter, noise float64, err error) {
	const eps = 0x1p-52
	for {
		trace := formB(b, gram, upsilon, s, jitter)
		err = la.Cholesky(ws, b)
		if err == nil {
			return jitter, max(jitter, eps) * trace, nil
		}
		var pivot *la.PivotError
		next := max(10*jitter, eps*float64(len(s)))
		if !errors.As(err, &pivot) || !pivot.Indefinite() || next > maxJitter {
			return jitter, 0, fmt.Errorf("factor of I + υΛ^-½SΛ^-½ with relative jitter %.2g: %w", jitter, err)
		}
		jitter = next
	}
}

// formB stores the lower triangle of I + υ·s·(S + jitter·diag(S))·s and returns
// the trace.
func formB(b, gram la.Matrix[float64], upsilon float64, s []float64, jitter float64) (trace float64) {
	for d := range b.Rows {
		row, us := b.Row(d)[:d+1], upsilon*s[d]
		for j, v := range gram.Row(d)[:d+1] {
			row[j] = float64(us*s[j]) * v
		}
		row[d] = 1 + float64(row[d]*(1+jitter))
		trace += row[d]
	}
	return trace
}

// updateIntermediate is q(g_{o,i}) = N(Σ(υ_o·h_i + ε_o(t_i·E[e] − E[b_o·e])), Σ),
// Σ = (υ_o·I + ε_o·E[e·eᵀ])^-1, and for missing targets N(h_i, I/υ_o).
func (l *layers) updateIntermediate(upsilon, epsilon []float64, target la.Matrix[float64]) error {
	l.upsilon, l.epsilon, l.target = upsilon, epsilon, target
	l.distanceStale = false // every output's task renews it
	return l.crew.each(l.gTask)
}

func (l *layers) updateIntermediateOf(w *worker, o int) error {
	P, N := l.P, l.N
	upsilon, epsilon := l.upsilon[o], l.epsilon[o]
	e, b := l.be.mean[l.L:], l.be.mean[o]
	t := l.target.Row(o)
	g, h := l.gMean.Slice(o*P, (o+1)*P, 0, N), l.h.Slice(o*P, (o+1)*P, 0, N)

	q := &w.small
	for m := range P {
		for n := range m + 1 {
			q.cov.Set(m, n, epsilon*l.ee.At(m, n))
		}
		q.cov.Row(m)[m] += upsilon
		w.p1[m] = epsilon * (float64(b*e[m]) + l.be.cov.At(o, l.L+m)) // ε·E[b·e]
	}
	if err := q.setPrecision(&w.ws, w.p1); err != nil {
		return fmt.Errorf("intermediate outputs of output %d: %w", o, err)
	}
	l.gCov[o].CopyFrom(q.cov)

	la.Gemm(&w.ws, la.NoTrans, la.NoTrans, upsilon, q.cov, h, 0, g)
	for m := range P {
		row := g.Row(m)
		la.Axpy(epsilon*la.Dot(q.cov.Row(m), e), t, row)
		for i := range row {
			row[i] -= q.mean[m]
		}
	}

	seen, missing := l.count[o], float64(N)-l.count[o]
	var trace float64
	for m := range P {
		trace += q.cov.At(m, m)
	}
	l.gTrace[o] = float64(seen*trace) + missing*float64(P)/upsilon
	l.gLogDet[o] = seen*q.logDet - missing*float64(P)*math.Log(upsilon)

	if missing > 0 {
		for m := range P {
			row, prior := g.Row(m), h.Row(m)
			for i, z := range l.observed.Row(o) {
				if z == 0 {
					row[i] = prior[i]
				}
			}
		}
	}
	return l.summariseIntermediate(w, o)
}

// summariseIntermediate forms the sums over samples that follow from the means
// of g_o and h_o.
func (l *layers) summariseIntermediate(w *worker, o int) error {
	P := l.P
	g := l.seen(o, l.gMean, w.masked[0])
	la.Syrk(&w.ws, la.NoTrans, 1, g, 0, l.gGram[o])
	l.gGram[o].MirrorLower()
	la.Gemv(&w.ws, la.NoTrans, 1, g, l.target.Row(o), 0, l.gTarget.Row(o))
	for m := range P {
		var sum float64
		for _, v := range g.Row(m) {
			sum += v
		}
		l.gSum.Set(o, m, sum)
	}
	l.updateDistance(w, o)
	return nil
}

// seen returns rows o·P … o·P+P−1 of x with zeros for the samples whose target
// is missing; it needs scratch only if there are such samples.
func (l *layers) seen(o int, x, scratch la.Matrix[float64]) la.Matrix[float64] {
	x = x.Slice(o*l.P, (o+1)*l.P, 0, l.N)
	if l.count[o] == float64(l.N) {
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

// updateGamma is q(γ_o) = Gamma(α_γ + ½, (1/β_γ + E[b_o²]/2)^-1).
func (l *layers) updateGamma() {
	for o := range l.L {
		l.gamma.observe(o, 0.5*l.square(o))
	}
}

// updateOmega is q(ω_m) = Gamma(α_ω + ½, (1/β_ω + E[e_m²]/2)^-1).
func (l *layers) updateOmega() {
	for m := range l.P {
		l.omega.observe(m, 0.5*l.square(l.L+m))
	}
}

// square returns the second moment of entry j of (b, e).
func (l *layers) square(j int) float64 {
	return float64(l.be.mean[j]*l.be.mean[j]) + l.be.cov.At(j, j)
}

// residual returns Σ_i E[(t_{o,i} − eᵀg_{o,i} − b_o)²] over observed i, without
// the variance of t. With x = (1, g) and w = (b_o, e) it is
// Σ (t − E[w]ᵀE[x])² + tr(Cov[w]·ΣE[x]E[x]ᵀ) + n·tr(Cov[g]·E[eeᵀ]),
// a sum of parts that are not negative.
func (l *layers) residual(o int, target la.Matrix[float64]) float64 {
	P, r := l.P, l.crew.workers[0].n1
	b := l.be.mean[o]
	copy(r, target.Row(o))
	for m := range P {
		la.Axpy(-l.be.mean[l.L+m], l.gMean.Row(o*P+m), r)
	}
	for i := range r {
		r[i] -= b
	}
	if l.observed.Rows > 0 {
		for i, z := range l.observed.Row(o) {
			r[i] *= z
		}
	}
	var spread, within float64
	for m := range P {
		cov := l.be.cov.Row(l.L + m)
		spread += 2 * float64(cov[o]*l.gSum.At(o, m))
		spread += la.Dot(cov[l.L:], l.gGram[o].Row(m))
		within += la.Dot(l.gCov[o].Row(m), l.ee.Row(m))
	}
	spread += float64(l.count[o] * l.be.cov.At(o, o))
	return la.SumSq(r) + spread + float64(l.count[o]*within)
}

// updateCombination is q(b, e): precision
//
//	[ diag(γ) + diag(n_o·ε_o)   ε_o·ΣE[g_o]ᵀ              ]
//	[ .                         diag(ω) + Σ_o ε_o·E[G_o G_oᵀ] ]
//
// and right side [ε_o·Σt_o ; Σ_o ε_o·ΣE[g_o]·t_o], sums over observed samples.
func (l *layers) updateCombination(epsilon []float64, target la.Matrix[float64]) error {
	L, P, prec := l.L, l.P, l.be.cov
	prec.Fill(0)
	for m := range P {
		prec.Set(L+m, L+m, l.omega.mean(m))
		l.rhs[L+m] = 0
	}
	for o := range L {
		eps := epsilon[o]
		prec.Set(o, o, l.gamma.mean(o)+float64(l.count[o]*eps))
		var sum float64
		for _, v := range target.Row(o) {
			sum += v
		}
		l.rhs[o] = eps * sum
		la.Axpy(eps, l.gTarget.Row(o), l.rhs[L:])
		for m := range P {
			row := prec.Row(L + m)
			row[o] = eps * l.gSum.At(o, m)
			la.Axpy(eps, l.gGram[o].Row(m), row[L:])
			la.Axpy(float64(eps*l.count[o]), l.gCov[o].Row(m), row[L:])
		}
	}
	if err := l.be.setPrecision(&l.crew.all, l.rhs); err != nil {
		return fmt.Errorf("bias and kernel weights: %w", err)
	}
	l.updateEE()
	return nil
}

func (l *layers) updateEE() {
	e := l.be.mean[l.L:]
	for m := range l.P {
		row := l.ee.Row(m)
		copy(row, l.be.cov.Row(l.L + m)[l.L:])
		la.Axpy(e[m], e, row)
	}
}

// rescale moves along the posterior's ridge: (a, g) ← c·(a, g), e ← e/c,
// λ ← λ/c², ω ← c²·ω with s = c². The model rescales its υ by 1/s.
func (l *layers) rescale(s float64) {
	c := math.Sqrt(s)
	la.Scal(1/s, l.lambda.scale)
	la.Scal(c, l.aMean.Data)
	la.Scal(s, l.aVar.Data)
	la.Scal(c, l.h.Data)
	la.Scal(c, l.gMean.Data)
	la.Scal(c, l.gSum.Data)
	la.Scal(c, l.gTarget.Data)
	logS := math.Log(s)
	for o := range l.L {
		l.aLogDet[o] += float64(l.D) * logS
		l.aTrace[o] *= s
		l.gLogDet[o] += float64(l.N*l.P) * logS
		l.gTrace[o] *= s
		l.gDistance[o] *= s
		la.Scal(s, l.gCov[o].Data)
		la.Scal(s, l.gGram[o].Data)
	}
	la.Scal(s, l.omega.scale)
	la.Scal(1/c, l.be.mean[l.L:])
	for j := range l.L + l.P {
		row := l.be.cov.Row(j)
		la.Scal(1/c, row[l.L:])
		if j >= l.L {
			la.Scal(1/c, row)
		}
	}
	l.be.logDet -= float64(l.P) * logS
	la.Scal(1/s, l.ee.Data)
}

// bound returns the part of the lower bound that does not depend on υ, ε or the
// target: the terms of λ, a, γ, ω, b, e and the entropy of g.
func (l *layers) bound() float64 {
	L, P, D, N := float64(l.L), float64(l.P), float64(l.D), float64(l.N)
	sum := l.lambda.bound() + l.gamma.bound() + l.omega.bound()

	// E[log p(a|λ)] and the entropy of a: the terms in log 2π cancel.
	var logs, squares float64
	for o := range l.L {
		mean, variance := l.aMean.Row(o), l.aVar.Row(o)
		for d := range mean {
			j := o*l.D + d
			logs += math.Log(l.lambda.scale[j])
			squares += l.lambda.scale[j] * (mean[d]*mean[d] + variance[d])
		}
		sum += 0.5 * l.aLogDet[o]
		sum += 0.5 * (l.gLogDet[o] + N*P*(1+log2Pi))
	}
	sum += 0.5 * (L*D*(1+l.lambda.psi) + logs - l.lambda.shape*squares)

	for o := range l.L {
		sum += 0.5 * (l.gamma.meanLog(o) - log2Pi - l.gamma.mean(o)*l.square(o))
	}
	for m := range l.P {
		sum += 0.5 * (l.omega.meanLog(m) - log2Pi - l.omega.mean(m)*l.square(l.L+m))
	}
	return sum + l.be.entropy()
}

// roundoff returns the error that rounding may cause in the bound.
func (l *layers) roundoff() float64 {
	var sum float64
	for _, v := range l.noise {
		sum += v
	}
	return sum
}

func (l *layers) jittered() float64 { return slices.Max(l.jitter) }
