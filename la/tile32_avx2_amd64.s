//go:build !purego

#include "textflag.h"

// Register tiles for AVX2 with FMA, float32: 4 rows by 24 columns.

#include "float32_amd64.h"
#include "small_amd64.h"

#define GEMM ·avx2Gemm32
#define SMALL ·avx2Small32
#define DIST ·avx2Dist32

#include "tile_avx2.h"
