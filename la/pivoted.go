package la

import (
	"fmt"
	"math"
)

// pivotBlock is the number of columns of a pivoted factor after which the rest of the matrix
// is brought up to date. It enters the roundings, and is the same everywhere.
const pivotBlock = 32

// CholeskyPivoted overwrites the lower triangle of the symmetric positive semidefinite A
// with that of L, PᵀAP = L·Lᵀ, whose columns from rank on are zero. The strict upper
// triangle is neither read nor written. perm, of as many entries as A has rows, receives the
// permutation: row i of L belongs to row perm[i] of A.
//
// Each pivot is the largest element left on the diagonal. The factorisation ends, and rank
// is the number of pivots so far, when that is not above tolerance times the largest
// diagonal element of A. With a tolerance of 0 or less it is n·u, u the unit round-off of T
// and n the rows, below which nothing but rounding is left. As what is left is positive
// semidefinite, no element of A − L·Lᵀ is larger than its pivot but for rounding. The
// diagonal of L does not rise.
//
// The error is a *PivotError, whose index is that of A's row: a diagonal element is NaN or
// infinite, or has become so. The lower triangle and perm are then of no use.
//
// Columns are computed in blocks of 32: element (i, j) of a block is a_ij less the products
// of the columns before it in the block, by [Gemv], times 1/l_jj; what is left of A then
// loses the products of the block's columns, by [Syrk].
//
// Source: C. Lucas, "LAPACK-style codes for level 2 and 3 pivoted Cholesky factorizations",
// LAPACK Working Note 161, 2004, algorithm 5.1.
func CholeskyPivoted[T Float](w *Workspace, a Matrix[T], tolerance T, perm []int) (rank int, err error) {
	a.checkSquare("A")
	n := a.Rows
	if len(perm) != n {
		panic(fmt.Sprintf("la: perm: length %d where %d is needed", len(perm), n))
	}
	raceWriteLower(0, a)
	if w == nil {
		w = new(Workspace)
	}
	mem := elements[T](&w.panel, (pivotBlock+2)*n)
	f := pivoted[T]{
		a: a, perm: perm, w: w,
		panel:    MatrixOf(pivotBlock, n, mem[:pivotBlock*n]),
		left:     mem[pivotBlock*n : (pivotBlock+1)*n],
		products: mem[(pivotBlock+1)*n : (pivotBlock+2)*n],
	}
	for i := range n {
		perm[i] = i
		f.left[i] = a.At(i, i)
	}
	_, largest, err := f.pivot(0)
	if tolerance <= 0 {
		tolerance = T(n) * unitRoundoff[T]()
	}
	f.least = tolerance * largest
	for first := 0; first < n && err == nil && rank == first; first += pivotBlock {
		rank, err = f.block(first)
	}
	if err != nil {
		return 0, err
	}
	for i := rank; i < n; i++ {
		clear(a.Row(i)[rank : i+1])
	}
	return rank, nil
}

// unitRoundoff returns half the distance from 1 to the next number.
func unitRoundoff[T Float]() T {
	if is64[T]() {
		return T(0x1p-53)
	}
	return T(0x1p-24)
}

// pivoted is the state of a pivoted factorisation.
type pivoted[T Float] struct {
	a     Matrix[T]
	perm  []int
	w     *Workspace
	least T // a pivot must be above it

	panel    Matrix[T] // the columns of the present block, each in a row
	left     []T       // the diagonal of what is left of A
	products []T       // of a new column, with those before it in the block
}

// pivot returns the place and value of the largest element left on the diagonal from j on;
// with none, 0 as the value.
func (f *pivoted[T]) pivot(j int) (at int, value T, err error) {
	at = j
	for i := j; i < len(f.left); i++ {
		v := f.left[i]
		if v-v != 0 {
			return i, v, &PivotError{Index: f.perm[i], Value: float64(v)}
		}
		if v > value {
			at, value = i, v
		}
	}
	return at, value, nil
}

// block computes the columns from first on, pivotBlock of them at most, and brings what is
// left of A up to date. It returns the number of columns of L so far: fewer than wanted if
// no pivot is left.
func (f *pivoted[T]) block(first int) (rank int, err error) {
	n := f.a.Rows
	end := min(first+pivotBlock, n)
	for i := first; i < n; i++ {
		f.left[i] = f.a.At(i, i)
	}
	j := first
	for ; j < end; j++ {
		at, value, err := f.pivot(j)
		if err != nil {
			return 0, err
		}
		if value <= f.least {
			break
		}
		f.swap(first, j, at)
		f.column(first, j, T(math.Sqrt(float64(value))))
	}
	for q := first; q < j; q++ {
		for i, v := range f.panel.Row(q - first)[q:] {
			f.a.Set(q+i, q, v)
		}
	}
	if j == end && end < n {
		Syrk(f.w, Transpose, -1, f.panel.Slice(0, end-first, end, n), 1, f.a.Slice(end, n, end, n))
	}
	return j, nil
}

// swap exchanges rows and columns j < p of what is left of A, and of L.
func (f *pivoted[T]) swap(first, j, p int) {
	if j == p {
		return
	}
	a := f.a
	rj, rp := a.Row(j), a.Row(p)
	for k := range first {
		rj[k], rp[k] = rp[k], rj[k]
	}
	for q := range j - first {
		x := f.panel.Row(q)
		x[j], x[p] = x[p], x[j]
	}
	rj[j], rp[p] = rp[p], rj[j]
	for i := j + 1; i < p; i++ {
		row := a.Row(i)
		row[j], rp[i] = rp[i], row[j]
	}
	for i := p + 1; i < a.Rows; i++ {
		row := a.Row(i)
		row[j], row[p] = row[p], row[j]
	}
	f.left[j], f.left[p] = f.left[p], f.left[j]
	f.perm[j], f.perm[p] = f.perm[p], f.perm[j]
}

// column computes column j of L, whose diagonal element is root, in its row of the panel.
func (f *pivoted[T]) column(first, j int, root T) {
	n, q := f.a.Rows, j-first
	x := f.panel.Row(q)
	x[j] = root
	if j+1 == n {
		return
	}
	rest := x[j+1:]
	for i := range rest {
		rest[i] = f.a.At(j+1+i, j)
	}
	if q > 0 {
		known := f.products[:q]
		for k := range known {
			known[k] = f.panel.At(k, j)
		}
		Gemv(f.w, Transpose, -1, f.panel.Slice(0, q, j+1, n), known, 1, rest)
	}
	Scal(1/root, rest)
	for i, v := range rest {
		f.left[j+1+i] -= T(v * v)
	}
}
