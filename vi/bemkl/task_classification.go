package bemkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/label"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/work"
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
	return &TaskClassificationFit{Posterior: p, Record: rec, Collapsed: m.collapsed(m.labelsOf)}, err
}

// taskClassification is the state of a fit. The targets of the layers are E[f].
type taskClassification struct {
	*taskLayers
	labels         [][]float64 // of each task, N
	location       [][]float64 // m: q(f) is N(m, 1) beyond the margin
	logZ           []float64   // T, the normalisers of q(f)
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
	m := &taskClassification{taskLayers: layers, margin: c.Margin, sigmaG: sigma, priors: pr, logZ: make([]float64, len(tasks))}
	for t, l := range m.tasks {
		y := append([]float64(nil), l.target.Row(0)...)
		for i, v := range y {
			if !label.Is(v) {
				return nil, fmt.Errorf("vi: tasks[%d]: y[%d] is %g: labels are −1 and +1", t, i, v)
			}
		}
		m.labels, m.location = append(m.labels, y), append(m.location, make([]float64, l.N))
		l.upsilonMean[0], l.epsilonMean[0] = 1/(sigma*sigma), 1
	}
	m.setOrder(m.order(), c.Plain, leastRounds)
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
			s = randomClassificationStart(src, la.MatrixOf(1, l.N, m.labels[t]), l.P, l.D, m.margin)
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
	err := m.taskLayers.resume(len(p.tasks), of, p.tasks[0].core.LambdaShape, gamma, p.s.Omega, p.s.BEMean, p.s.BECov)
	if err != nil {
		return err
	}
	m.updateScore() // with G at its prior mean
	return m.each((*taskLayer).updateIntermediate)
}

// labelsOf returns the labels of task t.
func (m *taskClassification) labelsOf(t int) []float64 { return m.labels[t] }

// order returns the updates of a sweep.
func (m *taskClassification) order() *updates {
	return &updates{
		lambda: m.updateLambda, a: m.updateA(), g: m.updateG(),
		rest: []work.Update{
			work.Step("γ", m.updateGamma), work.Step("ω", m.updateOmega), {Name: "(b,e)", Step: m.updateCombination},
		},
		score: m.updateScore,
		scale: m.updateScale,
	}
}

// updateScore is q(f_t), see label.Truncate.
func (m *taskClassification) updateScore() {
	for t, l := range m.tasks {
		loc := m.location[t]
		for i := range loc {
			loc[i] = m.be.Mean[t]
		}
		l.addFit(0, 0, l.read.e(), 1, loc)
		m.logZ[t] = label.Truncate(m.margin, m.labels[t], loc, l.target.Row(0))
	}
}

// updateScale moves along the ridge (a, G) → c(a, G), e → e/c, λ → λ/c², ω → c²ω, which
// all tasks take together; docs/theory/acceleration.md.
func (m *taskClassification) updateScale() {
	if s, ok := roots.Ridge(m.ridge()); ok {
		m.rescale(s)
	}
}

// ridge returns the coefficients of updateScale.
func (m *taskClassification) ridge() (a, b, c float64) {
	a, b, c = m.taskLayers.ridge()
	for _, l := range m.tasks {
		a -= float64(0.5 * float64(l.N*l.P))
		c += float64(0.5 * l.upsilonMean[0] * l.Distance(0))
	}
	return a, b, c
}

// Bound implements [vi.Objective]. It sums the same terms as the bound of [Classification].
func (m *taskClassification) Bound() float64 {
	sum := m.bound()
	for t, l := range m.tasks {
		sum += l.GBound(0, l.upsilonMean[0], special.Log(l.upsilonMean[0]))
		sum += m.logZ[t] + float64(0.5*(label.Shift(m.labels[t], m.location[t], l.target.Row(0))-l.residual()))
	}
	return sum
}

// Predictions implements [vi.Objective]: the probabilities of the label +1.
func (m *taskClassification) Predictions(p *vi.Predictions) {
	m.taskLayers.Predictions(p)
	label.Predictions(p)
}
