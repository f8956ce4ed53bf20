package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// relevances are the kernels of a design between its basis points and some samples, of which
// those with ARD have a parameter θ for each feature, its relevance: with the width w that the
// view starts from
//
//	RBF        exp(−½·Σ_j θ_j·(x_j−y_j)²/w²)
//	Laplacian  exp(−Σ_j θ_j·|x_j−y_j|/w)
type relevances struct {
	ds *design
	k  *vi.Dense  // the kernels with all θ = 1
	x  []Features // the samples, for each input
}

// learnsAny reports whether a view's widths are learned.
func (ds *design) learnsAny() bool {
	for _, v := range ds.views {
		if learns(v.kernel) {
			return true
		}
	}
	return false
}

// features returns the features of the basis points, for each input.
func (ds *design) features() (x []Features) {
	for _, in := range ds.inputs {
		x = append(x, in.basis)
	}
	return x
}

// Dims implements [mcmc.ParametricKernels] and [probit.ParametricKernels].
func (r *relevances) Dims() (P, D, N int) { return r.k.Dims() }

// Parameters implements them.
func (r *relevances) Parameters(p int) int { return r.ds.relevances(p) }

// relevances returns the number of parameters of view p.
func (ds *design) relevances(p int) int {
	v := &ds.views[p]
	if !learns(v.kernel) {
		return 0
	}
	return v.sight.cols(ds.inputs[v.input].cols)
}

// Kernel implements them.
func (r *relevances) Kernel(_ *la.Workspace, p int, theta []float64, out la.Matrix[float64]) {
	if len(theta) == 0 {
		out.CopyFrom(r.k.At(p))
		return
	}
	v := r.ds.views[p]
	one := &design{inputs: r.ds.inputs, views: []boundView{v}, d: r.ds.d}
	one = one.learned(logWidths(v.kernel, theta))
	// The background's end cannot come, and nothing else is an error.
	_ = one.cross(context.Background(), 1, r.x, 0, []la.Matrix[float64]{out})
}

// logWidths returns the logarithms of the widths that the relevances theta stand for.
func logWidths(k Kernel, theta []float64) []float64 {
	out := make([]float64, len(theta))
	for j, v := range theta {
		switch k := k.(type) {
		case RBF:
			out[j] = special.Log(k.Width) - float64(special.Log(v)/2)
		case Laplacian:
			out[j] = special.Log(k.Width) - special.Log(v)
		}
		out[j] = min(max(out[j], -maxLogWidth), maxLogWidth)
	}
	return out
}

// maxLogWidth keeps widths within the range of numbers where relevances are beyond it.
const maxLogWidth = 300

// relevant returns the design whose ARD kernels have the widths of all relevances theta.
func (ds *design) relevant(theta []float64) *design {
	var widths []float64
	for p, v := range ds.views {
		n := ds.relevances(p)
		widths = append(widths, logWidths(v.kernel, theta[:n])...)
		theta = theta[n:]
	}
	return ds.learned(widths)
}

// relevanceCounts returns the number of parameters of each view.
func (ds *design) relevanceCounts() (counts []int) {
	for p := range ds.views {
		counts = append(counts, ds.relevances(p))
	}
	return counts
}

// restoreRelevances gives the views the ARD kernels that their relevances were sampled with, given the
// number of each view's; nil means none.
func (ds *design) restoreRelevances(counts []int) error {
	if counts == nil {
		return nil
	}
	if len(counts) != len(ds.views) {
		return fmt.Errorf("relevances of %d views, and there are %d", len(counts), len(ds.views))
	}
	for p, n := range counts {
		if n == 0 {
			continue
		}
		v := &ds.views[p]
		switch k := v.kernel.(type) {
		case RBF:
			k.ARD = k.Width > 0
			v.kernel = k
		case Laplacian:
			k.ARD = k.Width > 0
			v.kernel = k
		}
		if n != ds.relevances(p) || v.center || v.normalize || ds.inputs[v.input].gaps {
			return fmt.Errorf("%d relevances of view %d, a %v of %d features", n, p, v.kernel, v.sight.cols(ds.inputs[v.input].cols))
		}
	}
	ds.group()
	return nil
}
