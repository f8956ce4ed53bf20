package console

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEach(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		done := make([]int, 20)
		require.NoError(t, Each(context.Background(), workers, len(done), func(_ context.Context, i int) error {
			done[i]++
			return nil
		}))
		for i, n := range done {
			assert.Equal(t, 1, n, "job %d", i)
		}
	}

	// After an error no job begins, and those at work see their context end.
	failed := errors.New("failed")
	var begun atomic.Int32
	err := Each(context.Background(), 1, 20, func(_ context.Context, i int) error {
		begun.Add(1)
		if i == 2 {
			return failed
		}
		return nil
	})
	assert.ErrorIs(t, err, failed)
	assert.EqualValues(t, 3, begun.Load())

	ended, end := context.WithCancelCause(context.Background())
	end(failed)
	err = Each(ended, 2, 5, func(context.Context, int) error { panic("no job begins") })
	assert.ErrorIs(t, err, failed)
}
