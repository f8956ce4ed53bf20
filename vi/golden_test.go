package vi

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

var goldenDir = flag.String("golden", "../testdata/golden", "folder with golden files in sub-folders gonen, mgp, mtmkl, pmkl")

const (
	goldenArrays = 1e-8 // max|x − expected| / max|expected|
	goldenBound  = 1e-9 // relative
)

// golden runs the files of one sub-folder and model. A file whose model is not
// listed is skipped by name.
var golden = map[string]func(*testing.T, []byte){
	"gonen/regression":     goldenRegression,
	"gonen/multioutput":    goldenRegression,
	"gonen/classification": goldenClassification,
	"gonen/multiclass":     goldenClassification,
	"gonen/multilabel":     goldenClassification,
}

// shortGolden are the files of short runs: for each model one or two that are
// quick to emulate, and the functions that all of them need.
var shortGolden = []string{
	"gonen/regression.json", "gonen/classification.json",
	"mgp/case_reg_student_t_ml2_joint.json", "mgp/case_cls_laplace_ml2.json", "mgp/special_functions.json",
	"mtmkl/01_linreg_soft.json", "mtmkl/04_mtmkl_mixed_means_shared.json", "mtmkl/05_factor_analysis.json", "mtmkl/09_mv_objective.json",
	"pmkl/vb_fixsum.json", "pmkl/vb_fixprod.json", "pmkl/predict.json", "pmkl/special.json", "pmkl/trunc_moments.json",
}

func TestGolden(t *testing.T) {
	var files []string
	err := filepath.WalkDir(*goldenDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".json" {
			files = append(files, path)
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, files, "no golden files below %s", *goldenDir)
	for _, path := range files {
		rel, err := filepath.Rel(*goldenDir, path)
		require.NoError(t, err)
		t.Run(filepath.ToSlash(rel), func(t *testing.T) {
			if testing.Short() && !slices.Contains(shortGolden, filepath.ToSlash(rel)) {
				t.Skip("a long test")
			}
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			family := filepath.Base(filepath.Dir(path))
			if family == "mgp" {
				goldenMGP(t, path, data)
				return
			}
			if family == "pmkl" {
				goldenProbit(t, path, data)
				return
			}
			if family == "mtmkl" {
				goldenMTMKL(t, path, data)
				return
			}
			var head struct {
				Model json.RawMessage
			}
			require.NoError(t, json.Unmarshal(data, &head))
			var name string
			_ = json.Unmarshal(head.Model, &name)
			run := golden[family+"/"+name]
			if run == nil {
				t.Skipf("model %s/%s is not built yet", family, name)
			}
			run(t, data)
		})
	}
}

type (
	vec    = []float64
	mat    = [][]float64
	tensor = [][][]float64
)

type gonenFile struct {
	Dims           struct{ P, D, N, L, T int }
	Hyper          map[string]float64
	K              tensor
	KTest          tensor `json:"K_test"`
	Y              mat
	Init           gonenInit
	Bound          vec
	BoundPublished vec `json:"bound_published"`
	After          map[string]gonenAfter
}

type gonenInit struct {
	A mat    `json:"A_mu"`
	G tensor `json:"G_mu"`
	F mat    `json:"F_mu"`
}

type gonenAfter struct {
	State struct {
		LambdaAlpha  float64 `json:"lambda_alpha"`
		LambdaBeta   mat     `json:"lambda_beta"`
		AMu          mat     `json:"A_mu"`
		ASigma       tensor  `json:"A_sigma"`
		GMu          tensor  `json:"G_mu"`
		GSigma       tensor  `json:"G_sigma"`
		GammaAlpha   float64 `json:"gamma_alpha"`
		GammaBeta    vec     `json:"gamma_beta"`
		OmegaAlpha   float64 `json:"omega_alpha"`
		OmegaBeta    vec     `json:"omega_beta"`
		BeMu         vec     `json:"be_mu"`
		BeSigma      mat     `json:"be_sigma"`
		UpsilonAlpha float64 `json:"upsilon_alpha"`
		UpsilonBeta  vec     `json:"upsilon_beta"`
		EpsilonAlpha float64 `json:"epsilon_alpha"`
		EpsilonBeta  vec     `json:"epsilon_beta"`
		FMu          mat     `json:"F_mu"`
		FSigma       mat     `json:"F_sigma"`
	}
	Prediction struct {
		GMu        tensor `json:"G_mu"`
		GSigma     tensor `json:"G_sigma"`
		Mu         mat
		Sigma      mat
		SigmaFull  mat `json:"sigma_full"`
		PPublished mat `json:"p_published"`
		PFull      mat `json:"p_full"`

		// The arg max of Φ((μ−ν)/√σ)/(Φ((μ−ν)/√σ) + Φ((−ν−μ)/√σ)), and of p_published.
		ClassIndex          []int `json:"class_index"`
		ClassIndexPublished []int `json:"class_index_published"`
	}
}

func (f *gonenFile) gamma(name string) Gamma {
	return Gamma{f.Hyper["alpha_"+name], f.Hyper["beta_"+name]}
}

func denseOf(t testing.TB, k tensor) *Dense {
	var ms []la.Matrix[float64]
	for _, km := range k {
		ms = append(ms, matrixOf(km))
	}
	d, err := NewDense(ms...)
	require.NoError(t, err)
	return d
}

func matrixOf(x mat) la.Matrix[float64] {
	m := la.NewMatrix[float64](len(x), len(x[0]))
	for i, row := range x {
		copy(m.Row(i), row)
	}
	return m
}

// flat lists the numbers in x, a float64, slice of any depth, or matrix.
func flat(x any) []float64 {
	switch x := x.(type) {
	case float64:
		return []float64{x}
	case []float64:
		return x
	case la.Matrix[float64]:
		return x.Clone().Data
	case []la.Matrix[float64]:
		return flatAll(x)
	case mat:
		return flatAll(x)
	case tensor:
		return flatAll(x)
	}
	panic(fmt.Sprintf("flat: %T", x))
}

func flatAll[T any](xs []T) (out []float64) {
	for _, x := range xs {
		out = append(out, flat(x)...)
	}
	return out
}

// close checks max|got − want| ≤ tol·max|want|.
func requireClose(t testing.TB, name string, want, got any, tol float64) {
	t.Helper()
	w, g := flat(want), flat(got)
	require.Len(t, g, len(w), name)
	var worst, scale float64
	for i := range w {
		scale = max(scale, math.Abs(w[i]))
		worst = max(worst, math.Abs(w[i]-g[i])) // NaN wins in max
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: off by %.3g of the largest entry %.6g", name, worst/scale, scale)
	}
}

func goldenRegression(t *testing.T, data []byte) {
	var f gonenFile
	require.NoError(t, json.Unmarshal(data, &f))
	k, kTest := denseOf(t, f.K), denseOf(t, f.KTest)
	r := Regression{
		Lambda: f.gamma("lambda"), Upsilon: f.gamma("upsilon"), Gamma: f.gamma("gamma"),
		Omega: f.gamma("omega"), Epsilon: f.gamma("epsilon"),
		Plain: true, Workers: 2,
		Start: &Start{A: matrixOf(f.Init.A), G: la.MatrixOf(f.Dims.L*f.Dims.P, f.Dims.N, flat(f.Init.G))},
	}
	m, err := r.model(k, matrixOf(f.Y))
	require.NoError(t, err)
	for i, want := range f.Bound {
		require.NoError(t, m.Sweep(nil))
		require.InEpsilon(t, want, m.Bound(), goldenBound, "bound after sweep %d", i+1)
		after, ok := f.After[fmt.Sprint(i+1)]
		if !ok {
			continue
		}
		at := func(name string) string { return fmt.Sprintf("%s after sweep %d", name, i+1) }
		s, p := after.State, m.posterior()
		var upsilon, epsilon, shapes vec
		for o := range f.Dims.L {
			upsilon = append(upsilon, p.s.Upsilon[o].Scale)
			epsilon = append(epsilon, p.s.Epsilon[o].Scale)
			shapes = append(shapes, p.s.Upsilon[o].Shape-s.UpsilonAlpha, p.s.Epsilon[o].Shape-s.EpsilonAlpha)
		}
		require.InDeltaSlice(t, make(vec, 2*f.Dims.L), shapes, 1e-12)
		requireClose(t, at("lambda"), s.LambdaBeta, m.lambda.scale, goldenArrays)
		requireClose(t, at("a mean"), s.AMu, m.aMean, goldenArrays)
		rows := make([]int, f.Dims.D)
		for d := range rows {
			rows[d] = d
		}
		var cov []la.Matrix[float64]
		for o := range f.Dims.L {
			c, err := p.WeightCovariance(nil, o, rows)
			require.NoError(t, err)
			cov = append(cov, c)
		}
		requireClose(t, at("a covariance"), s.ASigma, cov, goldenArrays)
		requireClose(t, at("g mean"), s.GMu, m.gMean, goldenArrays)
		requireClose(t, at("g covariance"), s.GSigma, m.gCov, goldenArrays)
		requireClose(t, at("gamma"), s.GammaBeta, m.gamma.scale, goldenArrays)
		requireClose(t, at("omega"), s.OmegaBeta, m.omega.scale, goldenArrays)
		requireClose(t, at("(b,e) mean"), s.BeMu, m.be.mean, goldenArrays)
		requireClose(t, at("(b,e) covariance"), s.BeSigma, m.be.cov, goldenArrays)
		requireClose(t, at("upsilon"), s.UpsilonBeta, upsilon, goldenArrays)
		requireClose(t, at("epsilon"), s.EpsilonBeta, epsilon, goldenArrays)

		full, err := p.Predict(kTest, PredictOptions{Intermediate: true, Workers: 2})
		require.NoError(t, err)
		published, err := p.Predict(kTest, PredictOptions{Published: true})
		require.NoError(t, err)
		want := after.Prediction
		requireClose(t, at("g* mean"), want.GMu, full.GMean, goldenArrays)
		requireClose(t, at("g* variance"), want.GSigma, full.GVariance, goldenArrays)
		requireClose(t, at("predictive mean"), want.Mu, full.Mean, goldenArrays)
		requireClose(t, at("full variance"), want.SigmaFull, full.Variance, goldenArrays)
		requireClose(t, at("published variance"), want.Sigma, published.Variance, goldenArrays)
	}
}

// largestRow returns the row with the largest element of column i.
func largestRow(x la.Matrix[float64], i int) (best int) {
	for o := range x.Rows {
		if x.At(o, i) > x.At(best, i) {
			best = o
		}
	}
	return best
}

func goldenClassification(t *testing.T, data []byte) {
	var f gonenFile
	require.NoError(t, json.Unmarshal(data, &f))
	k, kTest := denseOf(t, f.K), denseOf(t, f.KTest)
	c := Classification{
		Lambda: f.gamma("lambda"), Gamma: f.gamma("gamma"), Omega: f.gamma("omega"),
		Margin: f.Hyper["margin"], SigmaG: f.Hyper["sigma_g"],
		Plain: true, Workers: 2,
		Start: &ClassificationStart{
			Start: Start{A: matrixOf(f.Init.A), G: la.MatrixOf(f.Dims.L*f.Dims.P, f.Dims.N, flat(f.Init.G))},
			F:     matrixOf(f.Init.F),
		},
	}
	m, err := c.model(k, matrixOf(f.Y))
	require.NoError(t, err)
	for i, want := range f.Bound {
		require.NoError(t, m.Sweep(nil))
		require.InEpsilon(t, want, m.Bound(), goldenBound, "bound after sweep %d", i+1)
		require.InEpsilon(t, f.BoundPublished[i], m.Bound()-0.5*m.shift(), goldenBound, "published bound after sweep %d", i+1)
		after, ok := f.After[fmt.Sprint(i+1)]
		if !ok {
			continue
		}
		at := func(name string) string { return fmt.Sprintf("%s after sweep %d", name, i+1) }
		s, p := after.State, m.posterior()
		requireClose(t, at("lambda"), s.LambdaBeta, m.lambda.scale, goldenArrays)
		requireClose(t, at("a mean"), s.AMu, m.aMean, goldenArrays)
		rows := make([]int, f.Dims.D)
		for d := range rows {
			rows[d] = d
		}
		var cov []la.Matrix[float64]
		variance := la.NewMatrix[float64](f.Dims.L, f.Dims.N)
		for o := range f.Dims.L {
			c, err := p.WeightCovariance(nil, o, rows)
			require.NoError(t, err)
			cov = append(cov, c)
			for i, y := range m.y.Row(o) {
				_, v, _ := special.NormalAbove(m.margin - y*m.location.At(o, i))
				variance.Set(o, i, v)
			}
		}
		requireClose(t, at("a covariance"), s.ASigma, cov, goldenArrays)
		requireClose(t, at("g mean"), s.GMu, m.gMean, goldenArrays)
		requireClose(t, at("g covariance"), s.GSigma, m.gCov, goldenArrays)
		requireClose(t, at("gamma"), s.GammaBeta, m.gamma.scale, goldenArrays)
		requireClose(t, at("omega"), s.OmegaBeta, m.omega.scale, goldenArrays)
		requireClose(t, at("(b,e) mean"), s.BeMu, m.be.mean, goldenArrays)
		requireClose(t, at("(b,e) covariance"), s.BeSigma, m.be.cov, goldenArrays)
		requireClose(t, at("f mean"), s.FMu, m.f, goldenArrays)
		requireClose(t, at("f variance"), s.FSigma, variance, goldenArrays)

		full, err := p.Predict(kTest, PredictOptions{Intermediate: true, Workers: 2})
		require.NoError(t, err)
		published, err := p.Predict(kTest, PredictOptions{Published: true})
		require.NoError(t, err)
		want := after.Prediction
		requireClose(t, at("g* mean"), want.GMu, full.GMean, goldenArrays)
		requireClose(t, at("g* variance"), want.GSigma, full.GVariance, goldenArrays)
		requireClose(t, at("score mean"), want.Mu, full.Mean, goldenArrays)
		requireClose(t, at("full variance"), want.SigmaFull, full.Variance, goldenArrays)
		requireClose(t, at("published variance"), want.Sigma, published.Variance, goldenArrays)
		requireClose(t, at("probability"), want.PFull, full.Probability, goldenArrays)
		requireClose(t, at("published probability"), want.PPublished, published.Probability, goldenArrays)
		for i, class := range want.ClassIndexPublished {
			require.Equal(t, class, largestRow(published.Probability, i), "%s: published class of sample %d", at("prediction"), i)
		}
		rooted := published.Mean.Clone()
		for o := range rooted.Rows {
			row, v := rooted.Row(o), published.Variance.Row(o)
			for i, mean := range row {
				sd := math.Sqrt(v[i])
				row[i] = special.LogNormalCDF((mean-m.margin)/sd) - special.LogNormalCDF((-m.margin-mean)/sd)
			}
		}
		for i, class := range want.ClassIndex {
			require.Equal(t, class, largestRow(rooted, i), "%s: class of sample %d", at("prediction"), i)
			require.Equal(t, class, largestRow(full.Probability, i), "%s: class of sample %d with the whole variance", at("prediction"), i)
		}
	}
}
