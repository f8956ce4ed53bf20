package mkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// TaskRegressionModel is a fitted [TaskRegression]. It is immutable and safe for
// concurrent use.
type TaskRegressionModel struct {
	targetFunctions
	posterior *bemkl.TaskPosterior
}

// taskFunctions is the posterior of tasks with basis points of their own, seen from those of
// the design.
type taskFunctions struct {
	*bemkl.TaskPosterior
	basis [][]int // of each task, its basis points, ascending; nil: all
	d     int     // basis points of the design
}

// Dims returns the number of tasks, kernels and basis points of the design.
func (p *taskFunctions) Dims() (L, P, D int) {
	L, P = p.TaskPosterior.Dims()
	return L, P, p.d
}

// WeightCovariance returns that of task o's weights of basis points that it has.
func (p *taskFunctions) WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error) {
	if basis := p.basis[o]; basis != nil {
		place := make([]int, p.d)
		for i, d := range basis {
			place[d] = i
		}
		own := make([]int, len(rows))
		for i, d := range rows {
			own[i] = place[d]
		}
		rows = own
	}
	return p.Task(o).WeightCovariance(ws, 0, rows)
}

// Predict predicts every task; k are kernels with all basis points of the design.
func (p *taskFunctions) Predict(k vi.Kernels, opt vi.PredictOptions) (*bemkl.Prediction, error) {
	return p.predict(k, func(o int, k vi.Kernels) (*bemkl.Prediction, error) { return p.Task(o).Predict(k, opt) })
}

// PredictHealed is Predict, healed; self holds the kernels of the samples with themselves.
func (p *taskFunctions) PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*bemkl.Prediction, error) {
	return p.predict(k, func(o int, k vi.Kernels) (*bemkl.Prediction, error) {
		return p.Task(o).PredictHealed(k, self, opt)
	})
}

// predict makes the predictions of the tasks, each of which sees its own rows of k, those of
// one posterior.
func (p *taskFunctions) predict(k vi.Kernels, of func(o int, k vi.Kernels) (*bemkl.Prediction, error)) (*bemkl.Prediction, error) {
	_, _, n := k.Dims()
	all := &bemkl.Prediction{Mean: la.NewMatrix[float64](len(p.basis), n)}
	for o, basis := range p.basis {
		own := k
		if basis != nil {
			part, err := selectKernels(k.(*vi.Dense), basis, nil) // a design's kernels are dense
			if err != nil {
				return nil, err
			}
			own = part
		}
		task, err := of(o, own)
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
		if !p.Task(o).Healable() {
			return false
		}
	}
	return true
}

// Healer returns what heals task o, given kernels with the task's own basis points.
func (p *taskFunctions) Healer(ws *la.Workspace, o int) (*bemkl.Healer, error) {
	return p.Task(o).Healer(ws, 0)
}

// set completes the model by its posterior and the basis points of the tasks.
func (m *TaskRegressionModel) set(p *bemkl.TaskPosterior, basis [][]int) error {
	f := &taskFunctions{p, basis, m.design.d}
	m.posterior, m.weights, m.targetFunctions.posterior = p, f, f
	m.healing = newHealing(m.design, f)
	var noise []Gamma
	a := la.NewMatrix[float64](len(basis), m.design.d)
	for o, task := range p.State().Tasks {
		noise = append(noise, task.Epsilon)
		if basis[o] == nil {
			copy(a.Row(o), task.A)
		}
		for i, d := range basis[o] {
			a.Set(o, d, task.A[i])
		}
	}
	m.setNoise(noise)
	return m.prepare(a)
}

// Kind returns task-regression.
func (m *TaskRegressionModel) Kind() string { return "task-regression" }

// Posterior returns the approximate posterior, of the standardised targets.
func (m *TaskRegressionModel) Posterior() *bemkl.TaskPosterior { return m.posterior }

// TaskSamples returns the number of training samples of each task.
func (m *TaskRegressionModel) TaskSamples() []int {
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
	noise, samples := m.NoiseSD(), m.TaskSamples()
	return m.summary(m.String(), func(o int) string {
		return fmt.Sprintf("target %d of %d samples: noise SD %.4g", o+1, samples[o], noise[o])
	}) + m.healing.note()
}
