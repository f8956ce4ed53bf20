package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Prior is the spike-and-slab prior of a weight w: zero with probability
// 1−Pi (the spike), otherwise N(0, Variance) (the slab). It is the law of
// w = s·w̃ with independent s ~ Bernoulli(Pi) and w̃ ~ N(0, Variance).
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, equations
// (1c) and (3), where Pi is π and Variance is σ_w².
type Prior struct {
	Pi       float64 // in (0, 1]; 1 is the Gaussian prior
	Variance float64 // positive
}

// Pair is the paired factor q(w̃, s) of a spike-and-slab weight w = s·w̃:
//
//	q(s=1) = γ,   q(w̃ | s=1) = N(Mean, Variance),   q(w̃ | s=0) = N(0, σ_w²),
//
// the last being the prior's slab, as any optimal factor has it (Property 2 of
// the paper). γ is held as its logit, which keeps the digits of γ and of 1−γ;
// −Inf and +Inf stand for γ exactly 0 and 1.
type Pair struct {
	Logit    float64 // log γ/(1−γ)
	Mean     float64 // E[w̃ | s=1]
	Variance float64 // Var[w̃ | s=1]
}

// Posterior returns the factor that maximises the bound, equation (7), or a
// sampler's conditional, of a weight that enters a Gaussian likelihood of variance
// noise as y_n = a_n·w + …:
//
//	cross = Σ E[a_n]·E[y_n − …],   power = Σ E[a_n²].
//
// Without data, cross = power = 0, it is the prior.
func (p Prior) Posterior(cross, power, noise float64) Pair {
	return p.posterior(p.logit(), special.Log1p(power*p.Variance/noise), cross, power, noise)
}

// posterior is Posterior with log π/(1−π) and log(σ_w²/v), which may be the same
// for many weights.
func (p Prior) posterior(logit, gain, cross, power, noise float64) Pair {
	d := power + noise/p.Variance
	mean := cross / d
	return Pair{
		Logit:    logit - float64(0.5*gain) + 0.5*cross*mean/noise,
		Mean:     mean,
		Variance: noise / d,
	}
}

// logit returns log π/(1−π).
func (p Prior) logit() float64 { return special.Log(p.Pi) - special.Log1p(-p.Pi) }

// validate returns an error unless π is a probability above 0 and σ_w² a variance.
func (p Prior) validate() error {
	if !(p.Pi > 0 && p.Pi <= 1) {
		return fmt.Errorf("vi: Prior.Pi is %g: it must be positive and at most 1", p.Pi)
	}
	if !(p.Variance > 0) || math.IsInf(p.Variance, 1) {
		return fmt.Errorf("vi: Prior.Variance is %g: it must be positive and finite", p.Variance)
	}
	return nil
}

// expit returns 1/(1+e^−u), the probability whose logit is u.
func expit(u float64) float64 {
	if u >= 0 {
		return 1 / (1 + special.Exp(-u))
	}
	e := special.Exp(u)
	return e / (1 + e)
}

// logExpit returns log expit(u).
func logExpit(u float64) float64 { return min(u, 0) - special.Log1p(special.Exp(-math.Abs(u))) }

// Inclusion returns γ = q(s=1), the probability that the weight is not zero.
func (q Pair) Inclusion() float64 { return expit(q.Logit) }

// Moments returns E[w] and E[w²].
func (q Pair) Moments() (mean, square float64) {
	g := expit(q.Logit)
	return g * q.Mean, g * (float64(q.Mean*q.Mean) + q.Variance)
}

// VarW returns Var[w] = γ·v + γ(1−γ)·μ², which E[w²] − E[w]² would compute with
// cancellation.
func (q Pair) VarW() float64 {
	g := expit(q.Logit)
	return g * (q.Variance + float64(expit(-q.Logit)*float64(q.Mean*q.Mean)))
}

// bound returns minus the divergence of q from its prior, in two parts: the part of the slab and
// the part of the indicator s,
//
//	γ[½ log(v/σ_w²) + ½ − (μ²+v)/(2σ_w²)]  and  γ log(π/γ) + (1−γ) log((1−π)/(1−γ)).
func (q Pair) bound(p Prior) (slab, spike float64) {
	if g := expit(q.Logit); g > 0 {
		slab = 0.5 * g * (special.Log(q.Variance/p.Variance) + 1 - (float64(q.Mean*q.Mean)+q.Variance)/p.Variance)
		spike = g * (special.Log(p.Pi) - logExpit(q.Logit))
	}
	if h := expit(-q.Logit); h > 0 {
		spike += float64(h * (special.Log1p(-p.Pi) - logExpit(-q.Logit)))
	}
	return slab, spike
}

// pairSums is what the M step needs of many pairs.
type pairSums struct {
	count     float64
	included  float64 // Σγ
	slabPower float64 // Σγ(μ²+v)
}

// add adds the terms of q.
func (s *pairSums) add(q Pair) {
	g := expit(q.Logit)
	s.count++
	s.included += g
	s.slabPower += float64(g * (float64(q.Mean*q.Mean) + q.Variance))
}

// merge adds the sums of t.
func (s *pairSums) merge(t pairSums) {
	s.count += t.count
	s.included += t.included
	s.slabPower += float64(t.slabPower)
}

// piFloor keeps a learned π off 0 and 1, where it would stay for ever.
const piFloor = 1e-10

// learnVariance sets σ_w² = Σγ(μ²+v)/Σγ, which maximises the bound when
// q(w̃ | s=0) moves with it; where every weight is off it is kept.
func (p *Prior) learnVariance(s pairSums) {
	if s.included > 0 && s.slabPower > 0 {
		p.Variance = min(s.slabPower/s.included, math.MaxFloat64)
	}
}

// learnPi sets π to the mean of γ, which maximises the bound.
func (p *Prior) learnPi(s pairSums) {
	if s.count > 0 {
		p.Pi = min(max(s.included/s.count, piFloor), 1-piFloor)
	}
}
