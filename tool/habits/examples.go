package habits

import (
	"go/ast"
	"strings"
)

// Examples finds the estimators of package mkl, the types with a method Fit that takes views or a table, that
// have no Example, and those whose models have a predictor that no Example of theirs uses.
func (t *Tree) Examples() []string {
	r := report{fset: t.Fset}
	for _, p := range t.Packages {
		if p.Path != "mkl" {
			continue
		}
		predicts := map[string]bool{} // models with a method Predictor
		var fits []*ast.FuncDecl
		for _, f := range p.Files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				switch {
				case !ok || fn.Recv == nil:
				case fn.Name.Name == "Predictor":
					predicts[typeName(fn.Recv.List[0].Type)] = true
				case fn.Name.Name == "Fit" && typeName(fn.Recv.List[0].Type) != "Plan": // which is an estimator's second half
					fits = append(fits, fn)
				}
			}
		}
		examples := map[string]bool{} // by type, whether one of its Examples calls Predictor
		for _, f := range p.Tests {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv != nil {
					continue
				}
				if name, ok := strings.CutPrefix(fn.Name.Name, "Example"); ok {
					name, _, _ = strings.Cut(name, "_")
					examples[name] = examples[name] || calls(fn, "Predictor")
				}
			}
		}
		for _, fn := range fits {
			estimator, model := typeName(fn.Recv.List[0].Type), typeName(fn.Type.Results.List[0].Type)
			uses, ok := examples[estimator]
			switch {
			case !ok && !examples[model]:
				r.add(fn.Pos(), "%s has no Example", estimator)
			case predicts[model] && !uses && !examples[model]:
				r.add(fn.Pos(), "no Example of %s uses the predictor of its models", estimator)
			}
		}
	}
	return r.lines()
}

// calls reports whether a function calls a method of a name.
func calls(fn *ast.FuncDecl, method string) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			s, ok := c.Fun.(*ast.SelectorExpr)
			found = found || ok && s.Sel.Name == method
		}
		return !found
	})
	return found
}
