package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// Classifier learns to distinguish two or more classes, whose names are of any
// comparable type, by Bayesian efficient multiple kernel learning (BEMKL). With two
// classes there is one function, the score; with more there is one for each class,
// and all share the kernel weights. The zero value is ready to fit.
//
// The priors are named as in the paper: Lambda for the precisions of the sample
// weights a, Gamma for the precision of the bias b and Omega for the precisions of the
// kernel weights e; see [Regression].
//
// Source: M. Gönen, "Bayesian efficient multiple kernel learning", ICML 2012,
// and its supplement.
type Classifier[T comparable] struct {
	Fitting
	Ascent

	Lambda, Gamma, Omega Gamma

	// Margin is half the width of the gap between the classes, on the scale of
	// the scores. The paper has such a gap. Without it (0) probabilities are better
	// calibrated and labels as often right: docs/lab/reproductions.md.
	Margin float64

	// SigmaG is the standard deviation of the intermediate outputs; 0 means 0.1.
	SigmaG float64

	// Plain does exactly the published updates, which need many more sweeps.
	Plain bool

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
	Slopes          func(Slopes)  // as in [Regression]
	Landmarks       *Landmarks    // as in [Regression]

	// Classes, if not nil, are the classes in the order that models keep. They
	// must be the classes of the training labels. If nil, the order is the one in which
	// labels first appear.
	Classes []T

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many classes to the same
	// samples and kernels, perhaps with other labels or priors. It replaces Seed, and Restarts must not be set.
	From *ClassifierModel[T]
}

// fitting returns the settings of a fit.
func (c Classifier[T]) fitting() *fitting {
	return &fitting{Fitting: c.Fitting, Ascent: c.Ascent, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage, slopes: c.Slopes}
}

// Fit fits the model to the views of N samples and their labels. It returns the
// errors that [Regression.Fit] returns.
func (c Classifier[T]) Fit(ctx context.Context, views []View, labels []T) (*ClassifierModel[T], error) {
	classes, index, err := checkLabels(c.Classes, labels)
	if err != nil {
		return nil, err
	}
	settings := bemkl.Classification{Lambda: c.Lambda, Gamma: c.Gamma, Omega: c.Omega, Margin: c.Margin, SigmaG: c.SigmaG, Plain: c.Plain}
	y := oneAgainstRest(len(classes), index)
	var from *scores
	if c.From != nil {
		if from = &c.From.scores; !slices.Equal(c.From.classes.names, classes) {
			return nil, fmt.Errorf("mkl: From: its classes are %v, not %v", c.From.classes.names, classes)
		}
	}
	s, err := fitScores(ctx, c.fitting(), c.Landmarks, settings, views, y, len(classes), c.EstimateMemory, from)
	if s == nil {
		return nil, err
	}
	m := &ClassifierModel[T]{scores: *s, classes: classSet[T]{names: classes}}
	if err == nil && m.collapsed(y.Rows) {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
// s.Outputs counts the classes.
func (c Classifier[T]) EstimateMemory(s FitSize) int64 {
	return c.fitting().kernelMemory(c.Landmarks.size(s), functions(s.Outputs))
}
