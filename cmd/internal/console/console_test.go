package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// failing is a command that fails with an error of its own.
type failing struct {
	Name string `default:"${name}" help:"A name, ${name} by default."`

	JSONFlag `embed:""`

	err  error
	kept string
}

func (c *failing) Run(e *Env) error {
	e.Kept = c.kept
	return c.err
}

// program is a program whose flags may refer to ${name}.
func program(commands any) Program {
	return Program{Name: "mkl", Commands: commands, Vars: map[string]string{"name": "y"}}
}

func TestRun(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	cause := errors.New("mkl: first\nsecond")
	for _, c := range []struct {
		name    string
		ctx     context.Context
		command failing
		args    string
		status  int
		stderr  string
	}{
		{"done", t.Context(), failing{}, "", StatusOK, ""},
		{"failed", t.Context(), failing{err: cause}, "-name x", statusFailed, "mkl: first; second\n"},
		{"wrong data", t.Context(), failing{err: fmt.Errorf("row 1: %w", Input(cause))}, "", StatusInput, "mkl: row 1: mkl: first; second\n"},
		{"full disk", t.Context(), failing{err: Input(&fs.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC})}, "", statusFailed,
			"mkl: write f: " + syscall.ENOSPC.Error() + "\n"},
		{"wrong flag", t.Context(), failing{}, "-nam x", StatusInput, "mkl: unknown flag -nam, did you mean \"-name\"?\n"},
		{"interrupted", stopped, failing{err: cause}, "", StatusInterrupted, "mkl: interrupted: nothing was written\n"},
		{"kept", stopped, failing{err: cause, kept: "f"}, "", StatusInterrupted, "mkl: interrupted: the same command goes on from f\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := program(&c.command).Run(c.ctx, strings.Fields(c.args), nil, &stdout, &stderr)
			assert.Equal(t, c.status, status)
			assert.Equal(t, c.stderr, stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
	var stdout, stderr bytes.Buffer
	assert.Equal(t, StatusOK, program(new(failing)).Run(t.Context(), []string{"-help"}, nil, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "A name, y by default.")
	assert.NoError(t, Input(nil))
}

// An instruction set that la does not have is an error before a command runs. la reads the
// variable when a program starts: the test runs itself again.
func TestRunWithoutInstructionSet(t *testing.T) {
	if os.Getenv("BMKL_KERNEL") == "sse9" {
		os.Exit(program(new(failing)).Run(t.Context(), nil, nil, os.Stdout, os.Stderr))
	}
	binary, err := os.Executable()
	require.NoError(t, err)
	again := exec.Command(binary, "-test.run=^TestRunWithoutInstructionSet$")
	again.Env = append(os.Environ(), "BMKL_KERNEL=sse9")
	var stdout, stderr bytes.Buffer
	again.Stdout, again.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	require.ErrorAs(t, again.Run(), &exit)
	assert.Equal(t, StatusInput, exit.ExitCode())
	assert.Regexp(t, `^mkl: la: BMKL_KERNEL=sse9 is not available here; available: .*generic\n$`, stderr.String())
	assert.Empty(t, stdout.String())
}

func TestDoubleDash(t *testing.T) {
	assert.Equal(t, []string{"--seed", "-1", "--o=x", "-o", "x", "--", "-seed"}, doubleDash([]string{"-seed", "-1", "--o=x", "-o", "x", "--", "-seed"}))
}

// Errors of the parser have one dash, as the guide has, and keep the values that the caller gave.
func TestErrorsHaveOneDash(t *testing.T) {
	var c struct {
		Data string  `required:""`
		More string  `required:""`
		Of   string  `enum:"a,b" default:"a"`
		Size float64 `default:"1"`
	}
	for args, want := range map[string]string{
		"":                           "missing flags: -data=STRING, -more=STRING",
		"-dat x":                     "unknown flag -dat, did you mean \"-data\"?",
		"--dat x":                    "unknown flag -dat, did you mean \"-data\"?",
		"-data d":                    "missing flags: -more=STRING",
		"-data d -more m -o x":       `unknown flag -o, did you mean one of "-h", "-of"?`,
		"-data d -more m --size=--x": `-size: expected a float but got "--x" (string)`,
		"-data d -more m --of=--x":   `-of must be one of "a","b" but got "--x"`,
		"-data d -more m 1|--x":      "unexpected argument 1 --x",
	} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "|", " ")
		}
		var stdout, stderr bytes.Buffer
		assert.Equal(t, StatusInput, program(&c).Run(t.Context(), words, nil, &stdout, &stderr))
		assert.Equal(t, "mkl: "+want+"\n", stderr.String(), args)
	}
}

// Help has the flags with one dash, and their texts in one column.
func TestHelpHasOneDash(t *testing.T) {
	var c struct {
		Output string `short:"o" placeholder:"FILE" help:"Written."`
		Color  bool   `negatable:"" help:"Colours."`
		Long   string `name:"a-flag-so-long-that-its-text-is-below-it" help:"Below."`
		Data   string `arg:"" help:"A table."`
	}
	var stdout, stderr bytes.Buffer
	assert.Equal(t, StatusOK, program(&c).Run(t.Context(), []string{"-help"}, nil, &stdout, &stderr))
	assert.Equal(t, `Usage: mkl <data> [flags]

Arguments:
  <data>    A table.

Flags:
  -h, -help            Show context-sensitive help.
  -o, -output=FILE     Written.
      -[no-]color      Colours.
      -a-flag-so-long-that-its-text-is-below-it=STRING
                       Below.
`, stdout.String())
}

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, PrintTable(&out, "lr", [][]string{{"μ", "1"}, {"long", "23"}, {"x", ""}}))
	assert.Equal(t, "μ      1\nlong  23\nx\n", out.String())
	for x, want := range map[float64]string{0: "0", 1.23456: "1.235", 12345: "12345", -0.001234: "-0.001234", 1e-4: "0.0001", 123456: "1.235e+05"} {
		assert.Equal(t, want, Figure(x))
	}
	for n, want := range map[int]string{0: "0 classes", 1: "1 class", 2: "2 classes"} {
		assert.Equal(t, want, Plural(n, "class"))
	}
	assert.Equal(t, "2 rows", Plural(2, "row"))
	assert.Equal(t, "3 entries", Plural(3, "entry"))
}

// TestNumber writes and reads single ones.
func TestNumber(t *testing.T) {
	for text, x := range map[string]float64{`0.1`: 0.1, `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1), `"NaN"`: math.NaN()} {
		got, err := json.Marshal(Number(x))
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
		var again Number
		require.NoError(t, json.Unmarshal(got, &again))
		assert.True(t, float64(again) == x || x != x && again != again, text)
	}
	var n Number
	assert.Error(t, json.Unmarshal([]byte(`"much"`), &n))
}

// TestFigures writes and reads what JSON has no numbers for.
func TestFigures(t *testing.T) {
	f := Figures{"a": 1.5, "b": math.Inf(1), "c": math.Inf(-1), "d": math.NaN()}
	text, err := json.Marshal(f)
	require.NoError(t, err)
	assert.Equal(t, `{"a":1.5,"b":"Infinity","c":"-Infinity","d":"NaN"}`, string(text))
	var again Figures
	require.NoError(t, json.Unmarshal(text, &again))
	assert.True(t, math.IsNaN(again["d"]))
	delete(f, "d")
	delete(again, "d")
	assert.Equal(t, f, again)
	assert.Error(t, json.Unmarshal([]byte(`{"a":"much"}`), &again))
	assert.Error(t, json.Unmarshal([]byte(`[]`), &again))
}

// TestFiles reads a file and standard input side by side.
func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.csv")
	require.NoError(t, os.WriteFile(path, []byte("a,b,c\n1,2,x\n3,4,y\n"), 0o600))
	fs := &Files{Env: &Env{Ctx: t.Context(), Stdin: strings.NewReader("7\n8\n")}}
	defer fs.Close()
	f, err := fs.Open(path)
	require.NoError(t, err)
	again, err := fs.Open(path)
	require.NoError(t, err)
	assert.Same(t, f, again)
	in, err := fs.Open("-")
	require.NoError(t, err)
	f.Need(1, table.Number)
	f.Need(2, table.Label)
	in.Need(0, table.Number)
	assert.True(t, f.Needs(1))
	assert.False(t, f.Needs(0))
	rows, err := fs.Read()
	require.NoError(t, err)
	assert.Equal(t, 2, rows)
	assert.Equal(t, []float64{2, 4}, f.Matrix([]int{1}).Data)
	assert.Equal(t, []string{"x", "y"}, f.Data.Labels[2])
	assert.Equal(t, []string{"c", "b"}, Source{File: f, Columns: []int{2, 1}}.Names())
	assert.Equal(t, []float64{7, 8}, Source{File: in, Columns: []int{0}}.Matrix().Data)
}

type greeting struct{}

func (greeting) Run(e *Env) error {
	fmt.Fprintln(e.Stdout, "hello")
	return nil
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

// What cannot be written to standard output is an error, of a command and of the help.
func TestClosedOutput(t *testing.T) {
	var stderr bytes.Buffer
	assert.Equal(t, statusFailed, program(new(greeting)).Run(t.Context(), nil, nil, closed{}, &stderr))
	assert.Equal(t, "mkl: standard output: file already closed\n", stderr.String())
	stderr.Reset()
	assert.Equal(t, statusFailed, program(new(greeting)).Run(t.Context(), []string{"-help"}, nil, closed{}, &stderr))
	assert.Equal(t, "mkl: standard output: file already closed\n", stderr.String())
}

// A terminal is shown no control characters, wherever a text is cut.
func TestTerminalOutput(t *testing.T) {
	const text = "a\x1b[2Jb\r\u009bc\td\u202ee é\xffμ 日\n"
	const want = `a\u001b[2Jb\u000d\u009bc` + "\td" + `\u202ee é` + `\xffμ 日` + "\n"
	for cut := range len(text) {
		for _, c := range []struct {
			terminal, file bool
			want           string
		}{{true, false, want}, {false, false, want}, {true, true, want}, {false, true, text}} {
			var shown bytes.Buffer
			e := &Env{Stdout: &output{w: &shown, terminal: c.terminal}}
			write := func(w io.Writer) error {
				for _, part := range []string{text[:cut], text[cut:]} {
					n, err := io.WriteString(w, part)
					require.NoError(t, err)
					require.Equal(t, len(part), n)
				}
				return nil
			}
			if c.file {
				require.NoError(t, e.Create(Standard, write))
			} else {
				require.NoError(t, write(e.Stdout))
			}
			assert.Equal(t, c.want, shown.String(), "%+v, cut at %d", c, cut)
		}
	}
}

// Errors have neither control characters of the data nor their length.
func TestErrorsAreShort(t *testing.T) {
	e := &Env{program: "mkl", Ctx: t.Context()}
	for text, want := range map[string]string{
		"no column \x1b]0;title\a\nagain":  `mkl: no column \u001b]0;title\u0007; again` + "\n",
		strings.Repeat("é", 10000) + "end": "mkl: " + strings.Repeat("é", 600) + " … " + strings.Repeat("é", 148) + "end\n",
	} {
		var stderr bytes.Buffer
		e.errors = &stderr
		assert.Equal(t, statusFailed, e.fail(errors.New(text)))
		assert.Equal(t, want, stderr.String())
	}
}

// The end of the context ends a read that waits, and a read after it.
func TestReadEndsWithTheContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	in := (&Env{Ctx: ctx}).Reader(r)
	go func() { _, _ = w.Write([]byte("abc")) }()
	p := make([]byte, 2)
	n, err := io.ReadFull(in, p)
	require.NoError(t, err)
	assert.Equal(t, "ab", string(p[:n]))
	n, err = in.Read(p)
	require.NoError(t, err)
	assert.Equal(t, "c", string(p[:n]))
	enough := errors.New("enough")
	done := make(chan error)
	go func() {
		_, err := in.Read(p)
		done <- err
	}()
	cancel(enough)
	assert.ErrorIs(t, <-done, enough)
	_, err = in.Read(p)
	assert.ErrorIs(t, err, enough)
	whole, err := io.ReadAll((&Env{Ctx: t.Context()}).Reader(strings.NewReader("all of it")))
	require.NoError(t, err)
	assert.Equal(t, "all of it", string(whole))
}

// A table may have more columns than the square of their number can be looked at.
func TestManyColumns(t *testing.T) {
	const n = 400_000
	header, row := make([]string, n), make([]string, n)
	for j := range header {
		header[j], row[j] = "c"+strconv.Itoa(j), "1"
	}
	text := strings.Join(header, ",") + "\n" + strings.Join(row, ",") + "\n"
	fs := &Files{Env: &Env{Ctx: t.Context(), Stdin: strings.NewReader(text)}}
	f, err := fs.Open("-")
	require.NoError(t, err)
	all, err := spec.ParseColumns("c*")
	require.NoError(t, err)
	targets, err := spec.Select(spec.Names(header[:n/2]), f.Columns(), nil)
	require.NoError(t, err)
	s, err := fs.Resolve(all, f, targets)
	require.NoError(t, err)
	require.Len(t, s.Columns, n/2)
	for _, j := range s.Columns {
		f.Need(j, table.Number)
	}
	rows, err := fs.Read()
	require.NoError(t, err)
	assert.Equal(t, 1, rows)
	assert.Equal(t, n/2, s.Matrix().Cols)
}

func TestDigits(t *testing.T) {
	for _, c := range []struct {
		x                   float64
		figure, uncertainty string
	}{
		{0, "0", "0"},
		{0.00054912, "0.0005491", "0.00055"},
		{0.04797, "0.04797", "0.048"},
		{-2.36612, "-2.366", "-2.4"},
		{123.456, "123.5", "123"},
		{1234567, "1.235e+06", "1.2e+06"},
		{math.NaN(), "NaN", "NaN"},
	} {
		assert.Equal(t, c.figure, Figure(c.x))
		assert.Equal(t, c.uncertainty, Uncertainty(c.x))
	}
}

// TestErrorCodes: with -json the last line of standard error is an object with a code, and the exit status is the code's.
func TestErrorCodes(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	path := func(op string) error { return &fs.PathError{Op: op, Path: "f", Err: errors.New("no")} }
	small := memory.Refuse(1, "a fit", 10, nil)
	seen := map[Code]bool{}
	for _, c := range []struct {
		ctx    context.Context
		err    error
		flags  string
		code   Code
		status int
	}{
		{t.Context(), nil, "-nam x", CodeUsage, 2},
		{t.Context(), Inputf("row 1"), "", CodeInput, 2},
		{t.Context(), Input(fmt.Errorf("data: %w", path("open"))), "", CodeFile, 2},
		{t.Context(), Input(fmt.Errorf("fit: %w", small)), "", CodeMemory, 2},
		{t.Context(), Input(&mkl.MemoryError{Need: 2, Limit: 1}), "", CodeMemory, 2},
		{t.Context(), Input(path("write")), "", CodeWrite, 1},
		{t.Context(), path("mkdir"), "", CodeWrite, 1},
		{t.Context(), errors.New("mkl: a < b\n\x1b"), "", CodeFailed, 1},
		{stopped, errors.New("late"), "", CodeInterrupted, 130},
	} {
		seen[c.code] = true
		var stdout, stderr bytes.Buffer
		status := program(&failing{err: c.err}).Run(c.ctx, append([]string{"-json"}, strings.Fields(c.flags)...), nil, &stdout, &stderr)
		assert.Equal(t, c.status, status)
		assert.Equal(t, c.status, c.code.Status())
		assert.Empty(t, stdout.String())
		var got Failure
		require.NoError(t, json.Unmarshal(stderr.Bytes(), &got), stderr.String())
		assert.Equal(t, Failure{c.code, got.Message, c.status}, got)
		assert.NotEmpty(t, got.Message)
		assert.Equal(t, 1, strings.Count(stderr.String(), "\n"))
		assert.NotContains(t, stderr.String(), "\x1b")
	}
	assert.Len(t, seen, len(Codes))
	for args, want := range map[string]bool{"-json": true, "x --json": true, "-json=false": false, "-- -json": false, "json": false, "-jsonx": false, "-json=true": true} {
		assert.Equal(t, want, asksForJSON(strings.Fields(args)), args)
	}
}
