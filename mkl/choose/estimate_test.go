package choose

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Student's quantiles as tables print them.
func TestStudentQuantile(t *testing.T) {
	for _, c := range []struct {
		p       float64
		degrees int
		want    float64
	}{
		{0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 3, 3.182}, {0.975, 4, 2.776}, {0.975, 9, 2.262},
		{0.975, 24, 2.064}, {0.975, 29, 2.045}, {0.975, 120, 1.980}, {0.95, 5, 2.015}, {0.995, 10, 3.169},
	} {
		assert.InDelta(t, c.want, studentQuantile(c.p, c.degrees), 5e-4, "%d degrees", c.degrees)
	}
	assert.InDelta(t, math.Tan(0.475*math.Pi), studentQuantile(0.975, 1), 1e-9, "Cauchy")
	u := 0.975
	assert.InDelta(t, (2*u-1)/math.Sqrt(2*u*(1-u)), studentQuantile(u, 2), 1e-9, "closed form")
	for _, degrees := range []int{1000, 1001, 1002, 3000} { // where the series takes over, and beyond
		assert.InDelta(t, 0.975, studentCDF(studentQuantile(0.975, degrees), degrees), 5e-10)
	}
}

// The corrected resampled t-test by hand.
func TestEstimate(t *testing.T) {
	e := estimate(3, []float64{1, 2, 3, 4, 5}, 0.25)
	se := math.Sqrt((0.2 + 0.25) * 2.5)
	assert.InDelta(t, se, e.SE, 1e-15)
	assert.InDelta(t, 3-2.776445*se, e.Low, 1e-5)
	assert.InDelta(t, 3+2.776445*se, e.High, 1e-5)
	assert.False(t, e.Zero())
	assert.True(t, estimate(1, []float64{1, 2, 3, 4, -5}, 0.25).Zero())
	assert.True(t, estimate(1, []float64{1}, 0.25).Zero(), "nothing is known")
	assert.False(t, estimate(math.Inf(1), []float64{1, math.Inf(1)}, 0.25).Zero())
}

func TestCompare(t *testing.T) {
	y := []float64{0, 0, 0, 0}
	a := &Prediction{Mean: []float64{1, 2, 3, 4}, Variance: []float64{1, 1, 1, 1}}
	b := &Prediction{Mean: []float64{1, 1, 1, 1}, Variance: []float64{1, 1, 1, 1}}
	r, err := Compare(Truth{Numbers: y}, []string{"a", "b"}, []*Prediction{a, b})
	require.NoError(t, err)
	k, err := r.Rank(RMSE)
	require.NoError(t, err)
	assert.Equal(t, 1, k.Best)
	assert.InDelta(t, math.Sqrt(7.5), k.Rows[0].Scores[RMSE].Value, 1e-15)
	assert.InDelta(t, math.Sqrt(7.5)-1, k.Rows[0].Difference.Value, 1e-15)
	assert.InDelta(t, 0.25, k.Rows[0].Scores[Coverage].Value, 1e-15)
	// e²/(2·RMSE) of a minus the same of b, which is ½ for each sample: deviations of e²/(2·√7.5).
	var variance float64
	for _, e2 := range []float64{1, 4, 9, 16} {
		d := (e2 - 7.5) / 2 / math.Sqrt(7.5)
		variance += d * d / 3
	}
	assert.InDelta(t, math.Sqrt(variance/4), k.Rows[0].Difference.SE, 1e-14)
	// NLPD: the difference is (e²−1)/2, with the standard error of a mean.
	d := r.Difference(0, 1, NLPD)
	assert.InDelta(t, (0+3+8+15)/8.0, d.Value, 1e-14)
	assert.InDelta(t, math.Sqrt((6.5*6.5+3.5*3.5+1.5*1.5+8.5*8.5)/4/3/4), d.SE, 1e-14)

	_, err = r.Rank(Coverage)
	assert.Error(t, err)
	_, err = r.Rank(LogLoss)
	assert.Error(t, err)
	_, err = Compare(Truth{Numbers: y}, []string{"a"}, []*Prediction{{Mean: y[:2]}})
	assert.ErrorContains(t, err, "a: choose: means of 2 samples, not 4")
	_, err = Compare(Truth{}, []string{"a"}, []*Prediction{a})
	assert.Error(t, err)

	// A probability of 0 that came true is infinitely worse, not unknown.
	c, err := Compare(Truth{Classes: []int{0, 1, 0}}, []string{"sure", "careful"}, []*Prediction{
		{Probability: [][]float64{{1, 0}, {1, 0}, {1, 0}}}, {Probability: [][]float64{{0.6, 0.4}, {0.5, 0.5}, {0.7, 0.3}}},
	})
	require.NoError(t, err)
	k, err = c.Rank(LogLoss)
	require.NoError(t, err)
	assert.Equal(t, 1, k.Best)
	assert.Equal(t, math.Inf(1), k.Rows[0].Difference.Value)
	assert.Contains(t, k.Recommendation(), "take careful")
	k, err = c.Rank(Accuracy)
	require.NoError(t, err)
	assert.Equal(t, 0, k.Best, "of equal ones the first")
	assert.Equal(t, "Recommendation: take sure, the best (accuracy 0.6667); careful is not significantly worse, so that other reasons may decide between them.", k.Recommendation())
}

// Two candidates that are equally good, by symmetry, differ significantly about as often as
// 95 % intervals allow, although the training samples of 50 folds overlap. Without the
// correction they do far more often.
func TestFalseAlarms(t *testing.T) {
	const sets, n = 300, 60
	var alarms, uncorrected int
	for set := range sets {
		rng := rand.New(rand.NewPCG(uint64(set), 1))
		var sign [2][]int
		y := make([]float64, n)
		for i := range y {
			for j := range sign {
				sign[j] = append(sign[j], rng.IntN(2))
				y[i] += float64(sign[j][i])
			}
			y[i] += rng.NormFloat64()
		}
		v := Validation{Truth: Truth{Numbers: y}, Folds: split(t, n, Plan{Repeats: 10, Seed: uint64(set)}), Workers: 1}
		for j, name := range []string{"a", "b"} {
			v.Candidates = append(v.Candidates, Candidate{Name: name, Learn: func(_ context.Context, f Fold) (*Prediction, error) {
				var sum, count [2]float64
				for _, i := range f.Train {
					sum[sign[j][i]] += y[i]
					count[sign[j][i]]++
				}
				p := &Prediction{}
				for _, i := range f.Test {
					p.Mean = append(p.Mean, sum[sign[j][i]]/count[sign[j][i]])
				}
				return p, nil
			}})
		}
		r, err := v.Run(t.Context())
		require.NoError(t, err)
		if !r.Difference(0, 1, RMSE).Zero() {
			alarms++
		}
		r.ratio = 0
		if !r.Difference(0, 1, RMSE).Zero() {
			uncorrected++
		}
	}
	assert.InDelta(t, 0.05, float64(alarms)/sets, 0.04)
	assert.Greater(t, float64(uncorrected)/sets, 0.3)
	t.Logf("false alarms: %.3f, uncorrected %.3f", float64(alarms)/sets, float64(uncorrected)/sets)
}
