package target

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Probit is the likelihood of labels y = ±1: the target is normal around the score with variance 1, and
// the label says that y·t exceeds the margin ν. Without a margin P(y | s) = Φ(y·s).
type Probit struct {
	labels   la.Matrix[float64] // y, 0 where missing
	location la.Matrix[float64] // m
	mean     la.Matrix[float64] // E[t]
	margin   float64
	logZ     float64
}

// NewProbit returns the likelihood of labels, 0 where missing. The model stores m in location, and
// E[t] is stored in mean.
func NewProbit(labels, location, mean la.Matrix[float64], margin float64) *Probit {
	return &Probit{labels: labels, location: location, mean: mean, margin: margin}
}

// IsLabel reports whether v is a label.
func IsLabel(v float64) bool { return v == 1 || v == -1 }

// CheckMargin returns an error unless the margin ν is at least 0 and finite.
func CheckMargin(margin float64) error {
	if !(margin >= 0) || math.IsInf(margin, 0) {
		return fmt.Errorf("vi: Margin is %g: it must be at least 0 and finite", margin)
	}
	return nil
}

// Precision implements [Likelihood].
func (l *Probit) Precision() float64 { return 1 }

// Learns implements [Likelihood].
func (l *Probit) Learns() bool { return false }

// UpdateNoise implements [Likelihood].
func (l *Probit) UpdateNoise(float64) {}

// Latent implements [Likelihood].
func (l *Probit) Latent() bool { return true }

// UpdateTargets is q(t_i) = N(m_i, 1) restricted to y_i·t_i > ν. Its mean is m + y·h(ν − y·m),
// h(x) = φ(x)/Φ(−x), and log Z = log Φ(y·m − ν).
func (l *Probit) UpdateTargets() {
	l.logZ = 0
	for r := range l.labels.Rows {
		location, mean, logZ := l.location.Row(r), l.mean.Row(r), 0.0
		for i, y := range l.labels.Row(r) {
			if y == 0 {
				continue
			}
			x := l.margin - float64(y*location[i])
			above, _, z := special.NormalAbove(x)
			// m + y·h, as y·(ν + (h − x)): the part beyond the margin keeps its
			// figures far out in the tail.
			mean[i] = y * (l.margin + (above - x))
			logZ += z
		}
		l.logZ += logZ
	}
}

// Terms implements [Likelihood]. The constants of the mean log density and of the entropy of q(t)
// cancel, and so does Var(t).
func (l *Probit) Terms(square float64) (noise, logZ, fit float64) {
	return 0, l.logZ, float64(-0.5 * square)
}

// Shift implements [Likelihood].
func (l *Probit) Shift(row int) (sum float64) {
	location, mean := l.location.Row(row), l.mean.Row(row)
	for i, y := range l.labels.Row(row) {
		if y != 0 {
			d := mean[i] - location[i]
			sum += float64(d * d)
		}
	}
	return sum
}

// Predictions implements [Likelihood]: the probabilities of the label +1, Φ(mean/SD).
func (l *Probit) Predictions(p *vi.Predictions) {
	p.Probabilities = true
	for i, f := range p.Mean {
		p.Mean[i] = special.Exp(special.LogNormalCDF(f / p.SD[i]))
	}
}

// Probability returns the probability of +1 for a target that lies outside the margin's gap, given its
// predicted mean and standard deviation. Both tails are in logarithms: neither underflows before the other.
func Probability(mean, sd, margin float64) float64 {
	pos := special.LogNormalCDF((mean - margin) / sd)
	neg := special.LogNormalCDF((-margin - mean) / sd)
	return 1 / (1 + special.Exp(neg-pos))
}

// Memorise implements [Likelihood].
func (l *Probit) Memorise(*work.Memory) {}

// Snapshot implements [Likelihood].
func (l *Probit) Snapshot(s *work.Snapshot) {
	s.Same(l.labels.Data...)
	s.Same(l.margin)
	s.Matrices(l.location, l.mean)
	s.Float(&l.logZ)
}
