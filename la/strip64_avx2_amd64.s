//go:build !purego

#include "textflag.h"

// Strips for AVX2 with FMA, float64: nr = 12, mr = 4.

#include "float64_amd64.h"

#define STRIPADD ·avx2StripAdd64
#define STRIPSUB ·avx2StripSub64
#define STRIPSOLVE ·avx2StripSolve64
#define STRIPCHOL ·avx2StripChol64
#define STRIPSQUARES ·avx2StripSquares64
#define STRIPCOPY ·avx2StripCopy64

// SPREAD fills y with lane h+i of z, where h is the lane that FIRSTLANE has prepared:
// always 0, because a block of 4 rows begins at a vector of 4 lanes.
#define FIRSTLANE
#define SPREAD(i, z, y) VPERMPD $(i*0x55), z, y

#include "strip_avx2.h"
