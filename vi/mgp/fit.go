package mgp

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// priorPasses is how often a sweep updates γ and its prior again.
const priorPasses = 3

// model is the state of a fit.
type model struct {
	work.Stop
	k      vi.Kernels
	passes *passes
	P, N   int
	ws     la.Workspace
	y      []float64 // targets or labels
	labels bool
	rank   []float64 // r_p

	family     Family
	held       Held // by the family too
	plain      bool
	joint      bool // learn ω jointly with χ or φ
	learnPrior bool
	learnTau   bool

	state
	kept    state // see Keep
	goAhead bool  // compute the next q(f) ahead of the present scales
	ahead   *ahead

	// Scratch of the update of q(f).
	b      la.Matrix[float64] // N×N
	diag   []float64          // N, of B
	before []float64          // N, E[y] before a round
	weight []float64          // P, 1/γ°
	trace  []float64          // P, tr(B⁻¹K_p)
	quad   []float64          // P, αᵀK_pα
	left   float64            // tr(B⁻¹)

	updates  []work.Update
	identity []float64 // N, of the kernels, for a journal
}

// state is what the bound depends on.
type state struct {
	// q(γ_p), its moments E[γ], E[1/γ], E[log γ], their prior, and τ.
	q       []GIG
	moments []gigMoments
	prior   GIG
	tau     float64

	// q(f): the E[γ] and τ it was computed from (marked ° in the derivation), and
	// what follows from it.
	gamma0 []float64
	tau0   float64
	logDet float64   // log|B|, B = Σ K_p/γ°_p + I/τ°
	alpha  []float64 // N, B⁻¹·E[y]
	shake  shake
	s      []float64 // P, E[f_pᵀ·K_p⁻¹·f_p]
	spread float64   // tr Cov[Σ f_p]
	nu     []float64 // N, E[Σ f_p]; labels only
	error2 float64   // E|y − Σ f_p|²

	// q(y), labels only.
	mean     []float64 // E[y]; the targets themselves in regression
	variance float64   // Σ Var[y_n]
	entropy  float64
}

// copyFrom overwrites s with a copy of t.
func (s *state) copyFrom(t *state) {
	old := *s
	*s = *t
	s.q = append(old.q[:0], t.q...)
	s.moments = append(old.moments[:0], t.moments...)
	s.gamma0 = append(old.gamma0[:0], t.gamma0...)
	s.s = append(old.s[:0], t.s...)
	s.nu = append(old.nu[:0], t.nu...)
	s.alpha = append(old.alpha[:0], t.alpha...)
	s.mean = append(old.mean[:0], t.mean...)
}

// model checks the arguments and returns the initial state.
func (g Model) model(k vi.Kernels, y []float64, labels bool) (*model, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	if err := vi.RefuseCompressed(k); err != nil {
		return nil, err
	}
	P, D, N := k.Dims()
	switch {
	case D != N:
		return nil, fmt.Errorf("vi: kernels: %d×%d where square ones are needed", D, N)
	case len(y) != N:
		return nil, fmt.Errorf("vi: y: %d values for %d samples", len(y), N)
	case g.Ranks != nil && len(g.Ranks) != P:
		return nil, fmt.Errorf("vi: Ranks: %d values for %d kernels", len(g.Ranks), P)
	case !(g.Tau >= 0) || math.IsInf(g.Tau, 1):
		return nil, fmt.Errorf("vi: Tau is %g: it must be positive and finite", g.Tau)
	}
	if i := check.NonFinite(y); i >= 0 {
		return nil, fmt.Errorf("vi: y: value %d is %g", i, y[i])
	}
	m := &model{
		k: k, passes: newPasses(k, g.Workers), P: P, N: N, ws: la.Workspace{Workers: g.Workers},
		y: y, labels: labels, rank: make([]float64, P),
		family: g.Family, plain: g.Plain, joint: !g.Plain,
		learnTau: g.Noise == NoiseLearned || g.Noise == NoiseDefault && !labels,
		state: state{
			q: make([]GIG, P), moments: make([]gigMoments, P), prior: g.Prior,
			gamma0: make([]float64, P), s: make([]float64, P), mean: slices.Clone(y), alpha: make([]float64, N),
		},
		b: la.NewMatrix[float64](N, N), diag: make([]float64, N), before: make([]float64, N),
		weight: make([]float64, P), trace: make([]float64, P), quad: make([]float64, P),
	}
	if m.family == Default {
		m.family = StudentT
	}
	m.held = m.family.held().with(g.Held)
	m.learnPrior = !m.held.all()
	for p := range m.rank {
		m.rank[p] = float64(N)
		if g.Ranks != nil {
			if r := g.Ranks[p]; r < 1 || r > N {
				return nil, fmt.Errorf("vi: Ranks[%d] is %d: it must be between 1 and %d", p, r, N)
			}
			m.rank[p] = float64(g.Ranks[p])
		}
	}
	if !m.plain {
		m.ahead = newAhead(m)
	}
	if err := m.start(g); err != nil {
		return nil, err
	}
	var scale float64
	for _, v := range m.moments {
		scale += v.mean / float64(P)
	}
	m.prior = m.family.begin(m.prior, m.held, scale)
	if err := m.family.validate(m.prior); err != nil {
		return nil, err
	}
	m.updates = []work.Update{{Name: "f", Step: m.updateFunctions}}
	if labels {
		m.updates = append(m.updates, work.Update{Name: "y", Step: func() error { m.updateTargets(); return nil }})
	}
	m.updates = append(m.updates,
		work.Update{Name: "γ", Step: m.updateScales})
	if !m.plain {
		m.updates = append(m.updates, work.Update{Name: "common scale", Step: func() error { m.updateCommonScale(); return nil }})
	}
	m.updates = append(m.updates,
		work.Update{Name: "τ", Step: func() error { m.updateTau(); return nil }},
		work.Update{Name: "(ω,χ,φ)", Step: func() error { m.updatePrior(); return nil }})
	if !m.plain {
		// Scales and prior tie each other down; to update them again costs no pass over
		// the kernels.
		for range priorPasses {
			m.updates = append(m.updates,
				work.Update{Name: "γ again", Step: func() error {
					if !m.learnPrior {
						return nil
					}
					return m.updateScales()
				}},
				work.Update{Name: "common scale again", Step: func() error { m.updateCommonScale(); return nil }},
				work.Update{Name: "(ω,χ,φ) again", Step: func() error { m.updatePrior(); return nil }})
		}
	}
	if g.Ascent.Journal != nil {
		for p := range m.weight {
			m.weight[p] = float64(1 + p)
		}
		m.passes.sum(&m.ws, m.weight, m.b)
		for i := range N {
			m.identity = append(m.identity, conjugate.Sum(m.b.Row(i)[:i+1]))
		}
	}
	return m, nil
}

// start sets τ, E[γ] and E[y]. Unless told otherwise half of the targets'
// variance is noise and every kernel has an equal share of the other half; for
// labels both variances are 1.
func (m *model) start(g Model) error {
	var power float64
	if m.labels {
		power = 1
		var positive int
		for i, t := range m.y {
			switch t {
			case 1:
				positive++
			case -1:
			default:
				return fmt.Errorf("vi: t: label %d is %g: labels are −1 and +1", i, t)
			}
		}
		if positive == 0 || positive == m.N {
			return fmt.Errorf("vi: t: all %d labels are alike", m.N)
		}
	} else {
		power = 0.5 * la.SumSq(m.y) / float64(m.N)
		if power == 0 {
			return fmt.Errorf("vi: y: every value is zero")
		}
	}
	m.tau = g.Tau
	if m.tau == 0 {
		m.tau = 1 / power
	}

	if g.Start != nil && g.Start.Gamma != nil {
		if len(g.Start.Gamma) != m.P {
			return fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(g.Start.Gamma), m.P)
		}
		for p, v := range g.Start.Gamma {
			if !(v > 0) || math.IsInf(v, 1) {
				return fmt.Errorf("vi: Start.Gamma[%d] is %g", p, v)
			}
			m.moments[p].mean = v
		}
	} else {
		for i := range m.N {
			m.b.Set(i, i, 1)
		}
		m.k.Inner(&m.ws, m.b, m.trace)
		for p, t := range m.trace {
			if t < 0 {
				return fmt.Errorf("vi: kernel %d: its trace is %g: it is not positive semidefinite", p, t)
			}
			m.moments[p].mean = float64(m.P) / power
			if t > 0 {
				m.moments[p].mean *= t / float64(m.N)
			}
		}
	}

	if !m.labels {
		return nil
	}
	m.nu = make([]float64, m.N)
	if g.Start != nil && g.Start.Y != nil {
		if len(g.Start.Y) != m.N {
			return fmt.Errorf("vi: Start.Y: %d values for %d samples", len(g.Start.Y), m.N)
		}
		if i := check.NonFinite(g.Start.Y); i >= 0 {
			return fmt.Errorf("vi: Start.Y[%d] is %g", i, g.Start.Y[i])
		}
		copy(m.mean, g.Start.Y)
		return nil
	}
	m.updateTargets()
	return nil
}
