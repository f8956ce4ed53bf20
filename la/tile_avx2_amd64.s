//go:build !purego

#include "textflag.h"

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
