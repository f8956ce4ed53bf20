package mkl_test

import (
	"os"
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
