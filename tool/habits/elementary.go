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

// computes reports whether models are computed in a package. Package mkl/choose compares
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
// differ between machines, and random generators that take them from there, in packages
// that compute models.
func (t *Tree) Elementary() []string {
	r := report{fset: t.Fset}
	for _, p := range t.Packages {
		if !computes(p.Path) {
			continue
		}
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				switch x, ok := s.X.(*ast.Ident); {
				case !ok:
				case x.Name == "math" && elementary[s.Sel.Name]:
					r.add(s.Pos(), "math.%s has other bits on other machines: use package internal/special", s.Sel.Name)
				case x.Name == "rand" && s.Sel.Name == "New" && p.Path != "internal/special":
					r.add(s.Pos(), "normal draws of rand.New have other bits on other machines: use special.NewRand")
				}
				return true
			})
		}
	}
	return r.lines()
}
