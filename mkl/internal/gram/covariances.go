package gram

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// asDistance is the distance d of a kernel exp(−d/ℓ), used as a kernel.
type asDistance struct{ kernel.Decaying }

// Apply turns statistics into the distance d, in place.
func (k asDistance) Apply(s []float64) { k.Distances(s) }

// Decay returns ℓ if the view's kernel is exp(−d/ℓ) and a fit can learn ℓ, else 0.
func (v *Bound) Decay() float64 {
	k, ok := v.Kernel.(kernel.Decaying)
	if !ok || v.Center || v.Normalize {
		return 0
	}
	l, _ := k.Decay()
	return l
}

// withDecay returns a kernel exp(−d/ℓ) with another ℓ.
func withDecay(k kernel.Kernel, l float64) kernel.Kernel { return k.(kernel.Decaying).WithDecay(l) }

// lengthRange is the largest factor by which a fit may lengthen or shorten the length of
// a kernel.
const lengthRange = 1e4

// Covariance is the covariance of the latent functions of a view: K or, if Length is positive,
// exp(−K/Length). A fit can learn a Length between Least and Most.
type Covariance struct {
	K                   la.Matrix[float64]
	Length, Least, Most float64
}

// Covariances returns the covariance of the latent functions of each view, and an empty one for a known function. With
// learn, the lengths ℓ of kernels exp(−d/ℓ) can be learned.
func (t *Training) Covariances(ctx context.Context, workers int, learn bool) ([]Covariance, error) {
	if err := t.CheckFixed(); err != nil {
		return nil, err
	}
	t.Regroup()
	if err := t.Resolve(ctx, workers); err != nil {
		return nil, err
	}
	out, kernels := make([]Covariance, len(t.Views)), make([]kernel.Kernel, len(t.Views))
	for i := range t.Views {
		v := &t.Views[i]
		kernels[i] = v.Kernel
		if l := v.Decay(); learn && l > 0 {
			out[i].Length = l
			v.Kernel = asDistance{v.Kernel.(kernel.Decaying)}
		}
	}
	ks, err := t.fill(ctx, workers)
	if err != nil {
		return nil, err
	}
	for i := range t.Views {
		v, c := &t.Views[i], &out[i]
		v.Kernel, c.K = kernels[i], ks[i]
		switch {
		case v.IsFunction():
			v.Derive()
		case c.Length > 0:
			if err := checkSymmetric(c.K); err != nil {
				return nil, fmt.Errorf("mkl: %s: X is %w", t.Label(i), err)
			}
			v.Largest = 1
			v.Derive()
			c.limit(kernels[i])
		default:
			if err := t.finish(i, c.K); err != nil {
				return nil, err
			}
			if err := t.UseInProcess(i, c.K); err != nil {
				return nil, err
			}
		}
	}
	t.nameViews()
	return out, nil
}

// limit sets the limits of the length of a kernel.
func (c *Covariance) limit(k kernel.Kernel) {
	c.Least, c.Most = c.Length/lengthRange, c.Length*lengthRange
	for _, end := range []float64{c.Least, c.Most} {
		if withDecay(k, end).Check(0) != nil {
			c.Least, c.Most = c.Length, c.Length // the kernel does not accept such a length: ℓ is held
		}
	}
}

// checkSymmetric returns an error if the distances d = Xᵀ are not symmetric.
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

// LatentFunctions returns the design with one view for each latent function. Function i is a copy of view of[i], whose
// kernel gets the learned length lengths[i] if that is positive. each is the number of functions of a view.
func (ds *Design) LatentFunctions(of []int, each int, lengths []float64) *Design {
	out := &Design{Inputs: ds.Inputs, D: ds.D}
	for i, l := range lengths {
		v := ds.Views[of[i]]
		if l > 0 {
			v.Kernel = withDecay(v.Kernel, l)
		}
		if each > 1 && !v.IsFunction() {
			v.Name = fmt.Sprintf("%s #%d", v.Name, i-slices.Index(of, of[i])+1)
		}
		out.Views = append(out.Views, v)
	}
	out.Regroup()
	return out
}
