package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long a command that is interrupted may take to end by itself: most
// computations ask within milliseconds whether to go on, but a factorisation of
// thousands of samples takes seconds.
const patience = 200 * time.Millisecond

// Main runs the program on the arguments and the standard streams of the process, and ends the
// process with the exit status. An interrupt or a SIGTERM ends the command's context; a second
// one ends the process at once.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal then has its default effect
	ctx, ended := p.endWithin(ctx, os.Stderr, time.After, os.Exit)
	status := p.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	ended()
	stop()
	os.Exit(status)
}

// endWithin returns a context like ctx for [Program.Run]. It calls exit with the status of an
// interruption if ctx ends and ended is not called within patience, unless the command has
// something to write first, see [Env.Hold]. No file is left half written: files are written
// whole or not at all.
func (p Program) endWithin(
	ctx context.Context, stderr io.Writer, after func(time.Duration) <-chan time.Time, exit func(int),
) (with context.Context, ended func()) {
	held := new(atomic.Bool)
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		select {
		case <-done:
		case <-after(patience):
			if held.Load() {
				fmt.Fprintf(stderr, "%s: interrupted: what is done is being written; another interruption ends at once\n", p.Name)
				return
			}
			fmt.Fprintf(stderr, "%s: interrupted\n", p.Name)
			exit(StatusInterrupted)
		}
	}()
	return context.WithValue(ctx, holdKey{}, held), func() { close(done) }
}

type holdKey struct{}

// holdOf returns what EndWithin asks before it ends a command.
func holdOf(ctx context.Context) *atomic.Bool {
	if held, ok := ctx.Value(holdKey{}).(*atomic.Bool); ok {
		return held
	}
	return new(atomic.Bool)
}

// Hold says that the command, when it is interrupted, writes what it has done and ends by
// itself, however long that takes.
func (e *Env) Hold() { e.held.Store(true) }
