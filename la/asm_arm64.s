//go:build !purego

#include "textflag.h"

// NEON kernels. Each computes the bits of its namesake in generic.go: the same
// chains of fused multiply-adds in the same order, several at a time.
//
// The assembler lacks some vector instructions; the macros here give their
// encodings. Operands are register numbers in the assembler's order, the
// destination last, and a test decodes every one of them.

#define VFADDD(m, n, d) WORD $(0x4e60d400 | (m)<<16 | (n)<<5 | (d)) // fadd vd.2d, vn.2d, vm.2d
#define VFSUBD(m, n, d) WORD $(0x4ee0d400 | (m)<<16 | (n)<<5 | (d)) // fsub vd.2d, vn.2d, vm.2d
#define VFMULD(m, n, d) WORD $(0x6e60dc00 | (m)<<16 | (n)<<5 | (d)) // fmul vd.2d, vn.2d, vm.2d
#define VFMIND(m, n, d) WORD $(0x4ee0f400 | (m)<<16 | (n)<<5 | (d)) // fmin vd.2d, vn.2d, vm.2d
#define VFMAXD(m, n, d) WORD $(0x4e60f400 | (m)<<16 | (n)<<5 | (d)) // fmax vd.2d, vn.2d, vm.2d
#define VFADDPD(n, d) WORD $(0x7e70d800 | (n)<<5 | (d)) // faddp dd, vn.2d
#define VFMULD0(m, n, d) WORD $(0x4fc09000 | (m)<<16 | (n)<<5 | (d)) // fmul vd.2d, vn.2d, vm.d[0]
#define VFMULD1(m, n, d) WORD $(0x4fc09800 | (m)<<16 | (n)<<5 | (d)) // fmul vd.2d, vn.2d, vm.d[1]
#define VFMLAD0(m, n, d) WORD $(0x4fc01000 | (m)<<16 | (n)<<5 | (d)) // fmla vd.2d, vn.2d, vm.d[0]
#define VFMLAD1(m, n, d) WORD $(0x4fc01800 | (m)<<16 | (n)<<5 | (d)) // fmla vd.2d, vn.2d, vm.d[1]
#define VFMLSD0(m, n, d) WORD $(0x4fc05000 | (m)<<16 | (n)<<5 | (d)) // fmls vd.2d, vn.2d, vm.d[0]
#define VFMLSD1(m, n, d) WORD $(0x4fc05800 | (m)<<16 | (n)<<5 | (d)) // fmls vd.2d, vn.2d, vm.d[1]

#define VFADDS(m, n, d) WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d)) // fadd vd.4s, vn.4s, vm.4s
#define VFSUBS(m, n, d) WORD $(0x4ea0d400 | (m)<<16 | (n)<<5 | (d)) // fsub vd.4s, vn.4s, vm.4s
#define VFMULS(m, n, d) WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.4s
#define VFMINS(m, n, d) WORD $(0x4ea0f400 | (m)<<16 | (n)<<5 | (d)) // fmin vd.4s, vn.4s, vm.4s
#define VFMAXS(m, n, d) WORD $(0x4e20f400 | (m)<<16 | (n)<<5 | (d)) // fmax vd.4s, vn.4s, vm.4s
#define VFADDPS(n, d) WORD $(0x7e30d800 | (n)<<5 | (d)) // faddp sd, vn.2s
#define VFMULS0(m, n, d) WORD $(0x4f809000 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[0]
#define VFMULS1(m, n, d) WORD $(0x4fa09000 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[1]
#define VFMULS2(m, n, d) WORD $(0x4f809800 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[2]
#define VFMULS3(m, n, d) WORD $(0x4fa09800 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[3]
#define VFMLAS0(m, n, d) WORD $(0x4f801000 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[0]
#define VFMLAS1(m, n, d) WORD $(0x4fa01000 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[1]
#define VFMLAS2(m, n, d) WORD $(0x4f801800 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[2]
#define VFMLAS3(m, n, d) WORD $(0x4fa01800 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[3]
#define VFMLSS0(m, n, d) WORD $(0x4f805000 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[0]
#define VFMLSS1(m, n, d) WORD $(0x4fa05000 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[1]
#define VFMLSS2(m, n, d) WORD $(0x4f805800 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[2]
#define VFMLSS3(m, n, d) WORD $(0x4fa05800 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[3]

#define VFCVTL(n, d) WORD $(0x0e617800 | (n)<<5 | (d)) // fcvtl vd.2d, vn.2s
#define VFCVTL2(n, d) WORD $(0x4e617800 | (n)<<5 | (d)) // fcvtl2 vd.2d, vn.4s

// ZERO4 clears four registers.
#define ZERO4(a, b, c, d) \
	VMOVI $0, a.B16; \
	VMOVI $0, b.B16; \
	VMOVI $0, c.B16; \
	VMOVI $0, d.B16

// ZERO24 clears the tile of the product kernels.
#define ZERO24 \
	ZERO4(V0, V1, V2, V3); \
	ZERO4(V4, V5, V6, V7); \
	ZERO4(V8, V9, V10, V11); \
	ZERO4(V12, V13, V14, V15); \
	ZERO4(V16, V17, V18, V19); \
	ZERO4(V20, V21, V22, V23)

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

// func neonDot64(n int, a, x *float64, lanes *[Lanes]float64) float64
//
//	for i, v := range a: s[i%32] = fma(v, x[i], s[i%32])
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left
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

// The lanes come from and go to R7.
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
//	for i, v := range a:
//		s[i%32] = fma(v, x[i], s[i%32])
//		y[i] = fma(alpha, v, y[i])
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left   R4 y
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
//	for i, v := range a: y[i] = fma(alpha, v, y[i])
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
//	for i := range 4 { for j := range y: y[j] = fma(x[i], a[i*lda+j], y[j]) }
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
//	for i := range x: x[i] = alpha * x[i]
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
//	for i, x := range src:
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
//	for i, v := range a: s[i%32] = fma(v, x[i], s[i%32])
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left   R3 R6 a and x behind the last whole four
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

// The lanes come from and go to R7.
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
//	for i, v := range a:
//		s[i%32] = fma(v, x[i], s[i%32])
//		y[i] = fma(alpha, v, y[i])
//	for h := 16; h > 0; h /= 2 { for l := range h: s[l] += s[l+h] }
//	return s[0] + 0
//
//	R0 a   R1 x   R2 elements left   R4 y   R3 R6 a and x behind the last whole four
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
//	for i, v := range a: y[i] = fma(alpha, v, y[i])
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
//	for i := range 4 { for j := range y: y[j] = fma(x[i], a[i*lda+j], y[j]) }
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
//	for i := range x: x[i] = alpha * x[i]
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
//	for i, x := range src:
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
//	as neonDot64(a, x), and so are the registers

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
//	as neonDotAxpy64(alpha, a, x, y), and so are the registers

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
//	for i, v := range a: y[i] = fma(alpha, v, y[i])
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
//	for i := range 4 { for j := range y: y[j] = fma(x[i], a[i*lda+j], y[j]) }
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

// The strip kernels work on blocks of 4 rows by 96 bytes, a whole line of a strip:
// 12 doubles or 24 floats. Everywhere
//
//	V0–V23   the block, row i in V6i…V6i+5
//	V24–V29  a row of b, or of solutions
//	V30 V31  four elements of a, used by element

// STRIPROW continues the chains of a row by the element of a that op takes.
#define STRIPROW(op, a, c0, c1, c2, c3, c4, c5) \
	op(a, 24, c0); \
	op(a, 25, c1); \
	op(a, 26, c2); \
	op(a, 27, c3); \
	op(a, 28, c4); \
	op(a, 29, c5)

// STRIPLOAD and STRIPSTORE move a row between memory at R7, R4 bytes from row to
// row, and its registers.
#define STRIPLOAD(c0, c1, c2, c3, c4, c5) \
	FLDPQ (R7), (c0, c1); \
	FLDPQ 32(R7), (c2, c3); \
	FLDPQ 64(R7), (c4, c5); \
	ADD   R4, R7

#define STRIPSTORE(c0, c1, c2, c3, c4, c5) \
	FSTPQ (c0, c1), (R7); \
	FSTPQ (c2, c3), 32(R7); \
	FSTPQ (c4, c5), 64(R7); \
	ADD   R4, R7

// STRIPROWS does op to the four rows of a block.
#define STRIPROWS(op) \
	op(F0, F1, F2, F3, F4, F5); \
	op(F6, F7, F8, F9, F10, F11); \
	op(F12, F13, F14, F15, F16, F17); \
	op(F18, F19, F20, F21, F22, F23)

// STRIPPREFETCH fetches the row at R7 for writing and steps to the next.
#define STRIPPREFETCH \
	PRFM (R7), PSTL1KEEP; \
	PRFM 64(R7), PSTL1KEEP; \
	ADD  R4, R7

// STRIPTERM continues a block by the term at byte offset o of a, at R1, and b, at R2.
#define STRIPTERM64(op0, op1, o) \
	FLDPQ (o)(R2), (F24, F25); \
	FLDPQ (o+32)(R2), (F26, F27); \
	FLDPQ (o+64)(R2), (F28, F29); \
	FLDPQ (o)(R1), (F30, F31); \
	STRIPROW(op0, 30, 0, 1, 2, 3, 4, 5); \
	STRIPROW(op1, 30, 6, 7, 8, 9, 10, 11); \
	STRIPROW(op0, 31, 12, 13, 14, 15, 16, 17); \
	STRIPROW(op1, 31, 18, 19, 20, 21, 22, 23)

#define STRIPTERM32(op0, op1, op2, op3, o) \
	FLDPQ (o)(R2), (F24, F25); \
	FLDPQ (o+32)(R2), (F26, F27); \
	FLDPQ (o+64)(R2), (F28, F29); \
	FMOVQ (o)(R1), F30; \
	STRIPROW(op0, 30, 0, 1, 2, 3, 4, 5); \
	STRIPROW(op1, 30, 6, 7, 8, 9, 10, 11); \
	STRIPROW(op2, 30, 12, 13, 14, 15, 16, 17); \
	STRIPROW(op3, 30, 18, 19, 20, 21, 22, 23)

#define ADDTERM64(o) STRIPTERM64(VFMLAD0, VFMLAD1, o)
#define SUBTERM64(o) STRIPTERM64(VFMLSD0, VFMLSD1, o)
#define ADDTERM32(o) STRIPTERM32(VFMLAS0, VFMLAS1, VFMLAS2, VFMLAS3, o)
#define SUBTERM32(o) STRIPTERM32(VFMLSS0, VFMLSS1, VFMLSS2, VFMLSS3, o)

// STRIPLOADEND and STRIPSTOREEND move the end of a row, without its first R11 > 0
// elements, which are whole groups of four.
#define STRIPLOADEND64(c0, c1, c2, c3, c4, c5) \
	CMP   $8, R11; \
	BEQ   2(PC); \
	FLDPQ 32(R7), (c2, c3); \
	FLDPQ 64(R7), (c4, c5); \
	ADD   R4, R7

#define STRIPSTOREEND64(c0, c1, c2, c3, c4, c5) \
	CMP   $8, R11; \
	BEQ   2(PC); \
	FSTPQ (c2, c3), 32(R7); \
	FSTPQ (c4, c5), 64(R7); \
	ADD   R4, R7

#define STRIPLOADEND32(c0, c1, c2, c3, c4, c5) \
	CMP   $4, R11; \
	BGT   2(PC); \
	FMOVQ 16(R7), c1; \
	CMP   $8, R11; \
	BGT   2(PC); \
	FMOVQ 32(R7), c2; \
	CMP   $12, R11; \
	BGT   2(PC); \
	FMOVQ 48(R7), c3; \
	CMP   $16, R11; \
	BGT   2(PC); \
	FMOVQ 64(R7), c4; \
	FMOVQ 80(R7), c5; \
	ADD   R4, R7

#define STRIPSTOREEND32(c0, c1, c2, c3, c4, c5) \
	CMP   $4, R11; \
	BGT   2(PC); \
	FMOVQ c1, 16(R7); \
	CMP   $8, R11; \
	BGT   2(PC); \
	FMOVQ c2, 32(R7); \
	CMP   $12, R11; \
	BGT   2(PC); \
	FMOVQ c3, 48(R7); \
	CMP   $16, R11; \
	BGT   2(PC); \
	FMOVQ c4, 64(R7); \
	FMOVQ c5, 80(R7); \
	ADD   R4, R7

// STRIPTILE is the body of add and sub: nr×nr elements in blocks of four rows,
// without the first skip columns and, on the diagonal, rows.
//
//	for i := 0 or skip; i < nr; i += 4:
//		block := rows i…i+3 of c, or 0
//		prefetch the next four rows, or the first four at next
//		for p := range k: block ±= a[p*nr+i:][:4] ⊗ b[p*nr:][:nr]
//		rows i…i+3 of c = block
//
//	R0 k   R1 R2 a and b at p   R3 c, row i, column 0   R4 row of c in bytes
//	R5 p/4 left   R6 blocks left   R7 a row   R8 a+i   R9 b   R10 next
//	R11 skip   R12 mode: skip, bit 5 for 0, bit 6 on the diagonal
#define STRIPTILE(term, loadend, storeend, shift, blocks, esize) \
	LSL  $shift, R4; \
	AND  $31, R12, R11; \
	MOVD $blocks, R6; \
	SUB  R11<<shift, R3; \
	TBZ  $6, R12, block; \
	ADD  R11<<shift, R8; \
	SUB  R11>>2, R6; \
block: \
	MOVD R3, R7; \
	TBNZ $5, R12, fresh; \
	CBNZ R11, loadends; \
	STRIPROWS(STRIPLOAD); \
	B loaded; \
loadends: \
	STRIPROWS(loadend); \
	B loaded; \
fresh: \
	ZERO24; \
loaded: \
	ADD  R4<<2, R3, R7; \
	CMP  $1, R6; \
	CSEL EQ, R10, R7, R7; \
	STRIPPREFETCH; \
	STRIPPREFETCH; \
	STRIPPREFETCH; \
	STRIPPREFETCH; \
	MOVD R8, R1; \
	MOVD R9, R2; \
	LSR  $2, R0, R5; \
four: \
	term(0); \
	term(96); \
	term(192); \
	term(288); \
	ADD  $384, R1; \
	ADD  $384, R2; \
	SUB  $1, R5; \
	CBNZ R5, four; \
	MOVD R3, R7; \
	CBNZ R11, storeends; \
	STRIPROWS(STRIPSTORE); \
	B stored; \
storeends: \
	STRIPROWS(storeend); \
stored: \
	MOVD R7, R3; \
	ADD  $(4*esize), R8; \
	SUB  $1, R6; \
	CBNZ R6, block; \
	RET

// func neonStripAdd64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)
TEXT ·neonStripAdd64(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(ADDTERM64, STRIPLOADEND64, STRIPSTOREEND64, 3, 3, 8)

// func neonStripSub64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)
TEXT ·neonStripSub64(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(SUBTERM64, STRIPLOADEND64, STRIPSTOREEND64, 3, 3, 8)

// func neonStripAdd32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·neonStripAdd32(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(ADDTERM32, STRIPLOADEND32, STRIPSTOREEND32, 2, 6, 4)

// func neonStripSub32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·neonStripSub32(SB), NOSPLIT, $0-72
	MOVD k+0(FP), R0
	MOVD a+8(FP), R8
	MOVD b+16(FP), R9
	MOVD c+24(FP), R3
	MOVD ldc+32(FP), R4
	MOVD next+40(FP), R10
	MOVD mode+48(FP), R12
	STRIPTILE(SUBTERM32, STRIPLOADEND32, STRIPSTOREEND32, 2, 6, 4)

// func neonStripSquares64(k int, y, d *float64)
//
//	for q := range k { for i := range 12: d[i] = fma(y[12q+i], y[12q+i], d[i]) }
//
//	R0 k   R1 y   R7 d
//	V0–V5    d
//	V24–V29  a row of y

#define STRIPSQUARES(T) \
	FLDPQ (R7), (F0, F1); \
	FLDPQ 32(R7), (F2, F3); \
	FLDPQ 64(R7), (F4, F5); \
rows: \
	FLDPQ (R1), (F24, F25); \
	FLDPQ 32(R1), (F26, F27); \
	FLDPQ 64(R1), (F28, F29); \
	ADD   $96, R1; \
	VFMLA V24.T, V24.T, V0.T; \
	VFMLA V25.T, V25.T, V1.T; \
	VFMLA V26.T, V26.T, V2.T; \
	VFMLA V27.T, V27.T, V3.T; \
	VFMLA V28.T, V28.T, V4.T; \
	VFMLA V29.T, V29.T, V5.T; \
	SUB   $1, R0; \
	CBNZ  R0, rows; \
	FSTPQ (F0, F1), (R7); \
	FSTPQ (F2, F3), 32(R7); \
	FSTPQ (F4, F5), 64(R7); \
	RET

TEXT ·neonStripSquares64(SB), NOSPLIT, $0-24
	MOVD k+0(FP), R0
	MOVD y+8(FP), R1
	MOVD d+16(FP), R7
	STRIPSQUARES(D2)

// func neonStripSquares32(k int, y, d *float32)
//
// as neonStripSquares64, with 24 elements a row
TEXT ·neonStripSquares32(SB), NOSPLIT, $0-24
	MOVD k+0(FP), R0
	MOVD y+8(FP), R1
	MOVD d+16(FP), R7
	STRIPSQUARES(S4)

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

// STRIPCHAINS continues the block of rows j…j+3 of y by all solved rows.
//
//	block := y[j*nr:], rows j…j+3
//	for k := lo; k < j; k++: block -= t[k*nr:][:4] ⊗ y[k*nr:][:nr]
//
//	R0 rows lo…j-1   R1 t, R2 y at k, afterwards at j   R3 y at j   R4 96
#define STRIPCHAINS(term) \
	MOVD R3, R7; \
	STRIPROWS(STRIPLOAD); \
	CBZ R0, solved; \
	LSR $2, R0, R5; \
four: \
	term(0); \
	term(96); \
	term(192); \
	term(288); \
	ADD  $384, R1; \
	ADD  $384, R2; \
	SUB  $1, R5; \
	CBNZ R5, four; \
solved:

// STRIPSCALE multiplies a row of the block by the element of v that op takes.
#define STRIPSCALE(op, v, c0, c1, c2, c3, c4, c5) \
	op(v, c0, c0); \
	op(v, c1, c1); \
	op(v, c2, c2); \
	op(v, c3, c3); \
	op(v, c4, c4); \
	op(v, c5, c5)

// STRIPLESS subtracts the element of v that op takes times one row from another.
#define STRIPLESS(op, v, s0, s1, s2, s3, s4, s5, c0, c1, c2, c3, c4, c5) \
	op(v, s0, c0); \
	op(v, s1, c1); \
	op(v, s2, c2); \
	op(v, s3, c3); \
	op(v, s4, c4); \
	op(v, s5, c5)

#define LESS01(op, v) STRIPLESS(op, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
#define LESS02(op, v) STRIPLESS(op, v, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17)
#define LESS03(op, v) STRIPLESS(op, v, 0, 1, 2, 3, 4, 5, 18, 19, 20, 21, 22, 23)
#define LESS12(op, v) STRIPLESS(op, v, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
#define LESS13(op, v) STRIPLESS(op, v, 6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23)
#define LESS23(op, v) STRIPLESS(op, v, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)

#define SCALE0(op, v) STRIPSCALE(op, v, 0, 1, 2, 3, 4, 5)
#define SCALE1(op, v) STRIPSCALE(op, v, 6, 7, 8, 9, 10, 11)
#define SCALE2(op, v) STRIPSCALE(op, v, 12, 13, 14, 15, 16, 17)
#define SCALE3(op, v) STRIPSCALE(op, v, 18, 19, 20, 21, 22, 23)

// func neonStripSolve64(lo, j0, hi int, t *float64, ts int, r, y *float64)
//
//	for j := j0; j < hi; j++:
//		t_j := t[j/nr*ts+j%nr:]
//		for k := lo; k < j; k++: y_j -= t_j[k*nr] * y_k
//		y_j *= r[j]
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 t_j   R2 y at k   R3 y at j   R4 96   R5 rows left of lo…j-1
//	R6 rows left   R8 t_j at lo   R9 y at lo   R10 r at j   R11 line j%nr
//	R12 from the last line of a strip of t to the next strip
//	V24 V25  t_j…t_j+3 at one row   V28 V29 r_j…r_j+3

TEXT ·neonStripSolve64(SB), NOSPLIT, $0-56
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD t+24(FP), R8
	MOVD ts+32(FP), R12
	MOVD r+40(FP), R10
	MOVD y+48(FP), R9
	MOVD $96, R4
	LSL  $3, R12
	MADD R4, R9, R0, R3      // y + 96*j0
	ADD  R0<<3, R10
	SUB  R0, R6
	MOVD $12, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11     // j0 - nr*(j0/nr)
	MADD R12, R8, R7, R8
	ADD  R11<<3, R8
	MADD R4, R8, R13, R8     // at lo
	MADD R4, R9, R13, R9
	SUB  R13, R0
	SUB  $96, R12

rows:
	CBZ  R6, done
	MOVD R8, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM64)
	FLDPQ (R10), (F28, F29)
	FLDPQ (R1), (F24, F25)
	SCALE0(VFMULD0, 28)
	LESS01(VFMLSD1, 24)
	LESS02(VFMLSD0, 25)
	LESS03(VFMLSD1, 25)
	FMOVQ 112(R1), F25
	SCALE1(VFMULD1, 28)
	LESS12(VFMLSD0, 25)
	LESS13(VFMLSD1, 25)
	FMOVQ 208(R1), F25
	SCALE2(VFMULD0, 29)
	LESS23(VFMLSD1, 25)
	SCALE3(VFMULD1, 29)
	MOVD R3, R7
	STRIPROWS(STRIPSTORE)
	MOVD R7, R3
	ADD  $32, R10
	ADD  $32, R8
	ADD  $4, R0
	SUB  $4, R6
	ADD  $4, R11
	CMP  $12, R11
	BNE  rows
	MOVD $0, R11
	ADD  R12, R8
	B    rows

done:
	RET

// CHOLPIVOT64 finishes row j, at R7, in which R8 is at the block's four lines and
// line j at offset o from there. The row is stored for its pivot's sake, scaled
// and stored again. A pivot is positive and finite if its bits, less 1, are
// below those of the largest number.
#define CHOLPIVOT64(o, scale, c0, c1, c2, c3, c4, c5) \
	FSTPQ  (c0, c1), (R7); \
	FSTPQ  (c2, c3), 32(R7); \
	FSTPQ  (c4, c5), 64(R7); \
	MOVD   o(R8), R15; \
	FMOVD  o(R8), F28; \
	SUB    $1, R15; \
	CMP    R14, R15; \
	BHS    stop; \
	FSQRTD F28, F29; \
	FDIVD  F29, F27, F28; \
	FMOVD  F28, o(R10); \
	scale(VFMULD0, 28); \
	STRIPSTORE(c0, c1, c2, c3, c4, c5); \
	FLDPQ (R8), (F24, F25); \
	FMOVD F29, o(R8); \
	ADD   R4, R8

// func neonStripChol64(lo, j0, hi int, r, y *float64) int
//
//	for j := j0; j < hi; j++:
//		for k := lo; k < j; k++: y_j -= y_k[j%nr] * y_k
//		d := y_j[j%nr]
//		if !(0 < d && d < Inf): return j
//		r[j] = 1 / sqrt(d)
//		y_j *= r[j]
//		y_j[j%nr] = sqrt(d)
//	return -1
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 y at k, line j%nr   R2 y at k   R3 y at j   R4 96
//	R5 rows left of lo…j-1   R6 rows left   R7 R8 a row of the block, its line j%nr
//	R9 y at lo   R10 r at j   R11 line j%nr in bytes   R14 bits of the largest number
//	V24 V25  four lines of a row   V27 1   V28 d, then 1/√d   V29 √d

TEXT ·neonStripChol64(SB), NOSPLIT, $0-48
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD r+24(FP), R10
	MOVD y+32(FP), R9
	MOVD $0x7fefffffffffffff, R14
	MOVD $96, R4
	MADD R4, R9, R0, R3 // y + 96*j0
	ADD  R0<<3, R10
	SUB  R0, R6
	MOVD $12, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11 // j0 - nr*(j0/nr)
	LSL  $3, R11
	MADD R4, R9, R13, R9
	SUB  R13, R0

rows:
	CBZ  R6, done
	ADD  R11, R9, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM64)
	FMOVD $1.0, F27
	MOVD  R3, R7
	ADD   R11, R3, R8
	CHOLPIVOT64(0, SCALE0, F0, F1, F2, F3, F4, F5)
	LESS01(VFMLSD1, 24)
	LESS02(VFMLSD0, 25)
	LESS03(VFMLSD1, 25)
	CHOLPIVOT64(8, SCALE1, F6, F7, F8, F9, F10, F11)
	LESS12(VFMLSD0, 25)
	LESS13(VFMLSD1, 25)
	CHOLPIVOT64(16, SCALE2, F12, F13, F14, F15, F16, F17)
	LESS23(VFMLSD1, 25)
	CHOLPIVOT64(24, SCALE3, F18, F19, F20, F21, F22, F23)
	MOVD R7, R3
	ADD  $32, R10
	ADD  $4, R0
	SUB  $4, R6
	ADD  $32, R11
	CMP  $96, R11
	BNE  rows
	MOVD $0, R11
	B    rows

stop:
	MOVD y+32(FP), R9
	SUB  R9, R7
	UDIV R4, R7
	MOVD R7, ret+40(FP)
	RET

done:
	MOVD $-1, R7
	MOVD R7, ret+40(FP)
	RET

// func neonStripSolve32(lo, j0, hi int, t *float32, ts int, r, y *float32)
//
//	for j := j0; j < hi; j++:
//		t_j := t[j/nr*ts+j%nr:]
//		for k := lo; k < j; k++: y_j -= t_j[k*nr] * y_k
//		y_j *= r[j]
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 t_j   R2 y at k   R3 y at j   R4 96   R5 rows left of lo…j-1
//	R6 rows left   R8 t_j at lo   R9 y at lo   R10 r at j   R11 line j%nr
//	R12 from the last line of a strip of t to the next strip
//	V24 V25  t_j…t_j+3 at one row   V28 V29 r_j…r_j+3

TEXT ·neonStripSolve32(SB), NOSPLIT, $0-56
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD t+24(FP), R8
	MOVD ts+32(FP), R12
	MOVD r+40(FP), R10
	MOVD y+48(FP), R9
	MOVD $96, R4
	LSL  $2, R12
	MADD R4, R9, R0, R3      // y + 96*j0
	ADD  R0<<2, R10
	SUB  R0, R6
	MOVD $24, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11     // j0 - nr*(j0/nr)
	MADD R12, R8, R7, R8
	ADD  R11<<2, R8
	MADD R4, R8, R13, R8     // at lo
	MADD R4, R9, R13, R9
	SUB  R13, R0
	SUB  $96, R12

rows:
	CBZ  R6, done
	MOVD R8, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM32)
	FMOVQ (R10), F28
	FMOVQ (R1), F24
	SCALE0(VFMULS0, 28)
	LESS01(VFMLSS1, 24)
	LESS02(VFMLSS2, 24)
	LESS03(VFMLSS3, 24)
	FMOVQ 96(R1), F24
	SCALE1(VFMULS1, 28)
	LESS12(VFMLSS2, 24)
	LESS13(VFMLSS3, 24)
	FMOVQ 192(R1), F24
	SCALE2(VFMULS2, 28)
	LESS23(VFMLSS3, 24)
	SCALE3(VFMULS3, 28)
	MOVD R3, R7
	STRIPROWS(STRIPSTORE)
	MOVD R7, R3
	ADD  $16, R10
	ADD  $16, R8
	ADD  $4, R0
	SUB  $4, R6
	ADD  $4, R11
	CMP  $24, R11
	BNE  rows
	MOVD $0, R11
	ADD  R12, R8
	B    rows

done:
	RET

// CHOLPIVOT32 finishes row j, at R7, in which R8 is at the block's four lines and
// line j at offset o from there. The row is stored for its pivot's sake, scaled
// and stored again. A pivot is positive and finite if its bits, less 1, are
// below those of the largest number.
#define CHOLPIVOT32(o, scale, c0, c1, c2, c3, c4, c5) \
	FSTPQ  (c0, c1), (R7); \
	FSTPQ  (c2, c3), 32(R7); \
	FSTPQ  (c4, c5), 64(R7); \
	MOVWU  o(R8), R15; \
	FMOVS  o(R8), F28; \
	SUB    $1, R15; \
	CMP    R14, R15; \
	BHS    stop; \
	FSQRTS F28, F29; \
	FDIVS  F29, F27, F28; \
	FMOVS  F28, o(R10); \
	scale(VFMULS0, 28); \
	STRIPSTORE(c0, c1, c2, c3, c4, c5); \
	FMOVQ (R8), F24; \
	FMOVS F29, o(R8); \
	ADD   R4, R8

// func neonStripChol32(lo, j0, hi int, r, y *float32) int
//
//	for j := j0; j < hi; j++:
//		for k := lo; k < j; k++: y_j -= y_k[j%nr] * y_k
//		d := y_j[j%nr]
//		if !(0 < d && d < Inf): return j
//		r[j] = 1 / sqrt(d)
//		y_j *= r[j]
//		y_j[j%nr] = sqrt(d)
//	return -1
//
// in blocks of four rows: the rows before, then each other.
//
//	R0 rows lo…j-1   R1 y at k, line j%nr   R2 y at k   R3 y at j   R4 96
//	R5 rows left of lo…j-1   R6 rows left   R7 R8 a row of the block, its line j%nr
//	R9 y at lo   R10 r at j   R11 line j%nr in bytes   R14 bits of the largest number
//	V24 V25  four lines of a row   V27 1   V28 d, then 1/√d   V29 √d

TEXT ·neonStripChol32(SB), NOSPLIT, $0-48
	MOVD lo+0(FP), R13
	MOVD j0+8(FP), R0
	MOVD hi+16(FP), R6
	MOVD r+24(FP), R10
	MOVD y+32(FP), R9
	MOVD $0x7f7fffff, R14
	MOVD $96, R4
	MADD R4, R9, R0, R3 // y + 96*j0
	ADD  R0<<2, R10
	SUB  R0, R6
	MOVD $24, R5
	UDIV R5, R0, R7
	MSUB R5, R0, R7, R11 // j0 - nr*(j0/nr)
	LSL  $2, R11
	MADD R4, R9, R13, R9
	SUB  R13, R0

rows:
	CBZ  R6, done
	ADD  R11, R9, R1
	MOVD R9, R2
	STRIPCHAINS(SUBTERM32)
	FMOVS $1.0, F27
	MOVD  R3, R7
	ADD   R11, R3, R8
	CHOLPIVOT32(0, SCALE0, F0, F1, F2, F3, F4, F5)
	LESS01(VFMLSS1, 24)
	LESS02(VFMLSS2, 24)
	LESS03(VFMLSS3, 24)
	CHOLPIVOT32(4, SCALE1, F6, F7, F8, F9, F10, F11)
	LESS12(VFMLSS2, 24)
	LESS13(VFMLSS3, 24)
	CHOLPIVOT32(8, SCALE2, F12, F13, F14, F15, F16, F17)
	LESS23(VFMLSS3, 24)
	CHOLPIVOT32(12, SCALE3, F18, F19, F20, F21, F22, F23)
	MOVD R7, R3
	ADD  $16, R10
	ADD  $4, R0
	SUB  $4, R6
	ADD  $16, R11
	CMP  $96, R11
	BNE  rows
	MOVD $0, R11
	B    rows

stop:
	MOVD y+32(FP), R9
	SUB  R9, R7
	UDIV R4, R7
	MOVD R7, ret+40(FP)
	RET

done:
	MOVD $-1, R7
	MOVD R7, ret+40(FP)
	RET
