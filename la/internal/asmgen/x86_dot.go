package main

import "fmt"

// dot emits Dot, or DotAxpy if axpy.
func (g *x86) dot(axpy bool) {
	n := g.vectors()
	result := g.dotBegin(axpy)

	for i := range n {
		g.op("%[1]s %[2]s, %[2]s, %[2]s", g.zeroLane(), g.reg(i))
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

// dotBegin emits the comment of Dot or DotAxpy and loads the arguments. It returns the offset of
// the result.
func (g *x86) dotBegin(axpy bool) (result int) {
	comment := g.dotComment(axpy)
	if !axpy {
		signature, result := g.dotSignature()
		g.begin(g.routine("Dot"), signature, result+g.size, comment...)
		g.op("MOVQ n+0(FP), R12")
		g.op("MOVQ a+8(FP), SI")
		g.op("MOVQ x+16(FP), DI")
		g.op("MOVQ lanes+24(FP), R8")
		return result
	}
	signature, result := g.dotAxpySignature()
	g.begin(g.routine("DotAxpy"), signature, result+g.size, comment...)
	g.op("MOVQ n+0(FP), R12")
	g.op("MOVQ a+16(FP), SI")
	g.op("MOVQ x+24(FP), DI")
	g.op("MOVQ lanes+40(FP), R8")
	g.op("MOVQ y+32(FP), R9")
	g.op("VBROADCASTS%s alpha+8(FP), %s", g.suffix, g.reg(g.alpha))
	return result
}

// dotComment returns the registers and the pseudo-code of Dot or DotAxpy.
func (g *x86) dotComment(axpy bool) []string {
	n := g.vectors()
	scalars := "	R12 n   SI a   DI x   R8 lanes, or nil   BX turns of the loop"
	matrix := fmt.Sprintf("	%s   of a", g.regs(g.dotA, min(n, g.group)))
	turn := fmt.Sprintf("	for 32 elements { %[1]s = fma(a, x, %[1]s) }", g.regs(0, n))
	if axpy {
		y := 1
		if g.masked {
			y = n
		}
		scalars += "   R9 y"
		matrix += fmt.Sprintf("   %s of y   %s alpha", g.regs(g.dotY, y), g.reg(g.alpha))
		turn = fmt.Sprintf("	for 32 elements { %[1]s = fma(a, x, %[1]s); y = fma(alpha, a, y) }", g.regs(0, n))
	}
	return []string{
		scalars,
		fmt.Sprintf("	%s   lanes: lane l is element l%%%d of %s(l/%d)", g.regs(0, n), g.perVector(), g.letter, g.perVector()),
		matrix, "",
		"	lanes = 0, or what R8 points to",
		turn,
		"	the rest, a vector at a time under a mask",
		"	store the lanes where R8 points to",
		fmt.Sprintf("	fold %d vectors in halves, then %d lanes; + 0", n, g.perVector()),
	}
}

// zeroLane returns the instruction that clears a vector of lanes.
func (g *x86) zeroLane() string {
	if g.masked {
		return "VPXORQ"
	}
	return "VXORPD"
}

// dotVectors emits the vectors from ≤ i < to of a turn of the loop.
func (g *x86) dotVectors(from, to int, axpy bool) {
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

// dotLast emits vector i of the last turn, in which R12 elements are left.
func (g *x86) dotLast(i int, axpy bool) {
	a, x := g.dotA, g.dotA+1
	g.mask()
	g.maskedLoad(true, fmt.Sprintf("%d(SI)", i*g.stored()), a)
	g.maskedLoad(false, fmt.Sprintf("%d(DI)", i*g.bytes), x)
	if g.masked {
		g.op("%s %s, %s, K1, %s", g.fma(), g.reg(x), g.reg(a), g.reg(i))
	} else { // lanes beyond the mask keep their value, even the sign of a zero
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
func (g *x86) fold(n int) {
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
