//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// PREFETCHROW fetches the row of C at R7 for writing and steps to the next.
#define PREFETCHROW \
	PRFM (R7), PSTL1KEEP; \
	ADD  R4, R7

// PREFETCHROWS6 fetches six rows of C, from R3 on, R4 bytes apart.
#define PREFETCHROWS6 \
	MOVD R3, R7; \
	PREFETCHROW; \
	PREFETCHROW; \
	PREFETCHROW; \
	PREFETCHROW; \
	PREFETCHROW; \
	PREFETCHROW

// PREFETCHROWS8 fetches eight.
#define PREFETCHROWS8 \
	PREFETCHROWS6; \
	PREFETCHROW; \
	PREFETCHROW

// func neonGemm64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)
//
//	for i, j in 6×8:
//		s := 0.0
//		for p := range k: s = fma(a[6p+i], b[8p+j], s)
//		c[i*ldc+j] = alpha*s   or   fma(alpha, s, c[i*ldc+j])
//
//	R0 k   R1 a   R2 b   R3 c   R4 row of c in bytes   R5 k/4   R6 add   R7 next
//	V0–V23   the tile, row i in V4i…V4i+3
//	V24–V27  b[8p…8p+7]
//	V28–V30  a[6p…6p+5], used by element
//	V31      alpha
//
// The inner loop takes four p a turn: 96 FMLA among 122 instructions.

#define GEMM64ROW0(a, c0, c1, c2, c3) \
	VFMLAD0(a, 24, c0); \
	VFMLAD0(a, 25, c1); \
	VFMLAD0(a, 26, c2); \
	VFMLAD0(a, 27, c3)

#define GEMM64ROW1(a, c0, c1, c2, c3) \
	VFMLAD1(a, 24, c0); \
	VFMLAD1(a, 25, c1); \
	VFMLAD1(a, 26, c2); \
	VFMLAD1(a, 27, c3)

#define GEMM64STEP(p) \
	FLDPQ (64*p)(R2), (F24, F25); \
	FLDPQ (64*p+32)(R2), (F26, F27); \
	FLDPQ (48*p)(R1), (F28, F29); \
	FMOVQ (48*p+32)(R1), F30; \
	GEMM64ROW0(28, 0, 1, 2, 3); \
	GEMM64ROW1(28, 4, 5, 6, 7); \
	GEMM64ROW0(29, 8, 9, 10, 11); \
	GEMM64ROW1(29, 12, 13, 14, 15); \
	GEMM64ROW0(30, 16, 17, 18, 19); \
	GEMM64ROW1(30, 20, 21, 22, 23)

#define GEMM64SET(c0, c1, c2, c3) \
	VFMULD0(31, c0, 24); \
	VFMULD0(31, c1, 25); \
	VFMULD0(31, c2, 26); \
	VFMULD0(31, c3, 27); \
	FSTPQ (F24, F25), (R3); \
	FSTPQ (F26, F27), 32(R3); \
	ADD   R4, R3

#define GEMM64ADD(c0, c1, c2, c3) \
	FLDPQ (R3), (F24, F25); \
	FLDPQ 32(R3), (F26, F27); \
	VFMLAD0(31, c0, 24); \
	VFMLAD0(31, c1, 25); \
	VFMLAD0(31, c2, 26); \
	VFMLAD0(31, c3, 27); \
	FSTPQ (F24, F25), (R3); \
	FSTPQ (F26, F27), 32(R3); \
	ADD   R4, R3

TEXT ·neonGemm64(SB), NOSPLIT, $0-64
	MOVD  k+0(FP), R0
	FMOVD alpha+8(FP), F31
	MOVD  a+16(FP), R1
	MOVD  b+24(FP), R2
	MOVD  c+32(FP), R3
	MOVD  ldc+40(FP), R4
	MOVBU add+48(FP), R6
	MOVD  next+56(FP), R7
	LSL   $3, R4
	PREFETCHROWS6
	ZERO24
	LSR   $2, R0, R5
	CBZ   R5, rest

four:
	PRFM (R7), PLDL2KEEP
	ADD  $32, R7
	PRFM 1024(R2), PLDL1KEEP
	PRFM 1088(R2), PLDL1KEEP
	PRFM 1152(R2), PLDL1KEEP
	PRFM 1216(R2), PLDL1KEEP
	GEMM64STEP(0)
	GEMM64STEP(1)
	GEMM64STEP(2)
	GEMM64STEP(3)
	ADD  $192, R1
	ADD  $256, R2
	SUB  $1, R5
	CBNZ R5, four

rest:
	ANDS $3, R0
	BEQ  store

one:
	GEMM64STEP(0)
	ADD  $48, R1
	ADD  $64, R2
	SUB  $1, R0
	CBNZ R0, one

store:
	CBNZ R6, add
	GEMM64SET(0, 1, 2, 3)
	GEMM64SET(4, 5, 6, 7)
	GEMM64SET(8, 9, 10, 11)
	GEMM64SET(12, 13, 14, 15)
	GEMM64SET(16, 17, 18, 19)
	GEMM64SET(20, 21, 22, 23)
	RET

add:
	GEMM64ADD(0, 1, 2, 3)
	GEMM64ADD(4, 5, 6, 7)
	GEMM64ADD(8, 9, 10, 11)
	GEMM64ADD(12, 13, 14, 15)
	GEMM64ADD(16, 17, 18, 19)
	GEMM64ADD(20, 21, 22, 23)
	RET

// func neonDist64(k int, a, b, c *float64, ldc int, add bool)
//
//	for i, j in 6×8:
//		s := 0.0   or   c[i*ldc+j]
//		for p := range k: d := a[6p+i] - b[8p+j]; s = fma(d, d, s)
//		c[i*ldc+j] = s
//
//	R0 k   R1 a   R2 b   R3 c   R4 row of c in bytes   R6 add
//	V0–V23   the tile, row i in V4i…V4i+3
//	V24–V27  b[8p…8p+7]
//	V28      two of a[6p…6p+5]
//	V29      a[6p+i] in both lanes
//	V30 V31  differences

#define DIST64ROW(i, c0, c1, c2, c3) \
	VDUP V28.D[i], V29.D2; \
	VFSUBD(24, 29, 30); \
	VFSUBD(25, 29, 31); \
	VFMLA V30.D2, V30.D2, c0.D2; \
	VFMLA V31.D2, V31.D2, c1.D2; \
	VFSUBD(26, 29, 30); \
	VFSUBD(27, 29, 31); \
	VFMLA V30.D2, V30.D2, c2.D2; \
	VFMLA V31.D2, V31.D2, c3.D2

#define DIST64LOAD(c0, c1, c2, c3) \
	VLD1 (R7), [c0.D2, c1.D2, c2.D2, c3.D2]; \
	ADD  R4, R7

#define DIST64STORE(c0, c1, c2, c3) \
	VST1 [c0.D2, c1.D2, c2.D2, c3.D2], (R3); \
	ADD  R4, R3

TEXT ·neonDist64(SB), NOSPLIT, $0-41
	MOVD  k+0(FP), R0
	MOVD  a+8(FP), R1
	MOVD  b+16(FP), R2
	MOVD  c+24(FP), R3
	MOVD  ldc+32(FP), R4
	MOVBU add+40(FP), R6
	LSL   $3, R4
	CBNZ  R6, load
	PREFETCHROWS6
	ZERO24
	B     terms

load:
	MOVD R3, R7
	DIST64LOAD(V0, V1, V2, V3)
	DIST64LOAD(V4, V5, V6, V7)
	DIST64LOAD(V8, V9, V10, V11)
	DIST64LOAD(V12, V13, V14, V15)
	DIST64LOAD(V16, V17, V18, V19)
	DIST64LOAD(V20, V21, V22, V23)

terms:
	CBZ R0, store

one:
	FLDPQ (R2), (F24, F25)
	FLDPQ 32(R2), (F26, F27)
	ADD   $64, R2
	FMOVQ (R1), F28
	DIST64ROW(0, V0, V1, V2, V3)
	DIST64ROW(1, V4, V5, V6, V7)
	FMOVQ 16(R1), F28
	DIST64ROW(0, V8, V9, V10, V11)
	DIST64ROW(1, V12, V13, V14, V15)
	FMOVQ 32(R1), F28
	DIST64ROW(0, V16, V17, V18, V19)
	DIST64ROW(1, V20, V21, V22, V23)
	ADD  $48, R1
	SUB  $1, R0
	CBNZ R0, one

store:
	DIST64STORE(V0, V1, V2, V3)
	DIST64STORE(V4, V5, V6, V7)
	DIST64STORE(V8, V9, V10, V11)
	DIST64STORE(V12, V13, V14, V15)
	DIST64STORE(V16, V17, V18, V19)
	DIST64STORE(V20, V21, V22, V23)
	RET

// func neonGemm32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)
//
//	for i, j in 8×12:
//		s := 0.0
//		for p := range k: s = fma(a[8p+i], b[12p+j], s)
//		c[i*ldc+j] = alpha*s   or   fma(alpha, s, c[i*ldc+j])
//
//	R0 k   R1 a   R2 b   R3 c   R4 row of c in bytes   R5 k/4   R6 add   R7 next
//	V0–V23   the tile, row i in V3i…V3i+2
//	V24–V26  b[12p…12p+11]
//	V28–V29  a[8p…8p+7], used by element
//	V31      alpha
//
// The inner loop takes four p a turn: 96 FMLA among 117 instructions.

#define GEMM32ROW0(a, c0, c1, c2) \
	VFMLAS0(a, 24, c0); \
	VFMLAS0(a, 25, c1); \
	VFMLAS0(a, 26, c2)

#define GEMM32ROW1(a, c0, c1, c2) \
	VFMLAS1(a, 24, c0); \
	VFMLAS1(a, 25, c1); \
	VFMLAS1(a, 26, c2)

#define GEMM32ROW2(a, c0, c1, c2) \
	VFMLAS2(a, 24, c0); \
	VFMLAS2(a, 25, c1); \
	VFMLAS2(a, 26, c2)

#define GEMM32ROW3(a, c0, c1, c2) \
	VFMLAS3(a, 24, c0); \
	VFMLAS3(a, 25, c1); \
	VFMLAS3(a, 26, c2)

#define GEMM32STEP(p) \
	FLDPQ (48*p)(R2), (F24, F25); \
	FMOVQ (48*p+32)(R2), F26; \
	FLDPQ (32*p)(R1), (F28, F29); \
	GEMM32ROW0(28, 0, 1, 2); \
	GEMM32ROW1(28, 3, 4, 5); \
	GEMM32ROW2(28, 6, 7, 8); \
	GEMM32ROW3(28, 9, 10, 11); \
	GEMM32ROW0(29, 12, 13, 14); \
	GEMM32ROW1(29, 15, 16, 17); \
	GEMM32ROW2(29, 18, 19, 20); \
	GEMM32ROW3(29, 21, 22, 23)

#define GEMM32SET(c0, c1, c2) \
	VFMULS0(31, c0, 24); \
	VFMULS0(31, c1, 25); \
	VFMULS0(31, c2, 26); \
	FSTPQ (F24, F25), (R3); \
	FMOVQ F26, 32(R3); \
	ADD   R4, R3

#define GEMM32ADD(c0, c1, c2) \
	FLDPQ (R3), (F24, F25); \
	FMOVQ 32(R3), F26; \
	VFMLAS0(31, c0, 24); \
	VFMLAS0(31, c1, 25); \
	VFMLAS0(31, c2, 26); \
	FSTPQ (F24, F25), (R3); \
	FMOVQ F26, 32(R3); \
	ADD   R4, R3

TEXT ·neonGemm32(SB), NOSPLIT, $0-64
	MOVD  k+0(FP), R0
	FMOVS alpha+8(FP), F31
	MOVD  a+16(FP), R1
	MOVD  b+24(FP), R2
	MOVD  c+32(FP), R3
	MOVD  ldc+40(FP), R4
	MOVBU add+48(FP), R6
	MOVD  next+56(FP), R7
	LSL   $2, R4
	PREFETCHROWS8
	ZERO24
	LSR   $2, R0, R5
	CBZ   R5, rest

four:
	PRFM (R7), PLDL2KEEP
	ADD  $16, R7
	PRFM 768(R2), PLDL1KEEP
	PRFM 832(R2), PLDL1KEEP
	PRFM 896(R2), PLDL1KEEP
	GEMM32STEP(0)
	GEMM32STEP(1)
	GEMM32STEP(2)
	GEMM32STEP(3)
	ADD  $128, R1
	ADD  $192, R2
	SUB  $1, R5
	CBNZ R5, four

rest:
	ANDS $3, R0
	BEQ  store

one:
	GEMM32STEP(0)
	ADD  $32, R1
	ADD  $48, R2
	SUB  $1, R0
	CBNZ R0, one

store:
	CBNZ R6, add
	GEMM32SET(0, 1, 2)
	GEMM32SET(3, 4, 5)
	GEMM32SET(6, 7, 8)
	GEMM32SET(9, 10, 11)
	GEMM32SET(12, 13, 14)
	GEMM32SET(15, 16, 17)
	GEMM32SET(18, 19, 20)
	GEMM32SET(21, 22, 23)
	RET

add:
	GEMM32ADD(0, 1, 2)
	GEMM32ADD(3, 4, 5)
	GEMM32ADD(6, 7, 8)
	GEMM32ADD(9, 10, 11)
	GEMM32ADD(12, 13, 14)
	GEMM32ADD(15, 16, 17)
	GEMM32ADD(18, 19, 20)
	GEMM32ADD(21, 22, 23)
	RET

// func neonDist32(k int, a, b, c *float32, ldc int, add bool)
//
//	for i, j in 8×12:
//		s := 0.0   or   c[i*ldc+j]
//		for p := range k: d := a[8p+i] - b[12p+j]; s = fma(d, d, s)
//		c[i*ldc+j] = s
//
//	R0 k   R1 a   R2 b   R3 c   R4 row of c in bytes   R6 add
//	V0–V23   the tile, row i in V3i…V3i+2
//	V24–V26  b[12p…12p+11]
//	V27      a[8p+i] in all lanes
//	V28 V29  a[8p…8p+7]
//	V30 V31  differences

#define DIST32ROW(a, i, c0, c1, c2) \
	VDUP a.S[i], V27.S4; \
	VFSUBS(24, 27, 30); \
	VFSUBS(25, 27, 31); \
	VFMLA V30.S4, V30.S4, c0.S4; \
	VFSUBS(26, 27, 30); \
	VFMLA V31.S4, V31.S4, c1.S4; \
	VFMLA V30.S4, V30.S4, c2.S4

#define DIST32LOAD(c0, c1, c2) \
	VLD1 (R7), [c0.S4, c1.S4, c2.S4]; \
	ADD  R4, R7

#define DIST32STORE(c0, c1, c2) \
	VST1 [c0.S4, c1.S4, c2.S4], (R3); \
	ADD  R4, R3

TEXT ·neonDist32(SB), NOSPLIT, $0-41
	MOVD  k+0(FP), R0
	MOVD  a+8(FP), R1
	MOVD  b+16(FP), R2
	MOVD  c+24(FP), R3
	MOVD  ldc+32(FP), R4
	MOVBU add+40(FP), R6
	LSL   $2, R4
	CBNZ  R6, load
	PREFETCHROWS8
	ZERO24
	B     terms

load:
	MOVD R3, R7
	DIST32LOAD(V0, V1, V2)
	DIST32LOAD(V3, V4, V5)
	DIST32LOAD(V6, V7, V8)
	DIST32LOAD(V9, V10, V11)
	DIST32LOAD(V12, V13, V14)
	DIST32LOAD(V15, V16, V17)
	DIST32LOAD(V18, V19, V20)
	DIST32LOAD(V21, V22, V23)

terms:
	CBZ R0, store

one:
	FLDPQ (R2), (F24, F25)
	FMOVQ 32(R2), F26
	ADD   $48, R2
	FLDPQ (R1), (F28, F29)
	ADD   $32, R1
	DIST32ROW(V28, 0, V0, V1, V2)
	DIST32ROW(V28, 1, V3, V4, V5)
	DIST32ROW(V28, 2, V6, V7, V8)
	DIST32ROW(V28, 3, V9, V10, V11)
	DIST32ROW(V29, 0, V12, V13, V14)
	DIST32ROW(V29, 1, V15, V16, V17)
	DIST32ROW(V29, 2, V18, V19, V20)
	DIST32ROW(V29, 3, V21, V22, V23)
	SUB  $1, R0
	CBNZ R0, one

store:
	DIST32STORE(V0, V1, V2)
	DIST32STORE(V3, V4, V5)
	DIST32STORE(V6, V7, V8)
	DIST32STORE(V9, V10, V11)
	DIST32STORE(V12, V13, V14)
	DIST32STORE(V15, V16, V17)
	DIST32STORE(V18, V19, V20)
	DIST32STORE(V21, V22, V23)
	RET
