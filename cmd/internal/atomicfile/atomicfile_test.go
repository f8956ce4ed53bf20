package atomicfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.txt")
	for _, s := range []string{"first", "second, longer", ""} {
		require.NoError(t, Write(t.Context(), path, text(s)))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, s, string(got))
		assert.Equal(t, []string{"out.txt"}, files(t, dir))
	}
}

func TestWriteFails(t *testing.T) {
	bad := errors.New("no more")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		write func(io.Writer) error
		want  error
	}{
		"halfway": {t.Context(), func(w io.Writer) error {
			_, _ = io.WriteString(w, "half")
			return bad
		}, bad},
		"interrupted": {canceled, text("whole"), context.Canceled},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out.txt")
		require.ErrorIs(t, Write(c.ctx, path, c.write), c.want, name)
		assert.Empty(t, files(t, dir), name)

		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		require.ErrorIs(t, Write(c.ctx, path, c.write), c.want, name)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "old", string(got), name)
		assert.Equal(t, []string{"out.txt"}, files(t, dir), name)
	}
}

func TestWriteKeepsModeAndLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has neither")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "out.txt"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	require.NoError(t, os.Symlink("out.txt", link))
	require.NoError(t, Write(t.Context(), link, text("new")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(got))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}

// A link to what is not there yet stays a link.
func TestWriteThroughDanglingLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join("deep", "er"), filepath.Join(dir, "folder")))
	require.NoError(t, os.Symlink(filepath.Join("..", "second"), filepath.Join(dir, "deep", "er", "first")))
	require.NoError(t, os.Symlink("out.txt", filepath.Join(dir, "deep", "second")))
	link := filepath.Join(dir, "folder", "first")
	require.NoError(t, Check(link))
	require.NoError(t, Write(t.Context(), link, text("new")))
	got, err := os.ReadFile(filepath.Join(dir, "deep", "out.txt"))
	require.NoError(t, err)
	assert.Equal(t, "new", string(got))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)

	round := filepath.Join(dir, "round")
	require.NoError(t, os.Symlink("round", round))
	assert.Error(t, Check(round))
	assert.Error(t, Write(t.Context(), round, text("new")))
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Check(filepath.Join(dir, "new")))
	assert.Empty(t, files(t, dir))
	assert.ErrorContains(t, Check(dir), "is a folder")
	assert.ErrorContains(t, Check(filepath.Join(dir, "none", "new")), "there is no folder")
	require.NoError(t, Check(os.DevNull))
	require.NoError(t, Write(t.Context(), os.DevNull, text("gone")))
}
