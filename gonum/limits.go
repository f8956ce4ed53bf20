package gonum

// The least work for which la is faster than gonum.
const (
	gemmWork     = 8 * 8 * 8 // multiplications
	symmRows     = 16
	syrkRows     = 16
	trmmRows     = 24
	trsmRows     = 16
	gemvWork     = 16 * 16 // elements of the matrix
	symvRows     = 16
	trsvRows     = 16
	dotWork      = 32 // elements
	axpyWork     = 32
	choleskyRows = 16
	inverseRows  = 16
)
