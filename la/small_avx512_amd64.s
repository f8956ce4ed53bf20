//go:build !purego

#include "textflag.h"
#include "float64_amd64.h"
#include "transpose_avx512.h"
#include "pivot_avx512.h"

// lane<>[i] is i eight times, the index of a permutation that broadcasts lane i.
DATA lane<>+0(SB)/8, $0
DATA lane<>+8(SB)/8, $0
DATA lane<>+16(SB)/8, $0
DATA lane<>+24(SB)/8, $0
DATA lane<>+32(SB)/8, $0
DATA lane<>+40(SB)/8, $0
DATA lane<>+48(SB)/8, $0
DATA lane<>+56(SB)/8, $0
DATA lane<>+64(SB)/8, $1
DATA lane<>+72(SB)/8, $1
DATA lane<>+80(SB)/8, $1
DATA lane<>+88(SB)/8, $1
DATA lane<>+96(SB)/8, $1
DATA lane<>+104(SB)/8, $1
DATA lane<>+112(SB)/8, $1
DATA lane<>+120(SB)/8, $1
DATA lane<>+128(SB)/8, $2
DATA lane<>+136(SB)/8, $2
DATA lane<>+144(SB)/8, $2
DATA lane<>+152(SB)/8, $2
DATA lane<>+160(SB)/8, $2
DATA lane<>+168(SB)/8, $2
DATA lane<>+176(SB)/8, $2
DATA lane<>+184(SB)/8, $2
DATA lane<>+192(SB)/8, $3
DATA lane<>+200(SB)/8, $3
DATA lane<>+208(SB)/8, $3
DATA lane<>+216(SB)/8, $3
DATA lane<>+224(SB)/8, $3
DATA lane<>+232(SB)/8, $3
DATA lane<>+240(SB)/8, $3
DATA lane<>+248(SB)/8, $3
DATA lane<>+256(SB)/8, $4
DATA lane<>+264(SB)/8, $4
DATA lane<>+272(SB)/8, $4
DATA lane<>+280(SB)/8, $4
DATA lane<>+288(SB)/8, $4
DATA lane<>+296(SB)/8, $4
DATA lane<>+304(SB)/8, $4
DATA lane<>+312(SB)/8, $4
DATA lane<>+320(SB)/8, $5
DATA lane<>+328(SB)/8, $5
DATA lane<>+336(SB)/8, $5
DATA lane<>+344(SB)/8, $5
DATA lane<>+352(SB)/8, $5
DATA lane<>+360(SB)/8, $5
DATA lane<>+368(SB)/8, $5
DATA lane<>+376(SB)/8, $5
DATA lane<>+384(SB)/8, $6
DATA lane<>+392(SB)/8, $6
DATA lane<>+400(SB)/8, $6
DATA lane<>+408(SB)/8, $6
DATA lane<>+416(SB)/8, $6
DATA lane<>+424(SB)/8, $6
DATA lane<>+432(SB)/8, $6
DATA lane<>+440(SB)/8, $6
DATA lane<>+448(SB)/8, $7
DATA lane<>+456(SB)/8, $7
DATA lane<>+464(SB)/8, $7
DATA lane<>+472(SB)/8, $7
DATA lane<>+480(SB)/8, $7
DATA lane<>+488(SB)/8, $7
DATA lane<>+496(SB)/8, $7
DATA lane<>+504(SB)/8, $7
GLOBL lane<>(SB), RODATA|NOPTR, $512

// Triangles of up to eight rows are worked on where they lie, a vector a row.

// COLUMN finishes column i of a factor, z, whose pivot is in d, and LESSCOLUMN
// subtracts its term from column h, c. Like AHEAD, of the next column nz, and
// NEXT, which leaves when there are no more columns, they are steps of
// avx512SmallChol64.
#define COLUMN(i, z) \
	VMULPD Z27, z, z; \
	MOVL   $(1<<i), AX; \
	KMOVW  AX, K1; \
	VBROADCASTSD X25, K1, z

#define LESSCOLUMN(h, z, c) \
	VMOVUPD lane<>+(h*64)(SB), Z27; \
	VPERMPD z, Z27, Z27; \
	VFNMADD231PD z, Z27, c

#define NEXT(i) \
	INCQ R11; \
	CMPQ R11, CX; \
	JEQ  done

// ROWSIN and ROWSOUT move n rows, up to and including the diagonal, between the
// matrix at SI and Z0…Z7 or Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23; R8 is ld in bytes.
#define ROWSIN \
	ROWMASK(0); VMOVUPD.Z (SI), K1, Z0; ADDQ R8, SI; \
	ROWMASK(1); VMOVUPD.Z (SI), K1, Z1; ADDQ R8, SI; \
	ROWMASK(2); VMOVUPD.Z (SI), K1, Z2; ADDQ R8, SI; \
	ROWMASK(3); VMOVUPD.Z (SI), K1, Z3; ADDQ R8, SI; \
	ROWMASK(4); VMOVUPD.Z (SI), K1, Z4; ADDQ R8, SI; \
	ROWMASK(5); VMOVUPD.Z (SI), K1, Z5; ADDQ R8, SI; \
	ROWMASK(6); VMOVUPD.Z (SI), K1, Z6; ADDQ R8, SI; \
	ROWMASK(7); VMOVUPD.Z (SI), K1, Z7

#define ROWSOUT(z0, z1, z2, z3, z4, z5, z6, z7) \
	ROWMASK(0); VMOVUPD z0, K1, (SI); ADDQ R8, SI; \
	ROWMASK(1); VMOVUPD z1, K1, (SI); ADDQ R8, SI; \
	ROWMASK(2); VMOVUPD z2, K1, (SI); ADDQ R8, SI; \
	ROWMASK(3); VMOVUPD z3, K1, (SI); ADDQ R8, SI; \
	ROWMASK(4); VMOVUPD z4, K1, (SI); ADDQ R8, SI; \
	ROWMASK(5); VMOVUPD z5, K1, (SI); ADDQ R8, SI; \
	ROWMASK(6); VMOVUPD z6, K1, (SI); ADDQ R8, SI; \
	ROWMASK(7); VMOVUPD z7, K1, (SI)

// func avx512SmallChol64(n int, a *float64, ld int) (bad int, pivot float64)
//
//	z = lower triangle of a, a column a vector
//	for i = 0…n-1: d = z[i][i]; return i, d unless 0 < d < Inf
//	    r = 1/√d; z[i] *= r; z[i][i] = √d
//	    for h = i+1…7: z[h] -= z[i][h]·z[i]
//	lower triangle of a = z
//
// The columns are in Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23; CX n; R11 i; AX in ROWSIN and
// ROWSOUT a bit for each row, R12 the masks of the rows; X29 0, X30 1, X31 Inf; the
// pivot is in X24 and X28 by turns.
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
	NEXT(0)
	LESSCOLUMN(1, Z16, Z20)
	LESSCOLUMN(2, Z16, Z17)
	LESSCOLUMN(3, Z16, Z21)
	LESSCOLUMN(4, Z16, Z18)
	LESSCOLUMN(5, Z16, Z22)
	LESSCOLUMN(6, Z16, Z19)
	LESSCOLUMN(7, Z16, Z23)
	PIVOT(X28)
	AHEAD(1, X28, Z28, X24, Z24, Z20, Z17)
	COLUMN(1, Z20)
	NEXT(1)
	LESSCOLUMN(2, Z20, Z17)
	LESSCOLUMN(3, Z20, Z21)
	LESSCOLUMN(4, Z20, Z18)
	LESSCOLUMN(5, Z20, Z22)
	LESSCOLUMN(6, Z20, Z19)
	LESSCOLUMN(7, Z20, Z23)
	PIVOT(X24)
	AHEAD(2, X24, Z24, X28, Z28, Z17, Z21)
	COLUMN(2, Z17)
	NEXT(2)
	LESSCOLUMN(3, Z17, Z21)
	LESSCOLUMN(4, Z17, Z18)
	LESSCOLUMN(5, Z17, Z22)
	LESSCOLUMN(6, Z17, Z19)
	LESSCOLUMN(7, Z17, Z23)
	PIVOT(X28)
	AHEAD(3, X28, Z28, X24, Z24, Z21, Z18)
	COLUMN(3, Z21)
	NEXT(3)
	LESSCOLUMN(4, Z21, Z18)
	LESSCOLUMN(5, Z21, Z22)
	LESSCOLUMN(6, Z21, Z19)
	LESSCOLUMN(7, Z21, Z23)
	PIVOT(X24)
	AHEAD(4, X24, Z24, X28, Z28, Z18, Z22)
	COLUMN(4, Z18)
	NEXT(4)
	LESSCOLUMN(5, Z18, Z22)
	LESSCOLUMN(6, Z18, Z19)
	LESSCOLUMN(7, Z18, Z23)
	PIVOT(X28)
	AHEAD(5, X28, Z28, X24, Z24, Z22, Z19)
	COLUMN(5, Z22)
	NEXT(5)
	LESSCOLUMN(6, Z22, Z19)
	LESSCOLUMN(7, Z22, Z23)
	PIVOT(X24)
	AHEAD(6, X24, Z24, X28, Z28, Z19, Z23)
	COLUMN(6, Z19)
	NEXT(6)
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

// INVERT begins row i of X in x, with element i of SI's row, and LESSROW subtracts
// the term of row k, in z; SOLVEDROW scales it, GRAM adds its term to row h of
// Xᵀ·X, in c, for h ≤ i. MORE leaves when there are no more rows.
#define INVERT(i, x) \
	VDIVSD (i*8)(SI), X30, X25; \
	VBROADCASTSD X25, Z25; \
	MOVL   $(1<<i), AX; \
	KMOVW  AX, K1; \
	VMOVAPD.Z Z31, K1, x

#define LESSROW(k, z, x) VFNMADD231PD.BCST (k*8)(SI), z, x

#define SOLVEDROW(x) \
	VMULPD Z25, x, x; \
	VFMADD231PD x, x, Z24

#define GRAM(h, x, c) \
	VMOVUPD lane<>+(h*64)(SB), Z26; \
	VPERMPD x, Z26, Z26; \
	VFMADD231PD x, Z26, c

#define MORE \
	ADDQ R8, SI; \
	DECQ CX; \
	JEQ  done

// func avx512SmallInv64(n int, l *float64, ld int, dst *float64, ldd int, what int)
//
//	for i = 0…n-1: x[i] = e[i]
//	    for k = 0…i-1: x[i] -= l[i][k]·x[k]
//	    x[i] *= 1/l[i][i]; d += x[i]²
//	    for h = 0…i: c[h] += x[i][h]·x[i]
//	lower triangle of dst = x or c, or dst[0:n] = d, for what = 0, 1, 2
//
// Z0…Z7 x, Z8…Z15 c, Z24 d, Z31 and X30 1; SI row i of l, then of dst; R8 ld in
// bytes; CX rows left; AX, R12 as in avx512SmallChol64.
TEXT ·avx512SmallInv64(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), CX
	MOVQ l+8(FP), SI
	MOVQ ld+16(FP), R8
	SHLQ $3, R8
	VBROADCASTSD one<>(SB), Z31
	VMOVAPD X31, X30
	VPXORQ Z24, Z24, Z24
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	INVERT(0, Z0)
	SOLVEDROW(Z0)
	GRAM(0, Z0, Z8)
	MORE
	INVERT(1, Z1)
	LESSROW(0, Z0, Z1)
	SOLVEDROW(Z1)
	GRAM(0, Z1, Z8)
	GRAM(1, Z1, Z9)
	MORE
	INVERT(2, Z2)
	LESSROW(0, Z0, Z2)
	LESSROW(1, Z1, Z2)
	SOLVEDROW(Z2)
	GRAM(0, Z2, Z8)
	GRAM(1, Z2, Z9)
	GRAM(2, Z2, Z10)
	MORE
	INVERT(3, Z3)
	LESSROW(0, Z0, Z3)
	LESSROW(1, Z1, Z3)
	LESSROW(2, Z2, Z3)
	SOLVEDROW(Z3)
	GRAM(0, Z3, Z8)
	GRAM(1, Z3, Z9)
	GRAM(2, Z3, Z10)
	GRAM(3, Z3, Z11)
	MORE
	INVERT(4, Z4)
	LESSROW(0, Z0, Z4)
	LESSROW(1, Z1, Z4)
	LESSROW(2, Z2, Z4)
	LESSROW(3, Z3, Z4)
	SOLVEDROW(Z4)
	GRAM(0, Z4, Z8)
	GRAM(1, Z4, Z9)
	GRAM(2, Z4, Z10)
	GRAM(3, Z4, Z11)
	GRAM(4, Z4, Z12)
	MORE
	INVERT(5, Z5)
	LESSROW(0, Z0, Z5)
	LESSROW(1, Z1, Z5)
	LESSROW(2, Z2, Z5)
	LESSROW(3, Z3, Z5)
	LESSROW(4, Z4, Z5)
	SOLVEDROW(Z5)
	GRAM(0, Z5, Z8)
	GRAM(1, Z5, Z9)
	GRAM(2, Z5, Z10)
	GRAM(3, Z5, Z11)
	GRAM(4, Z5, Z12)
	GRAM(5, Z5, Z13)
	MORE
	INVERT(6, Z6)
	LESSROW(0, Z0, Z6)
	LESSROW(1, Z1, Z6)
	LESSROW(2, Z2, Z6)
	LESSROW(3, Z3, Z6)
	LESSROW(4, Z4, Z6)
	LESSROW(5, Z5, Z6)
	SOLVEDROW(Z6)
	GRAM(0, Z6, Z8)
	GRAM(1, Z6, Z9)
	GRAM(2, Z6, Z10)
	GRAM(3, Z6, Z11)
	GRAM(4, Z6, Z12)
	GRAM(5, Z6, Z13)
	GRAM(6, Z6, Z14)
	MORE
	INVERT(7, Z7)
	LESSROW(0, Z0, Z7)
	LESSROW(1, Z1, Z7)
	LESSROW(2, Z2, Z7)
	LESSROW(3, Z3, Z7)
	LESSROW(4, Z4, Z7)
	LESSROW(5, Z5, Z7)
	LESSROW(6, Z6, Z7)
	SOLVEDROW(Z7)
	GRAM(0, Z7, Z8)
	GRAM(1, Z7, Z9)
	GRAM(2, Z7, Z10)
	GRAM(3, Z7, Z11)
	GRAM(4, Z7, Z12)
	GRAM(5, Z7, Z13)
	GRAM(6, Z7, Z14)
	GRAM(7, Z7, Z15)
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
