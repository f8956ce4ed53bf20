package bemkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/pivot"
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
	inverse        stairs.Matrix      // the L_m⁻¹ along a diagonal
	residual       []float64          // what round-off can add to r_m and take from t_m, per unit of k_m(x,x)
	shift          []float64          // the like, of t_m per unit of its root
	g              []float64          // E[g_m] is the product of kernel m's parts of g and t
	meanSize       float64            // length of g, each kernel's part times its e_m
	cov            la.Matrix[float64] // of (b, e)

	// The forms are r = rest(t), φᵀz = apart(t) if predictions are healed, then
	// inside(t) = Σ_mm' E[e_m·e_m']·k_mᵀ·Cov[a]·k_m' if there are variances.
	forms pivot.Forms
	which []int // which these are

	// Of healing: q = pull·t.
	healed    bool
	pull      []float64
	pullSize  float64 // |pull|
	precision float64 // λ*
	root      float64 // |Λ^-½·φ| ≤ root·|t|

	// By how much each unit of √r_m can move what is projected.
	moves []moves
}

// The forms of a projection.
const (
	restForm = iota
	apartForm
	insideForm
	formCount
)

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
	c := float64(10*order) + float64(order*order/4)
	if opt.Healed || !opt.MeanOnly {
		c += float64(order * order / 2)
	}
	return c
}

const (
	mostPivots = 512 // of one kernel
	mostOrder  = 768 // of all kernels together

	// worth is the share of an exact prediction's multiplications that a projection may
	// have.
	worth = 0.5

	// pivotsShare is the share of the tolerance that pivots may use, forms the rest: another
	// digit takes both a few coordinates more.
	pivotsShare = 0.3

	// finest is the smallest share of its unit that a form leaves out.
	finest = 1e-3

	unit = pivot.Unit
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

// Project is that of a [RegressionPosterior], of the score of output o; scores are not healed.
func (p *ClassificationPosterior) Project(k Columns, o int, opt ProjectOptions) (*Projection, error) {
	return p.project(nil, k, o, opt)
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
	most := 0.0
	for m := range spaces {
		spaces[m].weight = math.Sqrt(p.combination[o].ee.At(m, m))
		most = max(most, spaces[m].weight*spaces[m].Most)
	}
	// Errors are about a sum of weight_m·largest_m·Σ_n r_m(x_n), times what only trying tells.
	before, last := math.Inf(1), -1 // the worst bound and the order of the last try
	for limit := 0.01; limit > 1e-14; {
		order := 0
		for m := range spaces {
			s := &spaces[m]
			if s.weight > 0 {
				s.Grow(s.column, limit*opt.Tolerance*most/s.weight, mostPivots)
			}
			order += len(s.Pivots)
		}
		if order == last {
			limit /= 2
			continue
		}
		last = order
		if order > mostOrder || opt.cost(float64(order)) > worth*opt.Exact {
			return nil, nil
		}
		q, whole, err := p.projection(ws, h, spaces, o, opt)
		if err != nil {
			return nil, err
		}
		trials := newTrials(k, q, p.D)
		q.forms = whole.forms(ws, finest)
		worst := trials.worst(ws, q) / (pivotsShare * opt.Tolerance / 2)
		if !(worst <= 1) {
			if !(worst < before) {
				return nil, nil // rounding is what is left
			}
			before = worst
			limit *= max(0.1, min(0.6/worst, 0.5))
			continue
		}
		return trials.coarsen(ws, q, whole, opt.Tolerance/2), nil
	}
	return nil, nil
}

// trials are training samples, at most a few hundred, at which bounds are tried.
type trials struct {
	kernels, selves la.Matrix[float64] // a row for each sample, with the pivots and with itself
}

func newTrials(k Columns, q *Projection, N int) trials {
	step := 1 + (N-1)/300
	count := (N + step - 1) / step
	t := trials{la.NewMatrix[float64](count, q.order), la.NewMatrix[float64](count, len(q.e))}
	all := la.NewMatrix[float64](len(q.e), N)
	for i := range count {
		k.Column(i*step, all)
		at := t.kernels.Row(i)[:0]
		for m, pivots := range q.Pivots {
			for _, n := range pivots {
				at = append(at, all.At(m, n))
			}
			t.selves.Set(i, m, all.At(m, i*step))
		}
	}
	return t
}

// worst returns the largest bound of q on an error, in predictive standard deviations.
func (t trials) worst(ws *la.Workspace, q *Projection) (worst float64) {
	scratch := make([]float64, q.ScratchSize())
	for i := range t.kernels.Rows {
		c := q.Predict(ws, t.kernels.Row(i), t.selves.Row(i), scratch)
		worst = max(worst, max(c.MeanError, c.SDError)/c.LeastSD)
	}
	return worst
}

// coarsen returns q with the coarsest forms with which its bounds are within the tolerance, as
// they are with its own.
func (t trials) coarsen(ws *la.Workspace, q *Projection, whole *quadratics, tolerance float64) *Projection {
	for share := 1.0; share > finest && len(whole.a) > 0; share /= 3 {
		coarse := *q
		coarse.forms = whole.forms(ws, share)
		if t.worst(ws, &coarse) <= tolerance {
			return &coarse
		}
	}
	return q
}

// quadratics are the matrices of a projection's forms, with the unit of each and the sizes
// of the coordinates.
type quadratics struct {
	a            []la.Matrix[float64]
	units, sizes []float64
}

func (w *quadratics) add(a la.Matrix[float64], unit float64) {
	w.a, w.units = append(w.a, a), append(w.units, unit)
}

func (w *quadratics) forms(ws *la.Workspace, share float64) pivot.Forms {
	return pivot.NewForms(ws, w.a, w.units, w.sizes, share)
}

// subspace is that of one kernel.
type subspace struct {
	pivot.Space
	weight float64 // √E[e_m²]
	column func(n int) []float64
}

func newSubspaces(k Columns, P, N int) []subspace {
	diagonal, columns := la.NewMatrix[float64](P, N), la.NewMatrix[float64](P, N)
	k.Diagonal(diagonal)
	spaces := make([]subspace, P)
	for m := range spaces {
		spaces[m] = subspace{Space: pivot.NewSpace(diagonal.Row(m)), column: func(n int) []float64 {
			k.Column(n, columns)
			return columns.Row(m)
		}}
	}
	return spaces
}

// projection assembles the result but for its forms, and returns the matrices of these.
func (p *scorer) projection(ws *la.Workspace, h *healer, spaces []subspace, o int, opt ProjectOptions) (*Projection, *quadratics, error) {
	c, row := p.combination[o], p.row(o)
	q := &Projection{
		meanOnly: opt.MeanOnly, bias: c.mean[0], e: c.mean[1:], cov: c.cov,
		constant: p.noise[o], moves: make([]moves, p.P),
	}
	weights, err := p.factor(ws, row, new(weightFactor))
	if err != nil {
		return nil, nil, err
	}
	a := p.a.Row(row)
	var kernel []int // of each coordinate
	var w [][]float64
	for m := range spaces {
		s := &spaces[m]
		q.Pivots = append(q.Pivots, slices.Clip(s.Pivots))
		for _, x := range s.W {
			kernel, w = append(kernel, m), append(w, x)
		}
		v, sum := &q.moves[m], s.Sum(a)
		v.mean = math.Abs(q.e[m]) * sum
		v.spread = float64(math.Sqrt(c.cov.At(1+m, 1+m))*sum) + float64(math.Sqrt(c.ee.At(m, m))*s.Length(weights.s)) // Cov[a] ≤ Λ⁻¹
		q.constant += c.ee.At(m, m) / p.upsilon[row]
	}
	q.order = len(w)
	q.invert(spaces)
	x := la.NewMatrix[float64](q.order, p.D)
	var mean []float64
	for i, m := range kernel {
		copy(x.Row(i), w[i])
		g := la.Dot(w[i], a)
		q.g, mean = append(q.g, g), append(mean, q.e[m]*g)
	}
	q.meanSize = norm(mean)
	whole := &quadratics{sizes: pivot.Largest(x)}
	if h != nil {
		rest, apart, err := q.heal(ws, h, kernel, x, spaces)
		if err != nil {
			return nil, nil, err
		}
		q.which = append(q.which, restForm, apartForm)
		whole.add(rest, opt.Tolerance*q.precision)
		whole.add(apart, opt.Tolerance*math.Sqrt(q.constant*q.precision))
	}
	if q.meanOnly {
		return q, whole, nil
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
	q.which = append(q.which, insideForm)
	whole.add(inside, opt.Tolerance*q.constant)
	return q, whole, nil
}

// invert sets the inverses of the kernels' pivots' factors, and allowances for rounding.
func (q *Projection) invert(spaces []subspace) {
	all := la.NewMatrix[float64](q.order, q.order)
	first := 0
	for m := range spaces {
		s := &spaces[m]
		end := first + len(s.Pivots)
		shift := s.Invert(all.Slice(first, end, first, end), 1)
		q.shift, q.residual = append(q.shift, shift), append(q.residual, s.Hidden(shift))
		first = end
	}
	q.inverse = stairs.New(all)
}

// heal sets what healing needs, and returns the matrices of its forms. The rows of x are the
// coordinates of the training samples.
func (q *Projection) heal(ws *la.Workspace, h *healer, kernel []int, x la.Matrix[float64], spaces []subspace) (rest, apart la.Matrix[float64], err error) {
	known, err := h.sampleWeights(ws, new(healScratch))
	if err != nil {
		return rest, apart, err
	}
	q.healed, q.precision = true, h.precision
	q.pull = make([]float64, q.order)
	n := q.order
	phi, z, one := make([]la.Matrix[float64], len(h.kernels)), la.NewMatrix[float64](n, x.Cols), la.NewMatrix[float64](n, x.Cols)
	for r := range phi {
		phi[r] = la.NewMatrix[float64](n, x.Cols)
		for i, m := range kernel {
			h.weights.add(r, m, x.Row(i), phi[r].Row(i))
			q.pull[i] += la.Dot(known.residual.Row(r), phi[r].Row(i))
			copy(one.Row(i), phi[r].Row(i))
			h.trusted(one.Row(i))
		}
		la.Gemm(ws, la.NoTrans, la.NoTrans, h.scale, one, h.kernels[r], min(1, float64(r)), z)
	}
	scaleColumns(z, h.s)
	la.Trsm(ws, la.Right, la.Transpose, known.factor, z)
	la.Trsm(ws, la.Right, la.NoTrans, known.factor, z) // s⁻¹∘z, of length zᵀΛz
	rest = la.NewMatrix[float64](n, n)
	la.Syrk(ws, la.NoTrans, 1, z, 0, rest)
	scaleColumns(z, h.s)
	for r := range phi {
		la.Gemm(ws, la.NoTrans, la.Transpose, h.scale, z, h.kernels[r], 0, one)
		for i := range n {
			la.Axpy(-1, one.Row(i), phi[r].Row(i))
			h.rootTrusted(phi[r].Row(i))
		}
		la.Syrk(ws, la.NoTrans, 1, phi[r], 1, rest)
	}
	rest.MirrorLower()
	q.pullSize = norm(q.pull)
	var squares float64
	for i, m := range kernel {
		copy(one.Row(i), x.Row(i))
		la.Scal(q.e[m], one.Row(i))
		for d, v := range one.Row(i) {
			squares += float64(float64(v*h.s[d]) * float64(v*h.s[d]))
		}
	}
	q.root = math.Sqrt(squares)
	apart = la.NewMatrix[float64](n, n)
	la.Gemm(ws, la.NoTrans, la.Transpose, 1, one, z, 0, apart)
	weighted := make([]float64, x.Cols)
	for m := range spaces {
		s, v := &spaces[m], &q.moves[m]
		for r := range phi {
			clear(weighted)
			h.weights.add(r, m, known.residual.Row(r), weighted)
			v.pull += s.Sum(weighted)
		}
		v.rest, v.self = math.Sqrt(h.weights.size(m))*s.Length(nil), math.Abs(q.e[m])*s.Length(h.s)
	}
	return rest, apart, nil
}

// ScratchSize is the length of the scratch memory of Predict.
func (q *Projection) ScratchSize() int { return q.order + len(q.e) + q.forms.ScratchSize() }

// values are those of a projection's forms, with bounds on their errors in what lies inside
// the subspaces.
type values struct{ at, off [formCount]float64 }

// Predict returns the prediction of a sample from its kernels with the pivots, kernel
// after kernel in their order, and from each kernel with itself. It does not allocate once
// ws has grown.
func (q *Projection) Predict(ws *la.Workspace, k, self, scratch []float64) vi.Certified {
	t, g, scratch := scratch[:q.order], scratch[q.order:q.order+len(q.e)], scratch[q.order+len(q.e):]
	q.inverse.MultiplyVec(ws, k, t)
	var by moves // errors by what lies outside the subspaces
	var length, shift, kappa float64
	c := vi.Certified{Mean: q.bias, Variance: math.NaN(), LeastSD: math.Sqrt(q.constant)}
	first := 0
	for m, pivots := range q.Pivots {
		own, tm := max(0, self[m]), t[first:first+len(pivots)]
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
		g[m] = la.Dot(q.g[first:first+len(tm)], tm)
		c.Mean += float64(q.e[m] * g[m])
		first += len(tm)
	}
	size := math.Sqrt(length)
	slack := shift + float64(unit*float64(q.order+32)*size) // of t, with the sums over it
	c.MeanError = by.mean + float64(slack*q.meanSize)
	v := q.evaluate(ws, t, scratch, slack*(2*size+slack))
	var added, addedError float64
	if q.healed {
		added, addedError = q.healing(&c, &v, t, by, size, slack, kappa)
	}
	if q.meanOnly {
		return c
	}
	c.Variance = q.unhealed(g) + max(0, v.at[insideForm]) + float64(added*added)
	sd := math.Sqrt(c.Variance)
	c.SDError = by.spread + addedError + v.off[insideForm]/sd
	c.LeastSD = max(math.Sqrt(q.constant), sd-c.SDError)
	return c
}

func norm(x []float64) float64 { return math.Sqrt(la.SumSq(x)) }

// evaluate returns the forms at t, which is off by so much that |t|² may be off by slack.
func (q *Projection) evaluate(ws *la.Workspace, t, scratch []float64, slack float64) (v values) {
	if len(q.which) == 0 {
		return v
	}
	var at [formCount]float64
	length := q.forms.At(ws, t, scratch, at[:len(q.which)])
	for i, form := range q.which {
		v.at[form] = at[i]
		v.off[form] = float64(q.forms.Off[i]*length) + float64(q.forms.Size[i]*slack)
	}
	return v
}

// unhealed returns the unhealed variance but for the form of it, given E[g].
func (q *Projection) unhealed(g []float64) float64 {
	variance := q.constant + q.cov.At(0, 0)
	for m, v := range g {
		row := q.cov.Row(m + 1)
		variance += float64(v * (2*row[0] + la.Dot(row[1:], g)))
	}
	return variance
}

// healing adds to c what healing does to the mean, and returns the root of what it adds to
// the variance, with its error.
func (q *Projection) healing(c *vi.Certified, v *values, t []float64, by moves, size, slack, kappa float64) (added, addedError float64) {
	r, hidden := max(0, v.at[restForm]), v.off[restForm]
	least, most := max(0, math.Sqrt(max(0, r-hidden))-by.rest), math.Sqrt(r+hidden)+by.rest
	w := 1 / math.Sqrt(q.precision+r)
	high, low := 1/math.Sqrt(q.precision+float64(least*least)), 1/math.Sqrt(q.precision+float64(most*most))
	move := max(high-w, w-low)

	apart := kappa - v.at[apartForm]
	apartError := float64(by.self*most) + float64(q.root*size*by.rest) + v.off[apartForm] + float64(unit*64*math.Abs(kappa))
	pull := la.Dot(q.pull, t)
	pullError := by.pull + float64(slack*q.pullSize)

	c.Mean += float64(apart * pull * w * w)
	c.MeanError += float64(math.Abs(apart*pull)*move*(high+w)) + float64((float64(math.Abs(apart)*pullError)+float64((math.Abs(pull)+pullError)*apartError))*high*high)
	return math.Abs(apart) * w, float64(math.Abs(apart)*move) + float64(apartError*high)
}
