package la

import "unsafe"

// Gemv computes y ← α·op(A)·x + β·y. With β = 0, y is not read. y must not
// overlap A or x.
//
// With op(A) = A, s is the dot product of a row with x, and y_i = α·s (β = 0) or
// fma(α, s, β·y_i). With op(A) = Aᵀ, y is scaled by β (or cleared), then
// y_j = fma(α·x_i, a_ij, y_j) for the rows i in order.
func Gemv[T Float](w *Workspace, t Trans, alpha T, a Matrix[T], x []T, beta T, y []T) {
	a.check("A")
	m, n := a.Rows, a.Cols
	if t {
		m, n = n, m
	}
	checkLen("x", x, n)
	checkLen("y", y, m)
	refuseOverlap("y", asRow(y), "x", asRow(x))
	refuseOverlap("y", asRow(y), "A", a)
	raceReadMatrix(a)
	raceRead(x)
	raceWrite(y)
	if w == nil {
		w = new(Workspace)
	}
	j := gemvsOf[T](w)
	*j = gemvs[T]{t: t, alpha: alpha, beta: beta, a: a, x: x, y: y, pieces: 1}
	if m*n >= 256*256 {
		j.pieces = w.workers(m)
	}
	if t {
		j.coef = elements[T](&w.coef, n)
		for i, v := range x {
			j.coef[i] = alpha * v
		}
	}
	w.run(j.pieces, j)
	*j = gemvs[T]{}
}

// gemvs is the job of a matrix-vector product cut into pieces of y.
type gemvs[T Float] struct {
	t           Trans
	alpha, beta T
	a           Matrix[T]
	x, y        []T
	coef        []T // α·x if A is transposed
	pieces      int
}

func gemvsOf[T Float](w *Workspace) *gemvs[T] {
	if is64[T]() {
		return (*gemvs[T])(unsafe.Pointer(&w.gemvs64))
	}
	return (*gemvs[T])(unsafe.Pointer(&w.gemvs32))
}

func (g *gemvs[T]) do(_ *locals, task int) {
	const line = 16 // elements, so that no two workers write to one cache line of y
	kt := table[T]()
	i0, i1 := cut(len(g.y), task, g.pieces, line), cut(len(g.y), task+1, g.pieces, line)
	y := g.y[i0:i1]
	if !g.t {
		for i := range y {
			y[i] = update(g.alpha, kt.dot(g.a.Row(i0+i), g.x), g.beta, y[i])
		}
		return
	}
	switch {
	case len(y) == 0:
		return
	case g.beta == 0:
		clear(y)
	case g.beta != 1:
		kt.scal(g.beta, y)
	}
	if len(g.x) > 0 {
		kt.axpys(g.coef, &g.a.Data[i0], g.a.Stride, y)
	}
}

// update returns α·s + β·y, without looking at y if β = 0.
func update[T Float](alpha, s, beta, y T) T {
	if beta == 0 {
		return alpha * s
	}
	return fma(alpha, s, T(beta*y))
}
