package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every command has a man page with its flags, and groff, where it is, formats each without a complaint.
func TestPages(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, write("../..", out))
	pages, err := filepath.Glob(filepath.Join(out, "*.1"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 10)
	groff, _ := exec.LookPath("groff")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(page), ".1")
		assert.Contains(t, string(text), ".TH "+strings.ToUpper(name)+" 1")
		assert.Contains(t, strings.ReplaceAll(string(text), `\-`, "-"), name+" - ")
		assert.NotContains(t, string(text), "](", name)
		assert.NotContains(t, string(text), "<!--", name)
		if groff == "" {
			continue
		}
		c := exec.Command(groff, "-Kutf8", "-t", "-man", "-Tutf8", "-rLL=150n", "-ww", "-z", page)
		said, err := c.CombinedOutput()
		assert.NoError(t, err)
		assert.Empty(t, string(said), name)
	}
	fit, err := os.ReadFile(filepath.Join(out, "mkl-fit.1"))
	require.NoError(t, err)
	assert.Contains(t, strings.ReplaceAll(string(fit), `\-`, "-"), "-target COLUMN")
	_, err = manual("x", "no title")
	assert.Error(t, err)
}
