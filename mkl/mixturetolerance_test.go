package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// A mixture may be within its tolerance although no member is within its own. Where it is not, members are computed in float64.
func TestOneToleranceForTheMixture(t *testing.T) {
	const n, most = 180, 150
	r := rand.New(rand.NewPCG(7, 30))
	x, y := la.NewMatrix[float64](n, 3), make([]float64, n)
	for i := range y {
		for j := range 3 {
			x.Set(i, j, r.NormFloat64())
		}
		y[i] = math.Sin(2*x.At(i, 0)) + 0.5*x.At(i, 1) + 0.05*r.NormFloat64()
	}
	m, err := Auto{}.Fit(t.Context(), []View{{X: x.Slice(0, most, 0, 3)}}, y[:most])
	require.NoError(t, err)
	rows := x.Slice(most, n, 0, 3)
	exact, err := m.PredictTargets(t.Context(), PredictOptions{}, rows)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{Tolerance: 1e-3})
	require.NoError(t, err)
	require.Greater(t, len(p.mixture.members), 1)
	rounded := 0
	for i := range p.mixture.members {
		f := p.mixture.members[i].process
		require.NotNil(t, f)
		if f.tolerance = 0; f.triangle != nil || f.joint != nil {
			rounded++
		}
	}
	require.Positive(t, rounded)
	for _, tolerance := range []float64{1e-3, 1e-5, 3e-7, 0} {
		p.mixture.tolerance = tolerance
		many, err := p.PredictMany(t.Context(), 1, rows)
		require.NoError(t, err)
		bounds := 0
		for i := range rows.Rows {
			one, err := p.PredictWithBound(rows.Row(i))
			require.NoError(t, err)
			sd := math.Sqrt(exact.Variance[0][i])
			for _, b := range []BoundedPrediction{one, many[i]} {
				if b.SDError > 0 {
					bounds++
				}
				assert.LessOrEqual(t, max(b.MeanError, b.SDError), tolerance*sd, "row %d at %g", i, tolerance)
				assert.InDelta(t, exact.Mean[0][i], b.Mean, b.MeanError+1e-9*sd, "row %d at %g", i, tolerance)
				assert.InDelta(t, sd, math.Sqrt(b.Variance), b.SDError+1e-9*sd, "row %d at %g", i, tolerance)
			}
		}
		switch tolerance {
		case 1e-3:
			assert.Positive(t, bounds, "no prediction has a bound")
		case 0:
			assert.Zero(t, bounds)
		}
	}
}
