package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Projection is one output of a posterior as a few of the training samples see it: a
// prediction takes the kernels with those alone, and comes with a bound on what the
// others would have changed. docs/predictor.md derives the bound.
//
// Each kernel has pivots of its own. In its feature space they span a subspace, in which a
// sample has the coordinates t_m = L_m⁻¹·k_m with L_m·L_mᵀ the pivots' own kernels. The
// square length of what lies outside, r_m(x) = k_m(x,x) − |t_m|², is known at any x, and
// what an exact prediction would add grows with √r_m and with Σ_n r_m(x_n) over the
// training samples. It is immutable and safe for concurrent use.
type Projection struct {
	// Pivots of each kernel are training samples.
	Pivots [][]int

	meanOnly bool
	order    int // of all kernels' coordinates t

	bias, constant float64
	e              []float64
	inverse        []stairs.Matrix    // L_m⁻¹
	residual       []float64          // what round-off can add to r_m and take from t_m, per unit of k_m(x,x)
	shift          []float64          //
	mean           []float64          // E[b + Σe_m·g_m] = bias + mean·t
	g              []float64          // E[g_m] is the product of kernel m's parts of g and t
	cov            la.Matrix[float64] // of (b, e)
	inside         form               // Σ_mm' E[e_m·e_m']·k_mᵀ·Cov[a]·k_m'

	// Of healing: q = pull·t, r = rest(t) and φᵀz = apart(t).
	healed      bool
	pull        []float64
	rest, apart form
	precision   float64 // λ*
	root        float64 // |Λ^-½·φ| ≤ root·|t|

	// By how much each unit of √r_m can move what is projected.
	moves []moves
}

// form is a quadratic form tᵀAt: A symmetric, its lower triangle with the elements below
// the diagonal doubled.
type form struct {
	a    stairs.Matrix
	size float64 // tᵀ|A|t ≤ size·|t|²
}

func newForm(a la.Matrix[float64]) form {
	low := la.NewMatrix[float64](a.Rows, a.Rows)
	var squares float64
	for i := range a.Rows {
		for j := range i {
			v := float64(0.5 * (a.At(i, j) + a.At(j, i)))
			low.Set(i, j, 2*v)
			squares += float64(2 * v * v)
		}
		low.Set(i, i, a.At(i, i))
		squares += float64(a.At(i, i) * a.At(i, i))
	}
	return form{stairs.New(low), math.Sqrt(squares) * math.Sqrt(float64(a.Rows))}
}

func (f form) at(ws *la.Workspace, t, scratch []float64) float64 {
	f.a.MultiplyVec(ws, t, scratch)
	return la.Dot(t, scratch)
}

// moves are those of one kernel; docs/predictor.md.
type moves struct {
	mean   float64 // of the unhealed mean
	spread float64 // of the norm of the unhealed variance
	pull   float64 // of q
	rest   float64 // of √r and of Λ^½·z
	self   float64 // of Λ^-½·φ
}

// Columns computes kernels of training samples.
type Columns interface {
	// Column stores the kernels of sample i with all samples, a row for each kernel.
	Column(i int, dst la.Matrix[float64])

	// Diagonal stores each kernel of every sample with itself, a row for each kernel.
	Diagonal(dst la.Matrix[float64])
}

// ProjectOptions says how closely a [Projection] follows the posterior.
type ProjectOptions struct {
	// Tolerance is the largest error of a predictive mean or standard deviation that
	// is to be expected, in units of the predictive standard deviation.
	Tolerance float64

	MeanOnly bool // no variances will be asked for
	Healed   bool // predictions are those of PredictHealed

	// Exact is what a prediction from all samples costs, in multiplications.
	Exact float64
}

// cost estimates the multiplications of a prediction with so many coordinates.
func (opt ProjectOptions) cost(order float64) float64 {
	c := float64(10 * order)
	if !opt.MeanOnly {
		c += float64(order * order / 2)
	}
	if opt.Healed {
		c += float64(order * order)
	}
	return c
}

const (
	mostPivots = 512 // of one kernel
	mostOrder  = 768 // of all kernels together

	// worth is the share of an exact prediction's multiplications that a projection may
	// have.
	worth = 0.5

	unit = 0x1p-52 // of round-off
)

// Project returns a projection of output o whose bounds at the training samples are
// within half the tolerance, or nil if there is none that is clearly cheaper than a
// prediction from all samples. The kernels must be positive definite. For pivots of m
// coordinates it costs about (2+2R)·N²·m multiplications, R as in [SharedHealing].
func (p *RegressionPosterior) Project(k Columns, o int, opt ProjectOptions) (*Projection, error) {
	return p.project(p.healers, k, o, opt)
}

// Project is that of a [RegressionPosterior].
func (p *SharedPosterior) Project(k Columns, o int, opt ProjectOptions) (*Projection, error) {
	return p.project(p.healers, k, o, opt)
}

func (p *scorer) project(healers []*healer, k Columns, o int, opt ProjectOptions) (*Projection, error) {
	if !(opt.Tolerance > 0) {
		return nil, fmt.Errorf("vi: Tolerance: %g is not positive", opt.Tolerance)
	}
	var h *healer
	if opt.Healed {
		for _, one := range healers {
			for _, output := range one.outputs {
				if output == o {
					h = one
				}
			}
		}
		if h == nil {
			return nil, fmt.Errorf("vi: output %d cannot be healed", o)
		}
	}
	spaces := newSubspaces(k, p.P, p.D)
	ws := &la.Workspace{}
	// Errors are about a sum of largest_m·Σ_n r_m(x_n), times what only trying tells.
	for limit := 1e-3; limit > 1e-14; limit *= 0.2 {
		order := 0
		for m := range spaces {
			s := &spaces[m]
			s.grow(k, limit*opt.Tolerance)
			order += s.used
		}
		if order > mostOrder || opt.cost(float64(order)) > worth*opt.Exact {
			return nil, nil
		}
		q, err := p.projection(ws, h, spaces, o, opt)
		if err != nil {
			return nil, err
		}
		if q.holds(ws, k, p.D, opt.Tolerance/2) {
			return q, nil
		}
	}
	return nil, nil
}

// holds reports whether the bounds at the training samples, of which it takes at most a
// few hundred, are within the tolerance.
func (q *Projection) holds(ws *la.Workspace, k Columns, N int, tolerance float64) bool {
	all := la.NewMatrix[float64](len(q.e), N)
	kernels, self, scratch := make([]float64, q.order), make([]float64, len(q.e)), make([]float64, q.ScratchSize())
	const most = 300
	for i := 0; i < N; i += 1 + (N-1)/most {
		k.Column(i, all)
		at := kernels[:0]
		for m, pivots := range q.Pivots {
			for _, n := range pivots {
				at = append(at, all.At(m, n))
			}
			self[m] = all.At(m, i)
		}
		if !q.Predict(ws, kernels, self, scratch).Within(tolerance) {
			return false
		}
	}
	return true
}

// subspace is what the pivoted Cholesky factorisation of one kernel tells: the pivots, each
// the sample that had the largest residual, and K ≈ WᵀW.
type subspace struct {
	kernel   int
	pivots   []int
	w        []([]float64)
	left     []float64 // K_nn less that of WᵀW
	most     float64   // the largest K_nn
	used     int
	finished bool
	column   la.Matrix[float64] // shared scratch, P×N
}

func newSubspaces(k Columns, P, N int) []subspace {
	diagonal, column := la.NewMatrix[float64](P, N), la.NewMatrix[float64](P, N)
	k.Diagonal(diagonal)
	spaces := make([]subspace, P)
	for m := range spaces {
		s := &spaces[m]
		s.kernel, s.left, s.column = m, diagonal.Row(m), column
		for _, v := range s.left {
			s.most = max(s.most, v)
		}
	}
	return spaces
}

// spare is what round-off can hide of a residual.
func (s *subspace) spare() float64 { return float64(8 * unit * float64(len(s.left)) * s.most) }

// rest returns Σ_n r(x_n), with its round-off.
func (s *subspace) rest() float64 {
	var sum float64
	for _, v := range s.left {
		sum += v + s.spare()
	}
	return sum
}

// grow adds pivots until the largest residual is at most this share of the largest
// kernel, or round-off.
func (s *subspace) grow(k Columns, share float64) {
	for !s.finished && s.used < min(mostPivots, len(s.left)) {
		pivot := 0
		for i, v := range s.left {
			if v > s.left[pivot] {
				pivot = i
			}
		}
		largest := s.left[pivot]
		if largest <= share*s.most {
			return
		}
		if !(largest > s.spare()) {
			s.finished = true
			return
		}
		k.Column(pivot, s.column)
		row := append([]float64(nil), s.column.Row(s.kernel)...)
		for _, w := range s.w {
			la.Axpy(-w[pivot], w, row)
		}
		la.Scal(1/math.Sqrt(largest), row)
		for _, i := range s.pivots {
			row[i] = 0
		}
		row[pivot] = math.Sqrt(largest)
		for i, v := range row {
			s.left[i] = max(0, s.left[i]-float64(v*v))
		}
		s.left[pivot] = 0
		s.w, s.pivots = append(s.w, row), append(s.pivots, pivot)
		s.used++
	}
}

// projection assembles the result.
func (p *scorer) projection(ws *la.Workspace, h *healer, spaces []subspace, o int, opt ProjectOptions) (*Projection, error) {
	c, row := p.combination[o], p.row(o)
	q := &Projection{
		meanOnly: opt.MeanOnly, bias: c.mean[0], e: c.mean[1:], cov: c.cov,
		constant: p.noise[o], moves: make([]moves, p.P),
	}
	weights, err := p.factor(ws, row, new(weightFactor))
	if err != nil {
		return nil, err
	}
	most := 0.0 // of Λ⁻¹, and so of Cov[a]
	for _, s := range weights.s {
		most = max(most, s*s)
	}
	a := p.a.Row(row)
	size := math.Sqrt(la.SumSq(a))
	var kernel []int // of each coordinate
	var w [][]float64
	for m := range spaces {
		s := &spaces[m]
		q.Pivots = append(q.Pivots, s.pivots[:s.used:s.used])
		for _, x := range s.w[:s.used] {
			kernel, w = append(kernel, m), append(w, x)
		}
		q.addInverse(s)
		rest := math.Sqrt(s.rest())
		v := &q.moves[m]
		v.mean = math.Abs(q.e[m]) * size * rest
		v.spread = float64(math.Sqrt(c.cov.At(1+m, 1+m))*size*rest) + float64(math.Sqrt(c.ee.At(m, m)*most)*rest)
		q.constant += c.ee.At(m, m) / p.upsilon[row]
	}
	q.order = len(w)
	x := la.NewMatrix[float64](q.order, p.D)
	for i, m := range kernel {
		copy(x.Row(i), w[i])
		g := la.Dot(w[i], a)
		q.g, q.mean = append(q.g, g), append(q.mean, q.e[m]*g)
	}
	if h != nil {
		if err := q.heal(ws, h, o, kernel, x, spaces, most); err != nil {
			return nil, err
		}
	}
	if q.meanOnly {
		return q, nil
	}
	scaleColumns(x, weights.s)
	la.Trsm(ws, la.Right, la.Transpose, weights.b, x)
	inside := la.NewMatrix[float64](q.order, q.order)
	la.Syrk(ws, la.NoTrans, 1, x, 0, inside)
	inside.MirrorLower()
	for i, m := range kernel {
		for j, l := range kernel {
			inside.Set(i, j, inside.At(i, j)*c.ee.At(m, l))
		}
	}
	q.inside = newForm(inside)
	return q, nil
}

// addInverse adds the inverse of a kernel's pivots' factor, and allowances for rounding.
func (q *Projection) addInverse(s *subspace) {
	l := la.NewMatrix[float64](s.used, s.used)
	for i, n := range s.pivots[:s.used] {
		for j := range i + 1 {
			l.Set(i, j, s.w[j][n])
		}
	}
	if s.used > 0 {
		la.TriInv(nil, l)
	}
	var norm float64
	for i := range s.used {
		norm += la.SumSq(l.Row(i)[:i+1])
	}
	shift := float64(unit * float64(s.used+16) * math.Sqrt(norm*float64(s.used)*s.most))
	q.inverse = append(q.inverse, stairs.New(l))
	q.shift = append(q.shift, shift)
	q.residual = append(q.residual, float64(2*shift)+float64(shift*shift)+float64(unit*float64(s.used+16)))
}

// heal sets what healing needs. The rows of x are the coordinates of the training samples.
func (q *Projection) heal(ws *la.Workspace, h *healer, o int, kernel []int, x la.Matrix[float64], spaces []subspace, most float64) error {
	known, err := h.sampleWeights(ws, new(healScratch))
	if err != nil {
		return err
	}
	q.healed, q.precision = true, h.precision
	q.pull = make([]float64, q.order)
	n := q.order
	phi, z, one := make([]la.Matrix[float64], len(h.kernels)), la.NewMatrix[float64](n, x.Cols), la.NewMatrix[float64](n, x.Cols)
	for r := range phi {
		phi[r] = x.Clone()
		for i, m := range kernel {
			la.Scal(h.weights.At(r, m), phi[r].Row(i))
			h.mask(phi[r].Row(i))
			q.pull[i] += la.Dot(known.residual.Row(r), phi[r].Row(i))
		}
		la.Gemm(ws, la.NoTrans, la.NoTrans, h.scale, phi[r], h.kernels[r], min(1, float64(r)), z)
	}
	scaleColumns(z, h.s)
	la.Trsm(ws, la.Right, la.Transpose, known.factor, z)
	la.Trsm(ws, la.Right, la.NoTrans, known.factor, z) // s⁻¹∘z, of length zᵀΛz
	rest := la.NewMatrix[float64](n, n)
	la.Syrk(ws, la.NoTrans, 1, z, 0, rest)
	scaleColumns(z, h.s)
	for r := range phi {
		la.Gemm(ws, la.NoTrans, la.NoTrans, h.scale, z, h.kernels[r], 0, one)
		for i := range n {
			la.Axpy(-1, one.Row(i), phi[r].Row(i))
			h.mask(phi[r].Row(i))
		}
		la.Syrk(ws, la.NoTrans, 1, phi[r], 1, rest)
	}
	rest.MirrorLower()
	q.rest = newForm(rest)
	var squares float64
	for i, m := range kernel {
		copy(one.Row(i), x.Row(i))
		la.Scal(q.e[m], one.Row(i))
		for d, v := range one.Row(i) {
			squares += float64(float64(v*h.s[d]) * float64(v*h.s[d]))
		}
	}
	q.root = math.Sqrt(squares)
	apart := la.NewMatrix[float64](n, n)
	la.Gemm(ws, la.NoTrans, la.Transpose, 1, one, z, 0, apart)
	q.apart = newForm(apart)
	pull := math.Sqrt(la.SumSq(known.residual.Data[:known.residual.Rows*known.residual.Cols]))
	for m := range spaces {
		var sum float64
		for r := range h.weights.Rows {
			sum += float64(h.weights.At(r, m) * h.weights.At(r, m))
		}
		rest, w, v := math.Sqrt(spaces[m].rest()), math.Sqrt(sum), &q.moves[m]
		v.pull, v.rest, v.self = w*pull*rest, w*rest, math.Abs(q.e[m])*math.Sqrt(most)*rest
	}
	return nil
}

// ScratchSize is the length of the scratch memory of Predict.
func (q *Projection) ScratchSize() int { return 2 * q.order }

// Predict returns the prediction of a sample from its kernels with the pivots, kernel
// after kernel in their order, and from each kernel with itself. It does not allocate once
// ws has grown.
func (q *Projection) Predict(ws *la.Workspace, k, self, scratch []float64) vi.Certified {
	t, at := scratch[:q.order], scratch[q.order:2*q.order]
	var by moves // errors by what lies outside the subspaces
	var length, shift, kappa float64
	first := 0
	for m, l := range q.inverse {
		n := len(q.Pivots[m])
		own, tm := max(0, self[m]), t[first:first+n]
		l.MultiplyVec(ws, k[first:first+n], tm)
		inside := la.SumSq(tm)
		r := math.Sqrt(max(0, own-inside) + float64(q.residual[m]*own))
		v := &q.moves[m]
		by.mean += float64(r * v.mean)
		by.spread += float64(r * v.spread)
		by.pull += float64(r * v.pull)
		by.rest += float64(r * v.rest)
		by.self += float64(r * v.self)
		length += inside
		shift += float64(q.shift[m] * math.Sqrt(own))
		kappa += float64(q.e[m] * self[m])
		first += n
	}
	size := math.Sqrt(length)
	slack := shift + float64(unit*float64(q.order+32)*size) // of t, with the sums over it
	c := vi.Certified{Mean: q.bias + la.Dot(q.mean, t), Variance: math.NaN(), LeastSD: math.Sqrt(q.constant)}
	c.MeanError = by.mean + float64(slack*norm(q.mean))
	var added, addedError float64
	if q.healed {
		added, addedError = q.healing(ws, &c, t, at, by, size, slack, kappa)
	}
	if q.meanOnly {
		return c
	}
	unhealed, rounding := q.variance(ws, t, at, slack*(2*size+slack))
	c.Variance = unhealed + float64(added*added)
	sd := math.Sqrt(c.Variance)
	c.SDError = by.spread + addedError + rounding/sd
	c.LeastSD = max(math.Sqrt(q.constant), sd-c.SDError)
	return c
}

func norm(x []float64) float64 { return math.Sqrt(la.SumSq(x)) }

// variance returns the unhealed variance and its round-off.
func (q *Projection) variance(ws *la.Workspace, t, at []float64, slack float64) (variance, rounding float64) {
	variance = q.constant + q.cov.At(0, 0)
	// at is reused for E[g].
	inside := q.inside.at(ws, t, at)
	g := at[:0]
	first := 0
	for _, pivots := range q.Pivots {
		n := len(pivots)
		g = append(g, la.Dot(q.g[first:first+n], t[first:first+n]))
		first += n
	}
	for m, v := range g {
		row := q.cov.Row(m + 1)
		variance += float64(v * (2*row[0] + la.Dot(row[1:], g)))
	}
	return variance + max(0, inside), slack * q.inside.size
}

// healing adds to c what healing does to the mean, and returns the root of what it adds to
// the variance, with its error.
func (q *Projection) healing(ws *la.Workspace, c *vi.Certified, t, at []float64, by moves, size, slack, kappa float64) (added, addedError float64) {
	rounding := slack * (2*size + slack)
	r := max(0, q.rest.at(ws, t, at))
	root, hidden := math.Sqrt(r), float64(rounding*q.rest.size)
	least, most := max(0, root-by.rest), root+by.rest
	w := 1 / math.Sqrt(q.precision+r)
	high, low := 1/math.Sqrt(q.precision+max(0, float64(least*least)-hidden)), 1/math.Sqrt(q.precision+float64(most*most)+hidden)
	move := max(high-w, w-low)

	apart := kappa - q.apart.at(ws, t, at)
	apartError := float64(by.self*(root+math.Sqrt(hidden)+by.rest)) + float64(q.root*size*by.rest) + float64(rounding*q.apart.size) + float64(unit*64*math.Abs(kappa))
	pull := la.Dot(q.pull, t)
	pullError := by.pull + float64(slack*norm(q.pull))

	c.Mean += float64(apart * pull * w * w)
	c.MeanError += float64(math.Abs(apart*pull)*move*(high+w)) + float64((float64(math.Abs(apart)*pullError)+float64((math.Abs(pull)+pullError)*apartError))*high*high)
	return math.Abs(apart) * w, float64(math.Abs(apart)*move) + float64(apartError*high)
}
