package la

// Trsv solves op(L)·x = b for a vector of n elements. On entry x holds b, on return the solution. L is
// n×n and lower triangular. Its strict upper triangle is not read. x must not overlap L.
//
// Roundings: Trsv reads L once, row by row. For op(L) = L, x_i = (b_i − Σ_{j<i} l_ij·x_j)/l_ii, with
// the sum as in [Dot]. For op(L) = Lᵀ, x_j = (b_j − Σ_{i>j} l_ij·x_i)/l_jj, one chain of fused
// multiply-adds with i descending. x solves a system with L + ΔL exactly, where |ΔL| ≤ γ_{n+8}·|L|,
// with γ_m as in [Cholesky].
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
