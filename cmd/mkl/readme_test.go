package main

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
)

// TestReadmeFits runs the fits of the README as they stand there.
func TestReadmeFits(t *testing.T) {
	if testing.Short() {
		t.Skip("fits to convergence")
	}
	t.Chdir("../..")
	readme, err := os.Open("README.md")
	require.NoError(t, err)
	defer readme.Close()
	fits := 0
	for lines := bufio.NewScanner(readme); lines.Scan(); {
		line, ok := strings.CutPrefix(lines.Text(), "go run ./cmd/mkl fit ")
		if !ok {
			continue
		}
		fits++
		line, _, _ = strings.Cut(line, " #")
		// Text between quotes holds no spaces.
		args := append([]string{"fit"}, strings.Fields(strings.ReplaceAll(line, "'", ""))...)
		status, stdout, stderr := command(t, nil, "", args...)
		assert.Equal(t, console.StatusOK, status, "%s: %s", line, stderr)
		assert.Regexp(t, `[1-9] of \d+ (kernels|features) active`, stdout, line)
	}
	assert.GreaterOrEqual(t, fits, 8)
}
