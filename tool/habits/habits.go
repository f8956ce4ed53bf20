// Package habits checks what the compiler and go vet leave open in this
// repository: that imports run downwards only, that go doc shows no public name without
// a comment, that models are computed from functions whose bits are the same on
// every machine, that every estimator has an Example, and that the pages of docs exist which comments name. Its tests
// hold the whole tree to all of it.
//
// The checks read source files, whatever their build tags, in the root module
// and the nested ones alike. A finding is a line "file:line: what is wrong".
package habits

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Module is the path of the root module. A nested module's path continues it
// with the module's folder, so that folders and import paths agree everywhere.
const Module = "github.com/bmkl/bmkl"

// A Package is the Go source of one folder.
type Package struct {
	// Path is the folder, with slashes, relative to the root of the repository.
	Path string

	// Files are the parsed files in the order of their names, and Tests those that
	// end in _test.go.
	Files, Tests []*ast.File
}

// first returns the first file, which is a test where there is nothing else.
func (p Package) first() *ast.File {
	if len(p.Files) > 0 {
		return p.Files[0]
	}
	return p.Tests[0]
}

// Tree is the source of a repository.
type Tree struct {
	Fset     *token.FileSet
	Packages []Package // in the order of their paths
}

// Read parses the Go files of a repository. Folders that the go command skips are
// left out: testdata and those whose names begin with a dot or an underscore.
func Read(repository fs.FS) (*Tree, error) {
	t := &Tree{Fset: token.NewFileSet()}
	found := map[string]*Package{}
	err := fs.WalkDir(repository, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == "testdata" || file != "." && strings.ContainsRune("._", rune(name[0])) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(repository, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(t.Fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("habits: %w", err)
		}
		folder := path.Dir(file)
		p := found[folder]
		if p == nil {
			p = &Package{Path: folder}
			found[folder] = p
		}
		if strings.HasSuffix(name, "_test.go") {
			p.Tests = append(p.Tests, parsed)
		} else {
			p.Files = append(p.Files, parsed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		t.Packages = append(t.Packages, *p)
	}
	slices.SortFunc(t.Packages, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return t, nil
}

// report collects findings.
type report struct {
	fset     *token.FileSet
	findings []finding
}

type finding struct {
	at   token.Position
	text string
}

func (r *report) add(at token.Pos, format string, args ...any) {
	r.findings = append(r.findings, finding{r.fset.Position(at), fmt.Sprintf(format, args...)})
}

// lines returns the findings in the order of files and lines.
func (r *report) lines() []string {
	slices.SortFunc(r.findings, func(a, b finding) int {
		if c := strings.Compare(a.at.Filename, b.at.Filename); c != 0 {
			return c
		}
		return a.at.Offset - b.at.Offset
	})
	var lines []string
	for _, f := range r.findings {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", f.at.Filename, f.at.Line, f.text))
	}
	return lines
}
