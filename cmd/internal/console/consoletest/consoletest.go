// Package consoletest runs commands in tests.
package consoletest

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Run runs a command, which a struct describes to the kong parser, in a
// folder of its own with the given files, or where the last one ran if files is nil.
func Run(t *testing.T, command any, files map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	InFolder(t, files)
	var out, errs bytes.Buffer
	status = console.Program{Name: "mkl", Commands: command}.Run(t.Context(), args, nil, &out, &errs)
	return status, out.String(), errs.String()
}

// InFolder makes a folder with the given files the current one; nil leaves all as
// it is.
func InFolder(t *testing.T, files map[string]string) {
	t.Helper()
	if files == nil {
		return
	}
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}
