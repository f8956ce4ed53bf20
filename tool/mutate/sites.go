package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// mutant is one change of one file: the bytes from offset on that read old become new.
type mutant struct {
	path     string
	line     int
	offset   int
	old, new string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s becomes %s", m.path, m.line, m.old, m.new)
}

// apply returns the file with the change.
func (m mutant) apply() ([]byte, error) {
	text, err := os.ReadFile(m.path)
	if err != nil {
		return nil, err
	}
	changed := append([]byte{}, text[:m.offset]...)
	changed = append(changed, m.new...)
	return append(changed, text[m.offset+len(m.old):]...), nil
}

// swaps are the operators that are changed, with what each becomes.
var swaps = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// drawing says which mutants of a package are tested.
type drawing struct {
	sample int // how many, 0 for all
	seed   uint64
	files  string // pattern of the names of the files that are changed
}

// mutants lists the changes of the files of the package whose names match, in the order of the files and of the text.
func (p source) mutants(files string) ([]mutant, error) {
	var all []mutant
	for _, name := range p.GoFiles {
		if ok, err := filepath.Match(files, name); err != nil {
			return nil, fmt.Errorf("-files %q: %w", files, err)
		} else if !ok {
			continue
		}
		path := filepath.Join(p.Dir, name)
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return nil, err
		}
		c := collector{files: files, path: path}
		ast.Inspect(tree, c.visit)
		all = append(all, c.found...)
	}
	return all, nil
}

// collector gathers the mutants of one file.
type collector struct {
	files *token.FileSet
	path  string
	found []mutant
}

// visit adds the mutants of a node. It skips what only words an error, and the values that a function returns beside an error of its own: nobody
// reads them. It skips the capacities of slices too.
func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.ArrayType:
		return false
	case *ast.ReturnStmt:
		return len(n.Results) < 2 || !isError(n.Results[len(n.Results)-1])
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "make" && len(n.Args) == 3 {
			ast.Inspect(n.Args[1], c.visit)
			return false
		}
		return !words(n)
	case *ast.BinaryExpr:
		c.swap(n.OpPos, n.Op)
	case *ast.AssignStmt:
		c.swap(n.TokPos, n.Tok)
	case *ast.BasicLit:
		c.number(n)
	case *ast.UnaryExpr:
		if n.Op == token.SUB {
			c.add(n.OpPos, "-", "+")
		}
	}
	return true
}

func (c *collector) swap(at token.Pos, op token.Token) {
	if other, ok := swaps[op]; ok {
		c.add(at, op.String(), other.String())
	}
}

// number makes an integer one larger and doubles a floating-point number, or makes it 1 if it is 0.
func (c *collector) number(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		c.add(n.Pos(), n.Value, "("+n.Value+" + 1)")
	case token.FLOAT:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v == 0 {
			c.add(n.Pos(), n.Value, "1.0")
			return
		}
		c.add(n.Pos(), n.Value, "(2 * "+n.Value+")")
	}
}

func (c *collector) add(at token.Pos, old, new string) {
	p := c.files.Position(at)
	c.found = append(c.found, mutant{path: c.path, line: p.Line, offset: p.Offset, old: old, new: new})
}

// isError reports whether an expression is a call that makes an error: fmt.Errorf, errors.…
func isError(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || !words(call) {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (f.Sel.Name == "Errorf" || f.X.(*ast.Ident).Name == "errors")
}

// words reports whether a call makes an error or a text: panic, fmt.…, errors.…
func words(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		from, ok := f.X.(*ast.Ident)
		return ok && (from.Name == "fmt" || from.Name == "errors")
	}
	return false
}

// draw takes n of the mutants without replacement and keeps their order; 0 takes all.
func draw(all []mutant, n int, seed uint64) []mutant {
	if n <= 0 || n >= len(all) {
		return all
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var taken []mutant
	for i, m := range all { // each mutant is taken with the share of places that are left among the mutants that are left
		if rng.IntN(len(all)-i) < n-len(taken) {
			taken = append(taken, m)
		}
	}
	return taken
}
