//go:build !purego

#include "textflag.h"

// Strips for AVX-512, float32: nr = 48, mr = 16.

#include "float32_amd64.h"

#define STRIPADD ·avx512StripAdd32
#define STRIPSUB ·avx512StripSub32
#define STRIPSOLVE ·avx512StripSolve32
#define STRIPINVERT ·avx512StripInvert32
#define STRIPCHOL ·avx512StripChol32
#define STRIPSQUARES ·avx512StripSquares32
#define STRIPCOPY ·avx512StripCopy32

#include "strip_avx512.h"
