package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The service answers under load, while its model is replaced, and until it is interrupted.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	t.Chdir("../..")
	var out bytes.Buffer
	err := run(t.Context(), settings{time: time.Second, clients: 4}, &out)
	require.NoError(t, err, out.String())
	require.Equal(t, 3, strings.Count(out.String(), "| motorcycle |"), out.String())
	require.Contains(t, out.String(), "| killed |")
}

// After days with bursts, new models and damaged files the service holds what it held after the first day.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	t.Chdir("../..")
	var out bytes.Buffer
	err := run(t.Context(), settings{time: 200 * time.Millisecond, clients: 4, days: 3}, &out)
	require.NoError(t, err, out.String())
	require.Regexp(t, `(?m)^\| 3 \| \d+ \| 0 \| \d+ \| 6 \|`, out.String())
}

// What has grown is named.
func TestResidue(t *testing.T) {
	first := residue{goroutines: 8, files: 10, memory: 40}
	for _, c := range []struct {
		now  residue
		want string
	}{
		{first, ""},
		{residue{goroutines: 9, files: 10, memory: 40}, "goroutines"},
		{residue{goroutines: 8, files: 11, memory: 40}, "open files"},
		{residue{goroutines: 8, files: 10, temporary: 1, memory: 40}, "temporary files"},
		{residue{goroutines: 8, files: 10, memory: 77}, "memory"},
	} {
		require.Equal(t, c.want, c.now.exceeds(first))
	}
}
