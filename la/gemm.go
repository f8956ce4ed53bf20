package la

import (
	"math"
	"unsafe"
)

// Gemm computes C ← α·op(A)·op(B) + β·C, with op(A) m×k, op(B) k×n and C m×n. C must not overlap A
// or B. A nil w stands for a new [Workspace].
//
// With β = 0, C is not read: NaN in C does not reach the result. Zeros in A, B and α are multiplied
// like all other numbers: 0·NaN and 0·Inf give NaN.
//
// Roundings: c_ij is first multiplied by β and rounded, unless β is 0 or 1. Then each block of
// [BlockK] terms gives a sum s = Σ a·b, one chain of fused multiply-adds from +0, and
// c_ij = fma(α, s, c_ij). With β = 0 the first block gives c_ij = α·s.
func Gemm[T Float](w *Workspace, ta, tb Trans, alpha T, a, b Matrix[T], beta T, c Matrix[T]) {
	c.check("C")
	m, n, k := c.Rows, c.Cols, a.Cols
	if ta {
		k = a.Rows
		a.checkShape("A", k, m)
	} else {
		a.checkShape("A", m, k)
	}
	if tb {
		b.checkShape("B", n, k)
	} else {
		b.checkShape("B", k, n)
	}
	refuseOverlap("C", &c, "A", &a)
	refuseOverlap("C", &c, "B", &b)
	if m == 0 || n == 0 {
		return
	}
	p := product[T]{ta: ta, tb: tb, alpha: alpha, beta: beta, a: a, b: b, c: c, off: n}
	p.run(w)
}

// Syrk computes the lower triangle of the n×n matrix
//
//	C ← α·A·Aᵀ + β·C   (t = NoTrans, A n×k)
//	C ← α·Aᵀ·A + β·C   (t = Transpose, A k×n)
//
// with the roundings of [Gemm]. The strict upper triangle of C is neither read nor written; see
// [Matrix.MirrorLower]. C must not overlap A. A nil w stands for a new [Workspace].
func Syrk[T Float](w *Workspace, t Trans, alpha T, a Matrix[T], beta T, c Matrix[T]) {
	c.checkSquare("C")
	n := c.Rows
	if t {
		a.checkShape("A", a.Rows, n)
	} else {
		a.checkShape("A", n, a.Cols)
	}
	refuseOverlap("C", &c, "A", &a)
	if n == 0 {
		return
	}
	p := product[T]{ta: t, tb: !t, alpha: alpha, beta: beta, a: a, b: a, c: c, self: true}
	p.run(w)
}

// product is C ← α·op(A)·op(B) + β·C for the elements j ≤ i+off of C: all of them
// if off ≥ c.Cols, the lower triangle if off = 0.
type product[T Float] struct {
	ta, tb      Trans
	alpha, beta T
	a, b, c     Matrix[T]
	off         int
	self        bool // op(B) is op(A)ᵀ and off = 0
	dist        bool // C ← squared distances between op(A)'s rows and op(B)'s columns; β = 0
	exp         bool // with dist: C ← e^(α·d²)

	mirror Matrix[T] // if not empty, receives what is below the diagonal, transposed
	bands  bool      // C and mirror are too large for the caches
}

// terms returns the length k of the inner sums.
func (p *product[T]) terms() int {
	if p.ta {
		return p.a.Rows
	}
	return p.a.Cols
}

// run computes p with the workers of w.
func (p *product[T]) run(w *Workspace) {
	m, n := p.c.Rows, p.c.Cols
	if kt := table[T](); p.isSmall(kt) {
		p.computeSmall(kt, w)
		return
	}
	if w == nil {
		w = new(Workspace)
	}
	j := productsOf[T](w)
	*j = products[T]{product: *p, rows: 1, cols: 1}
	k := p.terms()
	if p.exp {
		k += 20 // an exponential costs as much as 20 terms
	}
	if workers := w.workers(m * n); workers > 1 && worthSplitting(m, n, k) {
		if p.off < n {
			j.rows = workers
		} else {
			j.rows, j.cols = grid(workers, m, n)
		}
	}
	w.run(j.rows*j.cols, j)
	*j = products[T]{} // keeps no matrix alive
}

// worthSplitting reports whether a product has enough work for several goroutines.
func worthSplitting(m, n, k int) bool { return m*n*k >= 128*128*128 }

// grid cuts m×n into rows×cols pieces for that many workers. Each worker gets two pieces if they
// stay large. Of all such grids, this one packs the fewest elements of A and B.
func grid(workers, m, n int) (rows, cols int) {
	const large = 256
	pieces := workers
	if m*n >= 2*workers*large*large {
		pieces *= 2
	}
	rows = pieces
	for r := 1; r <= pieces; r++ {
		if pieces%r == 0 && r*n+pieces/r*m < rows*n+pieces/rows*m {
			rows = r
		}
	}
	return rows, pieces / rows
}

// products is a product cut into a grid of pieces. Each piece is computed as a separate product.
type products[T Float] struct {
	product[T]
	rows, cols int
}

// productsOf returns the place in w for a job with elements T.
func productsOf[T Float](w *Workspace) *products[T] {
	if is64[T]() {
		return (*products[T])(unsafe.Pointer(&w.products64))
	}
	return (*products[T])(unsafe.Pointer(&w.products32))
}

func (p *products[T]) do(s *locals, task int) {
	k := table[T]()
	q := p.product
	i, j := task/p.cols, task%p.cols
	rows := k.mr
	if p.self && k.shared != nil {
		rows = k.nr
	}
	i0, i1 := p.rowCut(i, rows), p.rowCut(i+1, rows)
	j0, j1 := cut(q.c.Cols, j, p.cols, k.nr), cut(q.c.Cols, j+1, p.cols, k.nr)
	j1 = min(j1, i1+q.off)
	if i0 >= i1 || j0 >= j1 {
		return
	}
	q.a, q.b = rowsOf(q.ta, q.a, i0, i1), rowsOf(!q.tb, q.b, j0, j1)
	q.c = q.c.Slice(i0, i1, j0, j1)
	if p.mirror.Rows > 0 {
		q.mirror = p.mirror.Slice(j0, j1, i0, i1)
	}
	q.off += i0 - j0
	q.compute(k, s)
}

// rowCut returns where piece i of the rows begins: rows are cut into bands of
// equal area below the diagonal if p is a triangle, of equal height otherwise.
func (p *products[T]) rowCut(i, multiple int) int {
	m := p.c.Rows
	if p.off < p.c.Cols && i < p.rows {
		i = int(math.Sqrt(float64(i)/float64(p.rows))*float64(m)) + multiple/2
		return min(m, i/multiple*multiple)
	}
	return cut(m, i, p.rows, multiple)
}

// cut returns where piece i of n elements in equal pieces begins, a multiple of
// multiple or n.
func cut(n, i, pieces, multiple int) int {
	units := (n + multiple - 1) / multiple
	return min(n, units*i/pieces*multiple)
}

// rowsOf returns rows i0 ≤ i < i1 of op(A).
func rowsOf[T Float](t Trans, a Matrix[T], i0, i1 int) Matrix[T] {
	if t {
		return a.Slice(0, a.Rows, i0, i1)
	}
	return a.Slice(i0, i1, 0, a.Cols)
}

// compute computes all of p. For each block of A, the blocks of B are packed into panels one after
// the other. A panel of A stays in the first-level cache while the panels of B stream past it from
// the second-level cache.
func (p *product[T]) compute(kt *kernels[T], s *locals) {
	m, n, k := p.c.Rows, p.c.Cols, p.terms()
	raceReadMatrix(p.a)
	raceReadMatrix(p.b)
	raceWriteLower(p.off, p.c)
	for j := range p.mirror.Rows {
		raceWrite(p.mirror.Row(j)[max(0, min(m, j-p.off+1)):])
	}
	if k == 0 || p.beta != 0 && p.beta != 1 {
		p.scale(kt)
	}
	if k == 0 {
		if p.exp {
			p.finish(kt, 0, m, 0, n)
		}
		return
	}
	if p.bands {
		p.computeBands(kt, s)
		return
	}
	if p.self && kt.shared != nil && n*min(BlockK, k)*int(unsafe.Sizeof(p.alpha)) <= 2*caches.l2 {
		p.computeShared(kt, s)
		return
	}
	bs := blocks[T]()
	across := (n + bs.nc - 1) / bs.nc // blocks of B side by side, of equal width
	nc, mc, kc := roundUp((n+across-1)/across, kt.nr), min(bs.mc, roundUp(m, kt.mr)), min(BlockK, k)
	held := mc // rows of A that are held for later blocks of B
	if across == 1 {
		held = kt.mr
	}
	bl := block[T]{product: *p, kt: kt, tile: elements[T](&s.tile, kt.mr*kt.nr),
		ap: elements[T](&s.a, held*kc), bp: elements[T](&s.b, nc*kc), keep: across > 1}
	for i0 := 0; i0 < m; i0 += mc {
		bl.i0, bl.i1 = i0, min(i0+mc, m)
		for k0 := 0; k0 < k; k0 += BlockK {
			bl.k0, bl.k1 = k0, min(k0+BlockK, k)
			for j0 := 0; j0 < min(n, bl.i1+p.off); j0 += nc {
				bl.j0, bl.j1 = j0, min(j0+nc, n, bl.i1+p.off)
				packPanels(kt, kt.nr, !p.tb, p.b, j0, bl.j1, k0, bl.k1, bl.bp)
				bl.multiply()
			}
		}
	}
}

// computeShared computes all of p, a product of A with itself. Rows are packed only once, into
// panels of B, and the kernel shared reads the rows of A from the same panels. A panel is packed
// when the diagonal reaches its rows; the tiles before it prefetch these rows. p.off is a multiple
// of nr.
func (p *product[T]) computeShared(kt *kernels[T], s *locals) {
	m, n, k := p.c.Rows, p.c.Cols, p.terms()
	mr, nr, nc := kt.mr, kt.nr, blocks[T]().nc
	across := (n + nc - 1) / nc
	nc = roundUp((n+across-1)/across, nr)
	bl := block[T]{product: *p, kt: kt, tile: elements[T](&s.tile, mr*nr),
		bp: elements[T](&s.b, roundUp(n, nr)*min(BlockK, k)), i1: m}
	for k0 := 0; k0 < k; k0 += BlockK {
		bl.k0, bl.k1 = k0, min(k0+BlockK, k)
		k := bl.k1 - k0
		panel := func(j int) []T { return bl.bp[j*k:] }
		for j0 := 0; j0 < n; j0 += nc {
			bl.j0, bl.j1 = j0, min(j0+nc, n)
			if above := min(bl.j1, p.off); j0 < above {
				packPanels(kt, nr, !p.tb, p.b, j0, above, k0, bl.k1, panel(j0))
			}
			for i := max(0, j0-p.off); i < m; i += nr {
				own := i + p.off // column of the diagonal
				if j0 == 0 {
					packPanels(kt, nr, !p.tb, p.b, own, min(own+nr, n), k0, bl.k1, panel(own))
				}
				tiles := 0
				for r := i; r < min(i+nr, m); r += mr {
					for j := j0; j < min(bl.j1, r+mr+p.off); j += nr {
						bl.tileAt(r, j, &panel(own)[r-i], nr, &panel(j)[0], bl.hintShared(min(i+nr+tiles, m-1), k))
						tiles++
					}
				}
			}
		}
	}
}

// hintShared returns the address that a tile should prefetch for row i: row i of A if it is still to
// be packed, otherwise the place of row i in the packed panels.
func (bl *block[T]) hintShared(i, k int) *T {
	switch {
	case bl.j0 > 0:
		return &bl.bp[(i+bl.off)*k]
	case bool(bl.ta):
		return &bl.a.Data[bl.k0*bl.a.Stride+i]
	}
	return &bl.a.Data[i*bl.a.Stride+bl.k0]
}

// block is a block of a product: rows i0 ≤ i < i1 of A, columns j0 ≤ j < j1 of B and
// terms k0 ≤ p < k1.
type block[T Float] struct {
	product[T]
	kt                     *kernels[T]
	i0, i1, j0, j1, k0, k1 int
	ap, bp                 []T  // packed panels of A (all if keep, otherwise one) and of B
	keep                   bool // for later blocks of B
	tile                   []T
}

// multiply computes the block. A panel of A is packed just before its first use, so that it is in
// the first-level cache, and is kept for the next blocks of B if there are any.
func (bl *block[T]) multiply() {
	p, kt, k := &bl.product, bl.kt, bl.k1-bl.k0
	mr, nr := kt.mr, kt.nr
	for i := bl.i0; i < bl.i1; i += mr {
		ap := bl.ap
		if bl.keep {
			ap = ap[(i-bl.i0)*k:]
		}
		if bl.j0 == 0 {
			packPanels(kt, mr, p.ta, p.a, i, min(i+mr, bl.i1), bl.k0, bl.k1, ap)
		}
		for j := bl.j0; j < min(bl.j1, i+mr+p.off); j += nr {
			bl.tileAt(i, j, &ap[0], mr, &bl.bp[(j-bl.j0)*k], bl.hint(i, j, k))
		}
		if p.exp && bl.k1 == p.terms() {
			p.finish(kt, i, min(i+mr, bl.i1), bl.j0, bl.j1)
		}
		if p.mirror.Rows > 0 && bl.k1 == p.terms() {
			bl.reflectPanel(i)
		}
	}
}

// tileAt computes the tile at (i, j) from the packed rows a, whose terms are as elements apart, and
// the packed panel b. It prefetches from next on. It must not be inlined: a goroutine cannot be
// preempted in assembly, but it can be where a Go function begins.
//
//go:noinline
func (bl *block[T]) tileAt(i, j int, a *T, as int, b, next *T) {
	p, kt, k := &bl.product, bl.kt, bl.k1-bl.k0
	mr, nr, ldc := kt.mr, kt.nr, p.c.Stride
	add := bl.k0 > 0 || p.beta != 0
	c := p.c.Data[i*ldc+j:]
	if i+mr <= bl.i1 && j+nr <= bl.j1 && j+nr-1 <= i+p.off {
		switch {
		case p.dist:
			kt.dist(k, a, b, &c[0], ldc, add)
		case as == mr:
			kt.gemm(k, p.alpha, a, b, &c[0], ldc, add, next)
		default:
			kt.shared(k, p.alpha, a, b, &c[0], ldc, add, next)
		}
		return
	}
	if add {
		bl.copyTile(bl.tile, nr, c, ldc, i, j)
	}
	switch wanted := min(nr, bl.j1-j, i+mr+p.off-j); {
	case p.dist:
		kt.dist(k, a, b, &bl.tile[0], nr, add)
	case kt.narrow != nil:
		kt.narrow(wanted, k, p.alpha, a, as, b, &bl.tile[0], nr, add)
	default:
		kt.gemm(k, p.alpha, a, b, &bl.tile[0], nr, add, a)
	}
	bl.copyTile(c, ldc, bl.tile, nr, i, j)
}

// reflectPanel copies the part of C's panel at row i that is in the block and below the diagonal to
// the mirror, while the panel is in the cache.
func (bl *block[T]) reflectPanel(i int) {
	p := &bl.product
	i1, j := min(i+bl.kt.mr, bl.i1), max(bl.j0, min(bl.j1, i+p.off)) // columns before j are below the diagonal in every row
	p.reflect(bl.kt, p.c.Data[i*p.c.Stride+bl.j0:], p.c.Stride, i, i1, bl.j0, j)
	for r := i + 1; r < i1; r++ {
		p.reflect(bl.kt, p.c.Data[r*p.c.Stride+j:], p.c.Stride, r, r+1, j, min(bl.j1, r+p.off))
	}
}

// hint returns the address that the tile at (i, j) should prefetch: one of the mr rows of A in the
// next panel, in the packed panels if the row is packed already, otherwise in A. Consecutive tiles
// take consecutive rows; tiles beyond the mr-th take the last row.
func (bl *block[T]) hint(i, j, k int) *T {
	line := min(i+bl.kt.mr+(j-bl.j0)/bl.kt.nr, i+2*bl.kt.mr-1, bl.i1-1)
	switch {
	case bl.j0 > 0:
		return &bl.ap[(line-bl.i0)*k]
	case bool(bl.ta):
		return &bl.a.Data[bl.k0*bl.a.Stride+line]
	}
	return &bl.a.Data[line*bl.a.Stride+bl.k0]
}

// copyTile copies the elements of the tile at (i, j) that are wanted and in the block.
func (bl *block[T]) copyTile(dst []T, dstStride int, src []T, srcStride int, i, j int) {
	for r := range min(bl.kt.mr, bl.i1-i) {
		if w := min(bl.kt.nr, bl.j1-j, i+r+bl.off-j+1); w > 0 {
			copy(dst[r*dstStride:][:w], src[r*srcStride:][:w])
		}
	}
}

// isSmall reports whether p is computed faster without packing.
func (p *product[T]) isSmall(kt *kernels[T]) bool {
	const most = 160 * 160 * 160
	k := p.terms()
	return kt.small != nil && !p.dist && 0 < k && k <= BlockK && p.c.Rows*p.c.Cols*k <= most
}

// computeSmall computes all of p. It packs B if op transposes B, and A never.
func (p *product[T]) computeSmall(kt *kernels[T], w *Workspace) {
	n, k := p.c.Cols, p.terms()
	raceReadMatrix(p.a)
	raceReadMatrix(p.b)
	raceWriteLower(p.off, p.c)
	if p.beta != 0 && p.beta != 1 {
		p.scale(kt)
	}
	var bp []T
	if p.tb {
		if w == nil {
			w = new(Workspace)
		}
		bp = elements[T](&w.small, kt.nr*k)
	}
	for j0 := 0; j0 < n; j0 += kt.nr {
		j1 := min(j0+kt.nr, n)
		if p.tb {
			packPanels(kt, kt.nr, NoTrans, p.b, j0, j1, 0, k, bp)
			p.smallPanel(kt, k, j0, j1, &bp[0], kt.nr)
		} else {
			p.smallPanel(kt, k, j0, j1, &p.b.Data[j0], p.b.Stride)
		}
	}
}

// smallPanel computes columns j0 ≤ j < j1 of C from the same columns of op(B), whose rows are ldb
// apart. It computes mr rows of C at a time, or up to four.
func (p *product[T]) smallPanel(kt *kernels[T], k, j0, j1 int, b *T, ldb int) {
	ars, acs := p.a.Stride, 1
	if p.ta {
		ars, acs = acs, ars
	}
	tile := func(i, m, end, grow int) {
		a, c, n, add := &p.a.Data[i*ars], &p.c.Data[i*p.c.Stride+j0], end-j0, p.beta != 0
		if m > 4 {
			kt.direct(n, grow, k, p.alpha, a, ars, acs, b, ldb, c, p.c.Stride, add)
		} else {
			kt.small(m, n, grow, k, p.alpha, a, ars, acs, b, ldb, c, p.c.Stride, add)
		}
	}
	for i := 0; i < p.c.Rows; {
		m := min(4, p.c.Rows-i)
		end := i + p.off + 1 // of row i, before it is cut off at j1
		if r := kt.mr; i+r <= p.c.Rows && (end >= j1 || end > j0 && end+r-1 <= j1) {
			m = r
		}
		switch {
		case end >= j1:
			tile(i, m, j1, 0)
		case end > j0 && end+m-1 <= j1:
			tile(i, m, end, 1)
		default:
			for r := range m {
				if end := min(j1, end+r); end > j0 {
					tile(i+r, 1, end, 0)
				}
			}
		}
		i += m
	}
}

// scale computes C ← β·C for the wanted elements. With β = 0, C is not read.
func (p *product[T]) scale(kt *kernels[T]) {
	for i := range p.c.Rows {
		c := p.c.Row(i)[:max(0, min(p.c.Cols, i+p.off+1))]
		if p.beta == 0 {
			clear(c)
		} else {
			kt.scal(len(c), p.beta, first(c))
		}
	}
}

// roundUp returns the least multiple of multiple that is at least n.
func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
