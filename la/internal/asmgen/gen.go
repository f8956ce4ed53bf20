package main

import (
	"fmt"
	"strings"
)

// A machine is an instruction set's vectors and how its kernels use them.
type machine struct {
	set    string
	letter string // of a whole vector's register
	bytes  int    // of a vector
	masked bool   // masks have registers of their own, and every instruction takes one
	rows   int    // of a matrix that axpys adds in one pass

	group   int // vectors of a row that dot has in registers at a time
	dotA    int // the first of their registers
	dotY    int // the first register of y in dotAxpy
	alpha   int // register of alpha in dotAxpy
	widened int // register of widened elements in axpy
	term    int // register of widened elements in axpys
	last    int // the same for axpys' last elements
}

var machines = []machine{
	{set: "avx512", letter: "Z", bytes: 64, masked: true, rows: 8, group: 4, dotA: 4, dotY: 8, alpha: 16, widened: 9, term: 2, last: 2},
	{set: "avx2", letter: "Y", bytes: 32, rows: 4, group: 4, dotA: 8, dotY: 13, alpha: 14, widened: 8, term: 5, last: 4},
}

// A pair is the types of a kernel: that in which a matrix is stored and that of all else.
type pair struct {
	name                string // at the end of a routine's
	storage, arithmetic string
	from, size          int    // bytes of an element stored, and of one computed with
	suffix              string // of instructions
	shift               int    // log₂ of from
}

var pairs = []pair{
	{"64", "float64", "float64", 8, 8, "D", 3},
	{"32", "float32", "float32", 4, 4, "S", 2},
	{"Mixed", "float32", "float64", 4, 8, "D", 2},
}

// lanes is la.Lanes.
const lanes = 32

// gen is the text so far and what the next routine is for.
type gen struct {
	machine
	pair
	text strings.Builder
}

// mixed reports whether elements of a matrix are widened as they are loaded.
func (g *gen) mixed() bool { return g.from != g.size }

// perVector is the number of elements in a vector, vectors that of vectors with all lanes.
func (g *gen) perVector() int { return g.bytes / g.size }
func (g *gen) vectors() int   { return lanes / g.perVector() }

// stored is the number of bytes that the elements of one vector take in a matrix.
func (g *gen) stored() int { return g.perVector() * g.from }

// reg returns the name of vector register i.
func (g *gen) reg(i int) string { return fmt.Sprint(g.letter, i) }

// regs returns the names of n registers from i on, for comments.
func (g *gen) regs(i, n int) string {
	if n == 1 {
		return g.reg(i)
	}
	return g.reg(i) + "–" + g.reg(i+n-1)
}

// load is the instruction that loads a vector of a matrix, move that of another vector.
func (g *gen) load() string {
	if g.mixed() {
		return "VCVTPS2PD"
	}
	return g.move()
}
func (g *gen) move() string { return "VMOVUP" + g.suffix }

// fma is the instruction c += a·b of "fma a, b, c".
func (g *gen) fma() string { return "VFMADD231P" + g.suffix }

// pointers returns the declaration of parameters: first, of a matrix, and others.
func (g *gen) pointers(first, others string) string {
	if g.mixed() {
		return fmt.Sprintf("%s *%s, %s *%s", first, g.storage, others, g.arithmetic)
	}
	return fmt.Sprintf("%s, %s *%s", first, others, g.arithmetic)
}

// begin opens a routine: its declaration and the rest of the comment, in lines, and TEXT.
// args is the number of bytes of the arguments and results.
func (g *gen) begin(routine, signature string, args int, comment ...string) {
	name := g.set + routine + g.name
	fmt.Fprintf(&g.text, "\n// func %s%s\n//\n", name, signature)
	for _, c := range comment {
		g.text.WriteString("//" + c + "\n")
	}
	fmt.Fprintf(&g.text, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", name, args)
}

// op emits an instruction.
func (g *gen) op(format string, args ...any) { fmt.Fprintf(&g.text, "\t"+format+"\n", args...) }

// label emits a label.
func (g *gen) label(l string) { fmt.Fprintf(&g.text, "\n%s:\n", l) }

// end closes a routine.
func (g *gen) end() {
	g.op("VZEROUPPER")
	g.op("RET")
}

// mask selects the next elements of those left in R12, which it lessens by as many.
func (g *gen) mask() {
	switch {
	case g.masked:
		g.op("MASK512(%d)", g.perVector())
	case g.mixed():
		g.op("MASKMIXED256")
	default:
		g.op("MASK256(%d, %d)", g.perVector(), g.shift)
	}
}

// maskedLoad loads the selected elements of a vector, of a matrix or another, zeros above.
func (g *gen) maskedLoad(matrix bool, from string, r int) {
	switch {
	case g.masked && matrix:
		g.op("%s.Z %s, K1, %s", g.load(), from, g.reg(r))
	case g.masked:
		g.op("%s.Z %s, K1, %s", g.move(), from, g.reg(r))
	case matrix && g.mixed():
		g.op("VMASKMOVPS %s, X12, X%d", from, r)
		g.op("VCVTPS2PD X%d, Y%d", r, r)
	default:
		g.op("VMASKMOVP%s %s, Y15, %s", g.suffix, from, g.reg(r))
	}
}

// maskedStore stores the selected elements of a vector.
func (g *gen) maskedStore(r int, to string) {
	if g.masked {
		g.op("%s %s, K1, %s", g.move(), g.reg(r), to)
		return
	}
	g.op("VMASKMOVP%s %s, Y15, %s", g.suffix, g.reg(r), to)
}
