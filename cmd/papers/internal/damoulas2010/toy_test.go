package damoulas2010

import (
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/internal/testkit"
)

func TestReproduceProbitToy(t *testing.T) {
	testkit.NotShort(t)
	dir := filepath.Join(t.TempDir(), "pictures")
	args := []string{"-draws", "160", "-chains", "2", "-limit", "150", "-pictures", dir}
	status, stdout, stderr := consoletest.Run(t, new(Toy), nil, append(args, "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var got toyResult
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Boundary, 2)
	gibbs, vb := got.Boundary[0], got.Boundary[1]
	assert.Equal(t, 160, gibbs.Draws)
	assert.InDelta(t, got.True.Slope, vb.Mean.Slope, 0.6)
	assert.Less(t, vb.Covariance[0][0], gibbs.Covariance[0][0])
	assert.Less(t, vb.Middle.Slope, gibbs.Middle.Slope)
	require.Len(t, got.Outcomes, 3)
	for _, o := range got.Outcomes {
		assert.Less(t, o.Error, 6.0, o.Method)
	}
	require.Len(t, got.Pictures, 6)
	for _, path := range got.Pictures {
		f, err := os.Open(path)
		require.NoError(t, err)
		_, err = png.Decode(f)
		require.NoError(t, f.Close())
		require.NoError(t, err, path)
	}
	status, _, stderr = consoletest.Run(t, new(Toy), nil, "-draws", "3")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-draws at least 8")
}
