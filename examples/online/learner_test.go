package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/stat"
)

// The model that learns follows the drift; the first month's model is left behind.
func TestWatch(t *testing.T) {
	testkit.NotShort(t)
	errors, err := watch(t.Context(), io.Discard, 31)
	require.NoError(t, err)
	assert.Less(t, errors[0][30], 0.3)
	assert.Greater(t, errors[1][30], 0.45)
}

// What was added and taken away leaves no trace: the sums of the window equal the sums of its days, to the bit.
func TestSumsForget(t *testing.T) {
	month := []day{measure(0), measure(1), measure(2)}
	l, err := begin(t.Context(), month)
	require.NoError(t, err)
	require.NoError(t, l.learn(t.Context(), measure(3)))
	require.NoError(t, l.learn(t.Context(), measure(4)))
	fresh := &learner{plan: l.plan, sums: new(stat.Statistic)}
	for d := 4; d >= 2; d-- {
		require.NoError(t, fresh.add(measure(d)))
	}
	assert.Equal(t, fresh.sums.Hash(), l.sums.Hash())
	assert.Len(t, l.days, 3)
}
