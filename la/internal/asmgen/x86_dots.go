package main

import "fmt"

// Registers of dots: the lanes come first, dotsRows times as many as dot has.
const (
	dotsRows  = 4
	dotsA     = 16 // the first register of the rows of a
	dotsY     = 20 // register of y
	dotsAlpha = 24 // the first register of alpha
)

// dots emits Dots, or DotAxpys if axpy: dot products of four rows side by side. From memory,
// four rows side by side are faster than one after the other.
func (g *x86) dots(axpy bool) {
	n := g.vectors()
	g.dotsBegin(axpy)
	for i := range dotsRows * n {
		g.op("VMOVUPD %d(BX), %s", i*g.bytes, g.reg(i))
	}

	g.label("loop")
	for i := range n {
		g.dotsVector(i, axpy)
	}
	g.op("ADDQ $%d, SI", lanes*g.from)
	g.op("ADDQ $%d, DI", lanes*g.size)
	if axpy {
		g.op("ADDQ $%d, R10", lanes*g.size)
	}
	g.op("SUBQ $%d, CX", lanes)
	g.op("JNZ  loop")
	if axpy {
		for line := 0; line < 512; line += 64 {
			for r := range dotsRows {
				g.op("PREFETCHT0 %d(R11)%s", line, index4[r])
			}
		}
	}
	for i := range dotsRows * n {
		g.op("VMOVUPD %s, %d(BX)", g.reg(i), i*g.bytes)
	}
	g.end()
}

// dotsBegin emits the comment of Dots or DotAxpys and loads the arguments.
func (g *x86) dotsBegin(axpy bool) {
	comment := g.dotsComment(axpy)
	if axpy {
		g.begin(g.routine("DotAxpys"), fmt.Sprintf("(n int, alpha *[4]%s, a *%s, lda int, x, y *%s, lanes *[4 * dotLanes]%s)",
			g.arithmetic, g.storage, g.arithmetic, g.arithmetic), 56, comment...)
		g.op("MOVQ n+0(FP), CX")
		g.op("MOVQ alpha+8(FP), AX")
		g.op("MOVQ a+16(FP), SI")
		g.op("MOVQ lda+24(FP), R8")
		g.op("MOVQ x+32(FP), DI")
		g.op("MOVQ y+40(FP), R10")
		g.op("MOVQ lanes+48(FP), BX")
	} else {
		g.begin(g.routine("Dots"), fmt.Sprintf("(n int, a *%s, lda int, x *%s, lanes *[4 * dotLanes]%s)",
			g.storage, g.arithmetic, g.arithmetic), 40, comment...)
		g.op("MOVQ n+0(FP), CX")
		g.op("MOVQ a+8(FP), SI")
		g.op("MOVQ lda+16(FP), R8")
		g.op("MOVQ x+24(FP), DI")
		g.op("MOVQ lanes+32(FP), BX")
	}
	g.op("SHLQ $%d, R8", g.shift)
	g.op("LEAQ (R8)(R8*2), R9")
	if axpy {
		g.op("LEAQ (SI)(R8*4), R11")
		for r := range dotsRows {
			g.op("VBROADCASTS%s %d(AX), %s", g.suffix, r*g.size, g.reg(dotsAlpha+r))
		}
	}
}

// dotsComment returns the registers and the pseudo-code of Dots or DotAxpys.
func (g *x86) dotsComment(axpy bool) []string {
	n := g.vectors()
	comment := []string{
		"	CX n   SI row 0 of a, R8 its length in bytes, R9 = 3·R8   DI x   BX lanes",
		fmt.Sprintf("	%s   lanes, %d registers a row   %s of the rows of a", g.regs(0, dotsRows*n), n, g.regs(dotsA, dotsRows)),
	}
	if !axpy {
		return append(comment, "",
			"	for 32 elements { for r in 4 { lanes of r = fma(a_r, x, lanes of r) } }")
	}
	return append(comment,
		fmt.Sprintf("	R10 y   R11 the next four rows   %s of y   %s alpha", g.reg(dotsY), g.regs(dotsAlpha, dotsRows)), "",
		"	for 32 elements { for r in 4 { lanes of r = fma(a_r, x, lanes of r); y = fma(alpha_r, a_r, y) } }",
		"	prefetch the beginning of the next four rows, which hardware does not foresee")
}

// dotsVector emits vector i of a turn of the loop, for all rows.
func (g *x86) dotsVector(i int, axpy bool) {
	n := g.vectors()
	for r := range dotsRows {
		g.op("PREFETCHT0 %d(SI)%s", i*g.stored()+512, index4[r])
	}
	for r := range dotsRows {
		g.op("%s %d(SI)%s, %s", g.load(), i*g.stored(), index4[r], g.reg(dotsA+r))
	}
	for r := range dotsRows {
		g.op("%s %d(DI), %s, %s", g.fma(), i*g.bytes, g.reg(dotsA+r), g.reg(r*n+i))
	}
	if !axpy {
		return
	}
	y := g.reg(dotsY)
	g.op("VMOVUPD %d(R10), %s", i*g.bytes, y)
	for r := range dotsRows {
		g.op("%s %s, %s, %s", g.fma(), g.reg(dotsA+r), g.reg(dotsAlpha+r), y)
	}
	g.op("VMOVUPD %s, %d(R10)", y, i*g.bytes)
}

// index4 holds the address index of each row: rows lie R8 bytes apart, and R9 is 3·R8.
var index4 = [...]string{"", "(R8*1)", "(R8*2)", "(R9*1)"}
