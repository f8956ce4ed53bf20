package mkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The work of shares is bounded where the sweeps are not the least number. With few samples it is far below the bound.
func TestSweepsOf(t *testing.T) {
	for _, c := range []struct{ n, kernels, views, columns, least, most int }{
		{20, 20, 4, 1, 110, 2200},
		{60, 20, 4, 1, 110, 2200},
		{120, 20, 4, 1, 110, 1804},
		{200, 20, 4, 1, 61, 488},
		{300, 20, 4, 1, 40, 165},
		{450, 20, 4, 1, 40, 54},
		{200, 40, 8, 3, 61, 318},
		{3000, 20, 4, 1, 40, 40},
	} {
		least, most := sweepsOf(c.n, c.kernels, c.views, c.columns)
		assert.Equal(t, c.least, least, "%d samples", c.n)
		assert.Equal(t, c.most, most, "%d samples", c.n)
		if most > least {
			assert.LessOrEqual(t, 1.25*float64(most)*sweepWork(c.n, c.kernels, c.views, c.columns), 1e11)
		}
	}
}

// There are four divisions into halves up to 150 samples, fewer in proportion to the inverse square of more, and none of few samples.
func TestSplitsOf(t *testing.T) {
	for n, want := range map[int]int{0: 0, 15: 0, 16: 4, 150: 4, 151: 3, 173: 3, 174: 2, 212: 2, 213: 1, 1000: 1, 1e6: 1} {
		assert.Equal(t, want, splitsOf(n), "%d samples", n)
	}
}

// The views of a table that are doubtful are those that are not kept.
func TestDoubtfulViewsAreNotKept(t *testing.T) {
	for _, q := range []viewProbabilities{
		{alone: []float64{0.6, 0.2, 0.2, 0.5}, in: []float64{0.1, 0.9, 0.7, 0.3}},
		{alone: []float64{0.1, 0.2}, in: []float64{0.5, 0.4}},
		{alone: []float64{0.6, 0.7}, in: []float64{0.5, 0.4}},
	} {
		var table []ViewShare
		var want []string
		kept := q.kept()
		for v, alone := range q.alone {
			table = append(table, ViewShare{View: string(rune('a' + v)), Informative: alone, In: q.in[v]})
			if kept != nil && kept[v] == 0 {
				want = append(want, table[v].View)
			}
		}
		assert.Equal(t, want, doubtful(table))
	}
}
