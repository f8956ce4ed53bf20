package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// decaying is a kernel exp(−d/ℓ) taken as its distance d.
type decaying struct{ Kernel }

// length returns the ℓ of a kernel exp(−d/ℓ), or false if it is none.
func (k decaying) length() (float64, bool) {
	switch k := k.Kernel.(type) {
	case RBF:
		switch {
		case k.Widths != nil:
			return 0, false
		case k.Scale != 0:
			return k.Scale * k.Scale / 2, true
		}
		return k.Width * k.Width, true
	case Laplacian:
		return k.Width, k.Widths == nil
	case Categorical:
		return k.Width, !k.Overlap
	case FromDistance:
		return k.Scale, true
	}
	return 0, false
}

// decays reports whether the view's kernel has a length that a fit can learn.
func (v *boundView) decays() bool {
	_, ok := decaying{v.kernel}.length()
	return ok && !v.center && !v.normalize
}

// with returns the kernel with another length.
func (k decaying) with(length float64) Kernel {
	switch k := k.Kernel.(type) {
	case RBF:
		if k.Scale != 0 {
			k.Scale = math.Sqrt(2 * length)
		} else {
			k.Width = math.Sqrt(length)
		}
		return k
	case Laplacian:
		k.Width = length
		return k
	case Categorical:
		k.Width = length
		return k
	case FromDistance:
		k.Scale = length
		return k
	}
	return k.Kernel
}

// apply turns statistics into the distance d, in place.
func (k decaying) apply(s []float64) {
	switch k := k.Kernel.(type) {
	case RBF:
		la.Scal(0.5, s)
	case Laplacian:
		if !k.manhattan() {
			for i, v := range s {
				s[i] = math.Sqrt(max(0, v))
			}
		}
	}
}

// lengthRange is how many times longer or shorter than at the start the length of
// a kernel may become.
const lengthRange = 1e4

// covariances returns the covariance of the latent functions of each view, and the
// Gram matrices of those whose kernel is held; those of the others are empty.
func (ds *design) covariances(ctx context.Context, views []View, workers int, learn bool) (out []slab.Covariance, held []la.Matrix[float64], err error) {
	if err := ds.checkFixed(views); err != nil {
		return nil, nil, err
	}
	ds.group()
	if err := ds.resolve(ctx, views, workers); err != nil {
		return nil, nil, err
	}
	kernels, lengths := make([]Kernel, len(views)), make([]float64, len(views))
	for i := range ds.views {
		v := &ds.views[i]
		kernels[i] = v.kernel
		if learn && v.decays() {
			lengths[i], _ = decaying{v.kernel}.length()
			v.kernel = decaying{v.kernel}
		}
	}
	ks, err := ds.fill(ctx, views, workers)
	if err != nil {
		return nil, nil, err
	}
	out = make([]slab.Covariance, len(views))
	for i := range ds.views {
		v := &ds.views[i]
		v.kernel = kernels[i]
		label := views[i].label(i)
		if v.isFunction() {
			v.derive()
			continue
		}
		if l := lengths[i]; l > 0 {
			if err := checkSymmetric(ks[i]); err != nil {
				return nil, nil, fmt.Errorf("mkl: %s: X is %w", label, err)
			}
			v.largest = 1
			v.derive()
			least, most := l/lengthRange, l*lengthRange
			for _, end := range []float64{least, most} {
				if (decaying{kernels[i]}).with(end).check(0) != nil {
					least, most = l, l // no kernel has such a length: it is held
				}
			}
			out[i] = slab.DecayCovariance(ks[i], l, least, most)
			ks[i] = la.Matrix[float64]{}
			continue
		}
		if err := ds.finish(i, label, ks[i]); err != nil {
			return nil, nil, err
		}
		if err := ds.useInProcess(i, label, ks[i]); err != nil {
			return nil, nil, err
		}
		out[i] = slab.FixedCovariance(ks[i])
	}
	ds.nameViews()
	return out, ks, nil
}

// checkSymmetric reports distances d = Xᵀ that are not symmetric.
func checkSymmetric(d la.Matrix[float64]) error {
	for i := range d.Rows {
		for j := range i {
			if a, b := d.At(i, j), d.At(j, i); math.Abs(a-b) > asymmetryTolerance*max(a, b) {
				return fmt.Errorf("not symmetric: X[%d][%d] is %g and X[%d][%d] is %g", j, i, a, i, j, b)
			}
		}
	}
	return nil
}

// latentFunctions returns the design with a view for each latent function, those of the views that
// are listed, whose kernel has the length that it was given by the fit.
func (ds *design) latentFunctions(of []int, each int, lengths []float64) *design {
	out := &design{inputs: ds.inputs, d: ds.d}
	for i, l := range lengths {
		v := ds.views[of[i]]
		if l > 0 {
			v.kernel = decaying{v.kernel}.with(l)
		}
		if each > 1 && !v.isFunction() {
			v.name = fmt.Sprintf("%s #%d", v.name, i-slices.Index(of, of[i])+1)
		}
		out.views = append(out.views, v)
	}
	out.group()
	return out
}
