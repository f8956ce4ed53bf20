package mgp

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

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Tolerances of the mgp README: relative to the largest entry of an array, and
// of the bound to max(1, |L|).
const (
	mgpFirst  = 1e-11 // at sweep 1
	mgpLater  = 1e-9
	mgpBound  = 1e-10
	mgpOmega  = 1e-8 // ω and what is proportional to it, once it is large
	mgpTables = 1e-12
)

type mgpData struct {
	N, P, Nstar int
	Y, T        golden.Vec
	KLower      golden.Mat    `json:"K_lower"`
	KStar       golden.Tensor `json:"K_star"`
	KStarDiag   golden.Mat    `json:"k_star_diag"`
}

// mgpSnapshot is the golden state after a sweep.
type mgpSnapshot struct {
	G, S, Alpha, Nu, Ybar golden.Vec
	InvGamma              golden.Vec `json:"inv_gamma"`
	LnGamma               golden.Vec `json:"ln_gamma"`
	OmegaP                golden.Vec `json:"omega_p"`
	ChiP                  golden.Vec `json:"chi_p"`
	PhiP                  golden.Vec `json:"phi_p"`
	VarY                  golden.Vec `json:"var_y"`
	Tau, E2, LogdetB      float64
	Hyper                 *GIG
	Pred                  struct {
		Mean, Var, Prob golden.Vec
		VarY            golden.Vec `json:"var_y"`
	}
}

type mgpCase struct {
	Task  string
	Data  string
	Prior struct {
		Name            string
		Omega, Chi, Phi float64
		Learn           []string
	}
	HyperMode string `json:"hyper_mode"`
	LearnTau  bool   `json:"learn_tau"`
	R         []int
	Init      struct {
		G    golden.Vec
		Tau  float64
		Ybar golden.Vec
	}
	NIter     int `json:"n_iter"`
	Trace     map[string]golden.Vec
	Snapshots map[string]mgpSnapshot
}

var mgpFamilies = map[string]Family{
	"student_t": FamilyStudentT, "laplace": FamilyLaplace, "gamma_variance": FamilyGammaVariance, "gig": FamilyGIG, "ard": FamilyFlat,
}

// goldenFile runs one file of the mgp folder.
func TestGolden(t *testing.T) {
	golden.Run(t, "mgp", []string{
		"case_reg_student_t_ml2_joint.json", "case_cls_laplace_ml2.json", "special_functions.json",
	}, goldenFile)
}

func goldenFile(t *testing.T, path string, data []byte) {
	switch name := filepath.Base(path); {
	case strings.HasPrefix(name, "case_"):
		goldenCase(t, filepath.Dir(path), data)
	case strings.HasPrefix(name, "special_"):
		goldenSpecial(t, data)
	case strings.HasPrefix(name, "data_"):
		t.Skip("input of the cases")
	default:
		t.Fatalf("mgp/%s: neither case, data nor special functions", name)
	}
}

// goldenCase makes the sweeps of a golden fit and compares its bounds, and at some sweeps the whole
// state and predictions.
func goldenCase(t *testing.T, dir string, data []byte) {
	g := newGoldenFit(t, dir, data)
	for i, want := range g.Trace["bound"] {
		require.NoError(t, g.m.Sweep(nil))
		require.InDelta(t, want, g.m.Bound(), mgpBound*max(1, math.Abs(want)), "bound after sweep %d", i+1)
		s, ok := g.Snapshots[fmt.Sprint(i+1)]
		if !ok {
			continue
		}
		at := func(name string) string { return fmt.Sprintf("%s after sweep %d", name, i+1) }
		tol := mgpLater
		if i == 0 {
			tol = mgpFirst
		}
		g.compareState(t, &s, at, tol)
		if g.m.family != FamilyFlat {
			g.comparePrior(t, &s, at, tol)
		}
		g.comparePredictions(t, &s, at, tol)
	}
}

// goldenFit is a golden case with the state of the fit.
type goldenFit struct {
	mgpCase
	data mgpData
	m    *model
}

// newGoldenFit returns the start of the fit.
func newGoldenFit(t *testing.T, dir string, data []byte) *goldenFit {
	g := &goldenFit{}
	c, d := &g.mgpCase, &g.data
	require.NoError(t, json.Unmarshal(data, c))
	raw, err := os.ReadFile(filepath.Join(dir, c.Data))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, d))
	family, ok := mgpFamilies[c.Prior.Name]
	require.True(t, ok, "prior %s", c.Prior.Name)
	fit := Model{
		Family: family, Prior: GIG{c.Prior.Omega, c.Prior.Chi, c.Prior.Phi}, HeldPrior: heldIf(len(c.Prior.Learn) == 0),
		Tau: c.Init.Tau, Noise: NoiseFixed, Ranks: c.R, Plain: true, Workers: 2,
		Start: &Start{Gamma: c.Init.G, Y: c.Init.Ybar},
	}
	if c.LearnTau {
		fit.Noise = NoiseLearned
	}
	y, labels := d.Y, false
	if c.Task == "classification" {
		y, labels = d.T, true
	}
	g.m, err = fit.model(d.kernels(t), y, labels)
	require.NoError(t, err)
	g.m.joint = c.HyperMode == "joint"
	return g
}

// kernels returns the kernels of the training samples, from their lower triangles.
func (d *mgpData) kernels(t *testing.T) *vi.Dense {
	var all []la.Matrix[float64]
	for _, lower := range d.KLower {
		k := la.NewMatrix[float64](d.N, d.N)
		for i := range d.N {
			copy(k.Row(i), lower[i*(i+1)/2:(i+1)*(i+2)/2])
		}
		k.MirrorLower()
		all = append(all, k)
	}
	out, err := vi.NewDense(all...)
	require.NoError(t, err)
	return out
}

// test returns the kernels of the training samples with the test samples.
func (d *mgpData) test(t *testing.T) *vi.Dense {
	var all []la.Matrix[float64]
	for _, rows := range d.KStar {
		k := la.NewMatrix[float64](d.N, d.Nstar)
		for i, row := range rows {
			for n, v := range row {
				k.Set(n, i, v)
			}
		}
		all = append(all, k)
	}
	out, err := vi.NewDense(all...)
	require.NoError(t, err)
	return out
}

// compareState compares q(γ), q(f), τ and of labels q(y).
func (g *goldenFit) compareState(t *testing.T, s *mgpSnapshot, at func(string) string, tol float64) {
	m := g.m
	var mean, inv, logs golden.Vec
	for _, v := range m.moments {
		mean, inv, logs = append(mean, v.mean), append(inv, v.inv), append(logs, v.log)
	}
	testkit.RequireClose(t, at("E[γ]"), s.G, mean, tol)
	testkit.RequireClose(t, at("E[1/γ]"), s.InvGamma, inv, tol)
	// log γ may be close to 0.
	testkit.RequireClose(t, at("E[log γ]"), append(golden.Vec{1}, s.LnGamma...), append(golden.Vec{1}, logs...), tol)
	testkit.RequireClose(t, at("s"), s.S, m.s, tol)
	testkit.RequireClose(t, at("α"), s.Alpha, m.alpha, tol)
	testkit.RequireClose(t, at("τ"), s.Tau, m.tau, tol)
	testkit.RequireClose(t, at("E|y − f|²"), s.E2, m.error2, tol)
	testkit.RequireClose(t, at("log|B|"), s.LogdetB, m.logDet, tol)
	if m.labels {
		testkit.RequireClose(t, at("ν"), s.Nu, m.nu, tol)
		testkit.RequireClose(t, at("E[y]"), s.Ybar, m.mean, tol)
		var variance float64
		for _, v := range s.VarY {
			variance += v
		}
		testkit.RequireClose(t, at("Σ Var[y]"), variance, m.variance, tol)
	}
}

// comparePrior compares the parameters of q(γ) and of the prior of γ.
func (g *goldenFit) comparePrior(t *testing.T, s *mgpSnapshot, at func(string) string, tol float64) {
	if g.HyperMode == "joint" && math.Abs(s.Hyper.Omega) > 100 {
		tol = mgpOmega
	}
	var omega, chi, phi golden.Vec
	for _, q := range g.m.q {
		omega, chi, phi = append(omega, q.Omega), append(chi, q.Chi), append(phi, q.Phi)
	}
	testkit.RequireClose(t, at("ω_p"), s.OmegaP, omega, tol)
	testkit.RequireClose(t, at("χ_p"), s.ChiP, chi, tol)
	testkit.RequireClose(t, at("φ_p"), s.PhiP, phi, tol)
	testkit.RequireClose(t, at("ω"), s.Hyper.Omega, g.m.prior.Omega, tol)
	testkit.RequireClose(t, at("χ"), s.Hyper.Chi, g.m.prior.Chi, tol)
	testkit.RequireClose(t, at("φ"), s.Hyper.Phi, g.m.prior.Phi, tol)
}

// comparePredictions compares predictions of the test samples.
func (g *goldenFit) comparePredictions(t *testing.T, s *mgpSnapshot, at func(string) string, tol float64) {
	p, err := g.m.posterior()
	require.NoError(t, err)
	got, err := p.Predict(g.data.test(t), golden.MatrixOf(g.data.KStarDiag), vi.PredictOptions{Workers: 2})
	require.NoError(t, err)
	testkit.RequireClose(t, at("predictive mean"), s.Pred.Mean, got.Mean, tol)
	testkit.RequireClose(t, at("variance of the function"), s.Pred.Var, got.Function, tol)
	testkit.RequireClose(t, at("predictive variance"), s.Pred.VarY, got.Variance, tol)
	if g.m.labels {
		testkit.RequireClose(t, at("probability"), s.Pred.Prob, got.Probability, tol)
	}
}

func goldenSpecial(t *testing.T, data []byte) {
	var f struct {
		GIG struct{ Rows [][]*float64 }
		ML2 []struct {
			Omega, Chi, Phi float64
			Mean            float64 `json:"mean_gamma"`
			Inv             float64 `json:"mean_inv_gamma"`
			Log             float64 `json:"mean_ln_gamma"`
			OmegaNew        float64 `json:"omega_new"`
			ChiNew          float64 `json:"chi_new"`
			PhiNew          float64 `json:"phi_new"`
		} `json:"ml2"`
	}
	require.NoError(t, json.Unmarshal(data, &f))
	require.NotEmpty(t, f.GIG.Rows)
	require.NotEmpty(t, f.ML2)
	value := func(v *float64) float64 {
		if v == nil {
			return math.Inf(1)
		}
		return *v
	}
	for _, r := range f.GIG.Rows {
		g := GIG{*r[0], *r[1], *r[2]}
		m := g.moments()
		for i, c := range []struct {
			got   float64
			scale float64
		}{{m.logZ, 1}, {m.mean, 0}, {m.inv, 0}, {m.log, 1}} {
			want := value(r[3+i])
			if math.IsInf(want, 0) {
				assert.Equal(t, want, c.got, "moment %d of %v", i, g)
				continue
			}
			assert.InDelta(t, want, c.got, mgpTables*max(c.scale, math.Abs(want)), "moment %d of %v", i, g)
		}
	}
	for _, r := range f.ML2 {
		p := GIG{r.Omega, r.Chi, r.Phi}
		assert.InDelta(t, r.OmegaNew, solveOmega(p, r.Log), mgpFirst*max(1, math.Abs(r.OmegaNew)), "ω from %+v", r)
		if r.Chi == 0 || r.Phi == 0 {
			continue // the rows of the gamma families keep their zero
		}
		assert.InDelta(t, r.ChiNew, solveChi(p.Omega, p.Phi, r.Inv), mgpFirst*r.ChiNew, "χ from %+v", r)
		assert.InDelta(t, r.PhiNew, solveChi(-p.Omega, p.Chi, r.Mean), mgpFirst*r.PhiNew, "φ from %+v", r)
	}
}
