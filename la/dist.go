package la

// SqDist stores the squared Euclidean distances of the rows of X (n×d) to the
// rows of Y (m×d) in the n×m matrix D. Differences are formed before they are
// squared, so D is exact to a few ulp, exactly zero for equal rows and exactly
// symmetric when X and Y are the same. D must not overlap X or Y.
//
// The features are taken in order: t = x - y, rounded, and s = fma(t, t, s) from +0.
func SqDist[T Float](w *Workspace, x, y, d Matrix[T]) {
	x.check("X")
	y.checkShape("Y", y.Rows, x.Cols)
	d.checkShape("D", x.Rows, y.Rows)
	refuseOverlap("D", d, "X", x)
	refuseOverlap("D", d, "Y", y)
	if d.Rows == 0 || d.Cols == 0 {
		return
	}
	if w == nil {
		w = new(Workspace)
	}
	p := product[T]{tb: Transpose, alpha: 1, a: x, b: y, c: d, off: d.Cols, dist: true}
	p.run(w)
}
