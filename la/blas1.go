package la

// Dot returns Σ_i x_i·y_i. The slices have equal length and may be the same.
//
// The sum has 32 lanes: lane l sums the elements i with i mod 32 = l, in order, by fused
// multiply-adds from +0. The lanes are then added in halves: lane l += lane l+h for h = 16, …, 1.
func Dot[T Float](x, y []T) T {
	checkLen("y", y, len(x))
	raceRead(x)
	raceRead(y)
	return table[T]().dot(len(x), first(x), first(y))
}

// SumSq returns Σ_i x_i², with the roundings of [Dot].
func SumSq[T Float](x []T) T { return Dot(x, x) }

// Axpy computes y ← α·x + y, one fused multiply-add for each element. The slices have equal
// length. y may be x, but must not overlap it in part.
func Axpy[T Float](alpha T, x, y []T) {
	checkLen("y", y, len(x))
	checkVectors("y", y, "x", x)
	raceRead(x)
	raceWrite(y)
	table[T]().axpy(len(x), alpha, first(x), first(y))
}

// AddProducts computes z_i ← z_i + x_i·y_i. The three vectors have the same length, and z must not overlap the others.
//
// Roundings: the product is rounded, and then the sum.
func AddProducts[T Float](x, y, z []T) {
	checkLen("x", x, len(z))
	checkLen("y", y, len(z))
	checkApart("z", z, "x", x)
	checkApart("z", z, "y", y)
	raceRead(x)
	raceRead(y)
	raceWrite(z)
	f, whole := panelTable[T]().addProducts, len(z)/PanelRows*PanelRows
	for i := 0; i < whole; i += partsPiece {
		f(min(partsPiece, whole-i)/PanelRows, &x[i], &y[i], &z[i])
	}
	addProducts(x[whole:], y[whole:], z[whole:])
}

// Scal computes x ← α·x, one rounded product for each element.
func Scal[T Float](alpha T, x []T) {
	raceWrite(x)
	table[T]().scal(len(x), alpha, first(x))
}

// DotMixed returns Σ_i x_i·y_i for an x stored in float32. Its elements are widened, which is
// exact. All arithmetic is in float64, with the roundings of [Dot].
func DotMixed(x []float32, y []float64) float64 {
	checkLen("y", y, len(x))
	raceRead(x)
	raceRead(y)
	return vectorTable[float32, float64]().dot(len(x), first(x), first(y))
}

// AxpyMixed computes y ← α·x + y for an x stored in float32. Its elements are widened, which is
// exact. All arithmetic is in float64, with the roundings of [Axpy].
func AxpyMixed(alpha float64, x []float32, y []float64) {
	checkLen("y", y, len(x))
	raceRead(x)
	raceWrite(y)
	vectorTable[float32, float64]().axpy(len(x), alpha, first(x), first(y))
}
