package bemkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// SharedRegression is multiple output regression whose outputs share the sample
// weights, and with them one set of intermediate outputs, and have kernel
// weights each: for outputs that depend on different kernels.
//
//	λ_d ~ Gamma(Lambda)         a_d | λ       ~ N(0, 1/λ_d)
//	υ   ~ Gamma(Upsilon)        g_{m,i} | a,υ ~ N(aᵀ·k_{m,i}, 1/υ)
//	γ_o ~ Gamma(Gamma)          b_o | γ       ~ N(0, 1/γ_o)
//	ω_{o,m} ~ Gamma(Omega)      e_{o,m} | ω   ~ N(0, 1/ω_{o,m})
//	ε_o ~ Gamma(Epsilon)        y_{o,i} | …   ~ N(e_oᵀ·g_i + b_o, 1/ε_o)
//
// The posterior is approximated by q(λ)q(υ)q(a)q(G)q(γ)q(ω)q(ε)·Π_o q(b_o,e_o).
// A sweep costs one factorisation of order D whatever the number of outputs. The
// zero value is ready: Gamma(1, 1) priors.
//
// The model is the extension that M. Gönen's ECAI 2012 paper leaves to future
// research (section 6); it is derived in docs/theory/shared.md.
type SharedRegression struct {
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

	// Start, if not nil, is where the ascent starts from: A is 1×D and G is P×N.
	Start *Start

	// From, if not nil, is the posterior of an earlier fit to the same basis points
	// and kernels, perhaps with other targets, samples or priors, to continue from;
	// it takes the place of Start and Seed.
	From *SharedPosterior
}

// SharedFit is a fitted [SharedRegression].
type SharedFit struct {
	Posterior *SharedPosterior
	Record    vi.Record

	// Collapsed lists the outputs, ascending, whose function is constant on the
	// training samples, as in [RegressionFit].
	Collapsed []int

	state *sharedLayers // for BoundGradient
}

// Fit approximates the posterior given the kernels and the targets y, L×N, in which NaN marks a
// missing value: it is left out of the likelihood, and a sample without any value follows from its
// kernels. It returns the same errors as [Regression.Fit].
func (r SharedRegression) Fit(ctx context.Context, k vi.Kernels, y la.Matrix[float64]) (*SharedFit, error) {
	m, err := r.state(k, y)
	if err != nil {
		return nil, err
	}
	p, rec, err := climb.Run(ctx, r.Ascent, m, NewSharedPosterior, SharedState.covariances)
	if p == nil {
		return nil, err
	}
	return &SharedFit{Posterior: p, Record: rec, Collapsed: m.collapsed(), state: m.common()}, err
}

// sharedState is the state of a fit, with missing targets or without.
type sharedState interface {
	climb.Fit[*SharedPosterior]
	common() *sharedLayers
	collapsed() []int
}

// state checks the arguments and returns the initial state.
func (r SharedRegression) state(k vi.Kernels, y la.Matrix[float64]) (sharedState, error) {
	layers, err := r.layers(k, y)
	if err != nil {
		return nil, err
	}
	if layers.observed.Rows == 0 {
		return r.complete(layers)
	}
	if err := vi.RefuseCompressed(k); err != nil {
		return nil, fmt.Errorf("%w: y has missing values", err)
	}
	return r.patterned(layers)
}

// shared is the state of a fit to complete targets, in which all g_i have one covariance;
// patterned is that with missing ones.
type shared struct {
	*sharedLayers
	targets la.Matrix[float64] // L×P, Σ_i y_{o,i}·E[g_i]
	gain    la.Matrix[float64] // P×L, ε_o·Cov[g]·E[e_o]
}

// complete returns the initial state of a fit to complete targets.
func (r SharedRegression) complete(layers *sharedLayers) (*shared, error) {
	L, P := layers.L, layers.P
	m := &shared{sharedLayers: layers, targets: la.NewMatrix[float64](L, P), gain: la.NewMatrix[float64](P, L)}
	for o := range L {
		m.sums = append(m.sums, outputSums{
			count: m.Size, g: m.GSum.Row(0), gram: m.GGram[0], cov: m.GCov[0], target: m.targets.Row(o),
		})
	}
	m.GTask = m.updateIntermediateOf
	u := m.order(work.Update{Name: "G", Step: m.updateIntermediate}, m.updateScale, m.updateMixing)
	m.updates.Settled = u.plain()
	if !r.Plain {
		p := newPlane(m.latent, m.reads, &m.gamma, m.epsilonMean, m.y, m.targets, severalRounds(L, m.D, P))
		m.updates = work.Schedule{First: u.plain(), Settled: p.order(u)}
	}
	return m, m.begin(r, m.updateIntermediate)
}

// updateIntermediate is q(g_i) = N(Σ(υ·h_i + Σ_o ε_o(y_{o,i}·E[e_o] − E[b_o·e_o])), Σ),
// Σ = (υ·I + Σ_o ε_o·E[e_o·e_oᵀ])^-1.
func (m *shared) updateIntermediate() error {
	m.Upsilon = m.upsilonMean
	m.DistanceStale = false
	return m.GTask(m.Crew.Workers[0], 0)
}

// updateIntermediateOf is updateIntermediate as a task; there is one row of G.
func (m *shared) updateIntermediateOf(w *intermediate.Worker, _ int) error {
	P := m.P
	pull := m.Pull[0]
	pull.Fill(0)
	clear(w.P1)
	for o := range m.L {
		eps, be := m.epsilon[o].Mean(0), &m.be[o]
		for j := range P {
			la.Axpy(eps, m.ee[o].Row(j), pull.Row(j))
			w.P1[j] += float64(eps * (float64(be.Mean[0]*be.Mean[1+j]) + be.Cov.At(0, 1+j)))
		}
	}
	if err := m.BeginUpdate(w, 0, w.P1); err != nil {
		return err
	}
	for o := range m.L {
		eps, e := m.epsilon[o].Mean(0), m.be[o].Mean[1:]
		for j := range P {
			m.gain.Set(j, o, eps*la.Dot(w.Small.Cov.Row(j), e))
		}
	}
	la.Gemm(&w.WS, la.NoTrans, la.NoTrans, 1, m.gain, m.y, 1, m.GMean)
	for j := range P {
		row := m.GMean.Row(j)
		m.Subtract(w.Small.Mean[j], row)
	}
	if err := m.EndUpdate(w, 0); err != nil {
		return err
	}
	la.Gemm(&w.WS, la.NoTrans, la.Transpose, 1, m.y, m.GMean, 0, m.targets)
	return nil
}

// updateScale takes the step of sharedLayers.scaleStep, and scales the targets of g to match.
func (m *shared) updateScale() {
	if s, ok := m.scaleStep(); ok {
		la.Scal(math.Sqrt(s), m.targets.Data)
	}
}

// Posterior returns the present state.
func (m *shared) Posterior() *SharedPosterior { return m.wrap(m.healing) }
