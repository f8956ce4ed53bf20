package habits

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// Comments finds what go doc would show without a comment. The rules:
//
//   - Every package has a package comment. The other rules are for public packages:
//     neither commands, nor internal ones, nor those below tool.
//   - The comment of an exported function, method or type names it in its first line.
//     The methods String and Error, which mean the same everywhere, need none.
//   - An exported constant or variable has a comment, above it or behind it, or its
//     group has one.
//   - An exported field of an exported struct, and a method of an exported interface,
//     has a comment above it or behind it, or belongs to a block of lines whose
//     first has one above it, or the comment of the struct or interface names it.
//     A field that repeats the name of its type (Prior SlabPrior) needs none, nor does
//     an embedded type.
func (t *Tree) Comments() []string {
	r := report{fset: t.Fset}
	for _, p := range t.Packages {
		if len(p.Files) == 0 {
			continue
		}
		described := false
		for _, f := range p.Files {
			described = described || f.Doc.Text() != ""
		}
		if !described {
			r.add(p.first().Package, "package %s has no package comment", p.first().Name.Name)
		}
		if p.first().Name.Name == "main" || strings.Contains("/"+p.Path+"/", "/internal/") || strings.HasPrefix(p.Path, "tool/") {
			continue
		}
		for _, f := range p.Files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					r.function(d)
				case *ast.GenDecl:
					r.declaration(d)
				}
			}
		}
	}
	return r.lines()
}

func (r *report) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv != nil {
		receiver := typeName(d.Recv.List[0].Type)
		if !ast.IsExported(receiver) {
			return
		}
		name = receiver + "." + name
	}
	if d.Name.IsExported() && !(d.Recv != nil && (d.Name.Name == "String" || d.Name.Name == "Error")) {
		r.named(d.Name, name, d.Doc)
	}
}

// typeName returns the T of T, *T, p.T, T[P] and *T[P, Q], and nothing for types
// without a name.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// named adds a finding if doc does not name what it is the comment of.
func (r *report) named(id *ast.Ident, name string, doc *ast.CommentGroup) {
	line, _, _ := strings.Cut(doc.Text(), "\n")
	switch {
	case line == "":
		r.add(id.Pos(), "%s has no comment", name)
	case !mentions(line, id.Name):
		r.add(id.Pos(), "the first line of the comment of %s does not name it", name)
	}
}

func (r *report) declaration(d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			doc := s.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = d.Doc
			}
			r.named(s.Name, s.Name.Name, doc)
			switch t := s.Type.(type) {
			case *ast.StructType:
				r.members(s.Name.Name, doc, t.Fields)
			case *ast.InterfaceType:
				r.members(s.Name.Name, doc, t.Methods)
			}
		case *ast.ValueSpec:
			if d.Doc == nil && s.Doc == nil && s.Comment == nil {
				for _, id := range s.Names {
					if id.IsExported() {
						r.add(id.Pos(), "%s has no comment, nor has its group", id.Name)
					}
				}
			}
		}
	}
}

// members looks at the fields of a struct or the methods of an interface.
func (r *report) members(of string, doc *ast.CommentGroup, list *ast.FieldList) {
	covered, last := false, 0 // a comment covers the block; the line where the last member ended
	for _, m := range list.List {
		if m.Doc != nil {
			covered = true
		} else if r.line(m.Pos()) > last+1 {
			covered = false
		}
		last = r.line(m.End())
		for _, id := range m.Names {
			said := covered || m.Comment != nil || mentions(doc.Text(), id.Name) || strings.HasSuffix(typeName(m.Type), id.Name)
			if id.IsExported() && !said {
				r.add(id.Pos(), "%s.%s has no comment", of, id.Name)
			}
		}
	}
}

func (r *report) line(at token.Pos) int { return r.fset.Position(at).Line }

// mentions reports whether text has the name as a word.
func mentions(text, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}
