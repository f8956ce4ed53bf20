package choose

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/metrics"
)

// uniformLaw predicts a uniform distribution from 0 to 1 for every sample.
type uniformLaw struct{}

func (uniformLaw) CDF(_ int, y float64) float64  { return min(max(y, 0), 1) }
func (uniformLaw) CRPS(_ int, y float64) float64 { return (y*y*y + (1-y)*(1-y)*(1-y)) / 3 }
func (uniformLaw) Interval(_ int, p float64) (lower, upper float64) {
	return 0.5 - p/2, 0.5 + p/2
}

// The PIT of folds of one size equals the PIT of all samples together, also from a file, and a prediction's own distribution counts.
func TestScoresOfDistributions(t *testing.T) {
	const n = 80
	r := rand.New(rand.NewPCG(11, 12))
	y, at, one, variance := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range y {
		y[i], one[i], variance[i] = r.Float64(), 0.4, 0.09
		at[i] = 0.5 * math.Erfc(-(y[i]-0.4)/0.3/math.Sqrt2)
	}
	folds, err := Split(n, Plan{Folds: 4})
	require.NoError(t, err)
	candidate := func(name string, d Distribution) Candidate {
		return Candidate{Name: name, Learn: func(_ context.Context, f Fold) (*Prediction, error) {
			return (&Prediction{Mean: one, Variance: variance, Distribution: d}).Of(f.Test), nil
		}}
	}
	v := Validation{Truth: Truth{Numbers: y}, Folds: folds, File: filepath.Join(t.TempDir(), "state"),
		Candidates: []Candidate{candidate("normal", nil), candidate("uniform", uniformLaw{})}}
	for range 2 {
		got, err := v.Run(t.Context())
		require.NoError(t, err)
		k, err := got.Rank(CRPS)
		require.NoError(t, err)
		share, err := metrics.PIT(at, at, pitBins)
		require.NoError(t, err)
		assert.InDelta(t, metrics.PITDistance(share), k.Rows[0].Scores[PIT].Value, 1e-12)
		share, err = metrics.PIT(y, y, pitBins)
		require.NoError(t, err)
		assert.InDelta(t, metrics.PITDistance(share), k.Rows[1].Scores[PIT].Value, 1e-12)
		crps, err := metrics.CRPS(y, one, variance)
		require.NoError(t, err)
		assert.InEpsilon(t, crps, k.Rows[0].Scores[CRPS].Value, 1e-12)
		sum, inside := 0.0, 0.0
		for _, v := range y {
			sum += uniformLaw{}.CRPS(0, v) / n
			if math.Abs(v-0.5) <= 0.475 {
				inside += 1. / n
			}
		}
		assert.InEpsilon(t, sum, k.Rows[1].Scores[CRPS].Value, 1e-12)
		assert.InDelta(t, inside, k.Rows[1].Scores[Coverage].Value, 1e-12)
	}
	_, err = (&Result{}).Rank(PIT)
	assert.Error(t, err)
}
