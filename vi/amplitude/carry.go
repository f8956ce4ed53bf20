package amplitude

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// carry draws whether view v is included, and carries the amplitudes of the other views and the noise along. It does nothing if there are
// no normal densities.
//
// Let N(m, RRᵀ) be near the posterior of θ without the view, and N(m⁺, R⁺R⁺ᵀ) near that with the view, whose kernels come last. A
// view that is off has variables u ~ N(0, I) of its own. With w = R⁻¹(θ − m), the point (w, u) stays, and θ⁺ = m⁺ + R⁺(w, u). The odds that the
// view is on are the ratio of the densities of (w, u) with and without the view,
//
//	p(θ⁺)·exp(E(θ⁺))·|R⁺| / (p(θ)·exp(E(θ))·|R|·N(u | 0, I)).
//
// If both posteriors are normal, these are the odds of the view for every (w, u): the noise and the amplitudes of the other views do not
// have to drift to where the view is needed, or is not.
func (s *selector) carry(ctx context.Context, v int) {
	with, without := make([]bool, len(s.viewOn)), make([]bool, len(s.viewOn))
	for u := range with {
		with[u], without[u] = s.on(u) || u == v, s.on(u) && u != v
	}
	large, small := s.nearOf(ctx, with), s.nearOf(ctx, without)
	if large == nil || small == nil {
		return
	}
	order := slices.Clone(small.places)
	for j := s.first[v]; j < s.first[v+1]; j++ {
		order = append(order, j)
	}
	from, err := small.in(small.places, v)
	to, other := large.in(order, v)
	if err != nil || other != nil {
		return
	}
	was := s.on(v)
	x := make([]float64, len(order)) // (w, u)
	own := x[len(small.places):]
	on, off := s.theta, s.theta
	valueOn, valueOff := s.now, s.now
	if was {
		to.back(on, x)
		off = from.at(x, len(s.theta))
		valueOff = s.valueOn(off, without)
	} else {
		from.back(off, x)
		for i := range own {
			own[i] = s.src.NormFloat64()
		}
		on = to.at(x, len(s.theta))
		valueOn = s.valueOn(on, with)
	}
	odds := s.logit[v] + s.corrected([]int{v}) + valueOn - valueOff + large.logPrior(on) - small.logPrior(off)
	odds += float64(0.5 * (la.LogDet(to.root) - la.LogDet(from.root) + la.SumSq(own)))
	s.probability[v] = 1 / (1 + special.Exp(-odds))
	if (s.src.Float64() < s.probability[v]) == was {
		return
	}
	next := on
	if was {
		next = off
	}
	s.viewOn[v] = !was
	copy(s.theta, next)
	s.redraw()
	s.now = s.refresh(s.z)
}

// carried is a normal density of some places of θ.
type carried struct {
	places []int
	mean   []float64
	root   la.Matrix[float64]
}

// back stores R⁻¹(θ − m) in the first elements of x.
func (c *carried) back(theta, x []float64) {
	n := len(c.places)
	for r, j := range c.places {
		x[r] = theta[j] - c.mean[r]
	}
	la.Trsv(la.NoTrans, c.root, x[:n])
}

// at returns θ = m + R·x, −∞ in the other places of so many.
func (c *carried) at(x []float64, places int) []float64 {
	theta := slices.Repeat([]float64{math.Inf(-1)}, places)
	for r, j := range c.places {
		theta[j] = c.mean[r] + la.Dot(c.root.Row(r)[:r+1], x[:r+1])
	}
	return theta
}
