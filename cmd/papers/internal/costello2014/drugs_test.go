package costello2014

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

func TestScreen(t *testing.T) {
	c := &Drugs{Lines: 53, Train: 35, Drugs: 31, Missing: 0.3, Noise: 0.5}
	s := c.draw(1)
	gaps := 0
	for d := range c.Drugs {
		for i := range c.Lines {
			switch v := s.given[d][i]; {
			case i >= c.Train:
				assert.True(t, math.IsNaN(v), "a line to be predicted is given")
			case math.IsNaN(v):
				gaps++
			default:
				assert.Equal(t, s.measured[d][i], v)
			}
		}
	}
	assert.InDelta(t, 0.3*31*32, gaps, 60)
	assert.Equal(t, s.truth, c.draw(1).truth)
	assert.NotEqual(t, s.truth, c.draw(2).truth)
}

func TestReproduceDrugs(t *testing.T) {
	args := []string{"-sets", "2", "-lines", "26", "-train", "18", "-drugs", "3", "-sweeps", "12"}
	status, stdout, stderr := consoletest.Run(t, new(Drugs), nil, append(args, "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var got struct{ Models []result }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Models, len(learners))
	truth := got.Models[len(learners)-1].Measures
	assert.Zero(t, truth["RMSE"])
	for _, m := range got.Models[:len(learners)-1] {
		assert.Greater(t, m.Measures["RMSE"], 0.0, m.Model)
		assert.Less(t, m.Measures["wpc"], truth["wpc"], m.Model)
		assert.Greater(t, m.Measures["weight"], 0.0, m.Model)
		assert.LessOrEqual(t, m.Measures["weight"], 1.0, m.Model)
	}
	status, stdout, stderr = consoletest.Run(t, new(Drugs), nil, args...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "SIMULATED drug response")
	assert.Contains(t, stdout, "a regression for each drug")
	status, _, stderr = consoletest.Run(t, new(Drugs), nil, "-train", "2")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-train")
}
