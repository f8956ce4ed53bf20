package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	status, stdout, stderr := runCommand(t, new(reproduceToyCmd), nil, "-starts", "1", "-sweeps", "2", "-json")
	require.Equal(t, statusOK, status, stderr)
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

	status, stdout, stderr = runCommand(t, new(reproduceToyCmd), nil, "-starts", "1", "-sweeps", "1")
	require.Equal(t, statusOK, status, stderr)
	assert.Contains(t, stdout, "paper: MTMKL")
	status, _, stderr = runCommand(t, new(reproduceToyCmd), nil, "-starts", "0")
	assert.Equal(t, statusInput, status)
	assert.Contains(t, stderr, "-starts")
}

// TestMultitask fits targets that are combinations of common functions.
func TestMultitask(t *testing.T) {
	var b strings.Builder
	b.WriteString("u,p,q,r\n")
	for i := range 40 {
		u := float64(i) / 10
		f, g := math.Sin(2*u), math.Cos(3*u)
		gap := fmt.Sprint(5 + f - g)
		if i > 15 && i < 22 {
			gap = "NA"
		}
		fmt.Fprintf(&b, "%g,%g,%s,%g\n", u, f+0.01*float64(i%3), gap, 100*(f+g))
	}
	status, stdout, stderr := command(t, map[string]string{"s.csv": b.String()}, "",
		"fit", "s.csv", "-task", "multitask", "-target", "p,q,r", "-kernels", "rbf(width=.5)", "-latents", "2", "-missing", "-sweeps", "60", "-o", "s")
	require.Equal(t, statusOK, status, stderr)
	assert.Contains(t, stdout, "multitask of p, q, r")
	assert.Equal(t, 3, strings.Count(stdout, "of 2 kernels active"), stdout)
	status, stdout, stderr = command(t, nil, "", "inspect", "s", "-json")
	require.Equal(t, statusOK, status, stderr)
	var rep report
	require.NoError(t, json.Unmarshal([]byte(stdout), &rep))
	require.Len(t, rep.Targets, 3)
	for _, target := range rep.Targets {
		require.Len(t, target.Kernels, 2)
		assert.NotNil(t, target.Kernels[0].Inclusion)
	}
	status, stdout, stderr = command(t, nil, "", "predict", "s", "s.csv")
	require.Equal(t, statusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "p_mean,p_sd,p_lower,p_upper,q_mean,"), stdout)
	status, _, stderr = command(t, nil, "", "inspect", "s")
	require.Equal(t, statusOK, status, stderr)
}

// TestReproduceMTFlowers reads files of the authors' form with three classes, and
// goes on from a checkpoint.
func TestReproduceMTFlowers(t *testing.T) {
	files := flowers102Files()
	args := []string{"-data", ".", "-latents", "1,2", "-sweeps", "30", "-checkpoint", ".", "-every", "0s"}
	status, stdout, stderr := runCommand(t, new(reproduceMTFlowersCmd), files, append(args, "-json")...)
	require.Equal(t, statusOK, status, stderr)
	var got struct{ Outcomes []flowersOutcome }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Outcomes, 2)
	for i, o := range got.Outcomes {
		assert.Equal(t, 4*(i+1), o.M)
		assert.Equal(t, 1.0, o.Accuracy, o)
		assert.Equal(t, 1.0, o.AUC, o)
		assert.Equal(t, 1.0, o.RR, o)
		assert.LessOrEqual(t, o.Sweeps, 30)
	}
	require.FileExists(t, filepath.Join(".", "mtmkl-flowers102-4.state"))
	status, stdout, stderr = runCommand(t, new(reproduceMTFlowersCmd), nil, append(args, "-sweeps", "31")...)
	require.Equal(t, statusOK, status, stderr)
	assert.Contains(t, stdout, "stated: MTMKL")

	require.NoError(t, os.WriteFile("mtmkl-flowers102-4.state", []byte("x"), 0o600))
	status, _, stderr = runCommand(t, new(reproduceMTFlowersCmd), nil, args...)
	assert.Equal(t, statusInput, status)
	assert.Contains(t, stderr, "mtmkl-flowers102-4.state")
	status, _, stderr = runCommand(t, new(reproduceMTFlowersCmd), nil, append(args, "-memory", "1KB")...)
	assert.Equal(t, statusInput, status)
	assert.Contains(t, stderr, "the experiment needs about ")
}
