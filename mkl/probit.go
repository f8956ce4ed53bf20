package mkl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Combination is a rule by which a [ProbitClassifier] makes one kernel of all.
type Combination = probit.Rule

// The rules.
const (
	FixSum  = probit.FixSum
	WSum    = probit.WSum
	Bin     = probit.Bin
	FixProd = probit.FixProd
	WProd   = probit.WProd
)

// WeightUpdate says how a [ProbitClassifier] learns the kernels' weights.
type WeightUpdate = probit.WeightUpdate

// The updates: see [probit.WeightUpdate].
const (
	PlugIn     = probit.PlugIn
	MeanField  = probit.MeanField
	Structured = probit.Structured
)

// WeightSearch says by what means the posterior of the weights is found.
type WeightSearch = probit.WeightSearch

// The means: see [probit.WeightSearch].
const (
	Mode     = probit.Mode
	Sampling = probit.Sampling
)

// Inference says how a posterior is found.
type Inference int

const (
	Variational Inference = iota // by an approximation, fast
	Gibbs                        // by sampling, exact in the limit of many draws
)

func (i Inference) String() string {
	switch i {
	case Variational:
		return "variational"
	case Gibbs:
		return "Gibbs"
	}
	return fmt.Sprintf("Inference(%d)", int(i))
}

// ProbitClassifier is the multinomial probit kernel machine: it tells two or more
// classes apart, whose names are of any comparable type, by one function for each
// on a kernel that it makes of the views' kernels. Its probabilities are those of
// one model of all classes. The zero value is ready to fit: the plain sum of the
// kernels.
//
// The scale of the kernels matters, since that of the prior is fixed: give them
// unit diagonals (RBF kernels have them, others by Normalize). Kernels of products
// must not be negative, nor, for WProd, above 1.
//
// Source: T. Damoulas and M. Girolami, "Combining information with a Bayesian
// multi-class multi-kernel pattern recognition machine".
type ProbitClassifier[T comparable] struct {
	Rule      Combination
	Inference Inference

	// Draws says how long Gibbs sampling goes on; its zero value is ready. MaxSweeps,
	// Tolerance, Restarts, Update, Search, Samples and Prune are of the variational
	// approximation alone, and under Gibbs sampling Beta of the fixed rules.
	Draws GibbsDraws

	// Alpha is the prior of the precisions of the regressors; the zero value means
	// Gamma{1, 1}. With Gamma{1e-6, 1e6} the machine is sparse. ClassAlpha holds the
	// priors of classes that have one of their own, for imbalanced data.
	Alpha      Gamma
	ClassAlpha map[T]Gamma

	// Ridge adds to the kernels' diagonal Ridge times the share of each sample's
	// class, which holds back large classes.
	Ridge float64

	// Beta holds the weights of the fixed rules, and where those of the others
	// start; nil means 1, for WSum equal ones, for Bin ½.
	Beta []float64

	Update   WeightUpdate // Structured is of Bin alone, with at most 8 views
	Search   WeightSearch
	Samples  int  // importance samples, for Sampling; 0 means 1000
	NotEmpty bool // Bin: at least one kernel

	// Prune takes regressors whose precision is above it out of the equations; 0
	// keeps all.
	Prune float64

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T

	// As in [Regression].
	Seed            uint64
	Restarts        int
	Tolerance       float64
	MaxSweeps       int
	AllowDuplicates bool
	Workers         int
	MemoryLimit     int64
	Progress        func(Progress)
	Notes           map[string]string
}

// Fit fits the model to the views of N samples and their labels. Errors are
// those of [Regression.Fit].
func (c ProbitClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error) {
	if c.Inference != Variational && c.Inference != Gibbs {
		return nil, fmt.Errorf("mkl: Inference is %v", c.Inference)
	}
	classes, index, err := Classifier[T]{Classes: c.Classes}.classes(labels)
	if err != nil {
		return nil, err
	}
	f := fitting{
		seed: c.Seed, restarts: c.Restarts, ascent: vi.Ascent{Tolerance: c.Tolerance, MaxSweeps: c.MaxSweeps},
		allowDuplicates: c.AllowDuplicates, workers: c.Workers, memoryLimit: c.MemoryLimit, progress: c.Progress,
	}
	if c.Update != PlugIn && c.Inference == Variational {
		f.estimate = c.memory
	}
	ds, k, err := f.kernels(ctx, views, len(labels), len(classes))
	if err != nil {
		return nil, err
	}
	p := probit.Model{
		Rule: c.Rule, Alpha: c.Alpha, Ridge: c.Ridge, Beta: c.Beta, Update: c.Update, Search: c.Search,
		Samples: c.Samples, NotEmpty: c.NotEmpty, Prune: c.Prune, Workers: c.Workers,
	}
	if p.ClassAlpha, err = c.classAlpha(classes); err != nil {
		return nil, err
	}
	m := &ProbitClassifierModel[T]{fitted: fitted{design: ds, record: record{notes: maps.Clone(c.Notes)}}, classes: classes}
	if c.Inference == Gibbs {
		if err := c.sample(ctx, p, k, index, m); err != nil {
			return nil, err
		}
		return m, m.prepare(m.draws.Mean("W"))
	}
	err = f.starts(func(seed uint64, a vi.Ascent) (vi.Record, func(), error) {
		p.Seed, p.Ascent = seed, a
		fit, err := p.Fit(ctx, k, index)
		if err != nil {
			return vi.Record{}, nil, err
		}
		return fit.Record, func() { m.set(fit.Posterior, newTrace(fit.Record, nil), fit.ESS) }, nil
	})
	if err != nil {
		return nil, err
	}
	return m, m.prepare(m.posterior.State().W)
}

// memory is estimateMemory with what the update of the weights takes: for [MeanField]
// the kernels' products, for [Structured] regressors for each state and, at worst, a
// Gram matrix for each in the posterior.
func (c ProbitClassifier[T]) memory(n, p, classes int) int64 {
	N, P, C := float64(n), float64(p), float64(classes)
	var words float64
	switch c.Update {
	case MeanField:
		words = N * N * P * (P + 1) / 2
	case Structured:
		words = math.Ldexp(3*C*N+N*N, p)
	}
	return estimateMemory(c.Workers, n, n, p, classes) + int64(min(8*words, math.MaxInt64/4))
}

// classAlpha returns the prior of each class, nil if none has its own.
func (c ProbitClassifier[T]) classAlpha(classes []T) ([]Gamma, error) {
	if c.ClassAlpha == nil {
		return nil, nil
	}
	priors := make([]Gamma, len(classes))
	for i := range priors {
		if priors[i] = c.Alpha; priors[i] == (Gamma{}) {
			priors[i] = Gamma{Shape: 1, Scale: 1}
		}
	}
	for class, g := range c.ClassAlpha {
		i := slices.Index(classes, class)
		if i < 0 {
			return nil, fmt.Errorf("mkl: ClassAlpha: %v is not one of the classes", class)
		}
		priors[i] = g
	}
	return priors, nil
}

// ProbitClassifierModel is a fitted [ProbitClassifier]. It is immutable and safe
// for concurrent use.
type ProbitClassifierModel[T comparable] struct {
	fitted
	posterior *probit.Posterior // nil after Gibbs sampling
	draws     *mcmc.ProbitDraws // nil after variational inference
	sweeps    int               // of each chain
	mixing    Mixing
	ess       float64
	classes   []T
	text      []json.RawMessage // the classes of a loaded model as its file has them
}

func (m *ProbitClassifierModel[T]) set(p *probit.Posterior, t Trace, ess float64) {
	m.posterior, m.weights, m.trace, m.ess = p, p, t, ess
}

// Classes returns the classes in the order of probabilities and decisions.
func (m *ProbitClassifierModel[T]) Classes() []T { return slices.Clone(m.classes) }

// Rule returns the rule that combines the kernels.
func (m *ProbitClassifierModel[T]) Rule() Combination {
	if m.draws != nil {
		return m.draws.Rule()
	}
	return m.posterior.State().Rule
}

// Posterior returns the approximate posterior, nil after Gibbs sampling.
func (m *ProbitClassifierModel[T]) Posterior() *probit.Posterior { return m.posterior }

// EffectiveSampleSize returns that of the weights' importance samples; 0 if they
// were not sampled. Near 1 the weights are those of one random point.
func (m *ProbitClassifierModel[T]) EffectiveSampleSize() float64 { return m.ess }

// Predict returns the most probable class of each sample and the probabilities
// of all classes. It takes one matrix for each of Inputs.
func (m *ProbitClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	p, err := m.PredictClasses(context.Background(), PredictOptions{}, x...)
	if err != nil {
		return nil, nil, err
	}
	return p.Label, p.Probability, nil
}

// PredictClasses is Predict with options, and with decision values: the means of
// the classes' auxiliary variables. Published has no meaning.
func (m *ProbitClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	C := len(m.classes)
	out := &ClassPrediction[T]{Label: make([]T, t), Decision: rows(t, C)}
	best := out.Decision
	if !opt.MeanOnly {
		out.Probability = rows(t, C)
		best = out.Probability
	}
	err = m.predictBlocks(ctx, opt.Workers, x, t, func(k vi.Kernels, first, n int) error {
		p, err := m.predict(ctx, k, vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers})
		if err != nil {
			return err
		}
		for i := range n {
			for c := range C {
				out.Decision[first+i][c] = p.Mean.At(c, i)
			}
			if !opt.MeanOnly {
				copy(out.Probability[first+i], p.Probability.Row(i))
			}
			out.Label[first+i] = m.classes[argMax(best[first+i])]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// String describes the model in one line.
func (m *ProbitClassifierModel[T]) String() string {
	what := fmt.Sprintf("multinomial probit classifier of %d classes (%v)", len(m.classes), m.Rule())
	if m.draws != nil {
		_, P, D := m.weights.Dims()
		return fmt.Sprintf("%s on %d kernels (%d active) and %d samples, %d draws", what, P, m.activeKernels(), D, m.draws.Chains()*m.draws.Len())
	}
	return m.describe(what)
}

// Summary describes the model in words, line by line.
func (m *ProbitClassifierModel[T]) Summary() string {
	headline := m.String()
	if m.draws != nil {
		headline += "\n" + m.mixing.String()
	}
	return m.summary(headline, func(c int) string { return fmt.Sprintf("class %v", m.classes[c]) })
}

// probitJSON is what the tensors of a multinomial probit classifier leave out:
// beta, E[β] of length P; beta.cov, P×P; w, C×D; alpha, E[α], C×D, 0 where a
// regressor was pruned; and gram, the lower triangle of E[KKᵀ]. With S states of
// [Structured] all but alpha give way to state.probability, S; state.beta, S×P;
// state.w, S×(C·D); and state.gram. After Gibbs sampling they are beta, the fixed
// weights, and draws, chains × numbers.
type probitJSON struct {
	Rule   string  `json:"rule"`
	ESS    float64 `json:"ess,omitempty"`
	Chains int     `json:"chains,omitempty"` // of Gibbs sampling
	Sweeps int     `json:"sweeps,omitempty"` // of each chain

	Moves []moveJSON `json:"moves,omitempty"` // of all chains, since the burn-in
}

// moveJSON tells how a Metropolis–Hastings step has fared.
type moveJSON struct {
	Step     string `json:"step"`
	Tried    uint64 `json:"tried"`
	Accepted uint64 `json:"accepted"`
}

// withoutInfinities returns alpha with 0 where it is infinite.
func withoutInfinities(alpha la.Matrix[float64]) []float64 {
	out := slices.Clone(flat(alpha))
	for i, v := range out {
		if v-v != 0 {
			out[i] = 0
		}
	}
	return out
}
