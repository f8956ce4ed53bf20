//go:build !purego

#include "textflag.h"

// Register tiles for AVX-512, float32: 8 rows by 48 columns.

#include "float32_amd64.h"
#include "small_amd64.h"

#define GEMM ·avx512Gemm32
#define SHARED ·avx512Shared32
#define GEMMTILE avx512GemmTile32<>
#define NARROW ·avx512Narrow32
#define DIRECT ·avx512Direct32
#define SMALL ·avx512Small32
#define DIST ·avx512Dist32

#include "tile_avx512.h"
