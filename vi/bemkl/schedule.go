package bemkl

import "github.com/bmkl/bmkl/vi/internal/work"

// schedule is the order of the updates in a sweep.
type schedule struct {
	first   []work.Update // in the first sweeps, if there are any
	settled []work.Update
	done    int // sweeps so far
}

// firstSweeps is how many sweeps the plain order has before the accelerated one
// begins. From a random start the latter, under sparse priors, can shrink the
// kernel weights faster than G takes hold of the targets, and ends in the
// all-zero solution.
const firstSweeps = 10

func (s *schedule) sweep(done func(string)) error {
	s.done++
	if s.first != nil && s.done <= firstSweeps {
		return work.Sweep(s.first, done)
	}
	return work.Sweep(s.settled, done)
}
