package probit

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// With one kernel that is always on nothing is left to infer: the sweeps go on where the sweeps of
// the start ended.
func TestStructuredWithOneStateIsFixSum(t *testing.T) {
	k, star, labels, _ := probitProblem(t, 30, 3, 1, 9, 3)
	a := vi.Ascent{Tolerance: -1, MaxSweeps: 20}
	sum, err := Model{Plain: true, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: earlySweeps + 20}}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	bin, err := Model{Rule: RuleBin, Update: WeightUpdateStructured, NotEmpty: true, Ascent: a}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	for i, b := range sum.Record.Trace[earlySweeps:] {
		assert.InDelta(t, b+math.Log(0.5), bin.Record.Trace[i], 1e-12*math.Abs(b))
	}
	want, err := sum.Posterior.Predict(star, vi.PredictOptions{})
	require.NoError(t, err)
	got, err := bin.Posterior.Predict(star, vi.PredictOptions{})
	require.NoError(t, err)
	assert.InDeltaSlice(t, want.Probability.Data, got.Probability.Data, 1e-13)
	assert.InDeltaSlice(t, want.Variance.Data, got.Variance.Data, 1e-13)
}

// From where mean field has settled the larger family rises further, and its moments are the
// weighted moments of its components.
func TestStructuredIsTheLargerFamily(t *testing.T) {
	k, star, labels, _ := probitProblem(t, 24, 3, 3, 6, 1)
	var weak []la.Matrix[float64] // with little to say, so that several states share the probability
	for p := range 3 {
		m := k.At(p).Clone()
		la.Scal(0.15, m.Data)
		weak = append(weak, m)
	}
	k = testkit.Must(vi.NewDense(weak...))
	p := Model{Rule: RuleBin, Update: WeightUpdateMeanField, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: 300}}
	field, err := p.model(k, labels)
	require.NoError(t, err)
	for range 300 {
		require.NoError(t, field.Sweep(nil))
	}
	start := &Start{Y: field.y, Alpha: la.NewMatrix[float64](3, 24)}
	for c := range 3 {
		for d := range 24 {
			start.Alpha.Set(c, d, field.alpha[c].Mean(d))
		}
	}
	p.Update, p.Start = WeightUpdateStructured, start
	p.Ascent.MaxSweeps = 1
	fit, err := p.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	assert.Greater(t, fit.Record.Bound(), field.Bound())

	s := fit.Posterior.State()
	require.Greater(t, len(s.Components), 3)
	var total float64
	for _, c := range s.Components {
		total += c.Probability
	}
	assert.InDelta(t, 1, total, 1e-14)
	got, err := fit.Posterior.Predict(star, vi.PredictOptions{})
	require.NoError(t, err)
	var mean, square, probability float64 // of class 1 and sample 2
	cov := la.NewMatrix[float64](2, 2)
	rows := []int{4, 17}
	for _, c := range s.Components {
		one, err := NewPosterior(State{
			Rule: RuleBin, Samples: 24, Beta: c.Beta, BetaCov: la.NewMatrix[float64](3, 3), W: c.W, Alpha: s.Alpha, Gram: c.Gram,
		})
		require.NoError(t, err)
		q, err := one.Predict(star, vi.PredictOptions{})
		require.NoError(t, err)
		m := q.Mean.At(1, 2)
		mean += c.Probability * m
		square += c.Probability * (m*m + q.Variance.At(1, 2))
		probability += c.Probability * q.Probability.At(2, 1)
		v, err := one.WeightCovariance(&la.Workspace{}, 1, rows)
		require.NoError(t, err)
		for i, r := range rows {
			for j, u := range rows {
				cov.Row(i)[j] += c.Probability * (v.At(i, j) + c.W.At(1, r)*c.W.At(1, u))
			}
		}
	}
	assert.InDelta(t, mean, got.Mean.At(1, 2), 1e-14)
	assert.InDelta(t, square-mean*mean, got.Variance.At(1, 2), 1e-13)
	assert.InDelta(t, probability, got.Probability.At(2, 1), 1e-14)
	v, err := fit.Posterior.WeightCovariance(&la.Workspace{}, 1, rows)
	require.NoError(t, err)
	for i, r := range rows {
		for j, u := range rows {
			assert.InDelta(t, cov.At(i, j)-s.W.At(1, r)*s.W.At(1, u), v.At(i, j), 1e-13)
		}
	}
}

func TestStructuredLimits(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 9, 3, 1, 0, 1)
	var many []la.Matrix[float64]
	for range 9 {
		many = append(many, k.At(0))
	}
	for want, p := range map[string]Model{
		"vi: Structured solves for the regressors in each of the 2^P states of at most 8 kernels, not 9": {Rule: RuleBin, Update: WeightUpdateStructured},
		"vi: Update is Structured, which is of Bin and not of WSum":                                      {Rule: RuleWSum, Update: WeightUpdateStructured},
		"vi: Update is Structured, which is of Bin and not of FixSum":                                    {Update: WeightUpdateStructured},
	} {
		_, err := p.Fit(context.Background(), testkit.Must(vi.NewDense(many...)), labels)
		assert.EqualError(t, err, want)
	}
	_, err := Model{Rule: RuleBin, Update: WeightUpdateStructured}.FitParametric(context.Background(), thetaKernels{golden.Tensor{golden.Mat{{0}, {1}}}}, []int{0, 1})
	assert.EqualError(t, err, "vi: Update is Structured: with kernel parameters it is not possible")

	one := Component{Probability: 1, Beta: []float64{1}, W: la.NewMatrix[float64](2, 3), Gram: la.NewMatrix[float64](3, 3)}
	alpha := la.NewMatrix[float64](2, 3)
	alpha.Fill(1)
	two := one
	two.Beta = []float64{1, 0}
	negative := one
	negative.Probability = -1
	narrow := one
	narrow.W = la.NewMatrix[float64](2, 2)
	half := one
	half.Probability = 0.5
	double := one
	double.Beta = []float64{2}
	for want, all := range map[string][]Component{
		"vi: probit state: component 1 has the probability -1":                                  {one, negative},
		"vi: probit state: component 1 has 2 kernels and component 0 1":                         {one, two},
		"vi: probit state: Alpha: 2×3 (stride 3, 6 elements) where 2×2 is needed (component 1)": {one, narrow},
		"vi: probit state: the components' probabilities add up to 1.5":                         {one, half},
		"vi: probit state: component 0: Beta[0] is 2, not 0 or 1":                               {double},
	} {
		_, err := NewPosterior(State{Rule: RuleBin, Samples: 3, Alpha: alpha, Components: all})
		assert.EqualError(t, err, want)
	}
	_, err = NewPosterior(State{Samples: 3, Alpha: alpha, Components: []Component{one}})
	assert.EqualError(t, err, "vi: probit state: components are of Bin and not of FixSum")
}
