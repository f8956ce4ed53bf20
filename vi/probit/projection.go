package probit

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/pivot"
)

// Projection is a [Posterior] as a few of the basis points see it, the pivots of the composite
// kernel: a prediction takes the kernels with those alone, and comes with a bound on what the
// others would have changed of the probabilities. docs/theory/predictor.md derives the bound. It is
// immutable and safe for concurrent use.
type Projection struct {
	Pivots []int // basis points

	rule Rule
	beta []float64

	inverse         stairs.Matrix // t = L⁻¹k
	shift, residual float64       // what round-off can add to t and r, per unit of √k(x,x) and of k(x,x)

	mean  la.Matrix[float64] // C×m: means of the functions are its products with t
	forms pivot.Forms        // quadratic forms in t: the variances of the functions without noise; empty for a point
	moves []classMoves
}

// classMoves are by how much each unit of √r can move what is projected of a class.
type classMoves struct {
	mean float64
	root float64 // of the root of the variance without the noise
	size float64 // the mean, for each unit by which t is off
}

// ProjectionScratch is the memory of one prediction of a [Projection].
type ProjectionScratch struct {
	ws               la.Workspace
	cone             special.Cone
	k, t, rest, self []float64
	mean, sd, sums   []float64 // C
}

// The total variation between two normal distributions is at most shiftShare times the distance of
// their means in standard deviations, and at most scaleShare times the distance of the logarithms
// of their standard deviations.
const (
	shiftShare = 0.39894228040143268 // 1/√(2π)
	scaleShare = 0.48394144903828673 // 2·φ(1)
)

// Project returns a projection whose bounds on the probabilities of the basis points are within
// half the tolerance, or nil if no projection is clearly cheaper than a prediction from all. The
// composite kernel must be positive definite. A mixture has none.
func (p *Posterior) Project(k vi.Columns, tolerance float64) (*Projection, error) {
	if !(tolerance > 0) {
		return nil, fmt.Errorf("vi: Tolerance: %g is not positive", tolerance)
	}
	C, P, D := p.Dims()
	if p.parts != nil {
		return nil, nil
	}
	for _, b := range p.s.Beta {
		if b < 0 {
			return nil, nil
		}
	}
	c, err := newComposites(p, k)
	if err != nil {
		return nil, err
	}
	exact := float64(8 * P * D)
	if !p.s.Point {
		exact += float64(float64(C*D) * float64(D) / 2)
	}
	grow := func(limit float64) (order int, err error) {
		c.Grow(c.column, limit*tolerance*c.Most, pivot.MostPivots)
		return len(c.Pivots), c.failed
	}
	dear := func(m int) bool {
		return m == min(pivot.MostPivots, D) || float64(8*P*m)+float64(m*m) > pivot.Worth*exact
	}
	ws := &la.Workspace{}
	q, _, err := pivot.Search(ws, tolerance, grow, dear, func() (t pivot.Candidate[*Projection], err error) {
		q, forms, err := p.projection(ws, c, tolerance)
		if err != nil {
			return t, err
		}
		return pivot.Candidate[*Projection]{
			Forms: forms,
			With: func(f pivot.Forms) *Projection {
				with := *q
				with.forms = f
				return &with
			},
			Worst: c.worst,
		}, nil
	})
	return q, err
}

// composites are the composite kernels of the basis points, and their subspace.
type composites struct {
	pivot.Space
	column func(n int, dst []float64)
	failed error // the first error of column

	k       vi.Columns
	columns la.Matrix[float64] // P×D, of one basis point
	selves  la.Matrix[float64] // P×D
}

func newComposites(p *Posterior, k vi.Columns) (*composites, error) {
	_, P, D := p.Dims()
	c := &composites{k: k, columns: la.NewMatrix[float64](P, D), selves: la.NewMatrix[float64](P, D)}
	k.Diagonal(c.selves)
	diagonal := make([]float64, D)
	prepared := c.selves.Clone()
	if err := p.s.Rule.Prepare(prepared); err != nil {
		return nil, err
	}
	p.s.Rule.Combine(p.s.Beta, prepared, diagonal)
	c.Space = pivot.NewSpace(diagonal)
	c.column = func(n int, dst []float64) {
		k.Column(n, c.columns)
		if err := p.s.Rule.Prepare(c.columns); err != nil && c.failed == nil {
			c.failed = err
		}
		p.s.Rule.Combine(p.s.Beta, c.columns, dst)
	}
	return c, nil
}

// worst returns the largest bound of q at some of the basis points, at most a few hundred.
func (c *composites) worst(q *Projection) (worst float64) {
	D := len(c.Left)
	kernels, selves := la.NewMatrix[float64](len(q.beta), len(q.Pivots)), la.NewMatrix[float64](len(q.beta), 1)
	s := q.NewScratch()
	for n := 0; n < D; n += 1 + (D-1)/300 {
		c.k.Column(n, c.columns)
		for p := range kernels.Rows {
			for i, d := range q.Pivots {
				kernels.Set(p, i, c.columns.At(p, d))
			}
			selves.Set(p, 0, c.selves.At(p, n))
		}
		_, bound, err := q.Predict(kernels, selves, s)
		if err != nil {
			return math.Inf(1)
		}
		worst = max(worst, bound)
	}
	return worst
}

// projection assembles the result but for its forms, and returns the matrices of these.
func (p *Posterior) projection(ws *la.Workspace, c *composites, tolerance float64) (*Projection, *pivot.Quadratics, error) {
	C, P, D := p.Dims()
	m := len(c.Pivots)
	q := &Projection{
		Pivots: append([]int(nil), c.Pivots...), rule: p.s.Rule, beta: p.s.Beta,
		mean: la.NewMatrix[float64](C, m), moves: make([]classMoves, C),
	}
	l := la.NewMatrix[float64](m, m)
	q.shift = c.Invert(l, P)
	q.residual = c.Hidden(q.shift)
	q.inverse = stairs.New(l)
	w := la.NewMatrix[float64](m, D)
	for i, row := range c.W {
		copy(w.Row(i), row)
	}
	v := pivot.NewQuadratics(w)
	la.Gemm(ws, la.NoTrans, la.Transpose, 1, p.s.W, w, 0, q.mean)
	factor := classFactor{b: la.NewMatrix[float64](D, D)}
	for o := range C {
		move := &q.moves[o]
		move.mean = c.Sum(p.s.W.Row(o))
		move.size = math.Sqrt(la.SumSq(q.mean.Row(o)))
		if p.s.Point {
			continue
		}
		if err := factor.set(ws, p, o); err != nil {
			return nil, nil, fmt.Errorf("vi: %w", err)
		}
		x := la.NewMatrix[float64](m, len(factor.active))
		prior := make([]float64, D) // α^-½: V_c ≤ A_c⁻¹
		for j, d := range factor.active {
			prior[d] = factor.root[j]
			for i := range m {
				x.Set(i, j, factor.root[j]*w.At(i, d))
			}
		}
		la.Trsm(ws, la.Right, la.Transpose, factor.l, x)
		a := la.NewMatrix[float64](m, m)
		la.Syrk(ws, la.NoTrans, 1, x, 0, a)
		a.MirrorLower()
		move.root = c.Length(prior)
		v.Add(a, tolerance)
	}
	return q, v, nil
}

// NewScratch returns memory for a prediction.
func (q *Projection) NewScratch() *ProjectionScratch {
	m, C := len(q.Pivots), q.mean.Rows
	s := &ProjectionScratch{ws: la.Workspace{Workers: 1}, k: make([]float64, m), t: make([]float64, m), self: make([]float64, 1)}
	if len(q.forms.Off) > 0 {
		s.rest = make([]float64, q.forms.ScratchSize())
	}
	s.mean, s.sd, s.sums = make([]float64, C), make([]float64, C), make([]float64, C)
	return s
}

// Predict returns the probabilities of the classes for a sample whose kernels with the pivots are
// the rows of k, P×m, and whose kernels with itself are self, P×1. It overwrites both. Every
// probability is within bound of the one that [Posterior.Predict] returns. The slice is the
// scratch's own.
func (q *Projection) Predict(k, self la.Matrix[float64], s *ProjectionScratch) (probability []float64, bound float64, err error) {
	if err := q.rule.Prepare(k); err != nil {
		return nil, 0, err
	}
	if err := q.rule.Prepare(self); err != nil {
		return nil, 0, err
	}
	q.rule.Combine(q.beta, k, s.k)
	q.rule.Combine(q.beta, self, s.self)
	q.inverse.MultiplyVec(&s.ws, s.k, s.t)
	own, inside := max(0, s.self[0]), la.SumSq(s.t)
	r := math.Sqrt(max(0, own-inside) + float64(q.residual*own))
	size := math.Sqrt(inside)
	slack := float64(q.shift*math.Sqrt(own)) + float64(pivot.Unit*float64(len(s.t)+32)*size)
	clear(s.sd)
	var length float64
	if len(q.forms.Off) > 0 {
		length = q.forms.At(&s.ws, s.t, s.rest, s.sd)
	}
	for c := range q.moves {
		move := &q.moves[c]
		s.mean[c] = la.Dot(q.mean.Row(c), s.t)
		off := float64(r*move.mean) + float64(slack*move.size)
		sd := math.Sqrt(1 + max(0, s.sd[c]))
		var sdOff float64
		if len(q.forms.Off) > 0 {
			hidden := float64(q.forms.Off[c]*length) + float64(q.forms.Size[c]*slack*(2*size+slack))
			sdOff = float64(r*move.root) + hidden/sd
		}
		s.sd[c] = sd
		least := max(1, sd-sdOff)
		bound += float64(shiftShare*off/sd) + float64(scaleShare*max(special.Log(sd/least), sdOff/sd))
	}
	for c := range s.sums {
		s.sums[c] = special.Exp(s.cone.LogProbability(c, s.mean, s.sd))
	}
	return s.sums, min(1, bound), nil
}
