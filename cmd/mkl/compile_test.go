package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// TestCompile compiles a model. All commands take the file, and predict the same.
func TestCompile(t *testing.T) {
	status, _, stderr := command(t, map[string]string{"d.csv": houses(), "f.csv": flowers()}, "",
		"fit", "d.csv", "-target", "price", "-model", "mgp", "-sweeps", "5", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "compile", "m", "-mean", "-o", "c")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `^c: 2 predictors, prepared in \d+\.\d s, \d+\.\d MB\n$`, stdout)
	f, err := mkl.OpenFile("c")
	require.NoError(t, err)
	assert.Equal(t, []mkl.PredictorOptions{{}, {MeanOnly: true}}, mkl.Prepared(f.Model))
	require.NoError(t, f.Close())
	for _, args := range [][]string{{"predict", "d.csv"}, {"evaluate", "d.csv"}, {"inspect"}, {"export", "-o", "-"}} {
		run := func(model string) string {
			status, stdout, stderr := command(t, nil, "", append([]string{args[0], model}, args[1:]...)...)
			require.Equal(t, console.StatusOK, status, stderr)
			return strings.TrimPrefix(stdout, model+": ") // what mkl inspect begins with
		}
		assert.Equal(t, run("m"), run("c"), args[0])
	}
	status, _, stderr = command(t, nil, "", "compile", "c", "-tolerance", "0.1", "-o", "again")
	require.Equal(t, console.StatusOK, status, stderr)

	status, _, stderr = command(t, nil, "", "fit", "f.csv", "-target", "species", "-model", "mgp", "-sweeps", "3", "-o", "classes")
	require.Equal(t, console.StatusOK, status, stderr)
	status, _, stderr = command(t, nil, "", "fit", "d.csv", "-target", "price", "-model", "bmkl", "-sweeps", "3", "-o", "weights")
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr = command(t, nil, "", "compile", "weights", "-o", "compiled")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `^compiled: 1 predictor, prepared`, stdout)
	status, _, stderr = command(t, nil, "", "fit", "f.csv", "-target", "species", "-model", "probit", "-sweeps", "3", "-o", "probit")
	require.Equal(t, console.StatusOK, status, stderr)
	file, err := os.ReadFile("c")
	require.NoError(t, err)
	file[len(file)/2] ^= 1
	require.NoError(t, os.WriteFile("damaged", file, 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"classes", "-mean", "-o", "x"}, "-mean is for models of numbers"},
		{[]string{"probit", "-o", "x"}, "probit: a model of the kind probit-classifier makes its predictor in little time: its file needs no preparation"},
		{[]string{"m", "--tolerance=-1", "-o", "x"}, "-tolerance is -1: it is at least 0"},
		{[]string{"damaged", "-o", "x"}, "the file is damaged"},
	} {
		status, _, stderr := command(t, nil, "", append([]string{"compile"}, c.args...)...)
		assert.Equal(t, console.StatusInput, status)
		assert.Contains(t, stderr, c.want)
	}
	assert.NoFileExists(t, "x")
}
