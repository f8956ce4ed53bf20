package vi

import (
	"github.com/bmkl/bmkl/internal/special"
)

// Gamma is the gamma distribution with density proportional to
// x^(Shape−1)·e^(−x/Scale) on x > 0. As a prior in an options struct its zero
// value stands for Gamma{1, 1}.
type Gamma struct {
	Shape, Scale float64
}

// Mean returns E[x] = Shape·Scale.
func (g Gamma) Mean() float64 { return g.Shape * g.Scale }

// MeanLog returns E[log x] = ψ(Shape) + log Scale.
func (g Gamma) MeanLog() float64 { return special.Digamma(g.Shape) + special.Log(g.Scale) }
