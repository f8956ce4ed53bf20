package archambeau2010

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass/multiclasstest"
)

func TestReproduceMGPFlowers102(t *testing.T) {
	args := []string{"-data", ".", "-curves", "1,3"}
	status, stdout, stderr := consoletest.Run(t, new(Flowers102), multiclasstest.Flowers102Files(), append(args, "-o", "roc.svg")...)
	require.Equal(t, console.StatusOK, status, stderr)
	for _, s := range []string{"Student-t", "1.000 ± .000", ".957 ± .050", "picture: roc.svg"} {
		assert.Contains(t, stdout, s)
	}
	picture, err := os.ReadFile("roc.svg")
	require.NoError(t, err)
	assert.Contains(t, string(picture), "class 3")

	var got struct{ Outcomes []struct{ AUC []float64 } }
	status, stdout, stderr = consoletest.Run(t, new(Flowers102), nil, append(args, "-priors", "ard", "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Outcomes, 1)
	assert.Equal(t, []float64{1, 1, 1}, got.Outcomes[0].AUC)

	for _, c := range []struct{ flag, value, want string }{
		{"-curves", "9", "no test samples of class 9"},
		{"-memory", "1kB", "of memory"},
		{"-sweeps", "0", "-sweeps"},
	} {
		status, _, stderr := consoletest.Run(t, new(Flowers102), nil, append(args, c.flag, c.value, "-o", "roc.svg")...)
		assert.Equal(t, console.StatusInput, status, c.flag)
		assert.Contains(t, stderr, c.want)
	}
}
