package console

import (
	"context"
	"fmt"
	"io"
	"time"
)

// patience is how long a command that is interrupted may take to end by itself: most
// computations ask within milliseconds whether to go on, but a factorisation of
// thousands of samples takes seconds.
const patience = 300 * time.Millisecond

// EndWithin calls exit with the status of an interruption if ctx ends and the function
// returned is not called soon after. Nothing is lost by it: files are written whole or
// not at all.
func EndWithin(ctx context.Context, stderr io.Writer, exit func(status int)) (ended func()) {
	return endWithin(ctx, stderr, time.After, exit)
}

func endWithin(ctx context.Context, stderr io.Writer, after func(time.Duration) <-chan time.Time, exit func(int)) (ended func()) {
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
			fmt.Fprintln(stderr, "mkl: interrupted")
			exit(StatusInterrupted)
		}
	}()
	return func() { close(done) }
}
