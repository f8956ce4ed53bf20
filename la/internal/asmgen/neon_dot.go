package main

import "fmt"

// dot emits Dot, or DotAxpy if axpy.
func (g *neon) dot(axpy bool) {
	n := g.vectors()
	result := g.dotBegin(axpy)

	g.zero(n)
	g.op("CBZ R7, start")
	for i := 0; i < n; i += 2 {
		g.loadPair(i*16, "R7", i)
	}

	g.label("start")
	g.op("SUBS $%d, R2", lanes)
	g.op("BLT tail")

	g.label("loop")
	for q := range n / quad {
		g.dotQuad(q, axpy)
	}
	g.op("ADD $%d, R0", lanes*g.from)
	g.op("ADD $%d, R1", lanes*g.size)
	if axpy {
		g.op("ADD $%d, R4", lanes*g.size)
	}
	g.op("SUBS $%d, R2", lanes)
	g.op("BGE loop")

	g.label("tail")
	g.op("ADDS $%d, R2", lanes)
	g.dotLast(axpy)

	g.label("whole")
	for i := range n - 1 {
		g.dotVector(i, axpy)
	}
	g.fma(24, 25, n-1)

	g.label("fold")
	if axpy && g.size == 4 {
		g.axpyRest()
	}
	g.op("CBZ R7, sum")
	for i := 0; i < n; i += 2 {
		g.storePair(i, i*16, "R7")
	}

	g.label("sum")
	g.fold(n)
	g.op("%s F0, ret+%d(FP)", g.scalar(), result)
	g.op("RET")
}

// dotBegin emits the comment of Dot or DotAxpy and loads the arguments. It returns the offset of
// the result.
func (g *neon) dotBegin(axpy bool) (result int) {
	comment := g.dotComment(axpy)
	if !axpy {
		signature, result := g.dotSignature()
		g.begin(g.routine("Dot"), signature, result+g.size, comment...)
		g.op("MOVD n+0(FP), R2")
		g.op("MOVD a+8(FP), R0")
		g.op("MOVD x+16(FP), R1")
		g.op("MOVD lanes+24(FP), R7")
		return result
	}
	signature, result := g.dotAxpySignature()
	g.begin(g.routine("DotAxpy"), signature, result+g.size, comment...)
	g.op("MOVD n+0(FP), R2")
	g.op("%s alpha+8(FP), F31", g.scalar())
	g.op("MOVD a+16(FP), R0")
	g.op("MOVD x+24(FP), R1")
	g.op("MOVD y+32(FP), R4")
	g.op("MOVD lanes+40(FP), R7")
	g.broadcast(31)
	return result
}

// dotComment returns the registers and the pseudo-code of Dot or DotAxpy.
func (g *neon) dotComment(axpy bool) []string {
	n, per := g.vectors(), g.perVector()
	pointers := "	R0 a   R1 x   R2 elements left   R7 lanes, or nil"
	operands := "	V16–V19  of a   V20–V23 of x"
	step := "s = fma(a, x, s)"
	if axpy {
		pointers += "   R4 y"
		operands += "   V26–V29 of y   V31 alpha"
		step += "; y = fma(alpha, a, y)"
	}
	last := fmt.Sprintf("	V24 V25  the last n%%%d elements of a and x, then zeros", per)
	if g.size == 4 {
		last += "   R5 = n%4   R3 R6 pointers to them"
	}
	return []string{
		pointers,
		fmt.Sprintf("	V0–V%-4d s, the lanes: lane l is element l%%%d of V(l/%d)", n-1, per, per),
		operands, last, "",
		"	s = 0, or what R7 points to",
		fmt.Sprintf("	for 32 elements { %s }", step),
		fmt.Sprintf("	for %d elements, one vector of s each { %s }", per, step),
		"	the vector of s after these = fma(V24, V25, itself)",
		"	store s where R7 points to",
		fmt.Sprintf("	fold %d vectors in halves, then %d lanes; + 0", n, per),
	}
}

// dotQuad emits quad q of a turn of the loop.
func (g *neon) dotQuad(q int, axpy bool) {
	x := q * quad * 16
	g.loadOperands(q*g.storedQuad(), x)
	for i := range quad {
		g.fma(16+i, 20+i, q*quad+i)
	}
	if !axpy {
		return
	}
	g.loadPair(x, "R4", 26)
	g.loadPair(x+32, "R4", 28)
	for i := range quad {
		g.fma(31, 16+i, 26+i)
	}
	g.storePair(26, x, "R4")
	g.storePair(28, x+32, "R4")
}

// loadOperands loads a quad of the matrix at R0 to V16–V19 and one of the vector at R1 to
// V20–V23.
func (g *neon) loadOperands(a, x int) {
	if g.mixed() {
		g.loadQuad(a, "R0")
		g.loadPair(x, "R1", 20)
		g.loadPair(x+32, "R1", 22)
		g.widenQuad()
		return
	}
	g.loadPair(a, "R0", 16)
	g.loadPair(x, "R1", 20)
	g.loadPair(a+32, "R0", 18)
	g.loadPair(x+32, "R1", 22)
}

// dotLast emits the load of the elements after the last whole vector to V24 and V25. R2 elements
// are left in all; the flags compare R2 with 0. For float64 it also emits their axpy. The code
// goes on at whole, or at fold if no element is left.
func (g *neon) dotLast(axpy bool) {
	if g.size == 8 {
		g.dotLastDouble(axpy)
		return
	}
	g.op("AND $3, R2, R5")
	g.op("BEQ fold")
	g.clearLast()
	g.op("CBZ R5, whole")
	g.op("SUB R5, R2, R6")
	g.op("ADD R6<<2, R0, R3")
	g.op("ADD R6<<2, R1, R6")
	g.op("FMOVS.P 4(R3), F24")
	g.op("FMOVS.P 4(R6), F25")
	g.op("CMP $2, R5")
	g.op("BLT whole")
	g.op("VLD1.P 4(R3), V24.S[1]")
	g.op("VLD1.P 4(R6), V25.S[1]")
	g.op("BEQ whole")
	g.op("VLD1 (R3), V24.S[2]")
	g.op("VLD1 (R6), V25.S[2]")
}

// dotLastDouble is dotLast for vectors of two elements: at most one element is left.
func (g *neon) dotLastDouble(axpy bool) {
	g.op("BEQ fold")
	g.clearLast()
	g.op("TBZ $0, R2, whole")
	g.op("SUB $1, R2, R3")
	g.op("%s (R0)(R3<<%d), F24", g.scalarA(), g.shift)
	g.op("FMOVD (R1)(R3<<3), F25")
	if axpy {
		g.op("FMOVD (R4)(R3<<3), F26")
	}
	g.widen(24)
	if axpy {
		g.fma(31, 24, 26)
		g.op("FMOVD F26, (R4)(R3<<3)")
	}
}

// clearLast clears V24 and V25.
func (g *neon) clearLast() {
	g.op("VMOVI $0, V24.B16")
	g.op("VMOVI $0, V25.B16")
}

// dotVector emits the next vector of the last turn, whose lanes are in register i. If less than a
// vector is left, the lanes take V24 and V25, and the turn ends.
func (g *neon) dotVector(i int, axpy bool) {
	next := fmt.Sprint("vector", i)
	g.op("SUBS $%d, R2", g.perVector())
	g.op("BGE %s", next)
	g.fma(24, 25, i)
	g.op("B fold")

	g.label(next)
	if g.mixed() {
		g.op("FMOVD.P 8(R0), F16")
		g.widen(16)
	} else {
		g.op("FMOVQ.P 16(R0), F16")
	}
	g.op("FMOVQ.P 16(R1), F17")
	g.fma(16, 17, i)
	if axpy {
		g.op("FMOVQ (R4), F26")
		g.fma(31, 16, 26)
		g.op("FMOVQ.P F26, 16(R4)")
	}
}

// axpyRest emits the axpy of the R5 elements behind the last whole vector.
func (g *neon) axpyRest() {
	g.op("CBZ R5, store")
	g.op("FMOVS.P 4(R0), F16")
	g.op("FMOVS (R4), F26")
	g.fma(31, 16, 26)
	g.op("FMOVS.P F26, 4(R4)")
	g.op("SUB $1, R5")
	g.op("B fold")

	g.label("store")
}

// fold adds up n vectors of lanes in halves: F0 = their sum + 0.
func (g *neon) fold(n int) {
	for h := n / 2; h > 0; h /= 2 {
		for i := range h {
			g.op("VFADD%s(%d, %d, %d)", g.suffix, i+h, i, i)
		}
	}
	if g.size == 4 {
		g.op("VEXT $8, V0.B16, V0.B16, V1.B16")
		g.op("VFADDS(1, 0, 0)")
	}
	g.op("VFADDP%s(0, 0)", g.suffix)
	g.op("VMOVI $0, V1.B16")
	g.op("FADD%s F1, F0", g.suffix)
}
