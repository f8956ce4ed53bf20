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

// func add32AVX512(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·add32AVX512(SB), NOSPLIT, $0-72
	TILE(PLUSPRODUCT)

// func sub32AVX512(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·sub32AVX512(SB), NOSPLIT, $0-72
	TILE(LESSPRODUCT)

// func solve32AVX512(lo, hi int, t *float32, ts int, r, y *float32, skip int)
TEXT ·solve32AVX512(SB), NOSPLIT, $0-56
	SOLVE

// func chol32AVX512(lo, j0, hi int, r, y *float32) int
TEXT ·chol32AVX512(SB), NOSPLIT, $0-48
	CHOL

// func squares32AVX512(k int, y, d *float32)
TEXT ·squares32AVX512(SB), NOSPLIT, $0-24
	SQUARES

// func copyRows32AVX512(k int, src *float32, lds int, dst *float32, ldd int)
TEXT ·copyRows32AVX512(SB), NOSPLIT, $0-40
	COPYROWS
