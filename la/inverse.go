package la

// TriInv overwrites the lower triangle of L with that of L⁻¹. The strict upper
// triangle is neither read nor written.
//
// Column j of X = L⁻¹ is the solution of L·x = e_j by forward substitution, as by
// [Trsm], so that |L·X - I| ≤ γ_{n+1}·|L|·|X| element by element (Higham, 2nd ed.,
// section 14.2).
func TriInv[T Float](w *Workspace, l Matrix[T]) {
	l.checkSquare("L")
	invertTriangle(w, l, false)
}

// CholeskyInv overwrites the Cholesky factor L of A, a lower triangle, with the
// lower triangle of A⁻¹ = L⁻ᵀ·L⁻¹. The strict upper triangle is neither read nor
// written.
//
// With X = L⁻¹ as by [TriInv], element (i, j) is Σ_k x_ki·x_kj, k ≥ i, one chain of
// fused multiply-adds with k ascending.
func CholeskyInv[T Float](w *Workspace, l Matrix[T]) {
	l.checkSquare("L")
	invertTriangle(w, l, true)
}

func invertTriangle[T Float](w *Workspace, l Matrix[T], product bool) {
	if l.Rows == 0 {
		return
	}
	raceWriteLower(0, l)
	if s, ok := smallOf[T](w, l.Rows); ok {
		s.inverse(l, product)
		return
	}
	t, w := triangularOf(w, l, false, 0)
	t.product = product
	t.xs = t.ts
	t.x = &elements[T](&t.xMem, t.strips*t.xs)[0]
	t.seek(0)
	t.run(w, invert)
}

// invert is one worker's part of overwriting L with X = L⁻¹ or with Xᵀ·X. Block
// row by block row of X, from the top, it solves for the block row, whose
// right-hand side has been gathered in its place; subtracts the block row's part
// from the right-hand sides below, which take the place of the block column of
// L; and, for the product, adds the block row's part of Xᵀ·X to the rows above
// and leaves there, in place of X, the part that is its own.
func (t *triangular[T]) invert(worker int) {
	for t.loadFactors(0, t.team.task()) {
	}
	t.team.wait()
	for b := range t.blocks {
		p := t.panel(b)
		t.seekNext(worker, b)
		for c := p.e - 1 - t.team.task(); c >= 0; c = p.e - 1 - t.team.task() {
			t.solveBlockRow(p, c)
			if !t.product {
				t.storeBlockRow(p, c)
			}
		}
		t.team.wait()
		below := span{top: p.e, bottom: t.strips, right: p.e}
		above := span{bottom: p.e, right: p.e, lower: true}
		if !t.product {
			above.bottom = 0
		}
		for {
			top, bottom, j, rest := below.task(t.team.task(), t.chunk)
			if rest < 0 {
				for i := top; i < bottom; i++ {
					q := t.from(p, j)
					t.update(t.k.sub, p.hi-q, t.strip(p, i, q), t.xstrip(j, q), i, j, j >= p.s, i+1 < bottom, t.tile(worker))
				}
				continue
			}
			top, bottom, j, rest = above.task(rest, t.chunk)
			if rest < 0 {
				for i := top; i < bottom; i++ {
					q := t.from(p, i)
					t.update(t.k.add, p.hi-q, t.xstrip(i, q), t.xstrip(j, q), i, j, i >= p.s, i+1 < bottom, t.tile(worker))
				}
				continue
			}
			if !t.loadFactors(b+1, rest) {
				break
			}
		}
		t.team.wait()
	}
}

// seekNext lets the first worker seek the block after b, while all are in a phase
// in which nobody uses it.
func (t *triangular[T]) seekNext(worker, b int) {
	if worker == 0 && b+1 < t.blocks {
		t.seek(b + 1)
	}
}

// loadFactors loads strip task of block b, or returns false if there is none.
func (t *triangular[T]) loadFactors(b, task int) bool {
	if b == t.blocks {
		return false
	}
	p := t.panel(b)
	if p.s+task >= t.strips {
		return false
	}
	t.loadFactor(p, p.s+task)
	return true
}

// from returns the first position of the block at which column strip c of X is
// not zero by its structure.
func (t *triangular[T]) from(p *panel[T], c int) int { return max((c-p.s)*t.k.nr, p.lo) }

// solveBlockRow solves for strip c of the columns of the block row of X.
func (t *triangular[T]) solveBlockRow(p *panel[T], c int) {
	nr, y := t.k.nr, t.xstrip(c, 0)
	if c >= p.s {
		t.identity(y, (c-p.s)*nr, p.hi)
	} else {
		column, line, m := t.rows(c)
		row := p.s*nr - t.pad
		src, ld := &t.l.Data[row*t.l.Stride+column], t.l.Stride
		if line == 0 {
			t.k.copyRows(p.hi, src, ld, y, nr)
		} else {
			clear(elems(y, p.hi*nr))
			copyTile(p.hi, m, at(y, line), nr, src, ld)
		}
	}
	t.k.solve(t.from(p, c), p.hi, p.t, t.ts, p.r, y)
}

// identity fills positions q to end of the strip y with the columns of I whose
// ones begin at q.
func (t *triangular[T]) identity(y *T, q, end int) {
	nr := t.k.nr
	ys := elems(at(y, q*nr), (end-q)*nr)
	clear(ys)
	for l := range nr {
		ys[l*nr+l] = 1
	}
}

// storeBlockRow writes strip c of the columns of the block row of X to its place.
func (t *triangular[T]) storeBlockRow(p *panel[T], c int) {
	column, line, m := t.rows(c)
	for q := t.from(p, c); q < p.hi; q++ {
		if row := p.s*t.k.nr + q - t.pad; row >= column {
			copy(t.l.Row(row)[column:], elems(at(t.xstrip(c, q), line), min(m, row-column+1)))
		}
	}
}

// update applies f, add or sub, to tile (i, j) of the matrix, which counts as
// zero if fresh; if more, tile (i+1, j) is next.
func (t *triangular[T]) update(f func(k int, a, b, c *T, ldc int, next *T, mode int), k int, a, b *T, i, j int, fresh, more bool, tile *T) {
	nr, ld := t.k.nr, t.l.Stride
	row, _, m := t.rows(i)
	column, line, n := t.rows(j)
	skip := line / t.k.mr * t.k.mr
	mode := skip
	if fresh {
		mode += tileFresh
	}
	c := &t.l.Data[row*ld+column]
	switch {
	case i > j && skip == line:
		next := c
		if more {
			next = at(c, nr*ld)
		}
		f(k, a, b, c, ld, next, mode)
	case i > j:
		part := at(tile, line)
		if !fresh {
			copyTile(m, n, part, nr, c, ld)
		}
		f(k, a, b, at(tile, skip), nr, tile, mode)
		copyTile(m, n, c, ld, part, nr)
	default:
		part := at(tile, line*nr+line)
		if !fresh {
			t.k.lower(m, part, nr, c, ld)
		}
		f(k, a, b, at(tile, skip*nr+skip), nr, tile, mode+tileLower)
		t.k.lower(m, c, ld, part, nr)
	}
}

// CholeskyInvDiag stores the diagonal of A⁻¹ in d, from the Cholesky factor L of
// A, for half the work of CholeskyInv. L is not changed.
//
// With X = L⁻¹ as by [TriInv], d_j is Σ_k x_kj², k ≥ j, one chain of fused
// multiply-adds with k ascending: the diagonal of what CholeskyInv returns.
func CholeskyInvDiag[T Float](w *Workspace, l Matrix[T], d []T) {
	l.checkSquare("L")
	checkLen("d", d, l.Rows)
	if l.Rows == 0 {
		return
	}
	refuseOverlap("d", asRow(d), "L", l)
	raceReadLower(l)
	raceWrite(d)
	if s, ok := smallOf[T](w, l.Rows); ok {
		s.inverseDiagonal(l, d)
		return
	}
	t, w := triangularOf(w, l, false, 0)
	t.diag = d
	t.substituteAll(w, t.strips)
}
