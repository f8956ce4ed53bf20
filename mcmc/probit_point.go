package mcmc

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/probit"
)

// ProbitPoint is [ProbitDraws] prepared for the predictions of single samples, which then
// do not allocate. It is immutable and safe for concurrent use.
type ProbitPoint struct {
	rule           probit.Rule
	classes, basis int
	beta           []float64            // of the fixed rules
	each           [][]float64          // draws' β, nil for fixed rules
	w              []la.Matrix[float64] // draws' W, C×D
}

// ProbitPointScratch is the memory of one prediction of a [ProbitPoint].
type ProbitPointScratch struct {
	composite           []float64 // D
	f, one, ratio, sums []float64 // C
}

// Point prepares the draws for single samples. It copies nothing. Kernels with parameters
// are an error.
func (d *ProbitDraws) Point() (*ProbitPoint, error) {
	if n := d.Parameters(); n > 0 {
		return nil, fmt.Errorf("mcmc: the kernels have %d parameters of their own", n)
	}
	if d.Len() == 0 {
		return nil, fmt.Errorf("mcmc: no draws")
	}
	q := &ProbitPoint{rule: d.rule, beta: d.beta}
	q.classes, _, q.basis = d.Dims()
	for chain := range d.Chains() {
		for draw := range d.Len() {
			q.w = append(q.w, d.Value("W", chain, draw))
			if d.rule.Learned() {
				q.each = append(q.each, d.Value("beta", chain, draw).Row(0))
			}
		}
	}
	return q, nil
}

// NewScratch returns memory for a prediction.
func (q *ProbitPoint) NewScratch() *ProbitPointScratch {
	c := func() []float64 { return make([]float64, q.classes) }
	return &ProbitPointScratch{composite: make([]float64, q.basis), f: c(), one: c(), ratio: c(), sums: c()}
}

// Predict returns the probabilities of the classes for a sample whose base kernels with
// the D basis points are the rows of k, P×D, which it overwrites. The
// probabilities equal the probabilities that [ProbitDraws.Predict] returns. The slice is the scratch's own.
func (q *ProbitPoint) Predict(k la.Matrix[float64], s *ProbitPointScratch) (probability []float64, err error) {
	if err := q.rule.Prepare(k); err != nil {
		return nil, err
	}
	clear(s.sums)
	if q.each == nil {
		q.rule.Combine(q.beta, k, s.composite)
	}
	for i, w := range q.w {
		if q.each != nil {
			q.rule.Combine(q.each[i], k, s.composite)
		}
		for c := range s.f {
			s.f[c] = la.Dot(w.Row(c), s.composite)
		}
		coneProbabilities(s.f, s.one, s.ratio)
		la.Axpy(1, s.one, s.sums)
	}
	la.Scal(1/float64(len(q.w)), s.sums)
	return s.sums, nil
}
