package gonen2012

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

// TestReproduceMotorcycle runs a few sweeps of everything.
func TestReproduceMotorcycle(t *testing.T) {
	args := []string{"-starts", "2", "-sweeps", "3", "-limit", "4"}
	status, stdout, stderr := consoletest.Run(t, new(Motorcycle), nil, args...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "(not converged)")
	assert.Contains(t, stdout, "paper           2^-2 2^-1 2^1")
	assert.Equal(t, 8, strings.Count(stdout, "exp(-d²"), stdout)
}
