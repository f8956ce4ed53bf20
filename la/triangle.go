package la

import (
	"math"
	"unsafe"
)

// triangular is the state of one factorisation, inversion or solve: an n×n lower
// triangular matrix T and, except in a factorisation, X = T⁻¹ or the solution of T·X = B.
// Both are cut into strips (see strip.go). A block is several strips wide and as many positions long.
// A workspace keeps the state from call to call.
type triangular[T Float] struct {
	k       *stripKernels[T]
	l       Matrix[T] // T's lower triangle, or Tᵀ's
	reverse bool      // T is J·Lᵀ·J, the transpose with rows and columns reversed, not L
	pad     int       // lines of padding before the first row
	first   int       // first position in use: pad rounded down to a multiple of mr below tileFresh
	strips  int
	blocks  int // of strips, and of positions along them
	chunk   int // positions that are worked on while their strip stays in the first-level cache

	t  *T  // strips of T
	ts int // elements from one strip to the next
	r  *T  // reciprocals of T's diagonal
	x  *T  // strips of X, as many as there are strips of right-hand sides
	xs int // elements from one strip to the next

	team    team
	scratch *T // for each worker
	size    int
	pivot   PivotError // of a factorisation that failed; Index < 0 if none did

	inverse inverseOf // the result of an inversion
	rhs     Matrix[T] // right-hand sides of a solve
	side    Side
	columns int // strips of right-hand sides, in as many blocks as the team's grid is wide
	c0      int // the first of them in x
	diag    []T // receives the column sums of squares of X

	aheads []ahead // of each worker

	mem, recipMem, xMem, scratchMem buffer
}

// Sizes of the pieces into which the work is cut. They do not enter the results.
const (
	blockWidth = 144      // rows and columns of a block; three blocks stay in the second-level cache
	chunkBytes = 18 << 10 // of a strip

	directStrips = 12 // largest number of strips for which a product is computed in place; see direct

	rowsPerWorker = 96 // rows or right-hand sides for each worker
)

// triangularOf prepares the state of w for the triangle l and m right-hand sides. It returns the state
// and the workspace, a new one if w is nil.
func triangularOf[T Float](w *Workspace, l Matrix[T], reverse bool, m int) (*triangular[T], *Workspace) {
	if w == nil {
		w = &Workspace{}
	}
	t := triangularIn[T](w)
	t.k, t.l, t.reverse = stripTable[T](), l, reverse
	var z T
	n, nr := l.Rows, t.k.nr
	t.strips = (n + nr - 1) / nr
	t.pad = t.strips*nr - n
	t.first = min(t.pad, tileFresh-t.k.mr) / t.k.mr * t.k.mr // the largest value that fits in the mode of a tile
	workers, width := w.workers(max(n, m)/rowsPerWorker), blockWidth
	if workers > 1 {
		width = min(max(n/8, 72), width)
	}
	if w.blockWidth > 0 {
		workers, width = w.workers(math.MaxInt), w.blockWidth
	}
	t.team.n = workers
	per := max(width/nr, 1)
	t.blocks = (t.strips + per - 1) / per
	t.chunk = max(chunkBytes/int(unsafe.Sizeof(z))/nr/nr, 1) * nr
	t.ts = t.strips * nr * nr
	t.r = &elements[T](&t.recipMem, t.strips*nr)[0]
	t.diag, t.rhs = nil, Matrix[T]{}
	return t, w
}

// triangularIn returns the state of w for elements T.
func triangularIn[T Float](w *Workspace) *triangular[T] {
	if is64[T]() {
		return (*triangular[T])(unsafe.Pointer(&w.triangular64))
	}
	return (*triangular[T])(unsafe.Pointer(&w.triangular32))
}

// run lets the workers of w do all tiles of the team's list. Each worker has scratch memory for the
// given number of tiles of nr×nr.
func (t *triangular[T]) run(w *Workspace, tiles int) {
	t.size = tiles * t.k.nr * t.k.nr
	t.scratch = &elements[T](&t.scratchMem, t.team.n*t.size)[0]
	if n := t.team.n - len(t.aheads); n > 0 {
		t.aheads = append(t.aheads, make([]ahead, n)...)
	}
	w.run(t.team.n, t)
}

// do is the work of one worker: it advances tiles until all are done. See Workspace.run.
func (t *triangular[T]) do(_ *locals, worker int) {
	scratch := at(t.scratch, worker*t.size)
	for {
		x, to, last := t.team.take(worker)
		if x == nil {
			return
		}
		failed := false
		switch x.part {
		case loading:
			t.loadRow(x.i)
		case factoring:
			failed = !t.factor(x, to, scratch, &t.aheads[worker])
		case solving:
			t.solve(x, to, scratch, &t.aheads[worker])
		case multiplying:
			t.multiply(x.i, x.j, scratch, &t.aheads[worker])
		}
		t.team.put(x, to, last, failed)
	}
}

// block returns the strips s ≤ i < e of block b.
func (t *triangular[T]) block(b int) (s, e int) {
	return b * t.strips / t.blocks, (b + 1) * t.strips / t.blocks
}

// positions returns the positions in use of blocks b ≤ i < c.
func (t *triangular[T]) positions(b, c int) (lo, hi int) {
	return max(b*t.strips/t.blocks*t.k.nr, t.first), c * t.strips / t.blocks * t.k.nr
}

// strip returns the address of position q of strip i of T.
func (t *triangular[T]) strip(i, q int) *T { return at(t.t, i*t.ts+q*t.k.nr) }

// xstrip returns the address of position q of strip c of X.
func (t *triangular[T]) xstrip(c, q int) *T { return at(t.x, c*t.xs+q*t.k.nr) }

// rows returns the rows of T in strip i: m rows from row on, in the lines of the strip from line on.
func (t *triangular[T]) rows(i int) (row, line, m int) {
	nr := t.k.nr
	if row = i*nr - t.pad; row < 0 {
		return 0, -row, nr + row
	}
	return row, 0, nr
}

// left returns the part of strip i that is in block j and left of the diagonal tile: its first
// position, its first column of T, and its number of columns.
func (t *triangular[T]) left(i, j int) (q, column, k int) {
	s, e := t.block(j)
	q = max(s*t.k.nr, t.pad)
	return q, q - t.pad, min(e, i)*t.k.nr - q
}

// load fills the part of strip i that lies in block j, except the tile on the diagonal.
func (t *triangular[T]) load(i, j int) {
	lo, _ := t.positions(j, j+1)
	row, line, m := t.rows(i)
	if q, column, k := t.left(i, j); k > 0 {
		clear(elems(t.strip(i, lo), (q-lo)*t.k.nr))
		t.pack(row, m, column, k, at(t.strip(i, q), line))
	}
}

// loadCorner fills the tile of strip i on the diagonal. Padding that is not skipped becomes lines of
// the identity.
func (t *triangular[T]) loadCorner(i int) {
	nr := t.k.nr
	row, line, m := t.rows(i)
	ds := elems(t.strip(i, i*nr), nr*nr)
	if t.reverse || line > t.first {
		clear(ds)
		for i := range line {
			ds[i*nr+i] = 1
		}
		for i := range m {
			for j := range i + 1 {
				ds[(line+j)*nr+line+i] = t.at(row+i, row+j)
			}
		}
		return
	}
	t.k.loadCorner(m, &t.l.Data[row*t.l.Stride+row], t.l.Stride, &ds[line*nr+line])
}

// loadRow fills the strips of block i and the reciprocals of their diagonal.
func (t *triangular[T]) loadRow(i int) {
	nr := t.k.nr
	s, e := t.block(i)
	for j := range i + 1 {
		for i := s; i < e; i++ {
			t.load(i, j)
		}
	}
	for i := s; i < e; i++ {
		t.loadCorner(i)
		r := elems(at(t.r, i*nr), nr)
		d := elems(t.strip(i, i*nr), nr*nr)
		for q := max(t.first-i*nr, 0); q < nr; q++ {
			r[q] = 1 / d[q*nr+q]
		}
	}
}

// store writes the part of strip i in block j back to the matrix, as load has read it.
func (t *triangular[T]) store(i, j int) {
	row, line, m := t.rows(i)
	if q, column, k := t.left(i, j); k > 0 {
		t.k.unpack(m, k, at(t.strip(i, q), line), &t.l.Data[row*t.l.Stride+column], t.l.Stride)
	}
}

// pack transposes rows i to i+m of T, columns j to j+k, into lines of a strip.
func (t *triangular[T]) pack(i, m, j, k int, dst *T) {
	if !t.reverse {
		t.k.pack(m, k, &t.l.Data[i*t.l.Stride+j], t.l.Stride, dst)
		return
	}
	n := t.l.Rows
	for p := range k {
		d := elems(at(dst, p*t.k.nr), m)
		src := t.l.Row(n - 1 - j - p)[n-i-m : n-i]
		for l := range d {
			d[l] = src[m-1-l]
		}
	}
}

// at returns element (i, j) of T.
func (t *triangular[T]) at(i, j int) T {
	if t.reverse {
		n := t.l.Rows
		i, j = n-1-j, n-1-i
	}
	return t.l.Data[i*t.l.Stride+j]
}

// copyTile copies an m×n tile.
func copyTile[T Float](m, n int, dst *T, ldd int, src *T, lds int) {
	for i := range m {
		copy(elems(at(dst, i*ldd), n), elems(at(src, i*lds), n))
	}
}
