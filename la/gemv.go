package la

import "unsafe"

// Gemv computes y ← α·op(A)·x + β·y, with A m×n. For t = NoTrans, x has n elements and y has m; for
// t = Transpose, x has m and y has n. y must not overlap A or x. With β = 0, y is not read. A nil w
// stands for a new [Workspace].
//
// Roundings: with op(A) = A, s is the [Dot] of row i with x, and y_i = fma(α, s, β·y_i), or α·s with
// β = 0. With op(A) = Aᵀ, y is multiplied by β and rounded, or cleared with β = 0; then
// y_j = fma(α·x_i, a_ij, y_j) for the rows i in order.
func Gemv[T Float](w *Workspace, t Trans, alpha T, a Matrix[T], x []T, beta T, y []T) {
	refuseOverlap("y", asRow(y), "A", &a)
	gemv(w, t, alpha, a, x, beta, y)
}

// GemvMixed computes y ← α·op(A)·x + β·y for an A stored in float32. Its elements are widened, which
// is exact. All arithmetic is in float64. Shapes and roundings are as in [Gemv].
func GemvMixed(w *Workspace, t Trans, alpha float64, a Matrix[float32], x []float64, beta float64, y []float64) {
	gemv(w, t, alpha, a, x, beta, y)
}

func gemv[S, T Float](w *Workspace, t Trans, alpha T, a Matrix[S], x []T, beta T, y []T) {
	a.check("A")
	m, n := a.Rows, a.Cols
	if t {
		m, n = n, m
	}
	checkLen("x", x, n)
	checkLen("y", y, m)
	refuseOverlap("y", asRow(y), "x", asRow(x))
	raceReadMatrix(a)
	raceRead(x)
	raceWrite(y)
	if w == nil {
		w = new(Workspace)
	}
	coef := x
	if bool(t) && alpha != 1 {
		coef = elements[T](&w.coef, n)
		for i, v := range x {
			coef[i] = alpha * v
		}
	}
	if bool(t) && m*n < 256*256 {
		combineRows(coef, a, 0, beta, y) // to start a job takes longer than this product
		return
	}
	j := gemvsOf[S, T](w)
	*j = gemvs[S, T]{t: t, alpha: alpha, beta: beta, a: a, x: x, y: y, coef: coef, pieces: 1}
	if m*n >= 256*256 {
		j.pieces = w.workers(m)
	}
	w.run(j.pieces, j)
	*j = gemvs[S, T]{}
}

// gemvs is the job of a matrix-vector product cut into pieces of y.
type gemvs[S, T Float] struct {
	t           Trans
	alpha, beta T
	a           Matrix[S]
	x, y        []T
	coef        []T // α·x if A is transposed
	pieces      int
}

// gemvsOf returns the job that w keeps for matrices in S and arithmetic in T.
func gemvsOf[S, T Float](w *Workspace) *gemvs[S, T] {
	return (*gemvs[S, T])(pick[S, T](unsafe.Pointer(&w.gemvs64), unsafe.Pointer(&w.gemvs32), unsafe.Pointer(&w.gemvsMixed)))
}

// pick returns the pointer that belongs to matrices in S and arithmetic in T.
func pick[S, T Float](f64, f32, mixed unsafe.Pointer) unsafe.Pointer {
	switch {
	case is64[S]():
		return f64
	case is64[T]():
		return mixed
	}
	return f32
}

func (g *gemvs[S, T]) do(l *locals, task int) {
	const line = 16 // elements; with pieces of whole lines, no two workers write to the same cache line of y
	i0, i1 := cut(len(g.y), task, g.pieces, line), cut(len(g.y), task+1, g.pieces, line)
	y := g.y[i0:i1]
	if !g.t {
		kt := vectorTable[S, T]()
		i := 0
		lanes := (*[4 * dotLanes]T)(elements[T](&l.tile, 4*dotLanes))
		var s [4]T
		for ; i+4 <= len(y) && len(g.x) > 0 && kt.dotsPiece != nil; i += 4 {
			kt.dots(len(g.x), &g.a.Data[(i0+i)*g.a.Stride], g.a.Stride, &g.x[0], &s, lanes)
			for r, v := range s {
				y[i+r] = update(g.alpha, v, g.beta, y[i+r])
			}
		}
		for ; i < len(y); i++ {
			y[i] = update(g.alpha, kt.dot(len(g.x), first(g.a.Row(i0+i)), first(g.x)), g.beta, y[i])
		}
		return
	}
	combineRows(g.coef, g.a, i0, g.beta, y)
}

// combineRows computes y_j ← β·y_j + Σ_i coef_i·a_i,from+j.
func combineRows[S, T Float](coef []T, a Matrix[S], from int, beta T, y []T) {
	switch {
	case len(y) == 0:
		return
	case beta == 0:
		clear(y)
	case beta != 1:
		table[T]().scal(len(y), beta, first(y))
	}
	if len(coef) > 0 {
		vectorTable[S, T]().axpys(coef, &a.Data[from], a.Stride, y)
	}
}

// update returns α·s + β·y. With β = 0 it ignores y.
func update[T Float](alpha, s, beta, y T) T {
	if beta == 0 {
		return alpha * s
	}
	return fma(alpha, s, T(beta*y))
}
