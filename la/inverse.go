package la

// TriInv computes X = L⁻¹ for a lower triangular n×n matrix L, and stores X in the lower triangle of
// L. The strict upper triangle is neither read nor written. A zero on the diagonal gives Inf or NaN.
// A nil w stands for a new [Workspace].
//
// Roundings: column j of X is the solution of L·x = e_j by forward substitution, as in [Trsm]. Hence
// |L·X − I| ≤ γ_{n+1}·|L|·|X| element by element, with γ_m as in [Cholesky].
//
// Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 14.2.
func TriInv[T Float](w *Workspace, l Matrix[T]) {
	l.checkSquare("L")
	invertTriangle(w, l, triangleOnly)
}

// CholeskyInv computes the inverse A⁻¹ = L⁻ᵀ·L⁻¹ from the n×n Cholesky factor L of A, and stores its
// lower triangle in the lower triangle of L. The strict upper triangle is neither read nor written;
// see [Matrix.MirrorLower]. A nil w stands for a new [Workspace].
//
// Roundings: with X = L⁻¹ as in [TriInv], element (i, j) is Σ_{k≥i} x_ki·x_kj, one chain of fused
// multiply-adds with k ascending.
func CholeskyInv[T Float](w *Workspace, l Matrix[T]) {
	l.checkSquare("L")
	invertTriangle(w, l, wholeInverse)
}

func invertTriangle[T Float](w *Workspace, l Matrix[T], what inverseOf) {
	if l.Rows == 0 {
		return
	}
	raceWriteLower(0, l)
	if smallInverse(w, &l, &l.Data[0], l.Stride, what) {
		return
	}
	t, w := triangularOf(w, l, false, 0)
	t.inverse = what
	t.invert(w)
}

// inverseOf is the result of an inversion, with X = L⁻¹.
type inverseOf int

const (
	triangleOnly inverseOf = iota // X
	wholeInverse                  // Xᵀ·X
	diagonalOnly                  // the diagonal of Xᵀ·X
)

// invert inverts T. Strip i of T ends at the diagonal, and strip i of X begins there, so that both
// share memory. A block on the diagonal needs T and X at the same time. X is therefore shifted by as
// many tiles as a block has strips.
func (t *triangular[T]) invert(w *Workspace) {
	nr := t.k.nr
	per := (t.strips + t.blocks - 1) / t.blocks
	t.ts += per * nr * nr
	t.xs = t.ts
	mem := elements[T](&t.mem, t.strips*t.ts)
	t.t, t.x = &mem[0], &mem[per*nr*nr]
	t.team.reset(t.blocks, 0)
	t.team.addRows(loading)
	t.team.addGrid(solving, true)
	tiles := 1
	if t.inverse == wholeInverse {
		t.team.addGrid(multiplying, false)
		tiles = per * per
	}
	t.run(w, tiles)
}

// identity fills positions q to end of the strip y with nr columns of the identity. The first column
// has its one at q.
func (t *triangular[T]) identity(y *T, q, end int) {
	nr := t.k.nr
	ys := elems(at(y, q*nr), (end-q)*nr)
	clear(ys)
	for l := range nr {
		ys[l*nr+l] = 1
	}
}

// storeInverse writes rows lo to hi of strip c of X to the matrix.
func (t *triangular[T]) storeInverse(c, lo, hi int) {
	column, line, m := t.rows(c)
	for q := max(lo, c*t.k.nr); q < hi; q++ {
		if row := q - t.pad; row >= column {
			copy(t.l.Row(row)[column:], elems(at(t.xstrip(c, q), line), min(m, row-column+1)))
		}
	}
}

// sumSquares stores the sums of the squares of the columns of strip c of X.
func (t *triangular[T]) sumSquares(c int, scratch *T) {
	nr := t.k.nr
	column, line, m := t.rows(c)
	d := elems(scratch, nr)
	clear(d)
	for q := c * nr; q < t.strips*nr; q += callRows {
		t.k.squares(min(callRows, t.strips*nr-q), t.xstrip(c, q), scratch)
	}
	copy(t.diag[column:column+m], d[line:])
}

// multiply computes block (i, j) of Xᵀ·X in scratch memory and writes it to the matrix.
func (t *triangular[T]) multiply(i, j int, scratch *T, h *ahead) {
	nr := t.k.nr
	is, ie := t.block(i)
	js, je := t.block(j)
	row := func(i int) *T { return at(scratch, (i-is)*(je-js)*nr*nr) }
	for q, _ := t.positions(i, i+1); q < t.strips*nr; q += t.chunk {
		h.clear()
		if next := q + t.chunk; next < t.strips*nr {
			k := min(t.chunk, t.strips*nr-next)
			addStrips(h, ie-is, t.xstrip(is, next), t.xs, nr, k)
			if i != j {
				addStrips(h, je-js, t.xstrip(js, next), t.xs, nr, k)
			}
		}
		for i := is; i < ie; i++ {
			t.multiplyRow(i, js, min(je, i+1), q, row(i), h)
		}
	}
	for i := is; i < ie; i++ {
		t.storeProduct(i, js, min(je, i+1), row(i))
	}
}

// multiplyRow adds to the tiles c of strip i and strips js ≤ j < je their products of a chunk of
// terms from position q on. It is a separate function for the same reason as subtractRow.
func (t *triangular[T]) multiplyRow(i, js, je, q int, c *T, h *ahead) {
	nr, start, mode := t.k.nr, max(i*t.k.nr, t.first), 0
	end := min(q+t.chunk, t.strips*nr)
	if q <= start {
		q, mode = start, tileFresh
	}
	if q >= end {
		return
	}
	a := t.xstrip(i, q)
	for j := js; j < je; j++ {
		mode, next, c := mode, at(c, (min(j+1, je-1)-js)*nr*nr), at(c, (j-js)*nr*nr)
		if j == 0 {
			mode += t.first
			c = at(c, t.first)
		}
		if i == j {
			mode += tileLower
		}
		if i == 0 {
			c = at(c, t.first*nr)
		}
		ldc := nr
		if t.direct(i, j) {
			row, _, _ := t.rows(i)
			column, _, _ := t.rows(j)
			c, ldc = &t.l.Data[row*t.l.Stride+column], t.l.Stride
			next = c
		}
		soon, step := h.take(address(a))
		t.k.add(end-q, a, t.xstrip(j, q), c, ldc, next, mode, soon, step)
	}
}

// direct reports whether tile (i, j) of Xᵀ·X is computed in the matrix itself, without scratch
// memory. In a large matrix no tile is, because each chunk of terms would read and write the whole
// matrix again.
func (t *triangular[T]) direct(i, j int) bool {
	return i > j && (j > 0 || t.first == t.pad) && t.strips <= directStrips
}

// storeProduct writes the tiles c of strip i and strips js ≤ j < je to the matrix.
func (t *triangular[T]) storeProduct(i, js, je int, c *T) {
	nr, ld := t.k.nr, t.l.Stride
	row, _, m := t.rows(i)
	for j := js; j < je; j++ {
		if t.direct(i, j) {
			continue
		}
		column, line, n := t.rows(j)
		dst, c := &t.l.Data[row*ld+column], at(c, (j-js)*nr*nr)
		switch {
		case i == j:
			t.k.copyLower(m, dst, ld, at(c, line*nr+line), nr)
		case n == nr:
			t.k.copyRows(m, c, nr, dst, ld)
		default:
			copyTile(m, n, dst, ld, at(c, line), nr)
		}
	}
}

// CholeskyInvDiag computes the diagonal of A⁻¹ from the n×n Cholesky factor L of A, and stores it in
// the n elements of d. It takes half the work of [CholeskyInv] and gives the same bits. L is not
// changed. d must not overlap L. A nil w stands for a new [Workspace].
//
// Roundings: with X = L⁻¹ as in [TriInv], d_j is Σ_{k≥j} x_kj², one chain of fused multiply-adds with
// k ascending.
func CholeskyInvDiag[T Float](w *Workspace, l Matrix[T], d []T) {
	l.checkSquare("L")
	checkLen("d", d, l.Rows)
	if l.Rows == 0 {
		return
	}
	refuseOverlap("d", asRow(d), "L", &l)
	raceReadLower(l)
	raceWrite(d)
	if smallInverse(w, &l, &d[0], 0, diagonalOnly) {
		return
	}
	t, w := triangularOf(w, l, false, 0)
	t.diag, t.inverse = d, diagonalOnly
	t.invert(w)
}
