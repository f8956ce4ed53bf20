//go:build !purego

#include "textflag.h"

// func avx512Gemm64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)
// func avx512Shared64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)
//
// Tile of 8×24: row i in Z(8+3i), Z(9+3i), Z(10+3i).
//
//	CX k   SI a, R13 its step in bytes   DX b   DI c   R8 row of c in bytes
//	R9 what of c to prefetch, R10 rows to go in this column, R11 = 8·R8 - 64, R12 next
//	Z0–Z2 a row of b   Z3, Z4 an element of a in all lanes
//
//	for p in k {                     four at a time
//	    prefetch b ahead, a line of c or, later, of what is right of it, and the place
//	    of term p in next: few at a time, since they come from far away and there are
//	    ten line fill buffers
//	    Z0, Z1, Z2 = b[0:24]; b += 24
//	    for i in 8 { row i = fma(a[i], (Z0, Z1, Z2), row i) }; a += 8, or 24 if shared
//	}
//	c = alpha·rows, or fma(alpha, rows, c)
#define ROW512(fma, bcast, at, t, c0, c1, c2) \
	bcast at(SI), t     \
	fma   Z0, t, c0     \
	fma   Z1, t, c1     \
	fma   Z2, t, c2

#define STEP512(mov, bcast, fma, size, p) \
	mov        (p*192)(DX), Z0     \
	mov        (p*192+64)(DX), Z1  \
	mov        (p*192+128)(DX), Z2 \
	PREFETCHT0 (p*192+1536)(DX)    \
	PREFETCHT0 (p*192+1600)(DX)    \
	PREFETCHT0 (p*192+1664)(DX)    \
	ROW512(fma, bcast, 0*size, Z3, Z8, Z9, Z10)    \
	ROW512(fma, bcast, 1*size, Z4, Z11, Z12, Z13)  \
	ROW512(fma, bcast, 2*size, Z3, Z14, Z15, Z16)  \
	ROW512(fma, bcast, 3*size, Z4, Z17, Z18, Z19)  \
	ROW512(fma, bcast, 4*size, Z3, Z20, Z21, Z22)  \
	ROW512(fma, bcast, 5*size, Z4, Z23, Z24, Z25)  \
	ROW512(fma, bcast, 6*size, Z3, Z26, Z27, Z28)  \
	ROW512(fma, bcast, 7*size, Z4, Z29, Z30, Z31) \
	ADDQ       R13, SI

#define CLEAR512 \
	VPXORQ Z8, Z8, Z8; VPXORQ Z9, Z9, Z9; VPXORQ Z10, Z10, Z10     \
	VPXORQ Z11, Z11, Z11; VPXORQ Z12, Z12, Z12; VPXORQ Z13, Z13, Z13 \
	VPXORQ Z14, Z14, Z14; VPXORQ Z15, Z15, Z15; VPXORQ Z16, Z16, Z16 \
	VPXORQ Z17, Z17, Z17; VPXORQ Z18, Z18, Z18; VPXORQ Z19, Z19, Z19 \
	VPXORQ Z20, Z20, Z20; VPXORQ Z21, Z21, Z21; VPXORQ Z22, Z22, Z22 \
	VPXORQ Z23, Z23, Z23; VPXORQ Z24, Z24, Z24; VPXORQ Z25, Z25, Z25 \
	VPXORQ Z26, Z26, Z26; VPXORQ Z27, Z27, Z27; VPXORQ Z28, Z28, Z28 \
	VPXORQ Z29, Z29, Z29; VPXORQ Z30, Z30, Z30; VPXORQ Z31, Z31, Z31

// For each row of c: op(at, three accumulators).
#define EACHROW512(op) \
	op(DI, Z8, Z9, Z10)     \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z11, Z12, Z13)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z14, Z15, Z16)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z17, Z18, Z19)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z20, Z21, Z22)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z23, Z24, Z25)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z26, Z27, Z28)   \
	LEAQ (DI)(R8*1), DI     \
	op(DI, Z29, Z30, Z31)

#define FMAPD3(c, c0, c1, c2) \
	VFMADD213PD (c), Z0, c0    \
	VFMADD213PD 64(c), Z0, c1  \
	VFMADD213PD 128(c), Z0, c2

#define MULPD3(c, c0, c1, c2) \
	VMULPD c0, Z0, c0 \
	VMULPD c1, Z0, c1 \
	VMULPD c2, Z0, c2

#define STORE3(c, c0, c1, c2) \
	VMOVUPD c0, (c)    \
	VMOVUPD c1, 64(c)  \
	VMOVUPD c2, 128(c)

#define ADDSTOREPD3(c, c0, c1, c2) \
	FMAPD3(c, c0, c1, c2) \
	STORE3(c, c0, c1, c2)

#define MULSTOREPD3(c, c0, c1, c2) \
	MULPD3(c, c0, c1, c2) \
	STORE3(c, c0, c1, c2)

TEXT ·avx512Gemm64(SB), NOSPLIT, $0-64
	MOVQ $64, R13
	JMP  avx512GemmTile64<>(SB)

TEXT ·avx512Shared64(SB), NOSPLIT, $0-64
	MOVQ $192, R13
	JMP  avx512GemmTile64<>(SB)

TEXT avx512GemmTile64<>(SB), NOSPLIT, $0-64
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), R8
	SHLQ $3, R8
	MOVQ next+56(FP), R12
	MOVQ DI, R9
	MOVQ $8, R10
	MOVQ R8, R11
	SHLQ $3, R11
	SUBQ $64, R11
	CLEAR512
	MOVQ CX, BX
	SHRQ $2, BX
	JZ   rest

four:
	PREFETCHT0 (R9)
	PREFETCHT1 (R12)
	ADDQ $32, R12
	ADDQ R8, R9
	DECQ R10
	JNZ  steps
	MOVQ $8, R10
	SUBQ R11, R9

steps:
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 0)
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 1)
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 2)
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 3)
	ADDQ $768, DX
	DECQ BX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	STEP512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, 0)
	ADDQ $192, DX
	DECQ CX
	JNZ  one

done:
	VBROADCASTSD alpha+8(FP), Z0
	CMPB add+48(FP), $0
	JEQ  store
	EACHROW512(ADDSTOREPD3)
	VZEROUPPER
	RET

store:
	EACHROW512(MULSTOREPD3)
	VZEROUPPER
	RET

// func avx512Gemm32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)
// func avx512Shared32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)
//
// avx512Gemm64 and avx512Shared64 for a tile of 8×48.
#define ADDSTOREPS3(c, c0, c1, c2) \
	VFMADD213PS (c), Z0, c0    \
	VFMADD213PS 64(c), Z0, c1  \
	VFMADD213PS 128(c), Z0, c2 \
	STORE3(c, c0, c1, c2)

#define MULSTOREPS3(c, c0, c1, c2) \
	VMULPS c0, Z0, c0 \
	VMULPS c1, Z0, c1 \
	VMULPS c2, Z0, c2 \
	STORE3(c, c0, c1, c2)

TEXT ·avx512Gemm32(SB), NOSPLIT, $0-64
	MOVQ $32, R13
	JMP  avx512GemmTile32<>(SB)

TEXT ·avx512Shared32(SB), NOSPLIT, $0-64
	MOVQ $192, R13
	JMP  avx512GemmTile32<>(SB)

TEXT avx512GemmTile32<>(SB), NOSPLIT, $0-64
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), R8
	SHLQ $2, R8
	MOVQ next+56(FP), R12
	MOVQ DI, R9
	MOVQ $8, R10
	MOVQ R8, R11
	SHLQ $3, R11
	SUBQ $64, R11
	CLEAR512
	MOVQ CX, BX
	SHRQ $2, BX
	JZ   rest

four:
	PREFETCHT0 (R9)
	PREFETCHT1 (R12)
	ADDQ $16, R12
	ADDQ R8, R9
	DECQ R10
	JNZ  steps
	MOVQ $8, R10
	SUBQ R11, R9

steps:
	STEP512(VMOVUPS, VBROADCASTSS, VFMADD231PS, 4, 0)
	STEP512(VMOVUPS, VBROADCASTSS, VFMADD231PS, 4, 1)
	STEP512(VMOVUPS, VBROADCASTSS, VFMADD231PS, 4, 2)
	STEP512(VMOVUPS, VBROADCASTSS, VFMADD231PS, 4, 3)
	ADDQ $768, DX
	DECQ BX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	STEP512(VMOVUPS, VBROADCASTSS, VFMADD231PS, 4, 0)
	ADDQ $192, DX
	DECQ CX
	JNZ  one

done:
	VBROADCASTSS alpha+8(FP), Z0
	CMPB add+48(FP), $0
	JEQ  store
	EACHROW512(ADDSTOREPS3)
	VZEROUPPER
	RET

store:
	EACHROW512(MULSTOREPS3)
	VZEROUPPER
	RET

// func avx512Narrow64(n, k int, alpha float64, a *float64, as int, b, c *float64, ldc int, add bool)
//
// avx512Gemm64 with one vector to a row of the tile if n ≤ 8, otherwise two; k > 0. The
// other columns of c are left undefined.
#define COLUMNS1(fma, t, c0, c1) \
	fma Z0, t, c0

#define COLUMNS2(fma, t, c0, c1) \
	fma Z0, t, c0 \
	fma Z1, t, c1

#define NARROW512(mov, bcast, fma, size, columns) \
	mov        (DX), Z0      \
	mov        64(DX), Z1    \
	PREFETCHT0 1536(DX)      \
	PREFETCHT0 1600(DX)      \
	bcast      (SI), Z3      \
	columns(fma, Z3, Z8, Z9) \
	bcast      size(SI), Z4  \
	columns(fma, Z4, Z11, Z12) \
	bcast      (2*size)(SI), Z5 \
	columns(fma, Z5, Z14, Z15) \
	bcast      (3*size)(SI), Z6 \
	columns(fma, Z6, Z17, Z18) \
	bcast      (4*size)(SI), Z3 \
	columns(fma, Z3, Z20, Z21) \
	bcast      (5*size)(SI), Z4 \
	columns(fma, Z4, Z23, Z24) \
	bcast      (6*size)(SI), Z5 \
	columns(fma, Z5, Z26, Z27) \
	bcast      (7*size)(SI), Z6 \
	columns(fma, Z6, Z29, Z30)

TEXT ·avx512Narrow64(SB), NOSPLIT, $0-65
	MOVQ n+0(FP), BX
	MOVQ k+8(FP), CX
	MOVQ a+24(FP), SI
	MOVQ as+32(FP), R13
	SHLQ $3, R13
	MOVQ b+40(FP), DX
	MOVQ c+48(FP), DI
	MOVQ ldc+56(FP), R8
	SHLQ $3, R8
	CLEAR512
	CMPQ BX, $8
	JLE  narrow

wide:
	NARROW512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, COLUMNS2)
	ADDQ R13, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  wide
	JMP  done

narrow:
	NARROW512(VMOVUPD, VBROADCASTSD, VFMADD231PD, 8, COLUMNS1)
	ADDQ R13, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  narrow

done:
	VBROADCASTSD alpha+16(FP), Z0
	CMPB add+64(FP), $0
	JEQ  store
	EACHROW512(ADDSTOREPD3)
	VZEROUPPER
	RET

store:
	EACHROW512(MULSTOREPD3)
	VZEROUPPER
	RET

// func avx512Narrow32(n, k int, alpha float32, a *float32, as int, b, c *float32, ldc int, add bool)
//
// avx512Narrow64 with vectors of sixteen.
TEXT ·avx512Narrow32(SB), NOSPLIT, $0-65
	MOVQ n+0(FP), BX
	MOVQ k+8(FP), CX
	MOVQ a+24(FP), SI
	MOVQ as+32(FP), R13
	SHLQ $2, R13
	MOVQ b+40(FP), DX
	MOVQ c+48(FP), DI
	MOVQ ldc+56(FP), R8
	SHLQ $2, R8
	CLEAR512
	CMPQ BX, $16
	JLE  narrow

wide:
	NARROW512(VMOVUPS, VBROADCASTSS, VFMADD231PS, 4, COLUMNS2)
	ADDQ R13, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  wide
	JMP  done

narrow:
	NARROW512(VMOVUPS, VBROADCASTSS, VFMADD231PS, 4, COLUMNS1)
	ADDQ R13, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  narrow

done:
	VBROADCASTSS alpha+16(FP), Z0
	CMPB add+64(FP), $0
	JEQ  store
	EACHROW512(ADDSTOREPS3)
	VZEROUPPER
	RET

store:
	EACHROW512(MULSTOREPS3)
	VZEROUPPER
	RET

// Products of matrices as they lie.
//
// COLUMNS512 sets K1, K2, K3 to select the first CX columns. Clobbers AX.
#define COLUMNS512(kmov, lanes) \
	MOVQ $1, AX     \
	SHLQ CX, AX     \
	DECQ AX         \
	kmov AX, K1     \
	SHRQ $lanes, AX \
	kmov AX, K2     \
	SHRQ $lanes, AX \
	kmov AX, K3

// func avx512Direct64(n, grow, k int, alpha float64, a *float64, ars, acs int, b *float64, ldb int, c *float64, ldc int, add bool)
//
// Tile of 8 rows of C, the first of n columns, each later one of grow more, at most 24, from
// matrices as they lie, of which whole vectors of b are read; accumulators as in
// avx512Gemm64, of which as many are used as there are columns.
//
//	SI column of a, R8 its rows' distance, R9, R10, R11 three, five and seven times as much,
//	AX its step   DX row of b, R13 its step   BX k   Z0–Z2 row of b, Z3, Z4 elements of a
//	at last: DI row of c, R8 its step, CX its columns, R9 grow
//
//	for p in k {
//	    Z0, Z1, Z2 = b[0:n]; b += ldb
//	    for i in 8 { row i = fma(a[i], (Z0, Z1, Z2), row i) }; a += acs
//	}
//	c = alpha·rows, or fma(alpha, rows, c), where wanted
#define VECTORS1(fma, t, c0, c1, c2) \
	fma Z0, t, c0

#define VECTORS2(fma, t, c0, c1, c2) \
	fma Z0, t, c0 \
	fma Z1, t, c1

#define VECTORS3(fma, t, c0, c1, c2) \
	fma Z0, t, c0 \
	fma Z1, t, c1 \
	fma Z2, t, c2

#define DIRECT512(bcast, fma, vectors) \
	bcast (SI), Z3                   \
	vectors(fma, Z3, Z8, Z9, Z10)    \
	bcast (SI)(R8*1), Z4             \
	vectors(fma, Z4, Z11, Z12, Z13)  \
	bcast (SI)(R8*2), Z5             \
	vectors(fma, Z5, Z14, Z15, Z16)  \
	bcast (SI)(R9*1), Z6             \
	vectors(fma, Z6, Z17, Z18, Z19)  \
	bcast (SI)(R8*4), Z3             \
	vectors(fma, Z3, Z20, Z21, Z22)  \
	bcast (SI)(R10*1), Z4            \
	vectors(fma, Z4, Z23, Z24, Z25)  \
	bcast (SI)(R9*2), Z5             \
	vectors(fma, Z5, Z26, Z27, Z28)  \
	bcast (SI)(R11*1), Z6            \
	vectors(fma, Z6, Z29, Z30, Z31)  \
	ADDQ AX, SI                      \
	ADDQ R13, DX

// Rows of which K1–K3 select a part, and the columns of the next one.
#define STOREPART3(c, c0, c1, c2, mov) \
	mov c0, K1, (c)    \
	mov c1, K2, 64(c)  \
	mov c2, K3, 128(c) \
	ADDQ R9, CX

#define ADDPARTPD3(c, c0, c1, c2) \
	COLUMNS512(KMOVB, 8)    \
	VMOVUPD.Z (c), K1, Z1    \
	VMOVUPD.Z 64(c), K2, Z2  \
	VMOVUPD.Z 128(c), K3, Z3 \
	VFMADD213PD Z1, Z0, c0   \
	VFMADD213PD Z2, Z0, c1   \
	VFMADD213PD Z3, Z0, c2   \
	STOREPART3(c, c0, c1, c2, VMOVUPD)

#define MULPARTPD3(c, c0, c1, c2) \
	COLUMNS512(KMOVB, 8) \
	VMULPD c0, Z0, c0 \
	VMULPD c1, Z0, c1 \
	VMULPD c2, Z0, c2 \
	STOREPART3(c, c0, c1, c2, VMOVUPD)

TEXT ·avx512Direct64(SB), NOSPLIT, $0-89
	MOVQ grow+8(FP), CX
	LEAQ (CX)(CX*2), R12
	LEAQ (R12)(CX*4), R12
	ADDQ n+0(FP), R12
	MOVQ k+16(FP), BX
	MOVQ a+32(FP), SI
	MOVQ ars+40(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	MOVQ acs+48(FP), AX
	SHLQ $3, AX
	MOVQ b+56(FP), DX
	MOVQ ldb+64(FP), R13
	SHLQ $3, R13
	CLEAR512
	CMPQ R12, $16
	JGT  three
	CMPQ R12, $8
	JGT  two

one:
	VMOVUPD (DX), Z0
	DIRECT512(VBROADCASTSD, VFMADD231PD, VECTORS1)
	DECQ BX
	JNZ  one
	JMP  done

two:
	VMOVUPD (DX), Z0
	VMOVUPD 64(DX), Z1
	DIRECT512(VBROADCASTSD, VFMADD231PD, VECTORS2)
	DECQ BX
	JNZ  two
	JMP  done

three:
	VMOVUPD (DX), Z0
	VMOVUPD 64(DX), Z1
	VMOVUPD 128(DX), Z2
	DIRECT512(VBROADCASTSD, VFMADD231PD, VECTORS3)
	DECQ BX
	JNZ  three

done:
	VBROADCASTSD alpha+24(FP), Z0
	MOVQ c+72(FP), DI
	MOVQ ldc+80(FP), R8
	SHLQ $3, R8
	MOVQ grow+8(FP), R9
	MOVQ n+0(FP), CX
	CMPQ CX, $24
	JLT  part
	CMPB add+88(FP), $0
	JEQ  store
	EACHROW512(ADDSTOREPD3)
	VZEROUPPER
	RET

store:
	EACHROW512(MULSTOREPD3)
	VZEROUPPER
	RET

part:
	CMPB add+88(FP), $0
	JEQ  storepart
	EACHROW512(ADDPARTPD3)
	VZEROUPPER
	RET

storepart:
	EACHROW512(MULPARTPD3)
	VZEROUPPER
	RET

// func avx512Direct32(n, grow, k int, alpha float32, a *float32, ars, acs int, b *float32, ldb int, c *float32, ldc int, add bool)
//
// avx512Direct64 for at most 48 columns.
#define ADDPARTPS3(c, c0, c1, c2) \
	COLUMNS512(KMOVW, 16)    \
	VMOVUPS.Z (c), K1, Z1    \
	VMOVUPS.Z 64(c), K2, Z2  \
	VMOVUPS.Z 128(c), K3, Z3 \
	VFMADD213PS Z1, Z0, c0   \
	VFMADD213PS Z2, Z0, c1   \
	VFMADD213PS Z3, Z0, c2   \
	STOREPART3(c, c0, c1, c2, VMOVUPS)

#define MULPARTPS3(c, c0, c1, c2) \
	COLUMNS512(KMOVW, 16) \
	VMULPS c0, Z0, c0 \
	VMULPS c1, Z0, c1 \
	VMULPS c2, Z0, c2 \
	STOREPART3(c, c0, c1, c2, VMOVUPS)

TEXT ·avx512Direct32(SB), NOSPLIT, $0-89
	MOVQ grow+8(FP), CX
	LEAQ (CX)(CX*2), R12
	LEAQ (R12)(CX*4), R12
	ADDQ n+0(FP), R12
	MOVQ k+16(FP), BX
	MOVQ a+32(FP), SI
	MOVQ ars+40(FP), R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	MOVQ acs+48(FP), AX
	SHLQ $2, AX
	MOVQ b+56(FP), DX
	MOVQ ldb+64(FP), R13
	SHLQ $2, R13
	CLEAR512
	CMPQ R12, $32
	JGT  three
	CMPQ R12, $16
	JGT  two

one:
	VMOVUPS (DX), Z0
	DIRECT512(VBROADCASTSS, VFMADD231PS, VECTORS1)
	DECQ BX
	JNZ  one
	JMP  done

two:
	VMOVUPS (DX), Z0
	VMOVUPS 64(DX), Z1
	DIRECT512(VBROADCASTSS, VFMADD231PS, VECTORS2)
	DECQ BX
	JNZ  two
	JMP  done

three:
	VMOVUPS (DX), Z0
	VMOVUPS 64(DX), Z1
	VMOVUPS 128(DX), Z2
	DIRECT512(VBROADCASTSS, VFMADD231PS, VECTORS3)
	DECQ BX
	JNZ  three

done:
	VBROADCASTSS alpha+24(FP), Z0
	MOVQ c+72(FP), DI
	MOVQ ldc+80(FP), R8
	SHLQ $2, R8
	MOVQ grow+8(FP), R9
	MOVQ n+0(FP), CX
	CMPQ CX, $48
	JLT  part
	CMPB add+88(FP), $0
	JEQ  store
	EACHROW512(ADDSTOREPS3)
	VZEROUPPER
	RET

store:
	EACHROW512(MULSTOREPS3)
	VZEROUPPER
	RET

part:
	CMPB add+88(FP), $0
	JEQ  storepart
	EACHROW512(ADDPARTPS3)
	VZEROUPPER
	RET

storepart:
	EACHROW512(MULPARTPS3)
	VZEROUPPER
	RET

// func avx512Small64(m, n, grow, k int, alpha float64, a *float64, ars, acs int, b *float64, ldb int, c *float64, ldc int, add bool)
//
// Tile of m ≤ 4 rows of C, the first of n columns, each later one of grow more, at
// most 24, from matrices as they lie: row i in Z(8+3i), Z(9+3i), Z(10+3i), of which
// as many are used as there are columns.
//
//	R8–R11 rows of a, the last one again where m < 4   CX offset of a's column, AX its step
//	DX row of b, SI its step   BX k   K1–K3 columns in use   at last CX columns, R9 grow
//
//	for p in k {
//	    Z0, Z1, Z2 = b[0:n]; b += ldb
//	    for i in 4 { row i = fma(a[i], (Z0, Z1, Z2), row i) }; a += acs
//	}
//	c = alpha·rows, or fma(alpha, rows, c), where wanted
TEXT ·avx512Small64(SB), NOSPLIT, $0-97
	MOVQ m+0(FP), R12
	LEAQ -1(R12), CX
	IMULQ grow+16(FP), CX
	ADDQ n+8(FP), CX
	COLUMNS512(KMOVB, 8)
	MOVQ a+40(FP), R8
	MOVQ ars+48(FP), BX
	SHLQ $3, BX
	LEAQ (R8)(BX*1), R9
	CMPQ R12, $2
	CMOVQLT R8, R9
	LEAQ (R9)(BX*1), R10
	CMPQ R12, $3
	CMOVQLT R9, R10
	LEAQ (R10)(BX*1), R11
	CMPQ R12, $4
	CMOVQLT R10, R11
	MOVQ acs+56(FP), AX
	SHLQ $3, AX
	MOVQ b+64(FP), DX
	MOVQ ldb+72(FP), SI
	SHLQ $3, SI
	MOVQ k+24(FP), BX
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	MOVQ CX, R13
	XORL CX, CX
	CMPQ R13, $16
	JGT  three
	CMPQ R13, $8
	JGT  two

one:
	VMOVUPD.Z (DX), K1, Z0
	VBROADCASTSD (R8)(CX*1), Z3
	VFMADD231PD Z0, Z3, Z8
	VBROADCASTSD (R9)(CX*1), Z4
	VFMADD231PD Z0, Z4, Z11
	VBROADCASTSD (R10)(CX*1), Z5
	VFMADD231PD Z0, Z5, Z14
	VBROADCASTSD (R11)(CX*1), Z6
	VFMADD231PD Z0, Z6, Z17
	ADDQ AX, CX
	ADDQ SI, DX
	DECQ BX
	JNZ  one
	JMP  done

two:
	VMOVUPD.Z (DX), K1, Z0
	VMOVUPD.Z 64(DX), K2, Z1
	VBROADCASTSD (R8)(CX*1), Z3
	VFMADD231PD Z0, Z3, Z8
	VFMADD231PD Z1, Z3, Z9
	VBROADCASTSD (R9)(CX*1), Z4
	VFMADD231PD Z0, Z4, Z11
	VFMADD231PD Z1, Z4, Z12
	VBROADCASTSD (R10)(CX*1), Z5
	VFMADD231PD Z0, Z5, Z14
	VFMADD231PD Z1, Z5, Z15
	VBROADCASTSD (R11)(CX*1), Z6
	VFMADD231PD Z0, Z6, Z17
	VFMADD231PD Z1, Z6, Z18
	ADDQ AX, CX
	ADDQ SI, DX
	DECQ BX
	JNZ  two
	JMP  done

three:
	VMOVUPD.Z (DX), K1, Z0
	VMOVUPD.Z 64(DX), K2, Z1
	VMOVUPD.Z 128(DX), K3, Z2
	VBROADCASTSD (R8)(CX*1), Z3
	VFMADD231PD Z0, Z3, Z8
	VFMADD231PD Z1, Z3, Z9
	VFMADD231PD Z2, Z3, Z10
	VBROADCASTSD (R9)(CX*1), Z4
	VFMADD231PD Z0, Z4, Z11
	VFMADD231PD Z1, Z4, Z12
	VFMADD231PD Z2, Z4, Z13
	VBROADCASTSD (R10)(CX*1), Z5
	VFMADD231PD Z0, Z5, Z14
	VFMADD231PD Z1, Z5, Z15
	VFMADD231PD Z2, Z5, Z16
	VBROADCASTSD (R11)(CX*1), Z6
	VFMADD231PD Z0, Z6, Z17
	VFMADD231PD Z1, Z6, Z18
	VFMADD231PD Z2, Z6, Z19
	ADDQ AX, CX
	ADDQ SI, DX
	DECQ BX
	JNZ  three

done:
	VBROADCASTSD alpha+32(FP), Z0
	MOVQ n+8(FP), CX
	MOVQ grow+16(FP), R9
	MOVQ c+80(FP), DI
	MOVQ ldc+88(FP), SI
	SHLQ $3, SI
	CMPB add+96(FP), $0
	JEQ  store
	COLUMNS512(KMOVB, 8)
	VMOVUPD.Z (DI), K1, Z1
	VMOVUPD.Z 64(DI), K2, Z2
	VMOVUPD.Z 128(DI), K3, Z3
	VFMADD213PD Z1, Z0, Z8
	VFMADD213PD Z2, Z0, Z9
	VFMADD213PD Z3, Z0, Z10
	VMOVUPD Z8, K1, (DI)
	VMOVUPD Z9, K2, 64(DI)
	VMOVUPD Z10, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVB, 8)
	VMOVUPD.Z (DI), K1, Z1
	VMOVUPD.Z 64(DI), K2, Z2
	VMOVUPD.Z 128(DI), K3, Z3
	VFMADD213PD Z1, Z0, Z11
	VFMADD213PD Z2, Z0, Z12
	VFMADD213PD Z3, Z0, Z13
	VMOVUPD Z11, K1, (DI)
	VMOVUPD Z12, K2, 64(DI)
	VMOVUPD Z13, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVB, 8)
	VMOVUPD.Z (DI), K1, Z1
	VMOVUPD.Z 64(DI), K2, Z2
	VMOVUPD.Z 128(DI), K3, Z3
	VFMADD213PD Z1, Z0, Z14
	VFMADD213PD Z2, Z0, Z15
	VFMADD213PD Z3, Z0, Z16
	VMOVUPD Z14, K1, (DI)
	VMOVUPD Z15, K2, 64(DI)
	VMOVUPD Z16, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVB, 8)
	VMOVUPD.Z (DI), K1, Z1
	VMOVUPD.Z 64(DI), K2, Z2
	VMOVUPD.Z 128(DI), K3, Z3
	VFMADD213PD Z1, Z0, Z17
	VFMADD213PD Z2, Z0, Z18
	VFMADD213PD Z3, Z0, Z19
	VMOVUPD Z17, K1, (DI)
	VMOVUPD Z18, K2, 64(DI)
	VMOVUPD Z19, K3, 128(DI)

end:
	VZEROUPPER
	RET

store:
	COLUMNS512(KMOVB, 8)
	VMULPD Z8, Z0, Z8
	VMULPD Z9, Z0, Z9
	VMULPD Z10, Z0, Z10
	VMOVUPD Z8, K1, (DI)
	VMOVUPD Z9, K2, 64(DI)
	VMOVUPD Z10, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVB, 8)
	VMULPD Z11, Z0, Z11
	VMULPD Z12, Z0, Z12
	VMULPD Z13, Z0, Z13
	VMOVUPD Z11, K1, (DI)
	VMOVUPD Z12, K2, 64(DI)
	VMOVUPD Z13, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVB, 8)
	VMULPD Z14, Z0, Z14
	VMULPD Z15, Z0, Z15
	VMULPD Z16, Z0, Z16
	VMOVUPD Z14, K1, (DI)
	VMOVUPD Z15, K2, 64(DI)
	VMOVUPD Z16, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVB, 8)
	VMULPD Z17, Z0, Z17
	VMULPD Z18, Z0, Z18
	VMULPD Z19, Z0, Z19
	VMOVUPD Z17, K1, (DI)
	VMOVUPD Z18, K2, 64(DI)
	VMOVUPD Z19, K3, 128(DI)
	VZEROUPPER
	RET

// func avx512Small32(m, n, grow, k int, alpha float32, a *float32, ars, acs int, b *float32, ldb int, c *float32, ldc int, add bool)
//
// avx512Small64 for at most 48 columns.
TEXT ·avx512Small32(SB), NOSPLIT, $0-97
	MOVQ m+0(FP), R12
	LEAQ -1(R12), CX
	IMULQ grow+16(FP), CX
	ADDQ n+8(FP), CX
	COLUMNS512(KMOVW, 16)
	MOVQ a+40(FP), R8
	MOVQ ars+48(FP), BX
	SHLQ $2, BX
	LEAQ (R8)(BX*1), R9
	CMPQ R12, $2
	CMOVQLT R8, R9
	LEAQ (R9)(BX*1), R10
	CMPQ R12, $3
	CMOVQLT R9, R10
	LEAQ (R10)(BX*1), R11
	CMPQ R12, $4
	CMOVQLT R10, R11
	MOVQ acs+56(FP), AX
	SHLQ $2, AX
	MOVQ b+64(FP), DX
	MOVQ ldb+72(FP), SI
	SHLQ $2, SI
	MOVQ k+24(FP), BX
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	MOVQ CX, R13
	XORL CX, CX
	CMPQ R13, $32
	JGT  three
	CMPQ R13, $16
	JGT  two

one:
	VMOVUPS.Z (DX), K1, Z0
	VBROADCASTSS (R8)(CX*1), Z3
	VFMADD231PS Z0, Z3, Z8
	VBROADCASTSS (R9)(CX*1), Z4
	VFMADD231PS Z0, Z4, Z11
	VBROADCASTSS (R10)(CX*1), Z5
	VFMADD231PS Z0, Z5, Z14
	VBROADCASTSS (R11)(CX*1), Z6
	VFMADD231PS Z0, Z6, Z17
	ADDQ AX, CX
	ADDQ SI, DX
	DECQ BX
	JNZ  one
	JMP  done

two:
	VMOVUPS.Z (DX), K1, Z0
	VMOVUPS.Z 64(DX), K2, Z1
	VBROADCASTSS (R8)(CX*1), Z3
	VFMADD231PS Z0, Z3, Z8
	VFMADD231PS Z1, Z3, Z9
	VBROADCASTSS (R9)(CX*1), Z4
	VFMADD231PS Z0, Z4, Z11
	VFMADD231PS Z1, Z4, Z12
	VBROADCASTSS (R10)(CX*1), Z5
	VFMADD231PS Z0, Z5, Z14
	VFMADD231PS Z1, Z5, Z15
	VBROADCASTSS (R11)(CX*1), Z6
	VFMADD231PS Z0, Z6, Z17
	VFMADD231PS Z1, Z6, Z18
	ADDQ AX, CX
	ADDQ SI, DX
	DECQ BX
	JNZ  two
	JMP  done

three:
	VMOVUPS.Z (DX), K1, Z0
	VMOVUPS.Z 64(DX), K2, Z1
	VMOVUPS.Z 128(DX), K3, Z2
	VBROADCASTSS (R8)(CX*1), Z3
	VFMADD231PS Z0, Z3, Z8
	VFMADD231PS Z1, Z3, Z9
	VFMADD231PS Z2, Z3, Z10
	VBROADCASTSS (R9)(CX*1), Z4
	VFMADD231PS Z0, Z4, Z11
	VFMADD231PS Z1, Z4, Z12
	VFMADD231PS Z2, Z4, Z13
	VBROADCASTSS (R10)(CX*1), Z5
	VFMADD231PS Z0, Z5, Z14
	VFMADD231PS Z1, Z5, Z15
	VFMADD231PS Z2, Z5, Z16
	VBROADCASTSS (R11)(CX*1), Z6
	VFMADD231PS Z0, Z6, Z17
	VFMADD231PS Z1, Z6, Z18
	VFMADD231PS Z2, Z6, Z19
	ADDQ AX, CX
	ADDQ SI, DX
	DECQ BX
	JNZ  three

done:
	VBROADCASTSS alpha+32(FP), Z0
	MOVQ n+8(FP), CX
	MOVQ grow+16(FP), R9
	MOVQ c+80(FP), DI
	MOVQ ldc+88(FP), SI
	SHLQ $2, SI
	CMPB add+96(FP), $0
	JEQ  store
	COLUMNS512(KMOVW, 16)
	VMOVUPS.Z (DI), K1, Z1
	VMOVUPS.Z 64(DI), K2, Z2
	VMOVUPS.Z 128(DI), K3, Z3
	VFMADD213PS Z1, Z0, Z8
	VFMADD213PS Z2, Z0, Z9
	VFMADD213PS Z3, Z0, Z10
	VMOVUPS Z8, K1, (DI)
	VMOVUPS Z9, K2, 64(DI)
	VMOVUPS Z10, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVW, 16)
	VMOVUPS.Z (DI), K1, Z1
	VMOVUPS.Z 64(DI), K2, Z2
	VMOVUPS.Z 128(DI), K3, Z3
	VFMADD213PS Z1, Z0, Z11
	VFMADD213PS Z2, Z0, Z12
	VFMADD213PS Z3, Z0, Z13
	VMOVUPS Z11, K1, (DI)
	VMOVUPS Z12, K2, 64(DI)
	VMOVUPS Z13, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVW, 16)
	VMOVUPS.Z (DI), K1, Z1
	VMOVUPS.Z 64(DI), K2, Z2
	VMOVUPS.Z 128(DI), K3, Z3
	VFMADD213PS Z1, Z0, Z14
	VFMADD213PS Z2, Z0, Z15
	VFMADD213PS Z3, Z0, Z16
	VMOVUPS Z14, K1, (DI)
	VMOVUPS Z15, K2, 64(DI)
	VMOVUPS Z16, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVW, 16)
	VMOVUPS.Z (DI), K1, Z1
	VMOVUPS.Z 64(DI), K2, Z2
	VMOVUPS.Z 128(DI), K3, Z3
	VFMADD213PS Z1, Z0, Z17
	VFMADD213PS Z2, Z0, Z18
	VFMADD213PS Z3, Z0, Z19
	VMOVUPS Z17, K1, (DI)
	VMOVUPS Z18, K2, 64(DI)
	VMOVUPS Z19, K3, 128(DI)

end:
	VZEROUPPER
	RET

store:
	COLUMNS512(KMOVW, 16)
	VMULPS Z8, Z0, Z8
	VMULPS Z9, Z0, Z9
	VMULPS Z10, Z0, Z10
	VMOVUPS Z8, K1, (DI)
	VMOVUPS Z9, K2, 64(DI)
	VMOVUPS Z10, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVW, 16)
	VMULPS Z11, Z0, Z11
	VMULPS Z12, Z0, Z12
	VMULPS Z13, Z0, Z13
	VMOVUPS Z11, K1, (DI)
	VMOVUPS Z12, K2, 64(DI)
	VMOVUPS Z13, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVW, 16)
	VMULPS Z14, Z0, Z14
	VMULPS Z15, Z0, Z15
	VMULPS Z16, Z0, Z16
	VMOVUPS Z14, K1, (DI)
	VMOVUPS Z15, K2, 64(DI)
	VMOVUPS Z16, K3, 128(DI)
	ADDQ R9, CX
	ADDQ SI, DI
	DECQ R12
	JZ   end
	COLUMNS512(KMOVW, 16)
	VMULPS Z17, Z0, Z17
	VMULPS Z18, Z0, Z18
	VMULPS Z19, Z0, Z19
	VMOVUPS Z17, K1, (DI)
	VMOVUPS Z18, K2, 64(DI)
	VMOVUPS Z19, K3, 128(DI)
	VZEROUPPER
	RET

// func avx512Dist64(k int, a, b, c *float64, ldc int, add bool)
//
// Registers as in avx512Gemm64, Z5, Z6, Z7 the differences.
//
//	rows = 0, or c if add
//	for p in k {
//	    Z0, Z1, Z2 = b[0:24]; b += 24
//	    for i in 8 { t = a[i] - (Z0, Z1, Z2); row i = fma(t, t, row i) }; a += 8
//	}
//	c = rows
#define DISTROW512(bcast, sub, fma, at, t, c0, c1, c2) \
	bcast at(SI), t  \
	sub   Z0, t, Z5  \
	sub   Z1, t, Z6  \
	sub   Z2, t, Z7  \
	fma   Z5, Z5, c0 \
	fma   Z6, Z6, c1 \
	fma   Z7, Z7, c2

#define DISTSTEP512(mov, bcast, sub, fma, size) \
	mov 0(DX), Z0   \
	mov 64(DX), Z1  \
	mov 128(DX), Z2 \
	DISTROW512(bcast, sub, fma, 0*size, Z3, Z8, Z9, Z10)   \
	DISTROW512(bcast, sub, fma, 1*size, Z4, Z11, Z12, Z13) \
	DISTROW512(bcast, sub, fma, 2*size, Z3, Z14, Z15, Z16) \
	DISTROW512(bcast, sub, fma, 3*size, Z4, Z17, Z18, Z19) \
	DISTROW512(bcast, sub, fma, 4*size, Z3, Z20, Z21, Z22) \
	DISTROW512(bcast, sub, fma, 5*size, Z4, Z23, Z24, Z25) \
	DISTROW512(bcast, sub, fma, 6*size, Z3, Z26, Z27, Z28) \
	DISTROW512(bcast, sub, fma, 7*size, Z4, Z29, Z30, Z31)

// The tile to the right comes next, and k is too short to fetch it unnoticed.
#define PREFETCHNEXT(c, c0, c1, c2) \
	PREFETCHT0 192(c) \
	PREFETCHT0 256(c) \
	PREFETCHT0 320(c)

#define LOAD3(c, c0, c1, c2) \
	VMOVUPD (c), c0   \
	VMOVUPD 64(c), c1 \
	VMOVUPD 128(c), c2

TEXT ·avx512Dist64(SB), NOSPLIT, $0-41
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), R8
	SHLQ $3, R8
	CLEAR512
	MOVQ DI, R9
	EACHROW512(PREFETCHNEXT)
	MOVQ R9, DI
	CMPB add+40(FP), $0
	JEQ  start
	EACHROW512(LOAD3)
	MOVQ R9, DI

start:
	TESTQ CX, CX
	JZ    store

loop:
	DISTSTEP512(VMOVUPD, VBROADCASTSD, VSUBPD, VFMADD231PD, 8)
	ADDQ $64, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  loop

store:
	EACHROW512(STORE3)
	VZEROUPPER
	RET

// func avx512Dist32(k int, a, b, c *float32, ldc int, add bool)
//
// avx512Dist64 for a tile of 8×48.
TEXT ·avx512Dist32(SB), NOSPLIT, $0-41
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), R8
	SHLQ $2, R8
	CLEAR512
	MOVQ DI, R9
	EACHROW512(PREFETCHNEXT)
	MOVQ R9, DI
	CMPB add+40(FP), $0
	JEQ  start
	EACHROW512(LOAD3)
	MOVQ R9, DI

start:
	TESTQ CX, CX
	JZ    store

loop:
	DISTSTEP512(VMOVUPS, VBROADCASTSS, VSUBPS, VFMADD231PS, 4)
	ADDQ $32, SI
	ADDQ $192, DX
	DECQ CX
	JNZ  loop

store:
	EACHROW512(STORE3)
	VZEROUPPER
	RET
