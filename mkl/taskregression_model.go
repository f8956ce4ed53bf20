package mkl

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// TaskRegressionModel is a fitted [TaskRegression]. It is immutable and safe for
// concurrent use.
type TaskRegressionModel struct {
	targetFunctions
	posterior *bemkl.TaskPosterior
	functions *taskFunctions // the posterior for the basis points of the design
}

// taskFunctions combines the posteriors of the tasks.
type taskFunctions struct {
	taskWeights[*bemkl.RegressionPosterior]
}

// Predict predicts every task; k are kernels with all basis points of the design.
func (p *taskFunctions) Predict(k vi.Kernels, opt vi.PredictOptions) (*bemkl.Prediction, error) {
	return p.predict(k, func(o int, k vi.Kernels) (*bemkl.Prediction, error) { return p.tasks[o].Predict(k, opt) })
}

// PredictHealed is Predict, healed; self holds the kernels of the samples with themselves.
func (p *taskFunctions) PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*bemkl.Prediction, error) {
	return p.predict(k, func(o int, k vi.Kernels) (*bemkl.Prediction, error) {
		return p.tasks[o].PredictHealed(k, self, opt)
	})
}

// predict makes the predictions of the tasks. Each task uses its own rows of k; of makes the predictions of
// one task.
func (p *taskFunctions) predict(k vi.Kernels, of func(o int, k vi.Kernels) (*bemkl.Prediction, error)) (*bemkl.Prediction, error) {
	_, _, n := k.Dims()
	all := &bemkl.Prediction{Mean: la.NewMatrix[float64](len(p.basis), n)}
	for o := range p.basis {
		task, err := of(o, p.kernels(o, k))
		if err != nil {
			return nil, fmt.Errorf("task %d: %w", o, err)
		}
		copy(all.Mean.Row(o), task.Mean.Row(0))
		if task.Variance.Rows > 0 {
			if o == 0 {
				all.Variance = la.NewMatrix[float64](len(p.basis), n)
			}
			copy(all.Variance.Row(o), task.Variance.Row(0))
		}
	}
	return all, nil
}

// Healable reports whether the predictions of every task can be healed.
func (p *taskFunctions) Healable() bool {
	for o := range p.basis {
		if !p.tasks[o].Healable() {
			return false
		}
	}
	return true
}

// ArchivedHealer returns the healer of task o, given kernels with the task's own basis points.
func (p *taskFunctions) ArchivedHealer(a *archive.Archive, ws *la.Workspace, o int) (*bemkl.Healer, error) {
	return p.tasks[o].ArchivedHealer(a, ws, 0)
}

// set sets the posterior, the basis points of the tasks, and the fields that follow from them.
func (m *TaskRegressionModel) set(p *bemkl.TaskPosterior, basis [][]int) error {
	f := &taskFunctions{taskWeights[*bemkl.RegressionPosterior]{basis: basis, d: m.design.D}}
	var noise []Gamma
	for o, task := range p.State().Tasks {
		f.tasks = append(f.tasks, p.Task(o))
		noise = append(noise, task.Epsilon)
	}
	m.posterior, m.functions, m.weights, m.targetFunctions.posterior = p, f, f, f
	m.healing = newHealing(m.design, f)
	m.setNoise(noise)
	return m.prepare(f.widen(func(o int) []float64 { return p.State().Tasks[o].A }))
}

// continued returns the posterior from which a fit of tasks with the given basis points continues:
// weights of basis points that a task did not have get their prior.
func (m *TaskRegressionModel) continued(f *fitting, ds *gram.Design, basis [][]int) (*bemkl.TaskPosterior, error) {
	s := m.posterior.State()
	if err := checkFrom(f, m.design, "tasks", len(s.Tasks), ds, len(basis)); err != nil {
		return nil, err
	}
	s.Tasks = slices.Clone(s.Tasks)
	for o := range s.Tasks {
		t := &s.Tasks[o]
		t.Lambda, t.A = moved(m.functions.basis[o], t.Lambda, s.Priors.Lambda.Scale, basis[o], ds.D), moved(m.functions.basis[o], t.A, 0, basis[o], ds.D)
		t.Gram, t.Healing = la.NewMatrix[float64](len(t.A), len(t.A)), nil // the fit computes its own
	}
	p, err := bemkl.NewTaskPosterior(s)
	if err != nil {
		return nil, fmt.Errorf("mkl: From: %w", err)
	}
	return p, nil
}

// Kind returns "task-regression".
func (m *TaskRegressionModel) Kind() string { return "task-regression" }

// Posterior returns the approximate posterior for the standardised targets.
func (m *TaskRegressionModel) Posterior() *bemkl.TaskPosterior { return m.posterior }

// taskSamples returns the number of training samples of each task.
func (m *TaskRegressionModel) taskSamples() []int {
	var n []int
	for _, task := range m.posterior.State().Tasks {
		n = append(n, task.Samples)
	}
	return n
}

// Predict returns the predictive mean and variance, noise included, of the model's
// only target for each sample; see PredictTargets.
func (m *TaskRegressionModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// String describes the model in one line.
func (m *TaskRegressionModel) String() string {
	return m.describe("regression of " + m.count() + " with samples of their own")
}

// Summary describes the model in words, line by line.
func (m *TaskRegressionModel) Summary() string {
	noise, samples := m.NoiseSD(), m.taskSamples()
	return m.summary(m.String(), func(o int) string {
		return fmt.Sprintf("target %d of %d samples: noise SD %.4g", o+1, samples[o], noise[o])
	}) + m.healing.note()
}
