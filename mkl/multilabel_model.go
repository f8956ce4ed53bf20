package mkl

import (
	"context"
	"fmt"
)

// MultiLabelModel is a fitted [MultiLabel]. It is immutable and safe for
// concurrent use.
type MultiLabelModel struct {
	scores
}

// Kind returns "multilabel".
func (m *MultiLabelModel) Kind() string { return "multilabel" }

// Labels returns the number of labels.
func (m *MultiLabelModel) Labels() int { return len(m.active) }

// PredictLabels implements [LabelModel].
func (m *MultiLabelModel) PredictLabels(ctx context.Context, opt PredictOptions, x ...Features) (*LabelPrediction, error) {
	return m.predictLabels(ctx, opt, x, m.predictions(x))
}

// String describes the model in one line.
func (m *MultiLabelModel) String() string {
	return m.describe(fmt.Sprintf("classification by %d labels", m.Labels()))
}

// Summary describes the model in words, line by line.
func (m *MultiLabelModel) Summary() string {
	return m.summary(m.String(), func(o int) string { return fmt.Sprintf("label %d", o+1) })
}
