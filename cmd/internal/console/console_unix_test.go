//go:build unix

package console

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A named pipe that nobody writes to keeps nobody waiting once the context ends.
func TestOpenOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	done := make(chan error)
	go func() {
		_, err := (&Env{Ctx: ctx}).Open(path)
		done <- err
	}()
	cancel(enough)
	assert.ErrorIs(t, <-done, enough)
	// The read that was left behind ends here.
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

// A full device is an error although the command does not look at what printing returns.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	defer full.Close()
	var stderr bytes.Buffer
	assert.Equal(t, statusFailed, program(new(greeting)).Run(t.Context(), nil, nil, full, &stderr))
	assert.Contains(t, stderr.String(), "mkl: standard output: ")
}
