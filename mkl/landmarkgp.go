package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi/mgp"
)

// LandmarkGP is [MultiGP] for any number of samples: the target is a sum of Gaussian
// processes, each of which lives on the kernel's features at a few landmarks in place of all
// samples. One pass over the samples sums what the fit needs, and the fit does not depend on
// their number. Fit does all of that in memory; Begin makes the [Plan] for samples that come
// in parts, on several machines, or day by day. The zero value is ready.
//
// A view without a Kernel stands for default kernels of its X. Widths that are to be
// learned, those of ARD kernels, are learned by a MultiGP of a few hundred samples.
// Every kernel is centred on the samples, as Center does it, since the model has a bias;
// kernels and distances that are given are refused, and so is Center with Normalize.
// docs/scale.md has the mathematics, and what to expect.
type LandmarkGP struct {
	Fitting
	Landmarks
}

// Fit fits the model to the views of N samples and their targets. Errors are those of
// [MultiGP.Fit].
func (g LandmarkGP) Fit(ctx context.Context, views []View, y []float64) (*LandmarkModel, error) {
	p, err := g.Begin(ctx, views, y)
	if err != nil {
		return nil, err
	}
	b, err := p.Builder(g.Workers)
	if err != nil {
		return nil, err
	}
	if err := b.addAll(ctx, distinctInputs(views), y); err != nil {
		return nil, err
	}
	sums, err := b.Finish()
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, g.Fitting, sums)
}

// distinctInputs returns the matrices of the views that a prediction takes.
func distinctInputs(views []View) (x []Features) {
	for i, v := range views {
		if !slices.ContainsFunc(views[:i], func(w View) bool { return sameMatrix(v.X, w.X) }) {
			x = append(x, v.X)
		}
	}
	return x
}

// Begin makes the plan of a fit by a sample: kernels and their widths, units of features and
// target, landmarks, and the features that kernels become. The sample should be as the
// samples to come are, some thousands of them drawn at random; it is no part of the fit
// unless it is added. Notes are kept with the plan, and with the models that it makes.
func (g LandmarkGP) Begin(ctx context.Context, views []View, y []float64) (*Plan, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if err := g.refuseMissingViews("LandmarkGP"); err != nil {
		return nil, err
	}
	if err := g.refuseKernelStorage("LandmarkGP"); err != nil {
		return nil, err
	}
	n, err := checkTargets([][]float64{y}, false)
	if err != nil {
		return nil, err
	}
	if g.Count < 0 || g.Sample < 0 {
		return nil, fmt.Errorf("mkl: Landmarks: Count is %d and Sample %d: neither can be negative", g.Count, g.Sample)
	}
	if err := g.check(g.EstimateMemory(Size{Samples: n, Kernels: len(views)})); err != nil {
		return nil, err
	}
	if views, y, err = g.sampled(views, y); err != nil {
		return nil, err
	}
	if views, err = g.resolved(ctx, views, y); err != nil {
		return nil, err
	}
	if err := g.check(g.EstimateMemory(Size{Samples: n, Kernels: len(views)})); err != nil { // now they are known
		return nil, err
	}
	ds, err := newDesign(views, len(y), false)
	if err != nil {
		return nil, err
	}
	for i := range ds.inputs { // enough of them tell the ranks
		if in := &ds.inputs[i]; in.ranks != nil {
			in.ranks = newRankScores(evenly(in.basis, min(in.basis.Rows, mostRanks)))
		}
	}
	ds.group()
	if err := ds.resolve(ctx, views, g.Workers); err != nil {
		return nil, err
	}
	ds.nameViews()
	basis, err := g.choose(ctx, ds)
	if err != nil {
		return nil, err
	}
	targets, _ := standardizeTargets([][]float64{y}, false)
	return newLandmarkPlan(ctx, ds, basis, targets[0], views, g.Fitting)
}

// mostRanks is the most samples by which a plan tells ranks.
const mostRanks = 1000

// widthSamples is how many samples widths are learned from.
const widthSamples = 700

// sampled checks the views and returns some of the samples. Views of one X keep sharing it.
func (g LandmarkGP) sampled(views []View, y []float64) ([]View, []float64, error) {
	if len(views) == 0 {
		return nil, nil, fmt.Errorf("mkl: views: none given")
	}
	for i, v := range views {
		arg := v.argument(i)
		if err := checkLayout(arg+".X", v.X); err != nil {
			return nil, nil, err
		}
		switch {
		case v.X.Rows != len(y):
			return nil, nil, fmt.Errorf("mkl: %s: X is %d×%d where y has %d samples (samples are rows)", v.label(i), v.X.Rows, v.X.Cols, len(y))
		case isGiven(v):
			return nil, nil, fmt.Errorf("mkl: %s: landmarks need features, and X holds kernels or distances", v.label(i))
		case v.Center && v.Normalize:
			return nil, nil, fmt.Errorf("mkl: %s: landmarks exclude Center with Normalize", v.label(i))
		}
	}
	most := g.Sample
	if most == 0 {
		most = DefaultPlanSamples
	}
	rows := sample(len(y), most, nil, g.Seed)
	if len(rows) == len(y) {
		return slices.Clone(views), y, nil
	}
	some := make([]float64, len(rows))
	for i, r := range rows {
		some[i] = y[r]
	}
	return takeRows(views, rows), some, nil
}

// resolved gives the views without a kernel some, learns the widths that are to be learned,
// and leaves out constants: the model has a bias.
func (g LandmarkGP) resolved(ctx context.Context, views []View, y []float64) ([]View, error) {
	open := slices.ContainsFunc(views, func(v View) bool { return v.Kernel == nil })
	views, _, err := FillViews(ARDRBF, views)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(views, func(v View) bool { return learns(v.Kernel) }) {
		rows := sample(len(y), widthSamples, nil, g.Seed)
		some := make([]float64, len(rows))
		for i, r := range rows {
			some[i] = y[r]
		}
		f := Fitting{Seed: g.Seed, Workers: g.Workers, AllowDuplicates: true, Tolerance: g.Tolerance, MaxSweeps: g.MaxSweeps}
		m, err := MultiGP{Fitting: f, PointScales: true, hurried: true}.Fit(ctx, takeRows(views, rows), some)
		if err != nil {
			return nil, fmt.Errorf("mkl: widths learned of %d samples: %w", len(rows), err)
		}
		for i := range views {
			v := views[i]
			if !learns(v.Kernel) {
				continue
			}
			views[i].Kernel = m.design.views[i].kernel
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

// EstimateMemory returns about how many bytes a fit of the given size takes beside its
// data: it does not depend on the samples but by way of a part of them.
func (g LandmarkGP) EstimateMemory(s Size) int64 {
	most := g.Sample
	if most == 0 {
		most = DefaultPlanSamples
	}
	kernels := max(s.Kernels, 2+len(narrower)) // at least those of an open view
	some := float64(min(s.Samples, most))
	count := min(float64(g.count(kernels)), some)
	P := float64(kernels)
	M := float64(P*count) + 2
	words := float64(10 * M * M)                            // sums, twice as long; maps of them; pseudo-samples; gram and factors
	words += float64(2 * pieceSamples * M)                  // kernels and features of a piece
	words += float64(P * count * count)                     // whitening
	words += float64(some * count)                          // choice of landmarks
	words += float64((P + 3) * widthSamples * widthSamples) // learning widths
	words += float64(float64(g.workers()) * (1 << 18))
	return inBytes(words)
}

// newLandmarkPlan makes the plan of the views, resolved on the sample, with these landmarks.
func newLandmarkPlan(ctx context.Context, ds *design, basis []Features, t target, views []View, f Fitting) (*Plan, error) {
	on := &design{d: basis[0].Rows}
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
	ks, err := on.fill(ctx, among, f.Workers)
	if err != nil {
		return nil, err
	}
	p := &Plan{design: on, target: t, notes: f.record(Trace{}).notes}
	ws := &la.Workspace{Workers: f.Workers}
	for i, k := range ks {
		label := views[i].label(i)
		if err := on.finish(i, label, k); err != nil {
			return nil, err
		}
		var trace float64
		for d := range k.Rows {
			trace += k.At(d, d)
		}
		scale := trace / float64(k.Rows)
		if !(scale > 0) || math.IsInf(scale, 1) {
			return nil, fmt.Errorf("mkl: %s: the mean kernel of a landmark with itself is %g", label, scale)
		}
		features, err := stat.Whiten(ws, k, 0)
		if err != nil {
			return nil, fmt.Errorf("mkl: %s: %w", label, err)
		}
		for d := range features.By.Rows {
			la.Scal(1/math.Sqrt(scale), features.By.Row(d))
		}
		p.scale, p.by = append(p.scale, scale), append(p.by, features.By)
	}
	return p, p.seal()
}

// startOf returns the start of a fit that goes on from a posterior of features.
func startOf(p *mgp.FeaturePosterior) *mgp.EvidenceStart {
	s := p.State()
	return &mgp.EvidenceStart{Gamma: s.Gamma, Noise: s.Noise}
}
