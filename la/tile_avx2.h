// Register tiles for AVX2 with FMA, for the type of float64_amd64.h or float32_amd64.h: 4
// rows of C by three vectors of 32 bytes. A lane is one element of C: lanes are never
// added up. In every routine
//
//	CX k   SI a   DX b   DI c   R8 row of c in bytes, R9 = 3·R8
//	Y4–Y15   the tile, row i in Y(4+3i), Y(5+3i), Y(6+3i)
//	Y3       an element of a in all lanes

#define CLEAR \
	VXORPD Y4, Y4, Y4; VXORPD Y5, Y5, Y5; VXORPD Y6, Y6, Y6;          \
	VXORPD Y7, Y7, Y7; VXORPD Y8, Y8, Y8; VXORPD Y9, Y9, Y9;          \
	VXORPD Y10, Y10, Y10; VXORPD Y11, Y11, Y11; VXORPD Y12, Y12, Y12; \
	VXORPD Y13, Y13, Y13; VXORPD Y14, Y14, Y14; VXORPD Y15, Y15, Y15

// EACHROW does op to each row of the tile: op(address in c, its three vectors).
#define EACHROW(op) \
	op((DI), Y4, Y5, Y6);          \
	op((DI)(R8*1), Y7, Y8, Y9);    \
	op((DI)(R8*2), Y10, Y11, Y12); \
	op((DI)(R9*1), Y13, Y14, Y15)

#define PREFETCHROW(c, c0, c1, c2) \
	PREFETCHT0 c;     \
	PREFETCHT0 (64)c; \
	PREFETCHT0 (88)c

#define LOADROW(c, c0, c1, c2) \
	MOVE c, c0;     \
	MOVE (32)c, c1; \
	MOVE (64)c, c2

#define STOREROW(c, c0, c1, c2) \
	MOVE c0, c;     \
	MOVE c1, (32)c; \
	MOVE c2, (64)c

// ADDROW stores fma(alpha, row, c), SETROW stores alpha·row; Y0 is alpha in all lanes.
#define ADDROW(c, c0, c1, c2) \
	TIMESPLUS c, Y0, c0;     \
	TIMESPLUS (32)c, Y0, c1; \
	TIMESPLUS (64)c, Y0, c2; \
	STOREROW(c, c0, c1, c2)

#define SETROW(c, c0, c1, c2) \
	MULTIPLY c0, Y0, c0; \
	MULTIPLY c1, Y0, c1; \
	MULTIPLY c2, Y0, c2; \
	STOREROW(c, c0, c1, c2)

// func gemm(k int, alpha T, a, b, c *T, ldc int, add bool, next *T)
//
//	BX k/4   R10 what to prefetch at next   Y0–Y2 a row of b
//
//	prefetch c
//	for p in k {                     four at a time
//	    prefetch b ahead and the place of term p in next
//	    Y0, Y1, Y2 = b[0:NR]; b += NR
//	    for i in 4 { row i = fma(a[i], (Y0, Y1, Y2), row i) }; a += 4
//	}
//	c = alpha·rows, or fma(alpha, rows, c) if add
#define ROW(o, c0, c1, c2) \
	BROADCAST   (o)(SI), Y3; \
	PLUSPRODUCT Y0, Y3, c0;  \
	PLUSPRODUCT Y1, Y3, c1;  \
	PLUSPRODUCT Y2, Y3, c2

#define STEP(p) \
	MOVE       (p*96)(DX), Y0;    \
	MOVE       (p*96+32)(DX), Y1; \
	MOVE       (p*96+64)(DX), Y2; \
	PREFETCHT0 (p*96+1024)(DX);   \
	PREFETCHT0 (p*96+1088)(DX);   \
	ROW((p*4+0)*SIZE, Y4, Y5, Y6);    \
	ROW((p*4+1)*SIZE, Y7, Y8, Y9);    \
	ROW((p*4+2)*SIZE, Y10, Y11, Y12); \
	ROW((p*4+3)*SIZE, Y13, Y14, Y15)

TEXT GEMM(SB), NOSPLIT, $0-64
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), R8
	SHLQ $SHIFT, R8
	LEAQ (R8)(R8*2), R9
	MOVQ next+56(FP), R10
	EACHROW(PREFETCHROW)
	CLEAR
	MOVQ CX, BX
	SHRQ $2, BX
	JZ   rest

four:
	PREFETCHT1 (R10)
	ADDQ $(4*SIZE), R10
	STEP(0)
	STEP(1)
	STEP(2)
	STEP(3)
	ADDQ $(16*SIZE), SI
	ADDQ $384, DX
	DECQ BX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	STEP(0)
	ADDQ $(4*SIZE), SI
	ADDQ $96, DX
	DECQ CX
	JNZ  one

done:
	BROADCAST alpha+8(FP), Y0
	CMPB add+48(FP), $0
	JEQ  store
	EACHROW(ADDROW)
	VZEROUPPER
	RET

store:
	EACHROW(SETROW)
	VZEROUPPER
	RET

// func dist(k int, a, b, c *T, ldc int, add bool)
//
//	Y0–Y2 the differences of a row
//
//	rows = 0, or c if add
//	for p in k {
//	    for i in 4 { t = a[i] - b[0:NR]; row i = fma(t, t, row i) }; a += 4; b += NR
//	}
//	c = rows
#define DISTROW(o, c0, c1, c2) \
	BROADCAST   (o)(SI), Y3;    \
	SUBTRACT    (DX), Y3, Y0;   \
	SUBTRACT    32(DX), Y3, Y1; \
	SUBTRACT    64(DX), Y3, Y2; \
	PLUSPRODUCT Y0, Y0, c0;     \
	PLUSPRODUCT Y1, Y1, c1;     \
	PLUSPRODUCT Y2, Y2, c2

TEXT DIST(SB), NOSPLIT, $0-41
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), R8
	SHLQ $SHIFT, R8
	LEAQ (R8)(R8*2), R9
	CLEAR
	CMPB add+40(FP), $0
	JEQ  start
	EACHROW(LOADROW)

start:
	TESTQ CX, CX
	JZ    store

loop:
	DISTROW(0*SIZE, Y4, Y5, Y6)
	DISTROW(1*SIZE, Y7, Y8, Y9)
	DISTROW(2*SIZE, Y10, Y11, Y12)
	DISTROW(3*SIZE, Y13, Y14, Y15)
	ADDQ $(4*SIZE), SI
	ADDQ $96, DX
	DECQ CX
	JNZ  loop

store:
	EACHROW(STOREROW)
	VZEROUPPER
	RET

// func small(m, n, grow, k int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool)
//
// m ≤ 4 rows of C from matrices that are not packed. The first row has n columns, and each later row has
// grow more, at most NR. The tile uses as many vectors as the last row needs. Only elements of b that
// are needed are read.
//
//	R8–R11 rows of a, the last one again where m < 4   CX offset of a's column, AX its step
//	DX row of b, SI its step   BX k   R13 columns of the last row   R12 masks of its vectors
//	at last: DI row of c, SI its step, R12 masks of its vectors, R9 bytes of grow, R10 rows left
//
//	for p in k {
//	    Y0, Y1, Y2 = b[0:n+(m-1)*grow]; b += ldb
//	    for i in 4 { row i = fma(a[i*ars], (Y0, Y1, Y2), row i) }; a += acs
//	}
//	c = alpha·rows, or fma(alpha, rows, c) if add, where wanted

// columns<> is 96 bytes of ones, as many as a row of the tile has, and 96 of zeros. The masks
// of the vectors of n columns begin n elements before the zeros.
DATA columns<>+0(SB)/8, $-1
DATA columns<>+8(SB)/8, $-1
DATA columns<>+16(SB)/8, $-1
DATA columns<>+24(SB)/8, $-1
DATA columns<>+32(SB)/8, $-1
DATA columns<>+40(SB)/8, $-1
DATA columns<>+48(SB)/8, $-1
DATA columns<>+56(SB)/8, $-1
DATA columns<>+64(SB)/8, $-1
DATA columns<>+72(SB)/8, $-1
DATA columns<>+80(SB)/8, $-1
DATA columns<>+88(SB)/8, $-1
GLOBL columns<>(SB), RODATA|NOPTR, $192

// COLUMNS leaves the address of the masks of n columns in R12.
#define COLUMNS(n) \
	LEAQ columns<>+96(SB), R12; \
	NEGQ n;                     \
	LEAQ (R12)(n*SIZE), R12

// LOADB3 loads a row of b, whose last vector in use may be a part; LOADB2 and LOADB1 are for
// two vectors and one.
#define LOADB1 \
	MOVE       (R12), Y3; \
	MOVEMASKED (DX), Y3, Y0

#define LOADB2 \
	MOVE       (DX), Y0;    \
	MOVE       32(R12), Y3; \
	MOVEMASKED 32(DX), Y3, Y1

#define LOADB3 \
	MOVE       (DX), Y0;    \
	MOVE       32(DX), Y1;  \
	MOVE       64(R12), Y3; \
	MOVEMASKED 64(DX), Y3, Y2

// SMALLROW3 continues the chains of a row by the element at p. SMALLROW2 and SMALLROW1 continue its
// first two vectors and its first.
#define SMALLROW1(p, c0, c1, c2) \
	BROADCAST   (p)(CX*1), Y3; \
	PLUSPRODUCT Y0, Y3, c0

#define SMALLROW2(p, c0, c1, c2) \
	BROADCAST   (p)(CX*1), Y3; \
	PLUSPRODUCT Y0, Y3, c0;    \
	PLUSPRODUCT Y1, Y3, c1

#define SMALLROW3(p, c0, c1, c2) \
	BROADCAST   (p)(CX*1), Y3; \
	PLUSPRODUCT Y0, Y3, c0;    \
	PLUSPRODUCT Y1, Y3, c1;    \
	PLUSPRODUCT Y2, Y3, c2

// SMALLSTEP is the loop over p but for its jump.
#define SMALLSTEP(LOAD, row) \
	LOAD;                   \
	row(R8, Y4, Y5, Y6);    \
	row(R9, Y7, Y8, Y9);    \
	row(R10, Y10, Y11, Y12); \
	row(R11, Y13, Y14, Y15); \
	ADDQ AX, CX;            \
	ADDQ SI, DX;            \
	DECQ BX

// SETPART stores alpha·c where the mask at byte o of R12 has ones, ADDPART fma(alpha, c, C).
// SETROW3 and ADDROW3 do so for the vectors of a row, the others for its first two or one.
#define SETPART(o, c) \
	MULTIPLY   c, Y0, c;    \
	MOVE       (o)(R12), Y3; \
	MOVEMASKED c, Y3, (o)(DI)

#define ADDPART(o, c) \
	MOVE       (o)(R12), Y3;     \
	MOVEMASKED (o)(DI), Y3, Y1;  \
	TIMESPLUS  Y1, Y0, c;        \
	MOVEMASKED c, Y3, (o)(DI)

#define SETROW1(c0, c1, c2) \
	SETPART(0, c0)

#define SETROW2(c0, c1, c2) \
	SETPART(0, c0);  \
	SETPART(32, c1)

#define SETROW3(c0, c1, c2) \
	SETPART(0, c0);  \
	SETPART(32, c1); \
	SETPART(64, c2)

#define ADDROW1(c0, c1, c2) \
	ADDPART(0, c0)

#define ADDROW2(c0, c1, c2) \
	ADDPART(0, c0);  \
	ADDPART(32, c1)

#define ADDROW3(c0, c1, c2) \
	ADDPART(0, c0);  \
	ADDPART(32, c1); \
	ADDPART(64, c2)

// SMALLNEXT goes to the next row of C, or leaves after the last row.
#define SMALLNEXT \
	SUBQ R9, R12; \
	ADDQ SI, DI;  \
	DECQ R10;     \
	JZ   end

#define SMALLROWS(row) \
	row(Y4, Y5, Y6);    \
	SMALLNEXT;          \
	row(Y7, Y8, Y9);    \
	SMALLNEXT;          \
	row(Y10, Y11, Y12); \
	SMALLNEXT;          \
	row(Y13, Y14, Y15); \
	JMP end

TEXT SMALL(SB), NOSPLIT, $0-97
	MOVQ m+0(FP), DI
	LEAQ -1(DI), CX
	IMULQ grow+16(FP), CX
	ADDQ n+8(FP), CX
	MOVQ CX, R13
	COLUMNS(CX)
	OPERANDS(DI)
	CLEAR
	XORL CX, CX
	CMPQ R13, $(64/SIZE)
	JGT  three
	CMPQ R13, $(32/SIZE)
	JGT  two

one:
	SMALLSTEP(LOADB1, SMALLROW1)
	JNZ  one
	JMP  done

two:
	SMALLSTEP(LOADB2, SMALLROW2)
	JNZ  two
	JMP  done

three:
	SMALLSTEP(LOADB3, SMALLROW3)
	JNZ  three

done:
	BROADCAST alpha+32(FP), Y0
	MOVQ n+8(FP), CX
	COLUMNS(CX)
	MOVQ grow+16(FP), R9
	SHLQ $SHIFT, R9
	MOVQ c+80(FP), DI
	MOVQ ldc+88(FP), SI
	SHLQ $SHIFT, SI
	MOVQ m+0(FP), R10
	CMPQ R13, $(32/SIZE)
	JLE  store1
	CMPQ R13, $(64/SIZE)
	JLE  store2
	CMPB add+96(FP), $0
	JEQ  set3
	SMALLROWS(ADDROW3)

set3:
	SMALLROWS(SETROW3)

store2:
	CMPB add+96(FP), $0
	JEQ  set2
	SMALLROWS(ADDROW2)

set2:
	SMALLROWS(SETROW2)

store1:
	CMPB add+96(FP), $0
	JEQ  set1
	SMALLROWS(ADDROW1)

set1:
	SMALLROWS(SETROW1)

end:
	VZEROUPPER
	RET
