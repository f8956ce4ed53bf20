//go:build !purego

#include "textflag.h"
#include "float64_amd64.h"
#include "transpose_avx512.h"
#include "pivot_avx512.h"

// Triangles of up to eight rows of float64, for AVX-512, where they lie: a vector a row.

// lane<> counts. A vector of i selects lane i in a permutation.
DATA lane<>+0(SB)/8, $0
DATA lane<>+8(SB)/8, $1
DATA lane<>+16(SB)/8, $2
DATA lane<>+24(SB)/8, $3
DATA lane<>+32(SB)/8, $4
DATA lane<>+40(SB)/8, $5
DATA lane<>+48(SB)/8, $6
DATA lane<>+56(SB)/8, $7
GLOBL lane<>(SB), RODATA|NOPTR, $64

// NUMBERS fills vectors with the numbers 1 to 7 of lanes and sets K1…K7 to select these
// lanes. Clobbers AX.
#define NUMBERS(z1, z2, z3, z4, z5, z6, z7) \
	VBROADCASTSD lane<>+8(SB), z1;  \
	VBROADCASTSD lane<>+16(SB), z2; \
	VBROADCASTSD lane<>+24(SB), z3; \
	VBROADCASTSD lane<>+32(SB), z4; \
	VBROADCASTSD lane<>+40(SB), z5; \
	VBROADCASTSD lane<>+48(SB), z6; \
	VBROADCASTSD lane<>+56(SB), z7; \
	MOVL $2, AX;   KMOVW AX, K1; \
	MOVL $4, AX;   KMOVW AX, K2; \
	MOVL $8, AX;   KMOVW AX, K3; \
	MOVL $16, AX;  KMOVW AX, K4; \
	MOVL $32, AX;  KMOVW AX, K5; \
	MOVL $64, AX;  KMOVW AX, K6; \
	MOVL $128, AX; KMOVW AX, K7

// func avx512SmallChol64(n int, a *float64, ld int) (bad int, pivot float64)
//
//	d = a[0][0]; z = lower triangle of a, a column a vector
//	for i = 0…n-1: return i, d unless 0 < d < Inf
//	    r = 1/√d; l[i][i] = √d; z[i] *= r; a[i][0:i+1] = l[i]
//	    for h = i+1…7: l[h][i] = z[i][h]; z[h] -= l[h][i]·z[i]
//	    d = z[i+1][i+1]
//	return -1 (the second result then says nothing)
//
// The first pivot is on its way while the triangle is transposed. Rows of the factor are put
// together and stored while pivots wait, without masks, so that what reads them need not wait
// until they are in the cache.
//
//	Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23 the columns z, in the order that TRANSPOSE leaves them in
//	Z1–Z7 the rows of l   Z9–Z15 the numbers 1 to 7, K1–K7 these lanes
//	CX n   R11 i   SI, R9 walk a in steps of R8 bytes   R12 as for ROWSIN
//	X29 0   X30 1   X31 Inf   the pivot is in X24 and X28 by turns

// FIRSTCOLUMN begins row h of the factor, and subtracts from column h, c, the term of the
// first, z.
#define FIRSTCOLUMN(z, lane, row, c) \
	VPERMPD z, lane, row; \
	VFNMADD231PD z, row, c

// LESSCOLUMN continues row h by the element of the column z, which k selects, and subtracts
// its term from column h, c.
#define LESSCOLUMN(z, k, lane, row, c) \
	VPERMPD z, lane, Z27; \
	VFNMADD231PD z, Z27, c; \
	VMOVAPD Z27, k, row

// COLUMN finishes column i of the factor, z, and its row: PIVOT has left the root in X25 and
// the reciprocal in Z27.
#define COLUMN(z, k, row) \
	VMULPD Z27, z, z; \
	VBROADCASTSD X25, k, row

// NEXT goes to the next row, or leaves after the last row.
#define NEXT \
	ADDQ R8, R9; \
	INCQ R11; \
	CMPQ R11, CX; \
	JEQ  done

// UPPERHALF leaves elements 4 to 7 of a row in Y27.
#define UPPERHALF(row) VEXTRACTF64X4 $1, row, Y27

TEXT ·avx512SmallChol64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ ld+16(FP), R8
	SHLQ $3, R8
	VXORPD X29, X29, X29
	VMOVSD one<>(SB), X30
	VMOVSD inf<>(SB), X31
	XORL R11, R11
	MOVQ SI, R9
	VMOVSD (SI), X24
	PIVOT(X24)
	MOVQ STAIRCASE, R12
	FIRSTROWS(R12)
	ROWSIN
	TRANSPOSE
	AHEAD(0, X24, Z24, X28, Z28, Z16, Z20)
	NUMBERS(Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	VMULPD Z27, Z16, Z16
	VMOVSD X25, (R9)
	NEXT
	FIRSTCOLUMN(Z16, Z9, Z1, Z20); FIRSTCOLUMN(Z16, Z10, Z2, Z17); FIRSTCOLUMN(Z16, Z11, Z3, Z21)
	FIRSTCOLUMN(Z16, Z12, Z4, Z18); FIRSTCOLUMN(Z16, Z13, Z5, Z22); FIRSTCOLUMN(Z16, Z14, Z6, Z19)
	FIRSTCOLUMN(Z16, Z15, Z7, Z23)
	PIVOT(X28)
	AHEAD(1, X28, Z28, X24, Z24, Z20, Z17)
	COLUMN(Z20, K1, Z1)
	VMOVUPD X1, (R9)
	NEXT
	LESSCOLUMN(Z20, K1, Z10, Z2, Z17); LESSCOLUMN(Z20, K1, Z11, Z3, Z21); LESSCOLUMN(Z20, K1, Z12, Z4, Z18)
	LESSCOLUMN(Z20, K1, Z13, Z5, Z22); LESSCOLUMN(Z20, K1, Z14, Z6, Z19); LESSCOLUMN(Z20, K1, Z15, Z7, Z23)
	PIVOT(X24)
	AHEAD(2, X24, Z24, X28, Z28, Z17, Z21)
	COLUMN(Z17, K2, Z2)
	VMOVUPD X2, (R9)
	VEXTRACTF64X2 $1, Z2, X27
	VMOVSD X27, 16(R9)
	NEXT
	LESSCOLUMN(Z17, K2, Z11, Z3, Z21); LESSCOLUMN(Z17, K2, Z12, Z4, Z18); LESSCOLUMN(Z17, K2, Z13, Z5, Z22)
	LESSCOLUMN(Z17, K2, Z14, Z6, Z19); LESSCOLUMN(Z17, K2, Z15, Z7, Z23)
	PIVOT(X28)
	AHEAD(3, X28, Z28, X24, Z24, Z21, Z18)
	COLUMN(Z21, K3, Z3)
	VMOVUPD Y3, (R9)
	NEXT
	LESSCOLUMN(Z21, K3, Z12, Z4, Z18); LESSCOLUMN(Z21, K3, Z13, Z5, Z22); LESSCOLUMN(Z21, K3, Z14, Z6, Z19)
	LESSCOLUMN(Z21, K3, Z15, Z7, Z23)
	PIVOT(X24)
	AHEAD(4, X24, Z24, X28, Z28, Z18, Z22)
	COLUMN(Z18, K4, Z4)
	VMOVUPD Y4, (R9)
	UPPERHALF(Z4)
	VMOVSD X27, 32(R9)
	NEXT
	LESSCOLUMN(Z18, K4, Z13, Z5, Z22); LESSCOLUMN(Z18, K4, Z14, Z6, Z19); LESSCOLUMN(Z18, K4, Z15, Z7, Z23)
	PIVOT(X28)
	AHEAD(5, X28, Z28, X24, Z24, Z22, Z19)
	COLUMN(Z22, K5, Z5)
	VMOVUPD Y5, (R9)
	UPPERHALF(Z5)
	VMOVUPD X27, 32(R9)
	NEXT
	LESSCOLUMN(Z22, K5, Z14, Z6, Z19); LESSCOLUMN(Z22, K5, Z15, Z7, Z23)
	PIVOT(X24)
	AHEAD(6, X24, Z24, X28, Z28, Z19, Z23)
	COLUMN(Z19, K6, Z6)
	VMOVUPD Y6, (R9)
	UPPERHALF(Z6)
	VMOVUPD X27, 32(R9)
	VEXTRACTF64X2 $1, Y27, X27
	VMOVSD X27, 48(R9)
	NEXT
	LESSCOLUMN(Z19, K6, Z15, Z7, Z23)
	PIVOT(X28)
	VBROADCASTSD X25, K7, Z7
	VMOVUPD Z7, (R9)

done:
	MOVQ $-1, R11
	JMP  end

bad:
	TESTQ $1, R11
	JEQ   end
	VMOVAPD Z28, Z24

end:
	MOVQ R11, bad+24(FP)
	VMOVSD X24, pivot+32(FP)
	VZEROUPPER
	RET

// func avx512SmallInv64(n int, l *float64, ld int, dst *float64, ldd int, what inverseOf)
//
//	for i = 0…n-1: x[i] = 0
//	    for k = 0…i-1: x[i] -= l[i][k]·x[k]
//	    x[i] *= 1/l[i][i]; x[i][i] = 1/l[i][i]; d += x[i]²
//	    for h = 0…i: c[h] += x[i][h]·x[i]
//	lower triangle of dst = x or c, or dst[0:n] = d, for what = 0, 1, 2
//
//	Z0–Z7 x   Z8–Z15 c   Z16–Z23 the numbers 0 to 7, K1–K7 lanes 1 to 7
//	Z24 d   Z25 1/l[i][i]   X30 1   SI row i of l, then of dst, R8 its step in bytes
//	CX rows left   R12 as for ROWSOUT

// INVERT begins row i of X, x.
#define INVERT(i, x) \
	VDIVSD (i*8)(SI), X30, X25; \
	VBROADCASTSD X25, Z25; \
	VPXORQ x, x, x

// LESSROW subtracts from row x the term of row k, z.
#define LESSROW(k, z, x) VFNMADD231PD.BCST (k*8)(SI), z, x

// SOLVEDROW finishes row x, whose diagonal element k selects.
#define SOLVEDROW(k, x) \
	VMULPD Z25, x, x; \
	VMOVAPD Z25, k, x; \
	VFMADD231PD x, x, Z24

// GRAM adds the term of row x to row h of Xᵀ·X, c.
#define GRAM(lane, x, c) \
	VPERMPD x, lane, Z26; \
	VFMADD231PD x, Z26, c

// MORE goes to the next row, or leaves after the last row.
#define MORE \
	ADDQ R8, SI; \
	DECQ CX; \
	JEQ  done

TEXT ·avx512SmallInv64(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), CX
	MOVQ l+8(FP), SI
	MOVQ ld+16(FP), R8
	SHLQ $3, R8
	VMOVSD one<>(SB), X30
	VPXORQ Z24, Z24, Z24
	VPXORQ Z8, Z8, Z8; VPXORQ Z9, Z9, Z9; VPXORQ Z10, Z10, Z10; VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12; VPXORQ Z13, Z13, Z13; VPXORQ Z14, Z14, Z14; VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	NUMBERS(Z17, Z18, Z19, Z20, Z21, Z22, Z23)
	VDIVSD (SI), X30, X0
	VFMADD231PD Z0, Z0, Z24
	GRAM(Z16, Z0, Z8)
	MORE
	INVERT(1, Z1)
	LESSROW(0, Z0, Z1)
	SOLVEDROW(K1, Z1)
	GRAM(Z16, Z1, Z8); GRAM(Z17, Z1, Z9)
	MORE
	INVERT(2, Z2)
	LESSROW(0, Z0, Z2); LESSROW(1, Z1, Z2)
	SOLVEDROW(K2, Z2)
	GRAM(Z16, Z2, Z8); GRAM(Z17, Z2, Z9); GRAM(Z18, Z2, Z10)
	MORE
	INVERT(3, Z3)
	LESSROW(0, Z0, Z3); LESSROW(1, Z1, Z3); LESSROW(2, Z2, Z3)
	SOLVEDROW(K3, Z3)
	GRAM(Z16, Z3, Z8); GRAM(Z17, Z3, Z9); GRAM(Z18, Z3, Z10); GRAM(Z19, Z3, Z11)
	MORE
	INVERT(4, Z4)
	LESSROW(0, Z0, Z4); LESSROW(1, Z1, Z4); LESSROW(2, Z2, Z4); LESSROW(3, Z3, Z4)
	SOLVEDROW(K4, Z4)
	GRAM(Z16, Z4, Z8); GRAM(Z17, Z4, Z9); GRAM(Z18, Z4, Z10); GRAM(Z19, Z4, Z11)
	GRAM(Z20, Z4, Z12)
	MORE
	INVERT(5, Z5)
	LESSROW(0, Z0, Z5); LESSROW(1, Z1, Z5); LESSROW(2, Z2, Z5); LESSROW(3, Z3, Z5)
	LESSROW(4, Z4, Z5)
	SOLVEDROW(K5, Z5)
	GRAM(Z16, Z5, Z8); GRAM(Z17, Z5, Z9); GRAM(Z18, Z5, Z10); GRAM(Z19, Z5, Z11)
	GRAM(Z20, Z5, Z12); GRAM(Z21, Z5, Z13)
	MORE
	INVERT(6, Z6)
	LESSROW(0, Z0, Z6); LESSROW(1, Z1, Z6); LESSROW(2, Z2, Z6); LESSROW(3, Z3, Z6)
	LESSROW(4, Z4, Z6); LESSROW(5, Z5, Z6)
	SOLVEDROW(K6, Z6)
	GRAM(Z16, Z6, Z8); GRAM(Z17, Z6, Z9); GRAM(Z18, Z6, Z10); GRAM(Z19, Z6, Z11)
	GRAM(Z20, Z6, Z12); GRAM(Z21, Z6, Z13); GRAM(Z22, Z6, Z14)
	MORE
	INVERT(7, Z7)
	LESSROW(0, Z0, Z7); LESSROW(1, Z1, Z7); LESSROW(2, Z2, Z7); LESSROW(3, Z3, Z7)
	LESSROW(4, Z4, Z7); LESSROW(5, Z5, Z7); LESSROW(6, Z6, Z7)
	SOLVEDROW(K7, Z7)
	GRAM(Z16, Z7, Z8); GRAM(Z17, Z7, Z9); GRAM(Z18, Z7, Z10); GRAM(Z19, Z7, Z11)
	GRAM(Z20, Z7, Z12); GRAM(Z21, Z7, Z13); GRAM(Z22, Z7, Z14); GRAM(Z23, Z7, Z15)

done:
	MOVQ n+0(FP), CX
	MOVQ STAIRCASE, R12
	FIRSTROWS(R12)
	MOVQ dst+24(FP), SI
	MOVQ ldd+32(FP), R8
	SHLQ $3, R8
	MOVQ what+40(FP), DX
	CMPQ DX, $1
	JEQ  whole
	JGT  diagonal
	ROWSOUT(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	VZEROUPPER
	RET

whole:
	ROWSOUT(Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	VZEROUPPER
	RET

diagonal:
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	VMOVUPD Z24, K1, (SI)
	VZEROUPPER
	RET
