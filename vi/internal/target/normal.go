package target

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Normal is the likelihood of targets that are the data, t = y: normal noise whose precision is
// learned, ε ~ Gamma, or known.
type Normal struct {
	conjugate.Gammas         // q(ε), one factor; none where ε is known
	n                float64 // number of targets
	known            float64 // ε if it is known, else 0
}

// NewNormal returns normal noise of a precision with this prior, at the prior's scale, of n targets.
func NewNormal(prior vi.Gamma, n float64) *Normal {
	return &Normal{Gammas: conjugate.NewGammas(prior, prior.Shape+float64(0.5*n), 1), n: n}
}

// KnownNormal returns normal noise of a known precision of n targets.
func KnownNormal(precision, n float64) *Normal { return &Normal{n: n, known: precision} }

// Learns implements [Likelihood].
func (l *Normal) Learns() bool { return l.known == 0 }

// Precision implements [Likelihood].
func (l *Normal) Precision() float64 {
	if l.Learns() {
		return l.Mean(0)
	}
	return l.known
}

// UpdateNoise is q(ε) = Gamma(α_ε + n/2, (1/β_ε + R/2)^-1).
func (l *Normal) UpdateNoise(square float64) {
	if l.Learns() {
		l.Observe(0, float64(0.5*square))
	}
}

// Latent implements [Likelihood].
func (l *Normal) Latent() bool { return false }

// UpdateTargets implements [Likelihood].
func (l *Normal) UpdateTargets() {}

// Terms implements [Likelihood]: fit is ½·(n·(E[log ε] − log 2π) − E[ε]·R).
func (l *Normal) Terms(square float64) (noise, logZ, fit float64) {
	mean := l.Precision()
	var meanLog float64
	if l.Learns() {
		noise, meanLog = l.Bound(), l.MeanLog(0)
	} else {
		meanLog = special.Log(mean)
	}
	return noise, 0, float64(0.5 * (float64(l.n*(meanLog-conjugate.Log2Pi)) - float64(mean*square)))
}

// Shift implements [Likelihood].
func (l *Normal) Shift(int) float64 { return 0 }

// Predictions implements [Likelihood].
func (l *Normal) Predictions(*vi.Predictions) {}

// Memorise implements [Likelihood].
func (l *Normal) Memorise(m *work.Memory) { m.Of(l.Scale) }

// Snapshot implements [Likelihood].
func (l *Normal) Snapshot(s *work.Snapshot) {
	s.Same(l.known)
	l.Gammas.Snapshot(s)
}
