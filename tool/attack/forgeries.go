package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

// harmless returns a problem from which every estimator makes something.
func harmless(n int) *problem { return &problem{Rand: rand.New(rand.NewPCG(1, 4)), n: n} }

// mildViews are views of two inputs.
func mildViews(p *problem) []mkl.View {
	return []mkl.View{{X: p.normal(2), Input: "x1", Kernel: kernel.RBF{Width: 1}}, {X: p.normal(1), Input: "x2", Kernel: kernel.Linear{}}}
}

// normal returns features without any harm.
func (p *problem) normal(d int) mkl.Features {
	x := mkl.Features{Rows: p.n, Cols: d, Stride: d, Data: make([]float64, p.n*d)}
	for i := range x.Data {
		x.Data[i] = p.NormFloat64()
	}
	return x
}

// forgeries returns the attacks by forged files of what is no model: plans, statistics and
// the journals of fits.
func forgeries() []siege.Attack {
	plan := sync.OnceValue(newPlanned)
	classes := sync.OnceValue(newClassPlanned)
	all := []siege.Attack{
		{Name: "forged plan", Run: func(r *rand.Rand) siege.Case { return plan().forgePlan(r) }},
		{Name: "forged class plan", Run: func(r *rand.Rand) siege.Case { return classes().forgePlan(r) }},
		{Name: "forged statistic", Run: func(r *rand.Rand) siege.Case { return plan().forgeSums(r) }},
		{Name: "forged class statistic", Run: func(r *rand.Rand) siege.Case { return classes().forgeSums(r) }},
	}
	for _, j := range journalled {
		kept := sync.OnceValue(func() []byte { return journalOf(j.fit) })
		all = append(all, siege.Attack{Name: "forged journal of a " + j.name, Run: func(r *rand.Rand) siege.Case {
			return forgeJournal(r, kept(), j.fit)
		}})
	}
	return all
}

// must returns v, of what does not fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// planned is a plan with the sums of some samples, as they are in files.
type planned struct {
	plan, sums *original
	load       func(file []byte) (fit func(sums *stat.Statistic) (mkl.Model, error), saved []byte, err error)
}

var quick = fitting{Fitting: mkl.Fitting{Workers: 1}, Ascent: mkl.Ascent{MaxSweeps: 3}}

func newPlanned() *planned {
	p := harmless(8)
	views, y := mildViews(p), p.normal(1).Data
	x := []mkl.Features{views[0].X, views[1].X}
	plan := must(mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: 3}}.Begin(context.Background(), views, y))
	b := must(plan.Builder(1))
	if err := b.Add(y, x...); err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := plan.Save(&file); err != nil {
		panic(err)
	}
	return &planned{parsed(file.Bytes()), &original{file: must(must(b.Finish()).MarshalBinary())},
		func(file []byte) (func(*stat.Statistic) (mkl.Model, error), []byte, error) {
			plan, err := mkl.LoadAs[*mkl.Plan](bytes.NewReader(file))
			if err != nil {
				return nil, nil, err
			}
			var again bytes.Buffer
			err = plan.Save(&again)
			return func(sums *stat.Statistic) (mkl.Model, error) {
				if sums == nil {
					b, err := plan.Builder(1)
					if err != nil {
						return nil, err
					}
					if err := b.Add(y, x...); err != nil {
						return nil, err
					}
					if sums, err = b.Finish(); err != nil {
						return nil, err
					}
				}
				return some(plan.Fit(context.Background(), with(quick, mkl.PlanFitting{}), sums))
			}, again.Bytes(), err
		}}
}

func newClassPlanned() *planned {
	p := harmless(8)
	views, labels := mildViews(p), []string{"a", "b", "c", "a", "b", "c", "a", "b"}
	rows := mkl.ClassRows[string]{Labels: labels, X: []mkl.Features{views[0].X, views[1].X}}
	all := func(yield func(mkl.ClassRows[string], error) bool) { yield(rows, nil) }
	plan := must(mkl.LandmarkClassifier[string]{Landmarks: &mkl.Landmarks{Count: 3}}.Begin(context.Background(), views, labels))
	sums := must(plan.Sum(context.Background(), 1, all))
	var file bytes.Buffer
	if err := plan.Save(&file); err != nil {
		panic(err)
	}
	return &planned{parsed(file.Bytes()), &original{file: must(sums.MarshalBinary())},
		func(file []byte) (func(*stat.Statistic) (mkl.Model, error), []byte, error) {
			plan, err := mkl.LoadAs[*mkl.ClassPlan[string]](bytes.NewReader(file))
			if err != nil {
				return nil, nil, err
			}
			var again bytes.Buffer
			err = plan.Save(&again)
			return func(sums *stat.Statistic) (mkl.Model, error) {
				if sums == nil {
					var err error
					if sums, err = plan.Sum(context.Background(), 1, all); err != nil {
						return nil, err
					}
				}
				return some(plan.Fit(context.Background(), with(quick, mkl.ClassPlanFitting{}), all, sums))
			}, again.Bytes(), err
		}}
}

// forgePlan changes the file of a plan. What is still a plan is saved and loaded with the same
// bytes, and now and then sums samples and makes a model of the sums.
func (p *planned) forgePlan(r *rand.Rand) siege.Case {
	f := p.plan.parts.clone()
	what := f.mutate(r)
	file, sum := f.bytes()
	c := siege.Case{Print: binary.LittleEndian.Uint64(sum[:])}
	fit, saved, err := p.load(file)
	if err != nil {
		c.Wrong = sane(err)
		return c
	}
	c.Outcome = siege.Held
	_, again, err := p.load(saved)
	switch {
	case err != nil:
		c.Wrong = append(what, err.Error())
	case !bytes.Equal(saved, again):
		c.Wrong = append(what, "saved again it differs")
	case r.IntN(4) == 0:
		m, err := fit(nil)
		if err != nil {
			c.Wrong = sane(err)
		} else if c.Wrong = judgeForged(&problem{Rand: r, n: 8}, m); len(c.Wrong) > 0 {
			c.Wrong = append(what, c.Wrong...)
		}
	}
	return c
}

// forgeSums changes the file of a statistic. What is accepted is written as it was read,
// and now and then a model is made of it.
func (p *planned) forgeSums(r *rand.Rand) siege.Case {
	file, what := changeWords(r, p.sums.file)
	c := siege.Case{Print: fingerprint(file)}
	var s stat.Statistic
	if err := s.UnmarshalBinary(file); err != nil {
		c.Wrong = sane(err)
		return c
	}
	c.Outcome = siege.Held
	again, err := s.MarshalBinary()
	if err != nil || !bytes.Equal(again, file) {
		c.Wrong = append(what, "written again it differs")
		return c
	}
	if m, err := s.Moments(); err == nil {
		_, _ = m.PseudoSamples(nil, 0) // must not panic
	}
	if r.IntN(4) == 0 {
		fit, _, err := p.load(p.plan.file)
		if err != nil {
			c.Wrong = append(what, err.Error())
			return c
		}
		m, err := fit(&s)
		if err != nil {
			c.Wrong = sane(err)
		} else if c.Wrong = judgeForged(&problem{Rand: r, n: 8}, m); len(c.Wrong) > 0 {
			c.Wrong = append(what, c.Wrong...)
		}
	}
	return c
}

// changeWords returns a copy of a file that ends in the SHA-256 of what stands before,
// with one to three of its words, or its length, changed and a hash that is right.
func changeWords(r *rand.Rand, file []byte) (changed []byte, what []string) {
	const word = 8
	body := bytes.Clone(file[:len(file)-sha256.Size])
	for range 1 + r.IntN(3) {
		if len(body) < word {
			break
		}
		// Words are aligned to the end, before which the numbers stand.
		at := len(body) - word*(1+r.IntN(len(body)/word))
		switch r.IntN(12) {
		case 0:
			body = body[:at]
		case 1:
			body = slices.Insert(body, at, body[at:at+word]...)
		case 2:
			body[r.IntN(len(body))] ^= 1 << r.IntN(8)
		case 3, 4, 5:
			n := pick(r, 0, 1, 2, 1<<31, 1<<40, 1<<62, math.MaxUint64, r.Uint64(), uint64(r.IntN(64)))
			binary.LittleEndian.PutUint64(body[at:], n)
		default:
			v := value(r, math.Float64frombits(binary.LittleEndian.Uint64(body[at:])))
			binary.LittleEndian.PutUint64(body[at:], math.Float64bits(v))
		}
	}
	sum := sha256.Sum256(body)
	return append(body, sum[:]...), []string{"words of a file"}
}

var sixClasses = []string{"a", "b", "c", "a", "b", "c"}

// journalled are estimators whose fits go on from journals.
var journalled = []struct {
	name string
	fit  func(ctx context.Context, f fitting) (mkl.Model, error)
}{
	{"regression", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		return some(with(f, mkl.Regression{}).Fit(ctx, mildViews(p), p.normal(1).Data, p.normal(1).Data))
	}},
	{"shared regression", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		return some(with(f, mkl.SharedRegression{}).Fit(ctx, mildViews(p), p.normal(1).Data, p.normal(1).Data))
	}},
	{"shared regression with gaps", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		views, y := mildViews(p), [][]float64{p.normal(1).Data, p.normal(1).Data}
		y[0][2], y[1][4] = math.NaN(), math.NaN()
		return some(with(f, mkl.SharedRegression{MissingTargets: true}).Fit(ctx, views, y...))
	}},
	{"task regression", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		views, y := mildViews(p), [][]float64{p.normal(1).Data, p.normal(1).Data}
		y[0][2], y[1][4] = math.NaN(), math.NaN()
		return some(with(f, mkl.TaskRegression{MissingTargets: true}).Fit(ctx, views, y...))
	}},
	{"classifier", func(ctx context.Context, f fitting) (mkl.Model, error) {
		return some(with(f, mkl.Classifier[string]{}).Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"task classifier", func(ctx context.Context, f fitting) (mkl.Model, error) {
		return some(with(f, mkl.TaskClassifier{}).Fit(ctx, mildViews(harmless(6)), []mkl.Label{0, 1, 2, 1, 2, 2}, []mkl.Label{1, 1, 2, 2, 0, 1}))
	}},
	{"Gaussian process", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		return some(with(f, mkl.MultiGP{}).Fit(ctx, mildViews(p), p.normal(1).Data))
	}},
	{"Gaussian process classifier", func(ctx context.Context, f fitting) (mkl.Model, error) {
		return some(with(f, mkl.MultiGPClassifier[string]{}).Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"sampled probit classifier", func(ctx context.Context, f fitting) (mkl.Model, error) {
		c := with(f, mkl.ProbitSampler[string]{GibbsDraws: mkl.GibbsDraws{Chains: 2, Draws: 4, Thin: 1, BurnIn: 2, Every: 3}})
		return some(c.Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"probit classifier", func(ctx context.Context, f fitting) (mkl.Model, error) {
		c := with(f, mkl.ProbitClassifier[string]{Rule: mkl.WeightedSum{}, Update: mkl.WeightUpdateMeanField, Prune: 1e3})
		return some(c.Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"probit classifier with switches", func(ctx context.Context, f fitting) (mkl.Model, error) {
		c := with(f, mkl.ProbitClassifier[string]{Rule: mkl.SwitchedSum{}, Update: mkl.WeightUpdateStructured})
		return some(c.Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"probit classifier at its mode", func(ctx context.Context, f fitting) (mkl.Model, error) {
		c := with(f, mkl.ProbitMAP[string]{Rule: mkl.WeightedSum{}})
		return some(c.Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"probit classifier of relevance vectors", func(ctx context.Context, f fitting) (mkl.Model, error) {
		c := with(f, mkl.RelevanceClassifier[string]{Rule: mkl.WeightedSum{}})
		return some(c.Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"landmark classifier", func(ctx context.Context, f fitting) (mkl.Model, error) {
		e := with(f, mkl.LandmarkClassifier[string]{Landmarks: &mkl.Landmarks{Count: 3}})
		return some(e.Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"probit classifier of pruned vectors", func(ctx context.Context, f fitting) (mkl.Model, error) {
		c := with(f, mkl.PrunedClassifier[string]{Rule: mkl.WeightedSum{}})
		return some(c.Fit(ctx, mildViews(harmless(6)), sixClasses))
	}},
	{"multi-task", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		return some(with(f, mkl.MultiTask{Latents: 1}).Fit(ctx, mildViews(p), p.normal(1).Data, p.normal(1).Data))
	}},
	{"spike and slab", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		return some(with(f, mkl.SpikeSlab{}).Fit(ctx, p.normal(2), p.normal(1).Data))
	}},
	{"factors", func(ctx context.Context, f fitting) (mkl.Model, error) {
		x := harmless(6).normal(3)
		table := make(mkl.DenseTable, x.Rows)
		for i := range table {
			table[i] = x.Row(i)
		}
		return some(with(f, mkl.FactorAnalysis{Factors: 2}).Fit(ctx, table))
	}},
	{"regression of pairs", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		return some(with(f, mkl.PairRegression{Components: 2}).Fit(ctx, mildViews(p), mildViews(p), p.pairs(false)))
	}},
	{"classifier of pairs", func(ctx context.Context, f fitting) (mkl.Model, error) {
		p := harmless(6)
		return some(with(f, mkl.PairClassifier{Components: 2}).Fit(ctx, mildViews(p), mildViews(p), p.pairs(true)))
	}},
}

// journalOf returns a journal of a fit in its middle.
func journalOf(fit func(context.Context, fitting) (mkl.Model, error)) []byte {
	var kept [][]byte
	f := quick
	f.MaxSweeps = 8
	f.Journal = &mkl.Journal{Every: 1, Save: func(data []byte) error {
		kept = append(kept, bytes.Clone(data))
		return nil
	}}
	if _, err := fit(context.Background(), f); err != nil {
		panic(err)
	}
	return kept[len(kept)/2]
}

// The words before the chains and the ascents of a journal: see [mkl.Journal].
const journalHead = len("bmkl fit journal 1\n") + 3*8

// forgeJournal changes a journal and lets the fit go on from it.
func forgeJournal(r *rand.Rand, journal []byte, fit func(context.Context, fitting) (mkl.Model, error)) siege.Case {
	head := bytes.Clone(journal[:journalHead])
	chains := binary.LittleEndian.Uint64(head[journalHead-8:])
	parts := [][]byte{journal[journalHead:][:chains], journal[journalHead+int(chains):]}
	var what []string
	if chains > 0 {
		parts[0], what = changeWords(r, parts[0])
	} else {
		parts[1], what = changeWords(r, parts[1])
	}
	if r.IntN(50) == 0 {
		head[r.IntN(len(head))] ^= 1 << r.IntN(8)
	} else {
		binary.LittleEndian.PutUint64(head[journalHead-8:], uint64(len(parts[0])))
	}
	file := slices.Concat(head, parts[0], parts[1])
	c := siege.Case{Print: fingerprint(file)}
	j := &mkl.Journal{}
	if err := j.UnmarshalBinary(file); err != nil {
		c.Wrong = sane(err)
		return c
	}
	f := quick
	f.MaxSweeps, f.Journal = 8, j
	m, err := fit(context.Background(), f)
	if m == nil {
		if err == nil {
			c.Wrong = append(what, "neither a model nor an error")
		} else {
			c.Wrong = sane(err)
		}
		return c
	}
	c.Outcome = siege.Held
	if c.Wrong = judgeForged(&problem{Rand: r, n: 6}, m); len(c.Wrong) > 0 {
		c.Wrong = append(what, c.Wrong...)
	}
	return c
}
