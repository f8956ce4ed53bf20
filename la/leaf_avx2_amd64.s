//go:build !purego

#include "textflag.h"

// Strip kernels for AVX2 and FMA, float64: nr = 12 lines (three vectors), mr = 4.
// They are those of leaf_amd64.s with a 4×12 register tile in Y0…Y11, row i in
// Y(3i), Y(3i+1), Y(3i+2). Y12…Y14 hold a row of b, Y15 a broadcast of a.

// tail<> has the masks for the second and third vector of a row of which v are
// in use, at 64·(v-1).
DATA tail<>+0(SB)/8, $0
DATA tail<>+8(SB)/8, $0
DATA tail<>+16(SB)/8, $0
DATA tail<>+24(SB)/8, $0
DATA tail<>+32(SB)/8, $0
DATA tail<>+40(SB)/8, $0
DATA tail<>+48(SB)/8, $0
DATA tail<>+56(SB)/8, $0
DATA tail<>+64(SB)/8, $-1
DATA tail<>+72(SB)/8, $-1
DATA tail<>+80(SB)/8, $-1
DATA tail<>+88(SB)/8, $-1
DATA tail<>+96(SB)/8, $0
DATA tail<>+104(SB)/8, $0
DATA tail<>+112(SB)/8, $0
DATA tail<>+120(SB)/8, $0
DATA tail<>+128(SB)/8, $-1
DATA tail<>+136(SB)/8, $-1
DATA tail<>+144(SB)/8, $-1
DATA tail<>+152(SB)/8, $-1
DATA tail<>+160(SB)/8, $-1
DATA tail<>+168(SB)/8, $-1
DATA tail<>+176(SB)/8, $-1
DATA tail<>+184(SB)/8, $-1
GLOBL tail<>(SB), RODATA|NOPTR, $192

DATA unit<>+0(SB)/8, $1.0
GLOBL unit<>(SB), RODATA|NOPTR, $8

DATA infinity<>+0(SB)/8, $0x7ff0000000000000
GLOBL infinity<>(SB), RODATA|NOPTR, $8

// TERM3, TERM2 and TERM1 continue the first one, two or three vectors of each
// row of the tile by one term; SI is at a, DI at b, at byte offset o.
#define ROW3(OP, a, c0, c1, c2) \
	VBROADCASTSD a, Y15; \
	OP Y12, Y15, c0; \
	OP Y13, Y15, c1; \
	OP Y14, Y15, c2

#define ROW2(OP, a, c0, c1) \
	VBROADCASTSD a, Y15; \
	OP Y12, Y15, c0; \
	OP Y13, Y15, c1

#define ROW1(OP, a, c0) \
	VBROADCASTSD a, Y15; \
	OP Y12, Y15, c0

#define TERM3(OP, o) \
	VMOVUPD (o)(DI), Y12;    \
	VMOVUPD (o+32)(DI), Y13; \
	VMOVUPD (o+64)(DI), Y14; \
	ROW3(OP, (o)(SI), Y0, Y1, Y2);    \
	ROW3(OP, (o+8)(SI), Y3, Y4, Y5);  \
	ROW3(OP, (o+16)(SI), Y6, Y7, Y8); \
	ROW3(OP, (o+24)(SI), Y9, Y10, Y11)

#define TERM2(OP, o) \
	VMOVUPD (o)(DI), Y12;    \
	VMOVUPD (o+32)(DI), Y13; \
	ROW2(OP, (o)(SI), Y0, Y1);    \
	ROW2(OP, (o+8)(SI), Y3, Y4);  \
	ROW2(OP, (o+16)(SI), Y6, Y7); \
	ROW2(OP, (o+24)(SI), Y9, Y10)

#define TERM1(OP, o) \
	VMOVUPD (o)(DI), Y12;     \
	ROW1(OP, (o)(SI), Y0);    \
	ROW1(OP, (o+8)(SI), Y3);  \
	ROW1(OP, (o+16)(SI), Y6); \
	ROW1(OP, (o+24)(SI), Y9)

#define LOADROW(o, p, c0, c1, c2) \
	VMOVUPD (o)(p), c0;    \
	VMOVUPD (o+32)(p), c1; \
	VMOVUPD (o+64)(p), c2

#define STOREROW(c0, c1, c2, o, p) \
	VMOVUPD c0, (o)(p);    \
	VMOVUPD c1, (o+32)(p); \
	VMOVUPD c2, (o+64)(p)

// LOADTAIL and STORETAIL do so under the masks m1 and m2.
#define LOADTAIL(o, p, m1, m2, c0, c1, c2) \
	VMOVUPD    (o)(p), c0;        \
	VMASKMOVPD (o+32)(p), m1, c1; \
	VMASKMOVPD (o+64)(p), m2, c2

#define STORETAIL(c0, c1, c2, m1, m2, o, p) \
	VMOVUPD    c0, (o)(p);        \
	VMASKMOVPD c1, m1, (o+32)(p); \
	VMASKMOVPD c2, m2, (o+64)(p)

// TILE is the body of addAVX2 and subAVX2; see TILE in leaf_amd64.s, with 12, 4
// and 8 for 24, 8 and 16. BX is 32·(v-1) for v vectors in use, and in the loop
// three the value of CX after which nothing more is prefetched; AX is the step
// of R12.
#define TILE(OP) \
	MOVQ k+0(FP), R13; \
	MOVQ a+8(FP), R9; \
	MOVQ b+16(FP), R10; \
	MOVQ c+24(FP), DX; \
	MOVQ ldc+32(FP), R8; \
	MOVQ mode+48(FP), AX; \
	SHLQ $3, R8; \
	XORL R11, R11; \
	MOVQ AX, CX; \
	ANDL $31, CX; \
	LEAQ (R10)(CX*8), R10; \
	TESTL $64, AX; \
	JEQ  block; \
	LEAQ (R9)(CX*8), R9; \
	LEAQ (R11)(CX*8), R11; \
block: \
	MOVQ mode+48(FP), AX; \
	MOVL AX, CX; \
	ANDL $31, CX; \
	MOVL $64, BX; \
	TESTL $64, AX; \
	CMOVLNE R11, BX; \
	SHLL $3, CX; \
	SUBL CX, BX; \
	LEAQ tail<>(SB), R12; \
	VMOVUPD (R12)(BX*2), Y12; \
	VMOVUPD 32(R12)(BX*2), Y13; \
	TESTL $32, AX; \
	JNE  zero; \
	MOVQ DX, AX; \
	LOADTAIL(0, AX, Y12, Y13, Y0, Y1, Y2); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Y12, Y13, Y3, Y4, Y5); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Y12, Y13, Y6, Y7, Y8); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Y12, Y13, Y9, Y10, Y11); \
	JMP  start; \
zero: \
	VXORPD Y0, Y0, Y0; \
	VXORPD Y1, Y1, Y1; \
	VXORPD Y2, Y2, Y2; \
	VXORPD Y3, Y3, Y3; \
	VXORPD Y4, Y4, Y4; \
	VXORPD Y5, Y5, Y5; \
	VXORPD Y6, Y6, Y6; \
	VXORPD Y7, Y7, Y7; \
	VXORPD Y8, Y8, Y8; \
	VXORPD Y9, Y9, Y9; \
	VXORPD Y10, Y10, Y10; \
	VXORPD Y11, Y11, Y11; \
start: \
	MOVQ R9, SI; \
	MOVQ R10, DI; \
	MOVQ R13, CX; \
	CMPL BX, $32; \
	JLT  one; \
	JEQ  two; \
	LEAQ (DX)(R8*4), R12; \
	CMPQ R11, $64; \
	CMOVQEQ next+40(FP), R12; \
	MOVQ R8, AX; \
	LEAQ -16(R13), BX; \
three: \
	PREFETCHT0 (R12); \
	PREFETCHT0 88(R12); \
	ADDQ AX, R12; \
	TERM3(OP, 0); \
	TERM3(OP, 96); \
	TERM3(OP, 192); \
	TERM3(OP, 288); \
	ADDQ $384, SI; \
	ADDQ $384, DI; \
	SUBQ $4, CX; \
	CMPQ CX, BX; \
	JNE  more; \
	XORL AX, AX; \
more: \
	TESTQ CX, CX; \
	JNE  three; \
	MOVL $64, BX; \
	JMP  done; \
two: \
	TERM2(OP, 0); \
	TERM2(OP, 96); \
	TERM2(OP, 192); \
	TERM2(OP, 288); \
	ADDQ $384, SI; \
	ADDQ $384, DI; \
	SUBQ $4, CX; \
	JNE  two; \
	JMP  done; \
one: \
	TERM1(OP, 0); \
	TERM1(OP, 96); \
	TERM1(OP, 192); \
	TERM1(OP, 288); \
	ADDQ $384, SI; \
	ADDQ $384, DI; \
	SUBQ $4, CX; \
	JNE  one; \
done: \
	LEAQ tail<>(SB), R12; \
	VMOVUPD (R12)(BX*2), Y12; \
	VMOVUPD 32(R12)(BX*2), Y13; \
	MOVQ DX, AX; \
	STORETAIL(Y0, Y1, Y2, Y12, Y13, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Y3, Y4, Y5, Y12, Y13, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Y6, Y7, Y8, Y12, Y13, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Y9, Y10, Y11, Y12, Y13, 0, AX); \
	LEAQ (DX)(R8*4), DX; \
	ADDQ $32, R9; \
	ADDQ $32, R11; \
	CMPQ R11, $96; \
	JNE  block; \
	VZEROUPPER; \
	RET

// func addAVX2(k int, a, b, c *float64, ldc int, next *float64, mode int)
TEXT ·addAVX2(SB), NOSPLIT, $0-56
	TILE(VFMADD231PD)

// func subAVX2(k int, a, b, c *float64, ldc int, next *float64, mode int)
TEXT ·subAVX2(SB), NOSPLIT, $0-56
	TILE(VFNMADD231PD)

// SOLVED finishes row i of the tile: it is scaled by its reciprocal and stored.
#define SOLVED(i, c0, c1, c2) \
	VBROADCASTSD (i*8)(BX), Y15; \
	VMULPD Y15, c0, c0; \
	VMULPD Y15, c1, c1; \
	VMULPD Y15, c2, c2; \
	STOREROW(c0, c1, c2, i*96, DI)

// LESS subtracts from row i of the tile the term of the solved row p, z0 z1 z2.
#define LESS(i, p, z0, z1, z2, c0, c1, c2) \
	VBROADCASTSD (p*96+i*8)(SI), Y15; \
	VFNMADD231PD z0, Y15, c0; \
	VFNMADD231PD z1, Y15, c1; \
	VFNMADD231PD z2, Y15, c2

// func solveAVX2(lo, hi int, t *float64, ts int, r, y *float64)
//
// See solveAVX512, with 4 rows of 12 for 8 of 24.
TEXT ·solveAVX2(SB), NOSPLIT, $0-48
	MOVQ  lo+0(FP), CX
	MOVQ  hi+8(FP), R12
	MOVQ  t+16(FP), R9
	MOVQ  ts+24(FP), R8
	MOVQ  r+32(FP), BX
	MOVQ  y+40(FP), R10
	SUBQ  CX, R12
	LEAQ  (BX)(CX*8), BX
	IMUL3Q $96, CX, DX
	ADDQ  DX, R10          // y[lo]
	SHLQ  $3, R8
	MOVQ  CX, AX           // strip and line of lo
	XORL  R11, R11
strip:
	CMPQ  AX, $12
	JLT   line
	SUBQ  $12, AX
	ADDQ  R8, R9
	JMP   strip
line:
	ADDQ  DX, R9
	SHLQ  $3, AX
	ADDQ  AX, R9
rows:
	IMUL3Q $96, R11, DI
	ADDQ  R10, DI
	LOADROW(0, DI, Y0, Y1, Y2)
	LOADROW(96, DI, Y3, Y4, Y5)
	LOADROW(192, DI, Y6, Y7, Y8)
	LOADROW(288, DI, Y9, Y10, Y11)
	MOVQ  R9, SI
	MOVQ  R10, DI
	MOVQ  R11, CX
	TESTQ CX, CX
	JEQ   corner
terms:
	TERM3(VFNMADD231PD, 0)
	TERM3(VFNMADD231PD, 96)
	ADDQ  $192, SI
	ADDQ  $192, DI
	SUBQ  $2, CX
	JNE   terms
corner:
	SOLVED(0, Y0, Y1, Y2)
	LESS(1, 0, Y0, Y1, Y2, Y3, Y4, Y5)
	LESS(2, 0, Y0, Y1, Y2, Y6, Y7, Y8)
	LESS(3, 0, Y0, Y1, Y2, Y9, Y10, Y11)
	SOLVED(1, Y3, Y4, Y5)
	LESS(2, 1, Y3, Y4, Y5, Y6, Y7, Y8)
	LESS(3, 1, Y3, Y4, Y5, Y9, Y10, Y11)
	SOLVED(2, Y6, Y7, Y8)
	LESS(3, 2, Y6, Y7, Y8, Y9, Y10, Y11)
	SOLVED(3, Y9, Y10, Y11)
	ADDQ  $32, BX
	ADDQ  $32, R9
	ADDQ  $32, AX
	CMPQ  AX, $96
	JNE   same
	XORL  AX, AX
	SUBQ  $96, R9
	ADDQ  R8, R9
same:
	ADDQ  $4, R11
	CMPQ  R11, R12
	JLT   rows
	VZEROUPPER
	RET

// PIVOT takes the root of pivot i, in lane i of c0 and in the low lane of X12,
// scales row i by its reciprocal and stores both.
#define PIVOT(i, c0, c1, c2) \
	VXORPD X13, X13, X13; \
	VUCOMISD X13, X12;    \
	JLS bad;              \
	VMOVSD infinity<>(SB), X13; \
	VUCOMISD X12, X13;    \
	JLS bad;              \
	VSQRTSD X12, X12, X13; \
	VMOVSD unit<>(SB), X12; \
	VDIVSD X13, X12, X12; \
	VMOVSD X12, (i*8)(BX); \
	VBROADCASTSD X12, Y12; \
	VMULPD Y12, c0, c0;   \
	VMULPD Y12, c1, c1;   \
	VMULPD Y12, c2, c2;   \
	STORETAIL(c0, c1, c2, Y14, Y15, i*96, DX); \
	VMOVSD X13, (i*104)(DX); \
	INCQ R11

// DOWN subtracts from row i the term of the row just scaled, z0 z1 z2; sel is i
// times 0x55, which makes VPERMPD broadcast lane i.
#define DOWN(sel, z0, z1, z2, c0, c1, c2) \
	VPERMPD sel, z0, Y12;     \
	VFNMADD231PD z0, Y12, c0; \
	VFNMADD231PD z1, Y12, c1; \
	VFNMADD231PD z2, Y12, c2

// func cholAVX2(lo, j0, hi int, r, y *float64) int
//
// See cholAVX512, with 4 rows of 12 for 8 of 24. AX is 32·(v-1) for the v vectors
// of a row from line h on; Y14, Y15 are their masks after the loops.
TEXT ·cholAVX2(SB), NOSPLIT, $0-48
	MOVQ  lo+0(FP), R8
	MOVQ  j0+8(FP), R11
	MOVQ  hi+16(FP), R12
	MOVQ  r+24(FP), BX
	MOVQ  y+32(FP), SI
	LEAQ  (BX)(R11*8), BX
	IMUL3Q $96, R8, R10
	ADDQ  SI, R10
	MOVQ  R11, AX
	MOVQ  $12, CX
	XORL  DX, DX
	DIVQ  CX
	MOVQ  DX, R9           // h = j0 mod 12
	IMUL3Q $96, R11, DX
	ADDQ  SI, DX
	LEAQ  (DX)(R9*8), DX
	LEAQ  (R10)(R9*8), R10
rows:
	MOVL  $8, AX
	SUBL  R9, AX
	SHLL  $3, AX
	LEAQ  tail<>(SB), R13
	VMOVUPD (R13)(AX*2), Y12
	VMOVUPD 32(R13)(AX*2), Y13
	LOADTAIL(0, DX, Y12, Y13, Y0, Y1, Y2)
	LOADTAIL(96, DX, Y12, Y13, Y3, Y4, Y5)
	LOADTAIL(192, DX, Y12, Y13, Y6, Y7, Y8)
	LOADTAIL(288, DX, Y12, Y13, Y9, Y10, Y11)
	MOVQ  R10, SI
	MOVQ  R10, DI
	MOVQ  R11, CX
	SUBQ  R8, CX
	JEQ   corner
	CMPL  AX, $32
	JLT   one
	JEQ   two
three:
	TERM3(VFNMADD231PD, 0)
	ADDQ  $96, SI
	ADDQ  $96, DI
	DECQ  CX
	JNE   three
	JMP   corner
two:
	TERM2(VFNMADD231PD, 0)
	ADDQ  $96, SI
	ADDQ  $96, DI
	DECQ  CX
	JNE   two
	JMP   corner
one:
	TERM1(VFNMADD231PD, 0)
	ADDQ  $96, SI
	ADDQ  $96, DI
	DECQ  CX
	JNE   one
corner:
	VMOVUPD (R13)(AX*2), Y14
	VMOVUPD 32(R13)(AX*2), Y15
	VMOVAPD X0, X12
	PIVOT(0, Y0, Y1, Y2)
	DOWN($0x55, Y0, Y1, Y2, Y3, Y4, Y5)
	DOWN($0xaa, Y0, Y1, Y2, Y6, Y7, Y8)
	DOWN($0xff, Y0, Y1, Y2, Y9, Y10, Y11)
	VPERMILPD $1, X3, X12
	PIVOT(1, Y3, Y4, Y5)
	DOWN($0xaa, Y3, Y4, Y5, Y6, Y7, Y8)
	DOWN($0xff, Y3, Y4, Y5, Y9, Y10, Y11)
	VEXTRACTF128 $1, Y6, X12
	PIVOT(2, Y6, Y7, Y8)
	DOWN($0xff, Y6, Y7, Y8, Y9, Y10, Y11)
	VEXTRACTF128 $1, Y9, X12
	VPERMILPD $1, X12, X12
	PIVOT(3, Y9, Y10, Y11)
	ADDQ  $416, DX         // four rows and four lines on
	ADDQ  $32, R10
	ADDQ  $32, BX
	ADDQ  $4, R9
	CMPQ  R11, R12
	JLT   rows
	MOVQ  $-1, R11
	VZEROUPPER
	MOVQ  R11, ret+40(FP)
	RET
bad:
	MOVQ  R11, AX
	ANDQ  $3, AX
	IMUL3Q $104, AX, AX
	VMOVSD X12, (DX)(AX*1)
	VZEROUPPER
	MOVQ  R11, ret+40(FP)
	RET

// func squaresAVX2(k int, y, d *float64)
//
//	for p = 0…k-1, i = 0…11: d[i] += y[p*12+i]²
//
// SI walks y, CX terms left, DI d.
TEXT ·squaresAVX2(SB), NOSPLIT, $0-24
	MOVQ k+0(FP), CX
	MOVQ y+8(FP), SI
	MOVQ d+16(FP), DI
	LOADROW(0, DI, Y0, Y1, Y2)
term:
	LOADROW(0, SI, Y3, Y4, Y5)
	VFMADD231PD Y3, Y3, Y0
	VFMADD231PD Y4, Y4, Y1
	VFMADD231PD Y5, Y5, Y2
	ADDQ $96, SI
	DECQ CX
	JNE  term
	STOREROW(Y0, Y1, Y2, 0, DI)
	VZEROUPPER
	RET

// func copyRowsAVX2(k int, src *float64, lds int, dst *float64, ldd int)
//
//	for p = 0…k-1: dst[p*ldd:][0:12] = src[p*lds:][0:12]
//
// SI, DI walk src and dst in steps of R8 and R9 bytes; CX rows left.
TEXT ·copyRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ lds+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ ldd+32(FP), R9
	SHLQ $3, R8
	SHLQ $3, R9
row:
	LOADROW(0, SI, Y0, Y1, Y2)
	STOREROW(Y0, Y1, Y2, 0, DI)
	ADDQ R8, SI
	ADDQ R9, DI
	DECQ CX
	JNE  row
	VZEROUPPER
	RET

// TRANSPOSE transposes the 4×4 block in Y0…Y3; row i of the result is in Y(8+i).
#define TRANSPOSE \
	VUNPCKLPD Y1, Y0, Y4; \
	VUNPCKHPD Y1, Y0, Y5; \
	VUNPCKLPD Y3, Y2, Y6; \
	VUNPCKHPD Y3, Y2, Y7; \
	VPERM2F128 $0x20, Y6, Y4, Y8;  \
	VPERM2F128 $0x20, Y7, Y5, Y9;  \
	VPERM2F128 $0x31, Y6, Y4, Y10; \
	VPERM2F128 $0x31, Y7, Y5, Y11

// func pack4AVX2(k int, src *float64, ld int, dst *float64)
//
//	for p = 0, 4, … < k: dst[p:p+4][0:4] = src[0:4][p:p+4]ᵀ, k a multiple of 4
//
// SI row 0 of src; R8 ld in bytes, R9 three of it; DI dst; CX left.
TEXT ·pack4AVX2(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
block:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(R8*1), Y1
	VMOVUPD (SI)(R8*2), Y2
	VMOVUPD (SI)(R9*1), Y3
	TRANSPOSE
	VMOVUPD Y8, 0(DI)
	VMOVUPD Y9, 96(DI)
	VMOVUPD Y10, 192(DI)
	VMOVUPD Y11, 288(DI)
	ADDQ $32, SI
	ADDQ $384, DI
	SUBQ $4, CX
	JNE  block
	VZEROUPPER
	RET

// func unpack4AVX2(k int, src, dst *float64, ld int)
//
//	for p = 0, 4, … < k: dst[0:4][p:p+4] = src[p:p+4][0:4]ᵀ, k a multiple of 4
//
// DI row 0 of dst; R8 ld in bytes, R9 three of it; SI src; CX left.
TEXT ·unpack4AVX2(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ dst+16(FP), DI
	MOVQ ld+24(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
block:
	VMOVUPD 0(SI), Y0
	VMOVUPD 96(SI), Y1
	VMOVUPD 192(SI), Y2
	VMOVUPD 288(SI), Y3
	TRANSPOSE
	VMOVUPD Y8, (DI)
	VMOVUPD Y9, (DI)(R8*1)
	VMOVUPD Y10, (DI)(R8*2)
	VMOVUPD Y11, (DI)(R9*1)
	ADDQ $384, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JNE  block
	VZEROUPPER
	RET
