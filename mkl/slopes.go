package mkl

import (
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Slopes are the derivatives of the lower bound of a fit by the logarithms of what
// the fit holds: by how many nats the bound rises when a width grows e-fold, but for
// curvature. They are exact where the ascent has converged.
type Slopes struct {
	Views []WidthSlopes // one for each view

	// By log SigmaG and by Margin, of [Classifier] and [MultiLabel]; 0 for others.
	SigmaG, Margin float64
}

// WidthSlopes are the slopes by the widths of one view's kernel.
type WidthSlopes struct {
	// Widths are the kernel's width or scale as the training samples have resolved it,
	// or its Widths. They are nil for kernels that have none, for views that are
	// centred or normalised, and for widths that [MultiTask] learned itself.
	Widths []float64
	Slopes []float64 // ∂L/∂log of each
}

// widthSlopes returns the slopes of each view from what boundGradient calls its
// argument with: ∂L/∂K_m. Kernel m is that of view of[m], whose matrix is ks[of[m]],
// empty if its widths were learned.
func (ds *design) widthSlopes(ks []la.Matrix[float64], of []int, boundGradient func(func(int, la.Matrix[float64])) error) ([]WidthSlopes, error) {
	out := make([]WidthSlopes, len(ds.views))
	for i := range ds.views {
		if ks[i].Rows > 0 {
			out[i].Widths = ds.heldWidths(i)
		}
		out[i].Slopes = make([]float64, len(out[i].Widths))
	}
	ws := &la.Workspace{}
	err := boundGradient(func(m int, g la.Matrix[float64]) {
		i := of[m]
		switch s := &out[i]; {
		case len(s.Widths) == 0:
		case widthsOf(ds.views[i].kernel) == nil:
			s.Slopes[0] += oneWidthSlope(ds.views[i].kernel, ks[i], g)
		default:
			ds.addWidthSlopes(ws, i, ks[i], g, s.Slopes)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("mkl: Slopes: %w", err)
	}
	return out, nil
}

// heldWidths returns the widths of view i's kernel whose slopes are known.
func (ds *design) heldWidths(i int) []float64 {
	v := &ds.views[i]
	if v.center || v.normalize {
		return nil
	}
	if w := widthsOf(v.kernel); w != nil {
		return append([]float64(nil), w...)
	}
	switch k := v.kernel.(type) {
	case RBF:
		if k.Scale != 0 {
			return []float64{k.Scale}
		}
		return []float64{k.Width}
	case Laplacian:
		return []float64{k.Width}
	case Categorical:
		if k.Overlap {
			return nil
		}
		return []float64{k.Width}
	case FromDistance:
		return []float64{k.Scale}
	}
	return nil
}

// oneWidthSlope returns <g, ∂K/∂log w> of a kernel of one width. With K = exp(−(d/w)^c)
// that is −c·Σ g∘K∘log K.
func oneWidthSlope(kernel Kernel, k, g la.Matrix[float64]) (sum float64) {
	power := 1.0
	if _, ok := kernel.(RBF); ok {
		power = 2
	}
	for i := range k.Rows {
		gs := g.Row(i)
		for j, v := range k.Row(i) {
			if v > 0 { // the slope of one that underflowed is 0 too
				sum -= float64(power * gs[j] * v * special.Log(v))
			}
		}
	}
	return sum
}

// addWidthSlopes adds <g, ∂K/∂log w_j> of view i, which has a width w_j for each
// feature, to dst. It overwrites g.
func (ds *design) addWidthSlopes(ws *la.Workspace, i int, k, g la.Matrix[float64], dst []float64) {
	v := &ds.views[i]
	in := &ds.inputs[v.input]
	l := learning{x: in.seen(in.basis, v.sight, nil)}
	widths := widthsOf(v.kernel)
	if _, l.laplacian = v.kernel.(Laplacian); l.laplacian {
		l.z = la.NewMatrix[float64](l.x.Cols, l.x.Rows)
	} else {
		l.z = la.NewMatrix[float64](l.x.Rows, l.x.Cols)
	}
	logs := make([]float64, len(widths))
	for j, w := range widths {
		logs[j] = special.Log(w)
	}
	l.scale(logs)
	for r := range g.Rows { // of a symmetric matrix only the lower triangle is read
		row := g.Row(r)
		for c := range r {
			row[c] = 0.5 * (row[c] + g.At(c, r))
		}
	}
	slopes := make([]float64, len(widths))
	l.slope(ws, 1, g, k, slopes)
	la.Axpy(1, slopes, dst)
}

// tell calls f.Slopes, if it is not nil, with the slopes of a fit of the kernels k,
// completed by more, which may be nil.
func (f *Fitting) tell(ds *design, k heldKernels, boundGradient func(func(int, la.Matrix[float64])) error, more func(s *Slopes)) error {
	if f.Slopes == nil {
		return nil
	}
	if f.MissingViews {
		return errors.New("mkl: Slopes: MissingViews leaves no derivatives by the widths")
	}
	dense, ok := k.(*vi.Dense)
	if !ok {
		return errors.New("mkl: Slopes: the derivatives by the widths are those of kernels held as float64 in memory: leave out Storage")
	}
	ks := make([]la.Matrix[float64], len(ds.views))
	for i := range ks {
		ks[i] = dense.At(i)
	}
	views, err := ds.widthSlopes(ks, upTo(len(ds.views)), boundGradient)
	if err != nil {
		return err
	}
	s := Slopes{Views: views}
	if more != nil {
		more(&s)
	}
	f.Slopes(s)
	return nil
}
