//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// The strip kernels work on blocks of 4 rows by 96 bytes, a whole line of a strip:
// 12 doubles or 24 floats. Everywhere
//
//	V0–V23   the block, row i in V6i…V6i+5
//	V24–V29  a row of b, or of solutions
//	V30 V31  four elements of a, used by element

// STRIPROW continues the chains of a row by the element of a that op takes.
#define STRIPROW(op, a, c0, c1, c2, c3, c4, c5) \
	op(a, 24, c0); \
	op(a, 25, c1); \
	op(a, 26, c2); \
	op(a, 27, c3); \
	op(a, 28, c4); \
	op(a, 29, c5)

// STRIPLOAD and STRIPSTORE move a row between memory at R7, R4 bytes from row to
// row, and its registers.
#define STRIPLOAD(c0, c1, c2, c3, c4, c5) \
	FLDPQ (R7), (c0, c1); \
	FLDPQ 32(R7), (c2, c3); \
	FLDPQ 64(R7), (c4, c5); \
	ADD   R4, R7

#define STRIPSTORE(c0, c1, c2, c3, c4, c5) \
	FSTPQ (c0, c1), (R7); \
	FSTPQ (c2, c3), 32(R7); \
	FSTPQ (c4, c5), 64(R7); \
	ADD   R4, R7

// STRIPROWS does op to the four rows of a block.
#define STRIPROWS(op) \
	op(F0, F1, F2, F3, F4, F5); \
	op(F6, F7, F8, F9, F10, F11); \
	op(F12, F13, F14, F15, F16, F17); \
	op(F18, F19, F20, F21, F22, F23)

// STRIPPREFETCH fetches the row at R7 for writing and steps to the next.
#define STRIPPREFETCH \
	PRFM (R7), PSTL1KEEP; \
	PRFM 64(R7), PSTL1KEEP; \
	ADD  R4, R7

// STRIPTERM continues a block by the term at byte offset o of a, at R1, and b, at R2.
#define STRIPTERM64(op0, op1, o) \
	FLDPQ (o)(R2), (F24, F25); \
	FLDPQ (o+32)(R2), (F26, F27); \
	FLDPQ (o+64)(R2), (F28, F29); \
	FLDPQ (o)(R1), (F30, F31); \
	STRIPROW(op0, 30, 0, 1, 2, 3, 4, 5); \
	STRIPROW(op1, 30, 6, 7, 8, 9, 10, 11); \
	STRIPROW(op0, 31, 12, 13, 14, 15, 16, 17); \
	STRIPROW(op1, 31, 18, 19, 20, 21, 22, 23)

#define STRIPTERM32(op0, op1, op2, op3, o) \
	FLDPQ (o)(R2), (F24, F25); \
	FLDPQ (o+32)(R2), (F26, F27); \
	FLDPQ (o+64)(R2), (F28, F29); \
	FMOVQ (o)(R1), F30; \
	STRIPROW(op0, 30, 0, 1, 2, 3, 4, 5); \
	STRIPROW(op1, 30, 6, 7, 8, 9, 10, 11); \
	STRIPROW(op2, 30, 12, 13, 14, 15, 16, 17); \
	STRIPROW(op3, 30, 18, 19, 20, 21, 22, 23)

#define ADDTERM64(o) STRIPTERM64(VFMLAD0, VFMLAD1, o)
#define SUBTERM64(o) STRIPTERM64(VFMLSD0, VFMLSD1, o)
#define ADDTERM32(o) STRIPTERM32(VFMLAS0, VFMLAS1, VFMLAS2, VFMLAS3, o)
#define SUBTERM32(o) STRIPTERM32(VFMLSS0, VFMLSS1, VFMLSS2, VFMLSS3, o)

// STRIPLOADEND and STRIPSTOREEND move the end of a row, without its first R11 > 0
// elements, which are whole groups of four.
#define STRIPLOADEND64(c0, c1, c2, c3, c4, c5) \
	CMP   $8, R11; \
	BEQ   2(PC); \
	FLDPQ 32(R7), (c2, c3); \
	FLDPQ 64(R7), (c4, c5); \
	ADD   R4, R7

#define STRIPSTOREEND64(c0, c1, c2, c3, c4, c5) \
	CMP   $8, R11; \
	BEQ   2(PC); \
	FSTPQ (c2, c3), 32(R7); \
	FSTPQ (c4, c5), 64(R7); \
	ADD   R4, R7

#define STRIPLOADEND32(c0, c1, c2, c3, c4, c5) \
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

#define STRIPSTOREEND32(c0, c1, c2, c3, c4, c5) \
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

// STRIPTILE is the body of add and sub: nr×nr elements in blocks of four rows,
// without the first skip columns and, on the diagonal, rows.
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
#define STRIPTILE(term, loadend, storeend, shift, blocks, esize) \
	LSL  $shift, R4; \
	AND  $31, R12, R11; \
	MOVD $blocks, R6; \
	SUB  R11<<shift, R3; \
	TBZ  $6, R12, block; \
	ADD  R11<<shift, R8; \
	SUB  R11>>2, R6; \
block: \
	MOVD R3, R7; \
	TBNZ $5, R12, fresh; \
	CBNZ R11, loadends; \
	STRIPROWS(STRIPLOAD); \
	B loaded; \
loadends: \
	STRIPROWS(loadend); \
	B loaded; \
fresh: \
	ZERO24; \
loaded: \
	ADD  R4<<2, R3, R7; \
	CMP  $1, R6; \
	CSEL EQ, R10, R7, R7; \
	STRIPPREFETCH; \
	STRIPPREFETCH; \
	STRIPPREFETCH; \
	STRIPPREFETCH; \
	MOVD R8, R1; \
	MOVD R9, R2; \
	LSR  $2, R0, R5; \
four: \
	term(0); \
	term(96); \
	term(192); \
	term(288); \
	ADD  $384, R1; \
	ADD  $384, R2; \
	SUB  $1, R5; \
	CBNZ R5, four; \
	MOVD R3, R7; \
	CBNZ R11, storeends; \
	STRIPROWS(STRIPSTORE); \
	B stored; \
storeends: \
	STRIPROWS(storeend); \
stored: \
	MOVD R7, R3; \
	ADD  $(4*esize), R8; \
	SUB  $1, R6; \
	CBNZ R6, block; \
	RET

// func neonStripAdd64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)
TEXT ·neonStripAdd64(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(ADDTERM64, STRIPLOADEND64, STRIPSTOREEND64, 3, 3, 8)

// func neonStripSub64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)
TEXT ·neonStripSub64(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(SUBTERM64, STRIPLOADEND64, STRIPSTOREEND64, 3, 3, 8)

// func neonStripAdd32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·neonStripAdd32(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(ADDTERM32, STRIPLOADEND32, STRIPSTOREEND32, 2, 6, 4)

// func neonStripSub32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·neonStripSub32(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(SUBTERM32, STRIPLOADEND32, STRIPSTOREEND32, 2, 6, 4)

// func neonStripSquares64(k int, y, d *float64)
//
//	for q := range k { for i := range 12: d[i] = fma(y[12q+i], y[12q+i], d[i]) }
//
//	R0 k   R1 y   R7 d
//	V0–V5    d
//	V24–V29  a row of y

#define STRIPSQUARES(T) \
	FLDPQ (R7), (F0, F1); \
	FLDPQ 32(R7), (F2, F3); \
	FLDPQ 64(R7), (F4, F5); \
rows: \
	FLDPQ (R1), (F24, F25); \
	FLDPQ 32(R1), (F26, F27); \
	FLDPQ 64(R1), (F28, F29); \
	ADD   $96, R1; \
	VFMLA V24.T, V24.T, V0.T; \
	VFMLA V25.T, V25.T, V1.T; \
	VFMLA V26.T, V26.T, V2.T; \
	VFMLA V27.T, V27.T, V3.T; \
	VFMLA V28.T, V28.T, V4.T; \
	VFMLA V29.T, V29.T, V5.T; \
	SUB   $1, R0; \
	CBNZ  R0, rows; \
	FSTPQ (F0, F1), (R7); \
	FSTPQ (F2, F3), 32(R7); \
	FSTPQ (F4, F5), 64(R7); \
	RET

TEXT ·neonStripSquares64(SB), NOSPLIT, $0-24
	MOVD k+0(FP), R0
	MOVD y+8(FP), R1
	MOVD d+16(FP), R7
	STRIPSQUARES(D2)

// func neonStripSquares32(k int, y, d *float32)
//
// as neonStripSquares64, with 24 elements a row
TEXT ·neonStripSquares32(SB), NOSPLIT, $0-24
	MOVD k+0(FP), R0
	MOVD y+8(FP), R1
	MOVD d+16(FP), R7
	STRIPSQUARES(S4)

// func neonStripCopy(k int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)
//
//	for p := range k { copy(dst[p*ldd:], src[p*lds:][:96]) }   in bytes
//
//	R0 rows left   R1 src   R2 lds   R3 dst   R4 ldd
//	V0–V5    a row

TEXT ·neonStripCopy(SB), NOSPLIT, $0-40
	MOVD k+0(FP), R0
	MOVD src+8(FP), R1
	MOVD lds+16(FP), R2
	MOVD dst+24(FP), R3
	MOVD ldd+32(FP), R4

rows:
	FLDPQ (R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	FLDPQ 64(R1), (F4, F5)
	FSTPQ (F0, F1), (R3)
	FSTPQ (F2, F3), 32(R3)
	FSTPQ (F4, F5), 64(R3)
	ADD   R2, R1
	ADD   R4, R3
	SUB   $1, R0
	CBNZ  R0, rows
	RET

// STRIPCHAINS continues the block of rows j…j+3 of y by all solved rows.
//
//	block := y[j*nr:], rows j…j+3
//	for k := lo; k < j; k++: block -= t[k*nr:][:4] ⊗ y[k*nr:][:nr]
//
//	R0 rows lo…j-1   R1 t, R2 y at k, afterwards at j   R3 y at j   R4 96
#define STRIPCHAINS(term) \
	MOVD R3, R7; \
	STRIPROWS(STRIPLOAD); \
	CBZ R0, solved; \
	LSR $2, R0, R5; \
four: \
	term(0); \
	term(96); \
	term(192); \
	term(288); \
	ADD  $384, R1; \
	ADD  $384, R2; \
	SUB  $1, R5; \
	CBNZ R5, four; \
solved:

// STRIPSCALE multiplies a row of the block by the element of v that op takes.
#define STRIPSCALE(op, v, c0, c1, c2, c3, c4, c5) \
	op(v, c0, c0); \
	op(v, c1, c1); \
	op(v, c2, c2); \
	op(v, c3, c3); \
	op(v, c4, c4); \
	op(v, c5, c5)

// STRIPLESS subtracts the element of v that op takes times one row from another.
#define STRIPLESS(op, v, s0, s1, s2, s3, s4, s5, c0, c1, c2, c3, c4, c5) \
	op(v, s0, c0); \
	op(v, s1, c1); \
	op(v, s2, c2); \
	op(v, s3, c3); \
	op(v, s4, c4); \
	op(v, s5, c5)

#define LESS01(op, v) STRIPLESS(op, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
#define LESS02(op, v) STRIPLESS(op, v, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17)
#define LESS03(op, v) STRIPLESS(op, v, 0, 1, 2, 3, 4, 5, 18, 19, 20, 21, 22, 23)
#define LESS12(op, v) STRIPLESS(op, v, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
#define LESS13(op, v) STRIPLESS(op, v, 6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23)
#define LESS23(op, v) STRIPLESS(op, v, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)

#define SCALE0(op, v) STRIPSCALE(op, v, 0, 1, 2, 3, 4, 5)
#define SCALE1(op, v) STRIPSCALE(op, v, 6, 7, 8, 9, 10, 11)
#define SCALE2(op, v) STRIPSCALE(op, v, 12, 13, 14, 15, 16, 17)
#define SCALE3(op, v) STRIPSCALE(op, v, 18, 19, 20, 21, 22, 23)

// func neonStripSolve64(lo, j0, hi int, t *float64, ts int, r, y *float64)
//
//	for j := j0; j < hi; j++:
//		t_j := t[j/nr*ts+j%nr:]
//		for k := lo; k < j; k++: y_j -= t_j[k*nr] * y_k
//		y_j *= r[j]
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 t_j   R2 y at k   R3 y at j   R4 96   R5 rows left of lo…j-1
//	R6 rows left   R8 t_j at lo   R9 y at lo   R10 r at j   R11 line j%nr
//	R12 from the last line of a strip of t to the next strip
//	V24 V25  t_j…t_j+3 at one row   V28 V29 r_j…r_j+3

TEXT ·neonStripSolve64(SB), NOSPLIT, $0-56
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD t+24(FP), R8
	MOVD ts+32(FP), R12
	MOVD r+40(FP), R10
	MOVD y+48(FP), R9
	MOVD $96, R4
	LSL  $3, R12
	MADD R4, R9, R0, R3      // y + 96*j0
	ADD  R0<<3, R10
	SUB  R0, R6
	MOVD $12, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11     // j0 - nr*(j0/nr)
	MADD R12, R8, R7, R8
	ADD  R11<<3, R8
	MADD R4, R8, R13, R8     // at lo
	MADD R4, R9, R13, R9
	SUB  R13, R0
	SUB  $96, R12

rows:
	CBZ  R6, done
	MOVD R8, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM64)
	FLDPQ (R10), (F28, F29)
	FLDPQ (R1), (F24, F25)
	SCALE0(VFMULD0, 28)
	LESS01(VFMLSD1, 24)
	LESS02(VFMLSD0, 25)
	LESS03(VFMLSD1, 25)
	FMOVQ 112(R1), F25
	SCALE1(VFMULD1, 28)
	LESS12(VFMLSD0, 25)
	LESS13(VFMLSD1, 25)
	FMOVQ 208(R1), F25
	SCALE2(VFMULD0, 29)
	LESS23(VFMLSD1, 25)
	SCALE3(VFMULD1, 29)
	MOVD R3, R7
	STRIPROWS(STRIPSTORE)
	MOVD R7, R3
	ADD  $32, R10
	ADD  $32, R8
	ADD  $4, R0
	SUB  $4, R6
	ADD  $4, R11
	CMP  $12, R11
	BNE  rows
	MOVD $0, R11
	ADD  R12, R8
	B    rows

done:
	RET

// CHOLPIVOT64 finishes row j, at R7, in which R8 is at the block's four lines and
// line j at offset o from there. The row is stored for its pivot's sake, scaled
// and stored again. A pivot is positive and finite if its bits, less 1, are
// below those of the largest number.
#define CHOLPIVOT64(o, scale, c0, c1, c2, c3, c4, c5) \
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
	STRIPSTORE(c0, c1, c2, c3, c4, c5); \
	FLDPQ (R8), (F24, F25); \
	FMOVD F29, o(R8); \
	ADD   R4, R8

// func neonStripChol64(lo, j0, hi int, r, y *float64) int
//
//	for j := j0; j < hi; j++:
//		for k := lo; k < j; k++: y_j -= y_k[j%nr] * y_k
//		d := y_j[j%nr]
//		if !(0 < d && d < Inf): return j
//		r[j] = 1 / sqrt(d)
//		y_j *= r[j]
//		y_j[j%nr] = sqrt(d)
//	return -1
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 y at k, line j%nr   R2 y at k   R3 y at j   R4 96
//	R5 rows left of lo…j-1   R6 rows left   R7 R8 a row of the block, its line j%nr
//	R9 y at lo   R10 r at j   R11 line j%nr in bytes   R14 bits of the largest number
//	V24 V25  four lines of a row   V27 1   V28 d, then 1/√d   V29 √d

TEXT ·neonStripChol64(SB), NOSPLIT, $0-48
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD r+24(FP), R10
	MOVD y+32(FP), R9
	MOVD $0x7fefffffffffffff, R14
	MOVD $96, R4
	MADD R4, R9, R0, R3 // y + 96*j0
	ADD  R0<<3, R10
	SUB  R0, R6
	MOVD $12, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11 // j0 - nr*(j0/nr)
	LSL  $3, R11
	MADD R4, R9, R13, R9
	SUB  R13, R0

rows:
	CBZ  R6, done
	ADD  R11, R9, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM64)
	FMOVD $1.0, F27
	MOVD  R3, R7
	ADD   R11, R3, R8
	CHOLPIVOT64(0, SCALE0, F0, F1, F2, F3, F4, F5)
	LESS01(VFMLSD1, 24)
	LESS02(VFMLSD0, 25)
	LESS03(VFMLSD1, 25)
	CHOLPIVOT64(8, SCALE1, F6, F7, F8, F9, F10, F11)
	LESS12(VFMLSD0, 25)
	LESS13(VFMLSD1, 25)
	CHOLPIVOT64(16, SCALE2, F12, F13, F14, F15, F16, F17)
	LESS23(VFMLSD1, 25)
	CHOLPIVOT64(24, SCALE3, F18, F19, F20, F21, F22, F23)
	MOVD R7, R3
	ADD  $32, R10
	ADD  $4, R0
	SUB  $4, R6
	ADD  $32, R11
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

// func neonStripSolve32(lo, j0, hi int, t *float32, ts int, r, y *float32)
//
//	for j := j0; j < hi; j++:
//		t_j := t[j/nr*ts+j%nr:]
//		for k := lo; k < j; k++: y_j -= t_j[k*nr] * y_k
//		y_j *= r[j]
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 t_j   R2 y at k   R3 y at j   R4 96   R5 rows left of lo…j-1
//	R6 rows left   R8 t_j at lo   R9 y at lo   R10 r at j   R11 line j%nr
//	R12 from the last line of a strip of t to the next strip
//	V24 V25  t_j…t_j+3 at one row   V28 V29 r_j…r_j+3

TEXT ·neonStripSolve32(SB), NOSPLIT, $0-56
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD t+24(FP), R8
	MOVD ts+32(FP), R12
	MOVD r+40(FP), R10
	MOVD y+48(FP), R9
	MOVD $96, R4
	LSL  $2, R12
	MADD R4, R9, R0, R3      // y + 96*j0
	ADD  R0<<2, R10
	SUB  R0, R6
	MOVD $24, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11     // j0 - nr*(j0/nr)
	MADD R12, R8, R7, R8
	ADD  R11<<2, R8
	MADD R4, R8, R13, R8     // at lo
	MADD R4, R9, R13, R9
	SUB  R13, R0
	SUB  $96, R12

rows:
	CBZ  R6, done
	MOVD R8, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM32)
	FMOVQ (R10), F28
	FMOVQ (R1), F24
	SCALE0(VFMULS0, 28)
	LESS01(VFMLSS1, 24)
	LESS02(VFMLSS2, 24)
	LESS03(VFMLSS3, 24)
	FMOVQ 96(R1), F24
	SCALE1(VFMULS1, 28)
	LESS12(VFMLSS2, 24)
	LESS13(VFMLSS3, 24)
	FMOVQ 192(R1), F24
	SCALE2(VFMULS2, 28)
	LESS23(VFMLSS3, 24)
	SCALE3(VFMULS3, 28)
	MOVD R3, R7
	STRIPROWS(STRIPSTORE)
	MOVD R7, R3
	ADD  $16, R10
	ADD  $16, R8
	ADD  $4, R0
	SUB  $4, R6
	ADD  $4, R11
	CMP  $24, R11
	BNE  rows
	MOVD $0, R11
	ADD  R12, R8
	B    rows

done:
	RET

// CHOLPIVOT32 finishes row j, at R7, in which R8 is at the block's four lines and
// line j at offset o from there. The row is stored for its pivot's sake, scaled
// and stored again. A pivot is positive and finite if its bits, less 1, are
// below those of the largest number.
#define CHOLPIVOT32(o, scale, c0, c1, c2, c3, c4, c5) \
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
	STRIPSTORE(c0, c1, c2, c3, c4, c5); \
	FMOVQ (R8), F24; \
	FMOVS F29, o(R8); \
	ADD   R4, R8

// func neonStripChol32(lo, j0, hi int, r, y *float32) int
//
//	for j := j0; j < hi; j++:
//		for k := lo; k < j; k++: y_j -= y_k[j%nr] * y_k
//		d := y_j[j%nr]
//		if !(0 < d && d < Inf): return j
//		r[j] = 1 / sqrt(d)
//		y_j *= r[j]
//		y_j[j%nr] = sqrt(d)
//	return -1
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 y at k, line j%nr   R2 y at k   R3 y at j   R4 96
//	R5 rows left of lo…j-1   R6 rows left   R7 R8 a row of the block, its line j%nr
//	R9 y at lo   R10 r at j   R11 line j%nr in bytes   R14 bits of the largest number
//	V24 V25  four lines of a row   V27 1   V28 d, then 1/√d   V29 √d

TEXT ·neonStripChol32(SB), NOSPLIT, $0-48
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD r+24(FP), R10
	MOVD y+32(FP), R9
	MOVD $0x7f7fffff, R14
	MOVD $96, R4
	MADD R4, R9, R0, R3 // y + 96*j0
	ADD  R0<<2, R10
	SUB  R0, R6
	MOVD $24, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11 // j0 - nr*(j0/nr)
	LSL  $2, R11
	MADD R4, R9, R13, R9
	SUB  R13, R0

rows:
	CBZ  R6, done
	ADD  R11, R9, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM32)
	FMOVS $1.0, F27
	MOVD  R3, R7
	ADD   R11, R3, R8
	CHOLPIVOT32(0, SCALE0, F0, F1, F2, F3, F4, F5)
	LESS01(VFMLSS1, 24)
	LESS02(VFMLSS2, 24)
	LESS03(VFMLSS3, 24)
	CHOLPIVOT32(4, SCALE1, F6, F7, F8, F9, F10, F11)
	LESS12(VFMLSS2, 24)
	LESS13(VFMLSS3, 24)
	CHOLPIVOT32(8, SCALE2, F12, F13, F14, F15, F16, F17)
	LESS23(VFMLSS3, 24)
	CHOLPIVOT32(12, SCALE3, F18, F19, F20, F21, F22, F23)
	MOVD R7, R3
	ADD  $16, R10
	ADD  $4, R0
	SUB  $4, R6
	ADD  $16, R11
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
