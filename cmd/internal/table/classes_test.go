package table

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClassesOf(t *testing.T) {
	assert.Equal(t, []string{"-1", "2", "10"}, Classes([]string{"10", "2", "-1", "2"}))
	assert.Equal(t, []string{"10", "2", "b"}, Classes([]string{"b", "2", "10"}))
}

// TestSameNumbers finds labels that are the same number in other texts, and nothing else.
func TestSameNumbers(t *testing.T) {
	classes := []string{"1", "2.0", "1.0", "low", "NaN"}
	for label, want := range map[string]int{"1": 0, "1.0": 2, "1.00": 0, "2": 1, "2e0": 1, "low": 3, "Low": -1, "3": -1, "": -1, "nan": -1} {
		assert.Equal(t, want, Find(classes, label), label)
	}
}
