package la

// Dot returns Σ x_i y_i. The slices have equal length and may be the same.
func Dot[T Float](x, y []T) T {
	checkLen("y", y, len(x))
	raceRead(x)
	raceRead(y)
	return table[T]().dot(len(x), first(x), first(y))
}

// SumSq returns Σ x_i².
func SumSq[T Float](x []T) T { return Dot(x, x) }

// Axpy computes y ← α·x + y, one fused multiply-add an element. The slices have
// equal length; y may be x itself but must not overlap it otherwise.
func Axpy[T Float](alpha T, x, y []T) {
	checkLen("y", y, len(x))
	checkVectors("y", y, "x", x)
	raceRead(x)
	raceWrite(y)
	table[T]().axpy(len(x), alpha, first(x), first(y))
}

// Scal computes x ← α·x.
func Scal[T Float](alpha T, x []T) {
	raceWrite(x)
	table[T]().scal(len(x), alpha, first(x))
}

// DotMixed is [Dot] for an x stored in float32: its elements are widened, exactly, and all
// arithmetic is in float64.
func DotMixed(x []float32, y []float64) float64 {
	checkLen("y", y, len(x))
	raceRead(x)
	raceRead(y)
	return vectorTable[float32, float64]().dot(len(x), first(x), first(y))
}

// AxpyMixed is [Axpy] for an x stored in float32, widened like that of [DotMixed].
func AxpyMixed(alpha float64, x []float32, y []float64) {
	checkLen("y", y, len(x))
	raceRead(x)
	raceWrite(y)
	vectorTable[float32, float64]().axpy(len(x), alpha, first(x), first(y))
}
