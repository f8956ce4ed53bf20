package slab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// real is a float64 that JSON may hold as the name of a non-finite number.
type real float64

func (r *real) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"Infinity"`:
		*r = real(math.Inf(1))
	case `"-Infinity"`:
		*r = real(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(r))
	}
	return nil
}

type namedBound struct {
	name  string
	bound float64
}

func (n *namedBound) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&n.name, &n.bound})
}

// requireEach checks |got − want| ≤ tol·max(1, |want|) entry by entry, as the
// mtmkl README has it.
func requireEach(t testing.TB, name string, want, got []float64, tol float64) {
	t.Helper()
	require.Len(t, got, len(want), name)
	for i, w := range want {
		if w == got[i] {
			continue
		}
		if !(math.Abs(w-got[i]) <= tol*max(1, math.Abs(w))) {
			t.Errorf("%s: entry %d is %.17g where %.17g is expected", name, i, got[i], w)
		}
	}
}

// goldenFile runs one file of the mtmkl folder.
func TestGolden(t *testing.T) {
	golden.Run(t, "mtmkl", []string{
		"01_linreg_soft.json", "04_mtmkl_mixed_means_shared.json", "05_factor_analysis.json", "09_mv_objective.json",
	}, goldenFile)
}

func goldenFile(t *testing.T, path string, data []byte) {
	var head struct{ Kind string }
	require.NoError(t, json.Unmarshal(data, &head))
	switch head.Kind {
	case "linreg":
		goldenSpikeSlab(t, data)
	case "mtmkl":
		goldenMultiTask(t, data)
	case "mv_objective":
		goldenObjective(t, data)
	case "phi_update":
		goldenLatent(t, data)
	default:
		t.Skipf("%s: kind %s is not for this package", filepath.Base(path), head.Kind)
	}
}

type slabExpected struct {
	BoundInitial  float64        `json:"bound_initial"`
	BoundTrace    golden.Vec     `json:"bound_trace"`
	SubstepBounds [][]namedBound `json:"substep_bounds"`
	After         map[string]struct {
		Gamma    golden.Vec
		Logit    []real     `json:"logit_gamma"`
		Mu       golden.Vec `json:"mu_w"`
		V        golden.Vec `json:"v_w"`
		Sigma    golden.Mat `json:"Sigma_w"`
		WMean    golden.Vec `json:"w_mean"`
		Squared  float64    `json:"exp_sq_resid"`
		Bound    float64
		PredMean golden.Vec `json:"pred_f_mean"`
		PredVar  golden.Vec `json:"pred_f_var"`
		PredY    golden.Vec `json:"pred_y_var"`
	}
	Tolerance map[string]float64 `json:"tolerance_rel"`
}

// goldenSpikeSlab holds both mean fields, and both ways to hold the inputs, to a
// file.
func goldenSpikeSlab(t *testing.T, data []byte) {
	var f struct {
		Input struct {
			X          golden.Mat
			Y          golden.Vec
			XTest      golden.Mat `json:"X_test"`
			Sigma2, Pi float64
			Sigw2      float64
		}
		Init struct {
			Gamma golden.Vec
			Mu    golden.Vec `json:"mu_w"`
		}
		Expected map[string]slabExpected
	}
	require.NoError(t, json.Unmarshal(data, &f))
	in := f.Input
	x, xTest := golden.MatrixOf(in.X), golden.MatrixOf(in.XTest)
	for _, way := range []string{"pmf", "mf", "pmf by samples"} {
		t.Run(way, func(t *testing.T) {
			s := Regression{
				Plain: true,
				Prior: Prior{in.Pi, in.Sigw2}, Noise: in.Sigma2, Held: Held{true, true, true},
				Standard: way == "mf", Start: &RegressionStart{f.Init.Gamma, f.Init.Mu}, Workers: 2,
			}
			d, err := s.design(x, in.Y)
			require.NoError(t, err)
			if way == "pmf by samples" {
				d.gram = la.Matrix[float64]{}
			}
			m, err := s.model(d, 0)
			require.NoError(t, err)
			want := f.Expected[way[:min(len(way), 3)]]
			if s.Standard {
				want = f.Expected["mf"]
			}
			require.InEpsilon(t, want.BoundInitial, m.Bound(), 1e-9)
			for it, bound := range want.BoundTrace {
				var steps []float64
				require.NoError(t, m.Sweep(func(string) { steps = append(steps, m.Bound()) }))
				at := fmt.Sprintf("after sweep %d", it+1)
				requireEach(t, "bound "+at, golden.Vec{bound}, golden.Vec{m.Bound()}, 1e-9)
				if it < len(want.SubstepBounds) {
					for i, b := range want.SubstepBounds[it] {
						requireEach(t, b.name+" "+at, golden.Vec{b.bound}, golden.Vec{steps[i]}, 1e-9)
					}
				}
				after, ok := want.After[fmt.Sprint(it+1)]
				if !ok {
					continue
				}
				tol := want.Tolerance[fmt.Sprint(it+1)]
				var p *RegressionPosterior
				var squared float64
				switch m := m.(type) {
				case *pairedField:
					p, squared = m.posterior(), m.squared()
				case *standardField:
					p, squared = m.posterior(), m.squared()
				}
				var gamma, logits, mu, v golden.Vec
				for _, q := range p.s.Weights {
					gamma, logits, mu, v = append(gamma, q.Inclusion()), append(logits, q.Logit), append(mu, q.Mean), append(v, q.Variance)
				}
				requireEach(t, "γ "+at, after.Gamma, gamma, tol)
				requireEach(t, "logit γ "+at, reals(after.Logit), logits, tol)
				requireEach(t, "μ "+at, after.Mu, mu, tol)
				if s.Standard {
					requireEach(t, "Σ "+at, testkit.Flat(after.Sigma), testkit.Flat(p.s.Covariance), tol)
				} else {
					requireEach(t, "v "+at, after.V, v, tol)
				}
				mean, _, _ := p.Weights()
				requireEach(t, "E[w] "+at, after.WMean, mean, tol)
				requireEach(t, "E|y − Xw|² "+at, golden.Vec{after.Squared}, golden.Vec{squared}, tol)
				got, err := p.Predict(xTest)
				require.NoError(t, err)
				requireEach(t, "predictive mean "+at, after.PredMean, got.Mean, tol)
				requireEach(t, "variance of the function "+at, after.PredVar, got.Function, tol)
				requireEach(t, "predictive variance "+at, after.PredY, got.Variance, tol)
			}
		})
	}
	assert.Len(t, f.Expected, 2)
}

func reals(r []real) (out golden.Vec) {
	for _, v := range r {
		out = append(out, float64(v))
	}
	return out
}

type goldenKernel struct {
	Type string
	L    float64
}

// gram returns the kernel between the rows of x and z.
func (k goldenKernel) gram(x, z golden.Mat) la.Matrix[float64] {
	out := k.distance(x, z)
	for i := range out.Rows {
		for j := range out.Cols {
			v := out.At(i, j)
			switch k.Type {
			case "se", "exp":
				v = math.Exp(-v / k.L)
			case "zero", "white": // new inputs share nothing with the training inputs
				v = 0
			}
			out.Set(i, j, v)
		}
	}
	return out
}

func (k goldenKernel) distance(x, z golden.Mat) la.Matrix[float64] {
	out := la.NewMatrix[float64](len(x), len(z))
	for i := range x {
		for j := range z {
			var d float64
			for c := range x[i] {
				d += (x[i][c] - z[j][c]) * (x[i][c] - z[j][c])
			}
			if k.Type == "se" {
				d /= 2
			} else {
				d = math.Sqrt(d)
			}
			out.Set(i, j, d)
		}
	}
	return out
}

// covariance returns the kernel, with a length to learn unless least is 0.
func (k goldenKernel) covariance(x golden.Mat, least, most float64) Covariance {
	switch k.Type {
	case "zero":
		return Covariance{}
	case "white":
		return WhiteCovariance()
	}
	if least == 0 {
		least, most = k.L, k.L
	}
	return DecayCovariance(k.distance(x, x), k.L, least, most)
}

// multiTaskAfter is the golden posterior after a sweep.
type multiTaskAfter struct {
	Gamma     golden.Mat
	Logit     [][]real
	Mu, V     golden.Mat
	Lambda    golden.Mat
	Alpha     golden.Mat
	Mean, Var golden.Mat
	Sigma2    golden.Vec
	Sigw2, Pi float64
	LogL      golden.Vec
	KL        golden.Vec
	Terms     struct{ Likelihood, Slab, Spike, Phi float64 }
	PredMean  golden.Mat
	PredVar   golden.Mat
	PredY     golden.Mat
	TrainMean golden.Mat
	TrainVar  golden.Mat
}

type multiTaskGolden struct {
	Input struct {
		X, Y, Z, XTest      golden.Mat
		MeanTrain, MeanTest golden.Mat
		Kernels             []goldenKernel
		Noise               string
		Learn               struct{ Theta, Sigma2, Sigw2, Pi bool }
		Box                 golden.Vec
	}
	Init struct {
		Gamma, Mu, V golden.Mat
		Sigma2       golden.Vec
		Sigw2, Pi    float64
	}
	Expected struct {
		BoundInitial  float64
		BoundTrace    golden.Vec
		SubstepBounds [][]namedBound
		LogLTrace     golden.Mat
		After         map[string]multiTaskAfter
	}
	Tolerance map[string]float64
}

// goldenMultiTask compares every update and posterior of a golden fit, once with the lengths of its
// covariances replayed, and where lengths are learned once with the lengths that are found here.
func goldenMultiTask(t *testing.T, data []byte) {
	g := newMultiTaskCase(t, data)
	t.Run("lengths replayed", func(t *testing.T) { g.run(t, true) })
	if g.Input.Learn.Theta {
		t.Run("lengths learned", func(t *testing.T) { g.run(t, false) })
	}
}

// multiTaskCase is a golden fit with its problem.
type multiTaskCase struct {
	multiTaskGolden
	model      MultiTask
	y          la.Matrix[float64] // Q×N
	latents    []Latent
	self, mean la.Matrix[float64] // of the test samples
}

func newMultiTaskCase(t *testing.T, data []byte) *multiTaskCase {
	g := &multiTaskCase{}
	require.NoError(t, json.Unmarshal(renamed(t, data), &g.multiTaskGolden))
	in := g.Input
	N, Q, M, T := len(in.Y), len(in.Y[0]), len(in.Kernels), len(in.XTest)
	g.y = la.NewMatrix[float64](Q, N)
	for n, row := range in.Y {
		for q, v := range row {
			if in.Z[n][q] == 0 {
				v = math.NaN()
			}
			g.y.Set(q, n, v)
		}
	}
	g.self, g.mean = la.NewMatrix[float64](M, T), la.NewMatrix[float64](M, T)
	for i, k := range in.Kernels {
		g.addLatent(i, k)
	}
	start := &MultiTaskStart{Noise: g.Init.Sigma2}
	for q := range Q {
		for i := range M {
			start.Weights = append(start.Weights, Pair{logit(g.Init.Gamma[q][i]), g.Init.Mu[q][i], g.Init.V[q][i]})
		}
	}
	g.model = MultiTask{
		Prior: Prior{g.Init.Pi, g.Init.Sigw2}, SharedNoise: in.Noise == "shared",
		Held:         Held{!in.Learn.Pi, !in.Learn.Sigw2, !in.Learn.Sigma2},
		LengthsEvery: 1, KeepAll: true, Plain: true, Start: start, Workers: 2,
	}
	return g
}

// addLatent adds latent function i of kernel k.
func (g *multiTaskCase) addLatent(i int, k goldenKernel) {
	in := g.Input
	least, most := 0.0, 0.0
	if in.Learn.Theta {
		least, most = math.Exp(in.Box[0]), math.Exp(in.Box[1])
	}
	l := Latent{Covariance: k.covariance(in.X, least, most)}
	if in.MeanTrain != nil {
		for n := range in.Y {
			l.Mean = append(l.Mean, in.MeanTrain[n][i])
		}
		for n := range in.XTest {
			g.mean.Set(i, n, in.MeanTest[n][i])
		}
	}
	if k.Type != "zero" {
		for n := range in.XTest {
			g.self.Set(i, n, 1)
		}
	}
	g.latents = append(g.latents, l)
}

// run makes the golden sweeps and compares what follows from each.
func (g *multiTaskCase) run(t *testing.T, replay bool) {
	m, err := g.model.model(g.latents, g.y, 0)
	require.NoError(t, err)
	m.lengthTolerance = 0
	if replay {
		for i := range m.latents {
			m.latents[i].cov.least, m.latents[i].cov.most = 1, 1
		}
	}
	require.InEpsilon(t, g.Expected.BoundInitial, m.Bound(), 1e-9)
	for it, want := range g.Expected.BoundTrace {
		if replay && g.Input.Learn.Theta {
			for i := range m.latents {
				m.latents[i].length = math.Exp(g.Expected.LogLTrace[it][i])
			}
		}
		at := fmt.Sprintf("after sweep %d", it+1)
		bounds := g.sweep(t, m, at)
		requireEach(t, "bound "+at, golden.Vec{want}, golden.Vec{m.Bound()}, 1e-9)
		if it < len(g.Expected.SubstepBounds) {
			g.compareBounds(t, bounds, g.Expected.SubstepBounds[it], at)
		}
		after, ok := g.Expected.After[fmt.Sprint(it+1)]
		if !ok {
			continue
		}
		tol := g.Tolerance[fmt.Sprint(it+1)]
		g.compareWeights(t, m, after, at, tol)
		for i := range g.Input.Kernels {
			g.compareLatent(t, m, i, after, at, tol)
		}
		requireEach(t, "σ² "+at, after.Sigma2, m.noise, tol)
		requireEach(t, "σ_w², π "+at, golden.Vec{after.Sigw2, after.Pi}, golden.Vec{m.prior.Variance, m.prior.Pi}, tol)
		likelihood, slabs, spikes, functions := m.boundTerms()
		w := after.Terms
		requireEach(t, "terms of the bound "+at, golden.Vec{w.Likelihood, w.Slab, w.Spike, w.Phi}, golden.Vec{likelihood, slabs, spikes, functions}, tol)
		g.comparePredictions(t, m, after, at, tol)
	}
}

// sweep makes a sweep and returns the bound after every update, which must not fall.
func (g *multiTaskCase) sweep(t *testing.T, m *multiTask, at string) map[string]float64 {
	last, functions, bounds := m.Bound(), 0, map[string]float64{}
	require.NoError(t, m.Sweep(func(name string) {
		b := m.Bound()
		require.False(t, testkit.Fell(last, b, 0), "%s, %s: %.17g after %.17g", at, name, b, last)
		last = b
		if name == "φ" {
			for g.Input.Kernels[functions].Type == "zero" {
				functions++
			}
			name = fmt.Sprintf("phi%d", functions)
			functions++
		}
		bounds[name] = b
	}))
	return bounds
}

// compareBounds compares the bounds after the updates that both programs make.
func (g *multiTaskCase) compareBounds(t *testing.T, bounds map[string]float64, want []namedBound, at string) {
	ours := map[string]string{
		fmt.Sprintf("w%d", len(g.Input.Kernels)-1): "(w̃,s)", "sigma2": "σ²", "sigw2": "σ_w²", "pi": "π",
	}
	for _, b := range want {
		got, ok := bounds[ours[b.name]]
		if !ok {
			got, ok = bounds[b.name]
		}
		if ok {
			requireEach(t, b.name+" "+at, golden.Vec{b.bound}, golden.Vec{got}, 1e-9)
		}
	}
}

// compareWeights compares q(w̃, s).
func (g *multiTaskCase) compareWeights(t *testing.T, m *multiTask, after multiTaskAfter, at string, tol float64) {
	var gamma, logits, mu, v, wantLogit golden.Vec
	for _, row := range after.Logit {
		wantLogit = append(wantLogit, reals(row)...)
	}
	for _, p := range m.q {
		gamma, logits, mu, v = append(gamma, p.Inclusion()), append(logits, p.Logit), append(mu, p.Mean), append(v, p.Variance)
	}
	requireEach(t, "γ "+at, testkit.Flat(after.Gamma), gamma, tol)
	requireEach(t, "logit γ "+at, wantLogit, logits, tol)
	requireEach(t, "μ "+at, testkit.Flat(after.Mu), mu, tol)
	requireEach(t, "v "+at, testkit.Flat(after.V), v, tol)
}

// compareLatent compares q(φ) of latent function i, and its length if that is learned.
func (g *multiTaskCase) compareLatent(t *testing.T, m *multiTask, i int, after multiTaskAfter, at string, tol float64) {
	column := func(x golden.Mat) (out golden.Vec) {
		for _, row := range x {
			out = append(out, row[i])
		}
		return out
	}
	l := &m.latents[i]
	requireEach(t, fmt.Sprintf("a of %d %s", i, at), column(after.Mean), l.mean, tol)
	requireEach(t, fmt.Sprintf("A of %d %s", i, at), column(after.Var), l.variance, tol)
	requireEach(t, fmt.Sprintf("KL of %d %s", i, at), golden.Vec{after.KL[i]}, golden.Vec{l.kl}, tol)
	if g.Input.Kernels[i].Type == "zero" {
		return // its Λ and α are of no use and are not computed
	}
	requireEach(t, fmt.Sprintf("Λ of %d %s", i, at), column(after.Lambda), l.lambda, tol)
	requireEach(t, fmt.Sprintf("α of %d %s", i, at), column(after.Alpha), l.alpha, tol)
	if g.Input.Learn.Theta {
		requireEach(t, fmt.Sprintf("log ℓ of %d %s", i, at), golden.Vec{after.LogL[i]}, golden.Vec{math.Log(l.length)}, tol)
	}
}

// comparePredictions compares predictions of the test samples and of the training samples.
func (g *multiTaskCase) comparePredictions(t *testing.T, m *multiTask, after multiTaskAfter, at string, tol float64) {
	p, err := m.posterior(true)
	require.NoError(t, err)
	var cross []la.Matrix[float64]
	for i, k := range g.Input.Kernels {
		k.L = m.latents[i].length
		cross = append(cross, k.gram(g.Input.X, g.Input.XTest))
	}
	dense, err := vi.NewDense(cross...)
	require.NoError(t, err)
	got, err := p.Predict(dense, g.self, g.mean, vi.PredictOptions{Workers: 2})
	require.NoError(t, err)
	requireEach(t, "predictive mean "+at, testkit.Flat(after.PredMean), transposed(got.Mean), tol)
	requireEach(t, "variance of the function "+at, testkit.Flat(after.PredVar), transposed(got.Function), tol)
	requireEach(t, "predictive variance "+at, testkit.Flat(after.PredY), transposed(got.Variance), tol)
	train := p.Train(vi.PredictOptions{})
	requireEach(t, "mean at the training samples "+at, testkit.Flat(after.TrainMean), transposed(train.Mean), tol)
	requireEach(t, "variance at the training samples "+at, testkit.Flat(after.TrainVar), transposed(train.Function), tol)
}

// transposed lists the columns of m.
func transposed(m la.Matrix[float64]) (out golden.Vec) {
	for j := range m.Cols {
		for i := range m.Rows {
			out = append(out, m.At(i, j))
		}
	}
	return out
}

// renamed gives the keys of a multi-task file the names of the fields here.
func renamed(t *testing.T, data []byte) []byte {
	names := map[string]string{
		"X_test": "XTest", "mean_train": "MeanTrain", "mean_test": "MeanTest", "log_l_box": "Box",
		"mu_w": "Mu", "v_w": "V", "bound_initial": "BoundInitial", "bound_trace": "BoundTrace",
		"substep_bounds": "SubstepBounds", "log_l_trace": "LogLTrace", "logit_gamma": "Logit",
		"lambda_phi": "Lambda", "alpha_phi": "Alpha", "mean_phi": "Mean", "var_phi": "Var", "log_l": "LogL",
		"kl_phi": "KL", "bound_terms": "Terms", "exp_loglik": "Likelihood", "neg_kl_slab": "Slab",
		"neg_kl_spike": "Spike", "neg_kl_phi": "Phi", "pred_f_mean": "PredMean", "pred_f_var": "PredVar",
		"pred_y_var": "PredY", "train_f_mean": "TrainMean", "train_f_var": "TrainVar", "tolerance_rel": "Tolerance",
	}
	var walk func(any) any
	walk = func(x any) any {
		switch x := x.(type) {
		case map[string]any:
			out := map[string]any{}
			for k, v := range x {
				if to, ok := names[k]; ok {
					k = to
				}
				out[k] = walk(v)
			}
			return out
		case []any:
			for i := range x {
				x[i] = walk(x[i])
			}
		}
		return x
	}
	var all any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	require.NoError(t, d.Decode(&all))
	out, err := json.Marshal(walk(all))
	require.NoError(t, err)
	return out
}

// goldenObjective is the marginalised objective and its slope.
func goldenObjective(t *testing.T, data []byte) {
	var f struct {
		Input struct{ X golden.Vec }
		Cases []struct {
			Kernel string
			Mean   golden.Vec `json:"mean_train"`
			Lam, H golden.Vec
			Rows   []struct {
				LogL  float64 `json:"log_l"`
				G     float64
				Slope float64 `json:"dG_dlog_l"`
			}
		}
		Tolerance float64 `json:"tolerance_rel"`
	}
	require.NoError(t, json.Unmarshal(data, &f))
	x := columnOf(f.Input.X)
	ws := &la.Workspace{Workers: 1}
	for i, c := range f.Cases {
		N := len(x)
		l := latentGP{cov: goldenKernel{c.Kernel, 1}.covariance(x, 1e-9, 1e9), prior: c.Mean}
		l.start(N, make(golden.Vec, N))
		copy(l.lambda, c.Lam)
		g := newLatentScratch(N, true)
		// What objective leaves out.
		rest := la.Dot(c.H, c.Mean)
		for n, m := range c.Mean {
			rest -= 0.5 * c.Lam[n] * m * m
		}
		for _, r := range c.Rows {
			l.residual(g, c.H)
			value, slope, err := l.objective(ws, g, r.LogL)
			require.NoError(t, err)
			at := fmt.Sprintf("case %d, log ℓ = %g", i, r.LogL)
			requireEach(t, "G, "+at, golden.Vec{r.G}, golden.Vec{value + rest}, f.Tolerance)
			requireEach(t, "slope, "+at, golden.Vec{r.Slope}, golden.Vec{slope}, f.Tolerance)
		}
	}
}

// goldenLatent is q(φ) where the noise is small.
func goldenLatent(t *testing.T, data []byte) {
	var f struct {
		Input struct{ X golden.Vec }
		Cases []struct {
			Kernel   string
			L        float64
			LogLam   int `json:"log10_lam"`
			Lam, H   golden.Vec
			Mean     golden.Vec `json:"mean_train"`
			Expected struct {
				Mean golden.Vec `json:"mean_phi"`
				Var  golden.Vec `json:"var_phi"`
				KL   float64
			}
		}
		Tolerance struct {
			Mean float64            `json:"mean_phi_abs"`
			KL   float64            `json:"kl_rel"`
			Var  map[string]float64 `json:"var_phi_rel_by_log10_lam"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &f))
	x := columnOf(f.Input.X)
	for _, c := range f.Cases {
		N := len(x)
		l := latentGP{cov: goldenKernel{c.Kernel, c.L}.covariance(x, 0, 0), prior: c.Mean}
		l.start(N, make(golden.Vec, N))
		copy(l.lambda, c.Lam)
		require.NoError(t, l.update(&la.Workspace{Workers: 1}, newLatentScratch(N, true), c.H))
		name := fmt.Sprintf("%s, λ = 1e%d", c.Kernel, c.LogLam)
		for n, want := range c.Expected.Mean {
			assert.InDelta(t, want, l.mean[n], f.Tolerance.Mean, "%s: a[%d]", name, n)
			want = c.Expected.Var[n]
			assert.InDelta(t, want, l.variance[n], want*f.Tolerance.Var[fmt.Sprint(c.LogLam)], "%s: A[%d]", name, n)
		}
		assert.InEpsilon(t, c.Expected.KL, l.kl, f.Tolerance.KL, "%s: KL", name)
	}
}

func columnOf(x golden.Vec) (out golden.Mat) {
	for _, v := range x {
		out = append(out, golden.Vec{v})
	}
	return out
}
