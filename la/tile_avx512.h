// Register tiles for AVX-512, for the type of float64_amd64.h or float32_amd64.h: 8 rows
// of C by three vectors, of LANES elements each. A lane is one element of C: lanes are
// never added up. In every routine
//
//	Z8–Z31   the tile, row i in Z(8+3i), Z(9+3i), Z(10+3i)
//	Z0–Z2    a row of b; afterwards Z0 is alpha in all lanes
//	Z3–Z6    an element of a in all lanes

#define LANES (64/SIZE)

// ROW3 continues the chains of a row by the element of a at the given address times
// the row of b. ROW2 and ROW1 do so for the first two vectors and the first.
#define ROW3(a, t, c0, c1, c2) \
	BROADCAST   a, t;      \
	PLUSPRODUCT Z0, t, c0; \
	PLUSPRODUCT Z1, t, c1; \
	PLUSPRODUCT Z2, t, c2

#define ROW2(a, t, c0, c1, c2) \
	BROADCAST   a, t;      \
	PLUSPRODUCT Z0, t, c0; \
	PLUSPRODUCT Z1, t, c1

#define ROW1(a, t, c0, c1, c2) \
	BROADCAST   a, t;      \
	PLUSPRODUCT Z0, t, c0

// CLEAR4 clears the first four rows of the tile, CLEAR all of it.
#define CLEAR4 \
	VPXORQ Z8, Z8, Z8; VPXORQ Z9, Z9, Z9; VPXORQ Z10, Z10, Z10;      \
	VPXORQ Z11, Z11, Z11; VPXORQ Z12, Z12, Z12; VPXORQ Z13, Z13, Z13; \
	VPXORQ Z14, Z14, Z14; VPXORQ Z15, Z15, Z15; VPXORQ Z16, Z16, Z16; \
	VPXORQ Z17, Z17, Z17; VPXORQ Z18, Z18, Z18; VPXORQ Z19, Z19, Z19

#define CLEAR \
	CLEAR4; \
	VPXORQ Z20, Z20, Z20; VPXORQ Z21, Z21, Z21; VPXORQ Z22, Z22, Z22; \
	VPXORQ Z23, Z23, Z23; VPXORQ Z24, Z24, Z24; VPXORQ Z25, Z25, Z25; \
	VPXORQ Z26, Z26, Z26; VPXORQ Z27, Z27, Z27; VPXORQ Z28, Z28, Z28; \
	VPXORQ Z29, Z29, Z29; VPXORQ Z30, Z30, Z30; VPXORQ Z31, Z31, Z31

// EACHROW does op to each row of the tile; DI is at its row of c, R8 bytes apart.
#define EACHROW(op) \
	op(Z8, Z9, Z10);     \
	LEAQ (DI)(R8*1), DI; \
	op(Z11, Z12, Z13);   \
	LEAQ (DI)(R8*1), DI; \
	op(Z14, Z15, Z16);   \
	LEAQ (DI)(R8*1), DI; \
	op(Z17, Z18, Z19);   \
	LEAQ (DI)(R8*1), DI; \
	op(Z20, Z21, Z22);   \
	LEAQ (DI)(R8*1), DI; \
	op(Z23, Z24, Z25);   \
	LEAQ (DI)(R8*1), DI; \
	op(Z26, Z27, Z28);   \
	LEAQ (DI)(R8*1), DI; \
	op(Z29, Z30, Z31)

#define LOADROW(c0, c1, c2) \
	MOVE (DI), c0;   \
	MOVE 64(DI), c1; \
	MOVE 128(DI), c2

#define STOREROW(c0, c1, c2) \
	MOVE c0, (DI);   \
	MOVE c1, 64(DI); \
	MOVE c2, 128(DI)

// ADDROW stores fma(alpha, row, c), SETROW stores alpha·row.
#define ADDROW(c0, c1, c2) \
	TIMESPLUS (DI), Z0, c0;    \
	TIMESPLUS 64(DI), Z0, c1;  \
	TIMESPLUS 128(DI), Z0, c2; \
	STOREROW(c0, c1, c2)

#define SETROW(c0, c1, c2) \
	MULTIPLY c0, Z0, c0; \
	MULTIPLY c1, Z0, c1; \
	MULTIPLY c2, Z0, c2; \
	STOREROW(c0, c1, c2)

// SELECT sets K1, K2, K3 to select the first CX columns of a row. Clobbers AX.
#define SELECT \
	MOVQ     $1, AX;     \
	SHLQ     CX, AX;     \
	DECQ     AX;         \
	MOVEMASK AX, K1;     \
	SHRQ     $LANES, AX; \
	MOVEMASK AX, K2;     \
	SHRQ     $LANES, AX; \
	MOVEMASK AX, K3

// ADDPART and SETPART are ADDROW and SETROW for the columns that K1, K2 and K3 select.
#define STOREPART(c0, c1, c2) \
	MOVE c0, K1, (DI);   \
	MOVE c1, K2, 64(DI); \
	MOVE c2, K3, 128(DI)

#define ADDPART(c0, c1, c2) \
	TIMESPLUS (DI), Z0, K1, c0;    \
	TIMESPLUS 64(DI), Z0, K2, c1;  \
	TIMESPLUS 128(DI), Z0, K3, c2; \
	STOREPART(c0, c1, c2)

#define SETPART(c0, c1, c2) \
	MULTIPLY c0, Z0, c0; \
	MULTIPLY c1, Z0, c1; \
	MULTIPLY c2, Z0, c2; \
	STOREPART(c0, c1, c2)

// ADDPART1 and SETPART1 are ADDPART and SETPART for rows of one vector.
#define ADDPART1(c0, c1, c2) \
	TIMESPLUS (DI), Z0, K1, c0; \
	MOVE c0, K1, (DI)

#define SETPART1(c0, c1, c2) \
	MULTIPLY c0, Z0, c0; \
	MOVE c0, K1, (DI)

// func gemm(k int, alpha T, a, b, c *T, ldc int, add bool, next *T)
// func shared(k int, alpha T, a, b, c *T, ldc int, add bool, next *T)
//
//	CX k, BX k/4   SI a, R13 its step in bytes   DX b   DI c   R8 row of c in bytes
//	R9 what to prefetch of c, R10 rows left in this column of lines, R11 = 8·R8 - 64
//	R12 what to prefetch at next
//
//	for p in k {                     four at a time
//	    prefetch b ahead, a line of c (when the tile's lines are done, of what is right
//	    of it) and the place of term p in next: few at a time, because they come from
//	    far away and a core has only ten line fill buffers
//	    Z0, Z1, Z2 = b[0:NR]; b += NR
//	    for i in 8 { row i = fma(a[i], (Z0, Z1, Z2), row i) }
//	    a += 8 (gemm) or NR (shared)
//	}
//	c = alpha·rows, or fma(alpha, rows, c) if add
#define STEP(p) \
	MOVE       (p*192)(DX), Z0;     \
	MOVE       (p*192+64)(DX), Z1;  \
	MOVE       (p*192+128)(DX), Z2; \
	PREFETCHT0 (p*192+1536)(DX);    \
	PREFETCHT0 (p*192+1600)(DX);    \
	PREFETCHT0 (p*192+1664)(DX);    \
	ROW3((0*SIZE)(SI), Z3, Z8, Z9, Z10);    \
	ROW3((1*SIZE)(SI), Z4, Z11, Z12, Z13);  \
	ROW3((2*SIZE)(SI), Z3, Z14, Z15, Z16);  \
	ROW3((3*SIZE)(SI), Z4, Z17, Z18, Z19);  \
	ROW3((4*SIZE)(SI), Z3, Z20, Z21, Z22);  \
	ROW3((5*SIZE)(SI), Z4, Z23, Z24, Z25);  \
	ROW3((6*SIZE)(SI), Z3, Z26, Z27, Z28);  \
	ROW3((7*SIZE)(SI), Z4, Z29, Z30, Z31);  \
	ADDQ       R13, SI

TEXT GEMM(SB), NOSPLIT, $0-64
	MOVQ $(8*SIZE), R13
	JMP  GEMMTILE(SB)

TEXT SHARED(SB), NOSPLIT, $0-64
	MOVQ $192, R13
	JMP  GEMMTILE(SB)

TEXT GEMMTILE(SB), NOSPLIT, $0-64
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), R8
	SHLQ $SHIFT, R8
	MOVQ next+56(FP), R12
	MOVQ DI, R9
	MOVQ $8, R10
	MOVQ R8, R11
	SHLQ $3, R11
	SUBQ $64, R11
	CLEAR
	MOVQ CX, BX
	SHRQ $2, BX
	JZ   rest

four:
	PREFETCHT0 (R9)
	PREFETCHT1 (R12)
	ADDQ $(4*SIZE), R12
	ADDQ R8, R9
	DECQ R10
	JNZ  steps
	MOVQ $8, R10
	SUBQ R11, R9

steps:
	STEP(0)
	STEP(1)
	STEP(2)
	STEP(3)
	ADDQ $768, DX
	DECQ BX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	STEP(0)
	ADDQ $192, DX
	DECQ CX
	JNZ  one

done:
	BROADCAST alpha+8(FP), Z0
	CMPB add+48(FP), $0
	JEQ  store
	EACHROW(ADDROW)
	VZEROUPPER
	RET

store:
	EACHROW(SETROW)
	VZEROUPPER
	RET

// func narrow(n, k int, alpha T, a *T, as int, b, c *T, ldc int, add bool)
//
// gemm with one vector to a row if n ≤ LANES, otherwise two; k > 0. The other columns of
// c are left undefined.
//
//	BX n   CX k   SI a, R13 its step in bytes   DX b   DI c   R8 row of c in bytes
#define NARROWSTEP(row) \
	MOVE       (DX), Z0;   \
	MOVE       64(DX), Z1; \
	PREFETCHT0 1536(DX);   \
	PREFETCHT0 1600(DX);   \
	row((0*SIZE)(SI), Z3, Z8, Z9, Z10);    \
	row((1*SIZE)(SI), Z4, Z11, Z12, Z13);  \
	row((2*SIZE)(SI), Z5, Z14, Z15, Z16);  \
	row((3*SIZE)(SI), Z6, Z17, Z18, Z19);  \
	row((4*SIZE)(SI), Z3, Z20, Z21, Z22);  \
	row((5*SIZE)(SI), Z4, Z23, Z24, Z25);  \
	row((6*SIZE)(SI), Z5, Z26, Z27, Z28);  \
	row((7*SIZE)(SI), Z6, Z29, Z30, Z31);  \
	ADDQ       R13, SI;    \
	ADDQ       $192, DX

TEXT NARROW(SB), NOSPLIT, $0-65
	MOVQ n+0(FP), BX
	MOVQ k+8(FP), CX
	MOVQ a+24(FP), SI
	MOVQ as+32(FP), R13
	SHLQ $SHIFT, R13
	MOVQ b+40(FP), DX
	MOVQ c+48(FP), DI
	MOVQ ldc+56(FP), R8
	SHLQ $SHIFT, R8
	CLEAR
	CMPQ BX, $LANES
	JLE  one

two:
	NARROWSTEP(ROW2)
	DECQ CX
	JNZ  two
	JMP  done

one:
	NARROWSTEP(ROW1)
	DECQ CX
	JNZ  one

done:
	BROADCAST alpha+16(FP), Z0
	CMPB add+64(FP), $0
	JEQ  store
	EACHROW(ADDROW)
	VZEROUPPER
	RET

store:
	EACHROW(SETROW)
	VZEROUPPER
	RET

// func direct(n, grow, k int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool)
//
// 8 rows of C from matrices that are not packed. The first row has n columns, and each later row has
// grow more, at most NR. The tile uses as many vectors as the last row needs. Only elements of b that
// are needed are read.
//
//	SI column of a, AX its step   R8, R9, R10, R11 one, three, five and seven rows of a in bytes
//	DX row of b, R13 its step   BX k   R12 columns of the last row, which K1–K3 select
//	at last: DI row of c, R8 its step, CX its columns, R9 grow
//
//	for p in k {
//	    Z0, Z1, Z2 = b[0:n+7*grow]; b += ldb
//	    for i in 8 { row i = fma(a[i*ars], (Z0, Z1, Z2), row i) }; a += acs
//	}
//	c = alpha·rows, or fma(alpha, rows, c) if add, where wanted
#define DIRECTSTEP(row) \
	row((SI), Z3, Z8, Z9, Z10);           \
	row((SI)(R8*1), Z4, Z11, Z12, Z13);   \
	row((SI)(R8*2), Z5, Z14, Z15, Z16);   \
	row((SI)(R9*1), Z6, Z17, Z18, Z19);   \
	row((SI)(R8*4), Z3, Z20, Z21, Z22);   \
	row((SI)(R10*1), Z4, Z23, Z24, Z25);  \
	row((SI)(R9*2), Z5, Z26, Z27, Z28);   \
	row((SI)(R11*1), Z6, Z29, Z30, Z31);  \
	ADDQ AX, SI;                          \
	ADDQ R13, DX

// ADDGROWING and SETGROWING leave CX at the columns of the next row.
#define ADDGROWING(c0, c1, c2) \
	SELECT;              \
	ADDPART(c0, c1, c2); \
	ADDQ R9, CX

#define SETGROWING(c0, c1, c2) \
	SELECT;              \
	SETPART(c0, c1, c2); \
	ADDQ R9, CX

TEXT DIRECT(SB), NOSPLIT, $0-89
	MOVQ grow+8(FP), AX
	LEAQ (AX)(AX*2), CX
	LEAQ (CX)(AX*4), CX
	ADDQ n+0(FP), CX
	SELECT
	MOVQ CX, R12
	MOVQ k+16(FP), BX
	MOVQ a+32(FP), SI
	MOVQ ars+40(FP), R8
	SHLQ $SHIFT, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	MOVQ acs+48(FP), AX
	SHLQ $SHIFT, AX
	MOVQ b+56(FP), DX
	MOVQ ldb+64(FP), R13
	SHLQ $SHIFT, R13
	CLEAR
	CMPQ R12, $(2*LANES)
	JGT  three
	CMPQ R12, $LANES
	JGT  two

one:
	MOVE.Z (DX), K1, Z0
	DIRECTSTEP(ROW1)
	DECQ BX
	JNZ  one
	JMP  done

two:
	MOVE.Z (DX), K1, Z0
	MOVE.Z 64(DX), K2, Z1
	DIRECTSTEP(ROW2)
	DECQ BX
	JNZ  two
	JMP  done

three:
	MOVE.Z (DX), K1, Z0
	MOVE.Z 64(DX), K2, Z1
	MOVE.Z 128(DX), K3, Z2
	DIRECTSTEP(ROW3)
	DECQ BX
	JNZ  three

done:
	BROADCAST alpha+24(FP), Z0
	MOVQ c+72(FP), DI
	MOVQ ldc+80(FP), R8
	SHLQ $SHIFT, R8
	MOVQ grow+8(FP), R9
	TESTQ R9, R9
	JNZ  growing
	CMPQ R12, $LANES
	JLE  narrow
	CMPB add+88(FP), $0
	JEQ  store
	EACHROW(ADDPART)
	VZEROUPPER
	RET

store:
	EACHROW(SETPART)
	VZEROUPPER
	RET

narrow:
	CMPB add+88(FP), $0
	JEQ  storenarrow
	EACHROW(ADDPART1)
	VZEROUPPER
	RET

storenarrow:
	EACHROW(SETPART1)
	VZEROUPPER
	RET

growing:
	MOVQ n+0(FP), CX
	CMPB add+88(FP), $0
	JEQ  storegrowing
	EACHROW(ADDGROWING)
	VZEROUPPER
	RET

storegrowing:
	EACHROW(SETGROWING)
	VZEROUPPER
	RET

// func small(m, n, grow, k int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool)
//
// direct for m ≤ 4 rows of C, and no element of b is read that is not wanted.
//
//	R8–R11 rows of a, the last one again where m < 4   CX offset of a's column, AX its step
//	DX row of b, SI its step   BX k   R12 m   R13 columns of the last row, which K1–K3 select
//	at last: DI row of c, SI its step, CX its columns, R9 grow, R12 rows left
//
//	for p in k {
//	    Z0, Z1, Z2 = b[0:n+(m-1)*grow]; b += ldb
//	    for i in 4 { row i = fma(a[i*ars], (Z0, Z1, Z2), row i) }; a += acs
//	}
//	c = alpha·rows, or fma(alpha, rows, c) if add, where wanted
#define SMALLSTEP(row) \
	row((R8)(CX*1), Z3, Z8, Z9, Z10);    \
	row((R9)(CX*1), Z4, Z11, Z12, Z13);  \
	row((R10)(CX*1), Z5, Z14, Z15, Z16); \
	row((R11)(CX*1), Z6, Z17, Z18, Z19); \
	ADDQ AX, CX;                         \
	ADDQ SI, DX

#define SMALLNEXT \
	ADDQ SI, DI; \
	DECQ R12;    \
	JZ   end

TEXT SMALL(SB), NOSPLIT, $0-97
	MOVQ m+0(FP), R12
	LEAQ -1(R12), CX
	IMULQ grow+16(FP), CX
	ADDQ n+8(FP), CX
	SELECT
	OPERANDS(R12)
	CLEAR4
	MOVQ CX, R13
	XORL CX, CX
	CMPQ R13, $(2*LANES)
	JGT  three
	CMPQ R13, $LANES
	JGT  two

one:
	MOVE.Z (DX), K1, Z0
	SMALLSTEP(ROW1)
	DECQ BX
	JNZ  one
	JMP  done

two:
	MOVE.Z (DX), K1, Z0
	MOVE.Z 64(DX), K2, Z1
	SMALLSTEP(ROW2)
	DECQ BX
	JNZ  two
	JMP  done

three:
	MOVE.Z (DX), K1, Z0
	MOVE.Z 64(DX), K2, Z1
	MOVE.Z 128(DX), K3, Z2
	SMALLSTEP(ROW3)
	DECQ BX
	JNZ  three

done:
	BROADCAST alpha+32(FP), Z0
	MOVQ n+8(FP), CX
	MOVQ grow+16(FP), R9
	MOVQ c+80(FP), DI
	MOVQ ldc+88(FP), SI
	SHLQ $SHIFT, SI
	CMPB add+96(FP), $0
	JEQ  store
	ADDGROWING(Z8, Z9, Z10)
	SMALLNEXT
	ADDGROWING(Z11, Z12, Z13)
	SMALLNEXT
	ADDGROWING(Z14, Z15, Z16)
	SMALLNEXT
	ADDGROWING(Z17, Z18, Z19)

end:
	VZEROUPPER
	RET

store:
	SETGROWING(Z8, Z9, Z10)
	SMALLNEXT
	SETGROWING(Z11, Z12, Z13)
	SMALLNEXT
	SETGROWING(Z14, Z15, Z16)
	SMALLNEXT
	SETGROWING(Z17, Z18, Z19)
	VZEROUPPER
	RET

// func dist(k int, a, b, c *T, ldc int, add bool)
//
//	CX k   SI a   DX b   DI c, R9 its first row   R8 row of c in bytes
//	Z5–Z7 the differences of a row
//
//	rows = 0, or c if add
//	for p in k {
//	    Z0, Z1, Z2 = b[0:NR]; b += NR
//	    for i in 8 { t = a[i] - (Z0, Z1, Z2); row i = fma(t, t, row i) }; a += 8
//	}
//	c = rows
#define DISTROW(a, t, c0, c1, c2) \
	BROADCAST   a, t;       \
	SUBTRACT    Z0, t, Z5;  \
	SUBTRACT    Z1, t, Z6;  \
	SUBTRACT    Z2, t, Z7;  \
	PLUSPRODUCT Z5, Z5, c0; \
	PLUSPRODUCT Z6, Z6, c1; \
	PLUSPRODUCT Z7, Z7, c2

// PREFETCHRIGHT fetches a row of the tile to the right, which comes next: k is often too
// short to hide that later.
#define PREFETCHRIGHT(c0, c1, c2) \
	PREFETCHT0 192(DI); \
	PREFETCHT0 256(DI); \
	PREFETCHT0 320(DI)

TEXT DIST(SB), NOSPLIT, $0-41
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), R8
	SHLQ $SHIFT, R8
	CLEAR
	MOVQ DI, R9
	EACHROW(PREFETCHRIGHT)
	MOVQ R9, DI
	CMPB add+40(FP), $0
	JEQ  start
	EACHROW(LOADROW)
	MOVQ R9, DI

start:
	TESTQ CX, CX
	JZ    store

loop:
	MOVE (DX), Z0
	MOVE 64(DX), Z1
	MOVE 128(DX), Z2
	DISTROW((0*SIZE)(SI), Z3, Z8, Z9, Z10)
	DISTROW((1*SIZE)(SI), Z4, Z11, Z12, Z13)
	DISTROW((2*SIZE)(SI), Z3, Z14, Z15, Z16)
	DISTROW((3*SIZE)(SI), Z4, Z17, Z18, Z19)
	DISTROW((4*SIZE)(SI), Z3, Z20, Z21, Z22)
	DISTROW((5*SIZE)(SI), Z4, Z23, Z24, Z25)
	DISTROW((6*SIZE)(SI), Z3, Z26, Z27, Z28)
	DISTROW((7*SIZE)(SI), Z4, Z29, Z30, Z31)
	ADDQ $(8*SIZE), SI
	ADDQ $192, DX
	DECQ CX
	JNZ  loop

store:
	EACHROW(STOREROW)
	VZEROUPPER
	RET
