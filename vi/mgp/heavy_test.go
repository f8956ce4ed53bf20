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

// student returns a draw of Student's distribution.
func student(src *rand.Rand, freedom int) float64 {
	var square float64
	for range freedom {
		z := src.NormFloat64()
		square += z * z
	}
	return src.NormFloat64() / math.Sqrt(square/float64(freedom))
}

// tailed returns n samples of sin(3x), x in [−1, 1], with noise of the scale 0.1 and three
// degrees of freedom.
func tailed(t *testing.T, n int, seed uint64) (x, y []float64, k *vi.Dense) {
	src := rand.New(rand.NewPCG(seed, 2))
	for range n {
		v := 2*src.Float64() - 1
		x = append(x, v)
		y = append(y, math.Sin(3*v)+0.1*student(src, 3))
	}
	return x, y, onLine(t, x, x)
}

func TestHeavyGradient(t *testing.T) {
	x, y, _ := toy(1)
	y[7] += 3
	for _, freedom := range []float64{2.3, 5, 60} {
		m, at, err := Evidence{Start: &EvidenceStart{Noise: 0.05, Freedom: freedom}}.heavy(context.Background(), newScaled(t, x), y)
		require.NoError(t, err)
		m.tol = 1e-11
		checkSlopes(t, m.cost, at, 0.3)
		_, err = m.cost(at, make([]float64, len(at)))
		require.NoError(t, err)
		_, _, curvature := m.shapeSlopes()
		// The curvature by log(ν − 2) is that at constant q(f).
		const h = 1e-4
		slope := func(h float64) float64 {
			was := m.freedom
			m.freedom = 2 + (was-2)*math.Exp(h)
			_, s, _ := m.shapeSlopes()
			m.freedom = was
			return s
		}
		assert.InDelta(t, -(slope(h)-slope(-h))/(2*h), curvature, 1e-5*(1+math.Abs(curvature)))
	}
}

// smallHeavy returns the objective of a few samples, one of them far out, with the bound.
func smallHeavy(t *testing.T, n int) (m *heavy, bound float64) {
	_, y, k := tailed(t, n, 5)
	y[2]++
	m, at, err := Evidence{Start: &EvidenceStart{Gamma: []float64{2, 1, 20}, Noise: 0.05, Freedom: 4}}.heavy(context.Background(), k, y)
	require.NoError(t, err)
	m.tol = 1e-10
	bound, err = m.functions(at)
	require.NoError(t, err)
	return m, bound
}

// The evidence and the posterior of f by sampling the weights of the mixture, given which all is
// normal: it knows nothing of sites or bounds.
func TestHeavyBoundAgainstSampling(t *testing.T) {
	testkit.NotShort(t)
	const draws = 100_000
	m, bound := smallHeavy(t, 8)
	N := m.N
	ws := &la.Workspace{Workers: 1}
	src := rand.New(rand.NewPCG(7, 7))
	b := la.NewMatrix[float64](N, N)
	noise, solved := make([]float64, N), make([]float64, N)
	mean := make([]float64, N)
	var total, square float64
	for range draws {
		for i := range N {
			// Gamma(2, 2), the prior of a weight at ν = 4
			w := -(math.Log(1-src.Float64()) + math.Log(1-src.Float64())) / 2
			noise[i] = m.scale / w
			copy(b.Row(i), m.sum.Row(i)[:i+1])
			b.Row(i)[i] += noise[i]
		}
		require.NoError(t, la.Cholesky(ws, b))
		copy(solved, m.y)
		la.CholeskySolveVec(b, solved)
		p := math.Exp(-0.5 * (la.Dot(m.y, solved) + la.LogDet(b) + float64(N)*math.Log(2*math.Pi)))
		total += p
		square += p * p
		for i, v := range m.y {
			mean[i] += p * (v - noise[i]*solved[i])
		}
	}
	evidence := math.Log(total / draws)
	effective := total * total / square
	t.Logf("log evidence %.4f, bound %.4f, %.0f effective draws", evidence, bound, effective)
	require.Greater(t, effective, 1000.0)
	require.InDelta(t, 4, m.freedom, 1e-9)
	assert.Less(t, bound, evidence+3/math.Sqrt(effective), "it is a bound")
	assert.Greater(t, bound, evidence-1.5, "and not a loose one")
	for i, v := range mean {
		t.Logf("sample %d: f %.3f, bound %.3f ± %.3f", i, v/total, m.sites.mean[i], math.Sqrt(m.sites.variance[i]))
		assert.InDelta(t, v/total, m.sites.mean[i], 0.5*math.Sqrt(m.sites.variance[i]), "sample %d", i)
	}
}

// The bound of one sample by quadrature over all that it says: nothing but Gaussians q(f)
// is tried, and none is higher.
func TestHeavyBoundOfOneSample(t *testing.T) {
	one := la.NewMatrix[float64](1, 1)
	one.Set(0, 0, 1)
	k, err := vi.NewDense(one)
	require.NoError(t, err)
	y := []float64{1.5}
	m, at, err := Evidence{Start: &EvidenceStart{Gamma: []float64{1}, Noise: 0.3, Freedom: 4}}.heavy(context.Background(), k, y)
	require.NoError(t, err)
	m.tol = 1e-10
	bound, err := m.functions(at)
	require.NoError(t, err)
	value := func(mean, variance float64) float64 {
		e := (1.5-mean)*(1.5-mean) + variance
		a, _ := math.Lgamma(2.5)
		b, _ := math.Lgamma(2)
		log := a - b - 0.5*math.Log(math.Pi*4*m.scale) - 2.5*math.Log(1+e/(4*m.scale))
		return log - 0.5*(variance+mean*mean-1-math.Log(variance))
	}
	assert.InDelta(t, bound, value(m.sites.mean[0], m.sites.variance[0]), 1e-9)
	for mean := -1.0; mean < 2.5; mean += 0.05 {
		for variance := 0.02; variance < 2; variance *= 1.1 {
			assert.Less(t, value(mean, variance), bound+1e-12)
		}
	}
	var sum float64
	for f := -12.0; f < 12; f += 1e-3 {
		sum += 1e-3 * math.Exp(-0.5*f*f) / math.Sqrt(2*math.Pi) * math.Exp(m.height()-2.5*math.Log1p((1.5-f)*(1.5-f)/(4*m.scale)))
	}
	evidence := math.Log(sum)
	assert.Less(t, bound, evidence)
	assert.Greater(t, bound, evidence-0.2)
	assert.InDelta(t, evidence, logHeavyDensity(1.5, 1, m.scale, 4), 1e-10)
}

// Whole steps of the sites never lower the bound.
func TestHeavyStepsAreMonotone(t *testing.T) {
	m, top := smallHeavy(t, 40)
	m.begin()
	last := math.Inf(-1)
	slope, curvature := make([]float64, m.N), make([]float64, m.N)
	for range 200 {
		require.NoError(t, m.sites.posterior())
		bound, err := m.expect(m.sites, slope, curvature)
		require.NoError(t, err)
		bound -= 0.5 * m.sites.logDet()
		for n := range slope {
			bound += 0.5 * (m.sites.prec[n]*m.sites.variance[n] - m.sites.mean[n]*m.sites.alpha[n])
		}
		require.GreaterOrEqual(t, bound, last-1e-10)
		last = bound
		for n, y := range m.y {
			m.sites.prec[n], m.sites.nu[n] = curvature[n], curvature[n]*y
		}
	}
	assert.InDelta(t, top, last, 1e-8)
}

// With many degrees of freedom it is the process with normal noise.
func TestHeavyOfManyDegreesIsNormal(t *testing.T) {
	_, y, k := uneven(t, 40, 3)
	start := &EvidenceStart{Gamma: []float64{2, 1, 20}, Noise: 0.05, Freedom: 1e7}
	m, at, err := Evidence{Start: start}.heavy(context.Background(), k, y)
	require.NoError(t, err)
	fit, err := m.finish(at, vi.Record{})
	require.NoError(t, err)
	n, at, err := Evidence{Start: start}.objective(context.Background(), k, y, false)
	require.NoError(t, err)
	want, err := n.finish(at, vi.Record{})
	require.NoError(t, err)
	assert.InDelta(t, want.LogEvidence, fit.LogEvidence, 1e-3)
	for i := range y {
		assert.InDelta(t, want.LeaveOneOut.Mean[i], fit.LeaveOneOut.Mean[i], 1e-4)
		assert.InDelta(t, want.LeaveOneOut.Variance[i], fit.LeaveOneOut.Variance[i], 1e-4)
	}
}

// The noise that was put in comes out.
func TestHeavyFindsTheTails(t *testing.T) {
	testkit.NotShort(t)
	_, y, k := tailed(t, 400, 1)
	fit, err := Evidence{}.FitHeavy(context.Background(), k, y)
	checkConverged(t, fit, err)
	s := fit.Posterior.State()
	t.Logf("%d steps, ν %.2f, σ %.4f", len(fit.Record.Trace), s.Freedom, math.Sqrt((s.Freedom-2)/(s.Freedom*s.Tau)))
	assert.InDelta(t, 3, s.Freedom, 1)
	assert.InDelta(t, 0.1, math.Sqrt((s.Freedom-2)/(s.Freedom*s.Tau)), 0.015)
	normal, err := Evidence{}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Greater(t, fit.LogEvidence, normal.LogEvidence+20, "400 samples tell heavy tails from normal ones")
}

// Gross errors in a tenth of the targets hardly change the function.
func TestHeavyBearsOutliers(t *testing.T) {
	x, y, k := tailed(t, 100, 1)
	for i := range y {
		y[i] = math.Sin(3*x[i]) + 0.1*math.Cos(float64(7*i))
		if i%10 == 0 {
			y[i] += 3 + math.Sin(float64(i))
		}
	}
	rms := func(fit *Fit, err error) float64 {
		require.NoError(t, err)
		p, err := fit.Posterior.Predict(k, unevenSelf(len(x)), vi.PredictOptions{})
		require.NoError(t, err)
		var square float64
		for i, v := range p.Mean {
			d := v - math.Sin(3*x[i])
			square += d * d / float64(len(x))
		}
		return math.Sqrt(square)
	}
	heavy, normal := rms(Evidence{}.FitHeavy(context.Background(), k, y)), rms(Evidence{}.Fit(context.Background(), k, y))
	t.Logf("error of the function %.3f, with normal noise %.3f", heavy, normal)
	assert.Less(t, heavy, 0.06)
	assert.Greater(t, normal, 0.2)
}

// Leave-one-out beside fits of the same scales to all samples but one.
func TestHeavyLeaveOneOut(t *testing.T) {
	testkit.NotShort(t)
	x, y, k := tailed(t, 80, 9)
	start := &EvidenceStart{Gamma: []float64{2, 1, 20}, Noise: 0.05, Freedom: 4}
	m, at, err := Evidence{Start: start}.heavy(context.Background(), k, y)
	require.NoError(t, err)
	fit, err := m.finish(at, vi.Record{})
	require.NoError(t, err)
	var gap float64
	for n := range x {
		others, targets := slices.Delete(slices.Clone(x), n, n+1), slices.Delete(slices.Clone(y), n, n+1)
		part, pat, err := Evidence{Start: start}.heavy(context.Background(), onLine(t, others, others), targets)
		require.NoError(t, err)
		copy(pat, at)
		without, err := part.finish(pat, vi.Record{})
		require.NoError(t, err)
		f, err := without.Posterior.Predict(onLine(t, others, x[n:n+1]), unevenSelf(1), vi.PredictOptions{})
		require.NoError(t, err)
		sd := math.Sqrt(f.Variance[0])
		assert.InDelta(t, f.Mean[0], fit.LeaveOneOut.Mean[n], 0.3*sd, "sample %d", n)
		assert.InEpsilon(t, sd, math.Sqrt(fit.LeaveOneOut.Variance[n]), 0.2, "sample %d", n)
		gap += (fit.LeaveOneOut.LogProbability[n] - logHeavyDensity(y[n]-f.Mean[0], f.Function[0], part.scale, part.freedom)) / float64(len(x))
	}
	t.Logf("log density above that of refits, nats a sample: %.4f", gap)
	assert.InDelta(t, 0, gap, 0.03)
}

func TestLogHeavyDensity(t *testing.T) {
	for _, freedom := range []float64{2.01, 4, 14, 100, 1e4} {
		for _, v := range []float64{0, 0.01, 1, 100} {
			for _, d := range []float64{0, 0.5, 30} {
				const scale = 0.2
				// A sum over the noise on a grid that is far finer than needed: the convolution of
				// the two densities, or the density of the noise itself.
				log := func(e float64) float64 {
					a, _ := math.Lgamma((freedom + 1) / 2)
					b, _ := math.Lgamma(freedom / 2)
					return a - b - 0.5*math.Log(math.Pi*freedom*scale) - 0.5*(freedom+1)*math.Log1p(e*e/(freedom*scale))
				}
				want := log(d)
				if v > 0 {
					const step = 1e-3
					var terms []float64
					for z := -40.0; z <= 40; z += step {
						terms = append(terms, log(d-math.Sqrt(v)*z)-0.5*z*z)
					}
					top, sum := slices.Max(terms), 0.0
					for _, term := range terms {
						sum += math.Exp(term - top)
					}
					want = top + math.Log(sum*step/math.Sqrt(2*math.Pi))
				}
				assert.InDelta(t, want, logHeavyDensity(d, v, scale, freedom), 1e-8*(1+math.Abs(want)), "ν %g, v %g, d %g", freedom, v, d)
			}
		}
	}
}

// The scales of the function stay where they are.
func TestHeavyKeeps(t *testing.T) {
	_, y, k := tailed(t, 60, 4)
	fit, err := Evidence{Start: &EvidenceStart{Gamma: []float64{2, 1, 20}, Noise: 0.5, Keep: true}}.FitHeavy(context.Background(), k, y)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{2, 1, 20}, fit.Posterior.State().Gamma, 1e-12)
	assert.Less(t, 1/fit.Posterior.State().Tau, 0.2)
}

func TestHeavyErrors(t *testing.T) {
	_, y, k := tailed(t, 10, 4)
	_, err := Evidence{Start: &EvidenceStart{Freedom: 2}}.FitHeavy(context.Background(), k, y)
	assert.ErrorContains(t, err, "Start.Freedom is 2")
	fit, err := Evidence{}.FitHeavy(context.Background(), k, y)
	require.NoError(t, err)
	s := fit.Posterior.State()
	s.Sites = nil
	_, err = NewPosterior(s)
	assert.ErrorContains(t, err, "Freedom is")
}

// The density of a target integrates to one, and has the predicted variance.
func TestLogTargetDensity(t *testing.T) {
	_, y, k := uneven(t, 40, 5)
	heavy, err := Evidence{}.FitHeavy(context.Background(), k, y)
	require.NoError(t, err)
	normal, err := Evidence{}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	for name, p := range map[string]*Posterior{"heavy tails": heavy.Posterior, "normal": normal.Posterior} {
		variance := 0.3 + 1/p.s.Tau
		var mass, second float64
		const step = 0.01
		for i := -20000; i <= 20000; i++ {
			d := step * float64(i)
			v := step * math.Exp(p.LogTargetDensity(d, variance))
			mass += v
			second += d * d * v
		}
		assert.InDelta(t, 1, mass, 1e-6, name)
		assert.InDelta(t, variance, second, 0.02*variance, name)
	}
}
