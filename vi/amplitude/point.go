package amplitude

import (
	"math"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// Point predicts the classes of single samples, without allocation and with few passes over memory. The variance, which all
// classes share, comes from integers or from float32. It is immutable.
type Point struct {
	process  *Process
	triangle *triangle.Triangle // of the factor of K + σ²I; nil where float32 is too coarse
	slope    []float64          // by class: of the logits A_c in the mean of the class
	offset   []float64          // and their offsets
	share    float64            // e^Damping/v̄
}

// PointScratch is the memory of one prediction.
type PointScratch struct {
	mean   []float64 // by output
	logit  []float64 // A_c
	solved []float64 // L⁻¹k
}

// NewPoint prepares predictions by p, whose means h makes probabilities. Unless exact they are in float32, for which the factor
// is inverted, in N³/3 products for N samples, or the archive has the inverse; see [archive.Value]. Integers are used where they change
// most variances by no more than the tolerance, relatively.
func NewPoint(a *archive.Archive, p *Process, h *Head, exact bool, tolerance float64) *Point {
	t := &Point{process: p, share: special.Exp(h.Damping) / h.Variance}
	if !exact {
		enough := func(self, square, bound, _ float64) bool { return bound <= tolerance*(p.Noise+max(0, self-square)) }
		t.triangle = archive.Value(a, func() *triangle.Triangle {
			return triangle.New(p.Factor, nil, factored{p}, enough, tolerance >= triangle.LeastCoarse)
		}, func(t *triangle.Triangle, a *archive.Archive) { t.Archive(a, p.Factor.Rows) })
	}
	w, slope := h.work(), special.Exp(h.Slope)
	for c, s := range w.scale {
		t.slope = append(t.slope, slope*s)
		t.offset = append(t.offset, float64(h.Prior*w.logShare[c]))
	}
	return t
}

// factored is the kernel K as the factor of K + σ²I knows it.
type factored struct{ *Process }

// Diagonal implements [triangle.Kernel].
func (f factored) Diagonal(dst []float64) {
	for i := range dst {
		dst[i] = la.SumSq(f.Factor.Row(i)[:i+1]) - f.Noise
	}
}

// Column implements [triangle.Kernel].
func (f factored) Column(i int, dst []float64) {
	for n := range dst {
		shared := min(i, n) + 1
		dst[n] = la.Dot(f.Factor.Row(i)[:shared], f.Factor.Row(n)[:shared])
	}
	dst[i] -= f.Noise
}

// Float32 reports whether Probabilities computes in float32.
func (t *Point) Float32() bool { return t.triangle != nil }

// Bytes returns the number of bytes of the matrices that Probabilities reads first.
func (t *Point) Bytes() int {
	n := 8 * len(t.process.Alpha.Data)
	if t.triangle != nil {
		return n + t.triangle.Bytes()
	}
	return n + 4*t.process.Factor.Rows*t.process.Factor.Rows
}

// NewScratch returns memory for predictions.
func (t *Point) NewScratch() *PointScratch {
	return &PointScratch{
		mean: make([]float64, t.process.Alpha.Rows), logit: make([]float64, len(t.slope)), solved: make([]float64, t.process.Factor.Rows),
	}
}

// Probabilities stores the probability of each class for one sample in p and returns a bound on the error of each. k and
// self are a row of cross and an element of self in [Process.Predict]. k is overwritten. It stops before all samples where the bound
// is no more than enough. Without Float32 it is Exact.
func (t *Point) Probabilities(k []float64, self, enough float64, p []float64, s *PointScratch, memory *triangle.Scratch) (bound float64) {
	if t.triangle == nil {
		t.Exact(k, self, p, s)
		return 0
	}
	t.logits(k, s)
	noise, self := t.process.Noise, 1+self
	coarse := t.triangle.Coarse()
	t.triangle.Start(k, self, coarse, memory)
	for {
		square, e, all := t.triangle.Add(memory)
		low, left := noise, max(0, self-square)
		if all {
			low += max(0, left-e) // else the other samples may take all of it away
		}
		if bound = t.between(low, noise+left+e, s.logit, p); bound <= enough || all && !coarse {
			return bound
		}
		if all {
			coarse = false
			t.triangle.Start(k, self, coarse, memory)
		}
	}
}

// Exact is Probabilities from all samples in float64.
func (t *Point) Exact(k []float64, self float64, p []float64, s *PointScratch) {
	t.logits(k, s)
	copy(s.solved, k)
	la.Trsv(la.NoTrans, t.process.Factor, s.solved)
	variance := max(1+self-la.SumSq(s.solved), 0) + t.process.Noise
	t.between(variance, variance, s.logit, p)
}

// logits adds the constant kernel to k, and stores the logits without damping: A_c in u_c = A_c/√(1 + e^Damping·v/v̄) of [Head].
func (t *Point) logits(k []float64, s *PointScratch) {
	for i := range k {
		k[i]++
	}
	for c := range s.mean {
		s.mean[c] = la.Dot(t.process.Alpha.Row(c), k)
	}
	mean := la.MatrixOf(len(s.mean), 1, s.mean)
	for c := range s.logit {
		s.logit[c] = float64(t.slope[c]*row(mean, c, 0)) + t.offset[c]
	}
}

// between stores the probabilities p = softmax(d·A) of the logits A. d is in the middle of the damping factors
// 1/√(1 + e^Damping·v/v̄) of the variances v between low and high. It returns how far any p may be from its value elsewhere in between.
//
// The slope of p_c by d is p_c·Σ_i p_i·(A_c − A_i), at most p_c·(1 − p_c)·R with the range R of A. The probability of the class of
// the largest A rises with d. With q = 1 − its value at the least d, p_c·(1 − p_c) is at most q and ¼, and no probability
// moves by more than q.
func (t *Point) between(low, high float64, logit, p []float64) (bound float64) {
	least, most := 1/math.Sqrt(1+float64(t.share*high)), 1/math.Sqrt(1+float64(t.share*low))
	bottom, top := logit[0], logit[0]
	for _, a := range logit {
		bottom, top = min(bottom, a), max(top, a)
	}
	middle := least
	if least != most { // also if they are not numbers
		middle = 0.5 * (least + most)
		var others float64 // relative to the largest
		for _, a := range logit {
			others += special.Exp(float64(least * (a - top)))
		}
		q := max(0, others-1) / others
		bound = min(q, float64(min(q, 0.25)*(top-bottom)*0.5*(most-least)))
	}
	var sum float64
	for c, a := range logit {
		p[c] = special.Exp(float64(middle * (a - top)))
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return bound
}
