package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// widening is a factor of predicted variances that depends on the predicted mean μ: f(μ) = exp θ(μ). θ is linear between knots and
// constant beyond them. The zero value is the factor 1.
type widening struct {
	at, log []float64 // knots, ascending, and θ there
}

// factor returns the factor at a mean.
func (s *widening) factor(mean float64) float64 {
	if len(s.at) == 0 {
		return 1
	}
	i, share := s.place(mean)
	theta := s.log[i]
	if share > 0 {
		theta += float64(share * (s.log[i+1] - theta))
	}
	return special.Exp(theta)
}

// place returns the knot at or below a mean and which share of the way to the next knot the mean has gone.
func (s *widening) place(mean float64) (i int, share float64) {
	last := len(s.at) - 1
	i, found := slices.BinarySearch(s.at, mean)
	switch {
	case found || i == 0:
		return i, 0
	case i > last:
		return last, 0
	}
	return i - 1, (mean - s.at[i-1]) / (s.at[i] - s.at[i-1])
}

// Settings of the fit of a widening.
const (
	wideKnots     = 10
	wideFolds     = 5
	leastWidening = 200 // samples
	wideSteps     = 50
	lowestShare   = 0.01 // of the means are below the first knot, and as many above the last
	wideRounds    = 1e-10
)

// wideBends are penalties of bends of θ, in units of the samples for each knot; the first makes θ linear.
var wideBends = []float64{1e4, 10, 1, 0.1}

// fitWidening returns the widening that makes errors e of means μ probable, given r = e²/V for the variances V:
//
//	maximise  −½ Σ_n (θ(μ_n) + r_n·e^−θ(μ_n)) − ½ λ Σ (second differences of θ)².
//
// The penalty λ, or a constant θ, is what predicts fifths of the samples best from the others. It is the zero value unless that is
// clearly better than the factor 1, by two standard errors.
func fitWidening(mean, ratio []float64) (s widening) {
	n := len(mean)
	if n < leastWidening {
		return s
	}
	s.at = wideningKnots(mean)
	none := make([]float64, n)
	for i, r := range ratio {
		none[i] = -0.5 * r
	}
	var best []float64
	var bend float64
	for _, b := range append([]float64{math.Inf(1)}, wideBends...) {
		density := s.crossed(mean, ratio, b)
		if best == nil || vec.Total(density) > vec.Total(best) {
			best, bend = density, b
		}
	}
	if !clearlyLess(none, best, 2) {
		return widening{}
	}
	s.log = s.fit(mean, ratio, bend, func(int) bool { return true })
	return s
}

// wideningKnots returns knots at quantiles of the means.
func wideningKnots(mean []float64) (at []float64) {
	sorted := slices.Sorted(slices.Values(mean))
	for k := range wideKnots {
		share := lowestShare + float64((1-2*lowestShare)*float64(k))/(wideKnots-1)
		at = append(at, vec.Quantile(sorted, share))
	}
	return slices.Compact(at)
}

// crossed returns the log density of each sample, up to a constant, by what the other folds' samples say of θ.
func (s *widening) crossed(mean, ratio []float64, bend float64) []float64 {
	density := make([]float64, len(mean))
	for k := range wideFolds {
		one := widening{s.at, s.fit(mean, ratio, bend, func(i int) bool { return i%wideFolds != k })}
		for i := k; i < len(mean); i += wideFolds {
			f := one.factor(mean[i])
			density[i] = -0.5 * (special.Log(f) + ratio[i]/f)
		}
	}
	return density
}

// fit returns θ at the knots by the samples for which used is true: by Newton's steps, which are halved until the penalised
// density rises.
func (s *widening) fit(mean, ratio []float64, bend float64, used func(int) bool) (theta []float64) {
	K := len(s.at)
	c := wideningCurve{widening: s}
	var sum float64
	for i, r := range ratio {
		if used(i) {
			k, share := s.place(mean[i])
			c.knot, c.share, c.ratio = append(c.knot, k), append(c.share, share), append(c.ratio, r)
			sum += r
		}
	}
	n := float64(len(c.ratio))
	theta = slices.Repeat([]float64{special.Log(max(sum/n, math.SmallestNonzeroFloat64))}, K)
	if math.IsInf(bend, 1) || K < 3 {
		return theta
	}
	c.bend = bend * n / float64(K)
	value := c.loss(theta, nil, nil)
	var w la.Workspace
	for range wideSteps {
		gradient, hessian := make([]float64, K), la.NewMatrix[float64](K, K)
		c.loss(theta, gradient, &hessian)
		for k := range K {
			hessian.Set(k, k, hessian.At(k, k)+float64(1e-6*n))
		}
		if la.Cholesky(&w, hessian) != nil {
			break
		}
		la.CholeskySolveVec(hessian, gradient)
		next, to, step := make([]float64, K), math.Inf(1), 1.0
		for ; step > wideRounds && !(to < value); step *= 0.5 {
			for k, g := range gradient {
				next[k] = theta[k] - float64(step*g)
			}
			to = c.loss(next, nil, nil)
		}
		if !(to < value-float64(wideRounds*math.Abs(value))) {
			break
		}
		theta, value = next, to
	}
	return theta
}

// wideningCurve is the penalised loss of θ by some samples.
type wideningCurve struct {
	*widening
	knot         []int     // below each mean
	share, ratio []float64 // of the samples
	bend         float64
}

// loss returns the negative penalised log density. Unless they are nil it adds its gradient and its second derivatives.
func (c *wideningCurve) loss(theta, gradient []float64, hessian *la.Matrix[float64]) (value float64) {
	last := len(theta) - 1
	for i, r := range c.ratio {
		k, share := c.knot[i], c.share[i]
		next := min(k+1, last)
		t := theta[k] + float64(share*(theta[next]-theta[k]))
		weighed := float64(r * special.Exp(-t))
		value += float64(0.5 * (t + weighed))
		if gradient == nil {
			continue
		}
		g, h := float64(0.5*(1-weighed)), float64(0.5*weighed)
		gradient[k] += float64((1 - share) * g)
		gradient[next] += float64(share * g)
		hessian.Set(k, k, hessian.At(k, k)+float64((1-share)*(1-share)*h))
		hessian.Set(next, next, hessian.At(next, next)+float64(share*share*h))
		if next > k {
			hessian.Set(next, k, hessian.At(next, k)+float64(share*(1-share)*h))
			hessian.Set(k, next, hessian.At(next, k))
		}
	}
	bends := [3]float64{1, -2, 1}
	for k := range last - 1 {
		d := theta[k] - float64(2*theta[k+1]) + theta[k+2]
		value += float64(0.5 * c.bend * d * d)
		if gradient == nil {
			continue
		}
		for a, u := range bends {
			gradient[k+a] += float64(c.bend * d * u)
			for b, v := range bends {
				hessian.Set(k+a, k+b, hessian.At(k+a, k+b)+float64(c.bend*u*v))
			}
		}
	}
	return value
}
