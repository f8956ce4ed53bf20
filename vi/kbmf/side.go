package kbmf

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// side holds the part of the posterior that belongs to the rows, or to the columns, of a model of
// pairs. For the N samples of the side these are sample weights and intermediate outputs of R
// components, kernel weights that the components share, and the R factors of each sample i,
//
//	η_m ~ Gamma, e_m | η ~ N(0, 1/η_m), h_{s,i} | e, g ~ N(eᵀ·g_{s,i}, σ_h²)
//
// A component is a row of outputs, whose υ is 1/σ_g², and the factors are its targets.
type side struct {
	*intermediate.Outputs
	name string // "rows" or "columns"

	eta conjugate.Gammas   // P
	e   conjugate.Gaussian // P
	ee  la.Matrix[float64] // P×P, E[e·eᵀ]
	rhs []float64          // P, scratch

	precision []float64 // R times 1/σ_g²
	tau       float64   // 1/σ_h²

	prior   la.Matrix[float64] // R×N, E[e]ᵀE[g], the prior mean of the factors
	factors la.Matrix[float64] // R×N, E[h]
	cov     la.Matrix[float64] // N×R², Cov[h_i]
	second  la.Matrix[float64] // N×R², E[h_i·h_iᵀ]
	logDet  []float64          // N, log|Cov[h_i]|
	spread  []float64          // N, see conjugate.Gaussian

	// What the factors are found from: of sample i the values of the pairs with the samples
	// partners[i] of the other side, in row i of target.
	partners [][]int
	target   la.Matrix[float64] // N×M, 0 where missing

	// Blocks of samples, each a worker's. The other side, ε and b are the arguments of the
	// present update.
	blocks     *work.Crew[*sideWorker]
	factorTask func(*sideWorker, int) error
	other      *side
	epsilon, b float64
}

// sideWorker is the scratch of one goroutine.
type sideWorker struct {
	conjugate.Gaussian // R
	ws                 la.Workspace
	right              []float64 // R
}

// settings are what both sides of a model of pairs have in common.
type settings struct {
	components     int
	lambda, eta    vi.Gamma
	sigmaG, sigmaH float64
	workers        int
}

// newSide returns the factors at their priors, e at 1. The target it makes is empty.
func newSide(name string, k vi.Kernels, partners [][]int, others int, set settings) *side {
	P, _, N := k.Dims()
	R := set.components
	s := &side{
		Outputs: intermediate.New(k, R, la.Matrix[float64]{}, set.lambda, set.workers),
		name:    name,
		eta:     conjugate.NewGammas(set.eta, set.eta.Shape+0.5, P),
		e:       conjugate.NewGaussian(P),
		ee:      la.NewMatrix[float64](P, P),
		rhs:     make([]float64, P),
		tau:     1 / (set.sigmaH * set.sigmaH),

		prior:   la.NewMatrix[float64](R, N),
		factors: la.NewMatrix[float64](R, N),
		cov:     la.NewMatrix[float64](N, R*R),
		second:  la.NewMatrix[float64](N, R*R),
		logDet:  make([]float64, N),
		spread:  make([]float64, N),

		partners: partners,
		target:   la.NewMatrix[float64](N, others),
	}
	for range R {
		s.precision = append(s.precision, 1/(set.sigmaG*set.sigmaG))
	}
	for m := range P {
		s.e.Mean[m] = 1
	}
	s.updateEE()
	s.blocks = work.NewCrew(set.workers, (N+work.PassRows-1)/work.PassRows, func(int) *sideWorker {
		return &sideWorker{conjugate.NewGaussian(R), la.Workspace{Workers: 1}, make([]float64, R)}
	})
	s.blocks.Stop = &s.Stop
	s.factorTask = s.updateFactorsOf
	s.GTask = s.updateIntermediateOf
	s.Upsilon = s.precision
	s.Memory.Of(s.eta.Scale, s.e.Mean, s.e.Cov.Data, s.factors.Data, s.cov.Data)
	return s
}

// SideStart is an explicit initial state of the rows, or of the columns: the means of the
// sample weights, of the intermediate outputs and of the factors, with identity covariances.
type SideStart struct {
	A la.Matrix[float64] // R×D, means of the sample weights
	G la.Matrix[float64] // (R·P)×N, means of the intermediate outputs
	H la.Matrix[float64] // R×N, means of the factors
}

// validate returns an error unless the shapes are those needed and all entries finite.
func (p *SideStart) validate(s *side) error {
	if err := check.Start("A", p.A, s.R, s.D); err != nil {
		return err
	}
	if err := check.Start("G", p.G, s.R*s.P, s.N); err != nil {
		return err
	}
	return check.Start("H", p.H, s.R, s.N)
}

// startAt is start at factors h, with weights drawn and an equal share of the factors as every
// kernel's output.
func (s *side) startAt(h la.Matrix[float64], src special.Rand) error {
	p := &SideStart{A: la.NewMatrix[float64](s.R, s.D), G: la.NewMatrix[float64](s.R*s.P, s.N), H: h}
	random.Normal(src, p.A.Data)
	for j := range p.G.Rows {
		la.Axpy(1/float64(s.P), h.Row(j/s.P), p.G.Row(j))
	}
	return s.start(p)
}

// start sets the means of a, g and h to those given and every covariance to the identity.
func (s *side) start(p *SideStart) error {
	s.factors.CopyFrom(p.H)
	for i := range s.N {
		row := s.cov.Row(i)
		for r := range s.R {
			row[r*s.R+r] = 1
		}
		s.logDet[i] = 0
		s.updateSecond(i)
	}
	return s.Outputs.Start(p.A, p.G)
}

// resume sets all factors but G to the factors of an earlier posterior. G follows them.
func (s *side) resume(from *SideState, lambdaShape float64) error {
	for m := range s.P {
		s.eta.Resume(m, from.Eta[m])
	}
	if err := s.e.Resume(from.E, from.ECov); err != nil {
		return fmt.Errorf("vi: From: covariance of the kernel weights of the %s: %w", s.name, err)
	}
	s.updateEE()
	s.factors.CopyFrom(from.H)
	s.cov.CopyFrom(from.HCov)
	own := conjugate.NewGaussian(s.R)
	for i := range s.N {
		if err := own.Resume(own.Mean, la.MatrixOf(s.R, s.R, s.cov.Row(i))); err != nil {
			return fmt.Errorf("vi: From: covariance of the factors of sample %d of the %s: %w", i, s.name, err)
		}
		s.logDet[i] = own.LogDet
		s.updateSecond(i)
	}
	if err := s.Outputs.Resume(lambdaShape, from.Lambda, from.A, s.precision); err != nil {
		return err
	}
	return s.updateIntermediate()
}

// updates returns the updates of this side in the order of the papers, given the other side and
// E[ε] and E[b], which the update of H reads. Their names end in the letter of the side: x for the
// rows, z for the columns.
func (s *side) updates(letter string, other *side, epsilon, b func() float64) []work.Update {
	return []work.Update{
		work.Step("λ"+letter, s.UpdateLambda),
		{Name: "a" + letter, Step: func() error { return s.UpdateWeights(s.precision) }},
		{Name: "G" + letter, Step: s.updateIntermediate},
		work.Step("η"+letter, s.updateEta),
		{Name: "e" + letter, Step: s.updateKernelWeights},
		{Name: "H" + letter, Step: func() error { return s.updateFactors(other, epsilon(), b()) }},
	}
}

// updateIntermediate is q(g_{s,i}) = N(Σ(E[a_s]ᵀk_i/σ_g² + E[e]·E[h_{s,i}]/σ_h²), Σ),
// Σ = (I/σ_g² + E[e·eᵀ]/σ_h²)^-1.
func (s *side) updateIntermediate() error {
	s.DistanceStale = false // every component's task renews it
	return s.Outputs.Crew.Each(s.GTask)
}

// updateIntermediateOf is updateIntermediate of component r.
func (s *side) updateIntermediateOf(w *intermediate.Worker, r int) error {
	pull := s.Pull[r]
	for m := range s.P {
		row := pull.Row(m)
		copy(row, s.ee.Row(m))
		la.Scal(s.tau, row)
	}
	clear(w.P1)
	if err := s.BeginUpdate(w, r, w.P1); err != nil {
		return err
	}
	g := s.Rows(s.GMean, r)
	for m := range s.P {
		la.Axpy(s.tau*la.Dot(w.Small.Cov.Row(m), s.e.Mean), s.factors.Row(r), g.Row(m))
	}
	return s.EndUpdate(w, r)
}

// updateEta is q(η_m) = Gamma(α_η + ½, (1/β_η + E[e_m²]/2)^-1).
func (s *side) updateEta() {
	for m := range s.P {
		s.eta.Observe(m, float64(0.5*s.e.Square(m)))
	}
}

// updateKernelWeights is q(e) = N(Σ·Σ_{s,i} E[g_{s,i}]·E[h_{s,i}]/σ_h², Σ),
// Σ = (diag E[η] + Σ_{s,i} E[g_{s,i}·g_{s,i}ᵀ]/σ_h²)^-1.
func (s *side) updateKernelWeights() error {
	precision := s.e.Cov
	precision.Fill(0)
	clear(s.rhs)
	for r := range s.R {
		for m := range s.P {
			la.Axpy(s.tau, s.GGram[r].Row(m), precision.Row(m))
			la.Axpy(float64(s.tau*s.Size), s.GCov[r].Row(m), precision.Row(m))
			s.rhs[m] += float64(s.tau * la.Dot(s.GMean.Row(r*s.P+m), s.factors.Row(r)))
		}
	}
	for m := range s.P {
		precision.Row(m)[m] += s.eta.Mean(m)
	}
	if err := s.e.SetPrecision(&s.Outputs.Crew.All, s.rhs); err != nil {
		return fmt.Errorf("kernel weights of the %s: %w", s.name, err)
	}
	s.updateEE()
	return nil
}

// updateEE forms E[e·eᵀ].
func (s *side) updateEE() {
	for m, e := range s.e.Mean {
		row := s.ee.Row(m)
		copy(row, s.e.Cov.Row(m))
		la.Axpy(e, s.e.Mean, row)
	}
}

// updateFactors is q(h_i) = N(Σ_i(E[e]ᵀE[g_i]/σ_h² + ε·Σ_j (y_ij − b)·E[h_j]), Σ_i),
// Σ_i = (I/σ_h² + ε·Σ_j E[h_j·h_jᵀ])^-1, sums over the observed pairs of i.
func (s *side) updateFactors(other *side, epsilon, b float64) error {
	s.updatePrior()
	s.other, s.epsilon, s.b = other, epsilon, b
	return s.blocks.Each(s.factorTask)
}

// updatePrior forms the prior means of the factors.
func (s *side) updatePrior() {
	s.prior.Fill(0)
	for r := range s.R {
		s.AddFit(r, s.e.Mean, 1, s.prior.Row(r))
	}
}

// updateFactorsOf is updateFactors of a block of samples.
func (s *side) updateFactorsOf(q *sideWorker, block int) error {
	R, right := s.R, q.right
	for i := block * work.PassRows; i < min(s.N, (block+1)*work.PassRows); i++ {
		precision := q.Cov.Data
		clear(precision)
		for r := range R {
			right[r] = s.tau * s.prior.At(r, i)
		}
		s.addPairs(i, s.other, s.epsilon, s.b, precision, right)
		for r := range R {
			precision[r*R+r] += s.tau
		}
		if err := q.SetPrecision(&q.ws, right); err != nil {
			return fmt.Errorf("factors of the %s: sample %d: %w", s.name, i, err)
		}
		for r, v := range q.Mean {
			s.factors.Set(r, i, v)
		}
		copy(s.cov.Row(i), q.Cov.Data)
		s.logDet[i], s.spread[i] = q.LogDet, q.Spread
		s.updateSecond(i)
	}
	return nil
}

// addPairs adds what the observed pairs of sample i with the other side say of its factors: to the
// precision, R×R, ε·Σ_j E[h_j·h_jᵀ], and to right, R, ε·Σ_j (y_ij − b)·E[h_j].
func (s *side) addPairs(i int, other *side, epsilon, b float64, precision, right []float64) {
	y := s.target.Row(i)
	for _, j := range s.partners[i] {
		la.Axpy(epsilon, other.second.Row(j), precision)
		rest := epsilon * (y[j] - b)
		for r := range right {
			right[r] += float64(rest * other.factors.At(r, j))
		}
	}
}

// updateSecond forms the second moments of the factors of sample i.
func (s *side) updateSecond(i int) {
	row := s.second.Row(i)
	copy(row, s.cov.Row(i))
	for r := range s.R {
		for c := range s.R {
			row[r*s.R+c] += float64(s.factors.At(r, i) * s.factors.At(c, i))
		}
	}
}

// refresh forms what follows from the moments of e and H.
func (s *side) refresh() {
	s.updateEE()
	for i := range s.N {
		s.updateSecond(i)
	}
}

// away returns Σ_{s,i} E[(h_{s,i} − eᵀg_{s,i})²], a sum of parts that are not negative.
func (s *side) away() float64 {
	s.updatePrior()
	rest := s.Outputs.Crew.Workers[0].N1
	var sum float64
	for r := range s.R {
		copy(rest, s.factors.Row(r))
		la.Axpy(-1, s.prior.Row(r), rest)
		sum += la.SumSq(rest)
		for m := range s.P {
			sum += la.Dot(s.e.Cov.Row(m), s.GGram[r].Row(m))
			sum += float64(s.Size * la.Dot(s.GCov[r].Row(m), s.ee.Row(m)))
		}
		for i := range s.N {
			sum += s.cov.Row(i)[r*s.R+r]
		}
	}
	return sum
}

// bound returns the terms of this side: the terms of λ, a, G, η, e and H.
func (s *side) bound() float64 {
	sum := s.Outputs.Bound() + s.eta.Bound() + s.e.Entropy()
	for r := range s.R {
		sum += s.GBound(r, s.precision[r], special.Log(s.precision[r]))
	}
	for m := range s.P {
		sum += float64(0.5 * (s.eta.MeanLog(m) - conjugate.Log2Pi - float64(s.eta.Mean(m)*s.e.Square(m))))
	}
	// E[log p(H|…)] and the entropy of H: the terms in log 2π cancel.
	size := float64(s.R * s.N)
	return sum + float64(0.5*(float64(size*(1+special.Log(s.tau)))+conjugate.Sum(s.logDet)-float64(s.tau*s.away())))
}

// ridge returns the coefficients of the change −A·ln s − B(1/s − 1) − C(s − 1) of the bound
// under latent.rescale alone, with η and e as they are and without the factors.
func (s *side) ridge() (a, b, c float64) {
	a, b = s.Ridge()
	a = float64(a) - float64(0.5*float64(s.R*s.N*s.P))
	for r := range s.R {
		c += float64(0.5 * float64(s.precision[r]*s.Distance(r)))
	}
	return a, b, c
}

// rescaleKernelWeights moves e ← e/c, η ← c²·η with s = c².
func (s *side) rescaleKernelWeights(sq float64) {
	la.Scal(sq, s.eta.Scale)
	s.e.Rescale(1/math.Sqrt(sq), 0)
	la.Scal(1/sq, s.ee.Data)
}

// rescaleFactors moves h ← c·h with s = c².
func (s *side) rescaleFactors(sq float64) {
	la.Scal(math.Sqrt(sq), s.factors.Data)
	la.Scal(sq, s.cov.Data)
	la.Scal(sq, s.second.Data)
	shift := float64(float64(s.R) * special.Log(sq))
	for i := range s.logDet {
		s.logDet[i] += shift
	}
}

// roundoff returns the round-off of this side's terms: of the outputs, of the precisions of e and
// H, and of the factors' distance from eᵀg.
func (s *side) roundoff() float64 {
	sum := s.Outputs.Roundoff() + float64(work.Roundoff(s.P)*2*s.e.Spread) + float64(work.Roundoff(s.R)*2*conjugate.Sum(s.spread))
	var size float64
	for r := range s.R {
		for m, e := range s.e.Mean {
			size += float64(float64(e*e) * s.GGram[r].At(m, m))
		}
	}
	return sum + work.Difference(s.P, s.tau, float64(s.R*s.N)/s.tau, size)
}

// fromKernels stores what the kernels alone say of the factors at the training samples: the
// means, R×N, and about the mean over the samples of the variance of each component. It takes the variance
// of E[a]ᵀk as equal for all kernels, and leaves out how the kernels' parts covary.
func (s *side) fromKernels(mean la.Matrix[float64], variance []float64) {
	mean.Fill(0)
	for r := range s.R {
		within := 1/s.precision[r] + s.ATrace[r]/float64(s.N*s.P)
		v := 1 / s.tau
		for m := range s.P {
			h := s.H.Row(r*s.P + m)
			la.Axpy(s.e.Mean[m], h, mean.Row(r))
			v += float64(within*s.ee.At(m, m)) + float64(s.e.Cov.At(m, m)*la.SumSq(h))/float64(s.N)
		}
		variance[r] = v
	}
}

// Snapshot names the state of this side.
func (s *side) Snapshot(to *work.Snapshot) {
	to.Same(s.precision[0], s.tau)
	s.Outputs.Snapshot(to)
	s.eta.Snapshot(to)
	s.e.Snapshot(to)
	to.Matrices(s.ee, s.factors, s.cov, s.second)
	to.Floats(s.logDet, s.spread)
}
