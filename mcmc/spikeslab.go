package mcmc

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// SpikeSlab samples from the posterior of linear regression with a
// spike-and-slab prior,
//
//	y ~ N(X·w, Noise·I),   w_m = s_m·w̃_m,   s_m ~ Bernoulli(π),   w̃_m ~ N(0, σ_w²),
//
// of N targets y on M inputs, the columns of X, by Gibbs sweeps over the weights. The
// paired sampler, which is the default, draws s_m and w̃_m together given all other
// weights, from p(s_m, w̃_m | w_∖m, y). A sweep costs M² multiplications whatever N
// is, as it uses XᵀX and Xᵀy only.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, section 4.
type SpikeSlab struct {
	Prior slab.Prior // π and σ_w²
	Noise float64    // σ², the variance of the noise

	// Standard selects the sampler that draws each s_m given all of w̃, then w̃
	// given s in one block. A sweep costs a Cholesky factorisation more, whose order
	// is the number of weights with s_m = 1. Indicators that are uncertain change more
	// slowly than in the paired sampler, as s_m must agree with a w̃_m drawn before it.
	// Weights of correlated inputs that are certain to have s_m = 1 move faster, as
	// they move together.
	Standard bool

	Sampling Sampling // how long to sample
}

// SpikeSlabDraws are the draws of a [SpikeSlab] of M inputs. The variables are
//
//	w         1×M, the weights
//	inclusion 1×M, the probability of s_m = 1 under the distribution that it was drawn from
//	mean      1×M, the expectation of w_m under the same distribution
type SpikeSlabDraws struct{ *Draws }

// Mean returns E[w_m | y] for each of the M weights, as the average of the draws'
// conditional means (Rao–Blackwell), which is more accurate than the average of w.
func (d SpikeSlabDraws) Mean() []float64 { return d.Draws.Mean("mean").Row(0) }

// Inclusion returns P(s_m = 1 | y) for each of the M weights, as the average of the
// draws' conditional probabilities.
func (d SpikeSlabDraws) Inclusion() []float64 { return d.Draws.Mean("inclusion").Row(0) }

// Sample runs the chains on the N×M matrix of inputs x and the N targets y. An error
// names the argument and the place of what is wrong with it. If the context ends, the
// error wraps its cause and comes with the draws made before.
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

// spikeSlabProblem is what the chains share: data and hyperparameters.
type spikeSlabProblem struct {
	prior    slab.Prior
	noise    float64
	standard bool
	gram     la.Matrix[float64] // XᵀX, full
	xy       []float64          // Xᵀy
}

// problem checks the hyperparameters and the data, and computes what the chains need
// of the data.
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

// spikeSlabSampler is a chain of the paired or of the standard sampler.
type spikeSlabSampler struct {
	*spikeSlabProblem
	ws *la.Workspace

	slab []float64 // w̃
	on   []bool    // s
	w    []float64 // s∘w̃

	inclusion, mean []float64 // the variables of that name

	// Scratch of the standard sampler.
	active []int              // m where s_m = 1
	factor la.Matrix[float64] // M×M, room for B and its Cholesky factor
	rhs    []float64          // M
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

// start draws each s_m as 0 or 1 with equal probability and w̃ from its prior.
func (s *spikeSlabSampler) start(r random) error {
	for m := range s.slab {
		s.on[m] = r.Float64() < 0.5
		s.slab[m] = math.Sqrt(s.prior.Variance) * r.NormFloat64()
		s.weigh(m)
	}
	return nil
}

// weigh computes w_m = s_m·w̃_m.
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

// sweepPairs draws each pair (s_m, w̃_m) given the others.
func (s *spikeSlabSampler) sweepPairs(r random) {
	for m := range s.w {
		q := s.prior.Posterior(s.cross(m), s.gram.At(m, m), s.noise)
		g := q.Inclusion()
		s.inclusion[m], s.mean[m] = g, g*q.Mean
		s.on[m] = r.Float64() < g
		z := r.NormFloat64()
		if s.on[m] {
			s.slab[m] = q.Mean + float64(math.Sqrt(q.Variance)*z)
		} else {
			s.slab[m] = math.Sqrt(s.prior.Variance) * z
		}
		s.weigh(m)
	}
}

// sweepIndicators draws each s_m given w̃ and the other indicators.
func (s *spikeSlabSampler) sweepIndicators(r random) {
	prior := special.Log(s.prior.Pi) - special.Log1p(-s.prior.Pi)
	for m, v := range s.slab {
		q := slab.Pair{Logit: prior + (float64(v*s.cross(m))-float64(0.5*v*v*s.gram.At(m, m)))/s.noise}
		g := q.Inclusion()
		s.inclusion[m], s.mean[m] = g, g*v
		s.on[m] = r.Float64() < g
		s.weigh(m)
	}
}

// sweepSlab draws w̃ given s: from its prior where s_m = 0; the others together from
// N(B⁻¹·Xᵀy, σ²·B⁻¹), B = XᵀX + (σ²/σ_w²)·I, with the columns of X where s_m = 1.
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
		x[i] += float64(math.Sqrt(s.noise) * r.NormFloat64())
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
