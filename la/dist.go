package la

import (
	"math"
	"unsafe"
)

// SqDist computes the squared Euclidean distances
//
//	d_ij = Σ_f (x_if − y_jf)²
//
// between the rows of X (n×k) and the rows of Y (m×k), and stores them in the n×m matrix D. D must
// not overlap X or Y. A nil w stands for a new [Workspace].
//
// Differences are formed before they are squared. D is therefore accurate to a few ulp, exactly zero
// for equal rows, and exactly symmetric if X and Y are the same. Roundings: for f in order,
// t = x_if − y_jf is rounded, and d_ij = fma(t, t, d_ij) from +0.
func SqDist[T Float](w *Workspace, x, y, d Matrix[T]) {
	product[T]{a: x, b: y, c: d, dist: true}.distances(w, "D")
}

// RBF computes the radial basis function kernel
//
//	k_ij = exp(−γ·Σ_f (x_if − y_jf)²)
//
// of the rows of X (n×d) and the rows of Y (m×d), and stores it in the n×m matrix K. K must not
// overlap X or Y. A nil w stands for a new [Workspace].
//
// Roundings: the distances are as in [SqDist], their products with −γ are rounded, and the
// exponential is as in [Exp].
func RBF[T Float](w *Workspace, gamma T, x, y, k Matrix[T]) {
	product[T]{a: x, b: y, c: k, dist: true, exp: true, alpha: -gamma}.distances(w, "K")
}

// distances checks and computes p, which has dist set. name is the argument that receives C.
func (p product[T]) distances(w *Workspace, name string) {
	x, y, d := p.a, p.b, p.c
	x.check("X")
	y.checkShape("Y", y.Rows, x.Cols)
	d.checkShape(name, x.Rows, y.Rows)
	refuseOverlap(name, &d, "X", &x)
	refuseOverlap(name, &d, "Y", &y)
	if d.Rows == 0 || d.Cols == 0 {
		return
	}
	if d.Rows == 1 && x.Cols > 0 && x.Cols <= scalarFeatures {
		p.single(d.Row(0))
		return
	}
	p.tb, p.off = Transpose, d.Cols
	if p.exp && p.terms() > 0 && x.Rows == y.Rows && x.Stride == y.Stride && &x.Data[0] == &y.Data[0] {
		// A kernel matrix of X with itself is symmetric: one half is computed and mirrored.
		// Without expInto, this does not pay if the matrix is larger than the cache: the
		// mirrored elements would be written one by one to memory.
		held := d.Rows*d.Stride*int(unsafe.Sizeof(p.alpha)) <= caches.l3/2
		p.bands = !held && table[T]().expInto != nil && p.terms() <= BlockK
		if held || p.bands {
			p.off, p.mirror = 0, d
		}
	}
	p.run(w)
}

// scalarFeatures is the largest number of features for which a plain loop computes the distances of
// one row faster than packing and the kernels do.
const scalarFeatures = 8

// single computes p for an X of one row.
func (p *product[T]) single(d []T) {
	raceReadMatrix(p.a)
	raceReadMatrix(p.b)
	raceWrite(d)
	x := p.a.Row(0)
	for j := range d {
		y, s := p.b.Data[j*p.b.Stride:], T(0)
		y = y[:len(x)]
		for i, v := range x {
			t := v - y[i]
			if i == 0 {
				s = t * t // the same bits as fma(t, t, 0), but faster
			} else if is64[T]() { // fma written out, because fma is not inlined
				s = T(math.FMA(float64(t), float64(t), float64(s)))
			} else {
				s = fma(t, t, s)
			}
		}
		d[j] = s
	}
	if p.exp {
		Scal(p.alpha, d)
		Exp(d, d)
	}
}

// computeBands computes all of p, a kernel matrix of X with itself that is too large for the
// caches, from at most BlockK features. Each block is computed in scratch memory. Meanwhile the
// cache lines that will receive the block and its mirror image are prefetched. A band is several
// cache lines high, so that several lines of the mirror image are on each page. Blocks on the
// diagonal are computed whole.
func (p *product[T]) computeBands(kt *kernels[T], s *locals) {
	const band, wide = 64, 8 // rows of a band; tiles of a block: mr rows of a block stay in the first cache
	m, n, k := p.c.Rows, p.c.Cols, p.terms()
	width := wide * kt.nr
	nc := min(max(1, blocks[T]().nc*BlockK/k/width)*width, roundUp(n, kt.nr))
	ap, bp := elements[T](&s.a, roundUp(band, kt.mr)*k), elements[T](&s.b, nc*k)
	tile := elements[T](&s.tile, roundUp(band, kt.mr)*width)
	for b0 := 0; b0 < n; b0 += nc {
		packPanels(kt, kt.nr, !p.tb, p.b, b0, min(b0+nc, n), 0, k, bp)
		for i0 := 0; i0 < m; i0 += band {
			i1 := min(i0+band, m)
			packPanels(kt, kt.mr, p.ta, p.a, i0, i1, 0, k, ap)
			for j0 := b0; j0 < min(b0+nc, n, i1+p.off); j0 += width {
				j1 := min(j0+width, n, i1+p.off)
				ld := roundUp(j1-j0, kt.nr)
				for i := i0; i < i1; i += kt.mr {
					rows := tile[(i-i0)*ld:][:kt.mr*ld]
					for j := 0; j < ld; j += kt.nr {
						kt.dist(k, &ap[(i-i0)*k], &bp[(j0-b0+j)*k], &rows[j], ld, false)
					}
					for r := range min(kt.mr, i1-i) {
						next, other := &p.c.Data[(i+r)*p.c.Stride+j0], &p.mirror.Data[min(j0+r*ld/kt.mr, j1-1)*p.mirror.Stride+i]
						kt.expInto(ld, p.alpha, &rows[r*ld], next, other, p.mirror.Stride)
					}
				}
				for i := i0; i < i1; i++ {
					copy(p.c.Row(i)[j0:j1], tile[(i-i0)*ld:])
				}
				for i := i0; i < i1; i += kt.mr {
					p.reflect(kt, tile[(i-i0)*ld:], ld, i, min(i+kt.mr, i1), j0, min(j1, i0+p.off))
				}
			}
		}
	}
}

// finish replaces the distances d² in rows i0 ≤ i < i1 and columns j0 ≤ j < j1 by e^(α·d²).
func (p *product[T]) finish(kt *kernels[T], i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		if end := min(j1, i+p.off+1); end > j0 {
			d := p.c.Row(i)[j0:end]
			kt.scal(len(d), p.alpha, &d[0])
			kt.exp(len(d), &d[0], &d[0])
		}
	}
}

// reflect copies rows i0 ≤ i < i1 and columns j0 ≤ j < j1 to the mirror, transposed. src points to
// their first element.
func (p *product[T]) reflect(kt *kernels[T], src []T, lds, i0, i1, j0, j1 int) {
	m := p.mirror
	if i1-i0 == kt.mr && j0 < j1 {
		kt.pack(kt.mr, j1-j0, &src[0], lds, &m.Data[j0*m.Stride+i0], m.Stride)
		return
	}
	for i := i0; i < i1; i++ {
		for j := j0; j < j1; j++ {
			m.Data[j*m.Stride+i] = src[(i-i0)*lds+j-j0]
		}
	}
}
