package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jointPool returns a pool of numbers whose noise varies, so that two members have one composite kernel. Samples lie twice and a feature
// is constant.
func jointPool(t *testing.T, n int) (*AutoModel, Features) {
	rng := rand.New(rand.NewPCG(52, 52))
	x, y := normal(rng, n, 3), make([]float64, n)
	for i := range n {
		row := x.Row(i)
		row[1] = 7
		if i%10 == 9 {
			copy(row, x.Row(i-1))
		}
		y[i] = math.Sin(3*row[0]) + row[2] + 0.3*math.Exp(1.5*row[0])*rng.NormFloat64()
	}
	m, err := Auto{Climb: Climb{MaxSteps: 3}}.Fit(context.Background(), []View{{X: x}}, y)
	require.NoError(t, err)
	return m, x
}

// Members with one composite kernel have one triangle. Predictions are within their bounds and the tolerance, and a compiled file has
// their bits.
func TestJointFunctionsStayWithinTheTolerance(t *testing.T) {
	m, x := jointPool(t, 360)
	q := anywhere(rand.New(rand.NewPCG(53, 54)), x, 400)
	exact, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	assert.Empty(t, exact.mixture.joint)
	for _, tolerance := range []float64{1e-2, 1e-4, 1e-6} {
		opt := PredictorOptions{Tolerance: tolerance}
		p, err := m.Predictor(opt)
		require.NoError(t, err)
		if tolerance > 1e-6 { // below, float32 is not enough for most samples
			require.NotEmpty(t, p.mixture.joint)
		}
		var file bytes.Buffer
		require.NoError(t, Compile(&file, m, opt))
		loaded, err := LoadAs[*AutoModel](&file)
		require.NoError(t, err)
		again, err := loaded.Predictor(opt)
		require.NoError(t, err)
		many, err := p.PredictMany(context.Background(), 1, q)
		require.NoError(t, err)
		apart, calibrated, worst, share := 0, 0, 0.0, 0.0
		for _, member := range p.mixture.members {
			if f := member.process; f != nil && f.joint == nil {
				apart++
			}
		}
		for i := range q.Rows {
			want, err := exact.PredictWithBound(q.Row(i))
			require.NoError(t, err)
			got, err := p.PredictWithBound(q.Row(i))
			require.NoError(t, err)
			same, err := again.PredictWithBound(q.Row(i))
			require.NoError(t, err)
			assert.Equal(t, got, same)
			assertWithinBounds(t, want, many[i], tolerance)
			sd := math.Sqrt(want.Variance)
			assert.Equal(t, want.Mean, got.Mean)
			sdError, slack := math.Abs(math.Sqrt(got.Variance)-sd), 1e-9*sd
			assert.LessOrEqual(t, sdError, got.SDError+slack, "%g, %v", tolerance, q.Row(i))
			assert.LessOrEqual(t, sdError, tolerance*sd+slack, "%g, %v", tolerance, q.Row(i))
			if got.SDError > 0 {
				calibrated++
				worst, share = max(worst, sdError/sd), max(share, sdError/got.SDError)
			}
		}
		assert.Equal(t, p.mixture.joint == nil, apart == len(p.mixture.members))
		t.Logf("tolerance %g, %d members, %d apart: %d of %d with a bound, largest error %.2g SD and %.2g of its bound",
			tolerance, len(p.mixture.members), apart, calibrated, q.Rows, worst, share)
	}
}

// assertWithinTolerance compares the predictor of a model with the exact one, at rows of all kinds.
func assertWithinTolerance(t *testing.T, m *AutoModel, q Features, opt PredictorOptions) {
	t.Helper()
	exact, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	p, err := m.Predictor(opt)
	require.NoError(t, err)
	tolerance := opt.Tolerance
	many, err := p.PredictMany(context.Background(), 1, q)
	require.NoError(t, err)
	for i := range q.Rows {
		want, err := exact.PredictWithBound(q.Row(i))
		require.NoError(t, err)
		assertWithinBounds(t, want, many[i], tolerance)
		got, err := p.PredictWithBound(q.Row(i))
		require.NoError(t, err)
		sd := math.Sqrt(want.Variance)
		sdError := math.Abs(math.Sqrt(got.Variance) - sd)
		assert.LessOrEqual(t, sdError, min(got.SDError, tolerance*sd)+1e-9*sd, "%v", q.Row(i))
		assert.LessOrEqual(t, math.Abs(got.Mean-want.Mean), got.MeanError+1e-12*sd, "%v", q.Row(i))
	}
}

// Members of a joint triangle may have the weight 0, and all but one member may be missing.
func TestJointFunctionsOfAnyWeights(t *testing.T) {
	m, x := jointPool(t, 360)
	q := anywhere(rand.New(rand.NewPCG(55, 56)), x, 80)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	joint := p.mixture.joint[0].members
	require.Greater(t, len(joint), 1)
	weights := map[string][]float64{}
	for _, name := range []string{"first none", "last none", "joint none", "nearly none", "joint alone"} {
		weights[name] = make([]float64, len(m.weights))
	}
	for i := range m.weights {
		weights["first none"][i], weights["last none"][i], weights["joint none"][i], weights["nearly none"][i] = 1, 1, 1, 1
	}
	for _, i := range joint {
		weights["joint none"][i], weights["joint alone"][i] = 0, 1
	}
	weights["first none"][joint[0]], weights["last none"][joint[len(joint)-1]], weights["nearly none"][joint[0]] = 0, 0, 1e-14
	for name, w := range weights {
		total := 0.0
		for _, v := range w {
			total += v
		}
		if total == 0 { // all members are joint
			continue
		}
		for i := range w {
			w[i] /= total
		}
		t.Run(name, func(t *testing.T) {
			other := *m
			other.weights = w
			assertWithinTolerance(t, &other, q, PredictorOptions{Tolerance: 1e-2})
			mean, variance, err := other.Predict(q)
			require.NoError(t, err)
			p, err := other.Predictor(PredictorOptions{Exact: true})
			require.NoError(t, err)
			for i := range q.Rows {
				gotMean, gotVariance, err := p.Predict(q.Row(i))
				require.NoError(t, err)
				assert.InDelta(t, mean[i], gotMean, 1e-6*math.Sqrt(variance[i]))
				assert.InEpsilon(t, variance[i], gotVariance, 1e-6)
			}
		})
	}
	for i := range m.models {
		one := *m
		one.models, one.members, one.weights, one.names = m.models[i:i+1], m.members[i:i+1], []float64{1}, m.names[i:i+1]
		p, err := one.Predictor(PredictorOptions{})
		require.NoError(t, err)
		assert.Empty(t, p.mixture.joint)
		assertWithinTolerance(t, &one, q, PredictorOptions{Tolerance: 1e-2})
	}
}
