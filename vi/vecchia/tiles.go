package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// tileRows is the number of rows and columns of a tile of the covariance, whose values stay in the
// second cache.
const tileRows = 256

// values computes tiles of the parts of a covariance in the precision T. The values of a tile are
// used at once and never kept.
type values[T la.Float] struct {
	shapes []Shape
	amp    []float64
	x      []la.Matrix[T] // of each part, the rows' coordinates
}

// newValues returns values for the rows of x.
func newValues[T la.Float](cov *Covariance, x la.Matrix[float64]) *values[T] {
	v := &values[T]{}
	for _, p := range cov.Parts {
		v.shapes = append(v.shapes, p.Shape)
		v.amp = append(v.amp, p.Amplitude)
	}
	v.x = coordinates[T](cov, x)
	return v
}

// coordinates returns for each part the coordinates of rows whose squared distance is what the
// exponential takes: r²/2 for RBF, 3·r² for Matern.
func coordinates[T la.Float](cov *Covariance, x la.Matrix[float64]) (all []la.Matrix[T]) {
	for q := range cov.Parts {
		s := la.NewMatrix[T](x.Rows, x.Cols)
		for i := range x.Rows {
			coordinate(s.Row(i), &cov.Parts[q], x.Row(i))
		}
		all = append(all, s)
	}
	return all
}

// coordinate stores the coordinates of the row x for a part in dst.
func coordinate[T la.Float](dst []T, p *Part, x []float64) {
	c := math.Sqrt(0.5)
	if p.Shape == Matern {
		c = math.Sqrt(3)
	}
	for f, v := range x {
		dst[f] = T(v * p.Scale[f] * c)
	}
}

// tiler is the scratch of one goroutine.
type tiler[T la.Float] struct {
	w         la.Workspace
	k, e, out []T
}

// newTiler returns scratch for tiles and products with t columns.
func newTiler[T la.Float](t int) *tiler[T] {
	return &tiler[T]{w: la.Workspace{Workers: 1}, k: make([]T, tileRows*tileRows), e: make([]T, tileRows), out: make([]T, tileRows*t)}
}

// correlations returns the tile of the rows of x and the rows of y.
func (t *tiler[T]) correlations(shape Shape, x, y la.Matrix[T]) la.Matrix[T] {
	k := la.MatrixOf(x.Rows, y.Rows, t.k)
	if shape == RBF {
		la.RBF(&t.w, 1, x, y, k)
		return k
	}
	la.SqDist(&t.w, x, y, k)
	for i := range k.Rows {
		correlate(shape, k.Row(i), t.e)
	}
	return k
}

// correlate replaces squared distances of coordinates by correlations. e is as long as k, or longer.
func correlate[T la.Float](shape Shape, k, e []T) {
	if shape == RBF {
		la.Scal(-1, k)
		la.Exp(k, k)
		return
	}
	la.Matern(k, e[:len(k)])
}

// add adds amp·op(K)·P to the rows of sum.
func (t *tiler[T]) add(op la.Trans, amp float64, k, p la.Matrix[T], sum la.Matrix[float64]) {
	out := la.MatrixOf(sum.Rows, sum.Cols, t.out)
	if p.Cols == 1 {
		la.Gemv(&t.w, op, 1, k, p.Data[:p.Rows], 0, out.Data[:out.Rows])
	} else {
		la.Gemm(&t.w, op, la.NoTrans, 1, k, p, 0, out)
	}
	for i := range out.Rows {
		to := sum.Row(i)
		for c, v := range out.Row(i) {
			to[c] += float64(amp * float64(v))
		}
	}
}

// partials returns the number of partial sums of a product with t columns. No number of workers
// changes it, so that the sums have the same bits.
func partials(t int) int { return max(8, 32/t) }

// narrow returns p in the precision T.
func narrow[T la.Float](p la.Matrix[float64]) la.Matrix[T] {
	n := la.NewMatrix[T](p.Rows, p.Cols)
	for i := range p.Rows {
		to := n.Row(i)
		for c, v := range p.Row(i) {
			to[c] = T(v)
		}
	}
	return n
}

// multiply computes Y = K·P for the first rows of v, as many as P has.
//
// The tiles of the lower triangle are computed once, and used for their rows and for their columns.
// A row of tiles belongs to one of a fixed number of partial sums, which are added in order.
func (v *values[T]) multiply(crew *work.Crew[*tiler[T]], p, y la.Matrix[float64], sums []la.Matrix[float64]) error {
	n, blocks := p.Rows, (p.Rows+tileRows-1)/tileRows
	low := narrow[T](p)
	err := crew.First(len(sums), func(t *tiler[T], task int) error {
		sum := sums[task].Slice(0, n, 0, p.Cols)
		sum.Fill(0)
		for b := range blocks {
			// Rows of tiles grow: row g and row 2·sums−1−g together have the work of any other pair.
			if g := b % (2 * len(sums)); g != task && g != 2*len(sums)-1-task {
				continue
			}
			if err := crew.Stop.Ended(); err != nil {
				return err
			}
			v.rowOfTiles(t, b, low, sum)
		}
		return nil
	})
	if err != nil {
		return err
	}
	y.CopyFrom(sums[0].Slice(0, n, 0, p.Cols))
	for _, s := range sums[1:] {
		la.Axpy(1, s.Data[:n*p.Cols], y.Data[:n*p.Cols])
	}
	return nil
}

// rowOfTiles adds the products with the tiles of row b of the lower triangle to sum.
func (v *values[T]) rowOfTiles(t *tiler[T], b int, p la.Matrix[T], sum la.Matrix[float64]) {
	i0, i1 := b*tileRows, min(p.Rows, (b+1)*tileRows)
	rows := func(m la.Matrix[T], lo, hi int) la.Matrix[T] { return m.Slice(lo, hi, 0, m.Cols) }
	for q, shape := range v.shapes {
		xi := rows(v.x[q], i0, i1)
		for j0 := 0; j0 <= i0; j0 += tileRows {
			j1 := min(p.Rows, j0+tileRows)
			k := t.correlations(shape, xi, rows(v.x[q], j0, j1))
			t.add(la.NoTrans, v.amp[q], k, rows(p, j0, j1), sum.Slice(i0, i1, 0, p.Cols))
			if j0 < i0 {
				t.add(la.Transpose, v.amp[q], k, rows(p, i0, i1), sum.Slice(j0, j1, 0, p.Cols))
			}
		}
	}
}

// cross adds to Y, times by, the products with P of the covariances of rows z and the first rows of v. z
// holds at most tileRows rows' coordinates for each part.
func (v *values[T]) cross(t *tiler[T], z []la.Matrix[T], p la.Matrix[T], by float64, y la.Matrix[float64]) {
	for q, shape := range v.shapes {
		x := v.x[q]
		for j0 := 0; j0 < p.Rows; j0 += tileRows {
			j1 := min(p.Rows, j0+tileRows)
			k := t.correlations(shape, z[q], x.Slice(j0, j1, 0, x.Cols))
			t.add(la.NoTrans, by*v.amp[q], k, p.Slice(j0, j1, 0, p.Cols), y)
		}
	}
}

// rowsOf adds to Y the products of the first n rows of the covariance with P.
func (v *values[T]) rowsOf(crew *work.Crew[*tiler[T]], n int, p la.Matrix[T], y la.Matrix[float64]) error {
	return crew.First((n+tileRows-1)/tileRows, func(t *tiler[T], task int) error {
		lo, hi := task*tileRows, min(n, (task+1)*tileRows)
		z := make([]la.Matrix[T], len(v.x))
		for q, x := range v.x {
			z[q] = x.Slice(lo, hi, 0, x.Cols)
		}
		v.cross(t, z, p, 1, y.Slice(lo, hi, 0, y.Cols))
		return nil
	})
}
