package triangle

import (
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// steps is G as integers of 8 or 16 bits times a step for each row, Ĝ = G − E, in one or two planes of bytes. A product with it reads a fourth
// or half of the memory of float32, and its sums are exact. The diagonal of G, whose elements are the largest, stays in float64.
//
// The vector k is rounded to integers times t, with a fixed dither for each element, so that errors of different elements are
// independent of each other and of k. The error of z = Ĝk is then Ek, which is fixed, and a part of variance at most t²/4·|G_i|². 64
// random combinations of the rows of E, the probes, have the squared length |Ek|² in the mean. A product with them measures |Ek|² at
// every k, also at a k that is unlike the calibration. The bound is
//
//	c·(2·√(Σ z_i²·ω_i)·|probes·k| + 2·√(Σ z_i²·|G_i|²)·t/2 + |probes·k|² + t²/4·Σ |G_i|²),
//
// where ω_i is the share of row i in |Ek|². Where few elements of k are large, few rows may have all of |Ek|²: Σ z_i²·ω_i is at least
// |z|²·Σ k_j⁴/(Σ k_j²)². The factor c is calibrated as for float32.
type steps struct {
	high, low la.LowerBytes // 256·high + low are the integers; high has the probes after its rows, and low is empty with 8 bits
	step      []float64     // by row
	diagonal  []float64     // of G
	probe     []float64     // by probe, the step
	dither    []float64     // by column, in [lift, lift+1)
	rows      []float64     // ω_i
	norms     []float64     // |G_i|²/4, without the diagonal
	total     float64       // their sum
	factor    float64       // c
}

// width is the number of bytes of an element.
type width int

const (
	oneByte  width = 1
	twoBytes width = 2
)

const (
	// probes is the number of probes: their squared length is within 18 % of |Ek|², one standard deviation.
	probes = la.PanelRows

	// mostStep is the largest integer of an element. It fits in two bytes with signs.
	mostStep = 127 << 8

	// mostWord is the largest integer of an element of k, and mostSum is the largest sum of their sizes: products with them are within 32
	// bits.
	mostWord, mostSum = math.MaxInt16, 1<<24 - 1

	// lift makes numbers positive that are rounded down.
	lift = 1 << 15

	// leastSteps is the least order of a triangle with steps. The float32 of a smaller one is in the nearest caches.
	leastSteps = 256

	// LeastCoarse is the least tolerance, of a standard deviation in its own units, for which integers are worth a trial.
	LeastCoarse = 1e-3

	// ridge is the share of the mean square of an element that is added to the moments of the calibration.
	ridge = 0.01
)

// newSteps returns the steps of the lower triangle g before their factor is calibrated. The rows of trials are the vectors of the
// calibration.
func newSteps(g, trials la.Matrix[float64], width width) *steps {
	n := g.Rows
	d := &steps{high: la.NewLowerBytes(n+probes, n), factor: leastFactor,
		step: make([]float64, n), diagonal: make([]float64, n), probe: make([]float64, probes), dither: make([]float64, n), rows: make([]float64, n), norms: make([]float64, n)}
	most, unit := 127., int32(256)
	if width == twoBytes {
		d.low = la.NewLowerBytes(n, n)
		most, unit = mostStep, 1
	}
	src := special.NewRand(rand.NewPCG(16, 8))
	for j := range d.dither {
		d.dither[j] = lift + float64(src.Float64())
	}
	push := innovations(trials)
	errors, mixed := la.NewMatrix[float64](n, n), la.NewMatrix[float64](probes, n)
	left, whole := make([]float64, n), make([]int32, n)
	high, low := make([]int8, n), make([]int8, n)
	signs := make([]float64, probes)
	for i := range n {
		row := g.Row(i)[:i+1]
		copy(left, row)
		d.diagonal[i], row = row[i], row[:i]
		d.norms[i] = 0.25 * la.SumSq(row)
		d.total += d.norms[i]
		d.step[i] = snap(left[:i], push, most, whole) / float64(unit)
		e := errors.Row(i)[:i]
		high[i], low[i] = 0, 0
		for j, q := range whole[:i] {
			q *= unit
			e[j] = row[j] - float64(float64(q)*d.step[i])
			upper := (q + 128) >> 8
			high[j], low[j] = int8(upper), int8(q-upper<<8)
		}
		d.high.SetRow(i, high[:i+1])
		if width == twoBytes {
			d.low.SetRow(i, low[:i+1])
		}
		for r := range signs {
			signs[r] = 0.125 // 1/√probes
			if src.Uint64()&1 == 0 {
				signs[r] = -0.125
			}
			la.Axpy(signs[r], e, mixed.Row(r)[:i])
		}
	}
	for r := range probes {
		d.probe[r] = snap(mixed.Row(r), push, 127, whole)
		for j, q := range whole {
			high[j] = int8(q)
		}
		d.high.SetRow(n+r, high)
	}
	d.share(errors, trials)
	return d
}

// innovations returns the lower triangle whose row j holds the innovation of k_j, k_j less its regression on the elements before: row j
// times k. The moments are of the rows of trials, with a ridge.
func innovations(trials la.Matrix[float64]) la.Matrix[float64] {
	n := trials.Cols
	c := la.NewMatrix[float64](n, n)
	least := float64(ridge*la.SumSq(trials.Data[:trials.Rows*n])) / float64(n)
	if !(least > 0) || math.IsInf(least, 0) {
		least = 1
	}
	la.Syrk(nil, la.Transpose, 1, trials, 0, c)
	for i := range n {
		c.Set(i, i, c.At(i, i)+least)
	}
	if la.Cholesky(nil, c) != nil { // moments that are not finite: no regression
		clear(c.Data)
		for i := range n {
			c.Set(i, i, 1)
		}
	}
	diagonal := make([]float64, n)
	for j := range diagonal {
		diagonal[j] = c.At(j, j)
	}
	la.TriInv(nil, c)
	for j, d := range diagonal {
		la.Scal(d, c.Row(j)[:j+1])
	}
	return c
}

// snap rounds the elements of a row of a triangle to integers whose sizes are at most most, times a step, from the last to the first. It
// pushes the error of each onto the elements before it, by the innovations, so that errors cancel in products with vectors like the
// trials. It overwrites row and returns the step.
func snap(row []float64, push la.Matrix[float64], most float64, dst []int32) (step float64) {
	step = largest(row) / most
	if !(step > 0) {
		clear(dst[:len(row)])
		return 0
	}
	for j := len(row) - 1; j >= 0; j-- {
		q := min(max(math.RoundToEven(row[j]/step), -most), most)
		dst[j] = int32(q)
		// k_j is its innovation, less the other terms of the innovation's row.
		la.Axpy(-(row[j] - float64(q*step)), push.Row(j)[:j], row[:j])
	}
	return step
}

// share sets ω: the larger of the mean share of row i in |Ek|² at the trials, and the share of its step in the squares of the steps.
func (d *steps) share(errors, trials la.Matrix[float64]) {
	n := errors.Rows
	at := la.NewMatrix[float64](trials.Rows, n)
	la.Gemm(nil, la.NoTrans, la.Transpose, 1, trials, errors, 0, at)
	counted := 0.0
	for q := range at.Rows {
		all := la.SumSq(at.Row(q))
		if !(all > 0) {
			continue
		}
		counted++
		for i, v := range at.Row(q) {
			d.rows[i] += float64(v*v) / all
		}
	}
	all := la.SumSq(d.step)
	for i, v := range d.step {
		d.rows[i] /= max(1, counted)
		if all > 0 {
			d.rows[i] = max(d.rows[i], float64(v*v)/all)
		}
	}
}

// largest returns the largest size of an element.
func largest(x []float64) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// sums are Σ x_i², Σ x_i²·ω_i and Σ x_i²·|G_i|²/4.
type sums struct{ plain, shared, rounded float64 }

// add adds the rows from first on to the sums, and returns them. squares is as long as x and gets its squares.
func (d *steps) add(a sums, first int, x, squares []float64) sums {
	squares = squares[:len(x)]
	la.Squares(x, squares)
	end := first + len(x)
	return sums{a.plain + la.SumSq(x), a.shared + la.Dot(squares, d.rows[first:end]), a.rounded + la.Dot(squares, d.norms[first:end])}
}

// stepsScratch is memory for one product.
type stepsScratch struct {
	k         []int16
	high, low []int32
	square    []float64

	unit     float64 // t
	inexact  float64 // twice the standard deviation of the errors of k
	measured float64 // |probes·k|²
	peak     float64 // Σ k_j⁴/(Σ k_j²)²
	sums     sums
}

func (s *stepsScratch) resize(n int) {
	s.k, s.high, s.low = make([]int16, n+1), make([]int32, n+probes+la.PanelRows), make([]int32, n+la.PanelRows)
	s.square = make([]float64, n)
}

// start rounds k and multiplies the probes.
func (d *steps) start(k []float64, s *stepsScratch) {
	if d.round(k, s) {
		panels := d.high.Padded() / la.PanelRows
		d.high.MultiplyPanels(panels-1, panels, s.words(len(k)), s.high[:d.high.Padded()])
		d.measure(s)
	}
}

// words returns the integers of a vector of length n, with a zero after them where n is odd.
func (s *stepsScratch) words(n int) []int16 { return s.k[:n+n%2] }

// round rounds k. It reports whether k has integers: without a unit they are 0, and the probes measure nothing.
func (d *steps) round(k []float64, s *stepsScratch) bool {
	square := s.square[:len(k)]
	most := la.Squares(k, square)
	sum := la.SumSq(k)
	if s.peak = 1; sum >= 0x1p-400 && sum <= 0x1p400 {
		s.peak = la.SumSq(square) / float64(sum*sum)
	}
	// Rounding with a dither adds less than 1 to the size of an integer. The sum of the sizes is at most √(n·Σ k_j²).
	s.unit = max(most/(mostWord-1), math.Sqrt(float64(len(k))*sum)/float64(mostSum-len(k)))
	s.sums, s.measured = sums{}, 0
	words := s.words(len(k))
	if !s.rounded() {
		clear(words)
		return false
	}
	la.ToWords(k, 1/s.unit, d.dither, words[:len(k)])
	if len(k)%2 == 1 {
		words[len(k)] = 0
	}
	return true
}

// rounded reports whether k has a unit.
func (s *stepsScratch) rounded() bool { return s.unit > 0 && !math.IsInf(s.unit, 0) }

// measure sets |probes·k|² from the products with the probes.
func (d *steps) measure(s *stepsScratch) {
	last := d.high.Padded()
	for r, v := range s.high[last-la.PanelRows : last] {
		z := float64(float64(v) * d.probe[r])
		s.measured += float64(z * z)
	}
	s.measured *= s.unit * s.unit
}

// multiply stores z for the rows of the panels from begin to end−1 in dst. k is as start has it.
func (d *steps) multiply(begin, end int, k []float64, s *stepsScratch, dst []float64) {
	words := s.words(d.high.Cols)
	d.high.MultiplyPanels(begin, end, words, s.high[:d.high.Padded()])
	if d.low.Rows > 0 {
		d.low.MultiplyPanels(begin, end, words, s.low[:d.low.Padded()])
	}
	d.values(begin, end, k, s, dst)
}

// values stores z for the rows of the panels from begin to end−1 in dst, once their products with the integers are there.
func (d *steps) values(begin, end int, k []float64, s *stepsScratch, dst []float64) {
	high, low := s.high[:d.high.Padded()], s.low[:d.high.Padded()-probes]
	if d.low.Rows == 0 {
		clear(low[begin*la.PanelRows : end*la.PanelRows])
	}
	before := d.high.Before()
	first, last := max(before, begin*la.PanelRows), end*la.PanelRows
	from, to := first-before, last-before
	la.FromWords(high[first:last], low[first:last], d.step[from:to], s.unit, dst[from:to])
	la.AddProducts(d.diagonal[from:to], k[from:to], dst[from:to])
}

// unitError returns the error that c = 1 stands for: of Σ z_i² if square, else of Σ x_i·z_i. a are the sums of z, or of x.
func (d *steps) unitError(a sums, square bool, s *stepsScratch) float64 {
	// Roots are added up, not squares, so that products of small numbers do not vanish.
	unit := s.unit + s.inexact
	root := float64(math.Sqrt(s.measured)*math.Sqrt(max(a.shared, a.plain*s.peak))) + float64(unit*math.Sqrt(a.rounded))
	if !square {
		return root
	}
	return 2*root + s.measured + float64(float64(unit*unit)*d.total)
}
