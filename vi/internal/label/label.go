// Package label holds what models of labels ±1 share: the score f of a sample is normal around a
// location m with variance 1, and the label y says that y·f exceeds the margin ν.
package label

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
)

// Is reports whether v is a label.
func Is(v float64) bool { return v == 1 || v == -1 }

// CheckMargin returns an error unless the margin ν is at least 0 and finite.
func CheckMargin(margin float64) error {
	if !(margin >= 0) || math.IsInf(margin, 0) {
		return fmt.Errorf("vi: Margin is %g: it must be at least 0 and finite", margin)
	}
	return nil
}

// Truncate is q(f_i) = N(m_i, 1) restricted to y_i·f_i > ν. It stores its mean m + y·h(ν − y·m) in
// f, h(x) = φ(x)/Φ(−x), and returns the logarithm of its normalisers, Σ log Φ(y·m − ν). It leaves
// out samples whose label y is 0.
func Truncate(margin float64, y, location, f []float64) (logZ float64) {
	for i, label := range y {
		if label == 0 {
			continue
		}
		x := margin - float64(label*location[i])
		above, _, z := special.NormalAbove(x)
		// m + y·h, as y·(ν + (h − x)): the part beyond the margin keeps its
		// figures far out in the tail.
		f[i] = label * (margin + (above - x))
		logZ += z
	}
	return logZ
}

// Shift returns Σ (E[f_i] − m_i)² over the samples whose label y is not 0.
func Shift(y, location, f []float64) (sum float64) {
	for i, label := range y {
		if label != 0 {
			d := f[i] - location[i]
			sum += float64(d * d)
		}
	}
	return sum
}

// Probability returns the probability of +1 for a score that lies outside the margin's gap. Both
// tails are in logarithms: neither underflows before the other.
func Probability(mean, sd, margin float64) float64 {
	pos := special.LogNormalCDF((mean - margin) / sd)
	neg := special.LogNormalCDF((-margin - mean) / sd)
	return 1 / (1 + special.Exp(neg-pos))
}

// Predictions replaces the means of scores with the probabilities of the label +1, Φ(mean/SD).
func Predictions(p *vi.Predictions) {
	p.Probabilities = true
	for i, f := range p.Mean {
		p.Mean[i] = special.Exp(special.LogNormalCDF(f / p.SD[i]))
	}
}
