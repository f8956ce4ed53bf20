package habits

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// The limits of the pages that users and new contributors read.
const (
	MostWords   = 40  // of a sentence
	WidestLine  = 140 // characters of a line that is neither code, nor a row of a table, nor one link
	LongestPage = 120 // lines of a page below docs/guide, without its generated part
)

// Generated marks the beginning and the end of a part of a page that a program writes. No limit holds there.
const (
	GeneratedBegin = "<!-- generated:"
	GeneratedEnd   = "<!-- end of the generated part -->"
)

// proseFiles are the pages outside of docs/guide that the limits hold for.
var proseFiles = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/index.md", "docs/glossary.md"}

// guide is the folder of the pages for users.
const guide = "docs/guide"

// Prose finds sentences, lines and pages that are too long in the README, ARCHITECTURE, CONTRIBUTING, the index,
// the glossary and the guide.
func Prose(repository fs.FS) ([]string, error) {
	files := slices.Clone(proseFiles)
	err := fs.WalkDir(repository, guide, func(file string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(file) == ".md" {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []string
	for _, file := range files {
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			return nil, err
		}
		p := newProse(source)
		for _, line := range p.wide() {
			all = append(all, fmt.Sprintf("%s:%d: the line is longer than %d characters", file, line, WidestLine))
		}
		for _, s := range p.sentences() {
			if s.words > MostWords {
				all = append(all, fmt.Sprintf("%s:%d: a sentence of %d words: %s …", file, s.line, s.words, s.begin))
			}
		}
		if n := p.written(); n > LongestPage && strings.HasPrefix(file, guide+"/") {
			all = append(all, fmt.Sprintf("%s: %d lines are more than the %d of a page of the guide", file, n, LongestPage))
		}
	}
	return all, nil
}

// prose is a page of Markdown.
type prose struct {
	source    []byte // with empty lines in place of what programs write
	tree      ast.Node
	generated int // lines that programs write
}

func newProse(source []byte) *prose {
	p := &prose{}
	inside := false
	for line := range bytes.Lines(bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))) {
		begins := bytes.HasPrefix(line, []byte(GeneratedBegin))
		ends := bytes.HasPrefix(line, []byte(GeneratedEnd))
		if inside = inside || begins; inside {
			p.generated++
			line = []byte("\n")
		}
		inside = inside && !ends
		p.source = append(p.source, line...)
	}
	p.tree = goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(p.source))
	return p
}

// written is the number of lines that a person wrote.
func (p *prose) written() int { return bytes.Count(p.source, []byte("\n")) - p.generated }

// line is the number of the line of an offset.
func (p *prose) line(offset int) int { return 1 + bytes.Count(p.source[:offset], []byte("\n")) }

// link is a line that is one link or one picture, or a part of one that cannot be broken.
var link = regexp.MustCompile(`^(?:[-*] )?!?\[[^\]]*\]\([^)]*\)[.,;:]?$`)

// wide lists the lines that are too long.
func (p *prose) wide() (lines []int) {
	code := map[int]bool{}
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && (n.Kind() == ast.KindCodeBlock || n.Kind() == ast.KindFencedCodeBlock) {
			for i := range n.Lines().Len() {
				code[p.line(n.Lines().At(i).Start)] = true
			}
		}
		return ast.WalkContinue, nil
	})
	n := 0
	for raw := range bytes.Lines(p.source) {
		n++
		line := strings.TrimSpace(string(raw))
		if utf8.RuneCount(bytes.TrimRight(raw, "\n")) > WidestLine && !code[n] && !strings.HasPrefix(line, "|") && !link.MatchString(line) {
			lines = append(lines, n)
		}
	}
	return lines
}

// sentence is a sentence of a page.
type sentence struct {
	line, words int
	begin       string // its first words
}

// sentences lists the sentences of paragraphs, items of lists and cells of tables.
func (p *prose) sentences() (all []sentence) {
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.Kind() {
		case ast.KindHeading:
			return ast.WalkSkipChildren, nil
		case ast.KindParagraph, ast.KindTextBlock, east.KindTableCell:
			all = append(all, split(p.words(n))...)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return all
}

// word is a word and its line.
type word struct {
	text string
	line int
}

// words lists the words of a block. What is marked as code is one word; pictures and tags do not count.
func (p *prose) words(block ast.Node) (all []word) {
	joined := false // whether no space stands before what comes next
	add := func(s string, line int) {
		fields := strings.Fields(s)
		for i, f := range fields {
			if i == 0 && joined && len(all) > 0 && !unicode.IsSpace([]rune(s)[0]) {
				all[len(all)-1].text += f
				continue
			}
			all = append(all, word{f, line})
		}
		if s != "" {
			last, _ := utf8.DecodeLastRuneInString(s)
			joined = !unicode.IsSpace(last)
		}
	}
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image, *ast.RawHTML:
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan, *ast.AutoLink:
			line := 1
			if len(all) > 0 {
				line = all[len(all)-1].line
			}
			if t, ok := n.FirstChild().(*ast.Text); ok {
				line = p.line(t.Segment.Start)
			}
			add("Code", line)
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			s := string(n.Segment.Value(p.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				s += " "
			}
			add(s, p.line(n.Segment.Start))
		}
		return ast.WalkContinue, nil
	})
	return all
}

// abbreviated are words whose last point ends no sentence.
var abbreviated = map[string]bool{"e.g.": true, "i.e.": true, "al.": true, "vs.": true, "cf.": true, "no.": true}

// split divides the words of a block into sentences.
func split(all []word) (out []sentence) {
	var now sentence
	var begin []string
	for i, w := range all {
		if now.line == 0 {
			now.line = w.line
		}
		if strings.IndexFunc(w.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			now.words++
		}
		if len(begin) < 6 {
			begin = append(begin, w.text)
		}
		bare := strings.TrimRight(w.text, `"'”’)]*_`)
		ends := strings.HasSuffix(bare, ".") || strings.HasSuffix(bare, "?") || strings.HasSuffix(bare, "!")
		if i+1 < len(all) {
			next := []rune(strings.TrimLeft(all[i+1].text, `"'“‘([*_`))
			ends = ends && !abbreviated[strings.ToLower(bare)] && len(next) > 0 && !unicode.IsLower(next[0])
		} else {
			ends = true
		}
		if ends {
			now.begin = strings.Join(begin, " ")
			out = append(out, now)
			now, begin = sentence{}, nil
		}
	}
	return out
}
