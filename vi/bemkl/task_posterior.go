package bemkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/predictive"
)

// TaskState is everything a [TaskPosterior] is made of. It is plain data, to be saved and
// restored; matrices of a state that belongs to a posterior must not be changed.
type TaskState struct {
	Priors RegressionPriors
	Tasks  []TaskFactors // T
	Omega  []vi.Gamma    // P

	// Mean and covariance of (b_1 … b_T, e_1 … e_P).
	BEMean []float64
	BECov  la.Matrix[float64]
}

// TaskFactors are the factors of one task of a [TaskRegression].
type TaskFactors struct {
	Samples int       // N, the task's training samples
	Lambda  []float64 // D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A       []float64 // D, means of the sample weights a

	Upsilon, Epsilon, Gamma vi.Gamma // q(υ), q(ε) and q(γ)

	// S = Σ_m K_m·K_mᵀ, D×D; only the upper triangle is read.
	Gram la.Matrix[float64]

	Healing *Healing // of one output; nil if the task's predictions cannot be healed
}

// TaskPosterior is the approximate posterior of a [TaskRegression]. It is immutable and
// safe for concurrent use.
type TaskPosterior struct {
	tasks []*RegressionPosterior
	s     TaskState
}

// NewTaskPosterior returns the posterior of a state, which it keeps and which must not be
// changed afterwards. The error says what does not fit.
func NewTaskPosterior(s TaskState) (*TaskPosterior, error) {
	if err := checkCommonWeights(len(s.Tasks), len(s.Omega), s.BEMean, s.BECov); err != nil {
		return nil, fmt.Errorf("vi: task regression state: %w", err)
	}
	p := &TaskPosterior{s: s}
	for t := range s.Tasks {
		task, err := NewRegressionPosterior(s.task(t))
		if err != nil {
			return nil, named(t, err)
		}
		p.tasks = append(p.tasks, task)
	}
	return p, nil
}

// checkCommonWeights reports an error unless mean and cov have the sizes of q(b, e) for T tasks and
// P kernels.
func checkCommonWeights(T, P int, mean []float64, cov la.Matrix[float64]) error {
	if T == 0 || len(mean) != T+P || cov.Rows != T+P || cov.Cols != T+P || !cov.Valid() {
		return fmt.Errorf("BEMean has %d entries and BECov is %d×%d for %d tasks and %d kernels",
			len(mean), cov.Rows, cov.Cols, T, P)
	}
	return nil
}

// wrapTaskState returns the posterior of a valid state.
func wrapTaskState(s TaskState) *TaskPosterior {
	p := &TaskPosterior{s: s}
	for t := range s.Tasks {
		p.tasks = append(p.tasks, wrapRegressionState(s.task(t)))
	}
	return p
}

// task returns what the state says of task t alone.
func (s *TaskState) task(t int) RegressionState {
	f := s.Tasks[t]
	mean, cov := predictive.Marginal(s.BEMean, s.BECov, len(s.Tasks), t)
	return RegressionState{
		Priors: s.Priors, Samples: f.Samples,
		Lambda: la.MatrixOf(1, len(f.Lambda), f.Lambda), A: la.MatrixOf(1, len(f.A), f.A),
		Upsilon: []vi.Gamma{f.Upsilon}, Epsilon: []vi.Gamma{f.Epsilon}, Gamma: []vi.Gamma{f.Gamma}, Omega: s.Omega,
		BEMean: mean, BECov: cov, Gram: f.Gram, Healing: f.Healing,
	}
}

// Posterior returns the present state, copied but for the Gram matrix, which never changes.
func (m *taskRegression) Posterior() *TaskPosterior {
	s := TaskState{
		Priors: m.priors,
		BEMean: append([]float64(nil), m.be.Mean...),
		BECov:  m.be.Cov.Clone(),
	}
	for j := range m.omega.Scale {
		s.Omega = append(s.Omega, m.omega.At(j))
	}
	for t, l := range m.tasks {
		s.Tasks = append(s.Tasks, TaskFactors{
			Samples: l.N,
			Lambda:  append([]float64(nil), l.Lambda.Scale...),
			A:       append([]float64(nil), l.AMean.Row(0)...),
			Upsilon: m.upsilon[t].At(0), Epsilon: m.epsilon[t].At(0), Gamma: m.gamma.At(t),
			Gram:    l.GramUpper,
			Healing: l.healing(l.read.e(), m.be.Mean[t:t+1], l.target),
		})
	}
	p := wrapTaskState(s)
	for t, l := range m.tasks {
		p.tasks[t].core.Room = l.Room()
	}
	return p
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *TaskPosterior) State() TaskState { return p.s }

// Dims returns the number of tasks and of kernels.
func (p *TaskPosterior) Dims() (T, P int) { return len(p.tasks), len(p.s.Omega) }

// Task returns the posterior of task t alone, in the form of a [Regression] of one output with the
// task's own basis points.
func (p *TaskPosterior) Task(t int) *RegressionPosterior { return p.tasks[t] }

// KernelWeights returns the mean and the standard deviation of each kernel weight e_m.
func (p *TaskPosterior) KernelWeights() (mean, sd []float64) { return p.tasks[0].KernelWeights() }
