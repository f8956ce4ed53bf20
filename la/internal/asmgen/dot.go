package main

import "fmt"

// dot emits Dot, or DotAxpy if axpy.
func (g *gen) dot(axpy bool) {
	n := g.vectors()
	registers := []string{
		"	R12 n   SI a   DI x   R8 lanes, or nil   BX turns of the loop",
		fmt.Sprintf("	%s   lanes, lane l being element l%%%d of %s(l/%d)", g.regs(0, n), g.perVector(), g.letter, g.perVector()),
		fmt.Sprintf("	%s   of a", g.regs(g.dotA, min(n, g.group))),
	}
	turn := fmt.Sprintf("	for 32 elements { %s = fma(a, x, %s) }", g.regs(0, n), g.regs(0, n))
	if axpy {
		y := 1
		if g.masked {
			y = n
		}
		registers[0] += "   R9 y"
		registers[2] += fmt.Sprintf("   %s of y   %s alpha", g.regs(g.dotY, y), g.reg(g.alpha))
		turn = fmt.Sprintf("	for 32 elements { %s = fma(a, x, %s); y = fma(alpha, a, y) }", g.regs(0, n), g.regs(0, n))
	}
	comment := append(registers, "",
		"	lanes = 0, or what R8 points to",
		turn,
		"	the rest, a vector at a time under a mask",
		"	leave the lanes where R8 points to",
		fmt.Sprintf("	fold %d vectors in halves, then %d lanes; + 0", n, g.perVector()))

	result := 32 // offset of the result
	if axpy {
		result = 48
		g.begin("DotAxpy", fmt.Sprintf("(n int, alpha %s, %s, lanes *[Lanes]%s) %s", g.arithmetic, g.pointers("a", "x, y"), g.arithmetic, g.arithmetic), result+g.size, comment...)
		g.op("MOVQ n+0(FP), R12")
		g.op("MOVQ a+16(FP), SI")
		g.op("MOVQ x+24(FP), DI")
		g.op("MOVQ lanes+40(FP), R8")
		g.op("MOVQ y+32(FP), R9")
		g.op("VBROADCASTS%s alpha+8(FP), %s", g.suffix, g.reg(g.alpha))
	} else {
		g.begin("Dot", fmt.Sprintf("(n int, %s, lanes *[Lanes]%s) %s", g.pointers("a", "x"), g.arithmetic, g.arithmetic), result+g.size, comment...)
		g.op("MOVQ n+0(FP), R12")
		g.op("MOVQ a+8(FP), SI")
		g.op("MOVQ x+16(FP), DI")
		g.op("MOVQ lanes+24(FP), R8")
	}
	zero := "VXORPD"
	if g.masked {
		zero = "VPXORQ"
	}
	for i := range n {
		g.op("%s %s, %s, %s", zero, g.reg(i), g.reg(i), g.reg(i))
	}
	g.op("TESTQ R8, R8")
	g.op("JZ   start")
	for i := range n {
		g.op("%s %d(R8), %s", g.move(), i*g.bytes, g.reg(i))
	}

	g.label("start")
	g.op("MOVQ R12, BX")
	g.op("SHRQ $5, BX")
	g.op("JZ   tail")

	g.label("loop")
	for first := 0; first < n; first += g.group {
		g.dotVectors(first, min(first+g.group, n), axpy)
	}
	if axpy {
		g.op("ADDQ $%d, R9", lanes*g.size)
	}
	g.op("ADDQ $%d, SI", lanes*g.from)
	g.op("ADDQ $%d, DI", lanes*g.size)
	g.op("DECQ BX")
	g.op("JNZ  loop")

	g.label("tail")
	g.op("ANDQ $31, R12")
	g.op("JZ   fold")
	for i := range n {
		if i > 0 {
			g.op("TESTQ R12, R12")
			g.op("JZ   fold")
		}
		g.dotLast(i, axpy)
	}

	g.label("fold")
	g.op("TESTQ R8, R8")
	g.op("JZ   sum")
	for i := range n {
		g.op("%s %s, %d(R8)", g.move(), g.reg(i), i*g.bytes)
	}

	g.label("sum")
	g.fold(n)
	g.op("VMOVS%s X0, ret+%d(FP)", g.suffix, result)
	g.end()
}

// dotVectors takes the vectors from ≤ i < to of a turn.
func (g *gen) dotVectors(from, to int, axpy bool) {
	a := func(i int) string { return g.reg(g.dotA + i - from) }
	for i := from; i < to; i++ {
		g.op("%s %d(SI), %s", g.load(), i*g.stored(), a(i))
	}
	for i := from; i < to; i++ {
		g.op("%s %d(DI), %s, %s", g.fma(), i*g.bytes, a(i), g.reg(i))
	}
	if !axpy {
		return
	}
	alpha := g.reg(g.alpha)
	if !g.masked { // one register is left for y
		y := g.reg(g.dotY)
		for i := from; i < to; i++ {
			g.op("%s %d(R9), %s", g.move(), i*g.bytes, y)
			g.op("%s %s, %s, %s", g.fma(), a(i), alpha, y)
			g.op("%s %s, %d(R9)", g.move(), y, i*g.bytes)
		}
		return
	}
	for i := from; i < to; i++ {
		g.op("%s %d(R9), %s", g.move(), i*g.bytes, g.reg(g.dotY+i))
	}
	for i := from; i < to; i++ {
		g.op("%s %s, %s, %s", g.fma(), a(i), alpha, g.reg(g.dotY+i))
	}
	for i := from; i < to; i++ {
		g.op("%s %s, %d(R9)", g.move(), g.reg(g.dotY+i), i*g.bytes)
	}
}

// dotLast takes vector i of the last turn, of which R12 elements are there.
func (g *gen) dotLast(i int, axpy bool) {
	a, x := g.dotA, g.dotA+1
	g.mask()
	g.maskedLoad(true, fmt.Sprintf("%d(SI)", i*g.stored()), a)
	g.maskedLoad(false, fmt.Sprintf("%d(DI)", i*g.bytes), x)
	if g.masked {
		g.op("%s %s, %s, K1, %s", g.fma(), g.reg(x), g.reg(a), g.reg(i))
	} else { // lanes beyond the mask stay as they are, even a zero's sign
		s := g.reg(x + 1)
		g.op("VMOVAPD %s, %s", g.reg(i), s)
		g.op("%s %s, %s, %s", g.fma(), g.reg(a), g.reg(x), s)
		g.op("VBLENDVP%s Y15, %s, %s, %s", g.suffix, s, g.reg(i), g.reg(i))
	}
	if axpy {
		y := fmt.Sprintf("%d(R9)", i*g.bytes)
		g.maskedLoad(false, y, g.dotY)
		g.op("%s %s, %s, %s", g.fma(), g.reg(a), g.reg(g.alpha), g.reg(g.dotY))
		g.maskedStore(g.dotY, y)
	}
}

// fold adds up n vectors of lanes in halves: X0 = their sum + 0.
func (g *gen) fold(n int) {
	s := g.suffix
	for h := n / 2; h > 0; h /= 2 {
		for i := range h {
			g.op("VADDP%s %s, %s, %s", s, g.reg(i+h), g.reg(i), g.reg(i))
		}
	}
	if g.bytes == 64 {
		g.op("VEXTRACTF64X4 $1, Z0, Y1")
		g.op("VADDP%s Y1, Y0, Y0", s)
	}
	g.op("VEXTRACTF128 $1, Y0, X1")
	g.op("VADDP%s X1, X0, X0", s)
	g.op("VUNPCKHPD X0, X0, X1")
	if g.size == 4 {
		g.op("VADDPS X1, X0, X0")
		g.op("VMOVSHDUP X0, X1")
	}
	g.op("VADDS%s X1, X0, X0", s)
	zero := "VXORPD"
	if g.masked && g.size == 4 {
		zero = "VXORPS"
	}
	g.op("%s X1, X1, X1", zero)
	g.op("VADDS%s X1, X0, X0", s)
}
