package mkl_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's program is the tested Example, word for word.
func TestReadmeQuotesExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, body, ok := strings.Cut(string(source), "func Example() {\n")
	require.True(t, ok)
	body, _, ok = strings.Cut(body, "\t// Output:")
	require.True(t, ok)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, quoted, ok := strings.Cut(string(readme), "```go\n")
	require.True(t, ok)
	quoted, _, ok = strings.Cut(quoted, "```\n")
	require.True(t, ok)
	require.Equal(t, strings.ReplaceAll("\n"+body, "\n\t", "\n"), "\n"+quoted)
}

// Every time of a prediction in the README's table names its data: how many samples and features there are, and the machine.
func TestReadmeTimesNameTheirData(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(readme), "## What to expect")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n## ")
	times := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !regexp.MustCompile(`\d (µs|ms)`).MatchString(cells[2]) {
			continue
		}
		times++
		for _, what := range []string{`\d samples`, `feature`, `EPYC|Xeon`} {
			require.Regexp(t, what, cells[3])
		}
	}
	require.Greater(t, times, 2)
}
