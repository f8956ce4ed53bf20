package console

import (
	"bytes"
	"context"
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

	ended := endWithin(ctx, &stderr, after, func(status int) { exits <- status })
	cancel()
	assert.Equal(t, patience, <-asked)
	clock <- time.Time{}
	assert.Equal(t, StatusInterrupted, <-exits)
	assert.Equal(t, "mkl: interrupted\n", stderr.String())
	ended()

	ended = endWithin(ctx, &stderr, after, func(status int) { exits <- status })
	assert.Equal(t, patience, <-asked)
	ended() // in time
	assert.Empty(t, exits)
}
