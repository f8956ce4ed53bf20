package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// settled are estimators with all their settings, views with all of theirs, and fits that go
// on from others, in addition to what fits have.
var settled = []estimate{
	{"regression, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.viewless(), mkl.Regression{
			Lambda: p.gamma(), Upsilon: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(), Epsilon: p.gamma(),
			Plain: p.IntN(4) == 0, RawTargets: p.IntN(4) == 0, MissingTargets: p.IntN(2) == 0,
		})
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
		e := with(p.fitting(), mkl.SharedRegression{
			Upsilon: p.gamma(), Gamma: p.gamma(), Epsilon: p.gamma(), Plain: p.IntN(2) == 0, RawTargets: p.IntN(4) == 0,
			MissingTargets: p.IntN(2) == 0,
		})
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
		e := with(p.viewless(), mkl.Classifier[string]{
			Lambda: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(),
			Margin: p.size(0, 1), SigmaG: p.size(0, 0.5), Plain: p.IntN(4) == 0, Classes: p.classes(),
		})
		views, labels := p.seen(e.MissingViews), p.labels()
		m, err := e.Fit(ctx, views, labels)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Lambda, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, views, labels)
		}
		return some(m, err)
	}},
	{"multilabel, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.viewless(), mkl.MultiLabel{
			Lambda: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(),
			Margin: p.size(0, 1), SigmaG: p.size(0, 0.5), Plain: p.IntN(4) == 0,
		})
		views, labels := p.seen(e.MissingViews), p.known()
		m, err := e.Fit(ctx, views, labels...)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Gamma, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, views, labels...)
		}
		return some(m, err)
	}},
	{"task classifier, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.TaskClassifier{
			Lambda: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(),
			Margin: p.size(0, 1), SigmaG: p.size(0, 0.5), Plain: p.IntN(4) == 0,
		})
		views, labels := p.seen(false), p.known()
		m, err := e.Fit(ctx, views, labels...)
		if err == nil && p.IntN(2) == 0 {
			e.From, e.Omega, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, views, labels...)
		}
		return some(m, err)
	}},
	{"Gaussian process, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.viewless(), mkl.MultiGP{PointScales: p.IntN(2) == 0, HeldPrior: holdAll(p.IntN(4) == 0)})
		e.Noise = pick(p.Rand, mkl.ConstantNoise, mkl.VaryingNoise, mkl.HeavyNoise)
		return some(e.Fit(ctx, p.learned(p.seen(e.MissingViews)), p.targets()))
	}},
	{"Gaussian process classifier, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.viewless(), mkl.MultiGPClassifier[string]{Classes: p.classes(), HeldPrior: holdAll(p.IntN(4) == 0)})
		if !p.mild() {
			e.Prior = mkl.GIG{Omega: p.number(), Chi: p.number(), Phi: p.number()}
		}
		return some(e.Fit(ctx, p.learned(p.seen(e.MissingViews)), p.labels()))
	}},
	{"pool, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.Auto{MaxSamples: p.count(0, 5, 50)})
		return some(e.Fit(ctx, p.seen(false), p.targets()))
	}},
	{"pools, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.AutoTargets{MaxSamples: p.count(0, 5, 50), MissingTargets: p.IntN(2) == 0})
		y := p.several()
		if e.MissingTargets {
			p.gaps(y)
		}
		return some(e.Fit(ctx, p.seen(false), y...))
	}},
	{"probit classifier, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views := p.seen(false)
		e := with(p.viewless(), mkl.ProbitClassifier[string]{
			Rule: p.settledRule(len(views)), Alpha: p.gamma(), Theta: p.gamma(), Ridge: p.size(0, 0.1),
			Update:  pick(p.Rand, mkl.WeightUpdatePlugIn, mkl.WeightUpdatePlugIn, mkl.WeightUpdateMeanField, mkl.WeightUpdateStructured),
			Search:  pick(p.Rand, mkl.WeightSearchMode, mkl.WeightSearchMode, mkl.WeightSearchSampling),
			Samples: min(p.count(0, 1, 10), 10_000), Classes: p.classes(),
		})
		if p.IntN(3) == 0 {
			e.ClassAlpha = map[string]mkl.Gamma{"c0": p.gamma()}
		}
		if p.IntN(4) == 0 {
			e.Prune = p.size(1, 1e3, 1e6)
		}
		return some(e.Fit(ctx, p.relevant(views), p.labels()))
	}},
	{"multi-task, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.MultiTask{
			Latents: p.count(0, 1, 2), FixedKernels: p.IntN(2) == 0, SharedNoise: p.IntN(4) == 0, Prior: p.slab(),
			Held:    mkl.HeldSlab{Pi: p.IntN(2) == 0, Variance: p.IntN(2) == 0, Noise: p.IntN(2) == 0},
			KeepAll: p.IntN(2) == 0, Plain: p.IntN(4) == 0, MeanOnly: p.IntN(4) == 0, MissingTargets: p.IntN(2) == 0, RawTargets: p.IntN(4) == 0,
		})
		y := p.several()
		if e.MissingTargets {
			p.gaps(y)
		}
		return some(e.Fit(ctx, p.learned(p.seen(false)), y...))
	}},
	{"spike and slab, settings", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.SpikeSlab{
			Prior: p.slab(), Noise: p.size(0, 0.1, 1), StandardField: p.IntN(3) == 0,
			Held:        mkl.HeldSlab{Pi: p.IntN(2) == 0, Variance: p.IntN(2) == 0, Noise: p.IntN(2) == 0},
			RawFeatures: p.IntN(3) == 0, RawTargets: p.IntN(3) == 0,
		})
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
		table := func() (t mkl.DenseTable) {
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
		e := with(p.fitting(), mkl.FactorAnalysis{
			Factors: p.count(0, 1, 3), Prior: p.slab(), FixedPrior: p.IntN(3) == 0,
			SharedNoise: p.IntN(3) == 0, NoiseWeight: p.size(0, -1, 3), NoOffsets: p.IntN(3) == 0,
		})
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
		plan, err := with(p.fitting(), mkl.LandmarkGP{Landmarks: l}).Begin(ctx, views, y)
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
		m, err := plan.Fit(ctx, with(p.fitting(), mkl.PlanFitting{}), sums)
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
			m, err = m.Refit(ctx, with(p.fitting(), mkl.PlanFitting{}), again)
		}
		return some(m, err)
	}},
	{"class plans", func(ctx context.Context, p *problem) (mkl.Model, error) {
		labels := p.labels()
		plan, err := with(p.fitting(), mkl.LandmarkClassifier[string]{Landmarks: p.landmarks(), Classes: p.classes()}).Begin(ctx, p.open(), labels)
		if err != nil {
			return nil, err
		}
		var x []mkl.Features
		for _, in := range plan.Inputs() {
			x = append(x, p.features(in.Cols))
		}
		other := p.labels()
		rows := func(yield func(mkl.ClassRows[string], error) bool) {
			if p.IntN(2) == 0 {
				labels = other // of another pass
			}
			yield(mkl.ClassRows[string]{Labels: labels, X: x}, nil)
		}
		sums, err := plan.Sum(ctx, 1, rows)
		if err != nil {
			return nil, err
		}
		return some(plan.Fit(ctx, with(p.fitting(), mkl.ClassPlanFitting{}), rows, sums))
	}},
	{"journals", func(ctx context.Context, p *problem) (mkl.Model, error) {
		// A fit that is cut off and goes on has the bits of one that is not.
		e := []func(f fitting, p *problem) (mkl.Model, error){
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.Regression{}).Fit(ctx, p.views(), p.several()...))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.SharedRegression{}).Fit(ctx, p.views(), p.several()...))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.TaskRegression{}).Fit(ctx, p.views(), p.several()...))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.Classifier[string]{}).Fit(ctx, p.views(), p.labels()))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.MultiLabel{}).Fit(ctx, p.views(), p.known()...))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.TaskClassifier{}).Fit(ctx, p.views(), p.known()...))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.MultiGP{}).Fit(ctx, p.views(), p.targets()))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				return some(with(f, mkl.MultiGPClassifier[string]{}).Fit(ctx, p.views(), p.labels()))
			},
			func(f fitting, p *problem) (mkl.Model, error) {
				draws := mkl.GibbsDraws{Chains: 2, Draws: 4, Thin: 1, BurnIn: 2, Every: 2}
				return some(with(f, mkl.ProbitSampler[string]{GibbsDraws: draws}).Fit(ctx, p.views(), p.labels()))
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

// settledRule returns a rule with all its settings, for so many views.
func (p *problem) settledRule(views int) mkl.Rule {
	var on, start []float64
	for range views {
		on, start = append(on, 0.3), append(start, p.size(0.1, 0.5, 1))
	}
	if !p.mild() && views > 0 {
		on[0] = p.number()
	}
	if p.IntN(2) == 0 {
		on = nil
	}
	if p.IntN(2) == 0 {
		start = nil
	}
	return pick[mkl.Rule](p.Rand, mkl.FixedSum{Weights: start}, mkl.WeightedSum{Start: start, Rho: p.gamma()},
		mkl.SwitchedSum{Start: start, On: on, NotEmpty: p.IntN(4) == 0}, mkl.FixedProduct{Powers: start},
		mkl.WeightedProduct{Start: start, Kappa: p.size(0, 2), Xi: p.size(0, 2)})
}

// viewless is fitting in which samples may lack views.
func (p *problem) viewless() fitting {
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
			v.Kernel = kernel.Constant{}
		case 3:
			*v = mkl.View{X: p.distances(), Kernel: kernel.FromDistance{Scale: p.width()}}
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
		if k, ok := views[i].Kernel.(kernel.RBF); ok && p.IntN(2) == 0 {
			views[i].Kernel = kernel.RBF{Width: k.Width, ARD: true}
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

// distances returns distances between the samples, or a matrix that holds no distances.
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
