package mcmc

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// SpikeSlab samples from the posterior of linear regression with a
// spike-and-slab prior,
//
//	y ~ N(X·w, Noise·I),   w_m = s_m·w̃_m,   s_m ~ Bernoulli(π),   w̃_m ~ N(0, σ_w²),
//
// by Gibbs sweeps over the weights. The paired sampler draws (s_m, w̃_m) together
// from p(s_m, w̃_m | w_∖m, y): its cost is M² multiplications a sweep whatever the
// number of samples, of which only XᵀX and Xᵀy are used.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, section 4.
type SpikeSlab struct {
	Prior slab.Prior // π and σ_w²
	Noise float64    // σ², the variance of the noise

	// Standard selects the sampler that draws each s_m given all of w̃, then w̃
	// given s in one block. A sweep costs a Cholesky factorisation of the order of
	// the number of weights that are on. Indicators that are in doubt move more
	// slowly, as s_m must agree with a w̃_m drawn before it; weights of correlated
	// inputs that are surely on move faster, as they move together.
	Standard bool

	Sampling Sampling
}

// SpikeSlabDraws are the draws of a SpikeSlab of M inputs. The variables are
// "w" (1×M), "inclusion" (1×M: the probability that s_m = 1 given everything else
// in the sweep but w̃_m) and "mean" (1×M: E[w_m] likewise).
type SpikeSlabDraws struct{ *Draws }

// Mean returns E[w_m | y] for every m, by averaging conditional means
// (Rao–Blackwell), which is more accurate than averaging w.
func (d SpikeSlabDraws) Mean() []float64 { return d.Draws.Mean("mean").Row(0) }

// Inclusion returns P(s_m = 1 | y) for every m, by averaging conditional
// probabilities.
func (d SpikeSlabDraws) Inclusion() []float64 { return d.Draws.Mean("inclusion").Row(0) }

// Sample runs the chains on the N×M matrix of inputs x and the N targets y. Errors
// name the argument and the place of what is wrong with it; if the context ends,
// the draws are those made before.
func (m SpikeSlab) Sample(ctx context.Context, x la.Matrix[float64], y []float64) (SpikeSlabDraws, error) {
	problem, err := m.problem(x, y)
	if err != nil {
		return SpikeSlabDraws{}, err
	}
	M := x.Cols
	d := newDigester()
	d.numbers(m.Prior.Pi, m.Prior.Variance, m.Noise)
	d.matrix(problem.gram)
	d.numbers(problem.xy...)
	t := target{
		name:      "paired Gibbs sampler of a spike-and-slab regression",
		data:      d.sum(),
		variables: []Variable{{"w", 1, M}, {"inclusion", 1, M}, {"mean", 1, M}},
		new:       func(ws *la.Workspace) sampler { return newSpikeSlabSampler(problem, ws) },
	}
	if m.Standard {
		t.name = "standard Gibbs sampler of a spike-and-slab regression"
	}
	draws, err := m.Sampling.run(ctx, t)
	return SpikeSlabDraws{draws}, err
}

// spikeSlabProblem is what the chains share.
type spikeSlabProblem struct {
	prior    slab.Prior
	noise    float64
	standard bool
	gram     la.Matrix[float64] // XᵀX, full
	xy       []float64          // Xᵀy
}

func (m SpikeSlab) problem(x la.Matrix[float64], y []float64) (*spikeSlabProblem, error) {
	finite := func(v float64) bool { return v-v == 0 }
	switch {
	case !(m.Prior.Pi > 0 && m.Prior.Pi <= 1):
		return nil, fmt.Errorf("mcmc: Prior.Pi is %g: it must be positive and at most 1", m.Prior.Pi)
	case !(m.Prior.Variance > 0) || !finite(m.Prior.Variance):
		return nil, fmt.Errorf("mcmc: Prior.Variance is %g: it must be positive and finite", m.Prior.Variance)
	case !(m.Noise > 0) || !finite(m.Noise):
		return nil, fmt.Errorf("mcmc: Noise is %g: it must be positive and finite", m.Noise)
	case x.Rows == 0 || x.Cols == 0:
		return nil, fmt.Errorf("mcmc: x: empty (%d×%d)", x.Rows, x.Cols)
	case len(y) != x.Rows:
		return nil, fmt.Errorf("mcmc: y: %d values for the %d rows of x", len(y), x.Rows)
	}
	for i, v := range y {
		if !finite(v) {
			return nil, fmt.Errorf("mcmc: y: value %d is %g", i, v)
		}
		for j, v := range x.Row(i) {
			if !finite(v) {
				return nil, fmt.Errorf("mcmc: x: entry (%d, %d) is %g", i, j, v)
			}
		}
	}
	p := &spikeSlabProblem{
		prior: m.Prior, noise: m.Noise, standard: m.Standard,
		gram: la.NewMatrix[float64](x.Cols, x.Cols), xy: make([]float64, x.Cols),
	}
	ws := &la.Workspace{Workers: m.Sampling.Workers}
	la.Syrk(ws, la.Transpose, 1, x, 0, p.gram)
	p.gram.MirrorLower()
	la.Gemv(ws, la.Transpose, 1, x, y, 0, p.xy)
	return p, nil
}

// spikeSlabSampler is a chain of either sampler.
type spikeSlabSampler struct {
	*spikeSlabProblem
	ws *la.Workspace

	slab []float64 // w̃
	on   []bool    // s
	w    []float64 // s∘w̃

	inclusion, mean []float64 // as kept

	active []int
	factor la.Matrix[float64]
	rhs    []float64
}

func newSpikeSlabSampler(p *spikeSlabProblem, ws *la.Workspace) *spikeSlabSampler {
	M := len(p.xy)
	s := &spikeSlabSampler{
		spikeSlabProblem: p, ws: ws,
		slab: make([]float64, M), on: make([]bool, M), w: make([]float64, M),
		inclusion: make([]float64, M), mean: make([]float64, M),
	}
	if p.standard {
		s.factor, s.rhs = la.NewMatrix[float64](M, M), make([]float64, M)
	}
	return s
}

// start lets half of the weights be on, with values from the prior.
func (s *spikeSlabSampler) start(r random) error {
	for m := range s.slab {
		s.on[m] = r.Float64() < 0.5
		s.slab[m] = math.Sqrt(s.prior.Variance) * r.NormFloat64()
		s.weigh(m)
	}
	return nil
}

// weigh sets w_m = s_m·w̃_m.
func (s *spikeSlabSampler) weigh(m int) {
	s.w[m] = 0
	if s.on[m] {
		s.w[m] = s.slab[m]
	}
}

// cross returns x_mᵀ·(y − Σ_{k≠m} x_k·w_k).
func (s *spikeSlabSampler) cross(m int) float64 {
	row := s.gram.Row(m)
	return s.xy[m] - (la.Dot(row, s.w) - float64(row[m]*s.w[m]))
}

func (s *spikeSlabSampler) sweep(r random, _ bool) error {
	if s.standard {
		s.sweepIndicators(r)
		return s.sweepSlab(r)
	}
	s.sweepPairs(r)
	return nil
}

// sweepPairs draws each (s_m, w̃_m) given the other pairs.
func (s *spikeSlabSampler) sweepPairs(r random) {
	for m := range s.w {
		q := s.prior.Posterior(s.cross(m), s.gram.At(m, m), s.noise)
		g := q.Inclusion()
		s.inclusion[m], s.mean[m] = g, g*q.Mean
		s.on[m] = r.Float64() < g
		z := r.NormFloat64()
		if s.on[m] {
			s.slab[m] = q.Mean + math.Sqrt(q.Variance)*z
		} else {
			s.slab[m] = math.Sqrt(s.prior.Variance) * z
		}
		s.weigh(m)
	}
}

// sweepIndicators draws each s_m given w̃ and the other indicators.
func (s *spikeSlabSampler) sweepIndicators(r random) {
	prior := math.Log(s.prior.Pi) - math.Log1p(-s.prior.Pi)
	for m, v := range s.slab {
		q := slab.Pair{Logit: prior + (v*s.cross(m)-0.5*v*v*s.gram.At(m, m))/s.noise}
		g := q.Inclusion()
		s.inclusion[m], s.mean[m] = g, g*v
		s.on[m] = r.Float64() < g
		s.weigh(m)
	}
}

// sweepSlab draws w̃ given s: where s_m = 0 from the prior, elsewhere from
// N(B⁻¹·Xᵀy, σ²·B⁻¹) with B = XᵀX + (σ²/σ_w²)·I of the columns that are on.
func (s *spikeSlabSampler) sweepSlab(r random) error {
	s.active = s.active[:0]
	for m, on := range s.on {
		if on {
			s.active = append(s.active, m)
		} else {
			s.slab[m] = math.Sqrt(s.prior.Variance) * r.NormFloat64()
		}
	}
	n := len(s.active)
	b, x := s.factor.Slice(0, n, 0, n), s.rhs[:n]
	for i, m := range s.active {
		row := b.Row(i)
		for j, k := range s.active[:i+1] {
			row[j] = s.gram.At(m, k)
		}
		row[i] += s.noise / s.prior.Variance
		x[i] = s.xy[m]
	}
	if err := la.Cholesky(s.ws, b); err != nil {
		return fmt.Errorf("the weights that are on: %w", err)
	}
	la.Trsv(la.NoTrans, b, x)
	for i := range x {
		x[i] += math.Sqrt(s.noise) * r.NormFloat64()
	}
	la.Trsv(la.Transpose, b, x)
	for i, m := range s.active {
		s.slab[m] = x[i]
		s.weigh(m)
	}
	return nil
}

func (s *spikeSlabSampler) keep(dst []float64) []float64 {
	dst = append(dst, s.w...)
	dst = append(dst, s.inclusion...)
	return append(dst, s.mean...)
}

func (s *spikeSlabSampler) save(dst []float64) []float64 {
	dst = append(dst, s.slab...)
	for _, on := range s.on {
		if on {
			dst = append(dst, 1)
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}

func (s *spikeSlabSampler) restore(src []float64) error {
	M := len(s.slab)
	if len(src) != 2*M {
		return fmt.Errorf("a state of %d numbers where %d are needed", len(src), 2*M)
	}
	copy(s.slab, src)
	for m := range s.on {
		s.on[m] = src[M+m] != 0
		s.weigh(m)
	}
	return nil
}

func (s *spikeSlabSampler) moves() []Move { return nil }
