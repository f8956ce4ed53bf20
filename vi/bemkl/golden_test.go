package bemkl

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

const (
	goldenArrays = 1e-8 // max|x − expected| / max|expected|
	goldenBound  = 1e-9 // relative
)

func TestGolden(t *testing.T) {
	golden.Run(t, "gonen", []string{"regression.json", "classification.json"}, func(t *testing.T, _ string, data []byte) {
		var head struct{ Model string }
		require.NoError(t, json.Unmarshal(data, &head))
		switch head.Model {
		case "regression", "multioutput":
			goldenRegression(t, data)
		case "classification", "multiclass", "multilabel":
			goldenClassification(t, data)
		default:
			t.Skipf("model %s is not built yet", head.Model)
		}
	})
}

type gonenFile struct {
	Dims           struct{ P, D, N, L, T int }
	Hyper          map[string]float64
	K              golden.Tensor
	KTest          golden.Tensor `json:"K_test"`
	Y              golden.Mat
	Init           gonenInit
	Bound          golden.Vec
	BoundPublished golden.Vec `json:"bound_published"`
	After          map[string]gonenAfter
}

type gonenInit struct {
	A golden.Mat    `json:"A_mu"`
	G golden.Tensor `json:"G_mu"`
	F golden.Mat    `json:"F_mu"`
}

type gonenAfter struct {
	State struct {
		LambdaAlpha  float64       `json:"lambda_alpha"`
		LambdaBeta   golden.Mat    `json:"lambda_beta"`
		AMu          golden.Mat    `json:"A_mu"`
		ASigma       golden.Tensor `json:"A_sigma"`
		GMu          golden.Tensor `json:"G_mu"`
		GSigma       golden.Tensor `json:"G_sigma"`
		GammaAlpha   float64       `json:"gamma_alpha"`
		GammaBeta    golden.Vec    `json:"gamma_beta"`
		OmegaAlpha   float64       `json:"omega_alpha"`
		OmegaBeta    golden.Vec    `json:"omega_beta"`
		BeMu         golden.Vec    `json:"be_mu"`
		BeSigma      golden.Mat    `json:"be_sigma"`
		UpsilonAlpha float64       `json:"upsilon_alpha"`
		UpsilonBeta  golden.Vec    `json:"upsilon_beta"`
		EpsilonAlpha float64       `json:"epsilon_alpha"`
		EpsilonBeta  golden.Vec    `json:"epsilon_beta"`
		FMu          golden.Mat    `json:"F_mu"`
		FSigma       golden.Mat    `json:"F_sigma"`
	}
	Prediction struct {
		GMu        golden.Tensor `json:"G_mu"`
		GSigma     golden.Tensor `json:"G_sigma"`
		Mu         golden.Mat
		Sigma      golden.Mat
		SigmaFull  golden.Mat `json:"sigma_full"`
		PPublished golden.Mat `json:"p_published"`
		PFull      golden.Mat `json:"p_full"`

		// The arg max of Φ((μ−ν)/√σ)/(Φ((μ−ν)/√σ) + Φ((−ν−μ)/√σ)), and of p_published.
		ClassIndex          []int `json:"class_index"`
		ClassIndexPublished []int `json:"class_index_published"`
	}
}

func (f *gonenFile) gamma(name string) vi.Gamma {
	return vi.Gamma{Shape: f.Hyper["alpha_"+name], Scale: f.Hyper["beta_"+name]}
}

func goldenRegression(t *testing.T, data []byte) {
	var f gonenFile
	require.NoError(t, json.Unmarshal(data, &f))
	k, kTest := testkit.Must(vi.NewDense(golden.MatricesOf(f.K)...)), testkit.Must(vi.NewDense(golden.MatricesOf(f.KTest)...))
	r := Regression{
		Lambda: f.gamma("lambda"), Upsilon: f.gamma("upsilon"), Gamma: f.gamma("gamma"),
		Omega: f.gamma("omega"), Epsilon: f.gamma("epsilon"),
		Plain: true, Workers: 2,
		Start: &Start{A: golden.MatrixOf(f.Init.A), G: la.MatrixOf(f.Dims.L*f.Dims.P, f.Dims.N, testkit.Flat(f.Init.G))},
	}
	m, err := r.model(k, golden.MatrixOf(f.Y))
	require.NoError(t, err)
	for i, want := range f.Bound {
		require.NoError(t, m.Sweep(nil))
		require.InEpsilon(t, want, m.Bound(), goldenBound, "bound after sweep %d", i+1)
		after, ok := f.After[fmt.Sprint(i+1)]
		if !ok {
			continue
		}
		at := func(name string) string { return fmt.Sprintf("%s after sweep %d", name, i+1) }
		s, p := after.State, m.Posterior()
		var upsilon, epsilon, shapes golden.Vec
		for o := range f.Dims.L {
			upsilon = append(upsilon, p.s.Upsilon[o].Scale)
			epsilon = append(epsilon, p.s.Epsilon[o].Scale)
			shapes = append(shapes, p.s.Upsilon[o].Shape-s.UpsilonAlpha, p.s.Epsilon[o].Shape-s.EpsilonAlpha)
		}
		require.InDeltaSlice(t, make(golden.Vec, 2*f.Dims.L), shapes, 1e-12)
		testkit.RequireClose(t, at("lambda"), s.LambdaBeta, m.Lambda.Scale, goldenArrays)
		testkit.RequireClose(t, at("a mean"), s.AMu, m.AMean, goldenArrays)
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
		testkit.RequireClose(t, at("a covariance"), s.ASigma, cov, goldenArrays)
		testkit.RequireClose(t, at("g mean"), s.GMu, m.GMean, goldenArrays)
		testkit.RequireClose(t, at("g covariance"), s.GSigma, m.GCov, goldenArrays)
		testkit.RequireClose(t, at("gamma"), s.GammaBeta, m.gamma.Scale, goldenArrays)
		testkit.RequireClose(t, at("omega"), s.OmegaBeta, m.omega.Scale, goldenArrays)
		testkit.RequireClose(t, at("(b,e) mean"), s.BeMu, m.be.Mean, goldenArrays)
		testkit.RequireClose(t, at("(b,e) covariance"), s.BeSigma, m.be.Cov, goldenArrays)
		testkit.RequireClose(t, at("upsilon"), s.UpsilonBeta, upsilon, goldenArrays)
		testkit.RequireClose(t, at("epsilon"), s.EpsilonBeta, epsilon, goldenArrays)

		full, err := p.Predict(kTest, vi.PredictOptions{Intermediate: true, Workers: 2})
		require.NoError(t, err)
		published, err := p.Predict(kTest, vi.PredictOptions{Published: true})
		require.NoError(t, err)
		want := after.Prediction
		testkit.RequireClose(t, at("g* mean"), want.GMu, full.GMean, goldenArrays)
		testkit.RequireClose(t, at("g* variance"), want.GSigma, full.GVariance, goldenArrays)
		testkit.RequireClose(t, at("predictive mean"), want.Mu, full.Mean, goldenArrays)
		testkit.RequireClose(t, at("full variance"), want.SigmaFull, full.Variance, goldenArrays)
		testkit.RequireClose(t, at("published variance"), want.Sigma, published.Variance, goldenArrays)
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
	k, kTest := testkit.Must(vi.NewDense(golden.MatricesOf(f.K)...)), testkit.Must(vi.NewDense(golden.MatricesOf(f.KTest)...))
	c := Classification{
		Lambda: f.gamma("lambda"), Gamma: f.gamma("gamma"), Omega: f.gamma("omega"),
		Margin: f.Hyper["margin"], SigmaG: f.Hyper["sigma_g"],
		Plain: true, Workers: 2,
		Start: &ClassificationStart{
			Start: Start{A: golden.MatrixOf(f.Init.A), G: la.MatrixOf(f.Dims.L*f.Dims.P, f.Dims.N, testkit.Flat(f.Init.G))},
			F:     golden.MatrixOf(f.Init.F),
		},
	}
	m, err := c.model(k, golden.MatrixOf(f.Y))
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
		s, p := after.State, m.Posterior()
		testkit.RequireClose(t, at("lambda"), s.LambdaBeta, m.Lambda.Scale, goldenArrays)
		testkit.RequireClose(t, at("a mean"), s.AMu, m.AMean, goldenArrays)
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
		testkit.RequireClose(t, at("a covariance"), s.ASigma, cov, goldenArrays)
		testkit.RequireClose(t, at("g mean"), s.GMu, m.GMean, goldenArrays)
		testkit.RequireClose(t, at("g covariance"), s.GSigma, m.GCov, goldenArrays)
		testkit.RequireClose(t, at("gamma"), s.GammaBeta, m.gamma.Scale, goldenArrays)
		testkit.RequireClose(t, at("omega"), s.OmegaBeta, m.omega.Scale, goldenArrays)
		testkit.RequireClose(t, at("(b,e) mean"), s.BeMu, m.be.Mean, goldenArrays)
		testkit.RequireClose(t, at("(b,e) covariance"), s.BeSigma, m.be.Cov, goldenArrays)
		testkit.RequireClose(t, at("f mean"), s.FMu, m.f, goldenArrays)
		testkit.RequireClose(t, at("f variance"), s.FSigma, variance, goldenArrays)

		full, err := p.Predict(kTest, vi.PredictOptions{Intermediate: true, Workers: 2})
		require.NoError(t, err)
		published, err := p.Predict(kTest, vi.PredictOptions{Published: true})
		require.NoError(t, err)
		want := after.Prediction
		testkit.RequireClose(t, at("g* mean"), want.GMu, full.GMean, goldenArrays)
		testkit.RequireClose(t, at("g* variance"), want.GSigma, full.GVariance, goldenArrays)
		testkit.RequireClose(t, at("score mean"), want.Mu, full.Mean, goldenArrays)
		testkit.RequireClose(t, at("full variance"), want.SigmaFull, full.Variance, goldenArrays)
		testkit.RequireClose(t, at("published variance"), want.Sigma, published.Variance, goldenArrays)
		testkit.RequireClose(t, at("probability"), want.PFull, full.Probability, goldenArrays)
		testkit.RequireClose(t, at("published probability"), want.PPublished, published.Probability, goldenArrays)
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
