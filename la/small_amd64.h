// OPERANDS gets what SMALL multiplies, given the number of A's rows in the register rows: their
// addresses in R8 to R11, the last one's again where there are fewer than four, the step between
// terms in AX, B in DX with the step SI, and the number of terms in BX.
#define OPERANDS(rows) \
	MOVQ a+40(FP), R8;     \
	MOVQ ars+48(FP), BX;   \
	SHLQ $SHIFT, BX;       \
	LEAQ (R8)(BX*1), R9;   \
	CMPQ rows, $2;         \
	CMOVQLT R8, R9;        \
	LEAQ (R9)(BX*1), R10;  \
	CMPQ rows, $3;         \
	CMOVQLT R9, R10;       \
	LEAQ (R10)(BX*1), R11; \
	CMPQ rows, $4;         \
	CMOVQLT R10, R11;      \
	MOVQ acs+56(FP), AX;   \
	SHLQ $SHIFT, AX;       \
	MOVQ b+64(FP), DX;     \
	MOVQ ldb+72(FP), SI;   \
	SHLQ $SHIFT, SI;       \
	MOVQ k+24(FP), BX
