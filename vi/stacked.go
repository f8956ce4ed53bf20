package vi

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// Stacked holds blocks of features, F_m of D_m×N, in place of kernels: K_m is F_m in rows of its
// own and 0 in the rows of the other blocks, so that D = Σ D_m and a weighted sum stacks the
// weighted blocks, each with weights of its own in a. The zeros are neither kept nor multiplied by.
// What costs D³ is worth it as long as D is less than N or not much more; beyond that, kernels of
// the features are the cheaper.
//
// Source: what a composite kernel is when base kernels are replaced by explicit
// expansions of different lengths, docs/theory/probit.md, section 7.
type Stacked struct {
	f     []la.Matrix[float64]
	first []int // rows; the last is D
	n     int
}

// NewStacked returns the blocks f, which it refers to and does not copy; they must not change while
// it is in use. It is an error if f is empty, if a block is empty or has another number of samples
// than the first, or if an entry is NaN or infinite.
func NewStacked(f ...la.Matrix[float64]) (*Stacked, error) {
	if len(f) == 0 {
		return nil, fmt.Errorf("vi: features: no block given")
	}
	k := &Stacked{f: f, first: []int{0}, n: f[0].Cols}
	for m, block := range f {
		switch {
		case block.Cols != k.n:
			return nil, fmt.Errorf("vi: features: block %d is of %d samples where block 0 is of %d", m, block.Cols, k.n)
		case block.Rows == 0 || block.Cols == 0:
			return nil, fmt.Errorf("vi: features: block %d is empty (%d×%d)", m, block.Rows, block.Cols)
		case !block.Valid():
			return nil, fmt.Errorf("vi: features: block %d: %d elements where %d×%d with stride %d needs more", m, len(block.Data), block.Rows, block.Cols, block.Stride)
		}
		for d := range block.Rows {
			if i := check.NonFinite(block.Row(d)); i >= 0 {
				return nil, fmt.Errorf("vi: features: block %d: entry (%d, %d) is %g", m, d, i, block.At(d, i))
			}
		}
		k.first = append(k.first, k.first[m]+block.Rows)
	}
	return k, nil
}

// Dims implements [Kernels].
func (k *Stacked) Dims() (P, D, N int) { return len(k.f), k.first[len(k.f)], k.n }

// Block returns the rows of block m: first … end−1.
func (k *Stacked) Block(m int) (first, end int) { return k.first[m], k.first[m+1] }

// Project implements [Kernels].
func (k *Stacked) Project(w *la.Workspace, a, h la.Matrix[float64]) {
	for m, f := range k.f {
		if a.Rows == 1 {
			la.Gemv(w, la.Transpose, 1, f, a.Row(0)[k.first[m]:k.first[m+1]], 0, h.Row(m))
		} else {
			la.Gemm(w, la.NoTrans, la.NoTrans, 1, a.Slice(0, a.Rows, k.first[m], k.first[m+1]), f, 0, every(h, m, len(k.f)))
		}
	}
}

// Combine implements [Kernels].
func (k *Stacked) Combine(w *la.Workspace, g, r la.Matrix[float64]) {
	for m, f := range k.f {
		if r.Rows == 1 {
			la.Gemv(w, la.NoTrans, 1, f, g.Row(m), 0, r.Row(0)[k.first[m]:k.first[m+1]])
		} else {
			la.Gemm(w, la.NoTrans, la.Transpose, 1, every(g, m, len(k.f)), f, 0, r.Slice(0, r.Rows, k.first[m], k.first[m+1]))
		}
	}
}

// GramSum implements [Kernels].
func (k *Stacked) GramSum(w *la.Workspace, s la.Matrix[float64]) {
	for m, f := range k.f {
		first, end := k.Block(m)
		for d := first; d < end; d++ {
			clear(s.Row(d)[:first])
		}
		la.Syrk(w, la.NoTrans, 1, f, 0, s.Slice(first, end, first, end))
	}
}

// Sum implements [Kernels].
func (k *Stacked) Sum(_ *la.Workspace, weights []float64, out la.Matrix[float64]) {
	for m, f := range k.f {
		for d := range f.Rows {
			row := out.Row(k.first[m] + d)
			copy(row, f.Row(d))
			la.Scal(weights[m], row)
		}
	}
}

// Inner implements [Kernels].
func (k *Stacked) Inner(_ *la.Workspace, b la.Matrix[float64], dst []float64) {
	for m, f := range k.f {
		var s float64
		for d := range f.Rows {
			s += la.Dot(b.Row(k.first[m]+d), f.Row(d))
		}
		dst[m] = s
	}
}

// Quad implements [Kernels].
func (k *Stacked) Quad(_ *la.Workspace, alpha []float64, dst []float64) {
	for m, f := range k.f {
		var s float64
		for d := range f.Rows {
			t := float64(alpha[k.first[m]+d] * la.Dot(f.Row(d), alpha))
			s += t
		}
		dst[m] = s
	}
}

// Columns implements [Kernels].
func (k *Stacked) Columns(m, first int, dst la.Matrix[float64]) {
	from, end := k.Block(m)
	for i := range dst.Rows {
		row := dst.Row(i)
		clear(row)
		for d := from; d < end; d++ {
			row[d] = k.f[m].At(d-from, first+i)
		}
	}
}
