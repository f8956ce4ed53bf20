// Package tune learns the widths of kernels that an estimator of package mkl holds: it
// maximises the lower bound over them, with exact gradients. It is a module of its own,
// so that programs that do not need it do not depend on an optimiser.
//
// [mkl.MultiGP] and [mkl.MultiGPClassifier] need no tuning: they learn the widths of
// kernels with ARD themselves, at the cost of one fit. [mkl.MultiTask] learns the one
// width of its kernels; what is left to tune are Widths, and all with FixedKernels.
package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Model is a fitted model with a lower bound on its log evidence.
type Model interface {
	Bound() float64 // in nats
}

// Search says what is learned and how far to climb. The zero value is ready.
type Search struct {
	// SigmaG, if not 0, learns the standard deviation of the intermediate outputs of
	// an [mkl.Classifier] or [mkl.MultiLabel], from this value on.
	SigmaG float64

	// MaxSteps is the largest number of steps of L-BFGS; 0 means 50.
	MaxSteps int

	// Rise ends the search when the bound has risen by less, in nats, over three steps;
	// 0 means 0.01.
	Rise float64
}

// Setting is what one fit of a search holds.
type Setting struct {
	Views  []mkl.View // with the widths to fit with
	SigmaG float64    // 0 unless it is learned

	slopes func(mkl.Slopes)
}

// Apply prepares an estimator for the search, given its Ascent and its Slopes. A Tolerance of 0 becomes 1e-8: gradients
// are exact only where a fit has converged.
func (s Setting) Apply(a *mkl.Ascent, slopes *func(mkl.Slopes)) {
	*slopes = s.slopes
	if a.Tolerance == 0 {
		a.Tolerance = 1e-8
	}
}

// Result is the best fit found, and how it was found.
type Result[M Model] struct {
	Model  M          // fitted at the widths found
	Views  []mkl.View // the views with the widths found
	SigmaG float64    // as found; 0 unless it was learned

	First float64 // the lower bound at the first widths, in nats
	Fits  int     // the number of fits made
	Why   string  // why the search ended, in the words of the optimiser
}

// Fit maximises the lower bound that fit's model converges to over the logarithms of the
// widths of all views whose kernel is an [kernel.RBF], [kernel.Laplacian],
// [kernel.Matern], [kernel.RationalQuadratic],
// [kernel.PowerExponential], [kernel.Categorical] or [kernel.FromDistance], neither centred nor normalised. A kernel with Widths or ARD has one
// width for each feature. The search starts from the widths given, or from those that
// the training samples give them. Every evaluation is a whole fit:
//
//	r, err := tune.Fit(ctx, tune.Search{}, views,
//		func(ctx context.Context, s tune.Setting) (*mkl.RegressionModel, error) {
//			e := mkl.Regression{}
//			s.Apply(&e.Ascent, &e.Slopes)
//			return e.Fit(ctx, s.Views, y)
//		})
//
// The error is that of the first fit, or wraps the cause of the context's end. A fit that
// fails later is no error: its widths count as infinitely bad. Widths that no
// prior holds can overfit, one for each feature above all: check on other samples.
//
// Source of the gradients: docs/theory/gradients.md.
func Fit[M Model](ctx context.Context, search Search, views []mkl.View, fit func(ctx context.Context, s Setting) (M, error)) (*Result[M], error) {
	if search.MaxSteps <= 0 {
		search.MaxSteps = 50
	}
	if search.Rise == 0 {
		search.Rise = 0.01
	}
	c := &climb[M]{ctx: ctx, views: views, sigmaG: search.SigmaG, run: fit}
	first, err := c.begin()
	if err != nil {
		return nil, err
	}
	c.best = first
	r := &Result[M]{First: first.bound, Why: "no width to learn"}
	if len(first.x) > 0 {
		r.Why = c.search(first.x, search)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("tune: stopped after %d fits: %w", c.fits, context.Cause(ctx))
		}
	}
	r.Model, r.Views, r.SigmaG, r.Fits = c.best.model, c.best.setting.Views, c.best.setting.SigmaG, c.fits
	return r, nil
}

// search climbs from x and says why it ended.
func (c *climb[M]) search(x []float64, s Search) string {
	found, err := optimize.Minimize(optimize.Problem{
		Func: func(x []float64) float64 { return -c.evaluate(x).bound },
		Grad: func(gradient, x []float64) { copy(gradient, c.evaluate(x).gradient) },
		Status: func() (optimize.Status, error) {
			if c.ctx.Err() != nil {
				return optimize.Failure, context.Cause(c.ctx)
			}
			return optimize.NotTerminated, nil
		},
	}, x, &optimize.Settings{
		MajorIterations: s.MaxSteps,
		Converger:       &optimize.FunctionConverge{Absolute: s.Rise, Iterations: 3},
	}, &optimize.LBFGS{})
	if err != nil { // the line search finds nothing better, which is no failure
		return err.Error()
	}
	return found.Status.String()
}

// climb is the lower bound as a function of the logarithms of the widths.
type climb[M Model] struct {
	ctx    context.Context
	run    func(ctx context.Context, s Setting) (M, error)
	views  []mkl.View
	sigmaG float64
	counts []int // of the widths of each view

	last, best *point[M] // the last point and the best so far
	fits       int
}

// point is a fit at some widths.
type point[M Model] struct {
	x        []float64 // their logarithms, view after view; log σ_g
	setting  Setting
	model    M
	bound    float64   // −Inf if the fit failed
	gradient []float64 // of minus the bound
}

// begin fits at the first widths, which this finds out.
func (c *climb[M]) begin() (*point[M], error) {
	views := slices.Clone(c.views)
	features := make([]int, len(views)) // of kernels with ARD
	for i := range views {
		var ard bool
		if views[i].Kernel, ard = oneWidth(views[i].Kernel); !ard {
			continue
		}
		if features[i] = len(views[i].Columns); views[i].Columns == nil {
			features[i] = views[i].X.Cols
		}
	}
	p, slopes, err := c.fit(Setting{Views: views, SigmaG: c.sigmaG})
	if err != nil {
		return nil, err
	}
	again := false
	for i, s := range slopes.Views {
		widths := s.Widths
		if features[i] > 0 && len(widths) == 1 {
			widths, again = slices.Repeat(widths, features[i]), true
		}
		for _, w := range widths {
			p.x = append(p.x, special.Log(w))
		}
		c.counts = append(c.counts, len(widths))
	}
	if c.sigmaG != 0 {
		p.x = append(p.x, special.Log(c.sigmaG))
	}
	if again { // for the slopes by each width
		return c.at(p.x)
	}
	p.gradient = c.gradient(slopes)
	return p, nil
}

// at fits at the point x.
func (c *climb[M]) at(x []float64) (*point[M], error) {
	s := Setting{Views: slices.Clone(c.views)}
	rest := x
	for i, n := range c.counts {
		if n == 0 {
			continue
		}
		widths := make([]float64, n)
		for j := range widths {
			widths[j] = special.Exp(rest[j])
		}
		rest = rest[n:]
		s.Views[i].Kernel = kernel.WithLengths(s.Views[i].Kernel, widths)
	}
	if c.sigmaG != 0 {
		s.SigmaG = special.Exp(rest[0])
	}
	p, slopes, err := c.fit(s)
	if err != nil {
		return nil, err
	}
	p.x, p.gradient = slices.Clone(x), c.gradient(slopes)
	return p, nil
}

// fit makes one fit.
func (c *climb[M]) fit(s Setting) (*point[M], mkl.Slopes, error) {
	var slopes mkl.Slopes
	told := false
	s.slopes = func(given mkl.Slopes) { slopes, told = given, true }
	c.fits++
	m, err := c.run(c.ctx, s)
	if err == nil && !told {
		err = fmt.Errorf("tune: the fit has told no slopes: Setting.Apply was not called, or the estimator has none")
	}
	if err != nil {
		return nil, slopes, err
	}
	return &point[M]{setting: s, model: m, bound: m.Bound()}, slopes, nil
}

// gradient returns minus the slopes of what is learned.
func (c *climb[M]) gradient(s mkl.Slopes) (g []float64) {
	for i, n := range c.counts {
		for j := range n {
			g = append(g, -s.Views[i].Slopes[j])
		}
	}
	if c.sigmaG != 0 {
		g = append(g, -s.SigmaG)
	}
	return g
}

// evaluate returns the point x. It fits unless the last or the best point is the one,
// as the optimiser asks for value and gradient of a point one by one. A fit that fails
// makes a point without a model.
func (c *climb[M]) evaluate(x []float64) *point[M] {
	for _, p := range []*point[M]{c.last, c.best} {
		if p != nil && slices.Equal(p.x, x) {
			return p
		}
	}
	p, err := c.at(x)
	if err != nil {
		p = &point[M]{x: slices.Clone(x), bound: math.Inf(-1), gradient: make([]float64, len(x))}
	}
	c.last = p
	if p.bound > c.best.bound {
		c.best = p
	}
	return p
}

// oneWidth returns a kernel with ARD as the kernel with one width for all features, and whether it had ARD.
func oneWidth(k kernel.Kernel) (kernel.Kernel, bool) {
	if l, ok := k.(kernel.Learning); ok && l.Learns() {
		return l.WithLearning(false), true
	}
	return k, false
}
