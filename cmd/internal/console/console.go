// Package console is between the commands and whoever calls them: it runs a command
// line, prints an error on one line and ends with an exit status, reads tables, and prints
// tables, numbers and progress.
package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/bmkl/bmkl/la"
)

// Exit statuses.
const (
	StatusOK          = 0
	statusFailed      = 1   // the computation or a file operation failed
	StatusInput       = 2   // the command line or the data are wrong
	StatusInterrupted = 130 // as shells report SIGINT
)

// Env is what a command works in.
type Env struct {
	Ctx            context.Context // ends when the command is interrupted
	Args           []string        // the command line, without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Kept is the file with the state of what was interrupted, from which the same
	// command goes on; empty without such a command.
	Kept string

	program string // its name

	held   *atomic.Bool // whether the end of the context waits for the command, see Hold
	errors io.Writer    // where errors are printed: standard error
	parser *kong.Kong   // of the command line
}

// Quiet is a flag that leaves notes, warnings and progress unsaid: all that a command writes to standard error.
// The command still prints the error that ends it.
type Quiet bool

// AfterApply is called by the parser where the flag is given.
func (q Quiet) AfterApply(e *Env) error {
	if q {
		e.Stderr = io.Discard
	}
	return nil
}

// IsQuiet reports whether the command leaves notes out.
func (e *Env) IsQuiet() bool { return e.Stderr == io.Discard }

// Processors is the number of workers that a flag asks for: n, or one for each
// processor if n is 0.
func Processors(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// IsTerminal reports whether stderr is a terminal, where progress can be shown.
func (e *Env) IsTerminal() bool {
	f, ok := e.Stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Program is a command line with commands.
type Program struct {
	Name        string // of the program, as help and errors give it
	Description string // one sentence for the head of the help

	// Commands is a struct whose fields are the commands, or a command itself. The tags of
	// the fields are kong's. Each command has a method Run(*Env) error.
	Commands any

	Vars map[string]string // what help and defaults of flags refer to as ${name}

	Groups []kong.Group // headings of the help, by the keys that flags have in their tags
}

// Run runs the command that args name and returns its exit status.
func (p Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	out := newOutput(stdout)
	stdout = out
	e := &Env{program: p.Name, Ctx: ctx, held: holdOf(ctx), Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr, errors: stderr}
	type exit int // kong leaves by it after printing help
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			if status = int(r); out.err != nil {
				status = e.fail(out.err)
			}
		default:
			panic(r)
		}
	}()
	parser, err := kong.New(p.Commands,
		kong.Name(p.Name),
		kong.Description(p.Description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars(p.Vars),
		kong.ExplicitGroups(p.Groups),
		kong.Bind(e),
	)
	if err != nil {
		return e.fail(err)
	}
	e.parser = parser
	k, err := parser.Parse(doubleDash(args))
	if out.err != nil { // of the help
		return e.fail(out.err)
	}
	if err != nil {
		of := contextOf(err)
		at := of.Selected() // the command that has the error; nil if the parser found no command
		oneOf := strings.HasPrefix(err.Error(), "expected one of ")
		switch what, unexpected := strings.CutPrefix(err.Error(), "unexpected argument "); {
		case oneOf && len(args) == 0:
			parser.Stdout = stderr // the list of commands says more than the error
			err = cmp.Or(of.PrintUsage(false), errors.New("a command is needed"))
		case oneOf && at != nil:
			err = fmt.Errorf("%w: %s help %s lists them", err, p.Name, at.Path())
		case unexpected && len(args) > 0 && strings.HasPrefix(what, args[0]):
			err = fmt.Errorf("there is no command %s: %s help lists them", what, p.Name)
		case unexpected && at != nil && slices.ContainsFunc(at.Flags, func(f *kong.Flag) bool { return f.Name == "data" }):
			err = fmt.Errorf("%w: -data names the table", err)
		}
		return e.fail(usageError{err})
	}
	if err := checkNumbers(k.Flags()); err != nil {
		return e.fail(err)
	}
	if _, err := la.InstructionSet(); err != nil { // every routine of la would panic with it
		return e.fail(Input(err))
	}
	if err := k.Run(e); err != nil {
		return e.fail(err)
	}
	return e.fail(out.err)
}

// contextOf returns how far the parser got before the error.
func contextOf(err error) *kong.Context {
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil {
		return parse.Context
	}
	return &kong.Context{}
}

// Help prints the help of the command that words name, or of all, and does not return; the error is that there is
// no such command.
func (e *Env) Help(words []string) error {
	_, err := e.parser.Parse(append(slices.Clone(words), "--help"))
	if err == nil {
		return nil
	}
	return usageError{err}
}

// fail prints an error on one line and returns the exit status that it means.
func (e *Env) fail(err error) int {
	if err == nil {
		return StatusOK
	}
	code := codeOf(err)
	text := strings.TrimPrefix(strings.TrimSpace(err.Error()), "mkl: ") // the package's own prefix
	text = shorten(strings.ReplaceAll(text, "\n", "; "))
	if e.Ctx.Err() != nil {
		code, text = CodeInterrupted, "interrupted: nothing was written"
		if e.Kept != "" {
			text = "interrupted: the same command goes on from " + e.Kept
		}
	}
	e.print(code, text)
	return code.Status()
}

var longFlag = regexp.MustCompile(`^-[a-z][a-z-]+(=|$)`)

// doubleDash lets flags be written with one dash, as Go's own tools have them.
func doubleDash(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "--" {
			copy(out[i:], args[i:])
			break
		}
		if longFlag.MatchString(a) {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}
