//go:build !purego

#include "textflag.h"

// Register tiles for AVX2 with FMA, float64: 4 rows by 12 columns.

#include "float64_amd64.h"
#include "small_amd64.h"

#define GEMM ·avx2Gemm64
#define SMALL ·avx2Small64
#define DIST ·avx2Dist64

#include "tile_avx2.h"
