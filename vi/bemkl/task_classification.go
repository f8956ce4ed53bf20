package bemkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// TaskClassification is [TaskRegression] with labels ±1 in place of the targets, which
// [Classification] has for its rows: T tasks, each with samples of its own, that share the
// kernel weights.
//
//	λ_{t,d} ~ Gamma(Lambda)    a_{t,d} | λ   ~ N(0, 1/λ_{t,d})
//	                           g_{t,m,i} | a ~ N(a_tᵀ·k_{t,m,i}, σ_g²)
//	γ_t     ~ Gamma(Gamma)     b_t | γ       ~ N(0, 1/γ_t)
//	ω_m     ~ Gamma(Omega)     e_m | ω       ~ N(0, 1/ω_m)
//	                           f_{t,i} | …   ~ N(eᵀ·g_{t,i} + b_t, 1)
//	                           y_{t,i} | f   : f_{t,i}·y_{t,i} > ν
//
// A sweep costs a factorisation of the order of each task's basis points. With the same
// samples in all tasks this is [Classification]. The posterior is approximated by
// q(λ)q(a)q(G)q(γ)q(ω)q(b,e)q(f), updated in this order. The zero value is ready: Gamma(1, 1)
// priors, no margin, σ_g = 0.1.
//
// Derived in docs/theory/tasks.md.
type TaskClassification struct {
	Lambda, Gamma, Omega vi.Gamma // priors

	Margin float64 // ν, as in [Classification]
	SigmaG float64 // σ_g, as in [Classification]

	Ascent vi.Ascent

	// Plain leaves out the steps along the posterior's ridges; see
	// docs/theory/acceleration.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Seed selects the random start; it is ignored if Start is given.
	Seed uint64

	// Start, if not nil, is where the ascent starts from: of each task A is 1×D, G is P×N
	// and F is 1×N.
	Start []ClassificationStart

	// From, if not nil, is the posterior of an earlier fit of as many tasks with the same
	// basis points and kernels, perhaps with other labels, samples or priors, to continue
	// from; it takes the place of Start and Seed.
	From *TaskClassificationPosterior
}

// TaskClassificationFit is a fitted [TaskClassification].
type TaskClassificationFit struct {
	Posterior *TaskClassificationPosterior
	Record    vi.Record

	// Collapsed lists the tasks, ascending, whose function is constant on their training
	// samples, as in [RegressionFit].
	Collapsed []int
}

// Fit approximates the posterior given the tasks, whose Y are labels −1 and +1. It returns errors
// in the same cases as [Regression.Fit].
func (c TaskClassification) Fit(ctx context.Context, tasks []Task) (*TaskClassificationFit, error) {
	m, err := c.model(tasks)
	if err != nil {
		return nil, err
	}
	p, rec, err := climb.Run(ctx, c.Ascent, m, NewTaskClassificationPosterior, TaskClassificationState.covariances)
	if p == nil {
		return nil, err
	}
	return &TaskClassificationFit{Posterior: p, Record: rec, Collapsed: m.collapsed()}, err
}

// taskClassification is the state of a fit. The targets of the layers are the scores f.
type taskClassification struct {
	*taskLayers
	margin, sigmaG float64
	priors         ClassificationPriors
}

// model checks the arguments and returns the initial state.
func (c TaskClassification) model(tasks []Task) (*taskClassification, error) {
	pr := ClassificationPriors{conjugate.Or1(c.Lambda), conjugate.Or1(c.Gamma), conjugate.Or1(c.Omega)}
	if err := pr.validate(); err != nil {
		return nil, err
	}
	sigma, err := checkScoreSettings(c.Margin, c.SigmaG)
	if err != nil {
		return nil, err
	}
	layers, err := newTaskLayers(tasks, layerPriors{pr.Lambda, pr.Gamma, pr.Omega}, c.Workers)
	if err != nil {
		return nil, err
	}
	if err := layers.checkStarts(len(c.Start), c.Start != nil); err != nil {
		return nil, err
	}
	m := &taskClassification{taskLayers: layers, margin: c.Margin, sigmaG: sigma, priors: pr}
	for t, l := range m.tasks {
		for i, v := range l.y.Data {
			if !target.IsLabel(v) {
				return nil, fmt.Errorf("vi: tasks[%d]: y[%d] is %g: labels are −1 and +1", t, i, v)
			}
		}
		l.target, l.location = la.NewMatrix[float64](1, l.N), la.NewMatrix[float64](1, l.N)
		l.take(target.NewProbit(l.y, l.location, l.target, c.Margin))
	}
	m.holdUpsilon(1 / (sigma * sigma))
	m.setOrder(c.Plain, leastRounds)
	if c.From != nil {
		return m, m.resume(c.From)
	}
	return m, m.start(c.Start, c.Seed)
}

// start sets the means of a, G and f to the given starts, or to random values if starts is nil.
func (m *taskClassification) start(starts []ClassificationStart, seed uint64) error {
	src := random.Source(seed)
	for t, l := range m.tasks {
		var s *ClassificationStart
		if starts != nil {
			s = &starts[t]
			if err := s.validate(1, l.P, l.D, l.N); err != nil {
				return fmt.Errorf("Start[%d]: %w", t, err)
			}
		} else {
			s = randomClassificationStart(src, l.y, l.P, l.D, m.margin)
		}
		l.target.CopyFrom(s.F)
		if err := l.latent.Start(s.A, s.G); err != nil {
			return err
		}
	}
	return nil
}

// resume continues from p.
func (m *taskClassification) resume(p *TaskClassificationPosterior) error {
	var gamma []vi.Gamma
	for _, f := range p.s.Tasks {
		gamma = append(gamma, f.Gamma)
	}
	of := func(t int) *predictive.Scorer { return &p.tasks[t].scorer.core }
	return m.taskLayers.resume(len(p.tasks), of, p.tasks[0].core.LambdaShape, gamma, p.s.Omega, p.s.BEMean, p.s.BECov)
}
