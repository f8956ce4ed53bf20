package habits

import (
	"go/ast"
	"path"
	"strconv"
	"strings"
)

// Floors are the packages of the repository from the top down. A package imports
// packages of lower floors only: none above it and none beside it. A path x/... stands
// for x and all packages below it, except those that are listed on their own.
var Floors = [][]string{
	{"cmd/mkl", "cmd/papers", "cmd/attack", "bench/...", "examples/...", "tool/..."},
	{"cmd/mkl/internal/sections", "cmd/mkl/internal/validation"},
	{"cmd/mkl/internal/evaluation", "cmd/mkl/internal/exploration", "cmd/mkl/internal/fitting", "cmd/mkl/internal/report", "cmd/mkl/internal/sums"},
	{"cmd/mkl/internal/saved"},
	{"cmd/mkl/internal/model"},
	{"cmd/mkl/internal/factors", "cmd/mkl/internal/pairs"},
	{"cmd/mkl/internal/dataset"},
	{"cmd/mkl/internal/notes"},
	{"cmd/mkl/internal/...", "cmd/papers/internal/..."}, // what one command needs; the experiments, a folder for each paper
	{"cmd/papers/internal/multiclass/...", "cmd/papers/internal/patches", "cmd/papers/internal/boston"}, // what experiments share
	{"cmd/internal/resume"}, // states of fits in files
	{"cmd/internal/console/..."},
	{"cmd/internal/..."}, // what commands share
	{"cmd/internal/table"},
	{"cmd/internal/matfile"},
	{"mkl/record"},
	{"bench/internal/...", "mkl/tune", "mkl/choose", "mkl/sequence", "mkl/acquire", "gonum/...", "scale/..."},
	{"mkl", "mkl/metrics"},
	{"mkl/internal/gram"}, // from views to kernel matrices
	{"mkl/kernel", "mkl/internal/..."},
	{"mcmc"},
	{"vi/..."}, // the families of models, which do not know each other
	{"vi/internal/climb", "vi/internal/fittest", "vi/internal/healing", "vi/internal/intermediate", "vi/internal/target"},
	{"vi/internal/conjugate", "vi/internal/nearest", "vi/internal/pivot", "vi/internal/predictive", "vi/internal/sweeptest"}, // what families share and vi itself does not need
	{"vi"},
	{"vi/internal/..."},
	{"internal/testkit/...", "internal/jitter", "internal/stairs", "internal/encode", "stat/stattest"},
	{"internal/archive"},
	{"stat"},
	{"la"},
	{"la/internal/..."},
	{"internal/..."},
}

// Beside lists the imports along a floor that are wanted, with their reasons.
var Beside = []struct{ From, To, Why string }{}

// Imports finds the imports that do not run downwards, and the packages that stand
// on no floor.
//
// Tests, and packages whose names end in "test", may import what stands beside their
// own package, to compare the two or to serve its tests, but nothing above it. Nothing
// but tests imports packages of such names.
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
				case forTests(p.Path):
				case forTests(to):
					r.add(spec.Pos(), "%s imports %s, which is for tests", p.Path, to)
				case at == here && !beside(p.Path, to):
					r.add(spec.Pos(), "%s imports %s, which stands beside it", p.Path, to)
				}
			})
		}
		for _, f := range p.Tests {
			p.imports(f, func(spec *ast.ImportSpec, to string) {
				if floor(to) < here {
					r.add(spec.Pos(), "a test of %s imports %s, which does not stand below or beside it", p.Path, to)
				}
			})
		}
	}
	return r.lines()
}

// forTests reports whether a package is named as the helper of tests, such as httptest.
func forTests(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }

// imports calls visit for each package of the repository that a file imports, except
// the file's own package, which external tests import.
func (p Package) imports(f *ast.File, visit func(spec *ast.ImportSpec, to string)) {
	for _, spec := range f.Imports {
		text, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // not reached: the parser accepts nothing but string literals
		}
		to, ours := strings.CutPrefix(text, Module+"/")
		if ours && to != p.Path {
			visit(spec, to)
		}
	}
}

// floor returns the index of a package's floor, counted from the top, or −1 if it
// has none. The package's own path decides; if it is not listed, the longest x/...
func floor(pkg string) int {
	at, longest := -1, ""
	for i, rooms := range Floors {
		for _, room := range rooms {
			if room == pkg {
				return i
			}
			if x, ok := strings.CutSuffix(room, "/..."); ok && strings.HasPrefix(pkg+"/", x+"/") && len(x) > len(longest) {
				at, longest = i, x
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
