// Package tune learns the widths of kernels: it maximises the lower bound of multiple
// Gaussian processes over the widths, by L-BFGS. It is a module of its own, so that
// programs that do not need it do not depend on an optimiser.
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

// MultiGP is [mkl.MultiGP] with the widths of its kernels learned. What is maximised is
// the lower bound that a fit at given widths converges to, as a function of the logarithms
// of the widths. Every evaluation is a whole fit, and one inverse and one pass over the
// kernels' derivatives for the gradient. The gradient is exact only where the fit has
// converged; therefore a Tolerance of 0 stands for 1e-8 here. The zero value is ready.
//
// Source of the gradient: docs/mgp.md, section 11.
type MultiGP struct {
	mkl.MultiGP

	// MaxSteps is the largest number of steps of L-BFGS; 0 means 50.
	MaxSteps int

	// Rise ends the search when the bound has risen by less, in nats, over three steps;
	// 0 means 0.01.
	Rise float64
}

// Result is the best fit found, and how it was found.
type Result struct {
	Model *mkl.MultiGPModel // fitted at the widths found
	Views []mkl.View        // the views with the widths found

	First float64 // the lower bound at the first widths, in nats
	Fits  int     // the number of fits made
	Why   string  // why the search ended, in the words of the optimiser
}

// Fit fits the views of N samples to the targets y and learns the widths of the views
// whose kernel is an [mkl.Laplacian], or an [mkl.RBF] with one Width or Scale. The search
// starts from the widths given, or from the mean distance of the samples where the width
// is 0. Views with other kernels stay as they are, and so do views whose kernel is centred
// or normalised, has its width in Medians, or sees ranks or some of the columns.
//
// The error is that of [mkl.MultiGP.Fit] at the first widths, or says which view has no
// width to start from, or wraps the cause of the context's end. A fit that fails later is
// no error: its widths count as infinitely bad.
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
	case err != nil: // the line search finds nothing better, which is no failure
		r.Why = err.Error()
	}
	return r, nil
}

// climb is the lower bound as a function of the logarithms of the widths.
type climb struct {
	ctx   context.Context
	gp    mkl.MultiGP
	views []mkl.View
	y     []float64

	learned  []int                // the views whose widths are learned
	distance []la.Matrix[float64] // for each of them, N×N
	start    []float64            // for each of them, the log width to start from

	last, best *point // the last point and the best so far
	fits       int
}

// point is a fit at some widths.
type point struct {
	x        []float64
	views    []mkl.View
	model    *mkl.MultiGPModel // nil if the fit failed
	gradient []float64         // of minus the bound, by the log widths
}

// value is minus the bound, which is minimised; +Inf if the fit failed.
func (p *point) value() float64 {
	if p.model == nil {
		return math.Inf(1)
	}
	return -p.model.Bound()
}

// newClimb finds the views whose widths are learned, their distances and first widths.
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

// distances returns the N×N distances between the view's samples that its kernel is a
// function of: between standardised features if it has them, Manhattan or Euclidean.
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

// fit fits the model at the log widths x and computes the gradient there.
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

// evaluate returns the point at the log widths x. It fits unless the last or the best
// point is the one, as the optimiser asks for value and gradient of a point one by one. A
// fit that fails makes a point without a model.
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
