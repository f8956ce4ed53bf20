package slab

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The posterior of one weight, against Bayes' rule on the two hypotheses.
func TestPairPosterior(t *testing.T) {
	prior := Prior{Pi: 0.3, Variance: 1.7}
	a, y, noise := []float64{0.4, -1.1, 2}, []float64{1, 0.3, -0.2}, 0.6
	var cross, power float64
	for n := range a {
		cross += a[n] * y[n]
		power += a[n] * a[n]
	}
	q := prior.Posterior(cross, power, noise)

	// Evidence of y under w ~ N(0, σ_w²): the integral over w by a fine sum.
	like := func(w float64) float64 {
		var s float64
		for n := range a {
			r := y[n] - a[n]*w
			s -= r * r / (2 * noise)
		}
		return math.Exp(s)
	}
	var z, m1, m2 float64
	const h = 1e-4
	for w := -15.0; w < 15; w += h {
		p := h * like(w) * math.Exp(-w*w/(2*prior.Variance)) / math.Sqrt(2*math.Pi*prior.Variance)
		z += p
		m1 += p * w
		m2 += p * w * w
	}
	on, off := prior.Pi*z, (1-prior.Pi)*like(0)
	gamma := on / (on + off)
	assert.InDelta(t, gamma, q.Inclusion(), 1e-10)
	assert.InDelta(t, m1/z, q.Mean, 1e-10)
	assert.InDelta(t, m2/z-m1*m1/z/z, q.Variance, 1e-10)
	mean, square := q.Moments()
	assert.InDelta(t, gamma*m1/z, mean, 1e-10)
	assert.InDelta(t, gamma*m2/z, square, 1e-10)
	assert.InDelta(t, square-mean*mean, q.VarW(), 1e-12)

	// At the optimum the bound is the evidence: E[log like] + bound = log(on + off).
	slab, spike := q.bound(prior)
	var sy float64
	for _, v := range y {
		sy += v * v
	}
	expected := -(sy - 2*cross*mean + power*square) / (2 * noise)
	assert.InDelta(t, math.Log(on+off), expected+slab+spike, 1e-9)
}

func TestPairWithoutDataIsThePrior(t *testing.T) {
	prior := Prior{Pi: 0.2, Variance: 3}
	q := prior.Posterior(0, 0, 0.5)
	assert.InDelta(t, 0.2, q.Inclusion(), 1e-15)
	assert.Zero(t, q.Mean)
	assert.InDelta(t, 3, q.Variance, 1e-15)
	slab, spike := q.bound(prior)
	assert.InDelta(t, 0, slab+spike, 1e-15)
}

// Odds far beyond what γ itself could hold keep their digits.
func TestPairExtremeOdds(t *testing.T) {
	prior := Prior{Pi: 0.25, Variance: 1}
	for _, u := range []float64{-800, -300, -40, 40, 300, 800, math.Inf(1), math.Inf(-1)} {
		q := Pair{Logit: u, Mean: 2, Variance: 0.1}
		slab, spike := q.bound(prior)
		require.False(t, math.IsNaN(slab+spike) || math.IsInf(slab+spike, 0), "u = %g", u)
		if u > 0 {
			assert.InDelta(t, math.Log(prior.Pi), spike, 1e-12, "u = %g", u)
		} else {
			assert.InDelta(t, math.Log1p(-prior.Pi), spike, 1e-12, "u = %g", u)
		}
	}
	// 1−γ at u = 60 to full precision, where 1 − expit(60) is 0.
	q := Pair{Logit: 60, Mean: 3, Variance: 0}
	want := 9 / 1.142007389815684283663e26 // 9·e^−60
	assert.InEpsilon(t, want, q.VarW(), 1e-14)
	// A weight that the data all but prove to be there.
	q = prior.Posterior(1e6, 1e6, 1e-6)
	assert.Equal(t, 1.0, q.Inclusion())
	assert.InDelta(t, 1, q.Mean, 1e-9)
}

func TestPairLearn(t *testing.T) {
	var s pairSums
	pairs := []Pair{{Logit: 0, Mean: 1, Variance: 0.5}, {Logit: math.Inf(-1), Mean: 9, Variance: 9}, {Logit: math.Inf(1), Mean: -2, Variance: 0.25}}
	for _, q := range pairs {
		s.add(q)
	}
	p := Prior{Pi: 0.9, Variance: 7}
	total := func(p Prior) (sum float64) {
		for _, q := range pairs {
			slab, spike := q.bound(p)
			sum += slab + spike
		}
		return sum
	}
	p.learnVariance(s)
	p.learnPi(s)
	assert.InDelta(t, (0.75+4.25)/1.5, p.Variance, 1e-14)
	assert.InDelta(t, 0.5, p.Pi, 1e-14)
	best := total(p)
	for _, f := range []float64{0.99, 1.01} {
		assert.Less(t, total(Prior{p.Pi * f, p.Variance}), best)
		assert.Less(t, total(Prior{p.Pi, p.Variance * f}), best)
	}

	small := Prior{Pi: 0.5, Variance: 7}
	small.learnVariance(pairSums{count: 3, included: 0.5, slabPower: 0.002})
	assert.InDelta(t, 0.004, small.Variance, 1e-17)

	off := Prior{Pi: 0.5, Variance: 7}
	s = pairSums{}
	s.add(Pair{Logit: math.Inf(-1), Variance: 1})
	off.learnVariance(s)
	off.learnPi(s)
	assert.Equal(t, Prior{piFloor, 7}, off)
}
