//go:build !purego

#include "textflag.h"

// Strip kernels for AVX-512, float64: nr = 24 lines (three vectors), mr = 8.

#define SIZE 8
#define SHIFT 3
#define LANES 8
#define NR 24
#define MOVE VMOVUPD
#define BROADCAST VBROADCASTSD
#define MULTIPLY VMULPD
#define PLUSPRODUCT VFMADD231PD
#define LESSPRODUCT VFNMADD231PD
#define MOVE1 VMOVSD
#define MULTIPLY1 VMULSD
#define LESSPRODUCT1 VFNMADD231SD
#define DIVIDE1 VDIVSD
#define ROOT VSQRTSD
#define COMPARE VUCOMISD
#define ALIGN VALIGNQ
#define ONE one<>(SB)
#define INF inf<>(SB)

#include "strip_avx512.h"

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

// func avx512StripAdd64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)
TEXT ·avx512StripAdd64(SB), NOSPLIT, $0-72
	TILE(PLUSPRODUCT)

// func avx512StripSub64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)
TEXT ·avx512StripSub64(SB), NOSPLIT, $0-72
	TILE(LESSPRODUCT)

// func avx512StripSolve64(lo, hi int, t *float64, ts int, r, y *float64, skip int)
TEXT ·avx512StripSolve64(SB), NOSPLIT, $0-56
	SOLVE

// func avx512StripChol64(lo, j0, hi int, r, y *float64) int
TEXT ·avx512StripChol64(SB), NOSPLIT, $0-48
	CHOL

// func avx512StripSquares64(k int, y, d *float64)
TEXT ·avx512StripSquares64(SB), NOSPLIT, $0-24
	SQUARES

// func avx512StripCopy64(k int, src *float64, lds int, dst *float64, ldd int)
TEXT ·avx512StripCopy64(SB), NOSPLIT, $0-40
	COPYROWS

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

// func avx512StripPack64(k int, src *float64, ld int, dst *float64)
//
//	for p = 0, 8, … < k: dst[p:p+8][0:8] = src[0:8][p:p+8]ᵀ, k a multiple of 8
//
// SI, R11 rows 0 and 4 of src; R8 ld in bytes, R9 three of it; DI dst; CX left.
TEXT ·avx512StripPack64(SB), NOSPLIT, $0-32
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

// func avx512StripUnpack64(k int, src, dst *float64, ld int)
//
//	for p = 0, 8, … < k: dst[0:8][p:p+8] = src[p:p+8][0:8]ᵀ, k a multiple of 8
//
// DI, R11 rows 0 and 4 of dst; R8 ld in bytes, R9 three of it; SI src; CX left.
TEXT ·avx512StripUnpack64(SB), NOSPLIT, $0-32
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

// CORNER is the frame of avx512LoadCorner64 and avx512StoreCorner64:
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

// func avx512LoadCorner64(n int, src *float64, ld int, dst *float64)
//
// See CORNER; the lines behind n become those of the identity.
TEXT ·avx512LoadCorner64(SB), NOSPLIT, $0-32
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

// func avx512StoreCorner64(n int, src, dst *float64, ld int)
//
// See CORNER.
TEXT ·avx512StoreCorner64(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ src+8(FP), R10
	MOVQ dst+16(FP), R9
	MOVQ ld+24(FP), R8
	CORNER(STOREBLOCK)
	VZEROUPPER
	RET

// func avx512CopyLower64(n int, dst *float64, ldd int, src *float64, lds int)
//
//	for i = 0…n-1: dst[i*ldd:][0:i+1] = src[i*lds:][0:i+1], n ≤ 24
//
// SI, DI walk src and dst in steps of R8 and R9 bytes; AX has a bit for each
// element of the row, K1…K3 those of its vectors; CX rows left.
TEXT ·avx512CopyLower64(SB), NOSPLIT, $0-40
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
// avx512SmallChol64.
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

// func avx512SmallChol64(n int, a *float64, ld int) (bad int, pivot float64)
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
TEXT ·avx512SmallChol64(SB), NOSPLIT, $0-40
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

// func avx512SmallInv64(n int, l *float64, ld int, dst *float64, ldd int, what int)
//
//	for i = 0…n-1: x[i] = e[i]
//	    for k = 0…i-1: x[i] -= l[i][k]·x[k]
//	    x[i] *= 1/l[i][i]; d += x[i]²
//	    for h = 0…i: c[h] += x[i][h]·x[i]
//	lower triangle of dst = x or c, or dst[0:n] = d, for what = 0, 1, 2
//
// Z0…Z7 x, Z8…Z15 c, Z24 d, Z31 and X30 1; SI row i of l, then of dst; R8 ld in
// bytes; CX rows left; AX, R12 as in avx512SmallChol64.
TEXT ·avx512SmallInv64(SB), NOSPLIT, $0-48
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
