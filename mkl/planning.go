package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

// planning makes the common part of plans of targets and plans of classes.
type planning struct {
	*fitting
	Landmarks
	functions int  // number of functions of labels, 0 for a target
	ordered   bool // the order of the samples follows what they hold already

	// learn returns the kernels of the views after learning the widths that are to be learned.
	learn func(views []View) ([]kernel.Kernel, error)
}

// mostRanks is the largest number of samples that define ranks in a plan.
const mostRanks = 1000

// widthSamples is the number of samples from which widths are learned.
const widthSamples = 700

// checkViews checks the settings and the views of n samples, and that the fit may use need bytes.
func (g *planning) checkViews(views []View, n int, need int64) error {
	if g.Count < 0 || g.Sample < 0 {
		return fmt.Errorf("mkl: Landmarks: Count is %d and Sample %d: neither can be negative", g.Count, g.Sample)
	}
	if err := g.check(need); err != nil {
		return err
	}
	if len(views) == 0 {
		return fmt.Errorf("mkl: views: none given")
	}
	for i, v := range views {
		arg := v.argument(i)
		if err := gram.CheckLayout(arg+".X", v.X); err != nil {
			return err
		}
		switch {
		case v.X.Rows != n:
			return fmt.Errorf("mkl: %s: X is %d×%d where y has %d samples (samples are rows)", v.label(i), v.X.Rows, v.X.Cols, n)
		case isGiven(v):
			return fmt.Errorf("mkl: %s: landmarks need features, and X holds kernels or distances", v.label(i))
		case v.Center && v.Normalize:
			return fmt.Errorf("mkl: %s: landmarks exclude Center with Normalize", v.label(i))
		}
	}
	return checkShared(views)
}

// order returns the samples of the views in an order that follows what they hold, so that samples drawn from it do not depend on
// the order of the rows. Targets decide between samples that are equal in all views. They are codes of names if names is true.
func (g *planning) order(views []View, target []float64, names bool) []int {
	if g.ordered {
		return vec.UpTo(len(target))
	}
	return rowOrder(rowColumns(views), [][]float64{target}, names, g.Seed)
}

// sampled draws, of the samples in order, the ones from which the plan is made. class is the class of each sample of the order, nil for targets.
func (g *planning) sampled(order, class []int) []int {
	return vec.Picked(order, sample(len(order), g.sampleSize(), class, g.Seed))
}

// plan makes the plan from the samples rows, out of n.
func (g *planning) plan(ctx context.Context, views []View, rows []int, n int) (p featurePlan, err error) {
	if views, err = g.resolved(takeRows(views, rows)); err != nil {
		return p, err
	}
	before := g.planMemory(n, len(views)) // the number of kernels is known now
	if err := g.check(before); err != nil {
		return p, err
	}
	t, basis, err := g.chosen(ctx, views, len(rows))
	if err != nil {
		return p, err
	}
	if p, err = g.whitened(ctx, t, basis); err != nil {
		return p, err
	}
	// A kernel becomes as many features as its rank on the landmarks, which may be much less than their number.
	return p, g.check(before + inBytes(sumWords(p.width(), g.functions)))
}

// chosen returns the training of the views of n samples, and the landmarks.
func (g *planning) chosen(ctx context.Context, views []View, n int) (*gram.Training, []Features, error) {
	t, err := bindViews(views, n, false)
	if err != nil {
		return nil, nil, err
	}
	for i := range t.Inputs { // mostRanks samples determine the ranks
		if in := &t.Inputs[i]; in.Ranks != nil {
			in.Ranks, in.Apart = gram.NewRanks(gram.Evenly(in.Basis, min(in.Basis.Rows, mostRanks))), true
		}
	}
	if err := t.Prepare(ctx, g.Workers); err != nil {
		return nil, nil, err
	}
	basis, err := g.choose(ctx, t.Design, g.Seed, g.Workers)
	return t, basis, err
}

// resolved gives kernels to the views without a kernel, learns the widths that are to be learned,
// and leaves out constants, because the model has a bias.
func (g *planning) resolved(views []View) ([]View, error) {
	open := slices.ContainsFunc(views, func(v View) bool { return v.Kernel == nil })
	views, _, err := FillViews(KernelsARD, views)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(views, func(v View) bool { return kernel.Learns(v.Kernel) }) {
		learned, err := g.learn(views)
		if err != nil {
			return nil, err
		}
		for i, k := range learned {
			v := views[i]
			if !kernel.Learns(v.Kernel) {
				continue
			}
			views[i].Kernel = k
			if open { // widths learned from a few samples are too large for many samples
				for _, by := range narrower {
					w := views[i]
					w.Kernel = scaledWidths(w.Kernel, by)
					views = append(views, w)
				}
			}
		}
	}
	return slices.DeleteFunc(views, func(v View) bool {
		_, constant := v.Kernel.(kernel.Constant)
		return constant && slices.ContainsFunc(views, func(w View) bool {
			_, also := w.Kernel.(kernel.Constant)
			return !also && v.Input == w.Input
		})
	}), nil
}

// hurry returns the settings of a fit that learns widths.
func (g *planning) hurry() Fitting { return Fitting{Seed: g.Seed, Workers: g.Workers} }

// kernelsOf returns the kernels of a design's views.
func kernelsOf(ds *gram.Design) (all []kernel.Kernel) {
	for _, v := range ds.Views {
		all = append(all, v.Kernel)
	}
	return all
}

// narrower are factors: for each of them, every default kernel with learned widths gets a copy whose widths
// are multiplied by it.
var narrower = []float64{0.5, 0.25}

// scaledWidths returns a kernel with a width for each feature, all of them multiplied by the factor.
func scaledWidths(k kernel.Kernel, by float64) kernel.Kernel {
	w := slices.Clone(kernel.Widths(k))
	la.Scal(by, w)
	return kernel.WithLengths(k, w)
}

// whitened makes the plan of the views with these landmarks; t is their training on the sample.
func (g *planning) whitened(ctx context.Context, t *gram.Training, basis []Features) (p featurePlan, err error) {
	on, ks, err := t.OnLandmarks(ctx, basis, g.Workers)
	if err != nil {
		return p, err
	}
	p.design, p.notes = on, g.record(Trace{}).notes
	ws := &la.Workspace{Workers: g.Workers}
	for i, k := range ks {
		label := t.Label(i)
		var trace float64
		for d := range k.Rows {
			trace += k.At(d, d)
		}
		scale := trace / float64(k.Rows)
		if !(scale > 0) || math.IsInf(scale, 1) {
			return p, fmt.Errorf("mkl: %s: the mean kernel of a landmark with itself is %g", label, scale)
		}
		features, err := stat.Whiten(ws, k, 0)
		if err != nil {
			return p, fmt.Errorf("mkl: %s: %w", label, err)
		}
		for d := range features.By.Rows {
			la.Scal(1/math.Sqrt(scale), features.By.Row(d))
		}
		p.scale, p.by = append(p.scale, scale), append(p.by, features.By)
	}
	return p, nil
}
