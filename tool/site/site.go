package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// page is a page of the site, and the Markdown file that it is made of.
type page struct {
	file    string // path in the repository
	name    string // of the page in the site
	title   string
	text    []byte
	tree    ast.Node
	anchors []string
	parts   []part // its headings of the second level
}

// part is a part of a page.
type part struct{ Anchor, Title string }

// group is pages that stand together in the navigation.
type group struct {
	title string
	pages []*page
}

// site is all pages.
type site struct {
	root, source string
	markdown     goldmark.Markdown
	pages        []*page
	of           map[string]*page // by their files
	groups       []group
	pictures     map[string]string // names in the site, by their files
}

// beside are the pages at the root of the repository.
var beside = []string{"README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"}

// indexFile lists all manuals; it is the site's first page.
const indexFile = "docs/index.md"

// read reads the pages of the repository at root, whose other files are found at source, and resolves their links.
func read(root, source string) (*site, error) {
	s := &site{
		root: root, source: source, of: map[string]*page{}, pictures: map[string]string{},
		// The manuals are ours: the few tags in them may stay.
		markdown: goldmark.New(goldmark.WithExtensions(extension.Table),
			goldmark.WithParserOptions(parser.WithAutoHeadingID()),
			goldmark.WithRendererOptions(html.WithXHTML(), html.WithUnsafe())),
	}
	files := slices.Clone(beside)
	err := fs.WalkDir(os.DirFS(root), "docs", func(file string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(file) == ".md" {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := s.parse(file); err != nil {
			return nil, err
		}
	}
	if s.of[indexFile] == nil {
		return nil, fmt.Errorf("%s is not there", indexFile)
	}
	if err := s.navigate(); err != nil {
		return nil, err
	}
	var all []error
	for _, p := range s.pages {
		all = append(all, s.resolve(p))
	}
	return s, errors.Join(all...)
}

// pageName returns the name of a page's file in the site: guide-data.html for docs/guide/data.md.
func pageName(file string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(file, "docs/"), ".md")
	return strings.ToLower(strings.ReplaceAll(name, "/", "-")) + ".html"
}

// parse reads a page.
func (s *site) parse(file string) error {
	source, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	p := &page{file: file, name: pageName(file), text: source}
	ids := &anchors{}
	p.tree = s.markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	p.anchors = ids.all
	err = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		id, _ := h.AttributeString("id")
		title := plain(h, source)
		switch {
		case h.Level == 1 && p.title == "":
			p.title = title
		case h.Level == 2:
			p.parts = append(p.parts, part{string(id.([]byte)), title})
		}
		return ast.WalkSkipChildren, nil
	})
	if err == nil && p.title == "" {
		err = fmt.Errorf("%s has no title", file)
	}
	s.pages = append(s.pages, p)
	s.of[file] = p
	return err
}

// plain is the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// navigate groups the manuals as the index does, by its headings and in the order of its links.
func (s *site) navigate() error {
	index := s.of[indexFile]
	s.groups = []group{{title: "Use", pages: []*page{index}}}
	seen := map[*page]bool{index: true}
	err := ast.Walk(index.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		last := &s.groups[len(s.groups)-1]
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				s.groups = append(s.groups, group{title: plain(n, index.text)})
			}
		case *ast.Link:
			file, _, _ := strings.Cut(string(n.Destination), "#")
			if p := s.of[path.Join("docs", file)]; p != nil && !seen[p] {
				seen[p] = true
				last.pages = append(last.pages, p)
			}
		}
		return ast.WalkContinue, nil
	})
	project := group{title: "Project"}
	for _, p := range s.pages {
		switch {
		case seen[p]:
		case slices.Contains(beside, p.file):
			project.pages = append(project.pages, p)
		default:
			err = errors.Join(err, fmt.Errorf("%s does not list %s", indexFile, p.file))
		}
	}
	s.groups = append(s.groups, project)
	return err
}

// resolve turns the links of a page into links of the site; pictures are noted, to be copied.
func (s *site) resolve(p *page) error {
	var wrong []error
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var to *[]byte
		picture := false
		switch n := n.(type) {
		case *ast.Link:
			to = &n.Destination
		case *ast.Image:
			to, picture = &n.Destination, true
		default:
			return ast.WalkContinue, nil
		}
		target, err := s.target(p, string(*to), picture)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: (%s) %w", p.file, *to, err))
		}
		*to = []byte(target)
		return ast.WalkContinue, nil
	})
	return errors.Join(append(wrong, err)...)
}

// target is where a link or a picture of a page is found from the site.
func (s *site) target(p *page, link string, picture bool) (string, error) {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return "", err
	case u.IsAbs() && picture:
		return "", errors.New("is a picture from elsewhere")
	case u.IsAbs():
		return link, nil
	}
	file := p.file
	if u.Path != "" {
		file = path.Join(path.Dir(p.file), u.Path)
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(file)))
	if err != nil {
		return "", errors.New("leads to nothing")
	}
	if picture {
		name := path.Join("pictures", strings.ReplaceAll(strings.TrimPrefix(file, "docs/"), "/", "-"))
		s.pictures[file] = name
		return name, nil
	}
	to := s.of[file]
	if to == nil {
		if file == ".." || strings.HasPrefix(file, "../") {
			return "", errors.New("leads out of the repository")
		}
		kind := "blob"
		if info.IsDir() {
			kind = "tree"
		}
		return s.source + "/" + kind + "/main/" + file, nil
	}
	if u.Fragment == "" {
		return to.name, nil
	}
	if !slices.Contains(to.anchors, u.Fragment) {
		return "", fmt.Errorf("leads to no heading of %s", to.file)
	}
	return to.name + "#" + u.Fragment, nil
}

//go:embed style.css
var style []byte

//go:embed page.html
var layout string

var layoutOfPages = template.Must(template.New("page").Parse(layout))

// shown is what the layout of a page needs.
type shown struct {
	Title string
	Body  template.HTML
	Nav   []shownGroup
}

type shownGroup struct {
	Title string
	Pages []shownPage
}

type shownPage struct {
	Name, Title string
	Here        bool
	Parts       []part // of the page that is shown
}

// write writes the site to a folder.
func (s *site) write(folder string) error {
	if err := os.MkdirAll(filepath.Join(folder, "pictures"), 0o777); err != nil {
		return err
	}
	for _, p := range s.pages {
		content, err := s.render(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		if err := os.WriteFile(filepath.Join(folder, p.name), content, 0o666); err != nil {
			return err
		}
	}
	for from, to := range s.pictures {
		content, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(from)))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.FromSlash(to)), content, 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "style.css"), style, 0o666)
}

// render returns a page. Tables are put in frames of their own, which scroll where the page is narrow.
func (s *site) render(p *page) ([]byte, error) {
	var body, b bytes.Buffer
	if err := s.markdown.Renderer().Render(&body, p.text, p.tree); err != nil {
		return nil, err
	}
	framed := strings.NewReplacer("<table>", `<div class="table" tabindex="0" role="region" aria-label="table"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`).Replace(body.String())
	v := shown{Title: p.title, Body: template.HTML(framed)}
	for _, g := range s.groups {
		sg := shownGroup{Title: g.title}
		for _, q := range g.pages {
			link := shownPage{Name: q.name, Title: q.title, Here: q == p}
			if q == p && len(p.parts) > 1 {
				link.Parts = p.parts
			}
			sg.Pages = append(sg.Pages, link)
		}
		v.Nav = append(v.Nav, sg)
	}
	err := layoutOfPages.Execute(&b, v)
	return b.Bytes(), err
}
