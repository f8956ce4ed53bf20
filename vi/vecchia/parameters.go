package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// parameters returns the logarithms of all parameters: of each part the scales and the amplitude,
// then Linear and Noise.
func (c *Covariance) parameters() (theta []float64) {
	for _, p := range c.Parts {
		for _, w := range p.Scale {
			theta = append(theta, special.Log(w))
		}
		theta = append(theta, special.Log(p.Amplitude))
	}
	return append(theta, special.Log(c.Linear), special.Log(c.Noise))
}

// set sets the parameters to those with the logarithms theta.
func (c *Covariance) set(theta []float64) {
	for i := range c.Parts {
		p := &c.Parts[i]
		for f := range p.Scale {
			p.Scale[f] = special.Exp(theta[f])
		}
		p.Amplitude = special.Exp(theta[len(p.Scale)])
		theta = theta[len(p.Scale)+1:]
	}
	c.Linear, c.Noise = special.Exp(theta[0]), special.Exp(theta[1])
}

// bounds returns bounds of the logarithms. Features and targets have variances near 1. Noise below
// the least would leave nothing of float32's precision to the solver.
func (c *Covariance) bounds() (low, high []float64) {
	for _, p := range c.Parts {
		for range p.Scale {
			low, high = append(low, -9), append(high, 4)
		}
		low, high = append(low, -6), append(high, 8)
	}
	return append(low, -14, -14), append(high, 3, 2)
}

// begin returns a covariance of one part to start learning from: all features count alike, at scale
// over the square root of their number.
func begin(shape Shape, features int, scale float64) *Covariance {
	p := Part{Shape: shape, Amplitude: 1, Scale: make([]float64, features)}
	for f := range p.Scale {
		p.Scale[f] = scale / math.Sqrt(float64(features))
	}
	return &Covariance{Parts: []Part{p}, Linear: 0.01, Noise: 0.1}
}

// split returns c with a second part to start learning from: a tenth of the first part's amplitude
// at a third of its widths.
func (c *Covariance) split(shape Shape) *Covariance {
	n := c.clone()
	first := &n.Parts[0]
	second := Part{Shape: shape, Amplitude: 0.1 * first.Amplitude}
	first.Amplitude *= 0.9
	for _, w := range first.Scale {
		second.Scale = append(second.Scale, 3*w)
	}
	n.Parts = append(n.Parts, second)
	return n
}
