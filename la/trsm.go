package la

import "fmt"

// Trsm overwrites B with the solution X of op(L)·X = B (Left, B n×m) or
// X·op(L) = B (Right, B m×n), where L is n×n lower triangular. The strict upper
// triangle of L is not read; a zero on its diagonal gives Inf or NaN. B must not
// overlap L.
//
// Each unknown is its right-hand side less the terms of the unknowns before it,
// one chain of fused multiply-adds in the order of substitution, times the
// reciprocal of the diagonal element: the solution is that of a perturbed
// system, |ΔL| ≤ γ_{n+1}·|L| (Higham, 2nd ed., theorem 8.5, with one more rounding
// for the reciprocal). A diagonal element so small that its reciprocal overflows
// counts as zero.
func Trsm[T Float](w *Workspace, s Side, t Trans, l, b Matrix[T]) {
	l.checkSquare("L")
	b.check("B")
	n := b.Rows
	if s == Right {
		n = b.Cols
	}
	if n != l.Rows {
		panic(fmt.Sprintf("la: B: %d×%d does not fit a triangle of %d rows", b.Rows, b.Cols, l.Rows))
	}
	if b.Rows == 0 || b.Cols == 0 {
		return
	}
	refuseOverlap("B", b, "L", l)
	raceReadLower(l)
	raceWriteLower(b.Cols, b)
	m := b.Cols
	if s == Right {
		m = b.Rows
	}
	tri, w := triangularOf(w, l, (s == Left) == (t == Transpose), m)
	tri.rhs, tri.side = b, s
	tri.substituteAll(w, (m+tri.k.nr-1)/tri.k.nr)
}

// groupWidth is the number of right-hand sides that are solved for at a time,
// and kept in scratch memory; what is packed of the triangle is packed once for
// each group. It does not enter the results.
const groupWidth = 960

// callRows is the number of rows of a strip moved by one call of a kernel, so
// that none takes more than a few microseconds. It does not enter the results.
const callRows = 256

// substituteAll solves T·X = B for right-hand sides of that many strips.
func (t *triangular[T]) substituteAll(w *Workspace, strips int) {
	group := min(max(groupWidth/t.k.nr, 1), strips)
	t.xs = t.strips * t.k.nr * t.k.nr
	t.x = &elements[T](&t.xMem, group*t.xs)[0]
	for t.c0 = 0; t.c0 < strips; t.c0 = t.c1 {
		t.c1 = min(t.c0+group, strips)
		t.seek(t.firstBlock())
		t.run(w, substitute)
	}
}

// firstBlock returns the first block in which the group is not zero by its structure.
func (t *triangular[T]) firstBlock() int {
	b := 0
	if t.diag != nil {
		for (b+1)*t.strips/t.blocks <= t.c0 {
			b++
		}
	}
	return b
}

// substitute is one worker's part of solving T·X = B for a group of right-hand
// sides: block by block, their rows in the block are solved for and their terms
// subtracted from the rows below.
func (t *triangular[T]) substitute(worker int) {
	first, n := t.firstBlock(), t.c1-t.c0
	for {
		task := t.team.task()
		if task < n {
			t.loadRHS(task)
		} else if !t.loadFactors(first, task-n) {
			break
		}
	}
	t.team.wait()
	for b := first; b < t.blocks; b++ {
		p := t.panel(b)
		t.seekNext(worker, b)
		base := p.s * t.k.nr
		for j := t.team.task(); j < n; j = t.team.task() {
			if q := t.start(p, j); q < p.hi {
				t.k.solve(q, p.hi, p.t, t.ts, p.r, t.xstrip(j, base))
			}
		}
		t.team.wait()
		below := span{top: p.e, bottom: t.strips, right: n}
		for {
			top, bottom, j, rest := below.task(t.team.task(), t.chunk)
			if rest >= 0 {
				if !t.loadFactors(b+1, rest) {
					break
				}
				continue
			}
			q := t.start(p, j)
			if q >= p.hi {
				continue
			}
			for i := top; i < bottom; i++ {
				c := t.xstrip(j, i*t.k.nr)
				t.k.sub(p.hi-q, t.strip(p, i, q), t.xstrip(j, base+q), c, t.k.nr, c, 0)
			}
		}
		t.team.wait()
	}
	for j := t.team.task(); j < n; j = t.team.task() {
		t.storeRHS(j, t.tile(worker))
	}
}

// start returns the first position of the block at which strip j of the group is
// not zero by its structure.
func (t *triangular[T]) start(p *panel[T], j int) int {
	if t.diag == nil {
		return p.lo
	}
	return t.from(p, t.c0+j)
}

// loadRHS fills strip c of the group with the columns (Left) or rows (Right) of
// B, or columns of I, that it stands for.
func (t *triangular[T]) loadRHS(c int) {
	nr, n, j := t.k.nr, t.l.Rows, (t.c0+c)*t.k.nr
	if t.diag != nil {
		t.identity(t.xstrip(c, 0), j, t.strips*nr)
		return
	}
	clear(elems(t.xstrip(c, 0), t.pad*nr))
	y := t.xstrip(c, t.pad)
	if t.side == Left {
		m := min(nr, t.rhs.Cols-j)
		if m == nr && !t.reverse {
			for p := 0; p < n; p += callRows {
				t.k.copyRows(min(callRows, n-p), &t.rhs.Data[p*t.rhs.Stride+j], t.rhs.Stride, at(y, p*nr), nr)
			}
			return
		}
		for p := range n {
			d := elems(at(y, p*nr), nr)
			copy(d, t.rhs.Row(t.order(p))[j:j+m])
			clear(d[m:])
		}
		return
	}
	m := min(nr, t.rhs.Rows-j)
	if m < nr {
		clear(elems(y, n*nr))
	}
	for p := 0; p < n; p += callRows {
		t.k.pack(m, min(callRows, n-p), &t.rhs.Data[j*t.rhs.Stride+p], t.rhs.Stride, at(y, p*nr))
	}
	t.flip(y)
}

// storeRHS writes strip c of the solution to where the right-hand side came
// from, or sums its squares.
func (t *triangular[T]) storeRHS(c int, tile *T) {
	nr, n, j := t.k.nr, t.l.Rows, (t.c0+c)*t.k.nr
	if t.diag != nil {
		t.sumSquares(c, tile)
		return
	}
	y := t.xstrip(c, t.pad)
	if t.side == Left {
		m := min(nr, t.rhs.Cols-j)
		if m == nr && !t.reverse {
			for p := 0; p < n; p += callRows {
				t.k.copyRows(min(callRows, n-p), at(y, p*nr), nr, &t.rhs.Data[p*t.rhs.Stride+j], t.rhs.Stride)
			}
			return
		}
		for p := range n {
			copy(t.rhs.Row(t.order(p))[j:j+m], elems(at(y, p*nr), m))
		}
		return
	}
	t.flip(y)
	for p := 0; p < n; p += callRows {
		t.k.unpack(min(nr, t.rhs.Rows-j), min(callRows, n-p), at(y, p*nr), &t.rhs.Data[j*t.rhs.Stride+p], t.rhs.Stride)
	}
}

// sumSquares sums the squares of the columns of strip c of the group.
func (t *triangular[T]) sumSquares(c int, sums *T) {
	nr, first := t.k.nr, (t.c0+c)*t.k.nr
	column, line, m := t.rows(t.c0 + c)
	d := elems(sums, nr)
	clear(d)
	for q := first; q < t.strips*nr; q += callRows {
		t.k.squares(min(callRows, t.strips*nr-q), t.xstrip(c, q), sums)
	}
	copy(t.diag[column:column+m], d[line:])
}

// order returns the unknown that is the p-th to be solved for.
func (t *triangular[T]) order(p int) int {
	if t.reverse {
		return t.l.Rows - 1 - p
	}
	return p
}

// flip brings the rows of y from the order of the unknowns into that of the
// substitution, or back.
func (t *triangular[T]) flip(y *T) {
	if !t.reverse {
		return
	}
	nr := t.k.nr
	for p, q := 0, t.l.Rows-1; p < q; p, q = p+1, q-1 {
		a, b := elems(at(y, p*nr), nr), elems(at(y, q*nr), nr)
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
	}
}
