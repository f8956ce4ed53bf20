package main

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// The process of the studies at known scales.
var (
	processWeights = []float64{0.8, 0.3}
	processNoise   = 0.1
)

// process is a function drawn from a sum of Gaussian processes, and targets with noise.
type process struct {
	points
	f []float64 // at all samples and the further one
	y []float64 // the same with noise
}

func newProcess(src special.Rand, samples int, weight []float64, noise float64) process {
	p := process{points: newPoints(src, samples, 2, 1, math.Inf(1))}
	p.f = p.function(src, weight)
	for _, f := range p.f {
		p.y = append(p.y, f+math.Sqrt(noise)*src.NormFloat64())
	}
	return p
}

// ahead compares a prediction of the further sample with the truth.
func (p process) ahead(q *mgp.Prediction) []quantity {
	return []quantity{
		normal("function", p.f[p.n], q.Mean[0], q.Function[0]),
		normal("target", p.y[p.n], q.Mean[0], q.Variance[0]),
	}
}

// processAtKnownScales calibrates predictions and leave-one-out.
func processAtKnownScales(ctx context.Context, src special.Rand) ([]quantity, error) {
	p := newProcess(src, 12, processWeights, processNoise)
	fit, err := mgp.Evidence{Known: processWeights, KnownNoise: processNoise, Workers: 1}.Fit(ctx, p.training(), p.y[:p.n])
	if err != nil {
		return nil, err
	}
	q, err := fit.Posterior.Predict(p.fresh(), p.self(), vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	l := fit.LeaveOneOut
	return append(p.ahead(q), normal("target left out", p.y[0], l.Mean[0], l.Variance[0])), nil
}

// spannedAtKnownScales does the same for linear kernels, whose features two samples span.
func spannedAtKnownScales(ctx context.Context, src special.Rand) ([]quantity, error) {
	const a = 0.6
	p := process{points: newPoints(src, 15, 2, math.Inf(1))}
	w := []float64{math.Sqrt(a) * src.NormFloat64(), math.Sqrt(a) * src.NormFloat64()}
	for i := range p.x.Rows {
		p.f = append(p.f, la.Dot(p.x.Row(i), w))
		p.y = append(p.y, p.f[i]+math.Sqrt(processNoise)*src.NormFloat64())
	}
	u, v := p.x.Row(0), p.x.Row(1)
	det := u[0]*v[1] - u[1]*v[0]
	weights := la.NewMatrix[float64](2, p.n)
	for i := range p.n {
		x := p.x.Row(i)
		weights.Set(0, i, (x[0]*v[1]-x[1]*v[0])/det)
		weights.Set(1, i, (u[0]*x[1]-u[1]*x[0])/det)
	}
	fit, err := mgp.Evidence{Known: []float64{a}, KnownNoise: processNoise, Workers: 1}.
		FitSpanned(ctx, dense(p.square()[0].Slice(0, 2, 0, 2)), weights, p.y[:p.n])
	if err != nil {
		return nil, err
	}
	q, err := fit.Posterior.Predict(dense(p.block(p.n, p.n+1)[0].Slice(0, 2, 0, 1)), p.self(), vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	l := fit.LeaveOneOut
	return append(p.ahead(q), normal("target left out", p.y[4], l.Mean[4], l.Variance[4])), nil
}

// newLabels draws a process and labels ±1 with probit noise, again if all labels are alike.
func newLabels(src special.Rand, draw func() process) (process, []float64) {
	for {
		p, sum := draw(), 0.0
		t := make([]float64, p.n)
		for i := range t {
			t[i] = math.Copysign(1, p.f[i]+src.NormFloat64())
			sum += t[i]
		}
		if math.Abs(sum) < float64(p.n) {
			return p, t
		}
	}
}

// labelWeights are the weights of the kernels in the studies of labels at known scales.
var labelWeights = []float64{3, 1}

func drawLabels(src special.Rand) (process, []float64) {
	return newLabels(src, func() process { return newProcess(src, 12, labelWeights, 1) })
}

// labelsAtKnownScales calibrates Gaussian approximations of the posterior of labels, beside elliptical slices.
func labelsAtKnownScales(sites mgp.Sites) func(context.Context, special.Rand) ([]quantity, error) {
	return func(ctx context.Context, src special.Rand) ([]quantity, error) {
		p, t := drawLabels(src)
		fit, err := mgp.Evidence{Sites: sites, Known: labelWeights, Workers: 1}.FitLabels(ctx, p.training(), t)
		if err != nil {
			return nil, err
		}
		q, err := fit.Posterior.Predict(p.fresh(), p.self(), vi.PredictOptions{})
		if err != nil {
			return nil, err
		}
		sd := math.Sqrt(q.Function[0])
		return []quantity{normal("function", p.f[p.n], q.Mean[0], q.Function[0]).beside(sd, p.slices(src, labelWeights, t, 400, 10))}, nil
	}
}

// slicedLabels calibrates the sampler that the Gaussian approximations are compared with.
func slicedLabels(_ context.Context, src special.Rand) ([]quantity, error) {
	p, t := drawLabels(src)
	return []quantity{ranked(src, "function", p.f[p.n], p.slices(src, labelWeights, t, 60, 60))}, nil
}

// slices draws the function at the further sample given labels, by elliptical slices.
//
// Source: I. Murray, R. P. Adams and D. J. C. MacKay, "Elliptical slice sampling", AISTATS 2010.
func (p process) slices(src special.Rand, weight, t []float64, draws, thin int) (out []float64) {
	logLikelihood := func(f []float64) (l float64) {
		for n, v := range t {
			l += special.LogNormalCDF(v * f[n])
		}
		return l
	}
	root := p.root(weight)
	f := correlated(src, root)
	now := logLikelihood(f)
	for sweep := range (draws + 20) * thin {
		other, level := correlated(src, root), now+math.Log(1-src.Float64())
		angle := 2 * math.Pi * src.Float64()
		lo, hi := angle-2*math.Pi, angle
		for {
			sin, cos := math.Sincos(angle)
			next := make([]float64, len(f))
			for i := range next {
				next[i] = cos*f[i] + sin*other[i]
			}
			if l := logLikelihood(next); l > level {
				f, now = next, l
				break
			}
			if angle < 0 {
				lo = angle
			} else {
				hi = angle
			}
			angle = lo + (hi-lo)*src.Float64()
		}
		if sweep >= 20*thin && sweep%thin == 0 {
			out = append(out, f[p.n])
		}
	}
	return out
}

// factorisedScale is the prior of γ in the studies of factorised posteriors, Gamma(3, ½).
var factorisedScale = mgp.GIG{Omega: 3, Phi: 4}

// newScaled draws the scales too, and returns the noise variance.
func newScaled(src special.Rand) process {
	var weight []float64
	for range 2 {
		weight = append(weight, 1/gamma(src, vi.Gamma{Shape: factorisedScale.Omega, Scale: 2 / factorisedScale.Phi}))
	}
	return newProcess(src, 12, weight, processNoise)
}

// factorised calibrates the factorised posterior of targets.
func factorised(ctx context.Context, src special.Rand) ([]quantity, error) {
	p := newScaled(src)
	fit, err := mgp.Model{Prior: factorisedScale, HeldPrior: mgp.HeldPrior{}.All(), Tau: 1 / processNoise, Noise: mgp.NoiseFixed, Workers: 1}.
		Fit(ctx, p.training(), p.y[:p.n])
	if err != nil {
		return nil, err
	}
	q, err := fit.Posterior.Predict(p.fresh(), p.self(), vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	return p.ahead(q), nil
}

// factorisedLabels calibrates the factorised posterior of labels.
func factorisedLabels(ctx context.Context, src special.Rand) ([]quantity, error) {
	p, t := newLabels(src, func() process { return newScaled(src) })
	fit, err := mgp.Model{Prior: factorisedScale, HeldPrior: mgp.HeldPrior{}.All(), Workers: 1}.FitLabels(ctx, p.training(), t)
	if err != nil {
		return nil, err
	}
	q, err := fit.Posterior.Predict(p.fresh(), p.self(), vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	return p.ahead(q)[:1], nil
}

// uncertain is a process whose scales are drawn from the priors that draws of the scales have for targets of mean
// square 1: see [newUncertain].
type uncertain struct {
	process
	weight []float64
	noise  float64
	width  float64 // of the first kernel
}

// widthSD is the standard deviation of the logarithm of the first kernel's width.
const widthSD = 0.5

// spread returns s_p of kernel p, the variance over the samples that functions of that kernel have.
func (p points) spread(kernel int) float64 {
	var trace, sum float64
	for i := range p.n {
		trace += p.value(kernel, i, i)
		for j := range p.n {
			sum += p.value(kernel, i, j)
		}
	}
	n := float64(p.n)
	return trace/n - sum/n/n
}

// newUncertain draws until the mean square of the targets is nearly 1: the posterior does not depend on that, and a fit takes
// its priors in units of the mean square.
func newUncertain(src special.Rand) uncertain {
	for {
		u := uncertain{width: math.Exp(widthSD * src.NormFloat64()), noise: 0.1 * math.Exp(2*src.NormFloat64())}
		u.points = newPoints(src, 10, 2, u.width, math.Inf(1))
		for p := range u.points.width {
			u.weight = append(u.weight, gamma(src, vi.Gamma{Shape: 1, Scale: 1})/u.spread(p))
		}
		u.f = u.function(src, u.weight)
		for _, f := range u.f {
			u.y = append(u.y, f+math.Sqrt(u.noise)*src.NormFloat64())
		}
		if v := la.SumSq(u.y[:u.n]) / float64(u.n); math.Abs(v-1) < 0.1 {
			return u
		}
	}
}

// logWeight returns the logarithm of the prior for targets of mean square 1 over the prior that the fit used.
func (u uncertain) logWeight(weight []float64, noise float64) (l float64) {
	v := la.SumSq(u.y[:u.n]) / float64(u.n)
	for p, a := range weight {
		share := a * u.spread(p)
		l += share/v - share
	}
	d, e := math.Log(noise/0.1)/2, math.Log(noise/0.1/v)/2
	return l - d*d/2 + e*e/2
}

// logEvidence returns log N(y; 0, Σ a_p·K_p + σ²·I) at the training samples, up to a constant.
func (u uncertain) logEvidence(weight []float64, noise, width float64) float64 {
	at := u.points
	at.width = []float64{width, at.width[1]}
	k := la.NewMatrix[float64](u.n, u.n)
	for i := range u.n {
		for j := range i + 1 {
			k.Set(i, j, weight[0]*at.value(0, i, j)+weight[1]*at.value(1, i, j))
		}
		k.Set(i, i, k.At(i, i)+noise)
	}
	if err := la.Cholesky(nil, k); err != nil {
		return math.Inf(-1)
	}
	alpha := append([]float64(nil), u.y[:u.n]...)
	la.Trsv(la.NoTrans, k, alpha)
	return -la.SumSq(alpha)/2 - la.LogDet(k)/2
}

// adaptive are the kernels of an uncertain process, whose first width is learned.
type adaptive struct {
	*vi.Dense
	points
}

func (a *adaptive) Parameters() []mgp.ParameterPrior { return []mgp.ParameterPrior{{Scale: widthSD}} }

func (a *adaptive) SetParameters(_ *la.Workspace, theta []float64) {
	a.points.width = []float64{math.Exp(theta[0]), a.points.width[1]}
	k := a.At(0)
	for i := range k.Rows {
		for j := range k.Cols {
			k.Set(i, j, a.value(0, i, j))
		}
	}
}

// slope is the derivative of the first kernel by the logarithm of its width.
func (a *adaptive) slope(i, j int) float64 {
	if i == j {
		return 0
	}
	k := a.value(0, i, j)
	return -2 * math.Log(k) * k
}

func (a *adaptive) Slope(_ *la.Workspace, weights []float64, g la.Matrix[float64], dst []float64) {
	dst[0] = 0
	for i := range a.n {
		for j := range a.n {
			dst[0] += weights[0] * g.At(max(i, j), min(i, j)) * a.slope(i, j)
		}
	}
}

func (a *adaptive) SlopeProducts(_ *la.Workspace, weights, v []float64, dst la.Matrix[float64]) {
	clear(dst.Row(0))
	for i := range a.n {
		for j := range a.n {
			dst.Row(0)[i] += weights[0] * a.slope(i, j) * v[j]
		}
	}
}

// evidenceDraws calibrates draws of the scales, the noise and the parameter of a kernel. The draws have weights, which
// are nearly equal, as the priors of a fit are in units of the targets' mean square.
func evidenceDraws(ctx context.Context, src special.Rand) ([]quantity, error) {
	const draws, thin = 60, 12
	u := newUncertain(src)
	fit, err := u.fit(ctx, draws*thin, src.Uint64())
	if err != nil {
		return nil, err
	}
	names := []string{"amplitude", "noise", "width", "function", "log evidence"}
	truth := []float64{u.weight[0], u.noise, u.width, u.f[u.n], u.logEvidence(u.weight, u.noise, u.width)}
	values, logWeights := make([][]float64, len(names)), []float64{}
	for i := thin - 1; i < len(fit.Draws); i += thin {
		d := fit.Draws[i]
		s := d.Posterior.State()
		weight, noise, width := []float64{1 / s.Gamma[0], 1 / s.Gamma[1]}, 1/s.Tau, math.Exp(d.Parameters[0])
		at := u.points
		at.width = []float64{width, at.width[1]}
		q, err := d.Posterior.Predict(at.fresh(), at.self(), vi.PredictOptions{})
		if err != nil {
			return nil, err
		}
		f := q.Mean[0] + math.Sqrt(max(0, q.Function[0]))*src.NormFloat64()
		for i, v := range []float64{weight[0], noise, width, f, u.logEvidence(weight, noise, width)} {
			values[i] = append(values[i], v)
		}
		logWeights = append(logWeights, u.logWeight(weight, noise))
	}
	var out []quantity
	for i, name := range names {
		less, sum := 0.0, math.Exp(u.logWeight(u.weight, u.noise)) // the truth's own
		own := sum
		for j, v := range values[i] {
			w := math.Exp(logWeights[j])
			sum += w
			if v < truth[i] {
				less += w
			}
		}
		out = append(out, quantity{name: name, place: (less + src.Float64()*own) / sum})
	}
	return out, nil
}

// fit fits to the targets, with draws or at the mode.
func (u uncertain) fit(ctx context.Context, draws int, seed uint64) (*mgp.Fit, error) {
	k := &adaptive{Dense: u.training(), points: u.points}
	k.SetParameters(nil, []float64{0})
	return mgp.Evidence{Draws: draws, Seed: seed, Workers: 1}.Fit(ctx, k, u.y[:u.n])
}

// evidenceMode calibrates predictions at the most probable scales, beside draws.
func evidenceMode(ctx context.Context, src special.Rand) ([]quantity, error) {
	u := newUncertain(src)
	fit, err := u.fit(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	at := u.points
	at.width = []float64{math.Exp(fit.Parameters[0]), at.width[1]}
	q, err := fit.Posterior.Predict(at.fresh(), at.self(), vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	return u.ahead(q), nil
}
