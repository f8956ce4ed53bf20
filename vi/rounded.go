package vi

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/internal/mapped"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Rounded holds kernel matrices rounded to float32, in memory or in a file. Of a symmetric
// one it keeps the lower triangle: a quarter of what [Dense] takes. What is stored is widened
// exactly, and all arithmetic is in float64, so that a fit equals the fit to [Dense] kernels with
// the rounded entries; docs/lab/scale.md says by how much rounding moves it. A [RoundedBuilder]
// makes it.
//
// A matrix is kept as tiles, so that every method reads it once and from end to end, and a
// tile that is needed twice is in the cache the second time.
type Rounded struct {
	d, n    int
	kernels []roundedKernel
	file    *mapped.File // nil in memory
	path    string

	failed sync.Once
	err    atomic.Pointer[error] // of reading the file
}

// roundedKernel is one matrix: its tiles, row of tiles after row of tiles.
type roundedKernel struct {
	symmetric bool      // only tiles on and below the diagonal are kept
	data      []float32 // nil if they are in the file
	offset    int64     // in the file, in bytes
}

// tileOrder is the number of rows and of columns of a tile that is not at the edge: a tile of
// float32 fits the second cache. It is a multiple of la.BlockK, so that GramSum adds the
// blocks of terms that la.Syrk does, and part of the definition of the results.
const tileOrder = la.BlockK

// tileGroups is the most groups that the rows of tiles of a kernel are cut into. Each group sums on
// its own. It is part of the definition of the results.
const tileGroups = 8

// tileCount returns how many tiles n rows or columns take.
func tileCount(n int) int { return (n + tileOrder - 1) / tileOrder }

// tileSpan returns the rows or columns of tile i of n.
func tileSpan(i, n int) (first, end int) { return i * tileOrder, min((i+1)*tileOrder, n) }

// words returns how many numbers are kept of a D×N kernel.
func words(symmetric bool, D, N int) int64 {
	if !symmetric {
		return int64(D) * int64(N)
	}
	whole, rest := int64(D/tileOrder), int64(D%tileOrder)
	return whole*(whole+1)/2*tileOrder*tileOrder + rest*int64(D)
}

// Dims implements [Kernels].
func (k *Rounded) Dims() (P, D, N int) { return len(k.kernels), k.d, k.n }

// Err returns the error that reading the file came to, if any. What was computed since then is
// not to be used: methods have taken zeros for what they could not read.
func (k *Rounded) Err() error {
	if err := k.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Path returns the name of the file, empty in memory.
func (k *Rounded) Path() string { return k.path }

// Close closes the file that [CreateRounded] made or [OpenRounded] opened; k must no longer be
// used. The file stays. In memory there is nothing to close.
func (k *Rounded) Close() error {
	if k.file == nil {
		return nil
	}
	if err := k.file.Close(); err != nil {
		return fmt.Errorf("vi: kernels: %w", err)
	}
	return nil
}

// reader is what one goroutine needs to read tiles.
type reader struct {
	ws      *la.Workspace
	buf     []float32          // of tiles that are read from a file without a mapping
	swapped la.Matrix[float32] // a tile transposed
	sum     la.Matrix[float64] // a tile and its mirror image
	columns [tileOrder]float64 // as many numbers as a tile has rows
}

func newReader() *reader { return &reader{ws: &la.Workspace{Workers: 1}} }

// each does the tasks on the workers of w.
func each(w *la.Workspace, tasks int, task func(r *reader, task int)) {
	var workers int
	if w != nil {
		workers = w.Workers
	}
	crew := work.NewCrew(workers, tasks, func(int) *reader { return newReader() })
	_ = crew.Each(func(r *reader, i int) error { // the tasks have no errors
		task(r, i)
		return nil
	})
}

// kept returns the tile of kernel m in row I and column J of tiles, which is one that is kept.
func (k *Rounded) kept(r *reader, m, I, J int) la.Matrix[float32] {
	km := &k.kernels[m]
	i0, i1 := tileSpan(I, k.d)
	j0, j1 := tileSpan(J, k.n)
	before := int64(i0) * int64(k.n)
	if km.symmetric {
		before = words(true, i0, i0)
	}
	before += int64(j0) * int64(i1-i0)
	size := (i1 - i0) * (j1 - j0)
	if km.data != nil {
		return la.MatrixOf(i1-i0, j1-j0, km.data[before:before+int64(size)])
	}
	if r.buf == nil && !k.file.Mapped() {
		r.buf = make([]float32, tileOrder*tileOrder)
	}
	x, err := k.file.Floats(km.offset+4*before, size, r.buf)
	if err != nil {
		k.failed.Do(func() {
			err = fmt.Errorf("vi: kernels in %s: %w", k.path, err)
			k.err.Store(&err)
		})
		clear(x)
	}
	return la.MatrixOf(i1-i0, j1-j0, x)
}

// tile returns the tile of kernel m in row I and column J of tiles, whether it is kept or its
// mirror image.
func (k *Rounded) tile(r *reader, m, I, J int) la.Matrix[float32] {
	if !k.kernels[m].symmetric || J <= I {
		return k.kept(r, m, I, J)
	}
	t := k.kept(r, m, J, I)
	if r.swapped.Data == nil {
		r.swapped.Data = make([]float32, tileOrder*tileOrder)
	}
	s := la.MatrixOf(t.Cols, t.Rows, r.swapped.Data[:t.Rows*t.Cols])
	const block = 16 // numbers of a cache line
	for i0 := 0; i0 < s.Rows; i0 += block {
		for j := range s.Cols {
			row := t.Row(j)[i0:min(i0+block, s.Rows)]
			for i, v := range row {
				s.Data[(i0+i)*s.Stride+j] = v
			}
		}
	}
	return s
}

// columnTiles returns how many tiles are kept in row I of tiles of kernel m.
func (k *Rounded) columnTiles(m, I int) int {
	if k.kernels[m].symmetric {
		return I + 1
	}
	return tileCount(k.n)
}

// allSymmetric reports whether every kernel is.
func (k *Rounded) allSymmetric() bool {
	for m := range k.kernels {
		if !k.kernels[m].symmetric {
			return false
		}
	}
	return true
}

// groups returns the number of groups of rows of tiles.
func (k *Rounded) groups() int { return min(tileCount(k.d), tileGroups) }

// groupStart returns the row of tiles where group g begins, such that the triangles of the
// groups are about equal.
func (k *Rounded) groupStart(g int) int {
	return int(math.Round(math.Sqrt(float64(g)/float64(k.groups())) * float64(tileCount(k.d))))
}

// multiply stores Σ_m op(K_m)·x_m, or each term of the sum, for each of L outputs: with sum in
// row o of y, and otherwise in row o·P+m. x(o, m) is x_m. The groups of rows of tiles of every
// kernel sum on their own, and their sums are added in order.
func (k *Rounded) multiply(w *la.Workspace, t la.Trans, L int, sum bool, x func(o, m int) []float64, y la.Matrix[float64]) {
	P, G := len(k.kernels), k.groups()
	parts := la.NewMatrix[float64](P*G*L, y.Cols)
	each(w, P*G, func(r *reader, task int) {
		m, g := task/G, task%G
		for I := k.groupStart(g); I < k.groupStart(g+1); I++ {
			i0, i1 := tileSpan(I, k.d)
			for J := range k.columnTiles(m, I) {
				j0, j1 := tileSpan(J, k.n)
				a := k.kept(r, m, I, J)
				for o := range L {
					from, to := x(o, m), parts.Row(task*L+o)
					mirrored := k.kernels[m].symmetric && J < I
					if t == la.NoTrans || mirrored {
						la.GemvMixed(r.ws, la.NoTrans, 1, a, from[j0:j1], 1, to[i0:i1])
					}
					if t == la.Transpose || mirrored {
						la.GemvMixed(r.ws, la.Transpose, 1, a, from[i0:i1], 1, to[j0:j1])
					}
				}
			}
		}
	})
	for i := range y.Rows {
		clear(y.Row(i))
	}
	for m := range P {
		for g := range G {
			for o := range L {
				row := o*P + m
				if sum {
					row = o
				}
				la.Axpy(1, parts.Row((m*G+g)*L+o), y.Row(row))
			}
		}
	}
}

// Project implements [Kernels].
func (k *Rounded) Project(w *la.Workspace, a, h la.Matrix[float64]) {
	k.multiply(w, la.Transpose, a.Rows, false, func(o, _ int) []float64 { return a.Row(o) }, h)
}

// Combine implements [Kernels].
func (k *Rounded) Combine(w *la.Workspace, g, r la.Matrix[float64]) {
	P := len(k.kernels)
	k.multiply(w, la.NoTrans, r.Rows, true, func(o, m int) []float64 { return g.Row(o*P + m) }, r)
}

// GramSum implements [Kernels]. [Dense] gives the same results for the rounded kernels.
func (k *Rounded) GramSum(w *la.Workspace, s la.Matrix[float64]) {
	const together = 4 // columns of tiles that are widened at a time
	beta := 0.0
	panel := la.NewMatrix[float64](k.d, min(k.n, together*tileOrder))
	for m := range k.kernels {
		for first := 0; first < tileCount(k.n); first += together {
			j0, _ := tileSpan(first, k.n)
			_, j1 := tileSpan(first+together-1, k.n)
			each(w, tileCount(k.d), func(r *reader, I int) {
				i0, i1 := tileSpan(I, k.d)
				for J := first; J < min(first+together, tileCount(k.n)); J++ {
					c0, c1 := tileSpan(J, k.n)
					widen(k.tile(r, m, I, J), panel.Slice(i0, i1, c0-j0, c1-j0))
				}
			})
			la.Syrk(w, la.NoTrans, 1, panel.Slice(0, k.d, 0, j1-j0), beta, s)
			beta = 1
		}
	}
}

// widen stores t in dst.
func widen(t la.Matrix[float32], dst la.Matrix[float64]) {
	for i := range t.Rows {
		row := dst.Row(i)
		for j, v := range t.Row(i) {
			row[j] = float64(v)
		}
	}
}

// Sum implements [Kernels]. [Dense] gives the same results for the rounded kernels.
func (k *Rounded) Sum(w *la.Workspace, weights []float64, out la.Matrix[float64]) {
	symmetric := k.allSymmetric()
	each(w, tileCount(k.d), func(r *reader, I int) {
		i0, i1 := tileSpan(I, k.d)
		columns := tileCount(k.n)
		if symmetric {
			columns = I + 1
		}
		for J := range columns {
			j0, j1 := tileSpan(J, k.n)
			dst := out.Slice(i0, i1, j0, j1)
			dst.Fill(0)
			for m := range k.kernels {
				t := k.tile(r, m, I, J)
				for i := range t.Rows {
					la.AxpyMixed(weights[m], t.Row(i), dst.Row(i))
				}
			}
		}
	})
	if symmetric {
		out.MirrorLower()
	}
}

// Inner implements [Kernels].
func (k *Rounded) Inner(w *la.Workspace, b la.Matrix[float64], dst []float64) {
	k.addUp(w, dst, func(r *reader, m, I, J int, t la.Matrix[float32]) (sum float64) {
		i0, i1 := tileSpan(I, k.d)
		j0, j1 := tileSpan(J, k.n)
		with := b.Slice(i0, i1, j0, j1)
		if k.kernels[m].symmetric && J < I {
			with = r.withMirror(b, with, i0, j0)
		}
		for i := range t.Rows {
			sum += la.DotMixed(t.Row(i), with.Row(i))
		}
		return sum
	})
}

// withMirror returns the tile of b at (i0, j0) plus the transpose of the one at (j0, i0).
func (r *reader) withMirror(b, tile la.Matrix[float64], i0, j0 int) la.Matrix[float64] {
	if r.sum.Data == nil {
		r.sum.Data = make([]float64, tileOrder*tileOrder)
	}
	s := la.MatrixOf(tile.Rows, tile.Cols, r.sum.Data[:tile.Rows*tile.Cols])
	s.CopyFrom(tile)
	mirror := b.Slice(j0, j0+tile.Cols, i0, i0+tile.Rows)
	const block = 8 // numbers of a cache line
	for i := 0; i < s.Rows; i += block {
		for j := range s.Cols {
			row := mirror.Row(j)[i:min(i+block, s.Rows)]
			for c, v := range row {
				s.Data[(i+c)*s.Stride+j] += v
			}
		}
	}
	return s
}

// Quad implements [Kernels].
func (k *Rounded) Quad(w *la.Workspace, alpha []float64, dst []float64) {
	k.addUp(w, dst, func(r *reader, m, I, J int, t la.Matrix[float32]) float64 {
		i0, i1 := tileSpan(I, k.d)
		j0, j1 := tileSpan(J, k.n)
		y := r.columns[:i1-i0]
		la.GemvMixed(r.ws, la.NoTrans, 1, t, alpha[j0:j1], 0, y)
		q := la.Dot(alpha[i0:i1], y)
		if k.kernels[m].symmetric && J < I {
			q *= 2
		}
		return q
	})
}

// addUp stores in dst[m] the sum of term over the tiles of K_m that are kept.
func (k *Rounded) addUp(w *la.Workspace, dst []float64, term func(r *reader, m, I, J int, t la.Matrix[float32]) float64) {
	rows := tileCount(k.d)
	parts := la.NewMatrix[float64](len(k.kernels), rows)
	each(w, parts.Rows*rows, func(r *reader, task int) {
		m, I := task/rows, rows-1-task%rows // the longest rows of tiles first
		var sum float64
		for J := range k.columnTiles(m, I) {
			sum += term(r, m, I, J, k.kept(r, m, I, J))
		}
		parts.Set(m, I, sum)
	})
	for m := range dst {
		dst[m] = 0
		for _, v := range parts.Row(m) {
			dst[m] += v
		}
	}
}

// Columns implements [Kernels].
func (k *Rounded) Columns(m, first int, dst la.Matrix[float64]) {
	r := newReader()
	for I := range tileCount(k.d) {
		i0, _ := tileSpan(I, k.d)
		for J := first / tileOrder; J < tileCount(first+dst.Rows); J++ {
			j0, j1 := tileSpan(J, k.n)
			from, end := max(first, j0), min(first+dst.Rows, j1)
			if k.kernels[m].symmetric && J > I { // rows of the mirror image
				t := k.kept(r, m, J, I)
				widen(t.Slice(from-j0, end-j0, 0, t.Cols), dst.Slice(from-first, end-first, i0, i0+t.Cols))
				continue
			}
			t := k.kept(r, m, I, J)
			for i := range t.Rows {
				for c, v := range t.Row(i)[from-j0 : end-j0] {
					dst.Data[(from-first+c)*dst.Stride+i0+i] = float64(v)
				}
			}
		}
	}
}

// Select returns the kernels at the given rows and columns only, in their order, as a copy.
func (k *Rounded) Select(rows, cols []int) *Dense {
	out := newSelection(len(k.kernels), len(rows), len(cols))
	r := newReader()
	for I, row := range byTile(rows, k.d) {
		for J, col := range byTile(cols, k.n) {
			if len(row) == 0 || len(col) == 0 {
				continue
			}
			for m := range k.kernels {
				t := k.tile(r, m, I, J)
				for _, i := range row {
					from, to := t.Row(rows[i]%tileOrder), out.k[m].Row(i)
					for _, j := range col {
						to[j] = float64(from[cols[j]%tileOrder])
					}
				}
			}
		}
	}
	return out
}

// Equal reports whether kernels m and n are the same.
func (k *Rounded) Equal(m, n int) bool {
	if k.kernels[m].symmetric != k.kernels[n].symmetric {
		return false
	}
	r, s := newReader(), newReader()
	for I := range tileCount(k.d) {
		for J := range k.columnTiles(m, I) {
			if !slices.Equal(k.kept(r, m, I, J).Data, k.kept(s, n, I, J).Data) {
				return false
			}
		}
	}
	return true
}

// byTile returns, for each tile of n rows or columns, which of the indices x lie in it.
func byTile(x []int, n int) [][]int {
	out := make([][]int, tileCount(n))
	for i, v := range x {
		out[v/tileOrder] = append(out[v/tileOrder], i)
	}
	return out
}
