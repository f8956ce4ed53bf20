package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// estimate fits an estimator to a problem of its own making.
type estimate struct {
	name string
	fit  func(ctx context.Context, p *problem) (mkl.Model, error)
}

// fits are the estimators. What joins is an estimator of its own here or among settled, with
// draws of its own: the cases of the others stay as they are.
var fits = []estimate{
	{"regression", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.Regression{
			Lambda: p.gamma(), Upsilon: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(), Epsilon: p.gamma(),
			Plain: p.IntN(4) == 0, RawTargets: p.IntN(4) == 0,
		})
		return some(e.Fit(ctx, p.views(), p.several()...))
	}},
	{"shared regression", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.SharedRegression{Lambda: p.gamma(), Omega: p.gamma(), RawTargets: p.IntN(4) == 0, MissingTargets: p.IntN(2) == 0})
		y := p.several()
		if e.MissingTargets {
			p.gaps(y)
		}
		return some(e.Fit(ctx, p.views(), y...))
	}},
	{"task regression", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.TaskRegression{
			Lambda: p.gamma(), Upsilon: p.gamma(), Gamma: p.gamma(), Omega: p.gamma(), Epsilon: p.gamma(),
			Plain: p.IntN(4) == 0, RawTargets: p.IntN(4) == 0, MissingTargets: p.IntN(2) == 0,
		})
		y := p.several()
		for o := range y {
			for i := range y[o] {
				if e.MissingTargets && p.IntN(3) == 0 {
					y[o][i] = math.NaN()
				}
			}
		}
		return some(e.Fit(ctx, p.views(), y...))
	}},
	{"classifier", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.Classifier[string]{Lambda: p.gamma(), Gamma: p.gamma(), Omega: p.gamma()})
		return some(e.Fit(ctx, p.views(), p.labels()))
	}},
	{"multilabel", func(ctx context.Context, p *problem) (mkl.Model, error) {
		return some(with(p.fitting(), mkl.MultiLabel{}).Fit(ctx, p.views(), p.known()...))
	}},
	{"task classifier", func(ctx context.Context, p *problem) (mkl.Model, error) {
		return some(with(p.fitting(), mkl.TaskClassifier{Lambda: p.gamma()}).Fit(ctx, p.views(), p.known()...))
	}},
	{"Gaussian process", func(ctx context.Context, p *problem) (mkl.Model, error) {
		if p.IntN(4) == 0 {
			return some(with(p.fitting(), mkl.FactorisedGP{Family: p.family(), Plain: p.IntN(4) == 0, RawTargets: p.IntN(4) == 0}).Fit(ctx, p.views(), p.targets()))
		}
		e := with(p.fitting(), mkl.MultiGP{Family: p.family(), HeldPrior: holdAll(p.IntN(4) == 0), RawTargets: p.IntN(4) == 0})
		e.Noise = pick(p.Rand, mkl.ConstantNoise, mkl.ConstantNoise, mkl.VaryingNoise, mkl.HeavyNoise)
		if !p.mild() && p.IntN(3) == 0 {
			e.Prior = mkl.GIG{Omega: p.number(), Chi: p.number(), Phi: p.number()}
		}
		return some(e.Fit(ctx, p.views(), p.targets()))
	}},
	{"Gaussian process classifier", func(ctx context.Context, p *problem) (mkl.Model, error) {
		if p.IntN(4) == 0 {
			return some(with(p.fitting(), mkl.FactorisedGPClassifier[string]{Family: p.family(), Plain: p.IntN(4) == 0}).Fit(ctx, p.views(), p.labels()))
		}
		e := with(p.fitting(), mkl.MultiGPClassifier[string]{Family: p.family(), LowerBound: p.IntN(3) == 0})
		return some(e.Fit(ctx, p.views(), p.labels()))
	}},
	{"landmarks", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.LandmarkGP{Landmarks: p.landmarks()})
		return some(e.Fit(ctx, p.open(), p.targets()))
	}},
	{"landmark classifier", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.LandmarkClassifier[string]{Landmarks: p.landmarks()})
		return some(e.Fit(ctx, p.open(), p.labels()))
	}},
	{"pool", func(ctx context.Context, p *problem) (mkl.Model, error) {
		return some(with(p.fitting(), mkl.Auto{}).Fit(ctx, p.open(), p.targets()))
	}},
	{"pool classifier", func(ctx context.Context, p *problem) (mkl.Model, error) {
		return some(with(p.fitting(), mkl.AutoClassifier[string]{}).Fit(ctx, p.open(), p.labels()))
	}},
	{"probit classifier", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.ProbitClassifier[string]{Rule: p.rule(), Alpha: p.gamma()})
		return some(e.Fit(ctx, p.views(), p.labels()))
	}},
	{"probit classifier, relevance vectors", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.RelevanceClassifier[string]{Rule: p.pointRule()})
		return some(e.Fit(ctx, p.views(), p.labels()))
	}},
	{"probit classifier, pruned vectors", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.PrunedClassifier[string]{Rule: p.pointRule()})
		if p.IntN(2) == 0 {
			e.Alpha, e.Prune = p.gamma(), pick(p.Rand, 0, 0.5, 100)
		}
		if !p.mild() {
			e.Prune, e.Ridge = p.number(), p.number()
		}
		return some(e.Fit(ctx, p.views(), p.labels()))
	}},
	{"probit classifier, learned prior", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.ProbitClassifier[string]{Rule: p.rule(), Alpha: p.gamma(), LearnAlpha: true})
		return some(e.Fit(ctx, p.views(), p.labels()))
	}},
	{"probit classifier, sampled", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.ProbitSampler[string]{Rule: p.rule(), Alpha: p.gamma()})
		e.GibbsDraws = mkl.GibbsDraws{Chains: 2, Draws: 5, Thin: 1}
		if !p.mild() {
			e.GibbsDraws = mkl.GibbsDraws{Chains: pick(p.Rand, 2, -1, 1<<20), Draws: pick(p.Rand, 5, -1, math.MaxInt), Thin: pick(p.Rand, 1, math.MaxInt)}
		}
		return some(e.Fit(ctx, p.views(), p.labels()))
	}},
	{"multi-task", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.MultiTask{
			Latents: pick(p.Rand, 0, 1, 2), FixedKernels: p.IntN(2) == 0, SharedNoise: p.IntN(4) == 0,
			Prior: p.slab(), RawTargets: p.IntN(4) == 0, KeepAll: p.IntN(4) == 0,
		})
		if !p.mild() && p.IntN(10) == 0 {
			e.Latents = pick(p.Rand, -1, math.MaxInt32)
		}
		return some(e.Fit(ctx, p.views(), p.several()...))
	}},
	{"spike and slab", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.SpikeSlab{Prior: p.slab(), RawFeatures: p.IntN(3) == 0, RawTargets: p.IntN(3) == 0, StandardField: p.IntN(3) == 0})
		return some(e.Fit(ctx, p.features(1+p.IntN(6)), p.targets()))
	}},
	{"factors", func(ctx context.Context, p *problem) (mkl.Model, error) {
		cols := 1 + p.IntN(6)
		x := make([]float64, p.n*cols)
		for i := range x {
			x[i] = p.NormFloat64()
		}
		p.spoil(x, cols)
		var table mkl.DenseTable
		for i := range p.n {
			table = append(table, x[i*cols:(i+1)*cols])
		}
		if p.IntN(2) == 0 {
			for i := range x {
				if p.IntN(2) == 0 {
					x[i] = math.NaN() // a gap
				}
			}
		}
		e := with(p.fitting(), mkl.FactorAnalysis{Factors: pick(p.Rand, 0, 1, 2), SharedNoise: p.IntN(3) == 0, NoOffsets: p.IntN(3) == 0, Prior: p.slab()})
		if !p.mild() {
			e.NoiseWeight, e.Factors = p.number(), pick(p.Rand, -1, 1, 100_000)
		}
		return some(e.Fit(ctx, table))
	}},
	{"pairs", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.PairRegression{
			Components: pick(p.Rand, 0, 1, 2), Lambda: p.gamma(), Eta: p.gamma(), Epsilon: p.gamma(),
			NoBias: p.IntN(3) == 0, Plain: p.IntN(3) == 0, RawTargets: p.IntN(4) == 0,
		})
		if !p.mild() {
			e.SigmaG, e.SigmaH, e.SigmaY, e.Components = p.number(), p.number(), p.number(), pick(p.Rand, -1, 1, 30)
		}
		rows, columns, y := p.views(), p.views(), p.pairs(false)
		m, err := e.Fit(ctx, rows, columns, y)
		if err == nil && p.IntN(3) == 0 {
			e.From, e.Lambda, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, rows, columns, y)
		}
		return some(m, err)
	}},
	{"pairs with labels", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.PairClassifier{Components: pick(p.Rand, 0, 1, 2), Gamma: p.gamma(), NoBias: p.IntN(3) == 0})
		if !p.mild() {
			e.SigmaG, e.SigmaH, e.Margin = p.number(), p.number(), p.number()
		}
		rows, columns, y := p.views(), p.views(), p.pairs(true)
		m, err := e.Fit(ctx, rows, columns, y)
		if err == nil && p.IntN(3) == 0 {
			e.From, e.Gamma, e.Restarts = m, p.gamma(), 0
			m, err = e.Fit(ctx, rows, columns, y)
		}
		return some(m, err)
	}},
	{"regression, landmarks", func(ctx context.Context, p *problem) (mkl.Model, error) {
		l := p.landmarks()
		return some(with(p.fitting(), mkl.Regression{Landmarks: l, Plain: p.IntN(4) == 0}).Fit(ctx, p.uncentred(), p.several()...))
	}},
	{"shared regression, landmarks", func(ctx context.Context, p *problem) (mkl.Model, error) {
		l := p.landmarks()
		return some(with(p.fitting(), mkl.SharedRegression{Landmarks: l}).Fit(ctx, p.uncentred(), p.several()...))
	}},
	{"classifier, landmarks", func(ctx context.Context, p *problem) (mkl.Model, error) {
		l := p.landmarks()
		return some(with(p.fitting(), mkl.Classifier[string]{Landmarks: l}).Fit(ctx, p.uncentred(), p.labels()))
	}},
	{"multilabel, landmarks", func(ctx context.Context, p *problem) (mkl.Model, error) {
		l := p.landmarks()
		return some(with(p.fitting(), mkl.MultiLabel{Landmarks: l}).Fit(ctx, p.uncentred(), p.known()...))
	}},
	{"task regression, rounded kernels", func(ctx context.Context, p *problem) (mkl.Model, error) {
		return some(with(p.stored(), mkl.TaskRegression{}).Fit(ctx, p.views(), p.several()...))
	}},
	{"Gaussian process, rounded kernels", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.stored(), mkl.MultiGP{Family: p.family()})
		return some(e.Fit(ctx, p.views(), p.targets()))
	}},
	{"probit classifier, rounded kernels", func(ctx context.Context, p *problem) (mkl.Model, error) {
		if p.IntN(2) == 0 {
			return some(with(p.stored(), mkl.RelevanceClassifier[string]{Rule: p.pointRule()}).Fit(ctx, p.views(), p.labels()))
		}
		return some(with(p.stored(), mkl.ProbitClassifier[string]{Rule: p.rule()}).Fit(ctx, p.views(), p.labels()))
	}},
	{"probit classifier, mode, and on from it", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.ProbitMAP[string]{Rule: p.pointRule(), Alpha: p.gamma()})
		views, labels := p.views(), p.labels()
		m, err := e.Fit(ctx, views, labels)
		if err != nil {
			return some(m, err)
		}
		if p.IntN(2) == 0 {
			return some(with(p.fitting(), mkl.ProbitClassifier[string]{Rule: e.Rule, From: m}).Fit(ctx, views, labels))
		}
		e.From = m
		return some(e.Fit(ctx, views, labels))
	}},
	{"Gaussian process, held and known, and on from it", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.fitting(), mkl.MultiGP{Family: p.family()})
		e.HeldPrior = mkl.HeldPrior{Omega: p.IntN(2) == 0, Chi: p.IntN(3) == 0, Phi: p.IntN(3) == 0}
		e.Prior = mkl.GIG{Omega: p.number(), Chi: p.number(), Phi: p.number()}
		views, y := p.views(), p.targets()
		if p.IntN(2) == 0 {
			e.KnownWeights = make([]float64, len(views))
			e.KnownWeights[p.IntN(len(views))] = p.number()
		}
		m, err := e.Fit(ctx, views, y)
		if err != nil {
			return some(m, err)
		}
		e.From, e.Noise = m, pick(p.Rand, mkl.ConstantNoise, mkl.HeavyNoise)
		return some(e.Fit(ctx, views, y))
	}},
	{"probit classifier, relevances of features", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views := p.views()
		for i := range views {
			switch views[i].Kernel.(type) {
			case kernel.RBF:
				views[i].Kernel = kernel.RBF{Width: p.width(), ARD: true}
			case kernel.Laplacian:
				views[i].Kernel = kernel.Laplacian{Width: p.width(), ARD: true}
			}
		}
		if p.IntN(3) == 0 {
			e := with(p.fitting(), mkl.ProbitSampler[string]{Theta: p.gamma(), GibbsDraws: mkl.GibbsDraws{Chains: 2, Draws: 5, Thin: 1}})
			return some(e.Fit(ctx, views, p.labels()))
		}
		return some(with(p.fitting(), mkl.ProbitClassifier[string]{Theta: p.gamma()}).Fit(ctx, views, p.labels()))
	}},
	{"categories", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views := p.views()
		for i := range views {
			if _, given := views[i].Kernel.(kernel.Precomputed); !given && p.IntN(4) > 0 {
				views[i].Kernel = kernel.Categorical{Width: p.width(), Overlap: p.IntN(4) == 0}
			}
		}
		switch p.IntN(4) {
		case 0:
			return some(with(p.fitting(), mkl.LandmarkGP{Landmarks: p.landmarks()}).Fit(ctx, views, p.targets()))
		case 1:
			return some(with(p.fitting(), mkl.MultiGP{}).Fit(ctx, views, p.targets()))
		case 2:
			return some(with(p.fitting(), mkl.ProbitClassifier[string]{Rule: p.rule()}).Fit(ctx, views, p.labels()))
		}
		return some(with(p.fitting(), mkl.Regression{}).Fit(ctx, views, p.several()...))
	}},
}

// several returns targets for one to three outputs.
func (p *problem) several() [][]float64 {
	var y [][]float64
	for range pick(p.Rand, 1, 1, 2, 3) {
		y = append(y, p.targets())
	}
	return y
}

// open returns views at times without kernels.
func (p *problem) open() []mkl.View {
	views := p.views()
	for i := range views {
		if _, given := views[i].Kernel.(kernel.Precomputed); !given && p.IntN(2) == 0 {
			views[i] = mkl.View{X: views[i].X}
		}
	}
	return views
}

// uncentred returns views that landmarks take, mostly.
func (p *problem) uncentred() []mkl.View {
	views := p.views()
	for i := range views {
		views[i].Center = p.IntN(20) == 0
	}
	return views
}

func (p *problem) family() mkl.Family {
	return pick(p.Rand, mkl.FamilyStudentT, mkl.FamilyLaplace, mkl.FamilyGammaVariance, mkl.FamilyGIG, mkl.FamilyFlat)
}

// holdAll holds the whole prior, or nothing of it.
func holdAll(all bool) (h mkl.HeldPrior) {
	if all {
		h = h.All()
	}
	return h
}

func (p *problem) rule() mkl.Rule {
	return pick[mkl.Rule](p.Rand, mkl.FixedSum{}, mkl.WeightedSum{}, mkl.SwitchedSum{})
}

func (p *problem) pointRule() mkl.PointRule {
	return pick[mkl.PointRule](p.Rand, mkl.FixedSum{}, mkl.WeightedSum{}, mkl.FixedProduct{})
}

// some makes a nil *M a nil Model, and takes the model of a fit that collapsed.
func some[M interface {
	comparable
	mkl.Model
}](m M, err error) (mkl.Model, error) {
	if c, ok := errors.AsType[*mkl.CollapsedError](err); ok {
		return c.Model, nil
	}
	var none M
	if m == none {
		return nil, err
	}
	return m, err
}

// attacks returns all of them: hostile data and forged files for each estimator, forged files of what is no model,
// combinations of fits, and what is asked of models. A case is known by the name of its attack and its seed.
func attacks() []siege.Attack {
	var data, files []siege.Attack
	for _, f := range slices.Concat(fits, settled, known, observed, viewed, leveled, []estimate{groupedFactors}) {
		data = append(data, siege.Attack{Name: f.name, Run: func(r *rand.Rand) siege.Case {
			p := newProblem(r)
			ctx := context.Background()
			if p.IntN(50) == 0 {
				ended, cancel := context.WithCancel(ctx)
				cancel()
				ctx = ended
			}
			m, err := f.fit(ctx, p)
			if m == nil {
				if err == nil {
					return siege.Case{Wrong: []string{"neither a model nor an error"}}
				}
				return siege.Case{Wrong: sane(err)}
			}
			return siege.Case{Outcome: siege.Held, Wrong: judge(p, m)}
		}})
		original := sync.OnceValue(func() *original { return parsed(fileOf(f.fit)) })
		files = append(files, siege.Attack{Name: "forged " + f.name, Run: func(r *rand.Rand) siege.Case {
			return forge(r, original())
		}})
	}
	return slices.Concat(data, files, forgeries(), combinations(), questions(), otherArguments(), bounded(), extended(),
		given(), sums(), severalViews())
}

// fileOf returns the file of a model of an estimator.
func fileOf(fit func(ctx context.Context, p *problem) (mkl.Model, error)) []byte {
	// Some problem of the first seeds is harmless enough to be fitted and saved.
	for seed := uint64(0); ; seed++ {
		p := &problem{Rand: rand.New(rand.NewPCG(seed, 3)), n: 6}
		m, _ := fit(context.Background(), p)
		var file bytes.Buffer
		if m != nil && m.Save(&file) == nil {
			return file.Bytes()
		}
	}
}
