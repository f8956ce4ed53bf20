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
	rng := rand.New(rand.NewPCG(51, 52))
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
	m, x := jointPool(t, 280)
	q := anywhere(rand.New(rand.NewPCG(53, 54)), x, 400)
	exact, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	assert.Empty(t, exact.mixture.joint)
	for _, tolerance := range []float64{1e-2, 1e-4, 1e-6} {
		opt := PredictorOptions{Tolerance: tolerance}
		p, err := m.Predictor(opt)
		require.NoError(t, err)
		require.NotEmpty(t, p.mixture.joint)
		var file bytes.Buffer
		require.NoError(t, Compile(&file, m, opt))
		loaded, err := LoadAs[*AutoModel](&file)
		require.NoError(t, err)
		again, err := loaded.Predictor(opt)
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
		assert.Less(t, apart, len(p.mixture.members))
		t.Logf("tolerance %g, %d members, %d apart: %d of %d with a bound, largest error %.2g SD and %.2g of its bound",
			tolerance, len(p.mixture.members), apart, calibrated, q.Rows, worst, share)
	}
}
