package probit

import (
	"context"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Model is the multinomial probit kernel machine: one function for each of C classes,
// on one composite kernel K of P base kernels.
//
//	α_{c,d} ~ Gamma(Alpha)         precisions, α = 1/ζ
//	w_{c,d} | α ~ N(0, 1/α_{c,d})  regressors
//	y_{c,n} | w ~ N(w_cᵀ·k_n, 1)   auxiliary variables
//	t_n = argmax_c y_{c,n}         labels
//
// k_n is column n of K, which [Rule] Rule makes of the base kernels and
// their weights β. Their priors: Dirichlet(ρ) with ρ_p ~ Gamma(Rho) for WSum;
// P(β_p = 1) = On[p] for Bin; β_p ~ Gamma(π_p, 1/χ_p) with exponential priors of
// rates Kappa and Xi on π and χ for WProd. The posterior is approximated by
// q(Y)q(W)q(α)q(β)…; q(Y) is a product of Gaussians truncated to cones, whose
// means are computed to the last digits by quadrature. The zero value is ready:
// FixSum, Gamma(1, 1).
//
// Base kernels may be any D×N matrices: with D < N columns of features in place
// of kernels, the model is one in the space of features, and [vi.Stacked] weighs blocks
// of features of different lengths. Nothing needs them to be symmetric or positive
// semidefinite. As the prior's scale is fixed, the scale of the kernels matters: give
// them unit diagonals. WProd takes entries from 0 to 1.
//
// Source: T. Damoulas and M. Girolami, "Combining information with a Bayesian
// multi-class multi-kernel pattern recognition machine"; what the paper leaves to
// its references, and where this follows it corrected, is in docs/theory/probit.md. The
// order of the updates is W, Y, α, β and its hyperparameters.
type Model struct {
	Rule Rule

	// Alpha is the prior of the precisions α, Gamma(τ, 1/ν) in the paper's letters.
	// Small shapes and large scales, such as Gamma{1e-6, 1e6}, make the machine
	// sparse: a relevance vector machine of C classes.
	Alpha vi.Gamma

	// LearnAlpha starts from Alpha and puts the prior where the bound is highest, by type-II
	// maximum likelihood, one for all classes: the scale of the kernels then matters less. Not
	// with ClassAlpha, MAP and Published.
	LearnAlpha bool

	// ClassAlpha, if not nil, is the prior for each class, for imbalanced data:
	// the smaller 1/(Shape·Scale), the more a class is shrunk.
	ClassAlpha []vi.Gamma

	// Ridge adds Ridge·N_c/N to the diagonal of a square training kernel, N_c the
	// number of samples of the sample's class, which holds back large classes.
	Ridge float64

	// Beta holds the weights of the fixed rules, and where the weights of the other rules start:
	// nil means 1, for WSum 1/P, for Bin ½.
	Beta []float64

	// Update says how the weights are learned, Search by what means.
	Update WeightUpdate
	Search WeightSearch

	// Samples is the number of importance samples; 0 means 1000.
	Samples int

	Rho       vi.Gamma  // prior of ρ, for Search Sampling
	On        []float64 // P(β_p = 1); nil means ½
	NotEmpty  bool      // Bin: leave out the state without kernels
	Kappa, Xi float64   // rates of the priors of π and χ; 0 means 1
	Theta     vi.Gamma  // prior of the kernels' parameters, for FitParametric

	// Prune takes regressors with E[α] above it out of the equations, which saves most of the work
	// of sparse machines; 0 keeps all. With MAP it takes out the basis points with E[α] above it in
	// all classes: their regressors are then 0.
	Prune float64

	// Published updates α with E[w]² in place of E[w²], as the paper's algorithm 1.2
	// has it. The bound may then fall, and under vague priors nearly all regressors
	// vanish. It is for comparison only.
	Published bool

	// MAP finds the mode of the posterior of W, and with WSum of W and β, with Y and α integrated
	// out, instead of an approximate posterior: W and β are then points. It is found by expectation and
	// maximisation, whose sweeps are the same as with Published. It takes the rules FixSum, FixProd and WSum
	// with its other settings of the weights at their defaults. The record has the logarithm of the joint
	// density of labels, W and β; see docs/theory/probit.md. With priors of a small shape that is highest
	// where most regressors are nearly 0: with Prune this is mRVM2 of I. Psorakis, T. Damoulas and M. A.
	// Girolami, "Multiclass relevance vector machines: sparsity and accuracy", IEEE Transactions on Neural
	// Networks 21 (2010); see docs/theory/relevance.md.
	MAP bool

	Ascent vi.Ascent

	// Plain makes exactly the updates of the paper. The default extrapolates E[Y] and E[α]
	// from the last sweeps, where sweeps are coordinate ascent and as far as that raises the
	// bound; see docs/theory/probit.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Seed selects the random start, unless Start is given, and the importance
	// samples.
	Seed  uint64
	Start *Start

	// From, if not nil, is the posterior of an earlier fit by the same rule, of as many classes,
	// kernels and basis points, to go on from. It takes the place of Seed, Start and, where weights are
	// learned, of Beta; one of [WeightUpdateStructured] has no state that another fit could begin with.
	From *Posterior
}

// WeightUpdate says how the weights of kernels are learned.
type WeightUpdate int

const (
	// PlugIn weights the kernels by how well they explain E[Y] at the means of W,
	// and takes K at the mean of β everywhere else. It is not a step of coordinate
	// ascent, the bound may fall, and where it settles is no maximum of the bound.
	// Of the two it gives the figures of the paper and is the closer to sampling.
	WeightUpdatePlugIn WeightUpdate = iota

	// MeanField is the step of coordinate ascent, with the covariances of W and β.
	// It charges every kernel for the uncertainty of weights that were fitted to
	// another, so that it tends to end with one kernel alone.
	WeightUpdateMeanField

	// Structured, for Bin alone, has regressors for each state of the switches,
	// q(W | β)q(β): coordinate ascent in a larger family, whose predictions are
	// mixtures over the states. A sweep solves for all of them, 2^P times the work
	// of fixed weights, and P is at most 8. It starts from ten sweeps of the plain sum,
	// whatever Beta. Like MeanField and like sampling one switch after another it tends
	// to stay in the state that it is in first.
	WeightUpdateStructured
)

// WeightSearch says by what means q(β) is found.
type WeightSearch int

const (
	// Mode puts β at the mode of q(β): for WSum the solution of a quadratic
	// programme on the simplex with ρ = 1; for WProd the mode of the density of
	// log β. Bin enumerates all states instead.
	WeightSearchMode WeightSearch = iota

	// Sampling takes the moments of q(β) and q(ρ) by importance sampling, as the
	// paper does. See [Fit.ESS] for what the sample is worth.
	WeightSearchSampling
)

// Start is an explicit initial state.
type Start struct {
	Y     la.Matrix[float64] // C×N, E[y]
	Alpha la.Matrix[float64] // C×D, E[α]; empty means the prior's mean
}

// Fit is a fitted kernel machine.
type Fit struct {
	Posterior *Posterior
	Record    vi.Record

	// ESS is the effective sample size of the importance samples of β in the last sweep, out of
	// Samples; 0 without sampling. Near 1 the weights are nearly those at one random point.
	ESS float64

	// Theta holds the kernels' parameters, one kernel's after another's, after
	// FitParametric, and ThetaESS the effective size of their sample, if there is one.
	Theta    []float64
	ThetaESS float64

	// Kept is the number of regressors that were not pruned, of C·D.
	Kept int

	state *model // for BoundGradient
}

// Fit approximates the posterior given the base kernels and the class of each sample, from 0 to
// C−1. Every class must occur. Errors are as package vi describes them.
func (p Model) Fit(ctx context.Context, k vi.Kernels, labels []int) (*Fit, error) {
	m, err := p.model(k, labels)
	if err != nil {
		return nil, err
	}
	return p.climb(ctx, m)
}

// climb climbs the bound of m and returns the fit.
func (p Model) climb(ctx context.Context, m *model) (*Fit, error) {
	rec, err := p.Ascent.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return nil, err
	}
	posterior, perr := m.posterior()
	if perr != nil {
		return nil, perr
	}
	fit := &Fit{Posterior: posterior, Record: rec, Kept: m.kept(), state: m}
	if s, ok := m.beta.(interface{ effective() float64 }); ok {
		fit.ESS = s.effective()
	}
	if q := m.theta; q != nil {
		fit.Theta = slices.Clone(q.theta)
		if q.sample != nil {
			fit.ThetaESS = q.sample.effective
		}
	}
	return fit, err
}
