package la

// Trsv overwrites x with the solution of op(L)·x = b, b being x on entry, where
// L is lower triangular and its strict upper triangle is not read.
func Trsv[T Float](t Trans, l Matrix[T], x []T) {
	l.checkSquare("L")
	checkLen("x", x, l.Rows)
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
