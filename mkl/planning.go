package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi"
)

// planning makes what plans of targets and of classes have in common.
type planning struct {
	Fitting
	Landmarks
	name   string // of the estimator
	memory func(Size) int64

	// learn learns the kernels of the views that have widths to be learned.
	learn func(views []View) ([]Kernel, error)
}

// mostRanks is the most samples by which a plan tells ranks.
const mostRanks = 1000

// widthSamples is how many samples widths are learned from.
const widthSamples = 700

// sampled checks settings and the views of n samples, and chooses those that the plan is made
// from; class is the class of each, nil if they have none.
func (g *planning) sampled(views []View, n int, class []int) ([]int, error) {
	if err := g.refuseMissingViews(g.name); err != nil {
		return nil, err
	}
	if err := g.refuseKernelStorage(g.name); err != nil {
		return nil, err
	}
	if g.Count < 0 || g.Sample < 0 {
		return nil, fmt.Errorf("mkl: Landmarks: Count is %d and Sample %d: neither can be negative", g.Count, g.Sample)
	}
	if err := g.check(g.memory(Size{Samples: n, Kernels: len(views)})); err != nil {
		return nil, err
	}
	if len(views) == 0 {
		return nil, fmt.Errorf("mkl: views: none given")
	}
	for i, v := range views {
		arg := v.argument(i)
		if err := checkLayout(arg+".X", v.X); err != nil {
			return nil, err
		}
		switch {
		case v.X.Rows != n:
			return nil, fmt.Errorf("mkl: %s: X is %d×%d where y has %d samples (samples are rows)", v.label(i), v.X.Rows, v.X.Cols, n)
		case isGiven(v):
			return nil, fmt.Errorf("mkl: %s: landmarks need features, and X holds kernels or distances", v.label(i))
		case v.Center && v.Normalize:
			return nil, fmt.Errorf("mkl: %s: landmarks exclude Center with Normalize", v.label(i))
		}
	}
	most := g.Sample
	if most == 0 {
		most = DefaultPlanSamples
	}
	return sample(n, most, class, g.Seed), nil
}

// plan makes the plan of these rows of n samples.
func (g *planning) plan(ctx context.Context, views []View, rows []int, n int) (p featurePlan, err error) {
	if len(rows) == n {
		views = slices.Clone(views)
	} else {
		views = takeRows(views, rows)
	}
	if views, err = g.resolved(views); err != nil {
		return p, err
	}
	if err := g.check(g.memory(Size{Samples: n, Kernels: len(views)})); err != nil { // now they are known
		return p, err
	}
	ds, basis, err := g.chosen(ctx, views, len(rows))
	if err != nil {
		return p, err
	}
	return g.whitened(ctx, ds, basis, views)
}

// chosen returns the design of the views of n samples, and landmarks.
func (g *planning) chosen(ctx context.Context, views []View, n int) (*design, []Features, error) {
	ds, err := newDesign(views, n, false)
	if err != nil {
		return nil, nil, err
	}
	for i := range ds.inputs { // enough of them tell the ranks
		if in := &ds.inputs[i]; in.ranks != nil {
			in.ranks, in.apart = newRankScores(evenly(in.basis, min(in.basis.Rows, mostRanks))), true
		}
	}
	ds.group()
	if err := ds.resolve(ctx, views, g.Workers); err != nil {
		return nil, nil, err
	}
	ds.nameViews()
	basis, err := g.choose(ctx, ds, g.Seed, g.Workers)
	return ds, basis, err
}

// kernelsOn is kernels with landmarks, unless they are nil: the matrices are landmarks × samples.
func (f *Fitting) kernelsOn(ctx context.Context, l *Landmarks, views []View, n, outputs int, need func(Size) int64) (*design, heldKernels, error) {
	if l == nil {
		return f.kernels(ctx, views, n, outputs, need)
	}
	if f.Slopes != nil {
		return nil, nil, errors.New("mkl: Slopes: Landmarks leave no derivatives by the widths")
	}
	for i, v := range views {
		if v.Center {
			return nil, nil, fmt.Errorf("mkl: %s: Landmarks exclude Center", v.label(i))
		}
	}
	g := planning{Fitting: *f, Landmarks: *l, name: "Landmarks", memory: func(s Size) int64 {
		s.Outputs = outputs
		return need(s)
	}}
	rows, err := g.sampled(views, n, nil)
	if err != nil {
		return nil, nil, err
	}
	ds, basis, err := g.chosen(ctx, takeRows(views, rows), len(rows))
	if err != nil {
		return nil, nil, err
	}
	if err := ds.checkFixed(views); err != nil {
		return nil, nil, err
	}
	on, among, err := onLandmarks(ctx, ds, basis, views, f.Workers)
	if err != nil {
		return nil, nil, err
	}
	if !f.AllowDuplicates {
		k, err := vi.NewDense(among...)
		if err != nil {
			return nil, nil, fmt.Errorf("mkl: %w", err)
		}
		if err := findDuplicates(views, k); err != nil {
			return nil, nil, err
		}
	}
	x := distinctInputs(views)
	if _, err := on.checkInputs(x); err != nil {
		return nil, nil, err
	}
	ks := make([]la.Matrix[float64], len(views))
	for i := range ks {
		ks[i] = la.NewMatrix[float64](on.d, n)
	}
	if err := on.cross(ctx, f.Workers, x, 0, ks); err != nil {
		return nil, nil, err
	}
	k, err := vi.NewDense(ks...)
	if err != nil {
		return nil, nil, fmt.Errorf("mkl: %w", err)
	}
	return on, k, nil
}

// resolved gives the views without a kernel some, learns the widths that are to be learned,
// and leaves out constants: the model has a bias.
func (g *planning) resolved(views []View) ([]View, error) {
	open := slices.ContainsFunc(views, func(v View) bool { return v.Kernel == nil })
	views, _, err := FillViews(ARDRBF, views)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(views, func(v View) bool { return learns(v.Kernel) }) {
		learned, err := g.learn(views)
		if err != nil {
			return nil, err
		}
		for i, kernel := range learned {
			v := views[i]
			if !learns(v.Kernel) {
				continue
			}
			views[i].Kernel = kernel
			if open { // widths that a few samples support are too wide for many
				for _, by := range narrower {
					w := views[i]
					w.Kernel = scaledWidths(w.Kernel, by)
					views = append(views, w)
				}
			}
		}
	}
	return slices.DeleteFunc(views, func(v View) bool {
		_, constant := v.Kernel.(Constant)
		return constant && slices.ContainsFunc(views, func(w View) bool {
			_, also := w.Kernel.(Constant)
			return !also && sameMatrix(v.X, w.X)
		})
	}), nil
}

// hurry returns the settings of a fit that learns widths.
func (g *planning) hurry() Fitting {
	return Fitting{Seed: g.Seed, Workers: g.Workers, AllowDuplicates: true, Tolerance: g.Tolerance, MaxSweeps: g.MaxSweeps}
}

// kernelsOf returns the kernels of a design's views.
func kernelsOf(ds *design) (all []Kernel) {
	for _, v := range ds.views {
		all = append(all, v.kernel)
	}
	return all
}

// narrower are the factors of the learned widths of default kernels, of which further ones
// are made.
var narrower = []float64{0.5, 0.25}

// scaledWidths returns a kernel with all widths multiplied by the factor.
func scaledWidths(k Kernel, by float64) Kernel {
	scaled := func(w []float64) []float64 {
		w = slices.Clone(w)
		la.Scal(by, w)
		return w
	}
	switch k := k.(type) {
	case RBF:
		k.Widths = scaled(k.Widths)
		return k
	case Laplacian:
		k.Widths = scaled(k.Widths)
		return k
	}
	return k
}

// onLandmarks returns the design of the views with the landmarks for basis points, given that of
// a sample and the landmarks, and the kernels among them.
func onLandmarks(ctx context.Context, ds *design, basis []Features, views []View, workers int) (on *design, ks []la.Matrix[float64], err error) {
	on = &design{d: basis[0].Rows}
	among := slices.Clone(views)
	for i, in := range ds.inputs {
		in.basis = basis[i]
		on.inputs = append(on.inputs, in)
	}
	for i, v := range ds.views {
		v.center = false // the fit takes the features' means away
		on.views = append(on.views, v)
		among[i].X = basis[v.input]
	}
	on.group()
	if ks, err = on.fill(ctx, among, workers); err != nil {
		return nil, nil, err
	}
	for i, k := range ks {
		if err := on.finish(i, views[i].label(i), k); err != nil {
			return nil, nil, err
		}
	}
	return on, ks, nil
}

// whitened makes the plan of the views, resolved on the sample, with these landmarks.
func (g *planning) whitened(ctx context.Context, ds *design, basis []Features, views []View) (p featurePlan, err error) {
	on, ks, err := onLandmarks(ctx, ds, basis, views, g.Workers)
	if err != nil {
		return p, err
	}
	p.design, p.notes = on, g.record(Trace{}).notes
	ws := &la.Workspace{Workers: g.Workers}
	for i, k := range ks {
		label := views[i].label(i)
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
