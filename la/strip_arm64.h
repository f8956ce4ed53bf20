// Strip kernels for NEON, for the type of strip64_arm64.s or strip32_arm64.s. They work on
// blocks of 4 rows of 96 bytes, a whole line of a strip: NR elements of SIZE = 1<<SHIFT
// bytes. In every routine
//
//	V0–V23   the block, row i in V6i…V6i+5
//	V24–V29  a row of b, or of solutions
//	V30 V31  four elements of a, used by element
//
// A file of a type defines, besides:
//
//	ADDTERM(o), SUBTERM(o)      continue the block by the term at byte offset o of a, at R1,
//	                            and b, at R2
//	LOADEND, STOREEND           move the end of a row, without its first R11 > 0 elements,
//	                            which are whole groups of four
//	LOADFOUR(p), LOADREST(o)    load four elements of T, or the remaining ones of four at R1,
//	                            to V24 and V25
//	LOADSCALES                  loads four elements of r to V28 and V29
//	MINUSi(less), TIMESi(scale) do less by element i of V24 V25, scale by element i of V28 V29
//	LOADONE, LARGEST            load 1 to V27; are the bits of the largest number
//	SQUARE(v, d)                adds to d the squares of v
//	PIVOT                       finishes a row of a factor

// LOADROW and STOREROW move a row between memory at R7, R4 bytes from row to
// row, and its registers.
#define LOADROW(c0, c1, c2, c3, c4, c5) \
	FLDPQ (R7), (c0, c1); \
	FLDPQ 32(R7), (c2, c3); \
	FLDPQ 64(R7), (c4, c5); \
	ADD   R4, R7

#define STOREROW(c0, c1, c2, c3, c4, c5) \
	FSTPQ (c0, c1), (R7); \
	FSTPQ (c2, c3), 32(R7); \
	FSTPQ (c4, c5), 64(R7); \
	ADD   R4, R7

// EACHROW does op to the four rows of a block.
#define EACHROW(op) \
	op(F0, F1, F2, F3, F4, F5); \
	op(F6, F7, F8, F9, F10, F11); \
	op(F12, F13, F14, F15, F16, F17); \
	op(F18, F19, F20, F21, F22, F23)

// FETCHROW fetches the row at R7 for writing and steps to the next.
#define FETCHROW \
	PRFM (R7), PSTL1KEEP; \
	PRFM 64(R7), PSTL1KEEP; \
	ADD  R4, R7

// ROW continues the chains of a row by the element of a that op takes.
#define ROW(op, a, c0, c1, c2, c3, c4, c5) \
	op(a, 24, c0); \
	op(a, 25, c1); \
	op(a, 26, c2); \
	op(a, 27, c3); \
	op(a, 28, c4); \
	op(a, 29, c5)

// LOADB loads the row of b at byte offset o.
#define LOADB(o) \
	FLDPQ (o)(R2), (F24, F25);    \
	FLDPQ (o+32)(R2), (F26, F27); \
	FLDPQ (o+64)(R2), (F28, F29)

// FOURTERMS continues the block by four terms.
#define FOURTERMS(term) \
	term(0);        \
	term(96);       \
	term(192);      \
	term(288);      \
	ADD  $384, R1;  \
	ADD  $384, R2

// func add(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
// func sub(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
//
// NR×NR elements in blocks of four rows, without the first skip columns and, on the
// diagonal, rows. Of the hints they take next.
//
//	for i := 0 or skip; i < nr; i += 4:
//		block := rows i…i+3 of c, or 0
//		prefetch the next four rows, or the first four at next
//		for p := range k: block ±= a[p*nr+i:][:4] ⊗ b[p*nr:][:nr]
//		rows i…i+3 of c = block
//
//	R0 k   R1 R2 a and b at p   R3 c, row i, column 0   R4 row of c in bytes
//	R5 p/4 left   R6 blocks left   R7 a row   R8 a+i   R9 b   R10 next
//	R11 skip   R12 mode: skip, bit 5 for 0, bit 6 on the diagonal
#define TILE(term) \
	MOVD k+0(FP), R0; \
	MOVD a+8(FP), R8; \
	MOVD b+16(FP), R9; \
	MOVD c+24(FP), R3; \
	MOVD ldc+32(FP), R4; \
	MOVD next+40(FP), R10; \
	MOVD mode+48(FP), R12; \
	LSL  $SHIFT, R4; \
	AND  $31, R12, R11; \
	MOVD $(NR/4), R6; \
	SUB  R11<<SHIFT, R3; \
	TBZ  $6, R12, block; \
	ADD  R11<<SHIFT, R8; \
	SUB  R11>>2, R6; \
block: \
	MOVD R3, R7; \
	TBNZ $5, R12, fresh; \
	CBNZ R11, loadends; \
	EACHROW(LOADROW); \
	B loaded; \
loadends: \
	EACHROW(LOADEND); \
	B loaded; \
fresh: \
	ZERO24; \
loaded: \
	ADD  R4<<2, R3, R7; \
	CMP  $1, R6; \
	CSEL EQ, R10, R7, R7; \
	FETCHROW; \
	FETCHROW; \
	FETCHROW; \
	FETCHROW; \
	MOVD R8, R1; \
	MOVD R9, R2; \
	LSR  $2, R0, R5; \
four: \
	FOURTERMS(term); \
	SUB  $1, R5; \
	CBNZ R5, four; \
	MOVD R3, R7; \
	CBNZ R11, storeends; \
	EACHROW(STOREROW); \
	B stored; \
storeends: \
	EACHROW(STOREEND); \
stored: \
	MOVD R7, R3; \
	ADD  $(4*SIZE), R8; \
	SUB  $1, R6; \
	CBNZ R6, block; \
	RET

TEXT STRIPADD(SB), NOSPLIT, $0-72
	TILE(ADDTERM)

TEXT STRIPSUB(SB), NOSPLIT, $0-72
	TILE(SUBTERM)

// func squares(k int, y, d *T)
//
//	for q := range k { for i := range NR: d[i] = fma(y[q*NR+i], y[q*NR+i], d[i]) }
//
//	R0 k   R1 y   R7 d
//	V0–V5    d
//	V24–V29  a row of y

TEXT STRIPSQUARES(SB), NOSPLIT, $0-24
	MOVD k+0(FP), R0
	MOVD y+8(FP), R1
	MOVD d+16(FP), R7
	FLDPQ (R7), (F0, F1)
	FLDPQ 32(R7), (F2, F3)
	FLDPQ 64(R7), (F4, F5)

rows:
	FLDPQ (R1), (F24, F25)
	FLDPQ 32(R1), (F26, F27)
	FLDPQ 64(R1), (F28, F29)
	ADD   $96, R1
	SQUARE(V24, V0)
	SQUARE(V25, V1)
	SQUARE(V26, V2)
	SQUARE(V27, V3)
	SQUARE(V28, V4)
	SQUARE(V29, V5)
	SUB   $1, R0
	CBNZ  R0, rows
	FSTPQ (F0, F1), (R7)
	FSTPQ (F2, F3), 32(R7)
	FSTPQ (F4, F5), 64(R7)
	RET

// CHAINS continues the block of rows j…j+3 of y by all solved rows.
//
//	block := y[j*NR:], rows j…j+3
//	for k := lo; k < j; k++: block -= t[k*NR:][:4] ⊗ y[k*NR:][:NR]
//
//	R0 rows lo…j-1   R1 t, R2 y at k, afterwards at j   R3 y at j   R4 96
#define CHAINS \
	MOVD R3, R7; \
	EACHROW(LOADROW); \
	CBZ R0, solved; \
	LSR $2, R0, R5; \
four: \
	FOURTERMS(SUBTERM); \
	SUB  $1, R5; \
	CBNZ R5, four; \
solved:

// SCALE multiplies a row of the block by the element of v that op takes.
#define SCALE(op, v, c0, c1, c2, c3, c4, c5) \
	op(v, c0, c0); \
	op(v, c1, c1); \
	op(v, c2, c2); \
	op(v, c3, c3); \
	op(v, c4, c4); \
	op(v, c5, c5)

// LESS subtracts the element of v that op takes times one row from another.
#define LESS(op, v, s0, s1, s2, s3, s4, s5, c0, c1, c2, c3, c4, c5) \
	op(v, s0, c0); \
	op(v, s1, c1); \
	op(v, s2, c2); \
	op(v, s3, c3); \
	op(v, s4, c4); \
	op(v, s5, c5)

#define LESS01(op, v) LESS(op, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
#define LESS02(op, v) LESS(op, v, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17)
#define LESS03(op, v) LESS(op, v, 0, 1, 2, 3, 4, 5, 18, 19, 20, 21, 22, 23)
#define LESS12(op, v) LESS(op, v, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
#define LESS13(op, v) LESS(op, v, 6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23)
#define LESS23(op, v) LESS(op, v, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)

#define SCALE0(op, v) SCALE(op, v, 0, 1, 2, 3, 4, 5)
#define SCALE1(op, v) SCALE(op, v, 6, 7, 8, 9, 10, 11)
#define SCALE2(op, v) SCALE(op, v, 12, 13, 14, 15, 16, 17)
#define SCALE3(op, v) SCALE(op, v, 18, 19, 20, 21, 22, 23)

// func solve(lo, j0, hi int, t *T, ts int, r, y *T)
//
//	for j := j0; j < hi; j++:
//		t_j := t[j/NR*ts+j%NR:]
//		for k := lo; k < j; k++: y_j -= t_j[k*NR] * y_k
//		y_j *= r[j]
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 t_j   R2 y at k   R3 y at j   R4 96   R5 rows left of lo…j-1
//	R6 rows left   R8 t_j at lo   R9 y at lo   R10 r at j   R11 line j%NR
//	R12 from the last line of a strip of t to the next strip
//	V24 V25  t_j…t_j+3 at one row   V28 V29 r_j…r_j+3

TEXT STRIPSOLVE(SB), NOSPLIT, $0-56
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD t+24(FP), R8
	MOVD ts+32(FP), R12
	MOVD r+40(FP), R10
	MOVD y+48(FP), R9
	MOVD $96, R4
	LSL  $SHIFT, R12
	MADD R4, R9, R0, R3      // y + 96*j0
	ADD  R0<<SHIFT, R10
	SUB  R0, R6
	MOVD $NR, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11     // j0 - NR*(j0/NR)
	MADD R12, R8, R7, R8
	ADD  R11<<SHIFT, R8
	MADD R4, R8, R13, R8     // at lo
	MADD R4, R9, R13, R9
	SUB  R13, R0
	SUB  $96, R12

rows:
	CBZ  R6, done
	MOVD R8, R1
	MOVD R9, R2
	CHAINS
	LOADSCALES
	LOADFOUR(R1)
	TIMES0(SCALE0)
	MINUS1(LESS01)
	MINUS2(LESS02)
	MINUS3(LESS03)
	LOADREST(96)
	TIMES1(SCALE1)
	MINUS2(LESS12)
	MINUS3(LESS13)
	LOADREST(192)
	TIMES2(SCALE2)
	MINUS3(LESS23)
	TIMES3(SCALE3)
	MOVD R3, R7
	EACHROW(STOREROW)
	MOVD R7, R3
	ADD  $(4*SIZE), R10
	ADD  $(4*SIZE), R8
	ADD  $4, R0
	SUB  $4, R6
	ADD  $4, R11
	CMP  $NR, R11
	BNE  rows
	MOVD $0, R11
	ADD  R12, R8
	B    rows

done:
	RET

// func chol(lo, j0, hi int, r, y *T) int
//
//	for j := j0; j < hi; j++:
//		for k := lo; k < j; k++: y_j -= y_k[j%NR] * y_k
//		d := y_j[j%NR]
//		if !(0 < d && d < Inf): return j
//		r[j] = 1 / sqrt(d)
//		y_j *= r[j]
//		y_j[j%NR] = sqrt(d)
//	return -1
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 y at k, line j%NR   R2 y at k   R3 y at j   R4 96
//	R5 rows left of lo…j-1   R6 rows left   R7 R8 a row of the block, its line j%NR
//	R9 y at lo   R10 r at j   R11 line j%NR in bytes   R14 bits of the largest number
//	V24 V25  four lines of a row   V27 1   V28 d, then 1/√d   V29 √d

TEXT STRIPCHOL(SB), NOSPLIT, $0-48
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD r+24(FP), R10
	MOVD y+32(FP), R9
	MOVD $LARGEST, R14
	MOVD $96, R4
	MADD R4, R9, R0, R3 // y + 96*j0
	ADD  R0<<SHIFT, R10
	SUB  R0, R6
	MOVD $NR, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11 // j0 - NR*(j0/NR)
	LSL  $SHIFT, R11
	MADD R4, R9, R13, R9
	SUB  R13, R0

rows:
	CBZ  R6, done
	ADD  R11, R9, R1
	MOVD R9, R2
	CHAINS
	LOADONE
	MOVD  R3, R7
	ADD   R11, R3, R8
	PIVOT(0, SCALE0, F0, F1, F2, F3, F4, F5)
	MINUS1(LESS01)
	MINUS2(LESS02)
	MINUS3(LESS03)
	PIVOT(1*SIZE, SCALE1, F6, F7, F8, F9, F10, F11)
	MINUS2(LESS12)
	MINUS3(LESS13)
	PIVOT(2*SIZE, SCALE2, F12, F13, F14, F15, F16, F17)
	MINUS3(LESS23)
	PIVOT(3*SIZE, SCALE3, F18, F19, F20, F21, F22, F23)
	MOVD R7, R3
	ADD  $(4*SIZE), R10
	ADD  $4, R0
	SUB  $4, R6
	ADD  $(4*SIZE), R11
	CMP  $96, R11
	BNE  rows
	MOVD $0, R11
	B    rows

stop:
	MOVD y+32(FP), R9
	SUB  R9, R7
	UDIV R4, R7
	MOVD R7, ret+40(FP)
	RET

done:
	MOVD $-1, R7
	MOVD R7, ret+40(FP)
	RET
