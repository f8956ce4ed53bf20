//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// NEON kernels. Each computes the bits of its namesake in generic.go: the same
// chains of fused multiply-adds in the same order, several at a time.

// func neonPack64(m, k int, src *float64, ld int, dst *float64, r int)
//
//	for i := range m { for p := range k: dst[p*r+i] = src[i*ld+p] }   m even
//
//	R0 rows left   R1 k   R2 src, row i   R3 ld in bytes   R4 dst+i   R5 r in bytes
//	R6 R7 rows i and i+1 at p   R8 dst+p*r+i   R9 p left
//	V0 V1    four elements of row i   V2 V3 of row i+1
//	V4–V7    pairs of both

TEXT ·neonPack64(SB), NOSPLIT, $0-48
	MOVD m+0(FP), R0
	MOVD k+8(FP), R1
	MOVD src+16(FP), R2
	MOVD ld+24(FP), R3
	MOVD dst+32(FP), R4
	MOVD r+40(FP), R5
	LSL  $3, R3
	LSL  $3, R5
	CBZ  R0, done
	CBZ  R1, done

rows:
	MOVD R2, R6
	ADD  R3, R2, R7
	ADD  R3, R7, R2
	MOVD R4, R8
	SUBS $4, R1, R9
	BLT  tail

four:
	FLDPQ.P 32(R6), (F0, F1)
	FLDPQ.P 32(R7), (F2, F3)
	VZIP1   V2.D2, V0.D2, V4.D2
	VZIP2   V2.D2, V0.D2, V5.D2
	VZIP1   V3.D2, V1.D2, V6.D2
	VZIP2   V3.D2, V1.D2, V7.D2
	VST1.P  [V4.D2], (R8)(R5)
	VST1.P  [V5.D2], (R8)(R5)
	VST1.P  [V6.D2], (R8)(R5)
	VST1.P  [V7.D2], (R8)(R5)
	SUBS    $4, R9
	BGE     four

tail:
	ADDS $4, R9
	BEQ  next

one:
	FMOVD.P 8(R6), F0
	FMOVD.P 8(R7), F2
	FSTPD   (F0, F2), (R8)
	ADD     R5, R8
	SUBS    $1, R9
	BNE     one

next:
	ADD  $16, R4
	SUBS $2, R0
	BNE  rows

done:
	RET

// func neonUnpack64(m, k int, src *float64, r int, dst *float64, ld int)
//
//	for i := range m { for p := range k: dst[i*ld+p] = src[p*r+i] }   m even
//
//	R0 rows left   R1 k   R2 src+i   R3 r in bytes   R4 dst, row i   R5 ld in bytes
//	R6 R7 rows i and i+1 at p   R8 src+p*r+i   R9 p left
//	V0–V3    pairs of both rows
//	V4 V5    four elements of row i   V6 V7 of row i+1

TEXT ·neonUnpack64(SB), NOSPLIT, $0-48
	MOVD m+0(FP), R0
	MOVD k+8(FP), R1
	MOVD src+16(FP), R2
	MOVD r+24(FP), R3
	MOVD dst+32(FP), R4
	MOVD ld+40(FP), R5
	LSL  $3, R3
	LSL  $3, R5
	CBZ  R0, done
	CBZ  R1, done

rows:
	MOVD R4, R6
	ADD  R5, R4, R7
	ADD  R5, R7, R4
	MOVD R2, R8
	SUBS $4, R1, R9
	BLT  tail

four:
	VLD1.P  (R8)(R3), [V0.D2]
	VLD1.P  (R8)(R3), [V1.D2]
	VLD1.P  (R8)(R3), [V2.D2]
	VLD1.P  (R8)(R3), [V3.D2]
	VZIP1   V1.D2, V0.D2, V4.D2
	VZIP1   V3.D2, V2.D2, V5.D2
	VZIP2   V1.D2, V0.D2, V6.D2
	VZIP2   V3.D2, V2.D2, V7.D2
	FSTPQ.P (F4, F5), 32(R6)
	FSTPQ.P (F6, F7), 32(R7)
	SUBS    $4, R9
	BGE     four

tail:
	ADDS $4, R9
	BEQ  next

one:
	FLDPD   (R8), (F0, F1)
	ADD     R3, R8
	FMOVD.P F0, 8(R6)
	FMOVD.P F1, 8(R7)
	SUBS    $1, R9
	BNE     one

next:
	ADD  $16, R2
	SUBS $2, R0
	BNE  rows

done:
	RET

// func neonGather(size, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)
//
//	for p in k, q in panels { copy(dst[q*step+p*size:][:size], src[p*ld+q*size:]) }   in bytes, size 32, 48 or 64
//
//	R0 size   R1 rows left   R2 row of src, R3 ld, R7 place in it
//	R4 row of the first panel, R5 step, R8 place in a panel   R6 panels, R9 left
//	V0–V3    a piece of a row

TEXT ·neonGather(SB), NOSPLIT, $0-56
	MOVD size+0(FP), R0
	MOVD panels+8(FP), R6
	MOVD k+16(FP), R1
	MOVD src+24(FP), R2
	MOVD ld+32(FP), R3
	MOVD dst+40(FP), R4
	MOVD step+48(FP), R5

row:
	MOVD R2, R7
	MOVD R4, R8
	MOVD R6, R9
	CMP  $48, R0
	BLT  piece32
	BEQ  piece48

piece64:
	FLDPQ (R7), (F0, F1)
	FLDPQ 32(R7), (F2, F3)
	FSTPQ (F0, F1), (R8)
	FSTPQ (F2, F3), 32(R8)
	ADD   $64, R7
	ADD   R5, R8
	SUB   $1, R9
	CBNZ  R9, piece64
	B     next

piece48:
	FLDPQ (R7), (F0, F1)
	FMOVQ 32(R7), F2
	FSTPQ (F0, F1), (R8)
	FMOVQ F2, 32(R8)
	ADD   $48, R7
	ADD   R5, R8
	SUB   $1, R9
	CBNZ  R9, piece48
	B     next

piece32:
	FLDPQ (R7), (F0, F1)
	FSTPQ (F0, F1), (R8)
	ADD   $32, R7
	ADD   R5, R8
	SUB   $1, R9
	CBNZ  R9, piece32

next:
	ADD  R3, R2
	ADD  R0, R4
	SUB  $1, R1
	CBNZ R1, row
	RET

// func neonStripCopy(k int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)
//
//	for p := range k { copy(dst[p*ldd:], src[p*lds:][:96]) }   in bytes
//
//	R0 rows left   R1 src   R2 lds   R3 dst   R4 ldd
//	V0–V5    a row

TEXT ·neonStripCopy(SB), NOSPLIT, $0-40
	MOVD k+0(FP), R0
	MOVD src+8(FP), R1
	MOVD lds+16(FP), R2
	MOVD dst+24(FP), R3
	MOVD ldd+32(FP), R4

rows:
	FLDPQ (R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	FLDPQ 64(R1), (F4, F5)
	FSTPQ (F0, F1), (R3)
	FSTPQ (F2, F3), 32(R3)
	FSTPQ (F4, F5), 64(R3)
	ADD   R2, R1
	ADD   R4, R3
	SUB   $1, R0
	CBNZ  R0, rows
	RET

// func neonDot64(n int, a, x *float64, lanes *[Lanes]float64) float64
//
//	s = 0, or *lanes
//	for i := range n: s[i%32] = fma(a[i], x[i], s[i%32])
//	*lanes = s, if there are lanes
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left   R7 lanes, or nil
//	V0–V15   the 32 lanes, two a register
//	V16–V23  elements of a and x
//	V24 V25  an odd last element of a and x, or zero, above it zero
//
// After the last whole pair the next lanes take V24·V25. Adding a zero product
// to a lane can change no more than the sign of a zero, which the final + 0 wipes
// out.

#define DOT64(off, s0, s1, s2, s3) \
	FLDPQ off(R0), (F16, F17); \
	FLDPQ off(R1), (F20, F21); \
	FLDPQ (off+32)(R0), (F18, F19); \
	FLDPQ (off+32)(R1), (F22, F23); \
	VFMLA V16.D2, V20.D2, s0.D2; \
	VFMLA V17.D2, V21.D2, s1.D2; \
	VFMLA V18.D2, V22.D2, s2.D2; \
	VFMLA V19.D2, V23.D2, s3.D2

#define DOT64TAIL(s) \
	SUBS    $2, R2; \
	BGE     3(PC); \
	VFMLA   V24.D2, V25.D2, s.D2; \
	B       fold; \
	FMOVQ.P 16(R0), F16; \
	FMOVQ.P 16(R1), F17; \
	VFMLA   V16.D2, V17.D2, s.D2

// FOLD64 adds the 32 lanes of a dot product in halves: F0 = their sum + 0.
#define FOLD64 \
	VFADDD(8, 0, 0); \
	VFADDD(9, 1, 1); \
	VFADDD(10, 2, 2); \
	VFADDD(11, 3, 3); \
	VFADDD(12, 4, 4); \
	VFADDD(13, 5, 5); \
	VFADDD(14, 6, 6); \
	VFADDD(15, 7, 7); \
	VFADDD(4, 0, 0); \
	VFADDD(5, 1, 1); \
	VFADDD(6, 2, 2); \
	VFADDD(7, 3, 3); \
	VFADDD(2, 0, 0); \
	VFADDD(3, 1, 1); \
	VFADDD(1, 0, 0); \
	VFADDPD(0, 0); \
	VMOVI $0, V1.B16; \
	FADDD F1, F0

// LOADLANES64 and STORELANES64 move the lanes from and to the memory at R7.
#define LOADLANES64 \
	FLDPQ (R7), (F0, F1); \
	FLDPQ 32(R7), (F2, F3); \
	FLDPQ 64(R7), (F4, F5); \
	FLDPQ 96(R7), (F6, F7); \
	FLDPQ 128(R7), (F8, F9); \
	FLDPQ 160(R7), (F10, F11); \
	FLDPQ 192(R7), (F12, F13); \
	FLDPQ 224(R7), (F14, F15)

#define STORELANES64 \
	FSTPQ (F0, F1), (R7); \
	FSTPQ (F2, F3), 32(R7); \
	FSTPQ (F4, F5), 64(R7); \
	FSTPQ (F6, F7), 96(R7); \
	FSTPQ (F8, F9), 128(R7); \
	FSTPQ (F10, F11), 160(R7); \
	FSTPQ (F12, F13), 192(R7); \
	FSTPQ (F14, F15), 224(R7)

TEXT ·neonDot64(SB), NOSPLIT, $0-40
	MOVD n+0(FP), R2
	MOVD a+8(FP), R0
	MOVD x+16(FP), R1
	MOVD lanes+24(FP), R7
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	ZERO4(V8, V9, V10, V11)
	ZERO4(V12, V13, V14, V15)
	CBZ  R7, start
	LOADLANES64

start:
	SUBS $32, R2
	BLT  tail

lanes:
	DOT64(0, V0, V1, V2, V3)
	DOT64(64, V4, V5, V6, V7)
	DOT64(128, V8, V9, V10, V11)
	DOT64(192, V12, V13, V14, V15)
	ADD  $256, R0
	ADD  $256, R1
	SUBS $32, R2
	BGE  lanes

tail:
	ADDS  $32, R2
	BEQ   fold
	VMOVI $0, V24.B16
	VMOVI $0, V25.B16
	TBZ   $0, R2, pairs
	SUB   $1, R2, R3
	FMOVD (R0)(R3<<3), F24
	FMOVD (R1)(R3<<3), F25

pairs:
	DOT64TAIL(V0)
	DOT64TAIL(V1)
	DOT64TAIL(V2)
	DOT64TAIL(V3)
	DOT64TAIL(V4)
	DOT64TAIL(V5)
	DOT64TAIL(V6)
	DOT64TAIL(V7)
	DOT64TAIL(V8)
	DOT64TAIL(V9)
	DOT64TAIL(V10)
	DOT64TAIL(V11)
	DOT64TAIL(V12)
	DOT64TAIL(V13)
	DOT64TAIL(V14)
	VFMLA V24.D2, V25.D2, V15.D2

fold:
	CBZ R7, sum
	STORELANES64

sum:
	FOLD64
	FMOVD F0, ret+32(FP)
	RET

// func neonDotAxpy64(n int, alpha float64, a, x, y *float64, lanes *[Lanes]float64) float64
//
//	s = 0, or *lanes
//	for i := range n:
//		s[i%32] = fma(a[i], x[i], s[i%32])
//		y[i] = fma(alpha, a[i], y[i])
//	*lanes = s, if there are lanes
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left   R7 lanes, or nil   R4 y
//	V0–V15   the 32 lanes, two a register
//	V16–V19  elements of a   V20–V23 of x   V26–V29 of y
//	V24 V25  an odd last element of a and x, as in neonDot64
//	V31      alpha in both lanes

// AXPYTO64 adds alpha·a to y once DOT64 has loaded a.
#define AXPYTO64(off) \
	FLDPQ off(R4), (F26, F27); \
	FLDPQ (off+32)(R4), (F28, F29); \
	VFMLA V31.D2, V16.D2, V26.D2; \
	VFMLA V31.D2, V17.D2, V27.D2; \
	VFMLA V31.D2, V18.D2, V28.D2; \
	VFMLA V31.D2, V19.D2, V29.D2; \
	FSTPQ (F26, F27), off(R4); \
	FSTPQ (F28, F29), (off+32)(R4)

#define DOTAXPY64(off, s0, s1, s2, s3) \
	DOT64(off, s0, s1, s2, s3); \
	AXPYTO64(off)

#define DOTAXPY64TAIL(s) \
	DOT64TAIL(s); \
	FMOVQ   (R4), F26; \
	VFMLA   V31.D2, V16.D2, V26.D2; \
	FMOVQ.P F26, 16(R4)

TEXT ·neonDotAxpy64(SB), NOSPLIT, $0-56
	MOVD  n+0(FP), R2
	FMOVD alpha+8(FP), F31
	MOVD  a+16(FP), R0
	MOVD  x+24(FP), R1
	MOVD  y+32(FP), R4
	MOVD  lanes+40(FP), R7
	VDUP  V31.D[0], V31.D2
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	ZERO4(V8, V9, V10, V11)
	ZERO4(V12, V13, V14, V15)
	CBZ  R7, start
	LOADLANES64

start:
	SUBS $32, R2
	BLT  tail

lanes:
	DOTAXPY64(0, V0, V1, V2, V3)
	DOTAXPY64(64, V4, V5, V6, V7)
	DOTAXPY64(128, V8, V9, V10, V11)
	DOTAXPY64(192, V12, V13, V14, V15)
	ADD  $256, R0
	ADD  $256, R1
	ADD  $256, R4
	SUBS $32, R2
	BGE  lanes

tail:
	ADDS  $32, R2
	BEQ   fold
	VMOVI $0, V24.B16
	VMOVI $0, V25.B16
	TBZ   $0, R2, pairs
	SUB   $1, R2, R3
	FMOVD (R0)(R3<<3), F24
	FMOVD (R1)(R3<<3), F25
	FMOVD (R4)(R3<<3), F26
	VFMLA V31.D2, V24.D2, V26.D2
	FMOVD F26, (R4)(R3<<3)

pairs:
	DOTAXPY64TAIL(V0)
	DOTAXPY64TAIL(V1)
	DOTAXPY64TAIL(V2)
	DOTAXPY64TAIL(V3)
	DOTAXPY64TAIL(V4)
	DOTAXPY64TAIL(V5)
	DOTAXPY64TAIL(V6)
	DOTAXPY64TAIL(V7)
	DOTAXPY64TAIL(V8)
	DOTAXPY64TAIL(V9)
	DOTAXPY64TAIL(V10)
	DOTAXPY64TAIL(V11)
	DOTAXPY64TAIL(V12)
	DOTAXPY64TAIL(V13)
	DOTAXPY64TAIL(V14)
	VFMLA V24.D2, V25.D2, V15.D2

fold:
	CBZ R7, sum
	STORELANES64

sum:
	FOLD64
	FMOVD F0, ret+48(FP)
	RET

// func neonAxpy64(n int, alpha float64, a, y *float64)
//
//	for i := range n: y[i] = fma(alpha, a[i], y[i])
//
//	R0 a   R1 y   R2 elements left
//	V31      alpha in both lanes
//	V16–V19  elements of a
//	V20–V23  elements of y

#define AXPY64(off) \
	FLDPQ off(R0), (F16, F17); \
	FLDPQ off(R1), (F20, F21); \
	FLDPQ (off+32)(R0), (F18, F19); \
	FLDPQ (off+32)(R1), (F22, F23); \
	VFMLA V31.D2, V16.D2, V20.D2; \
	VFMLA V31.D2, V17.D2, V21.D2; \
	VFMLA V31.D2, V18.D2, V22.D2; \
	VFMLA V31.D2, V19.D2, V23.D2; \
	FSTPQ (F20, F21), off(R1); \
	FSTPQ (F22, F23), (off+32)(R1)

TEXT ·neonAxpy64(SB), NOSPLIT, $0-32
	MOVD  n+0(FP), R2
	FMOVD alpha+8(FP), F31
	MOVD  a+16(FP), R0
	MOVD  y+24(FP), R1
	VDUP  V31.D[0], V31.D2
	SUBS  $16, R2
	BLT   tail

sixteen:
	AXPY64(0)
	AXPY64(64)
	ADD  $128, R0
	ADD  $128, R1
	SUBS $16, R2
	BGE  sixteen

tail:
	ADD  $16, R2
	SUBS $2, R2
	BLT  last

two:
	FMOVQ.P 16(R0), F16
	FMOVQ   (R1), F20
	VFMLA   V31.D2, V16.D2, V20.D2
	FMOVQ.P F20, 16(R1)
	SUBS    $2, R2
	BGE     two

last:
	TBZ   $0, R2, done
	FMOVD (R0), F16
	FMOVD (R1), F20
	VFMLA V31.D2, V16.D2, V20.D2
	FMOVD F20, (R1)

done:
	RET

// func neonAxpys64(n int, x, a *float64, lda int, y *float64)
//
//	for i := range 4 { for j := range n: y[j] = fma(x[i], a[i*lda+j], y[j]) }
//
//	R0 x   R1 y   R2 elements left   R3 R4 R5 R6 rows of a
//	V0–V3    elements of y
//	V16–V19  elements of a row of a
//	V30 V31  x, used by element

#define AXPY64ROW(fmla, row, x) \
	FLDPQ (row), (F16, F17); \
	FLDPQ 32(row), (F18, F19); \
	ADD   $64, row; \
	fmla(x, 16, 0); \
	fmla(x, 17, 1); \
	fmla(x, 18, 2); \
	fmla(x, 19, 3)

TEXT ·neonAxpys64(SB), NOSPLIT, $0-40
	MOVD  n+0(FP), R2
	MOVD  x+8(FP), R0
	MOVD  a+16(FP), R3
	MOVD  lda+24(FP), R7
	MOVD  y+32(FP), R1
	ADD   R7<<3, R3, R4
	ADD   R7<<3, R4, R5
	ADD   R7<<3, R5, R6
	FLDPQ (R0), (F30, F31)
	SUBS  $8, R2
	BLT   tail

eight:
	FLDPQ (R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	AXPY64ROW(VFMLAD0, R3, 30)
	AXPY64ROW(VFMLAD1, R4, 30)
	AXPY64ROW(VFMLAD0, R5, 31)
	AXPY64ROW(VFMLAD1, R6, 31)
	FSTPQ (F0, F1), (R1)
	FSTPQ (F2, F3), 32(R1)
	ADD   $64, R1
	SUBS  $8, R2
	BGE   eight

tail:
	ADDS $8, R2
	BEQ  done

one:
	FMOVD   (R1), F0
	FMOVD.P 8(R3), F16
	FMOVD.P 8(R4), F17
	FMOVD.P 8(R5), F18
	FMOVD.P 8(R6), F19
	VFMLAD0(30, 16, 0)
	VFMLAD1(30, 17, 0)
	VFMLAD0(31, 18, 0)
	VFMLAD1(31, 19, 0)
	FMOVD.P F0, 8(R1)
	SUBS    $1, R2
	BNE     one

done:
	RET

// func neonScal64(n int, alpha float64, x *float64)
//
//	for i := range n: x[i] = alpha * x[i]
//
//	R0 x   R2 elements left
//	V31      alpha
//	V16–V19  elements of x

TEXT ·neonScal64(SB), NOSPLIT, $0-24
	MOVD  n+0(FP), R2
	FMOVD alpha+8(FP), F31
	MOVD  x+16(FP), R0
	SUBS  $8, R2
	BLT   tail

eight:
	FLDPQ (R0), (F16, F17)
	FLDPQ 32(R0), (F18, F19)
	VFMULD0(31, 16, 16)
	VFMULD0(31, 17, 17)
	VFMULD0(31, 18, 18)
	VFMULD0(31, 19, 19)
	FSTPQ (F16, F17), (R0)
	FSTPQ (F18, F19), 32(R0)
	ADD   $64, R0
	SUBS  $8, R2
	BGE   eight

tail:
	ADDS $8, R2
	BEQ  done

one:
	FMOVD   (R0), F16
	FMULD   F31, F16
	FMOVD.P F16, 8(R0)
	SUBS    $1, R2
	BNE     one

done:
	RET

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

// func neonPack32(m, k int, src *float32, ld int, dst *float32, r int)
//
//	for i := range m { for p := range k: dst[p*r+i] = src[i*ld+p] }   m a multiple of 4
//
//	R0 rows left   R1 k   R2 src, row i   R3 ld in bytes   R4 dst+i   R5 r in bytes
//	R6 R7 R10 R11 rows i…i+3 at p   R8 dst+p*r+i   R9 p left
//	V0–V3    four elements of each row
//	V4–V7    rows 0 and 1, 2 and 3 interleaved, even p, odd p
//	V16–V19  four elements of each p

TEXT ·neonPack32(SB), NOSPLIT, $0-48
	MOVD m+0(FP), R0
	MOVD k+8(FP), R1
	MOVD src+16(FP), R2
	MOVD ld+24(FP), R3
	MOVD dst+32(FP), R4
	MOVD r+40(FP), R5
	LSL  $2, R3
	LSL  $2, R5
	CBZ  R0, done
	CBZ  R1, done

rows:
	MOVD R2, R6
	ADD  R3, R6, R7
	ADD  R3, R7, R10
	ADD  R3, R10, R11
	ADD  R3, R11, R2
	MOVD R4, R8
	SUBS $4, R1, R9
	BLT  tail

four:
	FMOVQ.P 16(R6), F0
	FMOVQ.P 16(R7), F1
	FMOVQ.P 16(R10), F2
	FMOVQ.P 16(R11), F3
	VTRN1   V1.S4, V0.S4, V4.S4
	VTRN2   V1.S4, V0.S4, V5.S4
	VTRN1   V3.S4, V2.S4, V6.S4
	VTRN2   V3.S4, V2.S4, V7.S4
	VZIP1   V6.D2, V4.D2, V16.D2
	VZIP1   V7.D2, V5.D2, V17.D2
	VZIP2   V6.D2, V4.D2, V18.D2
	VZIP2   V7.D2, V5.D2, V19.D2
	VST1.P  [V16.S4], (R8)(R5)
	VST1.P  [V17.S4], (R8)(R5)
	VST1.P  [V18.S4], (R8)(R5)
	VST1.P  [V19.S4], (R8)(R5)
	SUBS    $4, R9
	BGE     four

tail:
	ADDS $4, R9
	BEQ  next

one:
	FMOVS.P 4(R6), F0
	FMOVS.P 4(R7), F1
	FMOVS.P 4(R10), F2
	FMOVS.P 4(R11), F3
	FSTPS   (F0, F1), (R8)
	FSTPS   (F2, F3), 8(R8)
	ADD     R5, R8
	SUBS    $1, R9
	BNE     one

next:
	ADD  $16, R4
	SUBS $4, R0
	BNE  rows

done:
	RET

// func neonUnpack32(m, k int, src *float32, r int, dst *float32, ld int)
//
//	for i := range m { for p := range k: dst[i*ld+p] = src[p*r+i] }   m a multiple of 4
//
//	R0 rows left   R1 k   R2 src+i   R3 r in bytes   R4 dst, row i   R5 ld in bytes
//	R6 R7 R10 R11 rows i…i+3 at p   R8 src+p*r+i   R9 p left
//	V0–V3    four elements of each p
//	V4–V7    p and p+1, p+2 and p+3 interleaved, even rows, odd rows
//	V16–V19  four elements of each row

TEXT ·neonUnpack32(SB), NOSPLIT, $0-48
	MOVD m+0(FP), R0
	MOVD k+8(FP), R1
	MOVD src+16(FP), R2
	MOVD r+24(FP), R3
	MOVD dst+32(FP), R4
	MOVD ld+40(FP), R5
	LSL  $2, R3
	LSL  $2, R5
	CBZ  R0, done
	CBZ  R1, done

rows:
	MOVD R4, R6
	ADD  R5, R6, R7
	ADD  R5, R7, R10
	ADD  R5, R10, R11
	ADD  R5, R11, R4
	MOVD R2, R8
	SUBS $4, R1, R9
	BLT  tail

four:
	VLD1.P  (R8)(R3), [V0.S4]
	VLD1.P  (R8)(R3), [V1.S4]
	VLD1.P  (R8)(R3), [V2.S4]
	VLD1.P  (R8)(R3), [V3.S4]
	VTRN1   V1.S4, V0.S4, V4.S4
	VTRN2   V1.S4, V0.S4, V5.S4
	VTRN1   V3.S4, V2.S4, V6.S4
	VTRN2   V3.S4, V2.S4, V7.S4
	VZIP1   V6.D2, V4.D2, V16.D2
	VZIP1   V7.D2, V5.D2, V17.D2
	VZIP2   V6.D2, V4.D2, V18.D2
	VZIP2   V7.D2, V5.D2, V19.D2
	FMOVQ.P F16, 16(R6)
	FMOVQ.P F17, 16(R7)
	FMOVQ.P F18, 16(R10)
	FMOVQ.P F19, 16(R11)
	SUBS    $4, R9
	BGE     four

tail:
	ADDS $4, R9
	BEQ  next

one:
	FLDPS   (R8), (F0, F1)
	FLDPS   8(R8), (F2, F3)
	ADD     R3, R8
	FMOVS.P F0, 4(R6)
	FMOVS.P F1, 4(R7)
	FMOVS.P F2, 4(R10)
	FMOVS.P F3, 4(R11)
	SUBS    $1, R9
	BNE     one

next:
	ADD  $16, R2
	SUBS $4, R0
	BNE  rows

done:
	RET

// func neonDot32(n int, a, x *float32, lanes *[Lanes]float32) float32
//
//	s = 0, or *lanes
//	for i := range n: s[i%32] = fma(a[i], x[i], s[i%32])
//	*lanes = s, if there are lanes
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left   R7 lanes, or nil   R3 R6 a and x behind the last whole four
//	R5 elements there
//	V0–V7    the 32 lanes, four a register
//	V16–V23  elements of a and x
//	V24 V25  the last one to three elements of a and x, if any, above them zeros
//
// As in neonDot64, the lanes behind the last whole four take V24·V25.

#define DOT32(off, s0, s1, s2, s3) \
	FLDPQ off(R0), (F16, F17); \
	FLDPQ off(R1), (F20, F21); \
	FLDPQ (off+32)(R0), (F18, F19); \
	FLDPQ (off+32)(R1), (F22, F23); \
	VFMLA V16.S4, V20.S4, s0.S4; \
	VFMLA V17.S4, V21.S4, s1.S4; \
	VFMLA V18.S4, V22.S4, s2.S4; \
	VFMLA V19.S4, V23.S4, s3.S4

#define DOT32TAIL(s) \
	SUBS    $4, R2; \
	BGE     3(PC); \
	VFMLA   V24.S4, V25.S4, s.S4; \
	B       fold; \
	FMOVQ.P 16(R0), F16; \
	FMOVQ.P 16(R1), F17; \
	VFMLA   V16.S4, V17.S4, s.S4

// FOLD32 adds the 32 lanes of a dot product in halves: F0 = their sum + 0.
#define FOLD32 \
	VFADDS(4, 0, 0); \
	VFADDS(5, 1, 1); \
	VFADDS(6, 2, 2); \
	VFADDS(7, 3, 3); \
	VFADDS(2, 0, 0); \
	VFADDS(3, 1, 1); \
	VFADDS(1, 0, 0); \
	VEXT $8, V0.B16, V0.B16, V1.B16; \
	VFADDS(1, 0, 0); \
	VFADDPS(0, 0); \
	VMOVI $0, V1.B16; \
	FADDS F1, F0

// LOADLANES32 and STORELANES32 move the lanes from and to the memory at R7.
#define LOADLANES32 \
	FLDPQ (R7), (F0, F1); \
	FLDPQ 32(R7), (F2, F3); \
	FLDPQ 64(R7), (F4, F5); \
	FLDPQ 96(R7), (F6, F7)

#define STORELANES32 \
	FSTPQ (F0, F1), (R7); \
	FSTPQ (F2, F3), 32(R7); \
	FSTPQ (F4, F5), 64(R7); \
	FSTPQ (F6, F7), 96(R7)

TEXT ·neonDot32(SB), NOSPLIT, $0-36
	MOVD n+0(FP), R2
	MOVD a+8(FP), R0
	MOVD x+16(FP), R1
	MOVD lanes+24(FP), R7
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	CBZ  R7, start
	LOADLANES32

start:
	SUBS $32, R2
	BLT  tail

lanes:
	DOT32(0, V0, V1, V2, V3)
	DOT32(64, V4, V5, V6, V7)
	ADD  $128, R0
	ADD  $128, R1
	SUBS $32, R2
	BGE  lanes

tail:
	ADDS    $32, R2
	AND     $3, R2, R5
	BEQ     fold
	VMOVI   $0, V24.B16
	VMOVI   $0, V25.B16
	CBZ     R5, fours
	SUB     R5, R2, R6
	ADD     R6<<2, R0, R3
	ADD     R6<<2, R1, R6
	FMOVS.P 4(R3), F24
	FMOVS.P 4(R6), F25
	CMP     $2, R5
	BLT     fours
	VLD1.P  4(R3), V24.S[1]
	VLD1.P  4(R6), V25.S[1]
	BEQ     fours
	VLD1    (R3), V24.S[2]
	VLD1    (R6), V25.S[2]

fours:
	DOT32TAIL(V0)
	DOT32TAIL(V1)
	DOT32TAIL(V2)
	DOT32TAIL(V3)
	DOT32TAIL(V4)
	DOT32TAIL(V5)
	DOT32TAIL(V6)
	VFMLA V24.S4, V25.S4, V7.S4

fold:
	CBZ R7, sum
	STORELANES32

sum:
	FOLD32
	FMOVS F0, ret+32(FP)
	RET

// func neonDotAxpy32(n int, alpha float32, a, x, y *float32, lanes *[Lanes]float32) float32
//
//	s = 0, or *lanes
//	for i := range n:
//		s[i%32] = fma(a[i], x[i], s[i%32])
//		y[i] = fma(alpha, a[i], y[i])
//	*lanes = s, if there are lanes
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left   R7 lanes, or nil   R4 y   R3 R6 a and x behind the last whole four
//	R5 elements there
//	V0–V7    the 32 lanes, four a register
//	V16–V19  elements of a   V20–V23 of x   V26–V29 of y
//	V24 V25  the last one to three elements of a and x, as in neonDot32
//	V31      alpha in all lanes

#define DOTAXPY32(off, s0, s1, s2, s3) \
	DOT32(off, s0, s1, s2, s3); \
	FLDPQ off(R4), (F26, F27); \
	FLDPQ (off+32)(R4), (F28, F29); \
	VFMLA V31.S4, V16.S4, V26.S4; \
	VFMLA V31.S4, V17.S4, V27.S4; \
	VFMLA V31.S4, V18.S4, V28.S4; \
	VFMLA V31.S4, V19.S4, V29.S4; \
	FSTPQ (F26, F27), off(R4); \
	FSTPQ (F28, F29), (off+32)(R4)

#define DOTAXPY32TAIL(s) \
	DOT32TAIL(s); \
	FMOVQ   (R4), F26; \
	VFMLA   V31.S4, V16.S4, V26.S4; \
	FMOVQ.P F26, 16(R4)

TEXT ·neonDotAxpy32(SB), NOSPLIT, $0-52
	MOVD  n+0(FP), R2
	FMOVS alpha+8(FP), F31
	MOVD  a+16(FP), R0
	MOVD  x+24(FP), R1
	MOVD  y+32(FP), R4
	MOVD  lanes+40(FP), R7
	VDUP  V31.S[0], V31.S4
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	CBZ  R7, start
	LOADLANES32

start:
	SUBS $32, R2
	BLT  tail

lanes:
	DOTAXPY32(0, V0, V1, V2, V3)
	DOTAXPY32(64, V4, V5, V6, V7)
	ADD  $128, R0
	ADD  $128, R1
	ADD  $128, R4
	SUBS $32, R2
	BGE  lanes

tail:
	ADDS    $32, R2
	AND     $3, R2, R5
	BEQ     fold
	VMOVI   $0, V24.B16
	VMOVI   $0, V25.B16
	CBZ     R5, fours
	SUB     R5, R2, R6
	ADD     R6<<2, R0, R3
	ADD     R6<<2, R1, R6
	FMOVS.P 4(R3), F24
	FMOVS.P 4(R6), F25
	CMP     $2, R5
	BLT     fours
	VLD1.P  4(R3), V24.S[1]
	VLD1.P  4(R6), V25.S[1]
	BEQ     fours
	VLD1    (R3), V24.S[2]
	VLD1    (R6), V25.S[2]

fours:
	DOTAXPY32TAIL(V0)
	DOTAXPY32TAIL(V1)
	DOTAXPY32TAIL(V2)
	DOTAXPY32TAIL(V3)
	DOTAXPY32TAIL(V4)
	DOTAXPY32TAIL(V5)
	DOTAXPY32TAIL(V6)
	VFMLA V24.S4, V25.S4, V7.S4

fold:
	CBZ     R5, out
	FMOVS.P 4(R0), F16
	FMOVS   (R4), F26
	VFMLA   V31.S4, V16.S4, V26.S4
	FMOVS.P F26, 4(R4)
	SUB     $1, R5
	B       fold

out:
	CBZ R7, sum
	STORELANES32

sum:
	FOLD32
	FMOVS F0, ret+48(FP)
	RET

// func neonAxpy32(n int, alpha float32, a, y *float32)
//
//	for i := range n: y[i] = fma(alpha, a[i], y[i])
//
//	R0 a   R1 y   R2 elements left
//	V31      alpha in all lanes
//	V16–V19  elements of a
//	V20–V23  elements of y

#define AXPY32(off) \
	FLDPQ off(R0), (F16, F17); \
	FLDPQ off(R1), (F20, F21); \
	FLDPQ (off+32)(R0), (F18, F19); \
	FLDPQ (off+32)(R1), (F22, F23); \
	VFMLA V31.S4, V16.S4, V20.S4; \
	VFMLA V31.S4, V17.S4, V21.S4; \
	VFMLA V31.S4, V18.S4, V22.S4; \
	VFMLA V31.S4, V19.S4, V23.S4; \
	FSTPQ (F20, F21), off(R1); \
	FSTPQ (F22, F23), (off+32)(R1)

TEXT ·neonAxpy32(SB), NOSPLIT, $0-32
	MOVD  n+0(FP), R2
	FMOVS alpha+8(FP), F31
	MOVD  a+16(FP), R0
	MOVD  y+24(FP), R1
	VDUP  V31.S[0], V31.S4
	SUBS  $32, R2
	BLT   tail

lanes:
	AXPY32(0)
	AXPY32(64)
	ADD  $128, R0
	ADD  $128, R1
	SUBS $32, R2
	BGE  lanes

tail:
	ADD  $32, R2
	SUBS $4, R2
	BLT  last

four:
	FMOVQ.P 16(R0), F16
	FMOVQ   (R1), F20
	VFMLA   V31.S4, V16.S4, V20.S4
	FMOVQ.P F20, 16(R1)
	SUBS    $4, R2
	BGE     four

last:
	ADDS $4, R2
	BEQ  done

one:
	FMOVS.P 4(R0), F16
	FMOVS   (R1), F20
	VFMLA   V31.S4, V16.S4, V20.S4
	FMOVS.P F20, 4(R1)
	SUBS    $1, R2
	BNE     one

done:
	RET

// func neonAxpys32(n int, x, a *float32, lda int, y *float32)
//
//	for i := range 4 { for j := range n: y[j] = fma(x[i], a[i*lda+j], y[j]) }
//
//	R0 x   R1 y   R2 elements left   R3 R4 R5 R6 rows of a
//	V0–V3    elements of y
//	V16–V19  elements of a row of a
//	V31      x, used by element

#define AXPY32ROW(fmla, row) \
	FLDPQ (row), (F16, F17); \
	FLDPQ 32(row), (F18, F19); \
	ADD   $64, row; \
	fmla(31, 16, 0); \
	fmla(31, 17, 1); \
	fmla(31, 18, 2); \
	fmla(31, 19, 3)

TEXT ·neonAxpys32(SB), NOSPLIT, $0-40
	MOVD  n+0(FP), R2
	MOVD  x+8(FP), R0
	MOVD  a+16(FP), R3
	MOVD  lda+24(FP), R7
	MOVD  y+32(FP), R1
	ADD   R7<<2, R3, R4
	ADD   R7<<2, R4, R5
	ADD   R7<<2, R5, R6
	FMOVQ (R0), F31
	SUBS  $16, R2
	BLT   tail

sixteen:
	FLDPQ (R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	AXPY32ROW(VFMLAS0, R3)
	AXPY32ROW(VFMLAS1, R4)
	AXPY32ROW(VFMLAS2, R5)
	AXPY32ROW(VFMLAS3, R6)
	FSTPQ (F0, F1), (R1)
	FSTPQ (F2, F3), 32(R1)
	ADD   $64, R1
	SUBS  $16, R2
	BGE   sixteen

tail:
	ADDS $16, R2
	BEQ  done

one:
	FMOVS   (R1), F0
	FMOVS.P 4(R3), F16
	FMOVS.P 4(R4), F17
	FMOVS.P 4(R5), F18
	FMOVS.P 4(R6), F19
	VFMLAS0(31, 16, 0)
	VFMLAS1(31, 17, 0)
	VFMLAS2(31, 18, 0)
	VFMLAS3(31, 19, 0)
	FMOVS.P F0, 4(R1)
	SUBS    $1, R2
	BNE     one

done:
	RET

// func neonScal32(n int, alpha float32, x *float32)
//
//	for i := range n: x[i] = alpha * x[i]
//
//	R0 x   R2 elements left
//	V31      alpha
//	V16–V19  elements of x

TEXT ·neonScal32(SB), NOSPLIT, $0-24
	MOVD  n+0(FP), R2
	FMOVS alpha+8(FP), F31
	MOVD  x+16(FP), R0
	SUBS  $16, R2
	BLT   tail

sixteen:
	FLDPQ (R0), (F16, F17)
	FLDPQ 32(R0), (F18, F19)
	VFMULS0(31, 16, 16)
	VFMULS0(31, 17, 17)
	VFMULS0(31, 18, 18)
	VFMULS0(31, 19, 19)
	FSTPQ (F16, F17), (R0)
	FSTPQ (F18, F19), 32(R0)
	ADD   $64, R0
	SUBS  $16, R2
	BGE   sixteen

tail:
	ADDS $16, R2
	BEQ  done

one:
	FMOVS   (R0), F16
	FMULS   F31, F16
	FMOVS.P F16, 4(R0)
	SUBS    $1, R2
	BNE     one

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

// The mixed kernels widen float32 elements of a, which is exact, and are the
// float64 kernels from there on.

// WIDEN8 turns the eight floats in V16 and V18 into doubles in V16–V19.
#define WIDEN8 \
	VFCVTL2(16, 17); \
	VFCVTL(16, 16); \
	VFCVTL2(18, 19); \
	VFCVTL(18, 18)

// func neonDotMixed(n int, a *float32, x *float64, lanes *[Lanes]float64) float64
//
//	neonDot64 for an a of float32; the registers are the same

#define DOTMIXED(offa, offx, s0, s1, s2, s3) \
	FLDPQ offa(R0), (F16, F18); \
	FLDPQ offx(R1), (F20, F21); \
	FLDPQ (offx+32)(R1), (F22, F23); \
	WIDEN8; \
	VFMLA V16.D2, V20.D2, s0.D2; \
	VFMLA V17.D2, V21.D2, s1.D2; \
	VFMLA V18.D2, V22.D2, s2.D2; \
	VFMLA V19.D2, V23.D2, s3.D2

#define DOTMIXEDTAIL(s) \
	SUBS    $2, R2; \
	BGE     3(PC); \
	VFMLA   V24.D2, V25.D2, s.D2; \
	B       fold; \
	FMOVD.P 8(R0), F16; \
	VFCVTL(16, 16); \
	FMOVQ.P 16(R1), F17; \
	VFMLA   V16.D2, V17.D2, s.D2

TEXT ·neonDotMixed(SB), NOSPLIT, $0-40
	MOVD n+0(FP), R2
	MOVD a+8(FP), R0
	MOVD x+16(FP), R1
	MOVD lanes+24(FP), R7
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	ZERO4(V8, V9, V10, V11)
	ZERO4(V12, V13, V14, V15)
	CBZ  R7, start
	LOADLANES64

start:
	SUBS $32, R2
	BLT  tail

lanes:
	DOTMIXED(0, 0, V0, V1, V2, V3)
	DOTMIXED(32, 64, V4, V5, V6, V7)
	DOTMIXED(64, 128, V8, V9, V10, V11)
	DOTMIXED(96, 192, V12, V13, V14, V15)
	ADD  $128, R0
	ADD  $256, R1
	SUBS $32, R2
	BGE  lanes

tail:
	ADDS  $32, R2
	BEQ   fold
	VMOVI $0, V24.B16
	VMOVI $0, V25.B16
	TBZ   $0, R2, pairs
	SUB   $1, R2, R3
	FMOVS (R0)(R3<<2), F24
	FMOVD (R1)(R3<<3), F25
	VFCVTL(24, 24)

pairs:
	DOTMIXEDTAIL(V0)
	DOTMIXEDTAIL(V1)
	DOTMIXEDTAIL(V2)
	DOTMIXEDTAIL(V3)
	DOTMIXEDTAIL(V4)
	DOTMIXEDTAIL(V5)
	DOTMIXEDTAIL(V6)
	DOTMIXEDTAIL(V7)
	DOTMIXEDTAIL(V8)
	DOTMIXEDTAIL(V9)
	DOTMIXEDTAIL(V10)
	DOTMIXEDTAIL(V11)
	DOTMIXEDTAIL(V12)
	DOTMIXEDTAIL(V13)
	DOTMIXEDTAIL(V14)
	VFMLA V24.D2, V25.D2, V15.D2

fold:
	CBZ R7, sum
	STORELANES64

sum:
	FOLD64
	FMOVD F0, ret+32(FP)
	RET

// func neonDotAxpyMixed(n int, alpha float64, a *float32, x, y *float64, lanes *[Lanes]float64) float64
//
//	neonDotAxpy64 for an a of float32; the registers are the same

#define DOTAXPYMIXED(offa, offx, s0, s1, s2, s3) \
	DOTMIXED(offa, offx, s0, s1, s2, s3); \
	AXPYTO64(offx)

#define DOTAXPYMIXEDTAIL(s) \
	DOTMIXEDTAIL(s); \
	FMOVQ   (R4), F26; \
	VFMLA   V31.D2, V16.D2, V26.D2; \
	FMOVQ.P F26, 16(R4)

TEXT ·neonDotAxpyMixed(SB), NOSPLIT, $0-56
	MOVD  n+0(FP), R2
	FMOVD alpha+8(FP), F31
	MOVD  a+16(FP), R0
	MOVD  x+24(FP), R1
	MOVD  y+32(FP), R4
	MOVD  lanes+40(FP), R7
	VDUP  V31.D[0], V31.D2
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	ZERO4(V8, V9, V10, V11)
	ZERO4(V12, V13, V14, V15)
	CBZ  R7, start
	LOADLANES64

start:
	SUBS $32, R2
	BLT  tail

lanes:
	DOTAXPYMIXED(0, 0, V0, V1, V2, V3)
	DOTAXPYMIXED(32, 64, V4, V5, V6, V7)
	DOTAXPYMIXED(64, 128, V8, V9, V10, V11)
	DOTAXPYMIXED(96, 192, V12, V13, V14, V15)
	ADD  $128, R0
	ADD  $256, R1
	ADD  $256, R4
	SUBS $32, R2
	BGE  lanes

tail:
	ADDS  $32, R2
	BEQ   fold
	VMOVI $0, V24.B16
	VMOVI $0, V25.B16
	TBZ   $0, R2, pairs
	SUB   $1, R2, R3
	FMOVS (R0)(R3<<2), F24
	FMOVD (R1)(R3<<3), F25
	FMOVD (R4)(R3<<3), F26
	VFCVTL(24, 24)
	VFMLA V31.D2, V24.D2, V26.D2
	FMOVD F26, (R4)(R3<<3)

pairs:
	DOTAXPYMIXEDTAIL(V0)
	DOTAXPYMIXEDTAIL(V1)
	DOTAXPYMIXEDTAIL(V2)
	DOTAXPYMIXEDTAIL(V3)
	DOTAXPYMIXEDTAIL(V4)
	DOTAXPYMIXEDTAIL(V5)
	DOTAXPYMIXEDTAIL(V6)
	DOTAXPYMIXEDTAIL(V7)
	DOTAXPYMIXEDTAIL(V8)
	DOTAXPYMIXEDTAIL(V9)
	DOTAXPYMIXEDTAIL(V10)
	DOTAXPYMIXEDTAIL(V11)
	DOTAXPYMIXEDTAIL(V12)
	DOTAXPYMIXEDTAIL(V13)
	DOTAXPYMIXEDTAIL(V14)
	VFMLA V24.D2, V25.D2, V15.D2

fold:
	CBZ R7, sum
	STORELANES64

sum:
	FOLD64
	FMOVD F0, ret+48(FP)
	RET

// func neonAxpyMixed(n int, alpha float64, a *float32, y *float64)
//
//	for i := range n: y[i] = fma(alpha, a[i], y[i])
//
//	R0 a   R1 y   R2 elements left
//	V31      alpha in both lanes
//	V16–V19  elements of a
//	V20–V23  elements of y

TEXT ·neonAxpyMixed(SB), NOSPLIT, $0-32
	MOVD  n+0(FP), R2
	FMOVD alpha+8(FP), F31
	MOVD  a+16(FP), R0
	MOVD  y+24(FP), R1
	VDUP  V31.D[0], V31.D2
	SUBS  $8, R2
	BLT   tail

eight:
	FLDPQ (R0), (F16, F18)
	FLDPQ (R1), (F20, F21)
	FLDPQ 32(R1), (F22, F23)
	WIDEN8
	VFMLA V31.D2, V16.D2, V20.D2
	VFMLA V31.D2, V17.D2, V21.D2
	VFMLA V31.D2, V18.D2, V22.D2
	VFMLA V31.D2, V19.D2, V23.D2
	FSTPQ (F20, F21), (R1)
	FSTPQ (F22, F23), 32(R1)
	ADD   $32, R0
	ADD   $64, R1
	SUBS  $8, R2
	BGE   eight

tail:
	ADDS $8, R2
	BEQ  done

one:
	FMOVS.P 4(R0), F16
	FMOVD   (R1), F20
	VFCVTL(16, 16)
	VFMLA   V31.D2, V16.D2, V20.D2
	FMOVD.P F20, 8(R1)
	SUBS    $1, R2
	BNE     one

done:
	RET

// func neonAxpysMixed(n int, x *float64, a *float32, lda int, y *float64)
//
//	for i := range 4 { for j := range n: y[j] = fma(x[i], a[i*lda+j], y[j]) }
//
//	R0 x   R1 y   R2 elements left   R3 R4 R5 R6 rows of a
//	V0–V3    elements of y
//	V16–V19  elements of a row of a
//	V30 V31  x, used by element

#define AXPYMIXEDROW(fmla, row, x) \
	FLDPQ (row), (F16, F18); \
	ADD   $32, row; \
	WIDEN8; \
	fmla(x, 16, 0); \
	fmla(x, 17, 1); \
	fmla(x, 18, 2); \
	fmla(x, 19, 3)

TEXT ·neonAxpysMixed(SB), NOSPLIT, $0-40
	MOVD  n+0(FP), R2
	MOVD  x+8(FP), R0
	MOVD  a+16(FP), R3
	MOVD  lda+24(FP), R7
	MOVD  y+32(FP), R1
	ADD   R7<<2, R3, R4
	ADD   R7<<2, R4, R5
	ADD   R7<<2, R5, R6
	FLDPQ (R0), (F30, F31)
	SUBS  $8, R2
	BLT   tail

eight:
	FLDPQ (R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	AXPYMIXEDROW(VFMLAD0, R3, 30)
	AXPYMIXEDROW(VFMLAD1, R4, 30)
	AXPYMIXEDROW(VFMLAD0, R5, 31)
	AXPYMIXEDROW(VFMLAD1, R6, 31)
	FSTPQ (F0, F1), (R1)
	FSTPQ (F2, F3), 32(R1)
	ADD   $64, R1
	SUBS  $8, R2
	BGE   eight

tail:
	ADDS $8, R2
	BEQ  done

one:
	FMOVD   (R1), F0
	FMOVS.P 4(R3), F16
	FMOVS.P 4(R4), F17
	FMOVS.P 4(R5), F18
	FMOVS.P 4(R6), F19
	VFCVTL(16, 16)
	VFCVTL(17, 17)
	VFCVTL(18, 18)
	VFCVTL(19, 19)
	VFMLAD0(30, 16, 0)
	VFMLAD1(30, 17, 0)
	VFMLAD0(31, 18, 0)
	VFMLAD1(31, 19, 0)
	FMOVD.P F0, 8(R1)
	SUBS    $1, R2
	BNE     one

done:
	RET
