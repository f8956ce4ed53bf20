//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// e^x of vectors by the polynomial of exp.go, operation by operation. The bits are equal to the
// bits of exp64 and exp32.

// expConst64 holds the constants of exp.go: the coefficients from the second on
// and what else is used as a vector, then those that are used by element.

#define EVERY64(off, c) \
	DATA expConst64<>+(off+0)(SB)/8, $c; \
	DATA expConst64<>+(off+8)(SB)/8, $c

EVERY64(0, 0x1.28ad68af958e1p-22)
EVERY64(16, 0x1.71df253d8f312p-19)
EVERY64(32, 0x1.a0199a16d5e8ep-16)
EVERY64(48, 0x1.a01a012a684f4p-13)
EVERY64(64, 0x1.6c16c18426709p-10)
EVERY64(80, 0x1.1111111127b9fp-7)
EVERY64(96, 0x1.555555555088cp-5)
EVERY64(112, 0x1.55555555554fap-3)
EVERY64(128, 0x1.000000000000ap-1)
EVERY64(144, 1.0)
EVERY64(160, 0x1.8p52) // round
EVERY64(176, 710.0) // expMax
EVERY64(192, -746.0) // expMin
DATA expConst64<>+208(SB)/8, $0x1.ad7f754cee86ap-26 // first coefficient
DATA expConst64<>+216(SB)/8, $0x1.71547652b82fep+0 // log2e
DATA expConst64<>+224(SB)/8, $0x1.62e42fefa39efp-1 // ln2High
DATA expConst64<>+232(SB)/8, $0x1.abc9e3b39803fp-56 // ln2Low
GLOBL expConst64<>(SB), RODATA|NOPTR, $240

// func neonExp64(n int, dst, src *float64)
//
//	for i := range n:
//		x = src[i]
//		x = max(min(x, expMax), expMin)
//		t := fma(x, log₂e, round)
//		n := t - round
//		r := fma(-n, ln2Low, fma(-n, ln2High, x))
//		p := Horner(c, r)
//		m := low bits of t; h := m>>1
//		dst[i] = p * 2^h * 2^(m-h)
//
//	R0 src   R1 dst   R2 elements left   R3 expConst64   R4 elements to copy
//	R5 elements in buf, if they are the last   R6 where they go
//	V0–V3    x, then r, then the first factor
//	V4–V7    t, then the second factor
//	V8–V11, V12–V15  n and p, in turns
//	V16 round   V17 expMax   V18 expMin   V19 1.0, also the exponent's bias
//	V20 first coefficient, log₂e   V21 ln2High, ln2Low
//
// The last elements go through the same code by way of a buffer. h needs only
// the low bits that the shift to the exponent's place keeps.

// EXP64FIRST is Horner's first step.
#define EXP64FIRST \
	FMOVQ (R3), F12; \
	FMOVQ (R3), F13; \
	FMOVQ (R3), F14; \
	FMOVQ (R3), F15; \
	VFMLAD0(20, 0, 12); \
	VFMLAD0(20, 1, 13); \
	VFMLAD0(20, 2, 14); \
	VFMLAD0(20, 3, 15)

// EXP64EVEN is p = fma(p, r, c) from V12–V15 to V8–V11, EXP64ODD back.
#define EXP64EVEN(off) \
	FMOVQ off(R3), F8; \
	FMOVQ off(R3), F9; \
	FMOVQ off(R3), F10; \
	FMOVQ off(R3), F11; \
	VFMLA V0.D2, V12.D2, V8.D2; \
	VFMLA V1.D2, V13.D2, V9.D2; \
	VFMLA V2.D2, V14.D2, V10.D2; \
	VFMLA V3.D2, V15.D2, V11.D2

#define EXP64ODD(off) \
	FMOVQ off(R3), F12; \
	FMOVQ off(R3), F13; \
	FMOVQ off(R3), F14; \
	FMOVQ off(R3), F15; \
	VFMLA V0.D2, V8.D2, V12.D2; \
	VFMLA V1.D2, V9.D2, V13.D2; \
	VFMLA V2.D2, V10.D2, V14.D2; \
	VFMLA V3.D2, V11.D2, V15.D2

// EXP64REDUCE leaves r in x.
#define EXP64REDUCE(x, t, n, T) \
	VFMIND(17, x, x); \
	VFMAXD(18, x, x); \
	VMOV V16.B16, T.B16; \
	VFMLAD1(20, x, t); \
	VFSUBD(16, t, n); \
	VFMLSD0(21, n, x); \
	VFMLSD1(21, n, x)

// EXP64SCALE multiplies p by 2^n.
#define EXP64SCALE(x, t, p, X, T) \
	VUSHR $1, T.D2, X.D2; \
	VSUB  X.D2, T.D2, T.D2; \
	VSHL  $52, X.D2, X.D2; \
	VSHL  $52, T.D2, T.D2; \
	VADD  V19.D2, X.D2, X.D2; \
	VADD  V19.D2, T.D2, T.D2; \
	VFMULD(x, p, p); \
	VFMULD(t, p, p)

TEXT ·neonExp64(SB), NOSPLIT, $64-24
	MOVD  n+0(FP), R2
	MOVD  dst+8(FP), R1
	MOVD  src+16(FP), R0
	MOVD  $expConst64<>(SB), R3
	FLDPQ 160(R3), (F16, F17)
	FLDPQ 192(R3), (F18, F20)
	FMOVQ 224(R3), F21
	FMOVQ 144(R3), F19
	MOVD  $0, R5

block:
	SUBS $8, R2
	BLT  last

terms:
	FLDPQ (R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)
	ADD   $64, R0
	EXP64REDUCE(0, 4, 8, V4)
	EXP64REDUCE(1, 5, 9, V5)
	EXP64REDUCE(2, 6, 10, V6)
	EXP64REDUCE(3, 7, 11, V7)
	EXP64FIRST
	EXP64EVEN(16)
	EXP64ODD(32)
	EXP64EVEN(48)
	EXP64ODD(64)
	EXP64EVEN(80)
	EXP64ODD(96)
	EXP64EVEN(112)
	EXP64ODD(128)
	EXP64EVEN(144)
	EXP64ODD(144)
	EXP64SCALE(0, 4, 12, V0, V4)
	EXP64SCALE(1, 5, 13, V1, V5)
	EXP64SCALE(2, 6, 14, V2, V6)
	EXP64SCALE(3, 7, 15, V3, V7)
	FSTPQ (F12, F13), (R1)
	FSTPQ (F14, F15), 32(R1)
	ADD   $64, R1
	CBZ   R5, block
	MOVD  $buf-64(SP), R0

out:
	FMOVD.P 8(R0), F0
	FMOVD.P F0, 8(R6)
	SUBS    $1, R5
	BNE     out
	RET

last:
	ADDS $8, R2, R5
	BEQ  done
	MOVD R1, R6
	MOVD R5, R4
	MOVD $buf-64(SP), R1

in:
	FMOVD.P 8(R0), F0
	FMOVD.P F0, 8(R1)
	SUBS    $1, R4
	BNE     in
	MOVD    $buf-64(SP), R0
	MOVD    R0, R1
	B       terms

done:
	RET

// expConst32 holds the constants of exp.go: the coefficients from the second on
// and what else is used as a vector, then those that are used by element.

#define EVERY32(off, c) \
	DATA expConst32<>+(off+0)(SB)/4, $c; \
	DATA expConst32<>+(off+4)(SB)/4, $c; \
	DATA expConst32<>+(off+8)(SB)/4, $c; \
	DATA expConst32<>+(off+12)(SB)/4, $c

EVERY32(0, 0x1.1239d4p-7)
EVERY32(16, 0x1.5558f2p-5)
EVERY32(32, 0x1.555492p-3)
EVERY32(48, 0x1.fffffcp-2)
EVERY32(64, 1.0)
EVERY32(80, 0x1.8p23) // round
EVERY32(96, 89.0) // expMax
EVERY32(112, -105.0) // expMin
DATA expConst32<>+128(SB)/4, $0x1.6a244ep-10 // first coefficient
DATA expConst32<>+132(SB)/4, $0x1.715476p+0 // log2e
DATA expConst32<>+136(SB)/4, $0x1.62e43p-1 // ln2High
DATA expConst32<>+140(SB)/4, $-0x1.05c61p-29 // ln2Low
GLOBL expConst32<>(SB), RODATA|NOPTR, $144

// func neonExp32(n int, dst, src *float32)
//
//	for i := range n:
//		x = src[i]
//		x = max(min(x, expMax), expMin)
//		t := fma(x, log₂e, round)
//		n := t - round
//		r := fma(-n, ln2Low, fma(-n, ln2High, x))
//		p := Horner(c, r)
//		m := low bits of t; h := m>>1
//		dst[i] = p * 2^h * 2^(m-h)
//
//	R0 src   R1 dst   R2 elements left   R3 expConst32   R4 elements to copy
//	R5 elements in buf, if they are the last   R6 where they go
//	V0–V3    x, then r, then the first factor
//	V4–V7    t, then the second factor
//	V8–V11, V12–V15  n and p, in turns
//	V16 round   V17 expMax   V18 expMin   V19 1.0, also the exponent's bias
//	V20 first coefficient, log₂e, ln2High, ln2Low
//
// The last elements go through the same code by way of a buffer. h needs only
// the low bits that the shift to the exponent's place keeps.

// EXP32FIRST is Horner's first step.
#define EXP32FIRST \
	FMOVQ (R3), F12; \
	FMOVQ (R3), F13; \
	FMOVQ (R3), F14; \
	FMOVQ (R3), F15; \
	VFMLAS0(20, 0, 12); \
	VFMLAS0(20, 1, 13); \
	VFMLAS0(20, 2, 14); \
	VFMLAS0(20, 3, 15)

// EXP32EVEN is p = fma(p, r, c) from V12–V15 to V8–V11, EXP32ODD back.
#define EXP32EVEN(off) \
	FMOVQ off(R3), F8; \
	FMOVQ off(R3), F9; \
	FMOVQ off(R3), F10; \
	FMOVQ off(R3), F11; \
	VFMLA V0.S4, V12.S4, V8.S4; \
	VFMLA V1.S4, V13.S4, V9.S4; \
	VFMLA V2.S4, V14.S4, V10.S4; \
	VFMLA V3.S4, V15.S4, V11.S4

#define EXP32ODD(off) \
	FMOVQ off(R3), F12; \
	FMOVQ off(R3), F13; \
	FMOVQ off(R3), F14; \
	FMOVQ off(R3), F15; \
	VFMLA V0.S4, V8.S4, V12.S4; \
	VFMLA V1.S4, V9.S4, V13.S4; \
	VFMLA V2.S4, V10.S4, V14.S4; \
	VFMLA V3.S4, V11.S4, V15.S4

// EXP32REDUCE leaves r in x.
#define EXP32REDUCE(x, t, n, T) \
	VFMINS(17, x, x); \
	VFMAXS(18, x, x); \
	VMOV V16.B16, T.B16; \
	VFMLAS1(20, x, t); \
	VFSUBS(16, t, n); \
	VFMLSS2(20, n, x); \
	VFMLSS3(20, n, x)

// EXP32SCALE multiplies p by 2^n.
#define EXP32SCALE(x, t, p, X, T) \
	VUSHR $1, T.S4, X.S4; \
	VSUB  X.S4, T.S4, T.S4; \
	VSHL  $23, X.S4, X.S4; \
	VSHL  $23, T.S4, T.S4; \
	VADD  V19.S4, X.S4, X.S4; \
	VADD  V19.S4, T.S4, T.S4; \
	VFMULS(x, p, p); \
	VFMULS(t, p, p)

TEXT ·neonExp32(SB), NOSPLIT, $64-24
	MOVD  n+0(FP), R2
	MOVD  dst+8(FP), R1
	MOVD  src+16(FP), R0
	MOVD  $expConst32<>(SB), R3
	FLDPQ 80(R3), (F16, F17)
	FLDPQ 112(R3), (F18, F20)
	FMOVQ 64(R3), F19
	MOVD  $0, R5

block:
	SUBS $16, R2
	BLT  last

terms:
	FLDPQ (R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)
	ADD   $64, R0
	EXP32REDUCE(0, 4, 8, V4)
	EXP32REDUCE(1, 5, 9, V5)
	EXP32REDUCE(2, 6, 10, V6)
	EXP32REDUCE(3, 7, 11, V7)
	EXP32FIRST
	EXP32EVEN(16)
	EXP32ODD(32)
	EXP32EVEN(48)
	EXP32ODD(64)
	EXP32EVEN(64)
	EXP32SCALE(0, 4, 8, V0, V4)
	EXP32SCALE(1, 5, 9, V1, V5)
	EXP32SCALE(2, 6, 10, V2, V6)
	EXP32SCALE(3, 7, 11, V3, V7)
	FSTPQ (F8, F9), (R1)
	FSTPQ (F10, F11), 32(R1)
	ADD   $64, R1
	CBZ   R5, block
	MOVD  $buf-64(SP), R0

out:
	FMOVS.P 4(R0), F0
	FMOVS.P F0, 4(R6)
	SUBS    $1, R5
	BNE     out
	RET

last:
	ADDS $16, R2, R5
	BEQ  done
	MOVD R1, R6
	MOVD R5, R4
	MOVD $buf-64(SP), R1

in:
	FMOVS.P 4(R0), F0
	FMOVS.P F0, 4(R1)
	SUBS    $1, R4
	BNE     in
	MOVD    $buf-64(SP), R0
	MOVD    R0, R1
	B       terms

done:
	RET
