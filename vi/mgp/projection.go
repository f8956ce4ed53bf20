package mgp

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/pivot"
)

// Projection is a [Posterior] as a few of the training samples see it, its pivots:
// a prediction takes the kernels with those alone, and comes with a bound on what
// the others would have changed. docs/theory/predictor.md derives the bound.
//
// In the feature space of the composite kernel k = Σ_p k_p/γ_p the pivots span a
// subspace. The part of a sample outside it has the squared length
//
//	r(x) = k(x,x) − |t|²,   t = L⁻¹k_m,   K_mm = LLᵀ,
//
// which is known. Mean and variance differ little from the mean and variance by the subspace where
// r is small:
//
//	|E[f] − wᵀk_m| ≤ √(r·αᵀRα),   |Var[f] − tᵀAt − r/2| ≤ r/2 + 2√(r·c),
//
// R being the training samples' own residual kernel, A the posterior covariance
// inside the subspace and c at most λ|t|² and at most tᵀAt. It is immutable and safe
// for concurrent use.
type Projection struct {
	// Pivots are training samples. The first Order of them span the subspace of the variance and of
	// r, all of them the subspace of the mean, whose energy αᵀRα is smaller.
	Pivots []int
	Order  int

	meanOnly bool

	noise   float64       // 1/τ, 1 for labels
	weights []float64     // w, of all pivots
	energy  float64       // αᵀRα
	inverse stairs.Matrix // L⁻¹
	inside  stairs.Matrix // A, its elements below the diagonal doubled; empty without variance
	lambda  float64       // λ

	// What round-off can add to wᵀk_m, per unit of √k(x,x), and to r and tᵀAt, per
	// unit of k(x,x).
	meanRounding, residualRounding, varianceRounding float64
}

// Bytes returns the number of bytes of the matrices that a prediction reads.
func (q *Projection) Bytes() int { return q.inverse.Bytes() + q.inside.Bytes() + 8*len(q.weights) }

// Composite is the composite kernel k = Σ_p k_p/γ_p of the training samples.
type Composite interface {
	// Diagonal stores the kernels of all samples with themselves.
	Diagonal(dst []float64)

	// Column stores the kernels of sample i with all samples.
	Column(i int, dst []float64)
}

// factored is the composite kernel as the factor of B knows it:
// K = LLᵀ − I/τ, or S^-½(LLᵀ − I)S^-½.
type factored struct{ *Posterior }

func (f factored) Diagonal(dst []float64) {
	for i := range dst {
		dst[i] = f.at(i, i)
	}
}

func (f factored) Column(i int, dst []float64) {
	for n := range dst {
		dst[n] = f.at(max(i, n), min(i, n))
	}
}

// at returns K_ij for j ≤ i.
func (f factored) at(i, j int) float64 {
	v := la.Dot(f.s.Factor.Row(i)[:j+1], f.s.Factor.Row(j)[:j+1])
	if i == j {
		v -= f.identity()
	}
	if f.root != nil {
		v /= f.root[i] * f.root[j]
	}
	return v
}

// sharp reports whether the factor still knows the composite kernel to so many
// digits as its certificate needs: weak sites take them away.
func (f factored) sharp() bool {
	for _, v := range f.s.Sites {
		if v < 1e-5 {
			return false
		}
	}
	return true
}

// ProjectOptions says how closely a [Projection] follows the posterior.
type ProjectOptions struct {
	// Tolerance is the largest error of a predictive mean or standard deviation that
	// is to be expected, in units of the predictive standard deviation.
	Tolerance float64

	MeanOnly bool // no variances will be asked for
}

const (
	mostPivots = 1024 // to be tried

	// margin is the share of the tolerance that the bounds at the training samples may
	// take: other samples lie further from the pivots.
	margin = 0.5

	// worth is the share of an exact prediction's cost that a projection may have.
	worth = 0.7

	unit = pivot.Unit
)

// Project returns the projection that makes predictions cheapest while its bounds at the training
// samples are within half the tolerance, or nil if no projection is clearly cheaper than a
// prediction from all samples. It costs N²·m multiplications for m pivots, and m columns of k; nil
// stands for the kernel that the posterior's factor implies, whose columns cost N²/2 each. After
// [Evidence.FitSpanned] it is always nil.
func (p *Posterior) Project(k Composite, opt ProjectOptions) (*Projection, error) {
	if !(opt.Tolerance > 0) {
		return nil, fmt.Errorf("vi: Tolerance: %g is not positive", opt.Tolerance)
	}
	if p.s.Samples != 0 {
		return nil, nil
	}
	price := costs{kernel: 8 * p.dim.P, meanOnly: opt.MeanOnly}
	if k == nil {
		f := factored{p}
		if !f.sharp() {
			return nil, nil
		}
		k = f
	}
	s := p.span(k, opt.Tolerance, price)
	if s.enough == 0 {
		return nil, nil
	}
	var v *variances
	least := 1
	if !opt.MeanOnly {
		v = p.variances(s)
		if least = s.leastOrder(v, opt.Tolerance, 1/p.s.Tau); least == 0 {
			return nil, nil
		}
	}
	order, all := s.choose(least, opt.Tolerance, 1/p.s.Tau, price)
	if price.prediction(order, all) > worth*price.exact(p.dim.N) {
		return nil, nil
	}
	return p.projection(s, v, order, all), nil
}

// span is the subspace of the composite kernel's pivots, with what a projection onto the first
// pivots leaves out.
type span struct {
	pivot.Space
	along    []float64 // W·α
	largest  []float64 // [j]: the largest residual of any sample, given j pivots
	energy   []float64 // [j]: αᵀRα, given j pivots, with its rounding
	diagonal []float64 // K_nn
	enough   int       // pivots with which the means' bounds hold; 0 if no number of pivots suffices
}

// span finds twice as many pivots as the means need for the tolerance, or nearly so many
// that the projection is no cheaper.
func (p *Posterior) span(k Composite, tolerance float64, price costs) *span {
	N := p.dim.N
	most := sort.Search(min(N, mostPivots), func(m int) bool {
		order := m + 1
		if price.meanOnly {
			order = 1
		}
		return price.prediction(order, m+1) > worth*price.exact(N)
	})
	s := &span{diagonal: make([]float64, N)}
	k.Diagonal(s.diagonal)
	s.Space = pivot.NewSpace(slices.Clone(s.diagonal))
	energy, rounding := p.energy()
	for used := 0; ; used++ {
		sample, largest := s.Largest()
		s.largest, s.energy = append(s.largest, largest), append(s.energy, max(0, energy)+rounding)
		if s.enough == 0 && used > 0 && s.meanHolds(used, used, tolerance, 1/p.s.Tau) {
			s.enough = used
		}
		if used == most || s.enough > 0 && used >= 2*s.enough || !(largest > s.Spare()) {
			return s
		}
		s.Add(sample, k.Column)
		along := la.Dot(s.W[used], p.s.Alpha)
		s.along = append(s.along, along)
		energy -= float64(along * along)
	}
}

// energy returns αᵀKα = |Lᵀb|² − |b|²/τ with b = S^-½α (b = α, or 1 for 1/τ), L being the
// factor of B, and how far round-off may move it.
func (p *Posterior) energy() (value, rounding float64) {
	b := append([]float64(nil), p.s.Alpha...)
	for i, r := range p.root {
		b[i] /= r
	}
	lb := make([]float64, p.dim.N)
	for i, v := range b {
		la.Axpy(v, p.s.Factor.Row(i)[:i+1], lb[:i+1])
	}
	with, without := la.SumSq(lb), float64(la.SumSq(b)*p.identity())
	return with - without, 4 * unit * float64(p.dim.N) * (with + without)
}

// meanHolds reports whether the bound of the mean is within the tolerance's margin at
// all training samples.
func (s *span) meanHolds(order, all int, tolerance, noise float64) bool {
	return s.largest[order]*s.energy[all] <= margin*margin*tolerance*tolerance*noise
}

// choose returns the numbers of pivots for the variance, at least so many, and the
// mean with which a prediction is cheapest.
func (s *span) choose(least int, tolerance, noise float64, price costs) (order, all int) {
	best := math.Inf(1)
	for n := max(least, s.enough); n <= len(s.Pivots); n++ {
		m := max(least, sort.Search(n, func(j int) bool { return s.meanHolds(j, n, tolerance, noise) }))
		if c := price.prediction(m, n); c < best {
			best, order, all = c, m, n
		}
	}
	return order, all
}

// costs are the multiplications that predictions take.
type costs struct {
	kernel   int // of the kernels with one pivot
	meanOnly bool
}

// prediction returns the multiplications of a prediction by so many pivots.
func (c costs) prediction(order, all int) float64 {
	square := float64(order) * float64(order)
	if c.meanOnly {
		square /= 2
	}
	return square + float64(c.kernel*all)
}

// exact returns the multiplications of a prediction from all n samples.
func (c costs) exact(n int) float64 {
	if c.meanOnly {
		return float64(c.kernel * n)
	}
	return float64(0.5*float64(n)*float64(n)) + float64(c.kernel*n)
}

// variances holds what the variances of every number of pivots are made of.
type variances struct {
	g la.Matrix[float64] // WCWᵀ; the posterior covariance inside the subspace is I − WCWᵀ
	h la.Matrix[float64] // WCKCWᵀ
}

// variances computes them, with C = B⁻¹ or S^½B⁻¹S^½ and CKC = C − C(K_noise)C, where
// the noise is I/τ or S⁻¹.
func (p *Posterior) variances(s *span) *variances {
	ws := &la.Workspace{}
	m := len(s.Pivots)
	z := s.Matrix(m)
	if p.root != nil {
		for j := range m {
			row := z.Row(j)
			for i, r := range p.root {
				row[i] *= r
			}
		}
	}
	v := &variances{la.NewMatrix[float64](m, m), la.NewMatrix[float64](m, m)}
	la.Trsm(ws, la.Right, la.Transpose, p.s.Factor, z)
	la.Syrk(ws, la.NoTrans, 1, z, 0, v.g)
	v.g.MirrorLower()
	la.Trsm(ws, la.Right, la.NoTrans, p.s.Factor, z)
	la.Syrk(ws, la.NoTrans, -p.identity(), z, 0, v.h)
	v.h.MirrorLower()
	for i := range m {
		la.Axpy(1, v.g.Row(i), v.h.Row(i))
	}
	return v
}

// leak returns an upper bound on the largest eigenvalue of
//
//	Q = WCRCWᵀ = WCKCWᵀ − (WCWᵀ)²
//
// for the first m pivots: no sample of unit length inside the subspace has a posterior
// covariance longer than its root with what lies outside. The bound is
// (Σ λ_i⁸)^⅛ ≤ m^⅛·λ_max.
func (v *variances) leak(m int) float64 {
	g := v.g.Slice(0, m, 0, m)
	q := v.h.Slice(0, m, 0, m).Clone()
	ws := &la.Workspace{}
	la.Gemm(ws, la.NoTrans, la.NoTrans, -1, g, g, 1, q)
	log, power := 0.0, 1.0
	square := la.NewMatrix[float64](m, m)
	for range 2 {
		norm := math.Sqrt(la.SumSq(q.Data[:m*m]))
		if norm == 0 {
			break
		}
		la.Scal(1/norm, q.Data)
		log += special.Log(norm) / power
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, q, q, 0, square)
		q, square = square, q
		power *= 2
	}
	return float64(special.Exp(log+special.Log(math.Sqrt(la.SumSq(q.Data))+1e-300)/power)*(1+1e-9)) + float64(float64(8*m)*unit)
}

// leastOrder returns the least number of pivots with which the bounds of the variance
// hold at all training samples, or 0 if none does.
func (s *span) leastOrder(v *variances, tolerance, noise float64) int {
	n := len(s.Pivots)
	order := 1 + sort.Search(n, func(j int) bool {
		r := s.largest[j+1]
		return float64(r/2)+float64(2*math.Sqrt(r*s.Most*v.leak(j+1))) <= 2*margin*tolerance*noise
	})
	if order > n {
		return 0
	}
	return order
}

// projection assembles the result.
func (p *Posterior) projection(s *span, v *variances, order, all int) *Projection {
	q := &Projection{
		Pivots: s.Pivots[:all:all], Order: order,
		noise: 1 / p.s.Tau, weights: append([]float64(nil), s.along[:all]...), energy: s.energy[all],
	}
	l := la.NewMatrix[float64](all, all)
	var trace, size float64
	for i, n := range q.Pivots {
		for j := range i + 1 {
			l.Set(i, j, s.W[j][n])
		}
	}
	la.Trsv(la.Transpose, l, q.weights)
	for i, n := range q.Pivots {
		trace += s.diagonal[n]
		size += float64(math.Abs(q.weights[i]) * math.Sqrt(s.diagonal[n]))
	}
	inverse := l.Slice(0, order, 0, order).Clone()
	la.TriInv(nil, inverse)
	var norm float64
	for i := range order {
		norm += la.SumSq(inverse.Row(i)[:i+1])
	}
	q.inverse = stairs.New(inverse)
	shift := float64(unit * float64(order+16) * math.Sqrt(norm*trace)) // of t, per unit of √k(x,x)
	q.meanRounding = unit * float64(all+64) * size
	q.residualRounding = float64(2*shift) + float64(shift*shift) + float64(unit*float64(order+16))
	if q.meanOnly = v == nil; q.meanOnly {
		return q
	}
	q.lambda = v.leak(order)
	a := la.NewMatrix[float64](order, order)
	for i := range order {
		row := a.Row(i)[:i+1]
		la.Axpy(-2, v.g.Row(i)[:i+1], row)
		row[i] = 1 + float64(0.5*row[i])
	}
	q.inside = stairs.New(a)
	low, high := math.Inf(1), 0.0
	for i := range p.dim.N {
		d := p.s.Factor.At(i, i)
		low, high = min(low, d), max(high, d)
	}
	q.varianceRounding = 2*q.residualRounding + unit*float64(p.dim.N)*high/low
	return q
}

// ScratchSize is the length of the scratch memory of Predict.
func (q *Projection) ScratchSize() int { return 2 * q.Order }

// Predict returns the prediction of a sample from its composite kernels with the
// pivots, in their order, and with itself. It does not allocate once ws has grown.
func (q *Projection) Predict(ws *la.Workspace, k []float64, self float64, scratch []float64) vi.Certified {
	m := q.Order
	t, at := scratch[:m], scratch[m:2*m]
	self = max(0, self)
	q.inverse.MultiplyVec(ws, k[:m], t)
	length := la.SumSq(t)
	r := max(0, self-length) + float64(q.residualRounding*self)
	c := vi.Certified{Mean: la.Dot(q.weights, k), Variance: math.NaN(), LeastSD: math.Sqrt(q.noise)}
	c.MeanError = math.Sqrt(r*q.energy) + float64(q.meanRounding*math.Sqrt(self))
	if q.meanOnly {
		return c
	}
	q.inside.MultiplyVec(ws, t, at)
	inside := max(0, la.Dot(t, at))
	rounding := float64(q.varianceRounding * self)
	e := float64(0.5*r) + float64(2*math.Sqrt(r*min(q.lambda*length, inside+rounding))) + rounding
	c.Variance = inside + float64(0.5*r) + q.noise
	sd := math.Sqrt(c.Variance)
	c.LeastSD = math.Sqrt(max(q.noise, c.Variance-e))
	c.SDError = max(math.Sqrt(c.Variance+e)-sd, sd-c.LeastSD)
	return c
}

// PredictOne returns the exact prediction of a sample from its composite kernels
// Σ_p k_p/γ_p with all training samples, which it overwrites, and with itself. It reads
// the factor once, and does not allocate.
func (p *Posterior) PredictOne(k []float64, self float64, meanOnly bool) vi.Certified {
	c := vi.Certified{Mean: la.Dot(k, p.s.Alpha), Variance: math.NaN(), LeastSD: math.Sqrt(1 / p.s.Tau)}
	if meanOnly {
		return c
	}
	c.Variance = p.functionVariance(k, self) + 1/p.s.Tau
	c.LeastSD = math.Sqrt(c.Variance)
	return c
}

// functionVariance returns the variance of the function, as PredictOne.
func (p *Posterior) functionVariance(k []float64, self float64) float64 {
	for i, r := range p.root {
		k[i] *= r
	}
	la.Trsv(la.NoTrans, p.s.Factor, k)
	return max(0, self-la.SumSq(k))
}
