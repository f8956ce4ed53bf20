//go:build !purego

#include "textflag.h"
#include "transpose_avx512.h"

// Float64 matrices to strips and back, for AVX-512, in blocks of 8×8. A strip has 24
// lines: its rows are 192 bytes apart.

// LOADLINES and STORELINES move eight lines of a strip between DI and Z0–Z7 or what
// TRANSPOSE leaves.
#define LOADLINES \
	VMOVUPD 0(DI), Z0;   \
	VMOVUPD 192(DI), Z1; \
	VMOVUPD 384(DI), Z2; \
	VMOVUPD 576(DI), Z3; \
	VMOVUPD 768(DI), Z4; \
	VMOVUPD 960(DI), Z5; \
	VMOVUPD 1152(DI), Z6; \
	VMOVUPD 1344(DI), Z7

#define STORELINES \
	VMOVUPD Z16, 0(DI);   \
	VMOVUPD Z20, 192(DI); \
	VMOVUPD Z17, 384(DI); \
	VMOVUPD Z21, 576(DI); \
	VMOVUPD Z18, 768(DI); \
	VMOVUPD Z22, 960(DI); \
	VMOVUPD Z19, 1152(DI); \
	VMOVUPD Z23, 1344(DI)

// FETCH8 prefetches eight rows of a matrix, at p and, from the fifth on, at R11.
#define FETCH8(p) \
	PREFETCHT0 320(p);       \
	PREFETCHT0 320(p)(R8*1); \
	PREFETCHT0 320(p)(R8*2); \
	PREFETCHT0 320(p)(R9*1); \
	PREFETCHT0 320(R11);       \
	PREFETCHT0 320(R11)(R8*1); \
	PREFETCHT0 320(R11)(R8*2); \
	PREFETCHT0 320(R11)(R9*1)

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
	FETCH8(SI)
	TRANSPOSE
	STORELINES
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
	FETCH8(DI)
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

// CORNER is the frame of avx512LoadCorner64 and avx512StoreCorner64:
//
//	for bi = 0, 8, … < n, for bj = 0, 8, …, bi: BLOCK
//
// where BLOCK moves rows bi…bi+7, columns bj…bj+7 from or to the matrix.
//
//	R9 matrix, row bi, SI row bi at column bj   R8 row in bytes   R10 strip, line bi, DI
//	line bi at position bj   R11 bi   DX bi-bj   CX n-bi   AX masks of the rows that there are,
//	R12 of this block   Clobbers BX
#define CORNER(BLOCK) \
	SHLQ $3, R8;   \
	XORL R11, R11; \
rows: \
	MOVQ R9, SI;   \
	MOVQ R10, DI;  \
	MOVQ R11, DX;  \
	MOVQ $-1, AX;  \
	CMPQ CX, $8;   \
	JGE  block;    \
	FIRSTROWS(AX); \
block: \
	MOVQ  STAIRCASE, R12;       \
	MOVQ  $-1, BX;              \
	TESTQ DX, DX;               \
	CMOVQNE BX, R12;            \
	ANDQ  AX, R12;              \
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
	ROWSIN;    \
	TRANSPOSE; \
	STORELINES

#define STOREBLOCK \
	LOADLINES; \
	TRANSPOSE; \
	ROWSOUT(Z16, Z20, Z17, Z21, Z18, Z22, Z19, Z23)

// func avx512LoadCorner64(n int, src *float64, ld int, dst *float64)
//
// See CORNER. The lines after line n become lines of the identity. A line takes 8 bytes and a
// position 192, so that elements of the diagonal are 200 bytes apart.
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
// SI, DI walk src and dst in steps of R8 and R9 bytes; CX rows left; K1 selects the elements
// of the last vector of a row, AX has its bits.
#define LASTVECTOR(o) \
	KMOVW AX, K1;              \
	VMOVUPD.Z (o)(SI), K1, Z0; \
	VMOVUPD Z0, K1, (o)(DI)

// NEXTROW goes to the next row, or leaves after the last row. The jump after it is for a row of as
// many vectors as this one.
#define NEXTROW \
	LEAL 1(AX)(AX*1), AX; \
	ADDQ R8, SI;          \
	ADDQ R9, DI;          \
	DECQ CX;              \
	JEQ  done;            \
	CMPL AX, $255

TEXT ·avx512CopyLower64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ dst+8(FP), DI
	MOVQ ldd+16(FP), R9
	MOVQ src+24(FP), SI
	MOVQ lds+32(FP), R8
	SHLQ $3, R8
	SHLQ $3, R9
	MOVL $1, AX

one:
	LASTVECTOR(0)
	NEXTROW
	JLE  one
	MOVL $1, AX

two:
	VMOVUPD (SI), Z1
	VMOVUPD Z1, (DI)
	LASTVECTOR(64)
	NEXTROW
	JLE  two
	MOVL $1, AX

three:
	VMOVUPD (SI), Z1
	VMOVUPD 64(SI), Z2
	VMOVUPD Z1, (DI)
	VMOVUPD Z2, 64(DI)
	LASTVECTOR(128)
	NEXTROW
	JLE  three

done:
	VZEROUPPER
	RET
