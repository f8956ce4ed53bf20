package amplitude

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/lbfgs"
)

// Head turns the predicted means and variance of the standardised indicators of C classes into probabilities:
//
//	P(class c) ∝ exp(u_c),   u_c = (e^Slope·s_c·m_c/s̄ + Prior·log π_c)/√(1 + e^Damping·v/v̄),
//
// where π_c is the share of class c in the training samples, s_c = √(π_c(1 − π_c)) the standard deviation of its
// indicator, s̄ their mean and v̄ the mean left-out variance. It is plain data.
type Head struct {
	Slope, Prior, Damping float64

	Shares   []float64 // π_c
	Variance float64   // v̄
}

// The prior of a head: normal with these means and variances. It is worth one sample's log loss at the variance that
// the numbers have there, so that it decides only where samples are few.
const (
	slopeMean   = 0.5
	priorMean   = 0.5
	dampingMean = -1.0

	slopeVariance   = 0.5
	dampingVariance = 2.0
)

// FitHead returns the head of the highest posterior density, given the left-out means, C×N, and the left-out variance of
// N samples of the given classes. For two classes the means may have one row, for class 1.
func FitHead(mean la.Matrix[float64], variance []float64, class []int, classes int) (*Head, error) {
	N := len(class)
	if mean.Rows != classes && (classes != 2 || mean.Rows != 1) || mean.Cols != N || len(variance) != N {
		return nil, fmt.Errorf("vi: means %d×%d, %d variances, %d samples of %d classes", mean.Rows, mean.Cols, len(variance), N, classes)
	}
	h := &Head{Shares: make([]float64, classes)}
	for i, c := range class {
		if c < 0 || c >= classes {
			return nil, fmt.Errorf("vi: class[%d] is %d of %d classes", i, c, classes)
		}
		h.Shares[c] += 1 / float64(N)
		h.Variance += variance[i] / float64(N)
	}
	for c, s := range h.Shares {
		h.Shares[c] = min(max(s, leastCount/float64(N)), 1-leastCount/float64(N))
	}
	w := h.work()
	x := []float64{slopeMean, priorMean, dampingMean}
	r, err := lbfgs.Minimize(x, func(x, g []float64) (float64, error) {
		h.Slope, h.Prior, h.Damping = x[0], x[1], x[2]
		clear(g)
		var loss float64
		for i, c := range class {
			loss += h.loss(w, func(c int) float64 { return row(mean, c, i) }, variance[i], c, g)
		}
		for i, p := range [3][2]float64{{slopeMean, slopeVariance}, {priorMean, slopeVariance}, {dampingMean, dampingVariance}} {
			d := x[i] - p[0]
			loss += float64(0.5*d*d) / p[1]
			g[i] += d / p[1]
		}
		return loss, nil
	}, lbfgs.Settings{Iterations: 100, Tolerance: 1e-9, Gradient: 1e-6, LongestStep: 1})
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	h.Slope, h.Prior, h.Damping = r.X[0], r.X[1], r.X[2]
	return h, nil
}

// leastCount is the number of samples that a class without any counts for.
const leastCount = 0.2

// row returns the mean of class c of sample i, where one row of two classes is for class 1.
func row(mean la.Matrix[float64], c, i int) float64 {
	if mean.Rows == 1 && c == 0 {
		return -mean.At(0, i)
	}
	return mean.At(min(c, mean.Rows-1), i)
}

// Linear returns the slopes and the levels of u_c = slope[c]·m_c + level[c], C each, for a sample with the given predictive variance,
// the noise included. u_c − u_d is the log odds of class c against class d.
func (h *Head) Linear(variance float64) (slope, level []float64) {
	w := h.work()
	damp, _ := h.damp(variance)
	for c, s := range w.scale {
		slope, level = append(slope, damp*special.Exp(h.Slope)*s), append(level, damp*h.Prior*w.logShare[c])
	}
	return slope, level
}

// HeadScratch is memory for the probabilities of one sample.
type HeadScratch struct{ *headWork }

// NewScratch returns memory for the probabilities of one sample.
func (h *Head) NewScratch() HeadScratch { return HeadScratch{h.work()} }

// ProbabilitiesOfOne is Probabilities for one sample. mean has a mean for each class, or for two classes one. It does not
// allocate.
func (h *Head) ProbabilitiesOfOne(s HeadScratch, mean []float64, variance float64, out []float64) {
	m := la.Matrix[float64]{Rows: len(mean), Cols: 1, Stride: 1, Data: mean}
	h.probabilities(s.headWork, func(c int) float64 { return row(m, c, 0) }, variance)
	copy(out, s.p)
}

// headWork is what depends on the shares of the classes alone, and scratch.
type headWork struct {
	scale    []float64 // s_c/s̄
	logShare []float64
	p        []float64
}

func (h *Head) work() *headWork {
	w := &headWork{p: make([]float64, len(h.Shares))}
	var sum float64
	for _, s := range h.Shares {
		sd := math.Sqrt(s * (1 - s))
		w.scale = append(w.scale, sd)
		w.logShare = append(w.logShare, special.Log(s))
		sum += sd
	}
	for c := range w.scale {
		w.scale[c] *= float64(len(w.scale)) / sum
	}
	return w
}

// damp returns the damping √(1 + e^Damping·v/v̄)⁻¹ of a sample, and e^Damping·v/v̄.
func (h *Head) damp(variance float64) (damp, excess float64) {
	excess = special.Exp(h.Damping) * variance / h.Variance
	return 1 / math.Sqrt(1+excess), excess
}

// probabilities stores the probabilities of one sample in w.p, and returns its damping and e^Damping·v/v̄.
func (h *Head) probabilities(w *headWork, mean func(c int) float64, variance float64) (damp, excess float64) {
	damp, excess = h.damp(variance)
	slope := special.Exp(h.Slope)
	top := math.Inf(-1)
	for c := range w.p {
		w.p[c] = damp * (float64(slope*w.scale[c]*mean(c)) + float64(h.Prior*w.logShare[c]))
		top = max(top, w.p[c])
	}
	var sum float64
	for c, u := range w.p {
		w.p[c] = special.Exp(u - top)
		sum += w.p[c]
	}
	for c := range w.p {
		w.p[c] /= sum
	}
	return damp, excess
}

// loss returns −log P(class) of a sample and adds its gradient by Slope, Prior and Damping to g.
func (h *Head) loss(w *headWork, mean func(c int) float64, variance float64, class int, g []float64) float64 {
	damp, excess := h.probabilities(w, mean, variance)
	slope := special.Exp(h.Slope)
	for c, p := range w.p {
		d := p // ∂(−log P)/∂u_c
		if c == class {
			d--
		}
		along := float64(damp * slope * w.scale[c] * mean(c))
		prior := float64(damp * w.logShare[c])
		g[0] += float64(d * along)
		g[1] += float64(d * prior)
		g[2] -= float64(0.5 * d * (along + float64(h.Prior*prior)) * damp * damp * excess)
	}
	return -special.Log(max(w.p[class], leastProbability))
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-300

// Probabilities stores the probability of class c of sample i in out[i][c], given the predicted means, C×N or for two
// classes 1×N, and the variances, with the noise.
func (h *Head) Probabilities(mean la.Matrix[float64], variance []float64, out [][]float64) {
	w := h.work()
	for i, v := range variance {
		h.probabilities(w, func(c int) float64 { return row(mean, c, i) }, v)
		copy(out[i], w.p)
	}
}
