//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// Sums of powers of two by the polynomial of exp2.go, operation by operation.

// exp2Const holds the constants of exp2.go, each four times.
#define EVERY(off, c) \
	DATA exp2Const<>+(off+0)(SB)/4, $c; \
	DATA exp2Const<>+(off+4)(SB)/4, $c; \
	DATA exp2Const<>+(off+8)(SB)/4, $c; \
	DATA exp2Const<>+(off+12)(SB)/4, $c

EVERY(0, -125.0) // min
EVERY(16, 0x1.8000fep23) // round
EVERY(32, 0x1.417b5ep-13)
EVERY(48, 0x1.5f0932p-10)
EVERY(64, 0x1.3b2ddp-7)
EVERY(80, 0x1.c6af7ap-5)
EVERY(96, 0x1.ebfbdcp-3)
EVERY(112, 0x1.62e43p-1)
EVERY(128, 1.0)
GLOBL exp2Const<>(SB), RODATA|NOPTR, $144

// EXP2REDUCE leaves rint(x) + 127 in the low bits of t and r in x.
#define EXP2REDUCE(x, t, n) \
	VFMAXS(16, x, x); \
	VFADDS(17, x, t); \
	VFSUBS(17, t, n); \
	VFSUBS(n, x, x)

// EXP2STEP is p = fma(p, r, c) for four vectors, from p0–p3 to q0–q3.
#define EXP2STEP(c, p0, p1, p2, p3, q0, q1, q2, q3) \
	VMOV  c.B16, q0.B16; \
	VMOV  c.B16, q1.B16; \
	VMOV  c.B16, q2.B16; \
	VMOV  c.B16, q3.B16; \
	VFMLA V0.S4, p0.S4, q0.S4; \
	VFMLA V1.S4, p1.S4, q1.S4; \
	VFMLA V2.S4, p2.S4, q2.S4; \
	VFMLA V3.S4, p3.S4, q3.S4

// func neonExp2Sum(n, terms int, coef, amp, src, dst *float32, add bool)
//
//	for i := 0; i < n; i += 16:
//		dst = 0, or from memory
//		for p := range terms:
//			dst = fma(amp[p], 2^(coef[p]*src), dst)
//
//	R0 src   R1 dst   R2 elements left   R3 exp2Const   R4 terms   R5 coef   R6 amp   R7 add
//	R8 R9 in coef and amp   R10 terms left
//	V0–V3    x, then r      V4–V7  t, then 2^n
//	V8–V15   n and p, in turns
//	V16 min   V17 round   V18–V24 coefficients
//	V25–V28  of dst   V29 coef_p   V30 amp_p
TEXT ·neonExp2Sum(SB), NOSPLIT, $0-49
	MOVD  n+0(FP), R2
	MOVD  terms+8(FP), R4
	MOVD  coef+16(FP), R5
	MOVD  amp+24(FP), R6
	MOVD  src+32(FP), R0
	MOVD  dst+40(FP), R1
	MOVBU add+48(FP), R7
	MOVD  $exp2Const<>(SB), R3
	FLDPQ (R3), (F16, F17)
	FLDPQ 32(R3), (F18, F19)
	FLDPQ 64(R3), (F20, F21)
	FLDPQ 96(R3), (F22, F23)
	FMOVQ 128(R3), F24

block:
	ZERO4(V25, V26, V27, V28)
	CBZ   R7, terms
	FLDPQ (R1), (F25, F26)
	FLDPQ 32(R1), (F27, F28)

terms:
	MOVD R5, R8
	MOVD R6, R9
	MOVD R4, R10
	CBZ  R10, store

term:
	FMOVS.P 4(R8), F29
	FLDPQ   (R0), (F0, F1)
	FLDPQ   32(R0), (F2, F3)
	VFMULS0(29, 0, 0)
	VFMULS0(29, 1, 1)
	VFMULS0(29, 2, 2)
	VFMULS0(29, 3, 3)
	EXP2REDUCE(0, 4, 8)
	EXP2REDUCE(1, 5, 9)
	EXP2REDUCE(2, 6, 10)
	EXP2REDUCE(3, 7, 11)
	EXP2STEP(V19, V18, V18, V18, V18, V8, V9, V10, V11)
	EXP2STEP(V20, V8, V9, V10, V11, V12, V13, V14, V15)
	EXP2STEP(V21, V12, V13, V14, V15, V8, V9, V10, V11)
	EXP2STEP(V22, V8, V9, V10, V11, V12, V13, V14, V15)
	EXP2STEP(V23, V12, V13, V14, V15, V8, V9, V10, V11)
	EXP2STEP(V24, V8, V9, V10, V11, V12, V13, V14, V15)
	VSHL    $23, V4.S4, V4.S4
	VSHL    $23, V5.S4, V5.S4
	VSHL    $23, V6.S4, V6.S4
	VSHL    $23, V7.S4, V7.S4
	VFMULS(4, 12, 12)
	VFMULS(5, 13, 13)
	VFMULS(6, 14, 14)
	VFMULS(7, 15, 15)
	FMOVS.P 4(R9), F30
	VFMLAS0(30, 12, 25)
	VFMLAS0(30, 13, 26)
	VFMLAS0(30, 14, 27)
	VFMLAS0(30, 15, 28)
	SUBS    $1, R10
	BNE     term

store:
	FSTPQ (F25, F26), (R1)
	FSTPQ (F27, F28), 32(R1)
	ADD   $64, R0
	ADD   $64, R1
	SUBS  $16, R2
	BNE   block
	RET
