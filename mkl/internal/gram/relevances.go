package gram

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
)

// Relevances holds the kernels of a design between its basis points and some samples. An
// ARD kernel has a parameter θ_j for each feature, its relevance. With the width w with which the
// view starts it is
//
//	RBF        exp(−½·Σ_j θ_j·(x_j−y_j)²/w²)
//	Laplacian  exp(−Σ_j θ_j·|x_j−y_j|/w)
type Relevances struct {
	ds *Design
	k  *vi.Dense            // the kernels for θ = 1
	x  []la.Matrix[float64] // the samples: a matrix for each input
}

// NewRelevances returns the kernels of the samples x, a matrix for each input. k holds them for θ = 1.
func NewRelevances(ds *Design, k *vi.Dense, x []la.Matrix[float64]) *Relevances {
	return &Relevances{ds, k, x}
}

// LearnsAny reports whether a view's widths are learned.
func (ds *Design) LearnsAny() bool {
	for _, v := range ds.Views {
		if kernel.Learns(v.Kernel) {
			return true
		}
	}
	return false
}

// Features returns the features of the basis points, for each input.
func (ds *Design) Features() (x []la.Matrix[float64]) {
	for _, in := range ds.Inputs {
		x = append(x, in.Basis)
	}
	return x
}

// Dims implements ParametricKernels of package vi.
func (r *Relevances) Dims() (P, D, N int) { return r.k.Dims() }

// Parameters implements ParametricKernels of package vi.
func (r *Relevances) Parameters(p int) int { return r.ds.relevances(p) }

// relevances returns the number of parameters of view p.
func (ds *Design) relevances(p int) int {
	v := &ds.Views[p]
	if !kernel.Learns(v.Kernel) {
		return 0
	}
	return v.Sight.Cols(ds.Inputs[v.Input].Cols)
}

// Kernel implements ParametricKernels of package vi.
func (r *Relevances) Kernel(_ *la.Workspace, p int, theta []float64, out la.Matrix[float64]) {
	if len(theta) == 0 {
		out.CopyFrom(r.k.At(p))
		return
	}
	v := r.ds.Views[p]
	one := &Design{Inputs: r.ds.Inputs, Views: []Bound{v}, D: r.ds.D}
	one = one.Learned(logWidths(v.Kernel, theta))
	// The background context never ends, and Cross returns no other error.
	_ = one.Cross(context.Background(), 1, r.x, 0, []la.Matrix[float64]{out})
}

// logWidths returns the logarithms of the widths that belong to the relevances theta.
func logWidths(k kernel.Kernel, theta []float64) []float64 {
	out := make([]float64, len(theta))
	start, _ := kernel.Lengths(k)
	for j, v := range theta {
		_, power := k.(kernel.Decaying).Decay()
		out[j] = special.Log(start[0]) - float64(special.Log(v)/power)
		out[j] = min(max(out[j], -maxLogWidth), maxLogWidth)
	}
	return out
}

// maxLogWidth limits the logarithm of a width when a relevance is extreme.
const maxLogWidth = 300

// Relevant returns the design whose ARD kernels have the widths that belong to all relevances theta.
func (ds *Design) Relevant(theta []float64) *Design {
	var widths []float64
	for p, v := range ds.Views {
		n := ds.relevances(p)
		widths = append(widths, logWidths(v.Kernel, theta[:n])...)
		theta = theta[n:]
	}
	return ds.Learned(widths)
}

// RelevanceCounts returns the number of parameters of each view.
func (ds *Design) RelevanceCounts() (counts []int) {
	for p := range ds.Views {
		counts = append(counts, ds.relevances(p))
	}
	return counts
}

// RestoreRelevances gives the views the ARD kernels with which their relevances were sampled. counts has the
// number of relevances of each view; nil means none.
func (ds *Design) RestoreRelevances(counts []int) error {
	if counts == nil {
		return nil
	}
	if len(counts) != len(ds.Views) {
		return fmt.Errorf("relevances of %d views, and there are %d", len(counts), len(ds.Views))
	}
	for p, n := range counts {
		if n == 0 {
			continue
		}
		v := &ds.Views[p]
		if k, ok := v.Kernel.(kernel.Learning); ok {
			v.Kernel = k.WithLearning(true)
		}
		if n != ds.relevances(p) || v.Kernel.Check(n) != nil || v.Center || v.Normalize || ds.Inputs[v.Input].Gaps {
			return fmt.Errorf("%d relevances of view %d, a %v of %d features", n, p, v.Kernel, v.Sight.Cols(ds.Inputs[v.Input].Cols))
		}
	}
	ds.Regroup()
	return nil
}

// Keep returns the design with the basis points rows only. It returns false if kernels are given; if they are
// centred, because centring needs the kernels of a sample with all basis points; or if samples
// may lack views, because the kernels that replace theirs are means over all basis points.
func (ds *Design) Keep(rows []int) (*Design, bool) {
	if slices.ContainsFunc(ds.Inputs, func(in Input) bool { return in.Given || in.Gaps }) ||
		slices.ContainsFunc(ds.Views, func(v Bound) bool { return v.Center }) {
		return nil, false
	}
	small := &Design{Inputs: slices.Clone(ds.Inputs), Views: slices.Clone(ds.Views), D: len(rows)}
	for i, x := range ds.RowsOf(rows) {
		in := &small.Inputs[i]
		in.Basis, in.Apart = x, in.Ranks != nil
	}
	for i := range small.Views {
		if v := &small.Views[i]; v.Normalize {
			v.Unit = vec.Picked(v.Unit, rows)
		}
	}
	small.Regroup()
	return small, true
}
