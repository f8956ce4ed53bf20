package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file that another program reads at the time is replaced all the same: Windows refuses it as long as the file is open.
func TestWriteWhileAnotherReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	closed := make(chan error, 1)
	d := system
	d.rename = func(from, to string) error {
		go func() { closed <- f.Close() }() // the other program is done soon
		return rename(from, to)
	}
	require.NoError(t, d.put(t.Context(), path, text("new")))
	require.NoError(t, <-closed)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(got))
	assert.Equal(t, []string{"model"}, files(t, filepath.Dir(path)))
}
