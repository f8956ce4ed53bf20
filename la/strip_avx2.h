// Strip kernels for AVX2 and FMA: those of strip_avx512.h with vectors of half the
// length and blocks of 4 rows. A strip has NR lines, three vectors of LANES elements
// of SIZE = 1<<SHIFT bytes each, so that its rows take 96 bytes in both precisions.
// The names that are not defined here are those of instructions for one precision;
// names that end in 1 are for one element.
//
// A 4×NR register tile is kept in Y0…Y11, row i in Y(3i), Y(3i+1), Y(3i+2).
// Y12…Y14 hold a row of b, Y15 a broadcast of a.

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

// TERM3, TERM2 and TERM1 continue the first one, two or three vectors of each
// row of the tile by one term; SI is at a, DI at b, at byte offset o.
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

#define LOADROW(o, p, c0, c1, c2) \
	MOVE (o)(p), c0;    \
	MOVE (o+32)(p), c1; \
	MOVE (o+64)(p), c2

#define STOREROW(c0, c1, c2, o, p) \
	MOVE c0, (o)(p);    \
	MOVE c1, (o+32)(p); \
	MOVE c2, (o+64)(p)

// LOADTAIL and STORETAIL do so under the masks m1 and m2.
#define LOADTAIL(o, p, m1, m2, c0, c1, c2) \
	MOVE    (o)(p), c0;        \
	MOVEMASKED (o+32)(p), m1, c1; \
	MOVEMASKED (o+64)(p), m2, c2

#define STORETAIL(c0, c1, c2, m1, m2, o, p) \
	MOVE    c0, (o)(p);        \
	MOVEMASKED c1, m1, (o+32)(p); \
	MOVEMASKED c2, m2, (o+64)(p)

// TILE is the body of add and sub; see strip_avx512.h, with blocks of 4 rows.
// BX is 32·(v-1) for v vectors in use, and in the loop
// three the value of CX after which nothing more is prefetched; AX is the step
// of R12.
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
	LEAQ tail<>(SB), R12; \
	MOVE (R12)(BX*2), Y12; \
	MOVE 32(R12)(BX*2), Y13; \
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
	VXORPS Y0, Y0, Y0; \
	VXORPS Y1, Y1, Y1; \
	VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; \
	VXORPS Y4, Y4, Y4; \
	VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; \
	VXORPS Y7, Y7, Y7; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
	VXORPS Y10, Y10, Y10; \
	VXORPS Y11, Y11, Y11; \
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
	MOVE (R12)(BX*2), Y12; \
	MOVE 32(R12)(BX*2), Y13; \
	MOVQ DX, AX; \
	STORETAIL(Y0, Y1, Y2, Y12, Y13, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Y3, Y4, Y5, Y12, Y13, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Y6, Y7, Y8, Y12, Y13, 0, AX); \
	ADDQ R8, AX; \
	STORETAIL(Y9, Y10, Y11, Y12, Y13, 0, AX); \
	LEAQ (DX)(R8*4), DX; \
	ADDQ $(4*SIZE), R9; \
	ADDQ $(4*SIZE), R11; \
	CMPQ R11, $96; \
	JNE  block; \
	VZEROUPPER; \
	RET

// SOLVED finishes row i of the tile: it is scaled by its reciprocal and stored.
#define SOLVED(i, c0, c1, c2) \
	BROADCAST (i*SIZE)(BX), Y15; \
	MULTIPLY Y15, c0, c0; \
	MULTIPLY Y15, c1, c1; \
	MULTIPLY Y15, c2, c2; \
	STOREROW(c0, c1, c2, i*96, DI)

// LESS subtracts from row i of the tile the term of the solved row p, z0 z1 z2.
#define LESS(i, p, z0, z1, z2, c0, c1, c2) \
	BROADCAST (p*96+i*SIZE)(SI), Y15; \
	LESSPRODUCT z0, Y15, c0; \
	LESSPRODUCT z1, Y15, c1; \
	LESSPRODUCT z2, Y15, c2

// SOLVE is the body of solve; see strip_avx512.h, with blocks of 4 rows.
#define SOLVE \
	MOVQ  lo+0(FP), CX; \
	MOVQ  hi+8(FP), R12; \
	MOVQ  t+16(FP), R9; \
	MOVQ  ts+24(FP), R8; \
	MOVQ  r+32(FP), BX; \
	MOVQ  y+40(FP), R10; \
	SUBQ  CX, R12; \
	LEAQ  (BX)(CX*SIZE), BX; \
	IMUL3Q $96, CX, DX; \
	ADDQ  DX, R10; \
	SHLQ  $SHIFT, R8; \
	MOVQ  CX, AX; \
	XORL  R11, R11; \
strip: \
	CMPQ  AX, $NR; \
	JLT   line; \
	SUBQ  $NR, AX; \
	ADDQ  R8, R9; \
	JMP   strip; \
line: \
	ADDQ  DX, R9; \
	SHLQ  $SHIFT, AX; \
	ADDQ  AX, R9; \
rows: \
	IMUL3Q $96, R11, DI; \
	ADDQ  R10, DI; \
	LOADROW(0, DI, Y0, Y1, Y2); \
	LOADROW(96, DI, Y3, Y4, Y5); \
	LOADROW(192, DI, Y6, Y7, Y8); \
	LOADROW(288, DI, Y9, Y10, Y11); \
	MOVQ  R9, SI; \
	MOVQ  R10, DI; \
	MOVQ  R11, CX; \
	TESTQ CX, CX; \
	JEQ   corner; \
terms: \
	TERM3(LESSPRODUCT, 0); \
	TERM3(LESSPRODUCT, 96); \
	ADDQ  $192, SI; \
	ADDQ  $192, DI; \
	SUBQ  $2, CX; \
	JNE   terms; \
corner: \
	SOLVED(0, Y0, Y1, Y2); \
	LESS(1, 0, Y0, Y1, Y2, Y3, Y4, Y5); \
	LESS(2, 0, Y0, Y1, Y2, Y6, Y7, Y8); \
	LESS(3, 0, Y0, Y1, Y2, Y9, Y10, Y11); \
	SOLVED(1, Y3, Y4, Y5); \
	LESS(2, 1, Y3, Y4, Y5, Y6, Y7, Y8); \
	LESS(3, 1, Y3, Y4, Y5, Y9, Y10, Y11); \
	SOLVED(2, Y6, Y7, Y8); \
	LESS(3, 2, Y6, Y7, Y8, Y9, Y10, Y11); \
	SOLVED(3, Y9, Y10, Y11); \
	ADDQ  $(4*SIZE), BX; \
	ADDQ  $(4*SIZE), R9; \
	ADDQ  $(4*SIZE), AX; \
	CMPQ  AX, $96; \
	JNE   same; \
	XORL  AX, AX; \
	SUBQ  $96, R9; \
	ADDQ  R8, R9; \
same: \
	ADDQ  $4, R11; \
	CMPQ  R11, R12; \
	JLT   rows; \
	VZEROUPPER; \
	RET

// PIVOT takes the root of pivot i of the block, scales its row, c0 c1 c2, by the
// reciprocal and stores both.
#define PIVOT(i, c0, c1, c2) \
	SPREAD(i, c0, Y12);    \
	VXORPS X13, X13, X13;  \
	COMPARE X13, X12;      \
	JLS bad;               \
	MOVE1 INF, X13;        \
	COMPARE X12, X13;      \
	JLS bad;               \
	ROOT X12, X12, X13;    \
	MOVE1 ONE, X12;        \
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

// CHOL is the body of chol; see strip_avx512.h, with blocks of 4 rows, whose first
// vector is the one that holds line h. R13 is the bytes that h is behind its start, AX
// 32·(v-1) for the v vectors of a row from there on, Y14 and Y15 their masks after the
// loops. R10 y[lo][h]; SI walks from there, DI from the start of its vector; DX
// y[j][h], and DI then the start of its vector. SPREAD fills a vector with line h+i of
// another; FIRSTLANE prepares it, and may use SI.
#define CHOL \
	MOVQ  lo+0(FP), R8; \
	MOVQ  j0+8(FP), R11; \
	MOVQ  hi+16(FP), R12; \
	MOVQ  r+24(FP), BX; \
	MOVQ  y+32(FP), SI; \
	LEAQ  (BX)(R11*SIZE), BX; \
	IMUL3Q $96, R8, R10; \
	ADDQ  SI, R10; \
	MOVQ  R11, AX; \
	MOVQ  $NR, CX; \
	XORL  DX, DX; \
	DIVQ  CX; \
	MOVQ  DX, R9; \
	IMUL3Q $96, R11, DX; \
	ADDQ  SI, DX; \
	LEAQ  (DX)(R9*SIZE), DX; \
	LEAQ  (R10)(R9*SIZE), R10; \
rows: \
	MOVQ  R9, R13; \
	ANDQ  $(LANES-1), R13; \
	MOVQ  R13, AX; \
	SUBQ  R9, AX; \
	SHLQ  $SHIFT, AX; \
	ADDQ  $64, AX; \
	SHLQ  $SHIFT, R13; \
	MOVQ  DX, DI; \
	SUBQ  R13, DI; \
	LEAQ  tail<>(SB), SI; \
	MOVE (SI)(AX*2), Y12; \
	MOVE 32(SI)(AX*2), Y13; \
	LOADTAIL(0, DI, Y12, Y13, Y0, Y1, Y2); \
	LOADTAIL(96, DI, Y12, Y13, Y3, Y4, Y5); \
	LOADTAIL(192, DI, Y12, Y13, Y6, Y7, Y8); \
	LOADTAIL(288, DI, Y12, Y13, Y9, Y10, Y11); \
	MOVQ  R10, SI; \
	MOVQ  R10, DI; \
	SUBQ  R13, DI; \
	MOVQ  R11, CX; \
	SUBQ  R8, CX; \
	JEQ   corner; \
	CMPL  AX, $32; \
	JLT   one; \
	JEQ   two; \
three: \
	TERM3(LESSPRODUCT, 0); \
	ADDQ  $96, SI; \
	ADDQ  $96, DI; \
	DECQ  CX; \
	JNE   three; \
	JMP   corner; \
two: \
	TERM2(LESSPRODUCT, 0); \
	ADDQ  $96, SI; \
	ADDQ  $96, DI; \
	DECQ  CX; \
	JNE   two; \
	JMP   corner; \
one: \
	TERM1(LESSPRODUCT, 0); \
	ADDQ  $96, SI; \
	ADDQ  $96, DI; \
	DECQ  CX; \
	JNE   one; \
corner: \
	LEAQ  tail<>(SB), SI; \
	MOVE (SI)(AX*2), Y14; \
	MOVE 32(SI)(AX*2), Y15; \
	MOVQ  DX, DI; \
	SUBQ  R13, DI; \
	FIRSTLANE; \
	PIVOT(0, Y0, Y1, Y2); \
	DOWN(1, Y0, Y1, Y2, Y3, Y4, Y5); \
	DOWN(2, Y0, Y1, Y2, Y6, Y7, Y8); \
	DOWN(3, Y0, Y1, Y2, Y9, Y10, Y11); \
	PIVOT(1, Y3, Y4, Y5); \
	DOWN(2, Y3, Y4, Y5, Y6, Y7, Y8); \
	DOWN(3, Y3, Y4, Y5, Y9, Y10, Y11); \
	PIVOT(2, Y6, Y7, Y8); \
	DOWN(3, Y6, Y7, Y8, Y9, Y10, Y11); \
	PIVOT(3, Y9, Y10, Y11); \
	ADDQ  $(384+4*SIZE), DX; \
	ADDQ  $(4*SIZE), R10; \
	ADDQ  $(4*SIZE), BX; \
	ADDQ  $4, R9; \
	CMPQ  R11, R12; \
	JLT   rows; \
	MOVQ  $-1, R11; \
	VZEROUPPER; \
	MOVQ  R11, ret+40(FP); \
	RET; \
bad: \
	MOVQ  R11, AX; \
	ANDQ  $3, AX; \
	IMUL3Q $(96+SIZE), AX, AX; \
	MOVE1 X12, (DX)(AX*1); \
	VZEROUPPER; \
	MOVQ  R11, ret+40(FP); \
	RET

// SQUARES is the body of squares: SI walks y, CX terms left, DI d.
#define SQUARES \
	MOVQ k+0(FP), CX; \
	MOVQ y+8(FP), SI; \
	MOVQ d+16(FP), DI; \
	LOADROW(0, DI, Y0, Y1, Y2); \
term: \
	LOADROW(0, SI, Y3, Y4, Y5); \
	PLUSPRODUCT Y3, Y3, Y0; \
	PLUSPRODUCT Y4, Y4, Y1; \
	PLUSPRODUCT Y5, Y5, Y2; \
	ADDQ $96, SI; \
	DECQ CX; \
	JNE  term; \
	STOREROW(Y0, Y1, Y2, 0, DI); \
	VZEROUPPER; \
	RET

// COPYROWS is the body of copyRows: SI, DI walk src and dst in steps of R8 and R9
// bytes; CX rows left.
#define COPYROWS \
	MOVQ k+0(FP), CX; \
	MOVQ src+8(FP), SI; \
	MOVQ lds+16(FP), R8; \
	MOVQ dst+24(FP), DI; \
	MOVQ ldd+32(FP), R9; \
	SHLQ $SHIFT, R8; \
	SHLQ $SHIFT, R9; \
row: \
	LOADROW(0, SI, Y0, Y1, Y2); \
	STOREROW(Y0, Y1, Y2, 0, DI); \
	ADDQ R8, SI; \
	ADDQ R9, DI; \
	DECQ CX; \
	JNE  row; \
	VZEROUPPER; \
	RET
