package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// adaptive are kernel matrices of which some have length scales that a fit learns:
// those of ARD kernels. Their parameters are the logarithms of the widths, view
// after view.
type adaptive struct {
	*vi.Dense
	learning []learning
	mean     []float64 // of the parameters' prior
}

var _ mgp.Adaptive = (*adaptive)(nil)

// learning is a view with an ARD kernel. With z_ij = x_ij/w_j its kernel is
// K_ik = exp(−½·Σ_j (z_ij − z_kj)²), or exp(−Σ_j |z_ij − z_kj|) for a Laplacian.
type learning struct {
	view      int
	laplacian bool
	first     int      // of its parameters
	x         Features // the samples as the kernel sees them, less their mean
	z         Features // x over the widths; transposed for a Laplacian
}

// logWidthSpread is the standard deviation of the logarithm of a width in its
// normal prior. The mean is at the median distance of the samples, so that a
// feature is free to matter a few times more or less than the others without
// evidence, and any number of times with it. A wider prior overfits where features
// are many.
const logWidthSpread = 1

// learns reports whether a kernel's widths are to be learned.
func learns(k Kernel) bool {
	switch k := k.(type) {
	case RBF:
		return k.ARD
	case Laplacian:
		return k.ARD
	}
	return false
}

// checkFixed reports kernels whose widths are to be learned, for estimators that
// cannot.
func (ds *design) checkFixed(views []View) error {
	for i, v := range ds.views {
		if learns(v.kernel) {
			return fmt.Errorf("mkl: %s: ARD: this estimator cannot learn widths, only MultiGP, LandmarkGP, their classifiers and ProbitClassifier can: give Widths, or learn them with package tune", views[i].label(i))
		}
	}
	return nil
}

// adapt makes the training kernels ks adaptive. Without ARD views they are returned
// as they are.
func (ds *design) adapt(ks heldKernels) heldKernels {
	a := &adaptive{}
	for i, v := range ds.views {
		if !learns(v.kernel) {
			continue
		}
		in := &ds.inputs[v.input]
		x := in.seen(in.basis, v.sight, nil).Clone()
		l := learning{view: i, first: len(a.mean), x: x}
		var width float64
		switch k := v.kernel.(type) {
		case RBF:
			width, l.z = k.Width, la.NewMatrix[float64](x.Rows, x.Cols)
		case Laplacian:
			width, l.z, l.laplacian = k.Width, la.NewMatrix[float64](x.Cols, x.Rows), true
		}
		for j := range x.Cols {
			a.mean = append(a.mean, special.Log(width))
			// The slopes are sums of products of z, which cancel less about its mean.
			var mean float64
			for i := range x.Rows {
				mean += x.At(i, j) / float64(x.Rows)
			}
			for i := range x.Rows {
				x.Row(i)[j] -= mean
			}
		}
		a.learning = append(a.learning, l)
	}
	if a.learning == nil {
		return ks
	}
	a.Dense = ks.(*vi.Dense) // processKernels takes no others that learn
	return a
}

// Parameters implements [mgp.Adaptive].
func (a *adaptive) Parameters() (mean, sd []float64) {
	sd = make([]float64, len(a.mean))
	for i := range sd {
		sd[i] = logWidthSpread
	}
	return slices.Clone(a.mean), sd
}

// SetParameters implements [mgp.Adaptive].
func (a *adaptive) SetParameters(w *la.Workspace, theta []float64) {
	for i := range a.learning {
		l := &a.learning[i]
		l.set(w, theta[l.first:l.first+l.x.Cols], a.At(l.view))
	}
}

// scale makes z the samples over the widths whose logarithms are given.
func (l *learning) scale(theta []float64) {
	for j, t := range theta {
		scale := special.Exp(-t)
		for i := range l.x.Rows {
			if v := scale * l.x.At(i, j); l.laplacian {
				l.z.Row(j)[i] = v
			} else {
				l.z.Row(i)[j] = v
			}
		}
	}
}

// set computes the kernel k at the given logarithms of its widths.
func (l *learning) set(w *la.Workspace, theta []float64, k la.Matrix[float64]) {
	l.scale(theta)
	if !l.laplacian {
		la.RBF(w, 0.5, l.z, l.z, k)
		return
	}
	everyBlock(w, k.Rows, func() func(int, int) {
		return func(first, last int) {
			for i := first; i < last; i++ {
				row := k.Row(i)[:i+1]
				l.minusDistances(i, row)
				la.Exp(row, row)
			}
			mirrorBlock(k, first, last)
		}
	})
}

// minusDistances stores −Σ_j |z_ij − z_kj| in row[k]. It takes four features at a
// time, which saves passes over the row.
func (l *learning) minusDistances(i int, row []float64) {
	clear(row)
	j, n := 0, len(row)
	for ; j+4 <= l.z.Rows; j += 4 {
		z0, z1, z2, z3 := l.z.Row(j)[:n], l.z.Row(j + 1)[:n], l.z.Row(j + 2)[:n], l.z.Row(j + 3)[:n]
		a0, a1, a2, a3 := z0[i], z1[i], z2[i], z3[i]
		for k := range row {
			row[k] -= (math.Abs(a0-z0[k]) + math.Abs(a1-z1[k])) + (math.Abs(a2-z2[k]) + math.Abs(a3-z3[k]))
		}
	}
	for ; j < l.z.Rows; j++ {
		z := l.z.Row(j)[:n]
		at := z[i]
		for k := range row {
			row[k] -= math.Abs(at - z[k])
		}
	}
}

// everyBlock is inBlocks without an end before the last block.
func everyBlock(w *la.Workspace, n int, newTask func() func(first, last int)) {
	_ = inBlocks(context.Background(), w.Workers, n, newTask)
}

// Slope implements [mgp.Adaptive]. It leaves g as it is.
func (a *adaptive) Slope(w *la.Workspace, weights []float64, g la.Matrix[float64], dst []float64) {
	for i := range a.learning {
		l := &a.learning[i]
		l.slope(w, weights[l.view], g, a.At(l.view), dst[l.first:l.first+l.x.Cols])
	}
}

// SlopeProducts implements [mgp.Adaptive].
func (a *adaptive) SlopeProducts(w *la.Workspace, weights, v []float64, dst la.Matrix[float64]) {
	for i := range a.learning {
		l := &a.learning[i]
		l.slopeProducts(w, weights[l.view], v, a.At(l.view), dst.Slice(l.first, l.first+l.x.Cols, 0, dst.Cols))
	}
}

// slopeProducts stores weight·(∂K/∂log w_j)·v in row j of dst: entry i is
// weight·Σ_k K_ik·(z_ij − z_kj)²·v_k, or weight·Σ_k K_ik·|z_ij − z_kj|·v_k for a
// Laplacian.
func (l *learning) slopeProducts(w *la.Workspace, weight float64, v []float64, k, dst la.Matrix[float64]) {
	n, d := l.x.Rows, l.x.Cols
	if l.laplacian {
		everyBlock(w, n, func() func(int, int) {
			kv := make([]float64, n)
			return func(first, last int) {
				for i := first; i < last; i++ {
					for c, value := range k.Row(i) {
						kv[c] = float64(weight*value) * v[c]
					}
					for j := range d {
						dst.Row(j)[i] = absoluteSum(l.z.Row(j)[i], l.z.Row(j), kv)
					}
				}
			}
		})
		return
	}
	// Σ_k K_ik·(z_ij − z_kj)²·v_k = z_ij²·(K·v)_i − 2·z_ij·(K·(z_j∘v))_i + (K·(z_j²∘v))_i
	right, product := la.NewMatrix[float64](2*d+1, n), la.NewMatrix[float64](2*d+1, n)
	for i, s := range v {
		right.Row(0)[i] = s
		for j, z := range l.z.Row(i) {
			right.Row(1 + j)[i] = z * s
			right.Row(1 + d + j)[i] = float64(z*z) * s
		}
	}
	la.Gemm(w, la.NoTrans, la.NoTrans, weight, right, k, 0, product)
	for j := range d {
		out, p0, p1, p2 := dst.Row(j), product.Row(0), product.Row(1+j), product.Row(1+d+j)
		for i := range out {
			z := l.z.At(i, j)
			out[i] = float64(z*(float64(z*p0[i])-2*p1[i])) + p2[i]
		}
	}
}

// absoluteSum returns Σ_k m_k·|at − z_k|.
func absoluteSum(at float64, z, m []float64) float64 {
	z = z[:len(m)]
	var s0, s1, s2, s3 float64
	n := 0
	for ; n+4 <= len(m); n += 4 {
		m, v := m[n:n+4:n+4], z[n:n+4:n+4]
		s0 += float64(m[0] * math.Abs(at-v[0]))
		s1 += float64(m[1] * math.Abs(at-v[1]))
		s2 += float64(m[2] * math.Abs(at-v[2]))
		s3 += float64(m[3] * math.Abs(at-v[3]))
	}
	for ; n < len(m); n++ {
		s0 += float64(m[n] * math.Abs(at-z[n]))
	}
	return (s0 + s1) + (s2 + s3)
}

// slope stores Σ_ik weight·G_ik·∂K_ik/∂log w_j in dst[j]. With M = weight·K∘G that
// is Σ_ik M_ik·(z_ij − z_kj)², or Σ_ik M_ik·|z_ij − z_kj| for a Laplacian. Both are
// sums over pairs i > k, taken in blocks of rows whose sums are added in order.
func (l *learning) slope(w *la.Workspace, weight float64, g, k la.Matrix[float64], dst []float64) {
	n, d := l.x.Rows, l.x.Cols
	parts := la.NewMatrix[float64]((n+blockRows-1)/blockRows, d)
	everyBlock(w, n, func() func(int, int) {
		ws := &la.Workspace{Workers: 1}
		m, mz := la.NewMatrix[float64](min(blockRows, n), n), la.NewMatrix[float64](min(blockRows, n), d)
		column := make([]float64, n)
		return func(first, last int) {
			block := m.Slice(0, last-first, 0, last)
			for r := range block.Rows {
				i := first + r
				row, gs := block.Row(r), g.Row(i)
				clear(row[i:])
				for c, v := range k.Row(i)[:i] {
					row[c] = float64(2*weight*v) * gs[c]
				}
			}
			part := parts.Row(first / blockRows)
			if l.laplacian {
				l.absolute(first, block, part)
			} else {
				l.squared(ws, first, block, mz.Slice(0, block.Rows, 0, d), column[:last], part)
			}
		}
	})
	clear(dst)
	for b := range parts.Rows {
		for j, v := range parts.Row(b) {
			dst[j] += v
		}
	}
}

// squared stores Σ_rk M_rk·(z_ij − z_kj)², i = first + r, in part[j], by
//
//	Σ_i (M·1)_i·z_ij² + Σ_k (Mᵀ·1)_k·z_kj² − 2·Σ_i z_ij·(M·z)_ij.
func (l *learning) squared(ws *la.Workspace, first int, m, mz la.Matrix[float64], column, part []float64) {
	last := m.Cols
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, m, l.z.Slice(0, last, 0, l.z.Cols), 0, mz)
	clear(column)
	for r := range m.Rows {
		row := m.Row(r)
		la.Axpy(1, row, column)
		sum, z := total(row), l.z.Row(first+r)
		for j, p := range mz.Row(r) {
			part[j] += float64(z[j] * (float64(sum*z[j]) - 2*p))
		}
	}
	for k, c := range column {
		for j, z := range l.z.Row(k) {
			part[j] += float64(float64(c*z) * z)
		}
	}
}

// absolute stores Σ_rk M_rk·|z_ij − z_kj|, i = first + r, in part[j].
func (l *learning) absolute(first int, m la.Matrix[float64], part []float64) {
	for r := range m.Rows {
		i := first + r
		row := m.Row(r)[:i]
		for j := range part {
			z := l.z.Row(j)
			part[j] += absoluteSum(z[i], z, row)
		}
	}
}

// some returns the kernels of some of the samples, whose matrices are ks.
func (a *adaptive) some(ks *vi.Dense, rows []int) *adaptive {
	out := &adaptive{Dense: ks, mean: a.mean}
	for _, l := range a.learning {
		l.x = l.x.TakeRows(rows)
		l.z = la.NewMatrix[float64](l.x.Rows, l.x.Cols)
		if l.laplacian {
			l.z = la.NewMatrix[float64](l.x.Cols, l.x.Rows)
		}
		out.learning = append(out.learning, l)
	}
	return out
}

// learned returns the design whose ARD kernels have the widths that the parameters
// theta stand for. Without such kernels it is ds itself.
func (ds *design) learned(theta []float64) *design {
	if len(theta) == 0 {
		return ds
	}
	out := *ds
	out.views = slices.Clone(ds.views)
	for i := range out.views {
		v := &out.views[i]
		if !learns(v.kernel) {
			continue
		}
		widths := make([]float64, v.sight.cols(ds.inputs[v.input].cols))
		for j := range widths {
			widths[j] = special.Exp(theta[j])
		}
		theta = theta[len(widths):]
		if _, ok := v.kernel.(Laplacian); ok {
			v.kernel = Laplacian{Manhattan: true, Widths: widths}
		} else {
			v.kernel = RBF{Widths: widths}
		}
	}
	out.group()
	return &out
}

// widthsOf returns the widths of a kernel that has one for each feature.
func widthsOf(k Kernel) []float64 {
	switch k := k.(type) {
	case RBF:
		return k.Widths
	case Laplacian:
		return k.Widths
	}
	return nil
}

// allWidths returns the widths of each view's kernel that has one for each feature,
// nil for the others.
func (ds *design) allWidths() [][]float64 {
	out := make([][]float64, len(ds.views))
	for i, v := range ds.views {
		out[i] = widthsOf(v.kernel)
	}
	return out
}

// withWidths returns the design whose kernels have other widths: those given for
// the views that have a width for each feature, nil for the others.
func (ds *design) withWidths(widths [][]float64) (*design, error) {
	if len(widths) != len(ds.views) {
		return nil, fmt.Errorf("of %d views, and there are %d", len(widths), len(ds.views))
	}
	out := *ds
	out.views = slices.Clone(ds.views)
	for i, w := range widths {
		v := &out.views[i]
		old := widthsOf(v.kernel)
		if len(w) != len(old) {
			return nil, fmt.Errorf("%d of view %d, which has %d", len(w), i, len(old))
		}
		if w == nil {
			continue
		}
		switch k := v.kernel.(type) {
		case RBF:
			k.Widths = w
			v.kernel = k
		case Laplacian:
			k.Widths = w
			v.kernel = k
		}
		if err := v.kernel.check(len(w)); err != nil {
			return nil, fmt.Errorf("view %d: %w", i, err)
		}
	}
	out.group()
	return &out, nil
}

// processKernels checks the views of n samples and the memory that their fit needs,
// and computes their kernel matrices, for Gaussian processes whose scales are found
// by the evidence. If kernels are to be learned, the matrices are an
// [mgp.Adaptive], and the fit's parameters go to the design's learned. Kernels may
// be equal: their scales then add up to what one of them would have.
func (f *Fitting) processKernels(ctx context.Context, views []View, n, outputs int, need func(Size) int64) (*design, heldKernels, error) {
	ds, err := newDesign(views, n, f.MissingViews)
	if err != nil {
		return nil, nil, err
	}
	return f.processKernelsOf(ctx, ds, views, n, outputs, need)
}

// processKernelsOf is processKernels of views that are bound.
func (f *Fitting) processKernelsOf(ctx context.Context, ds *design, views []View, n, outputs int, need func(Size) int64) (*design, heldKernels, error) {
	if err := ds.checkSquare(views, n); err != nil {
		return nil, nil, err
	}
	if err := f.checkKernels(need, ds, Size{Samples: n, Basis: ds.d, Kernels: len(views), Outputs: outputs}); err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(ds.views, func(v boundView) bool { return learns(v.kernel) }); i >= 0 && f.Storage.rounds() {
		return nil, nil, fmt.Errorf("mkl: %s: ARD: kernels whose widths are learned are held as float64 in memory: leave out Storage", views[i].label(i))
	}
	k, err := f.holdKernels(ctx, ds, views, func(i int, k la.Matrix[float64]) error {
		return ds.useInProcess(i, views[i].label(i), k)
	})
	if err != nil {
		return nil, nil, err
	}
	return ds, ds.adapt(k), nil
}
