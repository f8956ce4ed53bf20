package choose

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// TestValidationOfCounts compares scores of counts with exposures with sums over the samples of a fold. The formula of the deviance is
// of mean_poisson_deviance in scikit-learn.
func TestValidationOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	x := la.NewMatrix[float64](60, 1)
	var y, exposure []float64
	for i := range 60 {
		x.Set(i, 0, rng.NormFloat64())
		exposure = append(exposure, 1+float64(i%4))
		mean, n := exposure[i]*math.Exp(x.At(i, 0)), 0.0
		for at := rng.ExpFloat64(); at < mean; at += rng.ExpFloat64() {
			n++
		}
		y = append(y, n)
	}
	views := []mkl.View{{X: x, Kernel: kernel.RBF{Width: 1}}}
	folds := split(t, 60, Plan{Folds: 3})
	v := Validation{Truth: Truth{Counts: y}, Folds: folds, Workers: 1,
		Candidates: []Candidate{Counts("gp", views, y, exposure, mkl.Counts{Law: mkl.Poisson}), Counts("no exposure", views, y, nil, mkl.Counts{Law: mkl.Poisson})}}
	r, err := v.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Score{LogScore, Deviance, RMSE, CRPS, Coverage, PIT}, r.Scores())
	k, err := r.Rank(LogScore)
	require.NoError(t, err)
	assert.Equal(t, 0, k.Best)
	assert.Negative(t, k.Rows[1].Difference.Value)
	for j, f := range folds {
		m, err := mkl.Counts{Law: mkl.Poisson, Exposure: pick(exposure, f.Train)}.Fit(t.Context(), rowsOf(views, f.Train), pick(y, f.Train))
		require.NoError(t, err)
		p, err := m.PredictCounts(t.Context(), mkl.PredictOptions{}, pick(exposure, f.Test), x.TakeRows(f.Test))
		require.NoError(t, err)
		mean, _ := p.Moments()
		ends := p.Quantiles(0.025, 0.975)
		want := map[Score]float64{}
		for a, i := range f.Test {
			n := float64(len(f.Test))
			want[LogScore] += p.LogProbability(a, y[i]) / n
			want[Deviance] += 2 * (mean[a] - y[i]) / n
			if y[i] > 0 {
				want[Deviance] += 2 * y[i] * math.Log(y[i]/mean[a]) / n
			}
			if ends[a][0] <= y[i] && y[i] <= ends[a][1] {
				want[Coverage] += 1 / n
			}
		}
		for s, w := range want {
			got, _ := r.Fold(0, j, s)
			assert.InDelta(t, w, got, 1e-12, s)
		}
	}

	_, err = Compare(Truth{Counts: []float64{1, 0.5}}, []string{"g"}, []*Prediction{{}})
	assert.ErrorContains(t, err, "Truth.Counts[1] is 0.5")
	_, err = Compare(Truth{Counts: []float64{1, 2}}, []string{"g"}, []*Prediction{{Mean: []float64{1, 2}}})
	assert.ErrorContains(t, err, "no distribution of the counts")
}
