package console

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestEndWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	exits := make(chan int, 1)
	clock := make(chan time.Time)
	asked := make(chan time.Duration)
	after := func(d time.Duration) <-chan time.Time { asked <- d; return clock }

	_, ended := Program{Name: "mkl"}.endWithin(ctx, &stderr, after, func(status int) { exits <- status })
	cancel()
	assert.Equal(t, patience, <-asked)
	clock <- time.Time{}
	assert.Equal(t, StatusInterrupted, <-exits)
	assert.Equal(t, "mkl: interrupted\n", stderr.String())
	ended()

	_, ended = Program{Name: "mkl"}.endWithin(ctx, &stderr, after, func(status int) { exits <- status })
	assert.Equal(t, patience, <-asked)
	ended() // in time
	assert.Empty(t, exits)
}

// A command that has something to write is waited for.
func TestHold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said := make(chan string, 1)
	clock := make(chan time.Time)
	after := func(time.Duration) <-chan time.Time { return clock }
	with, ended := Program{Name: "mkl"}.endWithin(ctx, writer(func(p []byte) { said <- string(p) }), after, func(int) { said <- "exit" })
	defer ended()
	status := program(&struct {
		Wait waiting `cmd:""`
	}{Wait: waiting{func() { clock <- time.Time{} }}}).Run(with, []string{"wait"}, nil, io.Discard, io.Discard)
	assert.Equal(t, StatusOK, status)
	assert.Equal(t, "mkl: interrupted: what is done is being written; another interruption ends at once\n", <-said)
}

type waiting struct{ wait func() }

func (w waiting) Run(e *Env) error {
	e.Hold()
	w.wait()
	return nil
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
