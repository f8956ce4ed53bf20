//go:build !purego

#include "textflag.h"

// func avx512PackBlocks64(blocks int, src *float64, ld int, dst *float64, step int)
//
// Transposes 8×8 blocks: dst[p*step+i] = src[i*ld+p], i < 8, p < 8·blocks.
// Rows at SI, R8 = ld in bytes, R9, R10, R11 three, five and seven times as much;
// columns at DI, DX = step in bytes, R12, R13, BX as R9, R10, R11.
//
//	Z0…Z7    rows
//	Z8…Z15   pairs of rows (01 01 23 23 45 45 67 67), even and odd columns
//	Z16…Z23  columns mod 4 of four rows each
//	Z0…Z7    columns
TEXT ·avx512PackBlocks64(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $3, R8
	SHLQ $3, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	LEAQ (DX)(DX*2), R12
	LEAQ (DX)(DX*4), R13
	LEAQ (R12)(DX*4), BX

loop:
	VMOVUPD (SI), Z0
	VMOVUPD (SI)(R8*1), Z1
	VMOVUPD (SI)(R8*2), Z2
	VMOVUPD (SI)(R9*1), Z3
	VMOVUPD (SI)(R8*4), Z4
	VMOVUPD (SI)(R10*1), Z5
	VMOVUPD (SI)(R9*2), Z6
	VMOVUPD (SI)(R11*1), Z7
	VUNPCKLPD Z1, Z0, Z8
	VUNPCKHPD Z1, Z0, Z9
	VUNPCKLPD Z3, Z2, Z10
	VUNPCKHPD Z3, Z2, Z11
	VUNPCKLPD Z5, Z4, Z12
	VUNPCKHPD Z5, Z4, Z13
	VUNPCKLPD Z7, Z6, Z14
	VUNPCKHPD Z7, Z6, Z15
	VSHUFF64X2 $0x88, Z10, Z8, Z16
	VSHUFF64X2 $0xDD, Z10, Z8, Z17
	VSHUFF64X2 $0x88, Z14, Z12, Z18
	VSHUFF64X2 $0xDD, Z14, Z12, Z19
	VSHUFF64X2 $0x88, Z11, Z9, Z20
	VSHUFF64X2 $0xDD, Z11, Z9, Z21
	VSHUFF64X2 $0x88, Z15, Z13, Z22
	VSHUFF64X2 $0xDD, Z15, Z13, Z23
	VSHUFF64X2 $0x88, Z18, Z16, Z0
	VSHUFF64X2 $0xDD, Z18, Z16, Z4
	VSHUFF64X2 $0x88, Z19, Z17, Z2
	VSHUFF64X2 $0xDD, Z19, Z17, Z6
	VSHUFF64X2 $0x88, Z22, Z20, Z1
	VSHUFF64X2 $0xDD, Z22, Z20, Z5
	VSHUFF64X2 $0x88, Z23, Z21, Z3
	VSHUFF64X2 $0xDD, Z23, Z21, Z7
	VMOVUPD Z0, (DI)
	VMOVUPD Z1, (DI)(DX*1)
	VMOVUPD Z2, (DI)(DX*2)
	VMOVUPD Z3, (DI)(R12*1)
	VMOVUPD Z4, (DI)(DX*4)
	VMOVUPD Z5, (DI)(R13*1)
	VMOVUPD Z6, (DI)(R12*2)
	VMOVUPD Z7, (DI)(BX*1)
	ADDQ $64, SI
	LEAQ (DI)(DX*8), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func avx512PackBlocks32(blocks int, src *float32, ld int, dst *float32, step int)
//
// Transposes blocks of 8 rows and 16 terms: dst[p*step+i] = src[i*ld+p], i < 8,
// p < 16·blocks. Steps of rows and columns as in avx512PackBlocks64; column 8 at AX.
//
//	Z0…Z7    rows
//	Z8…Z15   pairs of rows (01 01 23 23 45 45 67 67), columns 0, 1 and 2, 3 mod 4
//	Z0…Z7    columns c, c+4, c+8, c+12 of rows 0–3 (Z0–Z3) and 4–7 (Z4–Z7)
//	Z8…Z11   columns c, c+4, and Z0…Z3 c+8, c+12, of all rows; Z16, Z17 the lanes they take
DATA lanes8x16<>+0(SB)/8, $0
DATA lanes8x16<>+8(SB)/8, $1
DATA lanes8x16<>+16(SB)/8, $8
DATA lanes8x16<>+24(SB)/8, $9
DATA lanes8x16<>+32(SB)/8, $2
DATA lanes8x16<>+40(SB)/8, $3
DATA lanes8x16<>+48(SB)/8, $10
DATA lanes8x16<>+56(SB)/8, $11
DATA lanes8x16<>+64(SB)/8, $4
DATA lanes8x16<>+72(SB)/8, $5
DATA lanes8x16<>+80(SB)/8, $12
DATA lanes8x16<>+88(SB)/8, $13
DATA lanes8x16<>+96(SB)/8, $6
DATA lanes8x16<>+104(SB)/8, $7
DATA lanes8x16<>+112(SB)/8, $14
DATA lanes8x16<>+120(SB)/8, $15
GLOBL lanes8x16<>(SB), RODATA|NOPTR, $128

TEXT ·avx512PackBlocks32(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $2, R8
	SHLQ $2, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	LEAQ (DX)(DX*2), R12
	LEAQ (DX)(DX*4), R13
	LEAQ (R12)(DX*4), BX
	VMOVUPD lanes8x16<>+0(SB), Z16
	VMOVUPD lanes8x16<>+64(SB), Z17

loop:
	LEAQ (DI)(DX*8), AX
	VMOVUPS (SI), Z0
	VMOVUPS (SI)(R8*1), Z1
	VMOVUPS (SI)(R8*2), Z2
	VMOVUPS (SI)(R9*1), Z3
	VMOVUPS (SI)(R8*4), Z4
	VMOVUPS (SI)(R10*1), Z5
	VMOVUPS (SI)(R9*2), Z6
	VMOVUPS (SI)(R11*1), Z7
	VUNPCKLPS Z1, Z0, Z8
	VUNPCKHPS Z1, Z0, Z9
	VUNPCKLPS Z3, Z2, Z10
	VUNPCKHPS Z3, Z2, Z11
	VUNPCKLPS Z5, Z4, Z12
	VUNPCKHPS Z5, Z4, Z13
	VUNPCKLPS Z7, Z6, Z14
	VUNPCKHPS Z7, Z6, Z15
	VUNPCKLPD Z10, Z8, Z0
	VUNPCKHPD Z10, Z8, Z1
	VUNPCKLPD Z11, Z9, Z2
	VUNPCKHPD Z11, Z9, Z3
	VUNPCKLPD Z14, Z12, Z4
	VUNPCKHPD Z14, Z12, Z5
	VUNPCKLPD Z15, Z13, Z6
	VUNPCKHPD Z15, Z13, Z7
	VMOVAPD Z0, Z8
	VMOVAPD Z1, Z9
	VMOVAPD Z2, Z10
	VMOVAPD Z3, Z11
	VPERMT2PD Z4, Z16, Z8
	VPERMT2PD Z5, Z16, Z9
	VPERMT2PD Z6, Z16, Z10
	VPERMT2PD Z7, Z16, Z11
	VPERMT2PD Z4, Z17, Z0
	VPERMT2PD Z5, Z17, Z1
	VPERMT2PD Z6, Z17, Z2
	VPERMT2PD Z7, Z17, Z3
	VMOVUPS Y8, (DI)
	VMOVUPS Y9, (DI)(DX*1)
	VMOVUPS Y10, (DI)(DX*2)
	VMOVUPS Y11, (DI)(R12*1)
	VEXTRACTF64X4 $1, Z8, (DI)(DX*4)
	VEXTRACTF64X4 $1, Z9, (DI)(R13*1)
	VEXTRACTF64X4 $1, Z10, (DI)(R12*2)
	VEXTRACTF64X4 $1, Z11, (DI)(BX*1)
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, (AX)(DX*1)
	VMOVUPS Y2, (AX)(DX*2)
	VMOVUPS Y3, (AX)(R12*1)
	VEXTRACTF64X4 $1, Z0, (AX)(DX*4)
	VEXTRACTF64X4 $1, Z1, (AX)(R13*1)
	VEXTRACTF64X4 $1, Z2, (AX)(R12*2)
	VEXTRACTF64X4 $1, Z3, (AX)(BX*1)
	ADDQ $64, SI
	LEAQ (AX)(DX*8), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func avx512Gather(vectors, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)
//
// Cuts k rows, ld bytes apart, into pieces of so many vectors, 1 ≤ vectors ≤ 3: piece q of
// row p goes to dst + q·step + p·(bytes of a piece). Row by row, since rows lie in pages of
// their own.
//
//	BX vectors   AX panels, R13 to go   CX rows   SI row of src, R8 ld, R9 place in it
//	DI row of the first panel, R10 step, R11 place in a panel   R12 bytes of a panel's row
TEXT ·avx512Gather(SB), NOSPLIT, $0-56
	MOVQ vectors+0(FP), BX
	MOVQ panels+8(FP), AX
	MOVQ k+16(FP), CX
	MOVQ src+24(FP), SI
	MOVQ ld+32(FP), R8
	MOVQ dst+40(FP), DI
	MOVQ step+48(FP), R10
	MOVQ BX, R12
	SHLQ $6, R12

row:
	MOVQ SI, R9
	MOVQ DI, R11
	MOVQ AX, R13
	CMPQ BX, $2
	JLT  one
	JEQ  two

three:
	VMOVUPD (R9), Z0
	VMOVUPD 64(R9), Z1
	VMOVUPD 128(R9), Z2
	VMOVUPD Z0, (R11)
	VMOVUPD Z1, 64(R11)
	VMOVUPD Z2, 128(R11)
	ADDQ $192, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  three
	JMP  next

two:
	VMOVUPD (R9), Z0
	VMOVUPD 64(R9), Z1
	VMOVUPD Z0, (R11)
	VMOVUPD Z1, 64(R11)
	ADDQ $128, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  two
	JMP  next

one:
	VMOVUPD (R9), Z0
	VMOVUPD Z0, (R11)
	ADDQ $64, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  one

next:
	ADDQ R8, SI
	ADDQ R12, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func avx2Gather(vectors, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)
//
// avx512Gather with vectors of 256 bits.
//
//	BX vectors   AX panels, R13 to go   CX rows   SI row of src, R8 ld, R9 place in it
//	DI row of the first panel, R10 step, R11 place in a panel   R12 bytes of a panel's row
TEXT ·avx2Gather(SB), NOSPLIT, $0-56
	MOVQ vectors+0(FP), BX
	MOVQ panels+8(FP), AX
	MOVQ k+16(FP), CX
	MOVQ src+24(FP), SI
	MOVQ ld+32(FP), R8
	MOVQ dst+40(FP), DI
	MOVQ step+48(FP), R10
	MOVQ BX, R12
	SHLQ $5, R12

row:
	MOVQ SI, R9
	MOVQ DI, R11
	MOVQ AX, R13
	CMPQ BX, $2
	JLT  one
	JEQ  two

three:
	VMOVUPD (R9), Y0
	VMOVUPD 32(R9), Y1
	VMOVUPD 64(R9), Y2
	VMOVUPD Y0, (R11)
	VMOVUPD Y1, 32(R11)
	VMOVUPD Y2, 64(R11)
	ADDQ $96, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  three
	JMP  next

two:
	VMOVUPD (R9), Y0
	VMOVUPD 32(R9), Y1
	VMOVUPD Y0, (R11)
	VMOVUPD Y1, 32(R11)
	ADDQ $64, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  two
	JMP  next

one:
	VMOVUPD (R9), Y0
	VMOVUPD Y0, (R11)
	ADDQ $32, R9
	ADDQ R10, R11
	DECQ R13
	JNZ  one

next:
	ADDQ R8, SI
	ADDQ R12, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func avx2PackBlocks64(blocks int, src *float64, ld int, dst *float64, step int)
//
// Transposes 4×4 blocks: dst[p*step+i] = src[i*ld+p], i < 4, p < 4·blocks.
//
//	SI rows, R8, R9 one and three of them in bytes   DI columns, DX, R12 likewise
//	Y0…Y3 rows   Y4…Y7 pairs of rows, even and odd columns   Y0…Y3 columns
TEXT ·avx2PackBlocks64(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $3, R8
	SHLQ $3, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (DX)(DX*2), R12

loop:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(R8*1), Y1
	VMOVUPD (SI)(R8*2), Y2
	VMOVUPD (SI)(R9*1), Y3
	VUNPCKLPD Y1, Y0, Y4
	VUNPCKHPD Y1, Y0, Y5
	VUNPCKLPD Y3, Y2, Y6
	VUNPCKHPD Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, (DI)(DX*1)
	VMOVUPD Y2, (DI)(DX*2)
	VMOVUPD Y3, (DI)(R12*1)
	ADDQ $32, SI
	LEAQ (DI)(DX*4), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func avx2PackBlocks32(blocks int, src *float32, ld int, dst *float32, step int)
//
// avx2PackBlocks64 for float32.
TEXT ·avx2PackBlocks32(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), R8
	MOVQ dst+24(FP), DI
	MOVQ step+32(FP), DX
	SHLQ $2, R8
	SHLQ $2, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (DX)(DX*2), R12

loop:
	VMOVUPS (SI), X0
	VMOVUPS (SI)(R8*1), X1
	VMOVUPS (SI)(R8*2), X2
	VMOVUPS (SI)(R9*1), X3
	VUNPCKLPS X1, X0, X4
	VUNPCKHPS X1, X0, X5
	VUNPCKLPS X3, X2, X6
	VUNPCKHPS X3, X2, X7
	VUNPCKLPD X6, X4, X0
	VUNPCKHPD X6, X4, X1
	VUNPCKLPD X7, X5, X2
	VUNPCKHPD X7, X5, X3
	VMOVUPS X0, (DI)
	VMOVUPS X1, (DI)(DX*1)
	VMOVUPS X2, (DI)(DX*2)
	VMOVUPS X3, (DI)(R12*1)
	ADDQ $16, SI
	LEAQ (DI)(DX*4), DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET
