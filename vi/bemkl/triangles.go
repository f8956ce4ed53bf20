package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// Triangles computes in integers or in float32 the parts of a prediction of one output that need products with matrices of the samples'
// order. All are quadratic forms in f = Σ_m E[e_m]·k_m, which is computed in float64:
//
//	inside = fᵀ·Cov[a]·f,   rest = φᵀ(I − F·M⁻¹Fᵀ)φ,   apart = κ − fᵀz.
//
// The last two are for healed predictions. Each form comes with a bound on its rounding. The bounds are calibrated, not
// proved; docs/theory/predictor.md compares them with measured errors. A Triangles is immutable and safe for concurrent use.
type Triangles struct {
	e      []float64
	inside *triangle.Triangle // nil without variances
	order  []int              // of the samples in it
	loose  []float64          // μ·Σ_l |Cov[e_m, e_l]| for each kernel m
	share  float64            // θ

	rest      *triangle.Triangle // nil if predictions are not healed
	apart     *triangle.Form
	pull      []float64
	precision float64 // λ*
}

// TriangleParts holds the parts of a [Triangles] of P kernels with D samples, and the T vectors of its calibration.
type TriangleParts struct {
	E         []float64            // P: E[e]
	CovE      la.Matrix[float64]   // P×P: Cov[e]
	Root      la.Matrix[float64]   // ρ×D: Cᵀ, lower trapezoidal, with C·Cᵀ = Cov[a]; empty without variances
	Order     []int                // D: the samples in the order of the columns of Cᵀ
	Limit     float64              // μ: k_mᵀ·Cov[a]·k_m is at most μ·k_m(x,x); see [RegressionPosterior.WeightLimit]
	Healer    *Healer              // nil if predictions are not healed
	Trials    []la.Matrix[float64] // P of T×D: the kernels of the vectors with the samples
	Selves    la.Matrix[float64]   // P×T: the kernels of the vectors with themselves
	Tolerance float64              // of the predictor, in standard deviations: integers are tried if it is large enough
}

// mostCondition bounds D times the quotient of the diagonal elements of the factor of healing: above it the rounding of
// float64 in its inverse is no longer small beside the rounding of float32.
const mostCondition = 0x1p26

// NewTriangles returns the triangles of the parts, or nil where rounding in float32 is not small. It costs about 2·D³ multiplications.
func NewTriangles(parts TriangleParts) *Triangles {
	t := &Triangles{e: parts.E}
	f := parts.Trials[0].Clone()
	clear(f.Data)
	for m, e := range t.e {
		la.Axpy(e, parts.Trials[m].Data, f.Data)
	}
	selves := make([]float64, f.Rows)
	for q := range selves {
		selves[q] = largest(f.Row(q))
	}
	if parts.Root.Rows > 0 && !t.setInside(parts, f, selves) {
		return nil
	}
	if parts.Healer == nil {
		return t
	}
	ws := &la.Workspace{}
	forms, ok := parts.Healer.one.Forms(ws)
	if !ok || !(forms.Condition <= mostCondition) {
		return nil
	}
	rest, apart := parts.Healer.one.At(ws, f)
	t.pull, t.precision = forms.Pull, forms.Precision
	t.rest = triangle.Against(forms.Rest, f, selves, rest, parts.enough())
	t.apart = triangle.NewForm(forms.Apart, f, apart, parts.enough() != nil)
	if t.rest == nil || t.apart == nil {
		return nil
	}
	return t
}

// enough returns what keeps the integers of a triangle: the predictor judges all of them together.
func (parts *TriangleParts) enough() triangle.Enough {
	if parts.Tolerance < triangle.LeastCoarse {
		return nil
	}
	return func(float64, float64, float64, float64) bool { return true }
}

// Coarse reports whether Predict can be asked for integers.
func (t *Triangles) Coarse() bool {
	return (t.inside != nil || t.rest != nil) && (t.inside == nil || t.inside.Coarse()) && (t.rest == nil || t.rest.Coarse() && t.apart.Coarse())
}

// Bytes returns the number of bytes of the elements that Predict reads: of integers, if there are any.
func (t *Triangles) Bytes() (n int) {
	for _, part := range []*triangle.Triangle{t.inside, t.rest} {
		if part != nil {
			n += part.Bytes()
		}
	}
	if t.apart != nil {
		n += t.apart.Bytes()
	}
	return n
}

// setInside sets the fields that variances need, and reports whether rounding is small. f has the vector f of each trial in a row, and
// selves the largest size of an element in each row.
func (t *Triangles) setInside(parts TriangleParts, f la.Matrix[float64], selves []float64) bool {
	rank, D := parts.Root.Rows, f.Cols
	root := la.NewMatrix[float64](D, D)
	root.Slice(D-rank, D, 0, D).CopyFrom(parts.Root)
	ordered := func(x la.Matrix[float64]) la.Matrix[float64] {
		y := la.NewMatrix[float64](x.Rows, D)
		for q := range x.Rows {
			pick(y.Row(q), x.Row(q), parts.Order)
		}
		return y
	}
	t.order = parts.Order
	if t.inside = triangle.Of(root, ordered(f), selves, parts.enough(), 2); t.inside == nil {
		return false
	}
	products := make([]la.Matrix[float64], len(parts.Trials)) // Cᵀk
	for m, k := range parts.Trials {
		products[m] = la.NewMatrix[float64](f.Rows, rank)
		la.Gemm(nil, la.NoTrans, la.Transpose, 1, ordered(k), parts.Root, 0, products[m])
		var covariance float64
		for _, v := range parts.CovE.Row(m) {
			covariance += math.Abs(v)
		}
		t.loose = append(t.loose, float64(parts.Limit*covariance))
	}
	var trace, most float64
	for q := range f.Rows {
		for m, p := range products {
			for l, v := range parts.CovE.Row(m) {
				trace += float64(v * la.Dot(p.Row(q), products[l].Row(q)))
			}
			most += float64(t.loose[m] * max(0, parts.Selves.At(m, q)))
		}
	}
	if most > 0 {
		t.share = min(max(0, trace/most), 1)
	}
	return true
}

// pick stores the elements of x in the given order.
func pick(dst, x []float64, order []int) {
	for i, j := range order {
		dst[i] = x[j]
	}
}

// largest returns the largest size of an element.
func largest(x []float64) (most float64) {
	for _, v := range x {
		if size := math.Abs(v); size > most {
			most = size
		}
	}
	return most
}

// TrianglesScratch is memory for one prediction.
type TrianglesScratch struct {
	ordered  []float64
	triangle *triangle.Scratch
}

// NewTrianglesScratch returns memory for predictions of models of n samples.
func NewTrianglesScratch(n int) *TrianglesScratch {
	return &TrianglesScratch{make([]float64, n), triangle.NewScratch(n)}
}

// pullDeviations is the number of standard deviations in the bound on the error of Pullᵀf.
const pullDeviations = 4

// Addition is a term of a mean and a term of a variance, with bounds on their errors.
type Addition struct {
	Mean, Variance           float64 // what is added
	MeanError, VarianceError float64 // bounds on the errors
}

// Predict returns what the forms add to the mean and to the variance of a target at a point x. f is the vector of the forms and self, P,
// has the kernels of x with itself. If coarse, the forms are in integers, for Triangles that are Coarse. Then the elements of f may have
// independent errors of the standard deviation inexact, else it is 0. Predict does not allocate.
//
// The variance has the term tr(Cov[e]·C) with C_ml = k_mᵀ·Cov[a]·k_l. It is between 0 and h = μ·Σ_m Σ_l |Cov[e_m, e_l]|·k_m(x,x),
// because the diagonal matrix of the sums Σ_l |Cov[e_m, e_l]| less Cov[e] is positive semidefinite. Predict takes θ·h for the term. θ is
// the term's share of h in the calibration.
func (t *Triangles) Predict(f, self []float64, inexact float64, coarse bool, s *TrianglesScratch) (a Addition) {
	s.triangle.Inexact(inexact)
	size := largest(f)
	if t.inside != nil {
		pick(s.ordered, f, t.order)
		square, e := t.inside.Square(s.ordered, size, coarse, s.triangle)
		t.addInside(&a, square, e, self)
	}
	if t.rest != nil {
		rest, restError := t.rest.Square(f, size, coarse, s.triangle)
		with, apartError := t.apart.At(f, coarse, s.triangle)
		t.addHealing(&a, f, self, inexact, rest, restError, with, apartError)
	}
	return a
}

// addInside adds what fᵀ·Cov[a]·f, whose error is bounded, and the trace add to the variance.
func (t *Triangles) addInside(a *Addition, square, bound float64, self []float64) {
	a.Variance, a.VarianceError = square, bound
	var left float64
	for m, c := range t.loose {
		left += float64(c * max(0, self[m]))
	}
	a.Variance += float64(t.share * left)
	a.VarianceError += float64(max(t.share, 1-t.share) * left)
}

// addHealing adds what healing adds, from the other two forms and their bounds.
func (t *Triangles) addHealing(a *Addition, f, self []float64, inexact, rest, restError, with, apartError float64) {
	var kappa float64
	for m, e := range t.e {
		kappa += float64(e * self[m])
	}
	apart, pull := kappa-with, la.Dot(t.pull, f)
	precision := t.precision + rest
	least, most := max(t.precision, precision-restError), precision+restError
	a.Mean = float64(apart / precision * pull)
	a.MeanError = float64(math.Abs(pull) * (apartError/least + float64(math.Abs(apart)/precision*(restError/least))))
	if inexact > 0 {
		a.MeanError += float64((math.Abs(apart) + apartError) / least * pullDeviations * inexact * math.Sqrt(la.SumSq(t.pull)))
	}
	healed, wide, narrow := float64(apart/precision*apart), math.Abs(apart)+apartError, max(0, math.Abs(apart)-apartError)
	a.Variance += healed
	a.VarianceError += max(float64(wide/least*wide)-healed, healed-float64(narrow/most*narrow))
}

// TrianglesRows is memory for predictions of several points in integers.
type TrianglesRows struct {
	batch                                 *triangle.Batch
	ordered                               la.Matrix[float64]
	size, value, bound, apart, apartBound []float64
}

// NewTrianglesRows returns memory for at most so many points of models of n samples.
func NewTrianglesRows(n, points int) *TrianglesRows {
	r := &TrianglesRows{batch: triangle.NewBatch(n, points), ordered: la.NewMatrix[float64](points, n)}
	for _, v := range []*[]float64{&r.size, &r.value, &r.bound, &r.apart, &r.apartBound} {
		*v = make([]float64, points)
	}
	return r
}

// PredictRows stores what Predict returns in integers for several points, with the same bits. The rows of f and self, and the elements of
// inexact, belong to a point each. The triangles are read once for all points.
func (t *Triangles) PredictRows(f, self la.Matrix[float64], inexact []float64, r *TrianglesRows, out []Addition) {
	n := f.Rows
	value, bound := r.value[:n], r.bound[:n]
	for i := range n {
		out[i] = Addition{}
		r.batch.Alone(i).Inexact(inexact[i])
		r.size[i] = largest(f.Row(i))
	}
	if t.inside != nil {
		ordered := r.ordered.Slice(0, n, 0, f.Cols)
		for i := range n {
			pick(ordered.Row(i), f.Row(i), t.order)
		}
		r.batch.Squares(t.inside, ordered, r.size, value, bound)
		for i := range n {
			t.addInside(&out[i], value[i], bound[i], self.Row(i))
		}
	}
	if t.rest != nil {
		r.batch.Squares(t.rest, f, r.size, value, bound)
		r.batch.Forms(t.apart, f, r.apart[:n], r.apartBound[:n])
		for i := range n {
			t.addHealing(&out[i], f.Row(i), self.Row(i), inexact[i], value[i], bound[i], r.apart[i], r.apartBound[i])
		}
	}
}
