//go:build !purego

#include "textflag.h"
#include "mask_amd64.h"

// e^x of vectors by the polynomial of exp.go, operation by operation. The bits are equal to the bits
// of exp64 and exp32. AVX-512 keeps the constants in registers and has VSCALEFPD and VSCALEFPS for
// the last step. AVX2 reads the constants from memory and multiplies by two powers of two.

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
