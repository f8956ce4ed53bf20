// What float64 is to the tiles and strips of amd64, which are written once for both
// types; float32_amd64.h is its twin. An element has SIZE = 1<<SHIFT bytes. Names that
// end in 1 are for one element, the others for vectors.

#define SIZE 8
#define SHIFT 3

#define MOVE VMOVUPD
#define BROADCAST VBROADCASTSD
#define MULTIPLY VMULPD
#define SUBTRACT VSUBPD
#define PLUSPRODUCT VFMADD231PD  // c = a·b + c
#define LESSPRODUCT VFNMADD231PD // c = c - a·b
#define TIMESPLUS VFMADD213PD    // c = c·b + a

#define MOVE1 VMOVSD
#define MULTIPLY1 VMULSD
#define LESSPRODUCT1 VFNMADD231SD
#define DIVIDE1 VDIVSD
#define ROOT1 VSQRTSD
#define COMPARE1 VUCOMISD

// AVX-512 only: a mask of the lanes of 64 bytes, and lanes moved down.
#define MOVEMASK KMOVB
#define ALIGN VALIGNQ

// AVX2 only: masks are vectors.
#define MOVEMASKED VMASKMOVPD

DATA one<>+0(SB)/SIZE, $0x3ff0000000000000
GLOBL one<>(SB), RODATA|NOPTR, $SIZE
DATA inf<>+0(SB)/SIZE, $0x7ff0000000000000
GLOBL inf<>(SB), RODATA|NOPTR, $SIZE
