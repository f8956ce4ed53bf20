// Strip kernels for AVX-512, for the type of float64_amd64.h or float32_amd64.h. A strip
// has NR lines, three vectors of LANES elements, so that its rows take 192 bytes for both
// types. Comments count elements as for float64: NR = 24, LANES = 8.
//
// A block of 8 rows is kept in Z0–Z23, row i in Z(3i), Z(3i+1), Z(3i+2); Z24–Z26 hold a
// row of b, Z27 and Z28 an element of a in all lanes. Macros whose names end in 2 or 1
// do what their namesakes do with the first two vectors of each row, or the first.

#define LANES (64/SIZE)
#define NR (3*LANES)

#include "pivot_avx512.h"

// ROW continues the chains of one row of the block by the element at address a times the
// row of b. OP is PLUSPRODUCT or LESSPRODUCT throughout.
#define ROW(OP, a, z, c0, c1, c2) \
	BROADCAST a, z;  \
	OP           Z24, z, c0; \
	OP           Z25, z, c1; \
	OP           Z26, z, c2

// ROWS continues the block by a term whose row of b is loaded and whose elements of a are
// at byte offset o from SI.
#define ROWS(OP, o) \
	ROW(OP, (o+0*SIZE)(SI), Z27, Z0, Z1, Z2);     \
	ROW(OP, (o+1*SIZE)(SI), Z28, Z3, Z4, Z5);     \
	ROW(OP, (o+2*SIZE)(SI), Z27, Z6, Z7, Z8);    \
	ROW(OP, (o+3*SIZE)(SI), Z28, Z9, Z10, Z11);  \
	ROW(OP, (o+4*SIZE)(SI), Z27, Z12, Z13, Z14); \
	ROW(OP, (o+5*SIZE)(SI), Z28, Z15, Z16, Z17); \
	ROW(OP, (o+6*SIZE)(SI), Z27, Z18, Z19, Z20); \
	ROW(OP, (o+7*SIZE)(SI), Z28, Z21, Z22, Z23)

#define ROWS2(OP, o) \
	BROADCAST (o+0*SIZE)(SI), Z27; OP Z24, Z27, Z0; OP Z25, Z27, Z1; \
	BROADCAST (o+1*SIZE)(SI), Z28; OP Z24, Z28, Z3; OP Z25, Z28, Z4; \
	BROADCAST (o+2*SIZE)(SI), Z27; OP Z24, Z27, Z6; OP Z25, Z27, Z7; \
	BROADCAST (o+3*SIZE)(SI), Z28; OP Z24, Z28, Z9; OP Z25, Z28, Z10; \
	BROADCAST (o+4*SIZE)(SI), Z27; OP Z24, Z27, Z12; OP Z25, Z27, Z13; \
	BROADCAST (o+5*SIZE)(SI), Z28; OP Z24, Z28, Z15; OP Z25, Z28, Z16; \
	BROADCAST (o+6*SIZE)(SI), Z27; OP Z24, Z27, Z18; OP Z25, Z27, Z19; \
	BROADCAST (o+7*SIZE)(SI), Z28; OP Z24, Z28, Z21; OP Z25, Z28, Z22

#define ROWS1(OP, o) \
	OP.BCST (o+0*SIZE)(SI), Z24, Z0; \
	OP.BCST (o+1*SIZE)(SI), Z24, Z3; \
	OP.BCST (o+2*SIZE)(SI), Z24, Z6; \
	OP.BCST (o+3*SIZE)(SI), Z24, Z9; \
	OP.BCST (o+4*SIZE)(SI), Z24, Z12; \
	OP.BCST (o+5*SIZE)(SI), Z24, Z15; \
	OP.BCST (o+6*SIZE)(SI), Z24, Z18; \
	OP.BCST (o+7*SIZE)(SI), Z24, Z21

// TERM is ROWS with the row of b at the same offset from DI.
#define TERM(OP, o) \
	MOVE (o)(DI), Z24;     \
	MOVE (o+64)(DI), Z25;  \
	MOVE (o+128)(DI), Z26; \
	ROWS(OP, o)

#define TERM2(OP, o) \
	MOVE (o)(DI), Z24;    \
	MOVE (o+64)(DI), Z25; \
	ROWS2(OP, o)

#define TERM1(OP, o) \
	MOVE (o)(DI), Z24; \
	ROWS1(OP, o)

// LOADROW and STOREROW move a row of the block from or to byte offset o of p.
#define LOADROW(o, p, c0, c1, c2) \
	MOVE (o)(p), c0;    \
	MOVE (o+64)(p), c1; \
	MOVE (o+128)(p), c2

#define STOREROW(c0, c1, c2, o, p) \
	MOVE c0, (o)(p);    \
	MOVE c1, (o+64)(p); \
	MOVE c2, (o+128)(p)

#define LOADROW2(o, p, c0, c1, c2) \
	MOVE (o)(p), c0; \
	MOVE (o+64)(p), c1

#define STOREROW2(c0, c1, c2, o, p) \
	MOVE c0, (o)(p); \
	MOVE c1, (o+64)(p)

#define LOADROW1(o, p, c0, c1, c2) MOVE (o)(p), c0

// EACHROW does op to each row of the block and its byte offset in a strip at p.
#define EACHROW(op, p) \
	op(0, p, Z0, Z1, Z2);      \
	op(192, p, Z3, Z4, Z5);    \
	op(384, p, Z6, Z7, Z8);    \
	op(576, p, Z9, Z10, Z11);  \
	op(768, p, Z12, Z13, Z14); \
	op(960, p, Z15, Z16, Z17); \
	op(1152, p, Z18, Z19, Z20); \
	op(1344, p, Z21, Z22, Z23)

// BELOW0 does op(i, p, row p, row i) to the rows i below row p = 0 of the block, and so on.
#define BELOW0(op) \
	op(1, 0, Z0, Z1, Z2, Z3, Z4, Z5);    \
	op(2, 0, Z0, Z1, Z2, Z6, Z7, Z8);    \
	op(3, 0, Z0, Z1, Z2, Z9, Z10, Z11);  \
	op(4, 0, Z0, Z1, Z2, Z12, Z13, Z14); \
	op(5, 0, Z0, Z1, Z2, Z15, Z16, Z17); \
	op(6, 0, Z0, Z1, Z2, Z18, Z19, Z20); \
	op(7, 0, Z0, Z1, Z2, Z21, Z22, Z23)

#define BELOW1(op) \
	op(2, 1, Z3, Z4, Z5, Z6, Z7, Z8);    \
	op(3, 1, Z3, Z4, Z5, Z9, Z10, Z11);  \
	op(4, 1, Z3, Z4, Z5, Z12, Z13, Z14); \
	op(5, 1, Z3, Z4, Z5, Z15, Z16, Z17); \
	op(6, 1, Z3, Z4, Z5, Z18, Z19, Z20); \
	op(7, 1, Z3, Z4, Z5, Z21, Z22, Z23)

#define BELOW2(op) \
	op(3, 2, Z6, Z7, Z8, Z9, Z10, Z11);  \
	op(4, 2, Z6, Z7, Z8, Z12, Z13, Z14); \
	op(5, 2, Z6, Z7, Z8, Z15, Z16, Z17); \
	op(6, 2, Z6, Z7, Z8, Z18, Z19, Z20); \
	op(7, 2, Z6, Z7, Z8, Z21, Z22, Z23)

#define BELOW3(op) \
	op(4, 3, Z9, Z10, Z11, Z12, Z13, Z14); \
	op(5, 3, Z9, Z10, Z11, Z15, Z16, Z17); \
	op(6, 3, Z9, Z10, Z11, Z18, Z19, Z20); \
	op(7, 3, Z9, Z10, Z11, Z21, Z22, Z23)

#define BELOW4(op) \
	op(5, 4, Z12, Z13, Z14, Z15, Z16, Z17); \
	op(6, 4, Z12, Z13, Z14, Z18, Z19, Z20); \
	op(7, 4, Z12, Z13, Z14, Z21, Z22, Z23)

#define BELOW5(op) \
	op(6, 5, Z15, Z16, Z17, Z18, Z19, Z20); \
	op(7, 5, Z15, Z16, Z17, Z21, Z22, Z23)

#define BELOW6(op) \
	op(7, 6, Z18, Z19, Z20, Z21, Z22, Z23)

// func add(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
// func sub(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
//
//	skip, fresh, lower = mode & 31, mode & 32, mode & 64
//	for ib = (lower ? skip : 0), …, 16 in steps of 8:
//	    end = lower ? ib+8 : 24
//	    block = fresh ? 0 : c[ib:ib+8][skip:end]
//	    for p = (fresh and lower ? end-skip-8 : 0)…k-1: block ±= a[p*24+ib:][0:8] ⊗ b[p*24:][skip:end]
//	        meanwhile prefetch c[ib+8:ib+16], or next[0:8] if ib = 16, and k/4 lines
//	        from each of soon + (ib/4)·step and soon + (ib/4+1)·step on
//	    c[ib:ib+8][skip:end] = block
//
//	R13 k   R9 a + 8·ib, R10 b + 8·skip, SI and DI walk them   CX terms left   R11 8·ib
//	DX c[ib][skip], AX a row of it   R8 row of c in bytes
//	BX 8·(end-skip); K2, K3 are set if a row's second and third vector are in use
//	R12 what to prefetch of c   R14 and R14+AX what is wanted soon, R15 the next two of it

// LOADTAIL and STORETAIL move a row of c, at AX, without the vectors that are not in use.
#define LOADTAIL(c0, c1, c2) \
	MOVE   (AX), c0;        \
	MOVE.Z 64(AX), K2, c1;  \
	MOVE.Z 128(AX), K3, c2

#define STORETAIL(c0, c1, c2) \
	MOVE c0, (AX);         \
	MOVE c1, K2, 64(AX);   \
	MOVE c2, K3, 128(AX)

#define EACHROWOFC(op) \
	MOVQ DX, AX;       \
	op(Z0, Z1, Z2);    \
	ADDQ R8, AX;       \
	op(Z3, Z4, Z5);    \
	ADDQ R8, AX;       \
	op(Z6, Z7, Z8);    \
	ADDQ R8, AX;       \
	op(Z9, Z10, Z11);  \
	ADDQ R8, AX;       \
	op(Z12, Z13, Z14); \
	ADDQ R8, AX;       \
	op(Z15, Z16, Z17); \
	ADDQ R8, AX;       \
	op(Z18, Z19, Z20); \
	ADDQ R8, AX;       \
	op(Z21, Z22, Z23)

// USED sets the mask k if a row has at least so many bytes in use. Clobbers CX.
#define USED(bytes, k) \
	XORL  CX, CX;     \
	CMPL  BX, $bytes; \
	SETGE CX;         \
	NEGL  CX;         \
	KMOVW CX, k

#define CLEAR \
	VPXORQ Z0, Z0, Z0; VPXORQ Z1, Z1, Z1; VPXORQ Z2, Z2, Z2;          \
	VPXORQ Z3, Z3, Z3; VPXORQ Z4, Z4, Z4; VPXORQ Z5, Z5, Z5;          \
	VPXORQ Z6, Z6, Z6; VPXORQ Z7, Z7, Z7; VPXORQ Z8, Z8, Z8;          \
	VPXORQ Z9, Z9, Z9; VPXORQ Z10, Z10, Z10; VPXORQ Z11, Z11, Z11;    \
	VPXORQ Z12, Z12, Z12; VPXORQ Z13, Z13, Z13; VPXORQ Z14, Z14, Z14; \
	VPXORQ Z15, Z15, Z15; VPXORQ Z16, Z16, Z16; VPXORQ Z17, Z17, Z17; \
	VPXORQ Z18, Z18, Z18; VPXORQ Z19, Z19, Z19; VPXORQ Z20, Z20, Z20; \
	VPXORQ Z21, Z21, Z21; VPXORQ Z22, Z22, Z22; VPXORQ Z23, Z23, Z23

// FOURTERMS continues the block by four terms.
#define FOURTERMS(TERMS, OP) \
	TERMS(OP, 0);   \
	TERMS(OP, 192); \
	TERMS(OP, 384); \
	TERMS(OP, 576); \
	ADDQ $768, SI;  \
	ADDQ $768, DI;  \
	SUBQ $4, CX

#define TILE(OP) \
	MOVQ k+0(FP), R13; \
	MOVQ a+8(FP), R9; \
	MOVQ b+16(FP), R10; \
	MOVQ c+24(FP), DX; \
	MOVQ ldc+32(FP), R8; \
	MOVQ mode+48(FP), AX; \
	MOVQ soon+56(FP), R15; \
	SHLQ $SHIFT, R8; \
	XORL R11, R11; \
	MOVQ AX, CX; \
	ANDL $31, CX; \
	LEAQ (R10)(CX*SIZE), R10; \
	TESTL $64, AX; \
	JEQ  block; \
	LEAQ (R9)(CX*SIZE), R9; \
	LEAQ (R11)(CX*SIZE), R11; \
block: \
	MOVQ mode+48(FP), AX; \
	MOVL AX, CX; \
	ANDL $31, CX; \
	MOVL $128, BX; \
	TESTL $64, AX; \
	CMOVLNE R11, BX; \
	ANDL $-64, BX; \
	ADDL $64, BX; \
	SHLL $SHIFT, CX; \
	SUBL CX, BX; \
	USED(128, K2); \
	USED(192, K3); \
	TESTL $32, AX; \
	JNE  zero; \
	EACHROWOFC(LOADTAIL); \
	JMP  start; \
zero: \
	CLEAR; \
start: \
	MOVQ R9, SI; \
	MOVQ R10, DI; \
	MOVQ R13, CX; \
	MOVQ mode+48(FP), AX; \
	ANDL $96, AX; \
	CMPL AX, $96; \
	JNE  terms; \
	LEAL -64(BX), AX; \
	SHRL $SHIFT, AX; \
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
	CMPQ R11, $(192-8*SIZE); \
	CMOVQEQ next+40(FP), R12; \
	MOVQ R15, R14; \
	MOVQ step+64(FP), AX; \
	LEAQ (R15)(AX*2), R15; \
three: \
	PREFETCHT0 (R12); \
	PREFETCHT1 (R14); \
	PREFETCHT1 (R14)(AX*1); \
	ADDQ $64, R12; \
	ADDQ $64, R14; \
	FOURTERMS(TERM, OP); \
	JNE  three; \
	JMP  done; \
two: \
	FOURTERMS(TERM2, OP); \
	JNE  two; \
	JMP  done; \
one: \
	FOURTERMS(TERM1, OP); \
	JNE  one; \
done: \
	EACHROWOFC(STORETAIL); \
	LEAQ (DX)(R8*8), DX; \
	ADDQ $(8*SIZE), R9; \
	ADDQ $(8*SIZE), R11; \
	CMPQ R11, $192; \
	JNE  block; \
	VZEROUPPER; \
	RET

TEXT STRIPADD(SB), NOSPLIT, $0-72
	TILE(PLUSPRODUCT)

TEXT STRIPSUB(SB), NOSPLIT, $0-72
	TILE(LESSPRODUCT)

// func solve(lo, hi int, t *T, ts int, r, y *T, skip int)
//
//	y = y[:][skip:]
//	for j = lo, lo+8, … < hi:
//	    block = y[j:j+8]
//	    for k = lo…j-1: block -= T[j:j+8][k] ⊗ y[k]
//	    for i = 0…7: block[i] *= r[j+i]; y[j+i] = block[i]
//	        for h = i+1…7: block[h] -= T[j+h][j+i]·block[i]
//
//	R9 T[j][lo], R10 y[lo], SI and DI walk them   CX terms left   R11 j-lo, R12 hi-lo
//	BX r[j]   AX byte offset of line j in its strip of T   R8 bytes from strip to strip

// SOLVED finishes row i of the block: it is scaled by its reciprocal and stored.
#define SOLVED(i, c0, c1, c2) \
	BROADCAST (i*SIZE)(BX), Z27; \
	MULTIPLY Z27, c0, c0; \
	MULTIPLY Z27, c1, c1; \
	MULTIPLY Z27, c2, c2; \
	STOREROW(c0, c1, c2, i*192, DI)

#define SOLVED2(i, c0, c1, c2) \
	BROADCAST (i*SIZE)(BX), Z27; \
	MULTIPLY Z27, c0, c0; \
	MULTIPLY Z27, c1, c1; \
	STOREROW2(c0, c1, c2, i*192, DI)

#define SOLVED1(i, c0, c1, c2) \
	BROADCAST (i*SIZE)(BX), Z27; \
	MULTIPLY Z27, c0, c0; \
	MOVE c0, (i*192)(DI)

// LESS subtracts from row i of the block the term of the solved row p, z0 z1 z2.
#define LESS(i, p, z0, z1, z2, c0, c1, c2) \
	BROADCAST (p*192+i*SIZE)(SI), Z28; \
	LESSPRODUCT z0, Z28, c0; \
	LESSPRODUCT z1, Z28, c1; \
	LESSPRODUCT z2, Z28, c2

#define LESS2(i, p, z0, z1, z2, c0, c1, c2) \
	BROADCAST (p*192+i*SIZE)(SI), Z28; \
	LESSPRODUCT z0, Z28, c0; \
	LESSPRODUCT z1, Z28, c1

#define LESS1(i, p, z0, z1, z2, c0, c1, c2) \
	LESSPRODUCT.BCST (p*192+i*SIZE)(SI), z0, c0

// SOLVECORNER solves for the rows of the block one by one, with a corner of T at SI: each is
// finished and then subtracted from those below.
#define SOLVECORNER(SOLVE, MINUS) \
	SOLVE(0, Z0, Z1, Z2); \
	BELOW0(MINUS); \
	SOLVE(1, Z3, Z4, Z5); \
	BELOW1(MINUS); \
	SOLVE(2, Z6, Z7, Z8); \
	BELOW2(MINUS); \
	SOLVE(3, Z9, Z10, Z11); \
	BELOW3(MINUS); \
	SOLVE(4, Z12, Z13, Z14); \
	BELOW4(MINUS); \
	SOLVE(5, Z15, Z16, Z17); \
	BELOW5(MINUS); \
	SOLVE(6, Z18, Z19, Z20); \
	BELOW6(MINUS); \
	SOLVE(7, Z21, Z22, Z23)

// SOLVEROWS is the loop over j, for rows of as many vectors as LOAD, TERMS, SOLVE and
// MINUS move. Its first four arguments are labels.
#define SOLVEROWS(rows, terms, corner, same, LOAD, TERMS, SOLVE, MINUS) \
rows: \
	IMUL3Q $192, R11, DI; \
	ADDQ  R10, DI; \
	EACHROW(LOAD, DI); \
	MOVQ  R9, SI; \
	MOVQ  R10, DI; \
	MOVQ  R11, CX; \
	TESTQ CX, CX; \
	JEQ   corner; \
terms: \
	TERMS(LESSPRODUCT, 0); \
	TERMS(LESSPRODUCT, 192); \
	ADDQ  $384, SI; \
	ADDQ  $384, DI; \
	SUBQ  $2, CX; \
	JNE   terms; \
corner: \
	SOLVECORNER(SOLVE, MINUS); \
	ADDQ  $(8*SIZE), BX; \
	ADDQ  $(8*SIZE), R9; \
	ADDQ  $(8*SIZE), AX; \
	CMPQ  AX, $192; \
	JNE   same; \
	XORL  AX, AX; \
	SUBQ  $192, R9; \
	ADDQ  R8, R9; \
same: \
	ADDQ  $8, R11; \
	CMPQ  R11, R12; \
	JLT   rows; \
	VZEROUPPER; \
	RET

TEXT STRIPSOLVE(SB), NOSPLIT, $0-56
	MOVQ  lo+0(FP), CX
	MOVQ  hi+8(FP), R12
	MOVQ  t+16(FP), R9
	MOVQ  ts+24(FP), R8
	MOVQ  r+32(FP), BX
	MOVQ  y+40(FP), R10
	SUBQ  CX, R12
	LEAQ  (BX)(CX*SIZE), BX
	IMUL3Q $192, CX, DX
	ADDQ  DX, R10
	SHLQ  $SHIFT, R8
	MOVQ  CX, AX
	XORL  R11, R11

strip:
	CMPQ  AX, $NR
	JLT   line
	SUBQ  $NR, AX
	ADDQ  R8, R9
	JMP   strip

line:
	ADDQ  DX, R9
	SHLQ  $SHIFT, AX
	ADDQ  AX, R9
	MOVQ  skip+48(FP), DX
	LEAQ  (R10)(DX*SIZE), R10
	CMPQ  DX, $LANES
	JGT   rows1
	JEQ   rows2
	SOLVEROWS(rows, terms, corner, same, LOADROW, TERM, SOLVED, LESS)
	SOLVEROWS(rows2, terms2, corner2, same2, LOADROW2, TERM2, SOLVED2, LESS2)
	SOLVEROWS(rows1, terms1, corner1, same1, LOADROW1, TERM1, SOLVED1, LESS1)

// func invert(n int, t, y *T)
//
//	for j = 0, 8, … < n, w = 1 + j/LANES the vectors of these rows that are in use:
//	    block = 0
//	    for k = 0…j-1: block -= T[j:j+8][k] ⊗ y[k], as many vectors as are in use of y[k]
//	    for i = 0…7: r = 1/T[j+i][j+i]; block[i] *= r; block[i][j+i] = r; y[j+i] = block[i]
//	        for h = i+1…7: block[h] -= T[j+h][j+i]·block[i]
//
//	R9 T[j][0], SI walks from there   R10 y, DI walks it   DX y[j]   CX terms left
//	R11 j, R12 n   K1 lane j+i of the last vector in use, AX the next   X30 1

// INVERTED finishes row i of the block, whose last vector in use is last, by its diagonal
// element. INVERTEDROW, INVERTEDROW2 and INVERTEDROW1 also do the vectors before, and store.
#define INVERTED(i, last) \
	DIVIDE1 (i*(192+SIZE))(SI), X30, X27; \
	BROADCAST X27, Z27; \
	MULTIPLY Z27, last, last; \
	KMOVW AX, K1; \
	ADDL  AX, AX; \
	MOVE  Z27, K1, last

#define INVERTEDROW(i, c0, c1, c2) \
	INVERTED(i, c2); \
	MULTIPLY Z27, c0, c0; \
	MULTIPLY Z27, c1, c1; \
	STOREROW(c0, c1, c2, i*192, DX)

#define INVERTEDROW2(i, c0, c1, c2) \
	INVERTED(i, c1); \
	MULTIPLY Z27, c0, c0; \
	STOREROW2(c0, c1, c2, i*192, DX)

#define INVERTEDROW1(i, c0, c1, c2) \
	INVERTED(i, c0); \
	MOVE c0, (i*192)(DX)

TEXT STRIPINVERT(SB), NOSPLIT, $0-24
	MOVQ  n+0(FP), R12
	MOVQ  t+8(FP), R9
	MOVQ  y+16(FP), R10
	MOVQ  R10, DX
	MOVE1 one<>(SB), X30
	XORL  R11, R11

block:
	MOVQ  R11, CX
	ANDL  $(LANES-1), CX
	MOVL  $1, AX
	SHLL  CX, AX
	CLEAR
	MOVQ  R9, SI
	MOVQ  R10, DI
	MOVQ  R11, CX
	CMPQ  CX, $LANES
	JGE   two
	TESTQ CX, CX
	JEQ   corner1

one:
	FOURTERMS(TERM1, LESSPRODUCT)
	JNE   one

corner1:
	SOLVECORNER(INVERTEDROW1, LESS1)
	JMP   next

two:
	MOVQ  $LANES, CX

one2:
	FOURTERMS(TERM1, LESSPRODUCT)
	JNE   one2
	MOVQ  R11, CX
	SUBQ  $LANES, CX
	JEQ   corner2
	CMPQ  CX, $LANES
	JGE   three

two2:
	FOURTERMS(TERM2, LESSPRODUCT)
	JNE   two2

corner2:
	SOLVECORNER(INVERTEDROW2, LESS2)
	JMP   next

three:
	MOVQ  $LANES, CX

two3:
	FOURTERMS(TERM2, LESSPRODUCT)
	JNE   two3
	MOVQ  R11, CX
	SUBQ  $(2*LANES), CX
	JEQ   corner3

three3:
	FOURTERMS(TERM, LESSPRODUCT)
	JNE   three3

corner3:
	SOLVECORNER(INVERTEDROW, LESS)

next:
	ADDQ  $(8*SIZE), R9
	ADDQ  $1536, DX
	ADDQ  $8, R11
	CMPQ  R11, R12
	JLT   block
	VZEROUPPER
	RET

// func chol(lo, j0, hi int, r, y *T) int
//
//	for j = j0, j0+8, … < hi, h = j mod 24:
//	    block = y[j:j+8][h:24]
//	    for k = lo…j-1: block -= y[k][h:h+8] ⊗ y[k][h:24], as many vectors as that is
//	    for i = 0…7: d = block[i][h+i]; return j+i unless 0 < d < Inf
//	        r[j+i] = 1/√d; block[i] *= r[j+i]; y[j+i] = block[i]; y[j+i][h+i] = √d
//	        for g = i+1…7: block[g] -= block[i][h+g]·block[i]
//	return -1
//
// The rows of the block begin at line h, the line of the first pivot. The first vectors hold the 8×8
// corner. Masks leave out the elements after the strip's last line.
//
//	R10 y[lo][h], SI walks from there   DX y[j][h]   BX r[j]   R11 j+i, R12 hi   R9 h
//	R8 lo   CX terms left   K1–K3 the lines of a row from h on
//	X29 0   X30 1   X31 Inf   the pivot is in X24 and X28 by turns

// LOADCHOL moves what is left of the strip of a row from byte offset o of p, whose last vector
// in use may be a part; LOADCHOL2 and LOADCHOL1 are for two vectors and one.
#define LOADCHOL(o, p, c0, c1, c2) \
	MOVE   (o)(p), c0;         \
	MOVE   (o+64)(p), c1;      \
	MOVE.Z (o+128)(p), K3, c2

#define LOADCHOL2(o, p, c0, c1, c2) \
	MOVE   (o)(p), c0;       \
	MOVE.Z (o+64)(p), K2, c1

#define LOADCHOL1(o, p, c0, c1, c2) MOVE.Z (o)(p), K1, c0

// RECIPROCAL stores the reciprocal of pivot i and counts it.
#define RECIPROCAL(i) \
	MOVE1 X26, (i*SIZE)(BX); \
	INCQ  R11

// SCALE scales row i by the reciprocal of its pivot and stores both.
#define SCALE(i, c0, c1, c2) \
	MULTIPLY Z27, c0, c0;          \
	MULTIPLY Z27, c1, c1;          \
	MULTIPLY Z27, c2, c2;          \
	MOVE c0, (i*192)(DX);          \
	MOVE c1, (i*192+64)(DX);       \
	MOVE c2, K3, (i*192+128)(DX);  \
	RECIPROCAL(i)

#define SCALE2(i, c0, c1, c2) \
	MULTIPLY Z27, c0, c0;        \
	MULTIPLY Z27, c1, c1;        \
	MOVE c0, (i*192)(DX);        \
	MOVE c1, K2, (i*192+64)(DX); \
	RECIPROCAL(i)

#define SCALE1(i, c0, c1, c2) \
	MULTIPLY Z27, c0, c0;     \
	MOVE c0, K1, (i*192)(DX); \
	RECIPROCAL(i)

// DOWN subtracts from row i the term of row p just scaled, z0 z1 z2.
#define DOWN(i, p, z0, z1, z2, c0, c1, c2) \
	BROADCAST (p*192+i*SIZE)(DX), Z27; \
	LESSPRODUCT z0, Z27, c0; \
	LESSPRODUCT z1, Z27, c1; \
	LESSPRODUCT z2, Z27, c2

#define DOWN2(i, p, z0, z1, z2, c0, c1, c2) \
	BROADCAST (p*192+i*SIZE)(DX), Z27; \
	LESSPRODUCT z0, Z27, c0; \
	LESSPRODUCT z1, Z27, c1

#define DOWN1(i, p, z0, z1, z2, c0, c1, c2) \
	LESSPRODUCT.BCST (p*192+i*SIZE)(DX), z0, c0

// DIAGONAL stores the root of pivot i over the pivot, which SCALE has scaled with its row.
#define DIAGONAL(i) MOVE1 X25, (i*(192+SIZE))(DX)

// CHOLROWS factors the block, in rows of as many vectors as LOAD, TERMS, SCALED and MINUS
// move. Its first two arguments are labels.
#define CHOLROWS(terms, corner, LOAD, TERMS, SCALED, MINUS) \
	EACHROW(LOAD, DX); \
	TESTQ CX, CX;      \
	JEQ   corner;      \
terms: \
	LOAD(0, SI, Z24, Z25, Z26); \
	TERMS(LESSPRODUCT, 0); \
	ADDQ  $192, SI; \
	DECQ  CX;       \
	JNE   terms;    \
corner: \
	VMOVAPD X0, X24; \
	PIVOT(X24); \
	AHEAD(0, X24, Z24, X28, Z28, Z0, Z3); \
	SCALED(0, Z0, Z1, Z2); \
	DIAGONAL(0); \
	BELOW0(MINUS); \
	PIVOT(X28); \
	AHEAD(1, X28, Z28, X24, Z24, Z3, Z6); \
	SCALED(1, Z3, Z4, Z5); \
	DIAGONAL(1); \
	BELOW1(MINUS); \
	PIVOT(X24); \
	AHEAD(2, X24, Z24, X28, Z28, Z6, Z9); \
	SCALED(2, Z6, Z7, Z8); \
	DIAGONAL(2); \
	BELOW2(MINUS); \
	PIVOT(X28); \
	AHEAD(3, X28, Z28, X24, Z24, Z9, Z12); \
	SCALED(3, Z9, Z10, Z11); \
	DIAGONAL(3); \
	BELOW3(MINUS); \
	PIVOT(X24); \
	AHEAD(4, X24, Z24, X28, Z28, Z12, Z15); \
	SCALED(4, Z12, Z13, Z14); \
	DIAGONAL(4); \
	BELOW4(MINUS); \
	PIVOT(X28); \
	AHEAD(5, X28, Z28, X24, Z24, Z15, Z18); \
	SCALED(5, Z15, Z16, Z17); \
	DIAGONAL(5); \
	BELOW5(MINUS); \
	PIVOT(X24); \
	AHEAD(6, X24, Z24, X28, Z28, Z18, Z21); \
	SCALED(6, Z18, Z19, Z20); \
	DIAGONAL(6); \
	BELOW6(MINUS); \
	PIVOT(X28); \
	SCALED(7, Z21, Z22, Z23); \
	DIAGONAL(7); \
	JMP   next

TEXT STRIPCHOL(SB), NOSPLIT, $0-48
	MOVQ  lo+0(FP), R8
	MOVQ  j0+8(FP), R11
	MOVQ  hi+16(FP), R12
	MOVQ  r+24(FP), BX
	MOVQ  y+32(FP), SI
	LEAQ  (BX)(R11*SIZE), BX
	IMUL3Q $192, R8, R10
	ADDQ  SI, R10
	IMUL3Q $192, R11, DX
	ADDQ  SI, DX
	VXORPD X29, X29, X29
	MOVE1 one<>(SB), X30
	MOVE1 inf<>(SB), X31
	MOVQ  R11, AX
	MOVQ  $NR, CX
	XORL  DX, DX
	DIVQ  CX
	MOVQ  DX, R9
	IMUL3Q $192, R11, DX
	ADDQ  SI, DX
	LEAQ  (DX)(R9*SIZE), DX
	LEAQ  (R10)(R9*SIZE), R10

rows:
	MOVQ  $NR, CX
	SUBQ  R9, CX
	MOVQ  $1, AX
	SHLQ  CX, AX
	DECQ  AX
	KMOVW AX, K1
	SHRQ  $LANES, AX
	KMOVW AX, K2
	SHRQ  $LANES, AX
	KMOVW AX, K3
	MOVQ  R10, SI
	MOVQ  R11, CX
	SUBQ  R8, CX
	CMPQ  R9, $(2*LANES)
	JGE   one
	CMPQ  R9, $LANES
	JGE   two
	CHOLROWS(terms3, corner3, LOADCHOL, ROWS, SCALE, DOWN)

two:
	CHOLROWS(terms2, corner2, LOADCHOL2, ROWS2, SCALE2, DOWN2)

one:
	CHOLROWS(terms1, corner1, LOADCHOL1, ROWS1, SCALE1, DOWN1)

next:
	ADDQ  $(1536+8*SIZE), DX
	ADDQ  $(8*SIZE), R10
	ADDQ  $(8*SIZE), BX
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
	IMUL3Q $(192+SIZE), AX, AX
	MOVE1 X24, (DX)(AX*1)
	VZEROUPPER
	MOVQ  R11, ret+40(FP)
	RET

// func squares(k int, y, d *T)
//
//	for p = 0…k-1, i = 0…23: d[i] = fma(y[p*24+i], y[p*24+i], d[i])
//
//	SI walks y   CX rows left   DI d   Z0–Z2 the sums   Z3–Z5 a row of y
TEXT STRIPSQUARES(SB), NOSPLIT, $0-24
	MOVQ k+0(FP), CX
	MOVQ y+8(FP), SI
	MOVQ d+16(FP), DI
	LOADROW(0, DI, Z0, Z1, Z2)

term:
	LOADROW(0, SI, Z3, Z4, Z5)
	PLUSPRODUCT Z3, Z3, Z0
	PLUSPRODUCT Z4, Z4, Z1
	PLUSPRODUCT Z5, Z5, Z2
	ADDQ $192, SI
	DECQ CX
	JNE  term
	STOREROW(Z0, Z1, Z2, 0, DI)
	VZEROUPPER
	RET

// func copyRows(k int, src *T, lds int, dst *T, ldd int)
//
//	for p = 0…k-1: dst[p*ldd:][0:24] = src[p*lds:][0:24]
//
//	SI, DI walk src and dst in steps of R8 and R9 bytes   CX rows left
TEXT STRIPCOPY(SB), NOSPLIT, $0-40
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ lds+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ ldd+32(FP), R9
	SHLQ $SHIFT, R8
	SHLQ $SHIFT, R9

row:
	LOADROW(0, SI, Z0, Z1, Z2)
	STOREROW(Z0, Z1, Z2, 0, DI)
	ADDQ R8, SI
	ADDQ R9, DI
	DECQ CX
	JNE  row
	VZEROUPPER
	RET
