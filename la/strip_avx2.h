// Strip kernels for AVX2 with FMA, for the type of float64_amd64.h or float32_amd64.h. They are the
// kernels of strip_avx512.h with vectors of half the length and blocks of 4 rows. A strip has NR
// lines, three vectors of LANES elements, so that its rows take 96 bytes for both types. The
// pseudo-code is in strip_avx512.h; read 4 for the 8 rows of a block there.
//
// A block of 4 rows is kept in Y0–Y11, row i in Y(3i), Y(3i+1), Y(3i+2); Y12–Y14 hold a
// row of b, Y15 an element of a in all lanes.

#define LANES (32/SIZE)
#define NR (3*LANES)

// tail<> has, at 64·(v-1), the masks for the second and third vector of a row with v vectors in use.
#define MASK(o, v) \
	DATA tail<>+(o)(SB)/8, $v; \
	DATA tail<>+(o+8)(SB)/8, $v; \
	DATA tail<>+(o+16)(SB)/8, $v; \
	DATA tail<>+(o+24)(SB)/8, $v

MASK(0, 0)
MASK(32, 0)
MASK(64, -1)
MASK(96, 0)
MASK(128, -1)
MASK(160, -1)
GLOBL tail<>(SB), RODATA|NOPTR, $192

// ROW3 continues the chains of one row of the block by the element at address a times the row of b.
// ROW2 continues its first two vectors, ROW1 its first. OP is PLUSPRODUCT or LESSPRODUCT throughout.
#define ROW3(OP, a, c0, c1, c2) \
	BROADCAST a, Y15; \
	OP Y12, Y15, c0; \
	OP Y13, Y15, c1; \
	OP Y14, Y15, c2

#define ROW2(OP, a, c0, c1) \
	BROADCAST a, Y15; \
	OP Y12, Y15, c0; \
	OP Y13, Y15, c1

#define ROW1(OP, a, c0) \
	BROADCAST a, Y15; \
	OP Y12, Y15, c0

// TERM3, TERM2 and TERM1 continue the block by a term: its elements of a are at byte
// offset o from SI, its row of b at the same offset from DI.
#define TERM3(OP, o) \
	MOVE (o)(DI), Y12;    \
	MOVE (o+32)(DI), Y13; \
	MOVE (o+64)(DI), Y14; \
	ROW3(OP, (o)(SI), Y0, Y1, Y2);    \
	ROW3(OP, (o+1*SIZE)(SI), Y3, Y4, Y5);  \
	ROW3(OP, (o+2*SIZE)(SI), Y6, Y7, Y8); \
	ROW3(OP, (o+3*SIZE)(SI), Y9, Y10, Y11)

#define TERM2(OP, o) \
	MOVE (o)(DI), Y12;    \
	MOVE (o+32)(DI), Y13; \
	ROW2(OP, (o)(SI), Y0, Y1);    \
	ROW2(OP, (o+1*SIZE)(SI), Y3, Y4);  \
	ROW2(OP, (o+2*SIZE)(SI), Y6, Y7); \
	ROW2(OP, (o+3*SIZE)(SI), Y9, Y10)

#define TERM1(OP, o) \
	MOVE (o)(DI), Y12;     \
	ROW1(OP, (o)(SI), Y0);    \
	ROW1(OP, (o+1*SIZE)(SI), Y3);  \
	ROW1(OP, (o+2*SIZE)(SI), Y6); \
	ROW1(OP, (o+3*SIZE)(SI), Y9)

// LOADROW and STOREROW move a row of the block from or to byte offset o of p, LOADTAIL and
// STORETAIL do so with the second and third vector under the masks m1 and m2.
#define LOADROW(o, p, c0, c1, c2) \
	MOVE (o)(p), c0;    \
	MOVE (o+32)(p), c1; \
	MOVE (o+64)(p), c2

#define STOREROW(c0, c1, c2, o, p) \
	MOVE c0, (o)(p);    \
	MOVE c1, (o+32)(p); \
	MOVE c2, (o+64)(p)

#define LOADTAIL(o, p, m1, m2, c0, c1, c2) \
	MOVE    (o)(p), c0;        \
	MOVEMASKED (o+32)(p), m1, c1; \
	MOVEMASKED (o+64)(p), m2, c2

#define STORETAIL(c0, c1, c2, m1, m2, o, p) \
	MOVE    c0, (o)(p);        \
	MOVEMASKED c1, m1, (o+32)(p); \
	MOVEMASKED c2, m2, (o+64)(p)

// TAILMASKS sets m1 and m2 to the masks of tail<> for v vectors, where x is 32·(v-1).
#define TAILMASKS(p, x, m1, m2) \
	LEAQ tail<>(SB), p;    \
	MOVE (p)(x*2), m1;     \
	MOVE 32(p)(x*2), m2

// func add(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
// func sub(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
//
// Of the hints, only next is used: four rows of next are prefetched, as of c.
//
//	R13 k   R9 a + 4·ib, R10 b + SIZE·skip, SI and DI walk them   CX terms left
//	R11 SIZE·ib   DX c[ib][skip], AX a row of it   R8 row of c in bytes
//	BX 32·(v-1) for v vectors in use; in the loop three, the value of CX from which
//	on nothing more is prefetched
//	R12 what to prefetch of c, AX its step   Y12, Y13 masks while a row of c is moved
#define LOADING(c0, c1, c2) LOADTAIL(0, AX, Y12, Y13, c0, c1, c2)
#define STORING(c0, c1, c2) STORETAIL(c0, c1, c2, Y12, Y13, 0, AX)

#define EACHROWOFC(op) \
	MOVQ DX, AX;    \
	op(Y0, Y1, Y2); \
	ADDQ R8, AX;    \
	op(Y3, Y4, Y5); \
	ADDQ R8, AX;    \
	op(Y6, Y7, Y8); \
	ADDQ R8, AX;    \
	op(Y9, Y10, Y11)

#define CLEAR \
	VXORPS Y0, Y0, Y0; VXORPS Y1, Y1, Y1; VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; VXORPS Y4, Y4, Y4; VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; VXORPS Y7, Y7, Y7; VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; VXORPS Y10, Y10, Y10; VXORPS Y11, Y11, Y11

// FOURTERMS continues the block by four terms.
#define FOURTERMS(TERMS, OP) \
	TERMS(OP, 0);   \
	TERMS(OP, 96);  \
	TERMS(OP, 192); \
	TERMS(OP, 288); \
	ADDQ $384, SI;  \
	ADDQ $384, DI;  \
	SUBQ $4, CX

#define TILE(OP) \
	MOVQ k+0(FP), R13; \
	MOVQ a+8(FP), R9; \
	MOVQ b+16(FP), R10; \
	MOVQ c+24(FP), DX; \
	MOVQ ldc+32(FP), R8; \
	MOVQ mode+48(FP), AX; \
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
	MOVL $64, BX; \
	TESTL $64, AX; \
	CMOVLNE R11, BX; \
	ANDL $-32, BX; \
	SHLL $SHIFT, CX; \
	SUBL CX, BX; \
	TAILMASKS(R12, BX, Y12, Y13); \
	TESTL $32, AX; \
	JNE  zero; \
	EACHROWOFC(LOADING); \
	JMP  start; \
zero: \
	CLEAR; \
start: \
	MOVQ R9, SI; \
	MOVQ R10, DI; \
	MOVQ R13, CX; \
	CMPL BX, $32; \
	JLT  one; \
	JEQ  two; \
	LEAQ (DX)(R8*4), R12; \
	CMPQ R11, $(96-4*SIZE); \
	CMOVQEQ next+40(FP), R12; \
	MOVQ R8, AX; \
	LEAQ -16(R13), BX; \
three: \
	PREFETCHT0 (R12); \
	PREFETCHT0 88(R12); \
	ADDQ AX, R12; \
	FOURTERMS(TERM3, OP); \
	CMPQ CX, BX; \
	JNE  more; \
	XORL AX, AX; \
more: \
	TESTQ CX, CX; \
	JNE  three; \
	MOVL $64, BX; \
	JMP  done; \
two: \
	FOURTERMS(TERM2, OP); \
	JNE  two; \
	JMP  done; \
one: \
	FOURTERMS(TERM1, OP); \
	JNE  one; \
done: \
	TAILMASKS(R12, BX, Y12, Y13); \
	EACHROWOFC(STORING); \
	LEAQ (DX)(R8*4), DX; \
	ADDQ $(4*SIZE), R9; \
	ADDQ $(4*SIZE), R11; \
	CMPQ R11, $96; \
	JNE  block; \
	VZEROUPPER; \
	RET

TEXT STRIPADD(SB), NOSPLIT, $0-72
	TILE(PLUSPRODUCT)

TEXT STRIPSUB(SB), NOSPLIT, $0-72
	TILE(LESSPRODUCT)

// func solve(lo, hi int, t *T, ts int, r, y *T, skip int)
//
// Nothing is left out for skip.
//
//	R9 T[j][lo], R10 y[lo], SI and DI walk them   CX terms left   R11 j-lo, R12 hi-lo
//	BX r[j]   AX byte offset of line j in its strip of T   R8 bytes from strip to strip

// SOLVED finishes row i of the block: it is scaled by its reciprocal and stored.
#define SOLVED(i, c0, c1, c2) \
	BROADCAST (i*SIZE)(BX), Y15; \
	MULTIPLY Y15, c0, c0; \
	MULTIPLY Y15, c1, c1; \
	MULTIPLY Y15, c2, c2; \
	STOREROW(c0, c1, c2, i*96, DI)

// LESS subtracts from row i of the block the term of the solved row p, z0 z1 z2.
#define LESS(i, p, z0, z1, z2, c0, c1, c2) \
	BROADCAST (p*96+i*SIZE)(SI), Y15; \
	LESSPRODUCT z0, Y15, c0; \
	LESSPRODUCT z1, Y15, c1; \
	LESSPRODUCT z2, Y15, c2

TEXT STRIPSOLVE(SB), NOSPLIT, $0-56
	MOVQ  lo+0(FP), CX
	MOVQ  hi+8(FP), R12
	MOVQ  t+16(FP), R9
	MOVQ  ts+24(FP), R8
	MOVQ  r+32(FP), BX
	MOVQ  y+40(FP), R10
	SUBQ  CX, R12
	LEAQ  (BX)(CX*SIZE), BX
	IMUL3Q $96, CX, DX
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
	TERM3(LESSPRODUCT, 0)
	TERM3(LESSPRODUCT, 96)
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
	ADDQ  $(4*SIZE), BX
	ADDQ  $(4*SIZE), R9
	ADDQ  $(4*SIZE), AX
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

// func chol(lo, j0, hi int, r, y *T) int
//
// A row of the block begins with the whole vector that holds line h, the line of the first pivot.
// SPREAD(i, z, y) fills y with line h+i of the row whose first vector is z.
//
//	R10 y[lo][h], SI walks from there, DI from the start of its vector   DX y[j][h], DI
//	then the start of its vector   BX r[j]   R11 j+i, R12 hi   R9 h   R8 lo   CX terms left
//	R13 bytes of the first vector before line h   AX 32·(v-1) for the v vectors of a row
//	Y14, Y15 the masks of the second and third, after the loops   SI then FIRSTLANE's

// PIVOT takes the root of pivot i of the block, scales its row, c0 c1 c2, by the
// reciprocal and stores both.
#define PIVOT(i, c0, c1, c2) \
	SPREAD(i, c0, Y12);    \
	VXORPS X13, X13, X13;  \
	COMPARE1 X13, X12;      \
	JLS bad;               \
	MOVE1 inf<>(SB), X13;        \
	COMPARE1 X12, X13;      \
	JLS bad;               \
	ROOT1 X12, X12, X13;    \
	MOVE1 one<>(SB), X12;        \
	DIVIDE1 X13, X12, X12; \
	MOVE1 X12, (i*SIZE)(BX); \
	BROADCAST X12, Y12;    \
	MULTIPLY Y12, c0, c0;  \
	MULTIPLY Y12, c1, c1;  \
	MULTIPLY Y12, c2, c2;  \
	STORETAIL(c0, c1, c2, Y14, Y15, i*96, DI); \
	MOVE1 X13, (i*(96+SIZE))(DX); \
	INCQ R11

// DOWN subtracts from row i the term of the row just scaled, z0 z1 z2.
#define DOWN(i, z0, z1, z2, c0, c1, c2) \
	SPREAD(i, z0, Y12); \
	LESSPRODUCT z0, Y12, c0; \
	LESSPRODUCT z1, Y12, c1; \
	LESSPRODUCT z2, Y12, c2

TEXT STRIPCHOL(SB), NOSPLIT, $0-48
	MOVQ  lo+0(FP), R8
	MOVQ  j0+8(FP), R11
	MOVQ  hi+16(FP), R12
	MOVQ  r+24(FP), BX
	MOVQ  y+32(FP), SI
	LEAQ  (BX)(R11*SIZE), BX
	IMUL3Q $96, R8, R10
	ADDQ  SI, R10
	MOVQ  R11, AX
	MOVQ  $NR, CX
	XORL  DX, DX
	DIVQ  CX
	MOVQ  DX, R9
	IMUL3Q $96, R11, DX
	ADDQ  SI, DX
	LEAQ  (DX)(R9*SIZE), DX
	LEAQ  (R10)(R9*SIZE), R10

rows:
	MOVQ  R9, R13
	ANDQ  $(LANES-1), R13
	MOVQ  R13, AX
	SUBQ  R9, AX
	SHLQ  $SHIFT, AX
	ADDQ  $64, AX
	SHLQ  $SHIFT, R13
	MOVQ  DX, DI
	SUBQ  R13, DI
	TAILMASKS(SI, AX, Y12, Y13)
	LOADTAIL(0, DI, Y12, Y13, Y0, Y1, Y2)
	LOADTAIL(96, DI, Y12, Y13, Y3, Y4, Y5)
	LOADTAIL(192, DI, Y12, Y13, Y6, Y7, Y8)
	LOADTAIL(288, DI, Y12, Y13, Y9, Y10, Y11)
	MOVQ  R10, SI
	MOVQ  R10, DI
	SUBQ  R13, DI
	MOVQ  R11, CX
	SUBQ  R8, CX
	JEQ   corner
	CMPL  AX, $32
	JLT   one
	JEQ   two

three:
	TERM3(LESSPRODUCT, 0)
	ADDQ  $96, SI
	ADDQ  $96, DI
	DECQ  CX
	JNE   three
	JMP   corner

two:
	TERM2(LESSPRODUCT, 0)
	ADDQ  $96, SI
	ADDQ  $96, DI
	DECQ  CX
	JNE   two
	JMP   corner

one:
	TERM1(LESSPRODUCT, 0)
	ADDQ  $96, SI
	ADDQ  $96, DI
	DECQ  CX
	JNE   one

corner:
	TAILMASKS(SI, AX, Y14, Y15)
	MOVQ  DX, DI
	SUBQ  R13, DI
	FIRSTLANE
	PIVOT(0, Y0, Y1, Y2)
	DOWN(1, Y0, Y1, Y2, Y3, Y4, Y5)
	DOWN(2, Y0, Y1, Y2, Y6, Y7, Y8)
	DOWN(3, Y0, Y1, Y2, Y9, Y10, Y11)
	PIVOT(1, Y3, Y4, Y5)
	DOWN(2, Y3, Y4, Y5, Y6, Y7, Y8)
	DOWN(3, Y3, Y4, Y5, Y9, Y10, Y11)
	PIVOT(2, Y6, Y7, Y8)
	DOWN(3, Y6, Y7, Y8, Y9, Y10, Y11)
	PIVOT(3, Y9, Y10, Y11)
	ADDQ  $(384+4*SIZE), DX
	ADDQ  $(4*SIZE), R10
	ADDQ  $(4*SIZE), BX
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
	IMUL3Q $(96+SIZE), AX, AX
	MOVE1 X12, (DX)(AX*1)
	VZEROUPPER
	MOVQ  R11, ret+40(FP)
	RET

// func squares(k int, y, d *T)
//
//	SI walks y   CX rows left   DI d   Y0–Y2 the sums   Y3–Y5 a row of y
TEXT STRIPSQUARES(SB), NOSPLIT, $0-24
	MOVQ k+0(FP), CX
	MOVQ y+8(FP), SI
	MOVQ d+16(FP), DI
	LOADROW(0, DI, Y0, Y1, Y2)

term:
	LOADROW(0, SI, Y3, Y4, Y5)
	PLUSPRODUCT Y3, Y3, Y0
	PLUSPRODUCT Y4, Y4, Y1
	PLUSPRODUCT Y5, Y5, Y2
	ADDQ $96, SI
	DECQ CX
	JNE  term
	STOREROW(Y0, Y1, Y2, 0, DI)
	VZEROUPPER
	RET

// func copyRows(k int, src *T, lds int, dst *T, ldd int)
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
	LOADROW(0, SI, Y0, Y1, Y2)
	STOREROW(Y0, Y1, Y2, 0, DI)
	ADDQ R8, SI
	ADDQ R9, DI
	DECQ CX
	JNE  row
	VZEROUPPER
	RET
