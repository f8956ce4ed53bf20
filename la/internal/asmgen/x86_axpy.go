package main

import "fmt"

// axpy emits Axpy. Its vector a is a row of a matrix, or another vector.
func (g *x86) axpy() {
	const n, alpha, y, last = 4, 0, 4, 5 // vectors a turn, registers
	registers := fmt.Sprintf("	%s alpha   %s of y", g.reg(alpha), g.regs(y, n))
	if g.mixed() {
		registers += fmt.Sprintf("   %s of a, widened", g.reg(g.widened))
	}
	g.begin(g.routine("Axpy"), g.axpySignature(), axpyBytes,
		"	R12 n   SI a   DI y   BX turns of the loop",
		registers, "",
		"	for 4 vectors { y = fma(alpha, a, y) }, then for 1, under a mask")
	g.op("MOVQ n+0(FP), R12")
	g.op("VBROADCASTS%s alpha+8(FP), %s", g.suffix, g.reg(alpha))
	g.op("MOVQ a+16(FP), SI")
	g.op("MOVQ y+24(FP), DI")
	g.loop(n, func() {
		for i := range n {
			g.op("%s %s(DI), %s", g.move(), offset(i*g.bytes), g.reg(y+i))
		}
		for i := range n {
			a := offset(i*g.stored()) + "(SI)"
			if g.mixed() {
				g.op("%s %s, %s", g.load(), a, g.reg(g.widened))
				a = g.reg(g.widened)
			}
			g.op("%s %s, %s, %s", g.fma(), a, g.reg(alpha), g.reg(y+i))
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
func (g *x86) scal() {
	const n, alpha, x = 4, 0, 4
	g.begin(g.routine("Scal"), g.scalSignature(), scalBytes,
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

// Registers of axpys: y comes first.
const (
	axpysVectors = 2 // of y in a turn
	axpysX       = 8 // the first register of x
)

// axpys emits Axpys: as many axpys as the machine has rows, in one pass over y.
func (g *x86) axpys() {
	const n, y, x = axpysVectors, 0, axpysX
	g.axpysBegin()
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

// axpysBegin emits the comment of Axpys and loads the arguments.
func (g *x86) axpysBegin() {
	strides := "R8 = lda in bytes, R9 = 3·R8"
	if g.rows == 8 {
		strides = "R8 = lda in bytes, R9, R10, R11 = 3·R8, 5·R8, 7·R8"
	}
	registers := fmt.Sprintf("	%s of y   %s x", g.regs(0, axpysVectors), g.regs(axpysX, g.rows))
	if g.mixed() {
		registers += fmt.Sprintf("   %s of a, widened", g.reg(g.term))
	}
	g.begin(g.routine("Axpys"), g.axpysSignature(), axpysBytes,
		"	R12 n   SI a, "+strides+"   DI y   BX x, then turns of the loop",
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
		g.op("VBROADCASTS%s %d(BX), %s", g.suffix, i*g.size, g.reg(axpysX+i))
	}
}

// index8 holds the address index of each row: rows lie R8 bytes apart, and R9, R10 and R11 are
// 3·R8, 5·R8 and 7·R8.
var index8 = [...]string{"", "(R8*1)", "(R8*2)", "(R9*1)", "(R8*4)", "(R10*1)", "(R9*2)", "(R11*1)"}

// loop emits a loop over R12 elements and the end of the routine. The loop calls turn for n
// vectors at a time, then last for one vector under a mask until no element is left. Operands are
// at SI and, if two, at DI.
func (g *x86) loop(n int, turn, last func(), two bool) {
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
