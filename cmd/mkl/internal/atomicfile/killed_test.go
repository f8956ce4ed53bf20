package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is also the process that is killed: it begins to write and waits.
func TestMain(m *testing.M) {
	if path := os.Getenv("ATOMICFILE_WRITE"); path != "" {
		t, err := create(path)
		if err == nil && os.Getenv("ATOMICFILE_NAMED") != "" && t.name == "" {
			t.name, err = claim(path, func(name string) error { return link(t.File, name) })
		}
		if err == nil {
			_, err = io.WriteString(t, "half")
		}
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(os.Stdout, "written\n")
		_, _ = io.ReadFull(os.Stdin, make([]byte, 1)) // until the kill
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// begun starts a process that holds a temporary file for path.
func begun(t *testing.T, path, named string) (kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "ATOMICFILE_WRITE="+path, "ATOMICFILE_NAMED="+named)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, len("written\n")))
	require.NoError(t, err)
	return func() {
		require.NoError(t, cmd.Process.Kill())
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
	}
}

// What a killed process leaves is nothing on Linux, and elsewhere, as between link and
// rename on Linux, gone after the next write; a process that still writes keeps its file.
func TestKilled(t *testing.T) {
	for _, named := range []string{"", "yes"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out.txt")
		kill := begun(t, path, named)
		if runtime.GOOS == "linux" && named == "" {
			assert.Empty(t, files(t, dir))
		} else {
			assert.Equal(t, []string{".out.txt.0.tmp"}, files(t, dir))
		}
		before := files(t, dir)
		require.NoError(t, Write(t.Context(), path, text("other")))
		assert.Equal(t, append(before, "out.txt"), files(t, dir), "of a process that lives")
		kill()
		if runtime.GOOS == "windows" { // knows by the clock
			old := time.Now().Add(-2 * abandoned)
			for _, name := range before {
				require.NoError(t, os.Chtimes(filepath.Join(dir, name), old, old))
			}
		}
		require.NoError(t, Write(t.Context(), path, text("new")))
		assert.Equal(t, []string{"out.txt"}, files(t, dir))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "new", string(got))
	}
}

// Files under names that are taken are left alone, as often as they are written.
func TestClaimGivesUp(t *testing.T) {
	_, err := claim("x", func(string) error { return fs.ErrExist })
	assert.ErrorContains(t, err, "temporary files are beside it")
	bad := errors.New("no disk")
	_, err = claim("x", func(string) error { return bad })
	assert.ErrorIs(t, err, bad)
}

// Writers of one path at a time each succeed, and the file is one of theirs.
func TestWritersTogether(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows refuses to replace a file while another does")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out.txt")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 25 {
				assert.NoError(t, Write(t.Context(), path, text(string(rune('a'+i))+"-whole")))
			}
		})
	}
	wg.Wait()
	assert.Equal(t, []string{"out.txt"}, files(t, dir))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Regexp(t, "^[a-h]-whole$", string(got))
}
