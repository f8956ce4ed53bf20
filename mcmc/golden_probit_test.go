package mcmc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

const goldenConditional = 1e-10

// probitData is data.json of the pmkl golden files.
type probitData struct {
	N, C, S, Nt   int
	T             []int
	X, Xstar      golden.Tensor
	Kernel        []string
	Theta         golden.Vec
	K, Kstar      golden.Tensor
	KernelScale   float64 `json:"kernel_scale"`
	distances     [][]la.Matrix[float64]
	distancesStar [][]la.Matrix[float64]
}

func readProbitData(t *testing.T) probitData {
	var d probitData
	golden.Read(t, "pmkl", "data.json", &d)
	square := func(a, b golden.Mat) la.Matrix[float64] {
		m := la.NewMatrix[float64](len(a), len(b))
		for i, x := range a {
			for j, y := range b {
				for k := range x {
					m.Row(i)[j] += (x[k] - y[k]) * (x[k] - y[k])
				}
			}
		}
		return m
	}
	for s := range d.S {
		d.distances = append(d.distances, []la.Matrix[float64]{square(d.X[s], d.X[s])})
		d.distancesStar = append(d.distancesStar, []la.Matrix[float64]{square(d.X[s], d.Xstar[s])})
	}
	return d
}

func dense(t testing.TB, k ...golden.Mat) *vi.Dense {
	t.Helper()
	var m []la.Matrix[float64]
	for _, x := range k {
		m = append(m, golden.MatrixOf(x))
	}
	out, err := vi.NewDense(m...)
	require.NoError(t, err)
	return out
}

// probitState is a sampler of the golden data with given Y, W and α.
func probitState(t *testing.T, p Probit, k vi.ParametricKernels, labels []int) *probitSampler {
	t.Helper()
	m, err := p.problem(k, labels)
	require.NoError(t, err)
	return newProbitSampler(m, &la.Workspace{Workers: 1})
}

// bounds reads rows of numbers among which are "inf" and "-inf".
func bounds(rows [][]any) golden.Mat {
	out := make(golden.Mat, len(rows))
	for i, row := range rows {
		for _, v := range row {
			switch v {
			case "inf":
				v = math.Inf(1)
			case "-inf":
				v = math.Inf(-1)
			}
			out[i] = append(out[i], v.(float64))
		}
	}
	return out
}

func logs(x golden.Vec) golden.Vec {
	out := make(golden.Vec, len(x))
	for i, v := range x {
		out[i] = math.Log(v)
	}
	return out
}

// likelihood returns log p(Y | W, K) = −½·Σ (y − f)² up to a constant, for f = W·K: the
// log likelihood of weights and kernel parameters given Y and W.
func (s *probitSampler) likelihood(f la.Matrix[float64]) float64 {
	var sum float64
	for c := range s.C {
		y, fc := s.y.Row(c), f.Row(c)
		for n, v := range y {
			d := v - fc[n]
			sum += float64(d * d)
		}
	}
	return -0.5 * sum
}

// logPowers is the log prior density of log β of a product, π and χ integrated out, up to a constant: the density
// of the sampler's coordinates log e, e = log(1 + ξ/β); log β is a function of log e with slope −e/(1 − e^(−e)).
func logPowers(s *probitSampler, beta golden.Vec) float64 {
	copy(s.beta, beta)
	copy(s.logBeta, logs(beta))
	at := make(golden.Vec, len(beta))
	s.locate(at)
	l := s.logWeightPrior(at)
	for _, v := range at {
		l += math.Log(-math.Expm1(-math.Exp(v))) - v
	}
	return l
}

// hyperDensity is the log density of π and χ given the weight of a product, by which the sampler
// draws them: π ~ Gamma(2, rate κ + log(1 + ξ/β)) and χ | π ~ Gamma(π + 1, rate β + ξ).
func hyperDensity(s *probitSampler, beta, pi, chi float64) float64 {
	gamma := func(x, shape, rate float64) float64 {
		l, _ := math.Lgamma(shape)
		return shape*math.Log(rate) - l + (shape-1)*math.Log(x) - rate*x
	}
	return gamma(pi, 2, s.kappa+math.Log1p(s.xi/beta)) + gamma(chi, pi+1, beta+s.xi)
}

// conditionalValues is gibbs_conditionals.json of the pmkl golden files: for each conditional
// distribution its moments, densities or ratios of densities.
type conditionalValues struct {
	Y, Prec golden.Mat
	Beta    golden.Vec
	Tau, Nu float64
	W       struct {
		Mean, DiagV golden.Mat
		LogdetV     golden.Vec
		VClass0     golden.Mat `json:"V_class0"`
		E, Draw     golden.Mat
	}
	Zeta struct {
		W     golden.Mat
		Shape float64
		Rate  golden.Mat
	}
	Cone struct {
		M             golden.Mat
		LogZ          golden.Vec
		Mode          golden.Vec `json:"mode_u"`
		H             golden.Vec `json:"h_mode"`
		Z             golden.Vec
		LogAccept     golden.Vec `json:"log_accept_of_mode_plus_z"`
		EY            golden.Mat `json:"E_y"`
		Componentwise struct {
			Lower, Upper        [][]any
			Mean, Uniform, Draw golden.Mat
		}
	}
	Binary struct {
		LogPY    golden.Vec `json:"log_p_Y_given_beta"`
		Sigma    golden.Vec
		Current  golden.Vec
		ProbZero golden.Vec `json:"prob_zero_given_rest"`
	}
	Linear struct {
		Beta, Proposal, Rho golden.Vec
		LogStep             golden.Vec `json:"log_step"`
		Loglik              float64    `json:"loglik"`
		LoglikProp          float64    `json:"loglik_prop"`
		LogRatio            float64    `json:"log_ratio"`
	} `json:"mh_linear"`
	Rho struct {
		Rho, Proposal, Beta golden.Vec
		Mu, Lam             float64
		LogRatio            float64 `json:"log_ratio"`
	} `json:"mh_rho"`
	Product struct {
		Beta, Proposal, Pi, Chi golden.Vec
		Loglik                  float64
		LoglikProp              float64 `json:"loglik_prop"`
		LogRatio                float64 `json:"log_ratio"`
	} `json:"mh_product"`
	Pi struct {
		Pi, Proposal, Beta, Chi golden.Vec
		Kappa                   float64
		LogRatio                golden.Vec `json:"log_ratio_per_component"`
	} `json:"mh_pi"`
	Chi struct {
		Pi, Beta    golden.Vec
		Xi          float64
		Shape, Rate golden.Vec
	}
	ThetaStep struct {
		Theta, Proposal, Beta golden.Vec
		Omega, Phi            float64
		LogRatio              float64 `json:"log_ratio"`
	} `json:"mh_theta"`
	Predict struct {
		W, P golden.Mat
	} `json:"predict_given_W"`
}

// conditionals are the golden values and what the samplers of the tests are made of.
type conditionals struct {
	probitData
	conditionalValues
	kernels fixedKernels
	alpha   vi.Gamma
}

// sampler returns a sampler at the golden Y, W and α.
func (g *conditionals) sampler(t *testing.T, p Probit, k vi.ParametricKernels) *probitSampler {
	t.Helper()
	s := probitState(t, p, k, g.T)
	s.y.CopyFrom(golden.MatrixOf(g.Y))
	s.alpha.CopyFrom(golden.MatrixOf(g.Prec))
	s.w.CopyFrom(golden.MatrixOf(g.W.Draw))
	return s
}

// TestGoldenConditionals compares every conditional distribution of the Gibbs sampler, and the steps
// that draw from it, with the golden values.
func TestGoldenConditionals(t *testing.T) {
	g := conditionals{probitData: readProbitData(t)}
	golden.Read(t, "pmkl", "gibbs_conditionals.json", &g.conditionalValues)
	g.kernels = fixedKernels{dense(t, g.K...)}
	g.alpha = vi.Gamma{Shape: g.Tau, Scale: 1 / g.Nu}
	for _, c := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"W", g.testWeights},
		{"zeta", g.testPrecisions},
		{"cone", g.testCone},
		{"componentwise", g.testComponentwise},
		{"binary", g.testSwitches},
		{"linear", g.testSumSteps},
		{"rho", g.testDirichletParameters},
		{"product", g.testProductSteps},
		{"pi and chi", g.testProductHyperparameters},
		{"theta", g.testKernelParameters},
		{"predict", g.testPredictions},
	} {
		t.Run(c.name, c.test)
	}
}

// testWeights draws W: mean, covariance and log determinant of each class, and the draw from given normals.
func (g *conditionals) testWeights(t *testing.T) {
	s := g.sampler(t, Probit{Beta: g.Beta, Alpha: g.alpha}, g.kernels)
	var r replay
	for _, e := range g.W.E {
		r.normals = append(r.normals, e...)
	}
	require.NoError(t, s.sweepW(&r))
	for c := range g.C {
		near(t, g.W.Draw[c], s.w.Row(c), goldenConditional, "draw")
		mean := append(golden.Vec(nil), s.fit.u.Row(c)...)
		la.Trsv(la.Transpose, s.fit.factors[c], mean)
		v := s.fit.factors[c].Clone()
		la.CholeskyInv(nil, v)
		logDet := -la.LogDet(s.fit.factors[c])
		for i, ri := range s.fit.root.Row(c) {
			mean[i] *= ri
			logDet += 2 * math.Log(ri)
			assert.InDelta(t, g.W.DiagV[c][i], ri*ri*v.At(i, i), goldenConditional)
			for j := range i + 1 {
				if c == 0 {
					assert.InDelta(t, g.W.VClass0[i][j], ri*s.fit.root.At(c, j)*v.At(i, j), goldenConditional)
				}
			}
		}
		near(t, g.W.Mean[c], mean, goldenConditional, "mean")
		assert.InDelta(t, g.W.LogdetV[c], logDet, 30*goldenConditional)
	}
}

// testPrecisions draws α, whose rate is ν + w²/2.
func (g *conditionals) testPrecisions(t *testing.T) {
	// With the same random numbers a draw times its rate does not depend on the
	// weight; with a weight of 0 the rate is ν.
	s, zero := g.sampler(t, Probit{Beta: g.Beta, Alpha: g.alpha}, g.kernels), g.sampler(t, Probit{Beta: g.Beta, Alpha: g.alpha}, g.kernels)
	s.w.CopyFrom(golden.MatrixOf(g.Zeta.W))
	zero.w.Fill(0)
	stream := func() *replay {
		r := &replay{}
		for range g.C * g.N {
			r.normals, r.uniforms = append(r.normals, 0.3), append(r.uniforms, 0.5)
		}
		return r
	}
	s.sweepAlpha(stream())
	zero.sweepAlpha(stream())
	shape := g.Zeta.Shape // of Marsaglia and Tsang's variable from the stream
	v := math.Pow(1+0.3/math.Sqrt(9*(shape-1.0/3)), 3) * (shape - 1.0/3)
	for c := range g.C {
		for n := range g.N {
			assert.InEpsilon(t, g.Zeta.Rate[c][n], g.Nu*zero.alpha.At(c, n)/s.alpha.At(c, n), goldenConditional)
			assert.InEpsilon(t, v/g.Zeta.Rate[c][n], s.alpha.At(c, n), goldenConditional)
		}
	}
}

// testCone draws Y of every sample: the mode, the normaliser, and proposals that are accepted or rejected
// by uniforms just below and just above their probability.
func (g *conditionals) testCone(t *testing.T) {
	var cone special.Cone
	p, ratio := make(golden.Vec, g.C), make(golden.Vec, g.C)
	for n, label := range g.T {
		m := make(golden.Vec, g.C)
		for c := range m {
			m[c] = g.Cone.M[c][n]
		}
		cone.SetUnit(label, m)
		u := cone.Mode()
		assert.InDelta(t, g.Cone.Mode[n], u, 1e-8) // where h is flat
		h := cone.LogDensity(u)
		assert.InDelta(t, g.Cone.H[n], h, goldenConditional)
		// What drawCone compares with the uniform: the mode's own error cancels to
		// second order; the error of u + z does not.
		z := g.Cone.Z[n] + (g.Cone.Mode[n] - u)
		accept := cone.LogDensity(u+z) - h + 0.5*z*z
		assert.InDelta(t, g.Cone.LogAccept[n], accept, 1e-8)
		coneProbabilities(m, p, ratio)
		assert.InDelta(t, g.Cone.LogZ[n], math.Log(p[label]), goldenConditional)

		y := make(golden.Vec, g.C)
		accepted := &replay{normals: golden.Vec{z}, uniforms: golden.Vec{math.Exp(g.Cone.LogAccept[n]) * 0.999999}}
		for range g.C {
			accepted.uniforms = append(accepted.uniforms, 0.5)
		}
		require.NoError(t, drawCone(accepted, &cone, label, m, y))
		assert.InDelta(t, m[label]+g.Cone.Mode[n]+g.Cone.Z[n], y[label], 1e-12)
		rejected := &replay{normals: golden.Vec{z, 0}, uniforms: golden.Vec{math.Exp(g.Cone.LogAccept[n])*1.000001 + 1e-12, 0.5, 0.5, 0.5, 0.5}}
		if rejected.uniforms[0] < 1 {
			require.NoError(t, drawCone(rejected, &cone, label, m, y))
			assert.InDelta(t, m[label]+u, y[label], 1e-12)
		}
	}
}

// testComponentwise draws one component of Y given the others, from given uniforms.
func (g *conditionals) testComponentwise(t *testing.T) {
	lower, upper := bounds(g.Cone.Componentwise.Lower), bounds(g.Cone.Componentwise.Upper)
	for c := range g.C {
		for n := range g.N {
			m, u, want := g.Cone.M[c][n], g.Cone.Componentwise.Uniform[c][n], g.Cone.Componentwise.Draw[c][n]
			if math.IsInf(lower[c][n], -1) {
				assert.InDelta(t, want, below(upper[c][n], m, u), goldenConditional)
			} else { // mirrored
				assert.InDelta(t, want, -below(-lower[c][n], -m, u), goldenConditional)
			}
		}
	}
}

// testSwitches sums W out of the evidence of every state of the switches, and changes one switch at a time.
func (g *conditionals) testSwitches(t *testing.T) {
	s := g.sampler(t, Probit{Rule: probit.RuleBin, On: g.Binary.Sigma, Alpha: g.alpha}, g.kernels)
	evidence := func(index int) float64 {
		for p := range s.beta {
			s.beta[p] = float64(index >> p & 1)
		}
		s.recombine()
		require.NoError(t, s.solve(&s.fit, s.kernel, s.gram))
		return s.evidence(&s.fit)
	}
	for index, want := range g.Binary.LogPY {
		assert.InDelta(t, want, evidence(index), goldenConditional*math.Abs(want))
	}
	// One switch at a time: a uniform just below the probability of a change changes
	// it, one just above does not. The uniforms of the other switches leave them.
	index := 0
	for p, b := range g.Binary.Current {
		index |= int(b) << p
	}
	for p, zero := range g.Binary.ProbZero {
		change := zero
		if g.Binary.Current[p] == 0 {
			change = 1 - zero
		}
		const margin = 1e-6 // 1 − prob_zero has lost digits
		for _, side := range []float64{-margin, margin} {
			u := change * (1 + side)
			if !(u < 1) || change < 1e-9 {
				continue
			}
			evidence(index)
			r := &replay{}
			for q := range g.S {
				if q == p {
					r.uniforms = append(r.uniforms, u)
				} else {
					r.uniforms = append(r.uniforms, math.Nextafter(1, 0))
				}
			}
			for range g.C * g.N {
				r.normals = append(r.normals, 0)
			}
			if p > 0 {
				// Switches before p would have moved: their probability is near 1.
				s.on = append(golden.Vec(nil), g.Binary.Sigma...)
				for q := range p {
					s.on[q] = 1e-300
					if g.Binary.Current[q] == 1 {
						s.on[q] = math.Nextafter(1, 0)
					}
				}
			}
			require.NoError(t, s.sweepSwitches(r))
			s.on = g.Binary.Sigma
			changed := s.beta[p] != g.Binary.Current[p]
			assert.Equal(t, side < 0, changed, "switch %d, uniform %g of %g", p, u, change)
		}
	}
}

// testSumSteps proposes weights on the simplex: likelihoods, proposal and ratio of densities.
func (g *conditionals) testSumSteps(t *testing.T) {
	s := g.sampler(t, Probit{Rule: probit.RuleWSum, Alpha: g.alpha}, g.kernels)
	copy(s.beta, g.Linear.Beta)
	s.recombine()
	s.project()
	at := func(beta golden.Vec) float64 {
		s.try(s.composite, beta)
		return s.likelihood(s.trial.f)
	}
	assert.InDelta(t, g.Linear.LoglikProp-g.Linear.Loglik, at(g.Linear.Proposal)-s.likelihood(s.f), 40*goldenConditional)
	s.sumSteps.measure(s)
	moved := logs(g.Linear.Beta)
	la.Axpy(1, g.Linear.LogStep, moved)
	beta := make(golden.Vec, g.S)
	normalise(moved, beta)
	near(t, g.Linear.Proposal, beta, goldenConditional)
	rise := s.sumSteps.density(beta, moved, g.Linear.Rho) - s.sumSteps.density(g.Linear.Beta, logs(g.Linear.Beta), g.Linear.Rho)
	assert.InDelta(t, g.Linear.LogRatio, rise, 40*goldenConditional)
}

// testDirichletParameters compares the ratio of densities of ρ.
func (g *conditionals) testDirichletParameters(t *testing.T) {
	prior := vi.Gamma{Shape: g.Rho.Mu, Scale: 1 / g.Rho.Lam}
	l := logs(g.Rho.Beta)
	assert.InDelta(t, g.Rho.LogRatio, logDirichlet(g.Rho.Proposal, l, prior)-logDirichlet(g.Rho.Rho, l, prior), goldenConditional)
}

// testProductSteps proposes weights of a product: likelihoods and ratio of densities.
func (g *conditionals) testProductSteps(t *testing.T) {
	s := g.sampler(t, Probit{Rule: probit.RuleWProd, Alpha: g.alpha}, g.kernels)
	copy(s.pi, g.Product.Pi)
	copy(s.chi, g.Product.Chi)
	s.try(s.composite, g.Product.Beta)
	now := s.likelihood(s.trial.f)
	s.try(s.composite, g.Product.Proposal)
	then := s.likelihood(s.trial.f)
	assert.InDelta(t, g.Product.LoglikProp-g.Product.Loglik, then-now, 40*goldenConditional)
	// The sampler's density of log β has π and χ integrated out: with theirs given β it is
	// the golden one.
	rise := then - now + logPowers(s, g.Product.Proposal) - logPowers(s, g.Product.Beta)
	var alone float64 // by the density of one weight at a time
	for p, b := range g.Product.Beta {
		alone += s.logPower(math.Log(g.Product.Proposal[p])) - s.logPower(math.Log(b))
	}
	require.InDelta(t, logPowers(s, g.Product.Proposal)-logPowers(s, g.Product.Beta), alone, goldenConditional)
	for p := range g.S {
		rise += hyperDensity(s, g.Product.Proposal[p], s.pi[p], s.chi[p]) - hyperDensity(s, g.Product.Beta[p], s.pi[p], s.chi[p])
	}
	assert.InDelta(t, g.Product.LogRatio, rise, 40*goldenConditional)
}

// testProductHyperparameters draws π and χ of a product.
func (g *conditionals) testProductHyperparameters(t *testing.T) {
	for p := range g.S {
		s := g.sampler(t, Probit{Rule: probit.RuleWProd, Alpha: g.alpha, Kappa: g.Pi.Kappa}, g.kernels)
		of := func(pi float64) float64 { return math.Log(pi) + hyperDensity(s, g.Pi.Beta[p], pi, g.Pi.Chi[p]) }
		assert.InDelta(t, g.Pi.LogRatio[p], of(g.Pi.Proposal[p])-of(g.Pi.Pi[p]), goldenConditional)
	}
	// χ from a stream: as for the precisions.
	s := g.sampler(t, Probit{Rule: probit.RuleWProd, Alpha: g.alpha, Xi: g.Chi.Xi}, g.kernels)
	copy(s.pi, g.Chi.Pi)
	copy(s.beta, g.Chi.Beta)
	s.drawRates(&replay{normals: golden.Vec{0, 0, 0}, uniforms: golden.Vec{0.5, 0.5, 0.5}})
	for p := range g.S {
		assert.InEpsilon(t, (g.Chi.Shape[p]-1.0/3)/g.Chi.Rate[p], s.chi[p], goldenConditional)
	}
}

// testKernelParameters proposes parameters of kernels.
func (g *conditionals) testKernelParameters(t *testing.T) {
	k, err := NewExponentialKernels(g.distances)
	require.NoError(t, err)
	s := g.sampler(t, Probit{Beta: g.ThetaStep.Beta, Alpha: g.alpha, Theta: vi.Gamma{Shape: g.ThetaStep.Omega, Scale: 1 / g.ThetaStep.Phi}}, k)
	at := func(theta golden.Vec) float64 {
		copy(s.theta, theta)
		require.NoError(t, s.renew())
		s.project()
		return s.likelihood(s.f) + logParameters(s.theta, s.probitProblem.theta)
	}
	now := at(g.ThetaStep.Theta)
	assert.InDelta(t, g.ThetaStep.LogRatio, at(g.ThetaStep.Proposal)-now, 40*goldenConditional)
}

// testPredictions predicts probabilities from given draws of W.
func (g *conditionals) testPredictions(t *testing.T) {
	draws := &ProbitDraws{
		Draws: &Draws{variables: []Variable{{"W", g.C, g.N}}, width: g.C * g.N, chains: golden.Mat{golden.MatrixOf(g.Predict.W).Data}},
		rule:  probit.RuleFixSum, beta: g.Beta, counts: make([]int, g.S),
	}
	p, err := draws.Predict(t.Context(), dense(t, g.Kstar...), vi.PredictOptions{Workers: 2})
	require.NoError(t, err)
	for i, want := range g.Predict.P {
		near(t, want, p.Probability.Row(i), 1e-11)
	}
}
