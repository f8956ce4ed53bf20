package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file that another program reads at the time is replaced all the same: Windows refuses it as long as the file is open.
func TestWriteWhileAnotherReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	closed := make(chan error)
	go func() {
		time.Sleep(50 * time.Millisecond)
		closed <- f.Close()
	}()
	require.NoError(t, Write(t.Context(), path, text("new")))
	require.NoError(t, <-closed)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(got))
	assert.Equal(t, []string{"model"}, files(t, filepath.Dir(path)))
}
