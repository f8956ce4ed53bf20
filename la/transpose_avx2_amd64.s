//go:build !purego

#include "textflag.h"

// Float64 matrices to strips and back, for AVX2, in blocks of 4×4. A strip has 12 lines:
// its rows are 96 bytes apart.

// TRANSPOSE transposes the 4×4 block in Y0…Y3; row i of the result is in Y(8+i).
#define TRANSPOSE \
	VUNPCKLPD Y1, Y0, Y4; \
	VUNPCKHPD Y1, Y0, Y5; \
	VUNPCKLPD Y3, Y2, Y6; \
	VUNPCKHPD Y3, Y2, Y7; \
	VPERM2F128 $0x20, Y6, Y4, Y8;  \
	VPERM2F128 $0x20, Y7, Y5, Y9;  \
	VPERM2F128 $0x31, Y6, Y4, Y10; \
	VPERM2F128 $0x31, Y7, Y5, Y11

// func avx2StripPack64(k int, src *float64, ld int, dst *float64)
//
//	for p = 0, 4, … < k: dst[p:p+4][0:4] = src[0:4][p:p+4]ᵀ, k a multiple of 4
//
// SI row 0 of src; R8 ld in bytes, R9 three of it; DI dst; CX left.
TEXT ·avx2StripPack64(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9

block:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(R8*1), Y1
	VMOVUPD (SI)(R8*2), Y2
	VMOVUPD (SI)(R9*1), Y3
	TRANSPOSE
	VMOVUPD Y8, 0(DI)
	VMOVUPD Y9, 96(DI)
	VMOVUPD Y10, 192(DI)
	VMOVUPD Y11, 288(DI)
	ADDQ $32, SI
	ADDQ $384, DI
	SUBQ $4, CX
	JNE  block
	VZEROUPPER
	RET

// func avx2StripUnpack64(k int, src, dst *float64, ld int)
//
//	for p = 0, 4, … < k: dst[0:4][p:p+4] = src[p:p+4][0:4]ᵀ, k a multiple of 4
//
// DI row 0 of dst; R8 ld in bytes, R9 three of it; SI src; CX left.
TEXT ·avx2StripUnpack64(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ dst+16(FP), DI
	MOVQ ld+24(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9

block:
	VMOVUPD 0(SI), Y0
	VMOVUPD 96(SI), Y1
	VMOVUPD 192(SI), Y2
	VMOVUPD 288(SI), Y3
	TRANSPOSE
	VMOVUPD Y8, (DI)
	VMOVUPD Y9, (DI)(R8*1)
	VMOVUPD Y10, (DI)(R8*2)
	VMOVUPD Y11, (DI)(R9*1)
	ADDQ $384, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JNE  block
	VZEROUPPER
	RET
