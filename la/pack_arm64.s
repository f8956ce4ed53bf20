//go:build !purego

#include "textflag.h"

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
