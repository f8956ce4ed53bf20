package mcmc

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// process returns chains of x_t = rho·x_{t−1} + √(1−rho²)·e_t with standard normal
// margins.
func process(seed uint64, chains, draws int, rho float64) [][]float64 {
	out := make([][]float64, chains)
	for c := range out {
		r := rand.New(newStream(seed, c))
		x := r.NormFloat64()
		for range draws {
			out[c] = append(out[c], x)
			x = rho*x + math.Sqrt(1-rho*rho)*r.NormFloat64()
		}
	}
	return out
}

// The mean of an autoregressive process of order one has the effective sample
// size n(1−ρ)/(1+ρ), also where ρ is negative and it is larger than n.
func TestEffectiveSampleSize(t *testing.T) {
	for _, c := range []struct {
		chains, draws int
		rho           float64
	}{{4, 5000, 0}, {4, 5000, 0.5}, {4, 20000, 0.9}, {1, 20000, 0.8}, {4, 5000, -0.5}, {3, 5001, -0.3}} {
		x := process(1, c.chains, c.draws, c.rho)
		want := float64(c.chains*c.draws) * (1 - c.rho) / (1 + c.rho)
		s := Summarise(x)
		assert.InEpsilon(t, want, s.BulkESS, 0.12, "%+v", c)
		assert.InEpsilon(t, math.Sqrt(1/want), s.MCSE, 0.08, "%+v", c)
		assert.InDelta(t, 1, s.SD, 0.06, "%+v", c)
		assert.InDelta(t, 0, s.Mean, 4*s.MCSE, "%+v", c)
		assert.InDelta(t, 1, s.RHat, 0.01, "%+v", c)
	}
}

// The indicator x ≤ q of the process with Gaussian margins has autocorrelations
// known from the bivariate normal distribution function; here by the integral over
// ρ of its density at (q, q).
func TestTailEffectiveSampleSize(t *testing.T) {
	const rho, q, p, chains, draws = 0.7, -1.6448536269514722, 0.05, 4, 20000
	time := 1.0
	for lag := 1; lag < 60; lag++ {
		r := math.Pow(rho, float64(lag))
		var joint float64 // P(x_0 ≤ q, x_lag ≤ q) − p²
		const steps = 2000
		for k := range steps {
			v := r * (float64(k) + 0.5) / steps
			joint += math.Exp(-q*q/(1+v)) / (2 * math.Pi * math.Sqrt(1-v*v)) * r / steps
		}
		time += 2 * joint / (p * (1 - p))
	}
	assert.InEpsilon(t, chains*draws/time, Summarise(process(2, chains, draws, rho)).TailESS, 0.12)
}

// R̂ of independent draws is close to 1. A chain shifted by δ standard deviations adds to
// R̂² the variance that the shift gives to the means of the halves.
func TestRHat(t *testing.T) {
	iid := process(3, 4, 4000, 0)
	assert.InDelta(t, 1, Summarise(iid).RHat, 2e-3)

	// Eight halves, two of them shifted by δ; the formula is for draws that are not
	// rank-normalised.
	for _, delta := range []float64{0.5, 2} {
		x := process(4, 4, 4000, 0)
		for i := range x[0] {
			x[0][i] += delta
		}
		between := delta * delta * (2.0 / 8) * (6.0 / 8) * 8 / 7
		assert.InEpsilon(t, math.Sqrt(1+between), rHat(split(x)), 0.02)
		assert.Greater(t, Summarise(x).RHat, 1.02)
	}

	// Equal location, different scale: only the folded draws tell.
	x := process(5, 4, 4000, 0)
	for i := range x[3] {
		x[3][i] *= 3
	}
	assert.Less(t, rHat(normalRanks(split(x))), 1.01)
	assert.Greater(t, Summarise(x).RHat, 1.05)

	// A trend within chains that are alike: only the halves tell.
	x = process(6, 4, 4000, 0)
	for c := range x {
		for i := range x[c] {
			x[c][i] += float64(i) / 2000
		}
	}
	assert.Less(t, rHat(normalRanks(x)), 1.01)
	assert.Greater(t, Summarise(x).RHat, 1.05)

	// Infinite variance is no matter after ranking.
	x = process(7, 4, 4000, 0)
	for c := range x {
		r := rand.New(newStream(8, c))
		for i := range x[c] {
			x[c][i] /= r.NormFloat64()
		}
	}
	s := Summarise(x)
	assert.InDelta(t, 1, s.RHat, 5e-3)
	assert.InEpsilon(t, 16000, s.BulkESS, 0.1)
}

func TestSummariseOfLittle(t *testing.T) {
	for _, x := range [][][]float64{
		{}, {{}}, {{1}}, {{1, 2, 3}}, {{2, 2, 2, 2, 2}, {2, 2, 2, 2, 2}},
		{{1, 2, math.NaN(), 3, 4}}, {{1, 2, math.Inf(1), 3, 4}},
	} {
		s := Summarise(x)
		assert.True(t, math.IsNaN(s.RHat) && math.IsNaN(s.BulkESS) && math.IsNaN(s.TailESS) && math.IsNaN(s.MCSE), "%v: %+v", x, s)
	}
	s := Summarise([][]float64{{1, 2, 3, 4}, {2, 1, 4, 3}})
	assert.Equal(t, 2.5, s.Mean)
	assert.InDelta(t, math.Sqrt(10.0/7), s.SD, 1e-15)
	assert.False(t, math.IsNaN(s.RHat) || math.IsNaN(s.BulkESS))

	// Chains that do not move and differ have not mixed at all.
	s = Summarise([][]float64{{1, 1, 1, 1}, {2, 2, 2, 2}})
	assert.True(t, math.IsInf(s.RHat, 1), "%+v", s)

	// An indicator that is rarely 1 has no draw beyond its quantiles.
	x := process(9, 4, 1000, 0)
	for c := range x {
		for i, v := range x[c] {
			x[c][i] = 0
			if v > 0.5 {
				x[c][i] = 1
			}
		}
	}
	s = Summarise(x)
	assert.InEpsilon(t, 4000, s.BulkESS, 0.15)
}
