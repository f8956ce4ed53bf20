package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// anchors names headings as the forge does: small letters, digits and hyphens for spaces, and a
// number after a name that was there before.
type anchors struct{ all []string }

// Generate implements goldmark's parser.IDs.
func (a *anchors) Generate(title []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(linked.ReplaceAllString(string(title), "$1")))
	own := name
	for n := 1; slices.Contains(a.all, own); n++ {
		own = fmt.Sprintf("%s-%d", name, n)
	}
	a.all = append(a.all, own)
	return []byte(own)
}

// Put implements goldmark's parser.IDs.
func (a *anchors) Put(name []byte) { a.all = append(a.all, string(name)) }

// linked is a link in a title. Only its text counts.
var linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
