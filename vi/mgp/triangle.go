package mgp

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// Triangle computes predictions of a [Posterior] with the variance Var[f] = k(x,x) − |Gk|² in integers or in float32, k being the
// composite kernels of x with the training samples and G = L⁻¹S^½ with the factor L of B. The mean is computed in float64. Every
// variance comes with a bound on what rounding did to it. The bound is calibrated, not proved; docs/theory/predictor.md
// compares it with what happens. A Triangle is immutable and safe for concurrent use.
type Triangle struct {
	post *Posterior
	*triangle.Triangle
	tolerance float64 // of integers, in standard deviations
}

// TriangleScratch is memory for one prediction by a [Triangle].
type TriangleScratch = triangle.Scratch

// NewTriangleScratch returns memory for predictions by triangles of at most n training samples.
func NewTriangleScratch(n int) *TriangleScratch { return triangle.NewScratch(n) }

// Triangle returns the posterior's triangle. k is the composite kernel of the training samples; nil stands for the
// kernel that the posterior's factor implies. It costs N³/3 multiplications and some columns of k, and N³ where integers are tried. The
// result is nil where rounding is not small. Integers are used if predictions with them are mostly within the tolerance, in standard
// deviations.
func (p *Posterior) Triangle(k Composite, tolerance float64) *Triangle {
	if k == nil {
		k = factored{p}
	}
	if t := triangle.New(p.s.Factor, p.root, k, left(1/p.s.Tau, tolerance), tolerance >= triangle.LeastCoarse); t != nil {
		return &Triangle{p, t, tolerance}
	}
	return nil
}

// left returns whether a bound is enough for the standard deviation of a sample, whose function has the variance that the square leaves of
// k(x,x), with this noise unless the sample has its own.
func left(all, tolerance float64) triangle.Enough {
	return func(self, square, bound, noise float64) bool {
		if math.IsNaN(noise) {
			noise = all
		}
		return certified(0, max(0, self-square)+noise, bound, noise).Within(tolerance)
	}
}

// variance returns the variance of the function and a bound on its error. If coarse, it is in integers where the triangle has them.
func (t *Triangle) variance(k []float64, self float64, coarse bool, s *TriangleScratch) (variance, bound float64) {
	square, bound := t.Square(k, self, coarse && t.Coarse(), s)
	return max(0, self-square), bound
}

// Predict returns the prediction of a sample from its composite kernels with all training samples, and with
// itself. If coarse, the variance is in integers where the triangle has them. It does not allocate.
func (t *Triangle) Predict(k []float64, self float64, coarse bool, s *TriangleScratch) vi.Certified {
	noise := 1 / t.post.s.Tau
	function, e := t.variance(k, self, coarse, s)
	return certified(la.Dot(k, t.post.s.Alpha), function+noise, e, noise)
}

// upTo returns a prediction with an exact mean, whose variance lies between noise and noise + more. The standard deviation is in the
// middle of its interval.
func upTo(mean, noise, more float64) vi.Certified {
	least, most := math.Sqrt(noise), math.Sqrt(noise+more)
	sd := 0.5 * (least + most)
	return vi.Certified{Mean: mean, Variance: sd * sd, SDError: 0.5 * (most - least), LeastSD: least, Calibrated: true}
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
// the noise, in integers if coarse where the triangles have them. The triangle of the noise gets rows until the prediction is within the
// tolerance.
func (p *NoiseProcess) PredictByTriangles(f, about *Triangle, k []float64, self float64, noiseK []float64, noiseSelf, tolerance float64, coarse bool, s *TriangleScratch) vi.Certified {
	function, e := f.variance(k, self, coarse, s)
	return p.predictAround(about, la.Dot(k, f.post.s.Alpha), function, e, noiseK, noiseSelf, tolerance, coarse, s)
}

// PredictFunctionExactly is [NoiseProcess.PredictOne] with the variance of the logarithm of the noise by its triangle, if that is within the
// tolerance. It moves the prediction little, and takes half of the time. k and noiseK are overwritten.
func (p *NoiseProcess) PredictFunctionExactly(f *Posterior, about *Triangle, k []float64, self float64, noiseK []float64, noiseSelf, tolerance float64, s *TriangleScratch) vi.Certified {
	mean := la.Dot(k, f.s.Alpha)
	function := f.functionVariance(k, self)
	for _, coarse := range [2]bool{true, false} {
		if coarse && !about.Coarse() {
			continue
		}
		if c := p.predictAround(about, mean, function, 0, noiseK, noiseSelf, tolerance, coarse, s); c.Within(tolerance) {
			return c
		}
	}
	variance := function + meanNoise(p.LevelOf(noiseK), p.About.functionVariance(noiseK, noiseSelf), p.Most)
	return vi.Certified{Mean: mean, Variance: variance, LeastSD: math.Sqrt(variance)}
}

// predictAround returns the prediction of a function with this mean, this variance and this bound on the error of the variance. The
// variance of the logarithm of the noise moves the noise little: it lies between 0 and what the rows of its triangle so far leave of
// noiseSelf, and rows are added only until the prediction is within the tolerance.
func (p *NoiseProcess) predictAround(about *Triangle, mean, function, e float64, noiseK []float64, noiseSelf, tolerance float64, coarse bool, s *TriangleScratch) (c vi.Certified) {
	level := p.LevelOf(noiseK)
	half := 0.5 * max(0, noiseSelf) // a given kernel of a sample with itself may be below 0
	logVariance, within, all := half, half, false
	for begun := false; ; begun = true {
		c = p.Certified(mean, function, e, level, logVariance, within)
		if all || c.Within(tolerance) {
			return c
		}
		if !begun {
			about.Start(noiseK, noiseSelf, coarse && about.Coarse(), s)
		}
		logVariance, within, all = about.addPart(noiseSelf, s)
	}
}

// addPart adds rows after a Start, and returns the variance of the function with a bound on its error: the middle between 0 and what the
// rows so far leave of it, unless the rows are all.
func (t *Triangle) addPart(self float64, s *TriangleScratch) (variance, bound float64, all bool) {
	square, e, all := t.Add(s)
	left := max(0, self-square)
	if all {
		return left, e, true
	}
	half := 0.5 * (left + e)
	return half, half, false
}
