package mcmc

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
)

// walk is a random walk Metropolis step: the size of its proposals and how they have
// fared. Densities are taken in the coordinates in which the proposals are symmetric,
// which are logarithms for everything that is positive.
type walk struct {
	step     string // the name of what it moves
	size     float64
	target   float64 // the acceptance rate that the burn-in aims at
	burnt    float64 // proposals during the burn-in
	tried    float64 // proposals after the burn-in
	accepted float64 // the accepted ones of them
}

const (
	walkSize   = 0.5 // the step size to begin with
	walkTarget = 0.35
	walkState  = 4 // the count of numbers that save appends
)

func newWalk(step string) walk { return walk{step: step, size: walkSize, target: walkTarget} }

// length draws the length of a proposal. It is log-normal about the step size, so
// that a walk makes both short and long steps, whatever size it has settled on.
func (w *walk) length(r random) float64 { return w.size * special.Exp(r.NormFloat64()) }

// accept decides whether to accept a proposal whose log density exceeds the present
// one by rise (Metropolis). In the burn-in it then adapts the step size, by ever
// smaller amounts (Robbins and Monro, 1951).
func (w *walk) accept(r random, rise float64, burnIn bool) bool {
	yes := special.Log(uniform(r)) < rise
	hit := 0.0
	if yes {
		hit = 1
	}
	if burnIn {
		w.burnt++
		w.size *= special.Exp((hit - w.target) / special.Exp(0.6*special.Log(w.burnt)))
	} else {
		w.tried++
		w.accepted += hit
	}
	return yes
}

func (w *walk) move() Move { return Move{w.step, uint64(w.tried), uint64(w.accepted)} }

func (w *walk) save(dst []float64) []float64 {
	return append(dst, w.size, w.burnt, w.tried, w.accepted)
}

// restore undoes save. What was saved may have been changed: it is held to what counts are.
func (w *walk) restore(src []float64) error {
	w.size, w.burnt, w.tried, w.accepted = src[0], src[1], src[2], src[3]
	if !(w.size > 0 && w.burnt >= 0 && w.accepted >= 0 && w.accepted <= w.tried && w.tried <= maxSweeps) {
		return fmt.Errorf("step %q: of size %g, %g of %g proposals accepted", w.step, w.size, w.accepted, w.tried)
	}
	return nil
}
