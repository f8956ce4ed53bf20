package la

import "fmt"

// Trsm solves a triangular system for a matrix X and stores X in B:
//
//	op(L)·X = B   (s = Left, B n×m)
//	X·op(L) = B   (s = Right, B m×n)
//
// L is n×n and lower triangular. Its strict upper triangle is not read. B must not overlap L. A
// diagonal element that is zero, or so small that its reciprocal overflows, gives Inf or NaN. A nil w
// stands for a new [Workspace].
//
// Roundings: each unknown is its right-hand side minus the terms of the unknowns before it, one chain
// of fused multiply-adds in the order of substitution, times the reciprocal of the diagonal element.
// Each column (or row) of X solves a system with L + ΔL exactly, where |ΔL| ≤ γ_{n+1}·|L|, with γ_m as
// in [Cholesky].
//
// Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 8.5, with
// one more rounding for the reciprocal.
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
	refuseOverlap("B", &b, "L", &l)
	raceReadLower(l)
	raceWriteLower(b.Cols, b)
	m := b.Cols
	if s == Right {
		m = b.Rows
	}
	tri, w := triangularOf(w, l, (s == Left) == (t == Transpose), m)
	tri.rhs, tri.side = b, s
	tri.substitute(w, (m+tri.k.nr-1)/tri.k.nr)
}

// groupWidth is the number of right-hand sides that are in scratch memory and solved for at a time.
// The triangle is packed once, with the first group. groupWidth does not enter the results.
const groupWidth = 960

// callRows is the number of rows of a strip that one call of a kernel takes, so that each call takes
// at most a few microseconds. It does not enter the results.
const callRows = 256

// substitute solves T·X = B for right-hand sides that fill the given number of strips.
func (t *triangular[T]) substitute(w *Workspace, strips int) {
	nr := t.k.nr
	t.t = &elements[T](&t.mem, t.strips*t.ts)[0]
	t.xs = t.strips * nr * nr
	group := min(max(groupWidth/nr, 1), strips)
	t.x = &elements[T](&t.xMem, group*t.xs)[0]
	per := (t.strips + t.blocks - 1) / t.blocks
	for t.c0 = 0; t.c0 < strips; t.c0 += t.columns {
		t.columns = min(group, strips-t.c0)
		t.team.reset(t.blocks, (t.columns+per-1)/per)
		t.team.addRows(loading)
		if t.c0 > 0 {
			t.team.skip()
		}
		t.team.addGrid(solving, false)
		t.run(w, 1)
	}
}

// solve carries out the steps x.next ≤ k < to of tile x of X.
func (t *triangular[T]) solve(x *tile, to int, scratch *T, h *ahead) {
	nr := t.k.nr
	inverting := t.team.width == 0
	cs, ce := t.block(x.j)
	if !inverting {
		cs, ce = x.j*t.columns/t.team.width, (x.j+1)*t.columns/t.team.width
	}
	is, ie := t.block(x.i)
	lo, hi := t.positions(x.i, x.i+1)
	if !inverting && x.next == 0 {
		for c := cs; c < ce; c++ {
			t.loadRHS(c, lo, hi)
		}
	}
	from, end := t.positions(x.next, min(to, x.i))
	for q0 := from; q0 < end; q0 += t.chunk {
		h.clear()
		if next := q0 + t.chunk; next < end {
			k := min(t.chunk, end-next)
			addStrips(h, ie-is, t.strip(is, next), t.ts, nr, k)
			addStrips(h, ce-cs, t.xstrip(cs, next), t.xs, nr, k)
		}
		for c := cs; c < ce; c++ {
			q, k, mode := q0, min(q0+t.chunk, end), 0
			if inverting {
				if start := max(c*nr, t.first); q <= start {
					q, mode = start, tileFresh
				}
			}
			if k -= q; k <= 0 {
				continue
			}
			t.subtractColumn(c, is, ie, q, k, mode, h)
		}
	}
	if to <= x.i {
		return
	}
	base := is * nr
	for c := cs; c < ce; c++ {
		q, skip := lo, 0
		if inverting && x.i == x.j {
			q = max(lo, c*nr)
			t.identity(t.xstrip(c, 0), c*nr, hi)
		}
		if inverting && c == 0 {
			skip = t.first
		}
		t.k.solve(q-base, hi-base, t.strip(is, base), t.ts, at(t.r, base), t.xstrip(c, base), skip)
		switch {
		case !inverting:
			t.storeRHS(c, lo, hi)
		case t.inverse == triangleOnly:
			t.storeInverse(c, lo, hi)
		case t.inverse == diagonalOnly && ie == t.strips:
			t.sumSquares(c, scratch)
		}
	}
}

// subtractColumn subtracts from the tiles of strip c of X at strips is ≤ i < ie of T the products of
// these strips with k terms of strip c, from position q on. It is a separate function for the same
// reason as subtractRow.
func (t *triangular[T]) subtractColumn(c, is, ie, q, k, mode int, h *ahead) {
	nr := t.k.nr
	b := t.xstrip(c, q)
	for i := is; i < ie; i++ {
		y := t.xstrip(c, i*nr)
		next := t.xstrip(c, min(i+1, ie-1)*nr)
		soon, step := h.take(address(b))
		t.k.sub(k, t.strip(i, q), b, y, nr, next, mode, soon, step)
	}
}

// loadRHS fills positions lo to hi of strip c of X with the columns (Left) or rows (Right) of B that
// belong to the strip.
func (t *triangular[T]) loadRHS(c, lo, hi int) {
	nr, j := t.k.nr, (t.c0+c)*t.k.nr
	if lo < t.pad {
		clear(elems(t.xstrip(c, lo), (t.pad-lo)*nr))
		lo = t.pad
	}
	y, p, n := t.xstrip(c, lo), lo-t.pad, hi-lo
	if t.side == Left {
		m := min(nr, t.rhs.Cols-j)
		if m == nr && !t.reverse {
			t.k.copyRows(n, &t.rhs.Data[p*t.rhs.Stride+j], t.rhs.Stride, y, nr)
			return
		}
		for q := range n {
			d := elems(at(y, q*nr), nr)
			copy(d, t.rhs.Row(t.order(p + q))[j:j+m])
			clear(d[m:])
		}
		return
	}
	m := min(nr, t.rhs.Rows-j)
	if m < nr {
		clear(elems(y, n*nr))
	}
	t.k.pack(m, n, &t.rhs.Data[j*t.rhs.Stride+t.least(p, n)], t.rhs.Stride, y)
	t.flip(y, n)
}

// storeRHS writes positions lo to hi of strip c of X to the elements of B that loadRHS read.
func (t *triangular[T]) storeRHS(c, lo, hi int) {
	nr, j := t.k.nr, (t.c0+c)*t.k.nr
	lo = max(lo, t.pad)
	y, p, n := t.xstrip(c, lo), lo-t.pad, hi-lo
	if t.side == Left {
		m := min(nr, t.rhs.Cols-j)
		if m == nr && !t.reverse {
			t.k.copyRows(n, y, nr, &t.rhs.Data[p*t.rhs.Stride+j], t.rhs.Stride)
			return
		}
		for q := range n {
			copy(t.rhs.Row(t.order(p + q))[j:j+m], elems(at(y, q*nr), m))
		}
		return
	}
	t.flip(y, n)
	t.k.unpack(min(nr, t.rhs.Rows-j), n, y, &t.rhs.Data[j*t.rhs.Stride+t.least(p, n)], t.rhs.Stride)
	t.flip(y, n)
}

// order returns the index of the unknown that is solved for at step p.
func (t *triangular[T]) order(p int) int {
	if t.reverse {
		return t.l.Rows - 1 - p
	}
	return p
}

// least returns the smallest index of the n unknowns that are solved for from step p on.
func (t *triangular[T]) least(p, n int) int {
	if t.reverse {
		return t.l.Rows - p - n
	}
	return p
}

// flip reverses n rows of a strip if the substitution is in reverse order.
func (t *triangular[T]) flip(y *T, n int) {
	if !t.reverse {
		return
	}
	nr := t.k.nr
	for p, q := 0, n-1; p < q; p, q = p+1, q-1 {
		a, b := elems(at(y, p*nr), nr), elems(at(y, q*nr), nr)
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
	}
}
