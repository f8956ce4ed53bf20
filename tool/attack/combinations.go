package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// known are estimators that settled lacks: their settings give a part of what others learn, or they have views and
// tasks of hardly any samples.
var known = []estimate{
	{"Gaussian process, known noise", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.viewless(), mkl.MultiGP{KnownNoise: p.size(0, 0.01, 1), RawTargets: p.IntN(2) == 0})
		views, y := p.bare(p.seen(e.MissingViews)), p.targets()
		if p.IntN(2) == 0 {
			e.KnownWeights = make([]float64, len(views))
			e.KnownWeights[0] = p.size(0, 0.5, 2)
		}
		return some(e.Fit(ctx, views, y))
	}},
	{"Gaussian process classifier, known weights", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.MultiGPClassifier[string]{LowerBound: p.IntN(3) == 0})
		views := p.bare(p.seen(false))
		for range views {
			e.KnownWeights = append(e.KnownWeights, p.size(0, 0.5, 2))
		}
		return some(e.Fit(ctx, views, p.labels()))
	}},
	{"multi-task, functions and tasks of one sample", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.MultiTask{
			Latents: p.IntN(3), MissingTargets: true, RawTargets: p.IntN(3) == 0, FixedKernels: p.IntN(2) == 0,
			SharedNoise: p.IntN(3) == 0,
		})
		views, y := p.views(), p.several()
		for i := range views {
			if p.IntN(2) == 0 {
				views[i] = mkl.View{X: views[i].X, Kernel: kernel.KnownFunction{}, Standardize: p.IntN(3) == 0}
			}
		}
		for o := range y {
			for i := range y[o] {
				if i != o && (o > 0 || p.IntN(3) == 0) {
					y[o][i] = math.NaN()
				}
			}
		}
		return some(e.Fit(ctx, p.bare(views), y...))
	}},
	{"task regression, tasks of few samples", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.TaskRegression{MissingTargets: true, RawTargets: p.IntN(3) == 0})
		y := p.several()
		for o := range y {
			for i := range y[o] {
				if i > o+p.IntN(3) {
					y[o][i] = math.NaN()
				}
			}
		}
		return some(e.Fit(ctx, p.bare(p.seen(false)), y...))
	}},
}

// bare gives one of the views at times no columns, no rows, or one of either.
func (p *problem) bare(views []mkl.View) []mkl.View {
	if p.IntN(3) == 0 {
		v := &views[p.IntN(len(views))]
		shape := pick(p.Rand, [2]int{p.n, 0}, [2]int{0, 2}, [2]int{1, 2}, [2]int{p.n, 1}, [2]int{0, 0})
		v.X = mkl.Features{Rows: shape[0], Cols: shape[1], Stride: shape[1], Data: make([]float64, shape[0]*shape[1])}
	}
	return views
}

// onward are the estimators that go on from a model of another fit, which may be none.
var onward = []func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error){
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.Regression{Plain: p.IntN(2) == 0})
		e.From, _ = from.(*mkl.RegressionModel)
		return some(e.Fit(ctx, p.views(), p.several()...))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.SharedRegression{Plain: p.IntN(2) == 0})
		e.From, _ = from.(*mkl.SharedRegressionModel)
		return some(e.Fit(ctx, p.views(), p.several()...))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.TaskRegression{MissingTargets: true})
		e.From, _ = from.(*mkl.TaskRegressionModel)
		views, y := p.views(), p.several()
		p.gaps(y)
		return some(e.Fit(ctx, views, y...))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.Classifier[string]{Plain: p.IntN(2) == 0})
		e.From, _ = from.(*mkl.ClassifierModel[string])
		return some(e.Fit(ctx, p.views(), p.labels()))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.MultiLabel{})
		e.From, _ = from.(*mkl.MultiLabelModel)
		return some(e.Fit(ctx, p.views(), p.known()...))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.TaskClassifier{})
		e.From, _ = from.(*mkl.TaskClassifierModel)
		return some(e.Fit(ctx, p.views(), p.known()...))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.MultiGP{Noise: pick(p.Rand, mkl.ConstantNoise, mkl.VaryingNoise, mkl.HeavyNoise)})
		e.From, _ = from.(*mkl.MultiGPModel)
		return some(e.Fit(ctx, p.learned(p.views()), p.targets()))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.MultiGPClassifier[string]{LowerBound: p.IntN(3) == 0})
		e.From, _ = from.(*mkl.MultiGPClassifierModel[string])
		return some(e.Fit(ctx, p.views(), p.labels()))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		own, _ := from.(*mkl.ProbitClassifierModel[string])
		if p.IntN(2) == 0 {
			return some(with(f, mkl.ProbitMAP[string]{Rule: p.pointRule(), From: own}).Fit(ctx, p.views(), p.labels()))
		}
		e := with(f, mkl.ProbitClassifier[string]{
			Rule: p.rule(), Update: pick(p.Rand, mkl.WeightUpdatePlugIn, mkl.WeightUpdateMeanField, mkl.WeightUpdateStructured), From: own,
		})
		return some(e.Fit(ctx, p.views(), p.labels()))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.SpikeSlab{RawTargets: p.IntN(2) == 0})
		e.From, _ = from.(*mkl.SpikeSlabModel)
		return some(e.Fit(ctx, p.features(1+p.IntN(4)), p.targets()))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.MultiTask{Latents: p.IntN(3), MissingTargets: true})
		e.From, _ = from.(*mkl.MultiTaskModel)
		views, y := p.learned(p.views()), p.several()
		p.gaps(y)
		return some(e.Fit(ctx, views, y...))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.PairRegression{Components: p.IntN(3)})
		e.From, _ = from.(*mkl.PairRegressionModel)
		return some(e.Fit(ctx, p.views(), p.views(), p.pairs(false)))
	},
	func(ctx context.Context, p *problem, f fitting, from mkl.Model) (mkl.Model, error) {
		e := with(f, mkl.PairClassifier{Components: p.IntN(3)})
		e.From, _ = from.(*mkl.PairClassifierModel)
		return some(e.Fit(ctx, p.views(), p.views(), p.pairs(true)))
	},
}

// combinations are attacks that combine fits: a fit that continues from a model of other data, and a fit that is
// interrupted at any moment.
func combinations() []siege.Attack {
	return []siege.Attack{
		{Name: "on from another model", Run: onFromAnother},
		{Name: "ended at any moment", Run: endedAnywhere},
		{Name: "classes of any type", Run: anyClasses},
		{Name: "estimates of memory", Run: estimates},
	}
}

// onFromAnother fits an estimator and lets it go on from its model, or from what a file makes of that, with
// data of the same or of other shapes.
func onFromAnother(r *rand.Rand) siege.Case {
	ctx, p := context.Background(), newProblem(r)
	p.share = pick(r, 0, 0.02, 0.1)
	fit, f, seed := onward[p.IntN(len(onward))], p.fitting(), p.Uint64()
	f.Restarts = 0
	m, err := fit(ctx, p.again(seed), f, nil)
	if m == nil {
		return refusal(err)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		return siege.Case{Wrong: []string{err.Error()}}
	}
	loaded, err := mkl.Load(&file)
	if err != nil {
		return siege.Case{Wrong: []string{err.Error()}}
	}
	next := p.again(seed)
	switch p.IntN(3) {
	case 0: // of other shapes, or not
		next = p.again(p.Uint64())
	case 1: // of more or fewer samples
		next.n = pick(r, 1, 2, 3, 5, 8, 12, 20, 33)
	}
	other := *next
	other.Rand = rand.New(rand.NewPCG(seed, 8))
	next.Rand = rand.New(rand.NewPCG(seed, 8))
	if p.IntN(2) == 0 { // the same data as at first
		next, other = p.again(seed), *p.again(seed)
	}
	a, aerr := fit(ctx, next, f, m)
	b, berr := fit(ctx, &other, f, loaded)
	switch {
	case a == nil && aerr == nil:
		return siege.Case{Wrong: []string{"neither a model nor an error"}}
	case (a == nil) != (b == nil):
		return siege.Case{Wrong: []string{fmt.Sprintf("from a file it is another: %v, %v", aerr, berr)}}
	case a == nil:
		return refusal(aerr)
	}
	var first, second bytes.Buffer
	if a.Save(&first) == nil && b.Save(&second) == nil && !bytes.Equal(first.Bytes(), second.Bytes()) {
		return siege.Case{Wrong: []string{"from a file it is another"}}
	}
	return siege.Case{Outcome: siege.Held, Wrong: judge(p, a)}
}

// refusal is the case of an error.
func refusal(err error) siege.Case {
	if err == nil {
		return siege.Case{Wrong: []string{"neither a model nor an error"}}
	}
	return siege.Case{Wrong: sane(err)}
}

// countdown is a context that ends once it has been asked so many times.
type countdown struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) <= 0 {
		c.end()
	}
	return c.Context.Err()
}

// endedAnywhere fits any estimator with a context that ends when it is asked for some time.
func endedAnywhere(r *rand.Rand) siege.Case {
	p := newProblem(r)
	p.share = pick(r, 0, 0.02, 0.1)
	all := slices.DeleteFunc(slices.Concat(fits, settled, known), func(e estimate) bool {
		return e.name == "journals" // compares two fits
	})
	ctx, end := context.WithCancel(context.Background())
	defer end()
	c := &countdown{Context: ctx, end: end}
	c.left.Store(int64(1 + r.IntN(pick(r, 4, 16, 64, 256, 1024))))
	m, err := all[r.IntN(len(all))].fit(c, p)
	if m == nil {
		return refusal(err)
	}
	return siege.Case{Outcome: siege.Held, Wrong: judge(p, m)}
}

// estimates asks every estimator for the memory of fits of any size.
func estimates(r *rand.Rand) siege.Case {
	n := func() int { return pick(r, 0, 1, 3, 1000, 1<<20, math.MaxInt32, math.MaxInt, -1, math.MinInt, r.Int()) }
	s := mkl.FitSize{Samples: n(), Basis: n(), Kernels: n(), Outputs: n(), LinearColumns: n(), Columns: n()}
	f := fitting{Fitting: mkl.Fitting{Workers: n()}, Ascent: mkl.Ascent{Restarts: n(), MaxSweeps: n()}, Storage: mkl.KernelStorage{Float32: r.IntN(2) == 0}}
	l := mkl.Landmarks{Count: n(), Sample: n()}
	c := siege.Case{Outcome: siege.Held}
	for name, bytes := range map[string]int64{
		"Regression":         with(f, mkl.Regression{Landmarks: pick(r, nil, &l)}).EstimateMemory(s),
		"SharedRegression":   with(f, mkl.SharedRegression{MissingTargets: r.IntN(2) == 0}).EstimateMemory(s),
		"TaskRegression":     with(f, mkl.TaskRegression{}).EstimateMemory(s),
		"Classifier":         with(f, mkl.Classifier[string]{}).EstimateMemory(s),
		"MultiLabel":         with(f, mkl.MultiLabel{}).EstimateMemory(s),
		"TaskClassifier":     with(f, mkl.TaskClassifier{}).EstimateMemory(s),
		"MultiGP":            with(f, mkl.MultiGP{Noise: pick(r, mkl.ConstantNoise, mkl.VaryingNoise, mkl.HeavyNoise)}).EstimateMemory(s),
		"MultiGPClassifier":  with(f, mkl.MultiGPClassifier[string]{}).EstimateMemory(s),
		"Auto":               with(f, mkl.Auto{MaxSamples: n()}).EstimateMemory(s),
		"AutoTargets":        with(f, mkl.AutoTargets{MaxSamples: n()}).EstimateMemory(s),
		"AutoClassifier":     with(f, mkl.AutoClassifier[string]{MaxSamples: n()}).EstimateMemory(s),
		"LandmarkGP":         with(f, mkl.LandmarkGP{Landmarks: &l}).EstimateMemory(s),
		"LandmarkClassifier": with(f, mkl.LandmarkClassifier[string]{Landmarks: &l}).EstimateMemory(s),
		"ProbitClassifier":   with(f, mkl.ProbitClassifier[string]{Rule: anyRule(r), Samples: n()}).EstimateMemory(s),
		"sampled probit":     with(f, mkl.ProbitSampler[string]{GibbsDraws: mkl.GibbsDraws{Chains: n(), Draws: n(), Thin: n()}}).EstimateMemory(s),
		"SpikeSlab":          with(f, mkl.SpikeSlab{}).EstimateMemory(s),
		"MultiTask":          with(f, mkl.MultiTask{Latents: n()}).EstimateMemory(s),
		"FactorAnalysis":     with(f, mkl.FactorAnalysis{Factors: n()}).EstimateMemory(n(), n(), n()),
		"Survival":           with(f, mkl.Survival{}).EstimateMemory(s),
		"Counts":             with(f, mkl.Counts{}).EstimateMemory(s),
		"Ordinal":            with(f, mkl.Ordinal[string]{}).EstimateMemory(s),
		"FactorisedGP":       with(f, mkl.FactorisedGP{}).EstimateMemory(s),
		"factorised classes": with(f, mkl.FactorisedGPClassifier[string]{}).EstimateMemory(s),
		"RelevanceVectors":   with(f, mkl.RelevanceClassifier[string]{}).EstimateMemory(s),
		"pruned vectors":     with(f, mkl.PrunedClassifier[string]{}).EstimateMemory(s),
		"mode of probit":     with(f, mkl.ProbitMAP[string]{}).EstimateMemory(s),
		"PairRegression":     with(f, mkl.PairRegression{Components: n()}).EstimateMemory(s, mkl.FitSize{Samples: n(), Kernels: n()}),
		"PairClassifier":     with(f, mkl.PairClassifier{Components: n()}).EstimateMemory(s, mkl.FitSize{Samples: n(), Kernels: n()}),
	} {
		if bytes < 0 {
			c.Wrong = append(c.Wrong, fmt.Sprintf("%s: %d bytes for %+v, %+v", name, bytes, s, f))
		}
	}
	return c
}

// anyRule returns one of all rules, with those that learn products.
func anyRule(r *rand.Rand) mkl.Rule {
	return pick[mkl.Rule](r, mkl.FixedSum{}, mkl.WeightedSum{}, mkl.SwitchedSum{}, mkl.FixedProduct{}, mkl.WeightedProduct{})
}
