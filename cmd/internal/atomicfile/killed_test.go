package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl"
)

// TestMain is also the processes that are killed: one begins to write and waits, one
// writes again and again, one fits.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ATOMICFILE_LOOP"); dir != "" {
		saveForever(dir)
	}
	if path := os.Getenv("ATOMICFILE_FIT"); path != "" {
		fitOn(path)
	}
	if path := os.Getenv("ATOMICFILE_WRITE"); path != "" {
		t, err := system.create(path)
		if err == nil && os.Getenv("ATOMICFILE_NAMED") != "" && t.name == "" {
			t.name, err = claim(path, func(name string) error { return link(t.file, name) })
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
		if runtime.GOOS == "windows" { // needs the clock
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

// saveForever writes the files a and b of a folder to out in it, by turns, in parts.
func saveForever(dir string) {
	a, aerr := os.ReadFile(filepath.Join(dir, "a"))
	b, berr := os.ReadFile(filepath.Join(dir, "b"))
	if err := errors.Join(aerr, berr); err != nil {
		panic(err)
	}
	_, _ = io.WriteString(os.Stdout, "begins\n")
	for {
		for _, file := range [][]byte{a, b} {
			if err := Write(context.Background(), filepath.Join(dir, "out"), inParts(file)); err != nil {
				panic(err)
			}
		}
	}
}

// kills is how many processes TestKilledWhileSaving kills: a few, or as many as the
// environment variable ATOMICFILE_KILLS says.
func kills(t *testing.T, few int) int {
	t.Helper()
	if text := os.Getenv("ATOMICFILE_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}
	return few
}

// A process that saves models is killed at any moment: the file is one of the models,
// whole, and what is left beside it is gone after the next save.
func TestKilledWhileSaving(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs the clock to know what is left behind")
	}
	models := kept(t)["model"]
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), models.files[0], 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), models.files[1], 0o600))
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)) // moments are random whatever the seed
	var none, old, changed, left int
	for i := range kills(t, 25) {
		require.NoError(t, os.RemoveAll(path))
		if i%2 == 0 {
			require.NoError(t, os.WriteFile(path, models.files[0], 0o600))
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "ATOMICFILE_LOOP="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, len("begins\n")))
		require.NoError(t, err)
		time.Sleep(time.Duration(rng.ExpFloat64() * float64(300*time.Microsecond)))
		require.NoError(t, cmd.Process.Kill())
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)

		got, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			require.NotZero(t, i%2, "the file that was there is gone")
			none++
		case bytes.Equal(got, models.files[0]):
			old++
		default:
			require.True(t, bytes.Equal(got, models.files[1]), "kill %d: %d bytes are of neither model", i, len(got))
			changed++
		}
		if names := files(t, dir); len(names) > 3 || err != nil && len(names) > 2 {
			left++
		}
	}
	require.NoError(t, Write(t.Context(), path, inParts(models.files[1])))
	assert.Equal(t, []string{"a", "b", "out"}, files(t, dir))
	t.Logf("no file yet %d times, the first model %d, the second %d; a temporary file was left for the next write %d times", none, old, changed, left)
}

// fitOn fits factors to a table with a journal in path, after every sweep, from where
// an earlier process was, and leaves the model in path.done.
func fitOn(path string) {
	f := testFactors()
	f.Journal = &mkl.Journal{Every: 1, Save: func(data []byte) error {
		return Write(context.Background(), path, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}}
	if data, err := os.ReadFile(path); err == nil {
		if err := f.Journal.UnmarshalBinary(data); err != nil {
			panic(err)
		}
	}
	m, err := f.Fit(context.Background(), testTable())
	if err == nil {
		err = Write(context.Background(), path+".done", m.Save)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

func testFactors() mkl.FactorAnalysis {
	return mkl.FactorAnalysis{Factors: 2, Fitting: mkl.Fitting{Workers: 1, Seed: 3}, Ascent: mkl.Ascent{MaxSweeps: 60, Tolerance: -1}}
}

func testTable() mkl.DenseTable {
	rng := rand.New(rand.NewPCG(2, 6))
	var table mkl.DenseTable
	for range 20 {
		row := make([]float64, 6)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		table = append(table, row)
	}
	return table
}

// A fit that is killed again and again, and goes on from its journal, ends in
// the bits of one that nobody stopped.
func TestKilledWhileFitting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs the clock to know what is left behind")
	}
	want, err := testFactors().Fit(t.Context(), testTable())
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, want.Save(&file))
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	killed := 0
	for range kills(t, 25)/25 + 1 {
		dir := t.TempDir()
		path := filepath.Join(dir, "fit")
		for again, done := 1.0, false; !done; again += 0.1 { // longer lives, for slow machines
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "ATOMICFILE_FIT="+path)
			require.NoError(t, cmd.Start())
			end := time.AfterFunc(time.Duration(again*(5+20*rng.ExpFloat64())*float64(time.Millisecond)), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			end.Stop()
			done = err == nil
			if !done {
				require.Equal(t, "signal: killed", err.Error())
				killed++
			}
		}
		got, err := os.ReadFile(path + ".done")
		require.NoError(t, err)
		require.True(t, bytes.Equal(file.Bytes(), got), "the model differs")
		require.Equal(t, []string{"fit", "fit.done"}, files(t, dir))
	}
	t.Logf("killed %d times", killed)
}
