//go:build !purego

#include "textflag.h"

// Kernels for amd64. Every routine computes the bits of its namesake in
// generic.go. Element (i, j) of a tile lives in accumulator i·(vectors a row) + j;
// nothing is ever summed across the lanes of a product.

// func gemmAVX512(k int, alpha float64, a, b, c *float64, ldc int, add bool)
//
// Tile of 8×24: row i in Z(8+3i), Z(9+3i), Z(10+3i).
//
//	CX k   SI a   DX b   DI c   R8 4·row, R9 row of c in bytes, R10 = 3·R9
//	Z0–Z2 a row of b   Z3, Z4 an element of a in all lanes
//
//	prefetch c
//	for p in k {                     four at a time
//	    Z0, Z1, Z2 = b[0:24]; b += 24
//	    for i in 8 { row i = fma(a[i], (Z0, Z1, Z2), row i) }; a += 8
//	}
//	c = alpha·rows, or fma(alpha, rows, c)
#define ROW512(fma, bcast, at, t, c0, c1, c2) \
	bcast at(SI), t     \
	fma   Z0, t, c0     \
	fma   Z1, t, c1     \
	fma   Z2, t, c2

#define STEP512(mov, bcast, fma, size, p) \
	mov        (p*192)(DX), Z0     \
	mov        (p*192+64)(DX), Z1  \
	mov        (p*192+128)(DX), Z2 \
	PREFETCHT0 (p*192+1536)(DX)    \
	PREFETCHT0 (p*192+1600)(DX)    \
	PREFETCHT0 (p*192+1664)(DX)    \
	ROW512(fma, bcast, (p*8+0)*size, Z3, Z8, Z9, Z10)    \
	ROW512(fma, bcast, (p*8+1)*size, Z4, Z11, Z12, Z13)  \
	ROW512(fma, bcast, (p*8+2)*size, Z3, Z14, Z15, Z16)  \
	ROW512(fma, bcast, (p*8+3)*size, Z4, Z17, Z18, Z19)  \
	ROW512(fma, bcast, (p*8+4)*size, Z3, Z20, Z21, Z22)  \
	ROW512(fma, bcast, (p*8+5)*size, Z4, Z23, Z24, Z25)  \
	ROW512(fma, bcast, (p*8+6)*size, Z3, Z26, Z27, Z28)  \
	ROW512(fma, bcast, (p*8+7)*size, Z4, Z29, Z30, Z31)

#define CLEAR512 \
	VPXORQ Z8, Z8, Z8; VPXORQ Z9, Z9, Z9; VPXORQ Z10, Z10, Z10     \
	VPXORQ Z11, Z11, Z11; VPXORQ Z12, Z12, Z12; VPXORQ Z13, Z13, Z13 \
	VPXORQ Z14, Z14, Z14; VPXORQ Z15, Z15, Z15; VPXORQ Z16, Z16, Z16 \
	VPXORQ Z17, Z17, Z17; VPXORQ Z18, Z18, Z18; VPXORQ Z19, Z19, Z19 \
	VPXORQ Z20, Z20, Z20; VPXORQ Z21, Z21, Z21; VPXORQ Z22, Z22, Z22 \
	VPXORQ Z23, Z23, Z23; VPXORQ Z24, Z24, Z24; VPXORQ Z25, Z25, Z25 \
	VPXORQ Z26, Z26, Z26; VPXORQ Z27, Z27, Z27; VPXORQ Z28, Z28, Z28 \
	VPXORQ Z29, Z29, Z29; VPXORQ Z30, Z30, Z30; VPXORQ Z31, Z31, Z31

// For each row of c: op(at, three accumulators).
#define EACHROW512(op) \
	op(DI, Z8, Z9, Z10)     \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z11, Z12, Z13)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z14, Z15, Z16)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z17, Z18, Z19)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z20, Z21, Z22)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z23, Z24, Z25)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z26, Z27, Z28)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z29, Z30, Z31)

#define PREFETCH3(c, c0, c1, c2) \
	PREFETCHT0 (c)    \
	PREFETCHT0 64(c)  \
	PREFETCHT0 128(c) \
	PREFETCHT0 184(c)

#define FMAPD3(c, c0, c1, c2) \
	VFMADD213PD (c), Z0, c0    \
	VFMADD213PD 64(c), Z0, c1  \
	VFMADD213PD 128(c), Z0, c2

#define MULPD3(c, c0, c1, c2) \
	VMULPD c0, Z0, c0 \
	VMULPD c1, Z0, c1 \
	VMULPD c2, Z0, c2

#define STORE3(c, c0, c1, c2) \
	VMOVUPD c0, (c)    \
	VMOVUPD c1, 64(c)  \
	VMOVUPD c2, 128(c)

#define ADDSTOREPD3(c, c0, c1, c2) \
	FMAPD3(c, c0, c1, c2) \
	STORE3(c, c0, c1, c2)

#define MULSTOREPD3(c, c0, c1, c2) \
	MULPD3(c, c0, c1, c2) \
	STORE3(c, c0, c1, c2)

TEXT ·gemmAVX512(SB), NOSPLIT, $0-49
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), R8
	SHLQ $3, R8
	MOVQ DI, R9
	EACHROW512(PREFETCH3)
	MOVQ R9, DI
	CLEAR512
	MOVQ CX, BX
	SHRQ $2, BX
	JZ   rest

four:
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 0)
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 1)
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 2)
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 3)
	ADDQ $256, SI
	ADDQ $768, DX
	DECQ BX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 0)
	ADDQ $64, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  one

done:
	VBROADCASTSD alpha+8(FP), Z0
	CMPB add+48(FP), $0
	JEQ  store
	EACHROW512(ADDSTOREPD3)
	VZEROUPPER
	RET

store:
	EACHROW512(MULSTOREPD3)
	VZEROUPPER
	RET

// func distAVX512(k int, a, b, c *float64, ldc int, add bool)
//
// Registers as in gemmAVX512, Z5, Z6, Z7 the differences.
//
//	rows = 0, or c if add
//	for p in k {
//	    Z0, Z1, Z2 = b[0:24]; b += 24
//	    for i in 8 { t = a[i] - (Z0, Z1, Z2); row i = fma(t, t, row i) }; a += 8
//	}
//	c = rows
#define DISTROW512(bcast, sub, fma, at, t, c0, c1, c2) \
	bcast at(SI), t  \
	sub   Z0, t, Z5  \
	sub   Z1, t, Z6  \
	sub   Z2, t, Z7  \
	fma   Z5, Z5, c0 \
	fma   Z6, Z6, c1 \
	fma   Z7, Z7, c2

#define DISTSTEP512(mov, bcast, sub, fma, size) \
	mov 0(DX), Z0   \
	mov 64(DX), Z1  \
	mov 128(DX), Z2 \
	DISTROW512(bcast, sub, fma, 0*size, Z3, Z8, Z9, Z10)   \
	DISTROW512(bcast, sub, fma, 1*size, Z4, Z11, Z12, Z13) \
	DISTROW512(bcast, sub, fma, 2*size, Z3, Z14, Z15, Z16) \
	DISTROW512(bcast, sub, fma, 3*size, Z4, Z17, Z18, Z19) \
	DISTROW512(bcast, sub, fma, 4*size, Z3, Z20, Z21, Z22) \
	DISTROW512(bcast, sub, fma, 5*size, Z4, Z23, Z24, Z25) \
	DISTROW512(bcast, sub, fma, 6*size, Z3, Z26, Z27, Z28) \
	DISTROW512(bcast, sub, fma, 7*size, Z4, Z29, Z30, Z31)

#define LOAD3(c, c0, c1, c2) \
	VMOVUPD (c), c0   \
	VMOVUPD 64(c), c1 \
	VMOVUPD 128(c), c2

TEXT ·distAVX512(SB), NOSPLIT, $0-41
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), R8
	SHLQ $3, R8
	CLEAR512
	CMPB add+40(FP), $0
	JEQ  start
	MOVQ DI, R9
	EACHROW512(LOAD3)
	MOVQ R9, DI

start:
	TESTQ CX, CX
	JZ    store

loop:
	DISTSTEP512(VMOVUPD, VBROADCASTSD, VSUBPD, VFMADD231PD, 8)
	ADDQ $64, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  loop

store:
	EACHROW512(STORE3)
	VZEROUPPER
	RET
