package mcmc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// summaryMeans are posterior means, and their Monte Carlo standard errors, of long runs of another
// program.
type summaryMeans struct {
	P             golden.Mat `json:"p"`
	SE            golden.Mat `json:"p_se"`
	LogPrec       golden.Vec `json:"mean_log_prec"`
	LogPrecSE     golden.Vec `json:"mean_log_prec_se"`
	Y2            golden.Vec `json:"mean_y2"`
	Y2SE          golden.Vec `json:"mean_y2_se"`
	Beta          golden.Vec `json:"beta"`
	BetaSE        golden.Vec `json:"beta_se"`
	State         golden.Vec `json:"state_prob"`
	StateSE       golden.Vec `json:"state_prob_se"`
	BetaBounded   golden.Vec `json:"beta_over_1_plus_beta"`
	BetaBoundedSE golden.Vec `json:"beta_over_1_plus_beta_se"`
}

// TestGoldenSummary compares the posterior means of every rule with another program's, within
// four standard errors of both, and predictions with a plain loop over the draws.
func TestGoldenSummary(t *testing.T) {
	testkit.NotShort(t)
	d := readProbitData(t)
	var g struct {
		Hyper struct {
			Tau, Nu, Mu, Lam, Kappa, Xi, Scale float64
			Sigma, Beta                        golden.Vec
		}
		Fixed, Linear, Binary, Product summaryMeans
	}
	golden.Read(t, "pmkl", "mcmc_summary.json", &g)
	h := g.Hyper
	p := Probit{
		Alpha: vi.Gamma{Shape: h.Tau, Scale: 1 / h.Nu}, Rho: vi.Gamma{Shape: h.Mu, Scale: 1 / h.Lam},
		Kappa: h.Kappa, Xi: h.Xi, Sampling: Sampling{Draws: 300, BurnIn: 200, Seed: 1},
	}
	scaled := func(k golden.Mat, power float64) golden.Mat {
		out := make(golden.Mat, len(k))
		for i, row := range k {
			for _, v := range row {
				out[i] = append(out[i], h.Scale*math.Pow(v, power))
			}
		}
		return out
	}
	three := func(k golden.Tensor) *vi.Dense {
		return dense(t, scaled(k[0], 1), scaled(k[1], 1), scaled(k[0], 1.1))
	}
	for _, c := range []struct {
		name        string
		rule        probit.Rule
		beta, on    golden.Vec
		want        summaryMeans
		train, test *vi.Dense
	}{
		{"fixed", probit.RuleFixSum, h.Beta, nil, g.Fixed, dense(t, d.K...), dense(t, d.Kstar...)},
		{"linear", probit.RuleWSum, nil, nil, g.Linear, dense(t, d.K...), dense(t, d.Kstar...)},
		{"binary", probit.RuleBin, nil, h.Sigma, g.Binary, three(d.K), three(d.Kstar)},
		{"product", probit.RuleWProd, nil, nil, g.Product, dense(t, d.K...), dense(t, d.Kstar...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p
			p.Rule, p.Beta, p.On = c.rule, c.beta, c.on
			draws, err := p.Sample(t.Context(), c.train, d.T)
			require.NoError(t, err)
			s := summaryCase{draws, c.want, d}
			s.compareVariables(t)
			s.comparePredictions(t, c.test)
		})
	}
}

// summaryCase are the draws of one rule and what their means should be.
type summaryCase struct {
	draws *ProbitDraws
	want  summaryMeans
	data  probitData
}

// compare demands that the mean of f over every step-th draw is the wanted one, within four standard
// errors, and that the chains agree. The share p of a state that n draws miss has p < 4√(p/n), p < 16/n.
func (c summaryCase) compare(t *testing.T, name string, want, se float64, step int, f func(chain, draw int) float64) {
	t.Helper()
	series := make(golden.Mat, c.draws.Chains())
	for chain := range series {
		for i := 0; i < c.draws.Len(); i += step {
			series[chain] = append(series[chain], f(chain, i))
		}
	}
	s := Summarise(series)
	if s.SD == 0 { // a state that no draw visits, or all do: then R̂ and the standard error are NaN
		missed := math.Abs(want - s.Mean)
		assert.Less(t, missed, 16/float64(len(series)*len(series[0]))+4*se, "%s is %g in every draw", name, s.Mean)
		return
	}
	assert.InDelta(t, want, s.Mean, 4*math.Hypot(se, s.MCSE), "%s: %+v", name, s)
	assert.Less(t, s.RHat, 1.1, "%s: %+v", name, s)
}

// compareVariables compares the precisions, the auxiliary variables, the weights and the states of
// the switches.
func (c summaryCase) compareVariables(t *testing.T) {
	element := func(name string, j int) func(int, int) float64 {
		return func(chain, draw int) float64 { return c.draws.Value(name, chain, draw).At(0, j) }
	}
	for class := range c.data.C {
		c.compare(t, "log precision", c.want.LogPrec[class], c.want.LogPrecSE[class], 1, element("log precision", class))
		c.compare(t, "y²", c.want.Y2[class], c.want.Y2SE[class], 1, element("auxiliary", class))
	}
	for s := range c.want.Beta {
		c.compare(t, "beta", c.want.Beta[s], c.want.BetaSE[s], 1, element("beta", s))
	}
	for s := range c.want.BetaBounded {
		c.compare(t, "beta/(1+beta)", c.want.BetaBounded[s], c.want.BetaBoundedSE[s], 1, func(chain, draw int) float64 {
			b := c.draws.Value("beta", chain, draw).At(0, s)
			return b / (1 + b)
		})
	}
	for state, want := range c.want.State {
		c.compare(t, "state", want, c.want.StateSE[state], 1, func(chain, draw int) float64 {
			index := 0
			for s, b := range c.draws.Value("beta", chain, draw).Row(0) {
				index |= int(b) << s
			}
			if index == state {
				return 1
			}
			return 0
		})
	}
}

// comparePredictions compares the probabilities of the test samples, and what Predict makes of the
// same draws.
func (c summaryCase) comparePredictions(t *testing.T, test *vi.Dense) {
	const step = 4 // probabilities are dear
	probabilities := c.probabilities(t, test, step)
	predicted, err := c.draws.Thin(step).Predict(t.Context(), test, vi.PredictOptions{})
	require.NoError(t, err)
	for n := range c.data.Nt {
		for class := range c.data.C {
			var sum float64
			c.compare(t, "p", c.want.P[n][class], c.want.SE[n][class], step, func(chain, draw int) float64 {
				v := probabilities[chain][draw/step][n][class]
				sum += v
				return v
			})
			assert.InDelta(t, sum/float64(c.draws.Chains()*c.draws.Len()/step), predicted.Probability.At(n, class), 1e-12)
		}
	}
}

// probabilities returns the probabilities of the classes, chain by chain, of every step-th draw and
// every test sample.
func (c summaryCase) probabilities(t *testing.T, test *vi.Dense, step int) [][]golden.Mat {
	d := c.data
	composite, err := probit.NewComposite(c.draws.Rule(), test)
	require.NoError(t, err)
	kernel, f := la.NewMatrix[float64](d.N, d.Nt), la.NewMatrix[float64](d.C, d.Nt)
	out := make([][]golden.Mat, c.draws.Chains())
	column, ratio := make(golden.Vec, d.C), make(golden.Vec, d.C)
	for chain := range out {
		for i := 0; i < c.draws.Len(); i += step {
			beta := c.draws.beta
			if c.draws.Rule().Learned() {
				beta = c.draws.Value("beta", chain, i).Row(0)
			}
			composite.Combine(nil, beta, kernel)
			la.Gemm(nil, la.NoTrans, la.NoTrans, 1, c.draws.Value("W", chain, i), kernel, 0, f)
			all := make(golden.Mat, d.Nt)
			for n := range all {
				for class := range column {
					column[class] = f.At(class, n)
				}
				all[n] = make(golden.Vec, d.C)
				coneProbabilities(column, all[n], ratio)
			}
			out[chain] = append(out[chain], all)
		}
	}
	return out
}
