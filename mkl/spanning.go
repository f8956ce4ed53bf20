package mkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Kernels that are inner products of few features are known from a few samples that span the features:
// every other sample is a combination of these, the same for all kernels. A [MultiGP] then keeps no more
// than those, and docs/mgp.md, section 22, has what it makes of them.

// spanning is a choice of training samples that span the features.
type spanning struct {
	rows    []int              // the M samples
	weights la.Matrix[float64] // M×N: the combination of them that each sample is
}

// spannedShare is how many times more samples than features there are at least where the fit is one in the
// features: with fewer there is little to gain.
const spannedShare = 4

// spanned reports whether the fit is one to samples that span the others. Fits of up to mostDrawn samples make
// draws, which [mgp.Evidence.FitSpanned] does not. Noise that varies or has heavy tails differs between samples, and
// after a hurried fit tests of its noise take the kernels of all samples.
func (g *MultiGP) spanned(s Size) bool {
	return s.Features > 0 && s.Samples > mostDrawn && s.Features <= s.Samples/spannedShare &&
		(g.Method == Evidence || g.Method == GaussianBound) && g.Noise == ConstantNoise && !g.hurried
}

// spannedMemory estimates what such a fit takes.
func (g *MultiGP) spannedMemory(s Size) int64 {
	N, P, M := float64(s.Samples), float64(s.Kernels), float64(s.Features)
	words := float64(6*N*M) + float64((float64(3*P)+8)*M*M) // features, weights, a basis; kernels, factors
	words += float64(float64(g.workers()) * (1 << 18))      // packed blocks of products
	return inBytes(words + float64((P+10)*(M+N)))           // vectors
}

// seenColumn is a feature that kernels see, that of a view first.
type seenColumn struct {
	view          int
	input, column int
	ranks         bool
}

// linearColumns returns the features that the kernels see, each once, or false if one of them is no inner
// product of features that are seen.
func (ds *design) linearColumns() (all []seenColumn, ok bool) {
	known := map[seenColumn]bool{}
	for i, v := range ds.views {
		in := &ds.inputs[v.input]
		if in.given || in.gaps || v.normalize {
			return nil, false
		}
		switch v.kernel.(type) {
		case Constant:
			continue
		case Linear:
		default:
			return nil, false
		}
		for j := range v.sight.cols(in.cols) {
			c := seenColumn{input: v.input, column: j, ranks: v.sight.ranks}
			if v.sight.columns != nil {
				c.column = v.sight.columns[j]
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

// linearFeatures returns the number of features that the kernels are inner products of, with one that is 1
// for all samples: it moves the others, as Standardize and Center do, and is that of [Constant]. It is 0 for
// other kernels.
func (ds *design) linearFeatures() int {
	all, ok := ds.linearColumns()
	if !ok {
		return 0
	}
	return len(all) + 1
}

// spanTolerance is the share of the largest sample's length below which what is left of all samples is
// rounding.
const spanTolerance = 1e-12

// span chooses samples that span the features, each the one of which those before leave the most.
func (ds *design) span(ctx context.Context, views []View, workers int) (*spanning, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	columns, _ := ds.linearColumns()
	n, ws := ds.d, &la.Workspace{Workers: workers}
	left := la.NewMatrix[float64](n, len(columns)+1) // what the samples chosen leave of each
	for j, c := range columns {
		in, z := &ds.inputs[c.input], make([]float64, 1)
		s := sight{columns: []int{c.column}, ranks: c.ranks}
		var mean, largest float64
		for i := range n {
			in.see(z, in.basis.Row(i), s, nil)
			left.Set(i, j, z[0])
			mean += z[0] / float64(n)
		}
		for i := range n {
			left.Row(i)[j] -= mean
			largest = max(largest, math.Abs(left.At(i, j)))
		}
		if math.IsInf(largest, 1) || math.IsNaN(largest) {
			return nil, fmt.Errorf("mkl: %s: column %d: %w", views[c.view].label(c.view), c.column, errBeyond)
		}
		for i := range n {
			if largest > 0 {
				left.Row(i)[j] /= largest
			}
		}
	}
	for i := range n {
		left.Row(i)[len(columns)] = 1
	}

	s := &spanning{weights: la.NewMatrix[float64](left.Cols, n)}
	basis := la.NewMatrix[float64](left.Cols, left.Cols) // orthonormal, a row for each sample chosen
	size := make([]float64, n)
	for least := 0.0; len(s.rows) < left.Cols; {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("mkl: samples that span the features: %w", context.Cause(ctx))
		}
		for i := range size {
			size[i] = la.SumSq(left.Row(i))
		}
		m, pivot := len(s.rows), argMax(size)
		if m == 0 {
			least = spanTolerance * spanTolerance * size[pivot]
		}
		if !(size[pivot] > least) {
			break
		}
		q := basis.Row(m)
		copy(q, left.Row(pivot))
		for l := range 2 * m { // twice: what rounding has left is of the size of q
			before := basis.Row(l % m)
			la.Axpy(-la.Dot(before, q), before, q)
		}
		la.Scal(1/math.Sqrt(la.SumSq(q)), q)
		along := s.weights.Row(m)
		la.Gemv(ws, la.NoTrans, 1, left, q, 0, along)
		for i, a := range along {
			la.Axpy(-a, q, left.Row(i))
		}
		clear(left.Row(pivot))
		s.rows = append(s.rows, pivot)
	}

	// The rows of weights are now the samples in the basis, those chosen a triangle of them.
	M := len(s.rows)
	s.weights = s.weights.Slice(0, M, 0, n)
	triangle := la.NewMatrix[float64](M, M)
	for i, r := range s.rows {
		for j := range i + 1 {
			triangle.Set(i, j, s.weights.At(j, r))
		}
	}
	la.Trsm(ws, la.Left, la.Transpose, triangle, s.weights)
	return s, nil
}

// reduce makes the samples of the choice the design's basis points, and returns their kernels, which are few and
// held as float64 in memory whatever [Fitting] says of Kernels.
func (ds *design) reduce(ctx context.Context, views []View, s *spanning, workers int) (heldKernels, error) {
	n := float64(ds.d)
	basis := ds.rowsOf(s.rows)
	few := make([]View, len(views))
	for i, v := range views {
		few[i] = v
		few[i].X = basis[ds.views[i].input]
	}
	for i := range ds.inputs {
		in := &ds.inputs[i]
		in.basis, in.apart = basis[i], in.ranks != nil
	}
	ds.d = len(s.rows)
	for i := range s.rows {
		ds.share = append(ds.share, total(s.weights.Row(i))/n)
	}
	if err := ds.prepare(ctx, few, workers); err != nil {
		return nil, err
	}
	ks, err := ds.fill(ctx, few, workers)
	if err != nil {
		return nil, err
	}
	for i, k := range ks {
		for d := range k.Rows {
			if c := firstNonFinite(k.Row(d)); c >= 0 {
				return nil, fmt.Errorf("mkl: %s: the kernel of samples %d and %d is %g", views[i].label(i), s.rows[c], s.rows[d], k.At(d, c))
			}
		}
		if err := ds.finish(i, views[i].label(i), k); err != nil {
			return nil, err
		}
	}
	k, err := vi.NewDense(ks...)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	return k, nil
}
