package habits

import (
	"flag"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lower rewrites phrases.txt with the counts that there are, where they have fallen.
var lower = flag.Bool("lower", false, "lower the limits of tool/habits/phrases.txt to the phrases that there are")

func TestPagesArePlain(t *testing.T) {
	findings, err := Prose(os.DirFS("../.."))
	require.NoError(t, err)
	for _, finding := range findings {
		t.Error(finding)
	}
}

// Phrases of the dialect may become fewer, never more.
func TestPhrases(t *testing.T) {
	found, err := repository(t).Phrases(os.DirFS("../.."))
	require.NoError(t, err)
	const file = "phrases.txt"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	limits, err := ParseLimits(string(text))
	require.NoError(t, err)
	tooMany, lowered := limits.Check(found)
	for _, finding := range tooMany {
		t.Error(finding)
	}
	if *lower {
		head := ""
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") {
				head += line
			}
		}
		require.NoError(t, os.WriteFile(file, []byte(head+lowered.String()), 0o666))
	}
}

// page is a repository with one page of the guide.
func page(text string) fstest.MapFS {
	m := fstest.MapFS{guide + "/a.md": {Data: []byte(text)}}
	for _, file := range proseFiles {
		m[file] = &fstest.MapFile{Data: []byte("# Page\n")}
	}
	return m
}

func TestProse(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word\n", 40))
	wide := strings.Repeat("a b ", 36)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"forty words", words + ".", nil},
		{"one more", "One " + words + ".", []string{"docs/guide/a.md:1: a sentence of 41 words: One word word word word word …"}},
		{"two sentences", words + ".\nThen " + words[:20] + ".", nil},
		{"an abbreviation ends none", "They fell, e.g. " + words + ".", []string{"docs/guide/a.md:1: a sentence of 43 words: They fell, e.g. word word word …"}},
		{"a decimal ends none", "At 1.5 " + words + ".", []string{"docs/guide/a.md:1: a sentence of 42 words: At 1.5 word word word word …"}},
		{"in an item", "text\n\n- One " + words + "\n", []string{"docs/guide/a.md:3: a sentence of 41 words: One word word word word word …"}},
		{"items are apart", "- " + words[:100] + "\n- " + words + "\n", nil},
		{"a link is its text", "[One](https://a.b/c) [" + words + "](x.md).", []string{"docs/guide/a.md:1: a sentence of 41 words: One word word word word word …"}},
		{"code is one word", "`a b c d` " + words[:len(words)-5] + ".", nil},
		{"a sentence begins with code", words + ". `a` " + words[:20] + ".", nil},
		{"a sentence that begins with code", "text\n\n`a` " + words + ".", []string{"docs/guide/a.md:3: a sentence of 41 words: Code word word word word word …"}},
		{"in a cell", "| a | b |\n| --- | --- |\n| One " + strings.ReplaceAll(words, "\n", " ") + " | b |\n",
			[]string{"docs/guide/a.md:3: a sentence of 41 words: One word word word word word …"}},
		{"a block of code", "```sh\n" + wide + words + "\n```\n\n    " + wide + "\n", nil},
		{"a wide line", "text\n" + wide + "\n", []string{"docs/guide/a.md:2: the line is longer than 140 characters",
			"docs/guide/a.md:1: a sentence of 73 words: text a b a b a …"}},
		{"a wide row", "| a |\n| --- |\n| " + strings.Repeat("abc. D ", 30) + " |\n", nil},
		{"a wide link", "![" + strings.Repeat("seen ", 30) + "](a.svg)\n", nil},
		{"what a program wrote", GeneratedBegin + " by hand -->\n" + wide + "\n" + GeneratedEnd + "\n", nil},
		{"a long page", strings.Repeat("a\n\n", 61), []string{"docs/guide/a.md: 122 lines are more than the 120 of a page of the guide"}},
		{"a long generated part", GeneratedBegin + " -->\n" + strings.Repeat("a\n\n", 61) + GeneratedEnd + "\n", nil},
	} {
		got, err := Prose(page(c.text))
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got, c.name)
	}
	missing := page("")
	delete(missing, "README.md")
	_, err := Prose(missing)
	assert.Error(t, err)
}

func TestPhrasesOfAText(t *testing.T) {
	files := map[string]string{
		"la/a.go": "package la\n\n// A is that of B, and those\n// of C; that offer stands.\nfunc A() {} // Tells all.\n\nconst text = \"the like\"\n",
	}
	m := fstest.MapFS{
		"README.md":      {Data: []byte("It is none.\n\n```\nthat of\n```\nAs it is.\n")},
		"docs/lab/x.md":  {Data: []byte("that of\n")},
		"docs/y.md":      {Data: []byte(GeneratedBegin + " -->\nthat of\n" + GeneratedEnd + "\nof\nwhich\n")},
		"bench/other.md": {Data: []byte("that of\n")},
	}
	found, err := read(t, files).Phrases(m)
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{
		".":    {`README.md:1: "is none"`, `README.md:6: "As it is"`},
		"docs": {`docs/y.md:4: "of which"`},
		"la":   {`la/a.go:3: "that of"`, `la/a.go:3: "those of"`, `la/a.go:5: "Tells"`},
	}, found)
}

func TestLimits(t *testing.T) {
	l, err := ParseLimits("# a comment\nmkl/... 2\nmkl/kernel 1 # here\nla/... 0\n\n")
	require.NoError(t, err)
	assert.Equal(t, "la/... 0\nmkl/... 2\nmkl/kernel 1\n", l.String())
	for _, c := range []struct {
		found   map[string][]string
		want    []string
		lowered string
	}{
		{nil, nil, "la/... 0\nmkl/... 0\nmkl/kernel 0\n"},
		{map[string][]string{"mkl": {"a"}, "mkl/tune": {"b"}, "mkl/kernel": {"c"}}, nil, "la/... 0\nmkl/... 2\nmkl/kernel 1\n"},
		{map[string][]string{"la/internal": {"a"}}, []string{"la/...: 1 phrases of the dialect, at most 0 may be there", "a"}, "la/... 0\nmkl/... 0\nmkl/kernel 0\n"},
		{map[string][]string{"new": {"a"}}, []string{"new: 1 phrases of the dialect, at most 0 may be there", "a"}, "la/... 0\nmkl/... 0\nmkl/kernel 0\n"},
		{map[string][]string{"mkl/kernel": {"a", "b"}}, []string{"mkl/kernel: 2 phrases of the dialect, at most 1 may be there", "a", "b"}, "la/... 0\nmkl/... 0\nmkl/kernel 1\n"},
	} {
		tooMany, lowered := l.Check(c.found)
		assert.Equal(t, c.want, tooMany)
		assert.Equal(t, c.lowered, lowered.String())
	}
	for _, wrong := range []string{"mkl", "mkl two", "mkl -1", "mkl 1 2"} {
		_, err := ParseLimits(wrong)
		assert.Error(t, err, wrong)
	}
}
