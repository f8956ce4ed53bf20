package console

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
)

// output is standard output. It keeps the first error of writing, which commands need
// not look at, and shows a terminal no control characters: names of columns and classes
// come from files, which could use them to change what is seen.
type output struct {
	w        io.Writer
	terminal bool
	rest     []byte // of a character that the last text ended in
	err      error
}

func newOutput(w io.Writer) *output {
	f, ok := w.(*os.File)
	return &output{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Create writes a file by the given function, whole or not at all; - is standard output.
func (e *Env) Create(path string, write func(io.Writer) error) error {
	if path == Standard {
		return write(e.Stdout)
	}
	return atomicfile.Write(e.Ctx, path, write)
}

// CheckOutput reports whether [Env.Create] could write to a path, so that a long computation
// need not find out at its end. No path is none to write to. A terminal takes nothing but text.
func (e *Env) CheckOutput(path string, text bool) error {
	switch {
	case path == "":
		return nil
	case path != Standard:
		return Input(atomicfile.Check(path))
	}
	if o, ok := e.Stdout.(*output); ok && o.terminal && !text {
		return Inputf("-o -: standard output is a terminal, and a model is no text")
	}
	return nil
}

// Standard is what the command line calls standard input and standard output.
const Standard = "-"

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	text := p
	if o.terminal {
		text = append(o.rest, p...)
		whole := len(text)
		for k := 1; k < utf8.UTFMax && k <= len(text); k++ {
			if last := text[len(text)-k:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					whole -= k
				}
				break
			}
		}
		o.rest = append([]byte(nil), text[whole:]...)
		text = []byte(printable(string(text[:whole])))
	}
	if _, err := o.w.Write(text); err != nil {
		o.err = fmt.Errorf("standard output: %w", err)
		return 0, o.err
	}
	return len(p), nil
}

// printable writes control characters, but for line ends and tabs, and characters that
// turn the direction of text as escapes of Go.
func printable(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if hidden(r) {
			quoted := strconv.QuoteToASCII(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// shorten leaves out the middle of a message so long that nobody reads it, such as one
// that names a column with a name of many kilobytes.
func shorten(text string) string {
	const most, end = 1500, 300
	if len(text) <= most {
		return text
	}
	head, tail := most-end, len(text)-end
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + " … " + text[tail:]
}
