package titsias2011

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

func TestReproduceBoston(t *testing.T) {
	args := []string{"-starts", "12", "-draws", "1500"}
	if testing.Short() { // too few to compare the methods
		args = []string{"-starts", "2", "-draws", "100"}
	}
	status, stdout, stderr := consoletest.Run(t, new(Boston), nil, append(args, "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var got bostonResult
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Cells, 4)
	require.Len(t, got.Truth, 13)
	for i, cell := range got.Cells {
		assert.Equal(t, bostonPaper[i].Method+bostonPaper[i].Starts, cell.Method+cell.Starts)
		assert.Zero(t, cell.NotConverged)
	}
	if mf, pmf := got.Cells[1], got.Cells[3]; !testing.Short() { // extreme starts
		assert.Greater(t, mf.Error.Mean, 3*pmf.Error.Mean)
		assert.Less(t, mf.Bound.Mean, pmf.Bound.Mean-100)
		// The best start of either finds the posterior means.
		assert.Less(t, pmf.BestError, 0.02)
	}

	status, stdout, stderr = consoletest.Run(t, new(Boston), nil, append(args, "-rows", "all")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "rows all (506)")
	assert.Contains(t, stdout, "0.208 [0.002, 0.454]")

	rows := "a,b,y\n"
	for i := range 12 {
		rows += strings.Repeat("1", i%3+1) + ",1," + strings.Repeat("2", i%4+1) + "\n"
	}
	status, _, stderr = consoletest.Run(t, new(Boston), map[string]string{"d.csv": rows}, append(args, "-data", "d.csv")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: d.csv: column 2 \"b\": all values are the same\n", stderr)
}
