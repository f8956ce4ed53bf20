package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/mkl"
)

// Code names a kind of error for programs. A later version may add codes. It renames none.
type Code string

// The codes, in the order of docs/guide/errors.md. Each has one exit status.
const (
	CodeUsage       Code = "usage"       // 2: there is no such command or flag, or an argument is missing
	CodeInput       Code = "input"       // 2: the value of a flag, or the data, are wrong
	CodeFile        Code = "file"        // 2: a file cannot be opened or read
	CodeMemory      Code = "memory"      // 2: memory does not suffice
	CodeWrite       Code = "write"       // 1: a file, or standard output, could not be written
	CodeFailed      Code = "failed"      // 1: the computation failed
	CodeInterrupted Code = "interrupted" // 130: the command was interrupted
)

// Codes lists all codes.
var Codes = []Code{CodeUsage, CodeInput, CodeFile, CodeMemory, CodeWrite, CodeFailed, CodeInterrupted}

// Status returns the exit status of an error of the code.
func (c Code) Status() int {
	switch c {
	case CodeInterrupted:
		return StatusInterrupted
	case CodeWrite, CodeFailed:
		return statusFailed
	}
	return StatusInput
}

// Failure is what a command with -json writes to standard error, as its last line, if it ends with an error.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"error"`
	Status  int    `json:"status"` // of the exit
}

// usageError is a mistake in the command line that the parser found.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Error writes flags as the guide does, with one dash.
func (e usageError) Error() string { return singleDash(e.error.Error()) }

var flagNames = regexp.MustCompile(`([ "])--([a-z])`)

// singleDash writes the flags in an error of the parser with one dash. It does not change values that the caller gave: only an
// error that begins with a flag quotes one, after this flag.
func singleDash(text string) string {
	switch {
	case strings.HasPrefix(text, "--"):
		return text[1:]
	case strings.HasPrefix(text, "unknown flag "), strings.HasPrefix(text, "missing flags: "):
		return flagNames.ReplaceAllString(text, "$1-$2")
	}
	return text
}

// codeOf returns the code of an error that is not an interruption.
func codeOf(err error) Code {
	_, usage := errors.AsType[usageError](err)
	_, input := errors.AsType[*inputError](err)
	_, small := errors.AsType[*memory.Error](err)
	_, fit := errors.AsType[*mkl.MemoryError](err)
	file, path := errors.AsType[*fs.PathError](err)
	switch {
	case path && file.Op == "write":
		return CodeWrite
	case usage:
		return CodeUsage
	case input && (small || fit):
		return CodeMemory
	case input && path:
		return CodeFile
	case input:
		return CodeInput
	case path:
		return CodeWrite
	}
	return CodeFailed
}

// asksForJSON reports whether a command line has the flag -json. A command line that cannot be parsed may have it too.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(a string) bool {
		name, value, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		return strings.HasPrefix(a, "-") && name == "json" && cmp.Or(value, "true") == "true"
	})
}

// print writes the error that ends a command, on one line: as a sentence or, if the command line has -json, as a [Failure].
func (e *Env) print(code Code, sentence string) {
	if !asksForJSON(e.Args) {
		fmt.Fprintf(e.errors, "%s: %s\n", e.program, Printable(sentence))
		return
	}
	out := json.NewEncoder(e.errors)
	out.SetEscapeHTML(false)
	_ = out.Encode(Failure{code, sentence, code.Status()}) // like the sentence, it has nowhere else to go
}

// inputError is a mistake in the command line or in the data.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// Input marks an error as one that whoever called the command can mend, a mistake in
// the command line or in the data: the exit status is then [StatusInput]. No error
// stays none.
func Input(err error) error {
	if err == nil {
		return nil
	}
	return &inputError{err}
}

// Inputf is [Input] of [fmt.Errorf].
func Inputf(format string, args ...any) error { return Input(fmt.Errorf(format, args...)) }
