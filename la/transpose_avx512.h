// Blocks of 8×8 of float64 for AVX-512, in Z0–Z7, and their transposition.

// TRANSPOSE transposes the block in Z0–Z7; row i of the result is in the i-th of
// Z16 Z20 Z17 Z21 Z18 Z22 Z19 Z23. Pairs of rows are interleaved, then quarters of
// vectors are collected twice. Clobbers Z0–Z15.
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

// STAIRCASE holds the masks of the rows of a lower triangle of eight rows, a byte a row.
#define STAIRCASE $0xff7f3f1f0f070301

// FIRSTROWS clears the masks in m of all but the first CX rows, 0 < CX ≤ 8. Clobbers BX.
#define FIRSTROWS(m) \
	MOVQ CX, BX; \
	NEGQ CX;     \
	SHLQ $3, CX; \
	SHLQ CX, m;  \
	SHRQ CX, m;  \
	MOVQ BX, CX

// ROWSIN loads the rows of a block of a matrix, at SI in steps of R8 bytes, under the masks
// in R12; ROWSOUT stores them. Both clobber K1 and shift the masks out of R12.
#define ROWMASK \
	KMOVQ R12, K1; \
	SHRQ  $8, R12

#define ROWSIN \
	ROWMASK; VMOVUPD.Z (SI), K1, Z0; ADDQ R8, SI; \
	ROWMASK; VMOVUPD.Z (SI), K1, Z1; ADDQ R8, SI; \
	ROWMASK; VMOVUPD.Z (SI), K1, Z2; ADDQ R8, SI; \
	ROWMASK; VMOVUPD.Z (SI), K1, Z3; ADDQ R8, SI; \
	ROWMASK; VMOVUPD.Z (SI), K1, Z4; ADDQ R8, SI; \
	ROWMASK; VMOVUPD.Z (SI), K1, Z5; ADDQ R8, SI; \
	ROWMASK; VMOVUPD.Z (SI), K1, Z6; ADDQ R8, SI; \
	ROWMASK; VMOVUPD.Z (SI), K1, Z7

#define ROWSOUT(z0, z1, z2, z3, z4, z5, z6, z7) \
	ROWMASK; VMOVUPD z0, K1, (SI); ADDQ R8, SI; \
	ROWMASK; VMOVUPD z1, K1, (SI); ADDQ R8, SI; \
	ROWMASK; VMOVUPD z2, K1, (SI); ADDQ R8, SI; \
	ROWMASK; VMOVUPD z3, K1, (SI); ADDQ R8, SI; \
	ROWMASK; VMOVUPD z4, K1, (SI); ADDQ R8, SI; \
	ROWMASK; VMOVUPD z5, K1, (SI); ADDQ R8, SI; \
	ROWMASK; VMOVUPD z6, K1, (SI); ADDQ R8, SI; \
	ROWMASK; VMOVUPD z7, K1, (SI)
