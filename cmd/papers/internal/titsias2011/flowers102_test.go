package titsias2011

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass/multiclasstest"
)

// TestReproduceMTFlowers reads files of the authors' form with three classes, and
// goes on from a checkpoint.
func TestReproduceMTFlowers(t *testing.T) {
	files := multiclasstest.Flowers102Files()
	args := []string{"-data", ".", "-latents", "1,2", "-sweeps", "30", "-checkpoint", ".", "-every", "0s"}
	status, stdout, stderr := consoletest.Run(t, new(Flowers102), files, append(args, "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
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
	status, stdout, stderr = consoletest.Run(t, new(Flowers102), nil, append(args, "-sweeps", "31")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "stated: MTMKL")

	require.NoError(t, os.WriteFile("mtmkl-flowers102-4.state", []byte("x"), 0o600))
	status, _, stderr = consoletest.Run(t, new(Flowers102), nil, args...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "mtmkl-flowers102-4.state")
	status, _, stderr = consoletest.Run(t, new(Flowers102), nil, append(args, "-memory", "1KB")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "the experiment needs about ")
}
