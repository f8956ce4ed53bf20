package mcmc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/golden"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Posterior means against long runs of an independent implementation.
func TestGoldenSummary(t *testing.T) {
	testkit.NotShort(t)
	d := readProbitData(t)
	type means struct {
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
	var g struct {
		Hyper struct {
			Tau, Nu, Mu, Lam, Kappa, Xi, Scale float64
			Sigma, Beta                        golden.Vec
		}
		Fixed, Linear, Binary, Product means
	}
	golden.Read(t, "pmkl", "mcmc_summary.json", &g)
	h := g.Hyper
	base := Probit{
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
	for _, c := range []struct {
		name        string
		rule        probit.Rule
		want        means
		train, test *vi.Dense
	}{
		{"fixed", probit.FixSum, g.Fixed, dense(t, d.K...), dense(t, d.Kstar...)},
		{"linear", probit.WSum, g.Linear, dense(t, d.K...), dense(t, d.Kstar...)},
		{
			"binary", probit.Bin, g.Binary,
			dense(t, scaled(d.K[0], 1), scaled(d.K[1], 1), scaled(d.K[0], 1.1)),
			dense(t, scaled(d.Kstar[0], 1), scaled(d.Kstar[1], 1), scaled(d.Kstar[0], 1.1)),
		},
		{"product", probit.WProd, g.Product, dense(t, d.K...), dense(t, d.Kstar...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := base
			p.Rule = c.rule
			switch c.rule {
			case probit.FixSum:
				p.Beta = h.Beta
			case probit.Bin:
				p.On = h.Sigma
			}
			draws, err := p.Sample(t.Context(), c.train, d.T)
			require.NoError(t, err)
			compare := func(name string, want, se float64, step int, f func(chain, draw int) float64) {
				series := make(golden.Mat, draws.Chains())
				for chain := range series {
					for i := 0; i < draws.Len(); i += step {
						series[chain] = append(series[chain], f(chain, i))
					}
				}
				s := Summarise(series)
				assert.InDelta(t, want, s.Mean, 4*math.Hypot(se, s.MCSE), "%s: %+v", name, s)
				assert.Less(t, s.RHat, 1.1, "%s: %+v", name, s)
			}
			element := func(name string, j int) func(int, int) float64 {
				return func(chain, draw int) float64 { return draws.Value(name, chain, draw).At(0, j) }
			}
			for class := range d.C {
				compare("log precision", c.want.LogPrec[class], c.want.LogPrecSE[class], 1, element("log precision", class))
				compare("y²", c.want.Y2[class], c.want.Y2SE[class], 1, element("auxiliary", class))
			}
			for s := range c.want.Beta {
				compare("beta", c.want.Beta[s], c.want.BetaSE[s], 1, element("beta", s))
			}
			for s := range c.want.BetaBounded {
				compare("beta/(1+beta)", c.want.BetaBounded[s], c.want.BetaBoundedSE[s], 1, func(chain, draw int) float64 {
					b := draws.Value("beta", chain, draw).At(0, s)
					return b / (1 + b)
				})
			}
			for state, want := range c.want.State {
				compare("state", want, c.want.StateSE[state], 1, func(chain, draw int) float64 {
					index := 0
					for s, b := range draws.Value("beta", chain, draw).Row(0) {
						index |= int(b) << s
					}
					if index == state {
						return 1
					}
					return 0
				})
			}
			composite, err := probit.NewComposite(c.rule, c.test)
			require.NoError(t, err)
			kernel, f := la.NewMatrix[float64](d.N, d.Nt), la.NewMatrix[float64](d.C, d.Nt)
			const step = 4 // probabilities are dear
			probabilities := make([][]golden.Mat, draws.Chains())
			column, ratio := make(golden.Vec, d.C), make(golden.Vec, d.C)
			for chain := range probabilities {
				for i := 0; i < draws.Len(); i += step {
					beta := draws.beta
					if c.rule.Learned() {
						beta = draws.Value("beta", chain, i).Row(0)
					}
					composite.Combine(nil, beta, kernel)
					la.Gemm(nil, la.NoTrans, la.NoTrans, 1, draws.Value("W", chain, i), kernel, 0, f)
					all := make(golden.Mat, d.Nt)
					for n := range all {
						for class := range column {
							column[class] = f.At(class, n)
						}
						all[n] = make(golden.Vec, d.C)
						coneProbabilities(column, all[n], ratio)
					}
					probabilities[chain] = append(probabilities[chain], all)
				}
			}
			predicted, err := draws.Thin(step).Predict(t.Context(), c.test, vi.PredictOptions{})
			require.NoError(t, err)
			for n := range d.Nt {
				for class := range d.C {
					var sum float64
					compare("p", c.want.P[n][class], c.want.SE[n][class], step, func(chain, draw int) float64 {
						v := probabilities[chain][draw/step][n][class]
						sum += v
						return v
					})
					assert.InDelta(t, sum/float64(draws.Chains()*draws.Len()/step), predicted.Probability.At(n, class), 1e-12)
				}
			}
		})
	}
}
