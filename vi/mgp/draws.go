package mgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// Draw is a draw of the scales, the noise and the kernels' parameters from their posterior.
type Draw struct {
	Posterior  *Posterior // given what was drawn, which it has as points: its family is [FamilyFlat]
	Parameters []float64  // of [Adaptive] kernels
}

// The amplitudes a_p have gamma priors when they are drawn,
//
//	a_p·s_p/v ~ Gamma(c/P, 1),   s_p = tr K_p/N − 1ᵀK_p1/N²,
//
// v being the mean square of the targets and s_p the variance over the samples that kernel p
// alone is expected to give a function (of constants, which have none, tr K_p/N). Their sum is
// Gamma(c, 1) for every number P of kernels whose weights are not known. Under the prior that the ascent climbs, flat in
// every log a_p, it would be the larger the more kernels there are: a mode does not see that,
// an average does.
const totalShape = 2 // c

// drawBurnIn is how many sweeps of the sampler come before the first draw, from the mode. Then
// there is a draw a sweep.
const drawBurnIn = 8

// mostSteps and stepWidth are those by which a slice is found; logarithms move by about one.
const (
	mostSteps = 16
	stepWidth = 2
)

// leastAmplitude is the logarithm of the least share of the targets' variance that a kernel
// is given by a draw: less is no part of any prediction.
const leastAmplitude = -30

// drawScales adds n draws to the fit, which ended at x, and replaces its leave-one-out predictions
// by the predictions of the mixture of the draws. If it returns an error, the fit has not changed.
// It samples the logarithms one after another, in the given order and the noise last, and all variances together, from their slices.
//
// Source: R. M. Neal, "Slice sampling", Annals of Statistics 31 (2003), figures 3 and 5.
func (m *evidence) drawScales(fit *Fit, x []float64, n int, seed uint64, order []int) error {
	s := slicer{x: slices.Clone(x), at: make([]float64, len(x)), src: special.NewRand(rand.NewPCG(seed, 0x647261)), still: m.stillVariables(len(x)), order: order}
	spread := m.spreads()
	s.logDensity = func(x []float64) float64 { return m.logPosterior(x, spread) }
	s.value = s.logDensity(s.x)
	var draws []Draw
	var all []LeaveOneOut
	for sweep := 1; len(draws) < n; sweep++ {
		if m.ctx.Err() != nil {
			return fmt.Errorf("vi: stopped: %w", context.Cause(m.ctx))
		}
		s.sweep(m.P, len(m.priors))
		if sweep <= drawBurnIn {
			continue
		}
		if _, err := m.functions(s.x); err != nil {
			return fmt.Errorf("vi: %w", err) // a slice holds no such point
		}
		state := State{Family: FamilyFlat, Tau: 1 / m.ofOne(m.noise), Alpha: slices.Clone(m.alpha), Factor: lowerOf(m.factor)}
		m.setNoise(&state)
		for _, a := range m.weight {
			state.Gamma = append(state.Gamma, 1/a)
		}
		p, err := NewPosterior(state)
		if err != nil {
			return err
		}
		draws = append(draws, Draw{p, slices.Clone(s.x[m.P : m.P+len(m.priors)])})
		la.CholeskyInv(&m.ws, m.factor)
		all = append(all, m.leaveOneOut(m.factor))
	}
	fit.Draws, fit.LeaveOneOut = draws, mixLeaveOneOut(m.y, all)
	return nil
}

// stillVariables says which of n variables are known, nil if none is.
func (m *evidence) stillVariables(n int) []bool {
	if m.known == nil && m.given == 0 {
		return nil
	}
	still := make([]bool, n)
	copy(still, m.knownKernels())
	if m.given > 0 {
		still[n-1] = true
	}
	return still
}

// spreads returns s_p/v.
func (m *evidence) spreads() []float64 {
	spread, each := make([]float64, m.P), make([]float64, m.N)
	for i := range each {
		each[i] = 1 / float64(m.N)
	}
	m.k.Quad(&m.ws, each, spread)
	for p, mean := range spread {
		own := float64(m.unit[p] * m.power) // tr K_p/N
		if spread[p] = own - mean; !(spread[p] > 1e-6*own) {
			spread[p] = own
		}
		spread[p] /= m.power
	}
	return spread
}

// logPosterior returns the logarithm of the density that is drawn from, but for a constant.
func (m *evidence) logPosterior(x, spread []float64) float64 {
	var prior float64
	free := len(learned(&m.scalePrior, spread))
	for p, s := range spread {
		if m.isKnown(p) {
			continue
		}
		share := x[p] + special.Log(s)
		if share < leastAmplitude {
			return math.Inf(-1)
		}
		prior += float64(totalShape/float64(free)*share) - special.Exp(share)
	}
	prior += m.parameterPriors(x, nil)
	density, _ := normalPrior(x[len(x)-1], special.Log(firstNoise*m.power), noiseSpread)
	prior += density
	value, err := m.functions(x)
	if err != nil || math.IsNaN(value) {
		return math.Inf(-1)
	}
	return value + prior
}

// leaveOneOut returns the predictions (D32) of every target from the others, given R.
func (m *evidence) leaveOneOut(r la.Matrix[float64]) (l LeaveOneOut) {
	for i, y := range m.y {
		v := 1 / r.At(i, i)
		l.Mean = append(l.Mean, y-float64(m.alpha[i]*v))
		l.Variance = append(l.Variance, v)
	}
	return l
}

// mixLeaveOneOut returns the predictions of every target from the others, scales included. The
// posterior of the scales without target n is that with it over p(y_n | y_-n, scales), so
// that a draw counts in proportion to one over that:
//
//	p(y_n | y_-n) = 1/mean(1/p(y_n | y_-n, scales)).
//
// Source: A. E. Gelfand, "Model determination using sampling-based methods", in: Markov chain
// Monte Carlo in practice, 1996.
func mixLeaveOneOut(y []float64, all []LeaveOneOut) *LeaveOneOut {
	out, weight := &LeaveOneOut{}, make([]float64, len(all))
	for n, target := range y {
		top := math.Inf(-1)
		for i, l := range all {
			d := target - l.Mean[n]
			weight[i] = 0.5 * (d*d/l.Variance[n] + special.Log(l.Variance[n]) + conjugate.Log2Pi) // −log p
			top = max(top, weight[i])
		}
		var sum, mean, variance float64
		for i, l := range all {
			if weight[i] = special.Exp(weight[i] - top); weight[i] == 0 {
				continue // the sum so far may be 0 too, and it is a divisor
			}
			sum += weight[i]
			// Of the mixture so far, without the difference of squares.
			share, d := weight[i]/sum, l.Mean[n]-mean
			mean += float64(share * d)
			variance += float64(share * (l.Variance[n] - variance + float64((1-share)*d*d)))
		}
		out.Mean = append(out.Mean, mean)
		out.Variance = append(out.Variance, variance)
		out.LogProbability = append(out.LogProbability, special.Log(float64(len(all))/sum)-top)
	}
	return out
}

// slicer samples a density of several variables.
type slicer struct {
	logDensity func(x []float64) float64
	x          []float64 // the present point
	value      float64   // of logDensity there
	at         []float64 // the point looked at
	src        special.Rand
	still      []bool // the variables that stay; nil if none does
	order      []int  // of all variables but the last; nil if ascending
}

// sweep moves each variable, and then the first p and the last together; parameters come between.
func (s *slicer) sweep(p, parameters int) {
	moves := func(i int) bool { return s.still == nil || !s.still[i] }
	for at := range s.x {
		i := at
		if at < len(s.order) {
			i = s.order[at]
		}
		if moves(i) {
			s.move(func(j int) bool { return j == i })
		}
	}
	s.move(func(j int) bool { return (j < p || j >= p+parameters) && moves(j) })
}

// move draws the variables that along names, all moved by the same step, from their slice.
func (s *slicer) move(along func(i int) bool) {
	density := func(step float64) float64 {
		for i, v := range s.x {
			s.at[i] = v
			if along(i) {
				s.at[i] += step
			}
		}
		return s.logDensity(s.at)
	}
	level := s.value + special.Log(1-float64(s.src.Float64()))
	lo := float64(-stepWidth * s.src.Float64())
	hi := lo + stepWidth
	below := s.src.IntN(mostSteps)
	for above := mostSteps - 1 - below; above > 0 && density(hi) > level; above-- {
		hi += stepWidth
	}
	for ; below > 0 && density(lo) > level; below-- {
		lo -= stepWidth
	}
	for lo < hi {
		step := lo + float64((hi-lo)*s.src.Float64())
		if value := density(step); value > level {
			copy(s.x, s.at)
			s.value = value
			return
		}
		switch {
		case step < 0:
			lo = step
		case step > 0:
			hi = step
		default:
			return // rounding: the slice is the present point
		}
	}
}
