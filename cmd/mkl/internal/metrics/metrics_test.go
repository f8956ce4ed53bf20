package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAccuracy(t *testing.T) {
	scores := [][]float64{{1, 0, 2, 5}, {0, 1, 2, 6}, {-1, 0, 1, 7}}
	assert.Equal(t, 0.75, Accuracy(scores, []int{0, 1, 0, 1}))
	assert.Equal(t, 0.5, Accuracy(scores, []int{0, 1, 1, 0}))
}

// pairs is AUC by its definition.
func pairs(score []float64, positive []bool) float64 {
	var sum, n float64
	for i, p := range positive {
		for j, q := range positive {
			if p && !q {
				n++
				switch {
				case score[i] > score[j]:
					sum++
				case score[i] == score[j]:
					sum += 0.5
				}
			}
		}
	}
	return sum / n
}

func TestAUC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 2 + r.IntN(20)
		score, positive := make([]float64, n), make([]bool, n)
		for i := range score {
			score[i], positive[i] = float64(r.IntN(6)), r.IntN(2) == 0
		}
		positive[0], positive[1] = true, false
		assert.InDelta(t, pairs(score, positive), AUC(score, positive), 1e-14)
	}
	assert.True(t, math.IsNaN(AUC([]float64{1, 2}, []bool{true, true})))
}

func TestEER(t *testing.T) {
	for _, c := range []struct {
		score    []float64
		positive []bool
		want     float64
	}{
		{[]float64{4, 3, 2, 1}, []bool{true, true, false, false}, 0},
		{[]float64{4, 3, 2, 1}, []bool{false, false, true, true}, 1},
		{[]float64{4, 3, 2, 1}, []bool{true, false, true, false}, 0.5},
		{[]float64{1, 1, 1, 1}, []bool{true, false, true, false}, 0.5},
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, []bool{true, true, true, false, true, true, false, false, false, false}, 0.2},
		// 2 positives, 3 negatives: from (0, ½) to (⅓, ½) to (⅓, 1); equal at ⅓ on the vertical line.
		{[]float64{5, 4, 3, 2, 1}, []bool{true, false, true, false, false}, 1. / 3},
	} {
		assert.InDelta(t, c.want, EER(c.score, c.positive), 1e-15)
	}
	assert.True(t, math.IsNaN(EER([]float64{1, 2}, []bool{false, false})))
}

func TestMeanSD(t *testing.T) {
	mean, sd := MeanSD([]float64{1, 2, 3, 6})
	assert.InDelta(t, 3, mean, 1e-15)
	assert.InDelta(t, math.Sqrt(14./3), sd, 1e-15)
	_, sd = MeanSD([]float64{5})
	assert.Zero(t, sd)
}
