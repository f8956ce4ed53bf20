package vi

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
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

// goldenMTMKL runs one file of the mtmkl folder.
func goldenMTMKL(t *testing.T, path string, data []byte) {
	var head struct{ Kind string }
	require.NoError(t, json.Unmarshal(data, &head))
	switch head.Kind {
	case "linreg":
		goldenSpikeSlab(t, data)
	default:
		t.Skipf("%s: kind %s is not for this package", filepath.Base(path), head.Kind)
	}
}

type slabExpected struct {
	BoundInitial  float64        `json:"bound_initial"`
	BoundTrace    vec            `json:"bound_trace"`
	SubstepBounds [][]namedBound `json:"substep_bounds"`
	After         map[string]struct {
		Gamma    vec
		Logit    []real  `json:"logit_gamma"`
		Mu       vec     `json:"mu_w"`
		V        vec     `json:"v_w"`
		Sigma    mat     `json:"Sigma_w"`
		WMean    vec     `json:"w_mean"`
		Squared  float64 `json:"exp_sq_resid"`
		Bound    float64
		PredMean vec `json:"pred_f_mean"`
		PredVar  vec `json:"pred_f_var"`
		PredY    vec `json:"pred_y_var"`
	}
	Tolerance map[string]float64 `json:"tolerance_rel"`
}

// goldenSpikeSlab holds both mean fields, and both ways to hold the inputs, to a
// file.
func goldenSpikeSlab(t *testing.T, data []byte) {
	var f struct {
		Input struct {
			X          mat
			Y          vec
			XTest      mat `json:"X_test"`
			Sigma2, Pi float64
			Sigw2      float64
		}
		Init struct {
			Gamma vec
			Mu    vec `json:"mu_w"`
		}
		Expected map[string]slabExpected
	}
	require.NoError(t, json.Unmarshal(data, &f))
	in := f.Input
	x, xTest := matrixOf(in.X), matrixOf(in.XTest)
	for _, way := range []string{"pmf", "mf", "pmf by samples"} {
		t.Run(way, func(t *testing.T) {
			s := SpikeSlab{
				Prior: SlabPrior{in.Pi, in.Sigw2}, Noise: in.Sigma2, Held: Held{true, true, true},
				Standard: way == "mf", Start: &SpikeSlabStart{f.Init.Gamma, f.Init.Mu}, Workers: 2,
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
			require.InEpsilon(t, want.BoundInitial, m.bound(), 1e-9)
			for it, bound := range want.BoundTrace {
				var steps []float64
				require.NoError(t, m.sweep(func(string) { steps = append(steps, m.bound()) }))
				at := fmt.Sprintf("after sweep %d", it+1)
				requireEach(t, "bound "+at, vec{bound}, vec{m.bound()}, 1e-9)
				if it < len(want.SubstepBounds) {
					for i, b := range want.SubstepBounds[it] {
						requireEach(t, b.name+" "+at, vec{b.bound}, vec{steps[i]}, 1e-9)
					}
				}
				after, ok := want.After[fmt.Sprint(it+1)]
				if !ok {
					continue
				}
				tol := want.Tolerance[fmt.Sprint(it+1)]
				var p *SpikeSlabPosterior
				var squared float64
				switch m := m.(type) {
				case *pairedField:
					p, squared = m.posterior(), m.squared()
				case *standardField:
					p, squared = m.posterior(), m.squared()
				}
				var gamma, logits, mu, v vec
				for _, q := range p.s.Weights {
					gamma, logits, mu, v = append(gamma, q.Inclusion()), append(logits, q.Logit), append(mu, q.Mean), append(v, q.Variance)
				}
				requireEach(t, "γ "+at, after.Gamma, gamma, tol)
				requireEach(t, "logit γ "+at, reals(after.Logit), logits, tol)
				requireEach(t, "μ "+at, after.Mu, mu, tol)
				if s.Standard {
					requireEach(t, "Σ "+at, flat(after.Sigma), flat(p.s.Covariance), tol)
				} else {
					requireEach(t, "v "+at, after.V, v, tol)
				}
				mean, _, _ := p.Weights()
				requireEach(t, "E[w] "+at, after.WMean, mean, tol)
				requireEach(t, "E|y − Xw|² "+at, vec{after.Squared}, vec{squared}, tol)
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

func reals(r []real) (out vec) {
	for _, v := range r {
		out = append(out, float64(v))
	}
	return out
}
