package habits

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommentsNamePagesThatExist(t *testing.T) {
	found, err := repository(t).Pages(os.DirFS("../.."))
	require.NoError(t, err)
	for _, finding := range found {
		t.Error(finding)
	}
}

func TestPages(t *testing.T) {
	source := `// Package a follows docs/theory/a.md, and https://example.com/docs/other.md.
package a

// f is derived in docs/theory/a.md,
// section 2.
func f() {}

// g is derived in docs/theory/a.md, section 3, or in docs/theory/b.md: see docs/theory.
func g() {}

var name = "docs/none.md" // no comment names it
`
	files := fstest.MapFS{
		"a/a.go":           {Data: []byte(source)},
		"docs/theory/a.md": {Data: []byte("# A\n\n## 2. Two\n\nsection 3\n")},
	}
	tree, err := Read(files)
	require.NoError(t, err)
	found, err := tree.Pages(files)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"a/a.go:8: the comment names section 3 of docs/theory/a.md, which has none of that number",
		"a/a.go:8: the comment names docs/theory/b.md, which does not exist",
	}, found)
}
