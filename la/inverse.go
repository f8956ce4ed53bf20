package la

// TriInv overwrites the lower triangle of L with that of L⁻¹. The strict upper
// triangle is neither read nor written.
//
// Element x_ij is -Σ_k l_ik·x_kj, j ≤ k < i, one chain of fused multiply-adds
// with k ascending, times 1/l_ii: each column of X is the solution of L·x = e_j
// by forward substitution, so that |L·X - I| ≤ γ_{n+1}·|L|·|X| element by element
// (Higham, 2nd ed., theorem 8.5).
func TriInv[T Float](w *Workspace, l Matrix[T]) {
	l.checkSquare("l")
	invert(w, stripTable[T](), l, false)
}

// CholeskyInv overwrites the Cholesky factor L of A, a lower triangle, with the
// lower triangle of A⁻¹ = L⁻ᵀ·L⁻¹. The strict upper triangle is neither read nor
// written.
func CholeskyInv[T Float](w *Workspace, l Matrix[T]) {
	l.checkSquare("l")
	invert(w, stripTable[T](), l, true)
}

// invert overwrites L with X = L⁻¹ or, if square, with Xᵀ·X. Block row by block
// row of X, top down, it solves for the block row, whose right-hand side has
// been gathered in its place, subtracts the block row's part from the
// right-hand sides below, which takes the place of the block column of L, and
// adds the block row's part of Xᵀ·X to the rows above.
func invert[T Float](w *Workspace, k *stripKernels[T], l Matrix[T], square bool) {
	if l.Rows == 0 {
		return
	}
	nr, ld := k.nr, l.Stride
	t := newTriangle(w, k, l)
	x := scratch[T](w, t.strips*t.ts) // strips of the block row of X
	tile := scratch[T](w, nr*nr)
	for b := range t.blocks {
		t.seek(b)
		for i := t.s; i < t.strips; i++ {
			t.load(i)
		}
		for c := range t.e {
			t.invertStrip(c, at(x, c*t.ts))
		}
		// from returns the first position of the block in strip c that is not a
		// structural zero.
		from := func(c int) int { return max((c-t.s)*nr, t.lo) }
		update := func(f func(k int, a, b, c *T, ldc int, next *T), i, j, k int, a, b *T) {
			row, _, m := t.rows(i)
			col, line, n := t.rows(j)
			c := &l.Data[row*ld+col]
			fresh := i >= t.s && j >= t.s
			if square && i < t.e {
				fresh = i >= t.s
			}
			if i != j && n == nr {
				if fresh {
					for i := range m {
						clear(l.Row(row + i)[col : col+n])
					}
				}
				f(k, a, b, c, ld, nil)
				return
			}
			clear(elems(tile, nr*nr))
			part := at(tile, line)
			if i == j {
				part = at(tile, line*nr+line)
			}
			if !fresh {
				if i == j {
					copyLower(m, part, nr, c, ld)
				} else {
					copyTile(m, n, part, nr, c, ld)
				}
			}
			f(k, a, b, tile, nr, nil)
			if i == j {
				copyLower(m, c, ld, part, nr)
			} else {
				copyTile(m, n, c, ld, part, nr)
			}
		}
		for i := t.e; i < t.strips; i++ {
			for c := range t.e {
				q := from(c)
				update(k.sub, i, c, t.width()-q, at(t.strip(i), q*nr), at(x, c*t.ts+q*nr))
			}
		}
		for i := range t.e {
			if !square {
				t.storeInverse(i, at(x, i*t.ts))
				continue
			}
			for c := range i + 1 {
				q := from(i)
				update(k.add, i, c, t.width()-q, at(x, i*t.ts+q*nr), at(x, c*t.ts+q*nr))
			}
		}
	}
}

// invertStrip solves for the columns c of the current block row of X.
func (t *triangle[T]) invertStrip(c int, y *T) {
	nr := t.k.nr
	if c >= t.s {
		q := (c - t.s) * nr
		clear(elems(at(y, q*nr), (t.width()-q)*nr))
		for l := range nr {
			*at(y, (q+l)*nr+l) = 1
		}
		t.k.solve(max(q, t.lo), t.width(), t.t, t.ts, t.r, y)
		return
	}
	col, line, n := t.rows(c)
	row, _, _ := t.rows(t.s)
	for p := range t.width() {
		d := elems(at(y, p*nr), nr)
		clear(d[:line])
		copy(d[line:], t.l.Row(row + p)[col:col+n])
	}
	t.k.solve(0, t.width(), t.t, t.ts, t.r, y)
}

// storeInverse writes the columns c of the current block row of X to their place.
func (t *triangle[T]) storeInverse(c int, y *T) {
	nr := t.k.nr
	col, line, n := t.rows(c)
	for p := range t.width() {
		row := t.s*nr + p - t.pad
		if row < col {
			continue
		}
		m := min(n, row-col+1)
		copy(t.l.Row(row)[col:col+m], elems(at(y, p*nr+line), m))
	}
}

// CholeskyInvDiag stores the diagonal of A⁻¹ in d, from the Cholesky factor L of
// A, for about half the work of CholeskyInv. L is not changed.
func CholeskyInvDiag[T Float](w *Workspace, l Matrix[T], d []T) {
	l.checkSquare("l")
	checkLen("d", d, l.Rows)
	cholInvDiag(w, stripTable[T](), l, d)
}

// rhsGroup is the number of columns of a right-hand side that are solved for
// while a packed block column of the triangle is at hand.
const rhsGroup = 384

func cholInvDiag[T Float](w *Workspace, k *stripKernels[T], l Matrix[T], d []T) {
	if l.Rows == 0 {
		return
	}
	nr := k.nr
	t := newTriangle(w, k, l)
	ys := t.strips * nr * nr
	group := min(max(rhsGroup/nr, 1), t.strips)
	y := scratch[T](w, group*ys)
	for c0 := 0; c0 < t.strips; c0 += group {
		c1 := min(c0+group, t.strips)
		for c := c0; c < c1; c++ {
			yc := at(y, (c-c0)*ys)
			clear(elems(at(yc, c*nr*nr), ys-c*nr*nr))
			for p := range nr {
				*at(yc, (c*nr+p)*nr+p) = 1
			}
		}
		t.solve(c0, c1-c0, y, ys)
		for c := c0; c < c1; c++ {
			yc := at(y, (c-c0)*ys)
			col, line, n := t.rows(c)
			for i := range n {
				var s T
				for q := c*nr + line + i; q < t.strips*nr; q++ {
					v := *at(yc, q*nr+line+i)
					s = fmaChain(v, v, s)
				}
				d[col+i] = s
			}
		}
	}
}

// solve solves T·Y = B for the n strips of right-hand sides at y, each ys
// elements long. Strip j is zero before strip first+j of T if first ≥ 0.
func (t *triangle[T]) solve(first, n int, y *T, ys int) {
	nr := t.k.nr
	for b := range t.blocks {
		t.seek(b)
		if t.e <= first {
			continue
		}
		for i := t.s; i < t.strips; i++ {
			t.load(i)
		}
		for j := range n {
			q := t.lo
			if first >= 0 {
				q = max((first+j-t.s)*nr, q)
			}
			if q >= t.width() {
				continue
			}
			yj := at(y, j*ys)
			yb := at(yj, t.s*nr*nr)
			t.k.solve(q, t.width(), t.t, t.ts, t.r, yb)
			for i := t.e; i < t.strips; i++ {
				t.k.sub(t.width()-q, at(t.strip(i), q*nr), at(yb, q*nr), at(yj, i*nr*nr), nr, nil)
			}
		}
	}
}
