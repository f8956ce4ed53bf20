package bemkl

import (
	"fmt"
	"math"
	"slices"

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
