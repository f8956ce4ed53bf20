package mkl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// localClasses is a local process of the classes' indicators, with the head that converts its predictions to
// probabilities.
type localClasses struct {
	localProcess
	head *amplitude.Head
}

// localClassModel is the local member of a pool of classes. It is immutable and safe for concurrent use.
type localClassModel[T comparable] struct {
	localClasses
	classes classSet[T]
}

// leastClassNoise is the least noise variance of standardised indicators. Without it the fit chooses no noise for
// classes that do not overlap, and its predictions between samples are too steep.
const leastClassNoise = 0.01

// classes fits a local process to the views and the class of each sample.
func (f *localFit) classes(ctx context.Context, views []View, class []int, classes int) (m localClasses, err error) {
	f.noise = leastClassNoise
	m.localProcess, err = f.process(ctx, views, indicators(class, classes))
	if err != nil {
		return m, err
	}
	mean, variance := m.posterior.HeldMean, m.posterior.HeldVariance
	m.head, err = amplitude.FitHead(transposed(mean), meanRows(variance), class[len(class)-f.held:], classes)
	return m, err
}

// indicators returns a standardised column for each class: 1 for the samples of the class and 0 for
// the others. For two classes it returns the column of the second only.
func indicators(class []int, classes int) la.Matrix[float64] {
	y := la.NewMatrix[float64](len(class), functions(classes))
	for o := range y.Cols {
		c := o
		if classes == 2 {
			c = 1
		}
		share := 0.0
		for _, v := range class {
			if v == c {
				share += 1 / float64(len(class))
			}
		}
		sd := math.Sqrt(share * (1 - share))
		for i, v := range class {
			of := 0.0
			if v == c {
				of = 1
			}
			y.Set(i, o, (of-share)/sd)
		}
	}
	return y
}

func transposed(x la.Matrix[float64]) la.Matrix[float64] {
	t := la.NewMatrix[float64](x.Cols, x.Rows)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			t.Set(j, i, v)
		}
	}
	return t
}

// meanRows returns the mean of each row.
func meanRows(x la.Matrix[float64]) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		for _, v := range x.Row(i) {
			out[i] += v / float64(x.Cols)
		}
	}
	return out
}

// heldProbabilities returns the probabilities of the held-out samples, which were predicted without them.
func (m *localClasses) heldProbabilities() [][]float64 {
	p := m.posterior
	out := rows(p.HeldMean.Rows, len(m.head.Shares))
	m.head.Probabilities(transposed(p.HeldMean), meanRows(p.HeldVariance), out)
	return out
}

// Kind returns "local-classes", the member's name in a pool's file.
func (m *localClassModel[T]) Kind() string { return "local-classes" }

// Classes returns the classes.
func (m *localClassModel[T]) Classes() []T { return m.classes.names }

// Outputs returns an empty entry for each function.
func (m *localClassModel[T]) Outputs() []ModelOutput {
	return make([]ModelOutput, functions(len(m.classes.names)))
}

// PredictClasses implements [ClassModel].
func (m *localClassModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	mean, variance, err := m.posterior.Predict(ctx, m.features.of(x), nil, opt.MeanOnly, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	out := newClassPrediction[T](t, len(m.classes.names), opt)
	for i := range t {
		row := mean.Row(i)
		if len(row) == 1 {
			copy(out.Decision[i], []float64{-row[0], row[0]})
		} else {
			copy(out.Decision[i], row)
		}
	}
	if !opt.MeanOnly {
		m.head.Probabilities(transposed(mean), meanRows(variance), out.Probability)
	}
	return out.labelled(m.classes.names)
}

// Summary describes the model in words.
func (m *localClassModel[T]) Summary() string {
	return fmt.Sprintf("%s\n%s", m, summarizeActive(m.KernelWeights()))
}

// Save returns an error: the member is part of a pool's file.
func (m *localClassModel[T]) Save(io.Writer) error { return errOnlyInPool }

// localClassesJSON holds the settings of a local model of classes.
type localClassesJSON struct {
	localJSON
	Classes []json.RawMessage `json:"classes"`
	Head    amplitude.Head    `json:"head"`
}

// encode adds the tensors and returns the settings.
func (m *localClassModel[T]) encode(f *fileWriter) localClassesJSON {
	return localClassesJSON{m.localProcess.encode(f), m.classes.encode(f), *m.head}
}

// take fills in the model from its settings and tensors.
func (m *localClassModel[T]) take(f *fileReader, j localClassesJSON) (err error) {
	n := functions(len(j.Classes))
	if m.classes, err = decodeClasses[T](f, j.Classes, n, n); err != nil {
		return err
	}
	if err := m.localProcess.take(f, j.localJSON, n); err != nil {
		return err
	}
	h := j.Head
	if len(h.Shares) != len(j.Classes) || !(h.Variance > 0) || h.Variance > math.MaxFloat64 {
		return fmt.Errorf("head: %d shares of %d classes, variance %g", len(h.Shares), len(j.Classes), h.Variance)
	}
	for _, v := range h.Shares {
		if !(v > 0 && v < 1) {
			return fmt.Errorf("head: a share is %g", v)
		}
	}
	m.head = &h
	return nil
}
