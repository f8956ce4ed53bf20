package la

// Trsv overwrites x with the solution of op(L)·x = b, b being x on entry, where
// L is lower triangular and its strict upper triangle is not read. x must not
// overlap L.
//
// It reads L once, row by row: x_i is (b_i - l_i·x)/l_ii with the dot product of
// [Dot], or for the transpose what the rows below have left of b_i, one chain of
// fused multiply-adds with the row descending, over l_ii. The solution is that
// of a system perturbed by less than γ_{n+8}·|L|.
func Trsv[T Float](t Trans, l Matrix[T], x []T) {
	l.checkSquare("L")
	checkLen("x", x, l.Rows)
	refuseOverlap("x", asRow(x), "L", &l)
	n := l.Rows
	if t == NoTrans {
		for i := range n {
			li := l.Row(i)
			x[i] = (x[i] - Dot(li[:i], x[:i])) / li[i]
		}
		return
	}
	for i := n - 1; i >= 0; i-- {
		li := l.Row(i)
		x[i] /= li[i]
		Axpy(-x[i], li[:i], x[:i])
	}
}
