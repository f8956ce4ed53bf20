package mcmc

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/probit"
)

// The moves of this file look at the labels and not at Y, which is integrated out and drawn
// anew after them. Y follows f closely, and f follows Y: given Y the scale of W and the
// weights of the kernels hardly move. Given the labels they do.

// labelled returns log p(t | f) = Σ_n log P(y_n on the cone of its label).
func (s *probitSampler) labelled(f la.Matrix[float64]) float64 {
	var sum float64
	for n, t := range s.labels {
		for c := range s.C {
			s.column[c] = f.Data[c*f.Stride+n]
		}
		sum += s.cone.LogProbability(t, s.column, nil)
	}
	return sum
}

// leastTurn is the width of a bracket of angles, in radians, that holds no other point but by rounding.
const leastTurn = 1e-12

// How often a sweep makes the moves given the labels.
const (
	ellipses = 3 // slices through W
	singles  = 4 // regressors that are scaled alone
	again    = 2 // rounds through the weights of the kernels
)

// sweepGivenLabels makes all of them. It needs f and leaves f and the kernel.
func (s *probitSampler) sweepGivenLabels(r random, burnIn bool) error {
	now := s.sweepEllipse(r, s.labelled(s.f))
	s.sweepSizes(r, now, burnIn)
	s.sweepCommon(r)
	if s.rule == probit.WSum || s.rule == probit.WProd {
		s.sweepWeights(r, burnIn)
	}
	return s.sweepTheta(r, burnIn)
}

// sweepEllipse moves W given α and the kernel, and f with it, by elliptical slice sampling:
// W′ = W·cos θ + V·sin θ with V drawn from the prior of W. It takes and returns log p(t | f).
//
// Source: I. Murray, R. P. Adams and D. J. C. MacKay, "Elliptical slice sampling", AISTATS 2010.
func (s *probitSampler) sweepEllipse(r random, now float64) float64 {
	v, along := s.trial.w, s.trial.along
	for range ellipses {
		for c := range s.C {
			row := v.Row(c)
			normals(r, row)
			for d, a := range s.alpha.Row(c) {
				row[d] /= math.Sqrt(a)
			}
		}
		la.Gemm(s.ws, la.NoTrans, la.NoTrans, 1, v, s.kernel, 0, along)
		level := now + special.Log(uniform(r))
		angle := float64(2 * math.Pi * uniform(r))
		low, high := angle-2*math.Pi, angle
		for high-low > leastTurn { // or W stays, as where no probability is a number
			sin, cos := special.Sincos(angle)
			turn(s.trial.f, cos, s.f, sin, along)
			if then := s.labelled(s.trial.f); then > level {
				now = then
				turn(s.w, cos, s.w, sin, v)
				s.f, s.trial.f = s.trial.f, s.f
				break
			}
			if angle < 0 {
				low = angle
			} else {
				high = angle
			}
			angle = low + float64((high-low)*uniform(r))
		}
	}
	return now
}

// turn stores cos·x + sin·y in z.
func turn(z la.Matrix[float64], cos float64, x la.Matrix[float64], sin float64, y la.Matrix[float64]) {
	for i := range z.Rows {
		zi, xi, yi := z.Row(i), x.Row(i), y.Row(i)
		for j := range zi {
			zi[j] = float64(cos*xi[j]) + float64(sin*yi[j])
		}
	}
}

// sweepSizes moves the size of regressors together with their precisions,
// (w, α) → (w·e^s, α·e^(−2s)): all regressors of each class, and then some alone. The density of
// w given α and the Jacobian of w cancel; what is left is that of log α. Now is log p(t | f).
func (s *probitSampler) sweepSizes(r random, now float64, burnIn bool) {
	size := func(k, c, first, last int) {
		step := float64(s.sizes[k].length(r) * r.NormFloat64())
		up := special.Exp(step)
		w, alpha := s.w.Row(c)[first:last], s.alpha.Row(c)[first:last]
		f := s.trial.f
		f.CopyFrom(s.f)
		for d, v := range w {
			la.Axpy(float64((up-1)*v), s.kernel.Row(first+d), f.Row(c))
		}
		then := s.labelled(f)
		prior := s.probitProblem.alpha[c]
		rise := then - now - float64(2*step*prior.Shape*float64(len(w))) - float64((1/(up*up)-1)*sum(alpha))/prior.Scale
		if s.sizes[k].accept(r, rise, burnIn) {
			now = then
			s.f, s.trial.f = s.trial.f, s.f
			la.Scal(up, w)
			la.Scal(1/(up*up), alpha)
		}
	}
	for c := range s.C {
		size(c, c, 0, s.D)
	}
	for range singles {
		c, d := int(uniform(r)*float64(s.C)), int(uniform(r)*float64(s.D))
		size(s.C, c, d, d+1)
	}
}

// sweepCommon draws what the rows of W have in common, which no probability depends on, and
// computes f: given α and the differences between the rows it is Gaussian,
// with the precision Σ_c α_cd.
func (s *probitSampler) sweepCommon(r random) {
	for d := range s.D {
		var precision, pull float64
		for c := range s.C {
			a := s.alpha.At(c, d)
			precision += a
			pull += float64(a * s.w.At(c, d))
		}
		move := r.NormFloat64()/math.Sqrt(precision) - pull/precision
		for c := range s.C {
			s.w.Row(c)[d] += move
		}
	}
	s.project()
}

// sweepWeights moves the weights of a sum or product given W, by a random walk of their logarithms,
// one component at a time and all at once, and then computes the kernel. The weights of a product have
// their hyperparameters integrated out.
func (s *probitSampler) sweepWeights(r random, burnIn bool) {
	t := &s.trial
	prior := func(beta, log []float64) float64 {
		if s.rule == probit.WSum {
			return la.Dot(s.rho, log) // in the coordinates of [sumWeights.density]
		}
		return s.logPowers(beta)
	}
	now := s.labelled(s.f) + prior(s.beta, s.logBeta)
	for range again {
		for k := range s.weights {
			size := s.weights[k].length(r)
			for p := range t.logs {
				t.logs[p] = s.logBeta[p]
				if p == k || k == s.P {
					t.logs[p] += float64(size * r.NormFloat64())
				}
				t.weights[p] = special.Exp(t.logs[p])
			}
			if s.rule == probit.WSum {
				normalise(t.logs, t.weights)
			}
			then := s.try(s.composite, t.weights) + prior(t.weights, t.logs)
			if s.weights[k].accept(r, then-now, burnIn) {
				now = then
				copy(s.beta, t.weights)
				copy(s.logBeta, t.logs)
				s.f, t.f = t.f, s.f
			}
		}
	}
	s.recombine()
}
