// Package tune learns kernel widths that an estimator of package mkl keeps fixed: it
// maximises the lower bound over the widths, with exact gradients. It is a separate module,
// so that other programs do not depend on an optimiser.
//
// [mkl.MultiGP] and [mkl.MultiGPClassifier] need no tuning: they learn the widths of
// kernels with ARD themselves, at the cost of one fit. [mkl.MultiTask] learns the
// width of a kernel with a single width; only Widths remain to be tuned, and all widths with FixedKernels.
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

// Search holds the parameters to learn and the limits of the search. The zero value is ready to use.
type Search struct {
	// SigmaG, if not 0, learns the standard deviation of the intermediate outputs of
	// an [mkl.Classifier] or [mkl.MultiLabel], starting from this value.
	SigmaG float64

	// MaxSteps is the largest number of steps of L-BFGS; 0 means 50.
	MaxSteps int

	// Rise ends the search if the bound has risen by less than Rise nats over three steps;
	// 0 means 0.01.
	Rise float64
}

// Setting is the point of a search for which one fit is made.
type Setting struct {
	Views  []mkl.View // with the widths for the fit
	SigmaG float64    // 0 unless it is learned

	slopes func(mkl.Slopes)
}

// Apply sets the Ascent and the Slopes of an estimator for the search. It changes a Tolerance of 0 to 1e-8: gradients
// are exact only if a fit has converged.
func (s Setting) Apply(a *mkl.Ascent, slopes *func(mkl.Slopes)) {
	*slopes = s.slopes
	if a.Tolerance == 0 {
		a.Tolerance = 1e-8
	}
}

// Result is the best fit of a search.
type Result[M Model] struct {
	Model  M          // fitted with the learned widths
	Views  []mkl.View // the views with the learned widths
	SigmaG float64    // the learned value; 0 unless it was learned

	First float64 // the lower bound for the first widths, in nats
	Fits  int     // the number of fits
	Why   string  // why the search ended, in the optimiser's words
}

// Fit maximises the lower bound, to which fit's model has converged, over the logarithms of the
// widths of all views that are neither centred nor normalised and whose kernel is an [kernel.RBF], [kernel.Laplacian],
// [kernel.Matern], [kernel.RationalQuadratic],
// [kernel.PowerExponential], [kernel.ChiSquare], [kernel.Categorical] or [kernel.FromDistance], and over the parameters of
// [kernel.Periodic], [kernel.Spectral] and [kernel.Polynomial] but Degree. A kernel with Widths or ARD has one
// width for each feature. The search starts from the given widths, or from the default widths for
// the training samples. Every evaluation is a whole fit:
//
//	r, err := tune.Fit(ctx, tune.Search{}, views,
//		func(ctx context.Context, s tune.Setting) (*mkl.RegressionModel, error) {
//			e := mkl.Regression{}
//			s.Apply(&e.Ascent, &e.Slopes)
//			return e.Fit(ctx, s.Views, y)
//		})
//
// Fit returns the error of the first fit, or one that wraps the cause of the context's end. It ignores an error of a
// later fit and treats its widths as infinitely bad. Widths without a prior can overfit, especially with one for
// each feature: check on other samples.
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

// search climbs from x and returns the reason why it ended.
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
	if err != nil { // the line search finds nothing better, which is not a failure
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
	counts []int // number of widths of each view

	last, best *point[M] // the last point and the best so far
	fits       int
}

// point is a fit with certain widths.
type point[M Model] struct {
	x        []float64 // the logarithms of the widths, view after view; log σ_g
	setting  Setting
	model    M
	bound    float64   // −Inf if the fit failed
	gradient []float64 // gradient of minus the bound
}

// begin makes the fit with the first widths, and sets the views to these widths.
func (c *climb[M]) begin() (*point[M], error) {
	views := slices.Clone(c.views)
	features := make([]int, len(views)) // number of features of kernels with ARD
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
	if again { // to get the slopes for each width
		return c.at(p.x)
	}
	p.gradient = c.gradient(slopes)
	return p, nil
}

// at makes a fit at the point x.
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

// gradient returns minus the slopes of the parameters that are learned.
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

// evaluate returns the point x. It reuses the last and the best point,
// because the optimiser asks for the value and the gradient of a point separately. A fit that fails
// gives a point without a model.
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
