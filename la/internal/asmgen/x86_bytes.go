package main

import "fmt"

// mulBytes emits the product of a panel of bytes and a vector of words, a bytesEntry of package la. If summed, one instruction of
// AVX512_VNNI multiplies pairs and adds them to the sums.
func (g *x86) mulBytes(summed bool) {
	const loaded = 2 * panelRows // bytes of a pair of columns
	vectors, half := panelRows*4/g.bytes, g.bytes/2
	x, t, temporaries := 8, 9, 6 // registers of x, the first of t
	if g.masked {
		x, t, temporaries = 16, 18, 8
	}
	name := g.set + "MulBytes"
	if summed {
		name += "VNNI"
	}
	g.begin(name, "(pairs int, a *int8, x *int16, y *int32, add bool)", 33,
		"	R9 pairs left   SI a   DI x   DX y   R10 add",
		fmt.Sprintf("	%s of y   %s x_2p and x_2p+1 in every element", g.regs(0, vectors), g.reg(x)), "",
		"	y = 0, or from memory",
		"	for p < pairs { widen a to words; y += a_p0 * x_2p + a_p1 * x_2p+1 }")
	g.op("MOVQ pairs+0(FP), R9")
	g.op("MOVQ a+8(FP), SI")
	g.op("MOVQ x+16(FP), DI")
	g.op("MOVQ y+24(FP), DX")
	g.op("MOVBLZX add+32(FP), R10")
	for i := range vectors {
		g.op("%[1]s %[2]s, %[2]s, %[2]s", g.zeroLane(), g.reg(i))
	}
	g.op("TESTB R10, R10")
	g.op("JZ    pair")
	for i := range vectors {
		g.op("VMOVUPS %s(DX), %s", offset(i*g.bytes), g.reg(i))
	}

	g.label("pair")
	g.op("VPBROADCASTD (DI), %s", g.reg(x))
	for i := range vectors {
		d := g.reg(t + i%temporaries)
		g.op("VPMOVSXBW %s(SI), %s", offset(i*half), d)
		if summed {
			g.op("VPDPWSSD %s, %s, %s", g.reg(x), d, g.reg(i))
			continue
		}
		g.op("VPMADDWD %s, %s, %s", g.reg(x), d, d)
		g.op("VPADDD %s, %s, %s", d, g.reg(i), g.reg(i))
	}
	g.op("ADDQ $4, DI")
	g.op("ADDQ $%d, SI", loaded)
	g.op("DECQ R9")
	g.op("JNZ  pair")
	for i := range vectors {
		g.op("VMOVUPS %s, %s(DX)", g.reg(i), offset(i*g.bytes))
	}
	g.end()
}
