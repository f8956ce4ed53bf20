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
		sum += s.cone.QuickLogProbability(t, s.column)
	}
	return sum
}

// How often a sweep makes the walks given the labels.
const (
	singles = 4 // regressors that are scaled alone
	again   = 2 // rounds through the weights of the kernels
)

// sweepGivenLabels makes all of them. It needs f and leaves f and the kernel.
func (s *probitSampler) sweepGivenLabels(r random, burnIn bool) error {
	now := s.sweepTrajectory(r, s.labelled(s.f), burnIn)
	s.sweepSizes(r, now, burnIn)
	s.sweepCommon(r)
	if s.walksWeights() {
		s.sweepWeights(r, burnIn)
	}
	return s.sweepTheta(r, burnIn)
}

// sweepSizes moves the size of regressors together with their precisions,
// (w, α) → (w·e^s, α·e^(−2s)): all regressors of each class, and then some alone. The density of
// w given α and the Jacobian of w cancel; what is left is the density of log α. Now is log p(t | f).
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

// sweepWeights moves the weights of a sum or product given W, by a random walk of their
// coordinates ([probitSampler.weigh]), one at a time and all at once, and then computes the kernel.
func (s *probitSampler) sweepWeights(r random, burnIn bool) {
	t := &s.trial
	s.locate(t.at)
	s.weigh(t.at)
	if s.rule == probit.RuleWSum {
		s.sumSteps.project(s)
	}
	now := s.labelled(s.f) + s.logWeightPrior(t.at)
	for range again {
		for k := range s.weights {
			size := s.weights[k].length(r)
			copy(t.from, t.at)
			for p := range t.at {
				if p == k || k == s.P {
					t.at[p] += float64(size * r.NormFloat64())
				}
			}
			s.weigh(t.at)
			if s.rule == probit.RuleWSum {
				s.sumSteps.combine(s, t.weights, t.f)
			} else {
				s.try(s.composite, t.weights)
			}
			then := s.labelled(t.f) + s.logWeightPrior(t.at)
			if !s.weights[k].accept(r, then-now, burnIn) {
				copy(t.at, t.from)
				continue
			}
			now = then
			copy(s.beta, t.weights)
			copy(s.logBeta, t.logs)
			s.f, t.f = t.f, s.f
		}
	}
	s.recombine()
}
