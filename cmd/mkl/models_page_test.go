package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/internal/testkit"
)

// TestModelsFit runs the fits of docs/guide/models.md, one of each model, as they stand there.
func TestModelsFit(t *testing.T) {
	testkit.NotShort(t)
	t.Chdir("../..")
	page, err := os.Open(filepath.Join("docs", "guide", "models.md"))
	require.NoError(t, err)
	defer page.Close()
	fits := 0
	for lines := bufio.NewScanner(page); lines.Scan(); {
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
		assert.Regexp(t, `[1-9]\d* of \d+ (kernels|features|factors)( of \d+ members)? active`, stdout, line)
	}
	assert.GreaterOrEqual(t, fits, 8)
}
