package mkl

import (
	"context"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// MultiLabel learns several labels. A sample has or does not have each of them. Each label has a
// function of its own; all share the kernel weights. The model, its settings and its source are as in
// [Classifier]. The zero value is ready to fit.
type MultiLabel struct {
	Fitting
	Ascent

	Lambda, Gamma, Omega Gamma   // as in [Classifier]
	Margin               float64 // as in [Classifier]
	SigmaG               float64 // as in [Classifier]
	Plain                bool    // as in [Classifier]

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many labels to the same samples and
	// kernels, perhaps with other values of the labels or other priors. It replaces Seed, and Restarts must not be set.
	From *MultiLabelModel

	MissingViews    bool          // as in [Regression]
	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
	Slopes          func(Slopes)  // as in [Regression]
	Landmarks       *Landmarks    // as in [Regression]
}

// fitting returns the settings of a fit.
func (c MultiLabel) fitting() *fitting {
	return &fitting{Fitting: c.Fitting, Ascent: c.Ascent, allowDuplicates: c.AllowDuplicates, missingViews: c.MissingViews, storage: c.Storage, slopes: c.Slopes}
}

// Fit fits the model to the views of N samples and, for each label, the values of the N samples. [LabelsOf] makes
// the values of a label that is known for all samples. It returns the errors that [Regression.Fit] returns.
func (c MultiLabel) Fit(ctx context.Context, views []View, labels ...[]Label) (*MultiLabelModel, error) {
	y, err := checkKnown(labels)
	if err != nil {
		return nil, err
	}
	settings := bemkl.Classification{Lambda: c.Lambda, Gamma: c.Gamma, Omega: c.Omega, Margin: c.Margin, SigmaG: c.SigmaG, Plain: c.Plain}
	var from *scores
	if c.From != nil {
		from = &c.From.scores
	}
	s, err := fitScores(ctx, c.fitting(), c.Landmarks, settings, views, y, len(labels), c.EstimateMemory, from)
	if s == nil {
		return nil, err
	}
	m := &MultiLabelModel{*s}
	if err == nil && m.collapsed(len(labels)) {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (c MultiLabel) EstimateMemory(s FitSize) int64 {
	return c.fitting().kernelMemory(c.Landmarks.size(s), s.Outputs)
}
