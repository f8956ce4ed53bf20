package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilesInLaAreWhatAsmgenWrites(t *testing.T) {
	for name, generate := range files {
		checkedIn, err := os.ReadFile(filepath.Join("..", "..", name))
		require.NoError(t, err)
		assert.True(t, string(checkedIn) == string(generate()), "la/%s is stale: run go generate in la", name)
	}
}
