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
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi/mgp"
)

// ClassPlan is the [Plan] of samples with labels, made by [LandmarkClassifier.Begin]. Its sums
// are made in parts as those of a plan are, and the fit passes over the samples besides:
//
//	b, err := plan.Builder(0)
//	err = b.Add(labels, x...)      // some samples, again and again
//	part, err := b.Finish()        // *stat.Statistic: merge, subtract, save, send
//	model, err := plan.Fit(ctx, mkl.Fitting{}, rows, part, other)
//
// A ClassPlan is immutable and safe for concurrent use.
type ClassPlan[T comparable] struct {
	featurePlan
	classes classSet[T]
}

// Classes returns the classes in the order that models keep.
func (p *ClassPlan[T]) Classes() []T { return slices.Clone(p.classes.names) }

// functions returns the number of functions that tell the classes apart.
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
			return nil, fmt.Errorf("mkl: labels[%d] is %s, which is no class of the plan", i, brief(label))
		}
		index[i] = j
	}
	return index, nil
}

// addLabelled adds samples of these classes to pieces: for each function +1 or −1.
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

// ClassPlanBuilder sums samples with labels by a plan, as [PlanBuilder] does.
type ClassPlanBuilder[T comparable] struct {
	summing
	labeller[T]
}

// Builder returns a builder that uses at most so many workers; 0 means
// runtime.GOMAXPROCS(0).
func (p *ClassPlan[T]) Builder(workers int) (*ClassPlanBuilder[T], error) {
	b := &ClassPlanBuilder[T]{labeller: p.labeller()}
	return b, b.begin(&p.featurePlan, p.functions(), workers)
}

// Add adds samples: their labels, and a matrix with a row for each in the order of Inputs.
// Errors are those of [PlanBuilder.Add], and labels that are no class of the plan.
func (b *ClassPlanBuilder[T]) Add(labels []T, x ...Features) error {
	index, err := b.indices(labels)
	if err != nil {
		return err
	}
	return addLabelled(&b.pieces, index, x)
}

// LabelledRows are some samples, for [ClassPlan.Fit].
type LabelledRows[T comparable] struct {
	Labels []T        // classes of the plan
	X      []Features // a matrix for each of Inputs, a row for each sample
}

// Sum sums all samples of an iterator, as [Plan.Sum] does.
func (p *ClassPlan[T]) Sum(ctx context.Context, workers int, rows iter.Seq2[LabelledRows[T], error]) (*stat.Statistic, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	b, err := p.Builder(workers)
	if err != nil {
		return nil, err
	}
	err = eachPart(ctx, rows, func(r LabelledRows[T]) error { return b.Add(r.Labels, r.X...) })
	if err != nil {
		return nil, err
	}
	return b.Finish()
}

// Fit fits the model to the samples of an iterator, which it goes over once in every pass and
// of which it holds only some. Each pass must have the same samples, in the same order for the
// same bits. sums are those of all of them, merged and not changed; if there are none, one pass
// more makes them. Of the settings Tolerance, MaxSweeps (the most passes), Seed (of the samples
// by which odds are sharpened), Workers, Progress and Notes count; the plan's notes stand in
// where there are none.
func (p *ClassPlan[T]) Fit(
	ctx context.Context, f Fitting, rows iter.Seq2[LabelledRows[T], error], sums ...*stat.Statistic,
) (*LandmarkClassifierModel[T], error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case rows == nil:
		return nil, errNoRows
	}
	if err := f.check(0); err != nil {
		return nil, err
	}
	if len(sums) == 0 {
		s, err := p.Sum(ctx, f.Workers, rows)
		if err != nil {
			return nil, err
		}
		sums = []*stat.Statistic{s}
	}
	samples, moments, err := p.moments(sums)
	if err != nil {
		return nil, err
	}
	if err := p.checkClasses(moments); err != nil {
		return nil, err
	}
	m := &LandmarkClassifierModel[T]{plan: p, observations: samples, beyond: p.beyond(moments), sharpness: 1}
	centred := moments.All()
	for i := range centred.Views {
		centred.Views[i].Shift = moments.ViewMean(i)
		la.Scal(-1, centred.Views[i].Shift)
		m.shift = append(m.shift, centred.Views[i].Shift)
	}
	if moments, err = moments.Apply(&la.Workspace{Workers: f.Workers}, centred); err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	D, all := p.width()+1, moments.Groups[0].Sums // the features and 1, and after them the labels
	m.gram = all.Slice(0, D, 0, D).Clone()
	look := &looking[T]{
		plan: p, rows: rows, shift: m.shift, workers: f.Workers,
		share: sharpnessSamples / float64(samples), src: special.NewRand(rand.NewPCG(f.Seed, 0x6f646473)),
	}
	e := mgp.Evidence{Workers: f.Workers, Ascent: f.ascent(1, 1)}
	fits, err := e.FitFeatureLabels(ctx, mgp.FeatureLabels{
		Blocks: append(p.Features(), 1), Gram: m.gram, Sums: all.Slice(D, D+p.functions(), 0, D), Samples: float64(samples), Pass: look.pass,
	})
	if err != nil && !strings.HasPrefix(err.Error(), "mkl: ") { // as an error of the pass has
		err = fmt.Errorf("mkl: %w", err)
	}
	if fits == nil {
		return nil, err
	}
	if look.class == nil { // the journal had all passes
		if kerr := look.keepAll(ctx); kerr != nil {
			return nil, errors.Join(err, kerr)
		}
	}
	trace, terr := passesTrace(fits)
	if terr != nil {
		return nil, errors.Join(err, terr)
	}
	r := f.record(trace)
	if r.notes == nil {
		r.notes = p.Notes()
	}
	m.onViews = onViews{r, p.design}
	for _, fit := range fits {
		m.posteriors, m.bounds = append(m.posteriors, fit.Posterior), append(m.bounds, fit.LogEvidence)
		m.curvatures = append(m.curvatures, fit.Curvature)
	}
	if scores, serr := m.leftOutScores(look.kept, look.class, f.Workers); serr != nil {
		err = errors.Join(err, serr)
	} else if len(scores) > 0 {
		m.sharpness = fitSharpness(scores, look.class)
	}
	return m, err
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

// passesTrace is the trace of functions that shared their passes: of the sum of their log evidences,
// in which a function that was done before others keeps its last. A sum that is not
// finite, as the numbers of a forged journal may give, is an error.
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
	if err := checkTensor("trace.bounds", t.Bounds); err != nil {
		return t, fmt.Errorf("mkl: %w", err)
	}
	return t, nil
}

// sharpnessSamples is about how many samples the sharpness of odds is fitted to, one parameter.
const sharpnessSamples = 5000

// looking makes the passes of a fit. With φ = by·k + shift the values wᵀφ are (byᵀw)ᵀk + wᵀ·shift,
// and gradients Σ slope·φ come from Σ slope·k: no features are made.
type looking[T comparable] struct {
	plan    *ClassPlan[T]
	rows    iter.Seq2[LabelledRows[T], error]
	shift   [][]float64
	workers int

	share float64 // of the samples that the first pass keeps, drawn at random
	src   special.Rand
	kept  [][]float64 // of each input, rows one after another
	class []int       // theirs
}

// pass is one pass over all samples.
func (l *looking[T]) pass(ctx context.Context, q *mgp.Pass) error {
	p, ws := l.plan, &la.Workspace{Workers: l.workers}
	weights := q.Weights()
	F := weights.Rows
	level, slopes := make([]float64, F), make([]float64, F) // wᵀ·(shift; 1); Σ slope
	var at, sum []la.Matrix[float64]                        // of each view wᵀ·by, and Σ slope·kᵀ: F×D
	first := 0
	for i, by := range p.by {
		w := weights.Slice(0, F, first, first+by.Rows)
		v := la.NewMatrix[float64](F, by.Cols)
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, w, by, 0, v)
		for k := range level {
			level[k] += la.Dot(w.Row(k), l.shift[i])
		}
		at, sum = append(at, v), append(sum, la.NewMatrix[float64](F, by.Cols))
		first += by.Rows
	}
	for k := range level {
		level[k] += weights.At(k, first)
	}
	values := la.NewMatrix[float64](F, pieceSamples)
	b := newPieces(&p.featurePlan, p.functions(), l.workers)
	b.visit = func(kernels []la.Matrix[float64], _, y la.Matrix[float64]) error {
		f := values.Slice(0, F, 0, y.Cols)
		for k, c := range level {
			row := f.Row(k)
			for i := range row {
				row[i] = c
			}
		}
		for i, v := range at {
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1, v, kernels[i], 1, f)
		}
		if err := q.Look(f, y); err != nil {
			return err
		}
		for i, s := range sum {
			la.Gemm(ws, la.NoTrans, la.Transpose, 1, f, kernels[i], 1, s)
		}
		for k := range slopes {
			slopes[k] += total(f.Row(k))
		}
		return nil
	}
	keep, labels := l.class == nil, p.labeller()
	err := eachPart(ctx, l.rows, func(r LabelledRows[T]) error {
		index, err := labels.indices(r.Labels)
		if err != nil {
			return err
		}
		if err := addLabelled(&b, index, r.X); err != nil {
			return err
		}
		if keep {
			l.keep(index, r.X)
		}
		return nil
	})
	if err == nil {
		err = b.flush()
	}
	if err != nil {
		return err
	}
	gradient := la.NewMatrix[float64](F, weights.Cols)
	first = 0
	for i, by := range p.by {
		g := gradient.Slice(0, F, first, first+by.Rows)
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, sum[i], by, 0, g)
		for k, s := range slopes {
			la.Axpy(s, l.shift[i], g.Row(k))
		}
		first += by.Rows
	}
	for k, s := range slopes {
		gradient.Set(k, first, s)
	}
	return q.AddGradient(gradient)
}

// keepAll keeps some of the samples without a pass for the fit.
func (l *looking[T]) keepAll(ctx context.Context) error {
	labels := l.plan.labeller()
	return eachPart(ctx, l.rows, func(r LabelledRows[T]) error {
		index, err := labels.indices(r.Labels)
		if err != nil {
			return err
		}
		n, err := l.plan.design.checkInputs(r.X)
		switch {
		case err != nil:
			return err
		case n != len(index):
			return fmt.Errorf("mkl: labels: %d values where x[0] has %d samples", len(index), n)
		}
		l.keep(index, r.X)
		return nil
	})
}

// keep keeps some of the samples.
func (l *looking[T]) keep(index []int, x []Features) {
	if l.class == nil {
		l.class, l.kept = []int{}, make([][]float64, len(x))
	}
	for i, c := range index {
		if l.src.Float64() >= l.share {
			continue
		}
		l.class = append(l.class, c)
		for j := range x {
			l.kept[j] = append(l.kept[j], x[j].Row(i)...)
		}
	}
}

// leftOutScores returns the scores of the classes of samples of the fit, given as the rows of each
// input, by what the other samples tell. At φ_i the function has the mean mᵀφ_i and the variance v. Sample i
// adds the curvature c to the log posterior of w along φ_i, and at the mode the slope y·h. Without it the variance
// is v' = v/(1 − c·v), and the mean mᵀφ_i − v'·y·h, by the step of Newton's method that takes the slope away.
func (m *LandmarkClassifierModel[T]) leftOutScores(kept [][]float64, class []int, workers int) (scoreTable, error) {
	x := make([]Features, len(kept))
	for j, rows := range kept {
		x[j] = la.MatrixOf(len(class), m.design.inputs[j].cols, rows)
	}
	K := len(m.plan.classes.names)
	score := scoreRows(len(class), K)
	err := m.predict(context.Background(), PredictOptions{Workers: workers}, x, len(class), func(o, first int, mean, variance []float64) {
		for i, f := range mean {
			y := -1.0
			if c := class[first+i]; K > 2 && c == o || K == 2 && c == 1 {
				y = 1
			}
			v := max(variance[i]-1, 0)
			v /= 1 - min(float64(m.curvatures[o]*v), mostLeverage)
			h, _ := special.Mills(float64(y * f))
			z := (f - float64(v*y*h)) / math.Sqrt(1+v)
			score.set(first+i, o, special.LogNormalCDF(z), special.LogNormalCDF(-z))
		}
	})
	return score, err
}

// mostLeverage is the most that a sample may tell of its own function, for one that is left out.
const mostLeverage = 1 - 1e-9
