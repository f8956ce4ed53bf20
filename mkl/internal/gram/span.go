package gram

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
)

// Spanning is a choice of training samples that span the features.
type Spanning struct {
	rows    []int              // the M samples
	Weights la.Matrix[float64] // M×N: each sample as a combination of the M samples
}

// seenColumn is a feature that kernels see. view is the first view that sees it.
type seenColumn struct {
	view          int
	input, column int
	ranks         bool
}

// linearColumns returns the features that the kernels see, each once. It returns false if a kernel is not an inner
// product of features.
func (ds *Design) linearColumns() (all []seenColumn, ok bool) {
	known := map[seenColumn]bool{}
	for i, v := range ds.Views {
		in := &ds.Inputs[v.Input]
		if in.Given || in.Gaps || v.Normalize {
			return nil, false
		}
		switch v.Kernel.(type) {
		case kernel.Constant:
			continue
		case kernel.Linear:
		default:
			return nil, false
		}
		for j := range v.Sight.Cols(in.Cols) {
			c := seenColumn{input: v.Input, column: j, ranks: v.Sight.Ranks}
			if v.Sight.Columns != nil {
				c.column = v.Sight.Columns[j]
			}
			if !known[c] {
				known[c] = true
				c.view = i
				all = append(all, c)
			}
		}
	}
	return all, true
}

// LinearFeatures returns the number of features whose inner products the kernels are. It counts one more feature, which
// is 1 for all samples: Standardize and Center shift the others by it, and [kernel.Constant] is its kernel. It returns 0
// for other kernels.
func (ds *Design) LinearFeatures() int {
	all, ok := ds.linearColumns()
	if !ok {
		return 0
	}
	return len(all) + 1
}

// spanTolerance is a share of the largest sample's length. If what remains of all samples is below it, it is
// rounding.
const spanTolerance = 1e-12

// Span chooses samples that span the features. The next one is the sample that the samples chosen so far represent worst.
func (t *Training) Span(ctx context.Context, workers int) (*Spanning, error) {
	if ctx == nil {
		return nil, ErrNoContext
	}
	left, err := t.scaledFeatures()
	if err != nil {
		return nil, err
	}
	s, ws := &Spanning{}, &la.Workspace{Workers: workers}
	if err := s.choose(ctx, ws, left); err != nil {
		return nil, err
	}
	s.combine(ws)
	return s, nil
}

// scaledFeatures returns the features that the kernels see, samples × features: with mean 0 and a largest absolute
// value of 1, and a last one that is 1 for all samples.
func (t *Training) scaledFeatures() (x la.Matrix[float64], err error) {
	columns, _ := t.linearColumns()
	n := t.D
	x = la.NewMatrix[float64](n, len(columns)+1)
	for j, c := range columns {
		in, z := &t.Inputs[c.input], make([]float64, 1)
		s := Sight{Columns: []int{c.column}, Ranks: c.ranks}
		var mean, largest float64
		for i := range n {
			in.see(z, in.Basis.Row(i), s, nil)
			x.Set(i, j, z[0])
			mean += z[0] / float64(n)
		}
		for i := range n {
			x.Row(i)[j] -= mean
			largest = max(largest, math.Abs(x.At(i, j)))
		}
		if math.IsInf(largest, 1) || math.IsNaN(largest) {
			return x, fmt.Errorf("mkl: %s: column %d: %w", t.Label(c.view), c.column, ErrBeyond)
		}
		for i := range n {
			if largest > 0 {
				x.Row(i)[j] /= largest
			}
		}
	}
	for i := range n {
		x.Row(i)[len(columns)] = 1
	}
	return x, nil
}

// choose chooses the samples. left holds their features; it subtracts from it the part that the chosen samples span.
// Row m of Weights becomes coordinate m of all samples in an orthonormal basis of the chosen samples.
func (s *Spanning) choose(ctx context.Context, ws *la.Workspace, left la.Matrix[float64]) error {
	n := left.Rows
	s.Weights = la.NewMatrix[float64](left.Cols, n)
	basis := la.NewMatrix[float64](left.Cols, left.Cols) // a row for each sample chosen
	size := make([]float64, n)
	for least := 0.0; len(s.rows) < left.Cols; {
		if ctx.Err() != nil {
			return fmt.Errorf("mkl: samples that span the features: %w", context.Cause(ctx))
		}
		for i := range size {
			size[i] = la.SumSq(left.Row(i))
		}
		m, pivot := len(s.rows), vec.ArgMax(size)
		if m == 0 {
			least = spanTolerance * spanTolerance * size[pivot]
		}
		if !(size[pivot] > least) {
			break
		}
		q := basis.Row(m)
		copy(q, left.Row(pivot))
		for l := range 2 * m { // twice, so that the remaining rounding is of the size of the rounding of q
			before := basis.Row(l % m)
			la.Axpy(-la.Dot(before, q), before, q)
		}
		la.Scal(1/math.Sqrt(la.SumSq(q)), q)
		along := s.Weights.Row(m)
		la.Gemv(ws, la.NoTrans, 1, left, q, 0, along)
		for i, a := range along {
			la.Axpy(-a, q, left.Row(i))
		}
		clear(left.Row(pivot))
		s.rows = append(s.rows, pivot)
	}
	s.Weights = s.Weights.Slice(0, len(s.rows), 0, n)
	return nil
}

// combine converts Weights from the orthonormal basis to the chosen samples, whose coordinates are a triangle in it.
func (s *Spanning) combine(ws *la.Workspace) {
	M := len(s.rows)
	triangle := la.NewMatrix[float64](M, M)
	for i, r := range s.rows {
		for j := range i + 1 {
			triangle.Set(i, j, s.Weights.At(j, r))
		}
	}
	la.Trsm(ws, la.Left, la.Transpose, triangle, s.Weights)
}

// Reduce makes the chosen samples the design's basis points, and returns their kernels. They are few, and
// held as float64 in memory.
func (t *Training) Reduce(ctx context.Context, s *Spanning, workers int) (Held, error) {
	n := float64(t.D)
	basis := t.RowsOf(s.rows)
	for i := range t.Inputs {
		in := &t.Inputs[i]
		in.Basis, in.Apart = basis[i], in.Ranks != nil
	}
	t.D = len(s.rows)
	for i := range s.rows {
		t.Share = append(t.Share, vec.Total(s.Weights.Row(i))/n)
	}
	few := t.on(t.Design, basis)
	if err := few.Prepare(ctx, workers); err != nil {
		return nil, err
	}
	ks, err := few.fill(ctx, workers)
	if err != nil {
		return nil, err
	}
	for i, k := range ks {
		for d := range k.Rows {
			if c := vec.FirstNonFinite(k.Row(d)); c >= 0 {
				return nil, fmt.Errorf("mkl: %s: the kernel of samples %d and %d is %g", t.Label(i), s.rows[c], s.rows[d], k.At(d, c))
			}
		}
		if err := few.finish(i, k); err != nil {
			return nil, err
		}
	}
	k, err := vi.NewDense(ks...)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	return k, nil
}
