package probit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Relevance is the multinomial probit kernel machine with few basis points, its relevance vectors,
// for predictions that cost little: [Model] but for the precisions of the regressors. Each basis
// point has one precision for all classes, which is not integrated out but set to where the bound
// is highest.
//
//	w_{c,d} ~ N(0, 1/α_d)          regressors
//	y_{c,n} | w ~ N(w_cᵀ·k_n, 1)   auxiliary variables
//	t_n = argmax_c y_{c,n}         labels
//
// Most α_d are then infinite, which takes basis point d out. The machine begins with no basis
// point, and with the auxiliary variables of a [Model] of all of them. It takes in one basis
// point after another, changes its precision or takes it out again, always that which raises
// the bound most. The weights of [RuleWSum] are put where the bound is highest as well. The
// posterior is approximated by q(W)q(Y). The zero value is ready: [RuleFixSum].
//
// Source: I. Psorakis, T. Damoulas and M. A. Girolami, "Multiclass relevance vector
// machines: sparsity and accuracy", IEEE Transactions on Neural Networks 21 (2010), mRVM1;
// M. E. Tipping and A. C. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
// models", AISTATS 2003. The weights of the kernels are learned otherwise than there, see
// docs/theory/relevance.md.
type Relevance struct {
	Rule Rule // FixSum, FixProd or WSum

	// Beta holds the weights of the fixed rules, and where the weights of WSum start: nil means 1,
	// for WSum 1/P.
	Beta []float64

	Ascent vi.Ascent

	// Seed selects the random start of the machine of all basis points.
	Seed uint64

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// RelevanceFit is a fitted [Relevance] or [Pruned].
type RelevanceFit struct {
	// Posterior is the posterior of the regressors of the relevance vectors, its basis points.
	// There is at least one basis point: without any, the first basis point with all weights 0.
	Posterior *Posterior

	Vectors []int // the relevance vectors: which of the D basis points, ascending
	Record  vi.Record
}

// Fit approximates the posterior given the base kernels, matrices D×N of any kind, and the class of
// each sample, from 0 to C−1. Every class must occur. Errors are as package vi describes them.
func (r Relevance) Fit(ctx context.Context, k vi.Kernels, labels []int) (*RelevanceFit, error) {
	m, err := r.model(k, labels)
	if err != nil {
		return nil, err
	}
	if err := r.start(ctx, m); err != nil {
		return nil, err
	}
	rec, err := r.Ascent.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return nil, err
	}
	fit := &RelevanceFit{Record: rec}
	var perr error
	if fit.Posterior, fit.Vectors, perr = m.posterior(); perr != nil {
		return nil, perr
	}
	return fit, err
}

// start takes q(Y) from the machine of all basis points, at the weights of the kernels that m
// starts with. From functions of 0, under which the auxiliary variables of a class are all the
// same, no single basis point may be worth its precision, and then the machine would end where it
// begins.
func (r Relevance) start(ctx context.Context, m *relevance) error {
	all := Model{Rule: r.Rule, Beta: m.beta, Workers: r.Workers, Seed: r.Seed}
	full, err := all.briefly(ctx, r.Ascent.Journal, m.composite.Base(), m.labels)
	if full == nil {
		return err
	}
	m.y.CopyFrom(full.state.y)
	m.location.CopyFrom(full.state.location)
	copy(m.logZ, full.state.logZ)
	return nil
}

// relevance is the state of a fit. With S_d = k_dᵀ·H⁻¹·k_d and Q_{c,d} = k_dᵀ·H⁻¹·y_c, k_d
// being row d of the composite kernel, as a column, and H = I + K_aᵀ·A⁻¹·K_a the covariance of y_c
// with the regressors integrated out, S and Q alone determine what the bound gains by a change of
// α_d.
type relevance struct {
	work.Stop
	composite  *Composite
	C, P, D, N int
	labels     []int
	all        []int // 0 … D−1

	ws     la.Workspace
	chunks *work.Crew[*coneWorker] // a task for chunkSize samples

	beta   []float64          // P
	kernel la.Matrix[float64] // D×N, the composite kernel
	norm   []float64          // D, k_dᵀ·k_d
	alpha  []float64          // D, +Inf for all but the relevance vectors
	stride float64            // of the last step of β

	// q(y_n): N(location, I) on its cone.
	y        la.Matrix[float64] // C×N, E[y]
	location la.Matrix[float64] // C×N
	logZ     []float64          // N

	// What follows from α, β and E[Y], for the M relevance vectors.
	active []int              // M
	root   []float64          // M, α^-½
	factor la.Matrix[float64] // M×M, L of B = I + A^-½·K_aK_aᵀ·A^-½
	gram   la.Matrix[float64] // M×M, lower triangle of K_aK_aᵀ
	span   la.Matrix[float64] // M×N, T = L⁻¹·A^-½·K_a, so that H⁻¹ = I − TᵀT
	jitter float64            // of B, relative
	ty     la.Matrix[float64] // C×M, T·y_c
	f      la.Matrix[float64] // C×N, TᵀT·y_c, the means of the functions
	s      []float64          // D
	q      la.Matrix[float64] // C×D
	rest   la.Matrix[float64] // C×N, y_c − f_c
	seen   la.Matrix[float64] // D×M, T·k_d
	stale  bool               // none of this follows yet

	// Changes of H since the factorisation. Each turns H⁻¹ into H⁻¹ − u·uᵀ/r.
	u la.Matrix[float64] // relevanceMoves×N, H⁻¹·k_d before the change
	r []float64

	along    []float64          // D, K·u
	means    la.Matrix[float64] // C×M
	back     la.Matrix[float64] // M×N
	byKernel la.Matrix[float64] // D×N, for WSum

	updates []work.Update
	memory  work.Memory

	identity []float64 // of the kernels, for a journal
}

const (
	// relevanceMoves is the most changes of α in a sweep: each takes a pass over the kernel, and is
	// worth less the longer E[Y] has not been updated.
	relevanceMoves = 32

	// relevanceRounds is the most updates of W and Y, by turns, in a sweep: they take no
	// pass over the kernel.
	relevanceRounds = 10

	// relevanceStart is the most sweeps of the machine of all basis points.
	relevanceStart = 50

	// leastGain is the rise of the bound, in nats a sample, below which a change counts as no gain.
	leastGain = 1e-9
)

// model checks the arguments and returns the initial state: no relevance vectors, and E[Y] given
// functions of 0.
func (r Relevance) model(k vi.Kernels, labels []int) (*relevance, error) {
	composite, err := NewComposite(r.Rule, k)
	if err != nil {
		return nil, err
	}
	P, D, N := k.Dims()
	if r.Rule.Learned() && r.Rule != RuleWSum {
		return nil, fmt.Errorf("vi: relevance vectors: %v: FixSum, FixProd or WSum is needed", r.Rule)
	}
	if len(labels) != N {
		return nil, fmt.Errorf("vi: labels: %d values for %d samples", len(labels), N)
	}
	count, err := countLabels(labels)
	if err != nil {
		return nil, err
	}
	C := len(count)
	m := &relevance{
		composite: composite, C: C, P: P, D: D, N: N, labels: labels, all: sequence(D),
		ws: la.Workspace{Workers: r.Workers}, chunks: newChunks(r.Workers, N, C),
		kernel: la.NewMatrix[float64](D, N), norm: make([]float64, D),
		alpha: slices.Repeat([]float64{math.Inf(1)}, D), stride: math.Inf(1),
		y: la.NewMatrix[float64](C, N), location: la.NewMatrix[float64](C, N), logZ: make([]float64, N),
		f: la.NewMatrix[float64](C, N), rest: la.NewMatrix[float64](C, N), s: make([]float64, D), q: la.NewMatrix[float64](C, D),
		u: la.NewMatrix[float64](relevanceMoves, N), along: make([]float64, D),
	}
	m.chunks.Stop = &m.Stop
	if m.beta, err = r.Rule.start(r.Beta, P); err != nil {
		return nil, err
	}
	m.updates = []work.Update{
		{Name: "α", Step: m.updateAlpha},
		{Name: "W, Y", Step: m.updateWY},
	}
	if r.Rule == RuleWSum {
		m.byKernel = la.NewMatrix[float64](D, N)
		m.updates = slices.Insert(m.updates, 1, work.Update{Name: "β", Step: m.updateBeta})
	}
	m.setKernel()
	if err := m.settle(); err != nil {
		return nil, err
	}
	if err := m.truncate(); err != nil {
		return nil, err
	}
	if r.Ascent.Journal != nil {
		m.identity = identityOf(&m.ws, k)
	}
	m.memory.Of(m.beta, m.alpha, m.y.Data, m.location.Data, m.logZ)
	m.stale = true
	return m, nil
}

// setKernel makes K the composite kernel at β.
func (m *relevance) setKernel() {
	m.composite.Combine(&m.ws, m.beta, m.kernel)
	for d := range m.D {
		m.norm[d] = la.SumSq(m.kernel.Row(d))
	}
}

// Sweep implements [vi.Objective].
func (m *relevance) Sweep(done func(string)) error {
	if m.stale {
		if err := m.settle(); err != nil {
			return err
		}
		m.weigh()
		m.stale = false
	}
	return work.Sweep(&m.Stop, m.updates, done)
}

// Bound implements [vi.Objective]. With Z the normalisers of q(Y) and m its location,
//
//	Σ_n log Z_n + Σ_{c,n} (½m² − E[y]·m) + ½ Σ_c E[y_c]ᵀf_c − ½C·log|B|,
//
// for the best q(W). The second moments of Y cancel.
func (m *relevance) Bound() float64 {
	v := m.explained()
	for _, z := range m.logZ {
		v += z
	}
	for i, l := range m.location.Data {
		v += float64(l * (float64(0.5*l) - m.y.Data[i]))
	}
	return v
}

// explained returns what the bound has of W: ½ Σ_c E[y_c]ᵀf_c − ½C·log|B|.
func (m *relevance) explained() float64 {
	return 0.5 * (la.Dot(m.y.Data, m.f.Data) - float64(float64(m.C)*la.LogDet(m.factor)))
}

// Roundoff implements [vi.Objective], see [work.Roundoff].
func (m *relevance) Roundoff() float64 {
	M := len(m.active)
	inverse := make([]float64, M)
	la.CholeskyInvDiag(&m.ws, m.factor, inverse)
	x := m.solve()
	var v float64
	for i := range M {
		b := la.SumSq(m.factor.Row(i)[:i+1])
		v += float64(float64(m.C) * b * inverse[i])
		for c := range m.C {
			v += float64(b * float64(x.At(c, i)*x.At(c, i)))
		}
	}
	return float64((work.Roundoff(max(M, 1)) + m.jitter) * v)
}

// Allowance implements [vi.Objective]: every update is ascent.
func (m *relevance) Allowance() float64 { return 0 }

// Jittered implements [vi.Objective].
func (m *relevance) Jittered() float64 { return m.jitter }

// Observations implements [vi.Objective].
func (m *relevance) Observations() float64 { return float64(m.N) }

// Keep implements [vi.Objective].
func (m *relevance) Keep() { m.memory.Keep() }

// Restore implements [vi.Objective], as far as posteriors go.
func (m *relevance) Restore() {
	m.memory.Restore()
	m.setKernel()
	m.stale = true
}

// Predictions implements [vi.Objective] as [Model] does: the variance of the functions at sample n
// is the squared norm of column n of T.
func (m *relevance) Predictions(p *vi.Predictions) {
	p.Resize(m.N)
	p.Probabilities = true
	sd := math.Sqrt(1 + la.SumSq(m.span.Data)/float64(m.N))
	for n, z := range m.logZ {
		p.Mean[n], p.SD[n] = special.Exp(z), sd
	}
}

// posterior returns the posterior of the present α, β and q(Y), and the relevance vectors.
func (m *relevance) posterior() (*Posterior, []int, error) {
	if err := m.settle(); err != nil {
		return nil, nil, err
	}
	s := State{
		Rule: m.composite.rule, Samples: m.N,
		Beta: slices.Clone(m.beta), BetaCov: la.NewMatrix[float64](m.P, m.P),
		W: la.NewMatrix[float64](m.C, max(1, len(m.active))), Gram: m.gram.Clone(),
	}
	s.Alpha = s.W.Clone()
	s.Alpha.Fill(math.Inf(1))
	vectors := slices.Clone(m.active)
	if len(vectors) == 0 {
		vectors, s.Gram = []int{0}, la.MatrixOf(1, 1, []float64{m.norm[0]})
	}
	x := m.solve()
	for c := range m.C {
		for i, d := range m.active {
			s.W.Set(c, i, m.root[i]*x.At(c, i))
			s.Alpha.Set(c, i, m.alpha[d])
		}
	}
	p, err := NewPosterior(s)
	return p, vectors, err
}
