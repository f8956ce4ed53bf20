package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func must(t *testing.T) func(float64, error) float64 {
	return func(v float64, err error) float64 {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func TestSimpleMeasures(t *testing.T) {
	must := must(t)
	assert.Equal(t, 0.75, must(Accuracy([]string{"a", "b", "b", "c"}, []string{"a", "b", "a", "c"})))
	assert.Equal(t, math.Sqrt(12.5), must(RMSE([]float64{1, 2}, []float64{4, 6})))
	assert.InDelta(t, (math.Log(2*math.Pi)+math.Log(8*math.Pi)+1+4)/4, must(NLPD([]float64{1, 2}, []float64{2, 6}, []float64{1, 4})), 1e-15)
	assert.Equal(t, 0.5, must(Coverage([]float64{1, 2}, []float64{2, 6}, []float64{1, 4}, 0.95)), "1.96 standard deviations")
	for _, variance := range [][]float64{{1}, {1, 0}, {1, -1}, {1, math.NaN()}} {
		_, err := NLPD([]float64{1, 2}, []float64{1, 2}, variance)
		assert.Error(t, err)
		_, err = Coverage([]float64{1, 2}, []float64{1, 2}, variance, 0.95)
		assert.Error(t, err)
	}
	_, err := Coverage([]float64{1}, []float64{1}, []float64{1}, 1)
	assert.Error(t, err)
	p := [][]float64{{0.5, 0.25, 0.25}, {0, 1, 0}}
	assert.Equal(t, math.Log(4)/2, must(LogLoss([]int{2, 1}, p)))
	assert.Equal(t, math.Inf(1), must(LogLoss([]int{2, 0}, p)))
	assert.Equal(t, (0.25+0.0625+0.5625)/2, must(Brier([]int{2, 1}, p)))
	assert.Equal(t, (0.875+2)/2, must(Brier([]int{2, 0}, p)))
}

// Curves against counting: AUC over all pairs, the equal error rate over a fine
// grid of randomised thresholds.
func TestCurvesAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, levels := range []int{2, 5, 1000} { // few levels make ties
		for range 10 {
			n := 3 + rng.IntN(40)
			positive, score := make([]bool, n), make([]float64, n)
			for i := range n {
				positive[i] = i == 0 || i > 1 && rng.IntN(3) == 0
				score[i] = float64(rng.IntN(levels))
				if positive[i] {
					score[i] += float64(rng.IntN(levels)) / 2
				}
			}
			var wins, pairs, pos, neg float64
			for i := range n {
				if positive[i] {
					pos++
				} else {
					neg++
				}
				for j := range n {
					if positive[i] && !positive[j] {
						pairs++
						switch {
						case score[i] > score[j]:
							wins++
						case score[i] == score[j]:
							wins += 0.5
						}
					}
				}
			}
			assert.InDelta(t, wins/pairs, must(t)(AUC(positive, score)), 1e-12)

			// Accept scores above a threshold, and a share q of those at it.
			best, rate := math.Inf(1), 0.0
			for _, at := range score {
				for step := range 201 {
					q := float64(step) / 200
					var miss, alarm float64
					for i, s := range score {
						accept := 0.0
						if s > at {
							accept = 1
						} else if s == at {
							accept = q
						}
						if positive[i] {
							miss += (1 - accept) / pos
						} else {
							alarm += accept / neg
						}
					}
					if d := math.Abs(miss - alarm); d < best {
						best, rate = d, (miss+alarm)/2
					}
				}
			}
			assert.InDelta(t, rate, must(t)(EqualErrorRate(positive, score)), 1e-2)
		}
	}
	perfect := []bool{true, true, false}
	assert.Equal(t, 1.0, must(t)(AUC(perfect, []float64{3, 2, 1})))
	assert.Equal(t, 0.0, must(t)(EqualErrorRate(perfect, []float64{3, 2, 1})))
	assert.Equal(t, 1.0, must(t)(EqualErrorRate(perfect, []float64{1, 2, 3})))
	assert.Equal(t, 0.5, must(t)(EqualErrorRate(perfect, []float64{1, 1, 1})))
}

func TestCalibration(t *testing.T) {
	table, err := Calibration([]bool{true, false, true, true, false}, []float64{0, 0.3, 0.3, 1, 0.9}, 10)
	require.NoError(t, err)
	require.Len(t, table, 10)
	assert.Equal(t, CalibrationBin{From: 0, To: 0.1, Count: 1, Mean: 0, Observed: 1}, table[0])
	assert.Equal(t, CalibrationBin{From: 0.3, To: 0.4, Count: 2, Mean: 0.3, Observed: 0.5}, table[3])
	assert.Equal(t, CalibrationBin{From: 0.9, To: 1, Count: 2, Mean: 0.95, Observed: 0.5}, table[9])
	assert.True(t, math.IsNaN(table[5].Mean) && math.IsNaN(table[5].Observed) && table[5].Count == 0)

	for bins := 1; bins < 60; bins++ { // every limit belongs to the bin that begins there
		var limits []float64
		for b := range bins {
			limits = append(limits, float64(b)/float64(bins))
		}
		table, err := Calibration(make([]bool, bins), limits, bins)
		require.NoError(t, err)
		for _, b := range table {
			require.Equal(t, 1, b.Count, "%d bins: %+v", bins, b)
		}
	}
}

func TestRefusals(t *testing.T) {
	nan := math.NaN()
	for want, err := range map[string]error{
		"metrics: no samples":                                                second(Accuracy[int](nil, nil)),
		"metrics: 1 predictions for 2 samples":                               second(RMSE([]float64{1, 2}, []float64{1})),
		"metrics: sample 1: truth 2, predicted NaN":                          second(RMSE([]float64{1, 2}, []float64{1, nan})),
		"metrics: sample 0: class 2 where there are 2 probabilities":         second(LogLoss([]int{2}, [][]float64{{0, 1}})),
		"metrics: probability [0][1] is 1.5":                                 second(Brier([]int{0}, [][]float64{{0, 1.5}})),
		"metrics: 2 positive and 0 negative samples: both are needed":        second(AUC([]bool{true, true}, []float64{1, 2})),
		"metrics: score 1 is NaN":                                            second(EqualErrorRate([]bool{true, false}, []float64{1, nan})),
		"metrics: probability 0 is -0.1":                                     second(Calibration([]bool{true}, []float64{-0.1}, 3)),
		"metrics: 0 bins: there are between 1 and 1048576":                   second(Calibration([]bool{true}, []float64{0.1}, 0)),
		"metrics: 9223372036854775807 bins: there are between 1 and 1048576": second(Calibration([]bool{true}, []float64{0.1}, math.MaxInt)),
	} {
		assert.EqualError(t, err, want)
	}
}

func second[T any](_ T, err error) error { return err }

func TestBreakEven(t *testing.T) {
	f := must(t)
	assert.Equal(t, 1.0, f(BreakEven([]bool{true, false, true, false}, []float64{3, 1, 2, 0})))
	assert.Equal(t, 0.0, f(BreakEven([]bool{true, false}, []float64{0, 1})))
	// Of the four best, as many as there are positives, three are right.
	assert.InDelta(t, 0.75, f(BreakEven([]bool{true, true, false, true, false, true, false}, []float64{9, 8, 7, 6, 5, 4, 3})), 1e-15)
	assert.InDelta(t, 0.25, f(BreakEven([]bool{true, false, false, false}, []float64{1, 1, 1, 1})), 1e-15)
	_, err := BreakEven([]bool{true}, []float64{1})
	assert.Error(t, err)
}

// ROCn against its definition: for each of the first n negative samples, the positive ones
// above it.
func TestROCnAndMedianRFPAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	must := must(t)
	for range 30 {
		size := 4 + rng.IntN(60)
		positive, score := make([]bool, size), make([]float64, size)
		var pos, neg []float64
		for i, s := range rng.Perm(size) {
			score[i] = float64(s)
			positive[i] = i == 0 || i > 1 && rng.IntN(3) == 0
			if positive[i] {
				pos = append(pos, score[i])
			} else {
				neg = append(neg, score[i])
			}
		}
		slices.Sort(neg)
		slices.Reverse(neg)
		for _, n := range []int{1, 3, 50} {
			hits, first := 0, neg[:min(n, len(neg))]
			for _, b := range first {
				for _, a := range pos {
					if a > b {
						hits++
					}
				}
			}
			assert.InDelta(t, float64(hits)/float64(len(first)*len(pos)), must(ROCn(positive, score, n)), 1e-12)
		}
		assert.InDelta(t, must(AUC(positive, score)), must(ROCn(positive, score, size)), 1e-12)
		slices.Sort(pos)
		median, above := pos[len(pos)/2], 0 // the middle one, or with an even number the upper
		for _, b := range neg {
			if b >= median {
				above++
			}
		}
		assert.InDelta(t, float64(above)/float64(len(neg)), must(MedianRFP(positive, score)), 1e-12)
	}
	assert.Equal(t, 0.5, must(ROCn([]bool{true, false, false, false}, []float64{1, 1, 1, 1}, 3)), "ties count half")
	assert.InDelta(t, 1.0/6, must(ROCn([]bool{true, false, false, false}, []float64{1, 1, 1, 1}, 1)), 1e-15)
	assert.Equal(t, 1.0, must(MedianRFP([]bool{true, false, false}, []float64{1, 1, 2})))
	_, err := ROCn([]bool{true, false}, []float64{1, 2}, 0)
	assert.ErrorContains(t, err, "n is 0")
	_, err = MedianRFP([]bool{true}, []float64{1})
	assert.ErrorContains(t, err, "both are needed")
}

// A variance without end has a density of 0, wherever the truth is.
func TestNLPDOfInfiniteVariance(t *testing.T) {
	for _, mean := range []float64{0, 1e300, -1e308} {
		v, err := NLPD([]float64{1, 1e308}, []float64{1, mean}, []float64{1, math.Inf(1)})
		require.NoError(t, err)
		assert.True(t, math.IsInf(v, 1), v)
	}
}
