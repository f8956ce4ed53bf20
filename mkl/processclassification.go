package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// processClassification is a fit of multiple Gaussian processes to classes: by [MultiGPClassifier] or
// [FactorisedGPClassifier].
type processClassification[T comparable] struct {
	*fitting
	processSettings
	classes []T                        // Classes
	model   *MultiGPClassifierModel[T] // From
}

// fit fits the model to the views of N samples and their labels.
func (c *processClassification[T]) fit(ctx context.Context, views []View, labels []T) (model *MultiGPClassifierModel[T], err error) {
	classes, index, err := checkLabels(c.classes, labels)
	if err != nil {
		return nil, err
	}
	t, err := bindViews(views, len(labels), c.missingViews)
	if err != nil {
		return nil, err
	}
	if c.factorised {
		if err := t.CheckFixed(); err != nil {
			return nil, err
		}
	}
	k, err := c.processKernels(ctx, t, len(classes), c.memory)
	if err != nil {
		return nil, suggestLandmarks(err, c.Fitting, views, len(labels), len(classes))
	}
	defer gram.Release(k, &model, &err)
	m := &MultiGPClassifierModel[T]{classes: classSet[T]{names: classes}, sharpness: 1}
	m.onViews = onViews{c.record(Trace{}), t.Design}
	c.name = func(o int) string { return m.classes.against(o, " against the rest") }
	if c.model != nil {
		if !slices.Equal(c.model.classes.names, classes) {
			return nil, fmt.Errorf("mkl: From: its classes are %v, not %v", c.model.classes.names, classes)
		}
		if err := checkFrom(c.fitting, c.model.design, "functions", len(c.model.posteriors), t.Design, functions(len(classes))); err != nil {
			return nil, err
		}
		c.from = &c.model.processes
	}
	c.orderByContent(views, vec.Floats(index), true)
	whole, err := c.processSettings.fit(ctx, c.fitting, &m.processes, k, oneAgainstRest(len(classes), index), true)
	if !whole {
		return nil, err
	}
	if scores := m.leftOutScores(index); scores != nil && !m.adapted {
		m.sharpness = fitSharpness(scores, index)
	}
	return m, err
}

// memory returns about how many bytes a fit of the given size takes. s.Outputs counts the classes.
func (c *processClassification[T]) memory(s FitSize) int64 {
	return c.processMemory(s, functions(s.Outputs), true)
}
