package mgp

import (
	"fmt"
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
	held       HeldPrior // by the family too
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
	if err := g.checkArguments(k, y); err != nil {
		return nil, err
	}
	m := g.newModel(k, y, labels)
	if err := m.takeRanks(g.Ranks); err != nil {
		return nil, err
	}
	if !m.plain {
		m.ahead = newAhead(m)
	}
	if err := m.start(g); err != nil {
		return nil, err
	}
	var scale float64
	for _, v := range m.moments {
		scale += v.mean / float64(m.P)
	}
	m.prior = m.family.begin(m.prior, m.held, scale)
	if err := m.family.validate(m.prior); err != nil {
		return nil, err
	}
	m.setUpdates()
	if g.Ascent.Journal != nil {
		m.identify()
	}
	return m, nil
}

// checkArguments returns an error unless the targets y are of the samples of square kernels k, and
// the settings are in range.
func (g Model) checkArguments(k vi.Kernels, y []float64) error {
	if err := checkKernels(k, len(y)); err != nil {
		return err
	}
	switch P, _, _ := k.Dims(); {
	case g.Ranks != nil && len(g.Ranks) != P:
		return fmt.Errorf("vi: Ranks: %d values for %d kernels", len(g.Ranks), P)
	case !check.NotNegative(g.Tau):
		return fmt.Errorf("vi: Tau is %g: it must be positive and finite", g.Tau)
	}
	return checkTargets(y)
}

// newModel returns a state without scales.
func (g Model) newModel(k vi.Kernels, y []float64, labels bool) *model {
	P, _, N := k.Dims()
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
	if m.family == FamilyDefault {
		m.family = FamilyStudentT
	}
	m.held = m.family.held().with(g.HeldPrior)
	m.learnPrior = !m.held.all()
	return m
}

// takeRanks sets the ranks of the kernels, N unless they are given.
func (m *model) takeRanks(ranks []int) error {
	for p := range m.rank {
		m.rank[p] = float64(m.N)
		if ranks == nil {
			continue
		}
		if r := ranks[p]; r < 1 || r > m.N {
			return fmt.Errorf("vi: Ranks[%d] is %d: it must be between 1 and %d", p, r, m.N)
		}
		m.rank[p] = float64(ranks[p])
	}
	return nil
}

// setUpdates sets the updates of a sweep.
func (m *model) setUpdates() {
	m.updates = []work.Update{{Name: "f", Step: m.updateFunctions}}
	if m.labels {
		m.updates = append(m.updates, work.Step("y", m.updateTargets))
	}
	m.updates = append(m.updates, work.Update{Name: "γ", Step: m.updateScales})
	if !m.plain {
		m.updates = append(m.updates, work.Step("common scale", m.updateCommonScale))
	}
	m.updates = append(m.updates, work.Step("τ", m.updateTau), work.Step("(ω,χ,φ)", m.updatePrior))
	if m.plain {
		return
	}
	// Scales and prior tie each other down; to update them again costs no pass over
	// the kernels.
	again := work.Update{Name: "γ again", Step: func() error {
		if !m.learnPrior {
			return nil
		}
		return m.updateScales()
	}}
	for range priorPasses {
		m.updates = append(m.updates,
			again, work.Step("common scale again", m.updateCommonScale), work.Step("(ω,χ,φ) again", m.updatePrior))
	}
}

// identify sums the rows of the kernels, by which a journal knows them.
func (m *model) identify() {
	for p := range m.weight {
		m.weight[p] = float64(1 + p)
	}
	m.passes.sum(&m.ws, m.weight, m.b)
	for i := range m.N {
		m.identity = append(m.identity, conjugate.Sum(m.b.Row(i)[:i+1]))
	}
}

// start sets τ, E[γ] and E[y]. Unless the start says otherwise, half of the targets' variance is
// noise and every kernel has an equal share of the other half; for labels both variances are 1.
func (m *model) start(g Model) error {
	power, err := m.measureTargets()
	if err != nil {
		return err
	}
	if m.tau = g.Tau; m.tau == 0 {
		m.tau = 1 / power
	}
	var start Start
	if g.Start != nil {
		start = *g.Start
	}
	if start.Gamma != nil {
		err = m.startGamma(start.Gamma)
	} else {
		err = m.startShares(power)
	}
	if err != nil || !m.labels {
		return err
	}
	return m.startTargets(start.Y)
}

// measureTargets returns half of the targets' mean square, or 1 for labels.
func (m *model) measureTargets() (power float64, err error) {
	if m.labels {
		return 1, checkLabels(m.y)
	}
	power = 0.5 * la.SumSq(m.y) / float64(m.N)
	if power == 0 {
		return 0, fmt.Errorf("vi: y: every value is zero")
	}
	return power, nil
}

// startGamma sets E[γ] to given values.
func (m *model) startGamma(gamma []float64) error {
	if len(gamma) != m.P {
		return fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(gamma), m.P)
	}
	for p, v := range gamma {
		if !check.Positive(v) {
			return fmt.Errorf("vi: Start.Gamma[%d] is %g", p, v)
		}
		m.moments[p].mean = v
	}
	return nil
}

// startShares sets E[γ] so that every kernel has an equal share of this variance.
func (m *model) startShares(power float64) error {
	for i := range m.N {
		m.b.Set(i, i, 1)
	}
	m.k.Inner(&m.ws, m.b, m.trace)
	for p, t := range m.trace {
		if t < 0 {
			return vi.NewKernelError(p, "its trace is %g: it is not positive semidefinite", t)
		}
		m.moments[p].mean = float64(m.P) / power
		if t > 0 {
			m.moments[p].mean *= t / float64(m.N)
		}
	}
	return nil
}

// startTargets sets E[y] of labels to y, or if that is nil to its optimum.
func (m *model) startTargets(y []float64) error {
	m.nu = make([]float64, m.N)
	if y == nil {
		m.updateTargets()
		return nil
	}
	if len(y) != m.N {
		return fmt.Errorf("vi: Start.Y: %d values for %d samples", len(y), m.N)
	}
	if i := check.NonFinite(y); i >= 0 {
		return fmt.Errorf("vi: Start.Y[%d] is %g", i, y[i])
	}
	copy(m.mean, y)
	return nil
}
