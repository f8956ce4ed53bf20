package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

// failing is the machine's disk but for its operation number at, counted from 0, which
// fails with err: a write after half of its bytes. count counts the operations.
func failing(at int, err error, named bool, count *int) disk {
	fails := func() bool {
		*count++
		return *count == at+1
	}
	d := system
	if named {
		d.unnamed = func(string) *os.File { return nil }
	}
	d.open = func(name string) (*os.File, error) {
		if fails() {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return system.open(name)
	}
	d.write = func(f *os.File, p []byte) (int, error) {
		if fails() {
			n, _ := f.Write(p[:len(p)/2])
			return n, err
		}
		return f.Write(p)
	}
	d.chmod = func(f *os.File, mode fs.FileMode) error {
		if fails() {
			return err
		}
		return f.Chmod(mode)
	}
	d.sync = func(f *os.File) error {
		if fails() {
			return err
		}
		return f.Sync()
	}
	d.link = func(f *os.File, name string) error {
		if fails() {
			return err
		}
		return link(f, name)
	}
	d.rename = func(from, to string) error {
		if fails() {
			return err
		}
		return os.Rename(from, to)
	}
	d.close = func(f *os.File) error { // closes all the same, as systems do
		if fails() {
			return errors.Join(err, f.Close())
		}
		return f.Close()
	}
	return d
}

// kept are files of what the command keeps: two of each kind, with how they are read.
func kept(t *testing.T) map[string]struct {
	files [2][]byte
	read  func([]byte) error
} {
	t.Helper()
	x := []float64{0.5, 2, 1, 4, 3, 0, 2.5, 1.5}
	y := []float64{1, -1, 0.5, 2, 0, 1.5, -2, 0.25}
	var models, checkpoints, sums [2][]byte
	views := []mkl.View{{X: mkl.Column(x), Kernel: kernel.RBF{Width: 1}}}
	for i := range 2 {
		m, err := mkl.Regression{Ascent: mkl.Ascent{MaxSweeps: 3 + i}}.Fit(t.Context(), views, y)
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		models[i] = file.Bytes()

		c := mkl.ProbitSampler[int]{Fitting: mkl.Fitting{Seed: uint64(i)}}
		c.GibbsDraws = mkl.GibbsDraws{Chains: 1, Draws: 4, Thin: 1, Every: 2, Checkpoint: func(p *mcmc.Checkpoint) (err error) {
			checkpoints[i], err = p.MarshalBinary()
			return err
		}}
		_, err = c.Fit(t.Context(), views, []int{0, 1, 0, 1, 0, 1, 0, 1})
		require.NoError(t, err)

		p, err := mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: 3 + i}}.Begin(t.Context(), views, y)
		require.NoError(t, err)
		b, err := p.Builder(1)
		require.NoError(t, err)
		require.NoError(t, b.Add(y, mkl.Column(x)))
		s, err := b.Finish()
		require.NoError(t, err)
		sums[i], err = s.MarshalBinary()
		require.NoError(t, err)
	}
	return map[string]struct {
		files [2][]byte
		read  func([]byte) error
	}{
		"model":      {models, func(b []byte) error { _, err := mkl.Load(bytes.NewReader(b)); return err }},
		"checkpoint": {checkpoints, new(mcmc.Checkpoint).UnmarshalBinary},
		"statistic":  {sums, new(stat.Statistic).UnmarshalBinary},
	}
}

// Whatever operation fails, with whatever error, the file is the old one or the new one,
// Write says that something failed, and nothing else is left in the folder.
func TestFaults(t *testing.T) {
	modes := []bool{true}
	if runtime.GOOS == "linux" {
		modes = append(modes, false)
	}
	for kind, c := range kept(t) {
		for _, named := range modes {
			for _, before := range []bool{false, true} {
				faults := 0
				for at := 0; ; at++ {
					where := fmt.Sprintf("%s, named %t, one before %t, operation %d", kind, named, before, at)
					bad := []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, io.ErrShortWrite}[at%4]
					dir := t.TempDir()
					path := filepath.Join(dir, "out")
					if before {
						require.NoError(t, os.WriteFile(path, c.files[0], 0o600))
					}
					count := 0
					err := failing(at, bad, named, &count).put(t.Context(), path, inParts(c.files[1]))
					if count <= at { // nothing was left to fail
						require.NoError(t, err, where)
						break
					}
					faults++
					require.ErrorIs(t, err, bad, where)
					got, err := os.ReadFile(path)
					switch {
					case errors.Is(err, fs.ErrNotExist):
						require.False(t, before, where)
						require.Empty(t, files(t, dir), where)
					default:
						require.NoError(t, err)
						require.True(t, before && bytes.Equal(got, c.files[0]) || bytes.Equal(got, c.files[1]), where)
						require.NoError(t, c.read(got), where)
						require.Equal(t, []string{"out"}, files(t, dir), where)
					}
				}
				assert.GreaterOrEqual(t, faults, 7, "four writes, the flush, the rename and the end: %s", kind)
			}
		}
	}
}

// inParts writes b in four parts.
func inParts(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		for i := range 4 {
			if _, err := w.Write(b[i*len(b)/4 : (i+1)*len(b)/4]); err != nil {
				return err
			}
		}
		return nil
	}
}

// A file that is cut off anywhere cannot be read.
func TestCutFilesAreRefused(t *testing.T) {
	for kind, c := range kept(t) {
		require.NoError(t, c.read(c.files[0]), kind)
		for _, share := range []float64{0, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 1} {
			n := int(math.Ceil(share * float64(len(c.files[0])-1)))
			assert.Error(t, c.read(c.files[0][:n]), "%d bytes of a %s", n, kind)
		}
	}
}

// A folder in which nothing can be written, and a path within a file, are errors that
// leave everything as it was.
func TestWriteNowhere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	for _, p := range []string{filepath.Join(dir, "none", "out"), filepath.Join(path, "out"), dir} {
		assert.Error(t, Write(context.Background(), p, text("new")), p)
	}
	assert.Equal(t, []string{"file"}, files(t, dir))
}
