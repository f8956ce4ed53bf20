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

// Relevance is the multinomial probit kernel machine with few basis points, its relevance
// vectors, for predictions that cost little: [Model] but for the precisions of the
// regressors, of which each basis point has one for all classes and which are not integrated
// out but put where the bound is highest.
//
//	w_{c,d} ~ N(0, 1/α_d)          regressors
//	y_{c,n} | w ~ N(w_cᵀ·k_n, 1)   auxiliary variables
//	t_n = argmax_c y_{c,n}         labels
//
// Most α_d are then infinite, which takes basis point d out. The machine begins with no basis
// point, and with the auxiliary variables of a [Model] of all of them. It takes in one basis
// point after another, changes its precision or takes it out again, always that which raises
// the bound most. The weights of [WSum] are put where the bound is highest as well. The
// posterior is approximated by q(W)q(Y). The zero value is ready: [FixSum].
//
// Source: I. Psorakis, T. Damoulas and M. A. Girolami, "Multiclass relevance vector
// machines: sparsity and accuracy", IEEE Transactions on Neural Networks 21 (2010), mRVM1;
// M. E. Tipping and A. C. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
// models", AISTATS 2003. The weights of the kernels are learned otherwise than there, see
// docs/relevance.md.
type Relevance struct {
	Rule Rule // FixSum, FixProd or WSum

	// Beta holds the weights of the fixed rules, and where those of WSum start: nil means
	// 1, for WSum 1/P.
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
	// Posterior is that of the regressors of the relevance vectors, its basis points. There
	// is at least one: without any, the first basis point with all weights 0.
	Posterior *Posterior

	Vectors []int // the relevance vectors: which of the D basis points, ascending
	Record  vi.Record
}

// Fit approximates the posterior given the base kernels, matrices D×N of any kind, and the
// class of each sample, from 0 to C−1, each of which must occur. Errors are as package vi
// describes them.
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

// start makes q(Y) that of the machine of all basis points, at the weights of the kernels
// that m starts with. From functions of 0, under which the auxiliary variables of a class
// are all the same, no single basis point may be worth its precision, and then the machine
// would end where it begins.
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
// being row d of the composite kernel, as a column, and H = I + K_aᵀ·A⁻¹·K_a the covariance
// of y_c with the regressors integrated out, the bound tells by S and Q alone what it
// gains by a change of α_d.
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

	// Changes of H since the factorisation, of which each makes H⁻¹ − u·uᵀ/r of H⁻¹.
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
	// relevanceMoves is the most changes of α in a sweep: each takes a pass over the
	// kernel, and what they come to is worth less the longer E[Y] stays as it is.
	relevanceMoves = 32

	// relevanceRounds is the most updates of W and Y, by turns, in a sweep: they take no
	// pass over the kernel.
	relevanceRounds = 10

	// relevanceStart is the most sweeps of the machine of all basis points.
	relevanceStart = 50

	// leastGain is a rise of the bound that is none, in nats a sample.
	leastGain = 1e-9
)

// model checks the arguments and returns the initial state: no relevance vectors, and E[Y]
// as it is under functions of 0.
func (r Relevance) model(k vi.Kernels, labels []int) (*relevance, error) {
	composite, err := NewComposite(r.Rule, k)
	if err != nil {
		return nil, err
	}
	P, D, N := k.Dims()
	if r.Rule.Learned() && r.Rule != WSum {
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
	if r.Rule == WSum {
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

// settle factors B for the present α and kernel, and puts q(W) where the bound is highest.
func (m *relevance) settle() error {
	m.active, m.root, m.r = m.active[:0], m.root[:0], m.r[:0]
	for d, a := range m.alpha {
		if !math.IsInf(a, 1) {
			m.active, m.root = append(m.active, d), append(m.root, 1/math.Sqrt(a))
		}
	}
	M := len(m.active)
	m.factor, m.gram = resize(m.factor, M, M), resize(m.gram, M, M)
	m.span, m.ty = resize(m.span, M, m.N), resize(m.ty, m.C, M)
	for i, d := range m.active {
		copy(m.span.Row(i), m.kernel.Row(d))
	}
	la.Syrk(&m.ws, la.NoTrans, 1, m.span, 0, m.gram)
	var err error
	if m.jitter, err = factorB(&m.ws, m.factor, m.gram, m.all[:M], m.root); err != nil {
		return fmt.Errorf("relevance vectors: %w", err)
	}
	for i, r := range m.root {
		la.Scal(r, m.span.Row(i))
	}
	la.Trsm(&m.ws, la.Left, la.NoTrans, m.factor, m.span)
	m.explain()
	return nil
}

// resize returns a matrix of the given shape, in the memory of m if that is enough.
func resize(m la.Matrix[float64], rows, cols int) la.Matrix[float64] {
	if n := rows * cols; n <= cap(m.Data) {
		return la.MatrixOf(rows, cols, m.Data[:n])
	}
	return la.NewMatrix[float64](rows, cols)
}

// explain puts q(W) where the bound is highest for the present E[Y].
func (m *relevance) explain() {
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.y, m.span, 0, m.ty)
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.ty, m.span, 0, m.f)
}

// solve returns L⁻ᵀ·T·y_c for each class, C×M: the solutions x of Bx = A^-½·K_a·y_c, of which
// the means of the regressors are A^-½·x. It is valid until the next call.
func (m *relevance) solve() la.Matrix[float64] {
	m.means = resize(m.means, m.C, len(m.active))
	m.means.CopyFrom(m.ty)
	for c := range m.C {
		la.Trsv(la.Transpose, m.factor, m.means.Row(c))
	}
	return m.means
}

// unexplained computes y_c − f_c.
func (m *relevance) unexplained() {
	m.rest.CopyFrom(m.y)
	la.Axpy(-1, m.f.Data, m.rest.Data)
}

// truncate is q(y_n) = N(f_n, I) on the cone of its label.
func (m *relevance) truncate() error {
	m.location.CopyFrom(m.f)
	return m.chunks.Each(func(w *coneWorker, chunk int) error {
		w.truncate(chunk, m.labels, m.location, m.y, m.logZ)
		return nil
	})
}

// weigh computes S and Q.
func (m *relevance) weigh() {
	copy(m.s, m.norm)
	m.seen = resize(m.seen, m.D, len(m.active))
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.kernel, m.span, 0, m.seen)
	for d := range m.s {
		m.s[d] -= la.SumSq(m.seen.Row(d))
	}
	m.unexplained()
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.rest, m.kernel, 0, m.q)
}

// updateAlpha makes the changes of α that raise the bound most, one after another, until
// the next would raise it by less than a hundredth of what they did together.
func (m *relevance) updateAlpha() error {
	var total float64
	for range relevanceMoves {
		if err := m.Ended(); err != nil {
			return err
		}
		d, to, gain := m.best()
		if !(gain > 0.01*total) || gain <= leastGain*float64(m.N) {
			break
		}
		m.change(d, to)
		total += gain
	}
	if len(m.r) == 0 {
		return nil
	}
	return m.settle()
}

// best returns the change of one α_d that raises the bound most, and by how much.
//
// With s and q in place of S and Q where d is left out of H, what d adds to the bound is
//
//	ℓ(α) = ½·(C·log(α/(α + s)) + Σ_c q_c²/(α + s)),
//
// which is highest at α = C·s²/θ with θ = Σ_c q_c² − C·s, if that is positive, and
// otherwise at ∞, where it is 0.
func (m *relevance) best() (at int, to, gain float64) {
	C := float64(m.C)
	for d, a := range m.alpha {
		s, out := m.s[d], 1.0
		var now, square float64
		for c := range m.C {
			v := m.q.At(c, d)
			square += float64(v * v)
		}
		if !(s > 0x1p-40*m.norm[d]) {
			continue // what k_d explains is explained, as far as rounding tells
		}
		if !math.IsInf(a, 1) {
			if out = (a - s) / a; !(out > 0x1p-40) {
				continue
			}
			s /= out
			square /= float64(out * out)
			now = 0.5 * (float64(C*special.Log(out)) + square/(a+s))
		}
		best, then := math.Inf(1), 0.0
		if theta := square - float64(C*s); theta > 0 {
			best = float64(C*s) * (s / theta)
			then = 0.5 * (float64(C*special.Log(float64(C*s)/square)) + theta/s)
		}
		if then-now > gain && !(math.IsInf(a, 1) && math.IsInf(best, 1)) {
			at, to, gain = d, best, then-now
		}
	}
	return at, to, gain
}

// change makes α_d = to, and S and Q what they then are: H changes by a multiple of
// k_d·k_dᵀ.
func (m *relevance) change(d int, to float64) {
	k, u := m.kernel.Row(d), m.u.Row(len(m.r))
	copy(u, k)
	la.Gemv(&m.ws, la.Transpose, -1, m.span, m.seen.Row(d), 1, u)
	for i, r := range m.r {
		before := m.u.Row(i)
		la.Axpy(-la.Dot(before, k)/r, before, u)
	}
	r := 1/(1/to-1/m.alpha[d]) + m.s[d]
	m.r = append(m.r, r)
	m.alpha[d] = to

	la.Gemv(&m.ws, la.NoTrans, 1, m.kernel, u, 0, m.along)
	for c := range m.C {
		q := m.q.Row(c)
		la.Axpy(-q[d]/r, m.along, q)
	}
	for i, v := range m.along {
		m.s[i] -= float64(v*v) / r
	}
}

// updateBeta moves the weights of WSum along the gradient of the bound with the regressors
// integrated out,
//
//	∂/∂K_a = Σ_c E[w_c](y_c − f_c)ᵀ − C·V·K_a,   V = (K_aK_aᵀ + A)⁻¹,
//
// on the simplex: log β_p by a multiple of it, as mirror ascent does. Steps that lower the
// bound are taken back and made shorter.
func (m *relevance) updateBeta() error {
	if len(m.active) == 0 {
		return nil
	}
	before := m.explained()
	slope := m.slope()
	mean := la.Dot(slope, m.beta)
	var largest float64
	for p := range slope {
		slope[p] -= mean
		largest = max(largest, math.Abs(slope[p]))
	}
	if !(largest > 0) {
		return nil
	}
	m.stride = min(float64(2*m.stride), 1/largest)
	old := slices.Clone(m.beta)
	for range 8 {
		for p, b := range old {
			m.beta[p] = b * special.Exp(float64(m.stride*slope[p]))
		}
		la.Scal(1/sum(m.beta), m.beta)
		m.setKernel()
		if err := m.settle(); err != nil {
			return err
		}
		if m.explained() >= before {
			return nil
		}
		m.stride /= 4
	}
	copy(m.beta, old)
	m.setKernel()
	return m.settle()
}

// sum returns the sum of x.
func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// slope returns the derivatives of the bound by β, W integrated out.
func (m *relevance) slope() []float64 {
	m.unexplained()
	m.back = resize(m.back, len(m.active), m.N)
	m.back.CopyFrom(m.span)
	la.Trsm(&m.ws, la.Left, la.Transpose, m.factor, m.back) // B⁻¹·A^-½·K_a
	la.Gemm(&m.ws, la.Transpose, la.NoTrans, 1, m.solve(), m.rest, -float64(m.C), m.back)
	m.byKernel.Fill(0)
	for i, d := range m.active {
		la.Axpy(m.root[i], m.back.Row(i), m.byKernel.Row(d))
	}
	slope := make([]float64, m.P)
	m.composite.Slope(&m.ws, m.beta, m.byKernel, slope)
	return slope
}

// updateWY updates q(W) and q(Y) by turns, and then S and Q.
func (m *relevance) updateWY() error {
	last := math.Inf(-1)
	for range relevanceRounds {
		if err := m.truncate(); err != nil {
			return err
		}
		m.explain()
		bound := m.Bound()
		if bound-last < leastGain*float64(m.N) {
			break
		}
		last = bound
	}
	m.weigh()
	return nil
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

// Predictions implements [vi.Objective], as those of [Model]: the variance of the functions at
// sample n is the squared norm of column n of T.
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
