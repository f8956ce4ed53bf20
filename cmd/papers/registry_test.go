package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

// inManual finds the commands of the manuals: in comments above tables, in code, and between words.
var inManual = regexp.MustCompile("go run \\./cmd/papers ([a-z0-9-]+(?: [^`;|)\\n]*)?)")

// TestManualExperiments parses the flags of every experiment that the manuals run. The experiments themselves take
// the authors' files, or minutes to hours.
func TestManualExperiments(t *testing.T) {
	docs := os.DirFS("../../docs")
	parsed := 0
	require.NoError(t, fs.WalkDir(docs, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".md" {
			return err
		}
		text, err := fs.ReadFile(docs, file)
		for _, found := range inManual.FindAllStringSubmatch(string(text), -1) {
			args, _, _ := strings.Cut(found[1], ", ") // words follow
			if strings.Contains(args, "$s") || strings.HasPrefix(args, "help") {
				continue // the variable of a loop, or an argument that stands for any
			}
			parsed++
			args = strings.ReplaceAll(args, "-sweeps N", "-sweeps 1")
			status, _, stderr := consoletest.Run(t, new(experiments), nil, append(strings.Fields(args), "-help")...)
			assert.Equal(t, console.StatusOK, status, "%s: %s: %s", file, args, stderr)
		}
		return err
	}))
	assert.Greater(t, parsed, 30)
}
