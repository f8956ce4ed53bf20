package la

// stripBlock is the width, in lines, of the blocks that a triangle is worked
// off in: the number of terms by which one pass over the matrix advances every
// chain. The triangle of a block stays in the second-level cache and one of its
// strips in the first. It does not enter the results.
const stripBlock = 192

// triangle is an n×n lower triangular matrix T cut into strips and blocks, of
// which it holds one block column, rows s to e and below, in strips. Positions
// q count from the front padding: q - pad is a row or column of T.
type triangle[T Float] struct {
	k       *stripKernels[T]
	l       Matrix[T] // lower triangle
	reverse bool      // T is J·Lᵀ·J, the transpose with rows and columns reversed, not L
	pad     int       // lines of padding before the first row
	strips  int
	blocks  int

	s, e int // the block: strips s ≤ i < e
	lo   int // first position of the block in use, relative to its start
	ts   int // elements from strip to strip
	t    *T  // strips s, s+1, …: positions of the block, then room up to ts
	r    *T  // reciprocals of the diagonal of the block
}

func newTriangle[T Float](w *Workspace, k *stripKernels[T], l Matrix[T]) triangle[T] {
	n, nr := l.Rows, k.nr
	t := triangle[T]{k: k, l: l}
	t.strips = (n + nr - 1) / nr
	t.pad = t.strips*nr - n
	per := max(stripBlock/nr, 1)
	t.blocks = (t.strips + per - 1) / per
	per = (t.strips + t.blocks - 1) / t.blocks
	t.ts = per * nr * nr
	t.t = scratch[T](w, t.strips*t.ts)
	t.r = scratch[T](w, per*nr)
	return t
}

// seek makes block b the current one, without loading it.
func (t *triangle[T]) seek(b int) {
	t.s, t.e = b*t.strips/t.blocks, (b+1)*t.strips/t.blocks
	t.lo = 0
	if b == 0 {
		t.lo = t.pad / t.k.mr * t.k.mr
	}
}

// width returns the number of positions of the current block.
func (t *triangle[T]) width() int { return (t.e - t.s) * t.k.nr }

func (t *triangle[T]) strip(i int) *T { return at(t.t, (i-t.s)*t.ts) }

// rows returns the rows of T that the lines of strip i from line on are.
func (t *triangle[T]) rows(i int) (row, line, m int) {
	nr := t.k.nr
	if row = i*nr - t.pad; row < 0 {
		return 0, -row, nr + row
	}
	return row, 0, nr
}

// load fills strip i ≥ s with its part of the current block; for strips of the
// block itself the strict upper triangle is zero, and the reciprocals of the
// diagonal are set.
func (t *triangle[T]) load(i int) {
	nr, y := t.k.nr, t.strip(i)
	row, line, m := t.rows(i)
	q0, q1 := t.s*nr, min(t.e, i)*nr // columns left of the diagonal tile
	if q1 > q0 {
		c := max(q0-t.pad, 0)
		p := c + t.pad - q0
		clear(elems(at(y, t.lo*nr), (p-t.lo)*nr))
		t.pack(row, m, c, q1-t.pad-c, at(y, p*nr+line))
	}
	if i >= t.e {
		return
	}
	q := (i - t.s) * nr
	d := elems(at(y, q*nr), nr*nr)
	clear(d)
	r := elems(at(t.r, q), nr)
	for l := range line {
		d[l*nr+l], r[l] = 1, 1
	}
	for l := range m {
		for p := range l + 1 {
			d[(p+line)*nr+l+line] = t.at(row+l, row+p)
		}
		r[l+line] = 1 / t.at(row+l, row+l)
	}
}

// pack transposes rows i to i+m of T, columns j to j+k left of the diagonal.
func (t *triangle[T]) pack(i, m, j, k int, dst *T) {
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

func (t *triangle[T]) at(i, j int) T {
	if t.reverse {
		n := t.l.Rows
		i, j = n-1-j, n-1-i
	}
	return t.l.Data[i*t.l.Stride+j]
}

// copyLower copies the lower triangle of the n×n tile src onto dst.
func copyLower[T Float](n int, dst *T, ldd int, src *T, lds int) {
	for i := range n {
		copy(elems(at(dst, i*ldd), i+1), elems(at(src, i*lds), i+1))
	}
}

// copyTile copies an m×n tile.
func copyTile[T Float](m, n int, dst *T, ldd int, src *T, lds int) {
	for i := range m {
		copy(elems(at(dst, i*ldd), n), elems(at(src, i*lds), n))
	}
}
