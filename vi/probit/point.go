package probit

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Point is a [Posterior] prepared for the predictions of single samples, which then do
// not allocate. It is immutable and safe for concurrent use.
type Point struct {
	rule    Rule
	classes int
	basis   int
	parts   []pointPart // of a mixture; else one
}

// pointPart is one component of a mixture.
type pointPart struct {
	probability float64
	beta        []float64
	w           la.Matrix[float64] // C×D
	classes     []classFactor
}

// PointScratch is the memory of one prediction of a [Point].
type PointScratch struct {
	cone              special.Cone
	composite, solved []float64 // D
	mean, sd, sums    []float64 // C
}

// Point prepares the posterior for single samples. It costs a Cholesky factorisation of
// the regressors that were not pruned and takes a matrix of their order, for each class
// and component.
func (p *Posterior) Point() (*Point, error) {
	q := &Point{rule: p.s.Rule}
	q.classes, _, q.basis = p.Dims()
	parts, probability := p.parts, []float64{1}
	if parts == nil {
		parts = []*Posterior{p}
	} else {
		probability = nil
		for _, c := range p.s.Components {
			probability = append(probability, c.Probability)
		}
	}
	ws := &la.Workspace{}
	for i, part := range parts {
		one := pointPart{probability: probability[i], beta: part.s.Beta, w: part.s.W}
		for c := range q.classes {
			if p.s.Point {
				one.classes = append(one.classes, classFactor{})
				continue
			}
			n := 0
			for _, a := range p.s.Alpha.Row(c) {
				if !math.IsInf(a, 1) {
					n++
				}
			}
			f := classFactor{b: la.NewMatrix[float64](n, n)}
			if err := f.set(ws, part, c); err != nil {
				return nil, fmt.Errorf("vi: %w", err)
			}
			one.classes = append(one.classes, f)
		}
		q.parts = append(q.parts, one)
	}
	return q, nil
}

// NewScratch returns memory for a prediction.
func (q *Point) NewScratch() *PointScratch {
	s := &PointScratch{composite: make([]float64, q.basis), solved: make([]float64, q.basis)}
	s.mean, s.sd = make([]float64, q.classes), make([]float64, q.classes)
	s.sums = make([]float64, q.classes)
	return s
}

// Predict returns the probabilities of the classes for a sample whose kernels with the D basis
// points are the rows of k, P×D, which it overwrites; they equal the probabilities that
// [Posterior.Predict] returns. The slice is the scratch's own.
func (q *Point) Predict(k la.Matrix[float64], s *PointScratch) (probability []float64, err error) {
	if err := q.rule.Prepare(k); err != nil {
		return nil, err
	}
	clear(s.sums)
	for i := range q.parts {
		part := &q.parts[i]
		q.rule.Combine(part.beta, k, s.composite)
		for c := range q.classes {
			s.mean[c] = la.Dot(part.w.Row(c), s.composite)
			s.sd[c] = math.Sqrt(1 + part.classes[c].variance(s.composite, s.solved))
		}
		for c := range s.sums {
			s.sums[c] += float64(part.probability * special.Exp(s.cone.LogProbability(c, s.mean, s.sd)))
		}
	}
	return s.sums, nil
}

// variance returns kᵀ·V_c·k, as addVariance does.
func (f *classFactor) variance(k, scratch []float64) float64 {
	x := scratch[:len(f.active)]
	for i, d := range f.active {
		x[i] = f.root[i] * k[d]
	}
	la.Trsv(la.NoTrans, f.l, x)
	return la.SumSq(x)
}

// Prepare replaces the base kernels of one sample, the rows of k, by what Combine makes
// composites of: by their logarithms, if the rule multiplies them. It is an error then if
// one is negative.
func (r Rule) Prepare(k la.Matrix[float64]) error {
	if !r.product() {
		return nil
	}
	for p := range k.Rows {
		row := k.Row(p)
		for d, v := range row {
			if v < 0 {
				return fmt.Errorf("vi: kernel %d: its value with basis point %d is %g: products need values that are not negative", p, d, v)
			}
			row[d] = max(special.Log(v), logZero)
		}
	}
	return nil
}

// Combine stores the composite kernel, with the weights beta, of base kernels that Prepare
// has prepared.
func (r Rule) Combine(beta []float64, k la.Matrix[float64], out []float64) {
	clear(out)
	for p, b := range beta {
		la.Axpy(b, k.Row(p), out)
	}
	if r.product() {
		la.Exp(out, out)
	}
}
