// What float32 is to the tiles and strips of amd64, which are written once for both
// types; float64_amd64.h is its twin. An element has SIZE = 1<<SHIFT bytes. Names that
// end in 1 are for one element, the others for vectors.

#define SIZE 4
#define SHIFT 2

#define MOVE VMOVUPS
#define BROADCAST VBROADCASTSS
#define MULTIPLY VMULPS
#define SUBTRACT VSUBPS
#define PLUSPRODUCT VFMADD231PS  // c = a·b + c
#define LESSPRODUCT VFNMADD231PS // c = c - a·b
#define TIMESPLUS VFMADD213PS    // c = c·b + a

#define MOVE1 VMOVSS
#define MULTIPLY1 VMULSS
#define LESSPRODUCT1 VFNMADD231SS
#define DIVIDE1 VDIVSS
#define ROOT1 VSQRTSS
#define COMPARE1 VUCOMISS

// AVX-512 only: a mask of the lanes of 64 bytes, and lanes moved down.
#define MOVEMASK KMOVW
#define ALIGN VALIGND

// AVX2 only: masks are vectors.
#define MOVEMASKED VMASKMOVPS

DATA one<>+0(SB)/SIZE, $0x3f800000
GLOBL one<>(SB), RODATA|NOPTR, $SIZE
DATA inf<>+0(SB)/SIZE, $0x7f800000
GLOBL inf<>(SB), RODATA|NOPTR, $SIZE
