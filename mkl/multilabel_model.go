package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// MultiLabelModel is a fitted [MultiLabel]. It is immutable and safe for
// concurrent use.
type MultiLabelModel struct {
	scores
}

// Kind returns multilabel.
func (m *MultiLabelModel) Kind() string { return "multilabel" }

// Labels returns the number of labels.
func (m *MultiLabelModel) Labels() int { return len(m.active) }

// PredictLabels predicts every label of each sample. It takes one matrix for each
// of Inputs.
func (m *MultiLabelModel) PredictLabels(ctx context.Context, opt PredictOptions, x ...Features) (*LabelPrediction, error) {
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
	err = m.predict(ctx, opt, x, t, func(p *bemkl.ClassPrediction, first, n int) {
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
	return out.checked()
}

// String describes the model in one line.
func (m *MultiLabelModel) String() string {
	return m.describe(fmt.Sprintf("classification by %d labels", m.Labels()))
}

// Summary describes the model in words, line by line.
func (m *MultiLabelModel) Summary() string {
	return m.summary(m.String(), func(o int) string { return fmt.Sprintf("label %d", o+1) })
}
