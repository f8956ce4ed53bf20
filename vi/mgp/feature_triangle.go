package mgp

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/pivot"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// FeatureTriangle computes predictions of a [FeaturePosterior] from the values k that its features are functions of,
//
//	φ_p = A_p·k_p + s_p,
//
// with lower triangles A_p. Then E[f] = Σ w_pᵀφ_p is linear in k, and the variance without noise is
//
//	|L⁻¹Γ^-½φ|² = |G(k + c)|²,   G = L⁻¹·diag(A_p/√γ_p),   c_p = A_p⁻¹s_p,
//
// L being the factor of B. G is a lower triangle, so that a prediction needs no features. The values k_p + c_p are taken in units,
// powers of two, in which they are about as large as the values of other p. The mean is computed in float64,
// the variance in integers or in float32. Its bound is calibrated. A FeatureTriangle is immutable and safe for concurrent use.
type FeatureTriangle struct {
	noise     float64
	tolerance float64   // of integers
	weights   []float64 // of k + c in the mean
	offset    []float64 // c
	inverse   []float64 // of the unit of each element of k + c
	blocks    []int     // so many elements after each other have one unit
	size      float64   // of the sums that make the mean, per unit of the largest |k + c|
	tri       *triangle.Triangle
}

// Bytes returns the number of bytes of the elements that a prediction reads.
func (t *FeatureTriangle) Bytes() int {
	n := 8 * 3 * len(t.weights)
	if t.tri != nil {
		n += t.tri.Bytes()
	}
	return n
}

// Triangle returns the triangle of the posterior; nil where rounding is not small. by are the A_p and shift the s_p. Where
// shift is nil they are 0. If the posterior has a feature more than the A_p make, it is 1, and so is its value. Each
// row of trials has the values of a sample. With meanOnly there are no variances. Triangle costs about F³/2
// multiplications for F features, and F³ more where integers are tried. Integers are used if predictions with them are mostly within
// the tolerance, in standard deviations.
func (p *FeaturePosterior) Triangle(by []la.Matrix[float64], shift [][]float64, trials la.Matrix[float64], meanOnly bool, tolerance float64) *FeatureTriangle {
	F := len(p.s.Mean)
	t := &FeatureTriangle{noise: p.s.Noise, tolerance: tolerance, blocks: p.s.Blocks, weights: make([]float64, F), offset: make([]float64, F), inverse: make([]float64, F)}
	size := make([]float64, F)
	first := 0
	for i, a := range by {
		end := first + a.Rows
		w, c := p.s.Mean[first:end], t.offset[first:end]
		for r := range a.Rows {
			la.Axpy(w[r], a.Row(r)[:r+1], t.weights[first:first+r+1])
			for j, v := range a.Row(r)[:r+1] {
				size[first+j] += math.Abs(w[r] * v)
			}
		}
		if shift != nil {
			copy(c, shift[i])
			la.Trsv(la.NoTrans, a, c)
		}
		first = end
	}
	if first < F {
		t.weights[first], size[first] = p.s.Mean[first], math.Abs(p.s.Mean[first])
	}
	unit := t.units(by, trials)
	for i, d := range unit {
		t.weights[i] *= d
		t.size += float64(size[i] * d)
	}
	if meanOnly {
		return t
	}
	inverse := p.s.Factor.Clone()
	la.TriInv(nil, inverse)
	g := la.NewMatrix[float64](F, F)
	first = 0
	for i, a := range by {
		end := first + a.Rows
		la.Gemm(nil, la.NoTrans, la.NoTrans, 1/math.Sqrt(p.s.Gamma[i]), inverse.Slice(first, F, first, end), lower(a), 0, g.Slice(first, F, first, end))
		first = end
	}
	if first < F {
		g.Set(first, first, inverse.At(first, first)/math.Sqrt(p.s.Gamma[len(by)]))
	}
	for i := range F {
		row := g.Row(i)[:i+1]
		for j := range row {
			row[j] *= unit[j]
		}
	}
	at, selves, s := trials.Clone(), make([]float64, trials.Rows), NewTriangleScratch(F)
	for i := range selves {
		selves[i] = t.shift(at.Row(i), s)
	}
	var enough triangle.Enough
	if tolerance >= triangle.LeastCoarse {
		enough = func(_, square, bound, _ float64) bool {
			return certified(0, max(0, square)+t.noise, bound, t.noise).Within(tolerance)
		}
	}
	if t.tri = triangle.Of(g, at, selves, enough, 1); t.tri == nil {
		return nil
	}
	return t
}

// units sets and returns the unit of each value: the power of two above the largest |k_p + c_p| of a trial, for all elements of
// a p.
func (t *FeatureTriangle) units(by []la.Matrix[float64], trials la.Matrix[float64]) []float64 {
	unit := make([]float64, len(t.weights))
	first := 0
	for _, a := range append(by[:len(by):len(by)], la.NewMatrix[float64](len(unit), 0)) {
		end := min(first+a.Rows, len(unit))
		var largest float64
		for q := range trials.Rows {
			for i, v := range trials.Row(q)[first:end] {
				largest = max(largest, math.Abs(v+t.offset[first+i]))
			}
		}
		_, exponent := math.Frexp(largest)
		for i := first; i < end; i++ {
			unit[i], t.inverse[i] = math.Ldexp(1, exponent), math.Ldexp(1, -exponent)
		}
		first = end
	}
	return unit
}

// lower returns a copy of a with zeros above the diagonal.
func lower(a la.Matrix[float64]) la.Matrix[float64] {
	l := la.NewMatrix[float64](a.Rows, a.Cols)
	for i := range a.Rows {
		copy(l.Row(i)[:i+1], a.Row(i))
	}
	return l
}

// shift adds c to the values k of a sample and takes the sums in their units. It returns the largest size of a sum; those that are not
// numbers do not count.
func (t *FeatureTriangle) shift(k []float64, s *TriangleScratch) (largest float64) {
	la.Axpy(1, t.offset, k)
	first := 0
	for _, n := range t.blocks {
		la.Scal(t.inverse[first], k[first:first+n]) // a power of two: the products are exact
		first += n
	}
	return s.Largest(k)
}

// Predict returns the prediction of a sample from its values k, which it overwrites. Without variances the variance is NaN.
// It does not allocate.
func (t *FeatureTriangle) Predict(k []float64, s *TriangleScratch) vi.Certified {
	mean, rounding, largest := t.mean(k, s)
	if t.tri == nil {
		return vi.Certified{Mean: mean, MeanError: rounding, Variance: math.NaN(), LeastSD: math.Sqrt(t.noise)}
	}
	if t.tri.Coarse() {
		square, e := t.tri.Square(k, largest, true, s)
		if c := t.certified(mean, rounding, square, e); c.Within(t.tolerance) {
			return c
		}
	}
	square, e := t.tri.Square(k, largest, false, s)
	return t.certified(mean, rounding, square, e)
}

// mean takes the values k of a sample in their units. It returns the mean, the bound on its rounding, and the largest size of a value.
func (t *FeatureTriangle) mean(k []float64, s *TriangleScratch) (mean, rounding, largest float64) {
	largest = t.shift(k, s)
	return la.Dot(t.weights, k), float64(pivot.Unit * float64(len(k)+64) * t.size * largest), largest
}

// certified returns the prediction with this mean, whose rounding is bounded, of |G(k + c)|² and the bound on its error.
func (t *FeatureTriangle) certified(mean, rounding, square, bound float64) vi.Certified {
	c := certified(mean, t.noise+square, bound, t.noise)
	c.MeanError = rounding
	return c
}

// FeatureRows is memory for the predictions of several samples by a [FeatureTriangle].
type FeatureRows struct {
	batch                   *triangle.Batch // nil for a triangle that is not in integers
	fine                    *triangle.Rows
	one                     *TriangleScratch
	need                    []int
	mean, rounding, largest []float64
	square, bound           []float64
}

// NewRows returns memory for at most so many samples. The triangle must have variances.
func (t *FeatureTriangle) NewRows(samples int) *FeatureRows {
	features := len(t.weights)
	r := &FeatureRows{fine: triangle.NewRows(samples, features), one: NewTriangleScratch(features), need: make([]int, 0, samples)}
	if t.tri.Coarse() {
		r.batch = triangle.NewBatch(features, samples)
	}
	for _, v := range []*[]float64{&r.mean, &r.rounding, &r.largest, &r.square, &r.bound} {
		*v = make([]float64, samples)
	}
	return r
}

// Varies reports whether the triangle has variances.
func (t *FeatureTriangle) Varies() bool { return t.tri != nil }

// PredictRows stores the predictions of the samples whose values are in the rows of k, which it overwrites. The triangle is read once for all
// of them. Predictions in integers have the bits of Predict. Samples for which these are not enough are predicted in float32.
func (t *FeatureTriangle) PredictRows(k la.Matrix[float64], r *FeatureRows, out []vi.Certified) {
	n := k.Rows
	square, bound := r.square[:n], r.bound[:n]
	for i := range n {
		r.mean[i], r.rounding[i], r.largest[i] = t.mean(k.Row(i), r.one)
	}
	if r.batch != nil {
		r.batch.Squares(t.tri, k, r.largest, square, bound)
	}
	need := r.need[:0]
	for i := range n {
		if r.batch != nil {
			if out[i] = t.certified(r.mean[i], r.rounding[i], square[i], bound[i]); out[i].Within(t.tolerance) {
				continue
			}
		}
		r.fine.Set(0, len(need), k.Row(i), r.largest[i])
		need = append(need, i)
	}
	if len(need) == 0 {
		return
	}
	t.tri.Squares(r.fine, 0, square[:len(need)], bound[:len(need)])
	for j, i := range need {
		out[i] = t.certified(r.mean[i], r.rounding[i], square[j], bound[j])
	}
}
