package main

import (
	"bytes"
	"os/exec"
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

// The example that learns day by day holds no more after many days.
func TestOnline(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the example")
	}
	t.Chdir("../..")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), settings{learn: 100}, &out), out.String())
	require.Equal(t, 2+9, strings.Count(out.String(), "\n"), out.String())
}

// Commands that write to a full disk keep the files that were there, and leave no others. The disk is a small file system in memory,
// in a namespace of its own.
func TestFull(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	if err := exec.Command("unshare", "-rm", "true").Run(); err != nil {
		t.Skipf("this system has no namespaces for everybody: %v", err)
	}
	script := `mount -t tmpfs -o size=4m none "$1" && exec go run ./tool/load -full "$1"`
	c := exec.CommandContext(t.Context(), "unshare", "-rm", "sh", "-c", script, "sh", t.TempDir())
	c.Dir = "../.."
	said, err := c.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Equal(t, 11, strings.Count(string(said), "| mkl "), string(said))
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
