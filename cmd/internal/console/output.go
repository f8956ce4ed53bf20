package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
)

// output is standard output for text. It keeps the first error of writing, which commands need
// not look at, and writes no control characters: names of columns and classes come from files,
// which could use them to change what is seen. A pipe gets none either, because many end at a
// terminal. Files that a command writes to standard output go through [Env.Create] unchanged,
// unless it is a terminal.
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
		if o, ok := e.Stdout.(*output); ok && !o.terminal {
			return write(unchanged{o})
		}
		return write(e.Stdout)
	}
	return atomicfile.Write(e.Ctx, path, write)
}

// CheckOutput reports whether [Env.Create] could write to a path, so that a long computation
// need not find out at its end. An empty path means no file. A terminal takes nothing but text.
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
	text := append(o.rest, p...)
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
	if err := o.write([]byte(Printable(string(text[:whole])))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// write writes bytes as they are.
func (o *output) write(p []byte) error {
	if _, err := o.w.Write(p); err != nil {
		o.err = fmt.Errorf("standard output: %w", err)
	}
	return o.err
}

// unchanged is standard output for a file.
type unchanged struct{ o *output }

func (u unchanged) Write(p []byte) (int, error) {
	if u.o.err != nil {
		return 0, u.o.err
	}
	if err := u.o.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Printable writes as escapes, \u and four digits, control characters except line ends and tabs, characters that turn
// the direction of text, and characters that XML does not allow. JSON reads these escapes too. A byte that is no UTF-8
// becomes \x and two digits.
func Printable(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
			r == utf8.RuneError || r == 0xfffe || r == 0xffff
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case !hidden(r):
			b.WriteString(text[:n])
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
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
