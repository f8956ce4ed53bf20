package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Triangle computes predictions of a [Posterior] from the triangle G = L⁻¹S^½ in float32, L being the
// factor of B:
//
//	Var[f] = k(x,x) − |z|²,   z = Gk,   k the composite kernels of x with the training samples.
//
// A product with G reads half of the memory of a solution with L and has no chain of dependent
// divisions. The mean is computed in float64. Every variance comes with a bound on what float32 did to it,
//
//	|δ|z|²| ≤ c·(2·√(Σ z_i²·v_i) + Σ v_i),   v_i = max_n k_n²·(2 + i/2)·u²/3·|G_i·|²,   u = 2⁻²⁴.
//
// v_i is the variance of the error of z_i if roundings are independent and evenly spread: each of G and of k has the
// variance u²/3, relatively, and each of the i steps of the sum adds as much of what has been summed, half of the
// squares in the mean. The factor c says for how many standard deviations the bound stands. It is calibrated: it is
// at least four, and three times the largest error of the calibration samples. The bound is therefore not proved;
// docs/theory/predictor.md compares it with what happens. A Triangle is immutable and safe for concurrent use.
type Triangle struct {
	post   *Posterior
	panels la.LowerPanels[float32] // G
	rows   []float64               // v_i for kernels of 1
	total  float64                 // Σ v_i
	spill  float64                 // what kernels that count as 0 add to an error of |Gk|, per unit of k(x,x)
	factor float64                 // c
}

const (
	// safety is the factor between the largest error at the calibration samples and the bound.
	safety = 3

	// leastFactor is the least c. Errors are sums of thousands of roundings, nearly normal.
	leastFactor = 4

	// negligible is the share of k(x,x) below which a kernel counts as 0, so that no product is below
	// the normal numbers of float32, where processors are slow.
	negligible = 0x1p-40

	// mostCondition bounds N times the quotient of the factor's diagonal elements: above it the rounding of float64 in
	// G is no longer small beside the rounding of float32.
	mostCondition = 0x1p26

	// calibrations is the number of training samples in the calibration. Midpoints and differences of
	// neighbours in their order, three times as many samples in all, belong to it too.
	calibrations = 64
)

// Triangle returns the posterior's triangle. k is the composite kernel of the training samples; nil stands for the
// kernel that the posterior's factor implies. It costs N³/3 multiplications and [calibrations] columns of k. The
// result is nil where rounding is not small.
func (p *Posterior) Triangle(k Composite) *Triangle {
	if k == nil {
		k = factored{p}
	}
	n := p.dim.N
	low, high := math.Inf(1), 0.0
	for i := range n {
		d := p.s.Factor.At(i, i)
		low, high = min(low, d), max(high, d)
	}
	if float64(n)*high > mostCondition*low {
		return nil
	}
	g := p.s.Factor.Clone()
	la.TriInv(nil, g)
	t := &Triangle{post: p, rows: make([]float64, n), factor: leastFactor}
	var squares float64
	for i := range n {
		row := g.Row(i)[:i+1]
		for j := range row {
			if p.root != nil {
				row[j] *= p.root[j]
			}
		}
		square := la.SumSq(row)
		squares += square
		t.rows[i] = float64(0x1p-48 / 3 * (2 + float64(0.5*float64(i))) * square)
		t.total += t.rows[i]
	}
	t.spill = negligible * math.Sqrt(float64(n)*squares)
	t.panels = la.PackLower[float32](g)
	if !t.calibrate(k) {
		return nil
	}
	return t
}

// calibrate sets the factor. Calibration samples are training samples, and the midpoints and the differences of
// each and the one before in the feature space of the kernel. The factor does not depend on the length of
// a sample there. calibrate reports whether the factor is a number.
func (t *Triangle) calibrate(k Composite) bool {
	n := t.post.dim.N
	m := min(n, calibrations)
	columns, selves := la.NewMatrix[float64](3*m, n), make([]float64, 3*m)
	diagonal := make([]float64, n)
	k.Diagonal(diagonal)
	for q := range m {
		i, before := q*n/m, max(q-1, 0)*n/m
		c := columns.Row(3 * q)
		k.Column(i, c)
		copy(columns.Row(3*q+1), c)
		copy(columns.Row(3*q+2), c)
		previous := columns.Row(3 * max(q-1, 0))
		la.Axpy(1, previous, columns.Row(3*q+1))
		if i != before {
			la.Axpy(-1, previous, columns.Row(3*q+2))
		}
		both := diagonal[i] + diagonal[before]
		selves[3*q] = diagonal[i]
		selves[3*q+1], selves[3*q+2] = both+2*c[before], both-2*c[before]
	}
	s := NewTriangleScratch(n)
	for q := range columns.Rows {
		c, self := columns.Row(q), selves[q]
		if !(self > 0) {
			continue
		}
		got, e := t.product(c, self, s)
		for i, r := range t.post.root {
			c[i] *= r
		}
		la.Trsv(la.NoTrans, t.post.s.Factor, c)
		want := la.SumSq(c)
		took := math.Abs(got-want) / e
		if want == 0 && got == 0 {
			took = 0
		}
		t.factor = max(t.factor, safety*took)
	}
	return t.factor <= math.MaxFloat64
}

// TriangleScratch is memory for one prediction by a [Triangle].
type TriangleScratch struct{ k, z []float32 }

// NewTriangleScratch returns memory for predictions by triangles of at most n training samples.
func NewTriangleScratch(n int) *TriangleScratch {
	n += la.PanelRows
	return &TriangleScratch{k: make([]float32, n), z: make([]float32, n)}
}

// product returns |Gk|² and the error that c = 1 stands for, without what spills.
func (t *Triangle) product(k []float64, self float64, s *TriangleScratch) (square, e float64) {
	largest := round(s.k[:len(k)], k, negligible*self)
	square, aligned := t.panelSquares(0, t.panels.Padded()/la.PanelRows, len(k), s)
	return square, t.unit(largest, aligned)
}

// panelSquares returns Σ z_i² and Σ z_i²·v_i of the rows of some panels, for kernels of 1, given the n rounded kernels.
func (t *Triangle) panelSquares(begin, end, n int, s *TriangleScratch) (square, aligned float64) {
	t.panels.MultiplyPanels(begin, end, s.k[:n], s.z[:t.panels.Padded()])
	before := t.panels.Before()
	first := max(before, begin*la.PanelRows)
	return squares(s.z[first:end*la.PanelRows], t.rows[first-before:])
}

// unit is the error that c = 1 stands for, given the largest kernel.
func (t *Triangle) unit(largest, aligned float64) float64 {
	return float64(largest*2*math.Sqrt(aligned)) + float64(largest*largest*t.total)
}

// round rounds k to float32 and returns the largest size of an element. No more than least counts as 0.
func round(dst []float32, k []float64, least float64) (largest float64) {
	dst = dst[:len(k)]
	for i, v := range k {
		size := math.Abs(v)
		if size > largest {
			largest = size
		}
		if size <= least {
			v = 0
		}
		dst[i] = float32(v)
	}
	return largest
}

// squares returns Σ z_i² and Σ z_i²·v_i. Four sums run side by side.
func squares(z []float32, v []float64) (sum, weighed float64) {
	var s, w [4]float64
	v = v[:len(z)]
	for len(z) >= 4 {
		for j := range 4 {
			q := float64(float64(z[j]) * float64(z[j]))
			s[j] += q
			w[j] += float64(q * v[j])
		}
		z, v = z[4:], v[4:]
	}
	for j, x := range z {
		q := float64(float64(x) * float64(x))
		s[j] += q
		w[j] += float64(q * v[j])
	}
	return (s[0] + s[1]) + (s[2] + s[3]), (w[0] + w[1]) + (w[2] + w[3])
}

// variance returns the variance of the function and a bound on its error.
func (t *Triangle) variance(k []float64, self float64, s *TriangleScratch) (variance, bound float64) {
	square, e := t.product(k, self, s)
	return max(0, self-square), t.bound(e, square, self)
}

// bound returns the bound on the error of |Gk|², given the error that c = 1 stands for.
func (t *Triangle) bound(e, square, self float64) float64 {
	spill := t.spill * self
	return float64(t.factor*e) + float64(2*math.Sqrt(square)*spill) + float64(spill*spill)
}

// Predict returns the prediction of a sample from its composite kernels with all training samples, and with
// itself. It does not allocate.
func (t *Triangle) Predict(k []float64, self float64, s *TriangleScratch) vi.Certified {
	function, e := t.variance(k, self, s)
	noise := 1 / t.post.s.Tau
	return certified(la.Dot(k, t.post.s.Alpha), function+noise, e, noise)
}

// Judge says whether a prediction is close enough.
type Judge interface {
	// Enough reports whether a prediction with these bounds is close enough.
	Enough(vi.Certified) bool
}

// worthJudging is the least number of panels with which PredictUntil asks its judge.
const worthJudging = 5

// PredictUntil is Predict, but it stops as soon as the prediction is close enough. The samples so far leave the function
// the variance r, and the others can only take variance away: the standard deviation lies between the root of the noise
// and the root of noise and r. The judge is asked after 1, 2, 4, 8, … panels where there are many. A prediction of all
// panels is not judged. stopped reports whether the judge was content.
func (t *Triangle) PredictUntil(judge Judge, k []float64, self float64, s *TriangleScratch) (c vi.Certified, stopped bool) {
	mean, noise := la.Dot(k, t.post.s.Alpha), 1/t.post.s.Tau
	largest := round(s.k[:len(k)], k, negligible*self)
	panels := t.panels.Padded() / la.PanelRows
	begin, end := 0, 1
	if panels < worthJudging {
		end = panels
	}
	var square, aligned float64
	for {
		moreSquare, moreAligned := t.panelSquares(begin, end, len(k), s)
		square, aligned = square+moreSquare, aligned+moreAligned
		left, e := max(0, self-square), t.bound(t.unit(largest, aligned), square, self)
		if end == panels {
			return certified(mean, left+noise, e, noise), false
		}
		least, most := math.Sqrt(noise), math.Sqrt(noise+left+e)
		sd := 0.5 * (least + most)
		c := vi.Certified{Mean: mean, Variance: sd * sd, SDError: 0.5 * (most - least), LeastSD: least, Calibrated: true}
		if judge.Enough(c) {
			return c, true
		}
		begin, end = end, min(2*end, panels)
	}
}

// certified returns a prediction with an exact mean, whose variance is within so much of the exact one, and at least
// so large.
func certified(mean, variance, within, least float64) vi.Certified {
	sd := math.Sqrt(variance)
	c := vi.Certified{Mean: mean, Variance: variance, LeastSD: math.Sqrt(max(least, variance-within)), Calibrated: true}
	c.SDError = max(math.Sqrt(variance+within)-sd, sd-c.LeastSD)
	return c
}

// PredictByTriangles is [NoiseProcess.PredictOne] by the triangles of the function f and of the logarithm of
// the noise.
func (p *NoiseProcess) PredictByTriangles(f, about *Triangle, k []float64, self float64, noiseK []float64, noiseSelf float64, s *TriangleScratch) vi.Certified {
	mean := p.Level + la.Dot(noiseK, about.post.s.Alpha)
	logVariance, within := about.variance(noiseK, noiseSelf, s)
	noise := meanNoise(mean, logVariance)
	function, e := f.variance(k, self, s)
	// The logarithm of the mean noise is off by half of the error of the variance.
	e += float64(noise * special.Expm1(0.5*within))
	return certified(la.Dot(k, f.post.s.Alpha), function+noise, e, 0)
}
