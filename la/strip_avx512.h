// Strip kernels for AVX-512: a strip has NR lines, three vectors of LANES elements
// of SIZE = 1<<SHIFT bytes each, so that its rows take 192 bytes in both precisions.
// The names that are not defined here are those of instructions for one precision;
// names that end in 1 are for one element.
//
// An 8×NR register tile is kept in Z0…Z23, row i in Z(3i), Z(3i+1), Z(3i+2).
// Z24…Z26 hold a row of b, Z27 and Z28 broadcasts of a. Comments count elements as
// in double precision, with NR = 24, LANES = 8, SIZE = 8.

// ROW continues the chains of one row of the tile by the term a·b.
#define ROW(OP, a, z, c0, c1, c2) \
	BROADCAST a, z;  \
	OP           Z24, z, c0; \
	OP           Z25, z, c1; \
	OP           Z26, z, c2

// ROWS continues the whole tile by one term whose row of b is loaded; SI is at a, at
// byte offset o. ROWS2 and ROWS1 do so for the first two vectors and the first vector
// of each row.
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

// TERM, TERM2 and TERM1 are these with the row of b at DI, at the same offset.
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

// LOADROW and STOREROW move a row of the tile; p is its address.
#define LOADROW(o, p, c0, c1, c2) \
	MOVE (o)(p), c0;    \
	MOVE (o+64)(p), c1; \
	MOVE (o+128)(p), c2

#define STOREROW(c0, c1, c2, o, p) \
	MOVE c0, (o)(p);    \
	MOVE c1, (o+64)(p); \
	MOVE c2, (o+128)(p)

// LOADROW2, STOREROW2 and LOADROW1 do so for the first two vectors and the first.
#define LOADROW2(o, p, c0, c1, c2) \
	MOVE (o)(p), c0; \
	MOVE (o+64)(p), c1

#define STOREROW2(c0, c1, c2, o, p) \
	MOVE c0, (o)(p); \
	MOVE c1, (o+64)(p)

#define LOADROW1(o, p, c0, c1, c2) MOVE (o)(p), c0

// LOADTAIL and STORETAIL are LOADROW and STOREROW with the second and third
// vector under masks.
#define LOADTAIL(o, p, c0, c1, c2) \
	MOVE   (o)(p), c0;        \
	MOVE.Z (o+64)(p), K2, c1; \
	MOVE.Z (o+128)(p), K3, c2

#define STORETAIL(c0, c1, c2, o, p) \
	MOVE c0, (o)(p);         \
	MOVE c1, K2, (o+64)(p);  \
	MOVE c2, K3, (o+128)(p)

// TILE is the body of add and sub; k is a positive multiple of 4.
//
//	skip, fresh, lower = mode & 31, mode & 32, mode & 64
//	for ib = (lower ? skip : 0), …, 16 in steps of 8:
//	    end = lower ? ib+8 : 24
//	    tile = fresh ? 0 : c[ib:ib+8][skip:end]
//	    for p = (fresh and lower ? end-skip-8 : 0)…k-1: tile ±= a[p*24+ib:][0:8] ⊗ b[p*24:][skip:end]
//	        meanwhile prefetch c[ib+8:ib+16], or next[0:8] if ib = 16, and k/4 lines
//	        from each of soon + (ib/4)·step and soon + (ib/4+1)·step on
//	    c[ib:ib+8][skip:end] = tile
//
// R13 k; R9 a + 8·ib; R10 b + 8·skip; R8 ldc in bytes; R11 8·ib; DX c[ib][skip];
// BX 8·(end-skip), then K2, K3 for the second and third vector; AX rows of c; SI,
// DI walk a, b; CX terms left; R12 prefetches c, R14 and R14+AX what is wanted soon,
// of which this block's part begins at R15.
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
	TERM(OP, 0); \
	TERM(OP, 192); \
	TERM(OP, 384); \
	TERM(OP, 576); \
	ADDQ $768, SI; \
	ADDQ $768, DI; \
	SUBQ $4, CX; \
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
	ADDQ $(8*SIZE), R9; \
	ADDQ $(8*SIZE), R11; \
	CMPQ R11, $192; \
	JNE  block; \
	VZEROUPPER; \
	RET

// SOLVED finishes row i of the tile: it is scaled by its reciprocal and stored. LESS
// subtracts from row i of the tile the term of the solved row p, z0 z1 z2. Those with
// a number are for the first vectors of each row.
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

// SOLVEROWS is the loop of SOLVE, for as many vectors of a row as load, TERMS, SOLVEDV
// and LESSV are for.
#define SOLVEROWS(rows, terms, corner, same, LOAD, TERMS, SOLVEDV, LESSV) \
rows: \
	IMUL3Q $192, R11, DI; \
	ADDQ  R10, DI; \
	LOAD(0, DI, Z0, Z1, Z2); \
	LOAD(192, DI, Z3, Z4, Z5); \
	LOAD(384, DI, Z6, Z7, Z8); \
	LOAD(576, DI, Z9, Z10, Z11); \
	LOAD(768, DI, Z12, Z13, Z14); \
	LOAD(960, DI, Z15, Z16, Z17); \
	LOAD(1152, DI, Z18, Z19, Z20); \
	LOAD(1344, DI, Z21, Z22, Z23); \
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
	SOLVEDV(0, Z0, Z1, Z2); \
	LESSV(1, 0, Z0, Z1, Z2, Z3, Z4, Z5); \
	LESSV(2, 0, Z0, Z1, Z2, Z6, Z7, Z8); \
	LESSV(3, 0, Z0, Z1, Z2, Z9, Z10, Z11); \
	LESSV(4, 0, Z0, Z1, Z2, Z12, Z13, Z14); \
	LESSV(5, 0, Z0, Z1, Z2, Z15, Z16, Z17); \
	LESSV(6, 0, Z0, Z1, Z2, Z18, Z19, Z20); \
	LESSV(7, 0, Z0, Z1, Z2, Z21, Z22, Z23); \
	SOLVEDV(1, Z3, Z4, Z5); \
	LESSV(2, 1, Z3, Z4, Z5, Z6, Z7, Z8); \
	LESSV(3, 1, Z3, Z4, Z5, Z9, Z10, Z11); \
	LESSV(4, 1, Z3, Z4, Z5, Z12, Z13, Z14); \
	LESSV(5, 1, Z3, Z4, Z5, Z15, Z16, Z17); \
	LESSV(6, 1, Z3, Z4, Z5, Z18, Z19, Z20); \
	LESSV(7, 1, Z3, Z4, Z5, Z21, Z22, Z23); \
	SOLVEDV(2, Z6, Z7, Z8); \
	LESSV(3, 2, Z6, Z7, Z8, Z9, Z10, Z11); \
	LESSV(4, 2, Z6, Z7, Z8, Z12, Z13, Z14); \
	LESSV(5, 2, Z6, Z7, Z8, Z15, Z16, Z17); \
	LESSV(6, 2, Z6, Z7, Z8, Z18, Z19, Z20); \
	LESSV(7, 2, Z6, Z7, Z8, Z21, Z22, Z23); \
	SOLVEDV(3, Z9, Z10, Z11); \
	LESSV(4, 3, Z9, Z10, Z11, Z12, Z13, Z14); \
	LESSV(5, 3, Z9, Z10, Z11, Z15, Z16, Z17); \
	LESSV(6, 3, Z9, Z10, Z11, Z18, Z19, Z20); \
	LESSV(7, 3, Z9, Z10, Z11, Z21, Z22, Z23); \
	SOLVEDV(4, Z12, Z13, Z14); \
	LESSV(5, 4, Z12, Z13, Z14, Z15, Z16, Z17); \
	LESSV(6, 4, Z12, Z13, Z14, Z18, Z19, Z20); \
	LESSV(7, 4, Z12, Z13, Z14, Z21, Z22, Z23); \
	SOLVEDV(5, Z15, Z16, Z17); \
	LESSV(6, 5, Z15, Z16, Z17, Z18, Z19, Z20); \
	LESSV(7, 5, Z15, Z16, Z17, Z21, Z22, Z23); \
	SOLVEDV(6, Z18, Z19, Z20); \
	LESSV(7, 6, Z18, Z19, Z20, Z21, Z22, Z23); \
	SOLVEDV(7, Z21, Z22, Z23); \
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

// SOLVE is the body of solve.
//
//	y = y[:][skip:]
//	for j = lo, lo+8, … < hi:
//	    tile = y[j:j+8]
//	    for k = lo…j-1: tile -= T[j:j+8][k] ⊗ y[k]
//	    for i = 0…7: tile[i] *= r[j+i]; y[j+i] = tile[i]
//	        for h = i+1…7: tile[h] -= T[j+h][j+i]·tile[i]
//
// R9 T[j][lo], R10 y[lo]; SI, DI walk them; R11 j-lo, R12 hi-lo; BX r[j]; AX
// byte offset of line j in its strip, R8 bytes from strip to strip; CX terms left.
#define SOLVE \
	MOVQ  lo+0(FP), CX; \
	MOVQ  hi+8(FP), R12; \
	MOVQ  t+16(FP), R9; \
	MOVQ  ts+24(FP), R8; \
	MOVQ  r+32(FP), BX; \
	MOVQ  y+40(FP), R10; \
	SUBQ  CX, R12; \
	LEAQ  (BX)(CX*SIZE), BX; \
	IMUL3Q $192, CX, DX; \
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
	MOVQ  skip+48(FP), DX; \
	LEAQ  (R10)(DX*SIZE), R10; \
	CMPQ  DX, $LANES; \
	JGT   rows1; \
	JEQ   rows2; \
	SOLVEROWS(rows3, terms3, corner3, same3, LOADROW, TERM, SOLVED, LESS); \
rows2: \
	SOLVEROWS(rows2body, terms2, corner2, same2, LOADROW2, TERM2, SOLVED2, LESS2); \
rows1: \
	SOLVEROWS(rows1body, terms1, corner1, same1, LOADROW1, TERM1, SOLVED1, LESS1)

// The diagonal tile's own rows begin at the line of their pivot: the first vector
// of each row holds the 8×8 corner, and the masks leave out what would stand behind
// the strip's last line.

// LOADCHOL and STORECHOL are LOADROW and STOREROW under the masks K1, K2 and K3.
#define LOADCHOL(o, p, c0, c1, c2) \
	MOVE.Z (o)(p), K1, c0;    \
	MOVE.Z (o+64)(p), K2, c1; \
	MOVE.Z (o+128)(p), K3, c2

#define STORECHOL(c0, c1, c2, o, p) \
	MOVE c0, K1, (o)(p);    \
	MOVE c1, K2, (o+64)(p); \
	MOVE c2, K3, (o+128)(p)

// PIVOT takes the root of the pivot d and its reciprocal, by which SCALE scales row
// i, c0 c1 c2, before it stores all three. In between, AHEAD computes the next
// pivot by itself into e, from the first vectors of its row, n0, and of row i, so
// that pivots do not wait for vectors.
#define PIVOT(d) \
	COMPARE X29, d;         \
	JLS bad;                \
	COMPARE d, X31;         \
	JLS bad;                \
	ROOT d, d, X25;         \
	DIVIDE1 X25, X30, X26;  \
	BROADCAST X26, Z27

#define AHEAD(i, d, zd, e, ze, c0, n0) \
	ALIGN $(i+1), c0, c0, zd; \
	ALIGN $(i+1), n0, n0, ze; \
	MULTIPLY1 X26, d, d;      \
	LESSPRODUCT1 d, d, e

#define SCALE(i, c0, c1, c2) \
	MULTIPLY Z27, c0, c0;            \
	MULTIPLY Z27, c1, c1;            \
	MULTIPLY Z27, c2, c2;            \
	STORECHOL(c0, c1, c2, i*192, DX); \
	MOVE1 X26, (i*SIZE)(BX);         \
	INCQ R11

// DOWN subtracts from row i the term of row p just scaled, z0 z1 z2.
#define DOWN(i, p, z0, z1, z2, c0, c1, c2) \
	BROADCAST (p*192+i*SIZE)(DX), Z27; \
	LESSPRODUCT z0, Z27, c0; \
	LESSPRODUCT z1, Z27, c1; \
	LESSPRODUCT z2, Z27, c2

// DIAGONAL stores the root of pivot i, when its row has been used.
#define DIAGONAL(i) MOVE1 X25, (i*(192+SIZE))(DX)

// CHOL is the body of chol.
//
//	for j = j0, j0+8, … < hi, h = j mod 24:
//	    tile = y[j:j+8][h:24]
//	    for k = lo…j-1: tile -= y[k][h:h+8] ⊗ y[k][h:24], as many vectors as that is
//	    for i = 0…7: d = tile[i][h+i]; return j+i unless 0 < d < Inf
//	        r[j+i] = 1/√d; tile[i] *= r[j+i]; y[j+i] = tile[i]; y[j+i][h+i] = √d
//	        for g = i+1…7: tile[g] -= tile[i][h+g]·tile[i]
//
// R10 y[lo][h]; SI walks from there; DX y[j][h]; BX r[j]; R11 j+i, R12 hi; R9 h;
// R8 lo; CX terms left; X29 0, X30 1, X31 Inf; the pivot is in X24 and X28 by turns.
#define CHOL \
	MOVQ  lo+0(FP), R8; \
	MOVQ  j0+8(FP), R11; \
	MOVQ  hi+16(FP), R12; \
	MOVQ  r+24(FP), BX; \
	MOVQ  y+32(FP), SI; \
	LEAQ  (BX)(R11*SIZE), BX; \
	IMUL3Q $192, R8, R10; \
	ADDQ  SI, R10; \
	IMUL3Q $192, R11, DX; \
	ADDQ  SI, DX; \
	VXORPD X29, X29, X29; \
	MOVE1 ONE, X30; \
	MOVE1 INF, X31; \
	MOVQ  R11, AX; \
	MOVQ  $NR, CX; \
	XORL  DX, DX; \
	DIVQ  CX; \
	MOVQ  DX, R9; \
	IMUL3Q $192, R11, DX; \
	ADDQ  SI, DX; \
	LEAQ  (DX)(R9*SIZE), DX; \
	LEAQ  (R10)(R9*SIZE), R10; \
rows: \
	MOVQ  $NR, CX; \
	SUBQ  R9, CX; \
	MOVQ  $1, AX; \
	SHLQ  CX, AX; \
	DECQ  AX; \
	KMOVW AX, K1; \
	SHRQ  $LANES, AX; \
	KMOVW AX, K2; \
	SHRQ  $LANES, AX; \
	KMOVW AX, K3; \
	LOADCHOL(0, DX, Z0, Z1, Z2); \
	LOADCHOL(192, DX, Z3, Z4, Z5); \
	LOADCHOL(384, DX, Z6, Z7, Z8); \
	LOADCHOL(576, DX, Z9, Z10, Z11); \
	LOADCHOL(768, DX, Z12, Z13, Z14); \
	LOADCHOL(960, DX, Z15, Z16, Z17); \
	LOADCHOL(1152, DX, Z18, Z19, Z20); \
	LOADCHOL(1344, DX, Z21, Z22, Z23); \
	MOVQ  R10, SI; \
	MOVQ  R11, CX; \
	SUBQ  R8, CX; \
	JEQ   corner; \
	CMPQ  R9, $(2*LANES); \
	JGE   one; \
	CMPQ  R9, $LANES; \
	JGE   two; \
three: \
	LOADCHOL(0, SI, Z24, Z25, Z26); \
	ROWS(LESSPRODUCT, 0); \
	ADDQ  $192, SI; \
	DECQ  CX; \
	JNE   three; \
	JMP   corner; \
two: \
	MOVE.Z (SI), K1, Z24; \
	MOVE.Z 64(SI), K2, Z25; \
	ROWS2(LESSPRODUCT, 0); \
	ADDQ  $192, SI; \
	DECQ  CX; \
	JNE   two; \
	JMP   corner; \
one: \
	MOVE.Z (SI), K1, Z24; \
	ROWS1(LESSPRODUCT, 0); \
	ADDQ  $192, SI; \
	DECQ  CX; \
	JNE   one; \
corner: \
	VMOVAPD X0, X24; \
	PIVOT(X24); \
	AHEAD(0, X24, Z24, X28, Z28, Z0, Z3); \
	SCALE(0, Z0, Z1, Z2); \
	DIAGONAL(0); \
	DOWN(1, 0, Z0, Z1, Z2, Z3, Z4, Z5); \
	DOWN(2, 0, Z0, Z1, Z2, Z6, Z7, Z8); \
	DOWN(3, 0, Z0, Z1, Z2, Z9, Z10, Z11); \
	DOWN(4, 0, Z0, Z1, Z2, Z12, Z13, Z14); \
	DOWN(5, 0, Z0, Z1, Z2, Z15, Z16, Z17); \
	DOWN(6, 0, Z0, Z1, Z2, Z18, Z19, Z20); \
	DOWN(7, 0, Z0, Z1, Z2, Z21, Z22, Z23); \
	PIVOT(X28); \
	AHEAD(1, X28, Z28, X24, Z24, Z3, Z6); \
	SCALE(1, Z3, Z4, Z5); \
	DIAGONAL(1); \
	DOWN(2, 1, Z3, Z4, Z5, Z6, Z7, Z8); \
	DOWN(3, 1, Z3, Z4, Z5, Z9, Z10, Z11); \
	DOWN(4, 1, Z3, Z4, Z5, Z12, Z13, Z14); \
	DOWN(5, 1, Z3, Z4, Z5, Z15, Z16, Z17); \
	DOWN(6, 1, Z3, Z4, Z5, Z18, Z19, Z20); \
	DOWN(7, 1, Z3, Z4, Z5, Z21, Z22, Z23); \
	PIVOT(X24); \
	AHEAD(2, X24, Z24, X28, Z28, Z6, Z9); \
	SCALE(2, Z6, Z7, Z8); \
	DIAGONAL(2); \
	DOWN(3, 2, Z6, Z7, Z8, Z9, Z10, Z11); \
	DOWN(4, 2, Z6, Z7, Z8, Z12, Z13, Z14); \
	DOWN(5, 2, Z6, Z7, Z8, Z15, Z16, Z17); \
	DOWN(6, 2, Z6, Z7, Z8, Z18, Z19, Z20); \
	DOWN(7, 2, Z6, Z7, Z8, Z21, Z22, Z23); \
	PIVOT(X28); \
	AHEAD(3, X28, Z28, X24, Z24, Z9, Z12); \
	SCALE(3, Z9, Z10, Z11); \
	DIAGONAL(3); \
	DOWN(4, 3, Z9, Z10, Z11, Z12, Z13, Z14); \
	DOWN(5, 3, Z9, Z10, Z11, Z15, Z16, Z17); \
	DOWN(6, 3, Z9, Z10, Z11, Z18, Z19, Z20); \
	DOWN(7, 3, Z9, Z10, Z11, Z21, Z22, Z23); \
	PIVOT(X24); \
	AHEAD(4, X24, Z24, X28, Z28, Z12, Z15); \
	SCALE(4, Z12, Z13, Z14); \
	DIAGONAL(4); \
	DOWN(5, 4, Z12, Z13, Z14, Z15, Z16, Z17); \
	DOWN(6, 4, Z12, Z13, Z14, Z18, Z19, Z20); \
	DOWN(7, 4, Z12, Z13, Z14, Z21, Z22, Z23); \
	PIVOT(X28); \
	AHEAD(5, X28, Z28, X24, Z24, Z15, Z18); \
	SCALE(5, Z15, Z16, Z17); \
	DIAGONAL(5); \
	DOWN(6, 5, Z15, Z16, Z17, Z18, Z19, Z20); \
	DOWN(7, 5, Z15, Z16, Z17, Z21, Z22, Z23); \
	PIVOT(X24); \
	AHEAD(6, X24, Z24, X28, Z28, Z18, Z21); \
	SCALE(6, Z18, Z19, Z20); \
	DIAGONAL(6); \
	DOWN(7, 6, Z18, Z19, Z20, Z21, Z22, Z23); \
	PIVOT(X28); \
	SCALE(7, Z21, Z22, Z23); \
	DIAGONAL(7); \
	ADDQ  $(1536+8*SIZE), DX; \
	ADDQ  $(8*SIZE), R10; \
	ADDQ  $(8*SIZE), BX; \
	ADDQ  $8, R9; \
	CMPQ  R11, R12; \
	JLT   rows; \
	MOVQ  $-1, R11; \
	VZEROUPPER; \
	MOVQ  R11, ret+40(FP); \
	RET; \
bad: \
	MOVQ  R11, AX; \
	ANDQ  $7, AX; \
	TESTQ $1, AX; \
	JEQ   even; \
	VMOVAPD X28, X24; \
even: \
	IMUL3Q $(192+SIZE), AX, AX; \
	MOVE1 X24, (DX)(AX*1); \
	VZEROUPPER; \
	MOVQ  R11, ret+40(FP); \
	RET

// SQUARES is the body of squares.
//
//	for p = 0…k-1, i = 0…23: d[i] += y[p*24+i]²
//
// SI walks y, CX terms left, DI d.
#define SQUARES \
	MOVQ k+0(FP), CX; \
	MOVQ y+8(FP), SI; \
	MOVQ d+16(FP), DI; \
	LOADROW(0, DI, Z0, Z1, Z2); \
term: \
	LOADROW(0, SI, Z3, Z4, Z5); \
	PLUSPRODUCT Z3, Z3, Z0; \
	PLUSPRODUCT Z4, Z4, Z1; \
	PLUSPRODUCT Z5, Z5, Z2; \
	ADDQ $192, SI; \
	DECQ CX; \
	JNE  term; \
	STOREROW(Z0, Z1, Z2, 0, DI); \
	VZEROUPPER; \
	RET

// COPYROWS is the body of copyRows.
//
//	for p = 0…k-1: dst[p*ldd:][0:24] = src[p*lds:][0:24]
//
// SI, DI walk src and dst in steps of R8 and R9 bytes; CX rows left.
#define COPYROWS \
	MOVQ k+0(FP), CX; \
	MOVQ src+8(FP), SI; \
	MOVQ lds+16(FP), R8; \
	MOVQ dst+24(FP), DI; \
	MOVQ ldd+32(FP), R9; \
	SHLQ $SHIFT, R8; \
	SHLQ $SHIFT, R9; \
row: \
	LOADROW(0, SI, Z0, Z1, Z2); \
	STOREROW(Z0, Z1, Z2, 0, DI); \
	ADDQ R8, SI; \
	ADDQ R9, DI; \
	DECQ CX; \
	JNE  row; \
	VZEROUPPER; \
	RET
