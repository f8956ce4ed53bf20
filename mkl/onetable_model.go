package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// tableInputs are the inputs of a pool whose columns are a table.
type tableInputs struct{ design *gram.Design }

// tableInputsOf returns the inputs of a pool, by its first member.
func tableInputsOf(m Model) tableInputs {
	return tableInputs{&gram.Design{Inputs: m.(interface{ inputs() []gram.Input }).inputs()}}
}

// joined returns the matrices of the inputs as one table.
func (t tableInputs) joined(x []Features) (Features, error) {
	if _, err := checkInputs(t.design, x); err != nil {
		return Features{}, err
	}
	return sideBySide(x), nil
}

// Inputs describes the matrices that a prediction takes.
func (t tableInputs) Inputs() []ModelInput { return (&onViews{design: t.design}).Inputs() }

// check reports whether a pool with these inputs takes the table.
func (t tableInputs) check(of []ModelInput) error {
	columns := 0
	for _, in := range t.design.Inputs {
		columns += in.Cols
	}
	if len(of) != 1 || of[0].Cols != columns {
		return fmt.Errorf("model: %s: inputs %v where the views have %d columns", AllColumns, of, columns)
	}
	return nil
}

// tableModel is the pool of the columns as one table, as a member of the pool of the views.
type tableModel struct {
	*AutoModel
	tableInputs
}

// Inputs describes the matrices that a prediction takes: the ones of the views.
func (m *tableModel) Inputs() []ModelInput { return m.tableInputs.Inputs() }

// PredictTargets implements [TargetModel].
func (m *tableModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.PredictTargets(ctx, opt, t)
}

// PredictJoint is as in [AutoModel].
func (m *tableModel) PredictJoint(ctx context.Context, opt PredictOptions, x ...Features) (*JointPrediction, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.PredictJoint(ctx, opt, t)
}

// PredictViews is as in [AutoModel]. The columns of all views are one view.
func (m *tableModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.PredictViews(ctx, opt, t)
}

// KernelSpreads is as in [AutoModel].
func (m *tableModel) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.KernelSpreads(ctx, opt, t)
}

// tableClassModel is tableModel for classes.
type tableClassModel[T comparable] struct {
	*AutoClassifierModel[T]
	tableInputs
}

// Inputs describes the matrices that a prediction takes: the ones of the views.
func (m *tableClassModel[T]) Inputs() []ModelInput { return m.tableInputs.Inputs() }

// PredictClasses implements [ClassModel].
func (m *tableClassModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoClassifierModel.PredictClasses(ctx, opt, t)
}

// logOddsMoments implements [classViewer].
func (m *tableClassModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoClassifierModel.logOddsMoments(ctx, opt, []Features{t})
}

// KernelSpreads is as in [AutoClassifierModel].
func (m *tableClassModel[T]) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoClassifierModel.KernelSpreads(ctx, opt, t)
}
