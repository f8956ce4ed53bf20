//go:build !purego

#include "textflag.h"

// Strip kernels for AVX-512, float64: nr = 24 lines (three vectors), mr = 8.
//
// An 8×24 register tile is kept in Z0…Z23, row i in Z(3i), Z(3i+1), Z(3i+2).
// Z24…Z26 hold a row of b, Z27 and Z28 broadcasts of a.

// ROW continues the chains of one row of the tile by the term a·b.
#define ROW(OP, a, z, c0, c1, c2) \
	VBROADCASTSD a, z;  \
	OP           Z24, z, c0; \
	OP           Z25, z, c1; \
	OP           Z26, z, c2

// TERM continues the whole tile by one term; SI is at a, DI at b, at byte offset o.
#define TERM(OP, o) \
	VMOVUPD (o)(DI), Z24;     \
	VMOVUPD (o+64)(DI), Z25;  \
	VMOVUPD (o+128)(DI), Z26; \
	ROW(OP, (o+0)(SI), Z27, Z0, Z1, Z2);     \
	ROW(OP, (o+8)(SI), Z28, Z3, Z4, Z5);     \
	ROW(OP, (o+16)(SI), Z27, Z6, Z7, Z8);    \
	ROW(OP, (o+24)(SI), Z28, Z9, Z10, Z11);  \
	ROW(OP, (o+32)(SI), Z27, Z12, Z13, Z14); \
	ROW(OP, (o+40)(SI), Z28, Z15, Z16, Z17); \
	ROW(OP, (o+48)(SI), Z27, Z18, Z19, Z20); \
	ROW(OP, (o+56)(SI), Z28, Z21, Z22, Z23)

// LOADROW and STOREROW move a row of the tile; p is its address.
#define LOADROW(o, p, c0, c1, c2) \
	VMOVUPD (o)(p), c0;    \
	VMOVUPD (o+64)(p), c1; \
	VMOVUPD (o+128)(p), c2

#define STOREROW(c0, c1, c2, o, p) \
	VMOVUPD c0, (o)(p);    \
	VMOVUPD c1, (o+64)(p); \
	VMOVUPD c2, (o+128)(p)

#define PREFETCHROW(p) \
	PREFETCHT0 (p);    \
	PREFETCHT0 64(p);  \
	PREFETCHT0 128(p); \
	PREFETCHT0 184(p)

// TERM2 and TERM1 are TERM for the first two vectors and the first vector of
// each row.
#define TERM2(OP, o) \
	VMOVUPD (o+0)(DI), Z24; \
	VMOVUPD (o+64)(DI), Z25; \
	VBROADCASTSD (o+0)(SI), Z27; OP Z24, Z27, Z0; OP Z25, Z27, Z1; \
	VBROADCASTSD (o+8)(SI), Z28; OP Z24, Z28, Z3; OP Z25, Z28, Z4; \
	VBROADCASTSD (o+16)(SI), Z27; OP Z24, Z27, Z6; OP Z25, Z27, Z7; \
	VBROADCASTSD (o+24)(SI), Z28; OP Z24, Z28, Z9; OP Z25, Z28, Z10; \
	VBROADCASTSD (o+32)(SI), Z27; OP Z24, Z27, Z12; OP Z25, Z27, Z13; \
	VBROADCASTSD (o+40)(SI), Z28; OP Z24, Z28, Z15; OP Z25, Z28, Z16; \
	VBROADCASTSD (o+48)(SI), Z27; OP Z24, Z27, Z18; OP Z25, Z27, Z19; \
	VBROADCASTSD (o+56)(SI), Z28; OP Z24, Z28, Z21; OP Z25, Z28, Z22

#define TERM1(OP, o) \
	VMOVUPD (o+0)(DI), Z24; \
	OP.BCST (o+0)(SI), Z24, Z0; \
	OP.BCST (o+8)(SI), Z24, Z3; \
	OP.BCST (o+16)(SI), Z24, Z6; \
	OP.BCST (o+24)(SI), Z24, Z9; \
	OP.BCST (o+32)(SI), Z24, Z12; \
	OP.BCST (o+40)(SI), Z24, Z15; \
	OP.BCST (o+48)(SI), Z24, Z18; \
	OP.BCST (o+56)(SI), Z24, Z21

// LOADTAIL and STORETAIL are LOADROW and STOREROW with the second and third
// vector under masks.
#define LOADTAIL(o, p, c0, c1, c2) \
	VMOVUPD   (o)(p), c0;        \
	VMOVUPD.Z (o+64)(p), K2, c1; \
	VMOVUPD.Z (o+128)(p), K3, c2

#define STORETAIL(c0, c1, c2, o, p) \
	VMOVUPD c0, (o)(p);         \
	VMOVUPD c1, K2, (o+64)(p);  \
	VMOVUPD c2, K3, (o+128)(p)

// TILE is the body of addAVX512 and subAVX512; k is a positive multiple of 4.
//
//	skip, fresh, lower = mode & 31, mode & 32, mode & 64
//	for ib = (lower ? skip : 0), …, 16 in steps of 8:
//	    end = lower ? ib+8 : 24
//	    tile = fresh ? 0 : c[ib:ib+8][skip:end]
//	    for p = (fresh and lower ? end-skip-8 : 0)…k-1: tile ±= a[p*24+ib:][0:8] ⊗ b[p*24:][skip:end]
//	        meanwhile prefetch c[ib+8:ib+16], or next[0:8] if ib = 16
//	    c[ib:ib+8][skip:end] = tile
//
// R13 k; R9 a + 8·ib; R10 b + 8·skip; R8 ldc in bytes; R11 8·ib; DX c[ib][skip];
// BX 8·(end-skip), then K2, K3 for the second and third vector; AX rows of c; SI,
// DI walk a, b; CX terms left; R12 row to prefetch, BX its step, which becomes 0
// after eight rows, when CX = AX = k-32.
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
	MOVL $128, BX; \
	TESTL $64, AX; \
	CMOVLNE R11, BX; \
	ADDL $64, BX; \
	SHLL $3, CX; \
	SUBL CX, BX; \
	XORL CX, CX; \
	CMPL BX, $128; \
	SETGE CX; \
	NEGL CX; \
	KMOVW CX, K2; \
	XORL CX, CX; \
	CMPL BX, $192; \
	SETGE CX; \
	NEGL CX; \
	KMOVW CX, K3; \
	TESTL $32, AX; \
	JNE  zero; \
	MOVQ DX, AX; \
	LOADTAIL(0, AX, Z0, Z1, Z2); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Z3, Z4, Z5); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Z6, Z7, Z8); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Z9, Z10, Z11); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Z12, Z13, Z14); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Z15, Z16, Z17); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Z18, Z19, Z20); \
	ADDQ R8, AX; \
	LOADTAIL(0, AX, Z21, Z22, Z23); \
	JMP  start; \
zero: \
	VPXORQ Z0, Z0, Z0; \
	VPXORQ Z1, Z1, Z1; \
	VPXORQ Z2, Z2, Z2; \
	VPXORQ Z3, Z3, Z3; \
	VPXORQ Z4, Z4, Z4; \
	VPXORQ Z5, Z5, Z5; \
	VPXORQ Z6, Z6, Z6; \
	VPXORQ Z7, Z7, Z7; \
	VPXORQ Z8, Z8, Z8; \
	VPXORQ Z9, Z9, Z9; \
	VPXORQ Z10, Z10, Z10; \
	VPXORQ Z11, Z11, Z11; \
	VPXORQ Z12, Z12, Z12; \
	VPXORQ Z13, Z13, Z13; \
	VPXORQ Z14, Z14, Z14; \
	VPXORQ Z15, Z15, Z15; \
	VPXORQ Z16, Z16, Z16; \
	VPXORQ Z17, Z17, Z17; \
	VPXORQ Z18, Z18, Z18; \
	VPXORQ Z19, Z19, Z19; \
	VPXORQ Z20, Z20, Z20; \
	VPXORQ Z21, Z21, Z21; \
	VPXORQ Z22, Z22, Z22; \
	VPXORQ Z23, Z23, Z23; \
start: \
	MOVQ R9, SI; \
	MOVQ R10, DI; \
	MOVQ R13, CX; \
	MOVQ mode+48(FP), AX; \
	ANDL $96, AX; \
	CMPL AX, $96; \
	JNE  terms; \
	LEAL -64(BX), AX; \
	SHRL $3, AX; \
	SUBQ AX, CX; \
	JLE  done; \
	IMUL3Q $192, AX, AX; \
	ADDQ AX, SI; \
	ADDQ AX, DI; \
terms: \
	CMPL BX, $128; \
	JLT  one; \
	JEQ  two; \
	LEAQ (DX)(R8*8), R12; \
	CMPQ R11, $128; \
	CMOVQEQ next+40(FP), R12; \
	MOVQ R8, BX; \
	LEAQ -32(CX), AX; \
three: \
	PREFETCHROW(R12); \
	ADDQ BX, R12; \
	TERM(OP, 0); \
	TERM(OP, 192); \
	TERM(OP, 384); \
	TERM(OP, 576); \
	ADDQ $768, SI; \
	ADDQ $768, DI; \
	SUBQ $4, CX; \
	CMPQ CX, AX; \
	JNE  more; \
	XORL BX, BX; \
more: \
	TESTQ CX, CX; \
	JNE  three; \
	JMP  done; \
two: \
	TERM2(OP, 0); \
	TERM2(OP, 192); \
	TERM2(OP, 384); \
	TERM2(OP, 576); \
	ADDQ $768, SI; \
	ADDQ $768, DI; \
	SUBQ $4, CX; \
	JNE  two; \
	JMP  done; \
one: \
	TERM1(OP, 0); \
	TERM1(OP, 192); \
	TERM1(OP, 384); \
	TERM1(OP, 576); \
	ADDQ $768, SI; \
	ADDQ $768, DI; \
	SUBQ $4, CX; \
	JNE  one; \
done: \
	MOVQ DX, AX; \
	STORETAIL(Z0, Z1, Z2, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Z3, Z4, Z5, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Z6, Z7, Z8, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Z9, Z10, Z11, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Z12, Z13, Z14, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Z15, Z16, Z17, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Z18, Z19, Z20, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Z21, Z22, Z23, 0, AX); \
	LEAQ (DX)(R8*8), DX; \
	ADDQ $64, R9; \
	ADDQ $64, R11; \
	CMPQ R11, $192; \
	JNE  block; \
	VZEROUPPER; \
	RET

// func addAVX512(k int, a, b, c *float64, ldc int, next *float64, mode int)
TEXT ·addAVX512(SB), NOSPLIT, $0-56
	TILE(VFMADD231PD)

// func subAVX512(k int, a, b, c *float64, ldc int, next *float64, mode int)
TEXT ·subAVX512(SB), NOSPLIT, $0-56
	TILE(VFNMADD231PD)

// SOLVED finishes row i of the tile: it is scaled by its reciprocal and stored.
#define SOLVED(i, c0, c1, c2) \
	VBROADCASTSD (i*8)(BX), Z27; \
	VMULPD Z27, c0, c0; \
	VMULPD Z27, c1, c1; \
	VMULPD Z27, c2, c2; \
	STOREROW(c0, c1, c2, i*192, DI)

// LESS subtracts from row i of the tile the term of the solved row p, z0 z1 z2.
#define LESS(i, p, z0, z1, z2, c0, c1, c2) \
	VBROADCASTSD (p*192+i*8)(SI), Z28; \
	VFNMADD231PD z0, Z28, c0; \
	VFNMADD231PD z1, Z28, c1; \
	VFNMADD231PD z2, Z28, c2

// func solveAVX512(lo, hi int, t *float64, ts int, r, y *float64)
//
//	for j = lo, lo+8, … < hi:
//	    tile = y[j:j+8]
//	    for k = lo…j-1: tile -= T[j:j+8][k] ⊗ y[k]
//	    for i = 0…7: tile[i] *= r[j+i]; y[j+i] = tile[i]
//	        for h = i+1…7: tile[h] -= T[j+h][j+i]·tile[i]
//
// R9 T[j][lo], R10 y[lo]; SI, DI walk them; R11 j-lo, R12 hi-lo; BX r[j]; AX
// byte offset of line j in its strip, R8 bytes from strip to strip; CX terms left.
TEXT ·solveAVX512(SB), NOSPLIT, $0-48
	MOVQ  lo+0(FP), CX
	MOVQ  hi+8(FP), R12
	MOVQ  t+16(FP), R9
	MOVQ  ts+24(FP), R8
	MOVQ  r+32(FP), BX
	MOVQ  y+40(FP), R10
	SUBQ  CX, R12
	LEAQ  (BX)(CX*8), BX
	IMUL3Q $192, CX, DX
	ADDQ  DX, R10          // y[lo]
	SHLQ  $3, R8
	MOVQ  CX, AX           // strip and line of lo
	XORL  R11, R11
strip:
	CMPQ  AX, $24
	JLT   line
	SUBQ  $24, AX
	ADDQ  R8, R9
	JMP   strip
line:
	ADDQ  DX, R9
	SHLQ  $3, AX
	ADDQ  AX, R9
rows:
	IMUL3Q $192, R11, DI
	ADDQ  R10, DI
	LOADROW(0, DI, Z0, Z1, Z2)
	LOADROW(192, DI, Z3, Z4, Z5)
	LOADROW(384, DI, Z6, Z7, Z8)
	LOADROW(576, DI, Z9, Z10, Z11)
	LOADROW(768, DI, Z12, Z13, Z14)
	LOADROW(960, DI, Z15, Z16, Z17)
	LOADROW(1152, DI, Z18, Z19, Z20)
	LOADROW(1344, DI, Z21, Z22, Z23)
	MOVQ  R9, SI
	MOVQ  R10, DI
	MOVQ  R11, CX
	TESTQ CX, CX
	JEQ   corner
terms:
	TERM(VFNMADD231PD, 0)
	TERM(VFNMADD231PD, 192)
	ADDQ  $384, SI
	ADDQ  $384, DI
	SUBQ  $2, CX
	JNE   terms
corner:
	SOLVED(0, Z0, Z1, Z2)
	LESS(1, 0, Z0, Z1, Z2, Z3, Z4, Z5)
	LESS(2, 0, Z0, Z1, Z2, Z6, Z7, Z8)
	LESS(3, 0, Z0, Z1, Z2, Z9, Z10, Z11)
	LESS(4, 0, Z0, Z1, Z2, Z12, Z13, Z14)
	LESS(5, 0, Z0, Z1, Z2, Z15, Z16, Z17)
	LESS(6, 0, Z0, Z1, Z2, Z18, Z19, Z20)
	LESS(7, 0, Z0, Z1, Z2, Z21, Z22, Z23)
	SOLVED(1, Z3, Z4, Z5)
	LESS(2, 1, Z3, Z4, Z5, Z6, Z7, Z8)
	LESS(3, 1, Z3, Z4, Z5, Z9, Z10, Z11)
	LESS(4, 1, Z3, Z4, Z5, Z12, Z13, Z14)
	LESS(5, 1, Z3, Z4, Z5, Z15, Z16, Z17)
	LESS(6, 1, Z3, Z4, Z5, Z18, Z19, Z20)
	LESS(7, 1, Z3, Z4, Z5, Z21, Z22, Z23)
	SOLVED(2, Z6, Z7, Z8)
	LESS(3, 2, Z6, Z7, Z8, Z9, Z10, Z11)
	LESS(4, 2, Z6, Z7, Z8, Z12, Z13, Z14)
	LESS(5, 2, Z6, Z7, Z8, Z15, Z16, Z17)
	LESS(6, 2, Z6, Z7, Z8, Z18, Z19, Z20)
	LESS(7, 2, Z6, Z7, Z8, Z21, Z22, Z23)
	SOLVED(3, Z9, Z10, Z11)
	LESS(4, 3, Z9, Z10, Z11, Z12, Z13, Z14)
	LESS(5, 3, Z9, Z10, Z11, Z15, Z16, Z17)
	LESS(6, 3, Z9, Z10, Z11, Z18, Z19, Z20)
	LESS(7, 3, Z9, Z10, Z11, Z21, Z22, Z23)
	SOLVED(4, Z12, Z13, Z14)
	LESS(5, 4, Z12, Z13, Z14, Z15, Z16, Z17)
	LESS(6, 4, Z12, Z13, Z14, Z18, Z19, Z20)
	LESS(7, 4, Z12, Z13, Z14, Z21, Z22, Z23)
	SOLVED(5, Z15, Z16, Z17)
	LESS(6, 5, Z15, Z16, Z17, Z18, Z19, Z20)
	LESS(7, 5, Z15, Z16, Z17, Z21, Z22, Z23)
	SOLVED(6, Z18, Z19, Z20)
	LESS(7, 6, Z18, Z19, Z20, Z21, Z22, Z23)
	SOLVED(7, Z21, Z22, Z23)
	ADDQ  $64, BX
	ADDQ  $64, R9
	ADDQ  $64, AX
	CMPQ  AX, $192
	JNE   same
	XORL  AX, AX
	SUBQ  $192, R9
	ADDQ  R8, R9
same:
	ADDQ  $8, R11
	CMPQ  R11, R12
	JLT   rows
	VZEROUPPER
	RET

// lane<>[i] is i eight times, the index of a permutation that broadcasts lane i.
DATA lane<>+0(SB)/8, $0
DATA lane<>+8(SB)/8, $0
DATA lane<>+16(SB)/8, $0
DATA lane<>+24(SB)/8, $0
DATA lane<>+32(SB)/8, $0
DATA lane<>+40(SB)/8, $0
DATA lane<>+48(SB)/8, $0
DATA lane<>+56(SB)/8, $0
DATA lane<>+64(SB)/8, $1
DATA lane<>+72(SB)/8, $1
DATA lane<>+80(SB)/8, $1
DATA lane<>+88(SB)/8, $1
DATA lane<>+96(SB)/8, $1
DATA lane<>+104(SB)/8, $1
DATA lane<>+112(SB)/8, $1
DATA lane<>+120(SB)/8, $1
DATA lane<>+128(SB)/8, $2
DATA lane<>+136(SB)/8, $2
DATA lane<>+144(SB)/8, $2
DATA lane<>+152(SB)/8, $2
DATA lane<>+160(SB)/8, $2
DATA lane<>+168(SB)/8, $2
DATA lane<>+176(SB)/8, $2
DATA lane<>+184(SB)/8, $2
DATA lane<>+192(SB)/8, $3
DATA lane<>+200(SB)/8, $3
DATA lane<>+208(SB)/8, $3
DATA lane<>+216(SB)/8, $3
DATA lane<>+224(SB)/8, $3
DATA lane<>+232(SB)/8, $3
DATA lane<>+240(SB)/8, $3
DATA lane<>+248(SB)/8, $3
DATA lane<>+256(SB)/8, $4
DATA lane<>+264(SB)/8, $4
DATA lane<>+272(SB)/8, $4
DATA lane<>+280(SB)/8, $4
DATA lane<>+288(SB)/8, $4
DATA lane<>+296(SB)/8, $4
DATA lane<>+304(SB)/8, $4
DATA lane<>+312(SB)/8, $4
DATA lane<>+320(SB)/8, $5
DATA lane<>+328(SB)/8, $5
DATA lane<>+336(SB)/8, $5
DATA lane<>+344(SB)/8, $5
DATA lane<>+352(SB)/8, $5
DATA lane<>+360(SB)/8, $5
DATA lane<>+368(SB)/8, $5
DATA lane<>+376(SB)/8, $5
DATA lane<>+384(SB)/8, $6
DATA lane<>+392(SB)/8, $6
DATA lane<>+400(SB)/8, $6
DATA lane<>+408(SB)/8, $6
DATA lane<>+416(SB)/8, $6
DATA lane<>+424(SB)/8, $6
DATA lane<>+432(SB)/8, $6
DATA lane<>+440(SB)/8, $6
DATA lane<>+448(SB)/8, $7
DATA lane<>+456(SB)/8, $7
DATA lane<>+464(SB)/8, $7
DATA lane<>+472(SB)/8, $7
DATA lane<>+480(SB)/8, $7
DATA lane<>+488(SB)/8, $7
DATA lane<>+496(SB)/8, $7
DATA lane<>+504(SB)/8, $7
GLOBL lane<>(SB), RODATA|NOPTR, $512

DATA one<>+0(SB)/8, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $8

DATA inf<>+0(SB)/8, $0x7ff0000000000000
GLOBL inf<>(SB), RODATA|NOPTR, $8

// The diagonal tile's own rows begin at the line of their pivot: the first
// vector of each row holds the 8×8 corner, and masks K2 and K3 leave out what
// would stand behind the strip's last line.

// PIVOT takes the root of the pivot d and its reciprocal, by which SCALE scales row
// i, c0 c1 c2, before it stores all three. In between, AHEAD computes the next
// pivot by itself into e, from the first vectors of its row, n0, and of row i, so
// that pivots do not wait for vectors.
#define PIVOT(d) \
	VUCOMISD X29, d;             \
	JLS bad;                     \
	VUCOMISD d, X31;             \
	JLS bad;                     \
	VSQRTSD d, d, X25;           \
	VDIVSD X25, X30, X26;        \
	VBROADCASTSD X26, Z27

#define AHEAD(i, d, zd, e, ze, c0, n0) \
	VALIGNQ $(i+1), c0, c0, zd; \
	VALIGNQ $(i+1), n0, n0, ze; \
	VMULSD X26, d, d;           \
	VFNMADD231SD d, d, e

#define SCALE(i, c0, c1, c2) \
	VMULPD Z27, c0, c0;          \
	VMULPD Z27, c1, c1;          \
	VMULPD Z27, c2, c2;          \
	STORETAIL(c0, c1, c2, i*192, DX); \
	VMOVSD X25, (i*200)(DX);     \
	VMOVSD X26, (i*8)(BX);       \
	INCQ R11

// DOWN subtracts from row i the term of the row just scaled, z0 z1 z2.
#define DOWN(i, z0, z1, z2, c0, c1, c2) \
	VMOVUPD lane<>+(i*64)(SB), Z27; \
	VPERMPD z0, Z27, Z27;           \
	VFNMADD231PD z0, Z27, c0;       \
	VFNMADD231PD z1, Z27, c1;       \
	VFNMADD231PD z2, Z27, c2

// func cholAVX512(lo, j0, hi int, r, y *float64) int
//
//	for j = j0, j0+8, … < hi, h = j mod 24:
//	    tile = y[j:j+8][h:24]
//	    for k = lo…j-1: tile -= y[k][h:h+8] ⊗ y[k][h:24]
//	    for i = 0…7: d = tile[i][h+i]; return j+i unless 0 < d < Inf
//	        r[j+i] = 1/√d; tile[i] *= r[j+i]; y[j+i] = tile[i]; y[j+i][h+i] = √d
//	        for g = i+1…7: tile[g] -= tile[i][h+g]·tile[i]
//
// R10 y[lo][h]; SI walks from there; DX y[j][h]; BX r[j]; R11 j+i, R12 hi; R9 h;
// R8 lo; CX terms left; X29 0, X30 1, X31 Inf; the pivot is in X24 and X28 by turns.
TEXT ·cholAVX512(SB), NOSPLIT, $0-48
	MOVQ  lo+0(FP), R8
	MOVQ  j0+8(FP), R11
	MOVQ  hi+16(FP), R12
	MOVQ  r+24(FP), BX
	MOVQ  y+32(FP), SI
	LEAQ  (BX)(R11*8), BX
	IMUL3Q $192, R8, R10
	ADDQ  SI, R10
	IMUL3Q $192, R11, DX
	ADDQ  SI, DX
	VXORPD X29, X29, X29
	VMOVSD one<>(SB), X30
	VMOVSD inf<>(SB), X31
	MOVQ  R11, AX
	MOVQ  $24, CX
	XORL  DX, DX
	DIVQ  CX
	MOVQ  DX, R9           // h = j0 mod 24
	IMUL3Q $192, R11, DX
	ADDQ  SI, DX
	LEAQ  (DX)(R9*8), DX
	LEAQ  (R10)(R9*8), R10
rows:
	XORL  AX, AX
	CMPQ  R9, $16
	SETLT AX
	NEGL  AX
	KMOVW AX, K2
	XORL  AX, AX
	TESTQ R9, R9
	SETEQ AX
	NEGL  AX
	KMOVW AX, K3
	LOADTAIL(0, DX, Z0, Z1, Z2)
	LOADTAIL(192, DX, Z3, Z4, Z5)
	LOADTAIL(384, DX, Z6, Z7, Z8)
	LOADTAIL(576, DX, Z9, Z10, Z11)
	LOADTAIL(768, DX, Z12, Z13, Z14)
	LOADTAIL(960, DX, Z15, Z16, Z17)
	LOADTAIL(1152, DX, Z18, Z19, Z20)
	LOADTAIL(1344, DX, Z21, Z22, Z23)
	MOVQ  R10, SI
	MOVQ  R11, CX
	SUBQ  R8, CX
	JEQ   corner
terms:
	LOADTAIL(0, SI, Z24, Z25, Z26)
	ROW(VFNMADD231PD, 0(SI), Z27, Z0, Z1, Z2)
	ROW(VFNMADD231PD, 8(SI), Z28, Z3, Z4, Z5)
	ROW(VFNMADD231PD, 16(SI), Z27, Z6, Z7, Z8)
	ROW(VFNMADD231PD, 24(SI), Z28, Z9, Z10, Z11)
	ROW(VFNMADD231PD, 32(SI), Z27, Z12, Z13, Z14)
	ROW(VFNMADD231PD, 40(SI), Z28, Z15, Z16, Z17)
	ROW(VFNMADD231PD, 48(SI), Z27, Z18, Z19, Z20)
	ROW(VFNMADD231PD, 56(SI), Z28, Z21, Z22, Z23)
	ADDQ  $192, SI
	DECQ  CX
	JNE   terms
corner:
	VMOVAPD X0, X24
	PIVOT(X24)
	AHEAD(0, X24, Z24, X28, Z28, Z0, Z3)
	SCALE(0, Z0, Z1, Z2)
	DOWN(1, Z0, Z1, Z2, Z3, Z4, Z5)
	DOWN(2, Z0, Z1, Z2, Z6, Z7, Z8)
	DOWN(3, Z0, Z1, Z2, Z9, Z10, Z11)
	DOWN(4, Z0, Z1, Z2, Z12, Z13, Z14)
	DOWN(5, Z0, Z1, Z2, Z15, Z16, Z17)
	DOWN(6, Z0, Z1, Z2, Z18, Z19, Z20)
	DOWN(7, Z0, Z1, Z2, Z21, Z22, Z23)
	PIVOT(X28)
	AHEAD(1, X28, Z28, X24, Z24, Z3, Z6)
	SCALE(1, Z3, Z4, Z5)
	DOWN(2, Z3, Z4, Z5, Z6, Z7, Z8)
	DOWN(3, Z3, Z4, Z5, Z9, Z10, Z11)
	DOWN(4, Z3, Z4, Z5, Z12, Z13, Z14)
	DOWN(5, Z3, Z4, Z5, Z15, Z16, Z17)
	DOWN(6, Z3, Z4, Z5, Z18, Z19, Z20)
	DOWN(7, Z3, Z4, Z5, Z21, Z22, Z23)
	PIVOT(X24)
	AHEAD(2, X24, Z24, X28, Z28, Z6, Z9)
	SCALE(2, Z6, Z7, Z8)
	DOWN(3, Z6, Z7, Z8, Z9, Z10, Z11)
	DOWN(4, Z6, Z7, Z8, Z12, Z13, Z14)
	DOWN(5, Z6, Z7, Z8, Z15, Z16, Z17)
	DOWN(6, Z6, Z7, Z8, Z18, Z19, Z20)
	DOWN(7, Z6, Z7, Z8, Z21, Z22, Z23)
	PIVOT(X28)
	AHEAD(3, X28, Z28, X24, Z24, Z9, Z12)
	SCALE(3, Z9, Z10, Z11)
	DOWN(4, Z9, Z10, Z11, Z12, Z13, Z14)
	DOWN(5, Z9, Z10, Z11, Z15, Z16, Z17)
	DOWN(6, Z9, Z10, Z11, Z18, Z19, Z20)
	DOWN(7, Z9, Z10, Z11, Z21, Z22, Z23)
	PIVOT(X24)
	AHEAD(4, X24, Z24, X28, Z28, Z12, Z15)
	SCALE(4, Z12, Z13, Z14)
	DOWN(5, Z12, Z13, Z14, Z15, Z16, Z17)
	DOWN(6, Z12, Z13, Z14, Z18, Z19, Z20)
	DOWN(7, Z12, Z13, Z14, Z21, Z22, Z23)
	PIVOT(X28)
	AHEAD(5, X28, Z28, X24, Z24, Z15, Z18)
	SCALE(5, Z15, Z16, Z17)
	DOWN(6, Z15, Z16, Z17, Z18, Z19, Z20)
	DOWN(7, Z15, Z16, Z17, Z21, Z22, Z23)
	PIVOT(X24)
	AHEAD(6, X24, Z24, X28, Z28, Z18, Z21)
	SCALE(6, Z18, Z19, Z20)
	DOWN(7, Z18, Z19, Z20, Z21, Z22, Z23)
	PIVOT(X28)
	SCALE(7, Z21, Z22, Z23)
	ADDQ  $1600, DX        // eight rows and eight lines on
	ADDQ  $64, R10
	ADDQ  $64, BX
	ADDQ  $8, R9
	CMPQ  R11, R12
	JLT   rows
	MOVQ  $-1, R11
	VZEROUPPER
	MOVQ  R11, ret+40(FP)
	RET
bad:
	MOVQ  R11, AX
	ANDQ  $7, AX
	TESTQ $1, AX
	JEQ   even
	VMOVAPD X28, X24
even:
	IMUL3Q $200, AX, AX
	VMOVSD X24, (DX)(AX*1)
	VZEROUPPER
	MOVQ  R11, ret+40(FP)
	RET

// TRANSPOSE transposes the 8×8 block in Z0…Z7; row i of the result is in the
// i-th of Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23. Pairs of rows are interleaved, then
// quarters of vectors are gathered twice.
#define TRANSPOSE \
	VUNPCKLPD Z1, Z0, Z8;   \
	VUNPCKHPD Z1, Z0, Z9;   \
	VUNPCKLPD Z3, Z2, Z10;  \
	VUNPCKHPD Z3, Z2, Z11;  \
	VUNPCKLPD Z5, Z4, Z12;  \
	VUNPCKHPD Z5, Z4, Z13;  \
	VUNPCKLPD Z7, Z6, Z14;  \
	VUNPCKHPD Z7, Z6, Z15;  \
	VSHUFF64X2 $0x88, Z10, Z8, Z0;  \
	VSHUFF64X2 $0xdd, Z10, Z8, Z1;  \
	VSHUFF64X2 $0x88, Z14, Z12, Z2; \
	VSHUFF64X2 $0xdd, Z14, Z12, Z3; \
	VSHUFF64X2 $0x88, Z11, Z9, Z4;  \
	VSHUFF64X2 $0xdd, Z11, Z9, Z5;  \
	VSHUFF64X2 $0x88, Z15, Z13, Z6; \
	VSHUFF64X2 $0xdd, Z15, Z13, Z7; \
	VSHUFF64X2 $0x88, Z2, Z0, Z16;  \
	VSHUFF64X2 $0x88, Z3, Z1, Z17;  \
	VSHUFF64X2 $0xdd, Z2, Z0, Z18;  \
	VSHUFF64X2 $0xdd, Z3, Z1, Z19;  \
	VSHUFF64X2 $0x88, Z6, Z4, Z20;  \
	VSHUFF64X2 $0x88, Z7, Z5, Z21;  \
	VSHUFF64X2 $0xdd, Z6, Z4, Z22;  \
	VSHUFF64X2 $0xdd, Z7, Z5, Z23

// func pack8AVX512(k int, src *float64, ld int, dst *float64)
//
//	for p = 0, 8, … < k: dst[p:p+8][0:8] = src[0:8][p:p+8]ᵀ, k a multiple of 8
//
// SI, R11 rows 0 and 4 of src; R8 ld in bytes, R9 three of it; DI dst; CX left.
TEXT ·pack8AVX512(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R11
block:
	VMOVUPD (SI), Z0
	VMOVUPD (SI)(R8*1), Z1
	VMOVUPD (SI)(R8*2), Z2
	VMOVUPD (SI)(R9*1), Z3
	VMOVUPD (R11), Z4
	VMOVUPD (R11)(R8*1), Z5
	VMOVUPD (R11)(R8*2), Z6
	VMOVUPD (R11)(R9*1), Z7
	PREFETCHT0 320(SI)
	PREFETCHT0 320(SI)(R8*1)
	PREFETCHT0 320(SI)(R8*2)
	PREFETCHT0 320(SI)(R9*1)
	PREFETCHT0 320(R11)
	PREFETCHT0 320(R11)(R8*1)
	PREFETCHT0 320(R11)(R8*2)
	PREFETCHT0 320(R11)(R9*1)
	TRANSPOSE
	VMOVUPD Z16, 0(DI)
	VMOVUPD Z20, 192(DI)
	VMOVUPD Z17, 384(DI)
	VMOVUPD Z21, 576(DI)
	VMOVUPD Z18, 768(DI)
	VMOVUPD Z22, 960(DI)
	VMOVUPD Z19, 1152(DI)
	VMOVUPD Z23, 1344(DI)
	ADDQ $64, SI
	ADDQ $64, R11
	ADDQ $1536, DI
	SUBQ $8, CX
	JNE  block
	VZEROUPPER
	RET

// func unpack8AVX512(k int, src, dst *float64, ld int)
//
//	for p = 0, 8, … < k: dst[0:8][p:p+8] = src[p:p+8][0:8]ᵀ, k a multiple of 8
//
// DI, R11 rows 0 and 4 of dst; R8 ld in bytes, R9 three of it; SI src; CX left.
TEXT ·unpack8AVX512(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ dst+16(FP), DI
	MOVQ ld+24(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (DI)(R8*4), R11
block:
	VMOVUPD 0(SI), Z0
	VMOVUPD 192(SI), Z1
	VMOVUPD 384(SI), Z2
	VMOVUPD 576(SI), Z3
	VMOVUPD 768(SI), Z4
	VMOVUPD 960(SI), Z5
	VMOVUPD 1152(SI), Z6
	VMOVUPD 1344(SI), Z7
	PREFETCHT0 320(DI)
	PREFETCHT0 320(DI)(R8*1)
	PREFETCHT0 320(DI)(R8*2)
	PREFETCHT0 320(DI)(R9*1)
	PREFETCHT0 320(R11)
	PREFETCHT0 320(R11)(R8*1)
	PREFETCHT0 320(R11)(R8*2)
	PREFETCHT0 320(R11)(R9*1)
	TRANSPOSE
	VMOVUPD Z16, (DI)
	VMOVUPD Z20, (DI)(R8*1)
	VMOVUPD Z17, (DI)(R8*2)
	VMOVUPD Z21, (DI)(R9*1)
	VMOVUPD Z18, (R11)
	VMOVUPD Z22, (R11)(R8*1)
	VMOVUPD Z19, (R11)(R8*2)
	VMOVUPD Z23, (R11)(R9*1)
	ADDQ $1536, SI
	ADDQ $64, DI
	ADDQ $64, R11
	SUBQ $8, CX
	JNE  block
	VZEROUPPER
	RET

// func squaresAVX512(k int, y, d *float64)
//
//	for p = 0…k-1, i = 0…23: d[i] += y[p*24+i]²
//
// SI walks y, CX terms left, DI d.
TEXT ·squaresAVX512(SB), NOSPLIT, $0-24
	MOVQ k+0(FP), CX
	MOVQ y+8(FP), SI
	MOVQ d+16(FP), DI
	LOADROW(0, DI, Z0, Z1, Z2)
term:
	LOADROW(0, SI, Z3, Z4, Z5)
	VFMADD231PD Z3, Z3, Z0
	VFMADD231PD Z4, Z4, Z1
	VFMADD231PD Z5, Z5, Z2
	ADDQ $192, SI
	DECQ CX
	JNE  term
	STOREROW(Z0, Z1, Z2, 0, DI)
	VZEROUPPER
	RET

// func copyRowsAVX512(k int, src *float64, lds int, dst *float64, ldd int)
//
//	for p = 0…k-1: dst[p*ldd:][0:24] = src[p*lds:][0:24]
//
// SI, DI walk src and dst in steps of R8 and R9 bytes; CX rows left.
TEXT ·copyRowsAVX512(SB), NOSPLIT, $0-40
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ lds+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ ldd+32(FP), R9
	SHLQ $3, R8
	SHLQ $3, R9
row:
	LOADROW(0, SI, Z0, Z1, Z2)
	STOREROW(Z0, Z1, Z2, 0, DI)
	ADDQ R8, SI
	ADDQ R9, DI
	DECQ CX
	JNE  row
	VZEROUPPER
	RET

// staircase<> has the masks of the rows of a lower triangle, then full ones.
DATA staircase<>+0(SB)/8, $0xff7f3f1f0f070301
DATA staircase<>+8(SB)/8, $0xffffffffffffffff
GLOBL staircase<>(SB), RODATA|NOPTR, $16

// ROWMASK sets K1 to the mask of row r of a block: AX has a bit for each row that
// there is, R12 points to their masks.
#define ROWMASK(r) \
	MOVBLZX r(R12), BX; \
	BTL     $r, AX;     \
	SBBL    R13, R13;   \
	ANDL    R13, BX;    \
	KMOVW   BX, K1

// CORNER is the frame of loadCornerAVX512 and storeCornerAVX512:
//
//	for bi = 0, 8, … < n, for bj = 0, 8, …, bi: BLOCK
//
// where BLOCK moves the rows bi and columns bj from or to the matrix. R9 matrix row
// bi, SI its rows from column bj on; R10 strip line bi, DI its position bj; R8 ld in bytes; CX
// n-bi; R11 bi, DX bi-bj; AX a bit for each row; R12 the masks of the rows.
#define CORNER(BLOCK) \
	SHLQ $3, R8;   \
	XORL R11, R11; \
rows: \
	MOVQ R9, SI;   \
	MOVQ R10, DI;  \
	MOVQ R11, DX;  \
	MOVL $255, AX; \
	CMPQ CX, $8;   \
	JGE  block;    \
	MOVL $1, AX;   \
	SHLL CX, AX;   \
	DECL AX;       \
block: \
	LEAQ  staircase<>(SB), R12; \
	LEAQ  8(R12), BX;           \
	TESTQ DX, DX;               \
	CMOVQNE BX, R12;            \
	BLOCK;                      \
	MOVQ R11, SI;               \
	SUBQ DX, SI;                \
	LEAQ 64(R9)(SI*8), SI;      \
	ADDQ $1536, DI;             \
	SUBQ $8, DX;                \
	JGE  block;                 \
	LEAQ (R9)(R8*8), R9;        \
	ADDQ $64, R10;              \
	ADDQ $8, R11;               \
	SUBQ $8, CX;                \
	JGT  rows

#define LOADBLOCK \
	ROWMASK(0); \
	VMOVUPD.Z (SI), K1, Z0; \
	ADDQ R8, SI; \
	ROWMASK(1); \
	VMOVUPD.Z (SI), K1, Z1; \
	ADDQ R8, SI; \
	ROWMASK(2); \
	VMOVUPD.Z (SI), K1, Z2; \
	ADDQ R8, SI; \
	ROWMASK(3); \
	VMOVUPD.Z (SI), K1, Z3; \
	ADDQ R8, SI; \
	ROWMASK(4); \
	VMOVUPD.Z (SI), K1, Z4; \
	ADDQ R8, SI; \
	ROWMASK(5); \
	VMOVUPD.Z (SI), K1, Z5; \
	ADDQ R8, SI; \
	ROWMASK(6); \
	VMOVUPD.Z (SI), K1, Z6; \
	ADDQ R8, SI; \
	ROWMASK(7); \
	VMOVUPD.Z (SI), K1, Z7; \
	TRANSPOSE; \
	VMOVUPD Z16, 0(DI); \
	VMOVUPD Z20, 192(DI); \
	VMOVUPD Z17, 384(DI); \
	VMOVUPD Z21, 576(DI); \
	VMOVUPD Z18, 768(DI); \
	VMOVUPD Z22, 960(DI); \
	VMOVUPD Z19, 1152(DI); \
	VMOVUPD Z23, 1344(DI)

#define STOREBLOCK \
	VMOVUPD 0(DI), Z0; \
	VMOVUPD 192(DI), Z1; \
	VMOVUPD 384(DI), Z2; \
	VMOVUPD 576(DI), Z3; \
	VMOVUPD 768(DI), Z4; \
	VMOVUPD 960(DI), Z5; \
	VMOVUPD 1152(DI), Z6; \
	VMOVUPD 1344(DI), Z7; \
	TRANSPOSE; \
	ROWMASK(0); \
	VMOVUPD Z16, K1, (SI); \
	ADDQ R8, SI; \
	ROWMASK(1); \
	VMOVUPD Z20, K1, (SI); \
	ADDQ R8, SI; \
	ROWMASK(2); \
	VMOVUPD Z17, K1, (SI); \
	ADDQ R8, SI; \
	ROWMASK(3); \
	VMOVUPD Z21, K1, (SI); \
	ADDQ R8, SI; \
	ROWMASK(4); \
	VMOVUPD Z18, K1, (SI); \
	ADDQ R8, SI; \
	ROWMASK(5); \
	VMOVUPD Z22, K1, (SI); \
	ADDQ R8, SI; \
	ROWMASK(6); \
	VMOVUPD Z19, K1, (SI); \
	ADDQ R8, SI; \
	ROWMASK(7); \
	VMOVUPD Z23, K1, (SI)

// func loadCornerAVX512(n int, src *float64, ld int, dst *float64)
//
// See CORNER; the lines behind n become those of the identity.
TEXT ·loadCornerAVX512(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ src+8(FP), R9
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), R10
	CORNER(LOADBLOCK)
	MOVQ n+0(FP), CX
	MOVQ dst+24(FP), DI
	IMUL3Q $200, CX, AX
	ADDQ AX, DI
	MOVQ $0x3ff0000000000000, BX
	JMP  check
one:
	MOVQ BX, (DI)
	ADDQ $200, DI
	INCQ CX
check:
	TESTQ $7, CX
	JNE  one
	VZEROUPPER
	RET

// func storeCornerAVX512(n int, src, dst *float64, ld int)
//
// See CORNER.
TEXT ·storeCornerAVX512(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ src+8(FP), R10
	MOVQ dst+16(FP), R9
	MOVQ ld+24(FP), R8
	CORNER(STOREBLOCK)
	VZEROUPPER
	RET

// func copyLowerAVX512(n int, dst *float64, ldd int, src *float64, lds int)
//
//	for i = 0…n-1: dst[i*ldd:][0:i+1] = src[i*lds:][0:i+1], n ≤ 24
//
// SI, DI walk src and dst in steps of R8 and R9 bytes; AX has a bit for each
// element of the row, K1…K3 those of its vectors; CX rows left.
TEXT ·copyLowerAVX512(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ dst+8(FP), DI
	MOVQ ldd+16(FP), R9
	MOVQ src+24(FP), SI
	MOVQ lds+32(FP), R8
	SHLQ $3, R8
	SHLQ $3, R9
	MOVL $1, AX
row:
	KMOVW AX, K1
	MOVL AX, BX
	SHRL $8, BX
	KMOVW BX, K2
	SHRL $8, BX
	KMOVW BX, K3
	VMOVUPD.Z (SI), K1, Z0
	VMOVUPD.Z 64(SI), K2, Z1
	VMOVUPD.Z 128(SI), K3, Z2
	VMOVUPD Z0, K1, (DI)
	VMOVUPD Z1, K2, 64(DI)
	VMOVUPD Z2, K3, 128(DI)
	LEAL 1(AX)(AX*1), AX
	ADDQ R8, SI
	ADDQ R9, DI
	DECQ CX
	JNE  row
	VZEROUPPER
	RET

// Triangles of up to eight rows are worked on where they lie, a vector a row.

// COLUMN finishes column i of a factor, z, whose pivot is in d, and LESSCOLUMN
// subtracts its term from column h, c. Like AHEAD, of the next column nz, and
// NEXT, which leaves when there are no more columns, they are steps of
// smallCholAVX512.
#define COLUMN(i, z) \
	VMULPD Z27, z, z; \
	MOVL   $(1<<i), AX; \
	KMOVW  AX, K1; \
	VBROADCASTSD X25, K1, z

#define LESSCOLUMN(h, z, c) \
	VMOVUPD lane<>+(h*64)(SB), Z27; \
	VPERMPD z, Z27, Z27; \
	VFNMADD231PD z, Z27, c

#define NEXT(i) \
	INCQ R11; \
	CMPQ R11, CX; \
	JEQ  done

// ROWSIN and ROWSOUT move n rows, up to and including the diagonal, between the
// matrix at SI and Z0…Z7 or Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23; R8 is ld in bytes.
#define ROWSIN \
	ROWMASK(0); VMOVUPD.Z (SI), K1, Z0; ADDQ R8, SI; \
	ROWMASK(1); VMOVUPD.Z (SI), K1, Z1; ADDQ R8, SI; \
	ROWMASK(2); VMOVUPD.Z (SI), K1, Z2; ADDQ R8, SI; \
	ROWMASK(3); VMOVUPD.Z (SI), K1, Z3; ADDQ R8, SI; \
	ROWMASK(4); VMOVUPD.Z (SI), K1, Z4; ADDQ R8, SI; \
	ROWMASK(5); VMOVUPD.Z (SI), K1, Z5; ADDQ R8, SI; \
	ROWMASK(6); VMOVUPD.Z (SI), K1, Z6; ADDQ R8, SI; \
	ROWMASK(7); VMOVUPD.Z (SI), K1, Z7

#define ROWSOUT(z0, z1, z2, z3, z4, z5, z6, z7) \
	ROWMASK(0); VMOVUPD z0, K1, (SI); ADDQ R8, SI; \
	ROWMASK(1); VMOVUPD z1, K1, (SI); ADDQ R8, SI; \
	ROWMASK(2); VMOVUPD z2, K1, (SI); ADDQ R8, SI; \
	ROWMASK(3); VMOVUPD z3, K1, (SI); ADDQ R8, SI; \
	ROWMASK(4); VMOVUPD z4, K1, (SI); ADDQ R8, SI; \
	ROWMASK(5); VMOVUPD z5, K1, (SI); ADDQ R8, SI; \
	ROWMASK(6); VMOVUPD z6, K1, (SI); ADDQ R8, SI; \
	ROWMASK(7); VMOVUPD z7, K1, (SI)

// func smallCholAVX512(n int, a *float64, ld int) (bad int, pivot float64)
//
//	z = lower triangle of a, a column a vector
//	for i = 0…n-1: d = z[i][i]; return i, d unless 0 < d < Inf
//	    r = 1/√d; z[i] *= r; z[i][i] = √d
//	    for h = i+1…7: z[h] -= z[i][h]·z[i]
//	lower triangle of a = z
//
// The columns are in Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23; CX n; R11 i; AX in ROWSIN and
// ROWSOUT a bit for each row, R12 the masks of the rows; X29 0, X30 1, X31 Inf; the
// pivot is in X24 and X28 by turns.
TEXT ·smallCholAVX512(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ ld+16(FP), R8
	SHLQ $3, R8
	LEAQ staircase<>(SB), R12
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	ROWSIN
	TRANSPOSE
	VXORPD X29, X29, X29
	VMOVSD one<>(SB), X30
	VMOVSD inf<>(SB), X31
	XORL R11, R11
	VMOVAPD Z16, Z24
	PIVOT(X24)
	AHEAD(0, X24, Z24, X28, Z28, Z16, Z20)
	COLUMN(0, Z16)
	NEXT(0)
	LESSCOLUMN(1, Z16, Z20)
	LESSCOLUMN(2, Z16, Z17)
	LESSCOLUMN(3, Z16, Z21)
	LESSCOLUMN(4, Z16, Z18)
	LESSCOLUMN(5, Z16, Z22)
	LESSCOLUMN(6, Z16, Z19)
	LESSCOLUMN(7, Z16, Z23)
	PIVOT(X28)
	AHEAD(1, X28, Z28, X24, Z24, Z20, Z17)
	COLUMN(1, Z20)
	NEXT(1)
	LESSCOLUMN(2, Z20, Z17)
	LESSCOLUMN(3, Z20, Z21)
	LESSCOLUMN(4, Z20, Z18)
	LESSCOLUMN(5, Z20, Z22)
	LESSCOLUMN(6, Z20, Z19)
	LESSCOLUMN(7, Z20, Z23)
	PIVOT(X24)
	AHEAD(2, X24, Z24, X28, Z28, Z17, Z21)
	COLUMN(2, Z17)
	NEXT(2)
	LESSCOLUMN(3, Z17, Z21)
	LESSCOLUMN(4, Z17, Z18)
	LESSCOLUMN(5, Z17, Z22)
	LESSCOLUMN(6, Z17, Z19)
	LESSCOLUMN(7, Z17, Z23)
	PIVOT(X28)
	AHEAD(3, X28, Z28, X24, Z24, Z21, Z18)
	COLUMN(3, Z21)
	NEXT(3)
	LESSCOLUMN(4, Z21, Z18)
	LESSCOLUMN(5, Z21, Z22)
	LESSCOLUMN(6, Z21, Z19)
	LESSCOLUMN(7, Z21, Z23)
	PIVOT(X24)
	AHEAD(4, X24, Z24, X28, Z28, Z18, Z22)
	COLUMN(4, Z18)
	NEXT(4)
	LESSCOLUMN(5, Z18, Z22)
	LESSCOLUMN(6, Z18, Z19)
	LESSCOLUMN(7, Z18, Z23)
	PIVOT(X28)
	AHEAD(5, X28, Z28, X24, Z24, Z22, Z19)
	COLUMN(5, Z22)
	NEXT(5)
	LESSCOLUMN(6, Z22, Z19)
	LESSCOLUMN(7, Z22, Z23)
	PIVOT(X24)
	AHEAD(6, X24, Z24, X28, Z28, Z19, Z23)
	COLUMN(6, Z19)
	NEXT(6)
	LESSCOLUMN(7, Z19, Z23)
	PIVOT(X28)
	COLUMN(7, Z23)
done:
	VMOVAPD Z16, Z0
	VMOVAPD Z20, Z1
	VMOVAPD Z17, Z2
	VMOVAPD Z21, Z3
	VMOVAPD Z18, Z4
	VMOVAPD Z22, Z5
	VMOVAPD Z19, Z6
	VMOVAPD Z23, Z7
	TRANSPOSE
	MOVQ a+8(FP), SI
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	ROWSOUT(Z16, Z20, Z17, Z21, Z18, Z22, Z19, Z23)
	MOVQ $-1, R11
	JMP  end
bad:
	TESTQ $1, R11
	JEQ   end
	VMOVAPD Z28, Z24
end:
	MOVQ R11, bad+24(FP)
	VMOVSD X24, pivot+32(FP)
	VZEROUPPER
	RET

// INVERT begins row i of X in x, with element i of SI's row, and LESSROW subtracts
// the term of row k, in z; SOLVEDROW scales it, GRAM adds its term to row h of
// Xᵀ·X, in c, for h ≤ i. MORE leaves when there are no more rows.
#define INVERT(i, x) \
	VDIVSD (i*8)(SI), X30, X25; \
	VBROADCASTSD X25, Z25; \
	MOVL   $(1<<i), AX; \
	KMOVW  AX, K1; \
	VMOVAPD.Z Z31, K1, x

#define LESSROW(k, z, x) VFNMADD231PD.BCST (k*8)(SI), z, x

#define SOLVEDROW(x) \
	VMULPD Z25, x, x; \
	VFMADD231PD x, x, Z24

#define GRAM(h, x, c) \
	VMOVUPD lane<>+(h*64)(SB), Z26; \
	VPERMPD x, Z26, Z26; \
	VFMADD231PD x, Z26, c

#define MORE \
	ADDQ R8, SI; \
	DECQ CX; \
	JEQ  done

// func smallInvAVX512(n int, l *float64, ld int, dst *float64, ldd int, what int)
//
//	for i = 0…n-1: x[i] = e[i]
//	    for k = 0…i-1: x[i] -= l[i][k]·x[k]
//	    x[i] *= 1/l[i][i]; d += x[i]²
//	    for h = 0…i: c[h] += x[i][h]·x[i]
//	lower triangle of dst = x or c, or dst[0:n] = d, for what = 0, 1, 2
//
// Z0…Z7 x, Z8…Z15 c, Z24 d, Z31 and X30 1; SI row i of l, then of dst; R8 ld in
// bytes; CX rows left; AX, R12 as in smallCholAVX512.
TEXT ·smallInvAVX512(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), CX
	MOVQ l+8(FP), SI
	MOVQ ld+16(FP), R8
	SHLQ $3, R8
	VBROADCASTSD one<>(SB), Z31
	VMOVAPD X31, X30
	VPXORQ Z24, Z24, Z24
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	INVERT(0, Z0)
	SOLVEDROW(Z0)
	GRAM(0, Z0, Z8)
	MORE
	INVERT(1, Z1)
	LESSROW(0, Z0, Z1)
	SOLVEDROW(Z1)
	GRAM(0, Z1, Z8)
	GRAM(1, Z1, Z9)
	MORE
	INVERT(2, Z2)
	LESSROW(0, Z0, Z2)
	LESSROW(1, Z1, Z2)
	SOLVEDROW(Z2)
	GRAM(0, Z2, Z8)
	GRAM(1, Z2, Z9)
	GRAM(2, Z2, Z10)
	MORE
	INVERT(3, Z3)
	LESSROW(0, Z0, Z3)
	LESSROW(1, Z1, Z3)
	LESSROW(2, Z2, Z3)
	SOLVEDROW(Z3)
	GRAM(0, Z3, Z8)
	GRAM(1, Z3, Z9)
	GRAM(2, Z3, Z10)
	GRAM(3, Z3, Z11)
	MORE
	INVERT(4, Z4)
	LESSROW(0, Z0, Z4)
	LESSROW(1, Z1, Z4)
	LESSROW(2, Z2, Z4)
	LESSROW(3, Z3, Z4)
	SOLVEDROW(Z4)
	GRAM(0, Z4, Z8)
	GRAM(1, Z4, Z9)
	GRAM(2, Z4, Z10)
	GRAM(3, Z4, Z11)
	GRAM(4, Z4, Z12)
	MORE
	INVERT(5, Z5)
	LESSROW(0, Z0, Z5)
	LESSROW(1, Z1, Z5)
	LESSROW(2, Z2, Z5)
	LESSROW(3, Z3, Z5)
	LESSROW(4, Z4, Z5)
	SOLVEDROW(Z5)
	GRAM(0, Z5, Z8)
	GRAM(1, Z5, Z9)
	GRAM(2, Z5, Z10)
	GRAM(3, Z5, Z11)
	GRAM(4, Z5, Z12)
	GRAM(5, Z5, Z13)
	MORE
	INVERT(6, Z6)
	LESSROW(0, Z0, Z6)
	LESSROW(1, Z1, Z6)
	LESSROW(2, Z2, Z6)
	LESSROW(3, Z3, Z6)
	LESSROW(4, Z4, Z6)
	LESSROW(5, Z5, Z6)
	SOLVEDROW(Z6)
	GRAM(0, Z6, Z8)
	GRAM(1, Z6, Z9)
	GRAM(2, Z6, Z10)
	GRAM(3, Z6, Z11)
	GRAM(4, Z6, Z12)
	GRAM(5, Z6, Z13)
	GRAM(6, Z6, Z14)
	MORE
	INVERT(7, Z7)
	LESSROW(0, Z0, Z7)
	LESSROW(1, Z1, Z7)
	LESSROW(2, Z2, Z7)
	LESSROW(3, Z3, Z7)
	LESSROW(4, Z4, Z7)
	LESSROW(5, Z5, Z7)
	LESSROW(6, Z6, Z7)
	SOLVEDROW(Z7)
	GRAM(0, Z7, Z8)
	GRAM(1, Z7, Z9)
	GRAM(2, Z7, Z10)
	GRAM(3, Z7, Z11)
	GRAM(4, Z7, Z12)
	GRAM(5, Z7, Z13)
	GRAM(6, Z7, Z14)
	GRAM(7, Z7, Z15)
done:
	MOVQ n+0(FP), CX
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	MOVQ dst+24(FP), SI
	MOVQ ldd+32(FP), R8
	SHLQ $3, R8
	LEAQ staircase<>(SB), R12
	MOVQ what+40(FP), DX
	CMPQ DX, $1
	JEQ  whole
	JGT  diagonal
	ROWSOUT(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	VZEROUPPER
	RET
whole:
	ROWSOUT(Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	VZEROUPPER
	RET
diagonal:
	KMOVW AX, K1
	VMOVUPD Z24, K1, (SI)
	VZEROUPPER
	RET
