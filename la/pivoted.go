package la

import (
	"fmt"
	"math"
)

// pivotBlock is the number of columns of a pivoted factor after which the rest of the matrix is
// updated. It enters the roundings, so it is the same on every machine.
const pivotBlock = 32

// CholeskyPivoted computes a factor of a symmetric positive semidefinite n×n matrix,
//
//	PᵀAP = L·Lᵀ,
//
// with a permutation P and a lower triangular L whose columns from rank on are zero. It stores L in
// the lower triangle of A, and P in the n elements of perm: row i of L belongs to row perm[i] of A.
// The strict upper triangle of A is neither read nor written. A nil w stands for a new [Workspace].
//
// Each pivot is the largest diagonal element of the remainder A − L·Lᵀ. The factorisation stops when
// this element is at most tolerance times the largest diagonal element of A. rank is the number of
// pivots until then. A tolerance of 0 or less means n·u, with the unit round-off u of T: below it,
// rounding errors dominate. As the remainder is positive semidefinite, none of its elements is larger
// than its largest diagonal element, except for rounding. The diagonal of L does not increase.
//
// The error is a [*PivotError] if a diagonal element is NaN or infinite, or becomes so. Its index is
// the row of A. The lower triangle and perm then hold no result.
//
// Roundings: columns are computed in blocks of 32. Element (i, j) of a block is a_ij minus the
// products of the columns before it in the block, as in [Gemv], times 1/l_jj. After each block its
// products are subtracted from the remainder, as in [Syrk].
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

// unitRoundoff returns half the distance from 1 to the next larger number.
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

	panel    Matrix[T] // the columns of the current block, each stored as a row
	left     []T       // the diagonal of the remainder
	products []T       // scratch: row j of the columns before column j in the block
}

// pivot returns the index and the value of the largest positive element of left from j on. The value
// is 0 if no element is positive.
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

// block computes up to pivotBlock columns from first on, and updates the remainder. It returns the
// number of columns of L so far. The number is less than the block's end if no pivot is left.
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

// swap exchanges rows and columns j and p, j < p, of the remainder, and rows j and p of L.
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

// column computes column j of L, whose diagonal element is root, and stores it in the panel.
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
