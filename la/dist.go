package la

import "unsafe"

// SqDist stores the squared Euclidean distances of the rows of X (n×d) to the
// rows of Y (m×d) in the n×m matrix D. Differences are formed before they are
// squared, so D is exact to a few ulp, exactly zero for equal rows and exactly
// symmetric when X and Y are the same. D must not overlap X or Y.
//
// The features are taken in order: t = x - y, rounded, and s = fma(t, t, s) from +0.
func SqDist[T Float](w *Workspace, x, y, d Matrix[T]) {
	product[T]{a: x, b: y, c: d, dist: true}.distances(w, "D")
}

// RBF stores exp(-γ·‖x - y‖²) for the rows x of X (n×d) and y of Y (m×d) in the
// n×m matrix K: the distances of [SqDist], multiplied by -γ, rounded, and [Exp] of
// that, row by row while they are in the cache. K must not overlap X or Y.
func RBF[T Float](w *Workspace, gamma T, x, y, k Matrix[T]) {
	product[T]{a: x, b: y, c: k, dist: true, exp: true, alpha: -gamma}.distances(w, "K")
}

// distances computes p, a product of distances, from the rows of p.a and p.b.
func (p product[T]) distances(w *Workspace, name string) {
	x, y, d := p.a, p.b, p.c
	x.check("X")
	y.checkShape("Y", y.Rows, x.Cols)
	d.checkShape(name, x.Rows, y.Rows)
	refuseOverlap(name, d, "X", x)
	refuseOverlap(name, d, "Y", y)
	if d.Rows == 0 || d.Cols == 0 {
		return
	}
	p.tb, p.off = Transpose, d.Cols
	// Of the exponentials for x and x itself half will do, unless the others would have
	// to be written to scattered places of a memory that no cache holds.
	held := d.Rows*d.Stride*int(unsafe.Sizeof(p.alpha)) <= caches.l3/2
	if p.exp && held && p.terms() > 0 && x.Rows == y.Rows && x.Stride == y.Stride && &x.Data[0] == &y.Data[0] {
		p.off, p.mirror = 0, d
	}
	p.run(w)
}

// finish turns the distances of rows i0 ≤ i < i1 and columns j0 ≤ j < j1 into
// their exponentials.
func (p *product[T]) finish(kt *kernels[T], i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		if end := min(j1, i+p.off+1); end > j0 {
			d := p.c.Row(i)[j0:end]
			kt.scal(p.alpha, d)
			kt.exp(d, d)
		}
	}
}

// reflect copies what is below the diagonal in those rows and columns, while it is in
// the cache, to where the mirror wants it.
func (p *product[T]) reflect(kt *kernels[T], i0, i1, j0, j1 int) {
	c, m := p.c, p.mirror
	if whole := min(j1, i0+p.off) - j0; whole > 0 && i1-i0 == kt.mr {
		kt.pack(kt.mr, whole, &c.Data[i0*c.Stride+j0], c.Stride, &m.Data[j0*m.Stride+i0], m.Stride)
		j0 += whole
	}
	for i := i0; i < i1; i++ {
		for j := j0; j < min(j1, i+p.off); j++ {
			m.Data[j*m.Stride+i] = c.Data[i*c.Stride+j]
		}
	}
}
