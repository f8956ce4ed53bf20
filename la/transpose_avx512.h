// TRANSPOSE transposes the 8×8 block in Z0…Z7; row i of the result is in the
// i-th of Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23. Pairs of rows are interleaved, then
// quarters of vectors are gathered twice.
#define TRANSPOSE \
	VUNPCKLPD Z1, Z0, Z8;   \
	VUNPCKHPD Z1, Z0, Z9;   \
	VUNPCKLPD Z3, Z2, Z10;  \
	VUNPCKHPD Z3, Z2, Z11;  \
	VUNPCKLPD Z5, Z4, Z12;  \
	VUNPCKHPD Z5, Z4, Z13;  \
	VUNPCKLPD Z7, Z6, Z14;  \
	VUNPCKHPD Z7, Z6, Z15;  \
	VSHUFF64X2 $0x88, Z10, Z8, Z0;  \
	VSHUFF64X2 $0xdd, Z10, Z8, Z1;  \
	VSHUFF64X2 $0x88, Z14, Z12, Z2; \
	VSHUFF64X2 $0xdd, Z14, Z12, Z3; \
	VSHUFF64X2 $0x88, Z11, Z9, Z4;  \
	VSHUFF64X2 $0xdd, Z11, Z9, Z5;  \
	VSHUFF64X2 $0x88, Z15, Z13, Z6; \
	VSHUFF64X2 $0xdd, Z15, Z13, Z7; \
	VSHUFF64X2 $0x88, Z2, Z0, Z16;  \
	VSHUFF64X2 $0x88, Z3, Z1, Z17;  \
	VSHUFF64X2 $0xdd, Z2, Z0, Z18;  \
	VSHUFF64X2 $0xdd, Z3, Z1, Z19;  \
	VSHUFF64X2 $0x88, Z6, Z4, Z20;  \
	VSHUFF64X2 $0x88, Z7, Z5, Z21;  \
	VSHUFF64X2 $0xdd, Z6, Z4, Z22;  \
	VSHUFF64X2 $0xdd, Z7, Z5, Z23

// staircase<> has the masks of the rows of a lower triangle, then full ones.
DATA staircase<>+0(SB)/8, $0xff7f3f1f0f070301
DATA staircase<>+8(SB)/8, $0xffffffffffffffff
GLOBL staircase<>(SB), RODATA|NOPTR, $16

// ROWMASK sets K1 to the mask of row r of a block: AX has a bit for each row that
// there is, R12 points to their masks.
#define ROWMASK(r) \
	MOVBLZX r(R12), BX; \
	BTL     $r, AX;     \
	SBBL    R13, R13;   \
	ANDL    R13, BX;    \
	KMOVW   BX, K1
