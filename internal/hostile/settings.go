package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
)

// settled are estimators with all their settings, views with all of theirs, and fits that go
// on from others, in addition to what fits have.
var settled = []estimate{
	{"regression, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.Regression{
			Fitting: p.viewless(), Lambda: p.gamma(), Upsilon: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(), Epsilon: p.gamma(),
			Plain: p.IntN(4) == 0, RawTargets: p.IntN(4) == 0, MissingTargets: p.IntN(2) == 0,
		}
		views, y := p.seen(e.MissingViews), p.several()
		if e.MissingTargets {
			p.gaps(y)
		}
		m, err := e.Fit(ctx, views, y...)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Lambda, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, views, y...)
		}
		return some(m, err)
	}},
	{"shared regression, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.SharedRegression{
			Fitting: p.fitting(), Upsilon: p.gamma(), Gamma: p.gamma(), Epsilon: p.gamma(), Plain: p.IntN(2) == 0, RawTargets: p.IntN(4) == 0,
			MissingTargets: p.IntN(2) == 0,
		}
		views, y := p.seen(false), p.several()
		if e.MissingTargets {
			p.gaps(y)
		}
		m, err := e.Fit(ctx, views, y...)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Upsilon, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, views, y...)
		}
		return some(m, err)
	}},
	{"classifier, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.Classifier[string]{
			Fitting: p.viewless(), Lambda: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(),
			Margin: p.size(0, 1), SigmaG: p.size(0, 0.5), Plain: p.IntN(4) == 0, Classes: p.classes(),
		}
		views, labels := p.seen(e.MissingViews), p.labels()
		m, err := e.Fit(ctx, views, labels)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Lambda, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, views, labels)
		}
		return some(m, err)
	}},
	{"multilabel, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.MultiLabel{
			Fitting: p.viewless(), Lambda: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(),
			Margin: p.size(0, 1), SigmaG: p.size(0, 0.5), Plain: p.IntN(4) == 0,
		}
		views, labels := p.seen(e.MissingViews), p.known()
		m, err := e.FitKnown(ctx, views, labels...)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Gamma, e.Restarts = m, p.gamma(), 0
			m, err = e.FitKnown(ctx, views, labels...)
		}
		return some(m, err)
	}},
	{"task classifier, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.TaskClassifier{
			Fitting: p.fitting(), Lambda: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(),
			Margin: p.size(0, 1), SigmaG: p.size(0, 0.5), Plain: p.IntN(4) == 0,
		}
		views, labels := p.seen(false), p.known()
		m, err := e.Fit(ctx, views, labels...)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Omega, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, views, labels...)
		}
		return some(m, err)
	}},
	{"Gaussian process, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.MultiGP{Fitting: p.viewless(), PointScales: p.IntN(2) == 0, HeldPrior: holdAll(p.IntN(4) == 0)}
		e.Noise = pick(p.Rand, mkl.ConstantNoise, mkl.VaryingNoise, mkl.HeavyNoise)
		return some(e.Fit(ctx, p.learned(p.seen(e.MissingViews)), p.targets()))
	}},
	{"Gaussian process classifier, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.MultiGPClassifier[string]{Fitting: p.viewless(), Classes: p.classes(), HeldPrior: holdAll(p.IntN(4) == 0)}
		if !p.mild() {
			e.Prior = mkl.GIG{Omega: p.number(), Chi: p.number(), Phi: p.number()}
		}
		return some(e.Fit(ctx, p.learned(p.seen(e.MissingViews)), p.labels()))
	}},
	{"pool, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.Auto{Fitting: p.fitting(), MaxSamples: p.count(0, 5, 50)}
		return some(e.Fit(ctx, p.seen(false), p.targets()))
	}},
	{"probit classifier, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views := p.seen(false)
		e := mkl.ProbitClassifier[string]{
			Fitting: p.viewless(), Rule: pick(p.Rand, mkl.FixSum, mkl.WSum, mkl.Bin, mkl.FixProd, mkl.WProd), Alpha: p.gamma(),
			Rho: p.gamma(), Kappa: p.size(0, 2), Xi: p.size(0, 2), Theta: p.gamma(), Ridge: p.size(0, 0.1),
			Update: pick(p.Rand, mkl.PlugIn, mkl.PlugIn, mkl.MeanField, mkl.Structured), Search: pick(p.Rand, mkl.Mode, mkl.Mode, mkl.Sampling),
			Samples: min(p.count(0, 1, 10), 10_000), NotEmpty: p.IntN(4) == 0, Classes: p.classes(),
		}
		if p.IntN(3) == 0 {
			e.ClassAlpha = map[string]mkl.Gamma{"c0": p.gamma()}
		}
		if p.IntN(4) == 0 {
			e.Prune = p.size(1, 1e3, 1e6)
		}
		for range views {
			if e.On = append(e.On, 0.3); !p.mild() {
				e.On[0] = p.number()
			}
			e.Beta = append(e.Beta, p.size(0.1, 0.5, 1))
		}
		if p.IntN(2) == 0 {
			e.On = nil
		}
		if p.IntN(2) == 0 {
			e.Beta = nil
		}
		return some(e.Fit(ctx, p.relevant(views), p.labels()))
	}},
	{"multi-task, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.MultiTask{
			Fitting: p.fitting(), Latents: p.count(0, 1, 2), FixedKernels: p.IntN(2) == 0, SharedNoise: p.IntN(4) == 0, Prior: p.slab(),
			Held:    mkl.Held{Pi: p.IntN(2) == 0, Variance: p.IntN(2) == 0, Noise: p.IntN(2) == 0},
			KeepAll: p.IntN(2) == 0, Plain: p.IntN(4) == 0, MeanOnly: p.IntN(4) == 0, MissingTargets: p.IntN(2) == 0, RawTargets: p.IntN(4) == 0,
		}
		y := p.several()
		if e.MissingTargets {
			p.gaps(y)
		}
		return some(e.Fit(ctx, p.learned(p.seen(false)), y...))
	}},
	{"spike and slab, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := mkl.SpikeSlab{
			Fitting: p.fitting(), Prior: p.slab(), Noise: p.size(0, 0.1, 1), StandardField: p.IntN(3) == 0,
			Held:        mkl.Held{Pi: p.IntN(2) == 0, Variance: p.IntN(2) == 0, Noise: p.IntN(2) == 0},
			RawFeatures: p.IntN(3) == 0, RawTargets: p.IntN(3) == 0,
		}
		d := 1 + p.IntN(6)
		if p.IntN(3) == 0 {
			for j := range d - p.IntN(2) {
				e.Names = append(e.Names, pick(p.Rand, fmt.Sprint("a", j), "", "\x00"))
			}
		}
		return some(e.Fit(ctx, p.features(d), p.targets()))
	}},
	{"factors, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		cols := 1 + p.IntN(5)
		table := func() (t mkl.Dense) {
			x := make([]float64, p.n*cols)
			for i := range x {
				x[i] = p.NormFloat64()
			}
			p.spoil(x, cols)
			for i := range p.n {
				t = append(t, x[i*cols:(i+1)*cols])
			}
			return t
		}
		e := mkl.FactorAnalysis{
			Fitting: p.fitting(), Factors: p.count(0, 1, 3), Prior: p.slab(), FixedPrior: p.IntN(3) == 0,
			SharedNoise: p.IntN(3) == 0, NoiseWeight: p.size(0, -1, 3), NoOffsets: p.IntN(3) == 0,
		}
		if p.IntN(3) == 0 {
			e.RowDistances = p.distances()
		}
		m, err := e.Fit(ctx, table())
		if err != nil {
			return some(m, err)
		}
		e.Restarts = 0
		if p.IntN(3) == 0 {
			e.Like = m
			m, err = e.Fit(ctx, table())
		}
		return some(m, err)
	}},
	{"plans", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views, y := p.open(), p.targets()
		l := p.landmarks()
		if p.IntN(4) == 0 {
			l.Choose, l.Given = mkl.GivenLandmarks, []mkl.Features{p.features(1 + p.IntN(2))}
		}
		plan, err := mkl.LandmarkGP{Fitting: p.fitting(), Landmarks: l}.Begin(ctx, views, y)
		if err != nil {
			return nil, err
		}
		b, err := plan.Builder(p.IntN(3))
		if err != nil {
			return nil, err
		}
		for range pick(p.Rand, 1, 1, 2) { // the samples of the plan, or others
			if p.IntN(2) == 0 {
				y = p.targets()
			}
			var x []mkl.Features
			for _, in := range plan.Inputs() {
				x = append(x, p.features(in.Cols))
			}
			if err := b.Add(y, x...); err != nil {
				return nil, err
			}
		}
		sums, err := b.Finish()
		if err != nil {
			return nil, err
		}
		m, err := plan.Fit(ctx, p.fitting(), sums)
		if err == nil && p.IntN(3) == 0 {
			again := sums.Clone()
			if err := again.Merge(sums); err != nil {
				return nil, err
			}
			if p.IntN(2) == 0 {
				if err := again.Subtract(sums); err != nil {
					return nil, err
				}
			}
			m, err = m.Refit(ctx, p.fitting(), again)
		}
		return some(m, err)
	}},
	{"class plans", func(ctx context.Context, p *problem) (mkl.Model, error) {
		labels := p.labels()
		plan, err := mkl.LandmarkClassifier[string]{Fitting: p.fitting(), Landmarks: p.landmarks(), Classes: p.classes()}.Begin(ctx, p.open(), labels)
		if err != nil {
			return nil, err
		}
		var x []mkl.Features
		for _, in := range plan.Inputs() {
			x = append(x, p.features(in.Cols))
		}
		other := p.labels()
		rows := func(yield func(mkl.LabelledRows[string], error) bool) {
			if p.IntN(2) == 0 {
				labels = other // of another pass
			}
			yield(mkl.LabelledRows[string]{Labels: labels, X: x}, nil)
		}
		sums, err := plan.Sum(ctx, 1, rows)
		if err != nil {
			return nil, err
		}
		return some(plan.Fit(ctx, p.fitting(), rows, sums))
	}},
	{"journals", func(ctx context.Context, p *problem) (mkl.Model, error) {
		// A fit that is cut off and goes on has the bits of one that is not.
		e := []func(f mkl.Fitting, p *problem) (mkl.Model, error){
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.Regression{Fitting: f}.Fit(ctx, p.views(), p.several()...))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.SharedRegression{Fitting: f}.Fit(ctx, p.views(), p.several()...))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.TaskRegression{Fitting: f}.Fit(ctx, p.views(), p.several()...))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.Classifier[string]{Fitting: f}.Fit(ctx, p.views(), p.labels()))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.MultiLabel{Fitting: f}.FitKnown(ctx, p.views(), p.known()...))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.TaskClassifier{Fitting: f}.Fit(ctx, p.views(), p.known()...))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.MultiGP{Fitting: f}.Fit(ctx, p.views(), p.targets()))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				return some(mkl.MultiGPClassifier[string]{Fitting: f}.Fit(ctx, p.views(), p.labels()))
			},
			func(f mkl.Fitting, p *problem) (mkl.Model, error) {
				draws := mkl.GibbsDraws{Chains: 2, Draws: 4, Thin: 1, BurnIn: 2, Every: 2}
				return some(mkl.ProbitClassifier[string]{Fitting: f, Inference: mkl.Gibbs, Draws: draws}.Fit(ctx, p.views(), p.labels()))
			},
		}[p.IntN(9)]
		f, seed := p.fitting(), p.Uint64()
		var kept [][]byte
		f.Journal = &mkl.Journal{Every: 1, Save: func(data []byte) error {
			kept = append(kept, data)
			return nil
		}}
		m, err := e(f, p.again(seed))
		if err != nil || len(kept) == 0 {
			return m, err
		}
		f.Journal = &mkl.Journal{}
		if err := f.Journal.UnmarshalBinary(kept[p.IntN(len(kept))]); err != nil {
			return nil, nil // a finding
		}
		on, err := e(f, p.again(seed))
		if err != nil {
			return nil, nil // a finding
		}
		var a, b bytes.Buffer
		if m.Save(&a) != nil || on.Save(&b) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			return nil, nil // a finding
		}
		return on, nil
	}},
}

// size returns one of the harmless sizes or a harmful number.
func (p *problem) size(harmless ...float64) float64 {
	if p.mild() {
		return pick(p.Rand, harmless...)
	}
	return p.number()
}

// count returns one of the harmless counts or a harmful number.
func (p *problem) count(harmless ...int) int {
	if p.mild() {
		return pick(p.Rand, harmless...)
	}
	return pick(p.Rand, -1, math.MinInt, 1<<20, math.MaxInt)
}

// classes returns an order of the classes, mostly none.
func (p *problem) classes() []string {
	switch p.IntN(8) {
	case 0:
		return []string{"c2", "c1", "c0"}
	case 1:
		return []string{"c1", "c0"}
	case 2:
		if !p.mild() {
			return pick(p.Rand, []string{}, []string{"c0", "c0"}, []string{"", "c0", "c1"})
		}
	}
	return nil
}

// gaps takes a third of the targets away.
func (p *problem) gaps(y [][]float64) {
	for o := range y {
		for i := range y[o] {
			if p.IntN(3) == 0 {
				y[o][i] = math.NaN()
			}
		}
	}
}

// viewless is fitting in which samples may lack views.
func (p *problem) viewless() mkl.Fitting {
	f := p.fitting()
	f.MissingViews = p.IntN(2) == 0
	return f
}

// seen returns views with settings that views have not: columns, ranks, and kernels of distances,
// constants and functions; with gaps, samples lack some of them.
func (p *problem) seen(gaps bool) []mkl.View {
	views := p.views()
	for i := range views {
		v := &views[i]
		switch p.IntN(8) {
		case 0:
			v.Columns = []int{0}
		case 1:
			v.Ranks = true
		case 2:
			v.Kernel = mkl.Constant{}
		case 3:
			*v = mkl.View{X: p.distances(), Kernel: mkl.FromDistance{Scale: p.width()}}
		}
		if !p.mild() && p.IntN(4) == 0 {
			v.Columns = pick(p.Rand, []int{}, []int{0, 0}, []int{-1}, []int{99})
		}
		if !p.mild() && p.IntN(4) == 0 {
			v.Name = pick(p.Rand, "\x00", "a\nb", "\xff")
		}
		if gaps && p.IntN(2) == 0 && v.X.Stride == v.X.Cols {
			v.X.Data = slices.Clone(v.X.Data)
			for r := range v.X.Rows {
				if p.IntN(4) == 0 && (r+1)*v.X.Cols <= len(v.X.Data) {
					for j := range v.X.Cols {
						v.X.Data[r*v.X.Cols+j] = math.NaN()
					}
				}
			}
		}
	}
	return views
}

// learned makes some of the views' kernels learn their widths.
func (p *problem) learned(views []mkl.View) []mkl.View {
	for i := range views {
		if k, ok := views[i].Kernel.(mkl.RBF); ok && p.IntN(2) == 0 {
			views[i].Kernel = mkl.RBF{Width: k.Width, ARD: true}
		}
	}
	return views
}

// relevant makes few of the views' kernels learn relevances.
func (p *problem) relevant(views []mkl.View) []mkl.View {
	if p.IntN(4) > 0 {
		return views
	}
	return p.learned(views)
}

// distances returns distances between the samples, or what are none.
func (p *problem) distances() mkl.Features {
	at := make([]float64, p.n)
	for i := range at {
		at[i] = p.NormFloat64()
	}
	p.spoil(at, 1)
	d := mkl.Features{Rows: p.n, Cols: p.n, Stride: p.n, Data: make([]float64, p.n*p.n)}
	for i := range at {
		for j := range at {
			d.Data[i*p.n+j] = math.Abs(at[i] - at[j])
		}
	}
	if !p.mild() {
		d.Data[p.IntN(len(d.Data))] = p.number()
	}
	return d
}
