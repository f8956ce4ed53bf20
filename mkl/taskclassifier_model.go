package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// TaskClassifierModel is a fitted [TaskClassifier]. It is immutable and safe for concurrent
// use.
type TaskClassifierModel struct {
	weighted
	posterior *bemkl.TaskClassificationPosterior
	functions *taskScores // the posterior for the basis points of the design
}

// taskScores combines the posteriors of the tasks.
type taskScores struct {
	taskWeights[*bemkl.ClassificationPosterior]
}

// Predict predicts every task; k are kernels with all basis points of the design.
func (p *taskScores) Predict(k vi.Kernels, opt vi.PredictOptions) (*bemkl.ClassPrediction, error) {
	_, _, n := k.Dims()
	L := len(p.tasks)
	all := &bemkl.ClassPrediction{Prediction: bemkl.Prediction{Mean: la.NewMatrix[float64](L, n)}}
	if !opt.MeanOnly {
		all.Probability = la.NewMatrix[float64](L, n)
	}
	for o := range p.tasks {
		task, err := p.tasks[o].Predict(p.kernels(o, k), opt)
		if err != nil {
			return nil, fmt.Errorf("task %d: %w", o, err)
		}
		copy(all.Mean.Row(o), task.Mean.Row(0))
		if !opt.MeanOnly {
			copy(all.Probability.Row(o), task.Probability.Row(0))
		}
	}
	return all, nil
}

// set sets the posterior, the basis points of the tasks, and the fields that follow from them.
func (m *TaskClassifierModel) set(p *bemkl.TaskClassificationPosterior, basis [][]int) error {
	f := &taskScores{taskWeights[*bemkl.ClassificationPosterior]{basis: basis, d: m.design.D}}
	for o := range basis {
		f.tasks = append(f.tasks, p.Task(o))
	}
	m.posterior, m.functions, m.weights = p, f, f
	return m.prepare(f.widen(func(o int) []float64 { return p.State().Tasks[o].A }))
}

// continued returns the posterior from which a fit of tasks with the given basis points continues:
// weights of basis points that a task did not have get their prior.
func (m *TaskClassifierModel) continued(f *fitting, ds *gram.Design, basis [][]int) (*bemkl.TaskClassificationPosterior, error) {
	s := m.posterior.State()
	if err := checkFrom(f, m.design, "tasks", len(s.Tasks), ds, len(basis)); err != nil {
		return nil, err
	}
	s.Tasks = slices.Clone(s.Tasks)
	for o := range s.Tasks {
		t := &s.Tasks[o]
		t.Lambda, t.A = moved(m.functions.basis[o], t.Lambda, s.Priors.Lambda.Scale, basis[o], ds.D), moved(m.functions.basis[o], t.A, 0, basis[o], ds.D)
		t.Gram = la.NewMatrix[float64](len(t.A), len(t.A)) // the fit computes its own
	}
	p, err := bemkl.NewTaskClassificationPosterior(s)
	if err != nil {
		return nil, fmt.Errorf("mkl: From: %w", err)
	}
	return p, nil
}

// Kind returns "task-classifier".
func (m *TaskClassifierModel) Kind() string { return "task-classifier" }

// Labels returns the number of labels.
func (m *TaskClassifierModel) Labels() int { return len(m.active) }

// Posterior returns the approximate posterior.
func (m *TaskClassifierModel) Posterior() *bemkl.TaskClassificationPosterior { return m.posterior }

// taskSamples returns the number of training samples of each task.
func (m *TaskClassifierModel) taskSamples() []int {
	var n []int
	for _, task := range m.posterior.State().Tasks {
		n = append(n, task.Samples)
	}
	return n
}

// PredictLabels implements [LabelModel].
func (m *TaskClassifierModel) PredictLabels(ctx context.Context, opt PredictOptions, x ...Features) (*LabelPrediction, error) {
	return m.predictLabels(ctx, opt, x, func(k vi.Kernels, _ int, opt vi.PredictOptions) (*bemkl.ClassPrediction, error) {
		return m.functions.Predict(k, opt)
	})
}

// Predictor prunes the model for predictions of single samples, as
// [ClassifierModel.Predictor] does.
func (m *TaskClassifierModel) Predictor(opt PredictorOptions) (*LabelPredictor, error) {
	opt = m.archived(opt)
	s := m.posterior.State()
	a := m.functions.widen(func(o int) []float64 { return s.Tasks[o].A })
	p, err := newScorePredictors(opt, s.Margin, m.Labels(), func(o int) function {
		return function{
			weighted: &m.weighted, basis: m.functions.basis[o], a: a.Row(o), beMean: s.BEMean, beCov: s.BECov,
			spread: s.SigmaG * s.SigmaG, roundoff: m.functions.roundoff,
			project: func(k vi.Columns, opt bemkl.ProjectOptions) (*bemkl.Projection, error) {
				return m.functions.tasks[o].Project(k, 0, opt)
			},
		}
	})
	if err != nil {
		return nil, err
	}
	return &LabelPredictor{p}, nil
}

// String describes the model in one line.
func (m *TaskClassifierModel) String() string {
	return m.describe(fmt.Sprintf("classification by %d labels with samples of their own", m.Labels()))
}

// Summary describes the model in words, line by line.
func (m *TaskClassifierModel) Summary() string {
	samples := m.taskSamples()
	return m.summary(m.String(), func(o int) string { return fmt.Sprintf("label %d of %d samples", o+1, samples[o]) })
}
