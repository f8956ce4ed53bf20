package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/mgp"
)

// levels are effects of the levels of columns of categories in a pool of very many samples. The prediction is a sum of an effect of each
// column's level and of what the members predict. The members see the effects in the places of the codes. See docs/theory/levels.md.
type levels struct {
	columns []levelColumn
	usual   float64 // the mean of the effects' variances in the training samples, which the members' noise includes
}

// levelColumn holds the posterior of the effects of a column's levels. A column without an effect has no codes, and its prior is 0.
type levelColumn struct {
	input, column  int
	codes          []float64 // ascending
	mean, variance []float64 // of each code
	prior          float64   // the variance of the effect of another code, whose mean is 0
}

// of returns the moments of the effect of a code.
func (c *levelColumn) of(code float64) (mean, variance float64) {
	if i, found := slices.BinarySearch(c.codes, code); found {
		return c.mean[i], c.variance[i]
	}
	return 0, c.prior
}

// leastOfVariance is the least share of the members' variance that stays where the effects of a sample are better known than usual.
const leastOfVariance = 0.5

// total returns the variance of a target whose effects have the variance v, given the members' variance.
func (l *levels) total(members, v float64) float64 {
	return max(members+v-l.usual, float64(leastOfVariance*members))
}

// shift is what levels add to the predictions of samples: to means, and the variances of the effects.
type shift struct {
	levels         *levels
	mean, variance []float64 // of each sample
}

// add adds the shift to predictions of its samples.
func (s *shift) add(p *Prediction) {
	if s == nil {
		return
	}
	la.Axpy(1, s.mean, p.Mean[0])
	if p.Variance != nil {
		for i, v := range p.Variance[0] {
			p.Variance[0][i] = s.levels.total(v, s.variance[i])
		}
	}
}

// addToFunction adds the shift to predictions of the function of samples from first on. Where the effects are less well known than in training samples,
// the function has more variance.
func (s *shift) addToFunction(first int, p *mgp.Prediction) {
	if s == nil {
		return
	}
	for i := range p.Mean {
		p.Mean[i] += s.mean[first+i]
		if p.Function != nil {
			p.Function[i] += max(0, s.variance[first+i]-s.levels.usual)
		}
	}
}

// matrices returns the samples as members see them, and what the effects add. Matrices that are not the model's, and codes that
// are not finite, stay, to be refused.
func (l *levels) matrices(x []Features) ([]Features, *shift) {
	if l == nil {
		return x, nil
	}
	out := slices.Clone(x)
	for _, c := range l.columns {
		if c.input >= len(x) || c.column >= x[c.input].Cols || x[c.input].Rows != x[0].Rows || !x[c.input].Valid() {
			return x, nil
		}
	}
	s := &shift{l, make([]float64, x[0].Rows), make([]float64, x[0].Rows)}
	for k, c := range l.columns {
		if !slices.ContainsFunc(l.columns[:k], func(before levelColumn) bool { return before.input == c.input }) {
			out[c.input] = x[c.input].Clone()
		}
		for i := range s.mean {
			code := x[c.input].At(i, c.column)
			if code-code != 0 {
				continue
			}
			mean, variance := c.of(code)
			out[c.input].Set(i, c.column, mean)
			s.mean[i] += mean
			s.variance[i] += variance
		}
	}
	return out, s
}

// levelRow is memory for a sample as members see it.
type levelRow struct {
	x [][]float64

	_ [64]byte // memory of different callers shares no cache line
}

// row is matrices for one sample, which the model has checked. It returns memory of r.
func (l *levels) row(r *levelRow, x [][]float64) (out [][]float64, mean, variance float64) {
	r.x = slices.Grow(r.x[:0], len(x))[:len(x)]
	for k, of := range x {
		r.x[k] = append(r.x[k][:0], of...)
	}
	for _, c := range l.columns {
		m, v := c.of(x[c.input][c.column])
		r.x[c.input][c.column] = m
		mean += m
		variance += v
	}
	return r.x, mean, variance
}

// one adds the effects of a sample to its prediction.
func (l *levels) one(b BoundedPrediction, mean, variance float64) BoundedPrediction {
	if l == nil {
		return b
	}
	b.Mean += mean
	if b.Variance > 0 {
		// The error of a standard deviation falls as the standard deviation rises.
		to := l.total(b.Variance, variance)
		b.SDError *= max(1, b.Variance/to)
		b.Variance = to
	}
	return b
}
