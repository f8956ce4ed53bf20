//go:build !purego

#include "textflag.h"

// Strip kernels for AVX-512, float32: nr = 48 lines (three vectors), mr = 16.

#define SIZE 4
#define SHIFT 2
#define LANES 16
#define NR 48
#define MOVE VMOVUPS
#define BROADCAST VBROADCASTSS
#define MULTIPLY VMULPS
#define PLUSPRODUCT VFMADD231PS
#define LESSPRODUCT VFNMADD231PS
#define MOVE1 VMOVSS
#define MULTIPLY1 VMULSS
#define LESSPRODUCT1 VFNMADD231SS
#define DIVIDE1 VDIVSS
#define ROOT VSQRTSS
#define COMPARE VUCOMISS
#define ALIGN VALIGND
#define ONE one32<>(SB)
#define INF inf32<>(SB)

#include "strip_avx512.h"

DATA one32<>+0(SB)/4, $0x3f800000
GLOBL one32<>(SB), RODATA|NOPTR, $4

DATA inf32<>+0(SB)/4, $0x7f800000
GLOBL inf32<>(SB), RODATA|NOPTR, $4

// func avx512StripAdd32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·avx512StripAdd32(SB), NOSPLIT, $0-72
	TILE(PLUSPRODUCT)

// func avx512StripSub32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·avx512StripSub32(SB), NOSPLIT, $0-72
	TILE(LESSPRODUCT)

// func avx512StripSolve32(lo, hi int, t *float32, ts int, r, y *float32, skip int)
TEXT ·avx512StripSolve32(SB), NOSPLIT, $0-56
	SOLVE

// func avx512StripChol32(lo, j0, hi int, r, y *float32) int
TEXT ·avx512StripChol32(SB), NOSPLIT, $0-48
	CHOL

// func avx512StripSquares32(k int, y, d *float32)
TEXT ·avx512StripSquares32(SB), NOSPLIT, $0-24
	SQUARES

// func avx512StripCopy32(k int, src *float32, lds int, dst *float32, ldd int)
TEXT ·avx512StripCopy32(SB), NOSPLIT, $0-40
	COPYROWS
