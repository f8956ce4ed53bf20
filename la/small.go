package la

// A triangle that fits in one strip needs no blocks, no padding in front and no
// workers: it is transposed into the strip, worked on there and brought back.
// The chains are the same.

// small is the scratch memory for a triangle of one strip.
type small[T Float] struct {
	k       *stripKernels[T]
	end     int // n rounded up to a multiple of mr
	l, x, c *T  // nr×nr
	r       *T  // nr
}

// smallOf returns false if n rows are too many.
func smallOf[T Float](w *Workspace, n int) (s small[T], ok bool) {
	k := stripTable[T]()
	if n > k.nr {
		return s, false
	}
	tile := k.nr * k.nr
	var fresh buffer
	mem := &fresh
	if w != nil {
		mem = &triangularIn[T](w).scratchMem
	}
	e := elements[T](mem, 3*tile+k.nr)
	return small[T]{k: k, end: (n + k.mr - 1) / k.mr * k.mr, l: &e[0], x: &e[tile], c: &e[2*tile], r: &e[3*tile]}, true
}

func (s *small[T]) cholesky(a Matrix[T]) error {
	s.k.lowerIn(a.Rows, &a.Data[0], a.Stride, s.l)
	if j := s.k.chol(0, 0, s.end, s.r, s.l); j >= 0 {
		return &PivotError{Index: j, Value: float64(*at(s.l, j*s.k.nr+j))}
	}
	s.k.lowerOut(a.Rows, s.l, &a.Data[0], a.Stride)
	return nil
}

// invert leaves L⁻¹, its rows one behind the other, in x.
func (s *small[T]) invert(l Matrix[T]) {
	nr := s.k.nr
	s.k.lowerIn(l.Rows, &l.Data[0], l.Stride, s.l)
	x, t, r := elems(s.x, s.end*nr), elems(s.l, s.end*nr), elems(s.r, s.end)
	clear(x)
	for i := range r {
		x[i*nr+i] = 1
		r[i] = 1 / t[i*nr+i]
	}
	s.k.solve(0, s.end, s.l, 0, s.r, s.x)
}

// inverse overwrites L with L⁻¹ or, for the product, with L⁻ᵀ·L⁻¹.
func (s *small[T]) inverse(l Matrix[T], product bool) {
	s.invert(l)
	if !product {
		s.k.lower(l.Rows, &l.Data[0], l.Stride, s.x, s.k.nr)
		return
	}
	s.k.add(s.end, s.x, s.x, s.c, s.k.nr, s.c, tileFresh+tileLower)
	s.k.lower(l.Rows, &l.Data[0], l.Stride, s.c, s.k.nr)
}

func (s *small[T]) inverseDiagonal(l Matrix[T], d []T) {
	s.invert(l)
	sums := elems(s.c, s.k.nr)
	clear(sums)
	s.k.squares(s.end, s.x, s.c)
	copy(d, sums)
}
