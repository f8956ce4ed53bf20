package amplitude

import "github.com/bmkl/bmkl/la"

// Point predicts the classes of single samples, without allocation and with few passes over memory. It is immutable.
type Point struct {
	process *Process
	head    *Head
	inverse la.LowerPanels[float64] // L⁻¹ of the factor L of K
	scales  headWork                // without p
}

// PointScratch is the memory of one prediction.
type PointScratch struct {
	head   headWork
	mean   []float64 // by output
	solved []float64 // L⁻¹k
}

// NewPoint prepares predictions by p, whose means h makes probabilities. It inverts the factor, in N³/3 products for N samples.
func NewPoint(p *Process, h *Head) *Point {
	inverse := p.Factor.Clone()
	la.TriInv(new(la.Workspace), inverse)
	return &Point{p, h, la.PackLower[float64](inverse), *h.work()}
}

// NewScratch returns memory for predictions.
func (t *Point) NewScratch() *PointScratch {
	head := t.scales
	head.p = make([]float64, len(t.scales.p))
	return &PointScratch{head, make([]float64, t.process.Alpha.Rows), make([]float64, t.inverse.Padded())}
}

// Probabilities returns the probability of each class for one sample, in memory of s. k and self are a row of cross and an element of
// self in [Process.Predict]. k is overwritten.
func (t *Point) Probabilities(k []float64, self float64, s *PointScratch) []float64 {
	for i := range k {
		k[i]++
	}
	for c := range s.mean {
		s.mean[c] = la.Dot(t.process.Alpha.Row(c), k)
	}
	t.inverse.MultiplyVec(k, s.solved)
	variance := max(1+self-la.SumSq(s.solved[t.inverse.Before():]), 0) + t.process.Noise
	mean := la.MatrixOf(len(s.mean), 1, s.mean)
	t.head.probabilities(&s.head, func(c int) float64 { return row(mean, c, 0) }, variance)
	return s.head.p
}
