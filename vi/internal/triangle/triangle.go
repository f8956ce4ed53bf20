// Package triangle computes the variance that training samples take away from the function at a sample, in float32 and
// with a bound on what rounding did:
//
//	|z|²,   z = Gk,   G = L⁻¹S^½,
//
// k being the kernels of the sample with the training samples and L the factor of I + S^½KS^½ or, without S, of K + σ²I.
//
// A product with G reads half of the memory of a solution with L and has no chain of dependent divisions. The bound is
//
//	|δ|z|²| ≤ c·(2·√(Σ z_i²·v_i) + Σ v_i),   v_i = max_n k_n²·(2 + i/2)·u²/3·|G_i·|²,   u = 2⁻²⁴.
//
// v_i is the variance of the error of z_i if roundings are independent and evenly spread: each of G and of k has the
// variance u²/3, relatively, and each of the i steps of the sum adds as much of what has been summed, half of the
// squares in the mean. The factor c says for how many standard deviations the bound stands. It is calibrated: it is
// at least four, and three times the largest error of the calibration samples. The bound is therefore not proved;
// docs/theory/predictor.md compares it with what happens.
package triangle

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// Triangle is G in float32. It is immutable and safe for concurrent use.
type Triangle struct {
	panels la.LowerPanels[float32] // G
	rows   []float64               // v_i for kernels of 1
	total  float64                 // Σ v_i
	spill  float64                 // what kernels that count as 0 add to an error of |Gk|, per unit of k(x,x)
	factor float64                 // c
	begin  int                     // panels before this one have rows of zeros alone
	fine   float64                 // the share of new samples for which the bounds are enough
	steps  *steps                  // G in integers; nil if they are not worth while
}

// An Enough reports whether the |Gk|² of a sample, with this bound on its error, is close enough. self is what stands for
// k(x,x), and noise is the variance of the sample's noise, or NaN where it is the noise of all samples.
type Enough func(self, square, bound, noise float64) bool

// Kernel is the kernel of the training samples.
type Kernel interface {
	// Diagonal stores the kernels of all samples with themselves.
	Diagonal(dst []float64)

	// Column stores the kernels of sample i with all samples.
	Column(i int, dst []float64)
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

// New returns the triangle of the lower factor L and the roots of S, which are nil for 1. It costs N³/3 multiplications and
// [calibrations] columns of k, and as many again with enough. The result is nil where rounding is not small. With integers the triangle is
// [Triangle.Coarse] if the bounds of integers are enough for nine tenths of [calibrations] other training samples, with the variances that
// these have when they are left out. No triangle is coarse without enough.
func New(factor la.Matrix[float64], root []float64, k Kernel, enough Enough, integers bool) *Triangle {
	return Joint([]Part{{factor, root, 1}}, k, enough, integers)
}

// Part is a term of a sum of squares Σ share·|L⁻¹S^½k|².
type Part struct {
	Factor la.Matrix[float64] // L
	Root   []float64          // S^½, nil for 1
	Share  float64
}

// inverse returns L⁻¹S^½, with zeros above the diagonal. ok is false where its rounding is not small.
func (p *Part) inverse() (g la.Matrix[float64], ok bool) {
	n := p.Factor.Rows
	low, high := math.Inf(1), 0.0
	for i := range n {
		d := p.Factor.At(i, i)
		low, high = min(low, d), max(high, d)
	}
	if float64(n)*high > mostCondition*low {
		return g, false
	}
	g = p.Factor.Clone()
	la.TriInv(nil, g)
	for i := range n {
		clear(g.Row(i)[i+1:])
		for j := range g.Row(i)[:i+1] {
			if p.Root != nil {
				g.Row(i)[j] *= p.Root[j]
			}
		}
	}
	return g, true
}

// square returns |L⁻¹S^½k|², and overwrites k.
func (p *Part) square(k []float64) float64 {
	for i, r := range p.Root {
		k[i] *= r
	}
	la.Trsv(la.NoTrans, p.Factor, k)
	return la.SumSq(k)
}

// Joint is [New] for a sum of squares of one vector k. One triangle G has |Gk|² for all parts together: GᵀG is the sum of
// their share·SL⁻ᵀL⁻¹S. It costs N³ multiplications for each part, if there are several.
func Joint(parts []Part, k Kernel, enough Enough, integers bool) *Triangle {
	n := parts[0].Factor.Rows
	var g la.Matrix[float64]
	var left *leftOut
	if enough != nil {
		left = newLeftOut(k, n)
	}
	for i := range parts {
		one, ok := parts[i].inverse()
		if !ok {
			return nil
		}
		left.add(&parts[i], one)
		if len(parts) == 1 {
			g = one
			break
		}
		if i == 0 {
			g = la.NewMatrix[float64](n, n)
		}
		la.Syrk(nil, la.Transpose, parts[i].Share, one, 1, g)
	}
	if len(parts) > 1 && !lowerRoot(g) {
		return nil
	}
	t := pack(g)
	own := make([]float64, n)
	exact := func(_ int, c []float64) (sum float64) {
		for i := range parts {
			copy(own, c)
			sum += float64(parts[i].Share * parts[i].square(own))
		}
		return sum
	}
	trials, selves := vectors(k, n)
	ask := left.questions(k)
	coarsely := enough
	if !integers {
		coarsely = nil
	}
	if !t.try(g, trials, selves, ask, exact, coarsely) {
		return nil
	}
	if ask != nil {
		if fine := ask.content(t, enough, false, NewScratch(n)); !math.IsNaN(fine) {
			t.fine = fine
		}
	}
	return t
}

// lowerRoot replaces the lower triangle of a symmetric matrix C by the lower triangle G with GᵀG = C. It reports whether C is positive
// definite. With J for the reversed order and JCJ = LLᵀ, G = JLᵀJ.
func lowerRoot(c la.Matrix[float64]) bool {
	n := c.Rows
	reversed := la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range i + 1 {
			reversed.Set(n-1-j, n-1-i, c.At(i, j))
		}
	}
	if la.Cholesky(nil, reversed) != nil {
		return false
	}
	for i := range n {
		for j := range i + 1 {
			c.Set(i, j, reversed.At(n-1-j, n-1-i))
		}
	}
	return true
}

// Of returns the triangle of the lower triangle g. The rows of trials are the vectors of the calibration, selves what
// stands for k(x,x) of each. The result is nil where rounding is not small. The triangle is
// [Triangle.Coarse] if the bounds of integers are enough for at least half of the trials. The integers have one byte if bytes is 1 and that is
// enough for nine tenths of the trials. Else they have two.
func Of(g, trials la.Matrix[float64], selves []float64, enough Enough, bytes int) *Triangle {
	t := pack(g)
	z := make([]float64, g.Rows)
	exact := func(_ int, c []float64) float64 {
		for i := range z {
			z[i] = la.Dot(g.Row(i)[:i+1], c[:i+1])
		}
		return la.SumSq(z)
	}
	ask := &questions{vectors: trials, selves: selves, share: 0.5, least: width(bytes)}
	if !t.try(g, trials, selves, ask, exact, enough) {
		return nil
	}
	return t
}

// Against is [Of] for two bytes where the squares of the trials are known: want.
func Against(g, trials la.Matrix[float64], selves, want []float64, enough Enough) *Triangle {
	t := pack(g)
	ask := &questions{vectors: trials, selves: selves, share: 0.5, least: twoBytes}
	if !t.try(g, trials, selves, ask, func(q int, _ []float64) float64 { return want[q] }, enough) {
		return nil
	}
	return t
}

// pack returns the triangle of g before calibration.
func pack(g la.Matrix[float64]) *Triangle {
	n := g.Rows
	t := &Triangle{rows: make([]float64, n), factor: leastFactor, fine: 1}
	var squares float64
	for i := range n {
		square := la.SumSq(g.Row(i)[:i+1])
		squares += square
		t.rows[i] = float64(0x1p-48 / 3 * (2 + float64(0.5*float64(i))) * square)
		t.total += t.rows[i]
	}
	t.spill = negligible * math.Sqrt(float64(n)*squares)
	t.panels = la.PackLower[float32](g)
	zeros := 0
	for zeros < n && t.rows[zeros] == 0 {
		zeros++
	}
	if zeros < n {
		t.begin = (t.panels.Before() + zeros) / la.PanelRows
	}
	return t
}

// vectors returns the vectors of the calibration and what stands for k(x,x) of each: training samples, and the midpoints and the
// differences of each and the one before in the feature space of the kernel. The factor does not depend on the length of a sample there.
func vectors(k Kernel, n int) (columns la.Matrix[float64], selves []float64) {
	m := min(n, calibrations)
	columns, selves = la.NewMatrix[float64](3*m, n), make([]float64, 3*m)
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
	return columns, selves
}

// try sets the factor by the vectors in the rows of trials. exact computes |Gk|² of vector q in float64 and may overwrite k. It reports
// whether the factor is a number. enough is as for [New], and is asked about the questions, which are nil without enough.
func (t *Triangle) try(g, trials la.Matrix[float64], selves []float64, ask *questions, exact func(q int, k []float64) float64, enough Enough) bool {
	s, c := NewScratch(t.panels.Order), make([]float64, t.panels.Order)
	wants := make([]float64, trials.Rows)
	for q := range trials.Rows {
		if self := selves[q]; self > 0 {
			t.Start(trials.Row(q), self, false, s)
			got := t.rest(s)
			copy(c, trials.Row(q))
			wants[q] = exact(q, c)
			t.factor = max(t.factor, excess(got, wants[q], s.unit(t)))
		}
	}
	if !(t.factor <= math.MaxFloat64) {
		return false
	}
	if enough != nil && g.Rows >= leastSteps {
		t.setSteps(g, trials, selves, wants, ask, enough)
	}
	return true
}

// excess returns the least factor for an error, where unit stands for a factor of 1.
func excess(got, want, unit float64) float64 {
	if got == want {
		return 0
	}
	return safety * math.Abs(got-want) / unit
}

// setSteps makes the integers, with one byte an element or with two, and keeps the first that are close enough for the questions. One byte must be
// close enough for nine tenths of them always.
func (t *Triangle) setSteps(g, trials la.Matrix[float64], selves, wants []float64, ask *questions, enough Enough) {
	s := NewScratch(g.Rows)
	for width := ask.least; width <= twoBytes; width++ {
		t.steps = newSteps(g, trials, width)
		for q := range trials.Rows {
			if self := selves[q]; self > 0 {
				t.Start(trials.Row(q), self, true, s)
				got := t.rest(s)
				t.steps.factor = max(t.steps.factor, excess(got, wants[q], s.unit(t)))
			}
		}
		share := ask.share
		if width == oneByte {
			share = mostly
		}
		if t.steps.factor <= math.MaxFloat64 && ask.content(t, enough, true, s) >= share {
			return
		}
	}
	t.steps = nil
}

// Fine returns the share of new samples for which the bounds in float32 are enough: of training samples, with the variances that they
// have when they are left out. It is 1 for a triangle without questions.
func (t *Triangle) Fine() float64 { return t.fine }

// Coarse reports whether products in integers can be asked for.
func (t *Triangle) Coarse() bool { return t.steps != nil }

// Bytes returns the number of bytes of the elements that a product reads: of integers, if there are any.
func (t *Triangle) Bytes() int {
	if t.steps != nil {
		return t.steps.high.Bytes() + t.steps.low.Bytes()
	}
	return 4 * len(t.panels.Data)
}

// Scratch is memory for one prediction.
type Scratch struct {
	k, z []float32

	samples         int
	self, largest   float64 // k(x,x), and the largest kernel
	panels          int     // so many have been multiplied
	square, aligned float64 // Σ z_i² and Σ z_i²·v_i of their rows, for kernels of 1

	coarse bool // in integers
	steps  stepsScratch
	vector []float64 // k of a prediction in integers
	wide   []float64 // z
}

// NewScratch returns memory for predictions by triangles of at most n training samples.
func NewScratch(n int) *Scratch {
	s := &Scratch{k: make([]float32, n+la.PanelRows), z: make([]float32, n+la.PanelRows), wide: make([]float64, n+la.PanelRows)}
	s.steps.resize(n)
	return s
}

// Largest returns the largest |k_i|. Elements that are not numbers do not count. It is for use before a product begins.
func (s *Scratch) Largest(k []float64) float64 { return la.Squares(k, s.wide[:len(k)]) }

// Inexact says that the elements of the vectors k have independent errors, of this standard deviation, which belong to the bounds in integers.
func (s *Scratch) Inexact(sd float64) { s.steps.inexact = 2 * sd }

// Square returns |Gk|² and the bound on its error. self is k(x,x). If coarse, it is computed in integers, for a triangle that is Coarse.
func (t *Triangle) Square(k []float64, self float64, coarse bool, s *Scratch) (square, bound float64) {
	t.Start(k, self, coarse, s)
	square = t.rest(s)
	return square, t.bound(s)
}

// Start begins a |Gk|² that grows by Add. The arguments are as for Square.
func (t *Triangle) Start(k []float64, self float64, coarse bool, s *Scratch) {
	s.begin(t, k, self, coarse)
	if coarse {
		t.steps.start(k, &s.steps)
		return
	}
	s.largest = round(s.k[:len(k)], k, negligible*self)
}

// begin sets the fields of a product with t that has no rows yet.
func (s *Scratch) begin(t *Triangle, k []float64, self float64, coarse bool) {
	s.samples, s.self, s.coarse, s.panels, s.square, s.aligned, s.vector = len(k), self, coarse, t.begin, 0, 0, k
}

// worthAsking is the least number of panels that Add divides.
const worthAsking = 5

// Divided reports whether Add needs several calls for all rows.
func (t *Triangle) Divided() bool { return t.panels.Padded()/la.PanelRows-t.begin >= worthAsking }

// Add adds rows: of the first panel, then of as many panels as there are already; of all where they are few. It returns the
// sum, which is no more than |Gk|² but for the error that is bounded, and whether it has all rows.
func (t *Triangle) Add(s *Scratch) (square, bound float64, all bool) {
	panels := t.panels.Padded() / la.PanelRows
	end := min(max(t.begin+1, 2*s.panels-t.begin), panels)
	if !t.Divided() {
		end = panels
	}
	t.add(end, s)
	return s.square, t.bound(s), end == panels
}

// rest adds all rows that are left.
func (t *Triangle) rest(s *Scratch) (square float64) {
	t.add(t.panels.Padded()/la.PanelRows, s)
	return s.square
}

// add adds the rows of the panels before end.
func (t *Triangle) add(end int, s *Scratch) {
	if s.coarse {
		t.addSteps(end, s)
		return
	}
	t.panels.MultiplyPanels(s.panels, end, s.k[:s.samples], s.z[:t.panels.Padded()])
	before := t.panels.Before()
	first := max(before, s.panels*la.PanelRows)
	square, aligned := squares(s.z[first:end*la.PanelRows], t.rows[first-before:])
	s.square, s.aligned, s.panels = s.square+square, s.aligned+aligned, end
}

// addSteps is add in integers.
func (t *Triangle) addSteps(end int, s *Scratch) {
	t.steps.multiply(s.panels, end, s.vector, &s.steps, s.wide)
	t.addValues(end, s)
}

// addValues adds the squares of the rows of the panels before end, whose values are there.
func (t *Triangle) addValues(end int, s *Scratch) {
	before := t.panels.Before()
	first, last := max(0, s.panels*la.PanelRows-before), end*la.PanelRows-before
	s.steps.sums = t.steps.add(s.steps.sums, first, s.wide[first:last], s.steps.square)
	s.square, s.panels = s.steps.sums.plain, end
}

// unit is the error that c = 1 stands for, without what spills.
func (s *Scratch) unit(t *Triangle) float64 {
	if s.coarse {
		return t.steps.unitError(s.steps.sums, true, &s.steps)
	}
	return float64(s.largest*2*math.Sqrt(s.aligned)) + float64(s.largest*s.largest*t.total)
}

// bound returns the bound on the error of the sum.
func (t *Triangle) bound(s *Scratch) float64 {
	if s.coarse {
		return t.steps.factor * s.unit(t)
	}
	spill := t.spill * s.self
	return float64(t.factor*s.unit(t)) + float64(2*math.Sqrt(s.square)*spill) + float64(spill*spill)
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
