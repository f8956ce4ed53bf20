package bemkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/healing"
	"github.com/bmkl/bmkl/vi/internal/pivot"
	"github.com/bmkl/bmkl/vi/internal/predictive"
)

// Projection is one output of a posterior as a few of the training samples see it: a
// prediction takes the kernels with those alone, and comes with a bound on what the
// others would have changed. docs/theory/predictor.md derives the bound.
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
	shift          []float64          // what round-off can add to t_m, per unit of √k_m(x,x)
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

// formsOf returns the forms of a projection in their order.
func formsOf(opt ProjectOptions) (which []int) {
	if opt.Healed {
		which = append(which, restForm, apartForm)
	}
	if !opt.MeanOnly {
		which = append(which, insideForm)
	}
	return which
}

// moves are the bounds on the errors that one kernel causes; docs/theory/predictor.md.
type moves struct {
	mean   float64 // of the unhealed mean
	spread float64 // of the norm of the unhealed variance
	pull   float64 // of q
	rest   float64 // of √r and of Λ^½·z
	self   float64 // of Λ^-½·φ
}

// ProjectOptions says how closely a [Projection] follows the posterior.
type ProjectOptions struct {
	// Tolerance is the largest error of a predictive mean or standard deviation that
	// is to be expected, in units of the predictive standard deviation.
	Tolerance float64

	MeanOnly bool // no variances will be asked for
	Healed   bool // predictions heal variances, as PredictHealed does

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

// mostOrder is the most coordinates of all kernels together.
const mostOrder = 768

const unit = pivot.Unit

// Project returns a projection of output o whose bounds at the training samples are within half the
// tolerance, or nil if no projection is clearly cheaper than a prediction from all samples. The
// kernels must be positive definite. For pivots of m coordinates it costs about (2+2R)·N²·m
// multiplications, R as in [SharedHealing].
func (p *RegressionPosterior) Project(k vi.Columns, o int, opt ProjectOptions) (*Projection, error) {
	return p.project(p.healers, k, o, opt)
}

// Project does what [RegressionPosterior.Project] does.
func (p *SharedPosterior) Project(k vi.Columns, o int, opt ProjectOptions) (*Projection, error) {
	return p.project(p.healers, k, o, opt)
}

// Project does what [RegressionPosterior.Project] does for the score of output o. Scores are not healed.
func (p *ClassificationPosterior) Project(k vi.Columns, o int, opt ProjectOptions) (*Projection, error) {
	return p.project(nil, k, o, opt)
}

func (p *scorer) project(healers []*healing.Healer, k vi.Columns, o int, opt ProjectOptions) (*Projection, error) {
	if !(opt.Tolerance > 0) {
		return nil, fmt.Errorf("vi: Tolerance: %g is not positive", opt.Tolerance)
	}
	var h *healing.Healer
	if opt.Healed {
		if h = healing.Of(healers, o); h == nil {
			return nil, fmt.Errorf("vi: output %d cannot be healed", o)
		}
	}
	spaces := newSubspaces(k, p.core.P, p.core.D)
	most := 0.0
	for m := range spaces {
		spaces[m].weight = math.Sqrt(p.core.Combinations[o].EE.At(m, m))
		most = max(most, spaces[m].weight*spaces[m].Most)
	}
	// Errors are about a sum of weight_m·largest_m·Σ_n r_m(x_n), times a factor that only trying shows.
	grow := func(limit float64) (order int, err error) {
		for m := range spaces {
			s := &spaces[m]
			if s.weight > 0 {
				s.Grow(s.column, limit*opt.Tolerance*most/s.weight, pivot.MostPivots)
			}
			order += len(s.Pivots)
		}
		return order, nil
	}
	dear := func(order int) bool {
		return order > mostOrder || opt.cost(float64(order)) > pivot.Worth*opt.Exact
	}
	ws := &la.Workspace{}
	q, _, err := pivot.Search(ws, opt.Tolerance, grow, dear, func() (c pivot.Candidate[*Projection], err error) {
		q, forms, err := p.projection(ws, h, spaces, o, opt)
		if err != nil {
			return c, err
		}
		at := newTrials(k, q, p.core.D)
		return pivot.Candidate[*Projection]{
			Forms: forms,
			With: func(f pivot.Forms) *Projection {
				with := *q
				with.forms = f
				return &with
			},
			Worst: func(q *Projection) float64 { return at.worst(ws, q) },
		}, nil
	})
	return q, err
}

// trials are training samples, at most a few hundred, at which bounds are tried.
type trials struct {
	kernels, selves la.Matrix[float64] // a row for each sample, with the pivots and with itself
}

func newTrials(k vi.Columns, q *Projection, N int) trials {
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

// subspace is the subspace that the pivots span in the feature space of one kernel.
type subspace struct {
	pivot.Space
	weight float64 // √E[e_m²]
	column func(n int, dst []float64)
}

func newSubspaces(k vi.Columns, P, N int) []subspace {
	diagonal, columns := la.NewMatrix[float64](P, N), la.NewMatrix[float64](P, N)
	k.Diagonal(diagonal)
	spaces := make([]subspace, P)
	for m := range spaces {
		spaces[m] = subspace{Space: pivot.NewSpace(diagonal.Row(m)), column: func(n int, dst []float64) {
			k.Column(n, columns)
			copy(dst, columns.Row(m))
		}}
	}
	return spaces
}

// projection assembles the result but for its forms, and returns the matrices of these.
func (p *scorer) projection(ws *la.Workspace, h *healing.Healer, spaces []subspace, o int, opt ProjectOptions) (*Projection, *pivot.Quadratics, error) {
	c, row := p.core.Combinations[o], p.core.Row(o)
	q := &Projection{
		meanOnly: opt.MeanOnly, bias: c.Mean[0], e: c.Mean[1:], cov: c.Cov,
		constant: p.core.Noise[o], moves: make([]moves, p.core.P), which: formsOf(opt),
	}
	weights, err := p.core.Factor(ws, row, new(predictive.WeightFactor))
	if err != nil {
		return nil, nil, err
	}
	a := p.core.A.Row(row)
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
		v.spread = float64(math.Sqrt(c.Cov.At(1+m, 1+m))*sum) + float64(math.Sqrt(c.EE.At(m, m))*s.Length(weights.S)) // Cov[a] ≤ Λ⁻¹
		q.constant += c.EE.At(m, m) / p.core.Upsilon[row]
	}
	q.order = len(w)
	q.invert(spaces)
	x := la.NewMatrix[float64](q.order, p.core.D)
	var mean []float64
	for i, m := range kernel {
		copy(x.Row(i), w[i])
		g := la.Dot(w[i], a)
		q.g, mean = append(q.g, g), append(mean, q.e[m]*g)
	}
	q.meanSize = norm(mean)
	whole := pivot.NewQuadratics(x)
	if h != nil {
		rest, apart, err := q.heal(ws, h, kernel, x, spaces)
		if err != nil {
			return nil, nil, err
		}
		whole.Add(rest, opt.Tolerance*q.precision)
		whole.Add(apart, opt.Tolerance*math.Sqrt(q.constant*q.precision))
	}
	if q.meanOnly {
		return q, whole, nil
	}
	healing.ScaleColumns(x, weights.S)
	la.Trsm(ws, la.Right, la.Transpose, weights.B, x)
	inside := la.NewMatrix[float64](q.order, q.order)
	la.Syrk(ws, la.NoTrans, 1, x, 0, inside)
	inside.MirrorLower()
	for i, m := range kernel {
		for j, l := range kernel {
			inside.Set(i, j, inside.At(i, j)*c.EE.At(m, l))
		}
	}
	whole.Add(inside, opt.Tolerance*q.constant)
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
func (q *Projection) heal(ws *la.Workspace, h *healing.Healer, kernel []int, x la.Matrix[float64], spaces []subspace) (rest, apart la.Matrix[float64], err error) {
	known, err := h.SampleWeights(ws, new(healing.Scratch))
	if err != nil {
		return rest, apart, err
	}
	q.healed, q.precision = true, h.Precision
	q.pull = make([]float64, q.order)
	n := q.order
	phi, z, one := make([]la.Matrix[float64], len(h.Kernels)), la.NewMatrix[float64](n, x.Cols), la.NewMatrix[float64](n, x.Cols)
	for r := range phi {
		phi[r] = la.NewMatrix[float64](n, x.Cols)
		for i, m := range kernel {
			h.Weights.Add(r, m, x.Row(i), phi[r].Row(i))
			q.pull[i] += la.Dot(known.Residual.Row(r), phi[r].Row(i))
			copy(one.Row(i), phi[r].Row(i))
			h.ApplyTrust(one.Row(i))
		}
		la.Gemm(ws, la.NoTrans, la.NoTrans, h.Scale, one, h.Kernels[r], min(1, float64(r)), z)
	}
	healing.ScaleColumns(z, h.S)
	la.Trsm(ws, la.Right, la.Transpose, known.Factor, z)
	la.Trsm(ws, la.Right, la.NoTrans, known.Factor, z) // s⁻¹∘z, of length zᵀΛz
	rest = la.NewMatrix[float64](n, n)
	la.Syrk(ws, la.NoTrans, 1, z, 0, rest)
	healing.ScaleColumns(z, h.S)
	for r := range phi {
		la.Gemm(ws, la.NoTrans, la.Transpose, h.Scale, z, h.Kernels[r], 0, one)
		for i := range n {
			la.Axpy(-1, one.Row(i), phi[r].Row(i))
			h.ApplyRootTrust(phi[r].Row(i))
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
			squares += float64(float64(v*h.S[d]) * float64(v*h.S[d]))
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
			h.Weights.Add(r, m, known.Residual.Row(r), weighted)
			v.pull += s.Sum(weighted)
		}
		v.rest, v.self = math.Sqrt(h.Weights.Size(m))*s.Length(nil), math.Abs(q.e[m])*s.Length(h.S)
	}
	return rest, apart, nil
}

// ScratchSize is the length of the scratch memory of Predict.
func (q *Projection) ScratchSize() int { return q.order + len(q.e) + q.forms.ScratchSize() }

// Bytes returns the number of bytes of the matrices that Predict reads.
func (q *Projection) Bytes() int { return q.inverse.Bytes() + q.forms.Bytes() + 8*2*q.order }

// values holds the value of each form of a projection, and a bound on its error from the parts inside the
// subspaces.
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
