package intermediate

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/gram"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Outputs holds the sample weights and the intermediate outputs of the Bayesian
// efficient multiple kernel learning family:
//
//	λ_{r,d} ~ Gamma,  a_{r,d} | λ ~ N(0, 1/λ_{r,d})
//	g_{r,m,i} | a     ~ N(a_rᵀ·k_{m,i}, 1/υ_r)
//
// for R rows r: a row for each output, or a single one that the outputs share. A model
// supplies υ and what its targets make of G.
type Outputs struct {
	work.Stop
	K vi.Kernels
	Samples
	P, D, N int
	R       int
	Crew    *work.Crew[*Worker]

	// S = Σ K_m K_mᵀ, D×D. It never changes, and posteriors share it: its upper triangle is
	// theirs, and gram, its lower one, the memory of their factor once the sweeps are over.
	Gram, GramUpper la.Matrix[float64]
	over            bool               // the sweeps are over, see retire
	spare           la.Matrix[float64] // D×D for a posterior, once they are

	// Samples whose target is missing keep their g, which follows its prior.
	Observed la.Matrix[float64] // R×N of 0 and 1; empty if nothing is missing
	Count    []float64          // observed samples of each row

	Lambda   conjugate.Gammas   // R·D
	AMean    la.Matrix[float64] // R×D
	AVar     la.Matrix[float64] // R×D, the diagonal of Cov[a_r]
	ALogDet  []float64          // log|Cov[a_r]|
	ATrace   []float64          // tr(S·Cov[a_r])
	Slope    la.Matrix[float64] // R×D, v of the tangent that followCovariance takes for Cov[a_r]
	Level    []float64          // log|I + PS| − Σ_d p_d·v_d of that tangent
	jitter   []float64          // relative jitter of the last factorisation, see factorB
	noise    []float64          // round-off of the bound that comes from factorising, in nats
	Response la.Matrix[float64] // R×D, Σ_m K_m g_{r,m}
	Solution la.Matrix[float64] // R×D, where Cov[a_r]·υ_r·response_r goes

	H         la.Matrix[float64]   // (R·P)×N, E[a_r]ᵀ k_{m,i}: the prior mean of g
	GMean     la.Matrix[float64]   // (R·P)×N
	GCov      []la.Matrix[float64] // P×P, of an observed sample's g_{r,i}
	GTrace    []float64            // Σ_i tr Cov[g_{r,i}]
	GLogDet   []float64            // Σ_i log|Cov[g_{r,i}]|
	GDistance []float64            // Σ_{m,i} (E[g] − h)²
	GSum      la.Matrix[float64]   // R×P, Σ_i E[g_{r,i}] over observed i
	GGram     []la.Matrix[float64] // P×P, Σ_i E[g]E[g]ᵀ over observed i
	Pull      []la.Matrix[float64] // P×P, the precision that the targets give g_{r,i}

	// Tasks for a row each, made once so that sweeps do not allocate, and their argument.
	WeightTask, GTask func(*Worker, int) error
	Upsilon           []float64 // R, E[υ] in the present update

	DistanceStale bool // a has changed since gDistance was formed

	Memory work.Memory // of what posteriors are made of
}

// Worker is the scratch of one goroutine.
type Worker struct {
	Index  int // place in the crew
	WS     la.Workspace
	Factor la.Matrix[float64]    // D×D, lower triangle
	D1, D2 []float64             // D
	N1     []float64             // N
	P1     []float64             // P
	Masked [2]la.Matrix[float64] // P×N, only when targets are missing
	Small  conjugate.Gaussian    // P
}

// newOutputs leaves gTask, which updates G for one row, to the model.
func New(k vi.Kernels, R int, observed la.Matrix[float64], lambda vi.Gamma, workers int) *Outputs {
	P, D, N := k.Dims()
	l := &Outputs{
		K: k, Samples: samplesOf(k), P: P, D: D, N: N, R: R, Observed: observed,
		Count:     make([]float64, R),
		Lambda:    conjugate.NewGammas(lambda, lambda.Shape+0.5, R*D),
		AMean:     la.NewMatrix[float64](R, D),
		AVar:      la.NewMatrix[float64](R, D),
		ALogDet:   make([]float64, R),
		ATrace:    make([]float64, R),
		Slope:     la.NewMatrix[float64](R, D),
		Level:     make([]float64, R),
		jitter:    make([]float64, R),
		noise:     make([]float64, R),
		Response:  la.NewMatrix[float64](R, D),
		H:         la.NewMatrix[float64](R*P, N),
		GMean:     la.NewMatrix[float64](R*P, N),
		GTrace:    make([]float64, R),
		GLogDet:   make([]float64, R),
		GDistance: make([]float64, R),
		GSum:      la.NewMatrix[float64](R, P),
	}
	both := gram.NewTriangles(D)
	l.Gram, l.GramUpper = both.Lower, both.Upper
	for r := range R {
		l.Count[r] = l.Size
		if observed.Rows > 0 {
			l.Count[r] = l.CountOf(observed.Row(r))
		}
		l.GCov = append(l.GCov, la.NewMatrix[float64](P, P))
		l.GGram = append(l.GGram, la.NewMatrix[float64](P, P))
		l.Pull = append(l.Pull, la.NewMatrix[float64](P, P))
	}
	made := 0
	l.Crew = work.NewCrew(workers, R, func(share int) *Worker {
		w := &Worker{
			Index:  made,
			WS:     la.Workspace{Workers: share},
			Factor: la.NewMatrix[float64](D, D),
			D1:     make([]float64, D), D2: make([]float64, D),
			N1:    make([]float64, N),
			P1:    make([]float64, P),
			Small: conjugate.NewGaussian(P),
		}
		made++
		if observed.Rows > 0 {
			w.Masked = [2]la.Matrix[float64]{la.NewMatrix[float64](P, N), la.NewMatrix[float64](P, N)}
		}
		return w
	})
	l.Crew.Stop = &l.Stop
	l.WeightTask = l.updateWeightsOf
	l.Memory.Of(l.Lambda.Scale, l.AMean.Data, l.AVar.Data)
	return l
}

// sumGram forms the Gram matrix S.
func (l *Outputs) sumGram() {
	l.K.GramSum(&l.Crew.All, l.Gram)
	gram.ToUpper(l.Gram, l.GramUpper)
}

// Retire ends the sweeps: their scratch is given up, and what is as large as S is kept for the
// posterior.
func (l *Outputs) Retire() {
	l.over = true
	for _, w := range l.Crew.Workers {
		l.spare = w.Factor
		w.Factor, w.WS = la.Matrix[float64]{}, la.Workspace{Workers: w.WS.Workers}
	}
}

// Room returns memory for the factor of the posterior's only row of sample weights; it is empty
// while the sweeps need it.
func (l *Outputs) Room() la.Matrix[float64] {
	if !l.over {
		return la.Matrix[float64]{}
	}
	return l.Gram
}

// Square returns a D×D matrix, in the memory that the sweeps have left over if there is some.
func (l *Outputs) Square() la.Matrix[float64] {
	if x := l.spare; x.Rows > 0 {
		l.spare = la.Matrix[float64]{}
		return x
	}
	return la.NewMatrix[float64](l.D, l.D)
}

// Keep implements [vi.Objective]. It copies what a posterior holds but for the Gram matrix: O(R·D)
// numbers, and the parameters of the small factors.
func (l *Outputs) Keep() { l.Memory.Keep() }

// Restore implements [vi.Objective], as far as posteriors go.
func (l *Outputs) Restore() {
	l.Memory.Restore()
	l.K.Project(&l.Crew.All, l.AMean, l.H)
}

// Allowance implements [vi.Objective].
func (l *Outputs) Allowance() float64 { return 0 }

// Start sets the means of a and g to those given and every covariance to the
// identity.
func (l *Outputs) Start(a, g la.Matrix[float64]) error {
	l.sumGram()
	var trace float64
	for d := range l.D {
		trace += l.Gram.At(d, d)
	}
	l.AMean.CopyFrom(a)
	l.AVar.Fill(1)
	l.GMean.CopyFrom(g)
	for r := range l.R {
		l.ALogDet[r], l.ATrace[r] = 0, trace
		l.GLogDet[r], l.GTrace[r] = 0, l.Size*float64(l.P)
		for m := range l.P {
			l.GCov[r].Set(m, m, 1)
		}
	}
	l.K.Project(&l.Crew.All, l.AMean, l.H)
	return l.Crew.Each(l.summariseIntermediate)
}

// Resume sets the means of a, λ and υ to their means in an earlier posterior, and the covariance of
// a to its optimum given λ and υ. G is left to the model.
func (l *Outputs) Resume(lambdaShape float64, lambdaScale, a la.Matrix[float64], upsilon []float64) error {
	l.sumGram()
	for r := range l.R {
		for d, v := range lambdaScale.Row(r) {
			l.Lambda.Scale[r*l.D+d] = v * lambdaShape / l.Lambda.Shape
		}
	}
	l.Upsilon, l.Solution = upsilon, la.NewMatrix[float64](l.R, l.D)
	if err := l.Crew.Each(l.WeightTask); err != nil {
		return err
	}
	l.AMean.CopyFrom(a)
	l.K.Project(&l.Crew.All, l.AMean, l.H)
	l.GMean.CopyFrom(l.H)
	return nil
}

// Rescale moves (a, g) ← c·(a, g) and λ ← λ/c², with s = c².
func (l *Outputs) Rescale(s float64) {
	l.RescaleButMeans(s)
	la.Scal(math.Sqrt(s), l.GMean.Data)
}

// RescaleButMeans is rescale for a model that holds the means of g elsewhere and rescales them there.
func (l *Outputs) RescaleButMeans(s float64) {
	c, logS := math.Sqrt(s), special.Log(s)
	la.Scal(1/s, l.Lambda.Scale)
	la.Scal(c, l.AMean.Data)
	la.Scal(s, l.AVar.Data)
	la.Scal(c, l.H.Data)
	la.Scal(c, l.GSum.Data)
	for r := range l.R {
		l.ALogDet[r] += float64(float64(l.D) * logS)
		l.ATrace[r] *= s
		l.GLogDet[r] += float64(l.Size * float64(l.P) * logS)
		l.GTrace[r] *= s
		l.GDistance[r] *= s
		la.Scal(s, l.GCov[r].Data)
		la.Scal(s, l.GGram[r].Data)
	}
}

// Bound returns the terms of λ and a and the entropy of g.
func (l *Outputs) Bound() float64 {
	R, P, D, N := float64(l.R), float64(l.P), float64(l.D), l.Size
	sum := l.Lambda.Bound()
	// E[log p(a|λ)] and the entropy of a: the terms in log 2π cancel.
	var logs, squares float64
	for r := range l.R {
		mean, variance := l.AMean.Row(r), l.AVar.Row(r)
		for d := range mean {
			j := r*l.D + d
			logs += special.Log(l.Lambda.Scale[j])
			squares += float64(l.Lambda.Scale[j] * (float64(mean[d]*mean[d]) + variance[d]))
		}
		sum += float64(0.5 * l.ALogDet[r])
		sum += float64(0.5 * (l.GLogDet[r] + float64(N*P*(1+conjugate.Log2Pi))))
	}
	return sum + float64(0.5*(float64(R*D*(1+l.Lambda.Psi))+logs-float64(l.Lambda.Shape*squares)))
}

// GBound returns E[log p(g_r | a_r, υ_r)] given E[υ_r] and E[log υ_r].
func (l *Outputs) GBound(r int, mean, meanLog float64) float64 {
	return float64(0.5 * (float64(l.Size*float64(l.P)*(meanLog-conjugate.Log2Pi)) - float64(mean*l.Distance(r))))
}

// Roundoff returns the round-off of the terms of a and G, see [work.Roundoff]: of the
// log determinants, which a jitter shifts by at most jitter·tr(B⁻¹·diag B), and of the
// projections aᵀk_{m,i} in the distances (g − aᵀk)², where a large part of the kernels
// may cancel.
func (l *Outputs) Roundoff() float64 {
	var sum float64
	for r, v := range l.noise {
		var size float64
		for d, a := range l.AMean.Row(r) {
			size += float64(float64(a*a) * l.Gram.At(d, d))
		}
		sum += v + work.Difference(l.D, l.Upsilon[r], l.GDistance[r], size)
	}
	return sum
}

// Jittered implements [vi.Objective].
func (l *Outputs) Jittered() float64 { return slices.Max(l.jitter) }

// Observations implements [vi.Objective]: of the rows, one a target or class.
func (l *Outputs) Observations() float64 { return conjugate.Sum(l.Count) }

// Snapshot names the state of the rows.
func (l *Outputs) Snapshot(s *work.Snapshot) {
	for d := range l.D {
		s.Same(l.Gram.At(d, d)) // every kernel of every sample is in it
	}
	l.Lambda.Snapshot(s)
	s.Matrices(l.AMean, l.AVar, l.Slope, l.Response, l.H, l.GMean, l.GSum)
	s.Floats(l.ALogDet, l.ATrace, l.Level, l.jitter, l.noise, l.GTrace, l.GLogDet, l.GDistance)
	for r := range l.R {
		s.Matrices(l.GCov[r], l.GGram[r], l.Pull[r])
	}
	s.Bool(&l.DistanceStale)
}
