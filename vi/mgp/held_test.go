package mgp

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// heldIf holds the whole prior, or nothing of it.
func heldIf(all bool) HeldPrior {
	if all {
		return HeldPrior{}.All()
	}
	return HeldPrior{}
}

// overLogs integrates f(γ) over γ > 0 by the trapezoidal rule in log γ.
func overLogs(f func(x float64) float64) (sum float64) {
	const step = 0.01
	for u := -40.0; u <= 40; u += step {
		x := math.Exp(u)
		if v := f(x); v > 0 {
			sum += step * x * v
		}
	}
	return sum
}

// weight is the density of g but for its normaliser.
func (g GIG) weight(x float64) float64 {
	return math.Exp((g.Omega-1)*math.Log(x) - 0.5*(g.Chi/x+g.Phi*x))
}

// The processes that a held ω makes have the densities that the paper names: at one point a Cauchy
// density, and a hyperbolic one, exp(−√(χ(φ + f²/k))).
func TestProcessesOfHeldOrders(t *testing.T) {
	const k = 1.7
	marginal := func(g GIG, f float64) float64 {
		z := overLogs(g.weight)
		return overLogs(func(x float64) float64 {
			return math.Sqrt(x/(2*math.Pi*k)) * math.Exp(-0.5*f*f*x/k) * g.weight(x) / z
		})
	}
	cauchy, hyperbolic := GIG{0.5, 0, 0.8}, GIG{-1, 1.3, 0.6}
	scale := math.Sqrt(k * cauchy.Phi)
	for _, f := range []float64{0, 0.3, 1, 4} {
		assert.InEpsilon(t, 1/(math.Pi*scale*(1+f*f/(scale*scale))), marginal(cauchy, f), 1e-6)
		want := math.Exp(-math.Sqrt(hyperbolic.Chi*(hyperbolic.Phi+f*f/k)) + math.Sqrt(hyperbolic.Chi*hyperbolic.Phi))
		assert.InEpsilon(t, want, marginal(hyperbolic, f)/marginal(hyperbolic, 0), 1e-6)
	}
}

// holds are priors some of whose parameters are held.
var holds = []struct {
	family Family
	prior  GIG
	held   HeldPrior
}{
	{FamilyStudentT, GIG{Omega: 0.5}, HeldPrior{Omega: true}},
	{FamilyStudentT, GIG{0.3, 0, 0.7}, HeldPrior{Phi: true}},
	{FamilyLaplace, GIG{}, HeldPrior{}},
	{FamilyGammaVariance, GIG{Omega: -2}, HeldPrior{Omega: true}},
	{FamilyGammaVariance, GIG{-2, 0.9, 0}, HeldPrior{Chi: true}},
	{FamilyGIG, GIG{Omega: -1}, HeldPrior{Omega: true}},
	{FamilyGIG, GIG{Omega: 3}, HeldPrior{Omega: true}},
	{FamilyGIG, GIG{0.5, 1.5, 1}, HeldPrior{Chi: true}},
	{FamilyGIG, GIG{0.5, 1.5, 1}, HeldPrior{Phi: true}},
	{FamilyGIG, GIG{0.5, 1.5, 1}, HeldPrior{Omega: true, Chi: true}},
	{FamilyGIG, GIG{0.5, 1.5, 1}, HeldPrior{Omega: true, Phi: true}},
	{FamilyGIG, GIG{0.5, 1.5, 1}, HeldPrior{Chi: true, Phi: true}},
}

// What is learned beside a parameter that is held maximises the likelihood (D21), whose normaliser
// is integrated here.
func TestLearnBesideWhatIsHeld(t *testing.T) {
	var h hyper
	posteriors := []GIG{{3, 0.4, 2}, {2, 1, 0.3}, {4, 0.2, 9}}
	for _, q := range posteriors {
		m := q.moments()
		h.mean += m.mean / 3
		h.inv += m.inv / 3
		h.log += m.log / 3
	}
	h.gap = math.Log(h.mean) - h.log
	likelihood := func(p GIG) float64 {
		return p.Omega*h.log - math.Log(overLogs(p.weight)) - 0.5*p.Phi*h.mean - 0.5*p.Chi*h.inv
	}
	for _, c := range holds {
		name := fmt.Sprintf("%v %v %v", c.family, c.prior, c.held)
		from := c.family.begin(c.prior, c.held, 1)
		require.NoError(t, c.family.validate(from), name)
		p := from
		for range 300 {
			p = c.family.learn(p, h, c.held, true)
		}
		held := c.family.held().with(c.held)
		best := likelihood(p)
		for _, d := range []float64{-0.02, 0.02} {
			if held.Omega {
				assert.Equal(t, from.Omega, p.Omega, name)
			} else {
				assert.Less(t, likelihood(GIG{p.Omega + d, p.Chi, p.Phi}), best, name)
			}
			if held.Chi {
				assert.Equal(t, from.Chi, p.Chi, name)
			} else if p.Chi > 0 {
				assert.Less(t, likelihood(GIG{p.Omega, p.Chi * (1 + d), p.Phi}), best, name)
			}
			if held.Phi {
				assert.Equal(t, from.Phi, p.Phi, name)
			} else if p.Phi > 0 {
				assert.Less(t, likelihood(GIG{p.Omega, p.Chi, p.Phi * (1 + d)}), best, name)
			}
		}
	}
}

func TestBoundRisesWithWhatIsHeld(t *testing.T) {
	k, y, _ := mgpProblem(t, 14, 4, 3)
	for _, c := range holds {
		for _, plain := range []bool{false, true} {
			g := Model{Family: c.family, Prior: c.prior, HeldPrior: c.held, Plain: plain, Workers: 1}
			m, err := g.model(k, y, false)
			require.NoError(t, err)
			from := m.prior
			require.NoError(t, m.Sweep(nil))
			last := m.Bound()
			for range testkit.Fewer(40, 12) {
				require.NoError(t, m.Sweep(func(factor string) {
					b := m.Bound()
					require.False(t, testkit.Fell(last, b, m.Roundoff()), "%v, %s: %.15g after %.15g", c, factor, b, last)
					last = b
				}))
			}
			held := c.family.held().with(c.held)
			for _, v := range []struct {
				held       bool
				first, now float64
			}{{held.Omega, from.Omega, m.prior.Omega}, {held.Chi, from.Chi, m.prior.Chi}, {held.Phi, from.Phi, m.prior.Phi}} {
				if v.held {
					assert.Equal(t, v.first, v.now, "%v", c)
				} else {
					assert.NotEqual(t, v.first, v.now, "%v", c)
				}
			}
		}
		fit, err := Evidence{Family: c.family, Prior: c.prior, HeldPrior: c.held, Workers: 1}.Fit(context.Background(), k, y)
		require.NoError(t, err)
		if c.held.Omega {
			assert.Equal(t, c.prior.Omega, fit.Posterior.State().Prior.Omega)
		}
	}
}

// A linear kernel with a known weight is a mean function: β and the evidence equal the values from
// the joint normal distribution of β and the targets, in which β is found by its precision.
func TestMeanFunction(t *testing.T) {
	x, y, _ := toy(2)
	N, D := x.Rows, 3
	const v = 4.0
	h := la.NewMatrix[float64](D, N)
	for i := range N {
		h.Set(0, i, 1)
		h.Set(1, i, x.At(i, 0))
		h.Set(2, i, x.At(i, 1))
		y[i] += 1 - 0.7*x.At(i, 1)
	}
	linear, rbf := la.NewMatrix[float64](N, N), la.NewMatrix[float64](N, N)
	la.Syrk(nil, la.Transpose, 1, h, 0, linear)
	linear.MirrorLower()
	la.RBF(nil, 0.5, x, x, rbf)
	k := testkit.Must(vi.NewDense(linear, rbf))
	fit, err := Evidence{Known: []float64{v, 0}, Draws: 3, Workers: 1}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	s := fit.Posterior.State()
	require.Equal(t, 1/v, s.Gamma[0])
	a, noise := 1/s.Gamma[1], 1/s.Tau

	rest, whole := make([][]float64, N), make([][]float64, N)
	for i := range N {
		for j := range N {
			c := a * rbf.At(i, j)
			if i == j {
				c += noise
			}
			rest[i], whole[i] = append(rest[i], c), append(whole[i], c+v*linear.At(i, j))
		}
	}
	solved, logDet := eliminate(whole, y)
	assert.InDelta(t, -0.5*(la.Dot(y, solved)+logDet+float64(N)*math.Log(2*math.Pi)), fit.LogEvidence, 1e-8)

	precision, right := make([][]float64, D), make([]float64, D)
	for d := range D {
		column, _ := eliminate(rest, h.Row(d))
		for e := range D {
			precision[d] = append(precision[d], la.Dot(h.Row(e), column))
		}
		precision[d][d] += 1 / v
		right[d] = la.Dot(y, column)
	}
	want, _ := eliminate(precision, right)
	mean, variance, err := fit.Posterior.Coefficients(0, h)
	require.NoError(t, err)
	for d := range D {
		unit := make([]float64, D)
		unit[d] = 1
		column, _ := eliminate(precision, unit)
		assert.InDelta(t, want[d], mean[d], 1e-9)
		assert.InDelta(t, column[d], variance[d], 1e-9)
	}
	assert.InDelta(t, -0.7, mean[2], 0.4)

	_, sd := fit.Posterior.KernelWeights()
	assert.Zero(t, sd[0])
	assert.NotZero(t, sd[1])
	for _, d := range fit.Draws {
		assert.Equal(t, 1/v, d.Posterior.State().Gamma[0])
		assert.NotEqual(t, s.Gamma[1], d.Posterior.State().Gamma[1])
	}
	// What is learned is where the objective is highest: the known weight moves nothing of it.
	m, at, err := Evidence{Known: []float64{v, 0}, Start: &EvidenceStart{Gamma: s.Gamma, Noise: noise}, Workers: 1}.objective(context.Background(), k, y, false)
	require.NoError(t, err)
	slopes := make([]float64, len(at))
	_, err = m.cost(at, slopes)
	require.NoError(t, err)
	assert.Zero(t, slopes[0])
	assert.Less(t, math.Abs(slopes[1])+math.Abs(slopes[2]), 0.05)
}

// With noise that is known the scales are where the evidence is highest given it, which a fit that learns it
// and finds the same noise finds too.
func TestKnownNoise(t *testing.T) {
	ctx := context.Background()
	k, y, _ := mgpProblem(t, 40, 3, 3)
	learned, err := Evidence{Family: FamilyFlat}.Fit(ctx, k, y)
	require.NoError(t, err)
	s := learned.Posterior.State()
	tight := vi.Ascent{Tolerance: 1e-12}
	same, err := Evidence{Family: FamilyFlat, KnownNoise: 1 / s.Tau, Ascent: tight}.Fit(ctx, k, y)
	require.NoError(t, err)
	assert.InDelta(t, s.Tau, same.Posterior.State().Tau, 1e-12*s.Tau)
	assert.InDelta(t, learned.LogEvidence, same.LogEvidence, 0.05)

	const known = 0.3
	fit, err := Evidence{KnownNoise: known, Draws: 3}.Fit(ctx, k, y)
	require.NoError(t, err)
	require.Len(t, fit.Draws, 3)
	for _, d := range fit.Draws {
		assert.InDelta(t, 1/known, d.Posterior.State().Tau, 1e-12)
		assert.NotEqual(t, fit.Posterior.State().Gamma[0], d.Posterior.State().Gamma[0])
	}
	m, at, err := Evidence{KnownNoise: known, Start: &EvidenceStart{Gamma: fit.Posterior.State().Gamma}}.objective(ctx, k, y, false)
	require.NoError(t, err)
	slopes := make([]float64, len(at))
	_, err = m.cost(at, slopes)
	require.NoError(t, err)
	for _, v := range slopes {
		assert.InDelta(t, 0, v, 0.05)
	}
	checkSlopes(t, m.cost, at, 0.3)
	some, weights, all, u := spannedProblem(t, 60)
	want, err := Evidence{KnownNoise: known}.Fit(ctx, all, u)
	require.NoError(t, err)
	got, err := Evidence{KnownNoise: known}.FitSpanned(ctx, some, weights, u)
	require.NoError(t, err)
	assert.InEpsilon(t, want.LogEvidence, got.LogEvidence, 1e-9)

	for text, e := range map[string]Evidence{
		"vi: KnownNoise is -1: it must be positive and finite, or 0": {KnownNoise: -1},
		"vi: KnownNoise is NaN: it must be":                          {KnownNoise: math.NaN()},
		"vi: KnownNoise is 1e-30, less than 1e-08 times":             {KnownNoise: 1e-30},
	} {
		_, err := e.Fit(ctx, k, y)
		assert.ErrorContains(t, err, text)
	}
	_, _, labels := mgpProblem(t, 40, 3, 3)
	_, err = Evidence{KnownNoise: 1}.FitLabels(ctx, k, labels)
	assert.EqualError(t, err, "vi: KnownNoise: labels have no noise of their own")
	_, err = Evidence{KnownNoise: 1}.FitVarying(ctx, k, y)
	assert.EqualError(t, err, "vi: KnownNoise: noise that varies is learned")
	_, err = Evidence{KnownNoise: 1}.FitHeavy(ctx, k, y)
	assert.EqualError(t, err, "vi: KnownNoise: noise with heavy tails is learned")
}

func TestKnownWeightsRefused(t *testing.T) {
	k, y, _ := mgpProblem(t, 14, 4, 3)
	ctx := context.Background()
	_, err := Evidence{Known: []float64{1}}.Fit(ctx, k, y)
	assert.EqualError(t, err, "vi: Known: 1 weights for 4 kernels")
	_, err = Evidence{Known: []float64{0, 0, -1, 0}}.Fit(ctx, k, y)
	assert.EqualError(t, err, "vi: Known[2] is -1: it must be positive and finite, or 0")
	_, err = Evidence{Known: []float64{0, 0, 1, 0}}.FitVarying(ctx, k, y)
	assert.EqualError(t, err, "vi: Known: noise that varies takes weights that are learned")
	_, err = Evidence{Known: []float64{0, 0, 1, 0}}.FitHeavy(ctx, k, y)
	assert.EqualError(t, err, "vi: Known: noise with heavy tails takes weights that are learned")
}
