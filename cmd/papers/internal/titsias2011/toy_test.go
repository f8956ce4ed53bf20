package titsias2011

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

func TestReproduceToy(t *testing.T) {
	_, whole, given, gaps := toyData(1)
	for q := range toyTasks {
		for i := range toyPoints {
			hidden := i >= gaps[q] && i < gaps[q]+toyGap
			assert.Equal(t, hidden, math.IsNaN(given.At(q, i)))
			assert.False(t, math.IsNaN(whole.At(q, i)))
		}
	}
	status, stdout, stderr := consoletest.Run(t, new(Toy), nil, "-starts", "1", "-sweeps", "2", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var got struct{ Sets []toySet }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Sets, 1)
	s := got.Sets[0]
	assert.Len(t, s.Independent, toyTasks)
	assert.Len(t, s.MultiTask, toyTasks)
	// A process of its own sees that a task is noise alone.
	assert.InDelta(t, 0.41, s.Independent[6], 0.2)
	assert.InDelta(t, 6.56, s.Independent[2], 3)
	if testing.Short() {
		return
	}

	status, stdout, stderr = consoletest.Run(t, new(Toy), nil, "-starts", "1", "-sweeps", "1")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "paper: MTMKL")
	status, _, stderr = consoletest.Run(t, new(Toy), nil, "-starts", "0")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-starts")
}
