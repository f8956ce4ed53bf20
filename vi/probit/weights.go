package probit

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// The weights of sums, whose expected log likelihood is a quadratic of β:
//
//	E log p(Y | W, β) = const + bᵀβ − ½ βᵀAβ,
//	b_p = Σ_{c,n} E[y]·g_p,   A_pq = Σ_{c,n} g_p·g_q + tr(K_pᵀ(Σ_c V_c)K_q),
//
// g_p = E[W]·K_p. [PlugIn] leaves the trace out.

// start returns the weights that a fit starts from, those given or what stands for nil: the
// fixed ones themselves.
func (r Rule) start(beta []float64, P int) ([]float64, error) {
	if beta == nil {
		usual := map[Rule]float64{FixSum: 1, FixProd: 1, WProd: 1, WSum: 1 / float64(P), Bin: 0.5}[r]
		return slices.Repeat([]float64{usual}, P), nil
	}
	if len(beta) != P {
		return nil, fmt.Errorf("vi: Beta: %d weights for %d kernels", len(beta), P)
	}
	var sum float64
	for i, b := range beta {
		bad := !(b >= 0) && r != FixSum || b-b != 0 || r == Bin && b > 1 || r == WProd && b == 0
		if bad {
			return nil, fmt.Errorf("vi: Beta[%d] is %g, which is no weight of %v", i, b, r)
		}
		sum += b
	}
	if r == WSum && math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("vi: Beta: the weights of WSum add up to %g, not 1", sum)
	}
	return slices.Clone(beta), nil
}

// weights returns q(β) at its start, and nothing for fixed weights.
func (p Model) weights(m *model) (weights, error) {
	mean, err := p.Rule.start(p.Beta, m.P)
	if err != nil {
		return nil, err
	}
	copy(m.mean, mean)
	switch {
	case p.Update < PlugIn || p.Update > Structured:
		return nil, fmt.Errorf("vi: Update is %d", p.Update)
	case p.Update == Structured && p.Rule != Bin:
		return nil, fmt.Errorf("vi: Update is Structured, which is of Bin and not of %v", p.Rule)
	case p.Search != Mode && p.Search != Sampling:
		return nil, fmt.Errorf("vi: Search is %d", p.Search)
	case p.Samples < 0:
		return nil, fmt.Errorf("vi: Samples is %d", p.Samples)
	case !(p.Kappa >= 0) || math.IsInf(p.Kappa, 1) || !(p.Xi >= 0) || math.IsInf(p.Xi, 1):
		return nil, fmt.Errorf("vi: Kappa is %g and Xi %g: they must be positive and finite", p.Kappa, p.Xi)
	}
	m.setKernel()
	for d := range m.D {
		if i := check.NonFinite(m.kernel.Row(d)); i >= 0 {
			return nil, fmt.Errorf("vi: Beta: the composite kernel's entry (%d, %d) is %g", d, i, m.kernel.At(d, i))
		}
	}
	if !p.Rule.Learned() && m.theta == nil {
		return nil, nil
	}
	if p.Update == Structured {
		return p.structured(m)
	}
	m.sum = la.NewMatrix[float64](m.D, m.D)
	m.scratch = la.NewMatrix[float64](m.D, m.N)
	switch {
	case !p.Rule.Learned():
		return nil, nil
	case p.Rule == WProd:
		return p.powers(m)
	}
	q := newQuadratic(m)
	switch {
	case p.Rule == Bin:
		return p.switches(m, q)
	case p.Search == Sampling:
		return p.simplexSample(m, q)
	}
	return &simplexMode{quadratic: q}, nil
}

// quadratic is the expected log likelihood as a function of the weights of a sum.
type quadratic struct {
	b       []float64          // P
	a       la.Matrix[float64] // P×P
	squares la.Matrix[float64] // P×P, A without the trace
	cov     la.Matrix[float64] // P×P, Cov(β)

	products []la.Matrix[float64] // of [MeanField]: lower triangle of ½(K_pK_qᵀ + K_qK_pᵀ) for q ≤ p, nil if not kept

	g    la.Matrix[float64] // (C·P)×N, row c·P+p is g_p of class c
	rest []float64          // N
	one  []float64          // P
	t    la.Matrix[float64] // D×N
	root la.Matrix[float64] // P×P
}

// newQuadratic returns room for the likelihood of m, with the products of its kernels
// where they are kept.
func newQuadratic(m *model) *quadratic {
	q := &quadratic{
		b: make([]float64, m.P), a: la.NewMatrix[float64](m.P, m.P), squares: la.NewMatrix[float64](m.P, m.P),
		cov: la.NewMatrix[float64](m.P, m.P), root: la.NewMatrix[float64](m.P, m.P),
		g: la.NewMatrix[float64](m.C*m.P, m.N), rest: make([]float64, m.N), one: make([]float64, m.P),
	}
	if m.update == MeanField {
		q.t = la.NewMatrix[float64](m.D, m.N)
		if m.P <= mostProducts && m.ridge == nil && m.theta == nil {
			q.multiply(m)
		}
	}
	return q
}

// mostProducts is the most kernels whose products with each other are kept: they
// take (P+1)/2 times the memory of square kernels.
const mostProducts = 8

// multiply computes the products of the kernels.
func (q *quadratic) multiply(m *model) {
	only := func(p int, k la.Matrix[float64]) {
		clear(q.one)
		q.one[p] = 1
		m.k.Sum(&m.ws, q.one, k)
	}
	for p := range m.P {
		only(p, m.scratch)
		for r := range p {
			only(r, q.t)
			k := la.NewMatrix[float64](m.D, m.D)
			la.Gemm(&m.ws, la.NoTrans, la.Transpose, 0.5, m.scratch, q.t, 0, k)
			la.Gemm(&m.ws, la.NoTrans, la.Transpose, 0.5, q.t, m.scratch, 1, k)
			q.products = append(q.products, k)
		}
		k := la.NewMatrix[float64](m.D, m.D)
		la.Syrk(&m.ws, la.NoTrans, 1, m.scratch, 0, k)
		q.products = append(q.products, k)
	}
}

// measure computes b and A.
func (q *quadratic) measure(m *model) {
	m.k.Project(&m.ws, m.w, q.g)
	clear(q.b)
	for c := range m.C {
		g := q.g.Slice(c*m.P, (c+1)*m.P, 0, m.N)
		la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, g, g, min(1, float64(c)), q.squares)
		copy(q.rest, m.y.Row(c))
		for n, r := range m.ridge {
			q.rest[n] -= float64(m.w.At(c, n) * r)
		}
		for p := range m.P {
			q.b[p] += la.Dot(g.Row(p), q.rest)
		}
	}
	q.a.CopyFrom(q.squares)
	if m.update != MeanField {
		return
	}
	if q.products != nil {
		i := 0
		for p := range m.P {
			for r := range p + 1 {
				v := lowerInner(q.products[i], m.sum)
				q.a.Row(p)[r] += v
				if r < p {
					q.a.Row(r)[p] += v
				}
				i++
			}
		}
		return
	}
	m.sum.MirrorLower()
	for p := range m.P {
		clear(q.one)
		q.one[p] = 1
		m.k.Sum(&m.ws, q.one, m.scratch)
		la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.sum, m.scratch, 0, q.t)
		m.k.Inner(&m.ws, q.t, q.one)
		la.Axpy(1, q.one, q.a.Row(p))
		for n, r := range m.ridge {
			q.b[p] -= float64(r * q.t.At(n, n))
		}
	}
}

// at returns bᵀβ − ½βᵀAβ.
func (q *quadratic) at(beta []float64) float64 {
	var v float64
	for p, b := range beta {
		v += float64(b * (q.b[p] - float64(0.5*la.Dot(q.a.Row(p), beta))))
	}
	return v
}

// settle renews what depends on q(β), whose mean is in m.mean and whose covariance
// is in q.cov.
func (q *quadratic) settle(m *model) {
	q.restored(m)
	for c := range m.C {
		f := m.f.Row(c)
		clear(f)
		for p, b := range m.mean {
			la.Axpy(b, q.g.Row(c*m.P+p), f)
		}
		for n, r := range m.ridge {
			f[n] += float64(m.w.At(c, n) * r)
		}
		m.spread[c] = la.SumSq(f)
	}
	m.spread[0] += lowerInner(m.gram, m.sum)
	if m.update == MeanField {
		for p := range m.P {
			m.spread[0] += la.Dot(q.cov.Row(p), q.squares.Row(p))
		}
	}
}

// remember implements weights.
func (q *quadratic) remember(memory *work.Memory) { memory.Of(q.b, q.a.Data, q.cov.Data) }

// restored implements weights.
func (q *quadratic) restored(m *model) {
	if q.products != nil {
		q.setKernel(m)
		return
	}
	m.setKernel()
	if m.update == MeanField {
		q.addSpread(m)
	}
}

// setKernel makes E[K] and E[KKᵀ] of the kernels and their products.
func (q *quadratic) setKernel(m *model) {
	m.composite.Combine(&m.ws, m.mean, m.kernel)
	for d := range m.D {
		row, i := m.gram.Row(d)[:d+1], 0
		clear(row)
		for p := range m.P {
			for r := range p + 1 {
				v := q.cov.At(p, r) + float64(m.mean[p]*m.mean[r])
				if r < p {
					v *= 2
				}
				if v != 0 {
					la.Axpy(v, q.products[i].Row(d)[:d+1], row)
				}
				i++
			}
		}
	}
}

// addSpread adds Σ_pq Cov(β_p, β_q)·K_p·K_qᵀ to E[KKᵀ], as a sum of squares: one
// for each dimension in which β varies.
func (q *quadratic) addSpread(m *model) {
	q.root.CopyFrom(q.cov)
	r := q.root
	for range m.P {
		pivot, most := -1, 0.0
		for p := range m.P {
			if v := r.At(p, p); v > most {
				pivot, most = p, v
			}
		}
		if most < 1e-18 {
			return
		}
		s := 1 / math.Sqrt(most)
		for p := range m.P {
			q.one[p] = r.At(p, pivot) * s
		}
		for p := range m.P {
			la.Axpy(-q.one[p], q.one, r.Row(p))
		}
		r.Set(pivot, pivot, 0)
		m.k.Sum(&m.ws, q.one, m.scratch)
		la.Syrk(&m.ws, la.NoTrans, 1, m.scratch, 1, m.gram)
	}
}

// covariance implements weights.
func (q *quadratic) covariance(*model) la.Matrix[float64] { return q.cov }

// lowerInner returns the Frobenius product of two symmetric matrices of which the
// lower triangles are given.
func lowerInner(a, b la.Matrix[float64]) float64 {
	var s float64
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		s += 2*la.Dot(x[:i], y[:i]) + float64(x[i]*y[i])
	}
	return s
}

// simplexMode puts β at the maximum of bᵀβ − ½βᵀAβ on the simplex, its mode when
// its prior is flat.
type simplexMode struct {
	*quadratic
}

// update implements weights.
func (s *simplexMode) update(m *model) error {
	s.measure(m)
	maximiseOnSimplex(s.b, s.a, m.mean)
	s.settle(m)
	return nil
}

// bound implements weights: the logarithm of the flat density, (P−1)!.
func (s *simplexMode) bound() float64 {
	v := special.LogGamma(float64(len(s.b)))
	return v
}

// covariance implements weights: that of the normal density whose exponent the
// quadratic is, on the face of the simplex on which the mode lies; the other
// weights do not vary.
func (s *simplexMode) covariance(m *model) la.Matrix[float64] {
	mean := m.mean
	var free []int
	for p, b := range mean {
		if b > 0 {
			free = append(free, p)
		}
	}
	n := len(free)
	cov := la.NewMatrix[float64](len(mean), len(mean))
	inverse := la.NewMatrix[float64](n, n)
	for i, p := range free {
		for j, r := range free {
			inverse.Set(i, j, s.a.At(p, r))
		}
		inverse.Row(i)[i] *= 1 + 1e-12
	}
	if n < 2 || la.Cholesky(nil, inverse) != nil {
		return cov
	}
	la.CholeskyInv(nil, inverse)
	inverse.MirrorLower()
	rows := make([]float64, n)
	var all float64
	for i := range rows {
		for _, v := range inverse.Row(i) {
			rows[i] += v
		}
		all += rows[i]
	}
	for i, p := range free {
		for j, r := range free {
			cov.Set(p, r, inverse.At(i, j)-rows[i]*rows[j]/all)
		}
	}
	return cov
}

// maximiseOnSimplex moves x to where bᵀx − ½xᵀAx is highest on the simplex, A
// positive semidefinite, by exact steps between the two weights whose gradients
// differ most.
func maximiseOnSimplex(b []float64, a la.Matrix[float64], x []float64) {
	gradient := make([]float64, len(x))
	scale := 0.0
	for p := range x {
		gradient[p] = b[p] - la.Dot(a.Row(p), x)
		scale = max(scale, math.Abs(b[p]), a.At(p, p))
	}
	for range 100000 {
		up, down := 0, -1
		for p, g := range gradient {
			if g > gradient[up] {
				up = p
			}
			if x[p] > 0 && (down < 0 || g < gradient[down]) {
				down = p
			}
		}
		if down < 0 { // x is NaN
			return
		}
		gap := gradient[up] - gradient[down]
		if !(gap > 1e-14*scale) {
			return
		}
		step := x[down]
		if curve := a.At(up, up) + a.At(down, down) - 2*a.At(up, down); gap < curve*step {
			step = gap / curve
			x[down] -= step
		} else {
			x[down] = 0
		}
		x[up] += step
		for p := range gradient {
			gradient[p] -= float64(step * (a.At(p, up) - a.At(p, down)))
		}
	}
}

// mostSwitches is the most kernels whose states are enumerated.
const mostSwitches = 16

// states is q(β) of [Bin], over all 2^P states. β_p is bit p of a state's index.
type states struct {
	prior   []float64 // by state, log p(β)
	prob    []float64 // q(β)
	entropy float64
	expect  float64 // E[log p(β)]
	beta    []float64
}

// states checks the priors of the switches and returns their states.
func (p Model) states(P int) (states, error) {
	on := p.On
	if on == nil {
		for range P {
			on = append(on, 0.5)
		}
	}
	if len(on) != P {
		return states{}, fmt.Errorf("vi: On: %d values for %d kernels", len(on), P)
	}
	s := states{prior: make([]float64, 1<<P), prob: make([]float64, 1<<P), beta: make([]float64, P)}
	for i, v := range on {
		if !(v > 0 && v < 1) {
			return states{}, fmt.Errorf("vi: On[%d] is %g: it must be between 0 and 1", i, v)
		}
		for b := range s.prior {
			if b>>i&1 == 1 {
				s.prior[b] += special.Log(v)
			} else {
				s.prior[b] += special.Log1p(-v)
			}
		}
	}
	if p.NotEmpty {
		s.prior[0] = math.Inf(-1)
	}
	return s, nil
}

// decode stores β of state b.
func (s *states) decode(b int, beta []float64) {
	for p := range beta {
		beta[p] = float64(b >> p & 1)
	}
}

// normalise makes probabilities of the logarithms in s.prob, which lack a constant,
// and stores the mean and covariance of β.
func (s *states) normalise(mean []float64, cov la.Matrix[float64]) {
	top := math.Inf(-1)
	for _, v := range s.prob {
		top = max(top, v)
	}
	var total float64
	for b, v := range s.prob {
		s.prob[b] = special.Exp(v - top)
		total += s.prob[b]
	}
	s.entropy, s.expect = 0, 0
	clear(mean)
	for b := range s.prob {
		s.prob[b] /= total
		if q := s.prob[b]; q > 0 {
			s.entropy -= float64(q * special.Log(q))
			s.expect += float64(q * s.prior[b])
			for p := range mean {
				mean[p] += float64(q * float64(b>>p&1))
			}
		}
	}
	cov.Fill(0)
	for b, q := range s.prob {
		if q == 0 {
			continue
		}
		for p := range mean {
			s.beta[p] = float64(b>>p&1) - mean[p]
		}
		for p, v := range s.beta {
			la.Axpy(q*v, s.beta, cov.Row(p))
		}
	}
}

// bound implements weights.
func (s *states) bound() float64 { return s.expect + s.entropy }

// switches is q(β) of [Bin] beside a q(W) that does not depend on it.
type switches struct {
	*quadratic
	states
}

// switches returns q(β) of Bin at its start.
func (p Model) switches(m *model, q *quadratic) (*switches, error) {
	if m.P > mostSwitches {
		return nil, fmt.Errorf("vi: Bin enumerates the states of at most %d kernels, not %d", mostSwitches, m.P)
	}
	s, err := p.states(m.P)
	return &switches{q, s}, err
}

// update implements weights.
func (s *switches) update(m *model) error {
	s.measure(m)
	s.solve(m.mean)
	s.settle(m)
	return nil
}

// solve finds q(β) for the present quadratic, and its mean and covariance.
func (s *switches) solve(mean []float64) {
	for b, prior := range s.prior {
		s.decode(b, s.beta)
		s.prob[b] = prior + s.at(s.beta)
	}
	s.normalise(mean, s.cov)
}
