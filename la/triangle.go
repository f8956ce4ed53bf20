package la

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// triangular is what one factorisation or solve works with: an n×n lower
// triangular matrix T cut into strips (see strip.go), of which it holds two
// block columns at a time, packed. A workspace keeps it from call to call.
type triangular[T Float] struct {
	k       *stripKernels[T]
	l       Matrix[T] // T's lower triangle, or Tᵀ's
	reverse bool      // T is J·Lᵀ·J, the transpose with rows and columns reversed, not L
	pad     int       // lines of padding before the first row
	strips  int
	blocks  int
	ts      int // elements from strip to strip of a block column
	chunk   int // strips that are worked on while another stays in the first-level cache

	panels [2]panel[T] // block columns b and b+1 are panels b%2 and (b+1)%2
	tiles  *T          // a tile for each worker
	team   team
	what   triangularWork

	pivot    PivotError   // of a factorisation that failed; Index < 0 if none did
	tilesEnd atomic.Int64 // tiles of the next diagonal block that are done

	x       *T        // strips of X, or of right-hand sides
	xs      int       // elements from strip to strip of x
	product bool      // an inversion is to end in Xᵀ·X
	rhs     Matrix[T] // right-hand sides, unless diag is set
	side    Side
	diag    []T // if set, the right-hand side is I; receives the column sums of squares
	c0, c1  int // strips of right-hand sides in x

	panelMem, recipMem, tileMem, xMem buffer
}

// panel is a block column of T: its columns are those of strips s ≤ i < e, its
// rows those of strips i ≥ s. Positions within it count from the start of strip s.
type panel[T Float] struct {
	s, e   int
	lo, hi int // positions in use
	t      *T  // strips s, s+1, …
	r      *T  // reciprocals of the diagonal
}

// triangularWork is what the workers are to do.
type triangularWork int

const (
	factorise triangularWork = iota
	invert
	substitute
)

// do is the whole part of one worker; see Workspace.run.
func (t *triangular[T]) do(_ *locals, worker int) {
	switch t.what {
	case factorise:
		t.factorise(worker)
	case invert:
		t.invert(worker)
	case substitute:
		t.substitute(worker)
	}
}

// Sizes that are worked off together. They do not enter the results.
const (
	blockWidth = 240 // columns of a block column: terms per pass over the matrix
	chunkRows  = 384 // rows of a panel that stay in the second-level cache

	rowsPerWorker = 96 // rows or right-hand sides that are worth a goroutine
)

// triangularOf returns w's, or a fresh workspace's, set up for the triangle l
// and m right-hand sides, and the workspace.
func triangularOf[T Float](w *Workspace, l Matrix[T], reverse bool, m int) (*triangular[T], *Workspace) {
	if w == nil {
		w = &Workspace{}
	}
	t := triangularIn[T](w)
	t.k, t.l, t.reverse = stripTable[T](), l, reverse
	n, nr := l.Rows, t.k.nr
	t.strips = (n + nr - 1) / nr
	t.pad = t.strips*nr - n
	workers, width, rows := w.workers(max(n, m)/rowsPerWorker), blockWidth, chunkRows
	if workers > 1 {
		width = min(max(n/8, 96), width)
	}
	if w.blockWidth > 0 {
		workers, width, rows = w.workers(math.MaxInt), w.blockWidth, w.blockWidth
	}
	t.team.n = workers
	t.chunk = max(rows/nr, 1)
	per := max(width/nr, 1)
	t.blocks = (t.strips + per - 1) / per
	per = (t.strips + t.blocks - 1) / t.blocks
	t.ts = per * nr * nr
	two := min(t.blocks, 2)
	panels := elements[T](&t.panelMem, two*t.strips*t.ts)
	recips := elements[T](&t.recipMem, two*per*nr)
	for i := range two {
		t.panels[i] = panel[T]{t: &panels[i*t.strips*t.ts], r: &recips[i*per*nr]}
	}
	t.tiles = &elements[T](&t.tileMem, workers*nr*nr)[0]
	t.diag, t.rhs = nil, Matrix[T]{}
	return t, w
}

// triangularIn returns w's.
func triangularIn[T Float](w *Workspace) *triangular[T] {
	if is64[T]() {
		return (*triangular[T])(unsafe.Pointer(&w.triangular64))
	}
	return (*triangular[T])(unsafe.Pointer(&w.triangular32))
}

// run has the workers do their parts of the work.
func (t *triangular[T]) run(w *Workspace, what triangularWork) {
	t.what = what
	t.team.reset()
	w.run(t.team.n, t)
}

// seek returns the panel for block b, into which nothing has been loaded yet.
func (t *triangular[T]) seek(b int) *panel[T] {
	p := t.panel(b)
	p.s, p.e = b*t.strips/t.blocks, (b+1)*t.strips/t.blocks
	p.lo, p.hi = 0, (p.e-p.s)*t.k.nr
	if b == 0 {
		p.lo = t.pad / t.k.mr * t.k.mr
	}
	return p
}

func (t *triangular[T]) panel(b int) *panel[T] { return &t.panels[b%2] }

// strip returns the address of position q of strip i of the panel.
func (t *triangular[T]) strip(p *panel[T], i, q int) *T {
	return at(p.t, (i-p.s)*t.ts+q*t.k.nr)
}

// xstrip returns the address of position q of strip i of x.
func (t *triangular[T]) xstrip(i, q int) *T { return at(t.x, i*t.xs+q*t.k.nr) }

func (t *triangular[T]) tile(worker int) *T { return at(t.tiles, worker*t.k.nr*t.k.nr) }

// rows returns the rows of T that strip i holds: m rows from row, in its lines
// from line.
func (t *triangular[T]) rows(i int) (row, line, m int) {
	nr := t.k.nr
	if row = i*nr - t.pad; row < 0 {
		return 0, -row, nr + row
	}
	return row, 0, nr
}

// left returns where strip i's part left of the diagonal tile begins, as a
// position of the panel and as a column of T, and how many columns it has.
func (t *triangular[T]) left(p *panel[T], i int) (q, column, k int) {
	nr := t.k.nr
	column = p.s*nr - t.pad
	q = max(0, -column)
	return q, column + q, (min(p.e, i)-p.s)*nr - q
}

// load fills strip i ≥ p.s of the panel; of the strips of the block itself the
// part on and below the diagonal.
func (t *triangular[T]) load(p *panel[T], i int) {
	row, line, m := t.rows(i)
	if q, column, k := t.left(p, i); k > 0 {
		clear(elems(t.strip(p, i, p.lo), (q-p.lo)*t.k.nr))
		t.pack(row, m, column, k, at(t.strip(p, i, q), line))
	}
	if i < p.e {
		t.loadCorner(row, line, m, t.strip(p, i, (i-p.s)*t.k.nr))
	}
}

// loadCorner fills the part of a strip that lies on the diagonal, at d.
func (t *triangular[T]) loadCorner(row, line, m int, d *T) {
	nr, mr := t.k.nr, t.k.mr
	ds := elems(d, nr*nr)
	if t.reverse || line%mr > 0 || m%mr > 0 {
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
	t.k.lowerIn(m, &t.l.Data[row*t.l.Stride+row], t.l.Stride, &ds[line*nr+line])
}

// loadFactor is load for a triangle whose diagonal is to be divided by.
func (t *triangular[T]) loadFactor(p *panel[T], i int) {
	t.load(p, i)
	if i >= p.e {
		return
	}
	nr, q := t.k.nr, (i-p.s)*t.k.nr
	r := elems(at(p.r, q), nr)
	for l := range r {
		r[l] = 1 / *at(t.strip(p, i, q+l), l)
	}
}

// store writes strip i back to the matrix, as much of it as load fills.
func (t *triangular[T]) store(p *panel[T], i int) {
	nr, ld := t.k.nr, t.l.Stride
	row, line, m := t.rows(i)
	if q, column, k := t.left(p, i); k > 0 {
		t.k.unpack(m, k, at(t.strip(p, i, q), line), &t.l.Data[row*ld+column], ld)
	}
	if i >= p.e {
		return
	}
	t.k.lowerOut(m, at(t.strip(p, i, (i-p.s)*nr+line), line), &t.l.Data[row*ld+row], ld)
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

func (t *triangular[T]) at(i, j int) T {
	if t.reverse {
		n := t.l.Rows
		i, j = n-1-j, n-1-i
	}
	return t.l.Data[i*t.l.Stride+j]
}

// span is a part of a matrix that is updated tile by tile; rows and columns
// count in strips.
type span struct {
	top, bottom int  // top ≤ i < bottom
	left, right int  // left ≤ j < right
	lower       bool // and j ≤ i
}

// task returns the rows and the column of a task, up to chunk rows of one
// column; tasks of the same rows follow each other. If there are fewer tasks,
// rest ≥ 0 is by how many.
func (s span) task(n, chunk int) (top, bottom, j, rest int) {
	for top = s.top; top < s.bottom; top += chunk {
		bottom = min(top+chunk, s.bottom)
		right := s.right
		if s.lower {
			right = min(right, bottom)
		}
		if j = s.left + n; j < right {
			if s.lower {
				top = max(top, j)
			}
			return top, bottom, j, -1
		}
		n -= right - s.left
	}
	return 0, 0, 0, n
}

// copyTile copies an m×n tile.
func copyTile[T Float](m, n int, dst *T, ldd int, src *T, lds int) {
	for i := range m {
		copy(elems(at(dst, i*ldd), n), elems(at(src, i*lds), n))
	}
}
