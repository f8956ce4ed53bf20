//go:build !purego

#include "textflag.h"

// Strips for AVX-512, float64: nr = 24, mr = 8.

#include "float64_amd64.h"

#define STRIPADD ·avx512StripAdd64
#define STRIPSUB ·avx512StripSub64
#define STRIPSOLVE ·avx512StripSolve64
#define STRIPINVERT ·avx512StripInvert64
#define STRIPCHOL ·avx512StripChol64
#define STRIPSQUARES ·avx512StripSquares64
#define STRIPCOPY ·avx512StripCopy64

#include "strip_avx512.h"
