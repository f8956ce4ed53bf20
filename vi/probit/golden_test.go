package probit

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Tolerances of the pmkl README, relative to max(1, largest entry).
const (
	probitTables  = 1e-11
	probitRun     = 1e-9
	probitProduct = 1e-8
	probitWeights = 1e-10
)

type probitData struct {
	C, S   int
	T      []int
	X      golden.Tensor
	Kernel []string
	Theta  golden.Vec
	K      golden.Tensor
	Kstar  golden.Tensor
}

// number reads a double, or one of the strings "inf" and "-inf".
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"inf"`:
		*n = number(math.Inf(1))
	case `"-inf"`:
		*n = number(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(n))
	}
	return nil
}

// probitState is the state after an iteration.
type probitState struct {
	W, DiagV, M, Y, Zb, Ea golden.Mat
	LogdetV, LogZ          golden.Vec
	Bound                  number
	P                      golden.Vec
	Eb, Elogb, Rho         golden.Vec
	Ebb                    golden.Mat
	Epi, Echi              golden.Vec
	Ess                    float64
	Terms                  map[string]float64
}

type probitRunFile struct {
	Note, Name string
	Hyper      struct{ Tau, Nu json.RawMessage }
	Options    struct {
		W2           string `json:"w2"`
		ExactWeights *bool  `json:"exact_weights"`
	}
	Tau, Nu    float64
	Y0, Ea0    golden.Mat
	Beta       golden.Vec
	Beta0      golden.Vec
	Rho0       golden.Vec
	Sigma      golden.Vec
	AllowEmpty bool `json:"allow_empty"`
	Ridge      golden.Vec
	F, Fstar   golden.Mat
	Iterations map[string]probitState
	Bounds     golden.Vec
	Predict    *struct {
		Mean, Var, P golden.Mat
		Eb           golden.Vec
	} `json:"predict_after_50"`
}

type probitProposals struct {
	B, R  golden.Mat
	BProp golden.Vec `json:"B_logprop"`
	RProp golden.Vec `json:"R_logprop"`
}

func TestGolden(t *testing.T) {
	golden.Run(t, "pmkl", []string{
		"vb_fixsum.json", "vb_fixprod.json", "predict.json", "special.json", "trunc_moments.json",
	}, goldenFile)
}

func goldenFile(t *testing.T, path string, data []byte) {
	dir := filepath.Dir(path)
	raw, err := os.ReadFile(filepath.Join(dir, "data.json"))
	require.NoError(t, err)
	var d probitData
	require.NoError(t, json.Unmarshal(raw, &d))
	switch name := strings.TrimSuffix(filepath.Base(path), ".json"); name {
	case "data":
		t.Skip("input of the other files")
	case "gibbs_conditionals", "mcmc_summary":
		t.Skip("of the sampler: see package mcmc")
	case "special":
		goldenNormal(t, data)
	case "trunc_moments":
		goldenCones(t, data)
	case "predict":
		goldenClassProbabilities(t, data)
	case "vb_fixsum", "vb_fixprod", "vb_ridge", "vb_features":
		var r probitRunFile
		require.NoError(t, json.Unmarshal(data, &r))
		k, star := d.K, d.Kstar
		p := Model{Rule: RuleFixSum, Beta: r.Beta}
		switch name {
		case "vb_fixprod":
			p.Rule = RuleFixProd
		case "vb_ridge":
			count := map[int]float64{}
			for _, c := range d.T {
				count[c]++
			}
			p.Ridge = r.Ridge[0] * float64(len(d.T)) / count[d.T[0]]
		case "vb_features":
			k, star = golden.Tensor{r.F}, golden.Tensor{r.Fstar}
		}
		goldenProbitRun(t, p, r, k, star, d.T, probitRun, nil)
	case "vb_priors":
		var f struct{ Runs []probitRunFile }
		require.NoError(t, json.Unmarshal(data, &f))
		for _, r := range f.Runs {
			t.Run(r.Name, func(t *testing.T) {
				p := Model{Beta: r.Beta, Published: r.Options.W2 == "mean"}
				goldenProbitRun(t, p, r, d.K, d.Kstar, d.T, probitRun, nil)
			})
		}
	case "vb_binary", "vb_binary_structured":
		var f struct {
			Scale float64 `json:"kernel_scale"`
			Runs  []probitRunFile
		}
		require.NoError(t, json.Unmarshal(data, &f))
		update := WeightUpdateMeanField
		if name == "vb_binary_structured" {
			update = WeightUpdateStructured
		}
		k, star := binaryKernels(d.K, f.Scale), binaryKernels(d.Kstar, f.Scale)
		for _, r := range f.Runs {
			t.Run(fmt.Sprint("empty=", r.AllowEmpty), func(t *testing.T) {
				p := Model{Rule: RuleBin, Beta: r.Beta0, On: r.Sigma, NotEmpty: !r.AllowEmpty, Update: update}
				goldenProbitRun(t, p, r, k, star, d.T, probitRun, nil)
			})
		}
	case "vb_linear_is", "vb_product_is":
		var f struct {
			Tau, Nu, Mu, Lam, Kappa, Xi float64
			Proposals                   probitProposals
			Runs                        []probitRunFile
		}
		require.NoError(t, json.Unmarshal(data, &f))
		for _, r := range f.Runs {
			t.Run(r.Name, func(t *testing.T) {
				r.Tau, r.Nu = f.Tau, f.Nu
				p := Model{Rule: RuleWSum, Beta: r.Beta0, Search: WeightSearchSampling, Samples: len(f.Proposals.B), Rho: vi.Gamma{Shape: f.Mu, Scale: 1 / f.Lam}}
				tol := probitRun
				if name == "vb_product_is" {
					p.Rule, p.Kappa, p.Xi, tol = RuleWProd, f.Kappa, f.Xi, probitProduct
				}
				if *r.Options.ExactWeights {
					p.Update = WeightUpdateMeanField
				}
				goldenProbitRun(t, p, r, d.K, d.Kstar, d.T, tol, &f.Proposals)
			})
		}
	case "is_weights":
		goldenImportance(t, d, data)
	case "bound_terms":
		goldenBoundTerms(t, d, data)
	default:
		t.Fatalf("pmkl/%s is not known", name)
	}
}

// binaryKernels returns scale·[K_0, K_1, K_0^1.1 element by element].
func binaryKernels(from golden.Tensor, scale float64) golden.Tensor {
	k := make(golden.Tensor, 3)
	for i, power := range []float64{1, 1, 1.1} {
		for _, row := range from[[]int{0, 1, 0}[i]] {
			var out golden.Vec
			for _, v := range row {
				out = append(out, scale*math.Pow(v, power))
			}
			k[i] = append(k[i], out)
		}
	}
	return k
}

func rowGammas(t *testing.T, tau, nu json.RawMessage, C int) []vi.Gamma {
	var out []vi.Gamma
	var a, b []float64
	if json.Unmarshal(tau, &a) != nil {
		var x, y float64
		require.NoError(t, json.Unmarshal(tau, &x))
		require.NoError(t, json.Unmarshal(nu, &y))
		for range C {
			a, b = append(a, x), append(b, y)
		}
	} else {
		require.NoError(t, json.Unmarshal(nu, &b))
	}
	for c := range C {
		out = append(out, vi.Gamma{Shape: a[c], Scale: 1 / b[c]})
	}
	return out
}

// near is requireClose with tolerances relative to max(1, largest entry).
func near(t testing.TB, name string, want, got any, tol float64) {
	t.Helper()
	testkit.RequireClose(t, name, append(golden.Vec{1}, testkit.Flat(want)...), append(golden.Vec{1}, testkit.Flat(got)...), tol)
}

func goldenProbitRun(t *testing.T, p Model, r probitRunFile, k, star golden.Tensor, labels []int, tol float64, given *probitProposals) {
	C := len(r.Y0)
	if r.Hyper.Tau != nil {
		p.ClassAlpha = rowGammas(t, r.Hyper.Tau, r.Hyper.Nu, C)
	} else {
		p.Alpha = vi.Gamma{Shape: r.Tau, Scale: 1 / r.Nu}
	}
	p.Workers, p.Plain = 2, true
	p.Start = &Start{Y: golden.MatrixOf(r.Y0), Alpha: golden.MatrixOf(r.Ea0)}
	m, err := p.model(testkit.Must(vi.NewDense(golden.MatricesOf(k)...)), labels)
	require.NoError(t, err)
	if given != nil {
		giveProposals(t, m, given)
	}
	for i, want := range r.Bounds {
		require.NoError(t, m.Sweep(nil))
		require.InDelta(t, want, m.Bound(), tol*max(1, math.Abs(want)), "bound after sweep %d", i+1)
		s, ok := r.Iterations[fmt.Sprint(i+1)]
		if !ok {
			continue
		}
		at := func(name string) string { return fmt.Sprintf("%s after sweep %d", name, i+1) }
		var alpha golden.Mat
		for c := range C {
			var row golden.Vec
			for d := range m.D {
				row = append(row, m.alpha[c].Mean(d))
			}
			alpha = append(alpha, row)
		}
		for _, v := range []struct {
			name      string
			want, got any
		}{
			{"W", s.W, m.w}, {"diag V", s.DiagV, m.variance}, {"log|V|", s.LogdetV, m.logDet},
			{"M", s.M, m.location}, {"log Z", s.LogZ, m.logZ}, {"Y", s.Y, m.y}, {"E[α]", s.Ea, alpha},
		} {
			if len(testkit.Flat(v.want)) > 0 { // later snapshots are shorter
				near(t, at(v.name), v.want, v.got, tol)
			}
		}
		if s.Eb != nil {
			near(t, at("E[β]"), s.Eb, m.mean, tol)
		}
		switch b := m.beta.(type) {
		case *switches:
			near(t, at("q(β)"), s.P, b.prob, tol)
		case *structured:
			near(t, at("q(β)"), s.P, b.prob[len(b.prob)-len(s.P):], tol)
		case *simplexSample:
			if s.Elogb != nil {
				near(t, at("E[log β]"), s.Elogb, b.beta.meanLog, tol)
			}
			near(t, at("E[ρ]"), s.Rho, b.meanRho, tol)
			if s.Ess > 0 {
				near(t, at("ESS"), s.Ess, b.effective(), tol)
			}
			if s.Ebb != nil {
				square := b.cov.Clone()
				for p, v := range m.mean {
					la.Axpy(v, m.mean, square.Row(p))
				}
				near(t, at("E[ββ']"), s.Ebb, square, tol)
			}
		default:
			checkPowers(t, at, b, s, tol)
		}
	}
	if r.Predict == nil {
		return
	}
	posterior, err := m.posterior()
	require.NoError(t, err)
	got, err := posterior.Predict(testkit.Must(vi.NewDense(golden.MatricesOf(star)...)), vi.PredictOptions{Workers: 2})
	require.NoError(t, err)
	if r.Predict.Mean != nil { // not of mixtures
		near(t, "predictive mean", r.Predict.Mean, got.Mean, tol)
		near(t, "predictive variance", r.Predict.Var, got.Variance, tol)
	}
	if r.Predict.Eb != nil {
		near(t, "E[β] after the last W", r.Predict.Eb, posterior.State().Beta, tol)
	}
	near(t, "probabilities", r.Predict.P, got.Probability, tol)
}

func logsOf(x golden.Mat) golden.Mat {
	var out golden.Mat
	for _, row := range x {
		var l golden.Vec
		for _, v := range row {
			l = append(l, math.Log(v))
		}
		out = append(out, l)
	}
	return out
}

func (s *importance) give(points golden.Mat, proposal golden.Vec) {
	n := newImportance(len(points), len(points[0]))
	n.points.CopyFrom(golden.MatrixOf(points))
	n.logs.CopyFrom(golden.MatrixOf(logsOf(points)))
	copy(n.proposal, proposal)
	*s = *n
}

func giveProposals(t *testing.T, m *model, given *probitProposals) {
	switch b := m.beta.(type) {
	case *simplexSample:
		b.beta.give(given.B, given.BProp)
		b.rho.give(given.R, given.RProp)
		b.fixed = true
	default:
		givePowers(t, b, given)
	}
}

func goldenNormal(t *testing.T, data []byte) {
	var f struct {
		X, Mills golden.Vec
		LogNdtr  golden.Vec `json:"log_ndtr"`
	}
	require.NoError(t, json.Unmarshal(data, &f))
	for i, x := range f.X {
		lambda, logCDF := special.Mills(x)
		above, _, logZ := special.NormalAbove(-x)
		tol := 1e-13
		if x > 5 {
			tol = 1e-12
		}
		for _, got := range []float64{logCDF, logZ, special.LogNormalCDF(x)} {
			assert.InDelta(t, f.LogNdtr[i], got, tol*math.Abs(f.LogNdtr[i])+1e-300, "log Φ(%g)", x)
		}
		for _, got := range []float64{lambda, above} {
			assert.InDelta(t, f.Mills[i], got, 1e-13*math.Abs(f.Mills[i])+1e-300, "λ(%g)", x)
		}
	}
}

func goldenCones(t *testing.T, data []byte) {
	var f struct {
		Cases []struct {
			M, Y golden.Vec
			T    int
			LogZ float64
		}
	}
	require.NoError(t, json.Unmarshal(data, &f))
	require.NotEmpty(t, f.Cases)
	var cone special.Cone
	for _, c := range f.Cases {
		y := make(golden.Vec, len(c.M))
		near(t, fmt.Sprint("log Z of ", c.M), c.LogZ, cone.Mean(c.T, c.M, y), probitTables)
		near(t, fmt.Sprint("E[y] of ", c.M), c.Y, y, probitTables)
	}
}

func goldenClassProbabilities(t *testing.T, data []byte) {
	var f struct {
		Cases []struct {
			M, SD, P golden.Vec
			LogP     []number
		}
	}
	require.NoError(t, json.Unmarshal(data, &f))
	require.NotEmpty(t, f.Cases)
	var cone special.Cone
	for _, c := range f.Cases {
		for i, want := range c.LogP {
			got := cone.LogProbability(i, c.M, c.SD)
			assert.InDelta(t, float64(want), got, probitTables*max(1, math.Abs(float64(want))), "%v", c)
			assert.InDelta(t, c.P[i], math.Exp(got), probitTables)
		}
	}
}

// goldenState returns a model of the data's kernels in a given state.
func goldenState(t *testing.T, p Model, d probitData, W, Y golden.Mat) *model {
	p.Start = &Start{Y: golden.MatrixOf(Y)}
	m, err := p.model(testkit.Must(vi.NewDense(golden.MatricesOf(d.K)...)), d.T)
	require.NoError(t, err)
	m.w.CopyFrom(golden.MatrixOf(W))
	return m
}

// importanceMoments are the golden log weights of a sample and what follows from them.
type importanceMoments struct {
	A                         golden.Mat
	B, Logw, W, Eb, Elogb     golden.Vec
	Ebb                       golden.Mat
	LogNorm                   float64 `json:"log_norm"`
	ElogQ, Ess                float64
	Logp                      golden.Vec
	Entropy                   float64
	Erho, Etheta, Loglik      golden.Vec
	Mu, Lam, Kappa, Xi        float64
	R                         golden.Mat
	RProp                     golden.Vec `json:"R_logprop"`
	Epi, Echi, Elogchi, Shape golden.Vec
	Rate                      golden.Vec
	ElgammaPi                 golden.Vec `json:"E_lgamma_pi"`
}

// importanceCase is the golden file of importance samples: a state of the regressors, and for each
// kind of weights the samples and their moments, with the covariances of W (exact) and without
// (plug-in).
type importanceCase struct {
	data probitData

	State struct {
		W golden.Mat
		V golden.Tensor
		Y golden.Mat
	}
	Linear struct {
		RhoBar        golden.Vec `json:"rho_bar"`
		B             golden.Mat
		BProp         golden.Vec `json:"B_logprop"`
		Exact, Plugin importanceMoments
	}
	Rho    importanceMoments
	Binary struct {
		Sigma         golden.Vec
		Exact, Plugin importanceMoments
	}
	Product struct {
		B             golden.Mat
		BProp         golden.Vec `json:"B_logprop"`
		Epi, Echi     golden.Vec
		Exact, Plugin importanceMoments
	}
	Pi struct {
		Elogb, Elogchi, Epi golden.Vec
		Kappa               float64
		ElgammaPi           golden.Vec `json:"E_lgamma_pi"`
		ElogQ               golden.Vec
	}
	Chi struct {
		Epi, Eb, Shape, Rate golden.Vec
		Xi                   float64
	}
	Theta struct {
		Beta          golden.Vec
		Omega, Phi    float64
		Thetas        golden.Mat
		Exact, Plugin importanceMoments
	}
}

// goldenImportance compares importance samples of weights and parameters, and the exact posterior of
// switches, with the golden values.
func goldenImportance(t *testing.T, d probitData, data []byte) {
	g := &importanceCase{data: d}
	require.NoError(t, json.Unmarshal(data, g))
	for name, update := range map[string]WeightUpdate{"mean field": WeightUpdateMeanField, "plug-in": WeightUpdatePlugIn} {
		t.Run(name, func(t *testing.T) {
			t.Run("sum", func(t *testing.T) { g.testSum(t, update) })
			t.Run("switches", func(t *testing.T) { g.testSwitches(t, update) })
			t.Run("parameters", func(t *testing.T) { g.testParameters(t, update) })
			t.Run("product", func(t *testing.T) { g.testProduct(t, update) })
		})
	}
	t.Run("hyperparameters of a product", g.testPowerPriors)
}

// moments returns the moments that the update computes.
func moments(update WeightUpdate, exact, plugIn importanceMoments) importanceMoments {
	if update == WeightUpdatePlugIn {
		return plugIn
	}
	return exact
}

// state returns a model in the golden state, with the sum of the covariances of W.
func (g *importanceCase) state(t *testing.T, p Model) *model {
	m := goldenState(t, p, g.data, g.State.W, g.State.Y)
	g.setV(m)
	return m
}

// setV gives a model the golden covariances of W.
func (g *importanceCase) setV(m *model) {
	m.sum.Fill(0)
	for _, v := range g.State.V {
		for i, row := range v {
			la.Axpy(1, row, m.sum.Row(i))
		}
	}
}

// check compares a sample's weights and moments.
func (want importanceMoments) check(t *testing.T, name string, s *importance) {
	t.Helper()
	var top float64
	for _, v := range want.Logw {
		top = max(top, math.Abs(v))
	}
	var logw golden.Vec
	for i, v := range s.target {
		logw = append(logw, v-s.proposal[i])
	}
	assert.InDeltaSlice(t, want.Logw, logw, probitWeights*top, "%s: log weights", name)
	near(t, name+" weights", want.W, s.weight, probitWeights)
	near(t, name+" log norm", want.LogNorm, s.logNorm, probitWeights)
	near(t, name+" E[log q]", want.ElogQ, s.meanLogQ, probitWeights)
	near(t, name+" ESS", want.Ess, s.effective, probitWeights)
	if want.Eb != nil {
		near(t, name+" mean", want.Eb, s.mean, probitWeights)
	}
	if want.Elogb != nil && name != "rho" {
		near(t, name+" mean log", want.Elogb, s.meanLog, probitWeights)
	}
}

// testSum compares weights on the simplex, and then ρ given their mean logarithms.
func (g *importanceCase) testSum(t *testing.T, update WeightUpdate) {
	want := moments(update, g.Linear.Exact, g.Linear.Plugin)
	m := g.state(t, Model{Rule: RuleWSum, Search: WeightSearchSampling, Update: update})
	s := m.beta.(*simplexSample)
	s.beta.give(g.Linear.B, g.Linear.BProp)
	copy(s.meanRho, g.Linear.RhoBar)
	s.measure(m)
	near(t, "A", want.A, s.a, probitWeights)
	near(t, "b", want.B, s.b, probitWeights)
	require.NoError(t, s.solve(nil))
	want.check(t, "linear", s.beta)
	cov := golden.MatrixOf(want.Ebb)
	for p, v := range want.Eb {
		la.Axpy(-v, want.Eb, cov.Row(p))
	}
	near(t, "Cov β", cov, s.cov, probitWeights)

	s.prior = vi.Gamma{Shape: g.Rho.Mu, Scale: 1 / g.Rho.Lam}
	s.rho.give(g.Rho.R, g.Rho.RProp)
	copy(s.beta.meanLog, g.Rho.Elogb)
	require.NoError(t, s.solveRho(nil))
	g.Rho.check(t, "rho", s.rho)
	near(t, "E[ρ]", g.Rho.Erho, s.meanRho, probitWeights)
}

// testSwitches compares the exact posterior of the switches.
func (g *importanceCase) testSwitches(t *testing.T, update WeightUpdate) {
	want := moments(update, g.Binary.Exact, g.Binary.Plugin)
	m := g.state(t, Model{Rule: RuleBin, On: g.Binary.Sigma, Update: update})
	b := m.beta.(*switches)
	b.measure(m)
	b.solve(m.mean)
	var logs golden.Vec
	for _, q := range b.prob {
		logs = append(logs, math.Log(q))
	}
	near(t, "log q(β)", want.Logp, logs, probitWeights)
	near(t, "E[β] of Bin", want.Eb, m.mean, probitWeights)
	near(t, "entropy", want.Entropy, b.entropy, probitWeights)
}

// testParameters compares parameters of kernels, proposed from their prior: the golden log weights
// leave its density out.
func (g *importanceCase) testParameters(t *testing.T, update WeightUpdate) {
	want := moments(update, g.Theta.Exact, g.Theta.Plugin)
	m, err := Model{
		Beta: g.Theta.Beta, Update: update, Search: WeightSearchSampling,
		Theta: vi.Gamma{Shape: g.Theta.Omega, Scale: 1 / g.Theta.Phi}, Start: &Start{Y: golden.MatrixOf(g.State.Y)},
	}.parametricModel(thetaKernels{x: g.data.X}, g.data.T)
	require.NoError(t, err)
	m.w.CopyFrom(golden.MatrixOf(g.State.W))
	g.setV(m)
	prior := make(golden.Vec, len(g.Theta.Thetas))
	for i, theta := range g.Theta.Thetas {
		for _, v := range theta {
			prior[i] += logGammaDensity(math.Log(v), g.Theta.Omega, g.Theta.Phi)
		}
	}
	m.theta.sample.give(g.Theta.Thetas, prior)
	require.NoError(t, m.theta.weigh(m))
	want.check(t, "theta", m.theta.sample)
	near(t, "E[θ]", want.Etheta, m.theta.sample.mean, probitWeights)
}

// thetaKernels are the kernels exp(−θ_p|x − x'|²) of points x[p].
type thetaKernels struct{ x golden.Tensor }

func (g thetaKernels) Dims() (P, D, N int) { return len(g.x), len(g.x[0]), len(g.x[0]) }

func (g thetaKernels) Parameters(int) int { return 1 }

func (g thetaKernels) Kernel(_ *la.Workspace, p int, theta []float64, k la.Matrix[float64]) {
	for i, x := range g.x[p] {
		for j, y := range g.x[p] {
			var d float64
			for c := range x {
				d += (x[c] - y[c]) * (x[c] - y[c])
			}
			k.Set(i, j, math.Exp(-theta[0]*d))
		}
	}
}

func goldenBoundTerms(t *testing.T, d probitData, data []byte) {
	var f struct {
		Beta          golden.Vec
		Tau, Nu       float64
		M, Y, W, Zb   golden.Mat
		EaW           golden.Mat `json:"Ea_W"`
		DiagV         golden.Mat
		LogZ, LogdetV golden.Vec
		TrKKV         golden.Vec `json:"tr_KKV"`
		Za            float64
		Terms         map[string]float64
		Bound         float64
	}
	require.NoError(t, json.Unmarshal(data, &f))
	m := goldenState(t, Model{Beta: f.Beta, Alpha: vi.Gamma{Shape: f.Tau, Scale: 1 / f.Nu}}, d, f.W, f.Y)
	copy(m.location.Data, testkit.Flat(f.M))
	copy(m.logZ, f.LogZ)
	copy(m.variance.Data, testkit.Flat(f.DiagV))
	copy(m.logDet, f.LogdetV)
	la.Gemm(nil, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	for c := range m.C {
		require.InDelta(t, f.Za, m.alpha[c].Shape, 1e-15)
		for d, b := range f.Zb[c] {
			m.alpha[c].Scale[d] = 1 / b
		}
		m.spread[c] = f.TrKKV[c] + la.SumSq(m.f.Row(c))
	}
	near(t, "bound", f.Bound, m.Bound(), probitWeights)
	var own float64
	for c := range m.C {
		own += m.alphaBound(c) + 0.5*m.logDet[c]
	}
	near(t, "all but LY", f.Terms["LpW"]+f.Terms["HW"]+f.Terms["LpZ"]+f.Terms["HZ"], own, probitWeights)
}
