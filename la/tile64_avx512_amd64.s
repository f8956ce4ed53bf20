//go:build !purego

#include "textflag.h"

// Register tiles for AVX-512, float64: 8 rows by 24 columns.

#include "float64_amd64.h"
#include "small_amd64.h"

#define GEMM ·avx512Gemm64
#define SHARED ·avx512Shared64
#define GEMMTILE avx512GemmTile64<>
#define NARROW ·avx512Narrow64
#define DIRECT ·avx512Direct64
#define SMALL ·avx512Small64
#define DIST ·avx512Dist64

#include "tile_avx512.h"
