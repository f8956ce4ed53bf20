package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// poolScale says how a pool of numbers turns the moments of its members' mixture into the moments of its target.
type poolScale struct {
	recorded
	middle   float64 // mean of the learned targets
	largest  float64 // of the training targets, which bounds means on another scale than the target's own; 0: no bound
	widening widening
}

// ownScaleInstead says which fits learn a target on its own scale.
const ownScaleInstead = "mkl fit -own-scale, or OwnScale in Go, learns the target itself"

// needsVariance reports whether the mean of the target needs the variance of the mixture.
func (s *poolScale) needsVariance() bool { return s.scale != ownScale }

// variance returns the variance of a learned value from the mixture's.
func (s *poolScale) variance(mean, variance float64) float64 {
	return max(float64(variance*s.widening.factor(mean)), s.leastVariance(mean))
}

// restore turns moments of the mixture into moments of the target, in place.
func (s *poolScale) restore(p *Prediction) {
	if p.Variance != nil {
		for i, mean := range p.Mean[0] {
			p.Variance[0][i] = s.variance(mean, p.Variance[0][i])
		}
	}
	if s.scale == ownScale {
		return
	}
	learned := &learnedPrediction{scale: s.scale, mean: p.Mean[0], variance: p.Variance[0]}
	*p = *newPrediction(1, len(p.Mean[0]), PredictOptions{})
	for i, mean := range learned.mean {
		p.Mean[0][i], p.Variance[0][i] = s.moments(mean, learned.variance[i])
	}
	p.learned = []*learnedPrediction{learned}
}

// one turns the moments of one sample into moments of the target.
func (s *poolScale) one(b BoundedPrediction) BoundedPrediction {
	f := s.widening.factor(b.Mean)
	sd := math.Sqrt(float64(b.Variance * f)) // without the least variance, which may be another where the mean is
	b.Variance = s.variance(b.Mean, b.Variance)
	b.SDError *= math.Sqrt(f)
	if s.scale == ownScale {
		return b
	}
	mean, variance := s.moments(b.Mean, b.Variance)
	out := BoundedPrediction{Mean: mean, Variance: variance, Kind: b.Kind, learned: learnedMoments{s.scale, b.Mean, b.Variance}}
	if b.MeanError == 0 && b.SDError == 0 {
		return out
	}
	if s.widening.at != nil { // its factor is at the mean with the error
		out.Kind = max(out.Kind, BoundCalibrated)
	}
	// The moments of a logarithm rise with both arguments, the moments of a square root with |mean| and with sd. Bounds of the mean rise with
	// the mean, and rise or fall with sd. The corners have the largest errors, and for a square root the mean nearest to 0.
	ends := [2]float64{max(0, sd-b.SDError), sd + b.SDError}
	low, high := b.Mean-b.MeanError, b.Mean+b.MeanError
	means, n := [3]float64{low, high, max(low, min(high, 0))}, 2
	if s.scale == rootScale {
		n = 3
	}
	for _, m := range means[:n] {
		for _, d := range ends {
			atMean, atVariance := s.recorded.moments(m, float64(d*d))
			out.SDError = max(out.SDError, math.Abs(math.Sqrt(atVariance)-math.Sqrt(variance)))
			for _, other := range ends {
				out.MeanError = max(out.MeanError, math.Abs(min(atMean, s.mostMean(m, float64(other*other)))-mean))
			}
		}
	}
	return out
}

// moments returns the mean and the variance that are predicted of a target whose learned value is normal with the moments given.
func (s *poolScale) moments(mean, variance float64) (m, v float64) {
	m, v = s.recorded.moments(mean, variance)
	return min(m, s.mostMean(mean, variance)), v
}

// mostMean returns the largest mean of a target that the training targets support, given the moments of its learned value:
//
//	max(largest training target, y(mean − sd)).
//
// Far from all samples sd is the prior's. The mean of the target, exp(mean + sd²/2) for a logarithm, then depends on a tail about which no
// sample says anything. A mean beyond all training targets is believed as far as the target is beyond them in all but the lowest sixth of the predicted
// distribution. A square root μ² + v of a mean μ far below 0 is no large target either, but 0: there the bound is y(mean + sd), which is larger than μ² + v
// for other μ. Intervals are not bounded.
func (s *poolScale) mostMean(mean, variance float64) float64 {
	if s.largest == 0 || s.scale == ownScale {
		return math.Inf(1)
	}
	sd := math.Sqrt(max(variance, s.leastVariance(mean)))
	most := max(s.largest, s.scale.target(mean-sd))
	if s.scale == rootScale {
		return min(most, s.scale.target(mean+sd))
	}
	return most
}

// noiseSD turns the standard deviation of the noise of learned values into the standard deviation of the target where its learned value is their mean.
func (s *poolScale) noiseSD(sd float64) float64 {
	sd = float64(sd * math.Sqrt(s.widening.factor(s.middle)) * s.scale.slope(s.middle))
	return max(sd, s.step/math.Sqrt(12))
}

// learnedPrediction is the moments, of each sample, of what a model learned of a target on another scale.
type learnedPrediction struct {
	scale          targetScale
	mean, variance []float64
	offset         []float64 // of the target beside what was learned; nil: 0
}

// offsetOf returns the offset of a sample.
func (l *learnedPrediction) offsetOf(sample int) float64 {
	if l.offset == nil {
		return 0
	}
	return l.offset[sample]
}

// AddOffset adds to the predictions of a target an offset for each sample, a part of the target that is known. The model was fitted to
// targets less their offsets. It returns an error if offset does not have an element for each sample.
func (p *Prediction) AddOffset(target int, offset []float64) error {
	mean := p.Mean[target]
	if len(offset) != len(mean) {
		return fmt.Errorf("mkl: AddOffset: %d offsets of %d samples", len(offset), len(mean))
	}
	l := p.learnedOf(target)
	if l != nil && l.offset == nil {
		l.offset = make([]float64, len(offset))
	}
	for i, o := range offset {
		mean[i] += o
		if l != nil {
			l.offset[i] += o
		}
	}
	return nil
}

// Interval returns the ends of the central interval of a probability of a target and sample: between them the target, noise
// included, is with that probability, and below as probably as above. They lie symmetrically about the mean unless the
// model learned the target on another scale; a positive target then has no negative end. With MeanOnly they are NaN.
func (p *Prediction) Interval(target, sample int, probability float64) (lower, upper float64) {
	if p.Variance == nil {
		return math.NaN(), math.NaN()
	}
	z := special.NormalQuantile(0.5 + float64(0.5*probability))
	if l := p.learnedOf(target); l != nil {
		mean, half := l.mean[sample], float64(z*math.Sqrt(l.variance[sample]))
		o := l.offsetOf(sample)
		return o + l.scale.target(mean-half), o + l.scale.target(mean+half)
	}
	half := float64(z * math.Sqrt(p.Variance[target][sample]))
	return p.Mean[target][sample] - half, p.Mean[target][sample] + half
}

// CDF returns the probability that a target of a sample, noise included, is at most y: [Prediction.Interval] has its quantiles. With MeanOnly
// it is NaN.
func (p *Prediction) CDF(target, sample int, y float64) float64 {
	if p.Variance == nil {
		return math.NaN()
	}
	mean, variance, z := p.Mean[target][sample], p.Variance[target][sample], y
	if l := p.learnedOf(target); l != nil {
		y -= l.offsetOf(sample)
		if y < 0 || y == 0 && l.scale == logScale {
			return 0
		}
		mean, variance, z = l.mean[sample], l.variance[sample], l.scale.learned(y)
	}
	return special.NormalCDF((z - mean) / math.Sqrt(variance))
}

// LogDensity returns the logarithm of the predicted density of a target of a sample, noise included, at y. With MeanOnly it is NaN. Where
// the model learned the target on another scale, it is −∞ at values that no positive target has.
func (p *Prediction) LogDensity(target, sample int, y float64) float64 {
	if p.Variance == nil {
		return math.NaN()
	}
	mean, variance, z, slope := p.Mean[target][sample], p.Variance[target][sample], y, 0.0
	if l := p.learnedOf(target); l != nil {
		if y -= l.offsetOf(sample); !(y > 0) {
			return math.Inf(-1)
		}
		mean, variance, z, slope = l.mean[sample], l.variance[sample], l.scale.learned(y), l.scale.logSlope(y)
	}
	return slope + normalLogDensity(z-mean, variance)
}

// normalLogDensity returns the logarithm of the density of a normal variable at a distance from its mean.
func normalLogDensity(distance, variance float64) float64 {
	return float64(-0.5 * (float64(distance*distance)/variance + special.Log(2*math.Pi*variance)))
}

// CRPS returns the continuous ranked probability score ∫ (P(target ≤ x) − [x ≥ y])² dx of the predicted distribution if a target of a sample is
// y, in the target's units; smaller is better. With MeanOnly it is NaN.
func (p *Prediction) CRPS(target, sample int, y float64) float64 {
	if p.Variance == nil {
		return math.NaN()
	}
	if l := p.learnedOf(target); l != nil {
		sd := math.Sqrt(l.variance[sample])
		y -= l.offsetOf(sample)
		if l.scale == logScale {
			return special.LogNormalCRPS(y, l.mean[sample], sd)
		}
		return special.SquareCRPS(y, l.mean[sample], sd)
	}
	return special.NormalCRPS(y, p.Mean[target][sample], math.Sqrt(p.Variance[target][sample]))
}

// learnedOf is the prediction of a target on the scale on which it was learned; nil if that is the target's own.
func (p *Prediction) learnedOf(target int) *learnedPrediction {
	if target < len(p.learned) {
		return p.learned[target]
	}
	return nil
}
