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
	"github.com/bmkl/bmkl/mkl/metrics"
)

// given is a distribution of times that tests give.
type given struct{ risk, survival, score []float64 }

func (g given) Samples() int                              { return len(g.risk) }
func (g given) Risk() []float64                           { return g.risk }
func (g given) Survival(i int, times []float64) []float64 { return []float64{g.survival[i]} }
func (g given) LogScore(i int, _ mkl.Lifetime) float64    { return g.score[i] }
func (g given) Transform(i int, t mkl.Lifetime) (below, upTo float64) {
	if t.From == t.To {
		return g.survival[i], g.survival[i]
	}
	return g.survival[i], 1
}

// followUp are the first 40 patients of the data set lung of the R package survival.
func followUp() (time []float64, event []bool, g, h given) {
	time = []float64{
		306, 455, 1010, 210, 883, 1022, 310, 361, 218, 166, 170, 654, 728, 71, 567, 144, 613, 707, 61, 88,
		301, 81, 624, 371, 394, 520, 574, 118, 390, 12, 473, 26, 533, 107, 53, 122, 814, 965, 93, 731,
	}
	g.risk = []float64{
		5.4, 4.8, 3.6, 3.7, 4, 5.4, 2.8, 3.1, 3.3, 4.1, 3.7, 2.8, 2.8, 4, 3.7, 4.7, 5, 4.3, 1.6, 3.7,
		4.7, 0.9, 3, 3.8, 5.2, 3, 4, 5, 3.3, 5.4, 2.9, 5.3, 2.8, 2, 4.1, 2.2, 4.5, 2.6, 5.4, 2.4,
	}
	for i, r := range g.risk {
		event = append(event, i != 2 && i != 5 && i != 37)
		g.survival, h.survival = append(g.survival, 1/(1+math.Exp(r-4))), append(h.survival, 0.5)
		g.score, h.score = append(g.score, -1-0.1*r), append(h.score, -1.5+0.01*r*r)
		h.risk = append(h.risk, float64((i+1)*7%11))
	}
	return time, event, g, h
}

// TestCompareTimes compares two predictions of times with concordance and survfit of the R package survival 3.5-3. R divides by n where
// the variance of a mean is divided by n − 1 here.
func TestCompareTimes(t *testing.T) {
	time, event, g, h := followUp()
	r, err := Compare(Truth{Times: mkl.Lifetimes(time, event), At: 300}, []string{"g", "h"}, []*Prediction{{Times: g}, {Times: h}})
	require.NoError(t, err)
	assert.Equal(t, []Score{LogScore, Concordance, Brier, PIT}, r.Scores())
	assert.Equal(t, 300.0, r.At)
	k, err := r.Rank(Concordance)
	require.NoError(t, err)
	assert.Equal(t, 0, k.Best)
	bessel := math.Sqrt(40.0 / 39)
	own, other := k.Rows[0].Scores, k.Rows[1]
	assert.InDelta(t, 0.550836550836551, own[Concordance].Value, 1e-13)
	assert.InDelta(t, 0.0668039073265856*bessel, own[Concordance].SE, 1e-13)
	assert.InDelta(t, 0.474903474903475, other.Scores[Concordance].Value, 1e-13)
	assert.InDelta(t, 0.474903474903475-0.550836550836551, other.Difference.Value, 1e-13)
	assert.InDelta(t, 0.0816647762600797*bessel, other.Difference.SE, 1e-13)
	assert.InDelta(t, 0.287297986272, own[Brier].Value, 1e-12)
	var mean, square float64
	for i := range g.score {
		d := h.score[i] - g.score[i]
		mean += d / 40
		square += d * d / 40
	}
	d := r.Difference(1, 0, LogScore)
	assert.InDelta(t, mean, d.Value, 1e-12)
	assert.InDelta(t, math.Sqrt((square-mean*mean)/39), d.SE, 1e-12)

	// The median of the times is where the Brier score is without At.
	r, err = Compare(Truth{Times: mkl.Lifetimes(time, event)}, []string{"g"}, []*Prediction{{Times: g}})
	require.NoError(t, err)
	assert.Equal(t, 371.0, r.At)
	want, err := metrics.CensoredBrier(time, event, g.survival, 371)
	require.NoError(t, err)
	k, err = r.Rank(Brier)
	require.NoError(t, err)
	assert.InDelta(t, want, k.Rows[0].Scores[Brier].Value, 1e-13)
}

// Times between two others have a log score only.
func TestCompareTimesBetween(t *testing.T) {
	g := given{risk: []float64{1, 2}, survival: []float64{0.5, 0.5}, score: []float64{-1, -3}}
	times := []mkl.Lifetime{mkl.EventAt(2), mkl.EventBetween(3, 4)}
	r, err := Compare(Truth{Times: times}, []string{"g"}, []*Prediction{{Times: g}})
	require.NoError(t, err)
	assert.Equal(t, []Score{LogScore, PIT}, r.Scores())
	_, err = Compare(Truth{Times: times, At: 3}, []string{"g"}, []*Prediction{{Times: g}})
	assert.ErrorContains(t, err, "a Brier score is for times that are known or censored on the right")
	for _, wrong := range []Truth{{Times: []mkl.Lifetime{mkl.EventAt(-1)}}, {Times: []mkl.Lifetime{mkl.EventAt(math.NaN())}}, {Numbers: []float64{1}, At: 3}} {
		_, err = Compare(wrong, []string{"g"}, []*Prediction{{Times: g}})
		assert.ErrorContains(t, err, "choose: Truth.")
	}
	_, err = Compare(Truth{Times: times[:1], At: 3}, []string{"g"}, []*Prediction{{Times: given{risk: []float64{1}, survival: []float64{0.5}, score: []float64{-1}}}})
	assert.EqualError(t, err, "choose: Truth.At: metrics: no sample is left at the time 3")
	_, err = Compare(Truth{Times: times}, []string{"g"}, []*Prediction{{Mean: []float64{1, 2}}})
	assert.ErrorContains(t, err, "no distribution of the times")
}

// TestValidationOfTimes compares scores of a fold with what package metrics says of the same fit. The weights of the Brier score come
// from all samples, also of other folds.
func TestValidationOfTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	x := la.NewMatrix[float64](60, 1)
	var time []float64
	var event []bool
	for i := range 60 {
		x.Set(i, 0, rng.NormFloat64())
		until, censored := math.Exp(2+x.At(i, 0)+0.5*rng.NormFloat64()), math.Exp(2.5+rng.NormFloat64())
		time, event = append(time, min(until, censored)), append(event, until <= censored)
	}
	views := []mkl.View{{X: x, Kernel: kernel.RBF{Width: 1}}}
	known := make([]int, 60)
	for i, e := range event {
		if e {
			known[i] = 1
		}
	}
	folds := split(t, 60, Plan{Folds: 3, Strata: known})
	times := mkl.Lifetimes(time, event)
	r, err := Validation{Truth: Truth{Times: times}, Folds: folds, Workers: 1,
		Candidates: []Candidate{Times("gp", views, times, mkl.Survival{Law: mkl.LogNormal})}}.Run(t.Context())
	require.NoError(t, err)
	weights, err := metrics.CensoringWeights(time, event, r.At)
	require.NoError(t, err)
	for k, f := range folds {
		m, err := mkl.Survival{Law: mkl.LogNormal}.Fit(t.Context(), rowsOf(views, f.Train), pick(times, f.Train))
		require.NoError(t, err)
		p, err := m.Predict(x.TakeRows(f.Test))
		require.NoError(t, err)
		score, brier := 0.0, 0.0
		for j, i := range f.Test {
			score += p.LogScore(j, times[i]) / float64(len(f.Test))
			s := p.Survival(j, []float64{r.At})[0]
			if time[i] > r.At {
				s = 1 - s
			}
			brier += weights[i] * s * s / float64(len(f.Test))
		}
		var below, upTo []float64
		for j, i := range f.Test {
			b, u := p.Transform(j, times[i])
			below, upTo = append(below, b), append(upTo, u)
		}
		share, err := metrics.PIT(below, upTo, 20)
		require.NoError(t, err)
		c, err := metrics.CensoredConcordance(pick(time, f.Test), pick(event, f.Test), p.Risk())
		require.NoError(t, err)
		for s, want := range map[Score]float64{LogScore: score, Brier: brier, Concordance: c, PIT: metrics.PITDistance(share)} {
			got, ok := r.Fold(0, k, s)
			assert.True(t, ok)
			assert.InDelta(t, want, got, 1e-12, s)
		}
	}
}
