package mgp

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// Rows is memory for the variances of a block of samples by triangles: a triangle is read once for all of them.
type Rows = triangle.Rows

// NewRows returns memory for blocks of at most so many samples, with a set of composite kernels for each of the orders.
func NewRows(samples int, orders ...int) *Rows { return triangle.NewRows(samples, orders...) }

// MeanOf returns the mean of the function of a sample with the composite kernels k.
func (p *Posterior) MeanOf(k []float64) float64 { return la.Dot(k, p.s.Alpha) }

// Certified returns the prediction of a sample with this mean of the function, whose variance is within bound of the one given.
func (p *Posterior) Certified(mean, variance, bound float64) vi.Certified {
	noise := 1 / p.s.Tau
	return certified(mean, max(0, variance)+noise, bound, noise)
}

// LevelOf returns the mean of the logarithm of the noise variance of a sample with the composite kernels k of the noise.
func (p *NoiseProcess) LevelOf(k []float64) float64 { return p.Level + la.Dot(k, p.About.s.Alpha) }

// Certified is [Posterior.Certified] with this noise, whose logarithm has the mean level and a variance within so much of logVariance.
func (p *NoiseProcess) Certified(mean, variance, bound, level, logVariance, within float64) vi.Certified {
	noise := meanNoise(level, logVariance, p.Most)
	// The logarithm of the mean noise is off by half of the error of the variance.
	return certified(mean, max(0, variance)+noise, bound+float64(noise*special.Expm1(0.5*within)), 0)
}
