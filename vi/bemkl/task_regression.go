package bemkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// TaskRegression is multiple kernel learning for T regressions, the tasks, each with
// samples of its own, that share the kernel weights:
//
//	λ_{t,d} ~ Gamma(Lambda)    a_{t,d} | λ     ~ N(0, 1/λ_{t,d})
//	υ_t     ~ Gamma(Upsilon)   g_{t,m,i} | a,υ ~ N(a_tᵀ·k_{t,m,i}, 1/υ_t)
//	γ_t     ~ Gamma(Gamma)     b_t | γ         ~ N(0, 1/γ_t)
//	ω_m     ~ Gamma(Omega)     e_m | ω         ~ N(0, 1/ω_m)
//	ε_t     ~ Gamma(Epsilon)   y_{t,i} | …     ~ N(eᵀ·g_{t,i} + b_t, 1/ε_t)
//
// Every task has the same P kernels, of its own samples. A sweep costs a factorisation of
// the order of each task's basis points. With the same samples in all tasks this is
// [Regression]. The posterior is approximated by q(λ)q(υ)q(a)q(G)q(γ)q(ω)q(ε)q(b,e). The
// zero value is ready: Gamma(1, 1) priors.
//
// Source: J. C. Costello et al., "A community effort to assess and improve drug sensitivity
// prediction algorithms", Nature Biotechnology 32 (2014), 1202–1212, whose best performing
// method it is; derived in docs/theory/tasks.md.
type TaskRegression struct {
	Lambda, Upsilon, Gamma, Omega, Epsilon vi.Gamma // priors

	Ascent vi.Ascent

	// Plain leaves out the steps along the posterior's ridges; see
	// docs/theory/acceleration.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Seed selects the random start; it is ignored if Start is given.
	Seed uint64

	// Start, if not nil, is where the ascent starts from: of each task A is 1×D and G is P×N.
	Start []Start

	// From, if not nil, is the posterior of an earlier fit of as many tasks with the same
	// basis points and kernels, perhaps with other targets, samples or priors, to continue
	// from; it takes the place of Start and Seed.
	From *TaskPosterior
}

// Task holds the data of one task: the kernels and targets of its own samples.
type Task struct {
	Kernels vi.Kernels // P of D×N

	// N targets, or labels −1 and +1, none missing.
	Y []float64
}

// TaskFit is a fitted [TaskRegression].
type TaskFit struct {
	Posterior *TaskPosterior
	Record    vi.Record

	// Collapsed lists the tasks, ascending, whose function is constant on their training
	// samples, as in [RegressionFit].
	Collapsed []int
}

// Fit approximates the posterior given the tasks. It returns errors in the same cases as
// [Regression.Fit].
func (r TaskRegression) Fit(ctx context.Context, tasks []Task) (*TaskFit, error) {
	m, err := r.model(tasks)
	if err != nil {
		return nil, err
	}
	p, rec, err := climb.Run(ctx, r.Ascent, m, NewTaskPosterior, TaskState.covariances)
	if p == nil {
		return nil, err
	}
	return &TaskFit{Posterior: p, Record: rec, Collapsed: m.collapsed()}, err
}

// taskRegression is the state of a fit.
type taskRegression struct {
	*taskLayers
	priors  RegressionPriors
	epsilon []*target.Normal // T
}

// model checks the arguments and returns the initial state.
func (r TaskRegression) model(tasks []Task) (*taskRegression, error) {
	pr := priorsOr1(r.Lambda, r.Upsilon, r.Gamma, r.Omega, r.Epsilon)
	if err := pr.validate(); err != nil {
		return nil, err
	}
	layers, err := newTaskLayers(tasks, layerPriors{pr.Lambda, pr.Gamma, pr.Omega}, r.Workers)
	if err != nil {
		return nil, err
	}
	if err := layers.checkStarts(len(r.Start), r.Start != nil); err != nil {
		return nil, err
	}
	m := &taskRegression{taskLayers: layers, priors: pr}
	largest := 0
	m.learnUpsilon(pr.Upsilon)
	for t, l := range m.tasks {
		m.epsilon = append(m.epsilon, target.NewNormal(pr.Epsilon, l.Size))
		l.take(m.epsilon[t])
		largest = max(largest, l.D)
	}
	m.setOrder(r.Plain, severalRounds(len(tasks), largest, m.tasks[0].P))
	if r.From != nil {
		return m, m.resume(r.From)
	}
	return m, m.start(r.Start, r.Seed)
}

// start sets the means of a and G to the given starts, or to random values if starts is nil.
func (m *taskRegression) start(starts []Start, seed uint64) error {
	src := random.Source(seed)
	for t, l := range m.tasks {
		s := Start{A: la.NewMatrix[float64](1, l.D), G: la.NewMatrix[float64](l.P, l.N)}
		if starts != nil {
			s = starts[t]
			if err := s.validate(1, l.P, l.D, l.N); err != nil {
				return fmt.Errorf("Start[%d]: %w", t, err)
			}
		} else {
			random.Normal(src, s.A.Data)
			random.Normal(src, s.G.Data)
		}
		if err := l.latent.Start(s.A, s.G); err != nil {
			return err
		}
	}
	return nil
}

// resume continues from p.
func (m *taskRegression) resume(p *TaskPosterior) error {
	var gamma []vi.Gamma
	for t, f := range p.s.Tasks[:min(len(p.s.Tasks), len(m.tasks))] {
		l := m.tasks[t]
		m.upsilon[t].Resume(0, f.Upsilon)
		m.epsilon[t].Resume(0, f.Epsilon)
		l.upsilonMean[0], l.epsilonMean[0] = m.upsilon[t].Mean(0), m.epsilon[t].Mean(0)
		gamma = append(gamma, f.Gamma)
	}
	of := func(t int) *predictive.Scorer { return &p.tasks[t].scorer.core }
	return m.taskLayers.resume(len(p.tasks), of, p.tasks[0].core.LambdaShape, gamma, p.s.Omega, p.s.BEMean, p.s.BECov)
}
