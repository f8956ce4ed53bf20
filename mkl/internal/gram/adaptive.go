package gram

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Adaptive holds kernel matrices. Some of them, the matrices of ARD kernels, have length scales that a fit
// learns. Their parameters are the logarithms of the widths, view
// after view.
type Adaptive struct {
	*vi.Dense
	learning []learner
	priors   []mgp.ParameterPrior
}

// learner is a view with an ARD kernel. With z_ij = x_ij/w_j its kernel is
// K_ik = exp(−½·Σ_j (z_ij − z_kj)²), or exp(−Σ_j |z_ij − z_kj|) for a Laplacian.
type learner struct {
	view      int
	manhattan bool
	first     int                // of its parameters
	x         la.Matrix[float64] // the samples as the kernel sees them, minus their mean
	z         la.Matrix[float64] // x over the widths; transposed for a Laplacian
}

// The prior of the logarithm of a width has its mode at the median distance of the samples.
const (
	// logWidthSpread is the standard deviation of the prior's normal half. A feature can then matter a few
	// times more or less than the others without evidence, and with evidence any number of times. A
	// wider prior overfits where there are many features.
	logWidthSpread = 1

	// widthFreedom is the number of degrees of freedom of the half of large widths, for Gaussian kernels: features without
	// influence leave smooth functions. Laplacian kernels have normal halves. docs/lab/choosing.md compares other
	// numbers, and tails on both sides.
	widthFreedom = 4
)

// Adapt makes the training kernels ks adaptive. Without ARD views it returns ks
// unchanged.
func (ds *Design) Adapt(ks Held) Held {
	a := &Adaptive{}
	for i, v := range ds.Views {
		if !kernel.Learns(v.Kernel) {
			continue
		}
		in := &ds.Inputs[v.Input]
		x := in.Seen(in.Basis, v.Sight, nil).Clone()
		l := learner{view: i, first: len(a.priors), x: x}
		start, _ := kernel.Lengths(v.Kernel)
		freedom := float64(widthFreedom)
		if l.manhattan = v.Kernel.Statistic().Kind == kernel.ManhattanDistance; l.manhattan {
			freedom = 0
			l.z = la.NewMatrix[float64](x.Cols, x.Rows)
		} else {
			l.z = la.NewMatrix[float64](x.Rows, x.Cols)
		}
		for j := range x.Cols {
			a.priors = append(a.priors, mgp.ParameterPrior{Mode: special.Log(start[0]), Scale: logWidthSpread, Freedom: freedom})
			// The slopes are sums of products of z. Fewer digits cancel if z is taken about its mean.
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
	a.Dense = ks.(*vi.Dense) // processKernels makes no other type if views learn
	return a
}

// Parameters implements Adaptive of package mgp.
func (a *Adaptive) Parameters() []mgp.ParameterPrior { return slices.Clone(a.priors) }

// SetParameters implements Adaptive of package mgp.
func (a *Adaptive) SetParameters(w *la.Workspace, theta []float64) {
	for i := range a.learning {
		l := &a.learning[i]
		l.set(w, theta[l.first:l.first+l.x.Cols], a.At(l.view))
	}
}

// scale sets z to the samples divided by the widths, whose logarithms are given.
func (l *learner) scale(theta []float64) {
	for j, t := range theta {
		scale := special.Exp(-t)
		for i := range l.x.Rows {
			if v := scale * l.x.At(i, j); l.manhattan {
				l.z.Row(j)[i] = v
			} else {
				l.z.Row(i)[j] = v
			}
		}
	}
}

// set computes the kernel k at the given logarithms of its widths.
func (l *learner) set(w *la.Workspace, theta []float64, k la.Matrix[float64]) {
	l.scale(theta)
	if !l.manhattan {
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

// minusDistances stores −Σ_j |z_ij − z_kj| in row[k]. It adds four features at a
// time, which saves passes over the row.
func (l *learner) minusDistances(i int, row []float64) {
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

// everyBlock is inBlocks without a context: it always does all blocks.
func everyBlock(w *la.Workspace, n int, newTask func() func(first, last int)) {
	_ = inBlocks(context.Background(), w.Workers, n, newTask)
}

// Slope implements Adaptive of package mgp. It does not change g.
func (a *Adaptive) Slope(w *la.Workspace, weights []float64, g la.Matrix[float64], dst []float64) {
	for i := range a.learning {
		l := &a.learning[i]
		l.slope(w, weights[l.view], g, a.At(l.view), dst[l.first:l.first+l.x.Cols])
	}
}

// SlopeProducts implements Adaptive of package mgp.
func (a *Adaptive) SlopeProducts(w *la.Workspace, weights, v []float64, dst la.Matrix[float64]) {
	for i := range a.learning {
		l := &a.learning[i]
		l.slopeProducts(w, weights[l.view], v, a.At(l.view), dst.Slice(l.first, l.first+l.x.Cols, 0, dst.Cols))
	}
}

// slopeProducts stores weight·(∂K/∂log w_j)·v in row j of dst: entry i is
// weight·Σ_k K_ik·(z_ij − z_kj)²·v_k, or weight·Σ_k K_ik·|z_ij − z_kj|·v_k for a
// Laplacian.
func (l *learner) slopeProducts(w *la.Workspace, weight float64, v []float64, k, dst la.Matrix[float64]) {
	n, d := l.x.Rows, l.x.Cols
	if l.manhattan {
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
func (l *learner) slope(w *la.Workspace, weight float64, g, k la.Matrix[float64], dst []float64) {
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
			if l.manhattan {
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
func (l *learner) squared(ws *la.Workspace, first int, m, mz la.Matrix[float64], column, part []float64) {
	last := m.Cols
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, m, l.z.Slice(0, last, 0, l.z.Cols), 0, mz)
	clear(column)
	for r := range m.Rows {
		row := m.Row(r)
		la.Axpy(1, row, column)
		sum, z := vec.Total(row), l.z.Row(first+r)
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
func (l *learner) absolute(first int, m la.Matrix[float64], part []float64) {
	for r := range m.Rows {
		i := first + r
		row := m.Row(r)[:i]
		for j := range part {
			z := l.z.Row(j)
			part[j] += absoluteSum(z[i], z, row)
		}
	}
}

// Some returns the kernels among the samples rows. ks are the matrices of all samples.
func (a *Adaptive) Some(ks *vi.Dense, rows []int) *Adaptive {
	out := &Adaptive{Dense: ks, priors: a.priors}
	for _, l := range a.learning {
		l.x = l.x.TakeRows(rows)
		l.z = la.NewMatrix[float64](l.x.Rows, l.x.Cols)
		if l.manhattan {
			l.z = la.NewMatrix[float64](l.x.Cols, l.x.Rows)
		}
		out.learning = append(out.learning, l)
	}
	return out
}

// Learned returns the design whose ARD kernels have the widths whose logarithms are
// theta. Without ARD kernels it returns ds itself.
func (ds *Design) Learned(theta []float64) *Design {
	if len(theta) == 0 {
		return ds
	}
	out := *ds
	out.Views = slices.Clone(ds.Views)
	for i := range out.Views {
		v := &out.Views[i]
		if !kernel.Learns(v.Kernel) {
			continue
		}
		widths := make([]float64, v.Sight.Cols(ds.Inputs[v.Input].Cols))
		for j := range widths {
			widths[j] = special.Exp(theta[j])
		}
		theta = theta[len(widths):]
		v.Kernel = kernel.WithLengths(v.Kernel, widths)
	}
	out.Regroup()
	return &out
}

// AllWidths returns, for each view, the widths of its kernel if it has one for each feature,
// else nil.
func (ds *Design) AllWidths() [][]float64 {
	out := make([][]float64, len(ds.Views))
	for i, v := range ds.Views {
		out[i] = kernel.Widths(v.Kernel)
	}
	return out
}

// WithWidths returns the design whose kernels have other widths: widths[i] for
// a view with a width for each feature, nil for any other view.
func (ds *Design) WithWidths(widths [][]float64) (*Design, error) {
	if len(widths) != len(ds.Views) {
		return nil, fmt.Errorf("of %d views, and there are %d", len(widths), len(ds.Views))
	}
	out := *ds
	out.Views = slices.Clone(ds.Views)
	for i, w := range widths {
		v := &out.Views[i]
		old := kernel.Widths(v.Kernel)
		if len(w) != len(old) {
			return nil, fmt.Errorf("%d of view %d, which has %d", len(w), i, len(old))
		}
		if w == nil {
			continue
		}
		v.Kernel = kernel.WithLengths(v.Kernel, w)
		if err := v.Kernel.Check(len(w)); err != nil {
			return nil, fmt.Errorf("view %d: %w", i, err)
		}
	}
	out.Regroup()
	return &out, nil
}
