//go:build !purego

#include "textflag.h"
#include "float64_amd64.h"
#include "transpose_avx512.h"
#include "pivot_avx512.h"

// Triangles of up to eight rows of float64, for AVX-512, where they lie: a vector a row.

// lane<>[i] is i eight times, the index of a permutation that broadcasts lane i.
#define LANE(i) \
	DATA lane<>+(64*i+0)(SB)/8, $i;  \
	DATA lane<>+(64*i+8)(SB)/8, $i;  \
	DATA lane<>+(64*i+16)(SB)/8, $i; \
	DATA lane<>+(64*i+24)(SB)/8, $i; \
	DATA lane<>+(64*i+32)(SB)/8, $i; \
	DATA lane<>+(64*i+40)(SB)/8, $i; \
	DATA lane<>+(64*i+48)(SB)/8, $i; \
	DATA lane<>+(64*i+56)(SB)/8, $i

LANE(0)
LANE(1)
LANE(2)
LANE(3)
LANE(4)
LANE(5)
LANE(6)
LANE(7)
GLOBL lane<>(SB), RODATA|NOPTR, $512

// func avx512SmallChol64(n int, a *float64, ld int) (bad int, pivot float64)
//
//	z = lower triangle of a, a column a vector
//	for i = 0…n-1: d = z[i][i]; return i, d unless 0 < d < Inf
//	    r = 1/√d; z[i] *= r; z[i][i] = √d
//	    for h = i+1…7: z[h] -= z[i][h]·z[i]
//	lower triangle of a = z
//	return -1 (the second result then says nothing)
//
//	Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23 the columns, in the order that TRANSPOSE leaves them in
//	CX n   R11 i   SI a, R8 its step in bytes   AX, R12 as for ROWMASK
//	X29 0   X30 1   X31 Inf   the pivot is in X24 and X28 by turns

// COLUMN finishes column i of the factor, z: PIVOT has left its root in X25 and the
// reciprocal in Z27.
#define COLUMN(i, z) \
	VMULPD Z27, z, z; \
	MOVL   $(1<<i), AX; \
	KMOVW  AX, K1; \
	VBROADCASTSD X25, K1, z

// LESSCOLUMN subtracts from column h, c, the term of the column z.
#define LESSCOLUMN(h, z, c) \
	VMOVUPD lane<>+(h*64)(SB), Z27; \
	VPERMPD z, Z27, Z27; \
	VFNMADD231PD z, Z27, c

// NEXT leaves when there are no more columns.
#define NEXT \
	INCQ R11; \
	CMPQ R11, CX; \
	JEQ  done

TEXT ·avx512SmallChol64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ ld+16(FP), R8
	SHLQ $3, R8
	LEAQ staircase<>(SB), R12
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	ROWSIN
	TRANSPOSE
	VXORPD X29, X29, X29
	VMOVSD one<>(SB), X30
	VMOVSD inf<>(SB), X31
	XORL R11, R11
	VMOVAPD Z16, Z24
	PIVOT(X24)
	AHEAD(0, X24, Z24, X28, Z28, Z16, Z20)
	COLUMN(0, Z16)
	NEXT
	LESSCOLUMN(1, Z16, Z20); LESSCOLUMN(2, Z16, Z17); LESSCOLUMN(3, Z16, Z21); LESSCOLUMN(4, Z16, Z18)
	LESSCOLUMN(5, Z16, Z22); LESSCOLUMN(6, Z16, Z19); LESSCOLUMN(7, Z16, Z23)
	PIVOT(X28)
	AHEAD(1, X28, Z28, X24, Z24, Z20, Z17)
	COLUMN(1, Z20)
	NEXT
	LESSCOLUMN(2, Z20, Z17); LESSCOLUMN(3, Z20, Z21); LESSCOLUMN(4, Z20, Z18); LESSCOLUMN(5, Z20, Z22)
	LESSCOLUMN(6, Z20, Z19); LESSCOLUMN(7, Z20, Z23)
	PIVOT(X24)
	AHEAD(2, X24, Z24, X28, Z28, Z17, Z21)
	COLUMN(2, Z17)
	NEXT
	LESSCOLUMN(3, Z17, Z21); LESSCOLUMN(4, Z17, Z18); LESSCOLUMN(5, Z17, Z22); LESSCOLUMN(6, Z17, Z19)
	LESSCOLUMN(7, Z17, Z23)
	PIVOT(X28)
	AHEAD(3, X28, Z28, X24, Z24, Z21, Z18)
	COLUMN(3, Z21)
	NEXT
	LESSCOLUMN(4, Z21, Z18); LESSCOLUMN(5, Z21, Z22); LESSCOLUMN(6, Z21, Z19); LESSCOLUMN(7, Z21, Z23)
	PIVOT(X24)
	AHEAD(4, X24, Z24, X28, Z28, Z18, Z22)
	COLUMN(4, Z18)
	NEXT
	LESSCOLUMN(5, Z18, Z22); LESSCOLUMN(6, Z18, Z19); LESSCOLUMN(7, Z18, Z23)
	PIVOT(X28)
	AHEAD(5, X28, Z28, X24, Z24, Z22, Z19)
	COLUMN(5, Z22)
	NEXT
	LESSCOLUMN(6, Z22, Z19); LESSCOLUMN(7, Z22, Z23)
	PIVOT(X24)
	AHEAD(6, X24, Z24, X28, Z28, Z19, Z23)
	COLUMN(6, Z19)
	NEXT
	LESSCOLUMN(7, Z19, Z23)
	PIVOT(X28)
	COLUMN(7, Z23)

done:
	VMOVAPD Z16, Z0
	VMOVAPD Z20, Z1
	VMOVAPD Z17, Z2
	VMOVAPD Z21, Z3
	VMOVAPD Z18, Z4
	VMOVAPD Z22, Z5
	VMOVAPD Z19, Z6
	VMOVAPD Z23, Z7
	TRANSPOSE
	MOVQ a+8(FP), SI
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	ROWSOUT(Z16, Z20, Z17, Z21, Z18, Z22, Z19, Z23)
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
//	for i = 0…n-1: x[i] = e[i]
//	    for k = 0…i-1: x[i] -= l[i][k]·x[k]
//	    x[i] *= 1/l[i][i]; d += x[i]²
//	    for h = 0…i: c[h] += x[i][h]·x[i]
//	lower triangle of dst = x or c, or dst[0:n] = d, for what = 0, 1, 2
//
//	Z0–Z7 x   Z8–Z15 c   Z24 d   Z25 1/l[i][i]   Z31, X30 1   SI row i of l, then of dst
//	R8 its step in bytes   CX rows left   AX, R12 as for ROWMASK

// INVERT begins row i of X, x.
#define INVERT(i, x) \
	VDIVSD (i*8)(SI), X30, X25; \
	VBROADCASTSD X25, Z25; \
	MOVL   $(1<<i), AX; \
	KMOVW  AX, K1; \
	VMOVAPD.Z Z31, K1, x

// LESSROW subtracts from row x the term of row k, z.
#define LESSROW(k, z, x) VFNMADD231PD.BCST (k*8)(SI), z, x

// SOLVEDROW finishes row x.
#define SOLVEDROW(x) \
	VMULPD Z25, x, x; \
	VFMADD231PD x, x, Z24

// GRAM adds the term of row x to row h of Xᵀ·X, c.
#define GRAM(h, x, c) \
	VMOVUPD lane<>+(h*64)(SB), Z26; \
	VPERMPD x, Z26, Z26; \
	VFMADD231PD x, Z26, c

// MORE goes to the next row, or leaves when there is none.
#define MORE \
	ADDQ R8, SI; \
	DECQ CX; \
	JEQ  done

TEXT ·avx512SmallInv64(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), CX
	MOVQ l+8(FP), SI
	MOVQ ld+16(FP), R8
	SHLQ $3, R8
	VBROADCASTSD one<>(SB), Z31
	VMOVAPD X31, X30
	VPXORQ Z24, Z24, Z24
	VPXORQ Z8, Z8, Z8; VPXORQ Z9, Z9, Z9; VPXORQ Z10, Z10, Z10; VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12; VPXORQ Z13, Z13, Z13; VPXORQ Z14, Z14, Z14; VPXORQ Z15, Z15, Z15
	INVERT(0, Z0)
	SOLVEDROW(Z0)
	GRAM(0, Z0, Z8)
	MORE
	INVERT(1, Z1)
	LESSROW(0, Z0, Z1)
	SOLVEDROW(Z1)
	GRAM(0, Z1, Z8); GRAM(1, Z1, Z9)
	MORE
	INVERT(2, Z2)
	LESSROW(0, Z0, Z2); LESSROW(1, Z1, Z2)
	SOLVEDROW(Z2)
	GRAM(0, Z2, Z8); GRAM(1, Z2, Z9); GRAM(2, Z2, Z10)
	MORE
	INVERT(3, Z3)
	LESSROW(0, Z0, Z3); LESSROW(1, Z1, Z3); LESSROW(2, Z2, Z3)
	SOLVEDROW(Z3)
	GRAM(0, Z3, Z8); GRAM(1, Z3, Z9); GRAM(2, Z3, Z10); GRAM(3, Z3, Z11)
	MORE
	INVERT(4, Z4)
	LESSROW(0, Z0, Z4); LESSROW(1, Z1, Z4); LESSROW(2, Z2, Z4); LESSROW(3, Z3, Z4)
	SOLVEDROW(Z4)
	GRAM(0, Z4, Z8); GRAM(1, Z4, Z9); GRAM(2, Z4, Z10); GRAM(3, Z4, Z11)
	GRAM(4, Z4, Z12)
	MORE
	INVERT(5, Z5)
	LESSROW(0, Z0, Z5); LESSROW(1, Z1, Z5); LESSROW(2, Z2, Z5); LESSROW(3, Z3, Z5)
	LESSROW(4, Z4, Z5)
	SOLVEDROW(Z5)
	GRAM(0, Z5, Z8); GRAM(1, Z5, Z9); GRAM(2, Z5, Z10); GRAM(3, Z5, Z11)
	GRAM(4, Z5, Z12); GRAM(5, Z5, Z13)
	MORE
	INVERT(6, Z6)
	LESSROW(0, Z0, Z6); LESSROW(1, Z1, Z6); LESSROW(2, Z2, Z6); LESSROW(3, Z3, Z6)
	LESSROW(4, Z4, Z6); LESSROW(5, Z5, Z6)
	SOLVEDROW(Z6)
	GRAM(0, Z6, Z8); GRAM(1, Z6, Z9); GRAM(2, Z6, Z10); GRAM(3, Z6, Z11)
	GRAM(4, Z6, Z12); GRAM(5, Z6, Z13); GRAM(6, Z6, Z14)
	MORE
	INVERT(7, Z7)
	LESSROW(0, Z0, Z7); LESSROW(1, Z1, Z7); LESSROW(2, Z2, Z7); LESSROW(3, Z3, Z7)
	LESSROW(4, Z4, Z7); LESSROW(5, Z5, Z7); LESSROW(6, Z6, Z7)
	SOLVEDROW(Z7)
	GRAM(0, Z7, Z8); GRAM(1, Z7, Z9); GRAM(2, Z7, Z10); GRAM(3, Z7, Z11)
	GRAM(4, Z7, Z12); GRAM(5, Z7, Z13); GRAM(6, Z7, Z14); GRAM(7, Z7, Z15)

done:
	MOVQ n+0(FP), CX
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	MOVQ dst+24(FP), SI
	MOVQ ldd+32(FP), R8
	SHLQ $3, R8
	LEAQ staircase<>(SB), R12
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
	KMOVW AX, K1
	VMOVUPD Z24, K1, (SI)
	VZEROUPPER
	RET
