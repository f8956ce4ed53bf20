package main

import "fmt"

// axpy emits Axpy. Its vector a is a row of a matrix, or another vector.
func (g *neon) axpy() {
	quads := 2 // in a turn of the loop
	if g.mixed() {
		quads = 1
	}
	g.begin(g.routine("Axpy"), g.axpySignature(), axpyBytes,
		"	R0 a   R1 y   R2 elements left",
		"	V16–V19  of a   V20–V23 of y   V31 alpha", "",
		fmt.Sprintf("	for %d elements { y = fma(alpha, a, y) }, then for fewer", quads*g.perQuad()))
	g.op("MOVD n+0(FP), R2")
	g.op("%s alpha+8(FP), F31", g.scalar())
	g.op("MOVD a+16(FP), R0")
	g.op("MOVD y+24(FP), R1")
	g.broadcast(31)
	n := quads * g.perQuad()
	g.op("SUBS $%d, R2", n)
	g.op("BLT tail")

	g.label("loop")
	for q := range quads {
		g.axpyQuad(q)
	}
	g.op("ADD $%d, R0", n*g.from)
	g.op("ADD $%d, R1", n*g.size)
	g.op("SUBS $%d, R2", n)
	g.op("BGE loop")

	g.label("tail")
	if g.mixed() {
		g.op("ADDS $%d, R2", n)
		g.op("BEQ done")
		g.axpyOnes()
	} else {
		g.op("ADD $%d, R2", n)
		g.axpyVectors()
	}

	g.label("done")
	g.op("RET")
}

// axpyQuad emits quad q of a turn of the loop.
func (g *neon) axpyQuad(q int) {
	y := q * quad * 16
	g.loadOperands(q*g.storedQuad(), y)
	for i := range quad {
		g.fma(31, 16+i, 20+i)
	}
	g.storePair(20, y, "R1")
	g.storePair(22, y+32, "R1")
}

// axpyVectors emits the vectors after the last whole turn and the elements after the last whole
// vector.
func (g *neon) axpyVectors() {
	g.op("SUBS $%d, R2", g.perVector())
	g.op("BLT last")

	g.label("vector")
	g.op("FMOVQ.P 16(R0), F16")
	g.op("FMOVQ (R1), F20")
	g.fma(31, 16, 20)
	g.op("FMOVQ.P F20, 16(R1)")
	g.op("SUBS $%d, R2", g.perVector())
	g.op("BGE vector")

	g.label("last")
	if g.size == 8 { // one element at most
		g.op("TBZ $0, R2, done")
		g.op("FMOVD (R0), F16")
		g.op("FMOVD (R1), F20")
		g.fma(31, 16, 20)
		g.op("FMOVD F20, (R1)")
		return
	}
	g.op("ADDS $%d, R2", g.perVector())
	g.op("BEQ done")
	g.axpyOnes()
}

// axpyOnes emits a loop over the R2 > 0 elements that are left, one at a time.
func (g *neon) axpyOnes() {
	g.label("one")
	g.op("%s.P %d(R0), F16", g.scalarA(), g.from)
	g.op("%s (R1), F20", g.scalar())
	g.widen(16)
	g.fma(31, 16, 20)
	g.op("%s.P F20, %d(R1)", g.scalar(), g.size)
	g.op("SUBS $1, R2")
	g.op("BNE one")
}

// axpysRow holds the pointer to each row of a in Axpys.
var axpysRow = [...]string{"R3", "R4", "R5", "R6"}

// axpys emits Axpys: four axpys in one pass over y.
func (g *neon) axpys() {
	x := g.axpysBegin()
	n := g.perQuad()
	g.op("SUBS $%d, R2", n)
	g.op("BLT tail")

	g.label("loop")
	g.loadPair(0, "R1", 0)
	g.loadPair(32, "R1", 2)
	for i, row := range axpysRow {
		g.loadQuad(0, row)
		g.op("ADD $%d, %s", g.storedQuad(), row)
		g.widenQuad()
		for j := range quad {
			g.fmaElement(x, i, 16+j, j)
		}
	}
	g.storePair(0, 0, "R1")
	g.storePair(2, 32, "R1")
	g.op("ADD $%d, R1", quad*16)
	g.op("SUBS $%d, R2", n)
	g.op("BGE loop")

	g.label("tail")
	g.op("ADDS $%d, R2", n)
	g.op("BEQ done")

	g.label("one")
	g.op("%s (R1), F0", g.scalar())
	for i, row := range axpysRow {
		g.op("%s.P %d(%s), F%d", g.scalarA(), g.from, row, 16+i)
	}
	for i := range axpysRow {
		g.widen(16 + i)
	}
	for i := range axpysRow {
		g.fmaElement(x, i, 16+i, 0)
	}
	g.op("%s.P F0, %d(R1)", g.scalar(), g.size)
	g.op("SUBS $1, R2")
	g.op("BNE one")

	g.label("done")
	g.op("RET")
}

// axpysBegin emits the comment of Axpys and loads the arguments. It returns the first register
// of x.
func (g *neon) axpysBegin() (x int) {
	x, registers := 30, "V30 V31"
	if g.size == 4 {
		x, registers = 31, "V31"
	}
	g.begin(g.routine("Axpys"), g.axpysSignature(), axpysBytes,
		"	R0 x   R1 y   R2 elements left   R3–R6 rows of a   R7 lda",
		fmt.Sprintf("	V0–V3 of y   V16–V19 of a row of a   %s x, used by element", registers), "",
		fmt.Sprintf("	for %d elements { for i in 4 { y = fma(x_i, a_i, y) } }, then for 1", g.perQuad()))
	g.op("MOVD n+0(FP), R2")
	g.op("MOVD x+8(FP), R0")
	g.op("MOVD a+16(FP), R3")
	g.op("MOVD lda+24(FP), R7")
	g.op("MOVD y+32(FP), R1")
	for i, row := range axpysRow[1:] {
		g.op("ADD R7<<%d, %s, %s", g.shift, axpysRow[i], row)
	}
	if g.size == 4 {
		g.op("FMOVQ (R0), F31")
	} else {
		g.loadPair(0, "R0", 30)
	}
	return x
}

// scal emits Scal.
func (g *neon) scal() {
	g.begin(g.routine("Scal"), g.scalSignature(), scalBytes,
		"	R0 x   R2 elements left",
		"	V16–V19 of x   V31 alpha", "",
		fmt.Sprintf("	for %d elements { x = alpha·x }, then for 1", g.perQuad()))
	g.op("MOVD n+0(FP), R2")
	g.op("%s alpha+8(FP), F31", g.scalar())
	g.op("MOVD x+16(FP), R0")
	g.eachQuad(func() {
		g.loadPair(0, "R0", 16)
		g.loadPair(32, "R0", 18)
		for i := range quad {
			g.op("VFMUL%s0(31, %d, %d)", g.suffix, 16+i, 16+i)
		}
		g.storePair(16, 0, "R0")
		g.storePair(18, 32, "R0")
		g.op("ADD $%d, R0", quad*16)
	}, func() {
		g.op("%s (R0), F16", g.scalar())
		g.op("FMUL%s F31, F16", g.suffix)
		g.op("%s.P F16, %d(R0)", g.scalar(), g.size)
	})
}
