package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// Triangle computes predictions of a [Posterior] with the variance Var[f] = k(x,x) − |Gk|² in float32, k being the composite
// kernels of x with the training samples and G = L⁻¹S^½ with the factor L of B. The mean is computed in float64. Every
// variance comes with a bound on what float32 did to it. The bound is calibrated, not proved; docs/theory/predictor.md
// compares it with what happens. A Triangle is immutable and safe for concurrent use.
type Triangle struct {
	post *Posterior
	*triangle.Triangle
}

// TriangleScratch is memory for one prediction by a [Triangle].
type TriangleScratch = triangle.Scratch

// NewTriangleScratch returns memory for predictions by triangles of at most n training samples.
func NewTriangleScratch(n int) *TriangleScratch { return triangle.NewScratch(n) }

// Triangle returns the posterior's triangle. k is the composite kernel of the training samples; nil stands for the
// kernel that the posterior's factor implies. It costs N³/3 multiplications and some columns of k. The
// result is nil where rounding is not small.
func (p *Posterior) Triangle(k Composite) *Triangle {
	if k == nil {
		k = factored{p}
	}
	if t := triangle.New(p.s.Factor, p.root, k); t != nil {
		return &Triangle{p, t}
	}
	return nil
}

// variance returns the variance of the function and a bound on its error.
func (t *Triangle) variance(k []float64, self float64, s *TriangleScratch) (variance, bound float64) {
	square, bound := t.Square(k, self, s)
	return max(0, self-square), bound
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

// PredictUntil is Predict, but it stops as soon as the prediction is close enough. The samples so far leave the function
// the variance r, and the others can only take variance away: the standard deviation lies between the root of the noise
// and the root of noise and r. The judge is asked after 1, 2, 4, 8, … panels where there are many. A prediction of all
// panels is not judged. stopped reports whether the judge was content.
func (t *Triangle) PredictUntil(judge Judge, k []float64, self float64, s *TriangleScratch) (c vi.Certified, stopped bool) {
	mean, noise := la.Dot(k, t.post.s.Alpha), 1/t.post.s.Tau
	t.Start(k, self, s)
	for {
		square, e, all := t.Add(s)
		left := max(0, self-square)
		if all {
			return certified(mean, left+noise, e, noise), false
		}
		least, most := math.Sqrt(noise), math.Sqrt(noise+left+e)
		sd := 0.5 * (least + most)
		c := vi.Certified{Mean: mean, Variance: sd * sd, SDError: 0.5 * (most - least), LeastSD: least, Calibrated: true}
		if judge.Enough(c) {
			return c, true
		}
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
