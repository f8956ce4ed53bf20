//go:build !purego

#include "textflag.h"
#include "mask_amd64.h"

// The two steps of Matern beside the exponential. The bits are equal to the bits of genericNegRoot and genericRestTimes.

// func avx512NegRoot64(n int, x *float64)
//
//	R12 n   SI x   Z14 sign
//
//	for 4 vectors at a time, then for one under a mask { x = −√x }
TEXT ·avx512NegRoot64(SB), NOSPLIT, $0-16
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), SI
	MOVQ $0x8000000000000000, AX
	VMOVQ AX, X14
	VBROADCASTSD X14, Z14
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VSQRTPD 0(SI), Z0
	VSQRTPD 64(SI), Z1
	VSQRTPD 128(SI), Z2
	VSQRTPD 192(SI), Z3
	VXORPD Z14, Z0, Z0
	VXORPD Z14, Z1, Z1
	VXORPD Z14, Z2, Z2
	VXORPD Z14, Z3, Z3
	VMOVUPD Z0, 0(SI)
	VMOVUPD Z1, 64(SI)
	VMOVUPD Z2, 128(SI)
	VMOVUPD Z3, 192(SI)
	ADDQ $256, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (SI), K1, Z0
	VSQRTPD Z0, Z0
	VXORPD Z14, Z0, Z0
	VMOVUPD Z0, K1, (SI)
	ADDQ $64, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512RestTimes64(n int, e, x *float64)
//
//	R12 n   DI e   SI x   Z14 ones
//
//	for 4 vectors at a time, then for one under a mask { x = (1 − x)·e }
TEXT ·avx512RestTimes64(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ e+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ $0x3FF0000000000000, AX
	VMOVQ AX, X14
	VBROADCASTSD X14, Z14
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VSUBPD 0(SI), Z14, Z0
	VSUBPD 64(SI), Z14, Z1
	VSUBPD 128(SI), Z14, Z2
	VSUBPD 192(SI), Z14, Z3
	VMULPD 0(DI), Z0, Z0
	VMULPD 64(DI), Z1, Z1
	VMULPD 128(DI), Z2, Z2
	VMULPD 192(DI), Z3, Z3
	VMOVUPD Z0, 0(SI)
	VMOVUPD Z1, 64(SI)
	VMOVUPD Z2, 128(SI)
	VMOVUPD Z3, 192(SI)
	ADDQ $256, DI
	ADDQ $256, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK512(8)
	VMOVUPD.Z (SI), K1, Z0
	VMOVUPD.Z (DI), K1, Z1
	VSUBPD Z0, Z14, Z0
	VMULPD Z1, Z0, Z0
	VMOVUPD Z0, K1, (SI)
	ADDQ $64, DI
	ADDQ $64, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512NegRoot32(n int, x *float32)
//
//	R12 n   SI x   Z14 sign
//
//	for 4 vectors at a time, then for one under a mask { x = −√x }
TEXT ·avx512NegRoot32(SB), NOSPLIT, $0-16
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), SI
	MOVL $0x80000000, AX
	VMOVD AX, X14
	VBROADCASTSS X14, Z14
	MOVQ R12, BX
	SHRQ $6, BX
	JZ   tail

loop:
	VSQRTPS 0(SI), Z0
	VSQRTPS 64(SI), Z1
	VSQRTPS 128(SI), Z2
	VSQRTPS 192(SI), Z3
	VXORPS Z14, Z0, Z0
	VXORPS Z14, Z1, Z1
	VXORPS Z14, Z2, Z2
	VXORPS Z14, Z3, Z3
	VMOVUPS Z0, 0(SI)
	VMOVUPS Z1, 64(SI)
	VMOVUPS Z2, 128(SI)
	VMOVUPS Z3, 192(SI)
	ADDQ $256, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $63, R12
	JZ   done

one:
	MASK512(16)
	VMOVUPS.Z (SI), K1, Z0
	VSQRTPS Z0, Z0
	VXORPS Z14, Z0, Z0
	VMOVUPS Z0, K1, (SI)
	ADDQ $64, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx512RestTimes32(n int, e, x *float32)
//
//	R12 n   DI e   SI x   Z14 ones
//
//	for 4 vectors at a time, then for one under a mask { x = (1 − x)·e }
TEXT ·avx512RestTimes32(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ e+8(FP), DI
	MOVQ x+16(FP), SI
	MOVL $0x3F800000, AX
	VMOVD AX, X14
	VBROADCASTSS X14, Z14
	MOVQ R12, BX
	SHRQ $6, BX
	JZ   tail

loop:
	VSUBPS 0(SI), Z14, Z0
	VSUBPS 64(SI), Z14, Z1
	VSUBPS 128(SI), Z14, Z2
	VSUBPS 192(SI), Z14, Z3
	VMULPS 0(DI), Z0, Z0
	VMULPS 64(DI), Z1, Z1
	VMULPS 128(DI), Z2, Z2
	VMULPS 192(DI), Z3, Z3
	VMOVUPS Z0, 0(SI)
	VMOVUPS Z1, 64(SI)
	VMOVUPS Z2, 128(SI)
	VMOVUPS Z3, 192(SI)
	ADDQ $256, DI
	ADDQ $256, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $63, R12
	JZ   done

one:
	MASK512(16)
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z (DI), K1, Z1
	VSUBPS Z0, Z14, Z0
	VMULPS Z1, Z0, Z0
	VMOVUPS Z0, K1, (SI)
	ADDQ $64, DI
	ADDQ $64, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2NegRoot64(n int, x *float64)
//
//	R12 n   SI x   Y14 sign
//
//	for 4 vectors at a time, then for one under a mask { x = −√x }
TEXT ·avx2NegRoot64(SB), NOSPLIT, $0-16
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), SI
	MOVQ $0x8000000000000000, AX
	VMOVQ AX, X14
	VBROADCASTSD X14, Y14
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VSQRTPD 0(SI), Y0
	VSQRTPD 32(SI), Y1
	VSQRTPD 64(SI), Y2
	VSQRTPD 96(SI), Y3
	VXORPD Y14, Y0, Y0
	VXORPD Y14, Y1, Y1
	VXORPD Y14, Y2, Y2
	VXORPD Y14, Y3, Y3
	VMOVUPD Y0, 0(SI)
	VMOVUPD Y1, 32(SI)
	VMOVUPD Y2, 64(SI)
	VMOVUPD Y3, 96(SI)
	ADDQ $128, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK256(4, 3)
	VMASKMOVPD (SI), Y15, Y0
	VSQRTPD Y0, Y0
	VXORPD Y14, Y0, Y0
	VMASKMOVPD Y0, Y15, (SI)
	ADDQ $32, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2RestTimes64(n int, e, x *float64)
//
//	R12 n   DI e   SI x   Y14 ones
//
//	for 4 vectors at a time, then for one under a mask { x = (1 − x)·e }
TEXT ·avx2RestTimes64(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ e+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ $0x3FF0000000000000, AX
	VMOVQ AX, X14
	VBROADCASTSD X14, Y14
	MOVQ R12, BX
	SHRQ $4, BX
	JZ   tail

loop:
	VSUBPD 0(SI), Y14, Y0
	VSUBPD 32(SI), Y14, Y1
	VSUBPD 64(SI), Y14, Y2
	VSUBPD 96(SI), Y14, Y3
	VMULPD 0(DI), Y0, Y0
	VMULPD 32(DI), Y1, Y1
	VMULPD 64(DI), Y2, Y2
	VMULPD 96(DI), Y3, Y3
	VMOVUPD Y0, 0(SI)
	VMOVUPD Y1, 32(SI)
	VMOVUPD Y2, 64(SI)
	VMOVUPD Y3, 96(SI)
	ADDQ $128, DI
	ADDQ $128, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $15, R12
	JZ   done

one:
	MASK256(4, 3)
	VMASKMOVPD (SI), Y15, Y0
	VMASKMOVPD (DI), Y15, Y1
	VSUBPD Y0, Y14, Y0
	VMULPD Y1, Y0, Y0
	VMASKMOVPD Y0, Y15, (SI)
	ADDQ $32, DI
	ADDQ $32, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2NegRoot32(n int, x *float32)
//
//	R12 n   SI x   Y14 sign
//
//	for 4 vectors at a time, then for one under a mask { x = −√x }
TEXT ·avx2NegRoot32(SB), NOSPLIT, $0-16
	MOVQ n+0(FP), R12
	MOVQ x+8(FP), SI
	MOVL $0x80000000, AX
	VMOVD AX, X14
	VBROADCASTSS X14, Y14
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VSQRTPS 0(SI), Y0
	VSQRTPS 32(SI), Y1
	VSQRTPS 64(SI), Y2
	VSQRTPS 96(SI), Y3
	VXORPS Y14, Y0, Y0
	VXORPS Y14, Y1, Y1
	VXORPS Y14, Y2, Y2
	VXORPS Y14, Y3, Y3
	VMOVUPS Y0, 0(SI)
	VMOVUPS Y1, 32(SI)
	VMOVUPS Y2, 64(SI)
	VMOVUPS Y3, 96(SI)
	ADDQ $128, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK256(8, 2)
	VMASKMOVPS (SI), Y15, Y0
	VSQRTPS Y0, Y0
	VXORPS Y14, Y0, Y0
	VMASKMOVPS Y0, Y15, (SI)
	ADDQ $32, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET

// func avx2RestTimes32(n int, e, x *float32)
//
//	R12 n   DI e   SI x   Y14 ones
//
//	for 4 vectors at a time, then for one under a mask { x = (1 − x)·e }
TEXT ·avx2RestTimes32(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), R12
	MOVQ e+8(FP), DI
	MOVQ x+16(FP), SI
	MOVL $0x3F800000, AX
	VMOVD AX, X14
	VBROADCASTSS X14, Y14
	MOVQ R12, BX
	SHRQ $5, BX
	JZ   tail

loop:
	VSUBPS 0(SI), Y14, Y0
	VSUBPS 32(SI), Y14, Y1
	VSUBPS 64(SI), Y14, Y2
	VSUBPS 96(SI), Y14, Y3
	VMULPS 0(DI), Y0, Y0
	VMULPS 32(DI), Y1, Y1
	VMULPS 64(DI), Y2, Y2
	VMULPS 96(DI), Y3, Y3
	VMOVUPS Y0, 0(SI)
	VMOVUPS Y1, 32(SI)
	VMOVUPS Y2, 64(SI)
	VMOVUPS Y3, 96(SI)
	ADDQ $128, DI
	ADDQ $128, SI
	DECQ BX
	JNZ  loop

tail:
	ANDQ $31, R12
	JZ   done

one:
	MASK256(8, 2)
	VMASKMOVPS (SI), Y15, Y0
	VMASKMOVPS (DI), Y15, Y1
	VSUBPS Y0, Y14, Y0
	VMULPS Y1, Y0, Y0
	VMASKMOVPS Y0, Y15, (SI)
	ADDQ $32, DI
	ADDQ $32, SI
	TESTQ R12, R12
	JNZ  one

done:
	VZEROUPPER
	RET
