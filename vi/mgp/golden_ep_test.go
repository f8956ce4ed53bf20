package mgp

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// epTolerance is the tolerance in the README of the golden files ep, relative to the largest entry
// of an array and of a value to max(1, |value|).
const epTolerance = 1e-10

// epResult is a fixed point of expectation propagation, or the optimum of the
// Gaussian variational bound.
type epResult struct {
	Precision   golden.Vec `json:"site_precision"`
	Shift       golden.Vec `json:"site_shift"`
	Mean        golden.Vec
	Variance    golden.Vec
	Alpha       golden.Vec
	Gradient    golden.Vec `json:"gradient_log_amplitude"`
	TestMean    golden.Vec `json:"test_mean"`
	TestVar     golden.Vec `json:"test_variance"`
	TestProb    golden.Vec `json:"test_probability"`
	LeaveOneOut golden.Vec `json:"loo_probability"`
	LogEvidence *float64   `json:"log_evidence"`
	Bound       *float64
}

func TestGoldenSites(t *testing.T) {
	golden.Run(t, "ep", []string{"plain.json", "large.json", "flipped.json"}, func(t *testing.T, _ string, data []byte) {
		var c struct {
			Amplitude, Label golden.Vec
			K                golden.Tensor
			KTest            golden.Tensor `json:"Ktest"`
			EP, VG           *epResult
		}
		require.NoError(t, json.Unmarshal(data, &c))
		require.NotNil(t, c.EP)
		for how, want := range map[Sites]*epResult{SitesEP: c.EP, SitesBound: c.VG} {
			if want == nil {
				continue
			}
			k, err := vi.NewDense(golden.MatricesOf(c.K)...)
			require.NoError(t, err)
			m, x, err := Evidence{Sites: how, Family: FamilyFlat}.objective(context.Background(), k, c.Label, true)
			require.NoError(t, err)
			for p, a := range c.Amplitude {
				x[p] = math.Log(a)
			}
			checkSites(t, m, x, want, golden.MatricesOf(c.KTest))
		}
	})
}

func checkSites(t *testing.T, m *evidence, x []float64, want *epResult, test []la.Matrix[float64]) {
	m.tol = 1e-13
	z, err := m.functions(x)
	require.NoError(t, err)
	value := want.Bound
	if m.how == SitesEP {
		value = want.LogEvidence
		got := m.like.leaveOneOut(m.sites)
		for i := range got {
			got[i] = math.Exp(got[i])
		}
		closeTo(t, "leave-one-out", want.LeaveOneOut, got)
	}
	require.NotNil(t, value)
	assert.InDelta(t, *value, z, epTolerance*max(1, math.Abs(*value)), "log evidence or bound")
	closeTo(t, "λ", want.Precision, m.sites.prec)
	closeTo(t, "ν", want.Shift, m.sites.nu)
	closeTo(t, "E[f]", want.Mean, m.sites.mean)
	closeTo(t, "Var[f]", want.Variance, m.sites.variance)
	closeTo(t, "α", want.Alpha, m.alpha)

	fit, err := m.finish(x, vi.Record{})
	require.NoError(t, err)
	cross := make([]la.Matrix[float64], m.P)
	for p, rows := range test {
		cross[p] = la.NewMatrix[float64](m.N, rows.Rows)
		for i := range rows.Rows {
			for j, v := range rows.Row(i) {
				cross[p].Set(j, i, v)
			}
		}
	}
	kt, err := vi.NewDense(cross...)
	require.NoError(t, err)
	self := la.NewMatrix[float64](m.P, test[0].Rows)
	self.Fill(1)
	p, err := fit.Posterior.Predict(kt, self, vi.PredictOptions{})
	require.NoError(t, err)
	closeTo(t, "test mean", want.TestMean, p.Mean)
	closeTo(t, "test variance", want.TestVar, p.Function)
	closeTo(t, "test probability", want.TestProb, p.Probability)

	g := make([]float64, len(x))
	m.tol = 1e-13
	_, err = m.cost(x, g)
	require.NoError(t, err)
	for i := range g {
		g[i] = -g[i]
	}
	closeTo(t, "gradient", want.Gradient, g)
}

func closeTo(t *testing.T, what string, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want), what)
	var largest float64
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i := range want {
		assert.InDelta(t, want[i], got[i], epTolerance*largest, "%s[%d]", what, i)
	}
}
