package mkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// mixed is a limit for the largest R̂ of the kernel weights, of the relevances of features and of the
// classes' mean log precisions: below it a model's Trace says that its chains have converged.
const mixed = 1.05

// sample draws from the posterior of the machine p. It also returns the number of sweeps of each
// chain.
func (c *probitFit[T]) sample(ctx context.Context, p probit.Model, k vi.Kernels, theta *gram.Relevances, index []int) (*mcmc.ProbitDraws, int, error) {
	d := c.draws.orDefault()
	g := mcmc.Probit{
		Rule: p.Rule, Alpha: p.Alpha, ClassAlpha: p.ClassAlpha, Ridge: p.Ridge, Beta: p.Beta, NotEmpty: p.NotEmpty,
		Rho: p.Rho, On: p.On, Kappa: p.Kappa, Xi: p.Xi, Theta: p.Theta,
		Sampling: mcmc.Sampling{
			Chains: d.Chains, Draws: d.Draws, Thin: d.Thin, BurnIn: d.BurnIn, Seed: c.Seed,
			Workers: c.Workers, Checkpoint: d.Checkpoint, Every: d.Every, Resume: d.Resume,
		},
	}
	s := &g.Sampling
	if c.Progress != nil {
		s.Progress = func(p mcmc.Progress) {
			c.Progress(Progress{Start: p.Chain + 1, Starts: s.Chains, Sweep: p.Sweep, MaxSweeps: p.Sweeps, Bound: math.NaN(), Rise: math.NaN(), Left: p.Sweeps - p.Sweep})
		}
	}
	if err := c.Journal.ofChains(s); err != nil {
		return nil, 0, err
	}
	var draws *mcmc.ProbitDraws
	var err error
	if theta != nil {
		draws, err = g.SampleParametric(ctx, theta, index)
	} else {
		draws, err = g.Sample(ctx, k, index)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("mkl: %w", err)
	}
	burnIn := s.BurnIn
	if burnIn == 0 {
		burnIn = s.Draws * s.Thin
	}
	return draws, max(0, burnIn) + s.Draws*s.Thin, nil
}

// setDraws sets the draws of a model and the fields that follow from them.
func (m *ProbitClassifierModel[T]) setDraws(d *mcmc.ProbitDraws, sweeps int) error {
	for c, draws := range d.State().Chains {
		if i := vec.FirstNonFinite(draws); i >= 0 {
			return fmt.Errorf("mkl: chain %d: number %d of its draws is %g: %w", c, i, draws[i], gram.ErrBeyond)
		}
	}
	m.draws, m.weights = d, d
	m.trace = Trace{
		Sweeps: sweeps, Converged: true, Reason: "sampled",
		Mixing: Mixing{Chains: d.Chains(), Draws: d.Len(), ESS: math.Inf(1), LeastAccepted: 1},
	}
	names := []string{"log precision"}
	if d.Rule().Learned() {
		names = append(names, "beta")
	}
	if d.Parameters() > 0 {
		names = append(names, "theta")
	}
	x := &m.trace.Mixing
	for _, name := range names {
		for _, s := range d.Summary(name) {
			if s.SD > 0 && !(s.RHat <= mixed) {
				m.trace.Converged, m.trace.Reason = false, "chains have not mixed"
			}
			if s.SD > 0 && !math.IsNaN(s.RHat) { // a switch that never moved has no R̂
				x.RHat, x.ESS = max(x.RHat, s.RHat), min(x.ESS, s.BulkESS)
			}
		}
	}
	if x.RHat == 0 {
		x.ESS = 0
	}
	for _, v := range d.Moves() {
		if v.Tried > 0 {
			x.LeastAccepted, x.MostAccepted = min(x.LeastAccepted, v.Rate()), max(x.MostAccepted, v.Rate())
		}
	}
	return m.prepare(d.Mean("W"))
}

// Mixing describes the convergence of sampled chains.
type Mixing struct {
	Chains int // number of chains
	Draws  int // number of draws of each chain

	// The largest R̂ and the smallest effective sample size, over all chains together, of
	// the kernel weights, of the relevances of features, if they are learned, and of the
	// classes' mean log precisions; 0 if they are not known.
	RHat, ESS float64

	// The lowest and the highest acceptance rate of the proposals of a step. Without proposals
	// LeastAccepted is above MostAccepted.
	LeastAccepted, MostAccepted float64
}

// String describes the chains in one line.
func (x Mixing) String() string {
	s := fmt.Sprintf("%d chains of %d draws", x.Chains, x.Draws)
	if x.RHat > 0 {
		s += fmt.Sprintf(", R̂ at most %.3f and effective sample size at least %.0f", x.RHat, x.ESS)
	}
	if x.LeastAccepted <= x.MostAccepted {
		s += fmt.Sprintf("; %.2f to %.2f of the proposals accepted", x.LeastAccepted, x.MostAccepted)
	}
	return s
}
