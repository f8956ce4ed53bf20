package main

import "fmt"

// dots emits Dots, or DotAxpys if axpy: four rows that come from memory side by side,
// which is faster than one after the other.
func (g *gen) dots(axpy bool) {
	const rows = 4
	const a, y, alpha = 16, 20, 24 // first registers
	n := g.vectors()
	lane := func(row, i int) string { return g.reg(row*n + i) }

	comment := []string{
		"	CX n   SI row 0 of a, R8 its length in bytes, R9 = 3·R8   DI x   BX lanes",
		fmt.Sprintf("	%s   lanes, %d registers a row   %s of the rows of a", g.regs(0, rows*n), n, g.regs(a, rows)),
	}
	if axpy {
		comment = append(comment,
			fmt.Sprintf("	R10 y   R11 the next four rows   %s of y   %s alpha", g.reg(y), g.regs(alpha, rows)), "",
			"	for 32 elements { for r in 4 { lanes of r = fma(a_r, x, lanes of r); y = fma(alpha_r, a_r, y) } }",
			"	fetch the beginning of the next four rows, where nothing has looked")
	} else {
		comment = append(comment, "",
			"	for 32 elements { for r in 4 { lanes of r = fma(a_r, x, lanes of r) } }")
	}

	if axpy {
		g.begin("DotAxpys", fmt.Sprintf("(n int, alpha *[4]%s, a *%s, lda int, x, y *%s, lanes *[4 * Lanes]%s)", g.arithmetic, g.storage, g.arithmetic, g.arithmetic), 56, comment...)
		g.op("MOVQ n+0(FP), CX")
		g.op("MOVQ alpha+8(FP), AX")
		g.op("MOVQ a+16(FP), SI")
		g.op("MOVQ lda+24(FP), R8")
		g.op("MOVQ x+32(FP), DI")
		g.op("MOVQ y+40(FP), R10")
		g.op("MOVQ lanes+48(FP), BX")
	} else {
		g.begin("Dots", fmt.Sprintf("(n int, a *%s, lda int, x *%s, lanes *[4 * Lanes]%s)", g.storage, g.arithmetic, g.arithmetic), 40, comment...)
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
		for r := range rows {
			g.op("VBROADCASTS%s %d(AX), %s", g.suffix, r*g.size, g.reg(alpha+r))
		}
	}
	for i := range rows * n {
		g.op("VMOVUPD %d(BX), %s", i*g.bytes, g.reg(i))
	}

	g.label("loop")
	for i := range n {
		for r := range rows {
			g.op("PREFETCHT0 %d(SI)%s", i*g.stored()+512, index4[r])
		}
		for r := range rows {
			g.op("%s %d(SI)%s, %s", g.load(), i*g.stored(), index4[r], g.reg(a+r))
		}
		for r := range rows {
			g.op("%s %d(DI), %s, %s", g.fma(), i*g.bytes, g.reg(a+r), lane(r, i))
		}
		if axpy {
			g.op("VMOVUPD %d(R10), %s", i*g.bytes, g.reg(y))
			for r := range rows {
				g.op("%s %s, %s, %s", g.fma(), g.reg(a+r), g.reg(alpha+r), g.reg(y))
			}
			g.op("VMOVUPD %s, %d(R10)", g.reg(y), i*g.bytes)
		}
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
			for r := range rows {
				g.op("PREFETCHT0 %d(R11)%s", line, index4[r])
			}
		}
	}
	for i := range rows * n {
		g.op("VMOVUPD %s, %d(BX)", g.reg(i), i*g.bytes)
	}
	g.end()
}

// index4 leads from a row to the rows after it, R8 bytes apart, R9 being 3·R8.
var index4 = [...]string{"", "(R8*1)", "(R8*2)", "(R9*1)"}
