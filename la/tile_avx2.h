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
