package console

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// patience is how long a command that is interrupted may take to end by itself: most
// computations ask within milliseconds whether to go on, but a factorisation of
// thousands of samples takes seconds.
const patience = 200 * time.Millisecond

// EndWithin returns a context like ctx for [Run]. It calls exit with the status of an
// interruption if ctx ends and ended is not called soon after, unless the command has
// something to write first, see [Env.Hold]. Nothing is lost by it: files are written
// whole or not at all.
func EndWithin(ctx context.Context, stderr io.Writer, exit func(status int)) (with context.Context, ended func()) {
	return endWithin(ctx, stderr, time.After, exit)
}

func endWithin(ctx context.Context, stderr io.Writer, after func(time.Duration) <-chan time.Time, exit func(int)) (with context.Context, ended func()) {
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
				fmt.Fprintln(stderr, "mkl: interrupted: what is done is being written; another interruption ends at once")
				return
			}
			fmt.Fprintln(stderr, "mkl: interrupted")
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
