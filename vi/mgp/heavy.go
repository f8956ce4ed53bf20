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
)

// Noise with heavy tails: a Student-t density of scale σ and ν degrees of freedom, a
// mixture of normal ones,
//
//	y_n ~ N(f_n, σ²/w_n),   w_n ~ Gamma(ν/2, ν/2),   f ~ N(0, K),   K = Σ a_p·K_p.
//
// With q(f)·q(w), q(f) = N(m, V) and e_n = (y_n − m_n)² + V_nn, the best q(w) leaves
//
//	L = Σ log t_ν(√e_n | σ) − KL(q(f) ‖ N(0, K)),
//
// a lower bound on the evidence. At its maximum q(f) is made of sites,
//
//	λ_n = E[w_n]/σ² = (ν + 1)/(ν·σ² + e_n),   ν_n = λ_n·y_n,
//
// where λ_n is small for a sample far from the function. Setting all sites to these never lowers L.
// L is climbed in log a_p, the kernels' parameters, log σ² and log(ν − 2) by exact gradients.
//
// Source: M. E. Tipping and N. D. Lawrence, "Variational inference for Student-t models",
// Neurocomputing 69 (2005); M. Kuss, "Gaussian process models for robust regression,
// classification, and reinforcement learning", 2006; docs/theory/heavy-noise.md derives what is
// computed.

// firstFreedom is the ν to start from, and log(ν − 2) has a normal prior about there of
// the deviation noiseSpread: half of it has ν between 3 and 17. There is no ν below 2,
// so that the variance of a prediction exists.
const firstFreedom = 6

// FitHeavy fits to N targets given square kernels, with noise of a Student-t density. The prior of
// γ must be [FamilyDefault]. LogEvidence is the lower bound. It returns the same errors as Fit.
func (e Evidence) FitHeavy(ctx context.Context, k vi.Kernels, y []float64) (*Fit, error) {
	if e.Family != FamilyDefault {
		return nil, fmt.Errorf("vi: noise with heavy tails takes the default prior, and Family is %v", e.Family)
	}
	if e.Known != nil {
		return nil, errors.New("vi: Known: noise with heavy tails takes weights that are learned")
	}
	if e.KnownNoise != 0 {
		return nil, errors.New("vi: KnownNoise: noise with heavy tails is learned")
	}
	m, x, err := e.heavy(ctx, k, y)
	if err != nil {
		return nil, err
	}
	rec := vi.Record{Reason: vi.MaxSweeps}
	settings := e.settings(float64(m.N), &rec)
	settings.Precondition = m.info.precondition
	r, stop := minimize(x, m.cost, settings, &rec, e.Ascent.Journal.Next(), m.snapshot)
	if len(rec.Trace) == 0 {
		return nil, cmp.Or(stop, errUnknown)
	}
	fit, err := m.finish(r.X, rec)
	return fit, errors.Join(stop, err)
}

// heavy is the objective. Its variables are log a_p, the kernels' parameters, the
// logarithm of σ² above its least value, and log(ν − 2).
type heavy struct {
	*evidence
	fixed   bool    // log a_p and the kernels' parameters stay
	scale   float64 // σ²
	freedom float64 // ν
}

// heavy checks the arguments and returns the objective and its start.
func (e Evidence) heavy(ctx context.Context, k vi.Kernels, y []float64) (*heavy, []float64, error) {
	f, x, err := e.objective(ctx, k, y, false)
	if err != nil {
		return nil, nil, err
	}
	m := &heavy{evidence: f}
	f.final = noiseTolerance
	freedom := float64(firstFreedom)
	if e.Start != nil {
		m.fixed = e.Start.Keep
		if v := e.Start.Freedom; v != 0 {
			if !(v > 2) || math.IsInf(v, 1) {
				return nil, nil, fmt.Errorf("vi: Start.Freedom is %g: it must be above 2", v)
			}
			freedom = v
		}
	}
	// A variance for all samples becomes the scale of a density with that variance.
	x[len(x)-1] += special.Log1p(-2 / freedom)
	x = append(x, special.Log(freedom-2))
	f.sites = newSites(&f.ws, f.N)
	f.sites.k, f.sites.l = f.sum, f.factor
	f.info = newInformation(len(x), f.N)
	m.set(x)
	m.begin()
	m.keep()
	return m, x, nil
}

// set takes σ² and ν from x.
func (m *heavy) set(x []float64) {
	last := len(x) - 1
	m.scale, m.freedom = float64(leastShare*m.power)+special.Exp(x[last-1]), 2+special.Exp(x[last])
}

// begin sets the sites that normal noise of the same variance has.
func (m *heavy) begin() {
	prec := (m.freedom - 2) / (m.freedom * m.scale)
	for n, v := range m.y {
		p := prec / m.shareOf(n)
		m.sites.prec[n], m.sites.nu[n] = p, p*v
	}
}

// functions finds q(f) at x and returns the bound. The lower triangle of factor is then
// the Cholesky factor of B.
func (m *heavy) functions(x []float64) (float64, error) {
	m.compose(x)
	m.set(x)
	return m.findSites(m.begin, func() (float64, error) { return m.sites.climb(m.tol, m) })
}

// expect implements [bounded] by Σ log t_ν(√e_n | σ).
func (m *heavy) expect(s *sites, slope, curvature []float64) (value float64, err error) {
	for n, v := range m.y {
		miss := v - s.mean[n]
		square := float64(miss*miss) + s.variance[n]
		scale := float64(m.scale * m.shareOf(n))
		curvature[n] = (m.freedom + 1) / (float64(m.freedom*scale) + square)
		slope[n] = curvature[n] * miss
		value -= float64(0.5 * (m.freedom + 1) * special.Log1p(square/(m.freedom*scale)))
	}
	return value + float64(float64(m.N)*m.height()), nil
}

// height returns log t_ν(0 | σ). With weights it is the mean over the samples, since their shares have the geometric mean 1.
func (m *heavy) height() float64 {
	return special.LogGammaRise(0.5*m.freedom, 0.5) - float64(0.5*special.Log(math.Pi*m.freedom*m.scale))
}

// shapeSlopes returns the derivatives of Σ log t_ν(√e_n | σ) by log σ² and log(ν − 2),
// and minus the second one by log(ν − 2), at constant e_n. With s = e/(νσ²) the terms that
// depend on a sample are −½(ν + 1)·log(1 + s), and ∂s/∂ν = −s/ν.
func (m *heavy) shapeSlopes() (scale, freedom, curvature float64) {
	v, n := m.freedom, float64(m.N)
	first := 0.5 * n * (special.Digamma(0.5*(v+1)) - special.Digamma(0.5*v) - 1/v)
	second := float64(0.25*n*(special.Trigamma(0.5*(v+1))-special.Trigamma(0.5*v))) + 0.5*n/(v*v)
	scale = -0.5 * n
	for i, y := range m.y {
		miss := y - m.sites.mean[i]
		s := (float64(miss*miss) + m.sites.variance[i]) / (v * m.scale * m.shareOf(i))
		share := s / (1 + s)
		scale += float64(0.5 * (v + 1) * share)
		first += float64(0.5 * (float64((v+1)/v*share) - special.Log1p(s)))
		second += float64(0.5 * share / (v * v) * (float64((v+1)*share) - 2))
	}
	up := v - 2 // dν/d log(ν − 2)
	return scale, up * first, -float64(up*first) - float64(up*up*second)
}

// cost is minus the objective and its gradient, +Inf where a matrix is singular in
// double precision or the sites are not found.
func (m *heavy) cost(x, g []float64) (float64, error) {
	if m.ctx.Err() != nil {
		return 0, fmt.Errorf("vi: stopped: %w", context.Cause(m.ctx))
	}
	value, err := m.functions(x)
	if err != nil {
		return math.Inf(1), nil
	}
	m.measure(x)
	at := m.P + len(m.priors)
	scale, freedom, curvature := m.shapeSlopes()
	m.info.average.Set(at+1, at+1, max(0, curvature))
	for i, v := range []struct{ slope, first float64 }{
		{scale * special.Exp(x[at]) / m.scale, special.Log(firstNoise * m.power)},
		{freedom, special.Log(firstFreedom - 2)},
	} {
		density, slope := normalPrior(x[at+i], v.first, noiseSpread)
		value += density
		g[at+i] = -slope - v.slope
	}
	if m.fixed {
		clear(g[:at])
		for i := at; i < len(x); i++ {
			clear(m.info.average.Row(i)[:at])
		}
	} else {
		m.precision(nil)
		value += m.amplitudeSlopes(x, g)
		if m.kernels != nil {
			value += m.parameterSlopes(x, g)
		}
	}
	m.curve(x, g)
	return m.noted(-value), nil
}

// finish computes q(f) at x and returns the fit.
func (m *heavy) finish(x []float64, rec vi.Record) (*Fit, error) {
	bound, err := m.last(x, m.functions)
	if err != nil {
		return nil, err
	}
	noise := m.scale * m.freedom / (m.freedom - 2)
	s := State{
		Family: m.family, Prior: m.prior, Tau: 1 / m.ofOne(noise), Freedom: m.freedom,
		Alpha: slices.Clone(m.alpha), Factor: lowerOf(m.factor), Sites: slices.Clone(m.sites.prec),
	}
	fit := &Fit{
		Record: rec, LogEvidence: bound, LeaveOneOut: m.leaveOneOut(noise),
		Parameters: slices.Clone(x[m.P : m.P+len(m.priors)]),
	}
	fit.Collapsed = la.SumSq(m.sites.mean) < 1e-3*m.scale*float64(m.N)
	m.precision(m.quad)
	for _, a := range m.weight {
		s.Gamma = append(s.Gamma, 1/a)
	}
	s.Scales, _ = m.scales()
	fit.Posterior, err = NewPosterior(s)
	return fit, err
}

// leaveOneOut returns the prediction of every sample from all others: the cavity of its
// site, and noise of the given variance.
func (m *heavy) leaveOneOut(noise float64) *LeaveOneOut {
	out := &LeaveOneOut{Mean: slices.Clone(m.sites.cavityMean)}
	for n, v := range m.sites.cavityVar {
		out.Variance = append(out.Variance, v+float64(noise*m.shareOf(n)))
		out.LogProbability = append(out.LogProbability, logHeavyDensity(m.y[n]-m.sites.cavityMean[n], v, m.scale*m.shareOf(n), m.freedom))
	}
	return out
}

// LogTargetDensity returns the log density of a target that is so far from the predicted mean, if the target has the given predicted variance, noise
// included. The noise is normal or has heavy tails, as in the fit; it does not vary.
func (p *Posterior) LogTargetDensity(distance, variance float64) float64 {
	noise := 1 / p.s.Tau
	if v := p.s.Freedom; v != 0 {
		return logHeavyDensity(distance, max(0, variance-noise), noise*(v-2)/v, v)
	}
	return float64(-0.5 * (float64(distance*distance)/variance + special.Log(2*math.Pi*variance)))
}

// logHeavyDensity returns log E[N(d | 0, v + scale/w)], w ~ Gamma(ν/2, ν/2), the density
// of a normal value of variance v and noise, by the trapezoidal rule in u = log w. The
// integrand is analytic for |Im u| < π/2, where the integral of its absolute value grows
// like cos(Im u)^(−ν/2), and nearly a Gaussian of the variance 2/ν where ν is large.
// The step is less than either alone would need.
func logHeavyDensity(d, v, scale, freedom float64) float64 {
	const (
		strip = math.Pi / 2
		digit = 36.0 // −log of the error
	)
	half := 0.5 * freedom
	step := 1 / (digit/(2*math.Pi*strip) + math.Sqrt(0.5*digit*half)/math.Pi)
	lg := special.LogGamma(half)
	at := func(u float64) float64 {
		w := special.Exp(u)
		total := v + scale/w
		return float64(half*(special.Log(half)+u-w)) - lg - float64(0.5*(d*d/total+special.Log(2*math.Pi*total)))
	}
	// The mode lies between the mode of the noise alone and the mode of its prior.
	low := special.Log((freedom + 1) / (freedom + d*d/scale))
	top, sum := math.Inf(-1), 0.0
	add := func(log float64) {
		if log > top {
			sum *= special.Exp(top - log)
			top = log
		}
		sum += special.Exp(log - top)
	}
	first := math.Floor(low / step)
	for k := first; ; k++ {
		log := at(k * step)
		add(log)
		if !(k*step <= 0 || log >= top-digit) {
			break
		}
	}
	for k := first - 1; ; k-- {
		log := at(k * step)
		add(log)
		if !(log >= top-digit) {
			break
		}
	}
	return top + special.Log(sum*step)
}
