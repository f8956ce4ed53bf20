package mgp

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// bellsOf returns the kernel of the points x with the points z.
func bellsOf(x, z []float64) la.Matrix[float64] {
	k := la.NewMatrix[float64](len(x), len(z))
	for i, a := range x {
		for j, b := range z {
			k.Set(i, j, math.Exp(-0.5*(a-b)*(a-b)))
		}
	}
	return k
}

// fitSome fits counts of the first samples and extends the fit to all.
func fitSome(t *testing.T, x, y []float64, few int) (part, whole *Fit) {
	rows := make([]int, few)
	for i := range rows {
		rows[i] = i
	}
	c := Counts{Y: y, Dispersed: true}
	k, err := vi.NewDense(bellsOf(x[:few], x[:few]))
	require.NoError(t, err)
	part, err = Evidence{}.FitLikelihood(context.Background(), k, c.Some(rows))
	require.NoError(t, err)
	scale := 1 / part.Posterior.State().Gamma[0]
	e := Extension{Likelihood: c, Among: bellsOf(x[:few], x[:few]), Cross: bellsOf(x, x[:few]), Self: make([]float64, len(x))}
	la.Scal(scale, e.Among.Data)
	la.Scal(scale, e.Cross.Data)
	for i := range e.Self {
		e.Self[i] = scale
	}
	last := math.NaN()
	e.Progress = func(p vi.Progress) {
		if p.Sweep == 1 {
			assert.True(t, math.IsNaN(p.Rise))
		} else {
			assert.Equal(t, p.Bound-last, p.Rise, "sweep %d", p.Sweep)
		}
		last = p.Bound
	}
	whole, err = part.Posterior.Extend(context.Background(), e, 1)
	require.NoError(t, err)
	assert.Equal(t, last, whole.LogEvidence)
	return part, whole
}

func waveCounts(n int) (x, y []float64) {
	r := rand.New(rand.NewPCG(3, 1))
	for range n {
		x = append(x, 6*r.Float64()-3)
	}
	for _, v := range x {
		mu := math.Exp(0.5 + math.Sin(2*v))
		k, p := 0.0, r.Float64()
		for q := math.Exp(-mu); p > q && k < 100; q *= mu / k {
			p -= q
			k++
		}
		y = append(y, k)
	}
	return x, y
}

// The bends are the second differences of the evidence of grades, but for what the variances of the cavities change.
func TestExtensionBends(t *testing.T) {
	for _, few := range []int{2, 4, 12} {
		testBends(t, few)
	}
}

func testBends(t *testing.T, few int) {
	const n, grades = 120, 4
	r := rand.New(rand.NewPCG(4, 2))
	x, y := make([]float64, n), make([]int, n)
	for i := range x {
		x[i] = 6*r.Float64() - 3
		y[i] = int(max(0, min(grades-1, math.Floor(2+1.5*math.Sin(2*x[i])+r.NormFloat64()))))
	}
	all := Ordinal{y, grades}
	k, err := vi.NewDense(bellsOf(x[:few], x[:few]))
	require.NoError(t, err)
	part, err := Evidence{}.FitLikelihood(t.Context(), k, Ordinal{y[:few], grades})
	require.NoError(t, err)
	extended := func(shape []float64, sweeps int) (e *extension, logZ float64) {
		p, err := NewPosterior(part.Posterior.State())
		require.NoError(t, err)
		p.s.Shape = shape
		e, err = p.newExtension(t.Context(), Extension{Likelihood: all, Among: bellsOf(x[:few], x[:few]), Cross: bellsOf(x, x[:few]), Self: slices.Repeat([]float64{1}, n)}, 1)
		require.NoError(t, err)
		for range sweeps { // of sites, with the parameters as they are
			require.NoError(t, e.posterior())
			logZ = 0.5 * (e.fit - e.logDet)
			for i := range n {
				m, v, lambda, nu := e.cavityMean[i], e.cavityVar[i], e.prec[i], e.nu[i]
				u := e.like.tilt(i, m, v)
				logZ += u.logZ + 0.5*math.Log(1+lambda*v) - 0.5*(2*m*nu+v*nu*nu-lambda*m*m)/(1+lambda*v)
				logZ += 0.5 * (e.residual[i]*nu*nu/e.spread(i) - math.Log(e.spread(i)))
				e.prec[i], e.nu[i] = u.precision, u.shift
			}
		}
		return e, logZ
	}
	const h = 0.02
	at := []float64{0.3, -0.2, 0.1}
	moved := func(i, j int, a, b float64) float64 {
		shape := slices.Clone(at)
		shape[i] += a
		shape[j] += b
		_, logZ := extended(shape, 60)
		return logZ
	}
	e, _ := extended(at, 60)
	slopes, scores := e.scores()
	bends := e.bends(scores)
	for i := range at {
		assert.InEpsilon(t, (moved(i, i, h, 0)-moved(i, i, -h, 0))/(2*h), slopes[i], 0.01, "slope %d", i)
		for j := range i + 1 {
			want := -(moved(i, j, h, h) - moved(i, j, h, -h) - moved(i, j, -h, h) + moved(i, j, -h, -h)) / (4 * h * h)
			assert.InDelta(t, want, bends.At(i, j), 0.1*math.Sqrt(bends.At(i, i)*bends.At(j, j)), "bend %d, %d", i, j)
		}
	}
}

// Where the bends have no maximum, the step still goes uphill.
func TestUphill(t *testing.T) {
	x := &extension{}
	gradient, b := []float64{2, 3}, la.NewMatrix[float64](2, 2)
	b.Set(0, 0, 4)
	b.Set(1, 1, -1)
	factor, ok := x.uphill(slopes{gradient, b})
	require.True(t, ok)
	step, _ := newton(factor, gradient)
	assert.Positive(t, step[0])
	assert.Positive(t, step[1])
	b.Set(1, 1, 1)
	factor, ok = x.uphill(slopes{gradient, b})
	require.True(t, ok)
	step, rise := newton(factor, gradient)
	assert.InDeltaSlice(t, []float64{0.5, 3}, step, 1e-12)
	assert.InDelta(t, 10, rise, 1e-12)
}

// A step is shortened where the last one met twice the curvature that was foretold, and where a parameter would move far.
func TestShorten(t *testing.T) {
	b := la.NewMatrix[float64](2, 2)
	b.Set(0, 0, 4)
	b.Set(1, 1, 1)
	x := &extension{}
	now := slopes{[]float64{0, 1}, b}
	assert.Equal(t, 1.0, x.shorten(now, []float64{7, 0.25}))
	assert.Equal(t, 0.25, x.shorten(now, []float64{7, -2}))
	x.taken, x.from = []float64{0, 0.5}, slopes{[]float64{0, 2}, b}
	assert.Equal(t, 0.5, x.shorten(now, []float64{7, 0.25}))
	x.from.gradient[1] = 1.1
	assert.Equal(t, 1.0, x.shorten(now, []float64{7, 0.25}))
}

// An extension to the same samples is the fit itself.
func TestExtendToItself(t *testing.T) {
	x, y := waveCounts(60)
	part, whole := fitSome(t, x, y, 60)
	assert.Equal(t, vi.Converged, whole.Record.Reason)
	assert.Equal(t, slices.Repeat([]float64{-1}, len(whole.Record.Trace)), whole.Record.Changes, "they are not known")
	a, b := part.Posterior.State(), whole.Posterior.State()
	assert.InDelta(t, part.LogEvidence, whole.LogEvidence, 0.02)
	assert.InDelta(t, a.Shape[0], b.Shape[0], 0.05)
	assert.InDelta(t, a.Shape[1], b.Shape[1], 0.2)
	at := []float64{-4, -2, -0.3, 0, 1.7, 9}
	k, err := vi.NewDense(bellsOf(x, at))
	require.NoError(t, err)
	self := la.NewMatrix[float64](1, len(at))
	self.Fill(1)
	p, err := part.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	q, err := whole.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	for i := range at {
		assert.InDelta(t, p.Mean[i], q.Mean[i], 0.02, "%g", at[i])
		assert.InEpsilon(t, p.Function[i], q.Function[i], 0.02, "%g", at[i])
	}
}

// An extension is expectation propagation under the prior Q + diag(K − Q), Q = K_nm·K_mm⁻¹·K_mn, computed with N×N matrices.
func TestExtendIsFITC(t *testing.T) {
	for _, few := range []int{4, 12} { // with few landmarks much of the variance is left beside them
		testFITC(t, few)
	}
}

func testFITC(t *testing.T, few int) {
	const n = 150
	x, y := waveCounts(n)
	_, whole := fitSome(t, x, y, few)
	state := whole.Posterior.State()
	scale := 1 / state.Gamma[0]

	among := bellsOf(x[:few], x[:few])
	la.Scal(scale, among.Data)
	for i := range few {
		among.Set(i, i, among.At(i, i)*(1+firstNugget))
	}
	require.NoError(t, la.Cholesky(nil, among))
	v := bellsOf(x, x[:few])
	la.Scal(scale, v.Data)
	la.Trsm(nil, la.Right, la.Transpose, among, v)
	prior := la.NewMatrix[float64](n, n)
	la.Syrk(nil, la.NoTrans, 1, v, 0, prior)
	for i := range n {
		prior.Set(i, i, scale)
	}
	s := newSites(&la.Workspace{}, n)
	s.k, s.l = prior, la.NewMatrix[float64](n, n)
	l := &likelihood{Likelihood: Counts{Y: y, Dispersed: true}}
	l.at(state.Shape)
	s.start(l, prior)
	logZ, err := s.propagate(l, 1e-8)
	require.NoError(t, err)
	assert.InDelta(t, logZ, whole.LogEvidence, 1e-3)
	assert.InDeltaSlice(t, l.leaveOneOut(s), whole.LeaveOneOut.LogProbability, 2e-3)

	// u at the landmarks given the posterior of f: the function there, by way of the samples.
	at := []float64{-2.5, -1, 0, 0.4, 2}
	k, err := vi.NewDense(bellsOf(x[:few], at))
	require.NoError(t, err)
	self := la.NewMatrix[float64](1, len(at))
	self.Fill(1)
	p, err := whole.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	z := bellsOf(at, x[:few])
	la.Scal(scale, z.Data)
	la.Trsm(nil, la.Right, la.Transpose, among, z)
	r := s.precision()
	for i := range at {
		k := make([]float64, n) // Q of the point with the samples
		la.Gemv(nil, la.NoTrans, 1, v, z.Row(i), 0, k)
		mean, variance := state.Shape[0]+la.Dot(k, s.alpha), scale
		for a := range n {
			for b := range n {
				variance -= k[a] * k[b] * r.At(max(a, b), min(a, b))
			}
		}
		assert.InDelta(t, mean, p.Mean[i], 2e-3, "%g", at[i])
		assert.InEpsilon(t, variance, p.Function[i], 5e-3, "%g", at[i])
	}
}

// A time so late that its square overflows leaves no evidence, which is an error.
func TestExtensionWithoutEvidence(t *testing.T) {
	x, times := []float64{-1, 0, 1, 2, 3}, []float64{0, 1, 0.5, -0.3, 1e200}
	all := Censored{Lower: times, Upper: times, Law: LogNormal}
	k, err := vi.NewDense(bellsOf(x[:4], x[:4]))
	require.NoError(t, err)
	part, err := Evidence{}.FitLikelihood(t.Context(), k, all.Some([]int{0, 1, 2, 3}))
	require.NoError(t, err)
	e := Extension{Likelihood: all, Among: bellsOf(x[:4], x[:4]), Cross: bellsOf(x, x[:4]), Self: slices.Repeat([]float64{1}, 5)}
	_, err = part.Posterior.Extend(t.Context(), e, 1)
	assert.EqualError(t, err, "vi: Extend: the log evidence is NaN")
}

// rareEvents are n logarithms of times in units as mkl makes them. Five of them are known, the first of the samples. The others are
// only known to be later.
func rareEvents(seed uint64, n int) (x []float64, c Censored) {
	r := rand.New(rand.NewPCG(seed, 31))
	type sample struct{ x, y float64 }
	all := make([]sample, n)
	for i := range all {
		at := 6*r.Float64() - 3
		all[i] = sample{at, math.Sin(2*at) + 0.6*math.Log(r.ExpFloat64())}
	}
	slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(a.y, b.y) })
	const events = 5
	var sum, square float64
	for _, s := range all {
		y := min(s.y, all[events].y)
		c.Lower, c.Upper = append(c.Lower, y), append(c.Upper, math.Inf(1))
		x = append(x, s.x)
		sum += y
		square += y * y
	}
	mean := sum / float64(n)
	sd := math.Sqrt(square/float64(n) - mean*mean)
	for i := range n {
		c.Lower[i] = (c.Lower[i] - mean) / sd
		if i < events {
			c.Upper[i] = c.Lower[i]
		}
	}
	return x, c
}

// Fits to few events end at the highest evidence, by expectation propagation with N×N matrices.
func TestExtensionOfRareEvents(t *testing.T) {
	const n, few = 300, 25
	for seed := range uint64(3) {
		for _, law := range []Law{LogNormal, Weibull} {
			x, c := rareEvents(seed, n)
			c.Law = law
			k, err := vi.NewDense(bellsOf(x[:few], x[:few]))
			require.NoError(t, err)
			part, err := Evidence{}.FitLikelihood(t.Context(), k, Censored{c.Lower[:few], c.Upper[:few], law})
			require.NoError(t, err)
			scale := 1 / part.Posterior.State().Gamma[0]
			e := Extension{Likelihood: c, Among: bellsOf(x[:few], x[:few]), Cross: bellsOf(x, x[:few]), Self: slices.Repeat([]float64{scale}, n)}
			la.Scal(scale, e.Among.Data)
			la.Scal(scale, e.Cross.Data)
			among, v := e.Among.Clone(), e.Cross.Clone()
			whole, err := part.Posterior.Extend(t.Context(), e, 1)
			require.NoError(t, err)
			require.Equal(t, vi.Converged, whole.Record.Reason, "%v, seed %d", law, seed)

			for i := range few {
				among.Set(i, i, among.At(i, i)*(1+firstNugget))
			}
			require.NoError(t, la.Cholesky(nil, among))
			la.Trsm(nil, la.Right, la.Transpose, among, v)
			prior := la.NewMatrix[float64](n, n)
			la.Syrk(nil, la.NoTrans, 1, v, 0, prior)
			for i := range n {
				prior.Set(i, i, scale)
			}
			mean, sd := c.prior()
			evidence := func(shape []float64) (logZ, density float64) {
				s := newSites(&la.Workspace{}, n)
				s.k, s.l = prior, la.NewMatrix[float64](n, n)
				l := &likelihood{Likelihood: c}
				l.at(shape)
				s.start(l, prior)
				logZ, err := s.propagate(l, 1e-8)
				require.NoError(t, err)
				density = logZ
				for i, v := range shape {
					density -= 0.5 * (v - mean[i]) * (v - mean[i]) / (sd[i] * sd[i])
				}
				return logZ, density
			}
			at := whole.Posterior.State().Shape
			logZ, best := evidence(at)
			assert.InDelta(t, logZ, whole.LogEvidence, 1e-3)
			for i, h := range []float64{0.3, 0.1} {
				for _, way := range []float64{-h, h} {
					near := slices.Clone(at)
					near[i] += way
					_, other := evidence(near)
					assert.Less(t, other, best+enoughRise, "%v, seed %d, parameter %d by %g", law, seed, i, way)
				}
			}
		}
	}
}

// Where the function is one number, the evidence of few events is an integral over it.
func TestExtensionOfRareEventsByAnIntegral(t *testing.T) {
	const n, few = 300, 25
	for _, law := range []Law{LogNormal, Weibull} {
		_, c := rareEvents(7, n)
		c.Law = law
		same := func(n int) la.Matrix[float64] {
			m := la.NewMatrix[float64](n, few)
			m.Fill(1)
			return m
		}
		k, err := vi.NewDense(same(few))
		require.NoError(t, err)
		part, err := Evidence{}.FitLikelihood(t.Context(), k, Censored{c.Lower[:few], c.Upper[:few], law})
		require.NoError(t, err)
		scale := 1 / part.Posterior.State().Gamma[0]
		e := Extension{Likelihood: c, Among: same(few), Cross: same(n), Self: slices.Repeat([]float64{scale}, n)}
		la.Scal(scale, e.Among.Data)
		la.Scal(scale, e.Cross.Data)
		whole, err := part.Posterior.Extend(t.Context(), e, 1)
		require.NoError(t, err)
		require.Equal(t, vi.Converged, whole.Record.Reason, law)
		shape := whole.Posterior.State().Shape
		sigma, sum := math.Exp(0.5*shape[1]), 0.0
		const steps, h = 4000, 1e-2 // of standard deviations of the prior
		for i := -steps; i <= steps; i++ {
			z := h * float64(i)
			log := -0.5 * z * z
			for j := range n {
				w := (c.Lower[j] - shape[0] - z*math.Sqrt(scale)) / sigma
				switch event := c.Upper[j] == c.Lower[j]; {
				case law == Weibull && event:
					log += w - math.Exp(w) - math.Log(sigma)
				case law == Weibull:
					log -= math.Exp(w)
				case event:
					log -= 0.5*w*w + math.Log(sigma) + 0.5*math.Log(2*math.Pi)
				default:
					log += math.Log(0.5 * math.Erfc(w/math.Sqrt2))
				}
			}
			sum += math.Exp(log + 100)
		}
		assert.InDelta(t, math.Log(sum*h/math.Sqrt(2*math.Pi))-100, whole.LogEvidence, 0.02, law)
	}
}
