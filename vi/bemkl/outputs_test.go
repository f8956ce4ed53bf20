package bemkl

import (
	"math"
	"testing"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/target"
	"github.com/bmkl/bmkl/vi/internal/work"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// interval is a likelihood that no model has: of every target it is known that it lies within [low, high],
// and the noise is learned. It has latent targets and a q(ε) besides, which no other likelihood has.
type interval struct {
	conjugate.Gammas
	low, high, location, mean []float64

	logZ, variance, square float64 // Σ log Z, Σ Var(t), Σ E[(t − m)²]
	at                     float64 // E[ε] in the last q(t)
}

func (l *interval) Precision() float64 { return l.Mean(0) }
func (l *interval) Learns() bool       { return true }
func (l *interval) Latent() bool       { return true }

func (l *interval) UpdateNoise(square float64) { l.Observe(0, 0.5*(square+l.variance)) }

// UpdateTargets takes the moments of the truncated normal distribution by Simpson's rule.
func (l *interval) UpdateTargets() {
	l.at, l.logZ, l.variance, l.square = l.Mean(0), 0, 0, 0
	for i, m := range l.location {
		const n = 400
		h := (l.high[i] - l.low[i]) / n
		nearest := min(max(m, l.low[i]), l.high[i])
		top := -0.5 * l.at * (nearest - m) * (nearest - m)
		var z, first, second float64
		for k := range n + 1 {
			x := l.low[i] + float64(k)*h
			w := h / 3 * math.Exp(-0.5*l.at*(x-m)*(x-m)-top)
			switch {
			case k == 0 || k == n:
			case k%2 == 1:
				w *= 4
			default:
				w *= 2
			}
			z, first, second = z+w, first+w*(x-m), second+w*(x-m)*(x-m)
		}
		first, second = first/z, second/z
		l.mean[i] = m + first
		l.logZ += math.Log(z) + top + 0.5*(math.Log(l.at)-math.Log(2*math.Pi))
		l.square += second
		l.variance += second - first*first
	}
}

// Terms counts the entropy of q(t), log Z + ½·ε'·E[(t − m)²] + ½·n·log(2π/ε') with ε' = at, but for
// ½·E[ε]·Shift in fit.
func (l *interval) Terms(square float64) (noise, logZ, fit float64) {
	n, mean := float64(len(l.mean)), l.Mean(0)
	fit = 0.5*n*(l.MeanLog(0)-math.Log(l.at)) - 0.5*mean*(square+l.variance) + 0.5*l.at*l.square - 0.5*mean*l.Shift(0)
	return l.Bound(), l.logZ, fit
}

func (l *interval) Shift(int) float64           { return l.square - l.variance }
func (l *interval) Predictions(*vi.Predictions) {}
func (l *interval) Memorise(m *work.Memory)     { m.Of(l.Scale) }
func (l *interval) Snapshot(s *work.Snapshot)   { l.Gammas.Snapshot(s) }

// intervals returns a state of outputs whose targets are known to within the radius, which start at the
// middle.
func intervals(t testing.TB, r Regression, k vi.Kernels, y la.Matrix[float64], radius float64) *outputs {
	pr := priorsOr1(r.Lambda, r.Upsilon, r.Gamma, r.Omega, r.Epsilon)
	P, D, N := k.Dims()
	layers := newLayers(k, y.Rows, la.Matrix[float64]{}, layerPriors{pr.Lambda, pr.Gamma, pr.Omega}, 1)
	mean, location := y.Clone(), y.Clone()
	var like []target.Likelihood
	for o := range y.Rows {
		l := &interval{
			Gammas:   conjugate.NewGammas(pr.Epsilon, pr.Epsilon.Shape+0.5*float64(N), 1),
			location: location.Row(o), mean: mean.Row(o),
		}
		for _, v := range y.Row(o) {
			l.low, l.high = append(l.low, v-radius), append(l.high, v+radius)
		}
		like = append(like, l)
	}
	m := newOutputs(layers, y, mean, location, like)
	m.learnUpsilon(pr.Upsilon)
	m.schedule(r.Plain, severalRounds(y.Rows, D, P))
	start := randomStart(5, y.Rows, P, D, N)
	require.NoError(t, m.Start(start.A, start.G))
	return m
}

// TestOutputsTakeAnyLikelihood plugs a likelihood into the state of a fit: the bound never falls, and narrow
// intervals are as good as known targets.
func TestOutputsTakeAnyLikelihood(t *testing.T) {
	for _, plain := range []bool{true, false} {
		r, k, y := problem{P: 3, D: 20, N: 20, L: 2}.draw(t, 2)
		r.Plain = plain
		m := intervals(t, r, k, y, 0.5)
		last := math.Inf(-1)
		for sweep := range work.FirstSweeps + 30 {
			require.NoError(t, m.Sweep(nil))
			b := m.Bound()
			require.False(t, testkit.Fell(last, b, m.Roundoff()), "plain %v, sweep %d: from %.17g to %.17g", plain, sweep, last, b)
			last = b
		}

		narrow := intervals(t, r, k, y, 1e-6)
		start := randomStart(5, y.Rows, 3, 20, 20)
		r.Start = start
		known, err := r.model(k, y)
		require.NoError(t, err)
		for range work.FirstSweeps + 5 {
			require.NoError(t, narrow.Sweep(nil))
			require.NoError(t, known.Sweep(nil))
		}
		testkit.RequireClose(t, "E[a]", known.AMean, narrow.AMean, 1e-4)
		testkit.RequireClose(t, "(b,e)", known.be.Mean, narrow.be.Mean, 1e-4)
		testkit.RequireClose(t, "E[ε]", known.epsilonMean, narrow.epsilonMean, 1e-4)
		// Each interval has the probability 2·10⁻⁶ times a density.
		assert.InDelta(t, known.Bound()+40*math.Log(2e-6), narrow.Bound(), 1e-2)
	}
}
