package la

import "math"

// Small triangles need no blocks, no padding in front and no workers. A triangle of up to
// stripKernels.most rows is computed in place. A larger one that fits in one strip is transposed into
// the strip and back. The chains are the same as for large triangles.

// scalarRows is the largest number of rows for which plain loops are as fast as vectors.
const scalarRows = 4

func genericSmallChol[T Float](n int, a *T, ld int) (bad int, pivot T) {
	var r [scalarRows]T
	s := elems(a, (n-1)*ld+n)
	for i := range n {
		ai := s[i*ld:][:i+1]
		for j := range i {
			ai[j] = lessDot(ai[j], ai[:j], s[j*ld:]) * r[j]
		}
		d := lessDot(ai[i], ai[:i], ai)
		if !(d > 0 && float64(d) <= math.MaxFloat64) {
			return i, d
		}
		ai[i] = T(math.Sqrt(float64(d)))
		r[i] = 1 / ai[i]
	}
	return -1, 0
}

// lessDot returns s - Σ x_i·y_i, one chain of fused multiply-adds.
func lessDot[T Float](s T, x, y []T) T {
	y = y[:len(x)]
	for i, v := range x {
		if is64[T]() { // fma written out, because fma is not inlined
			s = T(math.FMA(float64(-v), float64(y[i]), float64(s)))
		} else {
			s = fma(-v, y[i], s)
		}
	}
	return s
}

func genericSmallInv[T Float](n int, l *T, ld int, dst *T, ldd int, what inverseOf) {
	var x, c [scalarRows][scalarRows]T
	for i := range n {
		li := elems(at(l, i*ld), i+1)
		r := 1 / li[i]
		xi := &x[i]
		xi[i] = r
		for j := range i {
			var s T
			for k := j; k < i; k++ {
				if is64[T]() {
					s = T(math.FMA(float64(-li[k]), float64(x[k][j]), float64(s)))
				} else {
					s = fma(-li[k], x[k][j], s)
				}
			}
			xi[j] = s * r
		}
		for h := range i + 1 {
			ch := &c[h]
			for j := range h + 1 {
				if is64[T]() {
					ch[j] = T(math.FMA(float64(xi[h]), float64(xi[j]), float64(ch[j])))
				} else {
					ch[j] = fma(xi[h], xi[j], ch[j])
				}
			}
		}
	}
	for i := range n {
		switch what {
		case triangleOnly:
			copy(elems(at(dst, i*ldd), i+1), x[i][:])
		case wholeInverse:
			copy(elems(at(dst, i*ldd), i+1), c[i][:])
		case diagonalOnly:
			*at(dst, i) = c[i][i]
		}
	}
}

// small is the scratch memory for a triangle of one strip.
type small[T Float] struct {
	k       *stripKernels[T]
	end     int // n rounded up to a multiple of mr
	l, x, c *T  // nr×nr
	r       *T  // nr
}

// smallIn returns scratch memory for a triangle of n ≤ nr rows: memory of w, or new memory if w is
// nil.
func smallIn[T Float](w *Workspace, k *stripKernels[T], n int) small[T] {
	tile := k.nr * k.nr
	var fresh buffer
	mem := &fresh
	if w != nil {
		mem = &triangularIn[T](w).scratchMem
	}
	e := elements[T](mem, 3*tile+k.nr)
	return small[T]{k: k, end: (n + k.mr - 1) / k.mr * k.mr, l: &e[0], x: &e[tile], c: &e[2*tile], r: &e[3*tile]}
}

// load transposes l into the strip. It clears lines that are not in use: numbers from earlier calls,
// such as subnormals, could make the arithmetic slow.
func (s *small[T]) load(l *Matrix[T]) {
	if s.end < s.k.nr {
		clear(elems(s.l, s.end*s.k.nr))
	}
	s.k.loadCorner(l.Rows, &l.Data[0], l.Stride, s.l)
}

// smallCholesky factors a. ok is false if a has too many rows.
func smallCholesky[T Float](w *Workspace, a *Matrix[T]) (ok bool, err error) {
	n, k := a.Rows, stripTable[T]()
	if n > k.nr {
		return false, nil
	}
	if n <= k.most {
		if bad, pivot := k.smallChol(n, &a.Data[0], a.Stride); bad >= 0 {
			return true, &PivotError{Index: bad, Value: float64(pivot)}
		}
		return true, nil
	}
	s := smallIn(w, k, n)
	s.load(a)
	if j := k.chol(0, 0, s.end, s.r, s.l); j >= 0 {
		return true, &PivotError{Index: j, Value: float64(*at(s.l, j*k.nr+j))}
	}
	k.storeCorner(n, s.l, &a.Data[0], a.Stride)
	return true, nil
}

// smallInverse computes the result what of an inversion of L and stores it in dst, whose rows are ldd
// elements apart. It returns false if L has too many rows.
func smallInverse[T Float](w *Workspace, l *Matrix[T], dst *T, ldd int, what inverseOf) bool {
	n, k := l.Rows, stripTable[T]()
	if n > k.nr {
		return false
	}
	if n <= k.most {
		k.smallInv(n, &l.Data[0], l.Stride, dst, ldd, what)
		return true
	}
	s, nr := smallIn(w, k, n), k.nr
	s.load(l)
	x := elems(s.x, s.end*nr)
	if k.invert == nil || what == diagonalOnly { // squares sums whole columns
		clear(x)
	}
	if k.invert != nil {
		k.invert(s.end, s.l, s.x)
	} else {
		t, r := elems(s.l, s.end*nr), elems(s.r, s.end)
		for i := range r {
			x[i*nr+i] = 1
			r[i] = 1 / t[i*nr+i]
		}
		k.solve(0, s.end, s.l, 0, s.r, s.x, 0)
	}
	switch what {
	case triangleOnly:
		k.copyLower(n, dst, ldd, s.x, nr)
	case wholeInverse:
		k.add(s.end, s.x, s.x, s.c, nr, s.c, tileFresh+tileLower, address(s.x), 0)
		k.copyLower(n, dst, ldd, s.c, nr)
	case diagonalOnly:
		sums := elems(s.c, nr)
		clear(sums)
		k.squares(s.end, s.x, s.c)
		copy(elems(dst, n), sums)
	}
	return true
}
