package main

import "fmt"

// mulBytes emits the product of a panel of bytes and a vector of words, a bytesEntry of package la.
func (g *x86) mulBytes() {
	vectors := panelRows * 4 / g.bytes
	x, t, temporaries := 8, 9, 6 // registers of x, the first of t
	if g.masked {
		x, t, temporaries = 16, 18, 8
	}
	g.beginBytes("MulBytes", fmt.Sprintf("	%s of y   %s x_2p and x_2p+1 in every element", g.regs(0, vectors), g.reg(x)), vectors)
	g.op("JZ    pair")
	g.moveSums(vectors, false)

	g.label("pair")
	g.op("VPBROADCASTD (DI), %s", g.reg(x))
	for i := range vectors {
		d := g.reg(t + i%temporaries)
		g.op("VPMOVSXBW %s(SI), %s", offset(i*g.bytes/2), d)
		g.op("VPMADDWD %s, %s, %s", g.reg(x), d, d)
		g.op("VPADDD %s, %s, %s", d, g.reg(i), g.reg(i))
	}
	g.op("ADDQ $4, DI")
	g.op("ADDQ $%d, SI", pairBytes)
	g.op("DECQ R9")
	g.op("JNZ  pair")
	g.moveSums(vectors, true)
	g.end()
}

// mulBytesVNNI emits mulBytes for AVX512_VNNI. One instruction multiplies pairs and adds them to the sums. An addition waits for the
// last one to the same sum. The pairs of even and odd p therefore have sums of their own.
func (g *x86) mulBytesVNNI() {
	const x, t = 16, 18 // registers of x, the first of t
	vectors := panelRows * 4 / g.bytes
	g.beginBytes("MulBytesVNNI", fmt.Sprintf("	%s of y, of even p   %s of odd p   %s x_2p and x_2p+1 in every element", g.regs(0, vectors), g.regs(vectors, vectors), g.regs(x, 2)), 2*vectors)
	g.op("JZ    begin")
	g.moveSums(vectors, false)
	pair := func(odd int) {
		for i := range vectors {
			d := g.reg(t + i)
			g.op("VPMOVSXBW %s(SI), %s", offset(odd*pairBytes+i*g.bytes/2), d)
			g.op("VPDPWSSD %s, %s, %s", g.reg(x+odd), d, g.reg(odd*vectors+i))
		}
	}

	g.label("begin")
	g.op("SUBQ $2, R9")
	g.op("JLT  last")

	g.label("two")
	g.op("VPBROADCASTD (DI), %s", g.reg(x))
	g.op("VPBROADCASTD 4(DI), %s", g.reg(x+1))
	pair(0)
	pair(1)
	g.op("ADDQ $8, DI")
	g.op("ADDQ $%d, SI", 2*pairBytes)
	g.op("SUBQ $2, R9")
	g.op("JGE  two")

	g.label("last")
	g.op("ADDQ $2, R9")
	g.op("JZ   done")
	g.op("VPBROADCASTD (DI), %s", g.reg(x))
	pair(0)

	g.label("done")
	for i := range vectors {
		g.op("VPADDD %s, %s, %s", g.reg(vectors+i), g.reg(i), g.reg(i))
	}
	g.moveSums(vectors, true)
	g.end()
}

// bytesRows is the number of vectors that mulBytesRows multiplies: the sums of more do not fit in the registers beside a panel's elements.
const bytesRows = 4

// mulBytesRows emits the product of a panel of bytes and four vectors of words, a bytesRowsEntry of package la, for AVX512_VNNI. Elements
// are widened once for the four.
func (g *x86) mulBytesRows() {
	const x, t = 16, 20 // registers of x, the first of t
	vectors := panelRows * 4 / g.bytes
	xs := [bytesRows]string{"(DI)", "(DI)(R11*1)", "(DI)(R11*2)", "(DI)(R12*1)"}
	ys := [bytesRows]string{"(DX)", "(DX)(R13*1)", "(DX)(R13*2)", "(DX)(BX*1)"}
	g.begin(g.set+"MulBytesRows", "(pairs int, a *int8, x *int16, xs int, y *int32, ys int, add bool)", 49,
		"	R9 pairs left   SI a   DI x   R11 xs in bytes   R12 3 xs   DX y   R13 ys in bytes   BX 3 ys   R10 add",
		fmt.Sprintf("	%s of y, four for each vector   %s x_2p and x_2p+1 of each vector in every element   %s a_p as words",
			g.regs(0, bytesRows*vectors), g.regs(x, bytesRows), g.regs(t, vectors)), "",
		"	y = 0, or from memory",
		"	for p < pairs { widen a to words; for each vector { y += a_p0 * x_2p + a_p1 * x_2p+1 } }")
	g.op("MOVQ pairs+0(FP), R9")
	g.op("MOVQ a+8(FP), SI")
	g.op("MOVQ x+16(FP), DI")
	g.op("MOVQ xs+24(FP), R11")
	g.op("MOVQ y+32(FP), DX")
	g.op("MOVQ ys+40(FP), R13")
	g.op("MOVBLZX add+48(FP), R10")
	g.op("SHLQ $1, R11")
	g.op("LEAQ (R11)(R11*2), R12")
	g.op("SHLQ $2, R13")
	g.op("LEAQ (R13)(R13*2), BX")
	for i := range bytesRows * vectors {
		g.op("%[1]s %[2]s, %[2]s, %[2]s", g.zeroLane(), g.reg(i))
	}
	g.op("TESTB R10, R10")
	g.op("JZ    pair")
	for i := range bytesRows * vectors {
		g.op("VMOVUPS %s, %s", offset(i%vectors*g.bytes)+ys[i/vectors], g.reg(i))
	}

	g.label("pair")
	for r, at := range xs {
		g.op("VPBROADCASTD %s, %s", at, g.reg(x+r))
	}
	for i := range vectors {
		g.op("VPMOVSXBW %s(SI), %s", offset(i*g.bytes/2), g.reg(t+i))
		for r := range bytesRows {
			g.op("VPDPWSSD %s, %s, %s", g.reg(x+r), g.reg(t+i), g.reg(r*vectors+i))
		}
	}
	g.op("ADDQ $4, DI")
	g.op("ADDQ $%d, SI", pairBytes)
	g.op("DECQ R9")
	g.op("JNZ  pair")
	for i := range bytesRows * vectors {
		g.op("VMOVUPS %s, %s", g.reg(i), offset(i%vectors*g.bytes)+ys[i/vectors])
	}
	g.end()
}

// pairBytes is the number of bytes of a pair of columns.
const pairBytes = 2 * panelRows

// beginBytes emits the comment of a bytesEntry, loads the arguments, and clears the sums. The flag of zero says whether y counts as 0.
func (g *x86) beginBytes(name, registers string, sums int) {
	g.begin(g.set+name, "(pairs int, a *int8, x *int16, y *int32, add bool)", 33,
		"	R9 pairs left   SI a   DI x   DX y   R10 add", registers, "",
		"	y = 0, or from memory",
		"	for p < pairs { widen a to words; y += a_p0 * x_2p + a_p1 * x_2p+1 }")
	g.op("MOVQ pairs+0(FP), R9")
	g.op("MOVQ a+8(FP), SI")
	g.op("MOVQ x+16(FP), DI")
	g.op("MOVQ y+24(FP), DX")
	g.op("MOVBLZX add+32(FP), R10")
	for i := range sums {
		g.op("%[1]s %[2]s, %[2]s, %[2]s", g.zeroLane(), g.reg(i))
	}
	g.op("TESTB R10, R10")
}

// moveSums emits moves of y to the first registers, or to memory if stored.
func (g *x86) moveSums(vectors int, stored bool) {
	for i := range vectors {
		from, to := fmt.Sprintf("%s(DX)", offset(i*g.bytes)), g.reg(i)
		if stored {
			from, to = to, from
		}
		g.op("VMOVUPS %s, %s", from, to)
	}
}
