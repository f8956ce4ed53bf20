package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// Exit statuses.
const (
	statusOK          = 0
	statusFailed      = 1   // the computation or a file operation failed
	statusInput       = 2   // the command line or the data are wrong
	statusInterrupted = 130 // as shells report SIGINT
)

// env is what a command works in.
type env struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	kept           string // file with the state of what was interrupted
}

// terminal reports whether stderr is a terminal, where progress can be shown.
func (e *env) terminal() bool {
	f, ok := e.stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// inputError is an error that whoever called the command can mend: exit status 2.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

func input(err error) error {
	if err == nil {
		return nil
	}
	return &inputError{err}
}

func inputf(format string, args ...any) error { return input(fmt.Errorf(format, args...)) }

// execute runs the command that args name of those in commands, a struct for the
// kong parser, and returns its exit status. vars are what the help and the defaults
// of flags refer to as ${name}.
func execute(ctx context.Context, commands any, vars map[string]string, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	e := &env{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	type exit int // kong leaves by it after printing help
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			status = int(r)
		default:
			panic(r)
		}
	}()
	parser, err := kong.New(commands,
		kong.Name("mkl"),
		kong.Description("Bayesian multiple kernel learning."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars(vars),
	)
	if err != nil {
		return e.fail(err)
	}
	k, err := parser.Parse(doubleDash(args))
	if err != nil {
		return e.fail(input(err))
	}
	return e.fail(k.Run(e))
}

// fail prints an error on one line and returns the exit status that it means.
func (e *env) fail(err error) int {
	if err == nil {
		return statusOK
	}
	if e.ctx.Err() != nil {
		if e.kept != "" {
			fmt.Fprintf(e.stderr, "mkl: interrupted: the same command goes on from %s\n", e.kept)
			return statusInterrupted
		}
		fmt.Fprintln(e.stderr, "mkl: interrupted: nothing was written")
		return statusInterrupted
	}
	text := strings.TrimPrefix(strings.TrimSpace(err.Error()), "mkl: ") // the package's own prefix
	fmt.Fprintf(e.stderr, "mkl: %s\n", strings.ReplaceAll(text, "\n", "; "))
	var bad *inputError
	if errors.As(err, &bad) {
		return statusInput
	}
	return statusFailed
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
