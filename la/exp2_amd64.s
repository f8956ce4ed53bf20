//go:build !purego

#include "textflag.h"

// Sums of powers of two by the polynomial of exp2.go, operation by operation.

// EXP512 leaves 2^x in p. Z0 min, Z1 round, Z2–Z8 coefficients.
#define EXP512(x, t, p) \
	VMAXPS x, Z0, x \
	VADDPS x, Z1, t \
	VSUBPS Z1, t, p \
	VSUBPS p, x, x \
	VMOVAPS Z2, p \
	VFMADD213PS Z3, x, p \
	VFMADD213PS Z4, x, p \
	VFMADD213PS Z5, x, p \
	VFMADD213PS Z6, x, p \
	VFMADD213PS Z7, x, p \
	VFMADD213PS Z8, x, p \
	VPSLLD $23, t, t \
	VMULPS t, p, p

// func avx512Exp2Sum(n, terms int, coef, amp, src, dst *float32, add bool)
//
//	R12 n   R13 terms   DX coef   CX amp   SI src   DI dst   AX add
//	R8 R9 in coef and amp   BX terms left
//	Z0–Z8 constants   Z13–Z16 of dst   Z17 amp_p   Z30 coef_p   Z18–Z29 as in EXP512
//
//	for 64 elements {
//		dst = 0, or from memory
//		for p < terms { dst = fma(amp_p, 2^(coef_p·src), dst) }
//	}
TEXT ·avx512Exp2Sum(SB), NOSPLIT, $0-49
	MOVQ n+0(FP), R12
	MOVQ terms+8(FP), R13
	MOVQ coef+16(FP), DX
	MOVQ amp+24(FP), CX
	MOVQ src+32(FP), SI
	MOVQ dst+40(FP), DI
	MOVBLZX add+48(FP), AX
	VBROADCASTSS ·exp2Vectors+0(SB), Z0
	VBROADCASTSS ·exp2Vectors+32(SB), Z1
	VBROADCASTSS ·exp2Vectors+64(SB), Z2
	VBROADCASTSS ·exp2Vectors+96(SB), Z3
	VBROADCASTSS ·exp2Vectors+128(SB), Z4
	VBROADCASTSS ·exp2Vectors+160(SB), Z5
	VBROADCASTSS ·exp2Vectors+192(SB), Z6
	VBROADCASTSS ·exp2Vectors+224(SB), Z7
	VBROADCASTSS ·exp2Vectors+256(SB), Z8

loop:
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	TESTB AX, AX
	JZ   terms
	VMOVUPS 0(DI), Z13
	VMOVUPS 64(DI), Z14
	VMOVUPS 128(DI), Z15
	VMOVUPS 192(DI), Z16

terms:
	MOVQ DX, R8
	MOVQ CX, R9
	MOVQ R13, BX
	TESTQ BX, BX
	JZ   store

term:
	VBROADCASTSS (R8), Z30
	VMULPS 0(SI), Z30, Z18
	VMULPS 64(SI), Z30, Z21
	VMULPS 128(SI), Z30, Z24
	VMULPS 192(SI), Z30, Z27
	EXP512(Z18, Z19, Z20)
	EXP512(Z21, Z22, Z23)
	EXP512(Z24, Z25, Z26)
	EXP512(Z27, Z28, Z29)
	VBROADCASTSS (R9), Z17
	VFMADD231PS Z20, Z17, Z13
	VFMADD231PS Z23, Z17, Z14
	VFMADD231PS Z26, Z17, Z15
	VFMADD231PS Z29, Z17, Z16
	ADDQ $4, R8
	ADDQ $4, R9
	DECQ BX
	JNZ  term

store:
	VMOVUPS Z13, 0(DI)
	VMOVUPS Z14, 64(DI)
	VMOVUPS Z15, 128(DI)
	VMOVUPS Z16, 192(DI)
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $64, R12
	JNZ  loop
	VZEROUPPER
	RET

// EXP256 leaves 2^x in p. R8 is at exp2Vectors: min, round and the coefficients. The first of them are
// in Y11–Y15.
#define EXP256(x, t, p) \
	VMAXPS x, Y11, x \
	VADDPS x, Y12, t \
	VSUBPS Y12, t, p \
	VSUBPS p, x, x \
	VMOVAPS Y13, p \
	VFMADD213PS Y14, x, p \
	VFMADD213PS Y15, x, p \
	VFMADD213PS 160(R8), x, p \
	VFMADD213PS 192(R8), x, p \
	VFMADD213PS 224(R8), x, p \
	VFMADD213PS 256(R8), x, p \
	VPSLLD $23, t, t \
	VMULPS t, p, p

// func avx2Exp2Sum(n, terms int, coef, amp, src, dst *float32, add bool)
//
//	R12 n   R13 terms   DX coef   CX amp   SI src   DI dst   AX add
//	R8 constants   R9 R10 in coef and amp   BX terms left
//	Y0–Y5 as in EXP256   Y6 Y7 of dst   Y8 coef_p   Y9 amp_p   Y11–Y15 constants
//
//	for 16 elements {
//		dst = 0, or from memory
//		for p < terms { dst = fma(amp_p, 2^(coef_p·src), dst) }
//	}
TEXT ·avx2Exp2Sum(SB), NOSPLIT, $0-49
	MOVQ n+0(FP), R12
	MOVQ terms+8(FP), R13
	MOVQ coef+16(FP), DX
	MOVQ amp+24(FP), CX
	MOVQ src+32(FP), SI
	MOVQ dst+40(FP), DI
	MOVBLZX add+48(FP), AX
	LEAQ ·exp2Vectors(SB), R8
	VMOVUPS 0(R8), Y11
	VMOVUPS 32(R8), Y12
	VMOVUPS 64(R8), Y13
	VMOVUPS 96(R8), Y14
	VMOVUPS 128(R8), Y15

loop:
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	TESTB AX, AX
	JZ   terms
	VMOVUPS (DI), Y6
	VMOVUPS 32(DI), Y7

terms:
	MOVQ DX, R9
	MOVQ CX, R10
	MOVQ R13, BX
	TESTQ BX, BX
	JZ   store

term:
	VBROADCASTSS (R9), Y8
	VMULPS (SI), Y8, Y0
	VMULPS 32(SI), Y8, Y3
	EXP256(Y0, Y1, Y2)
	EXP256(Y3, Y4, Y5)
	VBROADCASTSS (R10), Y9
	VFMADD231PS Y2, Y9, Y6
	VFMADD231PS Y5, Y9, Y7
	ADDQ $4, R9
	ADDQ $4, R10
	DECQ BX
	JNZ  term

store:
	VMOVUPS Y6, (DI)
	VMOVUPS Y7, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, R12
	JNZ  loop
	VZEROUPPER
	RET
