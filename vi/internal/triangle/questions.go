package triangle

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// mostly is the share of new samples for which bounds in integers must be enough. A sample for which they are not enough is computed twice,
// and integers take about three quarters of the time of float32.
const mostly = 0.9

// questions are vectors whose bounds in integers must be enough.
type questions struct {
	vectors la.Matrix[float64]
	selves  []float64 // k(x,x) of each
	share   float64   // of the vectors for which bounds must be enough
	least   width     // of integers: the first to be tried
	left    []float64 // the variance of each, or NaN for one that is not asked about; nil if the variance is k(x,x) − |Gk|²
	noise   []float64 // as for Enough; nil if all are NaN
}

// content returns the share of the questions for which the bounds of the triangle are enough, in integers if coarse. Without questions it
// is NaN.
func (a *questions) content(t *Triangle, enough Enough, coarse bool, s *Scratch) float64 {
	content, asked := 0, 0
	for q, self := range a.selves {
		if !(self > 0) || a.left != nil && math.IsNaN(a.left[q]) {
			continue
		}
		asked++
		square, bound := t.Square(a.vectors.Row(q), self, coarse, s)
		if a.left != nil {
			square = self - a.left[q]
		}
		noise := math.NaN()
		if a.noise != nil && !coarse { // integers gain even where many samples of little noise are computed again in float32
			noise = a.noise[q]
		}
		if enough(self, square, bound, noise) {
			content++
		}
	}
	return float64(content) / float64(asked)
}

// leftOut holds, by training sample, the variance of the function where the sample itself is left out. New samples have such variances.
// At a sample of the fit the variance is far smaller where the noise is small. With C = (K + S⁻¹)⁻¹ = GᵀG the variance is
//
//	1/C_ii − 1/s_i.
//
// It is NaN for a sample that has no weight in the fit. The noise of the samples is NaN if some parts have sites S, which are no noise of new
// samples.
type leftOut struct{ diagonal, variance, noise []float64 }

// newLeftOut begins the sum over parts, for n samples with the kernel k.
func newLeftOut(k Kernel, n int) *leftOut {
	l := &leftOut{make([]float64, n), make([]float64, n), make([]float64, n)}
	k.Diagonal(l.diagonal)
	return l
}

// add adds the variances of a part with the inverse g, times its share. A nil leftOut ignores them.
func (l *leftOut) add(p *Part, g la.Matrix[float64]) {
	if l == nil {
		return
	}
	curvature := make([]float64, g.Rows)
	for i := range curvature {
		for j, v := range g.Row(i)[:i+1] {
			curvature[j] += float64(v * v)
		}
	}
	for i, c := range curvature {
		if c == 0 {
			l.variance[i] = math.NaN()
			continue
		}
		noise := p.noise(i, l.diagonal[i])
		l.variance[i] += float64(p.Share * max(0, 1/c-noise))
		if p.Root != nil {
			noise = math.NaN()
		}
		l.noise[i] += float64(p.Share * noise)
	}
}

// noise returns 1/s_i, where the kernel of sample i with itself is self.
func (p *Part) noise(i int, self float64) float64 {
	if p.Root != nil {
		return 1 / float64(p.Root[i]*p.Root[i])
	}
	return max(0, la.SumSq(p.Factor.Row(i)[:i+1])-self)
}

// questions returns training samples between the samples of the calibration, with their variances. Error feedback favours the latter: it
// has their moments. A nil leftOut has no questions.
func (l *leftOut) questions(k Kernel) *questions {
	if l == nil {
		return nil
	}
	n := len(l.variance)
	m := min(n, calibrations)
	a := &questions{la.NewMatrix[float64](m, n), make([]float64, m), mostly, oneByte, make([]float64, m), make([]float64, m)}
	for q := range m {
		i := (2*q + 1) * n / (2 * m)
		k.Column(i, a.vectors.Row(q))
		a.selves[q], a.left[q], a.noise[q] = l.diagonal[i], l.variance[i], l.noise[i]
	}
	return a
}
