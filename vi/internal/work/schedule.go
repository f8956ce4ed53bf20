package work

import "math"

// Schedule is the order of the updates in a sweep.
type Schedule struct {
	First   []Update // in the first sweeps; nil if all sweeps are alike
	Settled []Update
	Done    int // sweeps so far
}

// FirstSweeps is how many sweeps the plain order has before the accelerated one
// begins. From a random start the latter, under sparse priors, can shrink the
// kernel weights faster than G takes hold of the targets, and ends in the
// all-zero solution.
const FirstSweeps = 10

// Starting reports whether the next sweep is one of the first.
func (s *Schedule) Starting() bool { return s.First != nil && s.Done < FirstSweeps }

// Sweep makes one sweep.
func (s *Schedule) Sweep(stop *Stop, done func(string)) error {
	order := s.Settled
	if s.Starting() {
		order = s.First
	}
	s.Done++
	return Sweep(stop, order, done)
}

// Snapshot names how many sweeps there were, and which order they had.
func (s *Schedule) Snapshot(to *Snapshot) {
	order := 0.0
	if s.First != nil {
		order = 1
	}
	to.Same(order)
	to.Int(&s.Done, math.MaxInt32)
}
