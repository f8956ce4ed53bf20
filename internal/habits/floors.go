package habits

import (
	"go/ast"
	"strconv"
	"strings"
)

// Floors are the packages of the repository from the top down. A package imports
// packages of lower floors only: none above it and none beside it. A path that ends
// in /... stands for all packages below it that are not listed on their own.
var Floors = [][]string{
	{"cmd/mkl", "bench", "examples/..."},
	{"cmd/mkl/internal/reproduce/..."},
	{"cmd/mkl/internal/..."},
	{"cmd/mkl/internal/table"},
	{"mkl/tune"},
	{"mkl", "mkl/metrics"},
	{"mcmc"},
	{"vi/..."}, // the families of models, which do not know each other
	{"vi"},
	{"vi/internal/..."},
	{"la"},
	{"la/internal/..."},
	{"internal/..."},
}

// Beside lists the imports along a floor that are wanted, with their reasons.
var Beside = []struct{ From, To, Why string }{}

// Imports finds the imports that do not run downwards, and the packages that stand
// on no floor. Tests may import what stands beside their package, to compare the
// two, but nothing above it.
func (t *Tree) Imports() []string {
	r := report{fset: t.Fset}
	for _, p := range t.Packages {
		here := floor(p.Path)
		if here < 0 {
			r.add(p.first().Package, "package %s stands on no floor of habits.Floors", p.Path)
			continue
		}
		for _, f := range p.Files {
			p.imports(f, func(spec *ast.ImportSpec, to string) {
				switch at := floor(to); {
				case at < here:
					r.add(spec.Pos(), "%s imports %s, which does not stand below it", p.Path, to)
				case at == here && !beside(p.Path, to):
					r.add(spec.Pos(), "%s imports %s, which stands beside it", p.Path, to)
				}
			})
		}
		for _, f := range p.Tests {
			p.imports(f, func(spec *ast.ImportSpec, to string) {
				if floor(to) < here {
					r.add(spec.Pos(), "a test of %s imports %s, which stands above it", p.Path, to)
				}
			})
		}
	}
	return r.lines()
}

// imports calls visit for each package of the repository that a file imports, except
// the file's own package, which external tests import.
func (p Package) imports(f *ast.File, visit func(spec *ast.ImportSpec, to string)) {
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // not reached: the parser accepts nothing but string literals
		}
		to, ours := strings.CutPrefix(path, Module+"/")
		if ours && to != p.Path {
			visit(spec, to)
		}
	}
}

// floor returns the index of a package's floor, counted from the top, or −1 if it
// has none. Of several paths that fit the longest decides.
func floor(pkg string) int {
	at, longest := -1, 0
	for i, rooms := range Floors {
		for _, room := range rooms {
			prefix, all := strings.CutSuffix(room, "...")
			if (pkg == room || all && strings.HasPrefix(pkg, prefix)) && len(prefix) > longest {
				at, longest = i, len(prefix)
			}
		}
	}
	return at
}

func beside(from, to string) bool {
	for _, b := range Beside {
		if b.From == from && b.To == to {
			return true
		}
	}
	return false
}
