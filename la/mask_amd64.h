// Masks for the last elements of a vector in memory. R12 holds how many elements are left,
// at least 1. Each macro selects the first of them, as many as a vector has lanes or as
// are left, and lessens R12 by their number. Masked loads and stores touch no other
// element and fault on none. All clobber AX and CX.

// MASK512 selects by K1.
#define MASK512(lanes) \
	MOVL    $lanes, CX  \
	CMPQ    R12, CX     \
	CMOVQLT R12, CX     \
	SUBQ    CX, R12     \
	MOVL    $1, AX      \
	SHLL    CX, AX      \
	DECL    AX          \
	KMOVW   AX, K1

// MASK256 selects by Y15, for elements of 2^shift bytes. If a lane that is not selected must keep its
// value, VBLENDV restores it.
#define MASK256(lanes, shift) \
	MOVL    $lanes, CX         \
	CMPQ    R12, CX            \
	CMOVQLT R12, CX            \
	SUBQ    CX, R12            \
	SHLQ    $shift, CX         \
	LEAQ    masks<>+32(SB), AX \
	SUBQ    CX, AX             \
	VMOVUPD (AX), Y15

// MASKMIXED256 is MASK256(4, 3), and X12 selects as many elements of four bytes.
#define MASKMIXED256 \
	MASK256(4, 3)              \
	LEAQ    masks<>+32(SB), AX \
	SHRQ    $1, CX             \
	SUBQ    CX, AX             \
	VMOVUPS (AX), X12

// masks is 32 bytes of ones and 32 of zeros: 32 bytes that begin n bytes before the zeros
// select n bytes.
DATA masks<>+0(SB)/8, $-1
DATA masks<>+8(SB)/8, $-1
DATA masks<>+16(SB)/8, $-1
DATA masks<>+24(SB)/8, $-1
DATA masks<>+32(SB)/8, $0
DATA masks<>+40(SB)/8, $0
DATA masks<>+48(SB)/8, $0
DATA masks<>+56(SB)/8, $0
GLOBL masks<>(SB), RODATA|NOPTR, $64
