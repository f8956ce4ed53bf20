package mgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Noise that varies: the logarithm of the noise variance is a sum of Gaussian
// processes too, of the same kernels,
//
//	y_n ~ N(f_n, exp(h_n)),   f ~ N(0, K),   h ~ N(μ, H),   K = Σ a_p·K_p,   H = Σ b_p·K_p.
//
// With q(h) = N(m, V) and r_n = exp(m_n − V_nn/2) the best q(f) is known, and
//
//	L = log N(y | 0, K + diag(r)) − ¼·tr V − KL(q(h) ‖ N(μ, H))
//
// is a lower bound on the evidence. At its maximum q(h) is made of sites,
//
//	λ_n = ½·(r_n·α_n² + 1 − r_n·R_nn),   ν_n = λ_n − ½ + λ_n·(m_n − μ),
//
// with α and R of f. The sites are found in the way of the sites of labels, and L is climbed in log
// a_p, log b_p, μ and the kernels' parameters by exact gradients.
//
// Source: M. Lázaro-Gredilla and M. K. Titsias, "Variational heteroscedastic Gaussian
// process regression", ICML 2011; docs/theory/varying-noise.md derives what is computed.

// NoiseProcess is the approximate posterior of the logarithm of a noise variance
// that varies: Level, and a sum of Gaussian processes with the kernels of the function.
// It is immutable and safe for concurrent use.
type NoiseProcess struct {
	Level float64    // μ
	About *Posterior // q(h − μ)

	// Most is the largest logarithm of a predicted noise variance: the sum of the noise variances of all training samples. Where all samples are far
	// away, the prior of h may promise many powers of ten more, or more than any number holds.
	Most float64
}

// NewNoiseProcess returns the noise of a level and a posterior with sites about it, for the function f.
func NewNoiseProcess(level float64, f, about *Posterior) (*NoiseProcess, error) {
	switch {
	case math.IsNaN(level) || math.IsInf(level, 0):
		return nil, fmt.Errorf("vi: noise level: %g", level)
	case about.s.Sites == nil || about.s.Labels:
		return nil, errors.New("vi: noise process: its posterior has no sites, or is of labels")
	}
	return &NoiseProcess{Level: level, About: about, Most: mostLogNoise(len(f.s.Alpha), 1/f.s.Tau)}, nil
}

// Predict returns the mean and the variance of h, the logarithm of the noise variance,
// of the samples whose kernels are given as [Posterior.Predict] takes them.
func (p *NoiseProcess) Predict(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (mean, variance []float64, err error) {
	opt.MeanOnly = false
	h, err := p.About.Predict(k, self, opt)
	if err != nil {
		return nil, nil, err
	}
	mean, variance = p.lifted(h)
	return mean, variance, nil
}

// lifted adds the level to predictions of what is about it.
func (p *NoiseProcess) lifted(about *Prediction) (mean, variance []float64) {
	for i := range about.Mean {
		about.Mean[i] += p.Level
	}
	return about.Mean, about.Function
}

// Widen sets the variances of targets in a prediction of the function, made from the same kernels,
// to the variances of the function plus this noise.
func (p *NoiseProcess) Widen(out *Prediction, k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) error {
	mean, variance, err := p.Predict(k, self, opt)
	if err != nil {
		return err
	}
	p.widen(out, mean, variance)
	return nil
}

// WidenComposite is Widen by the composite kernels of the noise, with its own scales, as [Posterior.PredictComposite] takes them.
func (p *NoiseProcess) WidenComposite(ws *la.Workspace, out *Prediction, kbar la.Matrix[float64], self []float64, opt vi.PredictOptions) error {
	opt.MeanOnly = false
	h, err := p.About.PredictComposite(ws, kbar, self, opt)
	if err != nil {
		return err
	}
	mean, variance := p.lifted(h)
	p.widen(out, mean, variance)
	return nil
}

// widen sets the variances of targets, given the moments of the logarithm of the noise variance.
func (p *NoiseProcess) widen(out *Prediction, mean, variance []float64) {
	for i, v := range out.Function {
		out.Variance[i] = v + meanNoise(mean[i], variance[i], p.Most)
	}
}

// PredictOne is [Posterior.PredictOne] of the function f with this noise: k and self are the
// composite kernels of f, noiseK and noiseSelf the composite kernels of the noise, with its own
// scales. Both k and noiseK are overwritten.
func (p *NoiseProcess) PredictOne(f *Posterior, k []float64, self float64, noiseK []float64, noiseSelf float64) vi.Certified {
	mean := p.Level + la.Dot(noiseK, p.About.s.Alpha)
	noise := meanNoise(mean, p.About.functionVariance(noiseK, noiseSelf), p.Most)
	c := vi.Certified{Mean: la.Dot(k, f.s.Alpha)}
	c.Variance = f.functionVariance(k, self) + noise
	c.LeastSD = math.Sqrt(c.Variance)
	return c
}

// mostLogNoise returns the logarithm of the sum of N noise variances with the given mean.
func mostLogNoise(N int, mean float64) float64 { return special.Log(float64(N) * mean) }

// meanNoise returns E[exp(h)] of h with the given mean and variance, at most eᵐᵒˢᵗ.
func meanNoise(mean, variance, most float64) float64 {
	return special.Exp(min(mean+float64(0.5*variance), most))
}

// FitVarying fits to N targets given square kernels, with noise that varies. It starts from Start,
// or from the fit with constant noise if Start is nil. The prior of γ of both sums must be
// [FamilyDefault]. LogEvidence is the lower bound. It returns the same errors as Fit.
func (e Evidence) FitVarying(ctx context.Context, k vi.Kernels, y []float64) (*Fit, error) {
	if e.Family != FamilyDefault {
		return nil, fmt.Errorf("vi: noise that varies takes the default prior, and Family is %v", e.Family)
	}
	if e.Known != nil {
		return nil, errors.New("vi: Known: noise that varies takes weights that are learned")
	}
	if e.KnownNoise != 0 {
		return nil, errors.New("vi: KnownNoise: noise that varies is learned")
	}
	if e.Start == nil {
		first, err := e.fit(ctx, k, y, false)
		if err != nil {
			return first, err
		}
		e.Start = &EvidenceStart{Gamma: first.Posterior.s.Gamma, Noise: 1 / first.Posterior.s.Tau, Parameters: first.Parameters}
	}
	m, x, err := e.varying(ctx, k, y)
	if err != nil {
		return nil, err
	}
	rec := vi.Record{Reason: vi.MaxSweeps}
	r, stop := minimize(x, m.cost, e.settings(float64(m.f.N), &rec), &rec, e.Ascent.Journal.Next(), m.snapshot)
	if len(rec.Trace) == 0 {
		return nil, cmp.Or(stop, errUnknown)
	}
	fit, err := m.finish(r.X, rec)
	return fit, errors.Join(stop, err)
}

// varying is the objective. Its variables are log a_p, the kernels' parameters, log b_p and μ. f is
// the state of a fit to targets, and h the state of a fit to labels, whose posterior is made of
// sites.
type varying struct {
	f, h *evidence
	keep bool // log a_p and the kernels' parameters stay

	level    float64   // μ
	variance []float64 // r
	inverse  []float64 // R_nn
}

// varying checks the arguments and returns the objective and its start.
func (e Evidence) varying(ctx context.Context, k vi.Kernels, y []float64) (*varying, []float64, error) {
	f, x, err := e.objective(ctx, k, y, false)
	if err != nil {
		return nil, nil, err
	}
	N, P := f.N, f.P
	noise := float64(leastShare*f.power) + special.Exp(x[len(x)-1])
	x = x[:len(x)-1]
	h := &evidence{
		ctx: ctx, k: k, passes: f.passes, ws: la.Workspace{Workers: e.Workers}, P: P, N: N,
		labels: true, scalePrior: f.scalePrior, power: 1, tol: varyingSearch, final: noiseTolerance, best: math.Inf(1),
		sum: la.NewMatrix[float64](N, N), factor: la.NewMatrix[float64](N, N),
		alpha: make([]float64, N), weight: make([]float64, P), trace: make([]float64, P), quad: make([]float64, P),
	}
	h.sites = newSites(&h.ws, h.N)
	h.sites.k, h.sites.l = h.sum, h.factor
	log := make([]float64, P)
	if err := h.shares(log); err != nil {
		return nil, nil, err
	}
	for _, v := range log {
		h.unit = append(h.unit, special.Exp(-v)/float64(P))
	}
	if g := e.Start.NoiseGamma; g != nil {
		if len(g) != P {
			return nil, nil, fmt.Errorf("vi: Start.NoiseGamma: %d values for %d kernels", len(g), P)
		}
		for p, v := range g {
			if !(v > 0) || math.IsInf(v, 1) {
				return nil, nil, fmt.Errorf("vi: Start.NoiseGamma[%d] is %g", p, v)
			}
			log[p] = -special.Log(v)
		}
	}
	x = append(append(x, log...), special.Log(noise))
	m := &varying{f: f, h: h, keep: e.Start.Keep, variance: make([]float64, N), inverse: make([]float64, N)}
	m.begin()
	h.keep()
	return m, x, nil
}

// snapshot names what evaluations to come depend on, beside their points.
func (m *varying) snapshot(s *work.Snapshot) {
	m.f.snapshot(s)
	m.h.snapshot(s)
}

// begin sets the sites that constant noise has.
func (m *varying) begin() {
	for n := range m.h.sites.prec {
		m.h.sites.prec[n], m.h.sites.nu[n] = 0.5, 0
	}
}

// functions finds q(f) and q(h) at x and returns the bound. The lower triangles then hold the
// Cholesky factors of K + diag(r) and of the sites' B.
func (m *varying) functions(x []float64) (float64, error) {
	f, h, P := m.f, m.h, m.f.P
	noise := x[P+len(f.priors):]
	for p := range P {
		f.weight[p], h.weight[p] = special.Exp(x[p]), special.Exp(noise[p])
	}
	m.level = noise[P]
	if f.kernels != nil {
		f.kernels.SetParameters(&f.ws, x[P:P+len(f.priors)])
	}
	f.passes.sum(&f.ws, f.weight, f.sum)
	f.passes.sum(&h.ws, h.weight, h.sum)
	// The least noise is part of f, and keeps K + diag(r) from being singular.
	for i := range f.N {
		f.sum.Row(i)[i] += float64(leastShare * f.power)
	}
	return h.findSites(m.begin, func() (float64, error) { return h.sites.climb(h.tol, m) })
}

// expect implements [bounded] by log N(y | 0, K + diag(r)) − ¼·tr V, the expected log
// likelihood of h, whose sites s are, under the best q(f).
func (m *varying) expect(s *sites, slope, curvature []float64) (float64, error) {
	f := m.f
	for n := range f.N {
		m.variance[n] = float64(f.shareOf(n) * special.Exp(m.level+s.mean[n]-float64(0.5*s.variance[n])))
		row := f.factor.Row(n)[:n+1]
		copy(row, f.sum.Row(n))
		row[n] += m.variance[n]
	}
	if err := la.Cholesky(&f.ws, f.factor); err != nil {
		return 0, fmt.Errorf("Σ a_p·K_p + noise: %w", err)
	}
	copy(f.alpha, f.y)
	la.CholeskySolveVec(f.factor, f.alpha)
	la.CholeskyInvDiag(&f.ws, f.factor, m.inverse)
	value := -0.5 * (la.Dot(f.y, f.alpha) + la.LogDet(f.factor) + float64(float64(f.N)*special.Log(2*math.Pi)))
	for n, r := range m.variance {
		value -= float64(0.25 * s.variance[n])
		// The mean squared residual in units of r, half of it: never negative.
		curvature[n] = float64(0.5 * (float64(r*f.alpha[n]*f.alpha[n]) + max(0, 1-float64(r*m.inverse[n]))))
		slope[n] = curvature[n] - 0.5
	}
	return value, nil
}

// cost is minus the objective and its gradient, +Inf where a matrix is singular in
// double precision or the sites are not found.
func (m *varying) cost(x, g []float64) (float64, error) {
	f, h, P := m.f, m.h, m.f.P
	if f.ctx.Err() != nil {
		return 0, fmt.Errorf("vi: stopped: %w", context.Cause(f.ctx))
	}
	value, err := m.functions(x)
	if err != nil {
		return math.Inf(1), nil
	}
	at := P + len(f.priors)
	h.precision(h.quad)
	value += h.amplitudeSlopes(x[at:], g[at:])
	density, slope := normalPrior(m.level, special.Log(firstNoise*f.power), noiseSpread)
	value += density
	g[at+P] = -slope
	for _, a := range h.alpha {
		g[at+P] -= a
	}
	if m.keep {
		clear(g[:at])
	} else {
		f.precision(f.quad)
		value += f.amplitudeSlopes(x, g)
		if f.kernels != nil {
			value += f.parameterSlopes(x, g)
			slopes := make([]float64, at-P)
			h.sumSlopes(f.kernels, slopes)
			la.Axpy(-1, slopes, g[P:at])
		}
	}
	return h.noted(-value), nil
}

// Tolerances of the sites of noise, in posterior deviations: of noise that varies while the
// scales are climbed, and of the last ones. The bound is stationary in the sites, but its
// slopes in the scales are wrong by the first power of their residual; from 1e-3 on line
// searches begin to fail.
const (
	varyingSearch  = 3e-4
	noiseTolerance = 1e-6
)

// finish computes q(f) and q(h) at x and returns the fit.
func (m *varying) finish(x []float64, rec vi.Record) (*Fit, error) {
	f, h := m.f, m.h
	bound, err := h.last(x, m.functions)
	if err != nil {
		return nil, err
	}
	fit := &Fit{
		Record: rec, LogEvidence: bound,
		Parameters: slices.Clone(x[f.P : f.P+len(f.priors)]),
	}
	var square, noise float64
	for n, r := range m.variance {
		v := f.y[n] - float64(r*f.alpha[n])
		square += float64(v * v)
		noise += special.Exp(m.level+h.sites.mean[n]+float64(0.5*h.sites.variance[n])) / float64(f.N)
	}
	fit.Collapsed = square < 1e-3*noise*float64(f.N)
	function := State{Family: f.family, Prior: f.prior, Tau: 1 / f.ofOne(noise), Alpha: slices.Clone(f.alpha), Factor: lowerOf(f.factor)}
	about := State{
		Family: h.family, Prior: h.prior, Tau: 1, Alpha: slices.Clone(h.alpha), Factor: lowerOf(h.factor),
		Sites: slices.Clone(h.sites.prec),
	}
	f.precision(f.quad)
	f.left = 0
	for n, r := range m.variance {
		f.left += float64(r * m.inverse[n])
	}
	h.precision(h.quad)
	fit.LeaveOneOut = m.leaveOneOut(mostLogNoise(f.N, noise))
	for p := range f.P {
		function.Gamma = append(function.Gamma, 1/f.weight[p])
		about.Gamma = append(about.Gamma, 1/h.weight[p])
	}
	function.Scales, _ = f.scales()
	about.Scales, _ = h.scales()
	if fit.Posterior, err = NewPosterior(function); err != nil {
		return nil, err
	}
	q, err := NewPosterior(about)
	if err != nil {
		return nil, err
	}
	level := m.level
	if f.share != nil {
		level = special.Log(f.ofOne(special.Exp(level)))
	}
	fit.Noise, err = NewNoiseProcess(level, fit.Posterior, q)
	return fit, err
}

// leaveOneOut returns the prediction of every sample from all others, given R of both
// sums. Without sample n f has the mean y_n − α_n/R_nn and the variance 1/R_nn − r_n,
// whatever its own noise is, and h at n the variance of the cavity, q(h) without its site. The mean
// of the cavity still knows sample n from its neighbours: their sites follow from the residuals of
// a function that has seen sample n. One step of all their sites, to the sites for the function
// that has not seen it, moves the mean by
//
//	Σ_j V₋_nj·(λ₋_j − λ_j),   V₋_nj = −(R_h)_nj/(λ_n·λ_j·(1 − λ_n·V_nn)).
func (m *varying) leaveOneOut(most float64) *LeaveOneOut {
	f, s := m.f, m.h.sites
	f.factor.MirrorLower()
	m.h.factor.MirrorLower()
	out := &LeaveOneOut{}
	for n, r := range m.variance {
		own, a := m.inverse[n], f.alpha[n]
		mean, variance := m.level+s.cavityMean[n], s.cavityVar[n]
		spread := variance / s.variance[n] / s.prec[n] // 1/(λ_n·(1 − λ_n·V_nn))
		for j, c := range f.factor.Row(n) {
			if j == n {
				continue
			}
			change := 0.5 * m.variance[j] * (c / own) * (float64(a*(float64(c*a)/own-2*f.alpha[j])) + c)
			mean -= float64(spread * m.h.factor.At(n, j) / s.prec[j] * change)
		}
		miss := a / own
		mean += special.Log(f.shareOf(n))
		function := max(0, 1-float64(r*own)) / own
		out.Mean = append(out.Mean, f.y[n]-miss)
		out.Variance = append(out.Variance, function+meanNoise(mean, variance, most))
		out.LogProbability = append(out.LogProbability, logDensity(miss, function, mean, variance))
	}
	return out
}

// logDensity returns log E[N(d | 0, v + exp(h))], h ~ N(mean, variance), by the
// trapezoidal rule, as [expectLikelihood] has it: exp(h) = −v is π away from the real
// line.
func logDensity(d, v, mean, variance float64) float64 {
	const (
		strip = math.Pi
		tail  = 8.5
		digit = 72.0 // the density may itself be small
		most  = 1 << 12
	)
	sd := math.Sqrt(variance)
	step := max(min(2*math.Pi*strip/sd/digit, math.Pi*math.Sqrt(2/digit)), tail/most)
	top, sum, weight := math.Inf(-1), 0.0, 0.0
	for k := -math.Ceil(tail / step); k*step <= tail+step; k++ {
		x := k * step
		total := v + special.Exp(mean+float64(sd*x))
		log := float64(-0.5*x*x) - float64(0.5*(d*d/total+special.Log(2*math.Pi*total)))
		weight += special.Exp(-0.5 * x * x)
		if log > top {
			sum *= special.Exp(top - log)
			top = log
		}
		sum += special.Exp(log - top)
	}
	return top + special.Log(sum/weight)
}
