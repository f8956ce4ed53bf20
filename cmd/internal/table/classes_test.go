package table

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClassesOf(t *testing.T) {
	assert.Equal(t, []string{"-1", "2", "10"}, Classes([]string{"10", "2", "-1", "2"}))
	assert.Equal(t, []string{"10", "2", "b"}, Classes([]string{"b", "2", "10"}))
}
