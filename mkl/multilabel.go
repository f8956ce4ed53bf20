package mkl

import (
	"context"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// MultiLabel learns several labels that samples have or have not, each with a
// function of its own; all share the kernel weights. It is the model of
// [Classifier], with its settings and its source. The zero value is ready to fit.
type MultiLabel struct {
	Fitting

	Lambda, Gamma, Omega Gamma   // as in [Classifier]
	Margin               float64 // as in [Classifier]
	SigmaG               float64 // as in [Classifier]
	Plain                bool    // as in [Classifier]

	// From, if not nil, is a model of an earlier fit of as many labels to the same samples and
	// kernels, perhaps with other values of them or priors, to continue from; it takes the place of Seed,
	// and Restarts is an error.
	From *MultiLabelModel

	Landmarks *Landmarks // as in [Regression]
}

// Fit fits the model to the views of N samples and, for each label, whether
// each of them has it. Errors are those of [Regression.Fit].
func (c MultiLabel) Fit(ctx context.Context, views []View, labels ...[]bool) (*MultiLabelModel, error) {
	known := make([][]Label, len(labels))
	for o, label := range labels {
		known[o] = make([]Label, len(label))
		for i, has := range label {
			known[o][i] = Absent
			if has {
				known[o][i] = Present
			}
		}
	}
	return c.FitKnown(ctx, views, known...)
}

// FitKnown is Fit where labels of some samples are not known.
func (c MultiLabel) FitKnown(ctx context.Context, views []View, labels ...[]Label) (*MultiLabelModel, error) {
	y, err := checkKnown(labels)
	if err != nil {
		return nil, err
	}
	settings := bemkl.Classification{Lambda: c.Lambda, Gamma: c.Gamma, Omega: c.Omega, Margin: c.Margin, SigmaG: c.SigmaG, Plain: c.Plain}
	var from *scores
	if c.From != nil {
		from = &c.From.scores
	}
	s, err := fitScores(ctx, &c.Fitting, c.Landmarks, settings, views, y, len(labels), c.EstimateMemory, from)
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
func (c MultiLabel) EstimateMemory(s Size) int64 {
	return c.kernelMemory(c.Landmarks.size(s), s.Outputs)
}
