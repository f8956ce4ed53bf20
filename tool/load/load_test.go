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
