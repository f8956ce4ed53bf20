package probit

import (
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// importance is a weighted sample of a density that is known up to a constant.
type importance struct {
	points   la.Matrix[float64] // a row for each
	logs     la.Matrix[float64] // of the points
	proposal []float64          // log density that each was drawn from

	target    []float64 // log density at the points, without its constant
	weight    []float64 // normalised
	mean      []float64
	meanLog   []float64
	logNorm   float64 // of the target: the logarithm of the mean weight
	meanLogQ  float64 // E[log q], q the normalised target
	effective float64 // sample size, 1/Σ weight²
}

// newImportance returns room for n points of the given dimension.
func newImportance(n, dim int) *importance {
	return &importance{
		points: la.NewMatrix[float64](n, dim), logs: la.NewMatrix[float64](n, dim),
		proposal: make([]float64, n), target: make([]float64, n), weight: make([]float64, n),
		mean: make([]float64, dim), meanLog: make([]float64, dim),
	}
}

// weigh computes the weights and moments from the targets. Points at which a target
// has overflowed have no weight.
func (s *importance) weigh() {
	top := math.Inf(-1)
	for i, t := range s.target {
		if math.IsNaN(t) {
			t = math.Inf(-1)
			s.target[i] = t
		}
		s.weight[i] = t - s.proposal[i]
		top = max(top, s.weight[i])
	}
	var total, squares float64
	for i, w := range s.weight {
		s.weight[i] = special.Exp(w - top)
		total += s.weight[i]
	}
	s.logNorm = top + special.Log(total/float64(len(s.weight)))
	s.meanLogQ = -s.logNorm
	clear(s.mean)
	clear(s.meanLog)
	for i := range s.weight {
		s.weight[i] /= total
		w := s.weight[i]
		if w == 0 {
			continue
		}
		squares += float64(w * w)
		s.meanLogQ += float64(w * s.target[i])
		la.Axpy(w, s.points.Row(i), s.mean)
		la.Axpy(w, s.logs.Row(i), s.meanLog)
	}
	s.effective = 1 / squares
}

// covariance stores the covariance of the points in cov.
func (s *importance) covariance(cov la.Matrix[float64]) {
	cov.Fill(0)
	d := make([]float64, len(s.mean))
	for i, w := range s.weight {
		if w == 0 {
			continue
		}
		copy(d, s.points.Row(i))
		la.Axpy(-1, s.mean, d)
		for p, v := range d {
			la.Axpy(w*v, d, cov.Row(p))
		}
	}
}

// set makes point i the one whose logarithms are given.
func (s *importance) set(i int, logs []float64) {
	copy(s.logs.Row(i), logs)
	for p, v := range logs {
		s.points.Row(i)[p] = special.Exp(v)
	}
}

// logGammaDraw returns the logarithm of a draw from the gamma distribution of the
// given shape and scale 1, which does not underflow for small shapes. A shape that is
// negative or not a finite number gives NaN.
//
// Source: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma
// variables", ACM TOMS 26 (2000).
func logGammaDraw(r special.Rand, shape float64) float64 {
	if !(shape >= 0) || math.IsInf(shape, 1) {
		return math.NaN()
	}
	if shape < 1 {
		return logGammaDraw(r, shape+1) + special.Log(1-float64(r.Float64()))/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		if special.Log(1-float64(r.Float64())) < float64(0.5*x*x)+float64(d*(1-v+special.Log(v))) {
			return special.Log(d * v)
		}
	}
}

// logGammaDensity returns the log density of Gamma(shape, rate), a rate and not a
// scale, at e^log.
func logGammaDensity(log, shape, rate float64) float64 {
	g := special.LogGamma(shape)
	return float64(shape*special.Log(rate)) - g + float64((shape-1)*log) - float64(rate*special.Exp(log))
}

// dirichletDraw stores in logs the logarithms of a draw from Dirichlet(shape).
func dirichletDraw(r special.Rand, shape, logs []float64) {
	top := math.Inf(-1)
	for p, s := range shape {
		logs[p] = logGammaDraw(r, s)
		top = max(top, logs[p])
	}
	var total float64
	for _, v := range logs {
		total += special.Exp(v - top)
	}
	top += special.Log(total)
	for p := range logs {
		logs[p] = max(logs[p]-top, -700)
	}
}

// logDirichletNorm returns log Γ(Σ shape) − Σ log Γ(shape).
func logDirichletNorm(shape []float64) float64 {
	var total, norm float64
	for _, s := range shape {
		g := special.LogGamma(s)
		norm -= g
		total += s
	}
	g := special.LogGamma(total)
	return norm + g
}

// logDirichletDensity returns the log density of Dirichlet(shape) at the point whose
// logarithms are given.
func logDirichletDensity(logs, shape []float64) float64 {
	v := logDirichletNorm(shape)
	for p, s := range shape {
		v += float64((s - 1) * logs[p])
	}
	return v
}

// logAdd returns log(e^a + e^b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	return a + special.Log1p(special.Exp(b-a))
}

// simplexSample is q(β) of [RuleWSum] and q(ρ) by importance sampling.
type simplexSample struct {
	*quadratic
	beta, rho *importance
	prior     vi.Gamma  // of ρ_p
	meanRho   []float64 // E[ρ]
	norm      float64   // E[log Γ(Σρ) − Σ log Γ(ρ)]

	random special.Rand
	stream *rand.PCG // behind random
	shape  []float64
	sweeps int
	fixed  bool // the points of β are given
	fresh  bool // the last update drew points
}

// priorShare is the part of the points that is drawn from the prior when the rest
// follows the last posterior.
const priorShare = 0.1

// samples returns the number of importance samples.
func (p Model) samples() int {
	if p.Samples == 0 {
		return 1000
	}
	return p.Samples
}

// simplexSample checks the prior of ρ and returns q(β) and q(ρ) at their start.
func (p Model) simplexSample(m *model, q *quadratic) (*simplexSample, error) {
	stream := random.Stream(p.Seed + 1)
	s := &simplexSample{
		quadratic: q, prior: conjugate.Or1(p.Rho), meanRho: make([]float64, m.P), random: special.NewRand(stream), stream: stream,
		beta: newImportance(p.samples(), m.P), rho: newImportance(p.samples(), m.P), shape: make([]float64, m.P),
	}
	if err := conjugate.CheckPrior("Rho", s.prior); err != nil {
		return nil, err
	}
	logs := make([]float64, m.P)
	for p := range s.meanRho {
		s.meanRho[p] = s.prior.Mean()
	}
	for i := range s.rho.proposal {
		for p := range logs {
			logs[p] = max(logGammaDraw(s.random, s.prior.Shape)+special.Log(s.prior.Scale), -700)
			s.rho.proposal[i] += logGammaDensity(logs[p], s.prior.Shape, 1/s.prior.Scale)
		}
		s.rho.set(i, logs)
	}
	return s, nil
}

// effective returns the effective sample size of β.
func (s *simplexSample) effective() float64 { return s.beta.effective }

// earlySweeps is how many sweeps draw importance points, and how many a structured
// fit makes with the plain sum of the kernels.
const earlySweeps = 10

// drew reports whether the last update drew new points.
func (s *simplexSample) drew() bool { return s.fresh }

// update draws the points afresh in the first sweeps, the later ones around the
// last posterior, and then keeps them: with the points fixed the step is one of
// coordinate ascent.
func (s *simplexSample) update(m *model) error {
	s.measure(m)
	if s.fresh = !s.fixed && s.sweeps <= earlySweeps; s.fresh {
		if err := s.draw(m); err != nil {
			return err
		}
		s.sweeps++
	}
	if err := s.solve(&m.Stop); err != nil {
		return err
	}
	copy(m.mean, s.beta.mean)
	s.settle(m)
	return nil
}

// draw makes new points.
func (s *simplexSample) draw(m *model) error {
	P := len(s.meanRho)
	share := 1.0
	var total, spread float64
	if s.sweeps > 0 {
		share = priorShare
		for p, b := range m.mean {
			spread += float64(b * (1 - b))
			total += s.cov.At(p, p)
		}
		// The Dirichlet distribution of the same mean and total variance, not too
		// narrow when the last sample was poor.
		precision := min(max(spread/max(total, 1e-12)-1, float64(P)), 1e5)
		for p, b := range m.mean {
			s.shape[p] = precision * max(b, 1e-3)
		}
	}
	logs := make([]float64, P)
	n := len(s.beta.proposal)
	for i := range n {
		if err := m.Ended(); err != nil {
			return err
		}
		if float64(i) < share*float64(n) {
			dirichletDraw(s.random, s.meanRho, logs)
		} else {
			dirichletDraw(s.random, s.shape, logs)
		}
		s.beta.set(i, logs)
		d := logDirichletDensity(logs, s.meanRho)
		if share < 1 {
			d = logAdd(d+special.Log(share), logDirichletDensity(logs, s.shape)+special.Log(1-share))
		}
		s.beta.proposal[i] = d
	}
	return nil
}

// solve weighs the points of β and then the points of ρ.
func (s *simplexSample) solve(stop *work.Stop) error {
	for i := range s.beta.target {
		if err := stop.Ended(); err != nil {
			return err
		}
		t := s.at(s.beta.points.Row(i))
		for p, l := range s.beta.logs.Row(i) {
			t += float64((s.meanRho[p] - 1) * l)
		}
		s.beta.target[i] = t
	}
	s.beta.weigh()
	s.beta.covariance(s.cov)
	return s.solveRho(stop)
}

// solveRho weighs the points of ρ by their prior and the density of β at E[log β].
func (s *simplexSample) solveRho(stop *work.Stop) error {
	for i := range s.rho.target {
		if err := stop.Ended(); err != nil {
			return err
		}
		rho := s.rho.points.Row(i)
		t := logDirichletDensity(s.beta.meanLog, rho)
		for _, l := range s.rho.logs.Row(i) {
			t += logGammaDensity(l, s.prior.Shape, 1/s.prior.Scale)
		}
		s.rho.target[i] = t
	}
	s.rho.weigh()
	copy(s.meanRho, s.rho.mean)
	s.norm = 0
	for i, w := range s.rho.weight {
		if err := stop.Ended(); err != nil {
			return err
		}
		if w > 0 {
			s.norm += float64(w * logDirichletNorm(s.rho.points.Row(i)))
		}
	}
	return nil
}

// bound implements weights.
func (s *simplexSample) bound() float64 {
	v := s.norm - s.beta.meanLogQ - s.rho.meanLogQ
	for p, r := range s.meanRho {
		g := special.LogGamma(s.prior.Shape)
		v += float64((r-1)*s.beta.meanLog[p]) - r/s.prior.Scale - float64(s.prior.Shape*special.Log(s.prior.Scale)) - g +
			float64((s.prior.Shape-1)*s.rho.meanLog[p])
	}
	return v
}
