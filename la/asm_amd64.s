//go:build !purego

#include "textflag.h"

// Kernels for amd64: first those of AVX-512, then those of AVX2 with FMA. Every
// routine computes the bits of its namesake in generic.go. What differs between
// float64 and float32 are mnemonics and strides, which the macros take as
// arguments. In a product a lane is one element of C: lanes are never added up.

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

// Tails. K1 selects the first min(n, lanes) lanes; masked loads and
// read-modify-writes touch no other element, and fault on none.
//
// MASK512 sets K1 from the elements left in R12, at least 1, and lessens R12 by
// them. Clobbers AX, CX.
#define MASK512(lanes) \
	MOVL    $lanes, CX  \
	CMPQ    R12, CX     \
	CMOVQLT R12, CX     \
	SUBQ    CX, R12     \
	MOVL    $1, AX      \
	SHLL    CX, AX      \
	DECL    AX          \
	KMOVW   AX, K1


// func avx512Dot64(n int, a, x *float64, lanes *[Lanes]float64) float64
//
// Lane l is element l%8 of Z(l/8). If lanes is not nil, they continue from there and
// are left there; the sum of the lanes is returned in any case. n is a
// multiple of Lanes unless this is the end of the vectors.
//
//	for 32 elements { Z0…Z3 = fma(a, x, Z0…Z3) }, then the rest under masks
//	fold: 4 → 2 → 1 vectors, 8 → 4 → 2 → 1 lanes, + 0
TEXT ·avx512Dot64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ a+8(FP), SI
	MOVQ x+16(FP), DI
	MOVQ lanes+24(FP), R8
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Z0
	VMOVUPD 64(R8), Z1
	VMOVUPD 128(R8), Z2
	VMOVUPD 192(R8), Z3

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPD 0(SI), Z4
	VMOVUPD 64(SI), Z5
	VMOVUPD 128(SI), Z6
	VMOVUPD 192(SI), Z7
	VFMADD231PD 0(DI), Z4, Z0
	VFMADD231PD 64(DI), Z5, Z1
	VFMADD231PD 128(DI), Z6, Z2
	VFMADD231PD 192(DI), Z7, Z3
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 0(SI), K1, Z4
	VMOVUPD.Z 0(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z0
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 64(SI), K1, Z4
	VMOVUPD.Z 64(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z1
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 128(SI), K1, Z4
	VMOVUPD.Z 128(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z2
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 192(SI), K1, Z4
	VMOVUPD.Z 192(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z3

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Z0, 0(R8)
	VMOVUPD Z1, 64(R8)
	VMOVUPD Z2, 128(R8)
	VMOVUPD Z3, 192(R8)

sum:
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VADDPD Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+32(FP)
	VZEROUPPER
	RET

// func avx512DotAxpy64(n int, alpha float64, a, x, y *float64, lanes *[Lanes]float64) float64
//
// avx512Dot64 of a and x, and y = fma(alpha, a, y) on the way; alpha in Z16.
TEXT ·avx512DotAxpy64(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), R12
	MOVQ a+16(FP), SI
	MOVQ x+24(FP), DI
	MOVQ lanes+40(FP), R8
	MOVQ y+32(FP), R9
	VBROADCASTSD alpha+8(FP), Z16
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Z0
	VMOVUPD 64(R8), Z1
	VMOVUPD 128(R8), Z2
	VMOVUPD 192(R8), Z3

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPD 0(SI), Z4
	VMOVUPD 64(SI), Z5
	VMOVUPD 128(SI), Z6
	VMOVUPD 192(SI), Z7
	VFMADD231PD 0(DI), Z4, Z0
	VFMADD231PD 64(DI), Z5, Z1
	VFMADD231PD 128(DI), Z6, Z2
	VFMADD231PD 192(DI), Z7, Z3
	VMOVUPD 0(R9), Z8
	VMOVUPD 64(R9), Z9
	VMOVUPD 128(R9), Z10
	VMOVUPD 192(R9), Z11
	VFMADD231PD Z4, Z16, Z8
	VFMADD231PD Z5, Z16, Z9
	VFMADD231PD Z6, Z16, Z10
	VFMADD231PD Z7, Z16, Z11
	VMOVUPD Z8, 0(R9)
	VMOVUPD Z9, 64(R9)
	VMOVUPD Z10, 128(R9)
	VMOVUPD Z11, 192(R9)
	ADDQ $256, R9
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 0(SI), K1, Z4
	VMOVUPD.Z 0(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z0
	VMOVUPD.Z 0(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 0(R9)
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 64(SI), K1, Z4
	VMOVUPD.Z 64(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z1
	VMOVUPD.Z 64(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 64(R9)
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 128(SI), K1, Z4
	VMOVUPD.Z 128(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z2
	VMOVUPD.Z 128(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 128(R9)
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VMOVUPD.Z 192(SI), K1, Z4
	VMOVUPD.Z 192(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z3
	VMOVUPD.Z 192(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 192(R9)

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Z0, 0(R8)
	VMOVUPD Z1, 64(R8)
	VMOVUPD Z2, 128(R8)
	VMOVUPD Z3, 192(R8)

sum:
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VADDPD Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET

// func avx512Dots64(n int, a *float64, lda int, x *float64, lanes *[4 * Lanes]float64)
//
// Continues the lanes of the dot products of four rows of a, n elements each, n a positive
// multiple of 32, with x. The four rows come from memory side by side, faster than
// one after the other.
//
//	CX n   SI row 0 of a, R8 its length in bytes, R9 = 3·R8   DI x   BX lanes
//	Z0–Z15 lanes, those of one row behind those of another   Z16–Z19 of a
#define DOT4(load, fma, aoff, xoff, c0, c1, c2, c3) \
	PREFETCHT0 (aoff+512)(SI)       \
	PREFETCHT0 (aoff+512)(SI)(R8*1) \
	PREFETCHT0 (aoff+512)(SI)(R8*2) \
	PREFETCHT0 (aoff+512)(SI)(R9*1) \
	load aoff(SI), Z16         \
	load aoff(SI)(R8*1), Z17   \
	load aoff(SI)(R8*2), Z18   \
	load aoff(SI)(R9*1), Z19   \
	fma  xoff(DI), Z16, c0     \
	fma  xoff(DI), Z17, c1     \
	fma  xoff(DI), Z18, c2     \
	fma  xoff(DI), Z19, c3

TEXT ·avx512Dots64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ lda+16(FP), R8
	MOVQ x+24(FP), DI
	MOVQ lanes+32(FP), BX
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	VMOVUPD 0(BX), Z0
	VMOVUPD 64(BX), Z1
	VMOVUPD 128(BX), Z2
	VMOVUPD 192(BX), Z3
	VMOVUPD 256(BX), Z4
	VMOVUPD 320(BX), Z5
	VMOVUPD 384(BX), Z6
	VMOVUPD 448(BX), Z7
	VMOVUPD 512(BX), Z8
	VMOVUPD 576(BX), Z9
	VMOVUPD 640(BX), Z10
	VMOVUPD 704(BX), Z11
	VMOVUPD 768(BX), Z12
	VMOVUPD 832(BX), Z13
	VMOVUPD 896(BX), Z14
	VMOVUPD 960(BX), Z15

loop:
	DOT4(VMOVUPD, VFMADD231PD, 0, 0, Z0, Z4, Z8, Z12)
	DOT4(VMOVUPD, VFMADD231PD, 64, 64, Z1, Z5, Z9, Z13)
	DOT4(VMOVUPD, VFMADD231PD, 128, 128, Z2, Z6, Z10, Z14)
	DOT4(VMOVUPD, VFMADD231PD, 192, 192, Z3, Z7, Z11, Z15)
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $32, CX
	JNZ  loop
	VMOVUPD Z0, 0(BX)
	VMOVUPD Z1, 64(BX)
	VMOVUPD Z2, 128(BX)
	VMOVUPD Z3, 192(BX)
	VMOVUPD Z4, 256(BX)
	VMOVUPD Z5, 320(BX)
	VMOVUPD Z6, 384(BX)
	VMOVUPD Z7, 448(BX)
	VMOVUPD Z8, 512(BX)
	VMOVUPD Z9, 576(BX)
	VMOVUPD Z10, 640(BX)
	VMOVUPD Z11, 704(BX)
	VMOVUPD Z12, 768(BX)
	VMOVUPD Z13, 832(BX)
	VMOVUPD Z14, 896(BX)
	VMOVUPD Z15, 960(BX)
	VZEROUPPER
	RET

// func avx512Dots32(n int, a *float32, lda int, x *float32, lanes *[4 * Lanes]float32)
//
// avx512Dots64 for float32, whose lanes are half as many vectors.
TEXT ·avx512Dots32(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ lda+16(FP), R8
	MOVQ x+24(FP), DI
	MOVQ lanes+32(FP), BX
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	VMOVUPD 0(BX), Z0
	VMOVUPD 64(BX), Z1
	VMOVUPD 128(BX), Z2
	VMOVUPD 192(BX), Z3
	VMOVUPD 256(BX), Z4
	VMOVUPD 320(BX), Z5
	VMOVUPD 384(BX), Z6
	VMOVUPD 448(BX), Z7

loop:
	DOT4(VMOVUPS, VFMADD231PS, 0, 0, Z0, Z2, Z4, Z6)
	DOT4(VMOVUPS, VFMADD231PS, 64, 64, Z1, Z3, Z5, Z7)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $32, CX
	JNZ  loop
	VMOVUPD Z0, 0(BX)
	VMOVUPD Z1, 64(BX)
	VMOVUPD Z2, 128(BX)
	VMOVUPD Z3, 192(BX)
	VMOVUPD Z4, 256(BX)
	VMOVUPD Z5, 320(BX)
	VMOVUPD Z6, 384(BX)
	VMOVUPD Z7, 448(BX)
	VZEROUPPER
	RET

// func avx512DotsMixed(n int, a *float32, lda int, x *float64, lanes *[4 * Lanes]float64)
//
// avx512Dots64 for rows stored in float32.
TEXT ·avx512DotsMixed(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ lda+16(FP), R8
	MOVQ x+24(FP), DI
	MOVQ lanes+32(FP), BX
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	VMOVUPD 0(BX), Z0
	VMOVUPD 64(BX), Z1
	VMOVUPD 128(BX), Z2
	VMOVUPD 192(BX), Z3
	VMOVUPD 256(BX), Z4
	VMOVUPD 320(BX), Z5
	VMOVUPD 384(BX), Z6
	VMOVUPD 448(BX), Z7
	VMOVUPD 512(BX), Z8
	VMOVUPD 576(BX), Z9
	VMOVUPD 640(BX), Z10
	VMOVUPD 704(BX), Z11
	VMOVUPD 768(BX), Z12
	VMOVUPD 832(BX), Z13
	VMOVUPD 896(BX), Z14
	VMOVUPD 960(BX), Z15

loop:
	DOT4(VCVTPS2PD, VFMADD231PD, 0, 0, Z0, Z4, Z8, Z12)
	DOT4(VCVTPS2PD, VFMADD231PD, 32, 64, Z1, Z5, Z9, Z13)
	DOT4(VCVTPS2PD, VFMADD231PD, 64, 128, Z2, Z6, Z10, Z14)
	DOT4(VCVTPS2PD, VFMADD231PD, 96, 192, Z3, Z7, Z11, Z15)
	ADDQ $128, SI
	ADDQ $256, DI
	SUBQ $32, CX
	JNZ  loop
	VMOVUPD Z0, 0(BX)
	VMOVUPD Z1, 64(BX)
	VMOVUPD Z2, 128(BX)
	VMOVUPD Z3, 192(BX)
	VMOVUPD Z4, 256(BX)
	VMOVUPD Z5, 320(BX)
	VMOVUPD Z6, 384(BX)
	VMOVUPD Z7, 448(BX)
	VMOVUPD Z8, 512(BX)
	VMOVUPD Z9, 576(BX)
	VMOVUPD Z10, 640(BX)
	VMOVUPD Z11, 704(BX)
	VMOVUPD Z12, 768(BX)
	VMOVUPD Z13, 832(BX)
	VMOVUPD Z14, 896(BX)
	VMOVUPD Z15, 960(BX)
	VZEROUPPER
	RET

// func avx512DotAxpys64(n int, alpha *[4]float64, a *float64, lda int, x, y *float64, lanes *[4 * Lanes]float64)
//
// avx512Dots64 and, for the four rows in order, y = fma(alpha, a, y) on the way; y at
// R10, alpha in Z24–Z27, the next four rows of a at R11.
#define DOTAXPY4(load, fma, aoff, xoff, c0, c1, c2, c3) \
	DOT4(load, fma, aoff, xoff, c0, c1, c2, c3) \
	VMOVUPD xoff(R10), Z20  \
	fma     Z16, Z24, Z20   \
	fma     Z17, Z25, Z20   \
	fma     Z18, Z26, Z20   \
	fma     Z19, Z27, Z20   \
	VMOVUPD Z20, xoff(R10)

// The next four rows, at R11, begin where nothing has looked: lines o of each are fetched.
#define NEXTROWS(o) \
	PREFETCHT0 o(R11)       \
	PREFETCHT0 o(R11)(R8*1) \
	PREFETCHT0 o(R11)(R8*2) \
	PREFETCHT0 o(R11)(R9*1)

#define FETCHNEXTROWS \
	NEXTROWS(0)   \
	NEXTROWS(64)  \
	NEXTROWS(128) \
	NEXTROWS(192) \
	NEXTROWS(256) \
	NEXTROWS(320) \
	NEXTROWS(384) \
	NEXTROWS(448)

TEXT ·avx512DotAxpys64(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), CX
	MOVQ alpha+8(FP), AX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ x+32(FP), DI
	MOVQ y+40(FP), R10
	MOVQ lanes+48(FP), BX
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R11
	VBROADCASTSD 0(AX), Z24
	VBROADCASTSD 8(AX), Z25
	VBROADCASTSD 16(AX), Z26
	VBROADCASTSD 24(AX), Z27
	VMOVUPD 0(BX), Z0
	VMOVUPD 64(BX), Z1
	VMOVUPD 128(BX), Z2
	VMOVUPD 192(BX), Z3
	VMOVUPD 256(BX), Z4
	VMOVUPD 320(BX), Z5
	VMOVUPD 384(BX), Z6
	VMOVUPD 448(BX), Z7
	VMOVUPD 512(BX), Z8
	VMOVUPD 576(BX), Z9
	VMOVUPD 640(BX), Z10
	VMOVUPD 704(BX), Z11
	VMOVUPD 768(BX), Z12
	VMOVUPD 832(BX), Z13
	VMOVUPD 896(BX), Z14
	VMOVUPD 960(BX), Z15

loop:
	DOTAXPY4(VMOVUPD, VFMADD231PD, 0, 0, Z0, Z4, Z8, Z12)
	DOTAXPY4(VMOVUPD, VFMADD231PD, 64, 64, Z1, Z5, Z9, Z13)
	DOTAXPY4(VMOVUPD, VFMADD231PD, 128, 128, Z2, Z6, Z10, Z14)
	DOTAXPY4(VMOVUPD, VFMADD231PD, 192, 192, Z3, Z7, Z11, Z15)
	ADDQ $256, SI
	ADDQ $256, DI
	ADDQ $256, R10
	SUBQ $32, CX
	JNZ  loop
	FETCHNEXTROWS
	VMOVUPD Z0, 0(BX)
	VMOVUPD Z1, 64(BX)
	VMOVUPD Z2, 128(BX)
	VMOVUPD Z3, 192(BX)
	VMOVUPD Z4, 256(BX)
	VMOVUPD Z5, 320(BX)
	VMOVUPD Z6, 384(BX)
	VMOVUPD Z7, 448(BX)
	VMOVUPD Z8, 512(BX)
	VMOVUPD Z9, 576(BX)
	VMOVUPD Z10, 640(BX)
	VMOVUPD Z11, 704(BX)
	VMOVUPD Z12, 768(BX)
	VMOVUPD Z13, 832(BX)
	VMOVUPD Z14, 896(BX)
	VMOVUPD Z15, 960(BX)
	VZEROUPPER
	RET

// func avx512DotAxpys32(n int, alpha *[4]float32, a *float32, lda int, x, y *float32, lanes *[4 * Lanes]float32)
//
// avx512DotAxpys64 for float32.
TEXT ·avx512DotAxpys32(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), CX
	MOVQ alpha+8(FP), AX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ x+32(FP), DI
	MOVQ y+40(FP), R10
	MOVQ lanes+48(FP), BX
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R11
	VBROADCASTSS 0(AX), Z24
	VBROADCASTSS 4(AX), Z25
	VBROADCASTSS 8(AX), Z26
	VBROADCASTSS 12(AX), Z27
	VMOVUPD 0(BX), Z0
	VMOVUPD 64(BX), Z1
	VMOVUPD 128(BX), Z2
	VMOVUPD 192(BX), Z3
	VMOVUPD 256(BX), Z4
	VMOVUPD 320(BX), Z5
	VMOVUPD 384(BX), Z6
	VMOVUPD 448(BX), Z7

loop:
	DOTAXPY4(VMOVUPS, VFMADD231PS, 0, 0, Z0, Z2, Z4, Z6)
	DOTAXPY4(VMOVUPS, VFMADD231PS, 64, 64, Z1, Z3, Z5, Z7)
	ADDQ $128, SI
	ADDQ $128, DI
	ADDQ $128, R10
	SUBQ $32, CX
	JNZ  loop
	FETCHNEXTROWS
	VMOVUPD Z0, 0(BX)
	VMOVUPD Z1, 64(BX)
	VMOVUPD Z2, 128(BX)
	VMOVUPD Z3, 192(BX)
	VMOVUPD Z4, 256(BX)
	VMOVUPD Z5, 320(BX)
	VMOVUPD Z6, 384(BX)
	VMOVUPD Z7, 448(BX)
	VZEROUPPER
	RET

// func avx512DotAxpysMixed(n int, alpha *[4]float64, a *float32, lda int, x, y *float64, lanes *[4 * Lanes]float64)
//
// avx512DotAxpys64 for rows stored in float32.
TEXT ·avx512DotAxpysMixed(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), CX
	MOVQ alpha+8(FP), AX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ x+32(FP), DI
	MOVQ y+40(FP), R10
	MOVQ lanes+48(FP), BX
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R11
	VBROADCASTSD 0(AX), Z24
	VBROADCASTSD 8(AX), Z25
	VBROADCASTSD 16(AX), Z26
	VBROADCASTSD 24(AX), Z27
	VMOVUPD 0(BX), Z0
	VMOVUPD 64(BX), Z1
	VMOVUPD 128(BX), Z2
	VMOVUPD 192(BX), Z3
	VMOVUPD 256(BX), Z4
	VMOVUPD 320(BX), Z5
	VMOVUPD 384(BX), Z6
	VMOVUPD 448(BX), Z7
	VMOVUPD 512(BX), Z8
	VMOVUPD 576(BX), Z9
	VMOVUPD 640(BX), Z10
	VMOVUPD 704(BX), Z11
	VMOVUPD 768(BX), Z12
	VMOVUPD 832(BX), Z13
	VMOVUPD 896(BX), Z14
	VMOVUPD 960(BX), Z15

loop:
	DOTAXPY4(VCVTPS2PD, VFMADD231PD, 0, 0, Z0, Z4, Z8, Z12)
	DOTAXPY4(VCVTPS2PD, VFMADD231PD, 32, 64, Z1, Z5, Z9, Z13)
	DOTAXPY4(VCVTPS2PD, VFMADD231PD, 64, 128, Z2, Z6, Z10, Z14)
	DOTAXPY4(VCVTPS2PD, VFMADD231PD, 96, 192, Z3, Z7, Z11, Z15)
	ADDQ $128, SI
	ADDQ $256, DI
	ADDQ $256, R10
	SUBQ $32, CX
	JNZ  loop
	FETCHNEXTROWS
	VMOVUPD Z0, 0(BX)
	VMOVUPD Z1, 64(BX)
	VMOVUPD Z2, 128(BX)
	VMOVUPD Z3, 192(BX)
	VMOVUPD Z4, 256(BX)
	VMOVUPD Z5, 320(BX)
	VMOVUPD Z6, 384(BX)
	VMOVUPD Z7, 448(BX)
	VMOVUPD Z8, 512(BX)
	VMOVUPD Z9, 576(BX)
	VMOVUPD Z10, 640(BX)
	VMOVUPD Z11, 704(BX)
	VMOVUPD Z12, 768(BX)
	VMOVUPD Z13, 832(BX)
	VMOVUPD Z14, 896(BX)
	VMOVUPD Z15, 960(BX)
	VZEROUPPER
	RET

// func avx512Axpy64(n int, alpha float64, x, y *float64)
//
//	y = fma(alpha, x, y), four vectors at a time, then one; alpha in Z0
TEXT ·avx512Axpy64(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), R12
	VBROADCASTSD alpha+8(FP), Z0
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DI
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPD (DI), Z4
	VMOVUPD 64(DI), Z5
	VMOVUPD 128(DI), Z6
	VMOVUPD 192(DI), Z7
	VFMADD231PD (SI), Z0, Z4
	VFMADD231PD 64(SI), Z0, Z5
	VFMADD231PD 128(SI), Z0, Z6
	VFMADD231PD 192(SI), Z0, Z7
	VMOVUPD Z4, (DI)
	VMOVUPD Z5, 64(DI)
	VMOVUPD Z6, 128(DI)
	VMOVUPD Z7, 192(DI)
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (DI), K1, Z4
	VMOVUPD.Z (SI), K1, Z5
	VFMADD231PD Z5, Z0, Z4
	VMOVUPD Z4, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512Scal64(n int, alpha float64, x *float64)
//
//	x = alpha·x; alpha in Z0
TEXT ·avx512Scal64(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	VBROADCASTSD alpha+8(FP), Z0
	MOVQ x+16(FP), SI
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMULPD (SI), Z0, Z4
	VMULPD 64(SI), Z0, Z5
	VMULPD 128(SI), Z0, Z6
	VMULPD 192(SI), Z0, Z7
	VMOVUPD Z4, (SI)
	VMOVUPD Z5, 64(SI)
	VMOVUPD Z6, 128(SI)
	VMOVUPD Z7, 192(SI)
	ADDQ $256, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (SI), K1, Z4
	VMULPD Z4, Z0, Z4
	VMOVUPD Z4, K1, (SI)
	ADDQ $64, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512Axpys64(n int, x, a *float64, lda int, y *float64)
//
// Eight axpys in one pass over y: x_i in Z(8+i), rows of a at SI; R8 is lda in
// bytes, R9, R10, R11 three, five and seven times as much.
//
//	for vectors of y { for i in 8 { y = fma(x_i, a_i, y) } }, two at a time, then one
TEXT ·avx512Axpys64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), BX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ y+32(FP), DI
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	VBROADCASTSD 0(BX), Z8
	VBROADCASTSD 8(BX), Z9
	VBROADCASTSD 16(BX), Z10
	VBROADCASTSD 24(BX), Z11
	VBROADCASTSD 32(BX), Z12
	VBROADCASTSD 40(BX), Z13
	VBROADCASTSD 48(BX), Z14
	VBROADCASTSD 56(BX), Z15
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VMOVUPD (DI), Z0
	VMOVUPD 64(DI), Z1
	VFMADD231PD (SI), Z8, Z0
	VFMADD231PD 64(SI), Z8, Z1
	VFMADD231PD (SI)(R8*1), Z9, Z0
	VFMADD231PD 64(SI)(R8*1), Z9, Z1
	VFMADD231PD (SI)(R8*2), Z10, Z0
	VFMADD231PD 64(SI)(R8*2), Z10, Z1
	VFMADD231PD (SI)(R9*1), Z11, Z0
	VFMADD231PD 64(SI)(R9*1), Z11, Z1
	VFMADD231PD (SI)(R8*4), Z12, Z0
	VFMADD231PD 64(SI)(R8*4), Z12, Z1
	VFMADD231PD (SI)(R10*1), Z13, Z0
	VFMADD231PD 64(SI)(R10*1), Z13, Z1
	VFMADD231PD (SI)(R9*2), Z14, Z0
	VFMADD231PD 64(SI)(R9*2), Z14, Z1
	VFMADD231PD (SI)(R11*1), Z15, Z0
	VFMADD231PD 64(SI)(R11*1), Z15, Z1
	VMOVUPD Z0, (DI)
	VMOVUPD Z1, 64(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (DI), K1, Z0
	VFMADD231PD (SI), Z8, K1, Z0
	VFMADD231PD (SI)(R8*1), Z9, K1, Z0
	VFMADD231PD (SI)(R8*2), Z10, K1, Z0
	VFMADD231PD (SI)(R9*1), Z11, K1, Z0
	VFMADD231PD (SI)(R8*4), Z12, K1, Z0
	VFMADD231PD (SI)(R10*1), Z13, K1, Z0
	VFMADD231PD (SI)(R9*2), Z14, K1, Z0
	VFMADD231PD (SI)(R11*1), Z15, K1, Z0
	VMOVUPD Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET


// func avx512Exp64(n int, dst, src *float64)
//
// The algorithm of exp.go on 4 vectors at a time, then on one under a mask.
// expTable64 holds Z0 max, Z1 min, Z2 log₂e, Z3 round, Z4 ln2 high, Z5 ln2 low,
// Z6… coefficients. A vector uses three registers: x and then r, t and then n, p.
#define EXP512_64(x, t, p) \
	VMINPD x, Z0, x          \
	VMAXPD x, Z1, x          \
	VMOVAPD Z3, t           \
	VFMADD231PD x, Z2, t     \
	VSUBPD Z3, t, t          \
	VFNMADD231PD t, Z4, x    \
	VFNMADD231PD t, Z5, x    \
	VMOVAPD Z6, p           \
	VFMADD213PD Z7, x, p    \
	VFMADD213PD Z8, x, p    \
	VFMADD213PD Z9, x, p    \
	VFMADD213PD Z10, x, p    \
	VFMADD213PD Z11, x, p    \
	VFMADD213PD Z12, x, p    \
	VFMADD213PD Z13, x, p    \
	VFMADD213PD Z14, x, p    \
	VFMADD213PD Z15, x, p    \
	VFMADD213PD Z16, x, p    \
	VFMADD213PD Z17, x, p    \
	VSCALEFPD t, p, p

// The constants of EXP512_64.
#define CONSTANTS512_64 \
	VBROADCASTSD ·expTable64+0(SB), Z0 \
	VBROADCASTSD ·expTable64+8(SB), Z1 \
	VBROADCASTSD ·expTable64+16(SB), Z2 \
	VBROADCASTSD ·expTable64+24(SB), Z3 \
	VBROADCASTSD ·expTable64+32(SB), Z4 \
	VBROADCASTSD ·expTable64+40(SB), Z5 \
	VBROADCASTSD ·expTable64+48(SB), Z6 \
	VBROADCASTSD ·expTable64+56(SB), Z7 \
	VBROADCASTSD ·expTable64+64(SB), Z8 \
	VBROADCASTSD ·expTable64+72(SB), Z9 \
	VBROADCASTSD ·expTable64+80(SB), Z10 \
	VBROADCASTSD ·expTable64+88(SB), Z11 \
	VBROADCASTSD ·expTable64+96(SB), Z12 \
	VBROADCASTSD ·expTable64+104(SB), Z13 \
	VBROADCASTSD ·expTable64+112(SB), Z14 \
	VBROADCASTSD ·expTable64+120(SB), Z15 \
	VBROADCASTSD ·expTable64+128(SB), Z16 \
	VBROADCASTSD ·expTable64+136(SB), Z17

TEXT ·avx512Exp64(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ dst+8(FP), DI
	MOVQ src+16(FP), SI
	CONSTANTS512_64
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPD 0(SI), Z18
	VMOVUPD 64(SI), Z21
	VMOVUPD 128(SI), Z24
	VMOVUPD 192(SI), Z27
	EXP512_64(Z18, Z19, Z20)
	EXP512_64(Z21, Z22, Z23)
	EXP512_64(Z24, Z25, Z26)
	EXP512_64(Z27, Z28, Z29)
	VMOVUPD Z20, 0(DI)
	VMOVUPD Z23, 64(DI)
	VMOVUPD Z26, 128(DI)
	VMOVUPD Z29, 192(DI)
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (SI), K1, Z18
	EXP512_64(Z18, Z19, Z20)
	VMOVUPD Z20, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512ExpInto64(n int, alpha float64, x, next, other *float64, step int)
//
// avx512Exp64 of alpha·x, in place. PREFETCHW fetches lines for writing.
//
//	R12 n   SI x   DI next   DX other, R8 its step, R9 = 3·R8   Z31 alpha
#define PREFETCHW_DI(o) BYTE $0x0F; BYTE $0x0D; BYTE $0x8F; LONG $o
#define PREFETCHW_DX BYTE $0x0F; BYTE $0x0D; BYTE $0x0A
#define PREFETCHW_DX_R8 BYTE $0x42; BYTE $0x0F; BYTE $0x0D; BYTE $0x0C; BYTE $0x02
#define PREFETCHW_DX_R8x2 BYTE $0x42; BYTE $0x0F; BYTE $0x0D; BYTE $0x0C; BYTE $0x42
#define PREFETCHW_DX_R9 BYTE $0x42; BYTE $0x0F; BYTE $0x0D; BYTE $0x0C; BYTE $0x0A

TEXT ·avx512ExpInto64(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), R12
	MOVQ x+16(FP), SI
	MOVQ next+24(FP), DI
	MOVQ other+32(FP), DX
	MOVQ step+40(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	CONSTANTS512_64
	VBROADCASTSD alpha+8(FP), Z31
	SUBQ $32, R12
	JLT  rest

loop:
	VMULPD 0(SI), Z31, Z18
	VMULPD 64(SI), Z31, Z21
	VMULPD 128(SI), Z31, Z24
	VMULPD 192(SI), Z31, Z27
	EXP512_64(Z18, Z19, Z20)
	PREFETCHW_DI(0)
	PREFETCHW_DX
	EXP512_64(Z21, Z22, Z23)
	PREFETCHW_DI(64)
	PREFETCHW_DX_R8
	EXP512_64(Z24, Z25, Z26)
	PREFETCHW_DI(128)
	PREFETCHW_DX_R8x2
	EXP512_64(Z27, Z28, Z29)
	PREFETCHW_DI(192)
	PREFETCHW_DX_R9
	VMOVUPD Z20, 0(SI)
	VMOVUPD Z23, 64(SI)
	VMOVUPD Z26, 128(SI)
	VMOVUPD Z29, 192(SI)
	ADDQ $256, SI
	ADDQ $256, DI
	LEAQ (DX)(R8*4), DX
	SUBQ $32, R12
	JGE  loop

rest:
	ADDQ $32, R12
	JZ   done

one:
	VMULPD (SI), Z31, Z18
	EXP512_64(Z18, Z19, Z20)
	PREFETCHW_DI(0)
	PREFETCHW_DX
	VMOVUPD Z20, (SI)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ R8, DX
	SUBQ $8, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512Dot32(n int, a, x *float32, lanes *[Lanes]float32) float32
//
// avx512Dot64 with lane l in element l%16 of Z(l/16).
TEXT ·avx512Dot32(SB), NOSPLIT, $0-36
	MOVQ n+0(FP), R12
	MOVQ a+8(FP), SI
	MOVQ x+16(FP), DI
	MOVQ lanes+24(FP), R8
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	TESTQ R8, R8
	JZ    start
	VMOVUPS 0(R8), Z0
	VMOVUPS 64(R8), Z1

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPS 0(SI), Z4
	VMOVUPS 64(SI), Z5
	VFMADD231PS 0(DI), Z4, Z0
	VFMADD231PS 64(DI), Z5, Z1
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK512(16)
	VMOVUPS.Z 0(SI), K1, Z4
	VMOVUPS.Z 0(DI), K1, Z5
	VFMADD231PS Z5, Z4, K1, Z0
	TESTQ R12, R12
	JZ   fold
	MASK512(16)
	VMOVUPS.Z 64(SI), K1, Z4
	VMOVUPS.Z 64(DI), K1, Z5
	VFMADD231PS Z5, Z4, K1, Z1

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPS Z0, 0(R8)
	VMOVUPS Z1, 64(R8)

sum:
	VADDPS Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDPS X1, X0, X0
	VMOVSHDUP X0, X1
	VADDSS X1, X0, X0
	VXORPS X1, X1, X1
	VADDSS X1, X0, X0
	VMOVSS X0, ret+32(FP)
	VZEROUPPER
	RET

// func avx512DotAxpy32(n int, alpha float32, a, x, y *float32, lanes *[Lanes]float32) float32
//
// avx512Dot32 of a and x, and y = fma(alpha, a, y) on the way; alpha in Z16.
TEXT ·avx512DotAxpy32(SB), NOSPLIT, $0-52
	MOVQ n+0(FP), R12
	MOVQ a+16(FP), SI
	MOVQ x+24(FP), DI
	MOVQ lanes+40(FP), R8
	MOVQ y+32(FP), R9
	VBROADCASTSS alpha+8(FP), Z16
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	TESTQ R8, R8
	JZ    start
	VMOVUPS 0(R8), Z0
	VMOVUPS 64(R8), Z1

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPS 0(SI), Z4
	VMOVUPS 64(SI), Z5
	VFMADD231PS 0(DI), Z4, Z0
	VFMADD231PS 64(DI), Z5, Z1
	VMOVUPS 0(R9), Z8
	VMOVUPS 64(R9), Z9
	VFMADD231PS Z4, Z16, Z8
	VFMADD231PS Z5, Z16, Z9
	VMOVUPS Z8, 0(R9)
	VMOVUPS Z9, 64(R9)
	ADDQ $128, R9
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK512(16)
	VMOVUPS.Z 0(SI), K1, Z4
	VMOVUPS.Z 0(DI), K1, Z5
	VFMADD231PS Z5, Z4, K1, Z0
	VMOVUPS.Z 0(R9), K1, Z8
	VFMADD231PS Z4, Z16, Z8
	VMOVUPS Z8, K1, 0(R9)
	TESTQ R12, R12
	JZ   fold
	MASK512(16)
	VMOVUPS.Z 64(SI), K1, Z4
	VMOVUPS.Z 64(DI), K1, Z5
	VFMADD231PS Z5, Z4, K1, Z1
	VMOVUPS.Z 64(R9), K1, Z8
	VFMADD231PS Z4, Z16, Z8
	VMOVUPS Z8, K1, 64(R9)

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPS Z0, 0(R8)
	VMOVUPS Z1, 64(R8)

sum:
	VADDPS Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDPS X1, X0, X0
	VMOVSHDUP X0, X1
	VADDSS X1, X0, X0
	VXORPS X1, X1, X1
	VADDSS X1, X0, X0
	VMOVSS X0, ret+48(FP)
	VZEROUPPER
	RET

// func avx512Axpy32(n int, alpha float32, x, y *float32)
//
//	y = fma(alpha, x, y), four vectors at a time, then one; alpha in Z0
TEXT ·avx512Axpy32(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), R12
	VBROADCASTSS alpha+8(FP), Z0
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DI
	MOVQ R12, BX
	SHRQ $6, BX
	JZ   tail

loop:
	VMOVUPS (DI), Z4
	VMOVUPS 64(DI), Z5
	VMOVUPS 128(DI), Z6
	VMOVUPS 192(DI), Z7
	VFMADD231PS (SI), Z0, Z4
	VFMADD231PS 64(SI), Z0, Z5
	VFMADD231PS 128(SI), Z0, Z6
	VFMADD231PS 192(SI), Z0, Z7
	VMOVUPS Z4, (DI)
	VMOVUPS Z5, 64(DI)
	VMOVUPS Z6, 128(DI)
	VMOVUPS Z7, 192(DI)
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $63, R12
	JZ   done

one:
	MASK512(16)
	VMOVUPS.Z (DI), K1, Z4
	VMOVUPS.Z (SI), K1, Z5
	VFMADD231PS Z5, Z0, Z4
	VMOVUPS Z4, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512Scal32(n int, alpha float32, x *float32)
//
//	x = alpha·x; alpha in Z0
TEXT ·avx512Scal32(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	VBROADCASTSS alpha+8(FP), Z0
	MOVQ x+16(FP), SI
	MOVQ R12, BX
	SHRQ $6, BX
	JZ   tail

loop:
	VMULPS (SI), Z0, Z4
	VMULPS 64(SI), Z0, Z5
	VMULPS 128(SI), Z0, Z6
	VMULPS 192(SI), Z0, Z7
	VMOVUPS Z4, (SI)
	VMOVUPS Z5, 64(SI)
	VMOVUPS Z6, 128(SI)
	VMOVUPS Z7, 192(SI)
	ADDQ $256, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $63, R12
	JZ   done

one:
	MASK512(16)
	VMOVUPS.Z (SI), K1, Z4
	VMULPS Z4, Z0, Z4
	VMOVUPS Z4, K1, (SI)
	ADDQ $64, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512Axpys32(n int, x, a *float32, lda int, y *float32)
//
// Eight axpys in one pass over y: x_i in Z(8+i), rows of a at SI; R8 is lda in
// bytes, R9, R10, R11 three, five and seven times as much.
//
//	for vectors of y { for i in 8 { y = fma(x_i, a_i, y) } }, two at a time, then one
TEXT ·avx512Axpys32(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), BX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ y+32(FP), DI
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	VBROADCASTSS 0(BX), Z8
	VBROADCASTSS 4(BX), Z9
	VBROADCASTSS 8(BX), Z10
	VBROADCASTSS 12(BX), Z11
	VBROADCASTSS 16(BX), Z12
	VBROADCASTSS 20(BX), Z13
	VBROADCASTSS 24(BX), Z14
	VBROADCASTSS 28(BX), Z15
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VFMADD231PS (SI), Z8, Z0
	VFMADD231PS 64(SI), Z8, Z1
	VFMADD231PS (SI)(R8*1), Z9, Z0
	VFMADD231PS 64(SI)(R8*1), Z9, Z1
	VFMADD231PS (SI)(R8*2), Z10, Z0
	VFMADD231PS 64(SI)(R8*2), Z10, Z1
	VFMADD231PS (SI)(R9*1), Z11, Z0
	VFMADD231PS 64(SI)(R9*1), Z11, Z1
	VFMADD231PS (SI)(R8*4), Z12, Z0
	VFMADD231PS 64(SI)(R8*4), Z12, Z1
	VFMADD231PS (SI)(R10*1), Z13, Z0
	VFMADD231PS 64(SI)(R10*1), Z13, Z1
	VFMADD231PS (SI)(R9*2), Z14, Z0
	VFMADD231PS 64(SI)(R9*2), Z14, Z1
	VFMADD231PS (SI)(R11*1), Z15, Z0
	VFMADD231PS 64(SI)(R11*1), Z15, Z1
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK512(16)
	VMOVUPS.Z (DI), K1, Z0
	VFMADD231PS (SI), Z8, K1, Z0
	VFMADD231PS (SI)(R8*1), Z9, K1, Z0
	VFMADD231PS (SI)(R8*2), Z10, K1, Z0
	VFMADD231PS (SI)(R9*1), Z11, K1, Z0
	VFMADD231PS (SI)(R8*4), Z12, K1, Z0
	VFMADD231PS (SI)(R10*1), Z13, K1, Z0
	VFMADD231PS (SI)(R9*2), Z14, K1, Z0
	VFMADD231PS (SI)(R11*1), Z15, K1, Z0
	VMOVUPS Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET


// func avx512Exp32(n int, dst, src *float32)
//
// The algorithm of exp.go on 4 vectors at a time, then on one under a mask.
// expTable32 holds Z0 max, Z1 min, Z2 log₂e, Z3 round, Z4 ln2 high, Z5 ln2 low,
// Z6… coefficients. A vector uses three registers: x and then r, t and then n, p.
#define EXP512_32(x, t, p) \
	VMINPS x, Z0, x          \
	VMAXPS x, Z1, x          \
	VMOVAPS Z3, t           \
	VFMADD231PS x, Z2, t     \
	VSUBPS Z3, t, t          \
	VFNMADD231PS t, Z4, x    \
	VFNMADD231PS t, Z5, x    \
	VMOVAPS Z6, p           \
	VFMADD213PS Z7, x, p    \
	VFMADD213PS Z8, x, p    \
	VFMADD213PS Z9, x, p    \
	VFMADD213PS Z10, x, p    \
	VFMADD213PS Z11, x, p    \
	VFMADD213PS Z12, x, p    \
	VSCALEFPS t, p, p

TEXT ·avx512Exp32(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ dst+8(FP), DI
	MOVQ src+16(FP), SI
	VBROADCASTSS ·expTable32+0(SB), Z0
	VBROADCASTSS ·expTable32+4(SB), Z1
	VBROADCASTSS ·expTable32+8(SB), Z2
	VBROADCASTSS ·expTable32+12(SB), Z3
	VBROADCASTSS ·expTable32+16(SB), Z4
	VBROADCASTSS ·expTable32+20(SB), Z5
	VBROADCASTSS ·expTable32+24(SB), Z6
	VBROADCASTSS ·expTable32+28(SB), Z7
	VBROADCASTSS ·expTable32+32(SB), Z8
	VBROADCASTSS ·expTable32+36(SB), Z9
	VBROADCASTSS ·expTable32+40(SB), Z10
	VBROADCASTSS ·expTable32+44(SB), Z11
	VBROADCASTSS ·expTable32+48(SB), Z12
	MOVQ R12, BX
	SHRQ $6, BX
	JZ   tail

loop:
	VMOVUPS 0(SI), Z18
	VMOVUPS 64(SI), Z21
	VMOVUPS 128(SI), Z24
	VMOVUPS 192(SI), Z27
	EXP512_32(Z18, Z19, Z20)
	EXP512_32(Z21, Z22, Z23)
	EXP512_32(Z24, Z25, Z26)
	EXP512_32(Z27, Z28, Z29)
	VMOVUPS Z20, 0(DI)
	VMOVUPS Z23, 64(DI)
	VMOVUPS Z26, 128(DI)
	VMOVUPS Z29, 192(DI)
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $63, R12
	JZ   done

one:
	MASK512(16)
	VMOVUPS.Z (SI), K1, Z18
	EXP512_32(Z18, Z19, Z20)
	VMOVUPS Z20, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512PackBlocks64(blocks int, src *float64, ld int, dst *float64, step int)
//
// Transposes 8×8 blocks: dst[p*step+i] = src[i*ld+p], i < 8, p < 8·blocks.
// Rows at SI, R8 = ld in bytes, R9, R10, R11 three, five and seven times as much;
// columns at DI, DX = step in bytes, R12, R13, BX as R9, R10, R11.
//
//	Z0…Z7    rows
//	Z8…Z15   pairs of rows (01 01 23 23 45 45 67 67), even and odd columns
//	Z16…Z23  columns mod 4 of four rows each
//	Z0…Z7    columns
TEXT ·avx512PackBlocks64(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $3, R8
	SHLQ $3, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	LEAQ (DX)(DX*2), R12
	LEAQ (DX)(DX*4), R13
	LEAQ (R12)(DX*4), BX

loop:
	VMOVUPD (SI), Z0
	VMOVUPD (SI)(R8*1), Z1
	VMOVUPD (SI)(R8*2), Z2
	VMOVUPD (SI)(R9*1), Z3
	VMOVUPD (SI)(R8*4), Z4
	VMOVUPD (SI)(R10*1), Z5
	VMOVUPD (SI)(R9*2), Z6
	VMOVUPD (SI)(R11*1), Z7
	VUNPCKLPD Z1, Z0, Z8
	VUNPCKHPD Z1, Z0, Z9
	VUNPCKLPD Z3, Z2, Z10
	VUNPCKHPD Z3, Z2, Z11
	VUNPCKLPD Z5, Z4, Z12
	VUNPCKHPD Z5, Z4, Z13
	VUNPCKLPD Z7, Z6, Z14
	VUNPCKHPD Z7, Z6, Z15
	VSHUFF64X2 $0x88, Z10, Z8, Z16
	VSHUFF64X2 $0xDD, Z10, Z8, Z17
	VSHUFF64X2 $0x88, Z14, Z12, Z18
	VSHUFF64X2 $0xDD, Z14, Z12, Z19
	VSHUFF64X2 $0x88, Z11, Z9, Z20
	VSHUFF64X2 $0xDD, Z11, Z9, Z21
	VSHUFF64X2 $0x88, Z15, Z13, Z22
	VSHUFF64X2 $0xDD, Z15, Z13, Z23
	VSHUFF64X2 $0x88, Z18, Z16, Z0
	VSHUFF64X2 $0xDD, Z18, Z16, Z4
	VSHUFF64X2 $0x88, Z19, Z17, Z2
	VSHUFF64X2 $0xDD, Z19, Z17, Z6
	VSHUFF64X2 $0x88, Z22, Z20, Z1
	VSHUFF64X2 $0xDD, Z22, Z20, Z5
	VSHUFF64X2 $0x88, Z23, Z21, Z3
	VSHUFF64X2 $0xDD, Z23, Z21, Z7
	VMOVUPD Z0, (DI)
	VMOVUPD Z1, (DI)(DX*1)
	VMOVUPD Z2, (DI)(DX*2)
	VMOVUPD Z3, (DI)(R12*1)
	VMOVUPD Z4, (DI)(DX*4)
	VMOVUPD Z5, (DI)(R13*1)
	VMOVUPD Z6, (DI)(R12*2)
	VMOVUPD Z7, (DI)(BX*1)
	ADDQ $64, SI
	LEAQ (DI)(DX*8), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func avx512PackBlocks32(blocks int, src *float32, ld int, dst *float32, step int)
//
// Transposes blocks of 8 rows and 16 terms: dst[p*step+i] = src[i*ld+p], i < 8,
// p < 16·blocks. Steps of rows and columns as in avx512PackBlocks64; column 8 at AX.
//
//	Z0…Z7    rows
//	Z8…Z15   pairs of rows (01 01 23 23 45 45 67 67), columns 0, 1 and 2, 3 mod 4
//	Z0…Z7    columns c, c+4, c+8, c+12 of rows 0–3 (Z0–Z3) and 4–7 (Z4–Z7)
//	Z8…Z11   columns c, c+4, and Z0…Z3 c+8, c+12, of all rows; Z16, Z17 the lanes they take
DATA lanes8x16<>+0(SB)/8, $0
DATA lanes8x16<>+8(SB)/8, $1
DATA lanes8x16<>+16(SB)/8, $8
DATA lanes8x16<>+24(SB)/8, $9
DATA lanes8x16<>+32(SB)/8, $2
DATA lanes8x16<>+40(SB)/8, $3
DATA lanes8x16<>+48(SB)/8, $10
DATA lanes8x16<>+56(SB)/8, $11
DATA lanes8x16<>+64(SB)/8, $4
DATA lanes8x16<>+72(SB)/8, $5
DATA lanes8x16<>+80(SB)/8, $12
DATA lanes8x16<>+88(SB)/8, $13
DATA lanes8x16<>+96(SB)/8, $6
DATA lanes8x16<>+104(SB)/8, $7
DATA lanes8x16<>+112(SB)/8, $14
DATA lanes8x16<>+120(SB)/8, $15
GLOBL lanes8x16<>(SB), RODATA|NOPTR, $128

TEXT ·avx512PackBlocks32(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $2, R8
	SHLQ $2, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	LEAQ (DX)(DX*2), R12
	LEAQ (DX)(DX*4), R13
	LEAQ (R12)(DX*4), BX
	VMOVUPD lanes8x16<>+0(SB), Z16
	VMOVUPD lanes8x16<>+64(SB), Z17

loop:
	LEAQ (DI)(DX*8), AX
	VMOVUPS (SI), Z0
	VMOVUPS (SI)(R8*1), Z1
	VMOVUPS (SI)(R8*2), Z2
	VMOVUPS (SI)(R9*1), Z3
	VMOVUPS (SI)(R8*4), Z4
	VMOVUPS (SI)(R10*1), Z5
	VMOVUPS (SI)(R9*2), Z6
	VMOVUPS (SI)(R11*1), Z7
	VUNPCKLPS Z1, Z0, Z8
	VUNPCKHPS Z1, Z0, Z9
	VUNPCKLPS Z3, Z2, Z10
	VUNPCKHPS Z3, Z2, Z11
	VUNPCKLPS Z5, Z4, Z12
	VUNPCKHPS Z5, Z4, Z13
	VUNPCKLPS Z7, Z6, Z14
	VUNPCKHPS Z7, Z6, Z15
	VUNPCKLPD Z10, Z8, Z0
	VUNPCKHPD Z10, Z8, Z1
	VUNPCKLPD Z11, Z9, Z2
	VUNPCKHPD Z11, Z9, Z3
	VUNPCKLPD Z14, Z12, Z4
	VUNPCKHPD Z14, Z12, Z5
	VUNPCKLPD Z15, Z13, Z6
	VUNPCKHPD Z15, Z13, Z7
	VMOVAPD Z0, Z8
	VMOVAPD Z1, Z9
	VMOVAPD Z2, Z10
	VMOVAPD Z3, Z11
	VPERMT2PD Z4, Z16, Z8
	VPERMT2PD Z5, Z16, Z9
	VPERMT2PD Z6, Z16, Z10
	VPERMT2PD Z7, Z16, Z11
	VPERMT2PD Z4, Z17, Z0
	VPERMT2PD Z5, Z17, Z1
	VPERMT2PD Z6, Z17, Z2
	VPERMT2PD Z7, Z17, Z3
	VMOVUPS Y8, (DI)
	VMOVUPS Y9, (DI)(DX*1)
	VMOVUPS Y10, (DI)(DX*2)
	VMOVUPS Y11, (DI)(R12*1)
	VEXTRACTF64X4 $1, Z8, (DI)(DX*4)
	VEXTRACTF64X4 $1, Z9, (DI)(R13*1)
	VEXTRACTF64X4 $1, Z10, (DI)(R12*2)
	VEXTRACTF64X4 $1, Z11, (DI)(BX*1)
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, (AX)(DX*1)
	VMOVUPS Y2, (AX)(DX*2)
	VMOVUPS Y3, (AX)(R12*1)
	VEXTRACTF64X4 $1, Z0, (AX)(DX*4)
	VEXTRACTF64X4 $1, Z1, (AX)(R13*1)
	VEXTRACTF64X4 $1, Z2, (AX)(R12*2)
	VEXTRACTF64X4 $1, Z3, (AX)(BX*1)
	ADDQ $64, SI
	LEAQ (AX)(DX*8), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func avx512Gather(vectors, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)
//
// Cuts k rows, ld bytes apart, into pieces of so many vectors, 1 ≤ vectors ≤ 3: piece q of
// row p goes to dst + q·step + p·(bytes of a piece). Row by row, since rows lie in pages of
// their own.
//
//	BX vectors   AX panels, R13 to go   CX rows   SI row of src, R8 ld, R9 place in it
//	DI row of the first panel, R10 step, R11 place in a panel   R12 bytes of a panel's row
TEXT ·avx512Gather(SB), NOSPLIT, $0-56
	MOVQ vectors+0(FP), BX
	MOVQ panels+8(FP), AX
	MOVQ k+16(FP), CX
	MOVQ src+24(FP), SI
	MOVQ ld+32(FP), R8
	MOVQ dst+40(FP), DI
	MOVQ step+48(FP), R10
	MOVQ BX, R12
	SHLQ $6, R12

row:
	MOVQ SI, R9
	MOVQ DI, R11
	MOVQ AX, R13
	CMPQ BX, $2
	JLT  one
	JEQ  two

three:
	VMOVUPD (R9), Z0
	VMOVUPD 64(R9), Z1
	VMOVUPD 128(R9), Z2
	VMOVUPD Z0, (R11)
	VMOVUPD Z1, 64(R11)
	VMOVUPD Z2, 128(R11)
	ADDQ $192, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  three
	JMP  next

two:
	VMOVUPD (R9), Z0
	VMOVUPD 64(R9), Z1
	VMOVUPD Z0, (R11)
	VMOVUPD Z1, 64(R11)
	ADDQ $128, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  two
	JMP  next

one:
	VMOVUPD (R9), Z0
	VMOVUPD Z0, (R11)
	ADDQ $64, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  one

next:
	ADDQ R8, SI
	ADDQ R12, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// The 256-bit kernels: AVX2 with FMA.

// func avx2Gemm64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)
//
// Tile of 4×12: row i in Y(4+3i), Y(5+3i), Y(6+3i).
//
//	CX k   SI a   DX b   DI c   R8 row of c in bytes, R9 = 3·R8
//	R10 next   Y0–Y2 a row of b   Y3 an element of a in all lanes
//
// The loop is that of avx512Gemm64.
#define ROW256(fma, bcast, at, c0, c1, c2) \
	bcast at(SI), Y3   \
	fma   Y0, Y3, c0   \
	fma   Y1, Y3, c1   \
	fma   Y2, Y3, c2

#define STEP256(bcast, fma, size, p) \
	VMOVUPD    (p*96)(DX), Y0     \
	VMOVUPD    (p*96+32)(DX), Y1  \
	VMOVUPD    (p*96+64)(DX), Y2  \
	PREFETCHT0 (p*96+1024)(DX)    \
	PREFETCHT0 (p*96+1088)(DX)    \
	ROW256(fma, bcast, (p*4+0)*size, Y4, Y5, Y6)    \
	ROW256(fma, bcast, (p*4+1)*size, Y7, Y8, Y9)    \
	ROW256(fma, bcast, (p*4+2)*size, Y10, Y11, Y12) \
	ROW256(fma, bcast, (p*4+3)*size, Y13, Y14, Y15)

#define CLEAR256 \
	VXORPD Y4, Y4, Y4; VXORPD Y5, Y5, Y5; VXORPD Y6, Y6, Y6          \
	VXORPD Y7, Y7, Y7; VXORPD Y8, Y8, Y8; VXORPD Y9, Y9, Y9          \
	VXORPD Y10, Y10, Y10; VXORPD Y11, Y11, Y11; VXORPD Y12, Y12, Y12 \
	VXORPD Y13, Y13, Y13; VXORPD Y14, Y14, Y14; VXORPD Y15, Y15, Y15

// For each row of c: op(its address, its three accumulators).
#define EACHROW256(op) \
	op((DI), Y4, Y5, Y6)             \
	op((DI)(R8*1), Y7, Y8, Y9)       \
	op((DI)(R8*2), Y10, Y11, Y12)    \
	op((DI)(R9*1), Y13, Y14, Y15)

#define PREFETCH256(c, c0, c1, c2) \
	PREFETCHT0 c   \
	PREFETCHT0 (64)c \
	PREFETCHT0 (88)c

#define LOAD256(c, c0, c1, c2) \
	VMOVUPD c, c0    \
	VMOVUPD (32)c, c1 \
	VMOVUPD (64)c, c2

#define STORE256(c, c0, c1, c2) \
	VMOVUPD c0, c    \
	VMOVUPD c1, (32)c \
	VMOVUPD c2, (64)c

#define ADDSTOREPD256(c, c0, c1, c2) \
	VFMADD213PD c, Y0, c0    \
	VFMADD213PD (32)c, Y0, c1 \
	VFMADD213PD (64)c, Y0, c2 \
	STORE256(c, c0, c1, c2)

#define MULSTOREPD256(c, c0, c1, c2) \
	VMULPD c0, Y0, c0 \
	VMULPD c1, Y0, c1 \
	VMULPD c2, Y0, c2 \
	STORE256(c, c0, c1, c2)

#define ADDSTOREPS256(c, c0, c1, c2) \
	VFMADD213PS c, Y0, c0    \
	VFMADD213PS (32)c, Y0, c1 \
	VFMADD213PS (64)c, Y0, c2 \
	STORE256(c, c0, c1, c2)

#define MULSTOREPS256(c, c0, c1, c2) \
	VMULPS c0, Y0, c0 \
	VMULPS c1, Y0, c1 \
	VMULPS c2, Y0, c2 \
	STORE256(c, c0, c1, c2)

#define DISTROW256(bcast, sub, fma, at, c0, c1, c2) \
	bcast at(SI), Y3     \
	sub   (DX), Y3, Y0   \
	sub   32(DX), Y3, Y1 \
	sub   64(DX), Y3, Y2 \
	fma   Y0, Y0, c0     \
	fma   Y1, Y1, c1     \
	fma   Y2, Y2, c2

TEXT ·avx2Gemm64(SB), NOSPLIT, $0-64
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	MOVQ next+56(FP), R10
	EACHROW256(PREFETCH256)
	CLEAR256
	MOVQ CX, BX
	SHRQ $2, BX
	JZ   rest

four:
	PREFETCHT1 (R10)
	ADDQ $32, R10
	STEP256(VBROADCASTSD, VFMADD231PD, 8, 0)
	STEP256(VBROADCASTSD, VFMADD231PD, 8, 1)
	STEP256(VBROADCASTSD, VFMADD231PD, 8, 2)
	STEP256(VBROADCASTSD, VFMADD231PD, 8, 3)
	ADDQ $128, SI
	ADDQ $384, DX
	DECQ BX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	STEP256(VBROADCASTSD, VFMADD231PD, 8, 0)
	ADDQ $32, SI
	ADDQ $96, DX
	DECQ CX
	JNZ  one

done:
	VBROADCASTSD alpha+8(FP), Y0
	CMPB add+48(FP), $0
	JEQ  store
	EACHROW256(ADDSTOREPD256)
	VZEROUPPER
	RET

store:
	EACHROW256(MULSTOREPD256)
	VZEROUPPER
	RET

// func avx2Dist64(k int, a, b, c *float64, ldc int, add bool)
//
// Registers as in avx2Gemm64, but Y0–Y2 hold the differences.
TEXT ·avx2Dist64(SB), NOSPLIT, $0-41
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	CLEAR256
	CMPB add+40(FP), $0
	JEQ  start
	EACHROW256(LOAD256)

start:
	TESTQ CX, CX
	JZ    store

loop:
	DISTROW256(VBROADCASTSD, VSUBPD, VFMADD231PD, 0, Y4, Y5, Y6)
	DISTROW256(VBROADCASTSD, VSUBPD, VFMADD231PD, 8, Y7, Y8, Y9)
	DISTROW256(VBROADCASTSD, VSUBPD, VFMADD231PD, 16, Y10, Y11, Y12)
	DISTROW256(VBROADCASTSD, VSUBPD, VFMADD231PD, 24, Y13, Y14, Y15)
	ADDQ $32, SI
	ADDQ $96, DX
	DECQ CX
	JNZ  loop

store:
	EACHROW256(STORE256)
	VZEROUPPER
	RET


// func avx2Gemm32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)
//
// avx2Gemm64 for a tile of 4×24.
TEXT ·avx2Gemm32(SB), NOSPLIT, $0-64
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), DI
	MOVQ ldc+40(FP), R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	MOVQ next+56(FP), R10
	EACHROW256(PREFETCH256)
	CLEAR256
	MOVQ CX, BX
	SHRQ $2, BX
	JZ   rest

four:
	PREFETCHT1 (R10)
	ADDQ $16, R10
	STEP256(VBROADCASTSS, VFMADD231PS, 4, 0)
	STEP256(VBROADCASTSS, VFMADD231PS, 4, 1)
	STEP256(VBROADCASTSS, VFMADD231PS, 4, 2)
	STEP256(VBROADCASTSS, VFMADD231PS, 4, 3)
	ADDQ $64, SI
	ADDQ $384, DX
	DECQ BX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	STEP256(VBROADCASTSS, VFMADD231PS, 4, 0)
	ADDQ $16, SI
	ADDQ $96, DX
	DECQ CX
	JNZ  one

done:
	VBROADCASTSS alpha+8(FP), Y0
	CMPB add+48(FP), $0
	JEQ  store
	EACHROW256(ADDSTOREPS256)
	VZEROUPPER
	RET

store:
	EACHROW256(MULSTOREPS256)
	VZEROUPPER
	RET

// func avx2Dist32(k int, a, b, c *float32, ldc int, add bool)
//
// Registers as in avx2Gemm64, but Y0–Y2 hold the differences.
TEXT ·avx2Dist32(SB), NOSPLIT, $0-41
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), DI
	MOVQ ldc+32(FP), R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	CLEAR256
	CMPB add+40(FP), $0
	JEQ  start
	EACHROW256(LOAD256)

start:
	TESTQ CX, CX
	JZ    store

loop:
	DISTROW256(VBROADCASTSS, VSUBPS, VFMADD231PS, 0, Y4, Y5, Y6)
	DISTROW256(VBROADCASTSS, VSUBPS, VFMADD231PS, 4, Y7, Y8, Y9)
	DISTROW256(VBROADCASTSS, VSUBPS, VFMADD231PS, 8, Y10, Y11, Y12)
	DISTROW256(VBROADCASTSS, VSUBPS, VFMADD231PS, 12, Y13, Y14, Y15)
	ADDQ $16, SI
	ADDQ $96, DX
	DECQ CX
	JNZ  loop

store:
	EACHROW256(STORE256)
	VZEROUPPER
	RET

// Tails. Masked loads and stores touch no other element and fault on none; where
// lanes must stay as they are, VBLENDV puts them back.
//
// MASK256 sets Y15 to select the first min(R12, lanes) lanes and lessens R12 by
// them; size is 2^shift. Clobbers AX, CX.
#define MASK256(lanes, shift) \
	MOVL    $lanes, CX            \
	CMPQ    R12, CX               \
	CMOVQLT R12, CX               \
	SUBQ    CX, R12               \
	SHLQ    $shift, CX            \
	LEAQ    masks<>+32(SB), AX    \
	SUBQ    CX, AX                \
	VMOVUPD (AX), Y15

DATA masks<>+0(SB)/8, $-1
DATA masks<>+8(SB)/8, $-1
DATA masks<>+16(SB)/8, $-1
DATA masks<>+24(SB)/8, $-1
DATA masks<>+32(SB)/8, $0
DATA masks<>+40(SB)/8, $0
DATA masks<>+48(SB)/8, $0
DATA masks<>+56(SB)/8, $0
GLOBL masks<>(SB), RODATA|NOPTR, $64

// func avx2Dot64(n int, a, x *float64, lanes *[Lanes]float64) float64
//
// avx512Dot64 with lane l in element l%4 of Y(l/4).
TEXT ·avx2Dot64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ a+8(FP), SI
	MOVQ x+16(FP), DI
	MOVQ lanes+24(FP), R8
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Y0
	VMOVUPD 32(R8), Y1
	VMOVUPD 64(R8), Y2
	VMOVUPD 96(R8), Y3
	VMOVUPD 128(R8), Y4
	VMOVUPD 160(R8), Y5
	VMOVUPD 192(R8), Y6
	VMOVUPD 224(R8), Y7

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPD 0(SI), Y8
	VMOVUPD 32(SI), Y9
	VMOVUPD 64(SI), Y10
	VMOVUPD 96(SI), Y11
	VFMADD231PD 0(DI), Y8, Y0
	VFMADD231PD 32(DI), Y9, Y1
	VFMADD231PD 64(DI), Y10, Y2
	VFMADD231PD 96(DI), Y11, Y3
	VMOVUPD 128(SI), Y8
	VMOVUPD 160(SI), Y9
	VMOVUPD 192(SI), Y10
	VMOVUPD 224(SI), Y11
	VFMADD231PD 128(DI), Y8, Y4
	VFMADD231PD 160(DI), Y9, Y5
	VFMADD231PD 192(DI), Y10, Y6
	VFMADD231PD 224(DI), Y11, Y7
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 0(SI), Y15, Y8
	VMASKMOVPD 0(DI), Y15, Y9
	VMOVAPD Y0, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y0, Y0
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 32(SI), Y15, Y8
	VMASKMOVPD 32(DI), Y15, Y9
	VMOVAPD Y1, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y1, Y1
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 64(SI), Y15, Y8
	VMASKMOVPD 64(DI), Y15, Y9
	VMOVAPD Y2, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y2, Y2
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 96(SI), Y15, Y8
	VMASKMOVPD 96(DI), Y15, Y9
	VMOVAPD Y3, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y3, Y3
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 128(SI), Y15, Y8
	VMASKMOVPD 128(DI), Y15, Y9
	VMOVAPD Y4, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y4, Y4
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 160(SI), Y15, Y8
	VMASKMOVPD 160(DI), Y15, Y9
	VMOVAPD Y5, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y5, Y5
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 192(SI), Y15, Y8
	VMASKMOVPD 192(DI), Y15, Y9
	VMOVAPD Y6, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y6, Y6
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 224(SI), Y15, Y8
	VMASKMOVPD 224(DI), Y15, Y9
	VMOVAPD Y7, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y7, Y7

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Y0, 0(R8)
	VMOVUPD Y1, 32(R8)
	VMOVUPD Y2, 64(R8)
	VMOVUPD Y3, 96(R8)
	VMOVUPD Y4, 128(R8)
	VMOVUPD Y5, 160(R8)
	VMOVUPD Y6, 192(R8)
	VMOVUPD Y7, 224(R8)

sum:
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+32(FP)
	VZEROUPPER
	RET

// func avx2DotAxpy64(n int, alpha float64, a, x, y *float64, lanes *[Lanes]float64) float64
//
// avx2Dot64 of a and x, and y = fma(alpha, a, y) on the way; alpha in Y14.
TEXT ·avx2DotAxpy64(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), R12
	MOVQ a+16(FP), SI
	MOVQ x+24(FP), DI
	MOVQ lanes+40(FP), R8
	MOVQ y+32(FP), R9
	VBROADCASTSD alpha+8(FP), Y14
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Y0
	VMOVUPD 32(R8), Y1
	VMOVUPD 64(R8), Y2
	VMOVUPD 96(R8), Y3
	VMOVUPD 128(R8), Y4
	VMOVUPD 160(R8), Y5
	VMOVUPD 192(R8), Y6
	VMOVUPD 224(R8), Y7

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPD 0(SI), Y8
	VMOVUPD 32(SI), Y9
	VMOVUPD 64(SI), Y10
	VMOVUPD 96(SI), Y11
	VFMADD231PD 0(DI), Y8, Y0
	VFMADD231PD 32(DI), Y9, Y1
	VFMADD231PD 64(DI), Y10, Y2
	VFMADD231PD 96(DI), Y11, Y3
	VMOVUPD 0(R9), Y13
	VFMADD231PD Y8, Y14, Y13
	VMOVUPD Y13, 0(R9)
	VMOVUPD 32(R9), Y13
	VFMADD231PD Y9, Y14, Y13
	VMOVUPD Y13, 32(R9)
	VMOVUPD 64(R9), Y13
	VFMADD231PD Y10, Y14, Y13
	VMOVUPD Y13, 64(R9)
	VMOVUPD 96(R9), Y13
	VFMADD231PD Y11, Y14, Y13
	VMOVUPD Y13, 96(R9)
	VMOVUPD 128(SI), Y8
	VMOVUPD 160(SI), Y9
	VMOVUPD 192(SI), Y10
	VMOVUPD 224(SI), Y11
	VFMADD231PD 128(DI), Y8, Y4
	VFMADD231PD 160(DI), Y9, Y5
	VFMADD231PD 192(DI), Y10, Y6
	VFMADD231PD 224(DI), Y11, Y7
	VMOVUPD 128(R9), Y13
	VFMADD231PD Y8, Y14, Y13
	VMOVUPD Y13, 128(R9)
	VMOVUPD 160(R9), Y13
	VFMADD231PD Y9, Y14, Y13
	VMOVUPD Y13, 160(R9)
	VMOVUPD 192(R9), Y13
	VFMADD231PD Y10, Y14, Y13
	VMOVUPD Y13, 192(R9)
	VMOVUPD 224(R9), Y13
	VFMADD231PD Y11, Y14, Y13
	VMOVUPD Y13, 224(R9)
	ADDQ $256, R9
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 0(SI), Y15, Y8
	VMASKMOVPD 0(DI), Y15, Y9
	VMOVAPD Y0, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y0, Y0
	VMASKMOVPD 0(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 0(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 32(SI), Y15, Y8
	VMASKMOVPD 32(DI), Y15, Y9
	VMOVAPD Y1, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y1, Y1
	VMASKMOVPD 32(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 32(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 64(SI), Y15, Y8
	VMASKMOVPD 64(DI), Y15, Y9
	VMOVAPD Y2, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y2, Y2
	VMASKMOVPD 64(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 64(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 96(SI), Y15, Y8
	VMASKMOVPD 96(DI), Y15, Y9
	VMOVAPD Y3, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y3, Y3
	VMASKMOVPD 96(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 96(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 128(SI), Y15, Y8
	VMASKMOVPD 128(DI), Y15, Y9
	VMOVAPD Y4, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y4, Y4
	VMASKMOVPD 128(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 128(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 160(SI), Y15, Y8
	VMASKMOVPD 160(DI), Y15, Y9
	VMOVAPD Y5, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y5, Y5
	VMASKMOVPD 160(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 160(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 192(SI), Y15, Y8
	VMASKMOVPD 192(DI), Y15, Y9
	VMOVAPD Y6, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y6, Y6
	VMASKMOVPD 192(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 192(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(4, 3)
	VMASKMOVPD 224(SI), Y15, Y8
	VMASKMOVPD 224(DI), Y15, Y9
	VMOVAPD Y7, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y7, Y7
	VMASKMOVPD 224(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 224(R9)

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Y0, 0(R8)
	VMOVUPD Y1, 32(R8)
	VMOVUPD Y2, 64(R8)
	VMOVUPD Y3, 96(R8)
	VMOVUPD Y4, 128(R8)
	VMOVUPD Y5, 160(R8)
	VMOVUPD Y6, 192(R8)
	VMOVUPD Y7, 224(R8)

sum:
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET

// func avx2Axpy64(n int, alpha float64, x, y *float64)
//
//	y = fma(alpha, x, y), four vectors at a time, then one; alpha in Y0
TEXT ·avx2Axpy64(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), R12
	VBROADCASTSD alpha+8(FP), Y0
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DI
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VMOVUPD (DI), Y4
	VMOVUPD 32(DI), Y5
	VMOVUPD 64(DI), Y6
	VMOVUPD 96(DI), Y7
	VFMADD231PD (SI), Y0, Y4
	VFMADD231PD 32(SI), Y0, Y5
	VFMADD231PD 64(SI), Y0, Y6
	VFMADD231PD 96(SI), Y0, Y7
	VMOVUPD Y4, (DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, 64(DI)
	VMOVUPD Y7, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK256(4, 3)
	VMASKMOVPD (DI), Y15, Y4
	VMASKMOVPD (SI), Y15, Y5
	VFMADD231PD Y5, Y0, Y4
	VMASKMOVPD Y4, Y15, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Scal64(n int, alpha float64, x *float64)
//
//	x = alpha·x; alpha in Y0
TEXT ·avx2Scal64(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	VBROADCASTSD alpha+8(FP), Y0
	MOVQ x+16(FP), SI
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VMULPD (SI), Y0, Y4
	VMULPD 32(SI), Y0, Y5
	VMULPD 64(SI), Y0, Y6
	VMULPD 96(SI), Y0, Y7
	VMOVUPD Y4, (SI)
	VMOVUPD Y5, 32(SI)
	VMOVUPD Y6, 64(SI)
	VMOVUPD Y7, 96(SI)
	ADDQ $128, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK256(4, 3)
	VMASKMOVPD (SI), Y15, Y4
	VMULPD Y4, Y0, Y4
	VMASKMOVPD Y4, Y15, (SI)
	ADDQ $32, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Axpys64(n int, x, a *float64, lda int, y *float64)
//
// Four axpys in one pass over y: x_i in Y(8+i), rows of a at SI; R8 is lda in
// bytes, R9 three times as much.
//
//	for vectors of y { for i in 4 { y = fma(x_i, a_i, y) } }, two at a time, then one
TEXT ·avx2Axpys64(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), BX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ y+32(FP), DI
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	VBROADCASTSD 0(BX), Y8
	VBROADCASTSD 8(BX), Y9
	VBROADCASTSD 16(BX), Y10
	VBROADCASTSD 24(BX), Y11
	MOVQ R12, BX
	SHRQ $3, BX
	JZ   tail

loop:
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VFMADD231PD (SI), Y8, Y0
	VFMADD231PD 32(SI), Y8, Y1
	VFMADD231PD (SI)(R8*1), Y9, Y0
	VFMADD231PD 32(SI)(R8*1), Y9, Y1
	VFMADD231PD (SI)(R8*2), Y10, Y0
	VFMADD231PD 32(SI)(R8*2), Y10, Y1
	VFMADD231PD (SI)(R9*1), Y11, Y0
	VFMADD231PD 32(SI)(R9*1), Y11, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $7, R12
	JZ   done

one:
	MASK256(4, 3)
	VMASKMOVPD (DI), Y15, Y0
	VMASKMOVPD (SI), Y15, Y4
	VFMADD231PD Y4, Y8, Y0
	VMASKMOVPD (SI)(R8*1), Y15, Y4
	VFMADD231PD Y4, Y9, Y0
	VMASKMOVPD (SI)(R8*2), Y15, Y4
	VFMADD231PD Y4, Y10, Y0
	VMASKMOVPD (SI)(R9*1), Y15, Y4
	VFMADD231PD Y4, Y11, Y0
	VMASKMOVPD Y0, Y15, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Exp64(n int, dst, src *float64)
//
// The algorithm of exp.go on two vectors at a time, then on one under a mask.
// R8 is at exp64Vectors: every constant, and at last the exponent's bias, four
// or eight times over. A vector uses x and then r, t whose low bits are n, p, s.
#define EXP256_64(x, t, p, s) \
	VMOVUPD 0(R8), p          \
	VMINPD x, p, x           \
	VMOVUPD 32(R8), p         \
	VMAXPD x, p, x           \
	VMOVUPD 96(R8), t         \
	VFMADD231PD 64(R8), x, t \
	VSUBPD 96(R8), t, p      \
	VFNMADD231PD 128(R8), p, x \
	VFNMADD231PD 160(R8), p, x \
	VMOVUPD 192(R8), p        \
	VFMADD213PD 224(R8), x, p \
	VFMADD213PD 256(R8), x, p \
	VFMADD213PD 288(R8), x, p \
	VFMADD213PD 320(R8), x, p \
	VFMADD213PD 352(R8), x, p \
	VFMADD213PD 384(R8), x, p \
	VFMADD213PD 416(R8), x, p \
	VFMADD213PD 448(R8), x, p \
	VFMADD213PD 480(R8), x, p \
	VFMADD213PD 512(R8), x, p \
	VFMADD213PD 544(R8), x, p \
	VPSRAD $1, t, s           \
	VPSUBD s, t, t            \
	VPADDD 576(R8), s, s     \
	VPADDD 576(R8), t, t     \
	VPSLLQ $52, s, s          \
	VPSLLQ $52, t, t          \
	VMULPD s, p, p           \
	VMULPD t, p, p

TEXT ·avx2Exp64(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ dst+8(FP), DI
	MOVQ src+16(FP), SI
	LEAQ ·exp64Vectors(SB), R8
	MOVQ R12, BX
	SHRQ $3, BX
	JZ   tail

loop:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y4
	EXP256_64(Y0, Y1, Y2, Y3)
	EXP256_64(Y4, Y5, Y6, Y7)
	VMOVUPD Y2, (DI)
	VMOVUPD Y6, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $7, R12
	JZ   done

one:
	MASK256(4, 3)
	VMASKMOVPD (SI), Y15, Y0
	EXP256_64(Y0, Y1, Y2, Y3)
	VMASKMOVPD Y2, Y15, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Dot32(n int, a, x *float32, lanes *[Lanes]float32) float32
//
// avx512Dot64 with lane l in element l%8 of Y(l/8).
TEXT ·avx2Dot32(SB), NOSPLIT, $0-36
	MOVQ n+0(FP), R12
	MOVQ a+8(FP), SI
	MOVQ x+16(FP), DI
	MOVQ lanes+24(FP), R8
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	TESTQ R8, R8
	JZ    start
	VMOVUPS 0(R8), Y0
	VMOVUPS 32(R8), Y1
	VMOVUPS 64(R8), Y2
	VMOVUPS 96(R8), Y3

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPS 0(SI), Y8
	VMOVUPS 32(SI), Y9
	VMOVUPS 64(SI), Y10
	VMOVUPS 96(SI), Y11
	VFMADD231PS 0(DI), Y8, Y0
	VFMADD231PS 32(DI), Y9, Y1
	VFMADD231PS 64(DI), Y10, Y2
	VFMADD231PS 96(DI), Y11, Y3
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 0(SI), Y15, Y8
	VMASKMOVPS 0(DI), Y15, Y9
	VMOVAPD Y0, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y0, Y0
	TESTQ R12, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 32(SI), Y15, Y8
	VMASKMOVPS 32(DI), Y15, Y9
	VMOVAPD Y1, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y1, Y1
	TESTQ R12, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 64(SI), Y15, Y8
	VMASKMOVPS 64(DI), Y15, Y9
	VMOVAPD Y2, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y2, Y2
	TESTQ R12, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 96(SI), Y15, Y8
	VMASKMOVPS 96(DI), Y15, Y9
	VMOVAPD Y3, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y3, Y3

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPS Y0, 0(R8)
	VMOVUPS Y1, 32(R8)
	VMOVUPS Y2, 64(R8)
	VMOVUPS Y3, 96(R8)

sum:
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDPS X1, X0, X0
	VMOVSHDUP X0, X1
	VADDSS X1, X0, X0
	VXORPD X1, X1, X1
	VADDSS X1, X0, X0
	VMOVSS X0, ret+32(FP)
	VZEROUPPER
	RET

// func avx2DotAxpy32(n int, alpha float32, a, x, y *float32, lanes *[Lanes]float32) float32
//
// avx2Dot32 of a and x, and y = fma(alpha, a, y) on the way; alpha in Y14.
TEXT ·avx2DotAxpy32(SB), NOSPLIT, $0-52
	MOVQ n+0(FP), R12
	MOVQ a+16(FP), SI
	MOVQ x+24(FP), DI
	MOVQ lanes+40(FP), R8
	MOVQ y+32(FP), R9
	VBROADCASTSS alpha+8(FP), Y14
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	TESTQ R8, R8
	JZ    start
	VMOVUPS 0(R8), Y0
	VMOVUPS 32(R8), Y1
	VMOVUPS 64(R8), Y2
	VMOVUPS 96(R8), Y3

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPS 0(SI), Y8
	VMOVUPS 32(SI), Y9
	VMOVUPS 64(SI), Y10
	VMOVUPS 96(SI), Y11
	VFMADD231PS 0(DI), Y8, Y0
	VFMADD231PS 32(DI), Y9, Y1
	VFMADD231PS 64(DI), Y10, Y2
	VFMADD231PS 96(DI), Y11, Y3
	VMOVUPS 0(R9), Y13
	VFMADD231PS Y8, Y14, Y13
	VMOVUPS Y13, 0(R9)
	VMOVUPS 32(R9), Y13
	VFMADD231PS Y9, Y14, Y13
	VMOVUPS Y13, 32(R9)
	VMOVUPS 64(R9), Y13
	VFMADD231PS Y10, Y14, Y13
	VMOVUPS Y13, 64(R9)
	VMOVUPS 96(R9), Y13
	VFMADD231PS Y11, Y14, Y13
	VMOVUPS Y13, 96(R9)
	ADDQ $128, R9
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 0(SI), Y15, Y8
	VMASKMOVPS 0(DI), Y15, Y9
	VMOVAPD Y0, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y0, Y0
	VMASKMOVPS 0(R9), Y15, Y13
	VFMADD231PS Y8, Y14, Y13
	VMASKMOVPS Y13, Y15, 0(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 32(SI), Y15, Y8
	VMASKMOVPS 32(DI), Y15, Y9
	VMOVAPD Y1, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y1, Y1
	VMASKMOVPS 32(R9), Y15, Y13
	VFMADD231PS Y8, Y14, Y13
	VMASKMOVPS Y13, Y15, 32(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 64(SI), Y15, Y8
	VMASKMOVPS 64(DI), Y15, Y9
	VMOVAPD Y2, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y2, Y2
	VMASKMOVPS 64(R9), Y15, Y13
	VFMADD231PS Y8, Y14, Y13
	VMASKMOVPS Y13, Y15, 64(R9)
	TESTQ R12, R12
	JZ   fold
	MASK256(8, 2)
	VMASKMOVPS 96(SI), Y15, Y8
	VMASKMOVPS 96(DI), Y15, Y9
	VMOVAPD Y3, Y10
	VFMADD231PS Y8, Y9, Y10
	VBLENDVPS Y15, Y10, Y3, Y3
	VMASKMOVPS 96(R9), Y15, Y13
	VFMADD231PS Y8, Y14, Y13
	VMASKMOVPS Y13, Y15, 96(R9)

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPS Y0, 0(R8)
	VMOVUPS Y1, 32(R8)
	VMOVUPS Y2, 64(R8)
	VMOVUPS Y3, 96(R8)

sum:
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDPS X1, X0, X0
	VMOVSHDUP X0, X1
	VADDSS X1, X0, X0
	VXORPD X1, X1, X1
	VADDSS X1, X0, X0
	VMOVSS X0, ret+48(FP)
	VZEROUPPER
	RET

// func avx2Axpy32(n int, alpha float32, x, y *float32)
//
//	y = fma(alpha, x, y), four vectors at a time, then one; alpha in Y0
TEXT ·avx2Axpy32(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), R12
	VBROADCASTSS alpha+8(FP), Y0
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DI
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPS (DI), Y4
	VMOVUPS 32(DI), Y5
	VMOVUPS 64(DI), Y6
	VMOVUPS 96(DI), Y7
	VFMADD231PS (SI), Y0, Y4
	VFMADD231PS 32(SI), Y0, Y5
	VFMADD231PS 64(SI), Y0, Y6
	VFMADD231PS 96(SI), Y0, Y7
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	VMOVUPS Y6, 64(DI)
	VMOVUPS Y7, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK256(8, 2)
	VMASKMOVPS (DI), Y15, Y4
	VMASKMOVPS (SI), Y15, Y5
	VFMADD231PS Y5, Y0, Y4
	VMASKMOVPS Y4, Y15, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Scal32(n int, alpha float32, x *float32)
//
//	x = alpha·x; alpha in Y0
TEXT ·avx2Scal32(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	VBROADCASTSS alpha+8(FP), Y0
	MOVQ x+16(FP), SI
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMULPS (SI), Y0, Y4
	VMULPS 32(SI), Y0, Y5
	VMULPS 64(SI), Y0, Y6
	VMULPS 96(SI), Y0, Y7
	VMOVUPS Y4, (SI)
	VMOVUPS Y5, 32(SI)
	VMOVUPS Y6, 64(SI)
	VMOVUPS Y7, 96(SI)
	ADDQ $128, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK256(8, 2)
	VMASKMOVPS (SI), Y15, Y4
	VMULPS Y4, Y0, Y4
	VMASKMOVPS Y4, Y15, (SI)
	ADDQ $32, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Axpys32(n int, x, a *float32, lda int, y *float32)
//
// Four axpys in one pass over y: x_i in Y(8+i), rows of a at SI; R8 is lda in
// bytes, R9 three times as much.
//
//	for vectors of y { for i in 4 { y = fma(x_i, a_i, y) } }, two at a time, then one
TEXT ·avx2Axpys32(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), BX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ y+32(FP), DI
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	VBROADCASTSS 0(BX), Y8
	VBROADCASTSS 4(BX), Y9
	VBROADCASTSS 8(BX), Y10
	VBROADCASTSS 12(BX), Y11
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VFMADD231PS (SI), Y8, Y0
	VFMADD231PS 32(SI), Y8, Y1
	VFMADD231PS (SI)(R8*1), Y9, Y0
	VFMADD231PS 32(SI)(R8*1), Y9, Y1
	VFMADD231PS (SI)(R8*2), Y10, Y0
	VFMADD231PS 32(SI)(R8*2), Y10, Y1
	VFMADD231PS (SI)(R9*1), Y11, Y0
	VFMADD231PS 32(SI)(R9*1), Y11, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK256(8, 2)
	VMASKMOVPS (DI), Y15, Y0
	VMASKMOVPS (SI), Y15, Y4
	VFMADD231PS Y4, Y8, Y0
	VMASKMOVPS (SI)(R8*1), Y15, Y4
	VFMADD231PS Y4, Y9, Y0
	VMASKMOVPS (SI)(R8*2), Y15, Y4
	VFMADD231PS Y4, Y10, Y0
	VMASKMOVPS (SI)(R9*1), Y15, Y4
	VFMADD231PS Y4, Y11, Y0
	VMASKMOVPS Y0, Y15, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Exp32(n int, dst, src *float32)
//
// The algorithm of exp.go on two vectors at a time, then on one under a mask.
// R8 is at exp32Vectors: every constant, and at last the exponent's bias, four
// or eight times over. A vector uses x and then r, t whose low bits are n, p, s.
#define EXP256_32(x, t, p, s) \
	VMOVUPS 0(R8), p          \
	VMINPS x, p, x           \
	VMOVUPS 32(R8), p         \
	VMAXPS x, p, x           \
	VMOVUPS 96(R8), t         \
	VFMADD231PS 64(R8), x, t \
	VSUBPS 96(R8), t, p      \
	VFNMADD231PS 128(R8), p, x \
	VFNMADD231PS 160(R8), p, x \
	VMOVUPS 192(R8), p        \
	VFMADD213PS 224(R8), x, p \
	VFMADD213PS 256(R8), x, p \
	VFMADD213PS 288(R8), x, p \
	VFMADD213PS 320(R8), x, p \
	VFMADD213PS 352(R8), x, p \
	VFMADD213PS 384(R8), x, p \
	VPSUBD 96(R8), t, t        \
	VPSRAD $1, t, s           \
	VPSUBD s, t, t            \
	VPADDD 416(R8), s, s     \
	VPADDD 416(R8), t, t     \
	VPSLLD $23, s, s          \
	VPSLLD $23, t, t          \
	VMULPS s, p, p           \
	VMULPS t, p, p

TEXT ·avx2Exp32(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ dst+8(FP), DI
	MOVQ src+16(FP), SI
	LEAQ ·exp32Vectors(SB), R8
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y4
	EXP256_32(Y0, Y1, Y2, Y3)
	EXP256_32(Y4, Y5, Y6, Y7)
	VMOVUPS Y2, (DI)
	VMOVUPS Y6, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK256(8, 2)
	VMASKMOVPS (SI), Y15, Y0
	EXP256_32(Y0, Y1, Y2, Y3)
	VMASKMOVPS Y2, Y15, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2Gather(vectors, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)
//
// avx512Gather with vectors of 256 bits.
//
//	BX vectors   AX panels, R13 to go   CX rows   SI row of src, R8 ld, R9 place in it
//	DI row of the first panel, R10 step, R11 place in a panel   R12 bytes of a panel's row
TEXT ·avx2Gather(SB), NOSPLIT, $0-56
	MOVQ vectors+0(FP), BX
	MOVQ panels+8(FP), AX
	MOVQ k+16(FP), CX
	MOVQ src+24(FP), SI
	MOVQ ld+32(FP), R8
	MOVQ dst+40(FP), DI
	MOVQ step+48(FP), R10
	MOVQ BX, R12
	SHLQ $5, R12

row:
	MOVQ SI, R9
	MOVQ DI, R11
	MOVQ AX, R13
	CMPQ BX, $2
	JLT  one
	JEQ  two

three:
	VMOVUPD (R9), Y0
	VMOVUPD 32(R9), Y1
	VMOVUPD 64(R9), Y2
	VMOVUPD Y0, (R11)
	VMOVUPD Y1, 32(R11)
	VMOVUPD Y2, 64(R11)
	ADDQ $96, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  three
	JMP  next

two:
	VMOVUPD (R9), Y0
	VMOVUPD 32(R9), Y1
	VMOVUPD Y0, (R11)
	VMOVUPD Y1, 32(R11)
	ADDQ $64, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  two
	JMP  next

one:
	VMOVUPD (R9), Y0
	VMOVUPD Y0, (R11)
	ADDQ $32, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  one

next:
	ADDQ R8, SI
	ADDQ R12, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func avx2PackBlocks64(blocks int, src *float64, ld int, dst *float64, step int)
//
// Transposes 4×4 blocks: dst[p*step+i] = src[i*ld+p], i < 4, p < 4·blocks.
//
//	SI rows, R8, R9 one and three of them in bytes   DI columns, DX, R12 likewise
//	Y0…Y3 rows   Y4…Y7 pairs of rows, even and odd columns   Y0…Y3 columns
TEXT ·avx2PackBlocks64(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $3, R8
	SHLQ $3, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (DX)(DX*2), R12

loop:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(R8*1), Y1
	VMOVUPD (SI)(R8*2), Y2
	VMOVUPD (SI)(R9*1), Y3
	VUNPCKLPD Y1, Y0, Y4
	VUNPCKHPD Y1, Y0, Y5
	VUNPCKLPD Y3, Y2, Y6
	VUNPCKHPD Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, (DI)(DX*1)
	VMOVUPD Y2, (DI)(DX*2)
	VMOVUPD Y3, (DI)(R12*1)
	ADDQ $32, SI
	LEAQ (DI)(DX*4), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func avx2PackBlocks32(blocks int, src *float32, ld int, dst *float32, step int)
//
// avx2PackBlocks64 for float32.
TEXT ·avx2PackBlocks32(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $2, R8
	SHLQ $2, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (DX)(DX*2), R12

loop:
	VMOVUPS (SI), X0
	VMOVUPS (SI)(R8*1), X1
	VMOVUPS (SI)(R8*2), X2
	VMOVUPS (SI)(R9*1), X3
	VUNPCKLPS X1, X0, X4
	VUNPCKHPS X1, X0, X5
	VUNPCKLPS X3, X2, X6
	VUNPCKHPS X3, X2, X7
	VUNPCKLPD X6, X4, X0
	VUNPCKHPD X6, X4, X1
	VUNPCKLPD X7, X5, X2
	VUNPCKHPD X7, X5, X3
	VMOVUPS X0, (DI)
	VMOVUPS X1, (DI)(DX*1)
	VMOVUPS X2, (DI)(DX*2)
	VMOVUPS X3, (DI)(R12*1)
	ADDQ $16, SI
	LEAQ (DI)(DX*4), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// Float32 storage, float64 arithmetic: the routines above with the matrix widened
// as it is loaded.

// func avx512DotMixed(n int, a *float32, x *float64, lanes *[Lanes]float64) float64
TEXT ·avx512DotMixed(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ a+8(FP), SI
	MOVQ x+16(FP), DI
	MOVQ lanes+24(FP), R8
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Z0
	VMOVUPD 64(R8), Z1
	VMOVUPD 128(R8), Z2
	VMOVUPD 192(R8), Z3

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VCVTPS2PD (SI), Z4
	VCVTPS2PD 32(SI), Z5
	VCVTPS2PD 64(SI), Z6
	VCVTPS2PD 96(SI), Z7
	VFMADD231PD 0(DI), Z4, Z0
	VFMADD231PD 64(DI), Z5, Z1
	VFMADD231PD 128(DI), Z6, Z2
	VFMADD231PD 192(DI), Z7, Z3
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z (SI), K1, Z4
	VMOVUPD.Z 0(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z0
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z 32(SI), K1, Z4
	VMOVUPD.Z 64(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z1
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z 64(SI), K1, Z4
	VMOVUPD.Z 128(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z2
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z 96(SI), K1, Z4
	VMOVUPD.Z 192(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z3

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Z0, 0(R8)
	VMOVUPD Z1, 64(R8)
	VMOVUPD Z2, 128(R8)
	VMOVUPD Z3, 192(R8)

sum:
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VADDPD Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+32(FP)
	VZEROUPPER
	RET

// func avx512DotAxpyMixed(n int, alpha float64, a *float32, x, y *float64, lanes *[Lanes]float64) float64
TEXT ·avx512DotAxpyMixed(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), R12
	MOVQ a+16(FP), SI
	MOVQ x+24(FP), DI
	MOVQ lanes+40(FP), R8
	MOVQ y+32(FP), R9
	VBROADCASTSD alpha+8(FP), Z16
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Z0
	VMOVUPD 64(R8), Z1
	VMOVUPD 128(R8), Z2
	VMOVUPD 192(R8), Z3

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VCVTPS2PD (SI), Z4
	VCVTPS2PD 32(SI), Z5
	VCVTPS2PD 64(SI), Z6
	VCVTPS2PD 96(SI), Z7
	VFMADD231PD 0(DI), Z4, Z0
	VFMADD231PD 64(DI), Z5, Z1
	VFMADD231PD 128(DI), Z6, Z2
	VFMADD231PD 192(DI), Z7, Z3
	VMOVUPD 0(R9), Z8
	VMOVUPD 64(R9), Z9
	VMOVUPD 128(R9), Z10
	VMOVUPD 192(R9), Z11
	VFMADD231PD Z4, Z16, Z8
	VFMADD231PD Z5, Z16, Z9
	VFMADD231PD Z6, Z16, Z10
	VFMADD231PD Z7, Z16, Z11
	VMOVUPD Z8, 0(R9)
	VMOVUPD Z9, 64(R9)
	VMOVUPD Z10, 128(R9)
	VMOVUPD Z11, 192(R9)
	ADDQ $256, R9
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z (SI), K1, Z4
	VMOVUPD.Z 0(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z0
	VMOVUPD.Z 0(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 0(R9)
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z 32(SI), K1, Z4
	VMOVUPD.Z 64(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z1
	VMOVUPD.Z 64(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 64(R9)
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z 64(SI), K1, Z4
	VMOVUPD.Z 128(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z2
	VMOVUPD.Z 128(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 128(R9)
	TESTQ R12, R12
	JZ   fold
	MASK512(8)
	VCVTPS2PD.Z 96(SI), K1, Z4
	VMOVUPD.Z 192(DI), K1, Z5
	VFMADD231PD Z5, Z4, K1, Z3
	VMOVUPD.Z 192(R9), K1, Z8
	VFMADD231PD Z4, Z16, Z8
	VMOVUPD Z8, K1, 192(R9)

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Z0, 0(R8)
	VMOVUPD Z1, 64(R8)
	VMOVUPD Z2, 128(R8)
	VMOVUPD Z3, 192(R8)

sum:
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VADDPD Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET

// func avx512AxpyMixed(n int, alpha float64, x *float32, y *float64)
TEXT ·avx512AxpyMixed(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), R12
	VBROADCASTSD alpha+8(FP), Z0
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DI
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VMOVUPD (DI), Z4
	VMOVUPD 64(DI), Z5
	VMOVUPD 128(DI), Z6
	VMOVUPD 192(DI), Z7
	VCVTPS2PD (SI), Z9
	VFMADD231PD Z9, Z0, Z4
	VCVTPS2PD 32(SI), Z9
	VFMADD231PD Z9, Z0, Z5
	VCVTPS2PD 64(SI), Z9
	VFMADD231PD Z9, Z0, Z6
	VCVTPS2PD 96(SI), Z9
	VFMADD231PD Z9, Z0, Z7
	VMOVUPD Z4, (DI)
	VMOVUPD Z5, 64(DI)
	VMOVUPD Z6, 128(DI)
	VMOVUPD Z7, 192(DI)
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (DI), K1, Z4
	VCVTPS2PD.Z (SI), K1, Z5
	VFMADD231PD Z5, Z0, Z4
	VMOVUPD Z4, K1, (DI)
	ADDQ $32, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512AxpysMixed(n int, x *float64, a *float32, lda int, y *float64)
TEXT ·avx512AxpysMixed(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), BX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ y+32(FP), DI
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	VBROADCASTSD 0(BX), Z8
	VBROADCASTSD 8(BX), Z9
	VBROADCASTSD 16(BX), Z10
	VBROADCASTSD 24(BX), Z11
	VBROADCASTSD 32(BX), Z12
	VBROADCASTSD 40(BX), Z13
	VBROADCASTSD 48(BX), Z14
	VBROADCASTSD 56(BX), Z15
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VMOVUPD (DI), Z0
	VMOVUPD 64(DI), Z1
	VCVTPS2PD (SI), Z2
	VFMADD231PD Z2, Z8, Z0
	VCVTPS2PD 32(SI), Z2
	VFMADD231PD Z2, Z8, Z1
	VCVTPS2PD (SI)(R8*1), Z2
	VFMADD231PD Z2, Z9, Z0
	VCVTPS2PD 32(SI)(R8*1), Z2
	VFMADD231PD Z2, Z9, Z1
	VCVTPS2PD (SI)(R8*2), Z2
	VFMADD231PD Z2, Z10, Z0
	VCVTPS2PD 32(SI)(R8*2), Z2
	VFMADD231PD Z2, Z10, Z1
	VCVTPS2PD (SI)(R9*1), Z2
	VFMADD231PD Z2, Z11, Z0
	VCVTPS2PD 32(SI)(R9*1), Z2
	VFMADD231PD Z2, Z11, Z1
	VCVTPS2PD (SI)(R8*4), Z2
	VFMADD231PD Z2, Z12, Z0
	VCVTPS2PD 32(SI)(R8*4), Z2
	VFMADD231PD Z2, Z12, Z1
	VCVTPS2PD (SI)(R10*1), Z2
	VFMADD231PD Z2, Z13, Z0
	VCVTPS2PD 32(SI)(R10*1), Z2
	VFMADD231PD Z2, Z13, Z1
	VCVTPS2PD (SI)(R9*2), Z2
	VFMADD231PD Z2, Z14, Z0
	VCVTPS2PD 32(SI)(R9*2), Z2
	VFMADD231PD Z2, Z14, Z1
	VCVTPS2PD (SI)(R11*1), Z2
	VFMADD231PD Z2, Z15, Z0
	VCVTPS2PD 32(SI)(R11*1), Z2
	VFMADD231PD Z2, Z15, Z1
	VMOVUPD Z0, (DI)
	VMOVUPD Z1, 64(DI)
	ADDQ $64, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (DI), K1, Z0
	VCVTPS2PD.Z (SI), K1, Z2
	VFMADD231PD Z2, Z8, K1, Z0
	VCVTPS2PD.Z (SI)(R8*1), K1, Z2
	VFMADD231PD Z2, Z9, K1, Z0
	VCVTPS2PD.Z (SI)(R8*2), K1, Z2
	VFMADD231PD Z2, Z10, K1, Z0
	VCVTPS2PD.Z (SI)(R9*1), K1, Z2
	VFMADD231PD Z2, Z11, K1, Z0
	VCVTPS2PD.Z (SI)(R8*4), K1, Z2
	VFMADD231PD Z2, Z12, K1, Z0
	VCVTPS2PD.Z (SI)(R10*1), K1, Z2
	VFMADD231PD Z2, Z13, K1, Z0
	VCVTPS2PD.Z (SI)(R9*2), K1, Z2
	VFMADD231PD Z2, Z14, K1, Z0
	VCVTPS2PD.Z (SI)(R11*1), K1, Z2
	VFMADD231PD Z2, Z15, K1, Z0
	VMOVUPD Z0, K1, (DI)
	ADDQ $32, SI
	ADDQ $64, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// MASKMIXED256 is MASK256(4, 3), and X12 selects as many float32.
#define MASKMIXED256 \
	MASK256(4, 3)             \
	LEAQ    masks<>+32(SB), AX \
	SHRQ    $1, CX            \
	SUBQ    CX, AX            \
	VMOVUPS (AX), X12

// func avx2DotMixed(n int, a *float32, x *float64, lanes *[Lanes]float64) float64
TEXT ·avx2DotMixed(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ a+8(FP), SI
	MOVQ x+16(FP), DI
	MOVQ lanes+24(FP), R8
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Y0
	VMOVUPD 32(R8), Y1
	VMOVUPD 64(R8), Y2
	VMOVUPD 96(R8), Y3
	VMOVUPD 128(R8), Y4
	VMOVUPD 160(R8), Y5
	VMOVUPD 192(R8), Y6
	VMOVUPD 224(R8), Y7

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VCVTPS2PD (SI), Y8
	VCVTPS2PD 16(SI), Y9
	VCVTPS2PD 32(SI), Y10
	VCVTPS2PD 48(SI), Y11
	VFMADD231PD 0(DI), Y8, Y0
	VFMADD231PD 32(DI), Y9, Y1
	VFMADD231PD 64(DI), Y10, Y2
	VFMADD231PD 96(DI), Y11, Y3
	VCVTPS2PD 64(SI), Y8
	VCVTPS2PD 80(SI), Y9
	VCVTPS2PD 96(SI), Y10
	VCVTPS2PD 112(SI), Y11
	VFMADD231PD 128(DI), Y8, Y4
	VFMADD231PD 160(DI), Y9, Y5
	VFMADD231PD 192(DI), Y10, Y6
	VFMADD231PD 224(DI), Y11, Y7
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS (SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 0(DI), Y15, Y9
	VMOVAPD Y0, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y0, Y0
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 16(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 32(DI), Y15, Y9
	VMOVAPD Y1, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y1, Y1
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 32(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 64(DI), Y15, Y9
	VMOVAPD Y2, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y2, Y2
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 48(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 96(DI), Y15, Y9
	VMOVAPD Y3, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y3, Y3
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 64(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 128(DI), Y15, Y9
	VMOVAPD Y4, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y4, Y4
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 80(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 160(DI), Y15, Y9
	VMOVAPD Y5, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y5, Y5
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 96(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 192(DI), Y15, Y9
	VMOVAPD Y6, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y6, Y6
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 112(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 224(DI), Y15, Y9
	VMOVAPD Y7, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y7, Y7

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Y0, 0(R8)
	VMOVUPD Y1, 32(R8)
	VMOVUPD Y2, 64(R8)
	VMOVUPD Y3, 96(R8)
	VMOVUPD Y4, 128(R8)
	VMOVUPD Y5, 160(R8)
	VMOVUPD Y6, 192(R8)
	VMOVUPD Y7, 224(R8)

sum:
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+32(FP)
	VZEROUPPER
	RET

// func avx2DotAxpyMixed(n int, alpha float64, a *float32, x, y *float64, lanes *[Lanes]float64) float64
TEXT ·avx2DotAxpyMixed(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), R12
	MOVQ a+16(FP), SI
	MOVQ x+24(FP), DI
	MOVQ lanes+40(FP), R8
	MOVQ y+32(FP), R9
	VBROADCASTSD alpha+8(FP), Y14
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	TESTQ R8, R8
	JZ    start
	VMOVUPD 0(R8), Y0
	VMOVUPD 32(R8), Y1
	VMOVUPD 64(R8), Y2
	VMOVUPD 96(R8), Y3
	VMOVUPD 128(R8), Y4
	VMOVUPD 160(R8), Y5
	VMOVUPD 192(R8), Y6
	VMOVUPD 224(R8), Y7

start:
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VCVTPS2PD (SI), Y8
	VCVTPS2PD 16(SI), Y9
	VCVTPS2PD 32(SI), Y10
	VCVTPS2PD 48(SI), Y11
	VFMADD231PD 0(DI), Y8, Y0
	VFMADD231PD 32(DI), Y9, Y1
	VFMADD231PD 64(DI), Y10, Y2
	VFMADD231PD 96(DI), Y11, Y3
	VMOVUPD 0(R9), Y13
	VFMADD231PD Y8, Y14, Y13
	VMOVUPD Y13, 0(R9)
	VMOVUPD 32(R9), Y13
	VFMADD231PD Y9, Y14, Y13
	VMOVUPD Y13, 32(R9)
	VMOVUPD 64(R9), Y13
	VFMADD231PD Y10, Y14, Y13
	VMOVUPD Y13, 64(R9)
	VMOVUPD 96(R9), Y13
	VFMADD231PD Y11, Y14, Y13
	VMOVUPD Y13, 96(R9)
	VCVTPS2PD 64(SI), Y8
	VCVTPS2PD 80(SI), Y9
	VCVTPS2PD 96(SI), Y10
	VCVTPS2PD 112(SI), Y11
	VFMADD231PD 128(DI), Y8, Y4
	VFMADD231PD 160(DI), Y9, Y5
	VFMADD231PD 192(DI), Y10, Y6
	VFMADD231PD 224(DI), Y11, Y7
	VMOVUPD 128(R9), Y13
	VFMADD231PD Y8, Y14, Y13
	VMOVUPD Y13, 128(R9)
	VMOVUPD 160(R9), Y13
	VFMADD231PD Y9, Y14, Y13
	VMOVUPD Y13, 160(R9)
	VMOVUPD 192(R9), Y13
	VFMADD231PD Y10, Y14, Y13
	VMOVUPD Y13, 192(R9)
	VMOVUPD 224(R9), Y13
	VFMADD231PD Y11, Y14, Y13
	VMOVUPD Y13, 224(R9)
	ADDQ $256, R9
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS (SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 0(DI), Y15, Y9
	VMOVAPD Y0, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y0, Y0
	VMASKMOVPD 0(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 0(R9)
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 16(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 32(DI), Y15, Y9
	VMOVAPD Y1, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y1, Y1
	VMASKMOVPD 32(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 32(R9)
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 32(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 64(DI), Y15, Y9
	VMOVAPD Y2, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y2, Y2
	VMASKMOVPD 64(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 64(R9)
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 48(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 96(DI), Y15, Y9
	VMOVAPD Y3, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y3, Y3
	VMASKMOVPD 96(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 96(R9)
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 64(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 128(DI), Y15, Y9
	VMOVAPD Y4, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y4, Y4
	VMASKMOVPD 128(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 128(R9)
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 80(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 160(DI), Y15, Y9
	VMOVAPD Y5, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y5, Y5
	VMASKMOVPD 160(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 160(R9)
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 96(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 192(DI), Y15, Y9
	VMOVAPD Y6, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y6, Y6
	VMASKMOVPD 192(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 192(R9)
	TESTQ R12, R12
	JZ   fold
	MASKMIXED256
	VMASKMOVPS 112(SI), X12, X8
	VCVTPS2PD X8, Y8
	VMASKMOVPD 224(DI), Y15, Y9
	VMOVAPD Y7, Y10
	VFMADD231PD Y8, Y9, Y10
	VBLENDVPD Y15, Y10, Y7, Y7
	VMASKMOVPD 224(R9), Y15, Y13
	VFMADD231PD Y8, Y14, Y13
	VMASKMOVPD Y13, Y15, 224(R9)

fold:
	TESTQ R8, R8
	JZ    sum
	VMOVUPD Y0, 0(R8)
	VMOVUPD Y1, 32(R8)
	VMOVUPD Y2, 64(R8)
	VMOVUPD Y3, 96(R8)
	VMOVUPD Y4, 128(R8)
	VMOVUPD Y5, 160(R8)
	VMOVUPD Y6, 192(R8)
	VMOVUPD Y7, 224(R8)

sum:
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VADDPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VXORPD X1, X1, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET

// func avx2AxpyMixed(n int, alpha float64, x *float32, y *float64)
TEXT ·avx2AxpyMixed(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), R12
	VBROADCASTSD alpha+8(FP), Y0
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DI
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VMOVUPD (DI), Y4
	VMOVUPD 32(DI), Y5
	VMOVUPD 64(DI), Y6
	VMOVUPD 96(DI), Y7
	VCVTPS2PD (SI), Y8
	VFMADD231PD Y8, Y0, Y4
	VCVTPS2PD 16(SI), Y8
	VFMADD231PD Y8, Y0, Y5
	VCVTPS2PD 32(SI), Y8
	VFMADD231PD Y8, Y0, Y6
	VCVTPS2PD 48(SI), Y8
	VFMADD231PD Y8, Y0, Y7
	VMOVUPD Y4, (DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, 64(DI)
	VMOVUPD Y7, 96(DI)
	ADDQ $64, SI
	ADDQ $128, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASKMIXED256
	VMASKMOVPD (DI), Y15, Y4
	VMASKMOVPS (SI), X12, X5
	VCVTPS2PD X5, Y5
	VFMADD231PD Y5, Y0, Y4
	VMASKMOVPD Y4, Y15, (DI)
	ADDQ $16, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2AxpysMixed(n int, x *float64, a *float32, lda int, y *float64)
TEXT ·avx2AxpysMixed(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), BX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ y+32(FP), DI
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	VBROADCASTSD 0(BX), Y8
	VBROADCASTSD 8(BX), Y9
	VBROADCASTSD 16(BX), Y10
	VBROADCASTSD 24(BX), Y11
	MOVQ R12, BX
	SHRQ $3, BX
	JZ   tail

loop:
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VCVTPS2PD (SI), Y5
	VFMADD231PD Y5, Y8, Y0
	VCVTPS2PD 16(SI), Y5
	VFMADD231PD Y5, Y8, Y1
	VCVTPS2PD (SI)(R8*1), Y5
	VFMADD231PD Y5, Y9, Y0
	VCVTPS2PD 16(SI)(R8*1), Y5
	VFMADD231PD Y5, Y9, Y1
	VCVTPS2PD (SI)(R8*2), Y5
	VFMADD231PD Y5, Y10, Y0
	VCVTPS2PD 16(SI)(R8*2), Y5
	VFMADD231PD Y5, Y10, Y1
	VCVTPS2PD (SI)(R9*1), Y5
	VFMADD231PD Y5, Y11, Y0
	VCVTPS2PD 16(SI)(R9*1), Y5
	VFMADD231PD Y5, Y11, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $32, SI
	ADDQ $64, DI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $7, R12
	JZ   done

one:
	MASKMIXED256
	VMASKMOVPD (DI), Y15, Y0
	VMASKMOVPS (SI), X12, X4
	VCVTPS2PD X4, Y4
	VFMADD231PD Y4, Y8, Y0
	VMASKMOVPS (SI)(R8*1), X12, X4
	VCVTPS2PD X4, Y4
	VFMADD231PD Y4, Y9, Y0
	VMASKMOVPS (SI)(R8*2), X12, X4
	VCVTPS2PD X4, Y4
	VFMADD231PD Y4, Y10, Y0
	VMASKMOVPS (SI)(R9*1), X12, X4
	VCVTPS2PD X4, Y4
	VFMADD231PD Y4, Y11, Y0
	VMASKMOVPD Y0, Y15, (DI)
	ADDQ $16, SI
	ADDQ $32, DI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET
