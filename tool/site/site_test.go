package main

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// found is what a page of the site has: names to link to, links, and what a browser fetches by itself.
type found struct {
	ids            map[string]bool
	links, fetched []string
}

// look reads a page as XML, which it must be.
func look(t *testing.T, file string) found {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	out := found{ids: map[string]bool{}}
	d := xml.NewDecoder(f)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err, file)
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		assert.NotContains(t, []string{"script", "iframe", "object", "style"}, e.Name.Local, file)
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				assert.False(t, out.ids[a.Value], "%s: two elements are called %s", file, a.Value)
				out.ids[a.Value] = true
			case "href":
				if e.Name.Local == "a" {
					out.links = append(out.links, a.Value)
				} else {
					out.fetched = append(out.fetched, a.Value)
				}
			case "src":
				out.fetched = append(out.fetched, a.Value)
			case "alt":
				assert.NotEmpty(t, a.Value, "%s: a picture without words", file)
			}
		}
	}
}

// TestSite makes the site of the repository and follows every link of it.
func TestSite(t *testing.T) {
	s, err := read(filepath.Join("..", ".."), "https://example.com/bmkl")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, s.write(dir))
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	require.NoError(t, err)
	assert.Len(t, files, len(s.pages))
	pages := map[string]found{}
	for _, file := range files {
		pages[filepath.Base(file)] = look(t, file)
	}
	links := 0
	for name, p := range pages {
		for _, what := range p.fetched {
			assert.NotContains(t, what, ":", name) // nothing from elsewhere
			assert.FileExists(t, filepath.Join(dir, filepath.FromSlash(what)), name)
		}
		for _, link := range p.links {
			if strings.HasPrefix(link, "https://") {
				if file, ok := strings.CutPrefix(link, "https://example.com/bmkl/"); ok {
					_, path, _ := strings.Cut(file, "/main/")
					_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(path)))
					assert.NoError(t, err, name)
				}
				continue
			}
			to, anchor, _ := strings.Cut(link, "#")
			anchor, err := url.PathUnescape(anchor)
			require.NoError(t, err, link)
			if to == "" {
				to = name
			}
			assert.Contains(t, pages, to, "%s: %s", name, link)
			if anchor != "" {
				assert.True(t, pages[to].ids[anchor], "%s: %s", name, link)
			}
			links++
		}
	}
	assert.Greater(t, links, 40*len(pages)) // each has those to all others
	assert.NotRegexp(t, regexp.MustCompile(`url\(|@import|https?:`), string(style))
	assert.Contains(t, string(style), "prefers-color-scheme: dark")
}

// TestWrong refuses pages that are not in order.
func TestWrong(t *testing.T) {
	whole := map[string]string{
		"README.md": "# Read me\n\n[all](docs/index.md), [part](docs/a.md#some-part-1)", "CHANGELOG.md": "# Changes", "ARCHITECTURE.md": "# Plan",
		"SECURITY.md": "# Safety", "CONTRIBUTING.md": "# Help", "docs/index.md": "# Index\n\n## Use\n\n[a](a.md)", "docs/a.md": "# A `b`\n\n## Some part!\n\n## Some *part*\n\n![dot](dot.svg)",
		"docs/dot.svg": "<svg/>",
	}
	build := func(changed, to string) (*site, error) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o777))
		for name, text := range whole {
			if name == changed {
				text = to
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o666))
		}
		return read(dir, "https://example.com/x")
	}
	s, err := build("", "")
	require.NoError(t, err)
	assert.Equal(t, "A b", s.of["docs/a.md"].title)
	assert.Equal(t, []string{"a-b", "some-part", "some-part-1"}, s.of["docs/a.md"].anchors)
	for _, c := range []struct{ file, text, want string }{
		{"docs/a.md", "# A\n\n## Some part\n\n## Some part\n\n[x](b.md)", "docs/a.md: (b.md) leads to nothing"},
		{"docs/a.md", "# A\n\n## Some part\n\n## Some part\n\n[x](index.md#none)", "docs/a.md: (index.md#none) leads to no heading of docs/index.md"},
		{"docs/a.md", "# A\n\n## Some part\n\n## Some part\n\n![x](https://example.com/x.svg)", "docs/a.md: (https://example.com/x.svg) is a picture from elsewhere"},
		{"docs/a.md", "# A\n\n## Some part\n\n## Some part\n\n[x](../../)", "docs/a.md: (../../) leads out of the repository"},
		{"docs/a.md", "none", "docs/a.md has no title"},
		{"docs/index.md", "# Index", "docs/index.md does not list docs/a.md"},
	} {
		_, err := build(c.file, c.text)
		assert.EqualError(t, err, c.want)
	}
}
