package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

// A fit that was cut off goes on from the file of -resume to the predictions of one that was not.
func TestResume(t *testing.T) {
	for _, c := range []struct{ args, cut string }{
		{"-target y", "-time=1ns"},
		{"-target kind", "-time=1ns"},
		{"-target y -model bmkl -restarts 1 -tolerance 1e-6", "-sweeps=7"},
		{"-target kind -model bmkl -tolerance 1e-6", "-sweeps=7"},
		{"-target y -model mgp", "-sweeps=2"},
		{"-target y,z -task tasks -tolerance 1e-6", "-sweeps=7"},
		{"-target y,z -task multitask", "-sweeps=7"},
		{"-target y -model spikeslab", "-sweeps=3"},
		{"-target y -model mgp -method factorised", "-sweeps=2"},
		{"-target kind -model probit", "-sweeps=3"},
		{"-target kind -model probit -rule wsum -search sampling", "-sweeps=3"},
		{"-target kind -model probit -prior alpha=learn", "-sweeps=3"},
		{"-target kind -model probit -inference relevance", "-sweeps=3"},
		{"-target kind -model probit -inference prune", "-sweeps=3"},
		{"-target * -task factors -factors 2", "-sweeps=3"},
	} {
		fit := func(model string, more ...string) (stderr string) {
			args := append(strings.Fields("fit d.csv -json -o "+model+" "+c.args), more...)
			status, _, stderr := command(t, nil, "", args...)
			require.Equal(t, console.StatusOK, status, "%s: %s", args, stderr)
			return stderr
		}
		predicted := func(model string) string {
			status, stdout, stderr := command(t, nil, "", "predict", model, "d.csv", "-json")
			require.Equal(t, console.StatusOK, status, stderr)
			return stdout
		}
		consoletest.InFolder(t, map[string]string{"d.csv": waves(40)})
		fit("whole")
		assert.NotContains(t, fit("part", "-resume=s", c.cut), "going on")
		require.FileExists(t, "s", c.args)
		assert.NotEqual(t, predicted("whole"), predicted("part"), c.args)
		assert.Contains(t, fit("part", "-resume=s"), "going on from s, after ", c.args)
		assert.Equal(t, predicted("whole"), predicted("part"), c.args)
		assert.NoFileExists(t, "s", "what has converged needs no state")

		fit("part", "-resume=s")
		whole, err := os.ReadFile("whole")
		require.NoError(t, err)
		part, err := os.ReadFile("part")
		require.NoError(t, err)
		assert.Equal(t, whole, part, "%s: the flag does not change the model", c.args)
	}
}

// An interrupted fit says from which file it goes on.
func TestResumeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	consoletest.InFolder(t, map[string]string{"d.csv": waves(40)})
	var stdout, stderr strings.Builder
	status := program().Run(ctx, strings.Fields("fit d.csv -target y -task regression -model bmkl -kernels rbf(width=1) -resume s"), nil, &stdout, &stderr)
	assert.Equal(t, console.StatusInterrupted, status)
	assert.Contains(t, stderr.String(), "mkl: interrupted")
}

func TestResumeRefused(t *testing.T) {
	files := map[string]string{"d.csv": waves(40), "other": "{}\n", "torn": "bmkl fit "}
	for _, c := range []struct{ args, want string }{
		{"-target y -resume other", "-resume other: the file is no state of a fit"},
		{"-target y -resume torn", "-resume torn: the file is no state of a fit"},
		{"-target y -resume none/s", "none"},
		{"-target y -resume .", "-resume .: it is no regular file"},
		{"-target y -resume " + os.DevNull, "it is no regular file"},
	} {
		status, _, stderr := command(t, files, "", strings.Fields("fit d.csv "+c.args)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want)
	}
	begun := strings.Fields("fit d.csv -target y -model bmkl -sweeps 3 -resume s")
	status, _, stderr := command(t, files, "", begun...)
	require.Equal(t, console.StatusOK, status, stderr)
	for _, more := range []string{"-seed=2", "-raw-targets", "-kernels=linear", "-missing=drop"} {
		status, _, stderr := command(t, nil, "", append(begun, more)...)
		assert.Equal(t, console.StatusInput, status, more)
		assert.Contains(t, stderr, "-resume s: the file is the state of a fit of other data or with other flags", more)
	}
	require.NoError(t, os.WriteFile("d.csv", []byte(waves(39)), 0o666))
	status, _, stderr = command(t, nil, "", begun...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "of other data", stderr)
}
