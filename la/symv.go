package la

import (
	"math"
	"unsafe"
)

// Symv computes y ← α·A·x + β·y for a symmetric n×n matrix A. It reads the lower triangle of A once,
// and nothing above the diagonal. y must not overlap A or x. With β = 0, y is not read. A nil w
// stands for a new [Workspace].
//
// Roundings: the rows are cut into groups that depend on n only. Row i gives
// d_i = fma(a_ii, x_i, Σ_{j<i} a_ij·x_j), with the sum as in [Dot]. For each j < i in order it also
// gives p_j = fma(x_i, a_ij, p_j), where p is the vector of the row's group and starts from +0. Then
// s_i is d_i plus the p_i of each group in order, and y_i = fma(α, s_i, β·y_i), or α·s_i with β = 0.
func Symv[T Float](w *Workspace, alpha T, a Matrix[T], x []T, beta T, y []T) {
	refuseOverlap("y", asRow(y), "A", &a)
	symv(w, alpha, a, x, beta, y)
}

// SymvMixed computes y ← α·A·x + β·y for a symmetric A stored in float32. Its elements are widened,
// which is exact. All arithmetic is in float64. Shapes and roundings are as in [Symv].
func SymvMixed(w *Workspace, alpha float64, a Matrix[float32], x []float64, beta float64, y []float64) {
	symv(w, alpha, a, x, beta, y)
}

func symv[S, T Float](w *Workspace, alpha T, a Matrix[S], x []T, beta T, y []T) {
	a.checkSquare("A")
	n := a.Rows
	checkLen("x", x, n)
	checkLen("y", y, n)
	refuseOverlap("y", asRow(y), "x", asRow(x))
	raceReadLower(a)
	raceRead(x)
	raceWrite(y)
	if n == 0 {
		return
	}
	if w == nil {
		w = new(Workspace)
	}
	groups := symvGroups(n)
	j := symvsOf[S, T](w)
	*j = symvs[S, T]{a: a, x: x, groups: groups,
		d: elements[T](&w.diag, n), parts: elements[T](&w.parts, groups*n)}
	w.run(groups, j)
	for i := range y {
		s := j.d[i]
		for g := range groups {
			if i < triangleCut(n, g+1, groups) {
				s += j.parts[g*n+i]
			}
		}
		y[i] = update(alpha, s, beta, y[i])
	}
	*j = symvs[S, T]{}
}

// symvs is the job of a symmetric product. It has one task for each group of rows.
type symvs[S, T Float] struct {
	a        Matrix[S]
	x        []T
	d, parts []T // d, and p of each group, one after the other
	groups   int
}

// symvsOf returns the job that w keeps for matrices in S and arithmetic in T.
func symvsOf[S, T Float](w *Workspace) *symvs[S, T] {
	return (*symvs[S, T])(pick[S, T](unsafe.Pointer(&w.symvs64), unsafe.Pointer(&w.symvs32), unsafe.Pointer(&w.symvsMixed)))
}

func (s *symvs[S, T]) do(l *locals, g int) {
	kt := vectorTable[S, T]()
	n := len(s.x)
	i0, i1 := triangleCut(n, g, s.groups), triangleCut(n, g+1, s.groups)
	p := s.parts[g*n:][:i1]
	clear(p)
	i := i0
	lanes := (*[4 * dotLanes]T)(elements[T](&l.tile, 4*dotLanes))
	for ; i+4 <= i1 && kt.dotAxpysPiece != nil; i += 4 {
		d := (*[4]T)(s.d[i:])
		kt.dotAxpys(i, (*[4]T)(s.x[i:]), &s.a.Data[i*s.a.Stride], s.a.Stride, &s.x[0], &p[0], d, lanes)
		for r := range d {
			d[r] = fma(T(s.a.At(i+r, i+r)), s.x[i+r], d[r])
		}
	}
	for ; i < i1; i++ {
		row, v := s.a.Row(i), s.x[i]
		s.d[i] = fma(T(row[i]), v, kt.dotAxpy(i, v, &row[0], &s.x[0], &p[0]))
	}
}

// symvGroups returns the number of groups of rows for order n. It is part of the
// definition of the result.
func symvGroups(n int) int { return max(1, min(n/256, 16)) }

// triangleCut returns the row where group g begins when the rows of a lower
// triangle are cut into groups of equal area.
func triangleCut(n, g, groups int) int {
	return int(math.Sqrt(float64(g)/float64(groups)) * float64(n))
}
