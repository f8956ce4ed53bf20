package main

import "fmt"

// axpy emits Axpy, whose vector x is a row of a matrix.
func (g *gen) axpy() {
	const n, alpha, y, last = 4, 0, 4, 5 // vectors a turn, registers
	registers := fmt.Sprintf("	%s alpha   %s of y", g.reg(alpha), g.regs(y, n))
	if g.mixed() {
		registers += fmt.Sprintf("   %s of x, widened", g.reg(g.widened))
	}
	g.begin("Axpy", fmt.Sprintf("(n int, alpha %s, %s)", g.arithmetic, g.pointers("x", "y")), 32,
		"	R12 n   SI x   DI y   BX turns of the loop",
		registers, "",
		"	for 4 vectors { y = fma(alpha, x, y) }, then for 1, under a mask")
	g.op("MOVQ n+0(FP), R12")
	g.op("VBROADCASTS%s alpha+8(FP), %s", g.suffix, g.reg(alpha))
	g.op("MOVQ x+16(FP), SI")
	g.op("MOVQ y+24(FP), DI")
	g.loop(n, func() {
		for i := range n {
			g.op("%s %s(DI), %s", g.move(), offset(i*g.bytes), g.reg(y+i))
		}
		for i := range n {
			x := offset(i*g.stored()) + "(SI)"
			if g.mixed() {
				g.op("%s %s, %s", g.load(), x, g.reg(g.widened))
				x = g.reg(g.widened)
			}
			g.op("%s %s, %s, %s", g.fma(), x, g.reg(alpha), g.reg(y+i))
		}
		for i := range n {
			g.op("%s %s, %s(DI)", g.move(), g.reg(y+i), offset(i*g.bytes))
		}
	}, func() {
		g.maskedLoad(false, "(DI)", y)
		g.maskedLoad(true, "(SI)", last)
		g.op("%s %s, %s, %s", g.fma(), g.reg(last), g.reg(alpha), g.reg(y))
		g.maskedStore(y, "(DI)")
	}, true)
}

// scal emits Scal.
func (g *gen) scal() {
	const n, alpha, x = 4, 0, 4
	g.begin("Scal", fmt.Sprintf("(n int, alpha %s, x *%s)", g.arithmetic, g.arithmetic), 24,
		fmt.Sprintf("	R12 n   SI x   BX turns of the loop   %s alpha   %s of x", g.reg(alpha), g.regs(x, n)), "",
		"	for 4 vectors { x = alpha·x }, then for 1, under a mask")
	g.op("MOVQ n+0(FP), R12")
	g.op("VBROADCASTS%s alpha+8(FP), %s", g.suffix, g.reg(alpha))
	g.op("MOVQ x+16(FP), SI")
	g.loop(n, func() {
		for i := range n {
			g.op("VMULP%s %s(SI), %s, %s", g.suffix, offset(i*g.bytes), g.reg(alpha), g.reg(x+i))
		}
		for i := range n {
			g.op("%s %s, %s(SI)", g.move(), g.reg(x+i), offset(i*g.bytes))
		}
	}, func() {
		g.maskedLoad(false, "(SI)", x)
		g.op("VMULP%s %s, %s, %s", g.suffix, g.reg(x), g.reg(alpha), g.reg(x))
		g.maskedStore(x, "(SI)")
	}, false)
}

// axpys emits Axpys: as many axpys as the machine has rows, in one pass over y.
func (g *gen) axpys() {
	const n, y, x = 2, 0, 8
	words := map[int]string{4: "R8 = lda in bytes, R9 = 3·R8", 8: "R8 = lda in bytes, R9, R10, R11 = 3·R8, 5·R8, 7·R8"}
	registers := fmt.Sprintf("	%s of y   %s x", g.regs(y, n), g.regs(x, g.rows))
	if g.mixed() {
		registers += fmt.Sprintf("   %s of a, widened", g.reg(g.term))
	}
	g.begin("Axpys", fmt.Sprintf("(n int, %s, lda int, y *%s)", g.coefficients(), g.arithmetic), 40,
		"	R12 n   SI a, "+words[g.rows]+"   DI y   BX x, then turns of the loop",
		registers, "",
		fmt.Sprintf("	for 2 vectors { for i in %d { y = fma(x_i, a_i, y) } }, then for 1, under a mask", g.rows))
	g.op("MOVQ n+0(FP), R12")
	g.op("MOVQ x+8(FP), BX")
	g.op("MOVQ a+16(FP), SI")
	g.op("MOVQ lda+24(FP), R8")
	g.op("MOVQ y+32(FP), DI")
	g.op("SHLQ $%d, R8", g.shift)
	g.op("LEAQ (R8)(R8*2), R9")
	if g.rows == 8 {
		g.op("LEAQ (R8)(R8*4), R10")
		g.op("LEAQ (R9)(R8*4), R11")
	}
	for i := range g.rows {
		g.op("VBROADCASTS%s %d(BX), %s", g.suffix, i*g.size, g.reg(x+i))
	}
	g.loop(n, func() {
		for j := range n {
			g.op("%s %s(DI), %s", g.move(), offset(j*g.bytes), g.reg(y+j))
		}
		for i := range g.rows {
			for j := range n {
				a := offset(j*g.stored()) + "(SI)" + index8[i]
				if g.mixed() {
					g.op("%s %s, %s", g.load(), a, g.reg(g.term))
					a = g.reg(g.term)
				}
				g.op("%s %s, %s, %s", g.fma(), a, g.reg(x+i), g.reg(y+j))
			}
		}
		for j := range n {
			g.op("%s %s, %s(DI)", g.move(), g.reg(y+j), offset(j*g.bytes))
		}
	}, func() {
		g.maskedLoad(false, "(DI)", y)
		for i := range g.rows {
			a, under := "(SI)"+index8[i], ""
			if g.masked {
				under = "K1, "
			}
			if g.mixed() || !g.masked {
				g.maskedLoad(true, a, g.last)
				a = g.reg(g.last)
			}
			g.op("%s %s, %s, %s%s", g.fma(), a, g.reg(x+i), under, g.reg(y))
		}
		g.maskedStore(y, "(DI)")
	}, true)
}

// coefficients returns the declaration of x and a of Axpys.
func (g *gen) coefficients() string {
	if g.mixed() {
		return fmt.Sprintf("x *%s, a *%s", g.arithmetic, g.storage)
	}
	return fmt.Sprintf("x, a *%s", g.arithmetic)
}

// index8 leads from a row to the rows after it, R8 bytes apart, R9, R10 and R11 being
// three, five and seven times R8.
var index8 = [...]string{"", "(R8*1)", "(R8*2)", "(R9*1)", "(R8*4)", "(R10*1)", "(R9*2)", "(R11*1)"}

// loop emits the loop over the R12 elements at SI and, if two, the result at DI: turn for n
// vectors, then last for one under a mask until none are left, and the end of the routine.
func (g *gen) loop(n int, turn, last func(), two bool) {
	step := func(n int) {
		if two {
			g.op("ADDQ $%d, SI", n*g.stored())
			g.op("ADDQ $%d, DI", n*g.bytes)
		} else {
			g.op("ADDQ $%d, SI", n*g.bytes)
		}
	}
	g.op("MOVQ R12, BX")
	g.op("SHRQ $%d, BX", log2(n*g.perVector()))
	g.op("JZ   tail")

	g.label("loop")
	turn()
	step(n)
	g.op("DECQ BX")
	g.op("JNZ  loop")

	g.label("tail")
	g.op("ANDQ $%d, R12", n*g.perVector()-1)
	g.op("JZ   done")

	g.label("one")
	g.mask()
	last()
	step(1)
	g.op("TESTQ R12, R12")
	g.op("JNZ  one")

	g.label("done")
	g.end()
}

func log2(n int) int {
	k := 0
	for ; n > 1; n /= 2 {
		k++
	}
	return k
}

// offset returns an offset as the assembler likes it, nothing for 0.
func offset(o int) string {
	if o == 0 {
		return ""
	}
	return fmt.Sprint(o)
}
