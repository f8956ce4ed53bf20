// Package tune learns the widths of kernels: it climbs the lower bound of a
// multiple Gaussian process over them by L-BFGS. It is a module of its own, so
// that programs without need of it do not depend on an optimiser.
package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// MultiGP is [mkl.MultiGP] with the widths of its kernels learned. The bound is
// that of the fit at the widths, and its gradient costs an inverse and a pass over
// the kernels' derivatives besides; every evaluation is a whole fit. A Tolerance
// of 0 stands for 1e-8 here: the gradient is exact only where a fit has converged.
//
// Source of the gradient: docs/mgp.md, section 11.
type MultiGP struct {
	mkl.MultiGP

	// MaxSteps is the most steps of L-BFGS; 0 means 50.
	MaxSteps int

	// Rise is the rise of the bound, in nats over three steps, that counts as none;
	// 0 means 0.01.
	Rise float64
}

// Result is what the climb found.
type Result struct {
	Model *mkl.MultiGPModel // fitted at the widths found
	Views []mkl.View        // the views with the widths found

	First float64 // the bound at the widths to start from
	Fits  int     // fits made
	Why   string  // why the climb ended
}

// Fit learns the widths of the views with an [mkl.RBF] of one Width or Scale or an
// [mkl.Laplacian], from those given on; a width of 0 starts at the mean distance.
// Other views stay as they are, and so do the centred and the normalised, those that
// see ranks or some of the columns, and those with Medians. Errors are those of
// [mkl.MultiGP.Fit] at the first widths; widths on the way at which the fit fails
// are kept away from.
func (g MultiGP) Fit(ctx context.Context, views []mkl.View, y []float64) (*Result, error) {
	if g.Tolerance == 0 {
		g.Tolerance = 1e-8
	}
	if g.MaxSteps <= 0 {
		g.MaxSteps = 50
	}
	if g.Rise == 0 {
		g.Rise = 0.01
	}
	c, err := newClimb(ctx, g.MultiGP, views, y)
	if err != nil {
		return nil, err
	}
	first, err := c.fit(c.start)
	if err != nil {
		return nil, err
	}
	r := &Result{Model: first.model, Views: first.views, First: first.model.Bound(), Fits: 1, Why: "no width to learn"}
	if len(c.start) == 0 {
		return r, nil
	}
	c.best = first
	found, err := optimize.Minimize(optimize.Problem{
		Func: func(x []float64) float64 { return c.evaluate(x).value() },
		Grad: func(gradient, x []float64) { copy(gradient, c.evaluate(x).gradient) },
		Status: func() (optimize.Status, error) {
			if ctx.Err() != nil {
				return optimize.Failure, context.Cause(ctx)
			}
			return optimize.NotTerminated, nil
		},
	}, c.start, &optimize.Settings{
		MajorIterations: g.MaxSteps,
		Converger:       &optimize.FunctionConverge{Absolute: g.Rise, Iterations: 3},
	}, &optimize.LBFGS{})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("tune: stopped after %d fits: %w", c.fits, context.Cause(ctx))
	}
	r.Model, r.Views, r.Fits = c.best.model, c.best.views, c.fits
	switch {
	case found != nil && err == nil:
		r.Why = found.Status.String()
	case err != nil: // a line search that finds no more is an end like others
		r.Why = err.Error()
	}
	return r, nil
}

// climb is the bound as a function of the logarithms of the widths.
type climb struct {
	ctx   context.Context
	gp    mkl.MultiGP
	views []mkl.View
	y     []float64

	learned  []int                // views whose widths are learned
	distance []la.Matrix[float64] // N×N, of those views' samples
	start    []float64            // log widths

	last, best *point
	fits       int
}

// point is a fit at some widths.
type point struct {
	x        []float64
	views    []mkl.View
	model    *mkl.MultiGPModel // nil if the fit failed
	gradient []float64         // of minus the bound by the log widths
}

// value is what is minimised.
func (p *point) value() float64 {
	if p.model == nil {
		return math.Inf(1)
	}
	return -p.model.Bound()
}

func newClimb(ctx context.Context, gp mkl.MultiGP, views []mkl.View, y []float64) (*climb, error) {
	c := &climb{ctx: ctx, gp: gp, views: views, y: y}
	for i, v := range views {
		width, ok := width(v)
		if !ok {
			continue
		}
		if v.X.Rows != len(y) || v.X.Rows < 2 {
			return nil, fmt.Errorf("tune: view %d: %d samples where y has %d", i+1, v.X.Rows, len(y))
		}
		d := distances(v)
		if width == 0 {
			for r := range d.Rows {
				for _, u := range d.Row(r) {
					width += u / float64(d.Rows) / float64(d.Rows)
				}
			}
		}
		if !(width > 0) || math.IsInf(width, 0) {
			return nil, fmt.Errorf("tune: view %d: its width is %g", i+1, width)
		}
		c.learned = append(c.learned, i)
		c.distance = append(c.distance, d)
		c.start = append(c.start, math.Log(width))
	}
	return c, nil
}

// width returns the width of a view's kernel, and whether it is to be learned.
func width(v mkl.View) (float64, bool) {
	if v.Center || v.Normalize || v.Ranks || v.Columns != nil {
		return 0, false
	}
	switch k := v.Kernel.(type) {
	case mkl.RBF:
		one := k.Widths == nil && k.Medians == 0 && !k.ARD
		if k.Scale != 0 {
			return k.Scale, one
		}
		return k.Width, one
	case mkl.Laplacian:
		return k.Width, k.Widths == nil && k.Medians == 0 && !k.ARD
	}
	return 0, false
}

// withWidth returns the kernel with another width.
func withWidth(k mkl.Kernel, w float64) mkl.Kernel {
	switch k := k.(type) {
	case mkl.RBF:
		if k.Scale != 0 {
			return mkl.RBF{Scale: w}
		}
		return mkl.RBF{Width: w}
	case mkl.Laplacian:
		k.Width = w
		return k
	}
	return k
}

// byLogWidth returns the derivative of the kernel by the logarithm of its width
// w, of samples at distance d.
func byLogWidth(k mkl.Kernel, w, d float64) float64 {
	switch k := k.(type) {
	case mkl.RBF:
		q := (d / w) * (d / w)
		if k.Scale != 0 {
			return 2 * q * math.Exp(-q)
		}
		return q * math.Exp(-q/2)
	case mkl.Laplacian:
		return d / w * math.Exp(-d/w)
	}
	return 0
}

// distances returns those between the view's samples, as its kernel sees them.
func distances(v mkl.View) la.Matrix[float64] {
	n := v.X.Rows
	x := v.X.Clone()
	if v.Standardize {
		for j := range x.Cols {
			var mean, square float64
			for i := range n {
				mean += x.At(i, j) / float64(n)
			}
			for i := range n {
				square += (x.At(i, j) - mean) * (x.At(i, j) - mean)
			}
			sd := math.Sqrt(square / float64(n-1))
			for i := range n {
				x.Set(i, j, (x.At(i, j)-mean)/sd)
			}
		}
	}
	l, manhattan := v.Kernel.(mkl.Laplacian)
	manhattan = manhattan && l.Manhattan
	d := la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range i {
			var sum float64
			for k, a := range x.Row(i) {
				u := math.Abs(a - x.At(j, k))
				if !manhattan {
					u *= u
				}
				sum += u
			}
			if !manhattan {
				sum = math.Sqrt(sum)
			}
			d.Set(i, j, sum)
			d.Set(j, i, sum)
		}
	}
	return d
}

// fit fits at the given log widths.
func (c *climb) fit(x []float64) (*point, error) {
	p := &point{x: slices.Clone(x), views: slices.Clone(c.views), gradient: make([]float64, len(x))}
	for l, i := range c.learned {
		p.views[i].Kernel = withWidth(p.views[i].Kernel, math.Exp(x[l]))
	}
	c.fits++
	m, err := c.gp.Fit(c.ctx, p.views, c.y)
	if err != nil {
		return nil, err
	}
	n := len(c.y)
	zero := la.NewMatrix[float64](n, n)
	ks := make([]la.Matrix[float64], len(c.views))
	for i := range ks {
		ks[i] = zero
	}
	for l, i := range c.learned {
		k := la.NewMatrix[float64](n, n)
		for r := range n {
			row := k.Row(r)
			for s, d := range c.distance[l].Row(r) {
				row[s] = byLogWidth(p.views[i].Kernel, math.Exp(x[l]), d)
			}
		}
		ks[i] = k
	}
	derivatives, err := vi.NewDense(ks...)
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	all, err := m.Posterior().BoundGradient(derivatives)
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	for l, i := range c.learned {
		p.gradient[l] = -all[i]
	}
	p.model = m
	return p, nil
}

// evaluate is fit with what the last call found remembered, and failures as
// infinitely bad.
func (c *climb) evaluate(x []float64) *point {
	for _, p := range []*point{c.last, c.best} {
		if p != nil && slices.Equal(p.x, x) {
			return p
		}
	}
	p, err := c.fit(x)
	if err != nil {
		p = &point{x: slices.Clone(x), gradient: make([]float64, len(x))}
	}
	c.last = p
	if p.value() < c.best.value() {
		c.best = p
	}
	return p
}
