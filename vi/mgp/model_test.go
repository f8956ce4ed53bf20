package mgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// mgpProblem returns P Laplacian kernels of inputs of their own, targets y that depend on the first
// kernel's inputs, and the signs of y.
func mgpProblem(t testing.TB, N, P int, seed uint64) (k *vi.Dense, y, labels []float64) {
	src := rand.New(rand.NewPCG(seed, 1))
	var ms []la.Matrix[float64]
	var first []float64
	for p := range P {
		x := make([]float64, N)
		for i := range x {
			x[i] = 4 * src.Float64()
		}
		if p == 0 {
			first = x
		}
		m := la.NewMatrix[float64](N, N)
		for i := range N {
			for j := range N {
				m.Set(i, j, math.Exp(-math.Abs(x[i]-x[j])))
			}
		}
		ms = append(ms, m)
	}
	k, err := vi.NewDense(ms...)
	require.NoError(t, err)
	y, labels = make([]float64, N), make([]float64, N)
	for i := range y {
		y[i] = math.Sin(2*first[i]) + 0.2*src.NormFloat64()
		labels[i] = math.Copysign(1, y[i])
	}
	return k, y, labels
}

func TestMultiGPBoundRises(t *testing.T) {
	k, y, labels := mgpProblem(t, 14, 4, 3)
	for family := FamilyStudentT; family <= FamilyFlat; family++ {
		for _, mode := range []string{"fixed", "learned", "plain"} {
			for _, noise := range []Noise{NoiseLearned, NoiseFixed} {
				for _, classes := range []bool{false, true} {
					name := fmt.Sprintf("%v/%s/noise=%d/labels=%t", family, mode, noise, classes)
					t.Run(name, func(t *testing.T) {
						g := Model{Family: family, HeldPrior: heldIf(mode == "fixed"), Plain: mode == "plain", Noise: noise, Workers: 1}
						target := y
						if classes {
							target = labels
						}
						m, err := g.model(k, target, classes)
						require.NoError(t, err)
						require.NoError(t, m.Sweep(nil))
						last := m.Bound()
						for sweep := range testkit.Fewer(40, 12) {
							require.NoError(t, m.Sweep(func(factor string) {
								b := m.Bound()
								require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d, %s: %.15g after %.15g", sweep, factor, b, last)
								last = b
							}))
						}
					})
				}
			}
		}
	}
}

// At a fixed point no small change of a factor or of what is learned raises the
// bound.
func TestMultiGPUpdatesAreOptimal(t *testing.T) {
	testkit.NotShort(t)
	k, y, labels := mgpProblem(t, 12, 3, 5)
	for _, classes := range []bool{false, true} {
		g := Model{Family: FamilyGIG, Prior: GIG{0.7, 0.4, 0.9}, HeldPrior: HeldPrior{}.All(), Noise: NoiseLearned, Workers: 1}
		target := y
		if classes {
			target = labels
		}
		m, err := g.model(k, target, classes)
		require.NoError(t, err)
		for range 800 {
			require.NoError(t, m.Sweep(nil))
		}
		top := m.Bound()
		lower := func(name string) {
			t.Helper()
			assert.Less(t, m.Bound(), top, "%s, labels %t", name, classes)
			assert.InDelta(t, top, m.Bound(), 1e-2, "%s, labels %t", name, classes)
		}
		for _, step := range []float64{-1e-3, 1e-3} {
			tau := m.tau
			m.tau *= 1 + step
			lower("τ")
			m.tau = tau
			for p := range m.P {
				q, v := m.q[p], m.moments[p]
				for i, changed := range []GIG{{q.Omega * (1 + step), q.Chi, q.Phi}, {q.Omega, q.Chi * (1 + 20*step), q.Phi}, {q.Omega, q.Chi, q.Phi * (1 + step)}} {
					m.q[p], m.moments[p] = changed, changed.moments()
					lower(fmt.Sprintf("parameter %d of q(γ_%d)", i, p))
				}
				m.q[p], m.moments[p] = q, v
			}
		}

		m.held, m.learnPrior = HeldPrior{}, true
		for _, joint := range []bool{false, true} {
			m.joint = joint
			for range 300 { // coordinates in turn, the posterior held
				m.updatePrior()
			}
			best, prior := m.Bound(), m.prior
			require.GreaterOrEqual(t, best, top)
			for _, step := range []float64{-1e-2, 1e-2} {
				for i, changed := range []GIG{{prior.Omega + step, prior.Chi, prior.Phi}, {prior.Omega, prior.Chi * (1 + step), prior.Phi}, {prior.Omega, prior.Chi, prior.Phi * (1 + step)}} {
					if changed == prior {
						continue
					}
					m.prior = changed
					assert.Less(t, m.Bound(), best, "parameter %d of the prior, labels %t", i, classes)
				}
			}
			m.prior = prior
		}
	}
}

// With one kernel the evidence is a one-dimensional integral over γ. The bound
// stays below it, and close where q(γ) is narrow.
func TestMultiGPBoundIsBelowEvidence(t *testing.T) {
	k, y, _ := mgpProblem(t, 16, 1, 8)
	for _, c := range []struct {
		family Family
		prior  GIG
	}{
		{FamilyStudentT, GIG{1.5, 0, 2}}, {FamilyLaplace, GIG{-1, 2, 0}}, {FamilyGammaVariance, GIG{-2.5, 3, 0}}, {FamilyGIG, GIG{0.3, 1, 2}},
	} {
		const tau = 4
		fit, err := Model{Family: c.family, Prior: c.prior, HeldPrior: HeldPrior{}.All(), Tau: tau, Noise: NoiseFixed}.Fit(context.Background(), k, y)
		require.NoError(t, err)
		var evidence float64
		const h = 0.02
		b := la.NewMatrix[float64](16, 16)
		m, err := Model{Tau: tau}.model(k, y, false)
		require.NoError(t, err)
		for x := -8.0; x <= 8; x += h { // log γ
			gamma := math.Exp(x)
			logDet, _, err := m.factorise([]float64{1 / gamma}, m.tau, b)
			require.NoError(t, err)
			a := append([]float64(nil), y...)
			la.CholeskySolveVec(b, a)
			prior := c.prior.Omega*x - 0.5*(c.prior.Chi/gamma+c.prior.Phi*gamma) - c.prior.moments().logZ
			evidence += h * math.Exp(prior-0.5*(la.Dot(a, y)+logDet+16*conjugate.Log2Pi))
		}
		bound := fit.Record.Bound()
		assert.Less(t, bound, math.Log(evidence), c.family.String())
		assert.Greater(t, bound, math.Log(evidence)-1, c.family.String())
	}
}

// The N×N formulas against the Gaussian posterior of all P·N function values.
func TestMultiGPFunctionsAgainstDense(t *testing.T) {
	const N, P = 6, 3
	k, y, _ := mgpProblem(t, N, P, 2)
	m, err := Model{Tau: 3, Start: &Start{Gamma: []float64{0.5, 2, 7}}}.model(k, y, false)
	require.NoError(t, err)
	require.NoError(t, m.updateFunctions())

	inverse := func(a la.Matrix[float64]) la.Matrix[float64] {
		c := a.Clone()
		require.NoError(t, la.Cholesky(nil, c))
		la.CholeskyInv(nil, c)
		c.MirrorLower()
		return c
	}
	cov := la.NewMatrix[float64](N*P, N*P) // precision first
	var inv []la.Matrix[float64]
	for p := range P {
		inv = append(inv, inverse(k.At(p)))
		for q := range P {
			for i := range N {
				cov.Row(p*N + i)[q*N+i] += 3
				if p == q {
					for j := range N {
						cov.Row(p*N + i)[p*N+j] += m.gamma0[p] * inv[p].At(i, j)
					}
				}
			}
		}
	}
	cov = inverse(cov)
	mean := make([]float64, N*P)
	for r := range mean {
		for c := range mean {
			mean[r] += cov.At(r, c) * 3 * y[c%N]
		}
	}
	var spread, error2 float64
	for i := range N {
		nu := 0.0
		for p := range P {
			nu += mean[p*N+i]
			for q := range P {
				spread += cov.At(p*N+i, q*N+i)
			}
		}
		error2 += (y[i] - nu) * (y[i] - nu)
	}
	assert.InEpsilon(t, spread, m.spread, 1e-10)
	assert.InEpsilon(t, error2+spread, m.error2, 1e-10)
	for p := range P {
		var s float64
		for i := range N {
			for j := range N {
				s += inv[p].At(i, j) * (mean[p*N+i]*mean[p*N+j] + cov.At(p*N+i, p*N+j))
			}
		}
		assert.InEpsilon(t, s, m.s[p], 1e-9, "kernel %d", p)
	}
}

// Labels do not tell τ from the scale of the functions: (τ, γ, χ, φ) →
// (cτ, cγ, cχ, φ/c) leaves the bound and the probabilities alone.
func TestMultiGPLabelsHaveNoScale(t *testing.T) {
	k, _, labels := mgpProblem(t, 15, 3, 4)
	const c = 7.0
	fit := func(c float64) *Fit {
		f, err := Model{
			Family: FamilyGIG, Prior: GIG{0.4, 0.6 * c, 1.1 / c}, HeldPrior: HeldPrior{}.All(), Tau: c,
			Start: &Start{Gamma: []float64{c, 2 * c, 3 * c}},
			// Once it has converged rounding decides which steps ahead are taken.
			Ascent: vi.Ascent{MaxSweeps: 6, Tolerance: -1},
		}.FitLabels(context.Background(), k, labels)
		require.NoError(t, err)
		return f
	}
	one, other := fit(1), fit(c)
	assert.InDeltaSlice(t, one.Record.Trace, other.Record.Trace, 1e-11)
	self := la.NewMatrix[float64](3, 15)
	self.Fill(1)
	p, err := one.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	q, err := other.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	assert.InDeltaSlice(t, p.Probability, q.Probability, 1e-11)
	for i, t1 := range labels {
		assert.Equal(t, t1 > 0, p.Probability[i] > 0.5, "training label %d", i)
	}
}

// The learned priors find the one kernel of ten that made the targets.
func TestMultiGPFindsTheActiveKernel(t *testing.T) {
	k, y, labels := mgpProblem(t, 60, 10, 11)
	for family := FamilyStudentT; family <= FamilyFlat; family += testkit.Fewer(Family(1), FamilyFlat-FamilyStudentT) {
		for _, classes := range []bool{false, true} {
			g, target := Model{Family: family}, y
			fit := g.Fit
			if classes {
				target, fit = labels, g.FitLabels
			}
			if family == FamilyGammaVariance && classes {
				continue // see TestMultiGPReportsCollapse
			}
			f, err := fit(context.Background(), k, target)
			require.NoError(t, err, family.String())
			assert.Equal(t, vi.Converged, f.Record.Reason)
			assert.Less(t, len(f.Record.Trace), 500, family.String())
			assert.False(t, f.Collapsed)
			mean, sd := f.Posterior.KernelWeights()
			var rest float64
			for p, w := range mean {
				require.False(t, math.IsNaN(sd[p]))
				if p > 0 {
					rest += w
				}
			}
			assert.Greater(t, mean[0], 6*rest/9, "%v, labels %t: %v", family, classes, mean)
		}
	}
}

// On 60 labels and 10 kernels the gamma-variance process prefers the empty
// model, whose bound is −60·log 2, to the active kernel.
func TestMultiGPReportsCollapse(t *testing.T) {
	k, _, labels := mgpProblem(t, 60, 10, 11)
	// The way there is long, but for a start on it.
	g := Model{Family: FamilyGammaVariance, Start: &Start{Gamma: slices.Repeat([]float64{1e5}, 10)}, Ascent: vi.Ascent{MaxSweeps: 300}}
	f, err := g.FitLabels(context.Background(), k, labels)
	require.NoError(t, err)
	assert.True(t, f.Collapsed)
	assert.Greater(t, f.Record.Bound(), -60*math.Ln2-1)
}

// Equal kernels have equal scales: ω runs away, is held at its cap, and the fit
// says so.
func TestMultiGPRunsAwayToThePlainGP(t *testing.T) {
	testkit.NotShort(t)
	k, y, _ := mgpProblem(t, 20, 1, 6)
	same, err := vi.NewDense(k.At(0), k.At(0), k.At(0))
	require.NoError(t, err)
	for _, family := range []Family{FamilyStudentT, FamilyGammaVariance} {
		fit, err := Model{Family: family, Ascent: vi.Ascent{MaxSweeps: 1500, Tolerance: -1}}.Fit(context.Background(), same, y)
		require.NoError(t, err, family.String())
		assert.True(t, fit.GPLimit, family.String())
		assert.Equal(t, maxOmega, math.Abs(fit.Posterior.State().Prior.Omega), family.String())
		fit, err = Model{Family: family}.Fit(context.Background(), same, y)
		require.NoError(t, err)
		assert.Equal(t, vi.Converged, fit.Record.Reason)
		assert.True(t, fit.GPLimit, family.String())
	}
}

// hidden takes the row access away from kernels.
type hidden struct{ vi.Kernels }

// The passes by rows give what the methods of Kernels do, and the same bits for
// every number of workers.
func TestMultiGPPasses(t *testing.T) {
	const N, P = 75, 3
	k, y, _ := mgpProblem(t, N, P, 7)
	b := la.NewMatrix[float64](N, N)
	for i := range N {
		for j := range N {
			b.Set(i, j, y[i]*y[j]+float64(i+j))
		}
	}
	weights := []float64{0.3, 2, 1e-3}
	run := func(k vi.Kernels, workers int) (sum []float64, trace, quad [P]float64) {
		p, ws := newPasses(k, workers), &la.Workspace{}
		out := la.NewMatrix[float64](N, N)
		p.sum(ws, weights, out)
		for i := range N {
			sum = append(sum, out.Row(i)[:i+1]...)
		}
		p.traces(ws, b, y, trace[:], quad[:])
		return sum, trace, quad
	}
	sum, trace, quad := run(hidden{k}, 1)
	for _, workers := range []int{1, 2, 3, 7} {
		s, tr, q := run(k, workers)
		assert.InDeltaSlice(t, sum, s, 1e-14)
		assert.InDeltaSlice(t, trace[:], tr[:], 1e-9)
		assert.InDeltaSlice(t, quad[:], q[:], 1e-12)
		_, tr1, q1 := run(k, 1)
		assert.Equal(t, tr1, tr)
		assert.Equal(t, q1, q)
	}
}

func TestMultiGPSweepDoesNotAllocate(t *testing.T) {
	k, _, labels := mgpProblem(t, 40, 3, 9)
	for _, family := range []Family{FamilyStudentT, FamilyGIG, FamilyFlat} {
		m, err := Model{Family: family, Workers: 1}.model(k, labels, true)
		require.NoError(t, err)
		require.NoError(t, m.Sweep(nil))
		require.NoError(t, m.Sweep(nil))
		assert.Zero(t, testing.AllocsPerRun(5, func() {
			if m.Sweep(nil) != nil || math.IsNaN(m.Bound()) {
				t.Fail()
			}
		}), family.String())
	}
}

func TestMultiGPArguments(t *testing.T) {
	k, y, labels := mgpProblem(t, 8, 2, 1)
	indefinite := la.NewMatrix[float64](8, 8)
	for i := range 8 {
		indefinite.Set(i, i, 1)
	}
	indefinite.Set(0, 1, 9)
	indefinite.Set(1, 0, 9)
	bad, err := vi.NewDense(indefinite)
	require.NoError(t, err)
	wide, err := vi.NewDense(la.NewMatrix[float64](8, 9))
	require.NoError(t, err)
	nan := append([]float64(nil), y...)
	nan[3] = math.NaN()
	ones := make([]float64, 8)
	for i := range ones {
		ones[i] = 1
	}
	for _, c := range []struct {
		want   string
		g      Model
		k      vi.Kernels
		y      []float64
		labels bool
	}{
		{"kernels: nil", Model{}, nil, y, false},
		{"square", Model{}, wide, y, false},
		{"7 values for 8 samples", Model{}, k, y[:7], false},
		{"value 3 is NaN", Model{}, k, nan, false},
		{"every value is zero", Model{}, k, make([]float64, 8), false},
		{"label 0", Model{}, k, y, true},
		{"alike", Model{}, k, ones, true},
		{"Tau", Model{Tau: -1}, k, y, false},
		{"Ranks: 1 values", Model{Ranks: []int{8}}, k, y, false},
		{"Ranks[1] is 9", Model{Ranks: []int{8, 9}}, k, y, false},
		{"not of the Laplace family", Model{Family: FamilyLaplace, Prior: GIG{1, 1, 1}}, k, y, false},
		{"not a distribution", Model{Prior: GIG{-1, 0, 1}}, k, y, false},
		{"ARD has none", Model{Family: FamilyFlat, Prior: GIG{1, 0, 1}}, k, y, false},
		{"not known", Model{Family: 9, Prior: GIG{1, 0, 1}}, k, y, false},
		{"Start.Gamma[1] is 0", Model{Start: &Start{Gamma: []float64{1, 0}}}, k, y, false},
		{"Start.Y: 1 values", Model{Start: &Start{Y: []float64{1}}}, k, labels, true},
		{"not positive definite", Model{}, bad, y, false},
	} {
		fit := c.g.Fit
		if c.labels {
			fit = c.g.FitLabels
		}
		_, err := fit(context.Background(), c.k, c.y)
		assert.ErrorContains(t, err, c.want)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Model{}.Fit(ctx, k, y)
	assert.ErrorIs(t, err, context.Canceled)

	fit, err := Model{}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	s := fit.Posterior.State()
	_, err = NewPosterior(s)
	require.NoError(t, err)
	s.Tau = 0
	_, err = NewPosterior(s)
	assert.ErrorContains(t, err, "Tau")
	_, err = fit.Posterior.Predict(k, la.Matrix[float64]{}, vi.PredictOptions{})
	assert.ErrorContains(t, err, "self")
	only, err := fit.Posterior.Predict(k, la.Matrix[float64]{}, vi.PredictOptions{MeanOnly: true})
	require.NoError(t, err)
	assert.Nil(t, only.Variance)
}
