package mkl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Classification holds the settings of [Classifier] and [MultiLabel], Bayesian
// efficient multiple kernel learning (BEMKL). The zero value is ready.
//
// The priors are named as in the paper: Lambda for the precisions of the sample
// weights a, Gamma for that of the bias b and Omega for the kernel weights e;
// see [Regression].
//
// Source: M. Gönen, "Bayesian efficient multiple kernel learning", ICML 2012,
// and its supplement.
type Classification struct {
	Lambda, Gamma, Omega Gamma

	// Margin is half the width of the gap between the classes, on the scale of
	// the scores. The paper has one; without it (0) probabilities come true more
	// nearly and labels are as often right: docs/reproductions.md.
	Margin float64

	// SigmaG is the standard deviation of the intermediate outputs; 0 means 0.1.
	SigmaG float64

	// As in [Regression].
	Seed            uint64
	Restarts        int
	Tolerance       float64
	MaxSweeps       int
	Plain           bool
	AllowDuplicates bool
	Workers         int
	MemoryLimit     int64
	Progress        func(Progress)
	Notes           map[string]string
}

// Classifier learns to tell two or more classes apart, whose names are of any
// comparable type. With two classes there is one function; with more there is
// one for each class, and all share the kernel weights.
type Classifier[T comparable] struct {
	Classification

	// Classes, if not nil, are the classes in the order that models keep, which
	// must be those of the training labels. Otherwise it is the order in which
	// labels first appear.
	Classes []T
}

// Fit fits the model to the views of N samples and their labels. Errors are
// those of [Regression.Fit].
func (c Classifier[T]) Fit(ctx context.Context, views []View, labels []T) (*ClassifierModel[T], error) {
	classes, index, err := c.classes(labels)
	if err != nil {
		return nil, err
	}
	L := len(classes)
	if L == 2 {
		L = 1
	}
	y := la.NewMatrix[float64](L, len(labels))
	y.Fill(-1)
	for i, class := range index {
		switch {
		case L > 1:
			y.Set(class, i, 1)
		case class == 1:
			y.Set(0, i, 1)
		}
	}
	m := &ClassifierModel[T]{classes: classes}
	if err := c.fit(ctx, views, y, &m.scores); err != nil {
		return nil, err
	}
	if len(m.trace.collapsed) == L {
		return nil, &CollapsedError{Model: m}
	}
	return m, nil
}

// classes returns the classes and the index of each sample's.
func (c Classifier[T]) classes(labels []T) (classes []T, index []int, err error) {
	if len(labels) < 2 {
		return nil, nil, fmt.Errorf("mkl: labels: %d samples where at least 2 are needed", len(labels))
	}
	at := map[T]int{}
	for i, class := range c.Classes {
		if j, ok := at[class]; ok {
			return nil, nil, fmt.Errorf("mkl: Classes[%d] and Classes[%d] are both %v", j, i, class)
		}
		at[class] = i
	}
	classes = slices.Clone(c.Classes)
	seen := make([]bool, len(classes))
	for i, label := range labels {
		// NaN is a class of its own each time.
		if label != label {
			return nil, nil, fmt.Errorf("mkl: labels[%d] is %v", i, label)
		}
		j, ok := at[label]
		if !ok {
			if c.Classes != nil {
				return nil, nil, fmt.Errorf("mkl: labels[%d] is %v, which is not one of Classes", i, label)
			}
			j = len(classes)
			at[label] = j
			classes, seen = append(classes, label), append(seen, false)
		}
		seen[j] = true
		index = append(index, j)
	}
	if len(classes) < 2 {
		return nil, nil, fmt.Errorf("mkl: labels: every label is %v: there is nothing to learn", labels[0])
	}
	if j := slices.Index(seen, false); j >= 0 {
		return nil, nil, fmt.Errorf("mkl: labels: class %v has no sample", classes[j])
	}
	return classes, index, nil
}

// MultiLabel learns several labels that samples have or have not, each with a
// function of its own; all share the kernel weights.
type MultiLabel struct {
	Classification
}

// Label says whether a sample has a label.
type Label int8

// What may be known of a sample and a label.
const (
	Unknown Label = iota // nothing: the sample is left out of the label's likelihood
	Absent
	Present
)

// Fit fits the model to the views of N samples and, for each label, whether
// each of them has it. Errors are those of [Regression.Fit].
func (c MultiLabel) Fit(ctx context.Context, views []View, labels ...[]bool) (*MultiLabelModel, error) {
	known := make([][]Label, len(labels))
	for o, label := range labels {
		for _, has := range label {
			known[o] = append(known[o], Absent)
			if has {
				known[o][len(known[o])-1] = Present
			}
		}
	}
	return c.FitKnown(ctx, views, known...)
}

// FitKnown is Fit where labels of some samples are not known.
func (c MultiLabel) FitKnown(ctx context.Context, views []View, labels ...[]Label) (*MultiLabelModel, error) {
	if len(labels) == 0 {
		return nil, fmt.Errorf("mkl: labels: none given")
	}
	n := len(labels[0])
	if n < 2 {
		return nil, fmt.Errorf("mkl: labels[0]: %d samples where at least 2 are needed", n)
	}
	y := la.NewMatrix[float64](len(labels), n)
	for o, label := range labels {
		if len(label) != n {
			return nil, fmt.Errorf("mkl: labels[%d]: %d samples where labels[0] has %d", o, len(label), n)
		}
		row := y.Row(o)
		for i, v := range label {
			switch v {
			case Unknown:
				row[i] = math.NaN()
			case Absent:
				row[i] = -1
			case Present:
				row[i] = 1
			default:
				return nil, fmt.Errorf("mkl: labels[%d][%d] is Label(%d)", o, i, v)
			}
		}
		for _, need := range []Label{Absent, Present} {
			if !slices.Contains(label, need) {
				return nil, fmt.Errorf("mkl: labels[%d]: no sample is known %s it: there is nothing to learn", o, map[Label]string{Absent: "not to have", Present: "to have"}[need])
			}
		}
	}
	m := &MultiLabelModel{}
	if err := c.fit(ctx, views, y, &m.scores); err != nil {
		return nil, err
	}
	if len(m.trace.collapsed) == len(labels) {
		return nil, &CollapsedError{Model: m}
	}
	return m, nil
}

// EstimateMemory returns about how many bytes a fit takes; see
// [Regression.EstimateMemory]. l is the number of labels, or of classes (1 for
// two).
func (c Classification) EstimateMemory(n, d, p, l int) int64 {
	return estimateMemory(c.Workers, n, d, p, l)
}

// fit fits rows of ±1.
func (c Classification) fit(ctx context.Context, views []View, y la.Matrix[float64], m *scores) error {
	f := fitting{
		seed: c.Seed, restarts: c.Restarts, ascent: vi.Ascent{Tolerance: c.Tolerance, MaxSweeps: c.MaxSweeps},
		allowDuplicates: c.AllowDuplicates, workers: c.Workers, memoryLimit: c.MemoryLimit, progress: c.Progress,
	}
	ds, k, err := f.kernels(ctx, views, y.Cols, y.Rows)
	if err != nil {
		return err
	}
	m.design, m.notes = ds, maps.Clone(c.Notes)
	err = f.starts(func(seed uint64, a vi.Ascent) (vi.Record, func(), error) {
		fit, err := bemkl.Classification{
			Lambda: c.Lambda, Gamma: c.Gamma, Omega: c.Omega, Margin: c.Margin, SigmaG: c.SigmaG,
			Ascent: a, Plain: c.Plain, Workers: c.Workers, Seed: seed,
		}.Fit(ctx, k, y)
		if err != nil {
			return vi.Record{}, nil, err
		}
		return fit.Record, func() { m.set(fit.Posterior, newTrace(fit.Record, fit.Collapsed)) }, nil
	})
	if err != nil {
		return err
	}
	return m.prepare(m.posterior.State().A)
}

// scores is what classifiers and multilabel models have in common: a score for
// each row of the posterior.
type scores struct {
	fitted
	posterior *bemkl.ClassificationPosterior
}

func (m *scores) set(p *bemkl.ClassificationPosterior, t Trace) {
	m.posterior, m.weights, m.trace = p, p, t
}

// Posterior returns the approximate posterior.
func (m *scores) Posterior() *bemkl.ClassificationPosterior { return m.posterior }

// score calls do with the scores of samples first … first+n−1, for block after
// block.
func (m *scores) score(ctx context.Context, opt PredictOptions, x []Features, t int, do func(p *bemkl.ClassPrediction, first, n int)) error {
	return m.predictBlocks(ctx, opt.Workers, x, t, func(k vi.Kernels, first, n int) error {
		p, err := m.posterior.Predict(k, opt.inference())
		if err == nil {
			do(p, first, n)
		}
		return err
	})
}

// ClassifierModel is a fitted [Classifier]. It is immutable and safe for
// concurrent use.
type ClassifierModel[T comparable] struct {
	scores
	classes []T
	text    []json.RawMessage // the classes of a loaded model as its file has them
}

// Classes returns the classes in the order of probabilities and decisions.
func (m *ClassifierModel[T]) Classes() []T { return slices.Clone(m.classes) }

// ClassPrediction holds predictions of classes for T samples.
type ClassPrediction[T comparable] struct {
	// Label is the most probable class of each sample; with MeanOnly, the one
	// with the highest decision value.
	Label []T

	// Probability [sample][class] sums to one for each sample. It is nil with
	// MeanOnly.
	Probability [][]float64

	// Decision [sample][class] is the mean of each class's score; with two
	// classes the second's score and its negative.
	Decision [][]float64
}

// Predict returns the most probable class of each sample and the probabilities
// of all classes. It takes one matrix for each of Inputs.
func (m *ClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	p, err := m.PredictClasses(context.Background(), PredictOptions{}, x...)
	if err != nil {
		return nil, nil, err
	}
	return p.Label, p.Probability, nil
}

// PredictClasses is Predict with options, and with decision values.
func (m *ClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	K := len(m.classes)
	out := &ClassPrediction[T]{Label: make([]T, t), Decision: rows(t, K)}
	best := out.Decision
	if !opt.MeanOnly {
		out.Probability = rows(t, K)
		best = out.Probability
	}
	err = m.score(ctx, opt, x, t, func(p *bemkl.ClassPrediction, first, n int) {
		var probability la.Matrix[float64]
		if !opt.MeanOnly {
			probability = p.Probability
			if K > 2 {
				probability = p.Normalise()
			}
		}
		for i := range n {
			spread(out.Decision[first+i], p.Mean, i, func(v float64) float64 { return -v })
			if !opt.MeanOnly {
				spread(out.Probability[first+i], probability, i, func(v float64) float64 { return 1 - v })
			}
			out.Label[first+i] = m.classes[argMax(best[first+i])]
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// spread stores column t of x in row; from the only row of x, that of the second
// of two classes, first makes the other.
func spread(row []float64, x la.Matrix[float64], t int, first func(float64) float64) {
	if x.Rows == 1 {
		row[0], row[1] = first(x.At(0, t)), x.At(0, t)
		return
	}
	for o := range row {
		row[o] = x.At(o, t)
	}
}

func argMax(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// String describes the model in one line.
func (m *ClassifierModel[T]) String() string {
	return m.describe(fmt.Sprintf("classifier of %d classes", len(m.classes)))
}

// Summary describes the model in words, line by line.
func (m *ClassifierModel[T]) Summary() string {
	return m.summary(m.String(), func(o int) string {
		if len(m.classes) == 2 {
			return fmt.Sprintf("class %v against %v", m.classes[1], m.classes[0])
		}
		return fmt.Sprintf("class %v", m.classes[o])
	})
}

// MultiLabelModel is a fitted [MultiLabel]. It is immutable and safe for
// concurrent use.
type MultiLabelModel struct {
	scores
}

// LabelPrediction holds predictions [label][sample].
type LabelPrediction struct {
	Label       [][]bool    // whether Decision is at least 0 and so Probability at least ½
	Probability [][]float64 // that the sample has the label; nil with MeanOnly
	Decision    [][]float64 // the mean of the label's score
}

// Labels returns the number of labels.
func (m *MultiLabelModel) Labels() int { return len(m.active) }

// Predict predicts every label of each sample. It takes one matrix for each of
// Inputs.
func (m *MultiLabelModel) Predict(ctx context.Context, opt PredictOptions, x ...Features) (*LabelPrediction, error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	L := m.Labels()
	out := &LabelPrediction{Label: make([][]bool, L), Decision: rows(L, t)}
	if !opt.MeanOnly {
		out.Probability = rows(L, t)
	}
	for o := range out.Label {
		out.Label[o] = make([]bool, t)
	}
	err = m.score(ctx, opt, x, t, func(p *bemkl.ClassPrediction, first, n int) {
		for o := range L {
			copy(out.Decision[o][first:first+n], p.Mean.Row(o))
			if !opt.MeanOnly {
				copy(out.Probability[o][first:first+n], p.Probability.Row(o))
			}
			for i := first; i < first+n; i++ {
				out.Label[o][i] = out.Decision[o][i] >= 0
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// String describes the model in one line.
func (m *MultiLabelModel) String() string {
	return m.describe(fmt.Sprintf("classification by %d labels", m.Labels()))
}

// Summary describes the model in words, line by line.
func (m *MultiLabelModel) Summary() string {
	return m.summary(m.String(), func(o int) string { return fmt.Sprintf("label %d", o+1) })
}
