package vi

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// When to stop. Unless a tolerance of the bound is asked for, an ascent has converged
// when what it predicts, and its bound, have nearly nothing to come. A small change in
// the last sweep says little of that: what is climbed ever more slowly has much to come
// though it moves little. So the sum of the moves that are to come is estimated. Moves
// that have the sum S over the last w sweeps and S' over the w before decay, if they
// decay geometrically, by the factor S/S' in w sweeps, and add up to
//
//	S²/(S' − S)
//
// from here on. Those that decay like c/k² have about twice that to come. Fast modes decay
// first and hide slow ones behind them: the larger of the estimates of a short and of a
// long w counts, and it must be small for a few sweeps. The first sweeps of all are left out:
// they lead away from the start, where all modes move, so that what follows them seems to decay
// fast even where it no longer decays. Moves that do not decay may be those away from a saddle,
// unless they are so small that they count for nothing, such as rounding errors.
const (
	// leastMove is how far predictions may still be from where they converge to, see
	// [Predictions.Distance]: half of a hundredth of a standard deviation.
	leastMove = 0.005

	// leastRise is by how much the bound may still rise, in nats for each target.
	leastRise = 1e-3

	shortWindow = 5 // sweeps, a multiple of the periods of steps that are not in every sweep
	longWindow  = 5 // the long window is this part of all sweeps
	heldFor     = 5 // sweeps

	nothing = 0.01 // moves of a window that count for nothing, as a share of what may be to come
)

// progression is the moves of the sweeps of an ascent, which are negative where they are
// not known.
type progression []float64

// toCome estimates the sum of the moves to come after the first k, and in how many sweeps
// that will be no more than least: both are infinite where the moves are not known to
// decay.
func (p progression) toCome(k int, least float64) (sum, sweeps float64) {
	for _, w := range [2]int{shortWindow, k / longWindow} {
		if w < shortWindow {
			continue
		}
		if k < shortWindow+2*w { // the first sweeps do not count
			return math.Inf(1), math.Inf(1)
		}
		now, before := total(p[k-w:k]), total(p[k-2*w:k-w])
		switch {
		case now < 0 || before < 0:
			return math.Inf(1), math.Inf(1)
		case now <= nothing*least:
			continue
		case now >= before:
			return math.Inf(1), math.Inf(1)
		}
		left := now * now / (before - now)
		sum = max(sum, left)
		if left > least {
			sweeps = max(sweeps, float64(w)*special.Log(left/least)/special.Log(before/now))
		}
	}
	return sum, sweeps
}

// total returns the sum of the moves, −1 if one is not known.
func total(moves []float64) (sum float64) {
	for _, v := range moves {
		if !(v >= 0) || math.IsInf(v, 1) {
			return -1
		}
		sum += v
	}
	return sum
}

// settling is the rule by which an ascent stops that was given no tolerance.
type settling struct {
	changes, rises progression
	least          float64 // of rises
	held           int     // for so many sweeps little has been to come
}

// look judges the state after the last sweep, and returns whether the ascent has
// converged and in about how many sweeps it will have, +Inf if that is not known.
func (s *settling) look() (converged bool, sweeps float64) {
	s.held, sweeps = s.heldAfter(len(s.changes), s.held)
	return s.held >= heldFor, sweeps + float64(heldFor-s.held)
}

// heldAfter returns held after k sweeps, before them it was the given one, and in how
// many sweeps little will be to come.
func (s *settling) heldAfter(k, held int) (int, float64) {
	change, first := s.changes.toCome(k, leastMove)
	rise, second := s.rises.toCome(k, s.least)
	if change > leastMove || rise > s.least {
		return 0, max(first, second)
	}
	return held + 1, 0
}

// resume finds held for the sweeps that are noted.
func (s *settling) resume() {
	s.held = 0
	for k := max(0, len(s.changes)-heldFor) + 1; k <= len(s.changes); k++ {
		s.held, _ = s.heldAfter(k, s.held)
	}
}
