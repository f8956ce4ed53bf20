package model

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGuessTask(t *testing.T) {
	for _, c := range []struct{ cells, task, why string }{
		{"1.5 2 3e1", Regression, "has numbers"},
		{"1 2", Regression, "has numbers"},
		{"0 0.5 1", Regression, "has numbers"},
		{"0 1 1 0", Binary, "is 0 or 1"},
		{"1 -1 NA", Binary, "is -1 or 1"},
		{"0 1 1.0", Regression, "has numbers"},
		{"1 2 NA nan", Regression, "has numbers"},
		{"1 2 3 4x", Regression, "has numbers"},
		{"NA NA", Regression, "has numbers"},
		{"yes no yes", Binary, "has 2 labels"},
		{"True False", Binary, "has 2 labels"},
		{"a b c a", Multiclass, "has 3 labels"},
		{"1 a b c", Multiclass, "has 4 labels"},
		{"same same", Binary, "has 1 label"},
	} {
		task, why := Guess(strings.Fields(c.cells))
		assert.Equal(t, c.task, task, c.cells)
		assert.Equal(t, c.why, why, c.cells)
	}
}

// TestLooksCounted compares counts with other whole numbers.
func TestLooksCounted(t *testing.T) {
	for _, c := range []struct {
		want bool
		x    []float64
	}{
		{true, []float64{0, 0, 0, 1, 1, 2, 0, 5, 1, 0}},
		{false, []float64{1, 1, 1, 1, 1, 2, 1, 5, 1, 3}},          // not from 0
		{false, []float64{0, 1, 2, 2, 2, 2, 2, 3, 3, 3}},          // not thinning out
		{false, []float64{0, 0, 0, 1, 1, 2, 0, 2, 1, 0}},          // three classes
		{false, []float64{0, 0, 0, 1, 1, 2.5, 0, 5, 1, 0}},        // fractions
		{false, []float64{0, 0, 0, 1, -1, 2, 0, 5, 1, 0}},         // below 0
		{false, []float64{0, 0, 0, 1, math.NaN(), 2, 0, 5, 1, 0}}, // a gap
		{false, []float64{0, 0, 4}},                               // too few
	} {
		assert.Equal(t, c.want, looksCounted(c.x), c.x)
	}
}
