package metrics

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// someSurvival are the first 40 patients of the data set lung of the R package survival: days, deaths, and a risk made of
// age and sex.
func someSurvival() (time []float64, event []bool, risk, survival []float64) {
	time = []float64{
		306, 455, 1010, 210, 883, 1022, 310, 361, 218, 166, 170, 654, 728, 71, 567, 144, 613, 707, 61, 88,
		301, 81, 624, 371, 394, 520, 574, 118, 390, 12, 473, 26, 533, 107, 53, 122, 814, 965, 93, 731,
	}
	risk = []float64{
		5.4, 4.8, 3.6, 3.7, 4, 5.4, 2.8, 3.1, 3.3, 4.1, 3.7, 2.8, 2.8, 4, 3.7, 4.7, 5, 4.3, 1.6, 3.7,
		4.7, 0.9, 3, 3.8, 5.2, 3, 4, 5, 3.3, 5.4, 2.9, 5.3, 2.8, 2, 4.1, 2.2, 4.5, 2.6, 5.4, 2.4,
	}
	for i, r := range risk {
		event = append(event, i != 2 && i != 5 && i != 37)
		survival = append(survival, 1/(1+math.Exp(r-4)))
	}
	return time, event, risk, survival
}

// The values come from concordance and survfit of the R package survival 3.5-3.
func TestSurvivalScores(t *testing.T) {
	time, event, risk, survival := someSurvival()
	c, err := CensoredConcordance(time, event, risk)
	require.NoError(t, err)
	assert.InDelta(t, 0.550836550837, c, 1e-12)
	b, err := CensoredBrier(time, event, survival, 300)
	require.NoError(t, err)
	assert.InDelta(t, 0.287297986272, b, 1e-12)
	predicted, observed, err := CensoredCalibration(time, event, survival, 300)
	require.NoError(t, err)
	assert.InDelta(t, 0.550713469434, predicted, 1e-12)
	assert.InDelta(t, 0.6, observed, 1e-12)
}

// With weights that differ: two of six are censored before 4, and the share that is free of it falls to 4/5 at 2 and to
// 4/5·2/3 at 3.
func TestCensoredBrierByHand(t *testing.T) {
	time := []float64{1, 2, 2.5, 3, 3.5, 6}
	event := []bool{true, false, true, false, true, true}
	s := []float64{0.1, 0.5, 0.3, 0.6, 0.4, 0.8}
	got, err := CensoredBrier(time, event, s, 4)
	require.NoError(t, err)
	free := 4.0 / 5 * 2 / 3
	assert.InDelta(t, (0.01+0.09/0.8+0.16/free+0.04/free)/6, got, 1e-15)
}

func TestSurvivalScoresSayWhatIsWrong(t *testing.T) {
	_, err := CensoredConcordance([]float64{1, 2}, []bool{false, false}, []float64{1, 2})
	assert.ErrorContains(t, err, "in no pair")
	_, err = CensoredConcordance([]float64{1, 2}, []bool{true, false}, []float64{1, math.NaN()})
	assert.ErrorContains(t, err, "sample 1")
	_, err = CensoredConcordance([]float64{1, 2}, []bool{true}, []float64{1, 2})
	assert.Error(t, err)
	_, err = CensoredBrier([]float64{1, 2}, []bool{true, false}, []float64{1, 0.5}, 3)
	assert.ErrorContains(t, err, "no sample is left")
	_, err = CensoredBrier([]float64{1, 2}, []bool{true, false}, []float64{1, 1.5}, 1)
	assert.ErrorContains(t, err, "sample 1")
	_, _, err = CensoredCalibration([]float64{math.Inf(1)}, []bool{true}, []float64{1}, 1)
	assert.ErrorContains(t, err, "sample 0")
	_, _, err = CensoredCalibration(nil, nil, nil, 1)
	assert.ErrorContains(t, err, "no samples")
}

// The published curve of the patients who took 6-mercaptopurine: E. A. Freireich et al., Blood 21 (1963), 699–716, as
// in D. R. Cox and D. Oakes, Analysis of Survival Data (1984), table 4.1.
func TestKaplanMeier(t *testing.T) {
	time := []float64{6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35}
	event := make([]bool, len(time))
	for _, i := range []int{0, 1, 2, 4, 6, 9, 10, 14, 15} {
		event[i] = true
	}
	times, survival, err := KaplanMeier(time, event)
	require.NoError(t, err)
	assert.Equal(t, []float64{6, 7, 10, 13, 16, 22, 23}, times)
	for i, want := range []float64{0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448} {
		assert.InDelta(t, want, survival[i], 0.0005)
	}
	times, survival, err = KaplanMeier([]float64{3}, []bool{false})
	require.NoError(t, err)
	assert.Empty(t, times)
	assert.Empty(t, survival)
	_, _, err = KaplanMeier([]float64{math.NaN()}, []bool{true})
	assert.ErrorContains(t, err, "time of sample 0 is NaN")
}

// TestCensoredInfluence compares standard errors of an index, and of the difference of two, with concordance of the R package survival
// 3.5-3: the roots of the sums of squares of its influences (influence = 1) and of their differences.
func TestCensoredInfluence(t *testing.T) {
	time, event, risk, _ := someSurvival()
	other := make([]float64, len(time))
	for i := range other {
		other[i] = float64((i + 1) * 7 % 11)
	}
	c, own, err := CensoredInfluence(time, event, risk)
	require.NoError(t, err)
	d, others, err := CensoredInfluence(time, event, other)
	require.NoError(t, err)
	assert.InDelta(t, 0.550836550836551, c, 1e-14)
	assert.InDelta(t, 0.474903474903475, d, 1e-14)
	for i, v := range []float64{0.00130936231322, -0.00190814090428, 0.00208371636943, 0.00130936231322, -0.00576914476528, -0.0242998100141} {
		assert.InDelta(t, v, own[i]/40, 1e-13)
	}
	var sum, square, between float64
	for i, v := range own {
		sum += v
		square += v * v
		between += (v - others[i]) * (v - others[i])
	}
	assert.InDelta(t, 0, sum, 1e-12)
	assert.InDelta(t, 0.0668039073265856, math.Sqrt(square)/40, 1e-13)
	assert.InDelta(t, 0.0816647762600797, math.Sqrt(between)/40, 1e-13)
}
