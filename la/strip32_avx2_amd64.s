//go:build !purego

#include "textflag.h"

// Strips for AVX2 with FMA, float32: nr = 24, mr = 8.

#include "float32_amd64.h"

#define STRIPADD ·avx2StripAdd32
#define STRIPSUB ·avx2StripSub32
#define STRIPSOLVE ·avx2StripSolve32
#define STRIPCHOL ·avx2StripChol32
#define STRIPSQUARES ·avx2StripSquares32
#define STRIPCOPY ·avx2StripCopy32

// SPREAD fills y with lane h+i of z, where h is the lane that FIRSTLANE has prepared:
// 0 or 4, R13 bytes into a vector. SI is at the numbers of the lanes from h on.
#define FIRSTLANE LEAQ lanes<>(SB), SI; ADDQ R13, SI
#define SPREAD(i, z, y) VBROADCASTSS (i*4)(SI), y; VPERMPS z, y, y

DATA lanes<>+0(SB)/8, $0x0000000100000000
DATA lanes<>+8(SB)/8, $0x0000000300000002
DATA lanes<>+16(SB)/8, $0x0000000500000004
DATA lanes<>+24(SB)/8, $0x0000000700000006
GLOBL lanes<>(SB), RODATA|NOPTR, $32

#include "strip_avx2.h"
