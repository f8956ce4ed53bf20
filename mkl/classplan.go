package mkl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi/mgp"
)

// ClassPlan is the [Plan] of samples with labels, made by [LandmarkClassifier.Begin]. Its sums
// are made in parts as with a Plan. In addition, the fit passes over the samples:
//
//	b, err := plan.Builder(0)
//	err = b.Add(labels, x...)      // some samples, again and again
//	part, err := b.Finish()        // *stat.Statistic: merge, subtract, save, send
//	model, err := plan.Fit(ctx, mkl.ClassPlanFitting{}, rows, part, other)
//
// A ClassPlan is immutable and safe for concurrent use.
type ClassPlan[T comparable] struct {
	featurePlan
	classes classSet[T]
}

// Classes returns the classes in the order that models keep.
func (p *ClassPlan[T]) Classes() []T { return slices.Clone(p.classes.names) }

// functions returns the number of functions that distinguish the classes.
func (p *ClassPlan[T]) functions() int { return functions(len(p.classes.names)) }

// labeller knows the index of each class.
type labeller[T comparable] struct {
	at map[T]int
}

func (p *ClassPlan[T]) labeller() labeller[T] {
	at, _ := indexClasses(p.classes.names) // the plan has each once
	return labeller[T]{at}
}

// indices returns the indices of the classes of labels.
func (l labeller[T]) indices(labels []T) ([]int, error) {
	index := make([]int, len(labels))
	hashable := hashableClass[T]()
	for i, label := range labels {
		if err := hashable(label); err != nil {
			return nil, fmt.Errorf("mkl: labels[%d]: %w", i, err)
		}
		j, ok := l.at[label]
		if !ok {
			return nil, fmt.Errorf("mkl: labels[%d] is %s, which is not a class of the plan", i, brief(label))
		}
		index[i] = j
	}
	return index, nil
}

// addLabelled adds samples whose classes have the given indices to pieces: +1 or −1 for each function.
func addLabelled(b *pieces, index []int, x []Features) error {
	return b.add(x, "labels", len(index), func(i int, y la.Matrix[float64], column int) {
		for o := range y.Rows {
			y.Set(o, column, -1)
		}
		switch {
		case y.Rows > 1:
			y.Set(index[i], column, 1)
		case index[i] == 1:
			y.Set(0, column, 1)
		}
	})
}

// ClassPlanBuilder sums samples with labels according to a plan, as [PlanBuilder] does.
type ClassPlanBuilder[T comparable] struct {
	summing
	labeller[T]
}

// Builder returns a builder that uses at most workers workers; 0 means
// runtime.GOMAXPROCS(0).
func (p *ClassPlan[T]) Builder(workers int) (*ClassPlanBuilder[T], error) {
	b := &ClassPlanBuilder[T]{labeller: p.labeller()}
	return b, b.begin(&p.featurePlan, p.functions(), workers)
}

// Add adds samples: their labels, and a matrix with a row for each sample, in the order of Inputs.
// It returns the errors that [PlanBuilder.Add] returns, and an error for a label that is no class of the plan.
func (b *ClassPlanBuilder[T]) Add(labels []T, x ...Features) error {
	index, err := b.indices(labels)
	if err != nil {
		return err
	}
	return addLabelled(&b.pieces, index, x)
}

// ClassRows are some samples, for [ClassPlan.Fit].
type ClassRows[T comparable] struct {
	Labels []T        // classes of the plan
	X      []Features // a matrix for each of Inputs, a row for each sample
}

// Sum sums all samples of an iterator, as [Plan.Sum] does.
func (p *ClassPlan[T]) Sum(ctx context.Context, workers int, rows iter.Seq2[ClassRows[T], error]) (*stat.Statistic, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	b, err := p.Builder(workers)
	if err != nil {
		return nil, err
	}
	err = eachPart(ctx, rows, func(r ClassRows[T]) error { return b.Add(r.Labels, r.X...) })
	if err != nil {
		return nil, err
	}
	return b.Finish()
}

// ClassPlanFitting holds the settings of a fit that passes over samples. Seed chooses the samples that sharpen the odds.
// MemoryLimit has no effect. Without Notes the model gets the notes of the plan.
type ClassPlanFitting struct {
	Fitting
	MinRise   float64 // as in [LandmarkClassifier]
	MaxPasses int     // as in [LandmarkClassifier]
}

// Fit fits the model to the samples of an iterator. It reads all of them once in every pass and
// keeps only some in memory. Each pass must give the same samples, in the same order for the
// same bits. sums are the unchanged sums of all samples, or of all their parts. Without sums, Fit computes them in
// one additional pass.
func (p *ClassPlan[T]) Fit(
	ctx context.Context, settings ClassPlanFitting, rows iter.Seq2[ClassRows[T], error], sums ...*stat.Statistic,
) (*LandmarkClassifierModel[T], error) {
	switch {
	case ctx == nil:
		return nil, gram.ErrNoContext
	case rows == nil:
		return nil, errNoRows
	}
	f := settings.fitting()
	if err := f.check(0); err != nil {
		return nil, err
	}
	samples, moments, err := p.labelMoments(ctx, f.Workers, rows, sums)
	if err != nil {
		return nil, err
	}
	return p.fit(ctx, f, rows, samples, moments)
}

func (s ClassPlanFitting) fitting() *fitting {
	return &fitting{Fitting: s.Fitting, Ascent: Ascent{Tolerance: s.MinRise, MaxSweeps: s.MaxPasses}, limit: "MaxPasses"}
}

// fit is Fit for the given number of samples and their moments.
func (p *ClassPlan[T]) fit(
	ctx context.Context, f *fitting, rows iter.Seq2[ClassRows[T], error], samples int64, moments *stat.Moments,
) (*LandmarkClassifierModel[T], error) {
	m := &LandmarkClassifierModel[T]{plan: p, observations: samples, beyond: p.beyond(moments), sharpness: 1}
	labels, silent, err := m.centre(moments, f.Workers)
	if err != nil {
		return nil, err
	}
	look := &looking[T]{
		plan: p, rows: rows, shift: m.shift, silent: silent, workers: f.Workers,
		share: sharpnessSamples / float64(samples), src: special.NewRand(rand.NewPCG(f.Seed, 0x6f646473)),
	}
	e := mgp.Evidence{Workers: f.Workers, Ascent: f.ascent(1, 1)}
	fits, err := e.FitFeatureLabels(ctx, mgp.FeatureLabels{
		Blocks: append(p.Features(), 1), Gram: m.gram, Sums: labels, Samples: float64(samples), Pass: look.pass,
	})
	if err != nil && !strings.HasPrefix(err.Error(), "mkl: ") { // an error of the pass has this prefix already
		err = fmt.Errorf("mkl: %w", err)
	}
	if fits == nil {
		return nil, err
	}
	if look.class == nil { // all passes came from the journal
		if kerr := look.keepAll(ctx); kerr != nil {
			return nil, errors.Join(err, kerr)
		}
	}
	if terr := m.adopt(fits, f); terr != nil {
		return nil, errors.Join(err, terr)
	}
	if scores, serr := m.leftOutScores(look.kept, look.class, f.Workers); serr != nil {
		err = errors.Join(err, serr)
	} else if len(scores) > 0 {
		m.sharpness = fitSharpness(scores, look.class)
	}
	return m, err
}

// labelMoments returns the number of all samples and their moments, from sums of all samples or, without sums, by a pass.
func (p *ClassPlan[T]) labelMoments(
	ctx context.Context, workers int, rows iter.Seq2[ClassRows[T], error], sums []*stat.Statistic,
) (int64, *stat.Moments, error) {
	if len(sums) == 0 {
		s, err := p.Sum(ctx, workers, rows)
		if err != nil {
			return 0, nil, err
		}
		sums = []*stat.Statistic{s}
	}
	samples, moments, err := p.moments(sums)
	if err != nil {
		return 0, nil, err
	}
	return samples, moments, p.checkClasses(moments)
}

// centre sets the shift that gives each feature the mean 0, and gram, the sums of products of the features so shifted
// and of 1. It returns the sums of their products with the labels, functions × features. Views are silent whose
// features are rounding errors once they have the mean 0: their sums are 0, so that their kernels learn nothing.
func (m *LandmarkClassifierModel[T]) centre(moments *stat.Moments, workers int) (labels la.Matrix[float64], silent []bool, err error) {
	centred := moments.All()
	for i := range centred.Views {
		centred.Views[i].Shift = moments.ViewMean(i)
		la.Scal(-1, centred.Views[i].Shift)
		m.shift = append(m.shift, centred.Views[i].Shift)
	}
	if moments, err = moments.Apply(&la.Workspace{Workers: workers}, centred); err != nil {
		return labels, nil, fmt.Errorf("mkl: %w", err)
	}
	D, all, first := m.plan.width()+1, moments.Groups[0].Sums, 0 // the features and 1, and after them the labels
	for i, d := range moments.Views {
		silent = append(silent, moments.Vanishes(i))
		if silent[i] {
			all.Slice(first, first+d, 0, D).Fill(0)
			all.Slice(0, all.Rows, first, first+d).Fill(0)
		}
		first += d
	}
	m.gram = all.Slice(0, D, 0, D).Clone()
	return all.Slice(D, D+m.plan.functions(), 0, D), silent, nil
}

// adopt stores the fits of the functions in the model.
func (m *LandmarkClassifierModel[T]) adopt(fits []*mgp.FeatureFit, f *fitting) error {
	trace, err := passesTrace(fits)
	if err != nil {
		return err
	}
	r := f.record(trace)
	if r.notes == nil {
		r.notes = m.plan.Notes()
	}
	m.onViews = onViews{r, m.plan.design}
	for _, fit := range fits {
		m.posteriors, m.bounds = append(m.posteriors, fit.Posterior), append(m.bounds, fit.LogEvidence)
		m.curvatures = append(m.curvatures, fit.Curvature)
	}
	return nil
}

// checkClasses returns an error unless every class has a sample.
func (p *ClassPlan[T]) checkClasses(m *stat.Moments) error {
	n := m.Samples()
	for c, class := range p.classes.names {
		o := min(c, p.functions()-1)
		_, mean, _ := m.Target(o)
		if p.functions() == 1 && c == 0 {
			mean = -mean
		}
		if !(math.Round(n*(1+mean)/2) >= 1) {
			return fmt.Errorf("mkl: sums: class %s has no sample", brief(class))
		}
	}
	return nil
}

// passesTrace is the trace of functions that shared their passes. Its bound is the sum of their log evidences;
// a function that was done earlier keeps its last value. A sum that is not
// finite is an error: the numbers of a forged journal may give one.
func passesTrace(fits []*mgp.FeatureFit) (Trace, error) {
	t := newTrace(fits[0].Record, nil)
	for _, f := range fits {
		t.Sweeps = max(t.Sweeps, len(f.Record.Trace))
		if !f.Record.Reason.Done() {
			t.Converged, t.Reason = false, f.Record.Reason.String()
		}
	}
	t.Bounds = make([]float64, t.Sweeps)
	for _, f := range fits {
		for i := range t.Bounds {
			t.Bounds[i] += f.Record.Trace[min(i, len(f.Record.Trace)-1)]
		}
	}
	if err := checkTensor("trace.bounds", 0, t.Bounds); err != nil {
		return t, fmt.Errorf("mkl: %w", err)
	}
	return t, nil
}
