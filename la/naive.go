package la

import "math"

// Gemm computes C ← α·op(A)·op(B) + β·C, with op(A) m×k, op(B) k×n and C m×n.
// With β = 0, C is not read. C must not overlap A or B.
func Gemm[T Float](w *Workspace, ta, tb Trans, alpha T, a, b Matrix[T], beta T, c Matrix[T]) {
	k := a.Cols
	if ta {
		k = a.Rows
	}
	for i := range c.Rows {
		for j := range c.Cols {
			var s T
			for p := range k {
				x, y := a, b
				var av, bv T
				if ta {
					av = x.At(p, i)
				} else {
					av = x.At(i, p)
				}
				if tb {
					bv = y.At(j, p)
				} else {
					bv = y.At(p, j)
				}
				s += av * bv
			}
			if beta == 0 {
				c.Set(i, j, alpha*s)
			} else {
				c.Set(i, j, alpha*s+beta*c.At(i, j))
			}
		}
	}
}

// Syrk computes the lower triangle of C ← α·A·Aᵀ + β·C (t = NoTrans, A n×k) or
// α·Aᵀ·A + β·C (t = Transpose, A k×n). The strict upper triangle of C is
// neither read nor written. C must not overlap A.
func Syrk[T Float](w *Workspace, t Trans, alpha T, a Matrix[T], beta T, c Matrix[T]) {
	n := c.Rows
	full := NewMatrix[T](n, n)
	Gemm(w, t, !t, alpha, a, a, 0, full)
	for i := range n {
		for j := range i + 1 {
			v := full.At(i, j)
			if beta != 0 {
				v += beta * c.At(i, j)
			}
			c.Set(i, j, v)
		}
	}
}

// Gemv computes y ← α·op(A)·x + β·y. With β = 0, y is not read. y must not
// overlap A or x.
func Gemv[T Float](w *Workspace, t Trans, alpha T, a Matrix[T], x []T, beta T, y []T) {
	Gemm(w, t, NoTrans, alpha, a, MatrixOf(len(x), 1, x), beta, MatrixOf(len(y), 1, y))
}

// Symv computes y ← α·A·x + β·y for the symmetric A of which only the lower
// triangle is read, once. With β = 0, y is not read. y must not overlap A or x.
func Symv[T Float](w *Workspace, alpha T, a Matrix[T], x []T, beta T, y []T) {
	for i := range y {
		var s T
		for j := range x {
			s += a.At(max(i, j), min(i, j)) * x[j]
		}
		if beta == 0 {
			y[i] = alpha * s
		} else {
			y[i] = alpha*s + beta*y[i]
		}
	}
}

// Dot returns Σ x_i y_i. The slices have equal length and may be the same.
func Dot[T Float](x, y []T) T {
	var s T
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// SumSq returns Σ x_i².
func SumSq[T Float](x []T) T { return Dot(x, x) }

// Axpy computes y ← α·x + y. The slices have equal length; y may be x itself
// but must not overlap it otherwise.
func Axpy[T Float](alpha T, x, y []T) {
	for i := range x {
		y[i] += alpha * x[i]
	}
}

// Scal computes x ← α·x.
func Scal[T Float](alpha T, x []T) {
	for i := range x {
		x[i] *= alpha
	}
}

// Exp stores e^src_i in dst_i. The slices have equal length; dst may be src
// itself but must not overlap it otherwise.
func Exp[T Float](dst, src []T) {
	for i, v := range src {
		dst[i] = T(math.Exp(float64(v)))
	}
}

// SqDist stores the squared Euclidean distances of the rows of X (n×d) to the
// rows of Y (m×d) in the n×m matrix D. Differences are formed before they are
// squared, so D is exact to a few ulp, exactly zero for equal rows and exactly
// symmetric when X and Y are the same. D must not overlap X or Y.
func SqDist[T Float](w *Workspace, x, y, d Matrix[T]) {
	for i := range d.Rows {
		for j := range d.Cols {
			var s T
			for p := range x.Cols {
				t := x.At(i, p) - y.At(j, p)
				s += t * t
			}
			d.Set(i, j, s)
		}
	}
}
