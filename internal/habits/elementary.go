package habits

import (
	"go/ast"
	"strings"
)

// elementary are the functions of package math whose bits differ between machines,
// by assembly or by fused operations. Package internal/special has its own.
var elementary = map[string]bool{
	"Acos": true, "Acosh": true, "Asin": true, "Asinh": true, "Atan": true, "Atan2": true, "Atanh": true, "Cbrt": true, "Cos": true, "Cosh": true,
	"Erf": true, "Erfc": true, "Erfcinv": true, "Erfinv": true, "Exp": true, "Exp2": true, "Expm1": true, "Gamma": true, "Hypot": true,
	"Lgamma": true, "Log": true, "Log10": true, "Log1p": true, "Log2": true, "Pow": true, "Sin": true, "Sincos": true, "Sinh": true, "Tan": true, "Tanh": true,
}

// computes tells whether models are computed in a package. Package mkl/choose compares
// those that are.
func computes(pkg string) bool {
	if pkg == "mkl/choose" {
		return false
	}
	for _, root := range []string{"la", "stat", "vi", "mcmc", "mkl", "internal/special", "internal/jitter", "internal/stairs"} {
		if pkg == root || strings.HasPrefix(pkg, root+"/") {
			return true
		}
	}
	return false
}

// Elementary finds calls, outside tests, of functions of package math whose bits
// differ between machines, in packages that compute models.
func (t *Tree) Elementary() []string {
	r := report{fset: t.Fset}
	for _, p := range t.Packages {
		if !computes(p.Path) {
			continue
		}
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "math" && elementary[s.Sel.Name] {
						r.add(s.Pos(), "math.%s has other bits on other machines: use package internal/special", s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	return r.lines()
}
