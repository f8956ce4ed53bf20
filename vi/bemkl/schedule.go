package bemkl

import (
	"slices"

	"github.com/bmkl/bmkl/vi/internal/work"
)

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

// sweep makes one sweep.
func (s *schedule) sweep(stop *work.Stop, done func(string)) error {
	s.done++
	if s.first != nil && s.done <= firstSweeps {
		return work.Sweep(stop, s.first, done)
	}
	return work.Sweep(stop, s.settled, done)
}

// updates are those of a model.
type updates struct {
	precisions []work.Update // of λ and, if it has a distribution, υ
	a, g       work.Update
	rest       []work.Update // the others in the order of the paper
	score      func()        // what is last in a classifier's: f; nil in a regression
	scale      func()        // the step along the ridge, which is not in the papers
}

// plain returns the order of the papers.
func (u *updates) plain() []work.Update {
	order := slices.Concat(u.precisions, []work.Update{u.a, u.g}, u.rest)
	if u.score != nil {
		order = append(order, step("f", u.score))
	}
	return order
}

// step returns an update that cannot fail.
func step(name string, f func()) work.Update {
	return work.Update{Name: name, Step: func() error { f(); return nil }}
}
