package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGuessTask(t *testing.T) {
	for _, c := range []struct{ cells, task, why string }{
		{"1.5 2 3e1", taskRegression, "has numbers"},
		{"1 2", taskRegression, "has numbers"},
		{"0 0.5 1", taskRegression, "has numbers"},
		{"0 1 1 0", taskBinary, "is 0 or 1"},
		{"1 -1 NA", taskBinary, "is -1 or 1"},
		{"0 1 1.0", taskRegression, "has numbers"},
		{"1 2 NA nan", taskRegression, "has numbers"},
		{"1 2 3 4x", taskRegression, "has numbers"},
		{"NA NA", taskRegression, "has numbers"},
		{"yes no yes", taskBinary, "has 2 labels"},
		{"True False", taskBinary, "has 2 labels"},
		{"a b c a", taskMulticlass, "has 3 labels"},
		{"1 a b c", taskMulticlass, "has 4 labels"},
		{"same same", taskBinary, "has 1 label"},
	} {
		task, why := guessTask(strings.Fields(c.cells))
		assert.Equal(t, c.task, task, c.cells)
		assert.Equal(t, c.why, why, c.cells)
	}
}
