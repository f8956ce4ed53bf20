package mgp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// uneven returns n samples of sin(3x), x in [−1, 1], whose noise has the standard
// deviation exp(−2 + 1.5·x), and three kernels: constant, wide and narrow.
func uneven(t *testing.T, n int, seed uint64) (x, y []float64, k *vi.Dense) {
	src := rand.New(rand.NewPCG(seed, 2))
	for range n {
		v := 2*src.Float64() - 1
		x = append(x, v)
		y = append(y, math.Sin(3*v)+unevenSD(v)*src.NormFloat64())
	}
	return x, y, onLine(t, x, x)
}

func unevenSD(x float64) float64 { return math.Exp(-2 + 1.5*x) }

// onLine returns the kernels of the points x with the points z.
func onLine(t *testing.T, x, z []float64) *vi.Dense {
	ks := []la.Matrix[float64]{la.NewMatrix[float64](len(x), len(z)), la.NewMatrix[float64](len(x), len(z)), la.NewMatrix[float64](len(x), len(z))}
	for i, a := range x {
		for j, b := range z {
			d := (a - b) * (a - b)
			ks[0].Set(i, j, 1)
			ks[1].Set(i, j, math.Exp(-0.5*d/0.5))
			ks[2].Set(i, j, math.Exp(-0.5*d/0.01))
		}
	}
	k, err := vi.NewDense(ks...)
	require.NoError(t, err)
	return k
}

// unevenSelf returns the kernels of n points with themselves.
func unevenSelf(n int) la.Matrix[float64] {
	self := la.NewMatrix[float64](3, n)
	self.Fill(1)
	return self
}

func TestVaryingGradient(t *testing.T) {
	x, y, _ := toy(1)
	m, at, err := Evidence{Start: &EvidenceStart{Noise: 0.05}}.varying(context.Background(), newScaled(t, x), y)
	require.NoError(t, err)
	m.h.tol = 1e-11
	checkSlopes(t, m.cost, at, 0.3)
}

// smallVarying returns the objective of 8 samples at scales that leave much to the
// posterior, with the bound there.
func smallVarying(t *testing.T) (m *varying, bound float64) {
	_, y, k := uneven(t, 8, 5)
	m, at, err := Evidence{Start: &EvidenceStart{Gamma: []float64{2, 1, 20}, Noise: 0.05, NoiseGamma: []float64{2, 1, 5}}}.varying(context.Background(), k, y)
	require.NoError(t, err)
	m.h.tol = 1e-10
	bound, err = m.functions(at)
	require.NoError(t, err)
	return m, bound
}

// The evidence and the posterior of h by importance sampling from the prior, which
// knows nothing of sites or bounds.
func TestVaryingBoundAgainstSampling(t *testing.T) {
	testkit.NotShort(t)
	const draws = 200_000
	m, bound := smallVarying(t)
	N := m.f.N
	root := m.h.sum.Clone()
	for i := range N {
		root.Row(i)[i] += 1e-10
	}
	ws := &la.Workspace{Workers: 1}
	require.NoError(t, la.Cholesky(ws, root))
	src := rand.New(rand.NewPCG(7, 7))
	b := la.NewMatrix[float64](N, N)
	h, z, solved := make([]float64, N), make([]float64, N), make([]float64, N)
	weights := make([]float64, draws)
	total, square := 0.0, 0.0
	mean, second := make([]float64, N), make([]float64, N)
	for d := range draws {
		for i := range z {
			z[i] = src.NormFloat64()
			h[i] = m.level + la.Dot(root.Row(i)[:i+1], z[:i+1])
			copy(b.Row(i), m.f.sum.Row(i)[:i+1])
			b.Row(i)[i] += math.Exp(h[i])
		}
		require.NoError(t, la.Cholesky(ws, b))
		copy(solved, m.f.y)
		la.CholeskySolveVec(b, solved)
		w := math.Exp(-0.5 * (la.Dot(m.f.y, solved) + la.LogDet(b) + float64(N)*math.Log(2*math.Pi)))
		weights[d] = w
		total += w
		square += w * w
		for i, v := range h {
			mean[i] += w * v
			second[i] += w * v * v
		}
	}
	evidence := math.Log(total / draws)
	effective := total * total / square
	t.Logf("log evidence %.4f, bound %.4f, %.0f effective draws", evidence, bound, effective)
	require.Greater(t, effective, 2000.0)
	sd := 1 / math.Sqrt(effective) // of the log evidence, at most
	assert.Less(t, bound, evidence+3*sd, "it is a bound")
	assert.Greater(t, bound, evidence-1.5, "and not a loose one")
	for i := range N {
		mu := mean[i] / total
		deviation := math.Sqrt(second[i]/total - mu*mu)
		t.Logf("sample %d: h %.2f ± %.2f, bound %.2f ± %.2f", i, mu, deviation, m.level+m.h.sites.mean[i], math.Sqrt(m.h.sites.variance[i]))
		assert.InDelta(t, mu, m.level+m.h.sites.mean[i], 0.5*deviation, "sample %d", i)
		assert.InEpsilon(t, deviation, math.Sqrt(m.h.sites.variance[i]), 0.4, "sample %d", i)
	}
}

// No other Gaussian q(h) has a higher bound. The bound is computed from means and
// covariance, without sites.
func TestVaryingBoundIsTheHighest(t *testing.T) {
	m, bound := smallVarying(t)
	N := m.f.N
	ws := &la.Workspace{Workers: 1}
	h := m.h.sum.Clone()
	for i := range N {
		h.Row(i)[i] += 1e-9
	}
	h.MirrorLower()
	factor := h.Clone()
	require.NoError(t, la.Cholesky(ws, factor))
	prior := factor.Clone()
	la.CholeskyInv(ws, prior)
	prior.MirrorLower()
	// V = (H⁻¹ + Λ)⁻¹
	covariance := prior.Clone()
	for i, p := range m.h.sites.prec {
		covariance.Row(i)[i] += p
	}
	require.NoError(t, la.Cholesky(ws, covariance))
	la.CholeskyInv(ws, covariance)
	covariance.MirrorLower()
	value := func(mean []float64, v la.Matrix[float64]) float64 {
		l := v.Clone()
		require.NoError(t, la.Cholesky(ws, l))
		b := m.f.sum.Clone()
		kl := la.LogDet(factor) - la.LogDet(l) - float64(N)
		trace := 0.0
		for i := range N {
			b.Row(i)[i] += math.Exp(m.level + mean[i] - 0.5*v.At(i, i))
			trace += v.At(i, i)
			for j := range N {
				kl += prior.At(i, j) * (v.At(i, j) + mean[i]*mean[j])
			}
		}
		require.NoError(t, la.Cholesky(ws, b))
		solved := slices.Clone(m.f.y)
		la.CholeskySolveVec(b, solved)
		return -0.5*(la.Dot(m.f.y, solved)+la.LogDet(b)+float64(N)*math.Log(2*math.Pi)) - 0.25*trace - 0.5*kl
	}
	top := value(m.h.sites.mean, covariance)
	assert.InDelta(t, bound, top, 1e-5)
	src := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		mean, v := slices.Clone(m.h.sites.mean), covariance.Clone()
		u := make([]float64, N)
		for i := range mean {
			mean[i] += 0.03 * src.NormFloat64()
			u[i] = 0.1 * src.NormFloat64()
		}
		for i := range N {
			for j := range N {
				v.Row(i)[j] += u[i] * u[j] * v.At(i, i) // keeps it positive definite, nearly symmetric
			}
		}
		for i := range N {
			for j := range i {
				a := 0.5 * (v.At(i, j) + v.At(j, i))
				v.Set(i, j, a)
				v.Set(j, i, a)
			}
		}
		assert.Less(t, value(mean, v), top+1e-9)
	}
}

// The noise that was put in comes out.
func TestVaryingFindsTheNoise(t *testing.T) {
	testkit.NotShort(t)
	_, y, k := uneven(t, 300, 1)
	fit, err := Evidence{}.FitVarying(context.Background(), k, y)
	checkConverged(t, fit, err)
	constant, err := Evidence{}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Greater(t, fit.LogEvidence, constant.LogEvidence+50, "300 samples tell constant noise from varying")
	z := []float64{-0.9, -0.5, 0, 0.5, 0.9}
	mean, variance, err := fit.Noise.Predict(onLine(t, firstOf(uneven(t, 300, 1)), z), unevenSelf(len(z)), vi.PredictOptions{})
	require.NoError(t, err)
	for i, v := range z {
		assert.InDelta(t, math.Log(unevenSD(v)), 0.5*mean[i], 3*0.5*math.Sqrt(variance[i]), "at %g", v)
		assert.InDelta(t, math.Log(unevenSD(v)), 0.5*mean[i], 0.25, "at %g", v)
	}
}

// Far from all samples the noise is at most the noise of all training samples together, however much its prior promises.
func TestVaryingFarAway(t *testing.T) {
	x, y, k := uneven(t, 40, 3)
	fit, err := Evidence{}.FitVarying(context.Background(), k, y)
	require.NoError(t, err)
	mean, variance, err := fit.Noise.Predict(onLine(t, x, x), unevenSelf(len(x)), vi.PredictOptions{})
	require.NoError(t, err)
	var all float64
	for n := range x {
		all += math.Exp(mean[n] + variance[n]/2)
	}
	away := onLine(t, x, []float64{0})
	for p := range 3 {
		away.At(p).Fill(0)
	}
	self := la.NewMatrix[float64](3, 1)
	self.Fill(1e4)
	f, err := fit.Posterior.Predict(away, self, vi.PredictOptions{})
	require.NoError(t, err)
	require.NoError(t, fit.Noise.Widen(f, away, self, vi.PredictOptions{}))
	assert.InEpsilon(t, all, f.Variance[0]-f.Function[0], 1e-6)

	kbar := make([]float64, len(x))
	one := fit.Noise.PredictOne(fit.Posterior, kbar, f.Function[0], slices.Clone(kbar), 1e6)
	assert.InEpsilon(t, f.Variance[0], one.Variance, 1e-12, "one sample")
}

func firstOf(x, _ []float64, _ *vi.Dense) []float64 { return x }

// Leave-one-out beside fits of the same scales to all samples but one. The mean of f
// follows from r, which the sample had a part in; the noise from one step of the sites.
func TestVaryingLeaveOneOut(t *testing.T) {
	testkit.NotShort(t)
	x, y, k := uneven(t, 80, 9)
	start := &EvidenceStart{Gamma: []float64{2, 1, 20}, Noise: 0.05, NoiseGamma: []float64{2, 1, 20}}
	m, at, err := Evidence{Start: start}.varying(context.Background(), k, y)
	require.NoError(t, err)
	fit, err := m.finish(at, vi.Record{})
	require.NoError(t, err)
	var gap, cavity float64
	for n := range x {
		others, targets := slices.Delete(slices.Clone(x), n, n+1), slices.Delete(slices.Clone(y), n, n+1)
		part, pat, err := Evidence{Start: start}.varying(context.Background(), onLine(t, others, others), targets)
		require.NoError(t, err)
		copy(pat, at)
		without, err := part.finish(pat, vi.Record{})
		require.NoError(t, err)
		cross := onLine(t, others, x[n:n+1])
		f, err := without.Posterior.Predict(cross, unevenSelf(1), vi.PredictOptions{})
		require.NoError(t, err)
		mean, variance, err := without.Noise.Predict(cross, unevenSelf(1), vi.PredictOptions{})
		require.NoError(t, err)
		want := logDensity(y[n]-f.Mean[0], f.Function[0], mean[0], variance[0])
		sd := math.Sqrt(f.Function[0] + meanNoise(mean[0], variance[0], without.Noise.Most))
		assert.InDelta(t, f.Mean[0], fit.LeaveOneOut.Mean[n], 0.2*sd, "sample %d", n)
		assert.InEpsilon(t, sd, math.Sqrt(fit.LeaveOneOut.Variance[n]), 0.25, "sample %d", n)
		gap += (fit.LeaveOneOut.LogProbability[n] - want) / float64(len(x))
		own := m.inverse[n]
		cavity += (logDensity(m.f.alpha[n]/own, 1/own-m.variance[n], m.level+m.h.sites.cavityMean[n], m.h.sites.cavityVar[n]) - want) / float64(len(x))
	}
	t.Logf("log density above that of refits, nats a sample: %.3f, of the cavities %.3f", gap, cavity)
	assert.InDelta(t, 0, gap, 0.05)
	assert.Less(t, math.Abs(gap), math.Abs(cavity), "the step of the sites helps")
}

func TestLogDensity(t *testing.T) {
	for _, v := range []float64{0, 0.01, 1} {
		for _, sd := range []float64{1e-4, 0.3, 1, 3} {
			for _, d := range []float64{0, 0.1, 5} {
				// A plain sum on a grid that is far finer than needed.
				var sum, weight float64
				for x := -12.0; x <= 12; x += 1e-3 {
					w := math.Exp(-0.5 * x * x)
					total := v + math.Exp(-1+sd*x)
					sum += w * math.Exp(-0.5*d*d/total) / math.Sqrt(2*math.Pi*total)
					weight += w
				}
				assert.InDelta(t, math.Log(sum/weight), logDensity(d, v, -1, sd*sd), 1e-8, "d %g, v %g, sd %g", d, v, sd)
			}
		}
	}
}

func TestVaryingErrors(t *testing.T) {
	_, y, k := uneven(t, 10, 4)
	for want, e := range map[string]Evidence{
		"NoiseGamma: 1":       {Start: &EvidenceStart{NoiseGamma: []float64{1}}},
		"NoiseGamma[1] is -1": {Start: &EvidenceStart{NoiseGamma: []float64{1, -1, 1}}},
	} {
		_, err := e.FitVarying(context.Background(), k, y)
		assert.ErrorContains(t, err, want)
	}
}

// A given kernel of a sample with itself may be below 0, which no kernel of features is. Bounds are still no less than 0.
func TestBoundsOfNoKernel(t *testing.T) {
	x, y := make([]float64, 20), make([]float64, 20)
	r := rand.New(rand.NewPCG(8, 8))
	for i := range x {
		x[i] = float64(i) / 4
		y[i] = math.Sin(x[i]) + 0.1*(1+x[i])*r.NormFloat64()
	}
	k, err := vi.NewDense(bellsOf(x, x))
	require.NoError(t, err)
	fit, err := Evidence{}.FitVarying(t.Context(), k, y)
	require.NoError(t, err)
	of, about := fit.Posterior.Triangle(nil, 1e-2), fit.Noise.About.Triangle(nil, 1e-2)
	require.NotNil(t, of)
	require.NotNil(t, about)
	scratch := NewTriangleScratch(len(x))
	for _, self := range []float64{-1e6, -1, 0.5} {
		c := fit.Noise.PredictByTriangles(of, about, make([]float64, len(x)), self, make([]float64, len(x)), self, 1e-2, false, scratch)
		assert.GreaterOrEqual(t, c.SDError, 0.0, "%g", self)
		assert.LessOrEqual(t, c.LeastSD, math.Sqrt(c.Variance), "%g", self)
	}
}
