//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// Strips for NEON, float32: nr = 24, mr = 4.

#define SIZE 4
#define SHIFT 2
#define NR 24

#define STRIPADD ·neonStripAdd32
#define STRIPSUB ·neonStripSub32
#define STRIPSOLVE ·neonStripSolve32
#define STRIPCHOL ·neonStripChol32
#define STRIPSQUARES ·neonStripSquares32

#define TERM(op0, op1, op2, op3, o) \
	LOADB(o); \
	FMOVQ (o)(R1), F30; \
	ROW(op0, 30, 0, 1, 2, 3, 4, 5); \
	ROW(op1, 30, 6, 7, 8, 9, 10, 11); \
	ROW(op2, 30, 12, 13, 14, 15, 16, 17); \
	ROW(op3, 30, 18, 19, 20, 21, 22, 23)

#define ADDTERM(o) TERM(VFMLAS0, VFMLAS1, VFMLAS2, VFMLAS3, o)
#define SUBTERM(o) TERM(VFMLSS0, VFMLSS1, VFMLSS2, VFMLSS3, o)

#define LOADEND(c0, c1, c2, c3, c4, c5) \
	CMP   $4, R11; \
	BGT   2(PC); \
	FMOVQ 16(R7), c1; \
	CMP   $8, R11; \
	BGT   2(PC); \
	FMOVQ 32(R7), c2; \
	CMP   $12, R11; \
	BGT   2(PC); \
	FMOVQ 48(R7), c3; \
	CMP   $16, R11; \
	BGT   2(PC); \
	FMOVQ 64(R7), c4; \
	FMOVQ 80(R7), c5; \
	ADD   R4, R7

#define STOREEND(c0, c1, c2, c3, c4, c5) \
	CMP   $4, R11; \
	BGT   2(PC); \
	FMOVQ c1, 16(R7); \
	CMP   $8, R11; \
	BGT   2(PC); \
	FMOVQ c2, 32(R7); \
	CMP   $12, R11; \
	BGT   2(PC); \
	FMOVQ c3, 48(R7); \
	CMP   $16, R11; \
	BGT   2(PC); \
	FMOVQ c4, 64(R7); \
	FMOVQ c5, 80(R7); \
	ADD   R4, R7

#define LOADFOUR(p) FMOVQ (p), F24
#define LOADREST(o) FMOVQ (o)(R1), F24
#define LOADSCALES FMOVQ (R10), F28

#define MINUS1(less) less(VFMLSS1, 24)
#define MINUS2(less) less(VFMLSS2, 24)
#define MINUS3(less) less(VFMLSS3, 24)

#define TIMES0(scale) scale(VFMULS0, 28)
#define TIMES1(scale) scale(VFMULS1, 28)
#define TIMES2(scale) scale(VFMULS2, 28)
#define TIMES3(scale) scale(VFMULS3, 28)

#define SQUARE(v, d) VFMLA v.S4, v.S4, d.S4

#define LOADONE FMOVS $1.0, F27
#define LARGEST 0x7f7fffff

// PIVOT finishes row j, at R7. R8 points to the block's four lines of the row, and line j is at byte
// offset o from there. The row is first stored without scaling, because a general register reads
// the pivot from memory, then scaled and stored again. A pivot is positive and finite if its bits
// minus 1, as an unsigned integer, are below LARGEST.
#define PIVOT(o, scale, c0, c1, c2, c3, c4, c5) \
	FSTPQ  (c0, c1), (R7); \
	FSTPQ  (c2, c3), 32(R7); \
	FSTPQ  (c4, c5), 64(R7); \
	MOVWU  o(R8), R15; \
	FMOVS  o(R8), F28; \
	SUB    $1, R15; \
	CMP    R14, R15; \
	BHS    stop; \
	FSQRTS F28, F29; \
	FDIVS  F29, F27, F28; \
	FMOVS  F28, o(R10); \
	scale(VFMULS0, 28); \
	STOREROW(c0, c1, c2, c3, c4, c5); \
	LOADFOUR(R8); \
	FMOVS F29, o(R8); \
	ADD   R4, R8

#include "strip_arm64.h"
