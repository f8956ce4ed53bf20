//go:build !purego

#include "textflag.h"

// Strip kernels for AVX2 and FMA, float32: nr = 24 lines (three vectors), mr = 8.

#define SIZE 4
#define SHIFT 2
#define LANES 8
#define NR 24
#define MOVE VMOVUPS
#define BROADCAST VBROADCASTSS
#define MOVEMASKED VMASKMOVPS
#define MULTIPLY VMULPS
#define PLUSPRODUCT VFMADD231PS
#define LESSPRODUCT VFNMADD231PS
#define MOVE1 VMOVSS
#define DIVIDE1 VDIVSS
#define ROOT VSQRTSS
#define COMPARE VUCOMISS
#define ONE unit32<>(SB)
#define INF infinity32<>(SB)
#define SPREAD(i, z, y) VBROADCASTSS (i*4)(SI), y; VPERMPS z, y, y
#define FIRSTLANE LEAQ lanes<>(SB), SI; ADDQ R13, SI

#include "strip_avx2.h"

DATA unit32<>+0(SB)/4, $0x3f800000
GLOBL unit32<>(SB), RODATA|NOPTR, $4

DATA infinity32<>+0(SB)/4, $0x7f800000
GLOBL infinity32<>(SB), RODATA|NOPTR, $4

// lanes<> has the numbers of the lanes of a vector.
DATA lanes<>+0(SB)/8, $0x0000000100000000
DATA lanes<>+8(SB)/8, $0x0000000300000002
DATA lanes<>+16(SB)/8, $0x0000000500000004
DATA lanes<>+24(SB)/8, $0x0000000700000006
GLOBL lanes<>(SB), RODATA|NOPTR, $32

// func avx2StripAdd32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·avx2StripAdd32(SB), NOSPLIT, $0-72
	TILE(PLUSPRODUCT)

// func avx2StripSub32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)
TEXT ·avx2StripSub32(SB), NOSPLIT, $0-72
	TILE(LESSPRODUCT)

// func avx2StripSolve32(lo, hi int, t *float32, ts int, r, y *float32, skip int)
TEXT ·avx2StripSolve32(SB), NOSPLIT, $0-56
	SOLVE

// func avx2StripChol32(lo, j0, hi int, r, y *float32) int
TEXT ·avx2StripChol32(SB), NOSPLIT, $0-48
	CHOL

// func avx2StripSquares32(k int, y, d *float32)
TEXT ·avx2StripSquares32(SB), NOSPLIT, $0-24
	SQUARES

// func avx2StripCopy32(k int, src *float32, lds int, dst *float32, ldd int)
TEXT ·avx2StripCopy32(SB), NOSPLIT, $0-40
	COPYROWS
