package bemkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/predictive"
)

// TaskClassificationState is everything a [TaskClassificationPosterior] is made of, like
// [TaskState].
type TaskClassificationState struct {
	Priors ClassificationPriors
	Margin float64                     // ν, 0 without a margin
	SigmaG float64                     // σ_g
	Tasks  []TaskClassificationFactors // T
	Omega  []vi.Gamma                  // P

	// Mean and covariance of (b_1 … b_T, e_1 … e_P).
	BEMean []float64
	BECov  la.Matrix[float64]
}

// TaskClassificationFactors are the factors of one task of a [TaskClassification].
type TaskClassificationFactors struct {
	Samples int       // N, the task's training samples
	Lambda  []float64 // D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A       []float64 // D, means of the sample weights a
	Gamma   vi.Gamma  // q(γ)

	// S = Σ_m K_m·K_mᵀ, D×D; only the upper triangle is read.
	Gram la.Matrix[float64]
}

// TaskClassificationPosterior is the approximate posterior of a [TaskClassification]. It is
// immutable and safe for concurrent use.
type TaskClassificationPosterior struct {
	tasks []*ClassificationPosterior
	s     TaskClassificationState
}

// NewTaskClassificationPosterior returns the posterior of a state, which it keeps and which
// must not be changed afterwards. The error says what does not fit.
func NewTaskClassificationPosterior(s TaskClassificationState) (*TaskClassificationPosterior, error) {
	if err := checkCommonWeights(len(s.Tasks), len(s.Omega), s.BEMean, s.BECov); err != nil {
		return nil, fmt.Errorf("vi: task classification state: %w", err)
	}
	p := &TaskClassificationPosterior{s: s}
	for t := range s.Tasks {
		task, err := NewClassificationPosterior(s.task(t))
		if err != nil {
			return nil, named(t, err)
		}
		p.tasks = append(p.tasks, task)
	}
	return p, nil
}

// task returns what the state says of task t alone.
func (s *TaskClassificationState) task(t int) ClassificationState {
	f := s.Tasks[t]
	mean, cov := predictive.Marginal(s.BEMean, s.BECov, len(s.Tasks), t)
	return ClassificationState{
		Priors: s.Priors, Margin: s.Margin, SigmaG: s.SigmaG, Samples: f.Samples,
		Lambda: la.MatrixOf(1, len(f.Lambda), f.Lambda), A: la.MatrixOf(1, len(f.A), f.A),
		Gamma: []vi.Gamma{f.Gamma}, Omega: s.Omega, BEMean: mean, BECov: cov, Gram: f.Gram,
	}
}

// Posterior returns the present state, copied but for the Gram matrix, which never changes.
func (m *taskClassification) Posterior() *TaskClassificationPosterior {
	s := TaskClassificationState{
		Priors: m.priors, Margin: m.margin, SigmaG: m.sigmaG,
		BEMean: append([]float64(nil), m.be.Mean...),
		BECov:  m.be.Cov.Clone(),
	}
	for j := range m.omega.Scale {
		s.Omega = append(s.Omega, m.omega.At(j))
	}
	for t, l := range m.tasks {
		s.Tasks = append(s.Tasks, TaskClassificationFactors{
			Samples: l.N,
			Lambda:  append([]float64(nil), l.Lambda.Scale...),
			A:       append([]float64(nil), l.AMean.Row(0)...),
			Gamma:   m.gamma.At(t),
			Gram:    l.GramUpper,
		})
	}
	p := &TaskClassificationPosterior{s: s}
	for t := range s.Tasks {
		p.tasks = append(p.tasks, wrapClassificationState(s.task(t)))
		p.tasks[t].core.Room = m.tasks[t].Room()
	}
	return p
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *TaskClassificationPosterior) State() TaskClassificationState { return p.s }

// Dims returns the number of tasks and of kernels.
func (p *TaskClassificationPosterior) Dims() (T, P int) { return len(p.tasks), len(p.s.Omega) }

// Task returns the posterior of task t alone, in the form of a [Classification] of one output with
// the task's own basis points.
func (p *TaskClassificationPosterior) Task(t int) *ClassificationPosterior { return p.tasks[t] }

// KernelWeights returns the mean and the standard deviation of each kernel weight e_m.
func (p *TaskClassificationPosterior) KernelWeights() (mean, sd []float64) {
	return p.tasks[0].KernelWeights()
}
