package model

import (
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
