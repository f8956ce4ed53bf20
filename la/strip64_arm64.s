//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// Strips for NEON, float64: nr = 12, mr = 4.

#define SIZE 8
#define SHIFT 3
#define NR 12

#define STRIPADD ·neonStripAdd64
#define STRIPSUB ·neonStripSub64
#define STRIPSOLVE ·neonStripSolve64
#define STRIPCHOL ·neonStripChol64
#define STRIPSQUARES ·neonStripSquares64

#define TERM(op0, op1, o) \
	LOADB(o); \
	FLDPQ (o)(R1), (F30, F31); \
	ROW(op0, 30, 0, 1, 2, 3, 4, 5); \
	ROW(op1, 30, 6, 7, 8, 9, 10, 11); \
	ROW(op0, 31, 12, 13, 14, 15, 16, 17); \
	ROW(op1, 31, 18, 19, 20, 21, 22, 23)

#define ADDTERM(o) TERM(VFMLAD0, VFMLAD1, o)
#define SUBTERM(o) TERM(VFMLSD0, VFMLSD1, o)

#define LOADEND(c0, c1, c2, c3, c4, c5) \
	CMP   $8, R11; \
	BEQ   2(PC); \
	FLDPQ 32(R7), (c2, c3); \
	FLDPQ 64(R7), (c4, c5); \
	ADD   R4, R7

#define STOREEND(c0, c1, c2, c3, c4, c5) \
	CMP   $8, R11; \
	BEQ   2(PC); \
	FSTPQ (c2, c3), 32(R7); \
	FSTPQ (c4, c5), 64(R7); \
	ADD   R4, R7

#define LOADFOUR(p) FLDPQ (p), (F24, F25)
#define LOADREST(o) FMOVQ (o+16)(R1), F25
#define LOADSCALES FLDPQ (R10), (F28, F29)

#define MINUS1(less) less(VFMLSD1, 24)
#define MINUS2(less) less(VFMLSD0, 25)
#define MINUS3(less) less(VFMLSD1, 25)

#define TIMES0(scale) scale(VFMULD0, 28)
#define TIMES1(scale) scale(VFMULD1, 28)
#define TIMES2(scale) scale(VFMULD0, 29)
#define TIMES3(scale) scale(VFMULD1, 29)

#define SQUARE(v, d) VFMLA v.D2, v.D2, d.D2

#define LOADONE FMOVD $1.0, F27
#define LARGEST 0x7fefffffffffffff

// PIVOT finishes row j, at R7. R8 points to the block's four lines of the row, and line j is at byte
// offset o from there. The row is first stored without scaling, because a general register reads
// the pivot from memory, then scaled and stored again. A pivot is positive and finite if its bits
// minus 1, as an unsigned integer, are below LARGEST.
#define PIVOT(o, scale, c0, c1, c2, c3, c4, c5) \
	FSTPQ  (c0, c1), (R7); \
	FSTPQ  (c2, c3), 32(R7); \
	FSTPQ  (c4, c5), 64(R7); \
	MOVD   o(R8), R15; \
	FMOVD  o(R8), F28; \
	SUB    $1, R15; \
	CMP    R14, R15; \
	BHS    stop; \
	FSQRTD F28, F29; \
	FDIVD  F29, F27, F28; \
	FMOVD  F28, o(R10); \
	scale(VFMULD0, 28); \
	STOREROW(c0, c1, c2, c3, c4, c5); \
	LOADFOUR(R8); \
	FMOVD F29, o(R8); \
	ADD   R4, R8

#include "strip_arm64.h"
